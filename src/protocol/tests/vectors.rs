//! Known bytes and their meaning.

use super::*;

/// The readings of a stream, in a form that is easy to compare.
fn read(format: &Format, bytes: &[u8]) -> Vec<Reading> {
    let mut out = Vec::new();
    format.decoder().push(bytes, &mut out);
    assert!(out.iter().all(Reading::is_sound));
    out
}

fn curls(values: [f64; 5]) -> Reading {
    Reading::Flex(FlexReading::of(Finger::ALL.into_iter().map(Sensor::Curl).zip(values)))
}

fn five(side: Side, checksum: Checksum) -> Format {
    Format::DataGlove5 { side, checksum, mode: GloveMode::Stream, mark: false }
}

#[test]
fn data_glove_5() {
    let values = [16.0, 32.0, 48.0, 64.0, 80.0].map(|v| v / 255.0);
    let level = Reading::Tilt { pitch: 0.0, roll: 0.0 };
    let packet = [0x80, 0x10, 0x20, 0x30, 0x40, 0x50, 0x80, 0x80, 0x10];
    let decoded = read(&five(Side::Right, Checksum::Xor), &packet.repeat(3));
    assert_eq!(decoded, vec![[curls(values), level]; 3].concat());
    let mut summed = packet;
    summed[8] = 0xF0;
    assert_eq!(read(&five(Side::Right, Checksum::Sum), &summed.repeat(3)), decoded);
    assert_eq!(read(&five(Side::Right, Checksum::None), &summed.repeat(3)), decoded);
    assert_eq!(read(&five(Side::Right, Checksum::Xor), &summed.repeat(3)), []);

    let mut reversed = values;
    reversed.reverse();
    assert_eq!(read(&five(Side::Left, Checksum::Xor), &packet.repeat(3))[0], curls(reversed));

    let marked = [packet.as_slice(), &[0x55]].concat();
    assert_eq!(read(&five(Side::Right, Checksum::Xor), &marked.repeat(3)), decoded);

    let tilted = [0x80, 0, 0, 0, 0, 0, 0xFF, 0x00, 0xFF];
    let Reading::Tilt { pitch, roll } = read(&five(Side::Right, Checksum::Xor), &tilted.repeat(3))[1] else { panic!() };
    assert!((pitch.to_degrees() - 127.0 * 180.0 / 255.0).abs() < 1e-9);
    assert!((roll.to_degrees() + 128.0 * 180.0 / 255.0).abs() < 1e-9);
}

#[test]
fn data_glove_5_information() {
    let mut info = b"BR\x02\x03\x40\x10".to_vec();
    info.resize(16, 0);
    info.extend(b"DataGlove\0\0\0\0\0\0\0");
    let expected = DeviceInfo { model: "DataGlove".into(), firmware: "2.3".into(), side: Some(Side::Left) };
    // As received after a reset and the request, and between packets.
    let packet = [0x80, 0x10, 0x20, 0x30, 0x40, 0x50, 0x80, 0x80, 0x10];
    let stream = [&[0x55], info.as_slice(), &packet, &info, &packet, &packet].concat();
    let mut decoder = five(Side::Right, Checksum::Xor).decoder();
    let mut out = Vec::new();
    decoder.push(&stream, &mut out);
    assert_eq!(out[0], Reading::Info(expected.clone()));
    assert_eq!(out[3], Reading::Info(expected));
    assert_eq!((out.len(), decoder.statistics().packets), (8, 5));
    assert!(decoder.hint().is_some_and(|hint| hint.contains("left")));
}

#[test]
fn data_glove_5_wireless() {
    let format = Format::DataGlove5Wireless { side: Side::Right, checksum: Checksum::Xor };
    let packet = [0x80, 0x10, 0x20, 0x30, 0x40, 0x50, 0x80, 0x80, 0x10, 0x01];
    let decoded = read(&format, &packet.repeat(3));
    assert_eq!(decoded[0], curls([16.0, 32.0, 48.0, 64.0, 80.0].map(|v| v / 255.0)));
    assert!(matches!(&decoded[2], Reading::Info(info) if info.side == Some(Side::Right)));
    assert_eq!(decoded.len(), 7, "the hand is reported once");
}

