//! Plot of the step times over a whole task.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use super::scenes::Measured;
use crate::assets::read_bounded;
use crate::cli::plot::{Axis, Plot, Scale, Series, Style, svg};
use crate::cli::{Talk, write_file};

/// Arguments of the plot of step times.
#[derive(clap::Args)]
pub struct StepsPlotArguments {
    /// Plot the step times of the scenes over their whole task to an SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot_steps: Option<PathBuf>,
    /// Add the step times of a `run --trace` table to the plot, for comparison; for a single scene only
    #[arg(long, value_name = "TRACE.csv", requires = "plot_steps")]
    beside: Option<PathBuf>,
}

impl StepsPlotArguments {
    /// The file to write, if any.
    pub fn output(&self) -> Option<&Path> {
        self.plot_steps.as_deref()
    }

    /// The table to read, if any.
    pub fn input(&self) -> Option<&PathBuf> {
        self.beside.as_ref()
    }
}

/// Data of the plot, read before the measurement.
pub struct StepsPlot {
    file: PathBuf,
    beside: Option<Series>,
}

impl StepsPlot {
    /// Reads the comparison table if one is given.
    pub fn new(arguments: &StepsPlotArguments) -> anyhow::Result<Option<Self>> {
        let beside = arguments.beside.as_deref().map(read_trace).transpose()?;
        Ok(arguments.plot_steps.clone().map(|file| Self { file, beside }))
    }

    /// Writes the plot, one panel per scene. Point contacts simulate only the end of a scene.
    pub fn save(mut self, scenes: &[Measured], talk: Talk) -> anyhow::Result<()> {
        let by_scene: Vec<&[Measured]> = scenes.chunk_by(|a, b| a.word("scenario") == b.word("scenario")).collect();
        ensure!(!by_scene.is_empty(), "--plot-steps needs at least one scene");
        ensure!(self.beside.is_none() || by_scene.len() == 1, "a trace can be compared with a single scene only");
        let plots: Vec<Plot> = by_scene.iter().map(|own| plot(own, self.beside.take())).collect();
        write_file(&self.file, svg(&plots).as_bytes())?;
        talk.say(format_args!("wrote the plot to {}", self.file.display()));
        Ok(())
    }
}

fn plot(own: &[Measured], beside: Option<Series>) -> Plot {
    let curve = |one: &Measured| {
        let points = one.own().iter().map(|s| [s.time, s.step_ms]);
        Series::new(one.word("method"), points).styled(Style::Line)
    };
    Plot {
        title: format!("{}: step time", own[0].word("scenario")),
        x: Axis::new("simulated time (s)", Scale::Linear),
        y: Axis::new("step (ms)", Scale::Log),
        series: own.iter().map(curve).chain(beside).collect(),
    }
}

/// Size limit of a table.
const MOST_BYTES: u64 = 1 << 30;

/// Reads step times from a `run --trace` table.
fn read_trace(file: &Path) -> anyhow::Result<Series> {
    let bytes = read_bounded(file, MOST_BYTES).with_context(|| file.display().to_string())?;
    let text = String::from_utf8(bytes).with_context(|| format!("{} is not a text file", file.display()))?;
    let mut lines = text.lines();
    let heads: Vec<&str> = lines.next().unwrap_or_default().split(',').collect();
    let column = |name: &str| {
        let place = heads.iter().position(|head| *head == name);
        place.with_context(|| format!("{}: line 1: expected a column `{name}`", file.display()))
    };
    let columns = [column("time")?, column("step_ms")?];
    let mut points = Vec::new();
    for (number, line) in lines.enumerate() {
        let cells: Vec<&str> = line.split(',').collect();
        let cell = |place: usize| cells.get(place).and_then(|cell| cell.parse::<f64>().ok());
        let [Some(time), Some(step)] = columns.map(cell) else {
            bail!("{}: line {}: expected numbers for `time` and `step_ms`", file.display(), number + 2);
        };
        points.push([time, step]);
    }
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    Ok(Series::new(&name, points).styled(Style::Line))
}
