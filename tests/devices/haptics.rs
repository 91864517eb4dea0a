//! Haptic loops: safety, passivity, and the links to devices.

use std::net::TcpListener;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use fingerpad::haptics::{
    BridgeServer, DeviceFault, DeviceSample, EmulatedHand, EmulatedInverse3, GuardOptions, HandDynamics, HapticLoop,
    HapticOptions, Inverse3Client, Inverse3Error, ToolState, VirtualCoupling, Wrench,
};
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::protocol::HaplyState;

const PERIOD: f64 = 1e-3;

fn tool_at(x: f64) -> ToolState {
    ToolState { pose: Pose::translation(x, 0.0, 0.0), velocity: [Vec3::zeros(); 2] }
}

fn sample(time: f64, x: f64) -> DeviceSample {
    DeviceSample { time, pose: Pose::translation(x, 0.0, 0.0) }
}

/// A loop that has shown its full force for a second, with the device 4 mm from the tool.
fn settled() -> (HapticLoop, f64) {
    let mut haptic = HapticLoop::new(HapticOptions { passivity: None, ..HapticOptions::default() });
    let mut now = 0.0;
    for i in 0..1000 {
        now = i as f64 * PERIOD;
        haptic.step(Some(&sample(now, 0.004)), &tool_at(0.0), now);
    }
    let output = haptic.step(Some(&sample(now + PERIOD, 0.004)), &tool_at(0.0), now + PERIOD);
    assert!((output.device.force.x + 2.0).abs() < 1e-9 && (output.tool.force.x - 2.0).abs() < 1e-9);
    (haptic, now + PERIOD)
}

#[test]
fn a_device_that_freezes_or_goes_away_has_no_force_after_ten_milliseconds() {
    let frozen: &dyn Fn(f64) -> Option<DeviceSample> = &|now| Some(sample(now, 0.004));
    let gone: &dyn Fn(f64) -> Option<DeviceSample> = &|_| None;
    for device in [frozen, gone] {
        let (mut haptic, start) = settled();
        let last = device(start);
        for i in 1..100 {
            let now = start + i as f64 * PERIOD;
            let output = haptic.step(last.as_ref(), &tool_at(0.0), now);
            if now - start >= 0.01 {
                assert_eq!((output.device, output.tool), (Wrench::default(), Wrench::default()));
                assert_eq!(output.fault, Some(DeviceFault::Silent));
            }
        }
        // It comes back without a blow.
        let now = start + 0.2;
        let output = haptic.step(Some(&sample(now, 0.004)), &tool_at(0.0), now);
        assert!(output.fault.is_none() && output.device.force.norm() < 0.05);
        assert_eq!(haptic.guard().faults(), 1);
    }
}

#[test]
fn poses_that_are_not_finite_have_no_force_at_once() {
    for bad in [f64::NAN, f64::INFINITY] {
        let (mut haptic, now) = settled();
        let output = haptic.step(Some(&sample(now + PERIOD, bad)), &tool_at(0.0), now + PERIOD);
        assert_eq!((output.device, output.fault), (Wrench::default(), Some(DeviceFault::NotFinite)));
        let mut turned = sample(now + PERIOD, 0.0);
        turned.pose.rotation = Quat::new_unchecked(nalgebra::Quaternion::new(0.0, 0.0, 0.0, 0.0));
        let output = haptic.step(Some(&turned), &tool_at(0.0), now + 2.0 * PERIOD);
        assert_eq!(output.fault, Some(DeviceFault::NotFinite));
        // A tool that is not finite has no force either.
        let (mut haptic, now) = settled();
        let output = haptic.step(Some(&sample(now + PERIOD, 0.004)), &tool_at(bad), now + PERIOD);
        assert_eq!(output.device, Wrench::default());
    }
}

#[test]
fn a_jump_has_no_force_and_force_rises_slowly_afterwards() {
    let (mut haptic, start) = settled();
    let output = haptic.step(Some(&sample(start + PERIOD, 0.3)), &tool_at(0.0), start + PERIOD);
    assert_eq!((output.device, output.fault), (Wrench::default(), Some(DeviceFault::Jump)));
    let mut last = 0.0;
    for i in 2..400 {
        let now = start + i as f64 * PERIOD;
        let force = haptic.step(Some(&sample(now, 0.3)), &tool_at(0.0), now).device.force.norm();
        assert!(force - last < 0.06 && force <= 5.0 + 1e-9, "{last} then {force}");
        last = force;
    }
    assert!((last - 5.0).abs() < 1e-9, "the limit of the coupling");
}

/// A hand presses a stiff wall to and fro. Returns the energy that it received from the device by the end of each cycle of its aim, and the loop.
fn press_a_wall(period: f64, passivity: Option<[f64; 2]>) -> (Vec<f64>, HapticLoop) {
    let coupling = VirtualCoupling { stiffness: 4000.0, damping: 0.0, force_limit: 20.0, ..VirtualCoupling::default() };
    let guard = GuardOptions { recovery: 1e-6, silence: 0.05, cutoff: 1000.0, ..GuardOptions::default() };
    let options =
        HapticOptions { period, coupling, guard, passivity, device_damping: [0.3, 0.01], ..HapticOptions::default() };
    let mut haptic = HapticLoop::new(options);
    let dynamics = HandDynamics { mass: 0.3, damping: 0.3, stiffness: 150.0, delay: 0, ..HandDynamics::default() };
    let mut hand = EmulatedHand::new(dynamics, Pose::translation(0.02, 0.0, 0.0));
    let (mut cycles, cycle) = (Vec::new(), 0.5);
    for i in 0..(10.0 / period) as usize {
        let now = i as f64 * period;
        let pose = hand.sample().pose;
        // The tool stays on the surface of the wall x < 0; outside it goes with the device.
        let tool = tool_at(pose.translation.x.max(0.0));
        let tool = ToolState { pose: Pose::from_parts(tool.pose.translation, pose.rotation), ..tool };
        let output = haptic.step(Some(&hand.sample()), &tool, now);
        let aim = Pose::translation(0.005 + 0.02 * (2.0 * std::f64::consts::PI * now / cycle).cos(), 0.0, 0.0);
        hand.step(&output.device, &aim, period);
        if ((i + 1) as f64 * period / cycle).floor() > cycles.len() as f64 {
            cycles.push(hand.received());
        }
    }
    (cycles, haptic)
}

