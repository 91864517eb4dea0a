use std::path::{Path, PathBuf};

use super::Talk;
use crate::assets::{FileKind, Problem, Problems, file_kind, load_device, load_hand_model, load_scene};
use crate::runtime::overlap_warnings;

/// Arguments of `check`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Hand files, scene files, device profiles (.toml) or scripts (.rhai)
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Print the problems as JSON
    #[arg(long)]
    json: bool,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let (mut problems, mut warnings) = (Problems::default(), Vec::new());
    for file in &arguments.files {
        match check(file) {
            Ok((kind, warned)) => {
                let end = if warned.is_empty() { "no problems" } else { "no errors" };
                talk.say(format_args!("{}: {kind}, {end}", file.display()));
                for warning in warned {
                    talk.say(format_args!("warning: {}: {warning}", file.display()));
                    warnings.push(serde_json::json!({ "file": file.display().to_string(), "message": warning }));
                }
            }
            Err(Problems(found)) => problems.0.extend(found),
        }
    }
    if arguments.json {
        let list: Vec<_> = problems.0.iter().map(as_json).collect();
        let files = arguments.files.len();
        println!("{}", serde_json::json!({ "files": files, "problems": list, "warnings": warnings }));
    }
    problems.into_result()?;
    Ok(())
}

fn as_json(problem: &Problem) -> serde_json::Value {
    serde_json::json!({
        "file": problem.file.display().to_string(), "line": problem.line, "column": problem.column,
        "key": problem.key, "message": problem.message,
    })
}

/// Kind of a file and its warnings, or its errors.
fn check(file: &Path) -> Result<(&'static str, Vec<String>), Problems> {
    match file.extension().and_then(|e| e.to_str()) {
        Some("toml") => match file_kind(file)? {
            FileKind::Hand => load_hand_model(file).map(|_| ("a hand", Vec::new())),
            FileKind::Scene => load_scene(file, &[]).map(|scene| ("a scene", overlap_warnings(&scene))),
            FileKind::Device => load_device(file).map(|_| ("a device", Vec::new())),
        },
        // Definition files are for editors; they are not run.
        Some("rhai") if file.to_string_lossy().ends_with(".d.rhai") => Ok(("definitions for editors", Vec::new())),
        Some("rhai") => check_script(file).map(|warnings| ("a script", warnings)),
        _ => {
            Err(Problems::with_file(file, "expected a hand file, scene file, device profile (.toml) or script (.rhai)"))
        }
    }
}

#[cfg(feature = "script")]
fn check_script(file: &Path) -> Result<Vec<String>, Problems> {
    let run =
        crate::script::check_file(file).map_err(|errors| Problems(errors.iter().map(script_problem).collect()))?;
    let warnings = overlap_warnings(&run.scene());
    Ok(warnings)
}

#[cfg(feature = "script")]
fn script_problem(error: &crate::script::ScriptError) -> Problem {
    let (line, column, whole) = (error.line, error.column, error.to_string());
    // The location is reported separately; the rest is the message and the source line with a caret.
    let place = if line > 0 { format!("{}:{line}:{column}: ", error.script) } else { format!("{}: ", error.script) };
    let message = whole.strip_prefix(&place).unwrap_or(&whole).to_string();
    Problem { file: error.script.clone().into(), line, column, key: String::new(), message }
}

#[cfg(not(feature = "script"))]
fn check_script(file: &Path) -> Result<Vec<String>, Problems> {
    Err(Problems::with_file(file, "scripts need the Cargo feature `script`, which this build does not have"))
}
