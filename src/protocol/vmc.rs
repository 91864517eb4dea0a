//! VMC protocol: other programs send their tracked skeleton by OSC over UDP, to port 39539 (for display) or 39540 (for
//! processing). From its specification, protocol.vmc.info.
//!
//! `/VMC/Ext/Bone/Pos`: Unity bone name, position, quaternion (x, y, z, w), in the frame of the parent.
//! `/VMC/Ext/Root/Pos`: the same for the root, in the world, with further arguments. `/VMC/Ext/Hmd/Pos`,
//! `/VMC/Ext/Con/Pos` and `/VMC/Ext/Tra/Pos`: serial number and pose of headset, controller and tracker in the world.
//! Metres.
//!
//! Unity's axes are left-handed: x right, y up, z **forward**. Ours differ in z, which points backward. The mirror
//! changes the sign of z of a position and of x and y of a quaternion.

use super::Encoder;
use super::bones::HumanBone;
use super::osc::{Argument, Message, bundle, for_each_message, message};
use super::packets::Packets;
use super::reading::{LONGEST_TEXT, MAX_POSITION, Reading, TrackedObject, rotation};
use crate::math::{Pose, Vec3};

const BONE_ADDRESS: &str = "/VMC/Ext/Bone/Pos";
const ROOT_ADDRESS: &str = "/VMC/Ext/Root/Pos";
const OBJECTS: [(&str, TrackedObject); 3] = [
    ("/VMC/Ext/Hmd/Pos", TrackedObject::Headset),
    ("/VMC/Ext/Con/Pos", TrackedObject::Controller),
    ("/VMC/Ext/Tra/Pos", TrackedObject::Tracker),
];
const AVAILABLE: &str = "/VMC/Ext/OK";
/// Maximum number of objects in an emulation.
const MOST_OBJECTS: usize = 32;

/// Name and pose of a message; `None` if it has none or is invalid.
fn placement<'a>(message: &Message<'a>) -> Option<(&'a str, Pose)> {
    let (Argument::Text(name), numbers) = message.arguments.split_first().map(|(name, rest)| (*name, rest))? else {
        return None;
    };
    let mut values = [0.0; 7];
    for (value, argument) in values.iter_mut().zip(numbers.get(..7)?) {
        *value = match argument {
            Argument::Float(number) => f64::from(*number),
            Argument::Double(number) => *number,
            Argument::Int(number) => f64::from(*number),
            _ => return None,
        };
    }
    let [px, py, pz, x, y, z, w] = values;
    let position = Vec3::new(px, py, -pz);
    let rotation = rotation([w, -x, -y, z])?;
    (position.norm() <= MAX_POSITION).then(|| (name, Pose::from_parts(position.into(), rotation)))
}

fn reading(message: &Message<'_>) -> Option<Reading> {
    let object = OBJECTS.iter().find(|(address, _)| *address == message.address).map(|(_, object)| *object);
    match (message.address, object) {
        (BONE_ADDRESS, _) => {
            let (name, pose) = placement(message)?;
            HumanBone::named(name).map(|bone| Reading::Bone { bone, pose })
        }
        (ROOT_ADDRESS, _) => placement(message).map(|(_, pose)| Reading::Bone { bone: HumanBone::ROOT, pose }),
        (_, Some(object)) => {
            let (serial, pose) = placement(message).filter(|(serial, _)| serial.len() <= LONGEST_TEXT)?;
            Some(Reading::Tracked { object, serial: serial.into(), pose })
        }
        _ => None,
    }
}

/// Datagrams of a sender.
#[derive(Default)]
pub(super) struct VmcDatagrams {
    /// Datagrams since the last pose.
    others: u32,
}

impl Packets for VmcDatagrams {
    fn read(&mut self, datagram: &[u8], out: &mut Vec<Reading>) -> bool {
        let before = out.len();
        if for_each_message(datagram, |message| out.extend(reading(message))).is_err() {
            out.truncate(before);
            return false;
        }
        self.others = if out.len() > before { 0 } else { self.others.saturating_add(1) };
        true
    }

    fn reset(&mut self) {
        self.others = 0;
    }

    fn hint(&self) -> Option<String> {
        (self.others >= 100).then(|| {
            "received messages, but no bone or tracker poses: check that a model is loaded in the sender".into()
        })
    }

    fn expectation(&self) -> String {
        "check that the sender uses the VMC protocol and this port".into()
    }
}

/// Encoder of a skeleton and tracked objects.
#[derive(Default)]
pub(super) struct VmcEncoder {
    bones: Vec<(HumanBone, Pose)>,
    objects: Vec<(TrackedObject, String, Pose)>,
}

fn place(address: &str, name: &str, pose: &Pose) -> Vec<u8> {
    let (p, q) = (&pose.translation.vector, &pose.rotation);
    let numbers = [p.x, p.y, -p.z, -q.i, -q.j, q.k, q.w].map(|number| Argument::Float(number as f32));
    let arguments: Vec<_> = [Argument::Text(name)].into_iter().chain(numbers).collect();
    message(address, &arguments)
}

