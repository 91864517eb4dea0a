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

/// A scene, how far the device is pushed down, m, and the force of gravity on its tool, N.
#[derive(Clone, Copy)]
struct Pushed {
    scene: &'static str,
    depth: f64,
    weight: f64,
}

/// A rigid tool of 50 g on a soft block.
const BLOCK: Pushed = Pushed { scene: "haptic_press", depth: 0.008, weight: 0.05 * 9.81 };

/// The tool of an elastic body has no mass. The device starts 4.4 mm above the ellipsoid.
const ELLIPSOID: Pushed = Pushed { scene: "elastic_haptic", depth: 0.016, weight: 0.0 };

impl Pushed {
    fn shipped(&self, device: &str) -> Scene {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes").join(format!("{}.toml", self.scene));
        let text = std::fs::read_to_string(&file).expect("a scene");
        let fixed = text.split_once("[[haptic.motion]]").map_or(text.as_str(), |(fixed, _)| fixed);
        let motion = format!("[[haptic.motion]]\nat = 0.5\nmove = [0, -{}, 0]\n", self.depth);
        parse_scene(&file, &format!("{fixed}\ndevice = \"{device}\"\n{motion}"), &[]).unwrap_or_else(|e| panic!("{e}"))
    }

    /// Force on the device at the depth, computed in lockstep, N.
    fn expected(&self) -> Vec3 {
        let mut scene = self.shipped("positioned");
        while scene.world.time() < 1.5 {
            scene.step();
        }
        scene.haptic.as_ref().expect("a loop").sent_wrench().force
    }

    fn start(&self, device: &str) -> Child {
        Command::new(env!("CARGO_BIN_EXE_fingerpad"))
            .args(["run", self.scene, "--haptic", device, "--seconds", "60", "--json", "-q"])
            .current_dir(env!("CARGO_TARGET_TMPDIR"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts")
    }

    /// Pushes a device down until the force is that of the scene in lockstep. `exchange` sends a displacement and returns the newest force.
    fn press(&self, mut exchange: impl FnMut(&Vec3) -> Option<Vec3>) {
        let (wanted, begun) = (self.expected(), Instant::now());
        assert!(wanted.y > 0.5, "{wanted}");
        let (mut heard, mut weight) = (None, None);
        let mut last = Vec3::zeros();
        while begun.elapsed() < Duration::from_secs(60) {
            let time = heard.map_or(0.0, |at: Instant| at.elapsed().as_secs_f64());
            let down = self.depth * ((time - 0.5) / 0.5).clamp(0.0, 1.0);
            if let Some(force) = exchange(&Vec3::new(0.0, -down, 0.0)) {
                heard.get_or_insert_with(Instant::now);
                last = force;
                // Free in the air, the device carries the tool.
                weight = weight.or_else(|| (time > 0.3 && (force.y + self.weight).abs() < 0.05).then_some(force));
                if time > 1.2 && (force - wanted).norm() < 0.03 * wanted.norm() {
                    assert!(weight.is_some(), "the weight of the tool was not felt");
                    return;
                }
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        panic!("the force is {last} in place of {wanted}");
    }
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

/// Presses with a device on the bridge, which then goes silent. Returns the figures of the loop.
#[cfg(unix)]
fn press_over_the_bridge(pushed: &Pushed) -> Value {
    let port = UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.local_addr()).expect("a port").port();
    let program = pushed.start(&format!("bridge@{port}"));
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
    pushed.press(|moved| {
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
    finish(program)
}

#[cfg(unix)]
#[test]
fn a_device_on_the_bridge_feels_the_scene() {
    let figures = press_over_the_bridge(&BLOCK);
    assert!(figures["faults"].as_u64() >= Some(1), "{figures}");
    for name in ["median", "p99", "p999", "max"] {
        assert!(figures["period_ms"][name].as_f64().is_some_and(|period| period > 0.0), "{figures}");
    }
    assert!(figures["missed_deadlines"].is_u64() && figures["force_difference"].is_f64(), "{figures}");
}

/// The tool of an elastic body, whose force follows from its depth alone (Luo 2007, fig. 1).
#[cfg(unix)]
#[test]
fn a_device_on_the_bridge_feels_an_elastic_object() {
    let figures = press_over_the_bridge(&ELLIPSOID);
    assert!(figures["faults"].as_u64() >= Some(1) && figures["peak_force"].as_f64() > Some(1.0), "{figures}");
    // One region; the force of the device is that of the contact.
    assert_eq!(figures["constraints_max"].as_u64(), Some(1), "{figures}");
}

#[cfg(unix)]
fn press_with_an_inverse3(pushed: &Pushed) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let program = pushed.start(&format!("inverse3@{}", listener.local_addr().expect("an address").port()));
    let mut service = EmulatedInverse3::accept(&listener).expect("a client");
    pushed.press(|moved| {
        let position = Vec3::new(0.02, -0.1, 0.15) + moved;
        let state = HaplyState { device: "d".into(), position, orientation: None, buttons: [false; 3] };
        service.exchange(&state).expect("connected")
    });
    let figures = finish(program);
    assert!(figures["steps"].as_u64() > Some(100), "{figures}");
}

#[cfg(unix)]
#[test]
fn an_inverse3_feels_the_scene() {
    press_with_an_inverse3(&BLOCK);
}

/// The force limit of the device is 8 N.
#[cfg(unix)]
#[test]
fn an_inverse3_feels_an_elastic_object() {
    press_with_an_inverse3(&Pushed { depth: 0.012, ..ELLIPSOID });
}

/// A coupling that the rate of the loop does not allow is run with a warning, which names the stiffness that it does.
#[test]
fn a_coupling_that_is_too_stiff_for_the_loop_is_warned_of() {
    let press = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/haptic_press.toml"));
    let press = press.expect("a scene");
    // b = 2 N·s/m, T = 2 ms and B = 1 N·s/m: 2 (b − B)/T.
    for (stiffness, warns) in [("999", false), ("1001", true)] {
        let text = press.replace("stiffness = 600", &format!("stiffness = {stiffness}"));
        let scene = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("stiff_{stiffness}.toml"));
        std::fs::write(&scene, text).expect("a file");
        let mut program = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
        let out = program.args(["run", "--seconds", "0.02"]).arg(scene).output().expect("it runs");
        let text = String::from_utf8_lossy(&out.stderr);
        assert!(out.status.success() && text.contains("at most 1000 is passive") == warns, "{stiffness}: {text}");
    }
}

/// What cannot work is one sentence.
#[test]
fn wrong_devices_are_refused() {
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("haptic.fpr");
    let record = ["haptic_press", "--haptic", "bridge@0", "--record", file.to_str().expect("a path")];
    // A device that is told where to be needs the force of the hand.
    let press = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/haptic_press.toml"));
    let admitted = press.expect("a scene").replace("[haptic]", "[haptic]\ncontrol = \"admittance\"");
    let scene = Path::new(env!("CARGO_TARGET_TMPDIR")).join("admitted.toml");
    std::fs::write(&scene, admitted).expect("a file");
    let admitted = [scene.to_str().expect("a path"), "--haptic", "bridge@0"];
    let cases: [(&[&str], &str); 5] = [
        (&admitted, "it measures no force"),
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
