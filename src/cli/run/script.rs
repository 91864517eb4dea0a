use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use serde_json::{Value, json};

use super::summary::Summary;
use super::trace::Trace;
use super::{Arguments, End, settings};
use crate::cli::Talk;
use crate::script::{RunState, ScriptOptions, ScriptRun, TaskOutcome};

/// Runs a script to its end, and says how its task went.
pub fn run_script(arguments: &Arguments, talk: Talk) -> anyhow::Result<End> {
    let file = arguments.scene.as_path();
    // The time is the script's limit, not the scene's length.
    let settings = settings(arguments).into_iter().filter(|setting| setting.key != "seconds").collect();
    let options = ScriptOptions { settings, seconds: arguments.seconds, device: false };
    let mut run = ScriptRun::load(file, &options)?;
    let mut trace = arguments.trace.as_deref().map(|file| Trace::create(file, &run.scene())).transpose()?;
    let mut summary = Summary::default();
    let start = Instant::now();
    loop {
        run.take_messages().iter().for_each(|line| talk.say(line));
        if run.outcome().is_some() {
            break;
        }
        let state = run.step();
        let scene = run.scene();
        let seconds = scene.world.times().total;
        summary.add(&scene.world, seconds);
        if let Some(trace) = &mut trace {
            trace.add(&scene.world, seconds)?;
        }
        let dt = scene.world.parameters.dt;
        drop(scene);
        if state == RunState::Broken {
            break;
        }
        if arguments.realtime {
            let ahead = run.steps() as f64 * dt - start.elapsed().as_secs_f64();
            std::thread::sleep(Duration::from_secs_f64(ahead.max(0.0)));
        }
    }
    summary.wall = start.elapsed().as_secs_f64();
    if let Some(mut trace) = trace {
        trace.finish().context("cannot write the trace")?;
    }
    let outcome = run.outcome().ok_or_else(|| match run.error() {
        Some(error) => anyhow!(error.clone()),
        None => anyhow!("{}: the script came to no end", file.display()),
    })?;
    if arguments.json {
        let mut object = summary.as_json(&run.scene());
        object["script"] = file.file_stem().map(|stem| stem.to_string_lossy()).into();
        object["task"] = as_json(outcome);
        println!("{object}");
    } else {
        summary.print(&run.scene());
        print(outcome);
    }
    Ok(if outcome.success { End::Done } else { End::TaskFailed })
}

fn as_json(outcome: &TaskOutcome) -> Value {
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

fn print(outcome: &TaskOutcome) {
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
