//! Scene files: shipped ones, invalid ones, and settings.

use crate::common;

use common::Ordered;
use std::path::{Path, PathBuf};

use fingerpad::assets::{Problem, Scene, Setting, load_scene, parse_scene};
use fingerpad::body::{Fixed, Refactor, RigidBody};
use fingerpad::contact::{Friction, Joint, Method, Pressure};
use fingerpad::math::Vec3;
use fingerpad::problem::FrictionModel;
use fingerpad::sim::Status;
use proptest::prelude::*;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn shipped() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("scenes")).expect("the folder");
    let files = entries.map(|e| e.expect("an entry").path());
    let mut files: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "toml")).collect();
    files.sort();
    files
}

fn parse(text: &str, settings: &[&str]) -> Result<Scene, Vec<Problem>> {
    let settings: Vec<Setting> = settings.iter().map(|s| s.parse().expect("a setting")).collect();
    parse_scene(&root().join("scenes/test.toml"), text, &settings).map_err(|problems| problems.0)
}

/// A scene with one body of each kind.
const SMALL: &str = r#"
name = "small"
[material.skin]
friction = 0.9
[material.steel]
friction = { rest = 0.4, sliding = 0.1 }
[[pair]]
materials = ["skin", "steel"]
friction = 0.3
[body.floor]
kind = "fixed"
shape = "ground"
[body.zebra]
kind = "rigid"
shape = "box"
size = [0.1, 0.2, 0.3]
density = 500
position = [0, 0.1, 0]
velocity = [1, 0, 0]
spin = [0, 180, 0]
material = "steel"
samples = 100
[body.apple]
kind = "rigid"
shape = "ball"
radius = 0.05
mass = 0.2
position = [1, 2, 3]
axis_angle = [0, 0, 2, 90]
[body.jelly]
kind = "soft"
shape = "ball"
radius = 0.04
young = 20e3
velocity = [0, 1, 0]
position = [0, 1, 0]
colour = [1, 0, 0.5]
"#;

const HAND: &str = r#"
[hand.right]
position = [0, 0.5, 0]
pose = "rest"
material = "skin"
motion = [
    { at = 0.5, pose = "fist" },
    { at = 1.0 },
    { at = 2.0, position = [0, 1, 0], angles = { index = [10, 0, 20, 5] } },
]
"#;

#[test]
fn every_shipped_scene_loads_and_steps() {
    let files = shipped();
    assert!(files.len() >= 6);
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a file");
        let comments = text.lines().take_while(|line| line.starts_with('#')).count();
        assert!((2..=3).contains(&comments), "{} says what it shows", file.display());
        let mut scene = load_scene(&file, &[]).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(scene.name, file.file_stem().expect("a name").to_string_lossy());
        assert!(scene.world.bodies.count() > 0);
        scene.feed();
        assert_eq!(scene.world.step().status, Status::Done);
    }
}

#[test]
fn a_scene_matches_its_file() {
    let scene = parse(&format!("{SMALL}{HAND}"), &[]).unwrap_or_else(|p| panic!("{p:?}"));
    assert_eq!(scene.names_of::<RigidBody>().collect::<Vec<_>>(), ["zebra", "apple"], "in the order of the file");
    assert!(scene.rigid("apple").is_some() && scene.soft("jelly").is_some() && scene.rigid("floor").is_none());
    assert!(scene.world.bodies.find_as::<Fixed>("floor").is_some());
    assert_eq!((scene.hand("right"), scene.rigid("pear")), (Some(0), None));
    let (bodies, materials) = (&scene.world.bodies, &scene.world.materials);
    let [zebra, apple] = [bodies.rigid(0), bodies.rigid(1)];
    assert!((zebra.mass() - 3.0).abs() < 1e-12 && (apple.mass() - 0.2).abs() < 1e-12);
    assert!((zebra.angular_velocity() - Vec3::new(0.0, std::f64::consts::PI, 0.0)).norm() < 1e-12);
    assert_eq!(*zebra.linear_velocity(), Vec3::x());
    assert!(zebra.samples().is_some_and(|s| (60..160).contains(&s.areas.len())) && apple.samples().is_none());
    assert!((apple.pose().rotation * Vec3::x() - Vec3::y()).norm() < 1e-12);
    let steel = materials.find("steel").expect("steel");
    assert_eq!(zebra.material, steel);
    assert_eq!(materials.pair(steel, steel).sliding, 0.1);
    assert_eq!(materials.pair(bodies.hand(0).material, steel), Friction::of(0.3));
    let jelly = bodies.soft(0);
    assert!((jelly.momentum().0 / jelly.mass() - Vec3::y()).norm() < 1e-12);
    assert_eq!(jelly.model().material().young, 20e3);
    assert_eq!(scene.colours["jelly"], [1.0, 0.0, 0.5]);
    let motion = scene.motions[0].as_ref().expect("a motion");
    let at = |time: f64| motion.sample(time).expect("a sample");
    let pose = |name: &str| *scene.world.bodies.hand(0).model().description.pose(name).expect("a pose");
    assert_eq!(at(0.0).angles, Some(pose("rest")), "from the hand's own pose");
    assert_eq!(at(0.75).angles, Some(pose("fist")), "a key holds what it does not name");
    let end = at(3.0);
    assert_eq!(end.palm.map(|p| p.translation.y), Some(1.0));
    let angles = end.angles.expect("angles");
    assert!((angles[4].to_degrees() - 10.0).abs() < 1e-9 && angles[8] == pose("fist")[8]);
}

