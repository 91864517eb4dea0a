use std::time::Instant;

use anyhow::{Context, ensure};

use crate::assets::load_builtin_scene;
use crate::body::Body;
use crate::contact::ToolProblem;
use crate::math::{Pose, Vec3};
use crate::problem::Guide;
use crate::sim::Status;
use crate::sim::two_rate::{FastTool, Lockstep};

/// Times of a step of the haptic loop, ms.
pub struct HapticTimes {
    pub name: &'static str,
    /// Aims for median and 99th percentile.
    pub aims: [f64; 2],
    pub constraints: usize,
    pub rows: usize,
    pub median: f64,
    pub p99: f64,
    pub max: f64,
}

/// The number of constraints of Peterlik's clip.
const PAPER_CONSTRAINTS: usize = 20;

/// Aims for the clip of 20 beams with 20 constraints, and for the thread of 10 beams, ms.
const CLIP_AIMS: [f64; 2] = [0.2, 0.5];
const THREAD_AIMS: [f64; 2] = [0.05, f64::NAN];

/// Times the tools of two scenes: the clip with as many constraints as the paper's, and both with the most that they have.
pub fn measure(steps: u32) -> anyhow::Result<Vec<HapticTimes>> {
    let [paper, most] = pick("beam_clip")?;
    let [_, thread] = pick("thread_taut")?;
    Ok(vec![
        paper.time("clip of 20 beams", CLIP_AIMS, steps),
        most.time("the same, most", [f64::NAN; 2], steps),
        thread.time("thread of 10 beams", THREAD_AIMS, steps),
    ])
}

/// The tool at one moment.
struct Moment {
    problem: ToolProblem,
    body: Box<dyn Body>,
    frame: usize,
    device: Pose,
    gravity: Vec3,
}

/// Plays a scene: the moment with the fewest constraints of at least [`PAPER_CONSTRAINTS`], or the most if there are never so many; and the one with the most.
fn pick(scene: &str) -> anyhow::Result<[Moment; 2]> {
    let mut scene = load_builtin_scene(scene, &[]).context("a shipped scene")??;
    let mut picked: [Option<Moment>; 2] = [None, None];
    while scene.world.time() < scene.seconds - 1e-9 {
        ensure!(scene.step().status == Status::Done, "the scene stopped");
        let lock = scene.haptic.as_ref().and_then(|haptic| haptic.lockstep.body()).context("a haptic loop")?;
        let count = lock.problem().constraints.len();
        for (best, wanted) in picked.iter_mut().zip([PAPER_CONSTRAINTS, usize::MAX]) {
            let is_better = best.as_ref().is_none_or(|best| {
                let before = best.problem.constraints.len();
                if before >= wanted { (wanted..before).contains(&count) } else { count > before }
            });
            if is_better {
                *best = Some(Moment::of(lock, scene.world.parameters.gravity));
            }
        }
    }
    match picked {
        [Some(paper), Some(most)] => Ok([paper, most]),
        _ => anyhow::bail!("the scene has no steps"),
    }
}

impl Moment {
    fn of(lock: &Lockstep, gravity: Vec3) -> Self {
        let tool = lock.tool();
        Self {
            problem: lock.problem().clone(),
            body: tool.body().boxed_clone(),
            frame: tool.frame_number(),
            device: lock.device().pose(),
            gravity,
        }
    }

    /// Steps the tool with the problem as it is, while the device trembles.
    fn time(&self, name: &'static str, aims: [f64; 2], steps: u32) -> HapticTimes {
        let mut tool = FastTool::new(&*self.body, self.frame, self.gravity);
        let mut times: Vec<f64> = Vec::with_capacity(steps as usize);
        for i in 0..steps {
            let tremble = Vec3::new(1e-5 * (0.06 * f64::from(i)).sin(), 0.0, 0.0);
            let place = self.device.translation.vector + tremble;
            let guide = Guide {
                pose: Pose::from_parts(place.into(), self.device.rotation),
                velocity: [Vec3::zeros(); 2],
                stiffness: [600.0, 1.0],
                damping: [0.5, 0.005],
                limits: [10.0, 0.2],
            };
            let clock = Instant::now();
            tool.step(&self.problem, Some(guide), self.problem.time, 1e-3, || true);
            times.push(1e3 * clock.elapsed().as_secs_f64());
        }
        times.sort_by(f64::total_cmp);
        let at = |part: f64| times[((times.len() - 1) as f64 * part).round() as usize];
        let (constraints, rows) = (self.problem.constraints.len(), self.problem.rows());
        HapticTimes { name, aims, constraints, rows, median: at(0.5), p99: at(0.99), max: at(1.0) }
    }
}
