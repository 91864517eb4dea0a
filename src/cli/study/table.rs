mod operator;

use std::path::PathBuf;

use anyhow::{Context, ensure};
use rayon::prelude::*;
use serde_json::{Value, json};

use self::operator::Operator;
use super::print_findings;
use super::soft_table::{Build, body, mesh, sole};
use crate::assets::{Setting, load_builtin_scene};
use crate::cli::bench::measure::{advance, steps_of};
use crate::cli::bench::progress::Progress;
use crate::cli::{Talk, write_file};
use crate::math::Vec3;

/// Arguments of `study table`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Friction coefficients
    #[arg(long, value_delimiter = ',', default_values_t = [0.05, 0.1, 0.3, 0.8])]
    friction: Vec<f64>,
    /// Seconds for the table to settle
    #[arg(long, default_value_t = 0.5)]
    seconds: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Draw the Delassus operator without and with a shelf to a PNG file: normals red, tangents blue and green
    #[arg(long, value_name = "FILE.png")]
    picture: Option<PathBuf>,
}

/// Spread of the legs, and their speed at the end.
struct LegSpread {
    friction: f64,
    build: Build,
    spread: f64,
    speed: f64,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    ensure!(!arguments.friction.is_empty(), "expected at least one friction coefficient");
    let mut progress = Progress::new(talk);
    // The runs are independent and nothing in them is timed. Results stay in this order.
    let runs: Vec<_> =
        arguments.friction.iter().flat_map(|&friction| Build::ALL.map(|build| (friction, build))).collect();
    let spreads = runs
        .into_par_iter()
        .map(|(friction, build)| spread(friction, build, arguments.seconds, &progress))
        .collect::<anyhow::Result<Vec<_>>>()?;
    let operators = Build::ALL.into_iter().map(Operator::new).collect::<Result<Vec<_>, _>>()?;
    progress.clear();
    if let Some(file) = &arguments.picture {
        write_file(file, &operator::picture(&operators)?)?;
        talk.say(format_args!("wrote the picture to {}", file.display()));
    }
    print_findings(
        arguments.json,
        || as_json(&spreads, &operators, arguments.seconds),
        || print(&spreads, &operators, arguments.seconds),
    );
    Ok(())
}

/// Simulates until the table has settled.
fn spread(friction: f64, build: Build, seconds: f64, progress: &Progress) -> anyhow::Result<LegSpread> {
    let settings = [Setting::new("material.felt.friction", friction), Setting::new("seconds", seconds)];
    let mut scene = load_builtin_scene("table", &settings).context("a shipped scene")??;
    let mesh = mesh(build);
    let id = scene.soft("table").context("the table of the scene")?;
    let table = &mut scene.world.bodies[id];
    let felt = table.material;
    *table = body(&mesh);
    table.material = felt;
    let steps = steps_of(&scene);
    let name = build.name();
    advance(&mut scene, steps, |i| progress.show(format_args!("{name}, friction {friction}: step {i} of {steps}")))?;
    let table = &scene.world.bodies[id];
    let soles: [Vec<usize>; 4] = std::array::from_fn(|leg| sole(&mesh, leg));
    let width = |nodes: &[Vec3]| {
        let foot = |leg: usize| soles[leg].iter().map(|&n| nodes[n]).sum::<Vec3>() / soles[leg].len() as f64;
        // Between adjacent legs.
        [(0, 1), (2, 3), (0, 2), (1, 3)].iter().map(|&(a, b)| (foot(a) - foot(b)).norm()).sum::<f64>() / 4.0
    };
    let speeds = soles.iter().flatten().map(|&n| table.velocities()[n].norm());
    Ok(LegSpread {
        friction,
        build,
        spread: 1e3 * (width(table.positions()) - width(&mesh.nodes)),
        speed: 1e3 * speeds.fold(0.0, f64::max),
    })
}

fn print(spreads: &[LegSpread], operators: &[Operator], seconds: f64) {
    println!("soft table on four legs, {seconds} s: spread of the feet (mm; final speed, mm/s)");
    println!("{:>9} {:>10} {:>9} {:>15}", "friction", "plain", "", "with a shelf");
    for pair in spreads.chunks(Build::ALL.len()) {
        let cells: Vec<String> = pair.iter().map(|s| format!("{:>10.4} {:>9.1e}", s.spread, s.speed)).collect();
        println!("{:>9} {}", pair[0].friction, cells.join("     "));
    }
    println!();
    println!(
        "Delassus operator of the soles, {} contacts: coupling between legs relative to that within a leg",
        operators[0].contacts()
    );
    println!("{:>14} {:>12} {:>12} {:>14} {:>14}", "", "adjacent", "diagonal", "of normals", "of tangents");
    for o in operators {
        let c = o.coupling();
        let name = if o.build == Build::Plain { "plain" } else { "with a shelf" };
        println!("{name:>14} {:>12.3} {:>12.3} {:>14.3} {:>14.3}", c.side_by_side, c.diagonal, c.normals, c.tangents);
    }
}

fn as_json(spreads: &[LegSpread], operators: &[Operator], seconds: f64) -> Value {
    let row = |s: &LegSpread| json!({ "friction": s.friction, "build": s.build.name(), "spread_mm": s.spread, "speed_mm_s": s.speed });
    let rows: Vec<Value> = spreads.iter().map(row).collect();
    let couplings: serde_json::Map<String, Value> = operators
        .iter()
        .map(|o| {
            let c = o.coupling();
            let value = json!({
                "contacts": o.contacts(), "side_by_side": c.side_by_side, "diagonal": c.diagonal,
                "normals": c.normals, "tangents": c.tangents,
            });
            (o.build.name().into(), value)
        })
        .collect();
    json!({ "study": "table", "seconds": seconds, "spreads": rows, "coupling_between_legs": couplings })
}
