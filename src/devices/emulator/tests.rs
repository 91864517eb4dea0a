use super::machine::{Machine, Sent};
use super::*;
use crate::protocol::{Checksum, FlexReading, GloveMode, Sensor};
use crate::tracking::{Finger, Side};

/// The index finger counts the samples modulo 256.
fn counting() -> Box<dyn EmulatedMotion> {
    let mut count = 0_u32;
    Box::new(move |_: f64, out: &mut Vec<Reading>| {
        out.push(Reading::Flex(FlexReading::of([(Sensor::Curl(Finger::Index), f64::from(count % 256) / 255.0)])));
        count += 1;
    })
}

fn counts(readings: &[Reading]) -> Vec<u8> {
    let count = |reading: &Reading| match reading {
        Reading::Flex(flex) => flex.get(Sensor::Curl(Finger::Index)).map(|value| (value * 255.0).round() as u8),
        _ => None,
    };
    readings.iter().filter_map(count).collect()
}

fn five() -> Format {
    Format::DataGlove5 { side: Side::Right, checksum: Checksum::Xor, mode: GloveMode::Stream, mark: false }
}

/// Runs a machine in steps of one millisecond; returns each sent byte with its time.
fn run(machine: &mut Machine, from: f64, to: f64) -> Vec<(f64, u8)> {
    let (mut sent, mut all) = (Sent::default(), Vec::new());
    for step in 0..((to - from) * 1e3).round() as u32 {
        let now = from + 1e-3 * f64::from(step);
        machine.advance(now, &mut sent);
        all.extend(sent.bytes.drain(..).map(|byte| (now, byte)));
    }
    all
}

fn decoded(format: &Format, bytes: &[(f64, u8)]) -> Vec<Reading> {
    let mut out = Vec::new();
    let bytes: Vec<u8> = bytes.iter().map(|(_, byte)| *byte).collect();
    format.decoder().push(&bytes, &mut out);
    out
}

#[test]
fn a_glove_streams_on_request_at_its_rate_and_baud_rate() {
    let mut machine = Machine::new(five(), Some(19200), 200.0, Faults::default(), counting());
    assert_eq!(run(&mut machine, 0.0, 1.0), [], "nobody listens");
    machine.open(1.0);
    assert_eq!(run(&mut machine, 1.0, 2.0), [], "nobody asked");
    machine.receive(2.0, b"A");
    assert_eq!(run(&mut machine, 2.0, 2.1).iter().map(|(_, byte)| *byte).collect::<Vec<_>>(), [0x55]);
    machine.receive(2.1, b"D");
    let bytes = run(&mut machine, 2.1, 12.1);
    let counted = counts(&decoded(&five(), &bytes));
    assert!((1998..=2001).contains(&counted.len()), "{}", counted.len());
    assert!(counted.iter().enumerate().all(|(i, count)| *count == (i % 256) as u8), "none is lost, in order, from 0");
    let in_a_second = bytes.iter().filter(|(time, _)| (5.0..6.0).contains(time)).count();
    assert!((1790..=1810).contains(&in_a_second), "{in_a_second}");
    assert_eq!(machine.events, [EmulatorEvent::HostCame, EmulatorEvent::Streaming]);
}

#[test]
fn a_slow_line_limits_the_rate() {
    let mut machine = Machine::new(five(), Some(9600), 200.0, Faults::default(), counting());
    machine.open(0.0);
    machine.receive(0.0, b"D");
    let bytes = run(&mut machine, 0.0, 10.0);
    assert!((9590..=9600).contains(&bytes.len()), "{}", bytes.len());
    assert!(counts(&decoded(&five(), &bytes)).windows(2).all(|two| two[1] == two[0].wrapping_add(1)));
}

#[test]
fn a_wrong_baud_rate_garbles_both_directions() {
    let mut machine = Machine::new(five(), Some(19200), 200.0, Faults::default(), counting());
    machine.open(0.0);
    machine.set_host_baud(Some(115_200));
    machine.receive(0.0, b"AGD");
    assert_eq!(run(&mut machine, 0.0, 1.0), [], "it was not understood");
    machine.set_host_baud(Some(19200));
    machine.receive(1.0, b"D");
    machine.set_host_baud(Some(9600));
    let bytes = run(&mut machine, 1.0, 3.0);
    let mut decoder = five().decoder();
    let mut out = Vec::new();
    decoder.push(&bytes.iter().map(|(_, byte)| *byte).collect::<Vec<u8>>(), &mut out);
    assert!(bytes.len() > 200 && decoder.statistics().packets == 0, "{} bytes", bytes.len());
    let hint = decoder.hint().expect("a hint");
    assert!(hint.contains("19200 baud"), "{hint}");
    assert!(machine.events.contains(&EmulatorEvent::OtherSpeed { host: 9600, device: 19200 }));
}

