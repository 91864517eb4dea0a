use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

use super::measure::{STAGES_NOTE, advance_seen, measure_while, number, steps_of};
use super::paper;
use super::progress::JobProgress;
use super::sample::{Sample, Watcher};
use crate::assets::{Scene, Setting, load_builtin_scene};
use crate::cli::page::{Shot, shot};
use crate::cli::run::summary::TimeStatistics;
use crate::contact::Method;
use crate::sim::StageTimes;

/// Columns of the table: heading, JSON pointer, width, digits.
pub const COLUMNS: [(&str, &str, usize, usize); 12] = [
    ("contacts", "/contacts/mean", 8, 1),
    ("constraints", "/constraints/mean", 11, 1),
    ("iterations", "/solver/iterations_mean", 10, 1),
    ("held median", "/step_ms/median", 11, 4),
    ("p99", "/step_ms/p99", 8, 4),
    ("max", "/step_ms/max", 8, 4),
    ("whole median", "/whole_step_ms/median", 12, 4),
    ("p99", "/whole_step_ms/p99", 8, 4),
    ("max", "/whole_step_ms/max", 8, 4),
    ("× real time", "/realtime_factor", 11, 1),
    ("not conv.", "/solver/not_converged", 9, 0),
    ("deepest mm", "/max_penetration_mm", 10, 4),
];

/// JSON pointers and names of the stage times: the individual stages, and contact as a whole.
pub fn stage_paths() -> impl Iterator<Item = (&'static str, String)> {
    let stages = StageTimes::NAMES.into_iter().map(|name| (name, format!("/stages_ms/{name}")));
    stages.chain([("contact", "/contact_ms".into())])
}

/// A number of a row as a cell; a dash if missing.
pub fn cell(row: &Value, path: &str, digits: usize) -> String {
    row.pointer(path).and_then(Value::as_f64).map_or("–".into(), |x| format!("{x:.digits$}"))
}

/// Additional columns of the CSV file.
const MORE_COLUMNS: [&str; 12] = [
    "/pressing_contacts/mean",
    "/phalanges_in_contact/mean",
    "/phalanges",
    "/means_ms/solve",
    "/means_ms/step",
    "/steps_wanted",
    "/lost_at",
    "/paper/phalanges",
    "/paper/contacts",
    "/paper/constraints",
    "/paper/solve_ms",
    "/paper/step_ms",
];

/// Steps discarded after a change of method, because the warm start comes from the previous step.
const CHANGE_STEPS: u64 = 10;

/// Limits of the measurement of a row.
#[derive(Clone, Copy)]
pub struct RowLimits {
    /// Maximum number of steps.
    pub steps: u64,
    /// Time limit.
    pub time: Duration,
}

/// A scene measured with one method.
pub struct Measured {
    /// The object of `run --json` with additional keys.
    pub row: Value,
    /// All steps from the beginning, including unmeasured ones.
    pub samples: Vec<Sample>,
    /// Number of measured steps.
    pub settled: usize,
    /// Index of the first step made with the method.
    pub changed: usize,
    /// Final state of the scene.
    pub shot: Option<Shot>,
}

impl Measured {
    /// String value of the row.
    pub fn word(&self, key: &str) -> &str {
        self.row[key].as_str().unwrap_or_default()
    }

    /// Samples of the measured steps.
    pub fn measured(&self) -> &[Sample] {
        &self.samples[self.settled..]
    }

    /// Samples of the steps made with the method, measured or not.
    pub fn own(&self) -> &[Sample] {
        &self.samples[self.changed..]
    }

    /// Whether the scene has a hand.
    pub fn has_hand(&self) -> bool {
        number(&self.row, "/phalanges") > 0.0
    }
}

/// Methods to measure a scene with; without a hand only one.
fn methods(scene: &Scene) -> &'static [Method] {
    if scene.world.bodies.hand_ids().is_empty() { &[Method::Aggregate] } else { &[Method::Aggregate, Method::Point] }
}

/// Weight of each row in the progress bar, approximately seconds.
pub fn weights(names: &[&str]) -> anyhow::Result<Vec<f64>> {
    let mut weights = Vec::new();
    for name in names {
        let with_hand = methods(&loaded(name)?).len() > 1;
        weights.extend(if with_hand { &[2.0, 9.0][..] } else { &[0.3][..] });
    }
    Ok(weights)
}

