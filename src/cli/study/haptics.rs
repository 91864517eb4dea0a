mod loops;
mod stability;
mod times;

use std::fmt::Write;
use std::path::PathBuf;

use serde_json::{Value, json};

use self::loops::{PulledThread, SnappedClip};
use self::stability::Limit;
use self::times::HapticTimes;
use super::{print_findings, save_plots};
use crate::cli::bench::progress::Progress;
use crate::cli::plot::{Axis, Plot, Scale, Series, Style};
use crate::cli::{Talk, write_file};

/// Arguments of `study haptics`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Steps of the haptic loop to time
    #[arg(long, default_value_t = 2000, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    steps: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the forces and the motion over time to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Plot all results to an SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

struct HapticsFindings {
    clip: SnappedClip,
    pulls: [PulledThread; 2],
    limits: Vec<Limit>,
    times: Vec<HapticTimes>,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let mut progress = Progress::new(talk);
    progress.show(format_args!("a clip on a soft cylinder"));
    let clip = loops::snap()?;
    progress.show(format_args!("a thread at 1,000 and at 50 Hz"));
    let pulls = [loops::pull(1000.0)?, loops::pull(50.0)?];
    progress.show(format_args!("stable stiffness"));
    let limits = stability::limits();
    progress.show(format_args!("times"));
    let times = times::measure(arguments.steps)?;
    progress.clear();
    let findings = HapticsFindings { clip, pulls, limits, times };
    if let Some(file) = &arguments.csv {
        write_file(file, csv(&findings).as_bytes())?;
        talk.say(format_args!("wrote the table to {}", file.display()));
    }
    save_plots(arguments.plot.as_deref(), || plots(&findings), talk)?;
    print_findings(arguments.json, || as_json(&findings), || print(&findings));
    Ok(())
}

fn print(findings: &HapticsFindings) {
    let clip = &findings.clip;
    println!("a clip of 20 beams at 1,000 Hz on a soft cylinder at {:.0} Hz (N)", clip.scene_rate);
    println!("{:>8} {:>12} {:>12} {:>12} {:>12}", "time", "depth (mm)", "haptic loop", "scene", "device");
    for row in clip.rows.iter().step_by(5) {
        let [fast, slow] = row.forces.map(|f| f + 0.0);
        println!("{:>8.2} {:>12.2} {fast:>12.3} {slow:>12.3} {:>12.3}", row.time, row.depth, row.device + 0.0);
    }
    println!(
        "largest push {:.2} N, pull {:.2} N; the loops differ by {:.1} % of the peak while the contacts stay the same, and by {:.1} % at most",
        clip.push,
        clip.pull,
        100.0 * clip.steady_difference,
        100.0 * clip.difference
    );
    println!("\na thread of 10 beams pulled taut: distance of the device from its aim in the last 0.4 s");
    for pull in &findings.pulls {
        println!("{:>6.0} Hz: moves by {:.3} mm, force {:.2} N", pull.rate, pull.unrest, pull.force);
    }
    println!("\nlargest stable stiffness of a coupling to a fixed tool, hand of 0.3 kg with 2 N·s/m (N/m)");
    println!(
        "{:>10} {:>12} {:>14} {:>16} {:>16}",
        "rate (Hz)", "2 (b − B)/T", "found", "one step late", "with controller"
    );
    for l in &findings.limits {
        println!("{:>10.0} {:>12.0} {:>14.0} {:>16.0} {:>16.0}", l.rate, l.bound, l.found, l.late, l.controlled);
    }
    println!("\ntime of a step of the haptic loop (ms)");
    let heads = ["constraints", "rows", "median", "aim", "p99", "aim", "max"];
    let [constraints, rows, median, aim, p99, other, max] = heads;
    println!("{:>24} {constraints:>12} {rows:>6} {median:>9} {aim:>6} {p99:>9} {other:>6} {max:>9}", "");
    for t in &findings.times {
        let [median, p99] = t.aims.map(|aim| if aim.is_nan() { "-".into() } else { aim.to_string() });
        println!(
            "{:>24} {:>12} {:>6} {:>9.4} {median:>6} {:>9.4} {p99:>6} {:>9.4}",
            t.name, t.constraints, t.rows, t.median, t.p99, t.max
        );
    }
}

