//! Grasps at different step lengths, through the binary: no creep, every step converges, and tasks have the same
//! result.
#![cfg(feature = "script")]

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common;

use common::{OPEN, Ordered, Pinch};
use fingerpad::body::RigidShape;
use fingerpad::contact::Method;
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::tracking::minimum_jerk;

const STEPS: [&str; 4] = ["0.01", "0.005", "0.002", "0.001"];

/// Whether to hold for 20 s, at half a millisecond too: `FINGERPAD_LONG=1`.
fn is_long() -> bool {
    std::env::var_os("FINGERPAD_LONG").is_some()
}

/// The step lengths at which grasps are held.
fn held_steps() -> Vec<&'static str> {
    STEPS.into_iter().chain(is_long().then_some("0.0005")).collect()
}

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

/// A table that `run --trace` wrote.
struct Table {
    names: Vec<String>,
    rows: Vec<Vec<f64>>,
}

impl Table {
    fn read(file: &Path) -> Self {
        let text = std::fs::read_to_string(file).expect("a trace");
        let mut lines = text.lines();
        let names = lines.next().expect("a header").split(',').map(String::from).collect();
        let number = |cell: &str| cell.parse::<f64>().unwrap_or(f64::NAN);
        Self { names, rows: lines.map(|line| line.split(',').map(number).collect()).collect() }
    }

    fn column(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|n| n == name)
    }

    /// Position and orientation of a body in a row. The trace has no orientation of soft bodies.
    fn pose(&self, body: &str, row: &[f64]) -> [f64; 7] {
        let first = self.column(&format!("{body}.x")).expect("the body");
        let turn = self.column(&format!("{body}.qx"));
        std::array::from_fn(|i| match turn {
            None if i == 6 => 1.0,
            None if i > 2 => 0.0,
            _ => row[first + i],
        })
    }

    /// Position and orientation of a body in each row, with its time.
    fn poses(&self, body: &str) -> Vec<(f64, [f64; 7])> {
        self.rows.iter().map(|row| (row[0], self.pose(body, row))).collect()
    }
}

/// Speed in µm/s and angular speed in degrees per second between two times, from positions only: means over 0.2 s
/// before each.
fn creep(rows: &[(f64, [f64; 7])], from: f64, to: f64) -> [f64; 2] {
    let mean = |t: f64| {
        let window = rows.iter().filter(|(time, _)| (t - 0.2..=t).contains(time));
        let count = window.clone().count() as f64;
        assert!(count > 5.0);
        window.fold([0.0; 7], |sum, (_, row)| std::array::from_fn(|i| sum[i] + row[i] / count))
    };
    let (a, b) = (mean(from), mean(to));
    let [moved, turned] = apart(&a, &b);
    [1e6 * moved / (to - from), turned / (to - from)]
}

/// Distance of two poses, m, and the angle between them, degrees.
fn apart(a: &[f64; 7], b: &[f64; 7]) -> [f64; 2] {
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
    [moved, turned.to_degrees()]
}

/// The scenes that end with a held object, the time from which it is at rest, s, and the bounds of creep, µm/s and °/s.
const HELD: [(&str, &str, f64, [f64; 2]); 8] = [
    ("pinch", "capsule", 6.0, [1.0, 1e-3]),
    ("edge_cube", "cube", 6.0, [1.0, 1e-3]),
    ("pencil", "pencil", 6.5, [1.0, 1e-3]),
    ("bar", "bar", 6.0, [1.0, 1e-3]),
    ("ball", "ball", 4.0, [1.0, 1e-3]),
    ("ball_tips", "ball", 4.0, [1.0, 1e-3]),
    // It settles for five seconds at 1 ms.
    ("dumbbell", "dumbbell", 6.0, [1.0, 1e-3]),
    ("soft_ball", "ball", 4.0, [1.0, 1e-3]),
];

/// Held objects do not move, at any step length.
#[test]
fn a_held_object_does_not_creep() {
    for (scene, body, start, [most, most_turning]) in HELD {
        for dt in held_steps() {
            let table = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("creep_{scene}_{dt}.csv"));
            let file = root().join(format!("scenes/{scene}.toml"));
            let end = start + if is_long() { 20.0 } else { 2.0 };
            let arguments = ["--seconds", &end.to_string(), "--trace", table.to_str().expect("a path")];
            let json = run(&file, dt, &arguments);
            let rows = Table::read(&table).poses(body);
            let [speed, turning] = creep(&rows, start, end);
            println!("{scene} at {dt} s: {speed:.2e} µm/s, {turning:.2e} °/s");
            assert!(rows[rows.len() - 1].1[1] > 0.15, "{scene} at {dt} s is held");
            assert!(speed < most && turning < most_turning, "{scene} at {dt} s: {speed} µm/s, {turning} °/s");
            assert_eq!(json["solver"]["not_converged"], 0, "{scene} at {dt} s");
        }
    }
}

