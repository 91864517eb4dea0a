//! The device commands as a user runs them: list, monitor and calibrate, with an emulated glove on a pseudo-terminal
//! and a simulated user.
#![cfg(all(unix, feature = "serial"))]

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Arc, Mutex};

use fingerpad::assets::load_device;
use fingerpad::devices::calibration::{PoseStep, SensorPart};
use fingerpad::devices::emulator::{Emulator, EmulatorSettings};
use fingerpad::devices::glove::GloveMap;
use fingerpad::math::Random;
use fingerpad::protocol::{FlexReading, Format, Reading, Sensor};
use fingerpad::tracking::Finger;

/// A normal distribution by the sum of twelve uniform numbers.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

/// A simulated glove: offsets, spans, crosstalk and noise of its sensors.
#[derive(Clone)]
struct User {
    flat: [f64; 5],
    span: [f64; 5],
    crosstalk: [[f64; 5]; 5],
    noise: f64,
}

/// Offsets, small spans in both directions, crosstalk up to 14 %, a glove of 255 values.
const ADA: User = User {
    flat: [0.30, 0.72, 0.25, 0.40, 0.35],
    span: [0.20, -0.30, 0.35, 0.30, 0.16],
    crosstalk: [
        [0.0, 0.05, 0.02, 0.0, 0.01],
        [0.08, 0.0, 0.12, 0.03, 0.0],
        [0.02, 0.10, 0.0, 0.10, 0.0],
        [0.0, 0.02, 0.12, 0.0, 0.09],
        [0.01, 0.0, 0.03, 0.14, 0.0],
    ],
    noise: 0.005,
};

impl User {
    fn reading(&self, bends: &[f64; 5], noise: &mut dyn FnMut() -> f64) -> FlexReading {
        FlexReading::of(Finger::ALL.map(|finger| {
            let i = finger as usize;
            let others: f64 = self.crosstalk[i].iter().zip(bends).map(|(c, b)| c * b).sum();
            (Sensor::Curl(finger), self.flat[i] + self.span[i] * (bends[i] + others) + self.noise * noise())
        }))
    }
}

/// A 5DT Data Glove 5 on a pseudo-terminal.
struct Glove {
    emulator: Emulator,
    bends: Arc<Mutex<[f64; 5]>>,
}

impl Glove {
    fn on(user: User) -> Self {
        let bends = Arc::new(Mutex::new([0.0; 5]));
        let (pose, mut random) = (bends.clone(), Random::new(1, 0));
        let motion = move |_: f64, out: &mut Vec<Reading>| {
            let bends = *pose.lock().expect("the pose");
            out.push(Reading::Flex(user.reading(&bends, &mut || normal(&mut random))));
        };
        let settings = EmulatorSettings::new(Format::named("5dt-5").expect("a format"));
        Self { emulator: Emulator::start(settings, Box::new(motion), None).expect("an emulated glove"), bends }
    }

    fn take(&self, bends: [f64; 5]) {
        *self.bends.lock().expect("the pose") = bends;
    }

    fn profile(&self) -> String {
        format!("5dt-5@{}", self.emulator.place().expect("it is plugged in"))
    }
}

fn program(arguments: &[&str], folder: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
    command.args(arguments).current_dir(folder).stdin(Stdio::null()).env("XR_LOADER_DEBUG", "none");
    command
}

fn output(arguments: &[&str], folder: &Path) -> Output {
    program(arguments, folder).output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// An empty folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("devices_calibrate").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

fn pose(step: PoseStep) -> [f64; 5] {
    Finger::ALL.map(|finger| step.bend(SensorPart::Finger(finger)))
}

/// A calibration program that is answered with poses: `asked` returns the pose for the name of a step.
fn wear(mut child: Child, glove: &Glove, mut asked: impl FnMut(PoseStep) -> [f64; 5]) -> (Option<i32>, String, String) {
    let stderr = BufReader::new(child.stderr.take().expect("a pipe"));
    let mut message = String::new();
    for line in stderr.lines() {
        let line = line.expect("text");
        // "3 of 7: thumb in"
        let step = line.split_once(": ").filter(|(count, _)| count.contains(" of ")).map(|(_, name)| name);
        let all = PoseStep::full(&Finger::ALL.map(Sensor::Curl));
        if let Some(step) = all.into_iter().find(|s| Some(s.name()) == step) {
            glove.take(asked(step));
        }
        message += &line;
        message.push('\n');
    }
    let mut written = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut written).expect("text");
    (child.wait().expect("an end").code(), written, message)
}

