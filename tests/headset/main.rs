//! The headset with a real runtime: Monado with its remote driver, on the software renderer of Mesa.
//!
//! `tests/headset_in_monado.sh` installs them in a folder and runs this test there. The service is started here, once for each
//! test, as the program `monado-service` or the one that FINGERPAD_MONADO names. Where there is none, nothing is tested,
//! unless FINGERPAD_EXPECT_HEADSET is set. Each test runs its body in its own process, because the runtime reads its
//! environment there, and a graphics context belongs to a thread.
#![cfg(all(feature = "vr", target_os = "linux"))]

mod grasp;
mod menu;
mod pictures;
mod remote;

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use fingerpad::assets::{Setting, load_hand};
use fingerpad::devices::openxr::{JOINTS, JointReader, PALM, TrackedJoint, phalanx};
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::runtime::live::{self, Ended};
use fingerpad::runtime::{Session, average_skeleton, driven_by, headset_devices, headset_profile};
use fingerpad::tracking::{ANGLES, Finger, Side};
use fingerpad::viewer::HandFrame;
use fingerpad::viewer::headset::{DrawnFrame, Headset, HeadsetError, HeadsetOptions, HeadsetSummary, TrackedInput};

use self::remote::Remote;

/// Set in the processes that run the bodies: the folder of their files.
const FOLDER: &str = "FINGERPAD_HEADSET_FOLDER";
/// Set there as well: the process of the service.
const SERVICE: &str = "FINGERPAD_HEADSET_SERVICE";
/// The layer that writes all calls, and its description.
const DUMP: [&str; 2] = [
    "XR_APILAYER_LUNARG_api_dump",
    "/usr/share/openxr/1/api_layers/explicit.d/XrApiLayer_api_dump.x86_64-linux-gnu.json",
];

/// The validation layers.
const VULKAN_CHECKS: [&str; 2] =
    ["VK_LAYER_KHRONOS_validation", "/usr/share/vulkan/explicit_layer.d/VkLayer_khronos_validation.json"];
const OPENXR_CHECKS: [&str; 2] = [
    "XR_APILAYER_LUNARG_core_validation",
    "/usr/share/openxr/1/api_layers/explicit.d/XrApiLayer_core_validation.x86_64-linux-gnu.json",
];

/// One service at a time: the port of the driver is fixed.
static ALONE: Mutex<()> = Mutex::new(());

/// The runtime's service; ended when dropped.
struct Service(Child);