#[test]
fn rotations_are_about_fixed_axes_in_the_order_x_y_z() {
    let turned = |rotation: &str| {
        let text = format!("[body.b]\nkind = \"rigid\"\nshape = \"ball\"\nradius = 1\n{rotation}\n");
        let scene = parse(&text, &[]).unwrap_or_else(|p| panic!("{p:?}"));
        scene.world.bodies.rigid(0).pose().rotation
    };
    // Y is rotated to Z about X, and then to X about Y.
    let q = turned("rotation = [90, 90, 0]");
    assert!((q * Vec3::y() - Vec3::x()).norm() < 1e-12);
    let half = 0.5f64.sqrt();
    assert!(turned(&format!("quaternion = [0, {half}, 0, {half}]")).angle_to(&turned("rotation = [0, 90, 0]")) < 1e-9);
    assert!(turned("axis_angle = [0, 7, 0, 90]").angle_to(&turned("rotation = [0, 90, 0]")) < 1e-9);
}

#[test]
fn attachments_find_their_ends() {
    let text = format!(
        "{SMALL}{HAND}
[[attachment]]\na = \"zebra\"\nb = \"world\"\njoint = \"hinge\"\nat = [0.05, 0.1, 0]\naxis = [0, 2, 0]
[[attachment]]\na = \"right.index_distal\"\nb = \"apple\"\njoint = \"weld\"\nat = [1, 2, 3]
[[attachment]]\na = \"jelly\"\nb = \"apple\"\njoint = \"point\"\nat = [0.01, 1.0, 0.005]\n"
    );
    let scene = parse(&text, &[]).unwrap_or_else(|p| panic!("{p:?}"));
    let [hinge, weld, point] = &scene.world.attachments[..] else { panic!("three") };
    assert_eq!(hinge.joint(), Joint::Hinge(Vec3::new(0.0, 2.0, 0.0)));
    assert_eq!((weld.joint(), point.joint()), (Joint::Weld, Joint::Point));
    for (attachment, at) in
        [(hinge, Vec3::new(0.05, 0.1, 0.0)), (weld, Vec3::new(1.0, 2.0, 3.0)), (point, Vec3::new(0.01, 1.0, 0.005))]
    {
        let [a, b] = attachment.places(&scene.world.bodies).next().expect("a point");
        assert!((a - at).norm() < 1e-9 && (b - at).norm() < 1e-9, "{a:?} {b:?}");
    }
}

