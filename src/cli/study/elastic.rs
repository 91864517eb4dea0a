mod experiments;
mod fem;
mod pictures;

use std::path::PathBuf;

use serde_json::{Value, json};

use self::experiments::{Dent, ElasticTimes, Pressing, Quantiles, Rolling, SAME_FORCE, Sides, Slide, Snapshot};
use self::fem::FemComparison;
use super::{print_findings, save_plots};
use crate::cli::bench::progress::Progress;
use crate::cli::plot::{Axis, Plot, Scale, Series, Style};
use crate::cli::{Talk, write_file};
use crate::elastic::DuffingLaw;
use crate::math::Vec3;

/// Arguments of `study elastic`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Also compare with finite elements, which takes some seconds
    #[arg(long)]
    fem: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Plot all results to an SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
    /// Render the deformed objects with their anchor points and tools to a PNG file
    #[arg(long, value_name = "FILE.png")]
    picture: Option<PathBuf>,
}

struct ElasticFindings {
    pressing: Pressing,
    rubbing: (Vec<Slide>, Snapshot),
    dents: [Dent; 2],
    along: (Vec<Slide>, Snapshot),
    rolling: (Vec<Rolling>, Vec<Snapshot>),
    sides: [Sides; 2],
    shapes: Vec<Snapshot>,
    times: Vec<ElasticTimes>,
    fem: Option<FemComparison>,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let mut progress = Progress::new(talk);
    progress.show(format_args!("pressing and sliding"));
    let mut findings = ElasticFindings {
        pressing: experiments::pressing()?,
        rubbing: experiments::rubbing()?,
        dents: experiments::dents()?,
        along: experiments::along_ellipsoid()?,
        rolling: experiments::rolling()?,
        sides: experiments::sides()?,
        shapes: experiments::shapes()?,
        times: experiments::times()?,
        fem: None,
    };
    if arguments.fem {
        progress.show(format_args!("pressing the cube by finite elements"));
        findings.fem = Some(fem::compare()?);
    }
    progress.clear();
    save_plots(arguments.plot.as_deref(), || plots(&findings), talk)?;
    if let Some(file) = &arguments.picture {
        write_file(file, &pictures::draw(&findings.shots())?)?;
        talk.say(format_args!("wrote the picture to {}", file.display()));
    }
    print_findings(arguments.json, || as_json(&findings), || print(&findings));
    Ok(())
}

impl ElasticFindings {
    fn shots(&self) -> Vec<&Snapshot> {
        let mut shots = vec![&self.pressing.shot, &self.rubbing.1, &self.along.1];
        shots.extend(self.dents.iter().map(|dent| &dent.shot));
        shots.extend(&self.rolling.1);
        shots.extend(self.sides.iter().map(|side| &side.shot));
        shots.extend(&self.shapes);
        shots
    }
}

/// Every nth row.
fn every<T>(rows: &[T], step: usize) -> impl Iterator<Item = &T> {
    rows.iter().step_by(step)
}

fn print(findings: &ElasticFindings) {
    println!("13: normal force over depth, ball on cube (mm, N)");
    println!("{:>8} {:>10} {:>14}", "depth", "ball", "single point");
    for (ball, point) in every(&findings.pressing.ball, 10).zip(every(&findings.pressing.point, 10)) {
        println!("{:>8.1} {:>10.3} {:>14.3}", ball[0], ball[1], point[1]);
    }
    print_slides("\n14: the ball slides on the cube (mm, N)", every(&findings.rubbing.0, 20));
    println!("\n15: head and tail of a mallet on the cube, both at {SAME_FORCE} N (mm, mm²)");
    println!("{:>6} {:>8} {:>12} {:>20}", "end", "depth", "area", "11 mm beside");
    for dent in &findings.dents {
        println!("{:>6} {:>8.3} {:>12.1} {:>20.3}", dent.name, dent.depth, dent.area, dent.beside);
    }
    print_slides("\n16: the mallet's tail slides along an ellipsoid (mm, N)", every(&findings.along.0, 40));
    println!("\n17: a compass rolls over an ellipsoid (ms, N)");
    println!("{:>6} {:>8} {:>10} {:>10} {:>10}", "time", "regions", "force", "left pin", "right pin");
    for row in every(&findings.rolling.0, 50) {
        let [left, right] = row.pins;
        println!("{:>6} {:>8} {:>10.3} {left:>10.3} {right:>10.3}", row.time, row.regions, row.force);
    }
    println!("\n18: displacement left and right of a contact in the middle (mm)");
    println!("{:>26} {:>10} {:>10} {:>12} {:>12}", "", "left end", "right end", "left mean", "right mean");
    for Sides { name, ends: [a, b], means: [c, d], .. } in &findings.sides {
        println!("{name:>26} {a:>10.3} {b:>10.3} {c:>12.3} {d:>12.3}");
    }
    println!(
        "\ntimes of a step with one region (µs: median, p99, longest; the paper: 30 for the force, below 1000 for all)"
    );
    println!(
        "{:>9} {:>9} {:>9} {:>20} {:>20} {:>20} {:>20}",
        "triangles", "of tool", "contacts", "detection", "force", "shape", "all"
    );
    for t in &findings.times {
        print!("{:>9} {:>9} {:>9}", t.triangles, t.tool_triangles, t.contacts);
        for q in &t.stages {
            print!("  {:>5.1} {:>5.1} {:>6.1}", q.median, q.p99, q.max);
        }
        println!();
    }
    if let Some(comparison) = &findings.fem {
        print_fem(comparison);
    }
}

