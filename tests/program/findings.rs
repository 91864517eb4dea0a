//! The main results of the paper, each with its contrast, through the program.
#![cfg(feature = "script")]

use std::path::Path;
use std::process::Command;

/// Runs a shipped script; returns whether its task succeeded, and the JSON output.
fn run(script: &str, arguments: &[&str]) -> (bool, serde_json::Value) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(script);
    let output = Command::new(env!("CARGO_BIN_EXE_fingerpad"))
        .args(["run", "--json"])
        .arg(file)
        .args(arguments)
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    let success = json["task"]["success"].as_bool().expect("a verdict");
    // Talvas 2015, §5.3: no penetration remains after the step.
    let deepest = json["max_penetration_mm"].as_f64().expect("a depth");
    println!("{script} {arguments:?}: {deepest:.3} mm deep at most");
    assert!(deepest < 0.1 || !arguments.is_empty(), "{deepest} mm");
    assert_eq!(output.status.code(), Some(if success { 0 } else { 1 }), "the exit code says the same");
    (success, json)
}

/// Talvas 2015, fig. 8. In the paper a cube held by its edges is lifted with non-uniform pressure and slips out with uniform pressure or rigid
/// fingers. Here all of them lift it, but uniform pressure only because the pads sink over the edges of the cube: it keeps the mean of a
/// pad's contacts out of the cube and leaves the edges inside by millimetres, where the default leaves less than a tenth.
#[test]
fn a_cube_held_by_its_edges_stays_out_of_the_pads_unless_pressure_is_uniform() {
    for script in ["edge_cube.rhai", "edge_cube_tight.rhai"] {
        for dt in ["0.01", "0.005", "0.002"] {
            let (lifted, json) = run(script, &["--dt", dt]);
            assert!(lifted && json["max_penetration_mm"].as_f64().is_some_and(|mm| mm < 0.1), "{}", json["task"]);
            let (_, json) = run(script, &["--dt", dt, "--set", "pressure=uniform"]);
            assert!(json["max_penetration_mm"].as_f64().is_some_and(|mm| mm > 0.5), "{}", json["task"]);
        }
        for method in ["aggregate", "point"] {
            let (lifted, json) = run(script, &["--set", "fingers=rigid", "--method", method]);
            assert!(lifted, "{method}: {}", json["task"]);
        }
    }
}

/// Talvas 2015, fig. 7: twelve rows for three fingertips.
#[test]
fn a_pencil_is_spun_between_three_fingertips() {
    let (held, json) = run("pencil.rhai", &[]);
    println!("{}", json["task"]);
    assert!(held, "{}", json["task"]);
    assert!(json["task"]["metrics"]["spun_deg"].as_f64().is_some_and(|degrees| degrees > 30.0));
}

/// Talvas 2015, fig. 9.
#[test]
fn a_bar_stays_level_by_torsional_friction_alone() {
    let (level, json) = run("bar.rhai", &[]);
    println!("{}", json["task"]);
    assert!(level, "{}", json["task"]);
    // Loosened, it rotated by about 20 degrees and was held again.
    assert!(json["task"]["metrics"]["turned_deg"].as_f64().is_some_and(|degrees| (15.0..60.0).contains(&degrees)));
    let (level, json) = run("bar.rhai", &["--set", "friction=coulomb"]);
    assert!(!level && json["task"]["reason"].as_str().is_some_and(|r| r.contains("swung")), "{}", json["task"]);
}

/// Talvas 2015, fig. 6: four rows per segment in contact instead of rows per contact.
#[test]
fn a_ball_takes_four_rows_per_segment() {
    let (lifted, json) = run("ball.rhai", &[]);
    println!("{} contacts, {} rows", json["contacts"], json["constraints"]);
    assert!(lifted, "{}", json["task"]);
    let number = |value: &serde_json::Value| value.as_f64().expect("a number");
    // Three rows per contact would be many times as many.
    assert!(3.0 * number(&json["contacts"]["max"]) > 4.0 * number(&json["constraints"]["max"]));
    // Sixteen segments, a few of them split, and the post.
    assert!(number(&json["constraints"]["max"]) <= 80.0);
}

/// Talvas 2015, fig. 6b and 6c: two hands, and an object as soft as the hand.
#[test]
fn a_dumbbell_and_a_soft_ball_are_lifted() {
    for script in ["dumbbell.rhai", "soft_ball.rhai"] {
        let (lifted, json) = run(script, &[]);
        println!("{}", json["task"]);
        assert!(lifted, "{}", json["task"]);
    }
}

/// Talvas 2015, fig. 6a: the result with aggregates is that with points, within 2 mm and 2 degrees after five seconds.
#[test]
fn aggregates_and_points_hold_a_ball_equally() {
    let held = |method: &str| {
        let trace = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("ball_tips_{method}.csv"));
        let output = Command::new(env!("CARGO_BIN_EXE_fingerpad"))
            .args(["run", "ball_tips", "--seconds", "5", "--method", method, "--trace"])
            .arg(&trace)
            .output()
            .expect("the program starts");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let text = std::fs::read_to_string(&trace).expect("a table");
        let (first, last) = (text.lines().next().expect("names"), text.lines().last().expect("steps"));
        let last: Vec<&str> = last.split(',').collect();
        ["x", "y", "z", "qx", "qy", "qz", "qw"].map(|name| {
            let column = first.split(',').position(|c| c == format!("ball.{name}")).expect("a column");
            last[column].parse::<f64>().expect("a number")
        })
    };
    let [a, b] = ["aggregate", "point"].map(held);
    let apart: f64 = (0..3).map(|i| (a[i] - b[i]).powi(2)).sum::<f64>().sqrt();
    let cosine: f64 = (3..7).map(|i| a[i] * b[i]).sum::<f64>().abs();
    let turned = 2.0 * cosine.min(1.0).acos().to_degrees();
    println!("{:.2} mm and {turned:.2} degrees apart", 1e3 * apart);
    assert!(a[1] > 0.19 && b[1] > 0.19, "both lift it");
    assert!(apart < 2e-3 && turned < 2.0, "{apart} m, {turned} degrees");
}
