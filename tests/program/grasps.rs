//! Grasps that are planned from the shape of a body.
#![cfg(feature = "script")]

use std::path::{Path, PathBuf};

use fingerpad::math::{Random, Vec3};
use fingerpad::script::{RunState, ScriptOptions, ScriptRun};

/// A random object: its table in a script, and a description.
struct Object {
    table: String,
    what: String,
}

/// A random object of 2 to 10 cm, 20 to 500 g and a friction coefficient of 0.4 to 1, lying on the ground.
fn object(number: u64) -> Object {
    let mut random = Random::new(20_261, number);
    let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
    // Heavy small and light large bodies occur too, but nothing denser than aluminium.
    let size = between(0.02, 0.1);
    let mass = between(0.02, 0.5f64.min(2700.0 * 0.5 * size.powi(3)).max(0.03));
    let friction = between(0.4, 1.0);
    let turn = between(-180.0, 180.0);
    let (kind, shape, height) = match number % 5 {
        0 => {
            let [x, y, z] = [size, size * between(0.4, 1.0), size * between(0.4, 1.0)];
            let [x, y] = if between(0.0, 1.0) < 0.5 { [x, y] } else { [y, x] };
            ("box", format!("size: [{x}, {y}, {z}]"), 0.5 * y)
        }
        1 => ("ball", format!("radius: {}", 0.5 * size), 0.5 * size),
        2 => {
            let radius = 0.5 * size * between(0.3, 0.8);
            ("cylinder", format!("radius: {radius}, height: {size}"), 0.5 * size)
        }
        3 => {
            let radius = 0.5 * size * between(0.3, 0.7);
            ("capsule", format!("radius: {radius}, length: {}", size - 2.0 * radius), 0.5 * size)
        }
        _ => {
            let half = 0.5 * size;
            let flat = [1.0, between(0.5, 1.0), between(0.5, 1.0)];
            let points: Vec<String> = (0..16)
                .map(|i| {
                    let y = 1.0 - (2.0 * f64::from(i) + 1.0) / 16.0;
                    let (sin, cos) = (2.4 * f64::from(i) + between(-0.4, 0.4)).sin_cos();
                    let r = (1.0 - y * y).sqrt();
                    let p = Vec3::new(flat[0] * r * cos, flat[1] * y, flat[2] * r * sin) * half;
                    format!("[{}, {}, {}]", p.x, p.y, p.z)
                })
                .collect();
            ("hull", format!("points: [{}]", points.join(", ")), half)
        }
    };
    // Capsules, and half of the cylinders, lie.
    let lies = kind == "capsule" || (kind == "cylinder" && number.is_multiple_of(2));
    let (rotation, height) =
        if lies { (format!("[90, 0, {turn}]"), height) } else { (format!("[0, {turn}, 0]"), height) };
    let table = format!(
        "#{{ kind: \"rigid\", shape: \"{kind}\", {shape}, mass: {mass}, position: [{}, {}, {}], rotation: {rotation}, material: \"stuff\" }}",
        between(-0.05, 0.05),
        height + 0.001,
        between(-0.15, -0.05),
    );
    let what = format!("{number}: {kind} {shape:.60}, {:.0} g, mu {friction:.2}", 1e3 * mass);
    Object {
        table: format!(
            "material: #{{ skin: #{{ friction: {friction} }}, stuff: #{{ friction: {friction} }} }}, body: #{{ ground: #{{ kind: \"fixed\", shape: \"ground\", material: \"stuff\" }}, thing: {table} }}"
        ),
        what,
    }
}

fn write(name: &str, text: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("grasps").join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    let file = folder.join(format!("{name}.rhai"));
    std::fs::write(&file, text).expect("a file");
    file
}

/// Grasps an object, lifts it by 10 cm and holds it for 2 s. Returns why it failed, if it did.
fn grasped(number: u64) -> (String, Result<(), String>) {
    let object = object(number);
    let script = format!(
        r#"scene(#{{ {}, solver: #{{ tolerance: 1e-6, iterations: 200 }}, hand: #{{ right: #{{ position: [0, 0.25, 0.05], pose: "open", material: "skin" }} }} }});
wait(0.4);
let start = thing.height();
let held = right.grasp(thing);
check(held, "the hand does not hold it");
right.move_by([0, 0.1, 0], 0.8);
check(thing.height() > start + 0.05, "it was not lifted");
for i in 0..20 {{
    wait(0.1);
    check(thing.height() > start + 0.05, `it fell after ${{0.1 * i}} s`);
}}
"#,
        object.table
    );
    let file = write(&format!("object{number}"), &script);
    let mut run =
        ScriptRun::load(&file, &ScriptOptions::default()).unwrap_or_else(|error| panic!("{}: {error}", object.what));
    let mut said = Vec::new();
    while run.outcome().is_none() {
        if run.step() == RunState::Broken {
            panic!("{}: {}", object.what, run.error().expect("what is wrong"));
        }
        said.extend(run.take_messages());
    }
    let outcome = run.outcome().expect("an outcome");
    let why = || format!("{} {}", outcome.reason, said.join("; "));
    (object.what, if outcome.success { Ok(()) } else { Err(why()) })
}

