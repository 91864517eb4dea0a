//! `scenes/README.md` matches the reader of scenes: every key, its range and its default.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use fingerpad::assets::{Problem, Scene, parse_scene, setting_keys};
use fingerpad::mesh::block;

use crate::reference::{Row, rows};

/// A scene with a mesh of each kind next to it; the tests of this file share it.
fn file() -> &'static Path {
    static FILE: OnceLock<PathBuf> = OnceLock::new();
    FILE.get_or_init(write_meshes)
}

fn write_meshes() -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("scene_reference");
    std::fs::create_dir_all(&folder).expect("a folder");
    let mesh = block(&fingerpad::math::Vec3::repeat(0.02), [1, 1, 1]);
    let (surface, _) = mesh.boundary();
    let mut obj = String::new();
    surface.vertices.iter().for_each(|p| obj += &format!("v {} {} {}\n", p.x, p.y, p.z));
    surface.triangles.iter().for_each(|t| obj += &format!("f {} {} {}\n", t[0] + 1, t[1] + 1, t[2] + 1));
    let mut vtk = format!("# vtk DataFile Version 3.0\nx\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {} double\n", 8);
    mesh.nodes.iter().for_each(|p| vtk += &format!("{} {} {}\n", p.x, p.y, p.z));
    vtk += &format!("CELLS {} {}\n", mesh.tets.len(), 5 * mesh.tets.len());
    mesh.tets.iter().for_each(|t| vtk += &format!("4 {} {} {} {}\n", t[0], t[1], t[2], t[3]));
    vtk += &format!("CELL_TYPES {}\n{}", mesh.tets.len(), "10\n".repeat(mesh.tets.len()));
    std::fs::write(folder.join("cube.obj"), obj).expect("a file");
    std::fs::write(folder.join("cube.vtk"), vtk).expect("a file");
    folder.join("scene.toml")
}

fn parse(text: &str) -> Result<Scene, Vec<Problem>> {
    parse_scene(file(), text, &[]).map_err(|problems| problems.0)
}

fn reference() -> Vec<Row> {
    rows("scenes/README.md", 90)
}

