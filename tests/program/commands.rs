//! The command line as a user types it.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn fingerpad(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fingerpad"))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// A folder for this test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// The right hand with something changed, as a file.
fn spoiled(name: &str, change: impl Fn(String) -> String) -> String {
    let good =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("hands/right.toml")).expect("the hand");
    let file = folder("hands").join(name);
    std::fs::write(&file, change(good)).expect("a file");
    file.to_string_lossy().into_owned()
}

fn line_of(file: &str, needle: &str) -> usize {
    let text = std::fs::read_to_string(file).expect("the file");
    text.lines().position(|l| l.contains(needle)).expect("the line") + 1
}

#[test]
fn hand_describes_the_shipped_hands() {
    for (file, side) in [
        ("hands/right.toml", "right"),
        ("hands/left.toml", "left"),
        ("hands/small.toml", "right"),
        ("hands/large.toml", "right"),
    ] {
        let out = fingerpad(&["hand", file, "--json"]);
        assert!(out.status.success(), "{}", text(&out.stderr));
        let hand: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        assert_eq!(hand["side"], side);
        assert_eq!(hand["phalanges"], 15);
        assert_eq!(hand["degrees_of_freedom"]["reduced"], 26);
        let tetrahedra = hand["tetrahedra"].as_u64().expect("a count");
        assert!((1350..=1650).contains(&tetrahedra), "{tetrahedra}");
        assert!(hand["worst_quality"].as_f64().expect("a number") > 0.2);
        assert!(hand["visual_vertices"].as_u64().expect("a count") > 2000);
        assert_eq!(hand["segments"].as_array().expect("a list").len(), 16);
        assert_eq!(hand["limits_deg"].as_object().expect("a table").len(), 20);
    }
    let plain = fingerpad(&["hand"]);
    assert!(plain.status.success() && text(&plain.stdout).contains("tetrahedra"));
}

/// The joints that a headset tracks of a hand in its pose `rest`.
fn joints_at_rest(model: &fingerpad::hand::HandModel) -> Vec<fingerpad::math::Vec3> {
    use fingerpad::devices::joints::{JOINTS, WRIST, phalanx};
    use fingerpad::tracking::{Finger, Segment};

    let kin =
        model.skeleton.kinematics(&fingerpad::math::Pose::identity(), model.description.pose("rest").expect("a pose"));
    let mut joints = vec![fingerpad::math::Vec3::zeros(); JOINTS];
    joints[WRIST] = model.description.palm.wrist;
    for finger in Finger::ALL {
        let of = &model.description.fingers[finger as usize];
        for place in 0..3 {
            joints[phalanx(finger, place)] = kin.poses[Segment::phalanx(finger, place).index()].translation.vector;
        }
        let last = &kin.poses[Segment::phalanx(finger, 2).index()];
        let tip = last * nalgebra::Point3::new(0.0, 0.0, -of.lengths[2] - of.tip);
        joints[phalanx(finger, 3)] = tip.coords;
    }
    joints
}

/// A fitted hand has the lengths that were measured, also from the joints that a headset tracks.
#[test]
fn hand_fit_writes_a_hand_with_the_measured_lengths() {
    use fingerpad::assets::{builtin_hand_model, load_hand};
    use fingerpad::tracking::{Finger, Side};

    let out = folder("hand_fit").join("mine.toml");
    let file = out.to_string_lossy();
    let fit = |more: &[&str]| fingerpad(&[&["hand", "fit", "--out", &file], more].concat());
    let ran = fit(&["--length", "0.205", "--breadth", "0.092", "--index", "0.1", "--side", "left"]);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let hand = load_hand(&out).expect("the hand");
    let index = &hand.fingers[Finger::Index as usize];
    let little = &hand.fingers[Finger::Little as usize];
    let breadth = (index.base - little.base).norm()
        + index.bone_radius[0]
        + index.tissue[0].side
        + little.bone_radius[0]
        + little.tissue[0].side;
    assert_eq!(hand.side, Side::Left);
    assert!((hand.hand_length() - 0.205).abs() < 1e-5, "{}", hand.hand_length());
    assert!((breadth - 0.092).abs() < 1e-5, "{breadth}");
    assert!((index.lengths.iter().sum::<f64>() + index.tip - 0.1).abs() < 1e-5);

    // Joints of the built-in hand, 8 % larger, in a pose, and a bad frame among them.
    let model = builtin_hand_model().expect("a hand");
    let joints = joints_at_rest(&model);
    let frame = |factor: f64| {
        joints.iter().map(|p| format!("{} {} {}\n", factor * p.x, factor * p.y, factor * p.z)).collect::<String>()
    };
    let tracked = folder("hand_fit").join("joints.txt");
    std::fs::write(&tracked, format!("# x y z\n{}{}{}", frame(1.08), frame(0.5), frame(1.08))).expect("a file");
    let ran = fit(&["--joints", &tracked.to_string_lossy()]);
    assert!(ran.status.success(), "{}", text(&ran.stderr));
    let hand = load_hand(&out).expect("the hand");
    for (own, base) in hand.fingers.iter().zip(&model.description.fingers) {
        for (one, other) in own.lengths.iter().zip(&base.lengths) {
            assert!((one - 1.08 * other).abs() < 1e-4, "{one} {other}");
        }
    }
    assert!((hand.hand_length() - 1.08 * model.description.hand_length()).abs() < 1e-3);

    for (more, says) in [
        (&[][..], "nothing was measured"),
        (&["--length", "0.6"], "a number from 0.02 to 0.35 m"),
        (&["--length", "0.1", "--middle", "0.095"], "the palm would be"),
        (&["--joints", "nowhere.txt"], "nowhere.txt: cannot be read"),
    ] {
        let ran = fit(more);
        assert!(!ran.status.success() && text(&ran.stderr).contains(says), "{more:?}: {}", text(&ran.stderr));
    }
}

