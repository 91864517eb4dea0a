use std::path::PathBuf;

use anyhow::{Context, ensure};
use serde_json::{Value, json};

use super::save_plots;
use crate::assets::{Setting, load_builtin_scene};
use crate::cli::Talk;
use crate::cli::bench::measure::{STAGES_NOTE, advance, measure, number, steps_of};
use crate::cli::bench::progress::Progress;
use crate::cli::plot::{Axis, Plot, Scale, Series};
use crate::contact::Method;

/// Sweep limit of the solver: point contacts on a fine skin would take minutes without one.
const SWEEP_LIMIT: usize = 200;
/// Above this number of contacts only a few steps are measured.
const MANY_CONTACTS: usize = 300;
/// That number of steps, and the steps discarded after the change of method.
const FEW_STEPS: u64 = 3;
const DISCARDED_STEPS: u64 = 5;

/// Arguments of `study resolution`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Factors on the number of skin vertices
    #[arg(long, value_delimiter = ',', default_values_t = [0.25, 1.0, 4.0, 16.0])]
    factors: Vec<f64>,
    /// Number of steps to measure
    #[arg(long, default_value_t = 50, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    steps: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Plot the constraints and the total contact cost (all stages except free motion and proximity) to an SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    ensure!(!arguments.factors.is_empty(), "expected at least one factor");
    let mut progress = Progress::new(talk);
    let mut rows = Vec::new();
    for &factor in &arguments.factors {
        for row in factor_rows(factor, arguments.steps, &mut progress)? {
            progress.clear();
            if !arguments.json {
                if rows.is_empty() {
                    print_heads();
                }
                print_row(&row);
            }
            rows.push(row);
        }
    }
    let finding = finding(&rows);
    save_plots(arguments.plot.as_deref(), || plots(&rows).into(), talk)?;
    if arguments.json {
        println!("{}", json!({ "study": "resolution", "sweeps_limit": SWEEP_LIMIT, "rows": rows, "growth": finding }));
        return Ok(());
    }
    println!();
    println!("from the coarsest skin to the finest, times as many:");
    for method in [Method::Aggregate, Method::Point].map(Method::name) {
        let growth = |key: &str| number(&finding, &format!("/{method}/{key}"));
        let [constraints, contact, total] = ["constraints", "contact_ms", "total_ms"].map(growth);
        println!("{method:<9} constraints {constraints:>6.2}, contact time {contact:>8.2}, whole step {total:>8.2}");
    }
    println!("{STAGES_NOTE}");
    Ok(())
}

/// A pinch grasp at some skin resolution with both methods. The grasp is made with aggregates, and point contacts start
/// from that state: closing the fingers with point contacts takes longest and adds no information.
fn factor_rows(factor: f64, steps: u32, progress: &mut Progress) -> anyhow::Result<[Value; 2]> {
    let settings = [Setting::new("skin.resolution", factor), Setting::new("solver.iterations", SWEEP_LIMIT)];
    let mut scene = load_builtin_scene("pinch", &settings).context("a shipped scene")??;
    let all = steps_of(&scene);
    advance(&mut scene, all, |i| progress.show(format_args!("skin × {factor}: settling, {i} of {all}")))?;
    let mut by = |method: Method| -> anyhow::Result<Value> {
        scene.world.parameters.contact.method = method;
        advance(&mut scene, 1, |_| {})?;
        let many = scene.world.statistics().contacts > MANY_CONTACTS;
        let (rest, count) = if many { (1, FEW_STEPS) } else { (DISCARDED_STEPS, u64::MAX) };
        let count = count.min(steps.into());
        let name = method.name();
        let mut show = |i: u64| progress.show(format_args!("skin × {factor}, {name}: {i} of {}", rest + count));
        advance(&mut scene, rest, &mut show)?;
        let mut row = measure(&mut scene, count, |i| show(rest + i))?;
        row["factor"] = json!(factor);
        row["few_steps"] = json!(many);
        Ok(row)
    };
    Ok([by(Method::Aggregate)?, by(Method::Point)?])
}

fn print_heads() {
    println!(
        "pinch, object lifted; both methods from the same state; at most {SWEEP_LIMIT} sweeps (counts: mean; times: median, ms)"
    );
    println!(
        "{:>6} {:<9} {:>8} {:>11} {:>10} {:>10} {:>10} {:>10} {:>6} {:>9}",
        "skin ×", "", "contacts", "constraints", "iterations", "solve", "contact", "total", "steps", "not conv."
    );
}

fn print_row(row: &Value) {
    let n = |path: &str| number(row, path);
    let few = if row["few_steps"] == true { "  few steps measured, since each is slow" } else { "" };
    println!(
        "{:>6} {:<9} {:>8.1} {:>11.1} {:>10.1} {:>10.4} {:>10.4} {:>10.4} {:>6} {:>9}{few}",
        n("/factor"),
        row["method"].as_str().unwrap_or_default(),
        n("/contacts/mean"),
        n("/constraints/mean"),
        n("/solver/iterations_mean"),
        n("/stages_ms/solve/median"),
        n("/contact_ms/median"),
        n("/step_ms/median"),
        n("/steps"),
        n("/solver/not_converged"),
    );
}

/// Growth of constraints and times from the first factor to the last.
fn finding(rows: &[Value]) -> Value {
    let mut growth = json!({});
    for method in [Method::Aggregate, Method::Point].map(Method::name) {
        let of_method: Vec<&Value> = rows.iter().filter(|row| row["method"] == method).collect();
        let by_factor = |a: &&&Value, b: &&&Value| number(a, "/factor").total_cmp(&number(b, "/factor"));
        let (Some(first), Some(last)) = (of_method.iter().min_by(by_factor), of_method.iter().max_by(by_factor)) else {
            continue;
        };
        for (key, path) in [
            ("constraints", "/constraints/mean"),
            ("contact_ms", "/contact_ms/median"),
            ("total_ms", "/step_ms/median"),
        ] {
            growth[method][key] = json!(number(last, path) / number(first, path).max(f64::MIN_POSITIVE));
        }
    }
    growth
}

fn plots(rows: &[Value]) -> [Plot; 2] {
    let plot = |title: &str, label: &str, path: &str| {
        let curve = |method: &str| {
            let own = rows.iter().filter(|row| row["method"] == method);
            Series::new(method, own.map(|row| [number(row, "/factor"), number(row, path)]))
        };
        Plot {
            title: title.into(),
            x: Axis::new("factor on the number of skin vertices", Scale::Log),
            y: Axis::new(label, Scale::Log),
            series: vec![curve("aggregate"), curve("point")],
        }
    };
    [
        plot("Constraints of a pinch", "rows", "/constraints/mean"),
        plot("Total contact cost", "median time (ms)", "/contact_ms/median"),
    ]
}