/// The valid lines of a section that keys are added to: the preceding text, and the section itself.
fn base(section: &str, shape: &str) -> (&'static str, String) {
    const BODY: &str = "[body.c]\nkind = \"rigid\"\nshape = \"ball\"\nradius = 0.1\n";
    let sizes = match (shape, section.ends_with("soft") || section.ends_with("quasi_rigid")) {
        ("box", _) => "size = [0.1, 0.1, 0.1]",
        ("ball", _) => "radius = 0.1",
        ("capsule", _) => "length = 0.1\nradius = 0.1",
        ("cylinder", _) => "height = 0.1\nradius = 0.1",
        ("hull", _) => "points = [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]",
        ("mesh", false) => "file = \"cube.obj\"",
        ("mesh", true) => "file = \"cube.vtk\"",
        ("ellipsoid", _) => "semi_axes = [0.1, 0.1, 0.1]",
        ("profile", _) => "points = [[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0], [0, 0.1, 0]]",
        ("points", _) => "points = [[0, 0, 0], [0.1, 0, 0], [0.1, 0.1, 0], [0.1, 0.1, 0.1]]\nradius = 0.01",
        ("pipe", _) => "radius = 0.1\ninner_radius = 0.05\nlength = 0.1\ncells = [1, 8, 3]",
        ("arc", _) => "centre = [0, 0, 0]\naxis = [0, 0, 1]\nstart = [0.1, 0, 0]\nangle = 90\nradius = 0.01",
        ("block" | "table", _) => "size = [0.1, 0.1, 0.1]\ncells = [3, 2, 3]",
        _ => "",
    };
    let body = |kind: &str| format!("[body.b]\nkind = \"{kind}\"\nshape = \"{shape}\"\n{sizes}\n");
    match section {
        "Top level" => ("", String::new()),
        "`[contact]`" => ("", "[contact]\n".into()),
        "`[solver]`" => ("", "[solver]\n".into()),
        "`[camera]`" => ("", "[camera]\nposition = [1, 1, 1]\ntarget = [0, 0, 0]\n".into()),
        "`[material.NAME]`" => ("", "[material.m]\nfriction = 0.5\n".into()),
        "`[[pair]]`" => ("", "[[pair]]\nmaterials = [\"default\", \"default\"]\nfriction = 0.5\n".into()),
        "`[body.NAME]`, rigid" => ("", body("rigid")),
        "`[body.NAME]`, fixed" => ("", body("fixed")),
        "`[body.NAME]`, soft" => ("", body("soft")),
        "`[body.NAME]`, quasi_rigid" => ("", body("quasi_rigid")),
        "`[body.NAME]`, beam" => ("", body("beam")),
        "`[body.NAME]`, elastic" => ("", body("elastic")),
        "`inclusions` of an elastic body" => (
            "[body.e]\nkind = \"elastic\"\nshape = \"ball\"\nradius = 0.2\n",
            "[[body.e.inclusions]]\nradius = 0.1\n".into(),
        ),
        "`tool` of an elastic body" => {
            let sizes = match shape {
                "ball" => "radius = 0.01",
                "mesh" => "file = \"cube.obj\"",
                _ => "",
            };
            let before = "[body.e]\nkind = \"elastic\"\nshape = \"ball\"\nradius = 0.2\nlink = 1.0\nfixed = true\n";
            (before, format!("[body.e.tool]\nshape = \"{shape}\"\n{sizes}\n"))
        }
        "`[hand.NAME]`" => ("", "[hand.h]\n".into()),
        "`motion` of a hand" => ("[hand.h]\n", "[[hand.h.motion]]\nat = 1.0\n".into()),
        "`[[attachment]]`" => {
            let ends = "a = \"c\"\nb = \"world\"\njoint = \"hinge\"\nat = [0, 0, 0]\naxis = [0, 1, 0]\n";
            (BODY, format!("[[attachment]]\n{ends}"))
        }
        "`[haptic]`" => (BODY, "[haptic]\ntool = \"c\"\n".into()),
        "`motion` of a device" => {
            let before: &'static str = Box::leak(format!("{BODY}[haptic]\ntool = \"c\"\n").into_boxed_str());
            (before, "[[haptic.motion]]\nat = 1.0\nmove = [0, 0, 0]\n".into())
        }
        other => panic!("no scene for the section {other}"),
    }
}

fn shapes(section: &str) -> &'static [&'static str] {
    match section {
        "`[body.NAME]`, rigid" => &["box", "ball", "capsule", "cylinder", "hull", "mesh"],
        "`[body.NAME]`, fixed" => &["box", "ball", "capsule", "cylinder", "hull", "mesh", "ground"],
        "`[body.NAME]`, soft" | "`[body.NAME]`, quasi_rigid" => &["block", "ball", "table", "clip", "pipe", "mesh"],
        "`[body.NAME]`, beam" => &["points", "arc"],
        "`[body.NAME]`, elastic" => &["box", "ball", "ellipsoid", "capsule", "profile"],
        "`tool` of an elastic body" => &["ball", "mallet", "compass", "mesh"],
        _ => &[""],
    }
}

/// The section with a key set.
fn with(row: &Row, value: &str) -> String {
    let shape = row.kinds.first().map_or(shapes(&row.section)[0], String::as_str);
    let (before, section) = base(&row.section, shape);
    let own = format!("{} =", row.key);
    let kept: String = section.lines().filter(|l| !l.starts_with(&own)).map(|l| format!("{l}\n")).collect();
    format!("{before}{kept}{own} {value}\n")
}

#[test]
fn ranges_and_words_are_as_documented() {
    let mut checked = 0;
    for row in reference() {
        let (value, says) = if let Some((count, range)) = row.expects.split_once(" × ") {
            let value = match count {
                "points" => "[[1e300, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]".into(),
                count => format!("[{}]", vec!["1e300"; count.parse().expect("a number")].join(", ")),
            };
            (value, format!("a number from {range}"))
        } else if row.expects.contains(" to ") {
            ("1e300".into(), format!("a number from {}", row.expects))
        } else if row.expects.starts_with('`') {
            ("\"zzzz\"".into(), format!("expected {}", row.expects))
        } else if row.expects == "true or false" {
            ("3".into(), "expected true or false, found a number".into())
        } else {
            continue;
        };
        let text = with(&row, &value);
        let problems = parse(&text).expect_err("a value that is none");
        // The whole message, so that a missing unit or word is detected.
        let found = problems.iter().any(|p| p.key.contains(&row.key) && p.message.ends_with(&says));
        assert!(found, "{} of {}: `{says}` is not in {problems:?}", row.key, row.section);
        checked += 1;
    }
    assert!(checked > 70, "{checked}");
}

