use std::path::PathBuf;
use std::time::Instant;

use anyhow::{Context, bail};
use serde_json::json;

use super::save_plots;
use super::soft_table::{Build, sole_problem};
use crate::cli::Talk;
use crate::cli::plot::{Axis, Plot, Scale, Series};
use crate::problem::{ContactProblem, Law};
use crate::solver::{GaussSeidel, SolverStatus, pyramid_lcp};

/// Arguments of `study cone`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Number of random loads to average over
    #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
    tests: u32,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Plot the results to an SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let tests = arguments.tests;
    let (gaps, times) = (gaps(tests)?, times(tests)?);
    save_plots(arguments.plot.as_deref(), || plots(&gaps, &times).into(), talk)?;
    if arguments.json {
        let gaps: Vec<_> = gaps
            .iter()
            .map(|g| json!({ "sides": g.sides, "gap": g.whole, "gap_of_friction": g.friction, "failed": g.failed }))
            .collect();
        let times: Vec<_> = times
            .iter()
            .map(|t| {
                json!({
                    "contacts": t.contacts, "gauss_seidel_ms": t.cone, "pyramid_8_ms": t.pyramid, "failed": t.failed,
                })
            })
            .collect();
        println!("{}", json!({ "study": "cone", "gaps": gaps, "times": times }));
        return Ok(());
    }
    println!("gap between pyramid and cone on a soft table, μ = 0.1, 16 contacts, {tests} random motions");
    println!("{:>6} {:>14} {:>14} {:>12}", "sides", "of all forces", "of friction", "Lemke failed");
    for g in &gaps {
        let (whole, friction) = (100.0 * g.whole, 100.0 * g.friction);
        println!("{:>6} {whole:>12.2} % {friction:>12.2} % {:>12}", g.sides, g.failed);
    }
    println!();
    println!("time of a solve, random μ (ms, mean)");
    let heads = ["contacts", "Gauss–Seidel, cone", "8-sided pyramid", "ratio", "Lemke failed"];
    println!("{:>8} {:>18} {:>18} {:>7} {:>12}", heads[0], heads[1], heads[2], heads[3], heads[4]);
    for t in &times {
        let ratio = t.pyramid / t.cone;
        println!("{:>8} {:>18.4} {:>18.4} {ratio:>7.1} {:>12}", t.contacts, t.cone, t.pyramid, t.failed);
    }
    Ok(())
}

/// The gap over the sides (fig. 7), and the times over the contacts (fig. 8).
fn plots(gaps: &[ConeGap], times: &[Time]) -> [Plot; 2] {
    let gap = |of: fn(&ConeGap) -> f64| gaps.iter().map(move |g| [g.sides as f64, 100.0 * of(g)]);
    let time = |of: fn(&Time) -> f64| times.iter().map(move |t| [t.contacts as f64, of(t)]);
    [
        Plot {
            title: "Pyramid against cone, μ = 0.1".into(),
            x: Axis::new("sides of the pyramid", Scale::Log),
            y: Axis::new("gap between the forces (%)", Scale::Log),
            series: vec![
                Series::new("of all forces", gap(|g| g.whole)),
                Series::new("of friction", gap(|g| g.friction)),
                Series::new("5 %", [gaps.first(), gaps.last()].into_iter().flatten().map(|g| [g.sides as f64, 5.0])),
            ],
        },
        Plot {
            title: "Time of a solve".into(),
            x: Axis::new("contacts", Scale::Log),
            y: Axis::new("mean time (ms)", Scale::Log),
            series: vec![
                Series::new("Gauss–Seidel on the cone", time(|t| t.cone)),
                Series::new("Lemke on the 8-sided pyramid", time(|t| t.pyramid)),
            ],
        },
    ]
}

struct ConeGap {
    sides: usize,
    whole: f64,
    friction: f64,
    failed: u32,
}

struct Time {
    contacts: usize,
    cone: f64,
    pyramid: f64,
    failed: u32,
}

/// Reproducible pseudo-random numbers between −1 and 1.
struct SymmetricRandom(u64);

