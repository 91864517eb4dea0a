mod haptics_log;
#[cfg(feature = "script")]
mod outcome;
pub mod summary;
mod trace;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::Value;

use self::summary::Summary;
pub use self::trace::Tables;
use super::bones_out::BonesOut;
use super::gear::DeviceArguments;
use super::player::Player;
use super::scene_arguments::SceneArguments;
use super::{Talk, interrupt, outputs};
use crate::assets::Setting;

/// What to simulate, and how.
#[derive(clap::Args)]
pub struct Arguments {
    /// A scene file (.toml), a script (.rhai), a recording (.fpr), or a shipped scene or script by its name: `bar` is the scene, `bar.rhai`
    /// the script.
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
    #[command(flatten)]
    devices: DeviceArguments,
    /// Go no faster than the clock on the wall.
    #[arg(long)]
    realtime: bool,
    /// Write a table with a line for every step: poses, velocities, angles, contacts, solver, time. As Parquet if the file is called so.
    #[arg(long, value_name = "FILE.csv|FILE.parquet")]
    trace: Option<PathBuf>,
    /// Write a recording, from which the run can be repeated and checked with `replay`.
    #[arg(long, value_name = "FILE.fpr")]
    record: Option<PathBuf>,
    /// Write a table with a line for every step: forces and pressures on the fingers and palms, and what each device was told of them.
    #[arg(long, value_name = "FILE.csv")]
    haptics_log: Option<PathBuf>,
    /// Send the simulated hands to another program by the VMC protocol, 60 times a second at most: ADDRESS:PORT, or a port of this machine.
    #[arg(long, value_name = "ADDRESS", value_parser = super::bones_out::address)]
    vmc_out: Option<SocketAddr>,
    /// Play in a window, as `view` does.
    #[arg(long, conflicts_with_all = ["json", "realtime", "trace", "record", "haptics_log"])]
    view: bool,
}

/// How a run ended.
pub enum End {
    /// It is done, and the task succeeded if there was one.
    Done,
    /// It is done, and the task failed, or it was not what it should have been.
    Failed,
    /// A signal ended it before its end; its files are complete up to the last step.
    Interrupted,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<End> {
    let clock = Instant::now();
    let mut player = arguments.devices.load(&arguments.scene, &settings(arguments), talk)?;
    let loading = 1e3 * clock.elapsed().as_secs_f64();
    talk.whisper(format_args!("loaded {} in {loading:.0} ms", arguments.scene.display()));
    if player.recording().is_none() {
        super::inside::warnings(&player.scene())
            .iter()
            .for_each(|warning| talk.say(format_args!("warning: {warning}")));
    }
    if let Some(address) = arguments.vmc_out {
        let bones = BonesOut::open(address, &player.scene().world)?;
        player.show_bones(bones);
    }
    if arguments.view {
        return super::view::show_player(player, settings(arguments), talk);
    }
    check_outputs(arguments, &player)?;
    interrupt::listen();
    if let Some(file) = &arguments.record {
        player.record(file)?;
    }
    let traces: Vec<&Path> = arguments.trace.iter().map(PathBuf::as_path).collect();
    let (parquet, csv): (Vec<&Path>, Vec<&Path>) =
        traces.into_iter().partition(|file| file.extension().is_some_and(|e| e == "parquet"));
    let mut tables = Tables::create(&player, &csv, &parquet)?;
    if let Some(file) = &arguments.haptics_log {
        tables = tables.and_haptics(file, &player)?;
    }
    let mut summary = Summary::default();
    // Devices keep their own time.
    let realtime = arguments.realtime || arguments.devices.any();
    let played = play(&mut player, realtime, &mut summary, &mut tables, talk);
    let written = tables.finish().and(player.finish_recording());
    played.and(written)?;
    let gear = player.take_off();
    if let Some(gear) = gear.as_ref().filter(|_| !arguments.json) {
        gear.lines().iter().for_each(|line| talk.say(line));
    }
    let devices = gear.map(|gear| ("devices", gear.as_json()));
    Ok(conclude(&player, &summary, arguments.json, devices))
}

/// Refuses files to write that the run reads, or that are the same.
fn check_outputs(arguments: &Arguments, player: &Player) -> anyhow::Result<()> {
    let outputs =
        [("--trace", &arguments.trace), ("--record", &arguments.record), ("--haptics-log", &arguments.haptics_log)];
    let outputs: Vec<_> = outputs.iter().filter_map(|(option, file)| Some((*option, file.as_deref()?))).collect();
    outputs::check(&outputs, &[player.inputs(), arguments.devices.inputs()].concat())
}

/// The settings of the command line.
fn settings(arguments: &Arguments) -> Vec<Setting> {
    let seconds = arguments.seconds.map(|s| Setting::new("seconds", s));
    let dt = arguments.dt.map(|s| Setting::new("dt", s));
    arguments.changes.settings(seconds.into_iter().chain(dt))
}

/// Plays to the end.
pub fn play(
    player: &mut Player,
    realtime: bool,
    summary: &mut Summary,
    tables: &mut Tables,
    talk: Talk,
) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut simulated = 0.0;
    while !player.is_over() && !interrupt::is_asked() {
        let before = player.steps();
        let stepped = player.step();
        player.take_messages().iter().for_each(|line| talk.say(line));
        if player.steps() > before {
            {
                let world = &player.scene().world;
                summary.add(world, world.times().total);
                simulated += world.parameters.dt;
            }
            tables.add(player)?;
        }
        summary.wall = start.elapsed().as_secs_f64();
        if let Some(gear) = player.gear() {
            gear.tell_changes(talk);
        }
        stepped?;
        if realtime {
            let ahead = simulated - start.elapsed().as_secs_f64();
            std::thread::sleep(Duration::from_secs_f64(ahead.max(0.0)));
        }
    }
    player.take_messages().iter().for_each(|line| talk.say(line));
    summary.wall = start.elapsed().as_secs_f64();
    Ok(())
}

/// Says what became of the run, and of its task if it had one; a key and an object may be added to the JSON.
pub fn conclude(player: &Player, summary: &Summary, json: bool, more: Option<(&str, Value)>) -> End {
    #[cfg(feature = "script")]
    let outcome = player.outcome();
    if json {
        let mut object = summary.as_json(&player.scene());
        #[cfg(feature = "script")]
        if let Some(outcome) = outcome {
            object["script"] = player.source().file_stem().map(|stem| stem.to_string_lossy()).into();
            object["task"] = outcome::as_json(outcome);
        }
        if let Some((key, value)) = more {
            object[key] = value;
        }
        println!("{object}");
    } else {
        summary.print(&player.scene());
        #[cfg(feature = "script")]
        if let Some(outcome) = outcome {
            outcome::print(outcome);
        }
    }
    if !player.is_over() && interrupt::is_asked() {
        return End::Interrupted;
    }
    #[cfg(feature = "script")]
    if outcome.is_some_and(|outcome| !outcome.success) {
        return End::Failed;
    }
    End::Done
}
