use anyhow::Context;
use serde_json::{Value, json};

use super::measure::{ASSEMBLY_NOTE, advance, measure, number, steps_of};
use super::progress::Progress;
use crate::assets::{Setting, load_builtin_scene};
use crate::cli::Talk;

/// The columns of the table and the file: what they are called, where a row has them, width and digits.
const COLUMNS: [(&str, &str, usize, usize); 13] = [
    ("contacts", "/contacts/mean", 8, 1),
    ("constraints", "/constraints/mean", 11, 1),
    ("iterations", "/solver/iterations_mean", 10, 1),
    ("proximity", "/stages_ms/proximity", 9, 4),
    ("free", "/stages_ms/free", 8, 4),
    ("assembly", "/stages_ms/assembly", 8, 4),
    ("solve", "/stages_ms/solve", 8, 4),
    ("correction", "/stages_ms/correction", 10, 4),
    ("total", "/step_ms/median", 8, 4),
    ("p99", "/step_ms/p99", 8, 4),
    ("× real time", "/realtime_factor", 11, 1),
    ("not conv.", "/solver/not_converged", 9, 0),
    ("deepest mm", "/max_penetration_mm", 10, 4),
];

/// The second halves of some shipped scenes; those with hands by both methods.
pub fn rows(names: &[&str], steps: u32, json: bool, talk: Talk) -> anyhow::Result<Vec<Value>> {
    let mut rows: Vec<Value> = Vec::new();
    if names.is_empty() {
        return Ok(rows);
    }
    if !json {
        println!("shipped scenes, the second half of each, at most {steps} steps (counts: mean; times: median, ms)");
        let heads = COLUMNS.map(|(name, _, width, _)| format!("{name:>width$}"));
        println!("{:<16} {:<9} {}", "", "", heads.join(" "));
    }
    let mut progress = Progress::new(talk);
    for name in names {
        let first = rows.len();
        for method in ["aggregate", "point"] {
            let Some(row) = scene_row(name, method, steps, &mut progress)? else { continue };
            progress.clear();
            if !json {
                print_row(&row);
            }
            rows.push(row);
        }
        let [aggregate, point] = &mut rows[first..] else { continue };
        for (key, path) in [("solve", "/stages_ms/solve"), ("total", "/step_ms/median")] {
            let ratio = number(point, path) / number(aggregate, path).max(f64::MIN_POSITIVE);
            point["point_over_aggregate"][key] = json!(ratio);
        }
    }
    if !json {
        println!();
        for row in rows.iter().filter(|row| row["point_over_aggregate"].is_object()) {
            let [solve, total] = ["solve", "total"].map(|key| number(row, &format!("/point_over_aggregate/{key}")));
            let name = row["scenario"].as_str().unwrap_or_default();
            println!("{name}: point / aggregate: solve {solve:.1}, total {total:.1}");
        }
        println!("{ASSEMBLY_NOTE}");
    }
    Ok(rows)
}

/// A scene by a method; nothing for another method than the scene's own if it has no hand, as nothing would change.
fn scene_row(name: &str, method: &str, steps: u32, progress: &mut Progress) -> anyhow::Result<Option<Value>> {
    let mut scene = load_builtin_scene(name, &[Setting::new("method", method)]).context("a shipped scene")??;
    if scene.world.bodies.hands.is_empty() && method == "point" {
        return Ok(None);
    }
    let all = steps_of(&scene);
    let settling = all / 2;
    advance(&mut scene, settling, |i| progress.show(format_args!("{name}, {method}: settling, {i} of {settling}")))?;
    let measured = u64::from(steps).min(all - settling);
    let mut row = measure(&mut scene, measured, |i| {
        progress.show(format_args!("{name}, {method}: measuring, {i} of {measured}"));
    })?;
    row["scenario"] = json!(name);
    Ok(Some(row))
}

fn print_row(row: &Value) {
    let word = |key: &str| row[key].as_str().unwrap_or_default();
    let cells = COLUMNS.map(|(_, path, width, digits)| format!("{:>width$.digits$}", number(row, path)));
    println!("{:<16} {:<9} {}", word("scenario"), word("method"), cells.join(" "));
}

/// Rows as comma-separated values. What a row does not have is left empty; rows without a step time are left out.
pub fn csv(rows: &[Value]) -> String {
    let heads = COLUMNS.map(|(_, path, _, _)| path.trim_start_matches('/').replace('/', "."));
    let mut text = format!("scenario,method,steps,{}\n", heads.join(","));
    for row in rows.iter().filter(|row| row["step_ms"].is_object()) {
        let cell = |path: &str| {
            row.pointer(path).map_or(String::new(), |value| match value {
                Value::String(word) => word.clone(),
                other => other.to_string(),
            })
        };
        let cells: Vec<String> =
            ["/scenario", "/method", "/steps"].into_iter().chain(COLUMNS.map(|c| c.1)).map(cell).collect();
        text += &cells.join(",");
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::bench::measure::STAGES;

    #[test]
    fn every_stage_has_a_column() {
        for (stage, _) in STAGES {
            assert!(COLUMNS.iter().any(|(name, path, _, _)| *name == stage && path.ends_with(stage)), "{stage}");
        }
    }

    #[test]
    fn csv_leaves_empty_what_a_row_does_not_have() {
        let rows = [
            json!({ "scenario": "rest", "method": "aggregate", "steps": 9, "step_ms": { "median": 0.5, "p99": 2.0 } }),
            json!({ "scenario": "factor", "unknowns": 12 }),
        ];
        let text = csv(&rows);
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 2);
        assert!(lines[0].starts_with("scenario,method,steps,contacts.mean,"));
        assert_eq!(lines[1], "rest,aggregate,9,,,,,,,,,0.5,2.0,,,");
    }
}
