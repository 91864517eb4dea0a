mod haptics_log;
#[cfg(feature = "script")]
mod outcome;
pub mod summary;
mod trace;

use std::net::{Ipv4Addr, SocketAddr};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use self::summary::Summary;
pub use self::trace::Tables;
use super::device_arguments::{self, DeviceArguments};
use super::scene_arguments::SceneArguments;
use super::{Talk, interrupt, outputs};
use crate::assets::Setting;
use crate::runtime::{Pacing, Session, VmcSender, overlap_warnings};

/// Arguments of `run`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Scene file (.toml), script (.rhai), recording (.fpr), or the name of a shipped scene or script (`bar` is the
    /// scene, `bar.rhai` the script)
    scene: PathBuf,
    /// Seconds to simulate [default: set by the scene]; for a script the maximum
    #[arg(long)]
    seconds: Option<f64>,
    /// Time step, s
    #[arg(long)]
    dt: Option<f64>,
    #[command(flatten)]
    changes: SceneArguments,
    /// Print JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    devices: DeviceArguments,
    /// Limit to real time
    #[arg(long)]
    realtime: bool,
    /// Write a table with one row per step: poses, velocities, angles, contacts, solver, time; Parquet if the name ends
    /// in .parquet
    #[arg(long, value_name = "FILE.csv|FILE.parquet")]
    trace: Option<PathBuf>,
    /// Write a recording that `replay` can repeat and verify
    #[arg(long, value_name = "FILE.fpr")]
    record: Option<PathBuf>,
    /// Write a table with one row per step: forces and pressures on fingers and palms, and the commands sent to each
    /// device
    #[arg(long, value_name = "FILE.csv")]
    haptics_log: Option<PathBuf>,
    /// Send the simulated hands to another program with the VMC protocol, at up to 60 Hz: ADDRESS:PORT, or a port of
    /// this machine
    #[arg(long, value_name = "ADDRESS", value_parser = address)]
    vmc_out: Option<SocketAddr>,
    /// Open a window, like `view`
    #[arg(long, conflicts_with_all = ["json", "realtime", "trace", "record", "haptics_log"])]
    view: bool,
    /// Show it in a headset, like `vr`
    #[arg(long, conflicts_with_all = ["view", "realtime", "trace", "haptics_log", "vmc_out"])]
    vr: bool,
}