/// A change to a valid scene, its line, the key, and the expected message.
#[test]
fn invalid_scenes_report_line_and_expectation() {
    let whole = format!("{SMALL}{HAND}");
    let cases: &[(&str, &str, &str, &str)] = &[
        ("radius = 0.05", "radus = 0.05", "body.apple.radus", "unknown key; did you mean `radius`?"),
        ("mass = 0.2", "mass = \"heavy\"", "body.apple.mass", "expected a number from 1e-6 to 1e5 kg, found a string"),
        ("mass = 0.2", "mass = -1", "body.apple.mass", "-1 is out of range"),
        ("mass = 0.2", "mass = nan", "body.apple.mass", "out of range"),
        ("mass = 0.2", "mass = 1\ndensity = 2", "body.apple.density", "exclude each other"),
        (
            "material = \"steel\"",
            "material = \"stel\"",
            "body.zebra.material",
            "no material `stel`; did you mean `steel`?",
        ),
        ("pose = \"rest\"", "pose = \"wrest\"", "hand.right.pose", "there is no pose `wrest`; did you mean `rest`?"),
        ("{ at = 1.0 }", "{ at = 0.4 }", "hand.right.motion[1].at", "times must ascend"),
        (
            "index = [10, 0, 20, 5]",
            "index = [10, 90, 20, 5]",
            "hand.right.motion[2].angles.index",
            "outside the joint's limits",
        ),
        ("axis_angle", "rotation = [0, 0, 0]\naxis_angle", "body.apple.axis_angle", "found 2 of them"),
        ("axis_angle = [0, 0, 2, 90]", "quaternion = [1, 1, 0, 0]", "body.apple.quaternion", "its length is 1.414"),
        ("shape = \"box\"", "shape = \"mesh\"\nfile = \"no.obj\"", "body.zebra.file", "there is no file"),
        ("shape = \"box\"", "shape = \"cube\"", "body.zebra.shape", "`cube` is not known; expected `box`, `ball`"),
        ("young = 20e3", "yung = 20e3", "body.jelly.yung", "unknown key; did you mean `young`?"),
        ("[body.apple]", "[body.right]", "body.right", "a hand has the name `right` too"),
        ("[body.apple]", "[body.world]", "body.world", "the name `world` is reserved"),
        ("[body.apple]", "[body.\"a.b\"]", "body.a.b", "a name consists of letters"),
        ("[body.apple]", "[body.zebra]", "", "not valid TOML: duplicate key"),
        ("[body.apple]", "[body.apple", "", "not valid TOML"),
        (
            "friction = 0.9",
            "friction = { rest = 0.1, sliding = 0.2 }",
            "material.skin.friction.sliding",
            "more than the 0.1 at rest",
        ),
        ("[\"skin\", \"steel\"]", "[\"skin\"]", "pair[0].materials", "expected a list of 2 strings"),
        ("samples = 100", "samples = 100.5", "body.zebra.samples", "not a whole number"),
        ("name = \"small\"", "contact = 3", "contact", "expected a table, found a number"),
        ("name = \"small\"", "contact = { split = 1 }", "contact.split", "expected true or false, found a number"),
        ("name = \"small\"", "body = [1]", "", "not valid TOML"),
    ];
    for (old, new, key, says) in cases {
        // Building a hand is slow.
        let sound = if SMALL.contains(old) && !new.contains("right") { SMALL } else { whole.as_str() };
        assert!(sound.contains(old), "{old}");
        let text = sound.replacen(old, new, 1);
        let problems = parse(&text, &[]).expect_err(new);
        let found = problems.iter().find(|p| p.key == *key && p.message.contains(says));
        let found = found.unwrap_or_else(|| panic!("{new}: {key}: {says} is not in {problems:?}"));
        // On the last line of the inserted text.
        let before = &sound[..sound.find(old).expect("the place")];
        let line = before.matches('\n').count() + new.lines().count();
        if !new.starts_with("body =") {
            assert_eq!(found.line, line, "{found}");
        }
    }
}