#[test]
fn data_glove_16() {
    let format = Format::DataGlove16 { side: Side::Right, maximum: 4095 };
    let mut packet = b"<D".to_vec();
    (0..16u16).for_each(|i| packet.extend((i * 273).to_be_bytes()));
    packet.extend([0xAB, 0xCD]);
    let stream = [packet.as_slice(), b"<I\x01\x02\x01\x01\x00", &packet].concat();
    let decoded = read(&format, &stream);
    let Reading::Flex(flex) = &decoded[0] else { panic!("{decoded:?}") };
    assert_eq!(flex.iter().count(), 16);
    assert_eq!(flex.get(Sensor::Joint(Finger::Thumb, FingerJoint::Knuckle)), Some(0.0));
    assert_eq!(flex.get(Sensor::Between(Gap::RingLittle)), Some(11.0 / 15.0));
    assert_eq!(flex.get(Sensor::Joint(Finger::Little, FingerJoint::Middle)), Some(13.0 / 15.0));
    assert_eq!(flex.get(Sensor::ThumbPalm), Some(14.0 / 15.0));
    assert_eq!(flex.get(Sensor::Wrist), Some(1.0));
    let info = DeviceInfo { model: "5DT Data Glove 16".into(), firmware: "1.2".into(), side: Some(Side::Right) };
    assert_eq!(decoded[1], Reading::Info(info));
    assert_eq!(decoded[2], decoded[0]);
}

#[test]
fn ultra() {
    let mut packet = vec![0x3C, 0x44, 0x01, 0xFF, 0xF0, 0x00, 0x12, 0x34, 0x56];
    packet.resize(29, 0);
    let decoded = read(&Format::UltraWireless, &packet.repeat(2));
    let Reading::Flex(flex) = &decoded[0] else { panic!("{decoded:?}") };
    let thumb = |place| flex.get(Sensor::Joint(Finger::Thumb, place));
    assert_eq!((thumb(FingerJoint::Knuckle), thumb(FingerJoint::Middle)), (Some(1.0), Some(0.0)));
    assert_eq!(flex.get(Sensor::Between(Gap::ThumbIndex)), Some(f64::from(0x123) / 4095.0));
    assert_eq!(flex.get(Sensor::Joint(Finger::Index, FingerJoint::Knuckle)), Some(f64::from(0x456) / 4095.0));
    assert_eq!(flex.iter().count(), 14);

    let mut report = vec![0; 64];
    report[..2].copy_from_slice(&4096u16.to_be_bytes());
    report[6..8].copy_from_slice(&1024u16.to_be_bytes());
    report[24..26].copy_from_slice(&(-5i16).to_be_bytes());
    let decoded = read(&Format::UltraUsb { sensors: UltraSensors::Five }, &report);
    assert_eq!(decoded, [curls([1.0, 0.25, 0.0, 0.0, 0.0])]);
    let decoded = read(&Format::UltraUsb { sensors: UltraSensors::Fourteen }, &report);
    let Reading::Flex(flex) = &decoded[0] else { panic!("{decoded:?}") };
    assert_eq!(flex.get(Sensor::Joint(Finger::Index, FingerJoint::Knuckle)), Some(0.25));
    assert_eq!(read(&Format::UltraUsb { sensors: UltraSensors::Five }, &report[..63]), []);
    assert_eq!(UltraSensors::of_product(0x0000), (UltraSensors::Fourteen, Side::Right));
    assert_eq!(UltraSensors::of_product(0x0013), (UltraSensors::Five, Side::Left));
}

