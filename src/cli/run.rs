#[cfg(feature = "script")]
mod script;
pub mod summary;
mod trace;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use self::summary::Summary;
use self::trace::Trace;
use super::Talk;
use super::scene_arguments::SceneArguments;
use crate::assets::{FileKind, Scene, Setting, file_kind, load_scene};
use crate::sim::Status;

/// What to simulate, and how.
#[derive(clap::Args)]
pub struct Arguments {
    /// A scene file (.toml) or a script (.rhai).
    scene: PathBuf,
    /// Seconds to simulate; what the scene says if left out. Of a script, the most.
    #[arg(long)]
    seconds: Option<f64>,
    /// Length of a step, s.
    #[arg(long)]
    dt: Option<f64>,
    #[command(flatten)]
    changes: SceneArguments,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Go no faster than the clock on the wall.
    #[arg(long)]
    realtime: bool,
    /// Write a table with a line for every step: poses, velocities, angles, contacts, solver, time.
    #[arg(long, value_name = "FILE.csv")]
    trace: Option<PathBuf>,
}

/// How a run ended.
pub enum End {
    /// It is done, and the task succeeded if there was one.
    Done,
    /// It is done, and the task failed.
    #[cfg_attr(not(feature = "script"), expect(dead_code, reason = "tasks come from scripts"))]
    TaskFailed,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<End> {
    let file = arguments.scene.as_path();
    match file.extension().and_then(|e| e.to_str()) {
        Some("toml") => run_scene(arguments, talk).map(|()| End::Done),
        Some("rhai") => run_script(arguments, talk),
        _ => bail!("{}: expected a scene file (.toml) or a script (.rhai)", file.display()),
    }
}

#[cfg(feature = "script")]
use self::script::run_script;

#[cfg(not(feature = "script"))]
fn run_script(_arguments: &Arguments, _talk: Talk) -> anyhow::Result<End> {
    bail!("scripts need the feature `script`, and this program was built without it")
}

fn run_scene(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let file = arguments.scene.as_path();
    expect_scene(file)?;
    let clock = Instant::now();
    let mut scene = load_scene(file, &settings(arguments))?;
    talk.whisper(format_args!("loaded {} in {:.0} ms", file.display(), 1e3 * clock.elapsed().as_secs_f64()));
    let mut trace = arguments.trace.as_deref().map(|file| Trace::create(file, &scene)).transpose()?;
    let summary = simulate(&mut scene, arguments.realtime, trace.as_mut())?;
    if arguments.json {
        println!("{}", summary.as_json(&scene));
    } else {
        summary.print(&scene);
    }
    Ok(())
}

fn expect_scene(file: &Path) -> anyhow::Result<()> {
    if file_kind(file)? == FileKind::Hand {
        bail!("{}: this describes a hand, or nothing; expected a scene", file.display());
    }
    Ok(())
}

/// The settings of the command line.
fn settings(arguments: &Arguments) -> Vec<Setting> {
    let seconds = arguments.seconds.map(|s| Setting::new("seconds", s));
    let dt = arguments.dt.map(|s| Setting::new("dt", s));
    arguments.changes.settings(seconds.into_iter().chain(dt))
}

fn simulate(scene: &mut Scene, realtime: bool, mut trace: Option<&mut Trace>) -> anyhow::Result<Summary> {
    let dt = scene.world.parameters.dt;
    let steps = (scene.seconds / dt - 1e-9).ceil().max(1.0) as u64;
    let mut summary = Summary::default();
    let start = Instant::now();
    for step in 1..=steps {
        scene.feed();
        let clock = Instant::now();
        let report = scene.world.step();
        let seconds = clock.elapsed().as_secs_f64();
        summary.add(&scene.world, seconds);
        if let Some(trace) = trace.as_deref_mut() {
            trace.add(&scene.world, seconds)?;
        }
        if report.status == Status::NotFinite {
            if let Some(trace) = trace {
                trace.finish()?;
            }
            bail!("the state stopped being finite at {:.4} s, in step {step}", scene.world.time());
        }
        if realtime {
            let ahead = step as f64 * dt - start.elapsed().as_secs_f64();
            std::thread::sleep(Duration::from_secs_f64(ahead.max(0.0)));
        }
    }
    summary.wall = start.elapsed().as_secs_f64();
    if let Some(trace) = trace {
        trace.finish().context("cannot write the trace")?;
    }
    Ok(summary)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{RigidBody, RigidShape};
    use crate::math::{Pose, Vec3};

    #[test]
    fn a_state_that_is_not_finite_ends_the_run() {
        let mut body = RigidBody::new(&RigidShape::Ball(0.1), 1000.0, Pose::identity()).expect("a body");
        body.set_velocity(Vec3::repeat(f64::INFINITY), Vec3::zeros());
        let mut scene = Scene { seconds: 1.0, ..Scene::default() };
        scene.world.bodies.rigid.push(body);
        let error = simulate(&mut scene, false, None).err().expect("an end");
        assert_eq!(error.to_string(), "the state stopped being finite at 0.0100 s, in step 1");
    }
}
