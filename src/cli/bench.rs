mod factor;
mod free_motion;
pub mod measure;
pub mod progress;
mod scenes;

use std::path::PathBuf;
use std::sync::Arc;

use anyhow::bail;
use serde_json::json;

use super::{Talk, load_model, write_file};
use crate::assets::builtin_scenes;

/// What to measure.
#[derive(clap::Args)]
pub struct Arguments {
    /// Benchmarks to run, all if left out: `free_motion`, `factor` and the shipped scenes.
    names: Vec<String>,
    /// A hand file for `free_motion`; the built-in average right hand if left out.
    #[arg(long)]
    hand: Option<PathBuf>,
    /// Steps to measure, after as many to settle; of a scene at most those of its second half.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    steps: u32,
    /// Measure twenty steps at most.
    #[arg(long)]
    quick: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write the rows of the scenes and of the free motion as a table.
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let known: Vec<&str> = ["free_motion", "factor"].into_iter().chain(builtin_scenes()).collect();
    if let Some(name) = arguments.names.iter().find(|n| !known.contains(&n.as_str())) {
        bail!("there is no benchmark `{name}`; expected one of {}", known.join(", "));
    }
    let wanted = |name: &str| arguments.names.is_empty() || arguments.names.iter().any(|n| n == name);
    if cfg!(debug_assertions) {
        talk.say("note: this is not a release build; times mean little");
    }
    let steps = if arguments.quick { arguments.steps.min(20) } else { arguments.steps };
    let mut rows = Vec::new();
    if wanted("free_motion") {
        let model = Arc::new(load_model(arguments.hand.as_ref(), talk)?);
        rows.extend(free_motion::rows(&model, steps, arguments.json)?);
    }
    if wanted("factor") {
        rows.extend(factor::rows(steps, arguments.json));
    }
    let names: Vec<&str> = builtin_scenes().filter(|name| wanted(name)).collect();
    rows.extend(scenes::rows(&names, steps, arguments.json, talk)?);
    if let Some(file) = &arguments.csv {
        write_file(file, scenes::csv(&rows).as_bytes())?;
    }
    if arguments.json {
        println!("{}", json!({ "machine": machine(), "rows": rows }));
    }
    Ok(())
}

fn machine() -> serde_json::Value {
    let threads = std::thread::available_parallelism().map_or(1, |n| n.get());
    json!({ "os": std::env::consts::OS, "arch": std::env::consts::ARCH, "threads": threads })
}