/// How a run ended.
pub enum RunEnd {
    /// Completed; the task succeeded if there was one.
    Done,
    /// Completed, but the task or the verification failed.
    Failed,
    /// Stopped by a signal; the files are complete up to the last step.
    Interrupted,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<RunEnd> {
    if arguments.vr {
        let (scene, record) = (arguments.scene.clone(), arguments.record.clone());
        let devices = arguments.devices.names().to_vec();
        let vr = super::vr::Arguments::of_run(scene, settings(arguments)?, record, devices, arguments.json);
        return super::vr::run(&vr, talk);
    }
    let clock = Instant::now();
    let mut session = arguments.devices.load(&arguments.scene, &settings(arguments)?, talk)?;
    let loading = 1e3 * clock.elapsed().as_secs_f64();
    talk.detail(format_args!("loaded {} in {loading:.0} ms", arguments.scene.display()));
    if session.recording().is_none() {
        let warnings = overlap_warnings(&session.scene());
        warnings.iter().for_each(|warning| talk.say(format_args!("warning: {warning}")));
        if let Some(warning) = session.scene().haptic.as_ref().and_then(|haptic| haptic.warning()) {
            talk.say(format_args!("warning: {warning}"));
        }
    }
    if let Some(address) = arguments.vmc_out {
        let sender = VmcSender::open(address, &session.scene().world)?;
        session.add_sink(Box::new(sender));
    }
    if arguments.view {
        return super::view::show_session(session, settings(arguments)?, talk);
    }
    check_outputs(arguments, &session)?;
    interrupt::listen();
    if let Some(file) = &arguments.record {
        session.record(file)?;
    }
    let traces: Vec<&Path> = arguments.trace.iter().map(PathBuf::as_path).collect();
    let (parquet, csv): (Vec<&Path>, Vec<&Path>) =
        traces.into_iter().partition(|file| file.extension().is_some_and(|e| e == "parquet"));
    let mut tables = Tables::create(&session, &csv, &parquet)?;
    if let Some(file) = &arguments.haptics_log {
        tables = tables.and_haptics(file, &session)?;
    }
    let mut summary = Summary::default();
    // Devices run in real time.
    let is_paced = arguments.realtime || arguments.devices.any();
    let pacing = if is_paced { Pacing::RealTime } else { Pacing::AsFastAsPossible };
    let played = play(&mut session, pacing, &mut summary, &mut tables, talk);
    let written = tables.finish().and(session.finish_recording().map_err(Into::into));
    played.and(written)?;
    say_felt(&mut session, talk);
    let devices = session.detach_devices().map(|devices| devices.status());
    if let Some(devices) = devices.as_ref().filter(|_| !arguments.json) {
        devices.iter().for_each(|device| talk.say(device_arguments::line(device)));
    }
    let devices = devices.map(|devices| ("devices", device_arguments::as_json(&devices)));
    Ok(conclude(&session, &summary, arguments.json, devices))
}

/// Prints how the forces on the hand were computed at the haptic rate, if they were.
fn say_felt(session: &mut Session, talk: Talk) {
    let Some(felt) = session.felt_figures() else { return };
    let (rate, cost, periods) = (felt.rate, felt.cost, felt.periods);
    talk.say(format_args!(
        "forces on the hand at {rate:.0} Hz: step median {:.3} ms, p99 {:.3} ms; period p99 {:.2} ms; {:.2} N at most",
        1e3 * cost.median,
        1e3 * cost.p99,
        1e3 * periods.p99,
        felt.device_force
    ));
}

/// Refuses output files that are inputs of the run or identical to each other.
fn check_outputs(arguments: &Arguments, session: &Session) -> anyhow::Result<()> {
    let outputs =
        [("--trace", &arguments.trace), ("--record", &arguments.record), ("--haptics-log", &arguments.haptics_log)];
    let outputs: Vec<_> = outputs.iter().filter_map(|(option, file)| Some((*option, file.as_deref()?))).collect();
    outputs::check(&outputs, &[session.inputs(), arguments.devices.inputs()].concat())
}

/// Settings of the command line.
fn settings(arguments: &Arguments) -> anyhow::Result<Vec<Setting>> {
    let seconds = arguments.seconds.map(|s| Setting::new("seconds", s));
    let dt = arguments.dt.map(|s| Setting::new("dt", s));
    arguments.changes.settings(seconds.into_iter().chain(dt))
}

/// Steps to the end, or until the program is interrupted.
pub fn play(
    session: &mut Session,
    pacing: Pacing,
    summary: &mut Summary,
    tables: &mut Tables,
    talk: Talk,
) -> anyhow::Result<()> {
    let start = Instant::now();
    let mut steps = session.steps();
    let mut is_told = false;
    session.run(pacing, |session| -> anyhow::Result<ControlFlow<()>> {
        session.take_messages().iter().for_each(|line| talk.say(line));
        if session.steps() > steps {
            steps = session.steps();
            {
                let world = &session.scene().world;
                summary.add(world, world.times().total);
                if let (false, Some(warning)) = (is_told, summary.slow(world)) {
                    talk.say(format_args!("warning: {warning}"));
                    is_told = true;
                }
            }
            tables.add(session)?;
        }
        summary.wall = start.elapsed().as_secs_f64();
        if let Some(devices) = session.devices_mut() {
            devices.take_changes().iter().for_each(|change| talk.say(change));
        }
        Ok(if interrupt::is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) })
    })?;
    session.take_messages().iter().for_each(|line| talk.say(line));
    summary.wall = start.elapsed().as_secs_f64();
    Ok(())
}

/// Prints the results of the run and of its task; a key and an object may be added to the JSON.
pub fn conclude(session: &Session, summary: &Summary, json: bool, more: Option<(&str, Value)>) -> RunEnd {
    #[cfg(feature = "script")]
    let outcome = session.outcome();
    if json {
        let mut object = summary.as_json(&session.scene());
        #[cfg(feature = "script")]
        if let Some(outcome) = outcome {
            object["script"] = session.source().file_stem().map(|stem| stem.to_string_lossy()).into();
            object["task"] = outcome::as_json(outcome);
        }
        if let Some((key, value)) = more {
            object[key] = value;
        }
        println!("{object}");
    } else {
        summary.print(&session.scene());
        #[cfg(feature = "script")]
        if let Some(outcome) = outcome {
            outcome::print(outcome);
        }
    }
    if !session.is_over() && interrupt::is_asked() {
        return RunEnd::Interrupted;
    }
    #[cfg(feature = "script")]
    if outcome.is_some_and(|outcome| !outcome.success) {
        return RunEnd::Failed;
    }
    RunEnd::Done
}

/// Where to send to: an address with a port, or a port of this machine.
fn address(text: &str) -> Result<SocketAddr, String> {
    let port = || text.parse().ok().map(|port: u16| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
    let parsed = text.parse().ok().or_else(port).filter(|address: &SocketAddr| address.port() != 0);
    parsed.ok_or_else(|| "expected ADDRESS:PORT or a port of this machine, as in 127.0.0.1:39540".into())
}
