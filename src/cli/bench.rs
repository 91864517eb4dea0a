use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use serde_json::json;

use super::{Talk, load_model};
use crate::body::Refactor;
use crate::body::fem::{Continuum, Factor};
use crate::body::{Hand, HandOptions};
use crate::hand::{HandModel, Material};
use crate::math::{Pose, Vec3};
use crate::mesh::block;
use crate::sim::{Parameters, Status, World};
use crate::tracking::{PoseKey, PoseSequence};

/// What to measure.
#[derive(clap::Args)]
pub struct Arguments {
    /// Benchmarks to run; all if left out: `free_motion`, `factor`.
    names: Vec<String>,
    /// A hand file; the built-in average right hand if left out.
    #[arg(long)]
    hand: Option<PathBuf>,
    /// Steps to measure, after as many to settle.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    steps: u32,
    /// Print JSON.
    #[arg(long)]
    json: bool,
}

const NAMES: [&str; 2] = ["free_motion", "factor"];

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    if let Some(name) = arguments.names.iter().find(|n| !NAMES.contains(&n.as_str())) {
        bail!("there is no benchmark `{name}`; expected `free_motion` or `factor`");
    }
    let wanted = |name: &str| arguments.names.is_empty() || arguments.names.iter().any(|n| n == name);
    if cfg!(debug_assertions) {
        talk.say("note: this is not a release build; times mean little");
    }
    let mut rows = Vec::new();
    if wanted("free_motion") {
        let model = Arc::new(load_model(arguments.hand.as_ref(), talk)?);
        rows.extend(free_motion_rows(&model, arguments)?);
    }
    if wanted("factor") {
        rows.extend(factor_rows(arguments));
    }
    if arguments.json {
        println!("{}", json!({ "machine": machine(), "rows": rows }));
    }
    Ok(())
}

/// Free motion of one hand: the floor, steps that reuse their factors, steps that refactor everything.
fn free_motion_rows(model: &Arc<HandModel>, arguments: &Arguments) -> anyhow::Result<Vec<serde_json::Value>> {
    let steps = arguments.steps;
    let table = [
        ("floor", "floor: 15 solves, ready factor", floor(model, steps)),
        ("reused", "step, factors reused", free_motion(model, Refactor::Drift, steps)?),
        ("refactored", "step, all refactored", free_motion(model, Refactor::Always, steps)?),
    ];
    let floor = table[0].2.median;
    if !arguments.json {
        println!("free motion of one hand, {steps} steps, one thread (ms)");
        println!("{:<30} {:>8} {:>8} {:>8} {:>9} {:>10}", "", "median", "p99", "max", "× floor", "factored");
        for (_, name, t) in &table {
            let (ratio, factored) = (t.median / floor, t.refactorisations);
            println!("{name:<30} {:>8.4} {:>8.4} {:>8.4} {ratio:>9.2} {factored:>10.2}", t.median, t.p99, t.max);
        }
        println!();
    }
    let row = |(method, _, t): &(&str, &str, Times)| {
        json!({
            "scenario": "free_motion", "method": method,
            "step_ms": { "median": t.median, "p99": t.p99, "max": t.max },
            "ratio_to_floor": t.median / floor, "refactorisations_per_step": t.refactorisations,
        })
    };
    Ok(table.iter().map(row).collect())
}

/// Dense against sparse: one refactorisation and one solve, for blocks of growing size.
fn factor_rows(arguments: &Arguments) -> Vec<serde_json::Value> {
    let mut rows = Vec::new();
    if !arguments.json {
        println!("one factorisation / one solve of a soft block (ms)");
        println!("{:>8} {:>19} {:>19}", "unknowns", "dense", "sparse");
    }
    for cells in [[2, 1, 1], [3, 2, 1], [3, 2, 2], [4, 3, 2], [4, 3, 3], [5, 4, 3], [6, 4, 4]] {
        let mesh = block(&Vec3::new(0.06, 0.04, 0.04), cells);
        let body = Continuum::new(&mesh, &vec![false; mesh.nodes.len()], Material::default());
        let n = body.dofs();
        let dense = body.time_factor(Factor::dense, |work| median_ms(arguments.steps.min(200), work));
        let sparse = body.time_factor(Factor::sparse, |work| median_ms(arguments.steps.min(200), work));
        if !arguments.json {
            println!("{n:>8} {:>9.4} {:>9.4} {:>9.4} {:>9.4}", dense.0, dense.1, sparse.0, sparse.1);
        }
        rows.push(json!({
            "scenario": "factor", "unknowns": n,
            "dense_ms": { "factor": dense.0, "solve": dense.1 },
            "sparse_ms": { "factor": sparse.0, "solve": sparse.1 },
        }));
    }
    rows
}

