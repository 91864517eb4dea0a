//! Elastic objects of Luo and Xiao through the program: targets of the paper's figures 13 to 18, and bad input.
#![cfg(feature = "script")]

use std::path::Path;
use std::process::Command;

/// Runs a shipped script, which checks its figure itself, and returns its metrics.
fn metrics(script: &str, arguments: &[&str]) -> serde_json::Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts").join(script);
    let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
    let output = command.args(["run", "--json"]).arg(file).args(arguments).output().expect("the program starts");
    let text = String::from_utf8_lossy(&output.stdout);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    println!("{script} {arguments:?}: {}", json["task"]);
    assert_eq!(json["task"]["success"], true, "{}", json["task"]);
    assert_eq!(output.status.code(), Some(0));
    json["task"]["metrics"].clone()
}

fn number(metrics: &serde_json::Value, name: &str) -> f64 {
    metrics[name].as_f64().unwrap_or_else(|| panic!("{name} is not in {metrics}"))
}

/// Fig. 13. The force does not depend on the step of the world: the tool is updated at 1 kHz or more.
#[test]
fn a_pressed_ball_has_the_same_force_at_every_step() {
    let forces: Vec<f64> = ["0.01", "0.005", "0.002", "0.001"]
        .map(|dt| number(&metrics("elastic_press.rhai", &["--dt", dt]), "force_at_6_mm_N"))
        .to_vec();
    assert!(forces.iter().all(|f| (f / forces[0] - 1.0).abs() < 1e-6), "{forces:?}");
    assert!((forces[0] - 25.7).abs() < 0.1, "the figure of docs/elastic.md: {forces:?}");
}

/// Fig. 14.
#[test]
fn a_ball_sticks_then_slides() {
    let found = metrics("elastic_slide.rhai", &[]);
    let (friction, normal) = (number(&found, "sliding_friction_N"), number(&found, "normal_force_N"));
    assert!((friction - 0.3 * normal).abs() < 1e-3 * normal, "{found}");
    // It breaks loose where the law reaches the static bound, and moves up to 0.1 mm in a step.
    let bound = fingerpad::elastic::FrictionLaw::default().static_bound(normal);
    let expected = 1e3 * fingerpad::elastic::DuffingLaw::default().displacement(bound);
    assert!((number(&found, "sticks_for_mm") - expected).abs() < 0.1, "{found}, expected {expected}");
}

/// Fig. 15.
#[test]
fn the_larger_area_leaves_the_shallower_dent() {
    let found = metrics("elastic_mallet.rhai", &[]);
    assert!(number(&found, "head_depth_mm") < 0.8 * number(&found, "tail_depth_mm"), "{found}");
    assert!(number(&found, "head_area_mm2") > 4.0 * number(&found, "tail_area_mm2"), "{found}");
}

/// Fig. 16.
#[test]
fn forces_along_an_ellipsoid() {
    let found = metrics("elastic_ellipsoid.rhai", &[]);
    assert!(number(&found, "fy_greatest_at_mm").abs() < 1.0, "{found}");
    let [first, last] = ["fx_first_N", "fx_last_N"].map(|name| number(&found, name));
    assert!(first < -0.5 && (first + last).abs() < 0.1, "odd about the top: {found}");
}

/// Fig. 17.
#[test]
fn one_region_two_and_one_again() {
    let found = metrics("elastic_compass.rhai", &[]);
    let [one, other] = ["force_of_one_pin_N", "force_of_the_other_pin_N"].map(|name| number(&found, name));
    assert!(one > 5.0 && (other / one - 1.0).abs() < 0.02, "{found}");
}

/// Fig. 18.
#[test]
fn the_softer_side_moves_more() {
    let found = metrics("elastic_inclusion.rhai", &[]);
    let ratio = number(&found, "left_mm") / number(&found, "right_mm");
    assert!((ratio - 0.61 / 0.31).abs() < 0.1, "the figures of docs/elastic.md: {found}");
}

/// Fig. 16 with an emulated hand on a force-feedback device: the script checks balance, signs and release. The haptic loop has its own rate, so the
/// step of the scene hardly matters.
#[test]
fn a_hand_on_a_device_slides_over_an_ellipsoid() {
    let forces: Vec<f64> =
        ["0.01", "0.002"].map(|dt| number(&metrics("elastic_haptic.rhai", &["--dt", dt]), "pressed_N")).to_vec();
    assert!((forces[0] / forces[1] - 1.0).abs() < 1e-3, "{forces:?}");
}