#[test]
fn faults_follow_their_schedule() {
    let faults = Faults::parse(["garbage=1:30", "stall=2.5:1", "unplug=4:2"]).expect("faults");
    let mut machine = Machine::new(five(), Some(19200), 200.0, faults, counting());
    machine.open(5.0);
    machine.receive(5.0, b"D");
    let bytes = run(&mut machine, 5.0, 9.0);
    let silent = bytes.windows(2).map(|two| (two[0].0, two[1].0 - two[0].0)).find(|(_, gap)| *gap > 0.1);
    let (at, gap) = silent.expect("a stall");
    assert!((at - 7.5).abs() < 0.01 && (gap - 1.0).abs() < 0.02, "{at} {gap}");
    let mut decoder = five().decoder();
    let mut out = Vec::new();
    decoder.push(&bytes.iter().map(|(_, byte)| *byte).collect::<Vec<u8>>(), &mut out);
    let lost: Vec<u8> = counts(&out).windows(2).map(|two| two[1].wrapping_sub(two[0]) - 1).collect();
    assert!(lost.iter().all(|lost| *lost <= 2), "{lost:?}");
    assert!(decoder.statistics().skipped_bytes >= 60, "{:?}", decoder.statistics());
    assert!(!machine.is_unplugged(8.99) && machine.is_unplugged(9.0) && !machine.is_unplugged(11.0));
    machine.unplug();
    machine.open(11.0);
    assert_eq!(run(&mut machine, 11.0, 12.0), [], "without power it forgot that it was asked");
    let told = [
        EmulatorEvent::HostCame,
        EmulatorEvent::Streaming,
        EmulatorEvent::Garbage(30),
        EmulatorEvent::Garbage(30),
        EmulatorEvent::Stalled,
    ];
    assert_eq!(machine.events[..5], told);
    assert_eq!(machine.events[5], EmulatorEvent::Resumed);
}

#[test]
fn a_passive_device_starts_on_open_and_a_sensor_on_request() {
    let talker = Format::named("5dt-5w").expect("a format");
    let mut machine = Machine::new(talker, Some(9600), 100.0, Faults::default(), counting());
    machine.open(3.0);
    assert_eq!(counts(&decoded(&talker, &run(&mut machine, 3.0, 4.0)))[..3], [0, 1, 2]);

    let turning = |time: f64, out: &mut Vec<Reading>| {
        out.push(Reading::Orientation(crate::math::Quat::from_axis_angle(&crate::math::Vec3::y_axis(), time)));
    };
    let sensor = Format::Bno055;
    let mut machine = Machine::new(sensor, Some(115_200), 100.0, Faults::default(), Box::new(turning));
    let (mut host, mut decoder, mut out) = (sensor.host(), sensor.decoder(), Vec::new());
    machine.open(0.0);
    let mut said = host.start();
    for step in 0..2000 {
        let now = 1e-3 * f64::from(step);
        said.drain(..).for_each(|bytes| machine.receive(now, &bytes));
        let bytes: Vec<u8> = run(&mut machine, now, now + 1e-3).iter().map(|(_, byte)| *byte).collect();
        decoder.push(&bytes, &mut out);
        said = host.receive(&bytes);
    }
    let angles: Vec<f64> = out
        .iter()
        .filter_map(|reading| if let Reading::Orientation(q) = reading { Some(q.angle()) } else { None })
        .collect();
    assert!(angles.len() > 300, "{}", angles.len());
    assert!(angles[0] < 0.1 && angles.windows(2).all(|two| two[1] > two[0] - 1e-3) && angles[angles.len() - 1] > 1.9);
}

#[test]
fn unsupported_devices_are_rejected_with_a_reason() {
    let start = |settings| Emulator::start(settings, counting(), None).expect_err("a problem");
    let glove = EmulatorSettings::new(Format::named("5dt-ultra").expect("a format"));
    assert!(start(glove).to_string().contains("only serial ports and UDP can be emulated"));
    let fast = EmulatorSettings { rate: Some(f64::NAN), ..EmulatorSettings::new(five()) };
    assert!(start(fast).to_string().contains("expected 0.1 to 10000"));
}

#[test]
fn datagrams_are_sent() {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a socket");
    socket.set_read_timeout(Some(std::time::Duration::from_secs(20))).expect("a socket");
    let bone = crate::protocol::HumanBone::named("RightHand").expect("a bone");
    let motion = move |time: f64, out: &mut Vec<Reading>| {
        let pose = crate::math::Pose::translation(0.0, time.min(50.0), 0.0);
        out.push(Reading::Bone { bone, pose });
    };
    let settings =
        EmulatorSettings { address: socket.local_addr().ok(), rate: Some(500.0), ..EmulatorSettings::new(Format::Vmc) };
    let emulator = Emulator::start(settings, Box::new(motion), None).expect("an emulator");
    let (mut decoder, mut out, mut buffer) = (Format::Vmc.decoder(), Vec::new(), [0; 2048]);
    while out.len() < 50 {
        let count = socket.recv(&mut buffer).expect("a datagram");
        decoder.push(&buffer[..count], &mut out);
    }
    assert_eq!((decoder.statistics().packets, decoder.statistics().skipped_bytes), (50, 0));
    assert_eq!(emulator.place(), socket.local_addr().ok().map(|address| address.to_string()));
}