impl Service {
    /// `None` if there is none on this machine.
    fn start(folder: &Path) -> Option<Self> {
        let log = std::fs::File::create(folder.join("service.log")).expect("a file");
        let program = std::env::var_os("FINGERPAD_MONADO").unwrap_or_else(|| "monado-service".into());
        let mut command = Command::new(program);
        environment(&mut command, folder);
        command.env("P_OVERRIDE_ACTIVE_CONFIG", "remote").env("XRT_COMPOSITOR_NULL", "1").env("XRT_NO_STDIN", "1");
        command.stdin(Stdio::null()).stdout(log.try_clone().expect("a file")).stderr(log);
        match command.spawn() {
            Ok(child) => {
                let service = Self(child);
                let start = Instant::now();
                while !read(&folder.join("service.log")).contains("service has started") {
                    let log = read(&folder.join("service.log"));
                    assert!(start.elapsed() < Duration::from_secs(60), "the service does not start:\n{log}");
                    std::thread::sleep(Duration::from_millis(50));
                }
                Some(service)
            }
            Err(_) => None,
        }
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn environment(command: &mut Command, folder: &Path) {
    command.env("XDG_RUNTIME_DIR", folder).env("XDG_CACHE_HOME", folder.join("cache")).env("HOME", folder);
}

fn read(file: &Path) -> String {
    std::fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default()
}

/// Runs the body of a test in a process of its own, with a service of its own.
fn in_own_process(test: &str, body: fn(&Path)) {
    if let Some(folder) = std::env::var_os(FOLDER) {
        return body(Path::new(&folder));
    }
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    // Short: the path of a socket has a maximum length.
    let folder = std::env::temp_dir().join(format!("fp-xr-{}", std::process::id())).join(test.replace("::", "-"));
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(folder.join("cache")).expect("a folder");
    let Some(service) = Service::start(&folder) else {
        let expected = std::env::var_os("FINGERPAD_EXPECT_HEADSET").is_some();
        assert!(!expected, "there is no OpenXR runtime to test with: monado-service was not found");
        let _ = std::fs::remove_dir_all(&folder);
        eprintln!("{test} was not run: there is no OpenXR runtime (monado-service) on this machine");
        return;
    };
    let mut again = Command::new(std::env::current_exe().expect("a test has a file"));
    environment(&mut again, &folder);
    again.args([test, "--exact", "--nocapture", "--test-threads=1"]).env(FOLDER, &folder);
    again.env(SERVICE, service.0.id().to_string());
    if test.contains("grasped") && Path::new(DUMP[1]).exists() {
        again.env("XR_ENABLE_API_LAYERS", DUMP[0]).env("XR_API_DUMP_FILE_NAME", folder.join("calls.txt"));
        again.env("XR_API_DUMP_EXPORT_TYPE", "text");
    }
    if test.contains("validation") && Path::new(VULKAN_CHECKS[1]).exists() {
        again.env("VK_INSTANCE_LAYERS", VULKAN_CHECKS[0]).env("VK_LAYER_LOG_FILENAME", folder.join("vulkan.txt"));
    }
    if test.contains("validation") && Path::new(OPENXR_CHECKS[1]).exists() {
        again.env("XR_ENABLE_API_LAYERS", OPENXR_CHECKS[0]).env("XR_CORE_VALIDATION_EXPORT_TYPE", "text");
        again.env("XR_CORE_VALIDATION_FILE_NAME", folder.join("openxr.txt"));
    }
    let output = again.output().expect("the test starts again");
    drop(service);
    let text = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && text.contains("1 passed"), "{text}\n{}", read(&folder.join("service.log")));
    if std::env::var_os("FINGERPAD_KEEP").is_none() {
        let _ = std::fs::remove_dir_all(&folder);
    }
}

/// What a session in the headset left.
struct Played {
    summary: HeadsetSummary,
    ended: Ended,
}

/// What is played, and how long.
struct Play<'p> {
    scene: &'p Path,
    settings: Vec<Setting>,
    frames: u64,
    record: Option<PathBuf>,
    mirror: bool,
}

impl<'p> Play<'p> {
    fn of(scene: &'p str, frames: u64) -> Self {
        Self { scene: Path::new(scene), settings: Vec::new(), frames, record: None, mirror: false }
    }