#[test]
fn attachments_to_unknown_bodies_are_rejected() {
    let attach = |lines: &str| {
        let text = format!("{SMALL}{HAND}[[attachment]]\n{lines}\n");
        parse(&text, &[]).expect_err("a problem").iter().map(|p| p.to_string()).collect::<Vec<_>>().join("\n")
    };
    let says = attach("a = \"aple\"\nb = \"world\"\njoint = \"point\"\nat = [0, 0, 0]");
    assert!(says.contains("attachment[0].a: there is no body `aple`; did you mean `apple`?"), "{says}");
    let says = attach("a = \"right.index_distl\"\nb = \"world\"\njoint = \"point\"\nat = [0, 0, 0]");
    assert!(says.contains("did you mean `right.index_distal`?"), "{says}");
    let says = attach("a = \"jelly\"\nb = \"world\"\njoint = \"weld\"\nat = [0, 1, 0]");
    assert!(says.contains("attachment[0].joint: a soft body can be attached at a point only"), "{says}");
    let says = attach("a = \"jelly\"\nb = \"world\"\njoint = \"point\"\nat = [0, 5, 0]");
    assert!(says.contains("attachment[0].at: the point lies outside"), "{says}");
    let says = attach("a = \"right\"\nb = \"world\"\njoint = \"point\"\nat = [0, 0, 0]");
    assert!(says.contains("attachment[0].a: there is no body `right`"), "{says}");
    let says = attach("a = \"zebra\"\nb = \"zebra\"\njoint = \"point\"\nat = [0, 0, 0]");
    assert!(says.contains("attachment[0].b: a part cannot be attached to itself"), "{says}");
    let says = attach("a = \"zebra\"\nb = \"apple\"\njoint = \"hinge\"\nat = [0, 0, 0]");
    assert!(says.contains("attachment[0].axis: missing"), "{says}");
}

#[test]
fn all_problems_are_reported_at_once_and_those_of_other_files_too() {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scenes");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("open.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").expect("a file");
    std::fs::write(folder.join("bad.obj"), "v 0 0 0\nf 1 2 3\n").expect("a file");
    let body = |file: &str| format!("kind = \"rigid\"\nshape = \"mesh\"\nfile = \"{file}\"\n");
    let text = format!("dt = 7\n[body.a]\n{}[body.b]\n{}[contact]\nalarm = 0\n", body("open.obj"), body("bad.obj"));
    let file = folder.join("several.toml");
    let problems = parse_scene(&file, &text, &[]).expect_err("problems").0;
    let places: Vec<_> = problems.iter().map(|p| (p.file.file_name().expect("a name").to_owned(), p.line)).collect();
    let expected = [("several.toml", 1), ("several.toml", 11), ("open.obj", 4), ("bad.obj", 2)];
    assert_eq!(places, expected.map(|(file, line)| (file.into(), line)));
    assert!(problems[2].message.contains("open"), "{}", problems[2]);
}

#[test]
fn each_setting_changes_its_parameter() {
    let whole = format!("{SMALL}{HAND}");
    let load = |text: &str, setting: &str| parse(text, &[setting]).unwrap_or_else(|p| panic!("{setting}: {p:?}"));
    // Building a hand is slow.
    let (set, set_hand) = (|setting: &str| load(SMALL, setting), |setting: &str| load(&whole, setting));
    let parameters = |setting: &str| set(setting).world.parameters;
    assert_eq!(parameters("dt=0.002").dt, 0.002);
    assert_eq!(parameters("gravity=[0, 0, -1]").gravity, -Vec3::z());
    assert_eq!(parameters("friction=paper").contact.friction, FrictionModel::Paper);
    assert_eq!(parameters("pressure=uniform").contact.pressure, Pressure::Uniform);
    assert_eq!(parameters("method=point").contact.method, Method::Point);
    assert!(!parameters("aggregate.split=false").contact.split);
    assert_eq!(parameters("aggregate.split_angle=180").contact.split_angle, std::f64::consts::PI);
    assert_eq!(parameters("contact.alarm=0.005").contact.alarm, 0.005);
    assert_eq!(parameters("contact.offset=1e-4").contact.offset, 1e-4);
    assert_eq!(parameters("solver.tolerance=1e-6").solver.tolerance, 1e-6);
    assert_eq!(parameters("solver.iterations=50").solver.iterations, 50);
    assert_eq!(parameters("solver.deadline_ms=2").deadline, Some(0.002));
    assert_eq!(parameters("refactor=always").refactor.when, Refactor::Always);
    assert_eq!(parameters("drift=0.1").refactor.drift, 0.1);
    assert_eq!(set("seconds=7").seconds, 7.0);
    assert_eq!(set("seed=12345678901").seed, 12_345_678_901);
    assert!(
        !set_hand("fingers=rigid").world.bodies.hand(0).is_soft()
            && set_hand("fingers=soft").world.bodies.hand(0).is_soft()
    );
    assert_eq!(set_hand("tissue.young=1e5").world.bodies.hand(0).model().description.tissue.young, 1e5);
    for (factor, parts) in [("4", 4), ("1", 2), ("0.1", 1), ("2", 3)] {
        let scene = set_hand(&format!("skin.resolution={factor}"));
        assert_eq!(scene.world.bodies.hand(0).model().description.mesh.skin, parts, "{factor}");
    }
    let scene = set("material.steel.friction=0.7");
    let steel = scene.world.materials.find("steel").expect("steel");
    assert_eq!(scene.world.materials.pair(steel, steel), Friction::of(0.7));
    let scene = set("material.default.friction=0.2");
    assert_eq!(scene.world.materials.pair(scene.world.bodies.fixed(0).material, steel).rest, (0.2f64 * 0.4).sqrt());
    assert!((set("body.zebra.mass=9").world.bodies.rigid(0).mass() - 9.0).abs() < 1e-12, "in place of its density");
    let place = set("body.apple.position=[4, 5, 6]").world.bodies.rigid(1).pose().translation.vector;
    assert_eq!(place, Vec3::new(4.0, 5.0, 6.0));
}