fn calibrate(glove: &Glove, folder: &Path, more: &[&str]) -> Child {
    let profile = glove.profile();
    let mut arguments = vec!["devices", "calibrate", &profile, "--user", "Ada", "--yes", "--countdown", "0.2"];
    arguments.extend(more);
    program(&arguments, folder).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program starts")
}

#[test]
fn a_calibrated_user_round_trips_through_the_profile() {
    let folder = folder("recovered");
    let glove = Glove::on(ADA);
    // The first fist is discarded and repeated.
    let mut forgotten = false;
    let (code, written, message) = wear(calibrate(&glove, &folder, &[]), &glove, |step| {
        if step == PoseStep::Fist && !std::mem::replace(&mut forgotten, true) {
            pose(PoseStep::Flat)
        } else {
            pose(step)
        }
    });
    assert_eq!(code, Some(0), "{message}");
    assert!(message.contains("the fist looks like the flat hand"), "{message}");
    assert_eq!(written.trim(), "ada-5dt-5.toml");
    let file = folder.join("ada-5dt-5.toml");
    let profile = load_device(&file).unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(profile.user.as_deref(), Some("Ada"));
    let map = GloveMap::new(&profile.sensors);
    let mut random = Random::new(2, 0);
    for _ in 0..200 {
        let bends = std::array::from_fn(|_| random.unit());
        let found = map.bends(&ADA.reading(&bends, &mut || 0.0));
        for finger in Finger::ALL {
            let error = found.get(Sensor::Curl(finger)).expect("a bend") - bends[finger as usize];
            assert!(
                error.abs() < 0.02,
                "{}: {error}\n{}",
                finger.name(),
                std::fs::read_to_string(&file).expect("text")
            );
        }
    }
    assert!(std::fs::read_dir(&folder).expect("the folder").count() == 1, "nothing else is left there");
    // Not overwritten without --force.
    let again = output(&["devices", "calibrate", &glove.profile(), "--user", "ada"], &folder);
    assert_eq!(again.status.code(), Some(2));
    assert!(text(&again.stderr).contains("ada-5dt-5.toml already exists"), "{}", text(&again.stderr));
}

#[test]
fn a_finger_with_a_small_span_is_rejected_by_name() {
    let folder = folder("refused");
    let glove = Glove::on(User { span: [0.20, -0.30, 0.35, 0.02, 0.16], ..ADA });
    let (code, written, message) = wear(calibrate(&glove, &folder, &["--quick"]), &glove, pose);
    assert_eq!((code, written.as_str()), (Some(2), ""), "{message}");
    let why = message.lines().rfind(|line| line.starts_with("error: ")).expect("an error");
    assert!(why.contains("ring finger: only ") && !why.contains("index finger"), "{why}");
    assert_eq!(std::fs::read_dir(&folder).expect("the folder").count(), 0, "nothing is written");
}