/// Lifted and held: 9 of 10 objects.
#[test]
fn random_objects_are_lifted_and_held() {
    let long = std::env::var("FINGERPAD_LONG").is_ok();
    let only: Option<u64> = std::env::var("GRASP").ok().and_then(|number| number.parse().ok());
    let count = if long { 200 } else { 10 };
    let mut failures = Vec::new();
    for number in only.map_or(0..count, |number| number..number + 1) {
        let (what, result) = grasped(number);
        println!("{what}: {result:?}");
        failures.extend(result.err().map(|why| format!("{what}: {why}")));
    }
    assert!(10 * failures.len() <= count as usize, "{} of {count} failed:\n{}", failures.len(), failures.join("\n"));
}

/// Runs a script; its result, or its error.
fn ran(name: &str, script: &str) -> Result<(bool, String), String> {
    let run = ScriptRun::load(&write(name, script), &ScriptOptions::default());
    let mut run = run.map_err(|error| error.to_string())?;
    while run.outcome().is_none() {
        if run.step() == RunState::Broken {
            return Err(run.error().expect("what is wrong").to_string());
        }
    }
    let outcome = run.outcome().expect("an outcome");
    Ok((outcome.success, outcome.reason.clone()))
}

const BALL: &str = r#"scene(#{ body: #{
    ground: #{ kind: "fixed", shape: "ground" },
    ball: #{ kind: "rigid", shape: "ball", radius: 0.02, mass: 0.05, position: [0, 0.3, 0] },
}, hand: #{ right: #{ position: [0, 0.6, 0.2] } } });
"#;

#[test]
fn attachments_hold_until_they_are_removed() {
    let script = format!(
        r#"{BALL}attach(ball, "world", [0, 0.3, 0]);
wait(0.2);
check(ball.travel() < 1e-4, "the weld does not hold");
check(detach("world", ball), "there is no attachment");
check(!detach(ball, "world"), "it was removed already");
wait(0.1);
check(ball.height() < 0.28, "it still holds");
attach(ball, "world", ball.position() + [0.05, 0, 0], "point");
let hung = ball.position() + [0.05, 0, 0];
wait(0.3);
check((distance(ball.position(), hung) - 0.05).abs() < 1e-3, "the string does not hold");
check(detach(ball, "world"), "there is no string");
attach(ball, "right.palm", ball.position());
right.start_turn_about(right.position(), [0, 1, 0], 30, 0.2);
wait(0.3);
let ahead = right.tracked_rotation() * vec(0, 0, -1);
check((ahead.x + 0.5).abs() < 0.01, "the hand did not turn");
"#
    );
    assert_eq!(ran("attach", &script).map(|(success, _)| success), Ok(true), "{:?}", ran("attach", &script));
}

#[test]
fn wrong_grasps_and_attachments_are_explained() {
    for (name, line, says) in [
        ("kind", "right.grasp(ball, \"pinsh\");", "did you mean `pinch`?"),
        ("body", "right.grasp(\"bal\");", "did you mean `ball`?"),
        ("place", "right.place(ball, [0, 0, 0]);", "does not hold `ball`; `grasp` it first"),
        ("end", "attach(ball, \"worlt\", [0, 0.3, 0]);", "did you mean `world`?"),
        ("joint", "attach(ball, \"world\", [0, 0.3, 0], \"well\");", "did you mean `weld`?"),
        (
            "axis",
            "attach(ball, \"world\", [0, 0.3, 0], [0, 0, 0]);",
            "the axis of a hinge or a slider must not be zero",
        ),
        ("self", "attach(ball, ball, [0, 0.3, 0]);", "a part cannot be attached to itself"),
    ] {
        let error = ran(name, &format!("{BALL}{line}\nwait(0.1);\n")).expect_err("an error");
        assert!(error.contains(says), "{name}: {error}");
    }
    // The ground has no finite shape.
    let outcome = ran("ground", &format!("{BALL}check(!right.grasp(\"ground\"), \"it grasped the ground\");\n"));
    assert_eq!(outcome.map(|(success, _)| success), Ok(true));
}
