use std::path::PathBuf;

use anyhow::{Context, anyhow};
use serde_json::{Value, json};

use super::contents;
use super::solvers::{Answer, solve_all};
use crate::problem::{ContactProblem, ProblemFault};

/// What to solve.
#[derive(clap::Args)]
pub struct Arguments {
    /// A saved problem.
    file: PathBuf,
    /// Print JSON, with all forces.
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let file = arguments.file.display();
    let bytes = std::fs::read(&arguments.file).with_context(|| format!("{file}: cannot be read"))?;
    let problem = ContactProblem::from_text(&String::from_utf8_lossy(&bytes)).map_err(|fault| match fault {
        ProblemFault::Text { line, expected } => anyhow!("{file}:{line}: expected {expected}"),
        other => anyhow!("{file}: {other}"),
    })?;
    let (answers, notes) = solve_all(&problem);
    if arguments.json {
        let solvers: Vec<Value> = answers.iter().map(as_json).collect();
        let (rows, laws) = (problem.rows(), problem.laws.len());
        println!("{}", json!({ "rows": rows, "laws": laws, "solvers": solvers, "notes": notes }));
        return Ok(());
    }
    println!("{file}: {} rows, {}", problem.rows(), contents(&problem));
    print_table("with friction", &answers, false);
    if answers.iter().any(|answer| answer.frictionless) {
        print_table("without friction, normal rows only", &answers, true);
    }
    if !notes.is_empty() {
        println!();
    }
    notes.iter().for_each(|note| println!("{note}"));
    Ok(())
}

fn print_table(title: &str, answers: &[Answer], frictionless: bool) {
    println!();
    println!("{:<70} difference from Gauss–Seidel", title);
    println!(
        "{:<19} {:<14} {:>10} {:>10} {:>11} {:>13} {:>13}",
        "", "", "iterations", "residual", "ms", "of forces", "of velocities"
    );
    for answer in answers.iter().filter(|answer| answer.frictionless == frictionless) {
        let Answer { solver, status, ms, force_difference, velocity_difference, .. } = answer;
        let iterations = answer.iterations.map_or(String::new(), |n| n.to_string());
        let residual = answer.residual.map_or(String::new(), |r| format!("{r:.1e}"));
        let differences = match (answer.iterations, answer.solved) {
            (None, true) => format!("{force_difference:>13.2e} {velocity_difference:>13.2e}"),
            _ => String::new(),
        };
        let line = format!("{solver:<19} {status:<14} {iterations:>10} {residual:>10} {ms:>11.4} {differences}");
        println!("{}", line.trim_end());
    }
}

fn as_json(answer: &Answer) -> Value {
    json!({
        "solver": answer.solver,
        "friction": !answer.frictionless,
        "status": answer.status,
        "solved": answer.solved,
        "iterations": answer.iterations,
        "residual": answer.residual,
        "ms": answer.ms,
        "force_difference": answer.force_difference,
        "velocity_difference": answer.velocity_difference,
        "forces": answer.forces,
    })
}