/// The common contact problem: the soft hand holds an elastic ball without slip, at every step.
#[test]
fn a_hand_lifts_an_elastic_ball() {
    for dt in ["0.01", "0.005", "0.002"] {
        let found = metrics("elastic_ball.rhai", &["--dt", dt]);
        assert!(number(&found, "slip_mm") < 0.5 && (number(&found, "lift_mm") - 63.6).abs() < 1.0, "{found}");
    }
}

const CUBE: &str = "[body.cube]\nkind = \"elastic\"\nshape = \"box\"\nsize = [0.05, 0.05, 0.05]\n";

/// Errors of a scene, as `check` prints them.
fn refused(name: &str, text: &str) -> String {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("elastic");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join(format!("{name}.toml"));
    std::fs::write(&file, text).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_fingerpad")).arg("check").arg(&file).output().expect("it starts");
    let message = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(!output.status.success() && message.contains(&format!("{name}.toml:")), "{message}");
    message
}

#[test]
fn bad_objects_are_refused_with_place_and_reason() {
    let profile = "[body.b]\nkind = \"elastic\"\nshape = \"profile\"\n";
    let concave = "points = [[0, 0, 0], [0.04, 0, 0], [0.02, 0.03, 0], [0.04, 0.06, 0], [0, 0.06, 0]]";
    let tool = |fixed: &str, lines: &str| format!("{CUBE}{fixed}\n[body.cube.tool]\n{lines}\n");
    for (name, text, line, says) in [
        ("concave", format!("{profile}{concave}\n"), 4, "the profile is concave at point 2"),
        ("open", format!("{profile}points = [[0, 0, 0], [0.04, 0, 0]]\n"), 4, "must run from a point on the axis"),
        ("flat", format!("{profile}points = [[0, 0, 0], [0.04, 0, 1], [0, 0.1, 0]]\n"), 4, "`[radius, height, 0]`"),
        ("no_link", format!("{CUBE}link = 0\n"), 5, "the linking distance r_th is 0, expected a positive number"),
        ("no_anchor", format!("{CUBE}neighbourhood = 0.2\n"), 5, "neighbourhood"),
        ("outside", format!("{CUBE}inclusions = [{{ centre = [0.02, 0, 0], radius = 0.01 }}]\n"), 5, "is not inside"),
        ("no_radius", format!("{CUBE}inclusions = [{{}}]\n"), 5, "radius"),
        ("softens", format!("{CUBE}hardening = -1\n"), 5, "expected a number from 0 to 1e15 N/m³"),
        ("moving", tool("", "shape = \"ball\"\nradius = 0.01"), 6, "add `fixed = true`"),
        ("sparse", tool("fixed = true", "shape = \"ball\"\nradius = 0.05\nspacing = 0.05"), 9, "use a finer mesh"),
        ("dense", tool("fixed = true", "shape = \"ball\"\nradius = 50\nspacing = 1e-4"), 9, "use a coarser mesh"),
        ("handle", tool("fixed = true", "shape = \"mallet\"\nhandle_length = 0.005"), 8, "handle beyond the head"),
        ("unknown", tool("fixed = true", "shape = \"hammer\""), 7, "`mallet`"),
    ] {
        let message = refused(name, &text);
        assert!(message.contains(says) && message.contains(&format!("{name}.toml:{line}:")), "{name}: {message}");
    }
}

/// A tool that is inside the object at the start has no force until it has left; then it has.
#[test]
fn a_tool_that_starts_inside_is_safe() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("elastic");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("inside.rhai");
    let script = "scene(#{ body: #{ cube: #{ kind: \"elastic\", shape: \"box\", size: [0.05, 0.05, 0.05], fixed: true,
            tool: #{ shape: \"ball\", radius: 0.01, position: [0, 0.01, 0] } } } });
        wait(0.05);
        check(cube.tool_started_inside() && cube.tool_force().length() == 0.0, \"no force\");
        cube.move_tool([0, 0.036, 0], 0.2);
        check(!cube.tool_started_inside() && cube.tool_regions() == 0, \"it has left\");
        cube.move_tool([0, 0.032, 0], 0.2);
        check(cube.tool_force().y > 1.0, \"it presses\");
        succeed(\"done\");\n";
    std::fs::write(&file, script).expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_fingerpad")).arg("run").arg(&file).output().expect("it starts");
    let message = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(0), "{message}");
}

/// Bodies without a tool have a clear error.
#[test]
fn a_body_without_a_tool_has_a_clear_error() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("elastic");
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join("without.rhai");
    std::fs::write(&file, "scene(\"elastic_ball\");\nball.move_tool([0, 1, 0], 0.1);\n").expect("a file");
    let output = Command::new(env!("CARGO_BIN_EXE_fingerpad")).arg("run").arg(&file).output().expect("it starts");
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && message.contains("`ball` has no tool"), "{message}");
}
