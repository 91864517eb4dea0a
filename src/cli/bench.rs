mod factor;
mod free_motion;
pub mod machine;
pub mod measure;
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

use self::progress::JobProgress;
use self::scenes::{Measured, RowLimits};
use self::steps_plot::{StepsPlot, StepsPlotArguments};
use super::{Talk, load_model, write_file};
use crate::assets::builtin_scenes;
use crate::math::{OutOfRange, Range};

/// Arguments of `bench`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Benchmarks to run: `free_motion`, `factor` or shipped scenes [default: all except `play`, which waits for user
    /// input]
    names: Vec<String>,
    /// Hand file for `free_motion` [default: the built-in right hand]
    #[arg(long)]
    hand: Option<PathBuf>,
    /// Number of steps to measure, taken from the end of the scene (at most half of it)
    #[arg(long, default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    steps: u32,
    /// Measure at most 20 steps
    #[arg(long)]
    quick: bool,
    /// Time limit per row, in seconds
    #[arg(long, default_value_t = 10.0, value_parser = seconds)]
    limit: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Write the rows of the scenes and of the free motion to a CSV file
    #[arg(long, value_name = "FILE.csv")]
    csv: Option<PathBuf>,
    /// Write an HTML report with tables, plots and pictures to a folder, plus the plotted data as CSV
    #[arg(long, value_name = "FOLDER")]
    report: Option<PathBuf>,
    #[command(flatten)]
    steps_plot: StepsPlotArguments,
}

/// The scene with an interactive hand. It is measured only on request.
const BY_A_PERSON: &str = "play";

/// Parses a time limit of the command line, s.
pub fn seconds(text: &str) -> Result<f64, OutOfRange> {
    Range::new(0.001, 3600.0, "s").parse(text)
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let known: Vec<&str> = ["free_motion", "factor"].into_iter().chain(builtin_scenes()).collect();
    if let Some(name) = arguments.names.iter().find(|n| !known.contains(&n.as_str())) {
        bail!(crate::text::unknown("benchmark", name, &known));
    }
    let plot = arguments.steps_plot.output().map(|file| ("--plot-steps", file));
    let outputs: Vec<_> = arguments.csv.iter().map(|file| ("--csv", file.as_path())).chain(plot).collect();
    let inputs: Vec<PathBuf> = arguments.hand.iter().chain(arguments.steps_plot.input()).cloned().collect();
    super::outputs::check(&outputs, &inputs)?;
    if let Some(folder) = &arguments.report {
        // Fail before the measurement instead of after it.
        std::fs::create_dir_all(folder)
            .map_err(|error| anyhow::anyhow!("cannot create the folder {}: {error}", folder.display()))?;
    }
    let steps_plot = StepsPlot::new(&arguments.steps_plot)?;
    if cfg!(debug_assertions) {
        talk.say("note: this is a debug build; its times are not representative");
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

/// The rows of the benchmarks that are not scenes, and the scenes.
fn measure_all(arguments: &Arguments, talk: Talk) -> anyhow::Result<(Vec<Value>, Vec<Measured>)> {
    let wanted = |name: &str| match arguments.names.as_slice() {
        [] => name != BY_A_PERSON,
        names => names.iter().any(|n| n == name),
    };
    let steps = if arguments.quick { arguments.steps.min(20) } else { arguments.steps };
    let names: Vec<&str> = builtin_scenes().filter(|name| wanted(name)).collect();
    let others = ["free_motion", "factor"].into_iter().filter(|name| wanted(name)).map(|_| 1.0);
    let mut bar = JobProgress::new(talk, others.chain(scenes::weights(&names)?).collect());
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
    let budget = RowLimits { steps: steps.into(), time: Duration::from_secs_f64(arguments.limit) };
    let scenes = scenes::measured(&names, budget, arguments.json, &mut bar)?;
    Ok((rows, scenes))
}