fn print_slides<'r>(title: &str, rows: impl Iterator<Item = &'r Slide>) {
    println!("{title}");
    println!("{:>7} {:>8} {:>8} {:>8} {:>10} {:>8} {:>8}", "x", "normal x", "y", "z", "friction x", "y", "z");
    for Slide { x, normal: n, friction: f, sliding } in rows {
        let state = if *sliding { "slides" } else { "sticks" };
        // Adding zero turns −0 into 0.
        let [a, b, c] = [f.x, f.y, f.z].map(|x| x + 0.0);
        println!("{x:>7.1} {:>8.3} {:>8.3} {:>8.3} {a:>10.3} {b:>8.3} {c:>8.3}  {state}", n.x, n.y, n.z);
    }
}

fn print_fem(comparison: &FemComparison) {
    println!("\nball on cube against finite elements, rubber, {} nodes (mm, N)", comparison.nodes);
    println!("{:>8} {:>10} {:>14} {:>16}", "depth", "FEM", "fitted law", "paper's law");
    for ((fem, fitted), printed) in comparison.fem.iter().zip(&comparison.fitted).zip(&comparison.printed) {
        println!("{:>8.1} {:>10.2} {:>14.2} {:>16.2}", fem[0], fem[1], fitted[1], printed[1]);
    }
    println!("height of the top at the greatest depth (mm)");
    println!("{:>8} {:>10} {:>14}", "x", "FEM", "model");
    for x in [0.0, 2.5, 5.0, 7.5, 10.0, 15.0, 20.0] {
        let [fem, model] = comparison.heights(x);
        println!("{x:>8.1} {fem:>10.3} {model:>14.3}");
    }
    let DuffingLaw { linear, cubic, .. } = comparison.law;
    println!("fitted law: ω₀² = {linear:.3e} 1/s², β₀²ε = {cubic:.3e} 1/(m² s²)");
    println!(
        "Good: the force once the law is fitted, within {:.1} % of the greatest; the dent under the ball and to about its radius.",
        100.0 * comparison.force_error()
    );
    println!(
        "Not good: the paper's parameters, which are far too soft for its rubber; light touch, where the law is linear and the force \
         of a ball grows with the power 1.5 of depth; the far surface, which the model moves too much."
    );
}

fn as_json(findings: &ElasticFindings) -> Value {
    let vector = |v: &Vec3| json!([v.x, v.y, v.z]);
    let slides = |rows: &[Slide]| -> Vec<Value> {
        let row = |s: &Slide| json!({ "x_mm": s.x, "normal_n": vector(&s.normal), "friction_n": vector(&s.friction), "sliding": s.sliding });
        rows.iter().map(row).collect()
    };
    let dent = |d: &Dent| {
        json!({
            "end": d.name, "depth_mm": d.depth, "area_mm2": d.area, "beside_mm": d.beside,
            "profile_mm": d.profile,
        })
    };
    let rolling =
        |r: &Rolling| json!({ "time_ms": r.time, "regions": r.regions, "force_n": r.force, "pins_n": r.pins });
    let side = |s: &Sides| json!({ "object": s.name, "ends_mm": s.ends, "means_mm": s.means, "profile_mm": s.profile });
    let quantiles = |q: &Quantiles| json!({ "median": q.median, "p99": q.p99, "max": q.max });
    let time = |t: &ElasticTimes| {
        let [detection, force, shape, update] = t.stages.each_ref().map(quantiles);
        json!({
            "triangles": t.triangles, "tool_triangles": t.tool_triangles, "contacts": t.contacts, "detection_us": detection,
            "force_us": force, "shape_us": shape, "update_us": update,
        })
    };
    let fem = findings.fem.as_ref().map(|c| {
        json!({
            "nodes": c.nodes, "fem_n": c.fem, "fitted_n": c.fitted, "printed_n": c.printed,
            "linear": c.law.linear, "cubic": c.law.cubic, "force_error": c.force_error(),
            "fem_profile_mm": c.fem_profile, "model_profile_mm": c.model_profile,
        })
    });
    json!({
        "study": "elastic",
        "pressing": { "ball": findings.pressing.ball, "point": findings.pressing.point },
        "sliding": slides(&findings.rubbing.0),
        "dents": { "force_n": SAME_FORCE, "ends": findings.dents.iter().map(dent).collect::<Vec<_>>() },
        "ellipsoid": slides(&findings.along.0),
        "compass": findings.rolling.0.iter().map(rolling).collect::<Vec<_>>(),
        "inclusion": findings.sides.iter().map(side).collect::<Vec<_>>(),
        "times": findings.times.iter().map(time).collect::<Vec<_>>(),
        "fem": fem,
    })
}

