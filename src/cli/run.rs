#[cfg(feature = "script")]
mod outcome;
pub mod summary;
mod trace;

use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Context;

use self::summary::Summary;
use self::trace::Trace;
use super::Talk;
use super::player::Player;
use super::scene_arguments::SceneArguments;
use crate::assets::Setting;

/// What to simulate, and how.
#[derive(clap::Args)]
pub struct Arguments {
    /// A scene file (.toml), a script (.rhai), or the name of a shipped scene.
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
    let clock = Instant::now();
    let mut player = Player::load(&arguments.scene, &settings(arguments))?;
    let loading = 1e3 * clock.elapsed().as_secs_f64();
    talk.whisper(format_args!("loaded {} in {loading:.0} ms", arguments.scene.display()));
    let mut trace = arguments.trace.as_deref().map(|file| Trace::create(file, &player.scene())).transpose()?;
    let mut summary = Summary::default();
    let played = play(&mut player, arguments.realtime, &mut summary, trace.as_mut(), talk);
    if let Some(mut trace) = trace {
        trace.finish().context("cannot write the trace")?;
    }
    played?;
    finish(arguments, &player, &summary)
}

/// The settings of the command line.
fn settings(arguments: &Arguments) -> Vec<Setting> {
    let seconds = arguments.seconds.map(|s| Setting::new("seconds", s));
    let dt = arguments.dt.map(|s| Setting::new("dt", s));
    arguments.changes.settings(seconds.into_iter().chain(dt))
}

fn play(
    player: &mut Player,
    realtime: bool,
    summary: &mut Summary,
    mut trace: Option<&mut Trace>,
    talk: Talk,
) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut simulated = 0.0;
    while !player.is_over() {
        let stepped = player.step();
        player.take_messages().iter().for_each(|line| talk.say(line));
        stepped?;
        {
            let world = &player.scene().world;
            let seconds = world.times().total;
            summary.add(world, seconds);
            if let Some(trace) = trace.as_deref_mut() {
                trace.add(world, seconds)?;
            }
            simulated += world.parameters.dt;
        }
        if realtime {
            let ahead = simulated - start.elapsed().as_secs_f64();
            std::thread::sleep(Duration::from_secs_f64(ahead.max(0.0)));
        }
    }
    player.take_messages().iter().for_each(|line| talk.say(line));
    summary.wall = start.elapsed().as_secs_f64();
    Ok(())
}

/// Says what became of the run, and of its task if it had one.
#[cfg(feature = "script")]
fn finish(arguments: &Arguments, player: &Player, summary: &Summary) -> anyhow::Result<End> {
    let outcome = player.outcome();
    if arguments.json {
        let mut object = summary.as_json(&player.scene());
        if let Some(outcome) = outcome {
            object["script"] = player.file().file_stem().map(|stem| stem.to_string_lossy()).into();
            object["task"] = outcome::as_json(outcome);
        }
        println!("{object}");
    } else {
        summary.print(&player.scene());
        if let Some(outcome) = outcome {
            outcome::print(outcome);
        }
    }
    Ok(if outcome.is_none_or(|outcome| outcome.success) { End::Done } else { End::TaskFailed })
}

#[cfg(not(feature = "script"))]
fn finish(arguments: &Arguments, player: &Player, summary: &Summary) -> anyhow::Result<End> {
    if arguments.json {
        println!("{}", summary.as_json(&player.scene()));
    } else {
        summary.print(&player.scene());
    }
    Ok(End::Done)
}