/// Measures the last part of shipped scenes, at most half; scenes with hands with both methods.
pub fn measured(names: &[&str], budget: RowLimits, json: bool, bar: &mut JobProgress) -> anyhow::Result<Vec<Measured>> {
    let mut all: Vec<Measured> = Vec::new();
    if names.is_empty() {
        return Ok(all);
    }
    if !json {
        let steps = budget.steps;
        println!(
            "shipped scenes; held: the end of each, at most its half and {steps} steps; whole: the task from its beginning, where \
             the method plays all of it (counts: mean; times of a step: ms)"
        );
        let heads = COLUMNS.map(|(name, _, width, _)| format!("{name:>width$}"));
        println!("{:<16} {:<9} {}  steps", "", "", heads.join(" "));
    }
    for name in names {
        let first = all.len();
        for &method in methods(&loaded(name)?) {
            let one = one_row(name, method, budget, bar)?;
            bar.finish_job();
            if !json {
                print_row(&one.row);
            }
            all.push(one);
        }
        let [aggregate, point] = &mut all[first..] else { continue };
        for (key, path) in
            [("solve", "/stages_ms/solve/median"), ("contact", "/contact_ms/median"), ("total", "/step_ms/median")]
        {
            let ratio = number(&point.row, path) / number(&aggregate.row, path).max(f64::MIN_POSITIVE);
            point.row["point_over_aggregate"][key] = json!(ratio);
        }
    }
    if !json {
        print_stages(&all);
        print_ratios(&all);
    }
    Ok(all)
}

fn loaded(name: &str) -> anyhow::Result<Scene> {
    let settings = [Setting::new("method", Method::Aggregate.name())];
    Ok(load_builtin_scene(name, &settings).context("a shipped scene")??)
}

/// Measures the end of a scene with one method. The part before is simulated with aggregates, since closing the fingers
/// with point contacts takes longest. The method changes a few steps before the measurement.
fn one_row(name: &str, method: Method, budget: RowLimits, bar: &mut JobProgress) -> anyhow::Result<Measured> {
    let mut scene = loaded(name)?;
    let all = steps_of(&scene);
    let wanted = budget.steps.min(all - all / 2);
    let changing = if method == Method::Aggregate { 0 } else { CHANGE_STEPS.min(all - wanted) };
    let settling = all - wanted - changing;
    let mut watcher = Watcher::new(&scene);
    let what = format!("{name}, {}", method.name());
    let part = |made: u64| made as f64 / all as f64;
    advance_seen(&mut scene, settling, |scene, i| {
        watcher.look(scene);
        bar.show(0.5 * part(i), format_args!("{what}: settling, {i} of {settling}"));
    })?;
    scene.world.parameters.contact.method = method;
    advance_seen(&mut scene, changing, |scene, i| {
        watcher.look(scene);
        bar.show(0.5 * part(settling + i), format_args!("{what}: warm-up, {i} of {changing}"));
    })?;
    let settled = watcher.samples.len();
    let held = watcher.samples.last().is_some_and(|sample| sample.slip_mm.is_some());
    let mut lost = None;
    let started = Instant::now();
    let mut row = measure_while(&mut scene, wanted, |scene, i| {
        watcher.look(scene);
        let spent = started.elapsed().as_secs_f64() / budget.time.as_secs_f64();
        let done = (i as f64 / wanted as f64).max(spent);
        let before = 0.5 * part(settling + changing);
        bar.show(before + (1.0 - before) * done, format_args!("{what}: measuring, {i} of {wanted}"));
        // A hand without an object would bias the measurement.
        if held && watcher.samples.last().is_some_and(|sample| sample.force == 0.0) {
            lost = Some(scene.world.time());
        }
        lost.is_none() && started.elapsed() < budget.time
    })?;
    let samples = watcher.samples;
    let mean = |of: fn(&Sample) -> usize| {
        let counts = samples[settled..].iter().map(of);
        json!({ "mean": counts.sum::<usize>() as f64 / (samples.len() - settled).max(1) as f64 })
    };
    row["pressing_contacts"] = mean(|s| s.pressing);
    row["phalanges_in_contact"] = mean(|s| s.phalanges);
    row["steps_wanted"] = json!(wanted);
    row["lost_at"] = json!(lost);
    row["settled_by"] = json!(Method::Aggregate.name());
    row["scenario"] = json!(name);
    if let Some(figures) = paper::figures(name, method.name()) {
        row["paper"] = figures;
    }
    if method == Method::Aggregate {
        let whole: Vec<f64> = samples.iter().map(|s| 1e-3 * s.step_ms).collect();
        row["whole_step_ms"] = TimeStatistics::of(&whole).as_json();
    }
    let changed = if method == Method::Aggregate { 0 } else { settled - changing as usize };
    Ok(Measured { row, samples, settled, changed, shot: Some(shot(&scene)) })
}