#[cfg(all(target_os = "linux", feature = "serial"))]
mod terminal {
    use std::io::{Read, Write};
    use std::time::Duration;

    use serialport::{SerialPort, TTYPort};

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(30);

    fn open(place: &str, baud: u32) -> TTYPort {
        TTYPort::open(&serialport::new(place, baud).timeout(PATIENCE)).expect("a port")
    }

    fn wait_for(emulator: &Emulator, wanted: &EmulatorEvent) {
        while emulator.events().recv_timeout(PATIENCE).expect("an event") != *wanted {}
    }

    fn next_place(emulator: &Emulator) -> String {
        loop {
            if let EmulatorEvent::Plugged(place) = emulator.events().recv_timeout(PATIENCE).expect("an event") {
                return place;
            }
        }
    }

    fn read(port: &mut TTYPort, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        port.read_exact(&mut bytes).expect("bytes");
        bytes
    }

    #[test]
    fn the_port_is_reset_for_each_host() {
        let emulator = Emulator::start(EmulatorSettings::new(five()), counting(), None).expect("an emulator");
        let place = emulator.place().expect("it is plugged in");
        for _ in 0..3 {
            let mut port = open(&place, 19200);
            port.write_all(b"A").expect("room");
            assert_eq!(read(&mut port, 1), [0x55], "the first byte is the answer, and nothing older");
            wait_for(&emulator, &EmulatorEvent::HostCame);
            port.write_all(b"D").expect("room");
            let (mut out, mut decoder) = (Vec::new(), five().decoder());
            decoder.push(&read(&mut port, 90), &mut out);
            assert!(counts(&out).windows(2).all(|two| two[1] == two[0].wrapping_add(1)) && out.len() > 7, "{out:?}");
            // The last command is received although the port is closed at once.
            port.write_all(b"A").expect("room");
            drop(port);
            wait_for(&emulator, &EmulatorEvent::HostLeft);
        }
    }

    #[test]
    fn the_last_command_is_received_after_the_port_was_closed() {
        let format = Format::named("opengloves").expect("a format");
        let emulator = Emulator::start(EmulatorSettings::new(format), counting(), None).expect("an emulator");
        for _ in 0..20 {
            let mut port = open(&emulator.place().expect("it is plugged in"), 115_200);
            wait_for(&emulator, &EmulatorEvent::HostCame);
            port.write_all(b"(ZZ)\n").expect("room");
            drop(port);
            wait_for(&emulator, &EmulatorEvent::Received(HostLine::Stop));
            wait_for(&emulator, &EmulatorEvent::HostLeft);
        }
    }

    #[test]
    fn the_host_baud_rate_is_read_back() {
        let emulator = Emulator::start(EmulatorSettings::new(five()), counting(), None).expect("an emulator");
        let mut port = open(&emulator.place().expect("it is plugged in"), 19200);
        port.write_all(b"D").expect("room");
        wait_for(&emulator, &EmulatorEvent::Streaming);
        port.set_baud_rate(9600).expect("a speed");
        wait_for(&emulator, &EmulatorEvent::OtherSpeed { host: 9600, device: 19200 });
    }

    #[test]
    fn replugging_reports_the_new_path() {
        let places = Arc::new(Mutex::new(Vec::new()));
        let noted = places.clone();
        let placed: PathCallback = Box::new(move |place| {
            noted.lock().expect("no panic").push(place.map(Path::to_path_buf));
            Ok(())
        });
        let faults = Faults::parse(["unplug=0.1:0.1"]).expect("faults");
        let settings = EmulatorSettings { faults, ..EmulatorSettings::new(five()) };
        let emulator = Emulator::start(settings, counting(), Some(placed)).expect("an emulator");
        let first = next_place(&emulator);
        let mut port = open(&first, 19200);
        port.write_all(b"D").expect("room");
        let mut buffer = [0; 64];
        while port.read(&mut buffer).is_ok() {}
        wait_for(&emulator, &EmulatorEvent::Unplugged);
        let second = next_place(&emulator);
        drop(port);
        let mut port = open(&second, 19200);
        port.write_all(b"A").expect("room");
        assert_eq!(read(&mut port, 1), [0x55]);
        drop(emulator);
        assert!(port.read(&mut buffer).is_err());
        let [first, second] = [first, second].map(|place| Some(Path::new(&place).to_path_buf()));
        assert_eq!(*places.lock().expect("no panic"), [first, None, second, None]);
    }
}
