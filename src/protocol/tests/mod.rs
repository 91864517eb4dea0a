//! Tests that hold for every format, and test vectors of each.

mod conversations;
mod properties;
mod streams;
mod vectors;

use super::*;
use crate::math::{Pose, Quat, Vec3};
use crate::tracking::{Finger, Side};

/// Every format, and the variants whose options change the bytes.
fn variants() -> Vec<Format> {
    let (left, right) = (Side::Left, Side::Right);
    let five = |side, checksum, mark| Format::DataGlove5 { side, checksum, mode: GloveMode::Report, mark };
    let mut variants = Format::ALL.to_vec();
    variants.extend([
        five(left, Checksum::Xor, true),
        five(right, Checksum::Sum, false),
        five(left, Checksum::Sum, true),
        five(right, Checksum::None, false),
        five(left, Checksum::None, true),
        Format::DataGlove5Wireless { side: left, checksum: Checksum::Sum },
        Format::DataGlove5Wireless { side: left, checksum: Checksum::None },
        Format::DataGlove16 { side: left, maximum: 1023 },
        Format::UltraUsb { sensors: UltraSensors::Five },
        Format::OpenGlovesLegacy { maximum: 1023 },
        Format::OpenGlovesAlpha { maximum: 1023, force_maximum: 4095 },
        Format::WitMotion { order: QuaternionOrder::Xyzw },
        Format::Gametrak { left_x_at_end: true },
    ]);
    variants
}

/// Numbers that [`readings`] uses.
const NUMBERS: usize = 64;

fn is_curl(sensor: Sensor) -> bool {
    matches!(sensor, Sensor::Curl(_))
}

/// Whether a glove with sixteen sensors has it.
fn is_of_sixteen(sensor: Sensor) -> bool {
    match sensor {
        Sensor::Joint(_, place) => matches!(place, FingerJoint::Knuckle | FingerJoint::Middle),
        Sensor::Between(_) | Sensor::ThumbPalm | Sensor::Wrist => true,
        Sensor::Curl(_) | Sensor::Splay(_) => false,
    }
}

fn is_of_fourteen(sensor: Sensor) -> bool {
    is_of_sixteen(sensor) && !matches!(sensor, Sensor::ThumbPalm | Sensor::Wrist)
}

fn is_of_alpha(sensor: Sensor) -> bool {
    matches!(sensor, Sensor::Curl(_) | Sensor::Joint(..) | Sensor::Splay(_))
}

/// All readings that a device can send at once, from numbers in 0..=1. Buttons come last.
fn readings(format: &Format, numbers: &[f64]) -> Vec<Reading> {
    let mut numbers = numbers.iter().copied();
    let mut next = || numbers.next().expect("enough numbers");
    let mut flex = |keep: &dyn Fn(Sensor) -> bool| {
        Reading::Flex(FlexReading::of(
            Sensor::all().filter(|s| keep(*s)).map(|sensor| (sensor, next())).collect::<Vec<_>>(),
        ))
    };
    let buttons = [Button::JoystickClick, Button::Trigger, Button::A, Button::B, Button::Grab, Button::Pinch];
    let mut message = Vec::new();
    match format {
        Format::DataGlove5 { .. } | Format::DataGlove5Wireless { .. } => {
            // A finger at the header byte can make a still hand ambiguous; a separate test covers that.
            let header = 127.4 / 255.0..128.6 / 255.0;
            let Reading::Flex(flex) = flex(&is_curl) else { unreachable!("flexion was made") };
            let apart = flex.iter().map(|(sensor, v)| (sensor, if header.contains(&v) { 0.25 } else { v }));
            message.push(Reading::Flex(FlexReading::of(apart)));
            // The glove is level in half of the cases.
            let mut tilt = || (next() - 0.5).max(0.0) * std::f64::consts::PI * 0.99;
            message.push(Reading::Tilt { pitch: tilt(), roll: tilt() });
        }
        Format::DataGlove16 { .. } => message.push(flex(&is_of_sixteen)),
        Format::UltraWireless | Format::UltraUsb { sensors: UltraSensors::Fourteen } => {
            message.push(flex(&is_of_fourteen))
        }
        Format::UltraUsb { .. } => message.push(flex(&is_curl)),
        Format::OpenGlovesLegacy { .. } | Format::OpenGlovesAlpha { .. } => {
            let is_alpha = matches!(format, Format::OpenGlovesAlpha { .. });
            message.push(if is_alpha { flex(&is_of_alpha) } else { flex(&is_curl) });
            message.push(Reading::Joystick { x: 2.0 * next() - 1.0, y: 2.0 * next() - 1.0 });
            if is_alpha {
                message.push(Reading::Trigger(next()));
            }
            message.extend(buttons.map(|button| Reading::Button { button, pressed: next() < 0.5 }));
        }
        Format::Bno055 | Format::WitMotion { .. } | Format::XImu3 => {
            message.push(Reading::Orientation(turn(&mut next)))
        }
        Format::Gametrak { .. } => {
            for side in [Side::Left, Side::Right] {
                let axes = [next(), next(), next()].map(|v| (v * 4095.0).round());
                message.push(Reading::Position { side, position: position(side, axes) });
            }
            let button = Button::Numbered((next() * 11.0) as u8);
            message.push(Reading::Button { button, pressed: next() < 0.5 });
        }
        Format::Vmc => {
            let mut pose = || Pose::from_parts(Vec3::new(next(), next(), next()).into(), turn(&mut next));
            let bones = ["root", "LeftHand", "RightThumbProximal"].map(|name| HumanBone::named(name).expect("a bone"));
            message.extend(bones.map(|bone| Reading::Bone { bone, pose: pose() }));
            let object = TrackedObject::Tracker;
            message.push(Reading::Tracked { object, serial: "LHR-1".into(), pose: pose() });
        }
    }
    message
}