    /// Plays until the frames are drawn, and calls `watch` after each.
    fn run(self, watch: &mut dyn FnMut(&DrawnFrame<'_>)) -> Result<Played, HeadsetError> {
        let profile = headset_profile().expect("the profile");
        let driven = driven_by(std::slice::from_ref(&profile));
        let session = Session::load_with_devices(self.scene, &self.settings, driven);
        let mut session = session.unwrap_or_else(|error| panic!("{error}"));
        let headset = Headset::open()?;
        let (devices, channels) = headset_devices(&profile, &session.scene().world).expect("the hands");
        session.attach_devices(devices);
        if let Some(file) = &self.record {
            session.record(file).expect("a recording");
        }
        let (link, thread) = live::start(session, live::LiveOptions::default()).expect("a thread");
        let options = HeadsetOptions {
            frames: Some(self.frames),
            keeps_pictures: true,
            mirror: self.mirror,
            inputs: channels.inputs,
            outputs: channels.outputs,
            is_over: || false,
            watch: Some(watch),
        };
        let summary = headset.show(&link, options)?;
        let ended = thread.join().expect("the simulation ends");
        Ok(Played { summary, ended })
    }
}

/// The angles of the simulated hand, read from its bones like those of a tracked hand.
fn simulated(side: Side, hand: &HandFrame) -> [f64; ANGLES] {
    let joint =
        |pose: &Pose| TrackedJoint { position: Some(pose.translation.vector), orientation: Some(pose.rotation) };
    let mut joints = [TrackedJoint::default(); JOINTS];
    joints[PALM] = joint(&hand.kinematics.poses[0]);
    for finger in Finger::ALL {
        for place in 0..3 {
            joints[phalanx(finger, place)] = joint(&hand.kinematics.poses[1 + 3 * finger as usize + place]);
        }
    }
    angles(side, &joints)
}

/// The angles that the runtime reports.
fn reported(input: &TrackedInput) -> [f64; ANGLES] {
    let tracked = input.joints.as_ref().expect("a tracked hand");
    let joint = |(position, orientation)| TrackedJoint { position, orientation };
    angles(input.side, &tracked.joints.map(joint))
}

fn angles(side: Side, joints: &[TrackedJoint; JOINTS]) -> [f64; ANGLES] {
    let skeleton = average_skeleton(side).expect("the average hand");
    JointReader::new(&skeleton).read(joints).angles.map(|angle| angle.expect("all joints are known"))
}

/// Both tracked hands move both simulated ones: angles within a degree of what the runtime reports, palms within a
/// millimetre. A hand that is lost stays, and follows again when it is found.
#[test]
fn tracked_hands_move_the_simulated_hands() {
    in_own_process("tracked_hands_move_the_simulated_hands", |folder| {
        let scene = folder.join("both.toml");
        std::fs::write(&scene, BOTH).expect("a file");
        let mut remote = Remote::connect();
        let turn = Quat::from_scaled_axis(Vec3::new(0.3, -0.4, 0.2));
        for (side, x) in [(Side::Left, -0.2), (Side::Right, 0.25)] {
            let hand = remote.hand(side);
            hand.grip = Pose::from_parts(Vec3::new(x, 1.4, -0.45).into(), turn);
            hand.curl = [0.5, 0.4, 0.3, 0.2, 0.1];
        }
        remote.send();
        let mut last = None;
        let mut kept = None;
        let mut lost = 0;
        let watch = &mut |seen: &DrawnFrame<'_>| {
            match seen.number {
                40 => remote.hand(Side::Left).is_tracked = false,
                41..60 if seen.inputs[0].as_ref().is_some_and(|input| input.joints.is_none()) => {
                    lost += 1;
                    let palm = seen.report.frame.hands[0].kinematics.poses[0];
                    let start = *kept.get_or_insert(palm);
                    let moved = (palm.translation.vector - start.translation.vector).norm();
                    assert!(moved < 0.02, "a lost hand moves by {moved} m");
                }
                60 => remote.hand(Side::Left).is_tracked = true,
                _ => {}
            }
            remote.hand(Side::Left).grip.translation.vector.x -= if seen.number == 50 { 0.05 } else { 0.0 };
            remote.send();
            last = Some((seen.report.frame.clone(), seen.inputs.clone()));
        };
        let play = Play { scene: &scene, ..Play::of("", 110) };
        let played = play.run(watch).unwrap_or_else(|error| panic!("{error}"));
        assert!(lost > 5, "the hand was lost for {lost} frames");
        let (frame, inputs) = last.expect("a frame");
        for (number, side) in [Side::Left, Side::Right].into_iter().enumerate() {
            let (hand, input) = (&frame.hands[number], inputs[number].as_ref().expect("an input"));
            let (own, told) = (simulated(side, hand), reported(input));
            for (i, (own, told)) in own.iter().zip(&told).enumerate() {
                assert!((own - told).abs() < 1_f64.to_radians(), "{side:?}, angle {i}: {own} of {told}");
            }
            assert!(told[4] > 0.2, "the fingers are bent: {told:?}");
            let joints = &input.joints.as_ref().expect("joints").joints;
            let off = (hand.kinematics.poses[0].translation.vector - joints[PALM].0.expect("a palm")).norm();
            assert!(off < 1e-3, "{side:?} palm is {off} m off");
            assert_eq!(played.summary.hands[number].map(|(_, confidence)| confidence), Some(1.0));
        }
        assert_eq!(played.ended.success, None);
    });
}

/// A scene with both hands and nothing to touch.
const BOTH: &str = r#"
seconds = 1.0

[hand.left]
file = "fingerpad:/hands/left.toml"
position = [-0.15, 0.2, 0.0]

[hand.right]
position = [0.15, 0.2, 0.0]
"#;