const MASS: f64 = 0.045;
const MU: f64 = 0.7;
const CLOSED: f64 = 0.92;

/// A capsule pinched near its upper end: it hangs, so it does not rotate when it slips.
fn hanging_capsule(dt: f64) -> Pinch {
    let shape = RigidShape::Capsule(0.05, 0.012);
    let mut pinch = Pinch::new(&shape, MASS, MU, Method::Aggregate, Pose::identity());
    let mut pose = pinch.object().pose();
    // Its axis along gravity instead of across.
    pose.rotation *= Quat::from_axis_angle(&Vec3::x_axis(), std::f64::consts::FRAC_PI_2);
    pose.translation.vector += 0.04 * pinch.down;
    pinch.world.bodies.rigid_mut(0).set_pose(&pose);
    pinch.world.parameters.dt = dt;
    close(&mut pinch);
    pinch
}

/// Pinches a capsule and increases its weight until it slips: returns that weight, and the available friction, `μ`
/// times the sum of the normal forces, N.
fn slip_weight(dt: f64) -> (f64, f64) {
    let mut pinch = hanging_capsule(dt);
    // Weight in relation to the friction of the unloaded pinch.
    let unloaded = MU * pressing(&pinch);
    let start = pinch.world.time();
    loop {
        // 60 % within a second, then slowly.
        let time = pinch.world.time() - start;
        let weight = unloaded * (0.6 * time.min(1.0) + 0.05 * (time - 1.0).max(0.0));
        assert!(weight < 1.5 * unloaded, "the pinch never slips");
        pinch.world.parameters.gravity = weight / MASS * pinch.down;
        let friction = MU * pressing(&pinch);
        pinch.step(CLOSED);
        let slowest =
            pinch.world.touches().filter(|t| t.pressing > 0.1).map(|t| t.sliding).fold(f64::INFINITY, f64::min);
        if slowest > 2e-3 {
            return (weight, friction);
        }
    }
}

/// Closes the fingers without weight and lets them come to rest.
fn close(pinch: &mut Pinch) {
    let h = pinch.world.parameters.dt;
    while pinch.world.time() < 1.0 {
        pinch.step(OPEN + (CLOSED - OPEN) * minimum_jerk((pinch.world.time() + h) / 0.5));
    }
}

/// Sum of the normal forces on the object, N.
fn pressing(pinch: &Pinch) -> f64 {
    pinch.world.touches().map(|t| t.pressing).sum()
}

/// The maximum weight of a pinch is 2 μ N, at any step length.
#[test]
fn a_pinch_slips_at_the_same_weight_at_every_step_length() {
    let slips = STEPS.map(|dt| slip_weight(dt.parse().expect("a number")));
    let (finest, _) = slips[STEPS.len() - 1];
    for (dt, (weight, friction)) in STEPS.iter().zip(&slips) {
        println!("at {dt} s it slips at {weight:.4} N; 2 µ N = {friction:.4} N");
    }
    for (dt, (weight, friction)) in STEPS.iter().zip(&slips) {
        assert!((weight / finest - 1.0).abs() < 0.02, "at {dt} s: {weight} N, at 1 ms {finest} N");
        assert!((weight / friction - 1.0).abs() < 0.02, "at {dt} s: {weight} N, 2 µ N = {friction} N");
    }
}

/// A capsule at 80 % of the friction limit does not move.
#[test]
fn a_pinch_near_its_limit_does_not_creep() {
    for dt in held_steps() {
        let mut pinch = hanging_capsule(dt.parse().expect("a number"));
        let mut rows = Vec::new();
        let (hold, mut weight) = (if is_long() { 20.0 } else { 2.0 }, 0.0);
        while pinch.world.time() < 5.0 + hold {
            // The normal forces decrease under the load, so the weight follows them for two seconds and is then
            // constant.
            if pinch.world.time() < 3.0 {
                weight = 0.8 * (0.5 * (pinch.world.time() - 1.0)) * MU * pressing(&pinch);
            }
            pinch.world.parameters.gravity = weight / MASS * pinch.down;
            pinch.step(CLOSED);
            let pose = pinch.object().pose();
            let (p, q): (Vec3, _) = (pose.translation.vector, pose.rotation.coords);
            rows.push((pinch.world.time(), [p.x, p.y, p.z, q.x, q.y, q.z, q.w]));
        }
        let [speed, turning] = creep(&rows, 5.0, 5.0 + hold);
        let used = weight / (MU * pressing(&pinch));
        println!("at {dt} s and {:.1} % of its friction: {speed:.2e} µm/s, {turning:.2e} °/s", 100.0 * used);
        assert!((0.78..0.82).contains(&used), "{used}");
        assert!(speed < 1.0 && turning < 1e-3, "at {dt} s: {speed} µm/s, {turning} °/s");
    }
}

