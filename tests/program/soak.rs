//! `fingerpad soak`, and the property that it relies on: a scene that is accepted runs.

use std::fmt::Write;
use std::path::Path;
use std::process::Command;

use fingerpad::assets::parse_scene;
use fingerpad::sim::{Status, TOP_SPEED};
use proptest::prelude::*;

/// Every total is in the JSON object; the same seed gives the same states.
#[test]
fn soak_reports_totals_and_repeats_itself() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("soak");
    let run = |seed: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
        command.args(["soak", "--minutes", "0.02", "--seed", seed, "--json", "--out"]).arg(&folder);
        let out = command.output().expect("the program runs");
        assert_eq!(out.status.code(), Some(0), "{}", String::from_utf8_lossy(&out.stderr));
        serde_json::from_slice::<serde_json::Value>(&out.stdout).expect("JSON")
    };
    let [first, second, other] = ["3", "3", "4"].map(run);
    for key in ["panics", "not_finite", "stopped", "tunnelled", "decoder_faults", "recordings_not_verified"] {
        assert_eq!(first[key], 0, "{key}");
    }
    for key in ["steps", "samples", "decoder_bytes", "recordings_verified", "steps_replayed", "top_speed"] {
        assert!(first[key].as_f64().is_some_and(|count| count > 0.0), "{key}: {first}");
    }
    for key in ["worst_depth_mm", "deep_steps", "not_converged", "palm_outside_steps", "step_ms", "memory_bytes"] {
        assert!(!first[key].is_null() || key == "memory_bytes", "{key}: {first}");
    }
    assert_eq!(first["state_hash"], second["state_hash"]);
    assert_ne!(first["state_hash"], other["state_hash"]);
    let left = std::fs::read_dir(&folder).expect("the folder").count();
    assert_eq!(left, 0, "working files are removed");
}

/// A body with random values from the whole range that scene files accept.
#[derive(Clone, Debug)]
struct Random {
    shape: usize,
    sizes: [f64; 3],
    density: f64,
    place: [f64; 3],
    turn: [f64; 3],
    velocity: [f64; 3],
    spin: f64,
}

fn body() -> impl Strategy<Value = Random> {
    let size = || (-3.5..1.0f64).prop_map(|power| 10f64.powf(power));
    let angle = || -360.0..360.0f64;
    let near = || -0.3..0.3f64;
    let speed = || prop_oneof![4 => -3.0..3.0f64, 1 => -100.0..100.0f64];
    (
        0..6usize,
        [size(), size(), size()],
        (0.0..4.4f64).prop_map(|power| 10f64.powf(power)),
        [near(), near(), near()],
        [angle(), angle(), angle()],
        [speed(), speed(), speed()],
        -36000.0..36000.0f64,
    )
        .prop_map(|(shape, sizes, density, place, turn, velocity, spin)| Random {
            shape,
            sizes,
            density,
            place,
            turn,
            velocity,
            spin,
        })
}

fn scene(bodies: &[Random], dt: f64, gravity: [f64; 3], friction: f64) -> String {
    let mut text = format!(
        "dt = {dt}\ngravity = {gravity:?}\n[material.default]\nfriction = {friction}\n[body.ground]\nkind = \"fixed\"\nshape = \"ground\"\n"
    );
    for (i, Random { shape, sizes: [a, b, c], density, place, turn, velocity, spin }) in bodies.iter().enumerate() {
        let shape = match shape {
            0 | 1 => format!("shape = \"box\"\nsize = [{a}, {b}, {c}]"),
            2 => format!("shape = \"ball\"\nradius = {a}"),
            3 => format!("shape = \"capsule\"\nradius = {a}\nlength = {b}"),
            4 => format!("shape = \"cylinder\"\nradius = {a}\nheight = {b}"),
            _ => format!("shape = \"hull\"\npoints = [[0, 0, 0], [{a}, 0, 0], [0, {b}, 0], [0, 0, {c}]]"),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "[body.b{i}]\nkind = \"rigid\"\n{shape}\ndensity = {density}\nposition = {place:?}\nrotation = {turn:?}\n\
             velocity = {velocity:?}\nspin = [{spin}, 0, {spin}]"
        );
    }
    text
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bodies may begin inside each other and have any size, mass and speed that a file may state.
    #[test]
    fn an_accepted_scene_runs_or_says_why_not(
        bodies in prop::collection::vec(body(), 1..6),
        dt in prop::sample::select(vec![0.01, 0.005, 0.001, 0.05]),
        gravity in [-20.0..20.0f64, -100.0..10.0f64, -20.0..20.0f64],
        friction in 0.0..10.0f64,
    ) {
        let text = scene(&bodies, dt, gravity, friction);
        let Ok(mut scene) = parse_scene(Path::new("random.toml"), &text, &[]) else { return Ok(()) };
        for _ in 0..100 {
            let status = scene.world.step().status;
            let why = scene.fault(status);
            // A stop is stated, and never because of a NaN.
            prop_assert!(status != Status::NotFinite, "{:?}\n{}", why, text);
            if status != Status::Done {
                prop_assert!(why.is_some());
                return Ok(());
            }
            for id in scene.world.bodies.ids() {
                let speed = scene.world.top_speed(id);
                prop_assert!(speed.is_finite() && speed <= TOP_SPEED, "{} m/s\n{}", speed, text);
            }
        }
    }
}