#[test]
fn resolution_scales_the_mesh() {
    let count = |resolution: &str| {
        let file = spoiled(&format!("resolution_{resolution}.toml"), |t| {
            t.replace("resolution = 1.0", &format!("resolution = {resolution}"))
        });
        let out = fingerpad(&["hand", &file, "--json"]);
        let hand: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
        hand["tetrahedra"].as_f64().expect("a count")
    };
    let one = count("1.0");
    for (resolution, factor) in [("0.34", 0.34), ("2.0", 2.0), ("8.0", 8.0)] {
        let ratio = count(resolution) / one;
        assert!((ratio / factor - 1.0).abs() < 0.35, "resolution {resolution} gives {ratio:.2} times as many");
    }
}

#[test]
fn check_reports_every_error_with_its_position() {
    let good = fingerpad(&["check", "hands/right.toml", "hands/left.toml", "hands/small.toml", "hands/large.toml"]);
    assert!(good.status.success(), "{}", text(&good.stderr));
    let file = spoiled("several.toml", |t| {
        t.replace("bone_density = 1500", "bone_densty = 1500")
            .replace("poisson = 0.42", "poisson = 0.7")
            .replace("lengths = [0.0398, 0.0224, 0.0158]", "lengths = [0.0398, 0.0224]")
            .replace("side = \"right\"", "side = \"rigth\"")
    });
    let out = fingerpad(&["check", &file]);
    assert_eq!(out.status.code(), Some(2));
    assert!(out.stdout.is_empty());
    let errors = text(&out.stderr);
    let expect = |needle: &str, parts: &[&str]| {
        let place = format!("{file}:{}:", line_of(&file, needle));
        let found = errors.lines().any(|l| l.contains(&place) && parts.iter().all(|p| l.contains(p)));
        assert!(found, "{place} {parts:?} in:\n{errors}");
    };
    expect("bone_densty", &["bone_densty: unknown key; did you mean `bone_density`?"]);
    expect("poisson = 0.7", &["tissue.poisson", "0.7 is out of range", "0 to 0.49"]);
    expect("lengths = [0.0398, 0.0224]", &["index.lengths", "a list of 3 numbers", "found 2"]);
    expect("rigth", &["side", "`rigth` is not known", "`right` or `left`"]);
    assert!(errors.contains("bone_density: missing"), "{errors}");
    let column = errors.lines().find(|l| l.contains("bone_densty")).expect("the line");
    assert!(column.contains(":1: bone_densty"), "the column is the key's: {column}");
}

