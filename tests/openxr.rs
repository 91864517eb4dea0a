//! Hand tracking with the system's OpenXR loader and the runtime of tests/openxr_runtime. The loader reads the
//! environment once,
//! so each test runs its body in its own process: itself, started again.
//!
//! The loader is a package of the system (libopenxr-loader1). Where there is none, only its absence is tested, unless
//! FINGERPAD_EXPECT_OPENXR is set.
#![cfg(feature = "openxr")]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use fingerpad::assets::{DeviceProfile, HapticSettings, builtin_device_file, builtin_hand, load_device};
use fingerpad::devices::haptics::Levels;
use fingerpad::devices::openxr::{JOINTS, WRIST, metacarpal, phalanx};
use fingerpad::devices::{HandForces, Hands, SourceHandle, SourceSample, SourceState, Vibration, start_openxr};
use fingerpad::hand::{HandDescription, Skeleton};
use fingerpad::math::{Pose, Vec3, exp};
use fingerpad::tracking::{ANGLES, Finger, Side};

/// Set in the processes that run the bodies: the folder of their files.
const FOLDER: &str = "FINGERPAD_XR_FOLDER";

/// Control file of the runtime.
struct Scene {
    folder: PathBuf,
}

impl Scene {
    fn new(test: &str) -> Self {
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("openxr").join(test);
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        Self { folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }

    /// Sets what the runtime simulates from now on.
    fn script(&self, lines: &[&str]) {
        // The runtime must not read a partial file.
        std::fs::write(self.file("next"), lines.join("\n")).expect("a file");
        std::fs::rename(self.file("next"), self.file("script")).expect("a file");
    }

    fn log(&self) -> String {
        std::fs::read_to_string(self.file("log")).unwrap_or_default()
    }

    fn environment<'a>(&self, command: &'a mut Command) -> &'a mut Command {
        command
            .env("XR_RUNTIME_JSON", self.file("runtime.json"))
            .env("FINGERPAD_XR_SCRIPT", self.file("script"))
            .env("FINGERPAD_XR_LOG", self.file("log"))
            // The loader's own messages.
            .env("XR_LOADER_DEBUG", "none")
    }

    /// All created objects have been destroyed.
    fn assert_nothing_is_left(&self) {
        let log = self.log();
        let made = log.lines().filter_map(|line| line.strip_prefix("create ")).count();
        let gone = log.lines().filter_map(|line| line.strip_prefix("destroy ")).count();
        assert!(made > 0 && made == gone, "{made} made, {gone} destroyed:\n{log}");
    }
}

/// Runs a test's body in its own process, with a manifest; the default is a valid one.
fn in_own_process(test: &str, manifest: Option<&str>, body: fn(&Scene)) {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return body(&Scene { folder: folder.into() });
    }
    // SAFETY: the system's loader is what is tested.
    if unsafe { openxr::Entry::load(&()) }.is_err() {
        assert!(std::env::var_os("FINGERPAD_EXPECT_OPENXR").is_none(), "there is no OpenXR loader");
        eprintln!("{test} was not run: there is no OpenXR loader on this machine");
        return;
    }
    let scene = Scene::new(test);
    let good = serde_json::json!({ "file_format_version": "1.0.0", "runtime": { "library_path": runtime_library() } });
    let manifest = manifest.map_or_else(|| good.to_string(), String::from);
    std::fs::write(scene.file("runtime.json"), manifest).expect("a file");
    scene.script(&[]);
    run_again(test, &scene, None);
}

/// Starts this test again, with a library search folder if given.
fn run_again(test: &str, scene: &Scene, libraries: Option<&Path>) {
    let mut again = Command::new(std::env::current_exe().expect("a test has a file"));
    again.args([test, "--exact", "--nocapture"]).env(FOLDER, &scene.folder);
    if let Some(libraries) = libraries {
        again.env("LD_LIBRARY_PATH", libraries);
    }
    let output = scene.environment(&mut again).output().expect("the test starts again");
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}");
}

