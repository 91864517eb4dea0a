use std::path::PathBuf;

use anyhow::bail;
use serde_json::{Value, json};

use super::solvers::{SolverResult, Which, solve_all, solve_by};
use super::{contents, read};

/// Arguments of `problem solve`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Saved problem: text, or an FCLIB file (.hdf5)
    file: PathBuf,
    /// Run only this solver
    #[arg(long, value_enum)]
    solver: Option<Which>,
    /// Print JSON with all forces
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let file = arguments.file.display();
    let problem = read(&arguments.file)?;
    let (results, notes) = match arguments.solver {
        None => solve_all(&problem),
        Some(which) => match solve_by(&problem, which) {
            Some(result) => (vec![result], Vec::new()),
            None => bail!("{file}: this solver supports point contacts only, and the problem has other laws"),
        },
    };
    if arguments.json {
        let solvers: Vec<Value> = results.iter().map(as_json).collect();
        let (rows, laws) = (problem.rows(), problem.laws.len());
        println!("{}", json!({ "rows": rows, "laws": laws, "solvers": solvers, "notes": notes }));
        return Ok(());
    }
    println!("{file}: {} rows, {}", problem.rows(), contents(&problem));
    print_table("with friction", &results, false);
    if results.iter().any(|result| result.frictionless) {
        print_table("without friction, normal rows only", &results, true);
    }
    if !notes.is_empty() {
        println!();
    }
    notes.iter().for_each(|note| println!("{note}"));
    Ok(())
}

fn print_table(title: &str, results: &[SolverResult], frictionless: bool) {
    println!();
    println!("{:<82} difference from Gauss–Seidel", title);
    println!(
        "{:<19} {:<14} {:>10} {:>10} {:>11} {:>11} {:>13} {:>13}",
        "", "", "iterations", "residual", "natural map", "ms", "of forces", "of velocities"
    );
    for result in results.iter().filter(|result| result.frictionless == frictionless) {
        let SolverResult { solver, status, ms, force_difference, velocity_difference, .. } = result;
        let iterations = result.iterations.map_or(String::new(), |n| n.to_string());
        let residual = result.residual.map_or(String::new(), |r| format!("{r:.1e}"));
        let natural = result.natural.map_or(String::new(), |r| format!("{r:.1e}"));
        let differences = match (result.is_reference, result.solved) {
            (false, true) => format!("{force_difference:>13.2e} {velocity_difference:>13.2e}"),
            _ => String::new(),
        };
        let line =
            format!("{solver:<19} {status:<14} {iterations:>10} {residual:>10} {natural:>11} {ms:>11.4} {differences}");
        println!("{}", line.trim_end());
    }
}

fn as_json(result: &SolverResult) -> Value {
    json!({
        "solver": result.solver,
        "friction": !result.frictionless,
        "status": result.status,
        "solved": result.solved,
        "iterations": result.iterations,
        "residual": result.residual,
        "natural_map": result.natural,
        "ms": result.ms,
        "force_difference": result.force_difference,
        "velocity_difference": result.velocity_difference,
        "forces": result.forces,
    })
}