#[test]
fn bad_files_get_a_sentence_and_exit_code_2() {
    let cases: Vec<(String, &str)> = vec![
        ("hands/nowhere.toml".into(), "cannot be read"),
        (spoiled("syntax.toml", |t| t.replace("[palm]", "[palm")), "not valid TOML"),
        (spoiled("circle.toml", |_| "base = \"circle.toml\"\n".into()), "in a circle"),
        (spoiled("orphan.toml", |_| "base = \"nobody.toml\"\n".into()), "there is no file"),
        (
            spoiled("both.toml", |t| t.replace("hand_length = 0.187", "hand_length = 0.187\nscale = 1.0")),
            "exclude each other",
        ),
        (spoiled("limits.toml", |t| t.replacen("[-20, 90]", "[90, -20]", 1)), "exceeds"),
        (spoiled("pose.toml", |t| t.replace("[poses.fist]", "[poses.fits]")), "`fist` is missing"),
        (
            spoiled("far.toml", |t| t.replace("index = [0, 4, 0, 0]", "index = [0, 44, 0, 0]")),
            "outside the joint's limits",
        ),
        (
            spoiled("parallel.toml", |t| t.replacen("dorsal = [0, 1, 0]", "dorsal = [0, 0, 1]", 5)),
            "must not be parallel",
        ),
        (spoiled("text.toml", |t| t.replace("thickness = 0.014", "thickness = \"thick\"")), "found a string"),
        (spoiled("nan.toml", |t| t.replace("thickness = 0.014", "thickness = nan")), "out of range"),
        (spoiled("flat.toml", |t| t.replace("[palm]\n", "palm = 3\n[nothing]\n")), "expected a table"),
        (spoiled("hand.yaml", |t| t), "expected a hand file"),
    ];
    for (file, sentence) in cases {
        let out = fingerpad(&["check", &file]);
        let errors = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{file}: {errors}");
        assert!(errors.contains(sentence), "{file}: expected `{sentence}` in:\n{errors}");
        assert!(errors.lines().all(|l| l.starts_with("error: ")), "{errors}");
        assert!(!errors.contains("panicked"));
    }
    assert_eq!(fingerpad(&["hnad"]).status.code(), Some(2));
    assert_eq!(fingerpad(&["bench", "nothing"]).status.code(), Some(2));
}

#[cfg(feature = "script")]
#[test]
fn check_shows_the_line_of_a_script() {
    let file = folder("scripts").join("broken.rhai");
    std::fs::write(&file, "let x = 1;\nlet y = ;\n").expect("a file");
    let out = fingerpad(&["check", &file.to_string_lossy()]);
    let errors = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2));
    assert!(errors.starts_with(&format!("error: {}:2:9: Unexpected", file.display())), "{errors}");
    assert!(errors.contains("let y = ;") && errors.contains('^'), "{errors}");
    // Script set-ups are checked like scene files.
    for (name, setting_up, says) in [
        ("scene", "let x = 1;\nscene(\"nowhere\");\n", "scene.rhai:2:1: there is no `nowhere` in scenes/"),
        ("import", "import \"broken\" as b;\n", "broken.rhai:2:9: Unexpected"),
        ("table", "scene(#{ body: #{ b: #{ kind: \"rigd\" } } });\n", "body.b.kind: `rigd` is not known"),
    ] {
        let file = file.with_file_name(format!("{name}.rhai"));
        std::fs::write(&file, setting_up).expect("a file");
        let out = fingerpad(&["check", &file.to_string_lossy()]);
        assert!(out.status.code() == Some(2) && text(&out.stderr).contains(says), "{}", text(&out.stderr));
    }
}

#[test]
fn json_of_check_lists_the_problems() {
    let file = spoiled("json.toml", |t| t.replace("poisson = 0.42", "poisson = 0.7"));
    let out = fingerpad(&["check", &file, "--json"]);
    assert_eq!(out.status.code(), Some(2));
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert_eq!(found["problems"][0]["key"], "tissue.poisson");
    assert_eq!(found["problems"][0]["line"], line_of(&file, "poisson = 0.7"));
}

/// A generated phalanx as a Gmsh 2.2 file, optionally with one invalid element.
fn gmsh(name: &str, invert: Option<usize>) {
    use fingerpad::hand::SegmentShape;
    use fingerpad::mesh::{ShellGrid, shell};
    use fingerpad::tracking::{Finger, Segment};
    let hand =
        fingerpad::assets::load_hand(&Path::new(env!("CARGO_MANIFEST_DIR")).join("hands/right.toml")).expect("a hand");
    let shape = SegmentShape::of(&hand, Segment::phalanx(Finger::Index, 2));
    let (mesh, _) = shell(ShellGrid { around: 9, along: 5, layers: 2 }, |d, s, t| shape.tissue().point(d, s, t));
    let mut out = format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{}\n", mesh.nodes.len());
    for (i, p) in mesh.nodes.iter().enumerate() {
        out += &format!("{} {:e} {:e} {:e}\n", i + 1, p.x, p.y, p.z);
    }
    out += &format!("$EndNodes\n$Elements\n{}\n", mesh.tets.len());
    for (i, tet) in mesh.tets.iter().enumerate() {
        let mut n = tet.map(|n| n + 1);
        if invert == Some(i) {
            n.swap(0, 1);
        }
        out += &format!("{} 4 2 1 1 {} {} {} {}\n", i + 1, n[0], n[1], n[2], n[3]);
    }
    out += "$EndElements\n";
    std::fs::write(folder("hands").join(name), out).expect("a file");
}