#[test]
fn invalid_settings_report_the_expectation() {
    let cases = [
        ("frction=paper", "did you mean `friction` or `material.NAME.friction`?"),
        ("resolution=2", "did you mean `skin.resolution`?"),
        ("zzz=2", "unknown setting; expected `dt`, `seconds`"),
        ("friction=papr", "--set friction=papr: contact.friction: `papr` is not known; expected `exact`, `paper`"),
        ("dt=fast", "--set dt=fast: dt: expected a number from 1e-5 to 0.1 s, found a string"),
        ("dt=7", "7 is out of range"),
        ("solver.iterations=2.5", "not a whole number"),
        ("aggregate.split=maybe", "expected true or false, found a string"),
        ("body.aple.mass=1", "there is no body `aple`; did you mean `apple`?"),
        ("material.stel.friction=1", "there is no material `stel`; did you mean `steel`?"),
        ("body.floor.mass=1", "body.floor.mass: unknown key"),
        ("fingers=soft", "the scene has no hand"),
        ("threads=2", "unknown setting"),
        ("gravity=[1, 2]", "expected a list of 3 numbers"),
    ];
    for (setting, says) in cases {
        let problems = parse(SMALL, &[setting]).expect_err(setting);
        assert!(problems.iter().any(|p| p.to_string().contains(says)), "{setting}: {says} is not in {problems:?}");
        assert_eq!(problems.len(), 1, "{problems:?}");
    }
    assert!("dt".parse::<Setting>().is_err());
    let both = parse(&format!("{SMALL}{HAND}"), &["fingers=hard"]).expect_err("a problem");
    assert!(both[0].message.contains("expected `soft` or `rigid`"), "{both:?}");
}

proptest! {
    /// Any text gives a scene or a problem.
    #[test]
    fn arbitrary_text_never_panics(text in "\\PC{0,200}") {
        let _ = parse(&text, &[]);
    }

    /// The same for a valid scene with parts removed or overwritten.
    #[test]
    fn corrupt_scenes_never_panic(
        start in 0.0..1.0f64, length in 0..40usize, new in "[-0-9a-z.,=\"\\[\\]{}\n ]{0,12}",
    ) {
        let from = SMALL.floor_char_boundary((start * SMALL.len() as f64) as usize);
        let to = SMALL.floor_char_boundary((from + length).min(SMALL.len()));
        let _ = parse(&format!("{}{new}{}", &SMALL[..from], &SMALL[to..]), &[]);
    }

    /// Hulls of points on a small lattice are often flat, or have points that coincide or lie on a line.
    #[test]
    fn any_points_are_a_hull_or_a_problem(points in prop::collection::vec([-2..3i32, -2..3i32, -2..3i32], 0..14)) {
        let text = format!("[body.b]\nkind = \"rigid\"\nshape = \"hull\"\nsamples = 50\npoints = {points:?}\n");
        let _ = parse(&text, &[]);
    }

    #[test]
    fn settings_never_panic(key in "[a-zA-Z._]{0,24}", value in "\\PC{0,24}") {
        let setting = Setting::new(&key, value);
        let _ = parse_scene(Path::new("x.toml"), SMALL, std::slice::from_ref(&setting));
        let real = Setting::new("gravity", setting.value);
        let _ = parse_scene(Path::new("x.toml"), SMALL, &[real]);
    }
}