fn turn(next: &mut impl FnMut() -> f64) -> Quat {
    let coordinates = [next(), next(), next(), next()].map(|v| v - 0.5);
    let [w, x, y, z] = coordinates;
    Quat::new_normalize(nalgebra::Quaternion::new(w + 1e-3, x, y, z))
}

/// Readings that come with every packet: buttons are sent on change, information only sometimes.
fn steady(readings: &[Reading]) -> Vec<Reading> {
    let is_steady = |r: &&Reading| !matches!(r, Reading::Button { .. } | Reading::Info(_));
    readings.iter().filter(is_steady).cloned().collect()
}

/// The packets of a stream, one per set of numbers.
fn packets(format: &Format, numbers: &[Vec<f64>]) -> Vec<Vec<u8>> {
    let mut encoder = format.encoder();
    let encode = |numbers: &Vec<f64>| {
        let mut packet = Vec::new();
        encoder.encode(&readings(format, numbers), &mut packet);
        packet
    };
    numbers.iter().map(encode).collect()
}

/// Pushes packets one by one, after a line terminator that some formats need first.
fn decode(decoder: &mut dyn Decoder, packets: &[Vec<u8>]) -> Vec<Reading> {
    let mut out = Vec::new();
    if decoder.framing() == Framing::Stream {
        decoder.push(b"\n", &mut out);
    }
    packets.iter().for_each(|packet| decoder.push(packet, &mut out));
    out
}

/// Whether two readings are equal within the resolution of the wire.
fn is_close(format: &Format, a: &Reading, b: &Reading) -> bool {
    let scale = match format {
        Format::DataGlove5 { .. } | Format::DataGlove5Wireless { .. } => 255.0,
        Format::OpenGlovesLegacy { maximum } | Format::OpenGlovesAlpha { maximum, .. } => f64::from(*maximum),
        Format::DataGlove16 { maximum, .. } => f64::from(*maximum),
        _ => 4095.0,
    };
    let half = 0.5001 / scale;
    let near = |a: f64, b: f64, tolerance: f64| (a - b).abs() <= tolerance;
    let same_pose = |a: &Pose, b: &Pose| {
        (a.translation.vector - b.translation.vector).norm() < 1e-6 && a.rotation.angle_to(&b.rotation) < 1e-3
    };
    match (a, b) {
        (Reading::Flex(a), Reading::Flex(b)) => {
            a.iter().count() == b.iter().count()
                && a.iter().zip(b.iter()).all(|((s, a), (t, b))| s == t && near(a, b, half))
        }
        (Reading::Tilt { pitch: p, roll: r }, Reading::Tilt { pitch: q, roll: s }) => {
            near(*p, *q, half * std::f64::consts::PI) && near(*r, *s, half * std::f64::consts::PI)
        }
        (Reading::Joystick { x: a, y: b }, Reading::Joystick { x: c, y: d }) => {
            near(*a, *c, 2.0 * half) && near(*b, *d, 2.0 * half)
        }
        (Reading::Trigger(a), Reading::Trigger(b)) => near(*a, *b, half),
        (Reading::Orientation(a), Reading::Orientation(b)) => a.angle_to(b) < 1e-3,
        (Reading::Position { side: a, position: p }, Reading::Position { side: b, position: q }) => {
            a == b && (p - q).norm() < 1e-9
        }
        (Reading::Bone { bone: a, pose: p }, Reading::Bone { bone: b, pose: q }) => a == b && same_pose(p, q),
        (Reading::Tracked { object: a, serial: s, pose: p }, Reading::Tracked { object: b, serial: t, pose: q }) => {
            a == b && s == t && same_pose(p, q)
        }
        _ => false,
    }
}

#[test]
fn format_names_are_unique() {
    for format in Format::ALL {
        assert_eq!(Format::named(format.name()), Some(format));
    }
    assert_eq!(Format::named("abacus"), None);
    let framing = |format: &Format| format.decoder().framing();
    for format in variants() {
        assert_eq!(framing(&format) == Framing::Stream, matches!(format.link(), Link::Serial { .. }), "{format:?}");
    }
}

#[test]
fn scales_saturate() {
    assert_eq!([-1.0, 0.0, 0.5, 1.0, 9.0, f64::NAN].map(|v| to_scale(v, 1000)), [0, 0, 500, 1000, 1000, 0]);
    assert_eq!([0, 500, 1000, 9999].map(|v| from_scale(v, 1000)), [0.0, 0.5, 1.0, 1.0]);
}