/// The library that cargo has built next to this test.
fn runtime_library() -> PathBuf {
    let tests = std::env::current_exe().expect("a test has a file");
    let name = format!("{}openxr_runtime{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let library = tests.parent().and_then(Path::parent).expect("target/debug/deps").join("examples").join(name);
    let age = |file: &Path| file.metadata().and_then(|m| m.modified()).ok();
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/openxr_runtime");
    let newest = ["lib.rs", "calls.rs", "stage.rs"].iter().filter_map(|name| age(&sources.join(name))).max();
    assert!(age(&library) >= newest, "build the runtime first: cargo build --example openxr_runtime");
    library
}

fn hand(side: Side) -> HandDescription {
    HandDescription { side, ..builtin_hand().expect("the hand it carries") }
}

fn skeleton(side: Side) -> Skeleton {
    Skeleton::new(&hand(side)).expect("a hand")
}

/// The shipped profile without the filter.
fn profile() -> DeviceProfile {
    let file = builtin_device_file("openxr").expect("it is carried");
    DeviceProfile { filter: None, ..load_device(&file).unwrap_or_else(|problems| panic!("{problems}")) }
}

fn start() -> SourceHandle {
    start_as(&profile())
}

fn start_as(profile: &DeviceProfile) -> SourceHandle {
    let hands = Hands { left: skeleton(Side::Left), right: skeleton(Side::Right) };
    start_openxr(profile, &hands, Instant::now()).expect("a thread")
}

fn pose(name: &str) -> [f64; ANGLES] {
    *hand(Side::Right).pose(name).expect("a pose every hand has")
}

fn palm(side: Side) -> Pose {
    let x = if side == Side::Left { -0.2 } else { 0.25 };
    Pose::from_parts(Vec3::new(x, 1.1, -0.4).into(), exp(&Vec3::new(0.3, 8.0 * x, -0.5)))
}

/// The line of the script that shows a hand in a pose.
fn shown(side: Side, angles: &[f64; ANGLES]) -> String {
    let (hand, palm) = (hand(side), palm(side));
    let kinematics = skeleton(side).kinematics(&palm, angles);
    let mut joints = [palm; JOINTS];
    joints[WRIST] = palm * Pose::translation(0.0, hand.palm.wrist.y, hand.palm.wrist.z);
    for finger in Finger::ALL {
        joints[metacarpal(finger)] = palm;
        for place in 0..3 {
            joints[phalanx(finger, place)] = kinematics.poses[1 + 3 * finger as usize + place];
        }
        let end = hand.fingers[finger as usize].lengths[2] + hand.fingers[finger as usize].tip;
        joints[phalanx(finger, 3)] = joints[phalanx(finger, 2)] * Pose::translation(0.0, 0.0, -end);
    }
    let mut line = side.name().to_string();
    for joint in joints {
        let (p, q) = (joint.translation.vector, joint.rotation.coords);
        p.iter().chain(q.iter()).for_each(|number| line += &format!(" {number}"));
    }
    line
}

fn wait_for(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < Duration::from_secs(30), "waited in vain for: {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn wait_for_state(source: &SourceHandle, side: Side, state: &SourceState) {
    wait_for(&format!("{} hand {state}; it was {}", side.name(), source.state_of(side)), || {
        source.state_of(side) == *state
    });
}

fn lost(reason: &str) -> SourceState {
    SourceState::Lost(reason.into())
}

/// The next sample of a hand.
fn next(source: &SourceHandle, side: Side) -> SourceSample {
    loop {
        let sample = source.samples().recv_timeout(Duration::from_secs(30)).expect("a sample");
        if sample.side == side {
            return sample;
        }
    }
}

fn is_near(sample: &SourceSample, angles: &[f64; ANGLES]) -> bool {
    // Half a degree is required; single precision on the wire allows much less.
    sample
        .angles
        .iter()
        .zip(angles)
        .all(|(found, known)| found.is_some_and(|f| (f - known).abs() < 0.001_f64.to_radians()))
}

#[test]
fn known_poses_give_known_angles() {
    in_own_process("known_poses_give_known_angles", None, |scene| {
        let (left, right) = (shown(Side::Left, &pose("pinch")), shown(Side::Right, &pose("fist")));
        scene.script(&[&left, &right]);
        let source = start();
        let mut last = 0.0;
        for (side, name) in [(Side::Left, "pinch"), (Side::Right, "fist")] {
            let sample = next(&source, side);
            assert!(is_near(&sample, &pose(name)), "{name}: {:?}", sample.angles);
            let off = palm(side).inverse() * sample.palm().expect("a palm");
            assert!(off.translation.vector.norm() < 1e-6 && off.rotation.angle() < 1e-5, "{off}");
            let length = sample.hand_length.expect("all joints are known");
            assert!((length - hand(side).hand_length()).abs() < 1e-6);
            assert!(sample.time > last, "times go on");
            last = sample.time;
        }
        assert_eq!(source.state(), SourceState::Streaming);
        // The hand moves.
        scene.script(&[&shown(Side::Left, &pose("point")), &right]);
        wait_for("the new pose", || is_near(&next(&source, Side::Left), &pose("point")));
        drop(source);
        scene.assert_nothing_is_left();
    });
}

#[test]
fn a_hand_is_lost_and_found() {
    in_own_process("a_hand_is_lost_and_found", None, |scene| {
        let (left, right) = (shown(Side::Left, &pose("rest")), shown(Side::Right, &pose("rest")));
        scene.script(&[&right]);
        let source = start();
        wait_for_state(&source, Side::Right, &SourceState::Streaming);
        assert_eq!(source.state_of(Side::Left), SourceState::Connected, "never seen yet");
        scene.script(&[&left, &right]);
        wait_for_state(&source, Side::Left, &SourceState::Streaming);
        scene.script(&[&right]);
        wait_for_state(&source, Side::Left, &SourceState::Stale);
        while source.samples().try_recv().is_ok() {}
        for _ in 0..20 {
            let sample = source.samples().recv_timeout(Duration::from_secs(30)).expect("a sample");
            assert_eq!(sample.side, Side::Right, "a hand out of sight has no samples");
        }
        // Found again, with an unknown joint: two angles are missing.
        scene.script(&[&left, &right, &format!("unknown left {}", phalanx(Finger::Middle, 1))]);
        wait_for_state(&source, Side::Left, &SourceState::Streaming);
        let sample = next(&source, Side::Left);
        let unknown: Vec<_> = (0..ANGLES).filter(|&i| sample.angles[i].is_none()).collect();
        assert_eq!((unknown, sample.hand_length), (vec![10, 11], None));
        // A hand without known joints is not tracked, whatever the runtime reports.
        let nothing: Vec<_> = (0..JOINTS).map(|joint| joint.to_string()).collect();
        scene.script(&[&left, &right, &format!("unknown left {}", nothing.join(" "))]);
        wait_for_state(&source, Side::Left, &SourceState::Stale);
    });
}

#[test]
fn a_lost_runtime_is_found_again() {
    in_own_process("a_lost_runtime_is_found_again", None, |scene| {
        let right = shown(Side::Right, &pose("open"));
        scene.script(&[&right]);
        let source = start();
        wait_for_state(&source, Side::Right, &SourceState::Streaming);
        for (how, reason) in [
            ("session", "the OpenXR session was lost"),
            ("session_pending", "the OpenXR session was lost"),
            ("instance", "the OpenXR runtime was lost"),
            ("instance_pending", "the OpenXR runtime was lost"),
            ("exiting", "the OpenXR runtime has closed the session"),
        ] {
            scene.script(&[&right, &format!("end {how}")]);
            wait_for_state(&source, Side::Right, &lost(reason));
            scene.script(&[&right]);
            wait_for_state(&source, Side::Right, &SourceState::Streaming);
            while source.samples().try_recv().is_ok() {}
            assert!(is_near(&next(&source, Side::Right), &pose("open")), "after {how}");
        }
        // A session that the runtime stops, as when the headset is taken off.
        let sessions = scene.log().matches("create session").count();
        scene.script(&[&right, "end pause"]);
        wait_for_state(&source, Side::Right, &SourceState::Stale);
        scene.script(&[&right]);
        wait_for_state(&source, Side::Right, &SourceState::Streaming);
        let log = scene.log();
        assert_eq!((log.matches("create session").count(), log.matches("end session").count()), (sessions, 1));
        assert!(sessions >= 6, "each loss takes a new session: {sessions}");
        // The runtime's service has ended.
        scene.script(&["without service", "end instance"]);
        let gone = "the OpenXR runtime does not respond; start its service, such as monado-service or SteamVR";
        wait_for_state(&source, Side::Left, &lost(gone));
        drop(source);
        scene.assert_nothing_is_left();
    });
}

#[test]
fn missing_sections_are_reported() {
    in_own_process("missing_sections_are_reported", None, |scene| {
        for (what, reason) in [
            ("service", "the OpenXR runtime does not respond; start its service, such as monado-service or SteamVR"),
            ("headset", "no headset is connected"),
            ("hands", "the headset does not track hands"),
            ("XR_EXT_hand_tracking", "the runtime does not track hands (it lacks XR_EXT_hand_tracking)"),
            ("XR_MND_headless", "the runtime has no headless sessions (it lacks XR_MND_headless)"),
            (
                "XR_KHR_convert_timespec_time",
                "the runtime's clock cannot be read (it lacks XR_KHR_convert_timespec_time)",
            ),
        ] {
            scene.script(&[&format!("without {what}")]);
            let source = start();
            wait_for_state(&source, Side::Left, &lost(reason));
            assert_eq!(source.state(), lost(reason));
        }
        scene.assert_nothing_is_left();
    });
}

#[test]
fn hands_vibrate() {
    in_own_process("hands_vibrate", None, |scene| {
        let right = shown(Side::Right, &pose("open"));
        let vibration = Vibration { side: Side::Left, amplitude: 0.5, duration: Duration::from_millis(20) };
        scene.script(&[&right]);
        let source = start();
        wait_for_state(&source, Side::Right, &SourceState::Streaming);
        source.vibrate(vibration);
        wait_for("a vibration", || scene.log().contains("vibrate /user/hand/left 0.5 20000000\n"));
        source.vibrate(Vibration { side: Side::Right, amplitude: 7.0, ..vibration });
        wait_for("the maximum", || scene.log().contains("vibrate /user/hand/right 1 20000000\n"));
        source.vibrate(Vibration { amplitude: f64::NAN, ..vibration });
        wait_for("stillness", || scene.log().contains("still /user/hand/left\n"));
        drop(source);
        // A runtime without controllers still tracks hands.
        scene.script(&[&right, "without vibration"]);
        let source = start();
        source.vibrate(vibration);
        wait_for_state(&source, Side::Right, &SourceState::Streaming);
        source.vibrate(vibration);
        next(&source, Side::Right);
        assert_eq!(source.state(), SourceState::Streaming);
        assert_eq!(scene.log().matches("vibrate").count(), 2);
    });
}

/// Contact vibrates the controller of the hand: a pulse that fades, and no vibration when updates or the source stop.
#[test]
fn hands_vibrate_when_they_touch() {
    in_own_process("hands_vibrate_when_they_touch", None, |scene| {
        let (left, right) = (shown(Side::Left, &pose("open")), shown(Side::Right, &pose("open")));
        scene.script(&[&left, &right]);
        let haptics = Some(HapticSettings { full: 4.0, maximum: 0.75, rate: 20.0, ..HapticSettings::default() });
        let source = start_as(&DeviceProfile { haptics, ..profile() });
        wait_for_state(&source, Side::Right, &SourceState::Streaming);
        let touch = |side, force| HandForces {
            side,
            fingers: [0.0, force, 0.0, 0.0, 0.0],
            palm: 0.0,
            pressure: [0.0; 6],
            slip: [0.0; 6],
        };
        let log_of = |side: Side| {
            let hand = format!("/user/hand/{}", side.name());
            scene.log().lines().filter(|line| line.contains(&hand)).map(String::from).collect::<Vec<_>>()
        };
        // 2 N of 4 N: half of the maximum, and a tenth of that.
        wait_for("a tap", || {
            source.feel(touch(Side::Left, 2.0));
            log_of(Side::Left).iter().any(|line| line.starts_with("vibrate /user/hand/left 0.55 "))
        });
        let tap = log_of(Side::Left)[0].clone();
        assert!(tap.starts_with("vibrate /user/hand/left 0.55 100000000"), "for two turns of the rate: {tap}");
        wait_for("the hum after it", || {
            source.feel(touch(Side::Left, 2.0));
            source.sent_levels(Side::Left).palm < 0.06
        });
        assert!(source.sent_levels(Side::Left).palm > 0.0);
        assert_eq!(log_of(Side::Right), Vec::<String>::new(), "the other hand feels nothing");
        // No more updates: the watchdog.
        wait_for("stillness", || log_of(Side::Left).last().is_some_and(|line| line == "still /user/hand/left"));
        assert_eq!(source.sent_levels(Side::Left), Levels::ZERO);
        wait_for("no more than the most", || {
            source.feel(touch(Side::Right, 1e6));
            log_of(Side::Right).iter().any(|line| line.starts_with("vibrate /user/hand/right 0.75 "))
        });
        source.feel(touch(Side::Right, 1e6));
        drop(source);
        assert_eq!(log_of(Side::Right).last().map(String::as_str), Some("still /user/hand/right"));
        scene.assert_nothing_is_left();
    });
}

/// One hand, with its palm from another device, filtered, with the time of measurement.
#[test]
fn the_shape_follows_the_profile() {
    in_own_process("the_shape_follows_the_profile", None, |scene| {
        let (left, right) = (shown(Side::Left, &pose("open")), shown(Side::Right, &pose("open")));
        scene.script(&[&left, &right]);
        let mut profile = DeviceProfile { side: Some(Side::Right), latency: 0.5, stale: 0.05, ..profile() };
        profile.filter = Some(fingerpad::assets::FilterSettings { min_cutoff: 0.5, beta: 0.0, derivative_cutoff: 1.0 });
        (profile.place.uses.position, profile.place.uses.orientation) = (false, false);
        let hands = Hands { left: skeleton(Side::Left), right: skeleton(Side::Right) };
        let epoch = Instant::now();
        let source = start_openxr(&profile, &hands, epoch).expect("a thread");
        for _ in 0..20 {
            let sample = source.samples().recv_timeout(Duration::from_secs(30)).expect("a sample");
            assert_eq!((sample.side, sample.palm()), (Side::Right, None));
            assert!(sample.time <= epoch.elapsed().as_secs_f64() - 0.5);
        }
        assert_eq!(source.state_of(Side::Left), SourceState::Connected, "nobody looks at it");
        // A low-pass: the fist is reached gradually.
        scene.script(&[&left, &shown(Side::Right, &pose("fist"))]);
        let flexion = |sample: &SourceSample| sample.angles[4].expect("the index finger");
        let (open, fist) = (pose("open")[4], pose("fist")[4]);
        let mut between = 0;
        wait_for("the fist", || {
            let angle = flexion(&next(&source, Side::Right));
            between += usize::from(angle > open + 0.05 && angle < fist - 0.05);
            (angle - fist).abs() < 0.02
        });
        assert!(between > 3, "{between} samples on the way");
        scene.script(&[&left]);
        wait_for_state(&source, Side::Right, &SourceState::Stale);
    });
}

#[test]
fn the_list_names_the_runtime() {
    in_own_process("the_list_names_the_runtime", None, |scene| {
        let list = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
            let output = scene.environment(command.args(["devices", "list"])).output().expect("the program starts");
            assert!(output.status.success());
            String::from_utf8(output.stdout).expect("text")
        };
        let text = list();
        assert!(text.contains("fingerpad test runtime  version 0.1.0, headset test headset, tracks hands"), "{text}");
        scene.script(&["without headset"]);
        assert!(list().contains("no headset is connected"));
    });
}

