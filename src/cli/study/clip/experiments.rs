use std::path::Path;

use anyhow::{Context, bail};

use crate::assets::{Scene, builtin_scene, parse_scene};
use crate::body::QuasiRigidBody;
use crate::contact::Friction;
use crate::math::{Pose, Vec3};
use crate::problem::Guide;
use crate::sim::Status;

/// Modulus and friction of the shipped scenes.
pub const CLIP_YOUNG: f64 = 700e6;
pub const CLIP_FRICTION: f64 = 0.2;
const TEXTS: [&str; 2] = ["friction = 0.2", "young = 700e6"];

/// Way of the clip, m, and its time, s.
const WAYS: [(&str, &str, f64); 2] = [("in", "snap_in", -0.025), ("out", "snap_out", 0.035)];
const EXPERIMENT_SECONDS: f64 = 1.2;
const REST: f64 = 0.2;

/// Stiffness and damping of the coupling that moves it.
const COUPLING_STIFFNESS: f64 = 1e4;
const COUPLING_DAMPING: f64 = 5.0;

/// Median, 99th percentile and maximum of some times, ms.
pub struct TimeSpread {
    pub median: f64,
    pub p99: f64,
    pub max: f64,
}

impl TimeSpread {
    fn of(mut seconds: Vec<f64>) -> anyhow::Result<Self> {
        if seconds.is_empty() {
            bail!("no step was in contact");
        }
        seconds.sort_by(f64::total_cmp);
        let at = |part: f64| 1e3 * seconds[((seconds.len() - 1) as f64 * part).round() as usize];
        Ok(Self { median: at(0.5), p99: at(0.99), max: at(1.0) })
    }
}

/// Force over the way of a clip.
pub struct Snap {
    /// `in` or `out`.
    pub name: &'static str,
    pub friction: f64,
    pub young: f64,
    /// Way, mm, and force along it, N.
    pub curve: Vec<[f64; 2]>,
    /// Largest force, N, and where, mm.
    pub peak: [f64; 2],
    /// Where the force changes its sign behind the peak, mm.
    pub turn: Option<f64>,
    /// Lowest force, N: the clip pulls the device.
    pub least: f64,
}

/// Forces of both loops at the end of a step of the scene, N: of the haptic loop and of the scene.
pub struct LoopForces {
    pub time: f64,
    pub forces: [[f64; 3]; 2],
}

/// The haptic loop on a clip that is drawn along a pipe.
pub struct Loops {
    pub samples: Vec<LoopForces>,
    pub peak: f64,
    /// Largest difference of the forces as a part of the peak: on the whole way, and while the clip slides.
    pub difference: f64,
    pub sliding_difference: f64,
    /// Nodes and tetrahedra.
    pub size: [usize; 2],
    /// Deformation and response to contact in a step of the scene.
    pub response: TimeSpread,
    pub step: TimeSpread,
}

/// Times of steps with many contacts.
pub struct Contacts {
    pub count: usize,
    pub friction: f64,
    pub step: TimeSpread,
}

fn load(name: &str, friction: f64, young: f64, more: &[(&str, &str)]) -> anyhow::Result<Scene> {
    let mut text = builtin_scene(name).with_context(|| format!("there is no scene `{name}`"))?.to_string();
    let [friction, young] = [format!("friction = {friction}"), format!("young = {young:e}")];
    for (from, to) in TEXTS.iter().zip([&friction, &young]).map(|(a, b)| (*a, b.as_str())).chain(more.iter().copied()) {
        if !text.contains(from) {
            bail!("the scene `{name}` has no `{from}`");
        }
        text = text.replace(from, to);
    }
    Ok(parse_scene(Path::new(&format!("{name}.toml")), &text, &[])?)
}

/// Moves the clip of a scene by a coupling instead of the scene's haptic loop; `look` sees every step with the force and the place.
fn moved(scene: &mut Scene, way: f64, rest: f64, mut look: impl FnMut(&Scene, f64, f64)) -> anyhow::Result<()> {
    scene.haptic = None;
    scene.world.set_tool(None);
    let id = scene.world.bodies.find("clip").context("the scene has a clip")?;
    let start = scene.world.bodies.get(id).context("the scene has a clip")?.pose();
    let dt = scene.world.parameters.dt;
    for i in 0..((EXPERIMENT_SECONDS + rest) / dt) as usize {
        let at = |t: f64| start.translation.vector + Vec3::new(0.0, way * (t / EXPERIMENT_SECONDS).min(1.0), 0.0);
        let (now, next) = (at(i as f64 * dt), at((i + 1) as f64 * dt));
        let guide = Guide {
            pose: Pose::from_parts(now.into(), start.rotation),
            velocity: [(next - now) / dt, Vec3::zeros()],
            stiffness: [COUPLING_STIFFNESS, 5.0],
            damping: [COUPLING_DAMPING, 0.01],
            limits: [100.0, 2.0],
        };
        if let Some(clip) = scene.world.bodies.get_mut(id) {
            clip.set_guide(0, Some(&guide));
        }
        if scene.world.step().status != Status::Done {
            bail!("the clip is lost at {:.3} s", scene.world.time());
        }
        let Some(clip) = scene.world.bodies.get(id) else { continue };
        let place = clip.pose().translation.vector;
        let pull =
            COUPLING_STIFFNESS * (next - place) + COUPLING_DAMPING * (guide.velocity[0] - clip.centre_velocity());
        look(scene, pull.y * way.signum(), (place - start.translation.vector).y * way.signum());
    }
    Ok(())
}