/// Controllers move hands that are not tracked: the trigger curls thumb and index finger, the grip the others.
#[test]
fn controllers_alone_move_the_hands() {
    in_own_process("controllers_alone_move_the_hands", |folder| {
        let scene = folder.join("both.toml");
        std::fs::write(&scene, BOTH).expect("a file");
        let mut remote = Remote::connect();
        for (side, x) in [(Side::Left, -0.2), (Side::Right, 0.2)] {
            let hand = remote.hand(side);
            (hand.is_tracked, hand.holds_controller) = (false, true);
            hand.grip = Pose::translation(x, 1.3, -0.4);
            (hand.trigger, hand.squeeze) = if side == Side::Right { (0.6, 0.3) } else { (0.0, 0.8) };
        }
        remote.send();
        let mut last = None;
        let watch = &mut |seen: &DrawnFrame<'_>| last = Some((seen.report.frame.clone(), seen.inputs.clone()));
        let play = Play { scene: &scene, ..Play::of("", 40) };
        play.run(watch).unwrap_or_else(|error| panic!("{error}"));
        let (frame, inputs) = last.expect("a frame");
        for (number, side) in [Side::Left, Side::Right].into_iter().enumerate() {
            let (hand, input) = (&frame.hands[number], inputs[number].as_ref().expect("an input"));
            let controller = input.controller.expect("a controller");
            assert!(input.joints.is_none(), "the hand is not tracked");
            let file = format!("fingerpad:/hands/{}.toml", side.name());
            let known = load_hand(Path::new(&file)).expect("a hand");
            let pose = |name: &str| *known.pose(name).expect("a pose");
            let (open, fist, own) = (pose("open"), pose("fist"), simulated(side, hand));
            let parts = if side == Side::Right { [0.6, 0.3] } else { [0.0, 0.8] };
            for (i, own) in own.iter().enumerate() {
                let part = parts[usize::from(i / 4 > Finger::Index as usize)];
                let told = open[i] + part * (fist[i] - open[i]);
                assert!((own - told).abs() < 2_f64.to_radians(), "{side:?}, angle {i}: {own} of {told}");
            }
            let off = (hand.kinematics.poses[0].translation.vector - controller.palm.translation.vector).norm();
            assert!(off < 2e-3, "{side:?} palm is {off} m off");
        }
    });
}

/// A window on the desktop shows the eyes; without a display there is one sentence.
#[test]
fn a_window_mirrors_the_headset() {
    in_own_process("a_window_mirrors_the_headset", |_| {
        let _remote = Remote::connect();
        // SAFETY: this process has one thread that uses the environment.
        unsafe {
            std::env::remove_var("WAYLAND_DISPLAY");
            std::env::remove_var("DISPLAY");
        }
        let mirrored = |frames: u64| Play { mirror: true, ..Play::of("play", frames) };
        // kiss3d keeps its context in the thread.
        let failed = std::thread::spawn(move || mirrored(3).run(&mut |_| ()).err()).join().expect("it ends");
        let error = failed.expect("there is no display").to_string();
        assert!(error.starts_with("the mirror window cannot be opened: there is no display"), "{error}");
        let number = format!(":{}", 1000 + std::process::id() % 20_000);
        let mut server = Command::new("Xvfb");
        let screen = ["-nolisten", "tcp", "-screen", "0", "800x600x24"];
        server.arg(&number).args(screen).stdout(Stdio::null()).stderr(Stdio::null());
        let Ok(server) = server.spawn().map(Service) else {
            assert!(std::env::var_os("FINGERPAD_EXPECT_HEADSET").is_none(), "there is no display to test with: Xvfb");
            eprintln!("the mirror window was not opened: there is no Xvfb on this machine");
            return;
        };
        let socket = PathBuf::from(format!("/tmp/.X11-unix/X{}", &number[1..]));
        let start = Instant::now();
        while !socket.exists() && start.elapsed() < Duration::from_secs(20) {
            std::thread::sleep(Duration::from_millis(50));
        }
        // SAFETY: as above.
        unsafe { std::env::set_var("DISPLAY", &number) };
        let played = mirrored(10).run(&mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
        drop(server);
        assert!(played.summary.mirrored > 5, "{} pictures", played.summary.mirrored);
    });
}

/// Validation layers of Vulkan and OpenXR find nothing in a session with menu, depth and both hands.
#[test]
fn validation_layers_find_nothing() {
    in_own_process("validation_layers_find_nothing", |folder| {
        let mut remote = Remote::connect();
        let watch = &mut |seen: &DrawnFrame<'_>| {
            remote.hand(Side::Left).button = (5..8).contains(&seen.number);
            remote.send();
        };
        let played = Play::of("play", 20).run(watch).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(played.summary.lost, None);
        for (file, layer) in [("vulkan.txt", VULKAN_CHECKS), ("openxr.txt", OPENXR_CHECKS)] {
            if !Path::new(layer[1]).exists() {
                assert!(std::env::var_os("FINGERPAD_EXPECT_HEADSET").is_none(), "{} is not installed", layer[0]);
                eprintln!("not checked: the layer {} is not installed", layer[0]);
                continue;
            }
            // The layers open their files when they are loaded. That of OpenXR also notes its own start and end.
            assert!(folder.join(file).exists(), "{} was not loaded", layer[0]);
            let found = read(&folder.join(file));
            let faults: Vec<_> =
                found.lines().filter(|line| !line.is_empty() && !line.contains("VALID_DEBUG")).collect();
            assert!(faults.is_empty(), "{file}: {faults:#?}");
        }
    });
}

