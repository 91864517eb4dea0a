use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;
use serde_json::{Value, json};

use crate::body::fem::Factor;
use crate::body::{Hand, HandOptions, Refactor};
use crate::hand::HandModel;
use crate::math::{Pose, Vec3};
use crate::sim::{Parameters, Status, World};
use crate::tracking::{PoseKey, PoseSequence};

/// Free motion of one hand: the lower bound, steps that reuse their factors, steps that refactor everything.
pub fn rows(model: &Arc<HandModel>, steps: u32, json: bool) -> anyhow::Result<Vec<Value>> {
    let table = [
        ("floor", "floor: 15 solves, ready factor", floor(model, steps)?),
        ("reused", "step, factors reused", free_motion(model, Refactor::Drift, steps)?),
        ("refactored", "step, all refactored", free_motion(model, Refactor::Always, steps)?),
    ];
    let floor = table[0].2.median;
    if !json {
        println!("free motion of one hand, {steps} steps, one thread (ms)");
        println!("{:<30} {:>8} {:>8} {:>8} {:>9} {:>10}", "", "median", "p99", "max", "× floor", "factored");
        for (_, name, t) in &table {
            let (ratio, factored) = (t.median / floor, t.refactorisations);
            println!("{name:<30} {:>8.4} {:>8.4} {:>8.4} {ratio:>9.2} {factored:>10.2}", t.median, t.p99, t.max);
        }
        println!();
    }
    let row = |(method, _, t): &(&str, &str, FactorTimes)| {
        json!({
            "scenario": "free_motion", "method": method,
            "step_ms": { "median": t.median, "p99": t.p99, "max": t.max },
            "ratio_to_floor": t.median / floor, "refactorisations_per_step": t.refactorisations,
        })
    };
    Ok(table.iter().map(row).collect())
}

/// Times in milliseconds.
struct FactorTimes {
    median: f64,
    p99: f64,
    max: f64,
    refactorisations: f64,
}

fn times(mut samples: Vec<f64>, refactorisations: f64) -> FactorTimes {
    samples.sort_by(f64::total_cmp);
    let at = |part: f64| samples[((samples.len() - 1) as f64 * part).round() as usize];
    FactorTimes { median: at(0.5), p99: at(0.99), max: at(1.0), refactorisations }
}

/// Lower bound of a step: one solve per phalanx with a cached factor (two triangular solves).
fn floor(model: &Arc<HandModel>, steps: u32) -> anyhow::Result<FactorTimes> {
    let hand = Hand::new(model.clone(), &HandOptions::default())?;
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
    Ok(times(samples, 0.0))
}

/// Steps of a hand that opens and closes twice per second while the palm moves.
fn free_motion(model: &Arc<HandModel>, when: Refactor, steps: u32) -> anyhow::Result<FactorTimes> {
    let mut world = World::new(Parameters::default());
    world.parameters.refactor.when = when;
    world.add(Hand::new(model.clone(), &HandOptions::default())?);
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
            before = world.bodies.hand(0).refactorisations();
        }
        let start = Instant::now();
        if let Some(sample) = motion.sample(world.time() + world.parameters.dt) {
            world.bodies.hand_mut(0).track(sample);
        }
        let report = world.step();
        let elapsed = start.elapsed();
        if report.status != Status::Done {
            bail!("the state of the hand is not finite");
        }
        if i >= steps {
            samples.push(1e3 * elapsed.as_secs_f64());
        }
    }
    let factored = (world.bodies.hand(0).refactorisations() - before) as f64 / f64::from(steps);
    Ok(times(samples, factored))
}