fn median_ms(times: u32, work: &mut dyn FnMut()) -> f64 {
    let mut samples: Vec<f64> = (0..times)
        .map(|_| {
            let start = Instant::now();
            work();
            1e3 * start.elapsed().as_secs_f64()
        })
        .collect();
    samples.sort_by(f64::total_cmp);
    samples[samples.len() / 2]
}

fn machine() -> serde_json::Value {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    json!({ "os": std::env::consts::OS, "arch": std::env::consts::ARCH, "threads": threads })
}

/// Times in milliseconds.
struct Times {
    median: f64,
    p99: f64,
    max: f64,
    refactorisations: f64,
}

fn times(mut samples: Vec<f64>, refactorisations: f64) -> Times {
    samples.sort_by(f64::total_cmp);
    let at = |part: f64| samples[((samples.len() - 1) as f64 * part).round() as usize];
    Times { median: at(0.5), p99: at(0.99), max: at(1.0), refactorisations }
}

/// The least a step could cost: one solve for each phalanx with a factor that is ready, by two triangular solves.
fn floor(model: &Arc<HandModel>, steps: u32) -> Times {
    let hand = Hand::new(model.clone(), &HandOptions::default());
    let mut systems: Vec<(Factor, Vec<f64>)> = hand.tissues[1..].iter().map(|t| t.model().ready_factor(0.01)).collect();
    let mut samples = Vec::with_capacity(steps as usize);
    for i in 0..2 * steps {
        let start = Instant::now();
        for (factor, x) in &mut systems {
            x.fill(1.0);
            factor.solve_by_substitution(x);
        }
        if i >= steps {
            samples.push(1e3 * start.elapsed().as_secs_f64());
        }
    }
    times(samples, 0.0)
}

/// Steps of a hand that opens and closes twice a second while it waves about.
fn free_motion(model: &Arc<HandModel>, when: Refactor, steps: u32) -> anyhow::Result<Times> {
    let mut world = World::new(Parameters::default());
    world.parameters.refactor.when = when;
    world.add_hand(Hand::new(model.clone(), &HandOptions::default()));
    let pose = |name: &str| model.description.pose(name).copied().unwrap_or_default();
    let (open, fist) = (pose("open"), pose("fist"));
    let palm = |x: f64| Pose::new(Vec3::new(x, 0.0, 0.0), Vec3::new(0.0, 0.0, 4.0 * x));
    let motion = PoseSequence::new(
        (0..=2 * steps / 25 + 1)
            .map(|i| PoseKey {
                time: 0.25 * f64::from(i),
                palm: palm(if i % 4 < 2 { 0.1 } else { -0.1 }),
                angles: if i % 2 == 0 { open } else { fist },
            })
            .collect(),
    );
    let mut samples = Vec::with_capacity(steps as usize);
    let mut before = 0;
    for i in 0..2 * steps {
        if i == steps {
            before = world.bodies.hands[0].refactorisations();
        }
        let start = Instant::now();
        if let Some(sample) = motion.sample(world.time() + world.parameters.dt) {
            world.bodies.hands[0].track(sample);
        }
        let report = world.step();
        let elapsed = start.elapsed();
        if report.status != Status::Done {
            bail!("the hand did not stay finite");
        }
        if i >= steps {
            samples.push(1e3 * elapsed.as_secs_f64());
        }
    }
    let factored = (world.bodies.hands[0].refactorisations() - before) as f64 / f64::from(steps);
    Ok(times(samples, factored))
}