/// Snap-in and snap-out for some coefficients of friction and moduli.
pub fn snaps(quick: bool) -> anyhow::Result<Vec<Snap>> {
    let mut snaps = Vec::new();
    let slow: &[(&str, &str)] = if quick { &[("dt = 0.003", "dt = 0.006")] } else { &[] };
    for (name, scene, way) in WAYS {
        let cases = [
            (0.0, CLIP_YOUNG),
            (CLIP_FRICTION, CLIP_YOUNG),
            (0.4, CLIP_YOUNG),
            (CLIP_FRICTION, 0.5 * CLIP_YOUNG),
            (CLIP_FRICTION, 2.0 * CLIP_YOUNG),
        ];
        for (friction, young) in cases.into_iter().take(if quick { 2 } else { 5 }) {
            let mut scene = load(scene, friction, young, slow)?;
            let mut curve = Vec::new();
            moved(&mut scene, way, REST, |_, force, way| curve.push([1e3 * way, force]))?;
            let peak = (0..curve.len()).max_by(|&a, &b| curve[a][1].total_cmp(&curve[b][1])).unwrap_or(0);
            let turn = curve[peak..].iter().find(|p| p[1] < 0.0).map(|p| p[0]);
            let least = curve.iter().map(|p| p[1]).fold(f64::INFINITY, f64::min);
            snaps.push(Snap { name, friction, young, peak: [curve[peak][1], curve[peak][0]], turn, least, curve });
        }
    }
    Ok(snaps)
}

/// Both loops on the shipped scene.
pub fn loops() -> anyhow::Result<Loops> {
    let mut scene = load("haptic_clip", CLIP_FRICTION, CLIP_YOUNG, &[])?;
    let size = scene.world.bodies.of::<QuasiRigidBody>().next().context("the scene has a clip")?.1.size();
    let (mut samples, mut response) = (Vec::new(), Vec::new());
    while scene.world.time() + 0.5 * scene.world.parameters.dt < scene.seconds {
        if scene.step().status != Status::Done {
            bail!("the clip is lost at {:.3} s", scene.world.time());
        }
        let lockstep = scene.haptic.as_ref().and_then(|haptic| haptic.lockstep.body());
        let Some(lockstep) = lockstep else { bail!("the scene has no haptic loop") };
        let times = scene.world.times();
        if scene.world.statistics().contacts > 0 {
            response.push(times.formulation + times.solve);
        }
        let forces = lockstep.forces().map(|f| [f.x, f.y, f.z]);
        samples.push(LoopForces { time: scene.world.time(), forces });
    }
    let norm = |f: &[f64; 3]| Vec3::from(*f).norm();
    let peak = samples.iter().map(|s| norm(&s.forces[1])).fold(0.0, f64::max);
    let worst = |from: f64| {
        let apart = |s: &LoopForces| (Vec3::from(s.forces[0]) - Vec3::from(s.forces[1])).norm() / peak;
        samples.iter().filter(|s| s.time > from).map(apart).fold(0.0, f64::max)
    };
    let (difference, sliding_difference) = (worst(0.0), worst(SLIDES_FROM));
    let Some(haptic) = &scene.haptic else { bail!("the scene has no haptic loop") };
    let cost = haptic.lockstep.figures().cost;
    let step = TimeSpread { median: 1e3 * cost.median, p99: 1e3 * cost.p99, max: 1e3 * cost.longest };
    Ok(Loops { samples, peak, difference, sliding_difference, size, response: TimeSpread::of(response)?, step })
}

/// When the clip of the scene begins to slide along the pipe, s.
const SLIDES_FROM: f64 = 1.0;

/// At least twenty contacts with friction, and thirty without (Duriez 2006, fig. 17 and 18).
pub fn contacts(quick: bool) -> anyhow::Result<Vec<Contacts>> {
    let finer = [("shape = \"clip\"", "shape = \"clip\"\ncells = [22, 3, 6]")];
    let cases: [(f64, &[(&str, &str)]); 3] = [(0.2, &[]), (0.8, &[]), (0.0, &finer)];
    cases
        .into_iter()
        .skip(if quick { 2 } else { 0 })
        .map(|(friction, more)| {
            let mut scene = load("contacts", CLIP_FRICTION, CLIP_YOUNG, more)?;
            moved(&mut scene, CONTACTS_WAY, 0.2, |_, _, _| ())?;
            scene.world.materials.set("plastic", Friction::of(friction));
            let (mut times, mut counts) = (Vec::new(), Vec::new());
            for step in 0..CONTACTS_STEPS + SETTLING {
                if scene.world.step().status != Status::Done {
                    bail!("the clip is lost at {:.3} s", scene.world.time());
                }
                if step >= SETTLING {
                    times.push(scene.world.times().total);
                    counts.push(scene.world.statistics().contacts);
                }
            }
            counts.sort_unstable();
            let count = counts.get(counts.len() / 2).copied().unwrap_or(0);
            Ok(Contacts { count, friction, step: TimeSpread::of(times)? })
        })
        .collect()
}

/// Way of the clip on the pipe that is too large for it, m.
const CONTACTS_WAY: f64 = -0.025;
/// Number of warm-up steps and timed steps, with a friction coefficient.
const CONTACTS_STEPS: usize = 300;
const SETTLING: usize = 30;
