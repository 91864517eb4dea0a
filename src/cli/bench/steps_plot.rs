//! The time of every step over a whole task, as a plot.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail, ensure};

use super::scenes::Measured;
use crate::cli::plot::{Axis, Plot, Scale, Series, Style, svg};
use crate::cli::{Talk, write_file};

/// Whether and where step times are plotted.
#[derive(clap::Args)]
pub struct StepsPlotArguments {
    /// Draw the time of every step of the scenes over their whole task.
    #[arg(long, value_name = "FILE.svg")]
    plot_steps: Option<PathBuf>,
    /// Draw the step times of an earlier `run --trace` beside them, for instance of another version; of one scene only.
    #[arg(long, value_name = "TRACE.csv", requires = "plot_steps")]
    beside: Option<PathBuf>,
}

/// What is drawn, read before anything is measured.
pub struct StepsPlot {
    file: PathBuf,
    beside: Option<Series>,
}

impl StepsPlot {
    /// What the arguments ask for.
    pub fn new(arguments: &StepsPlotArguments) -> anyhow::Result<Option<Self>> {
        let beside = arguments.beside.as_deref().map(read_trace).transpose()?;
        Ok(arguments.plot_steps.clone().map(|file| Self { file, beside }))
    }

    /// Writes the plot, one frame a scene. Points play the end of a scene only.
    pub fn save(mut self, scenes: &[Measured], talk: Talk) -> anyhow::Result<()> {
        let by_scene: Vec<&[Measured]> = scenes.chunk_by(|a, b| a.word("scenario") == b.word("scenario")).collect();
        ensure!(!by_scene.is_empty(), "expected a scene to draw the steps of");
        ensure!(self.beside.is_none() || by_scene.len() == 1, "a trace can be drawn beside one scene only");
        let plots: Vec<Plot> = by_scene.iter().map(|own| plot(own, self.beside.take())).collect();
        write_file(&self.file, svg(&plots).as_bytes())?;
        talk.say(format_args!("the plot is in {}", self.file.display()));
        Ok(())
    }
}

fn plot(own: &[Measured], beside: Option<Series>) -> Plot {
    let curve = |one: &Measured| {
        let points = one.own().iter().map(|s| [s.time, s.step_ms]);
        Series::new(one.word("method"), points).styled(Style::Line)
    };
    Plot {
        title: format!("{}: time of a step", own[0].word("scenario")),
        x: Axis::new("time of the task (s)", Scale::Linear),
        y: Axis::new("step (ms)", Scale::Log),
        series: own.iter().map(curve).chain(beside).collect(),
    }
}

/// Step times over time from a table that `run --trace` wrote.
fn read_trace(file: &Path) -> anyhow::Result<Series> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
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