#[test]
fn open_gloves_alpha() {
    let format = Format::OpenGlovesAlpha { maximum: 4095, force_maximum: 1000 };
    let decoded = read(&format, b"A1023(AB)2047(AAB)2047(AAC)3071(AAD)4095B0C0D0E0\n");
    let [Reading::Flex(flex)] = decoded.as_slice() else { panic!("{decoded:?}") };
    assert_eq!(flex.get(Sensor::Curl(Finger::Thumb)), Some(1023.0 / 4095.0));
    assert!((flex.splay(Finger::Thumb).expect("a splay") + 1.0 / 4095.0).abs() < 1e-12);
    let bends = FingerJoint::ALL.map(|place| flex.bend(Finger::Thumb, place));
    assert_eq!(bends, [1023.0, 2047.0, 3071.0, 4095.0].map(|v| Some(v / 4095.0)), "the first falls back to the curl");
    assert_eq!(flex.bend(Finger::Little, FingerJoint::Last), Some(0.0));

    // Buttons are listed while they are pressed; a line of information does not release them.
    let lines = b"A0B0C0D0E0JOML\n(ZV)42(ZG)0(ZH)0\nA0B0C0D0E0J\r\nA0B0C0D0E0\n";
    let decoded: Vec<_> = read(&format, lines).into_iter().filter(|r| !matches!(r, Reading::Flex(_))).collect();
    let button = |button, pressed| Reading::Button { button, pressed };
    let info = DeviceInfo { model: "type 0".into(), firmware: "42".into(), side: Some(Side::Left) };
    let expected = [
        button(Button::A, true),
        button(Button::Grab, true),
        button(Button::Pinch, true),
        button(Button::Calibrate, true),
        Reading::Info(info),
        button(Button::Grab, false),
        button(Button::Pinch, false),
        button(Button::Calibrate, false),
        button(Button::A, false),
    ];
    assert_eq!(decoded, expected);

    let decoded = read(&format, b"F4095G0P1023\n");
    assert_eq!(decoded, [Reading::Joystick { x: 1.0, y: -1.0 }, Reading::Trigger(1023.0 / 4095.0)]);
    assert_eq!(read(&format, b"A4095Q7(XY)3\n"), read(&format, b"A4095\n"), "unknown keys are ignored");
    for wrong in
        ["A", "AB0", "(AB)", "(AB2047", "(A", "H1", "A-1", "a12", "A123456", "A1 B2", "AB)2047", "()1", "\u{e4}1"]
    {
        assert_eq!(read(&format, format!("{wrong}\n").as_bytes()), [], "{wrong}");
    }
}

#[test]
fn open_gloves_legacy() {
    let format = Format::OpenGlovesLegacy { maximum: 1023 };
    let decoded = read(&format, b"3&0\n0&1023&0&0&0&1023&0&0&1&0&0&0&0\n");
    let trigger = Reading::Button { button: Button::Trigger, pressed: true };
    assert_eq!(decoded, [curls([0.0, 1.0, 0.0, 0.0, 0.0]), Reading::Joystick { x: 1.0, y: -1.0 }, trigger]);
    for wrong in ["", "1&2", "0&0&0&0&0&0&0&0&0&0&0&0&2", "0&0&0&0&0&0&0&0&0&0&0&0&0&0", "0&&0&0&0&0&0&0&0&0&0&0&0"] {
        assert_eq!(read(&format, format!("\n{wrong}\n").as_bytes()), [], "{wrong}");
    }
    assert_eq!(read(&format, b"0&0&0&0&0&0&0&0&0&0&0&0&0\n"), [], "the first line may have lost its beginning");
}

