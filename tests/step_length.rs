//! Grasps at steps of different lengths, through the binary: they hold without creep, every step converges, and tasks end alike.
#![cfg(feature = "script")]

use std::path::{Path, PathBuf};
use std::process::Command;

const STEPS: [&str; 4] = ["0.01", "0.005", "0.002", "0.001"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn run(file: &Path, dt: &str, more: &[&str]) -> serde_json::Value {
    let output = Command::new(env!("CARGO_BIN_EXE_fingerpad"))
        .args(["run", "--json", "-q", "--dt", dt])
        .arg(file)
        .args(more)
        .output()
        .expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}{}", String::from_utf8_lossy(&output.stderr)))
}

/// Position and orientation of a body in each row of a trace, with its time.
fn trace(file: &Path, body: &str) -> Vec<(f64, [f64; 7])> {
    let text = std::fs::read_to_string(file).expect("a trace");
    let mut lines = text.lines();
    let names: Vec<&str> = lines.next().expect("a header").split(',').collect();
    let first = names.iter().position(|n| *n == format!("{body}.x")).expect("the body");
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split(',').collect();
            let number = |i: usize| cells[i].parse::<f64>().expect("a number");
            (number(0), std::array::from_fn(|i| number(first + i)))
        })
        .collect()
}

/// Speed in µm/s and turning in degrees a second between two times, by the positions alone: means over a fifth of a second before each.
fn creep(rows: &[(f64, [f64; 7])], from: f64, to: f64) -> [f64; 2] {
    let mean = |t: f64| {
        let window = rows.iter().filter(|(time, _)| (t - 0.2..=t).contains(time));
        let count = window.clone().count() as f64;
        assert!(count > 5.0);
        window.fold([0.0; 7], |sum, (_, row)| std::array::from_fn(|i| sum[i] + row[i] / count))
    };
    let (a, b) = (mean(from), mean(to));
    let moved = (0..3).map(|i| (b[i] - a[i]).powi(2)).sum::<f64>().sqrt();
    // The sine of half the angle keeps its digits where the cosine does not.
    let [ax, ay, az, aw] = [a[3], a[4], a[5], a[6]];
    let [bx, by, bz, bw] = [b[3], b[4], b[5], b[6]];
    let v = [
        bx * aw - bw * ax - by * az + bz * ay,
        by * aw - bw * ay - bz * ax + bx * az,
        bz * aw - bw * az - bx * ay + by * ax,
    ];
    let turned = 2.0 * v.iter().map(|x| x * x).sum::<f64>().sqrt().min(1.0).asin();
    [1e6 * moved / (to - from), turned.to_degrees() / (to - from)]
}

/// What is held stays where it is, at every step length. Means are compared: at 1 and 2 ms the bar and the capsule vibrate by some micrometres.
/// The long bar is the hardest.
#[test]
fn a_held_object_does_not_creep() {
    let scenes =
        [("pinch", "capsule", 1.0), ("edge_cube", "cube", 1.0), ("pencil", "pencil", 1.0), ("bar", "bar", 2.0)];
    for (scene, body, most) in scenes {
        for dt in STEPS {
            let table = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("creep_{scene}_{dt}.csv"));
            let file = root().join(format!("scenes/{scene}.toml"));
            let json = run(&file, dt, &["--seconds", "8", "--trace", table.to_str().expect("a path")]);
            let rows = trace(&table, body);
            let [speed, turning] = creep(&rows, 6.0, 8.0);
            println!("{scene} at {dt} s: {speed:.2e} µm/s, {turning:.2e} °/s");
            assert!(rows[rows.len() - 1].1[1] > 0.15, "{scene} at {dt} s is held");
            assert!(speed < most && turning < 2e-3 * most, "{scene} at {dt} s: {speed} µm/s, {turning} °/s");
            assert_eq!(json["solver"]["not_converged"], 0, "{scene} at {dt} s");
        }
    }
}

/// Every shipped task succeeds at every step length, every step converges, and nothing is left deeper than a tenth of a millimetre.
#[test]
fn tasks_succeed_at_every_step_length() {
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(root().join("scripts"))
        .expect("the folder")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.to_str().is_some_and(|p| p.ends_with(".rhai") && !p.ends_with(".d.rhai")))
        .collect();
    scripts.sort();
    assert!(scripts.len() > 14);
    for script in &scripts {
        for dt in STEPS {
            let json = run(script, dt, &[]);
            let name = script.file_stem().and_then(|s| s.to_str()).unwrap_or_default();
            let deepest = json["max_penetration_mm"].as_f64().expect("a depth");
            println!("{name} at {dt} s: {deepest:.3} mm, {}", json["task"]["reason"]);
            assert_eq!(json["task"]["success"], true, "{name} at {dt} s: {}", json["task"]);
            assert!(deepest < 0.1, "{name} at {dt} s: {deepest} mm");
            assert_eq!(json["solver"]["not_converged"], 0, "{name} at {dt} s");
        }
    }
}
