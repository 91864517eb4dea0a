mod experiments;

use std::path::PathBuf;

use serde_json::{Value, json};

use self::experiments::{Contacts, Loops, Snap, TimeSpread};
use super::{print_findings, save_plots};
use crate::cli::Talk;
use crate::cli::bench::progress::Progress;
use crate::cli::plot::{Axis, Plot, Scale, Series, Style};

/// Arguments of `study clip`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Measure fewer cases at a longer time step
    #[arg(long)]
    quick: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Plot all results to an SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

struct ClipFindings {
    snaps: Vec<Snap>,
    loops: Loops,
    contacts: Vec<Contacts>,
}

/// Snaps a clip on a pipe and off it, and runs its haptic loop.
pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let mut progress = Progress::new(talk);
    progress.show(format_args!("pushing and pulling the clip"));
    let snaps = experiments::snaps(arguments.quick)?;
    progress.show(format_args!("running the haptic loop"));
    let loops = experiments::loops()?;
    progress.show(format_args!("timing many contacts"));
    let contacts = experiments::contacts(arguments.quick)?;
    progress.clear();
    let findings = ClipFindings { snaps, loops, contacts };
    save_plots(arguments.plot.as_deref(), || plots(&findings), talk)?;
    print_findings(arguments.json, || as_json(&findings), || print(&findings));
    Ok(())
}

fn print(findings: &ClipFindings) {
    println!("force on a clip over its way to a pipe or off it (Duriez 2006, fig. 14 and 16)");
    let heads = ["", "friction", "E (MPa)", "peak (N)", "at (mm)", "turns at (mm)", "lowest (N)"];
    println!(
        "{:>5} {:>9} {:>8} {:>9} {:>8} {:>14} {:>11}",
        heads[0], heads[1], heads[2], heads[3], heads[4], heads[5], heads[6]
    );
    for s in &findings.snaps {
        let turn = s.turn.map_or_else(|| "-".into(), |turn| format!("{turn:.1}"));
        println!(
            "{:>5} {:>9.1} {:>8.0} {:>9.2} {:>8.1} {turn:>14} {:>11.2}",
            s.name,
            s.friction,
            1e-6 * s.young,
            s.peak[0],
            s.peak[1],
            s.least
        );
    }
    let l = &findings.loops;
    println!("\nforces of both loops on a clip that is drawn along the pipe, 100 Hz and 500 Hz (Duriez 2004, fig. 6)");
    println!(
        "peak {:.3} N; they differ by {:.2} % of it at most while it slides, {:.2} % on the whole way",
        l.peak,
        100.0 * l.sliding_difference,
        100.0 * l.difference
    );
    println!("\n{:<52} {:>8} {:>8} {:>8}   aim, median / p99; paper, mean / max", "times (ms)", "median", "p99", "max");
    print_times(
        &format!("clip of {} nodes, {} tetrahedra: deformation and contact", l.size[0], l.size[1]),
        &l.response,
        "0.05 / 0.2; 0.2 / 1 (Duriez 2004, §5.3)",
    );
    print_times("haptic step of the condensed clip", &l.step, "0.03 / 0.1; 0.1 (Duriez 2004, fig. 6)");
    for c in &findings.contacts {
        let (kind, paper) = if c.friction > 0.0 {
            (format!("friction {}", c.friction), "4 for 20 contacts (Duriez 2006, fig. 17)")
        } else {
            ("no friction".into(), "3 for 30 contacts (Duriez 2006, fig. 18)")
        };
        print_times(&format!("step with {} contacts, {kind}", c.count), &c.step, paper);
    }
}

fn print_times(name: &str, times: &TimeSpread, aim: &str) {
    println!("{name:<52} {:>8.4} {:>8.4} {:>8.4}   {aim}", times.median, times.p99, times.max);
}

fn plots(findings: &ClipFindings) -> Vec<Plot> {
    let curve = |s: &Snap, name: String| Series::new(&name, s.curve.iter().copied()).styled(Style::Line);
    let by = |way: &'static str, varied: fn(&Snap) -> bool| {
        findings.snaps.iter().filter(move |s| s.name == way && varied(s))
    };
    let plot = |title: &str, series: Vec<Series>| Plot {
        title: title.into(),
        x: Axis::new("way of the clip (mm)", Scale::Linear),
        y: Axis::new("force (N)", Scale::Linear),
        series,
    };
    let friction =
        |way| by(way, |s| s.young == experiments::CLIP_YOUNG).map(|s| curve(s, format!("µ = {}", s.friction)));
    let young = |way| {
        by(way, |s| s.friction == experiments::CLIP_FRICTION).map(|s| curve(s, format!("{:.0} MPa", 1e-6 * s.young)))
    };
    let l = &findings.loops;
    let axis = |k: usize, loop_: usize, name: &str| {
        Series::new(name, l.samples.iter().map(|s| [s.time, s.forces[loop_][k]])).styled(Style::Line)
    };
    let loops = ["x", "y", "z"]
        .iter()
        .enumerate()
        .flat_map(|(k, name)| [axis(k, 1, &format!("{name}, 100 Hz")), axis(k, 0, &format!("{name}, 500 Hz"))]);
    vec![
        plot("Snap-in", friction("in").collect()),
        plot("Snap-in, moduli", young("in").collect()),
        plot("Snap-out", friction("out").collect()),
        Plot {
            title: "Forces of both loops".into(),
            x: Axis::new("time (s)", Scale::Linear),
            y: Axis::new("force (N)", Scale::Linear),
            series: loops.collect(),
        },
    ]
}

fn as_json(findings: &ClipFindings) -> Value {
    let times = |t: &TimeSpread| json!({ "median": t.median, "p99": t.p99, "max": t.max });
    let l = &findings.loops;
    json!({
        "study": "clip",
        "snaps": findings.snaps.iter().map(|s| json!({
            "way": s.name, "friction": s.friction, "young": s.young, "peak": s.peak[0], "peak_at_mm": s.peak[1],
            "turns_at_mm": s.turn, "least": s.least, "curve_mm_n": s.curve,
        })).collect::<Vec<_>>(),
        "loops": {
            "peak": l.peak, "difference": l.difference, "sliding_difference": l.sliding_difference,
            "nodes": l.size[0], "tetrahedra": l.size[1], "response_ms": times(&l.response), "haptic_step_ms": times(&l.step),
            "samples": l.samples.iter().map(|s| json!({ "time": s.time, "fast": s.forces[0], "slow": s.forces[1] })).collect::<Vec<_>>(),
        },
        "contacts": findings.contacts.iter().map(|c| json!({
            "contacts": c.count, "friction": c.friction, "step_ms": times(&c.step),
        })).collect::<Vec<_>>(),
    })
}
