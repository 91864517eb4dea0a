use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::save_plots;
use crate::assets::{Setting, load_builtin_scene};
use crate::cli::Talk;
use crate::cli::bench::measure::{measure_while, number, steps_of};
use crate::cli::bench::progress::Progress;
use crate::cli::plot::{Axis, Plot, Scale, Series, Style};
use crate::contact::Method;

/// The scenes of the paper.
const PAPER_SCENES: [&str; 8] =
    ["edge_cube", "edge_cube_tight", "bar", "pencil", "ball_tips", "ball", "dumbbell", "soft_ball"];
/// A depth that is neither visible nor perceptible, mm.
const SMALL: f64 = 0.1;

/// Arguments of `study penetration`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Scenes, such as `ball,bar` [default: those of the paper]
    #[arg(long, value_delimiter = ',', default_values_t = PAPER_SCENES.map(String::from))]
    scenes: Vec<String>,
    /// Time limit per row, in seconds
    #[arg(long, default_value_t = 10.0, value_parser = crate::cli::bench::seconds)]
    limit: f64,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Plot the distribution of the depths to an SVG file
    #[arg(long, value_name = "FILE.svg")]
    plot: Option<PathBuf>,
}

/// Remaining depths after the steps of a scene that have contacts.
struct Depths {
    scene: String,
    method: Method,
    /// Depths in ascending order, mm.
    sorted: Vec<f64>,
    /// Time of the deepest penetration, s.
    deepest_at: f64,
    made: u64,
    wanted: u64,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    if let Some(other) = arguments.scenes.iter().find(|name| !PAPER_SCENES.contains(&name.as_str())) {
        bail!(crate::text::unknown("scene of the paper", other, &PAPER_SCENES));
    }
    let mut progress = Progress::new(talk);
    let mut all = Vec::new();
    if !arguments.json {
        print_heads();
    }
    for name in &arguments.scenes {
        for method in [Method::Aggregate, Method::Point] {
            let depths = played(name, method, arguments.limit, &mut progress)?;
            progress.clear();
            if !arguments.json {
                print_row(&depths.row());
            }
            all.push(depths);
        }
    }
    save_plots(arguments.plot.as_deref(), || plots(&all), talk)?;
    let together = [Method::Aggregate, Method::Point].map(|method| together(&all, method));
    if arguments.json {
        let rows: Vec<Value> = all.iter().map(Depths::row).collect();
        println!("{}", json!({ "study": "penetration", "small_mm": SMALL, "rows": rows, "together": together }));
        return Ok(());
    }
    println!();
    together.iter().for_each(print_row);
    println!("steps: those with contacts, out of all simulated; a row ends at its time limit");
    Ok(())
}

/// Simulates a whole scene with one method, from the open hand to the end of the lift: approach speeds are highest at
/// the first touch.
fn played(name: &str, method: Method, limit: f64, progress: &mut Progress) -> anyhow::Result<Depths> {
    let settings = [Setting::new("method", method.name())];
    let mut scene = load_builtin_scene(name, &settings).context("a shipped scene")??;
    let wanted = steps_of(&scene);
    let (started, limit) = (Instant::now(), Duration::from_secs_f64(limit));
    let mut depths = Depths { scene: name.into(), method, sorted: Vec::new(), deepest_at: 0.0, made: 0, wanted };
    measure_while(&mut scene, wanted, |scene, made| {
        progress.show(format_args!("{name}, {}: {made} of {wanted}", method.name()));
        let statistics = scene.world.statistics();
        let depth = 1e3 * statistics.penetration;
        if statistics.contacts > 0 {
            if depths.sorted.iter().all(|other| *other < depth) {
                depths.deepest_at = scene.world.time();
            }
            depths.sorted.push(depth);
        }
        depths.made = made;
        started.elapsed() < limit
    })?;
    depths.sorted.sort_by(f64::total_cmp);
    Ok(depths)
}

impl Depths {
    fn row(&self) -> Value {
        let mut row = spread(&self.sorted);
        row["scenario"] = json!(self.scene);
        row["method"] = json!(self.method.name());
        row["deepest_at"] = json!(self.deepest_at);
        row["made"] = json!(self.made);
        row["wanted"] = json!(self.wanted);
        row
    }
}