#[test]
fn a_coupled_hand_gains_no_energy_with_the_passivity_controller_and_does_without() {
    for period in [0.01, 0.005, 0.002, 0.001] {
        let (without, open) = press_a_wall(period, None);
        let (with, closed) = press_a_wall(period, Some([0.3 / period, 0.03]));
        assert!(open.warning().is_some(), "0.3 N·s/m are too little");
        let gained = without.last().expect("cycles");
        assert!(*gained > 0.01, "without it the hand should gain energy: {gained} at {period}");
        assert!(open.passivity().least_energy() < -0.01);
        for (i, energy) in with.iter().enumerate() {
            assert!(*energy <= 1e-3, "cycle {i} at {period}: {energy} J received, {with:?}");
        }
        // The observer reckons what the hand received.
        let observed = -open.passivity().energy();
        assert!((observed - gained).abs() < 0.05 * gained, "{observed} {gained}");
        assert!(closed.passivity().dissipated() > 0.0);
    }
}

#[test]
fn an_emulated_inverse3_is_pushed_back() {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address").to_string();
    let service = std::thread::spawn(move || {
        let mut service = EmulatedInverse3::accept(&listener).expect("a client");
        service.send_text("{\"not\": \"a state\"}").expect("sent");
        let mut forces = Vec::new();
        for i in 0..50 {
            let position = Vec3::new(1e-4 * i as f64, 0.0, 0.0);
            let state =
                HaplyState { device: "d".into(), position, orientation: Some(Quat::identity()), buttons: [false; 3] };
            forces.extend(service.exchange(&state).expect("connected"));
        }
        forces
    });
    let mut client = Inverse3Client::connect(&address, 2.0).expect("a service");
    let end = loop {
        match client.receive() {
            Ok(Some(state)) => {
                if let Err(e) = client.send(&state.device, &(-500.0 * state.position)) {
                    break e;
                }
            }
            Ok(None) => {}
            Err(e) => break e,
        }
    };
    assert!(matches!(end, Inverse3Error::Closed), "{end}");
    assert_eq!(client.bad_messages(), 1);
    let forces = service.join().expect("the service ends");
    assert_eq!(forces.len(), 50);
    assert!((forces[20].x + 1.0).abs() < 1e-12, "{}", forces[20]);
    assert!((forces[49].x + 2.0).abs() < 1e-12, "cut to the limit");
}

#[test]
fn no_service_is_one_sentence() {
    let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("an address").to_string();
    let error = Inverse3Client::connect(&free, 2.0).err().expect("nothing listens").to_string();
    assert!(error.contains("does not answer"), "{error}");
}

#[test]
fn the_python_client_of_the_page_is_pushed_back() {
    let page = include_str!("../../docs/haptic_bridge.md");
    let code = page.split("```python").nth(1).and_then(|c| c.split("```").next()).expect("a client on the page");
    assert!(code.lines().filter(|l| !l.trim().is_empty()).count() <= 30, "thirty lines");
    let mut bridge = BridgeServer::bind("127.0.0.1:0").expect("a port");
    let port = bridge.address().expect("an address").port().to_string();
    let python = Command::new("python3").args(["-c", code, &port, "60"]).stdout(Stdio::piped()).spawn();
    let Ok(python) = python else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let start = Instant::now();
    let mut received = 0;
    while received < 60 && start.elapsed() < Duration::from_secs(20) {
        if let Some(sample) = bridge.receive() {
            received += 1;
            assert!(sample.pose.translation.y > 0.099 && sample.pose.translation.y < 0.102);
            bridge.send(&Wrench { force: Vec3::new(0.0, 1.25, 0.0), torque: Vec3::zeros() });
        }
        std::thread::sleep(Duration::from_micros(100));
    }
    let output = python.wait_with_output().expect("it ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{text}");
    let pushed = text.lines().filter(|l| l.contains("0.000 1.250 0.000")).count();
    assert!(pushed >= 40, "{pushed} of {received}: {text}");
    assert_eq!(bridge.refused(), 0);
}

#[test]
fn the_bridge_drops_what_is_old_or_foreign() {
    use fingerpad::protocol::BridgePose;
    let mut bridge = BridgeServer::bind("127.0.0.1:0").expect("a port");
    let address = bridge.address().expect("an address");
    let [first, second] = [0, 1].map(|_| std::net::UdpSocket::bind("127.0.0.1:0").expect("a port"));
    let pose =
        |sequence: u64| BridgePose { sequence, time: sequence * 1000, pose: Pose::identity(), buttons: 1 }.encode();
    let mut heard = |bytes: &[u8], from: &std::net::UdpSocket| {
        from.send_to(bytes, address).expect("sent");
        std::thread::sleep(Duration::from_millis(30));
        bridge.receive().is_some()
    };
    assert!(heard(&pose(5), &first));
    assert!(!heard(&pose(5), &first) && !heard(&pose(4), &first) && !heard(b"hello", &first));
    assert!(!heard(&pose(9), &second), "the first client keeps the bridge");
    assert!(heard(&pose(6), &first) && heard(&pose(0), &second) && heard(&pose(1), &second));
}
