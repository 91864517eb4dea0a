//! Outputs of `fingerpad run`: the haptics table, and the hands with the VMC protocol.

use std::net::UdpSocket;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::Duration;

use fingerpad::assets::builtin_hand;
use fingerpad::devices::human::BoneSkeleton;
use fingerpad::hand::{HandDescription, Skeleton};
use fingerpad::protocol::{Format, Reading};
use fingerpad::tracking::Side;

/// Timeout for conditions that never hold if something is broken.
const PATIENCE: Duration = Duration::from_secs(60);

fn program(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command
}

fn fingerpad(arguments: &[&str]) -> Output {
    program(arguments).output().expect("the program runs")
}

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn haptics_are_logged_without_a_device() {
    let log = file("haptics.csv");
    let out = fingerpad(&["run", "pinch", "--seconds", "1.2", "--haptics-log", log.to_str().expect("a path")]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let table = std::fs::read_to_string(&log).expect("the table");
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().expect("names").split(',').collect();
    assert_eq!(names.len(), 13, "{names:?}");
    assert_eq!(names[0], "time");
    let rows: Vec<Vec<f64>> =
        lines.map(|line| line.split(',').map(|x| x.parse().expect("a number")).collect()).collect();
    assert_eq!(rows.len(), 120, "a line a step");
    assert!(rows.windows(2).all(|pair| pair[1][0] > pair[0][0]));
    let most = |name: &str| {
        let place = names.iter().position(|own| own.ends_with(name)).unwrap_or_else(|| panic!("{name} in {names:?}"));
        rows.iter().map(|row| row[place]).fold(0.0, f64::max)
    };
    for finger in ["thumb", "index"] {
        let (force, pressure) = (most(&format!("{finger}_force")), most(&format!("{finger}_pressure")));
        assert!(force > 0.1 && force < 50.0, "{finger}: {force} N");
        // A few contacts carry the load at first, and the skin layer stiffens under them.
        assert!(pressure > 1e3 && pressure < 2e6, "{finger}: {pressure} Pa");
    }
    assert_eq!((most("little_force"), most("palm_pressure")), (0.0, 0.0), "they touch nothing");
    assert_eq!(rows[0][1..], [0.0; 12], "nothing is touched yet");
}

#[test]
fn an_unwritable_log_is_reported() {
    let out = fingerpad(&["run", "pinch", "--seconds", "0.01", "--haptics-log", "/nowhere/haptics.csv"]);
    assert_eq!(out.status.code(), Some(2));
    assert!(text(&out.stderr).contains("/nowhere/haptics.csv"), "{}", text(&out.stderr));
}

fn skeleton(side: Side) -> Skeleton {
    Skeleton::new(&HandDescription { side, ..builtin_hand().expect("the hand it carries") }).expect("a hand")
}

/// The simulated hand as received by another program.
#[test]
fn the_simulated_hand_is_sent_as_bones() {
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(PATIENCE)).expect("a socket");
    let address = socket.local_addr().expect("an address").to_string();
    let trace = file("bones.csv");
    let arguments =
        ["run", "pinch", "--seconds", "0.4", "--vmc-out", &address, "--trace", trace.to_str().expect("a path")];
    let mut child = program(&arguments).arg("--realtime").spawn().expect("the program runs");
    // The first datagram comes after the first step.
    let mut datagram = [0; 65536];
    let length = socket.recv(&mut datagram).expect("a datagram");
    assert!(child.wait().expect("it ends").success());
    let mut readings = Vec::new();
    Format::Vmc.decoder().push(&datagram[..length], &mut readings);
    let mut body = BoneSkeleton::new(&skeleton(Side::Left), &skeleton(Side::Right));
    let mut palm = None;
    for reading in &readings {
        match reading {
            Reading::Bone { bone, pose } => body.set(*bone, pose),
            Reading::Tracked { serial, pose, .. } if serial == "right_hand" => palm = Some(*pose),
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(readings.len(), 16, "fifteen bones and the palm");
    let angles = body.news(Side::Right).expect("the right hand").angles;
    let table = std::fs::read_to_string(&trace).expect("the table");
    let mut lines = table.lines();
    let names: Vec<&str> = lines.next().expect("names").split(',').collect();
    let first: Vec<&str> = lines.next().expect("a step").split(',').collect();
    let value = |ends: &str| -> f64 {
        let place = names.iter().position(|name| name.ends_with(ends)).unwrap_or_else(|| panic!("{ends} in {names:?}"));
        first[place].parse().expect("a number")
    };
    for angle in fingerpad::tracking::Angle::all() {
        let (sent, simulated) = (angles[angle.index()].expect("all are sent").to_degrees(), value(&angle.name()));
        assert!((sent - simulated).abs() < 0.1, "{}: {sent}° and {simulated}°", angle.name());
    }
    assert!(palm.expect("the palm").translation.vector.norm() < 10.0);
}

#[test]
fn an_invalid_address_is_rejected() {
    for address in ["here", "127.0.0.1", "127.0.0.1:0", "0", "99999"] {
        let out = fingerpad(&["run", "pinch", "--vmc-out", address]);
        assert_eq!(out.status.code(), Some(2), "{address}");
        assert!(text(&out.stderr).contains("127.0.0.1:39540"), "{}", text(&out.stderr));
    }
}

/// Without a runtime there is a single message.
#[cfg(feature = "openxr")]
#[test]
fn openxr_without_a_runtime_is_one_message() {
    let mut command = program(&["run", "pinch", "--device", "openxr", "--device-wait", "0.5", "--quiet"]);
    let out = command.env("XR_RUNTIME_JSON", "/nowhere/runtime.json").env_remove("XR_LOADER_DEBUG").output();
    let out = out.expect("the program runs");
    assert_eq!(out.status.code(), Some(2));
    let message = text(&out.stderr);
    assert_eq!(message.lines().count(), 1, "{message}");
    assert!(message.contains("OpenXR hand tracking sends nothing"), "{message}");
}

/// Ctrl-C ends a run with devices with a summary.
#[cfg(unix)]
#[test]
fn a_run_with_devices_ends_on_request() {
    use std::io::{BufRead, BufReader};
    use std::process::Stdio;
    use std::sync::atomic::{AtomicBool, Ordering};

    let socket = UdpSocket::bind("127.0.0.1:0").expect("a socket");
    let port = {
        let free = UdpSocket::bind("127.0.0.1:0").expect("a socket");
        free.local_addr().expect("an address").port()
    };
    let hand = fingerpad::devices::human::HumanHand::new(Side::Right, &skeleton(Side::Right));
    let (mut encoder, mut datagram) = (Format::Vmc.encoder(), Vec::new());
    for (bone, pose) in hand.bones(&fingerpad::math::Pose::identity(), &[0.1; 20]) {
        encoder.set(&Reading::Bone { bone, pose });
    }
    encoder.packet(&mut datagram);
    let device = format!("vmc@127.0.0.1:{port}");
    let mut command = program(&["run", "pinch", "--seconds", "3600", "--json", "--device", &device]);
    command.args(["--device-wait", "60"]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program runs");
    let is_over = AtomicBool::new(false);
    let out = std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                // No receiver at first.
                let _ = socket.send_to(&datagram, ("127.0.0.1", port));
                std::thread::sleep(Duration::from_millis(10));
            }
        });
        let mut message = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        let streams = message.any(|line| line.expect("text").contains("streaming"));
        let number = child.id().to_string();
        let asked = Command::new("kill").args(["-INT", &number]).status().expect("kill").success();
        let rest: Vec<_> = message.map(|line| line.expect("text")).collect();
        let out = child.wait_with_output().expect("it ends");
        is_over.store(true, Ordering::Relaxed);
        assert!(streams && asked, "{rest:?}");
        out
    });
    assert_eq!(out.status.code(), Some(130));
    let run: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    assert!(run["devices"].is_array(), "{run}");
}
