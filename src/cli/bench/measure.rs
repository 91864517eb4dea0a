use std::time::Instant;

use anyhow::bail;
use serde_json::{Map, Value, json};

use crate::assets::Scene;
use crate::cli::run::summary::Summary;
use crate::sim::{StageTimes, Status};

/// Reads one stage's time, s.
type Stage = fn(&StageTimes) -> f64;

/// The stages of a step, in the order in which tables list them.
pub const STAGES: [(&str, Stage); 5] = [
    ("proximity", |t| t.proximity),
    ("free", |t| t.free),
    ("assembly", |t| t.assembly),
    ("solve", |t| t.solve),
    ("correction", |t| t.correction),
];

/// What readers of a table must know to compare the methods fairly.
pub const ASSEMBLY_NOTE: &str = "the spread of the pressure over an aggregate's contacts is solved for in the assembly";

/// Makes steps of a scene and measures them: the object of `run --json`, over these steps only, with the median of each
/// stage added as `stages_ms`. Before each step `seen` is told how many were made.
pub fn measure(scene: &mut Scene, steps: u64, mut seen: impl FnMut(u64)) -> anyhow::Result<Value> {
    let mut summary = Summary::default();
    let mut stages = STAGES.map(|_| Vec::with_capacity(steps as usize));
    for step in 0..steps {
        seen(step);
        let seconds = make_step(scene)?;
        summary.wall += seconds;
        summary.add(&scene.world, seconds);
        for (samples, (_, time)) in stages.iter_mut().zip(STAGES) {
            samples.push(1e3 * time(scene.world.times()));
        }
    }
    let simulated = steps as f64 * scene.world.parameters.dt;
    let mut row = summary.as_json(scene);
    row["sim_seconds"] = json!(simulated);
    row["realtime_factor"] = json!(simulated / summary.wall.max(f64::MIN_POSITIVE));
    let medians = stages.into_iter().zip(STAGES).map(|(samples, (name, _))| (name.into(), json!(median(samples))));
    row["stages_ms"] = Value::Object(medians.collect::<Map<_, _>>());
    Ok(row)
}

/// Makes steps of a scene that nobody measures.
pub fn advance(scene: &mut Scene, steps: u64, mut seen: impl FnMut(u64)) -> anyhow::Result<()> {
    for step in 0..steps {
        seen(step);
        make_step(scene)?;
    }
    Ok(())
}

/// Makes a step; returns how long it took, s.
fn make_step(scene: &mut Scene) -> anyhow::Result<f64> {
    scene.feed();
    let clock = Instant::now();
    let report = scene.world.step();
    let seconds = clock.elapsed().as_secs_f64();
    if report.status == Status::NotFinite {
        bail!("{}: the state stopped being finite at {:.4} s", scene.name, scene.world.time());
    }
    Ok(seconds)
}

/// Steps that a scene is meant to make.
pub fn steps_of(scene: &Scene) -> u64 {
    (scene.seconds / scene.world.parameters.dt - 1e-9).ceil().max(1.0) as u64
}

/// A number of a row, by its path; zero where the row has none.
pub fn number(row: &Value, path: &str) -> f64 {
    row.pointer(path).and_then(Value::as_f64).unwrap_or(0.0)
}

fn median(mut samples: Vec<f64>) -> f64 {
    samples.sort_by(f64::total_cmp);
    samples.get(samples.len() / 2).copied().unwrap_or(0.0)
}
