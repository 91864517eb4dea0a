use anyhow::{Context, ensure};

use crate::assets::{Files, Scene, builtin_scene};
use crate::math::Vec3;
use crate::sim::Status;

/// A step of the scene.
pub struct LoopSample {
    /// s.
    pub time: f64,
    /// How far the middle of the clip has come, mm.
    pub depth: f64,
    /// Vertical force of the contacts on the clip in the haptic loop and in the scene, N.
    pub forces: [f64; 2],
    /// Vertical force sent to the device, N.
    pub device: f64,
}

/// A clip that is snapped on a soft cylinder and pulled off.
pub struct SnappedClip {
    pub scene_rate: f64,
    pub rows: Vec<LoopSample>,
    /// When the device turns back, s.
    pub turn: f64,
    /// Largest force of the device upwards and downwards, N.
    pub push: f64,
    pub pull: f64,
    /// Largest difference between the loops as a part of the largest force, and the same while the set of contacts stays the same.
    pub difference: f64,
    pub steady_difference: f64,
}

/// A thread that is pulled taut.
pub struct PulledThread {
    /// Rate of the loop, Hz.
    pub rate: f64,
    /// Time and path of the device, s and mm; time and force, s and N.
    pub path: Vec<[f64; 2]>,
    pub forces: Vec<[f64; 2]>,
    /// How far it still moves in the last 0.4 s, mm.
    pub unrest: f64,
    /// Force at the end, N.
    pub force: f64,
}

/// A shipped scene with a changed line.
fn changed(name: &str, from: &str, to: &str) -> anyhow::Result<Scene> {
    let text = builtin_scene(name).context("a shipped scene")?;
    ensure!(text.contains(from), "the scene `{name}` has no line `{from}`");
    let file = crate::assets::builtin_scene_file(name).context("a shipped scene")?;
    Ok(Files::default().parse_scene(&file, &text.replace(from, to), &[])?)
}

fn step(scene: &mut Scene) -> anyhow::Result<()> {
    scene.feed();
    let report = scene.step();
    ensure!(report.status == Status::Done, "the scene stopped at {} s: {:?}", scene.world.time(), report.status);
    Ok(())
}

/// Plays `beam_clip` with a finer step of the scene, for the curves.
pub fn snap() -> anyhow::Result<SnappedClip> {
    let mut scene = changed("beam_clip", "dt = 0.04", "dt = 0.01")?;
    let (dt, turn) = (scene.world.parameters.dt, 3.0);
    let mut clip = SnappedClip {
        scene_rate: 1.0 / dt,
        rows: Vec::new(),
        turn,
        push: 0.0,
        pull: 0.0,
        difference: 0.0,
        steady_difference: 0.0,
    };
    let (mut start, mut peak, mut keys, mut same) = (None, 0.0f64, Vec::new(), 0);
    while scene.world.time() < scene.seconds - 1e-9 {
        step(&mut scene)?;
        let lock = scene.haptic.as_ref().and_then(|haptic| haptic.lockstep.body()).context("a haptic loop")?;
        let middle = lock.tool().frame().0.translation.vector;
        let from = *start.get_or_insert(middle);
        let (forces, device) = (lock.forces(), lock.sent_wrench().force.y);
        peak = peak.max(forces[1].norm());
        let now: Vec<_> = lock.problem().constraints.iter().map(|c| c.key).collect();
        same = if now == keys { same + 1 } else { 0 };
        keys = now;
        let difference = (forces[0] - forces[1]).norm();
        clip.difference = clip.difference.max(difference);
        if same > 2 {
            clip.steady_difference = clip.steady_difference.max(difference);
        }
        (clip.push, clip.pull) = (clip.push.max(device), clip.pull.max(-device));
        let depth = 1e3 * (from - middle).y;
        clip.rows.push(LoopSample { time: scene.world.time(), depth, forces: forces.map(|f| f.y), device });
    }
    clip.difference /= peak.max(f64::MIN_POSITIVE);
    clip.steady_difference /= peak.max(f64::MIN_POSITIVE);
    Ok(clip)
}

/// Plays `thread_taut` with the loop at a rate.
pub fn pull(rate: f64) -> anyhow::Result<PulledThread> {
    let mut scene = changed("thread_taut", "rate = 1000", &format!("rate = {rate}"))?;
    let mut pull = PulledThread { rate, path: Vec::new(), forces: Vec::new(), unrest: 0.0, force: 0.0 };
    let mut places: Vec<Vec3> = Vec::new();
    while scene.world.time() < scene.seconds - 1e-9 {
        step(&mut scene)?;
        let lock = scene.haptic.as_ref().and_then(|haptic| haptic.lockstep.body()).context("a haptic loop")?;
        let (time, place) = (scene.world.time(), lock.device().pose().translation.vector);
        let from = *places.first().unwrap_or(&place);
        places.push(place);
        pull.force = lock.sent_wrench().force.norm();
        pull.path.push([time, 1e3 * (place - from).norm()]);
        pull.forces.push([time, pull.force]);
    }
    let last = &places[places.len() - (0.4 / scene.world.parameters.dt) as usize..];
    pull.unrest = 1e3 * last.iter().flat_map(|a| last.iter().map(move |b| (a - b).norm())).fold(0.0, f64::max);
    Ok(pull)
}
