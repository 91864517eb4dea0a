//! Recordings as a user makes and replays them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fingerpad::record::{Ending, Recorder, Recording};

fn fingerpad_in(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fingerpad"))
        .args(arguments)
        .current_dir(folder)
        .output()
        .expect("the program runs")
}

fn fingerpad(arguments: &[&str]) -> Output {
    fingerpad_in(Path::new(env!("CARGO_MANIFEST_DIR")), arguments)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An empty folder for one test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("record").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn path(folder: &Path, name: &str) -> String {
    folder.join(name).to_string_lossy().into_owned()
}

fn json(out: &Output) -> serde_json::Value {
    serde_json::from_slice(&out.stdout).unwrap_or_else(|e| panic!("{e}: {}{}", text(&out.stdout), text(&out.stderr)))
}

fn read(file: &str) -> Recording {
    Recording::read(Path::new(file)).unwrap_or_else(|error| panic!("{error}"))
}

/// Records a run, and replays it from an empty folder.
fn verified(name: &str, arguments: &[&str], steps: usize) -> (serde_json::Value, serde_json::Value) {
    let folder = folder(name);
    let file = path(&folder, "run.fpr");
    let ran = fingerpad(&[&["run"], arguments, &["--json", "--record", &file]].concat());
    let out = fingerpad_in(&folder, &["replay", "run.fpr", "--verify", "--json"]);
    let (ran, played) = (json(&ran), json(&out));
    assert_eq!((out.status.code(), &played["recording"]["agrees"]), (Some(0), &true.into()), "{name}: {played}");
    assert_eq!((&ran["steps"], &played["steps"]), (&steps.into(), &steps.into()), "{name}");
    for key in ["scene", "script", "method", "friction", "dt", "contacts", "constraints", "task", "state_hash"] {
        assert_eq!(ran[key], played[key], "{name}: {key}");
    }
    (ran, played)
}

#[test]
fn scenes_are_reproducible_bit_by_bit() {
    for method in ["aggregate", "point"] {
        let (_, played) =
            verified(&format!("pinch-{method}"), &["scenes/pinch.toml", "--method", method, "--seconds", "1"], 100);
        assert_eq!(played["method"], method);
        let recording = &played["recording"];
        assert_eq!((&recording["steps"], &recording["ending"]), (&100.into(), &"over".into()));
        assert_eq!((&recording["agrees"], &recording["differs"]), (&true.into(), &serde_json::Value::Null));
        assert_eq!(recording["program"], env!("CARGO_PKG_VERSION"));
    }
    verified("rest", &["rest", "--dt", "0.005", "--seconds", "0.2"], 40);
    let message =
        fingerpad(&["replay", &path(Path::new(env!("CARGO_TARGET_TMPDIR")), "record/rest/run.fpr"), "--verify"]);
    assert_eq!(message.status.code(), Some(0));
    let words = text(&message.stdout);
    assert!(words.starts_with("rest: 40 steps") && words.ends_with("all 40 steps agree\n"), "{words}");
    verified("table", &["scenes/table.toml", "--seconds", "0.1"], 10);
    verified("soft-ball", &["scenes/soft_ball.toml", "--seconds", "0.5"], 50);
}

#[cfg(feature = "script")]
#[test]
fn scripts_are_reproducible_with_trials_and_random_numbers() {
    let (ran, _) = verified("hello", &["scripts/hello_hand.rhai"], 500);
    assert_eq!(ran["task"]["success"], true);
    let (ran, _) = verified(
        "sort",
        &["scripts/sort_by_size.rhai", "--seconds", "0.5", "--set", "seed=7", "--method", "point"],
        100,
    );
    assert_eq!(ran["task"]["trials"].as_array().map(Vec::len), Some(2));
}

/// A scene that refers to all kinds of files by relative paths.
fn scene_with_files(folder: &Path) {
    for part in ["scenes", "hands", "scripts"] {
        std::fs::create_dir_all(folder.join(part)).expect("a folder");
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for file in ["scenes/dumbbell.obj", "hands/right.toml"] {
        std::fs::copy(root.join(file), folder.join(file)).expect("a copy");
    }
    let write = |name: &str, text: &str| std::fs::write(folder.join(name), text).expect("a file");
    write("hands/mine.toml", "base = \"right.toml\"\nhand_length = 0.175\n");
    write(
        "scenes/mine.toml",
        "seconds = 0.2\n[body.bell]\nkind = \"rigid\"\nshape = \"mesh\"\nfile = \"dumbbell.obj\"\n[hand.right]\n\
         file = \"../hands/mine.toml\"\nposition = [0, 0.3, 0]\n[[hand.right.motion]]\nat = 0.2\npose = \"fist\"\n",
    );
    write("scripts/lib.rhai", "fn rest() { 0.05 }");
    write(
        "scripts/mine.rhai",
        "scene(\"mine\");\nwait(0.05);\nimport \"lib\" as lib;\nlet other = add_hand(\"left\", #{ file: \"mine\", position: \
         [1, 1, 1] });\nother.pose(\"fist\", lib::rest());\n",
    );
}

#[test]
fn a_recording_does_not_need_its_input_files() {
    let folder = folder("files");
    scene_with_files(&folder);
    let mut made = vec![("scenes/mine.toml", "scene.fpr", 20, 4)];
    if cfg!(feature = "script") {
        made.push(("scripts/mine.rhai", "script.fpr", 10, 6));
    }
    let mut hashes = Vec::new();
    for (source, recording, ..) in &made {
        let out = fingerpad_in(&folder, &["run", source, "--json", "--record", recording]);
        assert!(out.status.success(), "{}", text(&out.stderr));
        hashes.push(json(&out)["state_hash"].clone());
    }
    // One is changed, one is invalid, the others are removed.
    std::fs::write(folder.join("hands/mine.toml"), "base = \"right.toml\"\nhand_length = 0.2\n").expect("a file");
    std::fs::write(folder.join("scenes/mine.toml"), "seconds = [\n").expect("a file");
    for gone in ["scenes/dumbbell.obj", "hands/right.toml", "scripts/lib.rhai", "scripts/mine.rhai"] {
        std::fs::remove_file(folder.join(gone)).expect("a file");
    }
    for ((source, recording, steps, files), hash) in made.iter().zip(hashes) {
        let out = fingerpad_in(&folder, &["replay", recording, "--verify", "--json"]);
        assert_eq!(out.status.code(), Some(0), "{source}: {}", text(&out.stderr));
        let played = json(&out);
        assert_eq!((&played["state_hash"], &played["steps"]), (&hash, &(*steps).into()), "{source}");
        assert_eq!(played["recording"]["source"], *source);
        // By their texts: two paths may lead to one file.
        let texts: BTreeSet<Vec<u8>> = read(&path(&folder, recording)).files.into_values().collect();
        assert_eq!(texts.len(), *files, "{source}");
    }
}

/// Writes a recording again, with something changed about it.
fn rewritten(from: &str, to: &str, change: impl FnOnce(&mut Recording)) {
    let mut recording = read(from);
    change(&mut recording);
    let files: Vec<_> = recording.files.into_iter().collect();
    let mut recorder = Recorder::create(Path::new(to), &recording.header, &files, recording.start).expect("a recorder");
    for step in &recording.steps {
        recorder.add_step(&step.inputs, step.hash).expect("a step");
    }
    recorder.finish(&recording.ending).expect("an end");
}

#[test]
fn differences_are_reported_and_fail() {
    let folder = folder("differs");
    let [good, bad] = ["good.fpr", "bad.fpr"].map(|name| path(&folder, name));
    let out = fingerpad(&["run", "scenes/stack.toml", "--seconds", "0.1", "--record", &good]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let hash = read(&good).steps[6].hash;
    rewritten(&good, &bad, |recording| recording.steps[6].hash = 0xabc);
    let out = fingerpad(&["replay", &bad, "--verify"]);
    let words = text(&out.stdout);
    assert_eq!(out.status.code(), Some(1), "{words}");
    let says = format!("step 7, at 0.0700 s, differs: recorded 0000000000000abc, found {hash:016x}");
    assert!(words.contains(&says) && !words.contains("agree"), "{words}");
    let differs = &json(&fingerpad(&["replay", &bad, "--verify", "--json"]))["recording"]["differs"];
    assert_eq!((&differs["step"], &differs["recorded"]), (&7.into(), &"0000000000000abc".into()));
    let out = fingerpad(&["replay", &bad]);
    assert_eq!(out.status.code(), Some(0), "without --verify");
    assert!(
        text(&out.stderr).contains("warning: the replay differs from the recording: step 7"),
        "{}",
        text(&out.stderr)
    );

    rewritten(&good, &bad, |recording| recording.start += 1);
    let words = text(&fingerpad(&["replay", &bad, "--verify"]).stdout);
    assert!(words.contains("the state before the first step differs"), "{words}");
    rewritten(&good, &bad, |recording| drop(recording.steps.pop()));
    let out = fingerpad(&["replay", &bad, "--verify"]);
    assert_eq!(out.status.code(), Some(1));
    assert!(text(&out.stdout).contains("the run continues after step 9"), "{}", text(&out.stdout));
    rewritten(&good, &bad, |recording| recording.steps.push(recording.steps[9].clone()));
    let out = fingerpad(&["replay", &bad, "--verify"]);
    assert_eq!(out.status.code(), Some(1));
    let words = text(&out.stdout);
    assert!(words.contains("step 11, at 0.1100 s, differs"), "{words}");
    // Another mass in the recorded file: every state differs.
    rewritten(&good, &bad, |recording| {
        recording.header.settings.push("gravity=[0, -9.8, 0]".parse().expect("a setting"));
    });
    let words = text(&fingerpad(&["replay", &bad, "--verify"]).stdout);
    assert!(words.contains("step 1, at 0.0100 s, differs"), "{words}");
}

#[test]
fn bad_recordings_get_a_sentence_and_exit_code_2() {
    let folder = folder("bad");
    let good = path(&folder, "good.fpr");
    assert!(fingerpad(&["run", "rest", "--seconds", "0.1", "--record", &good]).status.success());
    let bytes = std::fs::read(&good).expect("a recording");
    let bad = |name: &str, bytes: &[u8]| {
        std::fs::write(folder.join(name), bytes).expect("a file");
        path(&folder, name)
    };
    let cut = bad("cut.fpr", &bytes[..bytes.len() - 40]);
    let out = fingerpad(&["replay", &cut, "--verify"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let words = text(&out.stdout);
    assert!(words.contains("all 8 steps up to byte ") && words.contains("truncated, agree"), "{words}");
    assert!(text(&fingerpad(&["replay", &cut]).stderr).contains("the recording is truncated after step 8"));
    let mut flipped = bytes.clone();
    flipped[200] ^= 4;
    let mut newer = bytes.clone();
    newer[8] = 9;
    let without = path(&folder, "without.fpr");
    rewritten(&good, &without, |recording| recording.files.clear());
    for (file, says) in [
        (bad("flipped.fpr", &flipped), "the recording is damaged at byte "),
        (
            bad("newer.fpr", &newer),
            "this recording has format 9, this program reads format 2; replay it with the version that wrote it",
        ),
        (bad("text.fpr", b"seconds = 2\n"), "this is no recording"),
        (bad("head.fpr", &bytes[..50]), "before its first step could begin"),
        (without, "not among the recorded files"),
        (path(&folder, "nowhere.fpr"), "cannot be read"),
    ] {
        for command in ["replay", "run"] {
            let out = fingerpad(&[command, &file]);
            assert_eq!(out.status.code(), Some(2), "{file}");
            let words = text(&out.stderr);
            assert!(words.contains(says) && words.contains(&file) && out.stdout.is_empty(), "{file}: {words}");
        }
    }
    if cfg!(target_os = "linux") {
        let endless = fingerpad(&["replay", "/dev/zero"]);
        assert!(endless.status.code() == Some(2) && text(&endless.stderr).contains("expected a regular file"));
    }
    let out = fingerpad(&["run", &good, "--set", "dt=0.005"]);
    assert!(out.status.code() == Some(2) && text(&out.stderr).contains("a recording is replayed without devices"));
    assert!(fingerpad(&["run", &good]).status.success());
}

#[test]
fn a_write_error_is_reported_without_a_panic() {
    let mut places = vec!["/nowhere/at/all.fpr"];
    if cfg!(target_os = "linux") {
        places.push("/dev/full");
    }
    for place in places {
        for option in ["--record", "--trace"] {
            let out = fingerpad(&["run", "rest", "--seconds", "0.1", option, place]);
            assert_eq!(out.status.code(), Some(2), "{option} {place}");
            assert!(text(&out.stderr).starts_with(&format!("error: cannot write {place}: ")), "{}", text(&out.stderr));
        }
    }
}

#[test]
fn a_killed_run_keeps_its_completed_steps() {
    let folder = folder("killed");
    let file = path(&folder, "run.fpr");
    let mut child = Command::new(env!("CARGO_BIN_EXE_fingerpad"))
        .args(["run", "scenes/pinch.toml", "--seconds", "600", "--realtime", "--record", &file])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the program runs");
    let so_far = || Recording::read(Path::new(&file)).map_or(0, |recording| recording.steps.len());
    while so_far() < 20 && child.try_wait().expect("a child").is_none() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    child.kill().expect("an end");
    child.wait().expect("an end");
    let recording = read(&file);
    assert!(recording.steps.len() >= 20 && matches!(recording.ending, Ending::CutOff { .. }));
    let out = fingerpad(&["replay", &file, "--verify"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    let words = text(&out.stdout);
    assert!(words.contains(&format!("all {} steps up to byte", recording.steps.len())), "{words}");
}

/// Names and numbers of a table.
fn table(file: &str) -> (Vec<String>, Vec<Vec<f64>>) {
    let text = std::fs::read_to_string(file).expect("a table");
    let mut lines = text.lines();
    let names = lines.next().expect("names").split(',').map(String::from).collect();
    let number = |x: &str| if x.is_empty() { f64::NAN } else { x.parse().expect("a number") };
    (names, lines.map(|line| line.split(',').map(number).collect()).collect())
}

#[test]
fn tables_of_a_recording_are_those_of_the_run() {
    let folder = folder("tables");
    let [recording, trace, csv, parquet] =
        ["run.fpr", "trace.csv", "run.csv", "run.parquet"].map(|name| path(&folder, name));
    let out = fingerpad(&["run", "scenes/pinch.toml", "--seconds", "1.2", "--trace", &trace, "--record", &recording]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let out = fingerpad(&["replay", &recording, "--csv", &csv, "--parquet", &parquet]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let ((names, ran), (played_names, played)) = (table(&trace), table(&csv));
    assert_eq!((&names, ran.len()), (&played_names, 120));
    let at = |name: &str| names.iter().position(|own| own == name).unwrap_or_else(|| panic!("no column {name}"));
    let time = at("step_ms");
    for (ran, played) in ran.iter().zip(&played) {
        // Step times differ in every run.
        assert_eq!(ran[..time], played[..time]);
        assert_eq!(ran[time + 1..], played[time + 1..]);
    }
    let last = &ran[119];
    assert!((last[at("time")] - 1.2).abs() < 1e-12);
    assert_eq!((last[at("step")], last[at("trial")]), (120.0, 1.0));
    let turn = ["qx", "qy", "qz", "qw"].map(|q| last[at(&format!("capsule.{q}"))]);
    assert!((turn.iter().map(|q| q * q).sum::<f64>() - 1.0).abs() < 1e-9);
    // Thumb and index finger hold it: the contacts are those of the whole hand, with normal forces.
    let of = |what: &str| -> f64 {
        let parts = names.iter().enumerate().filter(|(_, name)| name.starts_with("right.") && name.ends_with(what));
        parts.map(|(place, _)| last[place]).sum()
    };
    assert!(last[at("right.thumb_distal.normal_force")] > 0.1 && last[at("right.little_distal.normal_force")] == 0.0);
    assert!(of(".contacts") > 0.0 && of(".contacts") <= last[at("contacts")]);
    let bent = |what: &str| last[at(&format!("right.{what}index_base_flexion"))];
    assert!(bent("tracked.") - bent("") > 1.0, "the tracked finger has gone on: {} {}", bent("tracked."), bent(""));
    let bytes = std::fs::read(&parquet).expect("a table");
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let documented =
        std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/recording.md")).expect("docs");
    for name in names.iter().filter(|name| !name.contains('.')) {
        assert!(documented.contains(&format!("`{name}`")), "{name} is not documented");
    }
}

#[cfg(feature = "script")]
#[test]
fn a_failed_run_fails_again() {
    let folder = folder("broken");
    std::fs::write(folder.join("breaks.rhai"), "wait(0.1);\nlet x = [1][7];\nwait(0.1);\n").expect("a script");
    let out = fingerpad_in(&folder, &["run", "breaks.rhai", "--record", "breaks.fpr"]);
    assert_eq!(out.status.code(), Some(2));
    let words = text(&out.stderr);
    assert!(words.contains("breaks.rhai:2:"), "{words}");
    std::fs::remove_file(folder.join("breaks.rhai")).expect("a file");
    let recording = read(&path(&folder, "breaks.fpr"));
    assert!(
        recording.steps.len() == 10 && recording.ending.message().contains("breaks.rhai:2:"),
        "{:?}",
        recording.ending
    );
    let out = fingerpad_in(&folder, &["replay", "breaks.fpr"]);
    assert_eq!((out.status.code(), text(&out.stderr)), (Some(2), words));
    let out = fingerpad_in(&folder, &["replay", "breaks.fpr", "--verify"]);
    assert_eq!(out.status.code(), Some(0), "{}", text(&out.stderr));
    assert!(text(&out.stdout).contains("all 10 steps agree") && text(&out.stderr).contains("as recorded"));
}
