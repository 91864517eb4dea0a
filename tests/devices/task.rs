//! A task with a data glove as a user starts it: the glove is emulated on a real pseudo-terminal.
#![cfg(all(target_os = "linux", feature = "serial", feature = "script"))]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

fn fingerpad(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("devices-task-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(name)
}

/// An emulated device; unplugged when dropped.
struct Emulated {
    program: Child,
    port: String,
}

impl Emulated {
    fn new(arguments: &[&str]) -> Self {
        let all = [&["devices", "emulate"], arguments].concat();
        let spawned = fingerpad(&all).stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut program = spawned.expect("the program runs");
        let mut port = String::new();
        BufReader::new(program.stdout.take().expect("its words")).read_line(&mut port).expect("a line");
        assert!(!port.trim().is_empty(), "the emulated device says where it is");
        Self { program, port: port.trim().into() }
    }
}

impl Drop for Emulated {
    fn drop(&mut self) {
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}

fn message(out: &Output) -> String {
    String::from_utf8_lossy(&out.stderr).into_owned()
}

/// Talvas 2015, fig. 6c, with the glove of the paper: its five values close the hand around a soft ball; the script
/// lifts the palm, since there is no tracker. The samples are recorded, and the recording reproduces the run bit for
/// bit.
#[test]
fn a_soft_ball_is_grasped_with_the_glove_of_the_paper() {
    let glove = Emulated::new(&["5dt-5", "--motion", "scripts/soft_ball.rhai"]);
    let (device, recording) = (format!("5dt-5@{}", glove.port), file("soft_ball.fpr"));
    let path = recording.to_str().expect("a path");
    let run = ["run", "scripts/soft_ball.rhai", "--device", &device, "--device-wait", "60", "--record", path, "--json"];
    let out = fingerpad(&run).output().expect("the program runs");
    assert_eq!(out.status.code(), Some(0), "{}", message(&out));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(json["task"]["success"], true, "{json}");
    assert!(json["task"]["metrics"]["lift_mm"].as_f64().is_some_and(|lift| lift > 50.0), "{json}");
    let came = &json["devices"][0];
    println!("age of the newest sample in a step, ms: {}", came["age_ms"]);
    assert_eq!((&came["bad_checksums"], &came["hint"]), (&0.into(), &serde_json::Value::Null), "{json}");
    assert!(came["samples"].as_u64().is_some_and(|samples| samples >= 200), "{json}");

    let again = fingerpad(&["replay", path, "--verify"]).output().expect("the program runs");
    assert_eq!(again.status.code(), Some(0), "{}", message(&again));
}

/// The script succeeds without the glove's fingers, and fails with a glove that stays open: the task is evaluated by
/// the same rules in both cases.
#[test]
fn a_hand_that_stays_open_fails_the_task() {
    let glove = Emulated::new(&["5dt-5", "--motion", "still"]);
    let device = format!("5dt-5@{}", glove.port);
    let out = fingerpad(&["run", "scripts/soft_ball.rhai", "--device", &device, "--device-wait", "60", "--json"])
        .output()
        .expect("the program runs");
    assert_eq!(out.status.code(), Some(1), "{}", message(&out));
    let json: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(json["task"]["success"], false, "{json}");
    assert!(json["task"]["reason"].as_str().is_some_and(|reason| !reason.is_empty()), "{json}");
}