/// The service is killed in the middle: one sentence, and the recording is complete up to then.
#[test]
fn a_killed_service_ends_the_session() {
    in_own_process("a_killed_service_ends_the_session", |folder| {
        let _remote = Remote::connect();
        let service = std::env::var(SERVICE).ok().and_then(|id| id.parse().ok()).expect("a number");
        let record = folder.join("killed.fpr");
        let play = Play { record: Some(record.clone()), ..Play::of("play", 1000) };
        let watch = &mut |seen: &DrawnFrame<'_>| {
            if seen.number == 20 {
                // SAFETY: a signal to a process that this test started.
                assert_eq!(unsafe { libc::kill(service, libc::SIGKILL) }, 0);
            }
        };
        let played = play.run(watch).unwrap_or_else(|error| panic!("{error}"));
        let lost = played.summary.lost.expect("it is lost");
        assert!(lost.is_loss() && played.summary.frames < 100, "{lost} after {} frames", played.summary.frames);
        assert!(played.ended.recorded.is_ok());
        // It replays bit for bit.
        let mut again = Session::load(&record, &[]).unwrap_or_else(|error| panic!("{error}"));
        while !again.is_over() {
            again.step().unwrap_or_else(|error| panic!("{error}"));
        }
        assert!(again.steps() > 10 && again.difference().is_none(), "{} steps", again.steps());
        // And without its service the runtime is missed.
        let error = Headset::open().err().expect("there is no service");
        assert!(error.to_string().contains("does not respond"), "{error}");
    });
}

/// Sessions are started and stopped, and nothing is left of them.
#[test]
fn sessions_leave_nothing_behind() {
    in_own_process("sessions_leave_nothing_behind", |_| {
        let _remote = Remote::connect();
        let mut counts = Vec::new();
        for _ in 0..20 {
            // A thread for each: kiss3d keeps its context in the thread.
            let session =
                std::thread::spawn(|| Play::of("play", 2).run(&mut |_| ()).map(|played| played.summary.frames));
            let frames = session.join().expect("it ends").unwrap_or_else(|error| panic!("{error}"));
            assert!(frames >= 2);
            counts.push(usage());
        }
        // The first sessions load libraries and fill caches.
        let (early, late) = (counts[7], counts[19]);
        assert!(late[0] <= early[0] + 2, "open files: {counts:?}");
        assert!(late[1] <= early[1] + 1, "threads: {counts:?}");
        assert!(late[2] <= early[2] + 60_000, "memory, kB: {counts:?}");
    });
}

/// Open files, threads, and resident memory in kB.
fn usage() -> [usize; 3] {
    let files = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let status = read(Path::new("/proc/self/status"));
    let number = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap_or_default();
        line.trim_start_matches(':').split_whitespace().next().and_then(|n| n.parse().ok()).unwrap_or(0)
    };
    [files, number("Threads"), number("VmRSS")]
}
