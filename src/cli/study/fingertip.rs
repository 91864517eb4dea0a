//! The pad of the index finger under the protocols with which fingertips are measured.

mod experiments;
mod findings;
mod rig;

use std::path::PathBuf;

use serde_json::{Value, json};

use self::experiments::Extent;
use self::findings::{Findings, MeasuredTarget};
use super::{print_findings, save_plots};
use crate::cli::Talk;
use crate::cli::bench::progress::Progress;
use crate::cli::plot::{Axis, Plot, Scale, Series, Style};

/// Arguments of `study fingertip`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Measure fewer forces for a shorter time at a longer time step
    #[arg(long)]
    quick: bool,
    /// Measure linear tissue, the default of hands, instead of tissue with strain limiting
    #[arg(long)]
    linear: bool,
    /// Time step in ms [default: 2, with --quick 5]
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..=10))]
    dt: Option<u32>,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Plot all results to an SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// Presses, shears and twists the pad of the index finger.
pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let dt = 1e-3 * f64::from(arguments.dt.unwrap_or(if arguments.quick { 5 } else { 2 }));
    let extent = Extent { dt, quick: arguments.quick, linear: arguments.linear };
    let mut progress = Progress::new(talk);
    let findings = Findings::measure(&extent, |what| progress.show(what))?;
    progress.clear();
    save_plots(arguments.plot.as_deref(), || plots(&findings), talk)?;
    let targets = findings.targets();
    print_findings(arguments.json, || as_json(&findings, &targets), || print(&targets));
    Ok(())
}

fn print(targets: &[MeasuredTarget]) {
    println!("the pad of the index finger under a flat plate at 30°, beside measured fingertips");
    println!("{:<44} {:<44} {:<38} ", "quantity", "measured", "here");
    for target in targets {
        println!(
            "{:<44} {:<44} {:<38} {}",
            target.quantity,
            target.measured,
            target.here,
            if target.met { "met" } else { "not met" }
        );
    }
    println!("sources and protocols: docs/fingertip.md");
}

const LINEAR: [Scale; 2] = [Scale::Linear; 2];
const LOG: [Scale; 2] = [Scale::Log; 2];

fn plot(title: &str, x: &str, y: &str, scales: [Scale; 2], series: Vec<Series>) -> Plot {
    Plot { title: title.into(), x: Axis::new(x, scales[0]), y: Axis::new(y, scales[1]), series }
}

fn line(name: &str, points: impl IntoIterator<Item = [f64; 2]>) -> Series {
    Series::new(name, points).styled(Style::Line)
}

fn plots(f: &Findings) -> Vec<Plot> {
    let [indentation, area, volume] = indentation_plots(f);
    let mut plots = vec![indentation, area, pressure_plot(f), volume, relaxation_plot(f)];
    plots.extend(slip_plots(f));
    plots.push(friction_plot(f));
    plots
}

/// Force, area and volume over indentation or force.
fn indentation_plots(f: &Findings) -> [Plot; 3] {
    let curve = &f.indentation.curve;
    let area = curve.iter().filter(|c| c[1] >= 0.1).map(|c| [c[1], c[2]]);
    // Through the area at 1 N.
    let unit = curve.iter().find(|c| c[1] >= 1.0).map_or(1.0, |c| c[2]);
    let power = [0.1, 0.3, 1.0, 3.0, 7.0].map(|n: f64| [n, unit * n.powf(0.52)]);
    let areas = vec![line("area", area), line("N^0.52", power)];
    let force = vec![line("force", curve.iter().map(|c| [c[0], c[1]]))];
    let volume = vec![line("tissue of the last phalanx", curve.iter().map(|c| [c[1], c[3]]))];
    [
        plot("Indentation", "indentation (mm)", "force (N)", LINEAR, force),
        plot("Contact area", "force (N)", "area (mm²)", LOG, areas),
        plot("Volume", "force (N)", "change of volume (%)", LINEAR, volume),
    ]
}