#[test]
fn a_custom_mesh_replaces_a_generated_one() {
    gmsh("tip.msh", None);
    gmsh("bad_tip.msh", Some(41));
    let with = |mesh: &str| {
        spoiled(&format!("with_{mesh}.toml"), |t| {
            t.replace("visual = 0.0025\n", &format!("visual = 0.0025\n[mesh.replace]\nindex_distal = \"{mesh}\"\n"))
        })
    };
    let out = fingerpad(&["hand", &with("tip.msh"), "--json"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let hand: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let tip =
        hand["segments"].as_array().expect("a list").iter().find(|s| s["name"] == "index_distal").expect("the tip");
    assert_eq!(tip["tetrahedra"], 6 * 9 * 5 * 2);
    // A path in a base file is relative to that file, not to the one that extends it.
    let elsewhere = folder("elsewhere").join("on_it.toml");
    std::fs::write(&elsewhere, "base = \"../hands/with_tip.msh.toml\"\nname = \"on it\"\n").expect("a file");
    let out = fingerpad(&["check", &elsewhere.to_string_lossy()]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let out = fingerpad(&["check", &with("bad_tip.msh")]);
    let errors = text(&out.stderr);
    assert_eq!(out.status.code(), Some(2));
    assert!(errors.contains("bad_tip.msh:") && errors.contains("42") && errors.contains("inverted"), "{errors}");
    let out = fingerpad(&["check", &with("missing.msh")]);
    assert!(text(&out.stderr).contains("mesh.replace.index_distal: there is no file"), "{}", text(&out.stderr));
}

#[test]
fn bench_prints_its_table() {
    let out = fingerpad(&["bench", "free_motion", "--steps", "20", "--json", "-q"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let table: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let rows = table["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 3);
    assert_eq!(rows[2]["refactorisations_per_step"], 16.0);
    assert!(rows.iter().all(|r| r["step_ms"]["median"].as_f64().is_some_and(|t| t > 0.0)));
}

#[test]
fn study_cone_repeats_the_papers_findings() {
    let out = fingerpad(&["study", "cone", "--tests", "6", "--json"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let study: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let gap = |sides: u64| {
        let row = study["gaps"].as_array().expect("rows").iter().find(|g| g["sides"] == sides).expect("the row");
        row["gap_of_friction"].as_f64().expect("a number")
    };
    assert!(gap(4) > gap(8) && gap(8) > gap(16) && gap(16) > gap(32), "more sides, closer to the cone");
    // The advantage of Gauss–Seidel grows with the contacts: compared within one run, so no wall time is asserted.
    let times = study["times"].as_array().expect("rows");
    let ratio = |row: &serde_json::Value| {
        row["pyramid_8_ms"].as_f64().expect("a time") / row["gauss_seidel_ms"].as_f64().expect("a time")
    };
    assert!(ratio(&times[times.len() - 1]) > ratio(&times[0]));
}

/// `fingerpad … | head -1`: a broken pipe ends the program without a panic.
#[test]
fn output_without_a_reader_is_handled() {
    for arguments in [["completions", "bash"], ["check", "nothing.toml"]] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
        program.args(arguments).stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
        let mut child = program.spawn().expect("the program starts");
        drop((child.stdout.take(), child.stderr.take()));
        let code = child.wait().expect("the program ends").code();
        assert!(code == Some(141) || code == Some(2) || code == Some(0), "{arguments:?}: {code:?}");
    }
}

#[test]
fn completions_and_help_are_available() {
    assert!(text(&fingerpad(&["completions", "bash"]).stdout).contains("fingerpad"));
    let help = text(&fingerpad(&["--help"]).stdout);
    for command in ["check", "hand", "bench", "render", "devices"] {
        assert!(help.contains(command), "{command}");
    }
    assert!(fingerpad(&["devices", "list"]).status.success());
}

#[test]
fn shipped_hands_scenes_and_scripts_are_found_by_name_from_any_folder() {
    let elsewhere = folder("elsewhere");
    let run = |arguments: &[&str]| {
        let program = env!("CARGO_BIN_EXE_fingerpad");
        Command::new(program).args(arguments).current_dir(&elsewhere).output().expect("the program runs")
    };
    let hand: serde_json::Value = serde_json::from_slice(&run(&["hand", "left", "--json"]).stdout).expect("JSON");
    assert_eq!(hand["side"], "left");
    let of = |name: &str| -> serde_json::Value {
        let out = run(&["run", name, "--seconds", "0.05", "--json"]);
        serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{name}: {e}; {}", text(&out.stderr)))
    };
    // Scenes and scripts share names: without an extension it is the scene.
    let scene = of("bar");
    assert_eq!((&scene["scene"], &scene["script"]), (&"bar".into(), &serde_json::Value::Null));
    assert_eq!(of("bar.toml")["state_hash"], scene["state_hash"]);
    if cfg!(feature = "script") {
        assert_eq!(of("bar.rhai")["script"], "bar");
        assert_eq!(of("pick_up")["script"], "pick_up", "there is no scene of this name");
    }
    for (name, near) in [("bal", "did you mean `ball`?"), ("pikc_up.rhai", "did you mean `pick_up.rhai`?")] {
        let out = run(&["run", name]);
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains(near), "{}", text(&out.stderr));
    }
    assert!(text(&run(&["hand", "lft"]).stderr).contains("large, left, right, small"));
}

#[test]
#[cfg(feature = "script")]
fn check_reports_every_error_of_a_script() {
    let file = folder("checked").join("wrong.rhai");
    let script = "scene(\"pinch\");\nright.bend(\"index_base_flexon\", 20, 1.0);\nwait(0.5);\nrigth.stop();\n\
        capsul.speed();\nright.pose(\"pinhc\", 1.0);\nweit(3);\n";
    std::fs::write(&file, script).expect("a file");
    let out = fingerpad(&["check", &file.to_string_lossy(), "--json"]);
    assert_eq!(out.status.code(), Some(2));
    let found: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let problems = found["problems"].as_array().expect("a list");
    let message: Vec<(u64, bool)> = problems
        .iter()
        .zip(["`index_base_flexion`", "`right`", "`capsule`", "`pinch`", "`wait`"])
        .map(|(p, near)| (p["line"].as_u64().expect("a line"), p["message"].as_str().expect("text").contains(near)))
        .collect();
    assert_eq!(message, [(2, true), (4, true), (5, true), (6, true), (7, true)], "{found}");
    assert_eq!(problems.len(), 5, "{found}");
}

#[test]
fn initial_overlaps_are_reported() {
    let file = folder("inside").join("sunk.toml");
    let scene = "seconds = 0.02\n[body.ground]\nkind = \"fixed\"\nshape = \"ground\"\n\
        [body.crate]\nkind = \"rigid\"\nshape = \"box\"\nsize = [0.1, 0.1, 0.1]\nposition = [0, 0.047, 0]\n";
    std::fs::write(&file, scene).expect("a file");
    let file = file.to_string_lossy();
    let warning = "`crate` begins 3.0 mm inside `ground`";
    for command in ["run", "check"] {
        let out = fingerpad(&[command, &file]);
        assert!(out.status.success() && text(&out.stderr).contains(warning), "{command}: {}", text(&out.stderr));
    }
    let checked: serde_json::Value =
        serde_json::from_slice(&fingerpad(&["check", &file, "--json"]).stdout).expect("JSON");
    assert_eq!(checked["warnings"][0]["message"], warning);
}

#[test]
fn times_in_tables_have_no_rounding_noise() {
    let (table, haptics) = (folder("tables").join("times.csv"), folder("tables").join("haptics.csv"));
    let paths = [&table, &haptics].map(|file| file.to_string_lossy().into_owned());
    let out = fingerpad(&["run", "rest", "--seconds", "1", "--trace", &paths[0], "--haptics-log", &paths[1], "-q"]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    for path in &paths {
        let rows = std::fs::read_to_string(path).expect("a table");
        let times: Vec<&str> = rows.lines().skip(1).map(|row| row.split(',').next().expect("a time")).collect();
        assert_eq!((times.len(), times[56]), (100, "0.57"));
        assert!(times.iter().all(|time| time.len() <= 4), "{times:?}");
    }
}
