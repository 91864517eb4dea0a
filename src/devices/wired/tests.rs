use std::io;
use std::sync::{Arc, Mutex};

use super::*;
use crate::assets::{Port, builtin_device_file, builtin_hand, load_device};
use crate::devices::{SourceHandle, SourceSample};
use crate::hand::{HandDescription, Skeleton};
use crate::math::{Pose, Vec3};
use crate::protocol::{Argument, Emulated, FlexReading, Sensor, TrackedObject, bundle, message};
use crate::tracking::Finger;

/// Timeout for conditions that never hold if something is broken.
const PATIENCE: Duration = Duration::from_secs(30);

/// The other end of a connection: an emulated device, and its received commands.
struct Bench {
    device: Box<dyn Emulated>,
    written: Vec<u8>,
    heard: Vec<HostLine>,
    is_unplugged: bool,
}

struct Cable(Arc<Mutex<Bench>>);

impl Wire for Cable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        // The device samples a few hundred times per second.
        std::thread::sleep(Duration::from_millis(2));
        let mut bench = self.0.lock().expect("nobody panics");
        if bench.is_unplugged {
            return Err(io::ErrorKind::BrokenPipe.into());
        }
        let packet = bench.device.sample();
        buffer[..packet.len()].copy_from_slice(&packet);
        Ok(packet.len())
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut bench = self.0.lock().expect("nobody panics");
        bench.written.extend(bytes);
        bench.device.receive(bytes);
        let heard = bench.device.commands();
        bench.heard.extend(heard);
        Ok(())
    }
}

fn profile(name: &str) -> DeviceProfile {
    let file = builtin_device_file(name).expect("a shipped profile");
    let mut profile = load_device(&file).unwrap_or_else(|problems| panic!("{problems}"));
    profile.haptics = Some(profile.haptics.unwrap_or_default());
    profile.filter = None;
    profile
}

fn hands() -> Hands {
    let skeleton = |side| Skeleton::new(&HandDescription { side, ..builtin_hand().expect("a hand") }).expect("a hand");
    Hands { left: skeleton(Side::Left), right: skeleton(Side::Right) }
}

fn start(profile: &DeviceProfile) -> (SourceHandle, Arc<Mutex<Bench>>) {
    let crate::assets::DeviceKind::Wire(format) = profile.kind else { panic!("a device of bytes") };
    let bench = Bench { device: format.emulated(), written: Vec::new(), heard: Vec::new(), is_unplugged: false };
    let bench = Arc::new(Mutex::new(bench));
    let (cable, own, hands, epoch) = (bench.clone(), profile.clone(), hands(), Instant::now());
    let run = move |feed: &SourceFeed| {
        let device = WiredDevice { profile: &own, format: &format, hands: &hands, epoch };
        run(feed, device, || Ok(Opened { wire: Box::new(Cable(cable.clone())), port: "a bench".into() }));
    };
    (SourceHandle::start("bench", run).expect("a thread"), bench)
}

fn touch(index: f64) -> HandForces {
    HandForces {
        side: Side::Right,
        fingers: [0.0, index, 0.0, 0.0, 0.0],
        palm: 0.0,
        pressure: [0.0; 6],
        slip: [0.0; 6],
    }
}

/// The last command to the actuators.
fn last_force(bench: &Mutex<Bench>) -> Option<[f64; 5]> {
    let force = |line: &HostLine| match line {
        HostLine::Force(ForceFeedback(fingers)) => Some(*fingers),
        _ => None,
    };
    bench.lock().expect("nobody panics").heard.iter().rev().find_map(force)
}

fn until(what: &str, mut is_so: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_so() {
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::sleep(Duration::from_millis(2));
    }
}

#[test]
fn forces_reach_the_fingers_and_are_released_by_the_watchdog() {
    let (source, bench) = start(&profile("opengloves"));
    let nothing = Some([0.0; 5]);
    until("a first command", || last_force(&bench) == nothing);
    // 5 N is the maximum, so 2 N are 40 %.
    until("a force", || {
        source.feel(touch(2.0));
        last_force(&bench) == Some([0.0, 0.4, 0.0, 0.0, 0.0])
    });
    assert_eq!(source.sent_levels(Side::Right).fingers[1], 0.4);
    until("the maximum", || {
        source.feel(touch(1e6));
        last_force(&bench) == Some([0.0, 1.0, 0.0, 0.0, 0.0])
    });
    // The left hand is not that of the device.
    let told = bench.lock().expect("nobody panics").heard.len();
    until("the watchdog", || {
        source.feel(HandForces { side: Side::Left, ..touch(3.0) });
        last_force(&bench) == nothing
    });
    until("that to be said again", || bench.lock().expect("nobody panics").heard.len() >= told + 2);
    assert_eq!((last_force(&bench), source.sent_levels(Side::Right)), (nothing, Levels::ZERO));
    until("a force again", || {
        source.feel(touch(5.0));
        last_force(&bench) == Some([0.0, 1.0, 0.0, 0.0, 0.0])
    });
    drop(source);
    let heard = &bench.lock().expect("nobody panics").heard;
    assert_eq!(heard[heard.len() - 2..], [HostLine::Force(ForceFeedback([0.0; 5])), HostLine::Stop]);
}