/// Pressure profiles, beside those of a paraboloid and of Hertz.
fn pressure_plot(f: &Findings) -> Plot {
    let peak = f.profiles.first().map_or(1.0, |p| p.points.iter().map(|x| x[1]).fold(0.0, f64::max));
    let shape = |m: f64| (0..=20).map(|i| 0.05 * f64::from(i)).map(move |r| [r, peak * (1.0 - r * r).powf(m)]);
    let profile = |p: &experiments::PressureProfile| {
        Series::new(&format!("{} N", p.force), p.points.iter().copied()).styled(Style::Marks)
    };
    let mut series: Vec<Series> = f.profiles.iter().map(profile).collect();
    series.extend([line("paraboloid", shape(1.0)), line("Hertz", shape(0.5))]);
    plot("Pressure", "distance over that of the rim", "pressure (kPa)", LINEAR, series)
}

fn relaxation_plot(f: &Findings) -> Plot {
    let relaxed = |r: &experiments::Relaxed| {
        line(if r.with { "relaxation = true" } else { "relaxation = false" }, r.curve.iter().copied())
    };
    let scales = [Scale::Log, Scale::Linear];
    plot("Relaxation", "time (s)", "force over the first", scales, f.relaxation.iter().map(relaxed).collect())
}

/// Shear, torsion, and both together.
fn slip_plots(f: &Findings) -> [Plot; 5] {
    let sheared = |k: usize| {
        let of = |s: &experiments::Sheared| line(&format!("{} N", s.normal), s.curve.iter().map(|c| [c[0], c[k]]));
        f.shear.iter().map(of).collect::<Vec<_>>()
    };
    let twisted = |k: usize| {
        let of = |t: &experiments::Twisted| {
            let how = if t.patches { "" } else { ", single contacts" };
            line(&format!("{} N{how}", t.normal), t.curve.iter().map(|c| [c[0], c[k]]))
        };
        f.torsion.iter().map(of).collect::<Vec<_>>()
    };
    let (title, limit) = ("Torque and tangential force at 2 N", Series::new("full slip", f.limit.iter().copied()));
    [
        plot("Shear", "way (mm)", "tangential force (N)", LINEAR, sheared(1)),
        plot("Area under shear", "way (mm)", "area (mm²)", LINEAR, sheared(2)),
        plot("Torsion", "twist (°)", "torque (N mm)", LINEAR, twisted(1)),
        plot("Slip in torsion", "twist (°)", "part of the area that slips", LINEAR, twisted(2)),
        plot(title, "tangential force (N)", "torque (N mm)", LINEAR, vec![limit]),
    ]
}

fn friction_plot(f: &Findings) -> Plot {
    let seo = f.load.iter().map(|p| [p[0], 0.82 * p[0].powf(-0.21)]);
    let series = vec![Series::new("here", f.load.iter().copied()), line("0.82 N^-0.21", seo)];
    plot("Friction on aluminium", "force (N)", "coefficient", LOG, series)
}

fn as_json(f: &Findings, targets: &[MeasuredTarget]) -> Value {
    json!({
        "study": "fingertip",
        "targets": targets.iter().map(|t| json!({
            "quantity": t.quantity, "measured": t.measured, "here": t.here, "met": t.met,
        })).collect::<Vec<_>>(),
        "indentation": {
            "curve_mm_n_mm2_percent": f.indentation.curve, "stiffness_n_n_per_mm": f.indentation.stiffness,
            "area_exponent": f.indentation.area_exponent, "modulus_mpa": f.indentation.modulus,
            "volume_force_n": f.indentation.volume_force,
        },
        "profiles": f.profiles.iter().map(|p| json!({
            "force": p.force, "exponent": p.exponent, "points_kpa": p.points,
        })).collect::<Vec<_>>(),
        "relaxation": f.relaxation.iter().map(|r| json!({
            "with": r.with, "peak": r.peak, "curve_s": r.curve,
        })).collect::<Vec<_>>(),
        "shear": f.shear.iter().map(|s| json!({
            "normal": s.normal, "stiffness": s.stiffness, "shrunk": s.shrunk, "curve_mm_n_mm2": s.curve,
        })).collect::<Vec<_>>(),
        "torsion": f.torsion.iter().map(|t| json!({
            "normal": t.normal, "patches": t.patches, "torque": t.torque, "full_slip_deg": t.full_slip, "rim": t.rim,
            "curve_deg_nmm_part": t.curve,
        })).collect::<Vec<_>>(),
        "full_slip_slow_fast_deg": f.rates,
        "limit_n_nmm": f.limit,
        "load": f.load,
    })
}