#[test]
fn lines_to_open_gloves() {
    let force = HostLine::Force(ForceFeedback([0.0, 0.25, 0.5, 1.0, 7.0]));
    assert_eq!(force.to_bytes(1000), b"A0B250C500D1000E1000\n");
    assert_eq!(force.to_bytes(4095), b"A0B1024C2048D4095E4095\n");
    assert_eq!(
        HostLine::parse("A0B250C500D1000E1000", 1000),
        Some(HostLine::Force(ForceFeedback([0.0, 0.25, 0.5, 1.0, 1.0])))
    );
    let pulse = HostLine::Vibrate(VibrationPulse { frequency: 0.4, duration: 0.6, amplitude: 0.2 });
    assert_eq!(pulse.to_bytes(1000), b"F0.40G0.60H0.20\n");
    assert_eq!(HostLine::parse("F0.40G0.60H0.20", 1000), Some(pulse));
    for (line, text) in [(HostLine::Start, "(ZA)"), (HostLine::Query, "Z"), (HostLine::Stop, "(ZZ)")] {
        assert_eq!(line.to_bytes(1000), format!("{text}\n").into_bytes());
        assert_eq!(HostLine::parse(text, 1000), Some(line));
    }
    for wrong in ["", "A1", "A1B2C3D4E", "A1B2C3D4E5F6", "FnanG1H1", "F1G1", "(ZB)", "A1C2B3D4E5"] {
        assert_eq!(HostLine::parse(wrong, 1000), None, "{wrong}");
    }
}

#[test]
fn orientation_trackers() {
    let identity = [Reading::Orientation(Quat::identity())];
    assert_eq!(read(&Format::Bno055, &[0xBB, 8, 0, 0x40, 0, 0, 0, 0, 0, 0]), identity);
    assert_eq!(read(&Format::Bno055, &[0xEE, 7, 0xBB, 8, 0, 0x40, 0, 0, 0, 0, 0, 0]), identity, "busy first");
    let quarter = read(&Format::Bno055, &[0xBB, 8, 0x41, 0x2D, 0x41, 0x2D, 0, 0, 0, 0]);
    let [Reading::Orientation(quarter)] = quarter.as_slice() else { panic!("{quarter:?}") };
    assert!((quarter * Vec3::y() - Vec3::z()).norm() < 1e-3);
    assert_eq!(read(&Format::Bno055, &[0xBB, 8, 0, 0, 0, 0, 0, 0, 0, 0]), [], "not yet in a mode that fuses");

    let packet = [0x55, 0x59, 0xFF, 0x7F, 0, 0, 0, 0, 0, 0, 0x2C];
    assert_eq!(read(&Format::WitMotion { order: QuaternionOrder::Wxyz }, &packet), identity);
    let half = read(&Format::WitMotion { order: QuaternionOrder::Xyzw }, &packet);
    let [Reading::Orientation(half)] = half.as_slice() else { panic!("{half:?}") };
    assert!((half * Vec3::y() + Vec3::y()).norm() < 1e-9, "half a turn about x");
    let acceleration = [0x55, 0x51, 1, 2, 3, 4, 5, 6, 7, 8, 0xCA];
    let stream = [acceleration, packet, acceleration].concat();
    assert_eq!(read(&Format::WitMotion { order: QuaternionOrder::Wxyz }, &stream), identity);

    assert_eq!(read(&Format::XImu3, b"Q,1000000,1.0000,0.0000,0.0000,0.0000\r\n"), identity);
    assert_eq!(
        read(&Format::XImu3, b"I,1000000,0.0,0.0,0.0,0.0,0.0,1.0\nQ,5,-1,0,0,0\n"),
        identity
            .clone()
            .map(|_| { Reading::Orientation(Quat::new_normalize(nalgebra::Quaternion::new(-1.0, 0.0, 0.0, 0.0))) })
    );
    for wrong in
        ["Q,1,1,0,0", "Q,1,1,0,0,0,0", "Q,1,nan,0,0,0", "Q,1,inf,0,0,0", "Q,1,0.5,0,0,0", "Q,x,1,0,0,0", "q,1,1,0,0,0"]
    {
        assert_eq!(read(&Format::XImu3, format!("{wrong}\n").as_bytes()), [], "{wrong}");
    }
}
