//! The pad of the index finger under the protocols with which fingertips are measured.

mod experiments;
mod findings;
mod rig;

use std::path::PathBuf;

use serde_json::{Value, json};

use self::experiments::Extent;
use self::findings::{Findings, MeasuredTarget};
use super::save_plots;
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
    if let Some(file) = &arguments.plot {
        save_plots(file, &plots(&findings), talk)?;
    }
    let targets = findings.targets();
    if arguments.json {
        println!("{}", as_json(&findings, &targets));
    } else {
        print(&targets);
    }
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

fn plots(f: &Findings) -> Vec<Plot> {
    let plot = |title: &str, x: &str, y: &str, scales: [Scale; 2], series: Vec<Series>| Plot {
        title: title.into(),
        x: Axis::new(x, scales[0]),
        y: Axis::new(y, scales[1]),
        series,
    };
    let line = |name: String, points: Vec<[f64; 2]>| Series::new(&name, points).styled(Style::Line);
    let (linear, log) = ([Scale::Linear; 2], [Scale::Log; 2]);
    let curve = &f.indentation.curve;
    let area = curve.iter().filter(|c| c[1] >= 0.1).map(|c| [c[1], c[2]]).collect();
    // Through the area at 1 N.
    let unit = curve.iter().find(|c| c[1] >= 1.0).map_or(1.0, |c| c[2]);
    let power = [0.1, 0.3, 1.0, 3.0, 7.0].map(|n: f64| [n, unit * n.powf(0.52)]).to_vec();
    let shapes = |m: f64| -> Vec<[f64; 2]> {
        let peak = f.profiles.first().map_or(1.0, |p| p.points.iter().map(|x| x[1]).fold(0.0, f64::max));
        (0..=20).map(|i| 0.05 * f64::from(i)).map(|r| [r, peak * (1.0 - r * r).powf(m)]).collect()
    };
    let mut pressure: Vec<Series> = f
        .profiles
        .iter()
        .map(|p| Series::new(&format!("{} N", p.force), p.points.iter().copied()).styled(Style::Marks))
        .collect();
    pressure.push(line("paraboloid".into(), shapes(1.0)));
    pressure.push(line("Hertz".into(), shapes(0.5)));
    let relaxed = |r: &experiments::Relaxed| {
        line(if r.with { "relaxation = true" } else { "relaxation = false" }.into(), r.curve.clone())
    };
    let sheared = |k: usize| {
        let of =
            |s: &experiments::Sheared| line(format!("{} N", s.normal), s.curve.iter().map(|c| [c[0], c[k]]).collect());
        f.shear.iter().map(of).collect::<Vec<_>>()
    };
    let twisted = |k: usize| {
        let of = |t: &experiments::Twisted| {
            let how = if t.patches { "" } else { ", single contacts" };
            line(format!("{} N{how}", t.normal), t.curve.iter().map(|c| [c[0], c[k]]).collect())
        };
        f.torsion.iter().map(of).collect::<Vec<_>>()
    };
    let seo = f.load.iter().map(|p| [p[0], 0.82 * p[0].powf(-0.21)]).collect();
    vec![
        plot(
            "Indentation",
            "indentation (mm)",
            "force (N)",
            linear,
            vec![line("force".into(), curve.iter().map(|c| [c[0], c[1]]).collect())],
        ),
        plot(
            "Contact area",
            "force (N)",
            "area (mm²)",
            log,
            vec![line("area".into(), area), line("N^0.52".into(), power)],
        ),
        plot("Pressure", "distance over that of the rim", "pressure (kPa)", linear, pressure),
        plot(
            "Volume",
            "force (N)",
            "change of volume (%)",
            linear,
            vec![line("tissue of the last phalanx".into(), curve.iter().map(|c| [c[1], c[3]]).collect())],
        ),
        plot(
            "Relaxation",
            "time (s)",
            "force over the first",
            [Scale::Log, Scale::Linear],
            f.relaxation.iter().map(relaxed).collect(),
        ),
        plot("Shear", "way (mm)", "tangential force (N)", linear, sheared(1)),
        plot("Area under shear", "way (mm)", "area (mm²)", linear, sheared(2)),
        plot("Torsion", "twist (°)", "torque (N mm)", linear, twisted(1)),
        plot("Slip in torsion", "twist (°)", "part of the area that slips", linear, twisted(2)),
        plot(
            "Torque and tangential force at 2 N",
            "tangential force (N)",
            "torque (N mm)",
            linear,
            vec![Series::new("full slip", f.limit.iter().copied())],
        ),
        plot(
            "Friction on aluminium",
            "force (N)",
            "coefficient",
            log,
            vec![Series::new("here", f.load.iter().copied()), line("0.82 N^-0.21".into(), seo)],
        ),
    ]
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