#[test]
fn the_monitor_shows_the_values_of_a_glove() {
    let folder = folder("monitor");
    let glove = Glove::on(User { noise: 0.0, ..ADA });
    glove.take([0.0, 1.0, 0.0, 0.0, 0.0]);
    // Long enough for a slow machine; the last line during motion is checked.
    let out = output(&["devices", "monitor", &glove.profile(), "--seconds", "4", "--json"], &folder);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let lines: Vec<serde_json::Value> =
        text(&out.stdout).lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
    let is_live = |line: &&serde_json::Value| line["state"] == "streaming" && line["rate_hz"].is_number();
    let last = lines.iter().rfind(is_live).expect("a line while it streams");
    assert_eq!(last["bad_checksums"], 0, "{last}");
    assert!(
        last["packets"].as_u64().expect("a count") > 10 && last["rate_hz"].as_f64().expect("a rate") > 1.0,
        "{last}"
    );
    assert!(last["jitter_ms"].is_number() && last["age_ms"].is_number(), "{last}");
    let hand = &last["hands"]["right"];
    let raw = hand["raw"]["index"].as_f64().expect("a value");
    assert!((raw - 0.42).abs() < 0.003, "{last}");
    let bend = hand["bends"]["index"].as_f64().expect("a value");
    assert!((bend - (raw - 0.2) / 0.6).abs() < 0.01, "the shipped profile reaches from 0.2 to 0.8: {last}");
    let angle = hand["angles_deg"]["index_base_flexion"].as_f64().expect("an angle");
    assert!((angle - 85.0 * bend).abs() < 1.0, "{last}");
    let plain = output(&["devices", "monitor", &glove.profile(), "--seconds", "4"], &folder);
    let line = text(&plain.stdout);
    assert!(line.contains("streaming") && line.contains("index 0.4") && !line.contains('\x1b'), "{line}");
}

#[test]
fn a_port_without_a_device_is_reported() {
    let folder = folder("nothing");
    let out =
        output(&["devices", "record", "5dt-5@/dev/no-such-port", "--seconds", "0.5", "--out", "no.fpraw"], &folder);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("no.fpraw is empty: 5DT Data Glove 5 sends nothing (lost: "));
    let out = output(&["devices", "monitor", "5dt-5@/dev/no-such-port", "--seconds", "0.5"], &folder);
    assert_eq!(out.status.code(), Some(2));
    let message = text(&out.stderr);
    assert!(
        message.contains("5DT Data Glove 5 sends nothing (lost: ") && message.contains("/dev/no-such-port"),
        "{message}"
    );
}

#[test]
fn invalid_profiles_are_reported_with_file_and_line() {
    let folder = folder("broken");
    let broken = "base = \"fingerpad:/devices/5dt-5.toml\"\n[sensor.index]\nflat = 0.5\nfist = 0.5\n";
    std::fs::write(folder.join("broken.toml"), broken).expect("a file");
    std::fs::create_dir(folder.join("devices")).expect("a folder");
    std::fs::write(folder.join("devices/also.toml"), broken).expect("a file");
    for command in [&["calibrate", "broken.toml", "--user", "ada"][..], &["monitor", "broken.toml"]] {
        let out = output(&[&["devices"], command].concat(), &folder);
        assert_eq!(out.status.code(), Some(2));
        let message = text(&out.stderr);
        assert!(message.contains("broken.toml:4:") && message.contains("calibrate it"), "{message}");
    }
    for (profile, words) in [
        ("none.toml", "none.toml"),
        ("5dt-6", "or a shipped profile (5dt-16, 5dt-5"),
        ("gametrak", "has no bend sensors"),
    ] {
        let out = output(&["devices", "calibrate", profile, "--user", "ada"], &folder);
        assert_eq!(out.status.code(), Some(2));
        assert!(text(&out.stderr).contains(words), "{}", text(&out.stderr));
    }
    // An invalid user profile is reported, and the list is still printed.
    let list = output(&["devices", "list", "--json"], &folder);
    assert!(list.status.success());
    assert!(text(&list.stderr).contains("also.toml:4:"), "{}", text(&list.stderr));
    let list: serde_json::Value = serde_json::from_slice(&list.stdout).expect("JSON");
    for one in list["devices"].as_array().expect("a list") {
        assert!(one["kind"].is_string() && one["profiles"].is_array(), "{one}");
        assert!(one["problem"].is_null() || one["profiles"] == serde_json::json!([]), "{one}");
    }
}