#[test]
fn defaults_are_as_documented() {
    let (mut checked, mut left_out) = (0, BTreeMap::new());
    for row in reference() {
        let Some(value) = row.default.strip_prefix('`').and_then(|d| d.strip_suffix('`')) else { continue };
        let shape = row.kinds.first().map_or(shapes(&row.section)[0], String::as_str);
        let (before, section) = base(&row.section, shape);
        let load = |text: &str| format!("{:?}", parse(text).unwrap_or_else(|p| panic!("{}: {p:?}", row.key)));
        let left_out = left_out.entry((row.section.clone(), shape.to_string()));
        let left_out = left_out.or_insert_with(|| load(&format!("{before}{section}")));
        assert!(*left_out == load(&with(&row, value)), "{} of {}: {value}", row.key, row.section);
        checked += 1;
    }
    assert!(checked > 40, "{checked}");
    let angle = fingerpad::contact::ContactParameters::default().split_angle.to_degrees();
    let row = reference().into_iter().find(|row| row.key == "split_angle").expect("the row");
    assert_eq!(row.default, format!("{angle:.1} (1 rad)"));
}

#[test]
fn every_key_is_documented_and_every_documented_key_is_known() {
    let rows = reference();
    let sections: BTreeSet<&str> = rows.iter().map(|row| row.section.as_str()).collect();
    for section in sections {
        let mut known = BTreeSet::new();
        for shape in shapes(section) {
            let (before, lines) = base(section, shape);
            let problems = parse(&format!("{before}{lines}zzzz_zzzz = 1\n")).expect_err("an unknown key");
            assert_eq!(problems.len(), 1, "{section}, {shape}: {problems:?}");
            known.extend(problems[0].message.split('`').skip(1).step_by(2).map(String::from));
        }
        let own = rows.iter().filter(|row| row.section == section);
        let documented = own.map(|row| row.key.split('.').next().unwrap_or_default().to_string()).collect();
        assert_eq!(known, documented, "{section}");
    }
}

#[test]
fn every_setting_is_documented() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/README.md"));
    let text = text.expect("the reference");
    let settings = text.split("## Settings").nth(1).expect("the section");
    let cells = settings.lines().filter(|l| l.starts_with("| `")).filter_map(|l| l.split('|').nth(1));
    let documented: BTreeSet<&str> = cells.flat_map(|cell| cell.split('`').skip(1).step_by(2)).collect();
    assert_eq!(documented, setting_keys().collect());
}

#[test]
fn every_shipped_scene_is_listed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let text = std::fs::read_to_string(folder.join("README.md")).expect("the reference");
    for entry in std::fs::read_dir(&folder).expect("the folder") {
        let name = entry.expect("an entry").file_name().to_string_lossy().into_owned();
        assert!(!name.ends_with(".toml") || text.contains(&format!("| `{name}` |")), "{name}");
    }
}

#[test]
fn a_camera_looks_from_its_position_at_its_target() {
    let scene = parse("[camera]\nposition = [0.4, 0.3, 0.5]\ntarget = [0, 0.1, 0]\n").expect("a sound scene");
    let camera = scene.camera.expect("a camera");
    assert_eq!((camera.position.z, camera.target.y), (0.5, 0.1));
    #[cfg(feature = "viewer")]
    {
        let stage = fingerpad::viewer::Stage::of(&scene);
        assert_eq!(stage.viewpoint().map(|camera| camera.eye), Some([0.4, 0.3, 0.5]));
    }
    assert!(parse("").expect("an empty scene").camera.is_none());
    for target in ["[0.4, 0.3, 0.5]", "[0.4, 0.0, 0.5]"] {
        let problems = parse(&format!("[camera]\nposition = [0.4, 0.3, 0.5]\ntarget = {target}\n")).expect_err("blind");
        assert!(problems.len() == 1 && problems[0].message.contains("straight up or down"), "{problems:?}");
    }
}
