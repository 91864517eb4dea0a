//! Force-feedback devices on the program: the loop in a thread of its own, felt through the links to devices.

use std::net::{TcpListener, UdpSocket};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fingerpad::assets::{Scene, parse_scene};
use fingerpad::haptics::EmulatedInverse3;
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::protocol::{BridgePose, BridgeWrench, HaplyState};
use serde_json::Value;

/// How far the device is pushed down, m.
const DEPTH: f64 = 0.008;

fn shipped(device: &str) -> Scene {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/haptic_press.toml");
    let text = std::fs::read_to_string(&file).expect("a scene");
    let (fixed, _) = text.split_once("[[haptic.motion]]").expect("a motion");
    let motion = format!("[[haptic.motion]]\nat = 0.5\nmove = [0, -{DEPTH}, 0]\n");
    parse_scene(&file, &format!("{fixed}device = \"{device}\"\n{motion}"), &[]).unwrap_or_else(|e| panic!("{e}"))
}

/// Force of the block on the device at the depth, computed in lockstep, N.
fn expected() -> Vec3 {
    let mut scene = shipped("positioned");
    while scene.world.time() < 1.5 {
        scene.step();
    }
    scene.haptic.as_ref().expect("a loop").sent_wrench().force
}

fn start(device: &str) -> Child {
    Command::new(env!("CARGO_BIN_EXE_fingerpad"))
        .args(["run", "haptic_press", "--haptic", device, "--seconds", "60", "--json", "-q"])
        .current_dir(env!("CARGO_TARGET_TMPDIR"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts")
}

/// Ends a run as Ctrl-C does, and returns its figures of the haptic loop.
fn finish(program: Child) -> Value {
    let asked = Command::new("kill").args(["-INT", &program.id().to_string()]).status().expect("kill").success();
    assert!(asked);
    let out = program.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&out.stdout);
    let report: Value =
        serde_json::from_str(&text).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&out.stderr)));
    report["haptic"].clone()
}

/// Pushes a device down until the force is that of the scene in lockstep. `exchange` sends a displacement and returns the newest force.
fn press(mut exchange: impl FnMut(&Vec3) -> Option<Vec3>) {
    let (wanted, begun) = (expected(), Instant::now());
    assert!(wanted.y > 0.5, "{wanted}");
    let (mut heard, mut weight) = (None, None);
    let mut last = Vec3::zeros();
    while begun.elapsed() < Duration::from_secs(60) {
        let time = heard.map_or(0.0, |at: Instant| at.elapsed().as_secs_f64());
        let down = DEPTH * ((time - 0.5) / 0.5).clamp(0.0, 1.0);
        if let Some(force) = exchange(&Vec3::new(0.0, -down, 0.0)) {
            heard.get_or_insert_with(Instant::now);
            last = force;
            // Free in the air, the device carries the tool.
            weight = weight.or_else(|| (time > 0.3 && (force.y + 0.05 * 9.81).abs() < 0.05).then_some(force));
            if time > 1.2 && (force - wanted).norm() < 0.03 * wanted.norm() {
                assert!(weight.is_some(), "the weight of the tool was not felt");
                return;
            }
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("the force is {last} in place of {wanted}");
}

#[cfg(unix)]
#[test]
fn a_device_on_the_bridge_feels_the_scene() {
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let program = start(&format!("bridge@{port}"));
    let socket = UdpSocket::bind("127.0.0.1:0").expect("a port");
    socket.connect(("127.0.0.1", port)).expect("an address");
    socket.set_nonblocking(true).expect("no waiting");
    let (clock, mut sequence) = (Instant::now(), 0);
    let newest = || {
        let (mut buffer, mut newest) = ([0; 256], None);
        // The program may not listen yet.
        while let Ok(length) = socket.recv(&mut buffer) {
            newest = BridgeWrench::decode(&buffer[..length]).ok();
        }
        newest
    };
    press(|moved| {
        // The device has its own origin.
        let pose = Pose::from_parts((Vec3::new(0.3, 0.1, -0.2) + moved).into(), Quat::identity());
        let time = clock.elapsed().as_nanos() as u64;
        let _ = socket.send(&BridgePose { sequence, time, pose, buttons: 0 }.encode());
        sequence += 1;
        newest().map(|wrench| wrench.force)
    });
    // The device goes silent: the force is zero after 10 ms, and stays so.
    std::thread::sleep(Duration::from_millis(300));
    newest();
    std::thread::sleep(Duration::from_millis(100));
    let silent = newest().expect("the loop goes on");
    assert_eq!((silent.force, silent.torque), (Vec3::zeros(), Vec3::zeros()));
    let figures = finish(program);
    assert!(figures["faults"].as_u64() >= Some(1), "{figures}");
    for name in ["median", "p99", "p999", "max"] {
        assert!(figures["period_ms"][name].as_f64().is_some_and(|period| period > 0.0), "{figures}");
    }
    assert!(figures["missed_deadlines"].is_u64() && figures["force_difference"].is_f64(), "{figures}");
}

#[cfg(unix)]
#[test]
fn an_inverse3_feels_the_scene() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let program = start(&format!("inverse3@{}", listener.local_addr().expect("an address").port()));
    let mut service = EmulatedInverse3::accept(&listener).expect("a client");
    press(|moved| {
        let position = Vec3::new(0.02, -0.1, 0.15) + moved;
        let state = HaplyState { device: "d".into(), position, orientation: None, buttons: [false; 3] };
        service.exchange(&state).expect("connected")
    });
    let figures = finish(program);
    assert!(figures["steps"].as_u64() > Some(100), "{figures}");
}

/// What cannot work is one sentence.
#[test]
fn wrong_devices_are_refused() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("haptic.fpr");
    let record = ["haptic_press", "--haptic", "bridge@0", "--record", file.to_str().expect("a path")];
    let cases: [(&[&str], &str); 4] = [
        (&["haptic_press", "--haptic", "phantom"], "expected `bridge` or `inverse3`"),
        (&["rest", "--haptic", "bridge@0"], "no `[haptic]` section"),
        (&["haptic_press", "--haptic", "inverse3@1"], "does not answer"),
        (&record, "cannot be recorded"),
    ];
    for (arguments, message) in cases {
        let out = Command::new(env!("CARGO_BIN_EXE_fingerpad")).arg("run").args(arguments).output().expect("it runs");
        let text = String::from_utf8_lossy(&out.stderr);
        assert!(!out.status.success() && text.contains(message), "{arguments:?}: {text}");
    }
}
