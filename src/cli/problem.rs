mod solve;
mod solvers;

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use serde_json::json;

use super::bench::measure::advance;
use super::bench::progress::Progress;
use super::scene_arguments::SceneArguments;
use super::{Talk, write_file};
use crate::assets::limits::PROBLEM_BYTES;
use crate::assets::{Files, Setting, read_bounded};
use crate::contact::Group;
use crate::problem::{ContactProblem, Law, ProblemFault};

/// Subcommands of `problem`.
#[derive(clap::Subcommand)]
pub enum ProblemCommand {
    /// Simulate a scene and save a contact problem of its last step
    Save(SaveArguments),
    /// Solve a saved problem with all applicable solvers and compare the forces
    Solve(solve::Arguments),
}

/// Arguments of `problem save`.
#[derive(clap::Args)]
pub struct SaveArguments {
    /// Scene file (.toml) or the name of a shipped scene
    scene: PathBuf,
    /// Simulated time of the problem, s
    #[arg(long)]
    at: f64,
    /// Output file; FCLIB format if it ends in .hdf5
    #[arg(long, value_name = "FILE.txt|FILE.hdf5")]
    out: PathBuf,
    /// Group of touching bodies, counted from 0 [default: the group with the most rows]
    #[arg(long)]
    group: Option<usize>,
    #[command(flatten)]
    changes: SceneArguments,
    /// Print JSON with the forces of the step
    #[arg(long)]
    json: bool,
}

pub fn run(command: &ProblemCommand, talk: Talk) -> anyhow::Result<()> {
    match command {
        ProblemCommand::Save(arguments) => save(arguments, talk),
        ProblemCommand::Solve(arguments) => solve::run(arguments),
    }
}

fn save(arguments: &SaveArguments, talk: Talk) -> anyhow::Result<()> {
    // Checked as the length of a scene is.
    let at = Setting::new("seconds", arguments.at);
    let files = Files::default();
    let mut scene =
        files.load_scene(&crate::runtime::shipped_path(&arguments.scene), &arguments.changes.settings([at])?)?;
    super::outputs::check(&[("--out", &arguments.out)], &files.paths())?;
    scene.world.keeps_rows = true;
    let steps = (arguments.at / scene.world.parameters.dt).round().max(1.0) as u64;
    let mut progress = Progress::new(talk);
    advance(&mut scene, steps, |i| progress.show(format_args!("step {i} of {steps}")))?;
    progress.clear();
    let time = scene.world.time();
    let (number, group) = choose(scene.world.system().groups(), arguments.group, time)?;
    write(&arguments.out, &group.problem)?;
    let (rows, contents) = (group.problem.rows(), contents(&group.problem));
    if arguments.json {
        println!(
            "{}",
            json!({
                "file": arguments.out.display().to_string(), "time": time, "group": number, "groups": scene.world.system().groups().len(),
                "rows": rows, "laws": group.problem.laws.len(), "forces": group.forces,
            })
        );
    } else {
        println!("{}: {rows} rows at {time:.4} s, {contents}", arguments.out.display());
    }
    Ok(())
}

/// Whether a file name is that of an FCLIB file.
fn is_fclib(file: &Path) -> bool {
    file.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("hdf5"))
}

/// Writes a problem as text, or in FCLIB format according to the file name.
fn write(file: &Path, problem: &ContactProblem) -> anyhow::Result<()> {
    if !is_fclib(file) {
        return write_file(file, problem.to_text().as_bytes());
    }
    #[cfg(feature = "fclib")]
    return Ok(crate::assets::write_fclib(file, problem)?);
    #[cfg(not(feature = "fclib"))]
    bail!("{}: {NO_FCLIB}", file.display());
}

/// Reads a problem from text or FCLIB.
fn read(file: &Path) -> anyhow::Result<ContactProblem> {
    let shown = file.display();
    if is_fclib(file) {
        #[cfg(feature = "fclib")]
        return Ok(crate::assets::read_fclib(file)?);
        #[cfg(not(feature = "fclib"))]
        bail!("{shown}: {NO_FCLIB}");
    }
    let bytes = read_bounded(file, PROBLEM_BYTES).with_context(|| shown.to_string())?;
    ContactProblem::from_text(&String::from_utf8_lossy(&bytes)).map_err(|fault| match fault {
        ProblemFault::Text { line, expected } => anyhow!("{shown}:{line}: expected {expected}"),
        other => anyhow!("{shown}: {other}"),
    })
}

#[cfg(not(feature = "fclib"))]
const NO_FCLIB: &str =
    "FCLIB files need the Cargo feature `fclib`, which this build does not have; build with `--features fclib`";

/// The requested group, or the largest.
fn choose(groups: &[Group], wanted: Option<usize>, time: f64) -> anyhow::Result<(usize, &Group)> {
    let largest = (0..groups.len()).max_by_key(|&i| (groups[i].rows(), std::cmp::Reverse(i)));
    let largest = largest.with_context(|| format!("nothing touches at {time:.4} s, so there is no problem to save"))?;
    let number = wanted.unwrap_or(largest);
    match groups.get(number) {
        Some(group) => Ok((number, group)),
        None => bail!("there is no group {number} at {time:.4} s; expected 0 to {}", groups.len() - 1),
    }
}

/// Number of blocks of each law as text.
fn contents(problem: &ContactProblem) -> String {
    let count = |of: fn(&Law) -> bool| problem.laws.iter().filter(|law| of(law)).count();
    let counts = [
        ("aggregates", count(|law| matches!(law, Law::Aggregate { .. }))),
        ("points", count(|law| matches!(law, Law::Coulomb { .. }))),
        ("without friction", count(|law| matches!(law, Law::Frictionless))),
        ("attachments", count(|law| matches!(law, Law::Equality(_)))),
    ];
    let named: Vec<String> = counts.iter().filter(|(_, n)| *n > 0).map(|(name, n)| format!("{name} {n}")).collect();
    named.join(", ")
}
