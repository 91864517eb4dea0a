//! Tools of beams and tools in the hand, through the program and at several time steps.
#![cfg(feature = "script")]

use std::process::Command;

use serde_json::Value;

/// Runs a shipped script with a time step, and returns the metrics of its task.
fn played(script: &str, dt: f64) -> Value {
    let (name, step) = (format!("{script}.rhai"), format!("dt={dt}"));
    let program = env!("CARGO_BIN_EXE_fingerpad");
    let out = Command::new(program)
        .args(["run", &name, "--json", "-q", "--set", &step])
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .output()
        .expect("the program runs");
    let report: Value = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|_| panic!("{script}, dt {dt}: {}", String::from_utf8_lossy(&out.stderr)));
    println!("{script}, dt {dt}: {}", report["task"]);
    assert!(out.status.success(), "{script}, dt {dt}: {}", report["task"]);
    assert_eq!(report["task"]["success"], true, "{script}, dt {dt}: {}", report["task"]);
    let depth = report["max_penetration_mm"].as_f64().expect("a number");
    assert!(depth < 0.5, "{script}, dt {dt}: {depth} mm deep");
    report["task"]["metrics"].clone()
}

fn number(metrics: &Value, name: &str) -> f64 {
    metrics[name].as_f64().unwrap_or_else(|| panic!("no metric {name} in {metrics}"))
}

/// Peterlik 2011, fig. 4: at the 25 Hz of the paper and at the rates of a scene with a hand.
#[test]
fn a_clip_of_beams_snaps_on_and_off() {
    for dt in [0.04, 0.01] {
        let metrics = played("beam_clip", dt);
        assert!(number(&metrics, "push_n") > 0.3 && number(&metrics, "pull_n") > 0.3, "{metrics}");
    }
}

/// Peterlik 2011, fig. 5.
#[test]
fn a_device_pulls_a_thread_taut() {
    for dt in [0.02, 0.01, 0.002] {
        assert!(number(&played("thread_taut", dt), "taut_n") > 1.0);
    }
}

#[test]
fn a_pinch_pulls_a_thread_over_a_post() {
    for dt in [0.01, 0.002] {
        let metrics = played("pull_thread", dt);
        // Friction on the post holds back no more than its coefficient allows: e^(0.2 π).
        let ratio = number(&metrics, "ratio");
        assert!((0.5..1.95).contains(&ratio), "dt {dt}: {metrics}");
    }
}

#[test]
fn a_hand_strikes_with_a_mallet() {
    for dt in [0.01, 0.002] {
        played("mallet", dt);
    }
}

#[test]
fn a_hand_snaps_a_clip_on_a_pipe_and_pulls_it_off() {
    for dt in [0.01, 0.002] {
        played("clip_on_pipe", dt);
    }
}
