use std::time::Instant;

use anyhow::bail;
use serde_json::{Value, json};

use crate::assets::Scene;
use crate::cli::run::summary::Summary;

/// Note below a table of stages.
pub const STAGES_NOTE: &str = "formulation builds the convex contact problem of the aggregates, advance applies its solution and measures the gaps; \
     points have assembly (rows and Delassus operator) and correction (of positions) instead; contact is every stage but free motion and proximity";

/// Makes steps of a scene and measures them. Returns the object of `run --json` for these steps, with the mean of each
/// stage as `means_ms`. Calls `seen` with the number of steps made after each step.
pub fn measure(scene: &mut Scene, steps: u64, mut seen: impl FnMut(u64)) -> anyhow::Result<Value> {
    measure_while(scene, steps, |_, made| {
        seen(made);
        true
    })
}

/// Like [`measure`], with a callback after each step that returns whether to continue.
pub fn measure_while(
    scene: &mut Scene,
    steps: u64,
    mut look: impl FnMut(&Scene, u64) -> bool,
) -> anyhow::Result<Value> {
    let mut summary = Summary::default();
    let mut made = 0;
    while made < steps {
        let seconds = make_step(scene)?;
        made += 1;
        summary.wall += seconds;
        summary.add(&scene.world, seconds);
        if !look(scene, made) {
            break;
        }
    }
    let simulated = made as f64 * scene.world.parameters.dt;
    let mut row = summary.as_json(scene);
    row["sim_seconds"] = json!(simulated);
    row["realtime_factor"] = json!(simulated / summary.wall.max(f64::MIN_POSITIVE));
    row["means_ms"] = summary.means();
    Ok(row)
}

/// Makes steps without measuring them.
pub fn advance(scene: &mut Scene, steps: u64, mut seen: impl FnMut(u64)) -> anyhow::Result<()> {
    advance_seen(scene, steps, |_, made| seen(made))
}

/// The same, with a callback after each step.
pub fn advance_seen(scene: &mut Scene, steps: u64, mut look: impl FnMut(&Scene, u64)) -> anyhow::Result<()> {
    for step in 0..steps {
        make_step(scene)?;
        look(scene, step + 1);
    }
    Ok(())
}

/// Makes one step; returns its duration, s.
fn make_step(scene: &mut Scene) -> anyhow::Result<f64> {
    scene.feed();
    let clock = Instant::now();
    let report = scene.step();
    let seconds = clock.elapsed().as_secs_f64();
    if let Some(fault) = scene.fault(report.status) {
        bail!("{}: {fault}", scene.name);
    }
    Ok(seconds)
}

/// Number of steps of a scene.
pub fn steps_of(scene: &Scene) -> u64 {
    (scene.seconds / scene.world.parameters.dt - 1e-9).ceil().max(1.0) as u64
}

/// Number in a row by its JSON pointer; zero if missing.
pub fn number(row: &Value, path: &str) -> f64 {
    row.pointer(path).and_then(Value::as_f64).unwrap_or(0.0)
}
