use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use serde_json::json;

use super::{Talk, load_model};
use crate::body::Refactor;
use crate::body::fem::Factor;
use crate::hand::HandModel;
use crate::math::{Pose, Vec3};
use crate::sim::{Hand, HandOptions, Parameters, Status, World};
use crate::tracking::{PoseKey, PoseSequence};

/// What to measure.
#[derive(clap::Args)]
pub struct Arguments {
    /// Benchmarks to run; all if left out. There is `free_motion`.
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

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    if let Some(name) = arguments.names.iter().find(|n| *n != "free_motion") {
        bail!("there is no benchmark `{name}`; expected `free_motion`");
    }
    if cfg!(debug_assertions) {
        talk.say("note: this is not a release build; times mean little");
    }
    let model = Arc::new(load_model(arguments.hand.as_ref(), talk)?);
    let floor = floor(&model, arguments.steps);
    let rows = [("reused", Refactor::Drift), ("refactored", Refactor::Always)]
        .map(|(name, when)| (name, free_motion(&model, when, arguments.steps)));
    let mut table = vec![("floor", floor)];
    for (name, times) in rows {
        table.push((name, times?));
    }
    let floor = table[0].1.median;
    if arguments.json {
        let rows: Vec<_> = table
            .iter()
            .map(|(name, t)| {
                json!({
                    "scenario": "free_motion", "method": name,
                    "step_ms": { "median": t.median, "p99": t.p99, "max": t.max },
                    "ratio_to_floor": t.median / floor, "refactorisations_per_step": t.refactorisations,
                })
            })
            .collect();
        println!("{}", json!({ "machine": machine(), "rows": rows }));
        return Ok(());
    }
    println!("free motion of one hand, {} steps, one thread (ms)", arguments.steps);
    println!("{:<28} {:>8} {:>8} {:>8} {:>9} {:>10}", "", "median", "p99", "max", "× floor", "factored");
    for (name, t) in &table {
        let name = match *name {
            "floor" => "floor: 15 solves, ready factor",
            "reused" => "step, factors reused",
            _ => "step, all refactored",
        };
        let ratio = t.median / floor;
        let factored = t.refactorisations;
        println!("{name:<30} {:>6.4} {:>8.4} {:>8.4} {ratio:>9.2} {factored:>10.2}", t.median, t.p99, t.max);
    }
    Ok(())
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
            before = world.hands[0].refactorisations();
        }
        let start = Instant::now();
        if let Some(sample) = motion.sample(world.time() + world.parameters.dt) {
            world.hands[0].track(sample);
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
    let factored = (world.hands[0].refactorisations() - before) as f64 / f64::from(steps);
    Ok(times(samples, factored))
}