#[test]
fn the_length_of_a_hand_is_measured_and_kept() {
    in_own_process("the_length_of_a_hand_is_measured_and_kept", None, |scene| {
        scene.script(&[&shown(Side::Left, &pose("open")), &shown(Side::Right, &pose("rest"))]);
        let file = scene.file("ada.toml");
        let calibrate = || {
            let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
            let arguments = ["devices", "calibrate", "openxr", "--user", "Ada", "--out"];
            scene.environment(command.args(arguments).arg(&file)).output().expect("the program starts")
        };
        let output = calibrate();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{said}");
        for side in [Side::Left, Side::Right] {
            let file = scene.file(&format!("ada-{}.toml", side.name()));
            assert!(String::from_utf8_lossy(&output.stdout).contains(&*file.to_string_lossy()), "{said}");
            let own = fingerpad::assets::load_hand(&file).unwrap_or_else(|p| panic!("{p}"));
            assert_eq!(own.side, side);
            // The headset sees the joints, and the tip's lies within the finger.
            let (found, shown) = (own.hand_length(), hand(side).hand_length());
            assert!((found / shown - 1.0).abs() < 0.05, "{found} of {shown}");
        }
        let again = calibrate();
        assert_eq!(again.status.code(), Some(2));
        assert!(String::from_utf8_lossy(&again.stderr).contains("already exists"));
    });
}