fn as_json(findings: &HapticsFindings) -> Value {
    let clip = &findings.clip;
    let rows = |row: &loops::LoopSample| json!({ "time": row.time, "depth_mm": row.depth, "haptic_n": row.forces[0], "scene_n": row.forces[1], "device_n": row.device });
    let pull = |p: &PulledThread| json!({ "rate": p.rate, "unrest_mm": p.unrest, "force_n": p.force, "path": p.path, "forces": p.forces });
    let limit = |l: &Limit| json!({ "rate": l.rate, "bound": l.bound, "found": l.found, "one_step_late": l.late, "with_controller": l.controlled });
    let time = |t: &HapticTimes| json!({ "name": t.name, "constraints": t.constraints, "rows": t.rows, "ms": { "median": t.median, "p99": t.p99, "max": t.max } });
    json!({
        "study": "haptics",
        "clip": {
            "push_n": clip.push, "pull_n": clip.pull, "difference": clip.difference,
            "steady_difference": clip.steady_difference, "rows": clip.rows.iter().map(rows).collect::<Vec<_>>(),
        },
        "thread": findings.pulls.iter().map(pull).collect::<Vec<_>>(),
        "stiffness": findings.limits.iter().map(limit).collect::<Vec<_>>(),
        "times": findings.times.iter().map(time).collect::<Vec<_>>(),
    })
}

/// The clip, then both threads, one row per step of the scene.
fn csv(findings: &HapticsFindings) -> String {
    let mut out = String::from("what,time,place_mm,haptic_n,scene_n,device_n\n");
    for row in &findings.clip.rows {
        let [fast, slow] = row.forces;
        let _ = writeln!(out, "clip,{:.4},{:.5},{fast:.6},{slow:.6},{:.6}", row.time, row.depth, row.device);
    }
    for pull in &findings.pulls {
        for ([time, place], [_, force]) in pull.path.iter().zip(&pull.forces) {
            let _ = writeln!(out, "thread at {} Hz,{time:.4},{place:.5},,,{force:.6}", pull.rate);
        }
    }
    out
}

fn plots(findings: &HapticsFindings) -> Vec<Plot> {
    let [loops, snaps] = clip_plots(findings);
    let pulled = |title: &str, y: &str, of: &dyn Fn(&PulledThread) -> &[[f64; 2]]| {
        let series = |pull: &PulledThread| line(&format!("{:.0} Hz", pull.rate), of(pull).iter().copied());
        plot(title, ["time (s)", y], Scale::Linear, findings.pulls.iter().map(series).collect())
    };
    let limit =
        |name: &str, of: &dyn Fn(&Limit) -> f64| Series::new(name, findings.limits.iter().map(|l| [l.rate, of(l)]));
    let limits = vec![
        limit("passive: 2 (b − B)/T", &|l| l.bound),
        limit("found", &|l| l.found),
        limit("one step late", &|l| l.late),
        limit("with controller", &|l| l.controlled),
    ];
    vec![
        loops,
        snaps,
        pulled("Thread pulled taut", "path of the device (mm)", &|pull| &pull.path),
        pulled("Thread pulled taut: force", "force of the device (N)", &|pull| &pull.forces),
        plot("Stable stiffness", ["rate of the loop (Hz)", "stiffness (N/m)"], Scale::Log, limits),
    ]
}

/// Forces of both loops over time, and of the device over the depth of the clip.
fn clip_plots(findings: &HapticsFindings) -> [Plot; 2] {
    let rows = &findings.clip.rows;
    let half = rows.iter().position(|row| row.time > findings.clip.turn).unwrap_or(rows.len());
    let way = |name: &str, rows: &[loops::LoopSample]| line(name, rows.iter().map(|row| [row.depth, row.device]));
    let loops = vec![
        line("haptic loop", rows.iter().map(|row| [row.time, row.forces[0]])),
        line("scene", rows.iter().map(|row| [row.time, row.forces[1]])),
    ];
    let snaps = vec![way("on", &rows[..half]), way("off", &rows[half..])];
    let [title, on_and_off] = ["Clip on a soft cylinder: both loops", "Snapping on and off"];
    [
        plot(title, ["time (s)", "force on the clip (N)"], Scale::Linear, loops),
        plot(on_and_off, ["depth of the clip (mm)", "force of the device (N)"], Scale::Linear, snaps),
    ]
}

fn plot(title: &str, [x, y]: [&str; 2], scale: Scale, series: Vec<Series>) -> Plot {
    Plot { title: title.into(), x: Axis::new(x, scale), y: Axis::new(y, scale), series }
}

fn line(name: &str, points: impl IntoIterator<Item = [f64; 2]>) -> Series {
    Series::new(name, points).styled(Style::Line)
}
