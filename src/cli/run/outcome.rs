use serde_json::{Value, json};

use crate::script::TaskOutcome;

/// The object `task` of `run --json`.
pub fn as_json(outcome: &TaskOutcome) -> Value {
    let phases: Vec<Value> =
        outcome.phases.iter().map(|p| json!({ "name": p.name, "start": p.start, "end": p.end })).collect();
    let trials: Vec<Value> = outcome
        .trials
        .iter()
        .map(|t| json!({ "success": t.success, "reason": t.reason, "score": t.score, "metrics": t.metrics }))
        .collect();
    json!({
        "name": outcome.name,
        "success": outcome.success,
        "reason": outcome.reason,
        "score": outcome.score,
        "metrics": outcome.metrics,
        "phases": phases,
        "trials": trials,
    })
}

/// The same as text.
pub fn print(outcome: &TaskOutcome) {
    println!();
    for phase in &outcome.phases {
        println!("phase           {:<20} {:>8.2} s to {:.2} s", phase.name, phase.start, phase.end);
    }
    if outcome.trials.len() > 1 {
        for (i, trial) in outcome.trials.iter().enumerate() {
            let word = if trial.success { "succeeded" } else { "failed" };
            println!("trial {:<9} {word}: {}", i + 1, trial.reason);
        }
    }
    for (name, value) in &outcome.metrics {
        println!("{name:<15} {value:.3}");
    }
    if let Some(score) = outcome.score {
        println!("score           {score}");
    }
    let word = if outcome.success { "succeeded" } else { "FAILED" };
    println!("task            {} {word}: {}", outcome.name, outcome.reason);
}