/// Statistics of depths in ascending order, mm.
fn spread(sorted: &[f64]) -> Value {
    let at = |part: f64| {
        let place = (sorted.len().saturating_sub(1) as f64 * part).round() as usize;
        sorted.get(place).copied().unwrap_or(0.0)
    };
    let small = sorted.iter().filter(|depth| **depth < SMALL).count();
    json!({
        "steps": sorted.len(),
        "depth_mm": { "median": at(0.5), "p99": at(0.99), "max": at(1.0) },
        "small": small as f64 / sorted.len().max(1) as f64,
    })
}

/// The steps of all scenes with one method.
fn together(all: &[Depths], method: Method) -> Value {
    let own = || all.iter().filter(|depths| depths.method == method);
    let mut sorted: Vec<f64> = own().flat_map(|depths| depths.sorted.iter().copied()).collect();
    sorted.sort_by(f64::total_cmp);
    let mut row = spread(&sorted);
    row["scenario"] = json!("all");
    row["method"] = json!(method.name());
    row["made"] = json!(own().map(|depths| depths.made).sum::<u64>());
    row["wanted"] = json!(own().map(|depths| depths.wanted).sum::<u64>());
    row
}

fn print_heads() {
    println!("the deepest point inside another body after each step of the paper's scenes (mm)");
    println!(
        "{:<16} {:<9} {:>9} {:>9} {:>9} {:>9}   {:>13}",
        "",
        "",
        "median",
        "p99",
        "max",
        format!("< {SMALL}"),
        "steps"
    );
}

fn print_row(row: &Value) {
    let word = |key: &str| row[key].as_str().unwrap_or_default();
    let [median, p99, max] = ["median", "p99", "max"].map(|key| number(row, &format!("/depth_mm/{key}")));
    let (made, wanted) = (number(row, "/made"), number(row, "/wanted"));
    let cut = if made < wanted { format!(", stopped after {made} of {wanted}") } else { String::new() };
    let when = row["deepest_at"].as_f64().map_or(String::new(), |time| format!(", deepest at {time:.2} s"));
    let (small, steps) = (100.0 * number(row, "/small"), format!("{} of {made}", number(row, "/steps")));
    println!(
        "{:<16} {:<9} {median:>9.4} {p99:>9.4} {max:>9.4} {small:>7.1} %   {steps:>13}{when}{cut}",
        word("scenario"),
        word("method")
    );
}

/// Maximum number of distinguishable curve colours.
const CURVES: usize = 4;

/// Cumulative distribution of the remaining depth, one curve per scene.
fn plots(all: &[Depths]) -> Vec<Plot> {
    let by = |method: Method| all.iter().filter(|depths| depths.method == method).collect::<Vec<_>>();
    let some = |method: Method| by(method).chunks(CURVES).map(|depths| plot(depths, method)).collect::<Vec<_>>();
    some(Method::Aggregate).into_iter().chain(some(Method::Point)).collect()
}

fn plot(some: &[&Depths], method: Method) -> Plot {
    let curve = |depths: &&Depths| {
        let count = depths.sorted.len() as f64;
        let points = depths.sorted.iter().enumerate().map(|(i, depth)| [*depth, 100.0 * (i + 1) as f64 / count]);
        Series::new(&depths.scene, points).styled(Style::Line)
    };
    Plot {
        title: format!("Remaining depth after a step, {} contacts", method.name()),
        x: Axis::new("depth (mm)", Scale::Log),
        y: Axis::new("cumulative share of steps (%)", Scale::Linear),
        series: some.iter().map(curve).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_summarised_by_quantiles() {
        let row = spread(&[0.0, 0.02, 0.05, 0.3]);
        assert_eq!((number(&row, "/depth_mm/median"), number(&row, "/depth_mm/max")), (0.05, 0.3));
        assert_eq!((number(&row, "/small"), number(&row, "/steps")), (0.75, 4.0));
        assert_eq!(number(&spread(&[]), "/depth_mm/max"), 0.0);
    }
}
