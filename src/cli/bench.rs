mod factor;
mod free_motion;
pub mod machine;
pub mod measure;
pub mod names;
mod paper;
pub mod progress;
pub mod report;
pub mod sample;
mod scenes;
mod steps_plot;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::bail;
use serde_json::{Value, json};

use self::progress::Bar;
use self::scenes::{Budget, Measured};
use self::steps_plot::{StepsPlot, StepsPlotArguments};
use super::{Talk, load_model, write_file};
use crate::assets::builtin_scenes;

/// What to measure.
#[derive(clap::Args)]
pub struct Arguments {
    /// Benchmarks to run, all if left out: `free_motion`, `factor` and the shipped scenes but `play`, whose hand waits for a person.
    names: Vec<String>,
    /// A hand file for `free_motion`; the built-in average right hand if left out.
    #[arg(long)]
    hand: Option<PathBuf>,
    /// Steps to measure: of a scene the last ones, at most half of it.
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    steps: u32,
    /// Measure twenty steps at most.
    #[arg(long)]
    quick: bool,
    /// Seconds after which a row ends with the steps it has.
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    limit: f64,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Write the rows of the scenes and of the free motion as a table.
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Write a report with tables, plots and pictures: index.html, which needs no other file, and the plotted numbers.
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,
    #[command(flatten)]
    steps_plot: StepsPlotArguments,
}

/// The scene whose hand nobody moves: there is little to measure in it, unless it is asked for.
const BY_A_PERSON: &str = "play";

/// A time limit of the command line, s.
pub fn seconds(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|s| (0.001..=3600.0).contains(s));
    parsed.ok_or_else(|| "expected seconds, from 0.001 to 3600".into())
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let known: Vec<&str> = ["free_motion", "factor"].into_iter().chain(builtin_scenes()).collect();
    if let Some(name) = arguments.names.iter().find(|n| !known.contains(&n.as_str())) {
        bail!(names::unknown(&format!("benchmark `{name}`"), name, &known));
    }
    if let Some(file) = &arguments.csv {
        super::outputs::check(&[("--csv", file)], arguments.hand.as_slice())?;
    }
    if let Some(folder) = &arguments.report {
        // Better now than after minutes.
        std::fs::create_dir_all(folder)
            .map_err(|error| anyhow::anyhow!("cannot make the folder {}: {error}", folder.display()))?;
    }
    let steps_plot = StepsPlot::new(&arguments.steps_plot)?;
    if cfg!(debug_assertions) {
        talk.say("note: this is not a release build; times mean little");
    }
    let (mut rows, scenes) = measure_all(arguments, talk)?;
    rows.extend(scenes.iter().map(|one| one.row.clone()));
    let table = paper::table(&rows);
    if let Some(file) = &arguments.csv {
        write_file(file, scenes::csv(&rows).as_bytes())?;
    }
    let machine = machine::machine();
    if arguments.json {
        println!(
            "{}",
            json!({ "machine": machine, "rows": rows, "table_1": { "source": paper::SOURCE, "rows": table } })
        );
    } else {
        paper::print(&table);
    }
    if let Some(plot) = steps_plot {
        plot.save(&scenes, talk)?;
    }
    match &arguments.report {
        Some(folder) => report::write(folder, &machine, scenes, &table, talk),
        None => Ok(()),
    }
}

/// The rows of what is no scene, and the scenes.
fn measure_all(arguments: &Arguments, talk: Talk) -> anyhow::Result<(Vec<Value>, Vec<Measured>)> {
    let wanted = |name: &str| match arguments.names.as_slice() {
        [] => name != BY_A_PERSON,
        names => names.iter().any(|n| n == name),
    };
    let steps = if arguments.quick { arguments.steps.min(20) } else { arguments.steps };
    let names: Vec<&str> = builtin_scenes().filter(|name| wanted(name)).collect();
    let others = ["free_motion", "factor"].into_iter().filter(|name| wanted(name)).map(|_| 1.0);
    let mut bar = Bar::new(talk, others.chain(scenes::weights(&names)?).collect());
    let mut rows = Vec::new();
    if wanted("free_motion") {
        bar.show(0.0, "free_motion");
        let model = Arc::new(load_model(arguments.hand.as_ref(), talk)?);
        bar.clear();
        rows.extend(free_motion::rows(&model, steps, arguments.json)?);
        bar.finish_job();
    }
    if wanted("factor") {
        rows.extend(factor::rows(steps, arguments.json));
        bar.finish_job();
    }
    let budget = Budget { steps: steps.into(), time: Duration::from_secs_f64(arguments.limit) };
    let scenes = scenes::measured(&names, budget, arguments.json, &mut bar)?;
    Ok((rows, scenes))
}