impl SymmetricRandom {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// The table pushed along the floor in a random direction.
fn pushed(table: &ContactProblem, random: &mut SymmetricRandom) -> ContactProblem {
    let mut problem = table.clone();
    let angle = std::f64::consts::PI * random.next();
    let speed = 0.3 + 0.2 * random.next();
    for contact in problem.free.chunks_exact_mut(3) {
        contact[1] += speed * angle.cos() + 0.02 * random.next();
        contact[2] += speed * angle.sin() + 0.02 * random.next();
    }
    problem
}

fn cone(problem: &ContactProblem) -> anyhow::Result<Vec<f64>> {
    let mut forces = vec![0.0; problem.rows()];
    let solution = GaussSeidel::default().solve(problem, &mut forces, || true);
    if solution.status != SolverStatus::Converged {
        bail!("Gauss–Seidel did not converge: {solution:?}");
    }
    Ok(forces)
}

/// Forces with a friction pyramid; `None` if Lemke's method fails. The symmetric table makes the problems degenerate,
/// and rounding can make the pivoting cycle.
fn pyramid(problem: &ContactProblem, sides: usize) -> anyhow::Result<Option<Vec<f64>>> {
    let solved = pyramid_lcp(problem, sides).context("the table has point contacts only")?;
    Ok(solved.ok().map(|solution| solution.forces))
}

/// Gap γ between the forces of pyramid and cone (Duriez 2006, eq. 26), of all forces and of friction alone.
fn gaps(tests: u32) -> anyhow::Result<Vec<ConeGap>> {
    let table = sole_problem(Build::Plain, 4, 0.1)?;
    let mut rows = Vec::new();
    for sides in [4, 8, 12, 16, 24, 32] {
        let mut random = SymmetricRandom(0x5eed);
        let (mut whole, mut friction, mut failed) = (0.0, 0.0, 0);
        for _ in 0..tests {
            let problem = pushed(&table, &mut random);
            let exact = cone(&problem)?;
            let Some(rough) = pyramid(&problem, sides)? else {
                failed += 1;
                continue;
            };
            let norm = |tangential: bool, f: &dyn Fn(usize) -> f64| {
                let rows = (0..exact.len()).filter(|i| !tangential || i % 3 != 0);
                rows.map(|i| f(i) * f(i)).sum::<f64>().sqrt()
            };
            let difference = |i: usize| exact[i] - rough[i];
            whole += norm(false, &difference) / norm(false, &|i| exact[i]);
            friction += norm(true, &difference) / norm(true, &|i| exact[i]);
        }
        let count = solved(tests, failed)?;
        rows.push(ConeGap { sides, whole: whole / count, friction: friction / count, failed });
    }
    Ok(rows)
}

fn times(tests: u32) -> anyhow::Result<Vec<Time>> {
    let mut rows = Vec::new();
    for per_leg in [1, 2, 3, 5, 7, 9] {
        let table = sole_problem(Build::Plain, per_leg, 0.1)?;
        let mut random = SymmetricRandom(0x5eed);
        let (mut by_cone, mut by_pyramid, mut failed) = (0.0, 0.0, 0);
        for _ in 0..tests {
            let mut problem = pushed(&table, &mut random);
            let mu = 0.5 + 0.4 * random.next();
            problem.laws.iter_mut().for_each(|law| *law = Law::Coulomb { mu });
            let start = Instant::now();
            cone(&problem)?;
            let middle = Instant::now();
            if pyramid(&problem, 8)?.is_none() {
                failed += 1;
                continue;
            }
            by_cone += 1e3 * middle.duration_since(start).as_secs_f64();
            by_pyramid += 1e3 * middle.elapsed().as_secs_f64();
        }
        let count = solved(tests, failed)?;
        rows.push(Time { contacts: 4 * per_leg, cone: by_cone / count, pyramid: by_pyramid / count, failed });
    }
    Ok(rows)
}

/// Number of tests of a mean.
fn solved(tests: u32, failed: u32) -> anyhow::Result<f64> {
    if failed == tests {
        bail!("Lemke's method solved none of {tests} problems");
    }
    Ok(f64::from(tests - failed))
}
