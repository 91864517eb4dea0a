use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context, bail};
use clap::Subcommand;
use serde_json::json;

use crate::body::fem::Continuum;
use crate::body::{Body, MaterialPoint, RefactorPolicy, SoftBody, Step};
use crate::contact::{ConstraintRow, delassus};
use crate::hand::{Material, NodeMap};
use crate::math::{Pose, Vec3};
use crate::mesh::blocks;
use crate::problem::{ContactProblem, Law};
use crate::solver::{GaussSeidel, SolverStatus, pyramid_lcp};

/// Parameter studies of the papers.
#[derive(Subcommand)]
pub enum Study {
    /// Friction pyramids against the exact cone on a soft table with four legs (Duriez 2006, fig. 7 and 8).
    Cone {
        /// Random loads to average over.
        #[arg(long, default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=1000))]
        tests: u32,
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

pub fn run(study: &Study) -> anyhow::Result<()> {
    let Study::Cone { tests, json } = study;
    let (gaps, times) = (gaps(*tests)?, times(*tests)?);
    if *json {
        let gaps: Vec<_> =
            gaps.iter().map(|g| json!({ "sides": g.sides, "gap": g.whole, "gap_of_friction": g.friction })).collect();
        let times: Vec<_> = times
            .iter()
            .map(|t| json!({ "contacts": t.contacts, "gauss_seidel_ms": t.cone, "pyramid_8_ms": t.pyramid }))
            .collect();
        println!("{}", json!({ "study": "cone", "gaps": gaps, "times": times }));
        return Ok(());
    }
    println!("gap between pyramid and cone on a soft table, μ = 0.1, 16 contacts, {tests} random motions");
    println!("{:>6} {:>14} {:>14}", "sides", "of all forces", "of friction");
    for g in &gaps {
        println!("{:>6} {:>12.2} % {:>12.2} %", g.sides, 100.0 * g.whole, 100.0 * g.friction);
    }
    println!();
    println!("time of a solve, random μ (ms, mean)");
    println!("{:>8} {:>18} {:>18} {:>7}", "contacts", "Gauss–Seidel, cone", "8-sided pyramid", "ratio");
    for t in &times {
        println!("{:>8} {:>18.4} {:>18.4} {:>7.1}", t.contacts, t.cone, t.pyramid, t.pyramid / t.cone);
    }
    Ok(())
}

struct Gap {
    sides: usize,
    whole: f64,
    friction: f64,
}

struct Time {
    contacts: usize,
    cone: f64,
    pyramid: f64,
}

/// Numbers between −1 and 1 that are the same on every run.
struct Random(u64);

impl Random {
    fn next(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Contact of the soles of a soft table with the floor, after a step of free fall: the Delassus operator of `per_leg` nodes a leg.
fn table(per_leg: usize) -> ContactProblem {
    const CELLS: [usize; 3] = [8, 5, 8];
    let is_leg = |i: usize| i < 2 || i >= CELLS[0] - 2;
    let mesh = blocks(&Vec3::new(0.4, 0.25, 0.4), CELLS, |[i, j, k]| j == CELLS[1] - 1 || (is_leg(i) && is_leg(k)));
    let material = Material { young: 2e5, poisson: 0.3, density: 500.0, damping_mass: 0.0, damping_stiffness: 0.01 };
    let continuum = Continuum::new(&mesh, &vec![false; mesh.nodes.len()], material);
    let mut body = SoftBody::new(Arc::new(continuum), Pose::identity());
    let step = Step { h: 0.01, time: 0.0, gravity: Vec3::new(0.0, -9.81, 0.0), refactor: RefactorPolicy::default() };
    body.free_motion(&step);
    let mut rows = Vec::new();
    for leg in 0..4 {
        let sole = |p: &Vec3| p.y < 1e-9 && (p.x > 0.2) == (leg % 2 == 1) && (p.z > 0.2) == (leg / 2 == 1);
        for node in (0..mesh.nodes.len()).filter(|&n| sole(&mesh.nodes[n])).take(per_leg) {
            let at = MaterialPoint::soft(NodeMap { nodes: [node as u32; 4], weights: [1.0, 0.0, 0.0, 0.0] });
            for direction in [Vec3::y(), Vec3::x(), Vec3::z()] {
                rows.push(ConstraintRow { terms: vec![(0, at, direction)] });
            }
        }
    }
    let (delassus, free) = delassus(&mut [&mut body], &rows, step.h);
    ContactProblem { delassus, free, laws: vec![Law::Coulomb { mu: 0.1 }; rows.len() / 3] }
}

/// The table pushed along the floor in a random direction.
fn pushed(table: &ContactProblem, random: &mut Random) -> ContactProblem {
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

fn pyramid(problem: &ContactProblem, sides: usize) -> anyhow::Result<Vec<f64>> {
    let solved = pyramid_lcp(problem, sides).context("the table has point contacts only")?;
    Ok(solved.with_context(|| format!("Lemke's method failed with {sides} sides"))?.forces)
}

/// Gap γ between the forces of pyramid and cone (Duriez 2006, eq. 26), of all forces and of friction alone.
fn gaps(tests: u32) -> anyhow::Result<Vec<Gap>> {
    let table = table(4);
    let mut rows = Vec::new();
    for sides in [4, 8, 12, 16, 24, 32] {
        let mut random = Random(0x5eed);
        let (mut whole, mut friction) = (0.0, 0.0);
        for _ in 0..tests {
            let problem = pushed(&table, &mut random);
            let (exact, rough) = (cone(&problem)?, pyramid(&problem, sides)?);
            let norm = |tangential: bool, f: &dyn Fn(usize) -> f64| {
                let rows = (0..exact.len()).filter(|i| !tangential || i % 3 != 0);
                rows.map(|i| f(i) * f(i)).sum::<f64>().sqrt()
            };
            let difference = |i: usize| exact[i] - rough[i];
            whole += norm(false, &difference) / norm(false, &|i| exact[i]);
            friction += norm(true, &difference) / norm(true, &|i| exact[i]);
        }
        rows.push(Gap { sides, whole: whole / f64::from(tests), friction: friction / f64::from(tests) });
    }
    Ok(rows)
}

fn times(tests: u32) -> anyhow::Result<Vec<Time>> {
    let mut rows = Vec::new();
    for per_leg in [1, 2, 3, 5, 7, 9] {
        let table = table(per_leg);
        let mut random = Random(0x5eed);
        let (mut by_cone, mut by_pyramid) = (0.0, 0.0);
        for _ in 0..tests {
            let mut problem = pushed(&table, &mut random);
            let mu = 0.5 + 0.4 * random.next();
            problem.laws.iter_mut().for_each(|law| *law = Law::Coulomb { mu });
            let start = Instant::now();
            cone(&problem)?;
            by_cone += 1e3 * start.elapsed().as_secs_f64();
            let start = Instant::now();
            pyramid(&problem, 8)?;
            by_pyramid += 1e3 * start.elapsed().as_secs_f64();
        }
        let mean = |sum: f64| sum / f64::from(tests);
        rows.push(Time { contacts: 4 * per_leg, cone: mean(by_cone), pyramid: mean(by_pyramid) });
    }
    Ok(rows)
}