fn print_row(row: &Value) {
    let word = |key: &str| row[key].as_str().unwrap_or_default();
    let cells = COLUMNS.map(|(_, path, width, digits)| format!("{:>width$}", cell(row, path, digits)));
    println!("{:<16} {:<9} {}  {}", word("scenario"), word("method"), cells.join(" "), steps_made(row));
}

/// Number of measured steps, and the planned number with the reason if fewer.
pub fn steps_made(row: &Value) -> String {
    let (steps, wanted) = (number(row, "/steps"), number(row, "/steps_wanted"));
    let of = if steps < wanted { format!("{steps} of {wanted}") } else { steps.to_string() };
    let lost = row["lost_at"].as_f64().map_or(String::new(), |time| format!(", lost at {time:.2} s"));
    format!("{of}{lost}")
}

/// Prints the stage times of the measured part.
fn print_stages(all: &[Measured]) {
    println!();
    println!("measured part by stage (median / p99 / max, ms)");
    let heads: Vec<String> = stage_paths().map(|(name, _)| format!("{name:>23}")).collect();
    println!("{:<16} {:<9} {}", "", "", heads.join(" "));
    for one in all {
        let cells = stage_paths().map(|(_, path)| {
            let [median, p99, max] = ["median", "p99", "max"].map(|key| number(&one.row, &format!("{path}/{key}")));
            // Stages that the method does not have are omitted.
            if max == 0.0 { format!("{:>23}", "–") } else { format!("{median:>7.4} {p99:>7.4} {max:>7.4}") }
        });
        let cells: Vec<String> = cells.collect();
        println!("{:<16} {:<9} {}", one.word("scenario"), one.word("method"), cells.join(" "));
    }
}

fn print_ratios(all: &[Measured]) {
    println!();
    for one in all.iter().filter(|one| one.row["point_over_aggregate"].is_object()) {
        let ratio = |key: &str| number(&one.row, &format!("/point_over_aggregate/{key}"));
        let [solve, contact, total] = ["solve", "contact", "total"].map(ratio);
        println!(
            "{}: point / aggregate: solve {solve:.1}, contact {contact:.1}, total {total:.1}",
            one.word("scenario")
        );
    }
    println!("{STAGES_NOTE}");
    println!();
}

/// Rows as CSV. Missing values are empty; rows without a step time are omitted.
pub fn csv(rows: &[Value]) -> String {
    let stages: Vec<String> =
        stage_paths().flat_map(|(_, path)| ["median", "p99", "max"].map(|key| format!("{path}/{key}"))).collect();
    let paths: Vec<&str> = ["/scenario", "/method", "/steps"]
        .into_iter()
        .chain(COLUMNS.map(|c| c.1))
        .chain(stages.iter().map(String::as_str))
        .chain(MORE_COLUMNS)
        .collect();
    let heads: Vec<String> = paths.iter().map(|path| path.trim_start_matches('/').replace('/', ".")).collect();
    let mut text = heads.join(",") + "\n";
    for row in rows.iter().filter(|row| row["step_ms"].is_object()) {
        let cell = |path: &&str| {
            row.pointer(path).map_or(String::new(), |value| match value {
                Value::String(word) => word.clone(),
                Value::Null => String::new(),
                other => other.to_string(),
            })
        };
        text += &paths.iter().map(cell).collect::<Vec<_>>().join(",");
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_csv_values_are_empty() {
        let rows = [
            json!({
                "scenario": "rest", "method": "aggregate", "steps": 9, "step_ms": { "median": 0.5, "p99": 2.0 },
                "paper": { "step_ms": 25.21 },
            }),
            json!({ "scenario": "factor", "unknowns": 12 }),
        ];
        let text = csv(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("scenario,method,steps,contacts.mean,"));
        assert!(lines[1].starts_with("rest,aggregate,9,,,,0.5,2.0,,,") && lines[1].ends_with(",,,25.21"), "{text}");
        assert_eq!(lines[0].split(',').count(), lines[1].split(',').count());
        for stage in StageTimes::NAMES {
            assert!(lines[0].contains(&format!(",stages_ms.{stage}.median,stages_ms.{stage}.p99,")), "{text}");
        }
    }
}