impl Encoder for VmcEncoder {
    fn set(&mut self, reading: &Reading) {
        match reading {
            Reading::Bone { bone, pose } => match self.bones.iter_mut().find(|(known, _)| known == bone) {
                Some(known) => known.1 = *pose,
                None => self.bones.push((*bone, *pose)),
            },
            Reading::Tracked { object, serial, pose } => {
                let known = self.objects.iter().position(|(kind, known, _)| kind == object && known == serial);
                match known {
                    Some(known) => self.objects[known].2 = *pose,
                    None if self.objects.len() < MOST_OBJECTS => self.objects.push((*object, serial.clone(), *pose)),
                    None => {}
                }
            }
            _ => {}
        }
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        let bones = self.bones.iter().map(|(bone, pose)| {
            place(if *bone == HumanBone::ROOT { ROOT_ADDRESS } else { BONE_ADDRESS }, &bone.name(), pose)
        });
        let objects = self.objects.iter().map(|(object, serial, pose)| {
            let address = OBJECTS.iter().find(|(_, kind)| kind == object).map_or("", |(address, _)| *address);
            place(address, serial, pose)
        });
        let available = message(AVAILABLE, &[Argument::Int(1)]);
        let messages: Vec<_> = [available].into_iter().chain(bones).chain(objects).collect();
        out.extend(bundle(messages.iter().map(Vec::as_slice)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;

    fn float(values: [f32; 7]) -> Vec<Argument<'static>> {
        values.map(Argument::Float).into()
    }

    fn read(address: &str, name: &str, values: [f32; 7]) -> Vec<Reading> {
        let arguments: Vec<_> = [Argument::Text(name)].into_iter().chain(float(values)).collect();
        let mut out = Vec::new();
        assert!(VmcDatagrams::default().read(&message(address, &arguments), &mut out));
        out
    }

    /// In Unity a rotation about y is clockwise seen from above: it takes forward (z) to the right (x). Here forward is
    /// -z.
    #[test]
    fn left_handed_rotations_are_converted() {
        let half = std::f32::consts::FRAC_1_SQRT_2;
        let readings = read(BONE_ADDRESS, "RightIndexProximal", [0.1, 0.2, 0.3, 0.0, half, 0.0, half]);
        let [Reading::Bone { bone, pose }] = readings.as_slice() else { panic!("{readings:?}") };
        assert_eq!(bone.name(), "RightIndexProximal");
        assert!((pose.translation.vector - Vec3::new(0.1, 0.2, -0.3)).norm() < 1e-7);
        assert!((pose.rotation * -Vec3::z() - Vec3::x()).norm() < 1e-6, "forward goes to the right");
        // About x Unity takes up (y) to forward (z); here up to forward (-z).
        let readings = read(BONE_ADDRESS, "RightIndexProximal", [0.0, 0.0, 0.0, half, 0.0, 0.0, half]);
        let [Reading::Bone { pose, .. }] = readings.as_slice() else { panic!("{readings:?}") };
        assert!((pose.rotation * Vec3::y() + Vec3::z()).norm() < 1e-6);
        // About z Unity takes right (x) to up (y), as here.
        let readings = read(BONE_ADDRESS, "RightIndexProximal", [0.0, 0.0, 0.0, 0.0, 0.0, half, half]);
        let [Reading::Bone { pose, .. }] = readings.as_slice() else { panic!("{readings:?}") };
        assert!((pose.rotation * Vec3::x() - Vec3::y()).norm() < 1e-6);
    }

    #[test]
    fn trackers_and_the_root_are_decoded_and_invalid_data_is_not() {
        let identity = [1.0, 2.0, 3.0, 0.0, 0.0, 0.0, 1.0];
        let pose = Pose::from_parts(Vec3::new(1.0, 2.0, -3.0).into(), Quat::identity());
        let tracker = Reading::Tracked { object: TrackedObject::Tracker, serial: "LHR-1".into(), pose };
        assert_eq!(read("/VMC/Ext/Tra/Pos", "LHR-1", identity), [tracker]);
        assert_eq!(read(ROOT_ADDRESS, "root", identity), [Reading::Bone { bone: HumanBone::ROOT, pose }]);
        assert_eq!(read(BONE_ADDRESS, "Tail", identity), []);
        assert_eq!(read("/VMC/Ext/Blend/Val", "Joy", identity), []);
        assert_eq!(read(BONE_ADDRESS, "Hips", [f32::NAN, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), []);
        assert_eq!(read(BONE_ADDRESS, "Hips", [1e9, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]), []);
        assert_eq!(read(BONE_ADDRESS, "Hips", [0.0; 7]), [], "not a rotation");
        assert_eq!(read("/VMC/Ext/Tra/Pos", &"x".repeat(LONGEST_TEXT + 1), identity), []);
    }

    #[test]
    fn a_truncated_bundle_has_no_readings() {
        let mut encoder = VmcEncoder::default();
        let mut bytes = Vec::new();
        encoder.encode(&[Reading::Bone { bone: HumanBone::ROOT, pose: Pose::identity() }], &mut bytes);
        let mut out = Vec::new();
        assert!(!VmcDatagrams::default().read(&[bytes.as_slice(), b"\0\0\0\x10"].concat(), &mut out));
        assert_eq!(out, []);
        assert!(VmcDatagrams::default().read(&bytes, &mut out));
        assert_eq!(out.len(), 1);
    }
}