#[test]
fn a_reconnected_glove_starts_at_zero() {
    let (source, bench) = start(&profile("opengloves"));
    until("a force", || {
        source.feel(touch(5.0));
        last_force(&bench) == Some([0.0, 1.0, 0.0, 0.0, 0.0])
    });
    bench.lock().expect("nobody panics").is_unplugged = true;
    until("the loss", || matches!(source.state(), SourceState::Lost(_)));
    {
        let mut bench = bench.lock().expect("nobody panics");
        bench.is_unplugged = false;
        bench.heard.clear();
    }
    until("the first command", || last_force(&bench).is_some());
    assert_eq!(last_force(&bench), Some([0.0; 5]));
}

/// The legacy encoding has no command lines of its own; its actuators take the same.
#[test]
fn a_legacy_glove_takes_forces_too() {
    let (source, bench) = start(&profile("opengloves-legacy"));
    let text = || String::from_utf8_lossy(&bench.lock().expect("nobody panics").written).into_owned();
    until("a force", || {
        source.feel(touch(2.5));
        text().contains("A0B500C0D0E0\n")
    });
    drop(source);
    assert!(text().ends_with("A0B0C0D0E0\n"), "{}", text());
}

#[test]
fn a_profile_without_haptics_sends_no_commands() {
    let profile = DeviceProfile { haptics: None, ..profile("opengloves") };
    let (source, bench) = start(&profile);
    bench
        .lock()
        .expect("nobody panics")
        .device
        .set(&Reading::Flex(FlexReading::of([(Sensor::Curl(Finger::Index), 0.5)])));
    for _ in 0..20 {
        source.feel(touch(5.0));
        source.samples().recv_timeout(PATIENCE).expect("a sample");
    }
    drop(source);
    assert_eq!(last_force(&bench), None);
}

fn sample_of(source: &SourceHandle, side: Side, fits: impl Fn(&SourceSample) -> bool) -> SourceSample {
    let start = Instant::now();
    loop {
        let sample = source.samples().recv_timeout(PATIENCE).expect("a sample");
        if sample.side == side && fits(&sample) {
            return sample;
        }
        assert!(start.elapsed() < PATIENCE, "no such sample");
    }
}

/// Skeleton data contains both hands; trackers count only without skeleton data or if the profile names one.
#[test]
fn a_skeleton_drives_both_hands() {
    let hands = hands();
    let pose = |side: Side, name: &str| {
        let hand = HandDescription { side, ..builtin_hand().expect("a hand") };
        *hand.pose(name).expect("a pose")
    };
    let tell = |bench: &Mutex<Bench>| {
        let mut bench = bench.lock().expect("nobody panics");
        for (side, skeleton, name) in [(Side::Left, &hands.left, "pinch"), (Side::Right, &hands.right, "fist")] {
            let hand = crate::devices::human::HumanHand::new(side, skeleton);
            for (bone, pose) in hand.bones(&Pose::identity(), &pose(side, name)) {
                bench.device.set(&Reading::Bone { bone, pose });
            }
        }
        let (object, pose) = (TrackedObject::Tracker, Pose::translation(0.1, 0.2, 0.3));
        bench.device.set(&Reading::Tracked { object, serial: "wrist".into(), pose });
    };
    let near = |sample: &SourceSample, known: &[f64]| {
        sample.angles.iter().zip(known).all(|(a, b)| (a.expect("all are told") - b).abs() < 1e-3)
    };
    let (source, bench) = start(&profile("vmc"));
    tell(&bench);
    for (side, name) in [(Side::Left, "pinch"), (Side::Right, "fist")] {
        let sample = sample_of(&source, side, SourceSample::has_angles);
        assert!(near(&sample, &pose(side, name)), "{side:?} {:?}", sample.angles);
        assert_eq!(sample.palm(), None, "no arm leads to it, and the tracker may be anybody's");
    }
    drop(source);
    let (source, bench) = start(&DeviceProfile { tracker: Some("wrist".into()), ..profile("vmc") });
    tell(&bench);
    let placed = sample_of(&source, Side::Right, |sample| sample.position.is_some());
    assert!((placed.position.expect("a place") - Vec3::new(0.1, 0.2, 0.3)).norm() < 1e-6);
    drop(source);
    let (source, bench) = start(&DeviceProfile { side: Some(Side::Left), ..profile("vmc") });
    tell(&bench);
    for _ in 0..20 {
        assert_eq!(source.samples().recv_timeout(PATIENCE).expect("a sample").side, Side::Left);
    }
}

/// Some programs send a whole skeleton in one datagram.
#[test]
fn a_large_datagram_is_read_completely() {
    let own = profile("vmc");
    let profile = DeviceProfile { port: Port::Named("127.0.0.1:0".into()), ..own };
    let source = crate::devices::start(&profile, &hands(), Instant::now()).expect("a source");
    until("an address", || !source.statistics().port.is_empty());
    let faces =
        (0..100).map(|i| message("/VMC/Ext/Blend/Val", &[Argument::Text("smile"), Argument::Float(0.01 * i as f32)]));
    let numbers = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0].map(Argument::Float);
    let bone = message("/VMC/Ext/Bone/Pos", &[&[Argument::Text("RightIndexProximal")][..], &numbers].concat());
    let messages: Vec<_> = faces.chain([bone]).collect();
    let datagram = bundle(messages.iter().map(Vec::as_slice));
    assert!(datagram.len() > 4096, "{}", datagram.len());
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    until("the bone at its end", || {
        socket.send_to(&datagram, &source.statistics().port).expect("it is sent");
        source.samples().try_iter().any(|sample| sample.side == Side::Right && sample.has_angles())
    });
}