fn names_no_runtime(scene: &Scene) {
    let source = start();
    let file = scene.file("runtime.json");
    let reason = format!("XR_RUNTIME_JSON names {}, which is not a usable OpenXR runtime", file.display());
    wait_for_state(&source, Side::Right, &lost(&reason));
}

#[test]
fn a_manifest_that_is_not_json() {
    in_own_process("a_manifest_that_is_not_json", Some("{ \"runtime\": "), names_no_runtime);
}

#[test]
fn a_manifest_that_names_no_library() {
    let manifest = r#"{ "file_format_version": "1.0.0", "runtime": { "library_path": "/nowhere/libruntime.so" } }"#;
    in_own_process("a_manifest_that_names_no_library", Some(manifest), names_no_runtime);
}

#[test]
fn a_missing_manifest() {
    in_own_process("a_missing_manifest", None, |scene| {
        std::fs::remove_file(scene.file("runtime.json")).expect("it was there");
        names_no_runtime(scene);
    });
}

/// On a bare machine the source reports what to install. An empty file in the library path simulates that.
#[cfg(target_os = "linux")]
#[test]
fn a_missing_loader_is_reported() {
    if std::env::var_os(FOLDER).is_some() {
        let reason = "no OpenXR loader was found; install one, such as the package libopenxr-loader1";
        return wait_for_state(&start(), Side::Right, &lost(reason));
    }
    let scene = Scene::new("a_missing_loader_is_reported");
    std::fs::write(scene.file("libopenxr_loader.so.1"), "").expect("a file");
    run_again("a_missing_loader_is_reported", &scene, Some(&scene.folder));
}