/// The state in which a task ended.
struct Ended {
    name: String,
    dt: &'static str,
    json: serde_json::Value,
    table: Table,
}

impl Ended {
    fn last(&self) -> &[f64] {
        self.table.rows.last().expect("a row")
    }

    /// Normal force on each finger and palm, by name, N.
    fn forces(&self) -> Vec<(String, f64)> {
        let mut forces: Vec<(String, f64)> = Vec::new();
        for (name, force) in self.table.names.iter().zip(self.last()) {
            let Some((hand, segment)) = name.strip_suffix(".normal_force").and_then(|n| n.split_once('.')) else {
                continue;
            };
            let finger = format!("{hand} {}", segment.split('_').next().unwrap_or_default());
            match forces.last_mut().filter(|(last, _)| *last == finger) {
                Some((_, sum)) => *sum += force,
                None => forces.push((finger, *force)),
            }
        }
        forces
    }
}

/// A task with a larger step ends as with the smallest: the object's pose and the normal force of every finger.
fn check_same_end(coarse: &Ended, fine: &Ended, body: &str) {
    let (name, dt) = (&coarse.name, coarse.dt);
    let [moved, turned] = apart(&coarse.table.pose(body, coarse.last()), &fine.table.pose(body, fine.last()));
    println!("{name} at {dt} s: {:.3} mm and {turned:.3}° from the pose at 1 ms", 1e3 * moved);
    assert!(moved < 5e-4 && turned < 0.5, "{name} at {dt} s: {moved} m, {turned}°");
    for ((finger, a), (_, b)) in coarse.forces().into_iter().zip(fine.forces()) {
        assert!((a - b).abs() <= 0.03 * b, "{name} at {dt} s: {finger} {a} N, {b} N at 1 ms");
    }
}

/// Tasks and step lengths that end as with the finest step.
const SAME_END: [(&str, &str, &[&str]); 4] = [
    ("ball_tips", "ball", &["0.005", "0.002"]),
    ("pencil", "pencil", &["0.005", "0.002"]),
    ("press_button", "key", &["0.01", "0.005", "0.002"]),
    ("stack_boxes", "small", &["0.005", "0.002"]),
];

/// A task that takes too long for every run of the tests.
const LONG: &str = "snap_in_soft";

/// Tasks with a step that leaves more than a tenth of a millimetre, the step length, and the bound, mm: the cord slides through the pinch. The cause is
/// not known.
const DEEPER: [(&str, &str, f64); 1] = [("pull_thread", "0.01", 0.26)];

/// Every shipped task succeeds at every step length, every step converges, nothing is left deeper than a tenth of a millimetre, and objects and
/// forces end alike. Every second task; the other half is a test of its own, so that two run at a time.
#[test]
fn tasks_succeed_at_every_step_length() {
    check_tasks(0);
}

#[test]
fn other_tasks_succeed_at_every_step_length() {
    check_tasks(1);
}

fn check_tasks(first: usize) {
    let mut scripts: Vec<PathBuf> = std::fs::read_dir(root().join("scripts"))
        .expect("the folder")
        .map(|e| e.expect("an entry").path())
        .filter(|p| p.to_str().is_some_and(|p| p.ends_with(".rhai") && !p.ends_with(".d.rhai")))
        .filter(|p| p.file_stem().and_then(|s| s.to_str()).is_some_and(|name| name != LONG || is_long()))
        .collect();
    scripts.sort();
    assert!(scripts.len() > 14);
    for script in scripts.iter().skip(first).step_by(2) {
        let name = script.file_stem().and_then(|s| s.to_str()).unwrap_or_default().to_string();
        let ended = STEPS.map(|dt| {
            let table = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("task_{name}_{dt}.csv"));
            let json = run(script, dt, &["--trace", table.to_str().expect("a path")]);
            Ended { name: name.clone(), dt, json, table: Table::read(&table) }
        });
        for Ended { dt, json, .. } in &ended {
            let deepest = json["max_penetration_mm"].as_f64().expect("a depth");
            println!("{name} at {dt} s: {deepest:.3} mm, {}", json["task"]["reason"]);
            assert_eq!(json["task"]["success"], true, "{name} at {dt} s: {}", json["task"]);
            let most = DEEPER.iter().find(|(task, step, _)| (task, step) == (&name.as_str(), dt)).map_or(0.1, |d| d.2);
            assert!(deepest < most, "{name} at {dt} s: {deepest} mm");
            assert_eq!(json["solver"]["not_converged"], 0, "{name} at {dt} s");
        }
        let [coarser @ .., fine] = &ended;
        for (_, body, steps) in SAME_END.iter().filter(|(task, ..)| *task == name) {
            coarser.iter().filter(|e| steps.contains(&e.dt)).for_each(|coarse| check_same_end(coarse, fine, body));
        }
    }
}