fn plots(findings: &ElasticFindings) -> Vec<Plot> {
    let (rubbing, along) = (&findings.rubbing.0, &findings.along.0);
    let ball = vec![curve("ball", &findings.pressing.ball), curve("single point", &findings.pressing.point)];
    let dents = findings.dents.iter().map(|dent| curve(dent.name, &dent.profile)).collect();
    let sides = findings.sides.iter().map(|side| curve(side.name, &side.profile)).collect();
    let mut plots = vec![
        plot("13: ball on cube", ["depth (mm)", "normal force (N)"], ball),
        plot(
            "14: ball slides on cube",
            ["x (mm)", "force (N)"],
            vec![
                slides("Fx", rubbing, &|s| s.friction.x),
                slides("Fy", rubbing, &|s| s.normal.y),
                slides("Fz", rubbing, &|s| s.friction.z),
            ],
        ),
        plot(&format!("15: dents at {SAME_FORCE} N"), ["x (mm)", "height of the surface (mm)"], dents),
        plot(
            "16: along an ellipsoid, normal force",
            ["x (mm)", "force (N)"],
            ["Fx", "Fy", "Fz"].iter().enumerate().map(|(k, name)| slides(name, along, &|s| s.normal[k])).collect(),
        ),
        plot(
            "16: along an ellipsoid, friction",
            ["x (mm)", "force (N)"],
            ["fx", "fy", "fz"].iter().enumerate().map(|(k, name)| slides(name, along, &|s| s.friction[k])).collect(),
        ),
        compass_plot(&findings.rolling.0),
        plot("18: ellipsoid beside the contact with a ball", ["x (mm)", "displacement (mm)"], sides),
    ];
    plots.extend(findings.fem.iter().flat_map(fem_plots));
    plots
}

fn plot(title: &str, [x, y]: [&str; 2], series: Vec<Series>) -> Plot {
    Plot { title: title.into(), x: Axis::new(x, Scale::Linear), y: Axis::new(y, Scale::Linear), series }
}

fn curve(name: &str, points: &[[f64; 2]]) -> Series {
    Series::new(name, points.iter().copied()).styled(Style::Line)
}

fn slides(name: &str, rows: &[Slide], of: &dyn Fn(&Slide) -> f64) -> Series {
    let points: Vec<[f64; 2]> = rows.iter().map(|row| [row.x, of(row)]).collect();
    curve(name, &points)
}

fn compass_plot(rows: &[Rolling]) -> Plot {
    let series = |name: &str, of: &dyn Fn(&Rolling) -> f64| {
        let points: Vec<[f64; 2]> = rows.iter().map(|row| [row.time, of(row)]).collect();
        curve(name, &points)
    };
    let all = vec![
        series("both", &|r| r.force),
        series("left pin", &|r| r.pins[0]),
        series("right pin", &|r| r.pins[1]),
        series("regions", &|r| r.regions as f64),
    ];
    plot("17: compass", ["time (ms)", "force (N)"], all)
}

fn fem_plots(c: &FemComparison) -> [Plot; 2] {
    let forces = vec![
        Series::new("FEM", c.fem.iter().copied()),
        Series::new("fitted law", c.fitted.iter().copied()),
        Series::new("paper's law", c.printed.iter().copied()),
    ];
    let heights = vec![curve("FEM", &c.fem_profile), curve("model, fitted", &c.model_profile)];
    [
        plot("Against finite elements: force", ["depth (mm)", "normal force (N)"], forces),
        plot("Against finite elements: dent", ["x (mm)", "height of the surface (mm)"], heights),
    ]
}
