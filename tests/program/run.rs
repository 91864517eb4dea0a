//! `fingerpad run` and `check` on scenes as a user types them.

use std::path::Path;
use std::process::{Command, Output};

fn fingerpad(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_fingerpad");
    Command::new(program).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn run_prints_one_object_with_every_key() {
    let arguments =
        ["run", "scenes/pinch.toml", "--json", "--seconds", "0.05", "--method", "point", "--set", "friction=paper"];
    let out = fingerpad(&arguments);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let run: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let keys = [
        "scene",
        "script",
        "method",
        "friction",
        "dt",
        "steps",
        "sim_seconds",
        "wall_seconds",
        "realtime_factor",
        "phalanges",
        "tetrahedra",
        "contacts",
        "constraints",
        "stages_ms",
        "contact_ms",
        "step_ms",
        "max_penetration_mm",
        "solver",
        "haptic",
        "task",
        "state_hash",
    ];
    let object = run.as_object().expect("an object");
    assert!(keys.iter().all(|key| object.contains_key(*key)) && object.len() == keys.len(), "{run}");
    assert_eq!((&run["scene"], &run["method"], &run["friction"]), (&"pinch".into(), &"point".into(), &"paper".into()));
    assert_eq!((&run["steps"], &run["phalanges"]), (&5.into(), &15.into()));
    assert!(run["script"].is_null() && run["task"].is_null());
    for (key, inner) in [
        ("contacts", &["mean", "max"][..]),
        ("constraints", &["mean", "max"]),
        ("contact_ms", &["median", "p99", "max"]),
        ("step_ms", &["median", "p99", "max"]),
        ("solver", &["iterations_mean", "residual_max", "not_converged"]),
    ] {
        assert!(inner.iter().all(|i| run[key][*i].is_number()), "{key}: {}", run[key]);
    }
    let stages = run["stages_ms"].as_object().expect("an object");
    assert!(stages.len() == 7 && stages.values().all(|s| ["median", "p99", "max"].iter().all(|i| s[i].is_number())));
    // Points have rows and a position correction, aggregates a convex problem.
    for (stage, point) in [("free", true), ("assembly", true), ("formulation", false), ("correction", true)] {
        assert_eq!(stages[stage]["max"].as_f64().is_some_and(|x| x > 0.0), point, "{stage}");
    }
    assert_eq!(run["state_hash"].as_str().map(str::len), Some(16));
    let again: serde_json::Value = serde_json::from_slice(&fingerpad(&arguments).stdout).expect("JSON");
    assert_eq!(run["state_hash"], again["state_hash"], "the same input, the same state");
}

#[test]
fn run_prints_a_table_and_writes_a_trace() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("trace.csv");
    let out = fingerpad(&["run", "scenes/pinch.toml", "--seconds", "0.03", "--trace", &file.to_string_lossy()]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let table = text(&out.stdout);
    assert!(["pinch: 3 steps", "aggregate", "median", "capsule"].iter().all(|w| table.contains(w)), "{table}");
    let trace = std::fs::read_to_string(&file).expect("the trace");
    let lines: Vec<Vec<&str>> = trace.lines().map(|l| l.split(',').collect()).collect();
    assert_eq!(lines.len(), 4);
    // The step, the capsule, simulated and tracked palm and joints, forces on sixteen segments, the solver.
    let columns = 3 + 13 + 2 * (7 + 20) + 2 * 16 + 8;
    assert!(lines.iter().all(|line| line.len() == columns), "{}", lines[0].len());
    assert_eq!((lines[0][0], lines[0][3], lines[0][columns - 1]), ("time", "capsule.x", "step_ms"));
    assert!(lines[1..].iter().flatten().all(|x| x.parse::<f64>().is_ok_and(f64::is_finite)));
}

#[test]
fn run_rejects_other_files() {
    for (arguments, says) in [
        (&["run", "hands/right.toml"][..], "expected a scene"),
        (&["run", "scenes/nowhere.toml"], "cannot be read"),
        (
            &["run", "hands/README.md"],
            "expected a scene file (.toml), a script (.rhai), a recording (.fpr) or the name of a shipped scene (ball, ",
        ),
        (&["run", "scenes/rest.toml", "--set", "frction=paper"], "did you mean `friction`"),
        (&["run", "scenes/rest.toml", "--set", "dt"], "expected KEY=VALUE"),
        (&["run", "scenes/rest.toml", "--dt", "9"], "9 is out of range; expected a number from 1e-5 to 0.1 s"),
    ] {
        let out = fingerpad(arguments);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}");
        assert!(text(&out.stderr).contains(says) && out.stdout.is_empty(), "{arguments:?}: {}", text(&out.stderr));
    }
}

#[test]
fn check_tells_scenes_from_hands() {
    let out = fingerpad(&["check", "scenes/rest.toml", "hands/right.toml", "hands/left.toml"]);
    let says = text(&out.stderr);
    assert!(
        out.status.success() && says.contains("rest.toml: a scene") && says.contains("left.toml: a hand"),
        "{says}"
    );
}

#[cfg(feature = "script")]
#[test]
fn run_reports_the_task_of_a_script() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("run");
    std::fs::create_dir_all(&folder).expect("a folder");
    let script = |name: &str, text: &str| {
        let file = folder.join(name);
        std::fs::write(&file, text).expect("a script");
        file.to_string_lossy().into_owned()
    };
    let ball = "scene(#{ body: #{ ball: #{ kind: \"rigid\", shape: \"ball\", radius: 0.03 } } });\n";
    let falls =
        script("falls.rhai", &format!("{ball}goal(\"low\", || ball.height() < -0.1);\nmetric(\"m\", 2);\nwait(0.3);"));
    let out = fingerpad(&["run", &falls, "--json", "--dt", "0.005", "--set", "body.ball.mass=0.2"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let run: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!((&run["script"], &run["dt"], &run["steps"]), (&"falls".into(), &0.005.into(), &60.into()));
    assert_eq!((&run["task"]["name"], &run["task"]["success"]), (&"falls".into(), &true.into()));
    assert_eq!(run["task"]["metrics"]["m"], 2.0);
    assert_eq!(run["task"]["reason"], "all goals were reached");

    let stays = script("stays.rhai", &format!("{ball}goal(\"high\", || ball.height() > 1);\ntimeout(0.1);"));
    let out = fingerpad(&["run", &stays]);
    assert_eq!(out.status.code(), Some(1));
    assert!(
        text(&out.stdout).contains("stays FAILED: goal `high` was not reached within 0.1 s"),
        "{}",
        text(&out.stdout)
    );

    let broken = script("broken.rhai", "wait(0.1);\nwiat(0.1);\n");
    let out = fingerpad(&["run", &broken]);
    let says = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2));
    assert!(says.contains("broken.rhai:2:1: there is no function `wiat`; did you mean `wait`?"), "{says}");
    assert!(says.contains("    2 | wiat(0.1);"), "{says}");
    let unset = fingerpad(&["run", &falls, "--set", "frction=paper"]);
    assert!(unset.status.code() == Some(2) && text(&unset.stderr).contains("did you mean `friction`"));
    assert_eq!(fingerpad(&["run", "scripts/nowhere.rhai"]).status.code(), Some(2));
}
