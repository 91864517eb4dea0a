use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Instant;

use anyhow::Context;
use serde_json::{Value, json};

use super::bench::progress::Progress;
use super::run::RunEnd;
use super::{Talk, interrupt};
use crate::runtime::soak::{DEEP_PENETRATION, FaultKind, SoakFault, SoakOptions, SoakTotals, soak};

/// Arguments of `soak`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Simulated minutes
    #[arg(long, default_value_t = 1.0, value_parser = minutes)]
    minutes: f64,
    /// Seed of all random choices
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Folder for recordings of faults, and for working files
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    out: PathBuf,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

fn minutes(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|minutes| (0.001..=1e5).contains(minutes));
    parsed.ok_or_else(|| "expected a number from 0.001 to 100000".into())
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<RunEnd> {
    interrupt::listen();
    let folder = &arguments.out;
    std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    let options =
        SoakOptions { seconds: 60.0 * arguments.minutes, seed: arguments.seed, folder: arguments.out.clone() };
    let (start, mut progress, mut printed) = (Instant::now(), Progress::new(talk), 0);
    let totals = soak(&options, |totals| {
        progress.clear();
        totals.faults[printed..].iter().for_each(|fault| eprintln!("fault: {fault}"));
        printed = totals.faults.len();
        let (done, faults) = (totals.seconds / 60.0, totals.faults.len());
        progress.show(format_args!("{done:.1} of {} min simulated, {faults} faults", arguments.minutes));
        if interrupt::is_asked() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    })?;
    progress.clear();
    totals.faults[printed..].iter().for_each(|fault| eprintln!("fault: {fault}"));
    let wall = start.elapsed().as_secs_f64();
    if arguments.json {
        println!("{}", as_json(&totals, arguments.seed, wall));
    } else {
        print(&totals, wall);
    }
    Ok(match totals.faults.is_empty() {
        false => RunEnd::Failed,
        true if interrupt::is_asked() => RunEnd::Interrupted,
        true => RunEnd::Done,
    })
}

fn print(totals: &SoakTotals, wall: f64) {
    let row = |name: &str, value: String| println!("{name:<28} {value}");
    let count = |kind| totals.count(kind).to_string();
    println!("{:.2} min simulated in {wall:.1} s, {} episodes", totals.seconds / 60.0, totals.episodes);
    row("steps", totals.steps.to_string());
    row("tracker samples", totals.samples.to_string());
    row("bytes through decoders", totals.noise_bytes.to_string());
    row("panics", count(FaultKind::Panic));
    row("not finite", count(FaultKind::NotFinite));
    row("worlds stopped", count(FaultKind::Stopped));
    row("bodies tunnelled", count(FaultKind::Tunnelled));
    row("decoder faults", count(FaultKind::Decoder));
    row("recordings verified", format!("{}, {} steps replayed", totals.verified, totals.replayed_steps));
    row("recordings not verified", count(FaultKind::Recording));
    row("top speed", format!("{:.1} m/s", totals.top_speed));
    row("worst depth", format!("{:.3} mm", 1e3 * totals.worst_depth));
    row(&format!("steps deeper than {} mm", 1e3 * DEEP_PENETRATION), totals.deep_steps.to_string());
    row("steps with a palm outside", totals.hand_outside.to_string());
    row("not converged", totals.unconverged.to_string());
    let [p99, worst] = [totals.step_quantile(0.99), totals.worst_step()];
    row("step", format!("p99 {:.2} ms, worst {:.2} ms", 1e3 * p99, 1e3 * worst));
    match totals.memory {
        Some([start, end]) => row("memory", format!("{} MB at the start, {} MB at the end", start >> 20, end >> 20)),
        None => row("memory", "not known on this system".into()),
    }
    row("hash of all states", format!("{:016x}", totals.hash));
}

fn as_json(totals: &SoakTotals, seed: u64, wall: f64) -> Value {
    let count = |kind| totals.count(kind);
    let fault = |fault: &SoakFault| {
        json!({
            "kind": fault.kind.name(), "seed": fault.seed, "episode": fault.episode, "time": fault.time,
            "message": fault.message, "recording": fault.recording,
        })
    };
    json!({
        "seed": seed,
        "sim_seconds": totals.seconds,
        "wall_seconds": wall,
        "episodes": totals.episodes,
        "steps": totals.steps,
        "samples": totals.samples,
        "decoder_bytes": totals.noise_bytes,
        "panics": count(FaultKind::Panic),
        "not_finite": count(FaultKind::NotFinite),
        "stopped": count(FaultKind::Stopped),
        "tunnelled": count(FaultKind::Tunnelled),
        "decoder_faults": count(FaultKind::Decoder),
        "recordings_verified": totals.verified,
        "recordings_not_verified": count(FaultKind::Recording),
        "steps_replayed": totals.replayed_steps,
        "top_speed": totals.top_speed,
        "worst_depth_mm": 1e3 * totals.worst_depth,
        "deep_steps": totals.deep_steps,
        "palm_outside_steps": totals.hand_outside,
        "not_converged": totals.unconverged,
        "step_ms": { "p99": 1e3 * totals.step_quantile(0.99), "max": 1e3 * totals.worst_step() },
        "memory_bytes": totals.memory.map(|[start, end]| json!({ "start": start, "end": end })),
        "faults": totals.faults.iter().map(fault).collect::<Vec<_>>(),
        "state_hash": format!("{:016x}", totals.hash),
    })
}
