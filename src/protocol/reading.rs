use std::f64::consts::FRAC_PI_2;
use std::fmt;

use super::bones::HumanBone;
use crate::math::{Pose, Quat, Vec3};
use crate::tracking::{Angle, AngleKind, Finger, Side};

/// One reading of a device. Decoders return only valid readings: see [`Reading::is_sound`].
// Flexion is the common case, and readings are stored in reused buffers: a box would cost an allocation per packet.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// Bend sensors of a glove.
    Flex(FlexReading),
    /// Orientation of a tracker in its own reference frame.
    Orientation(Quat),
    /// One of the two positions of a tracker.
    Position {
        /// Which position.
        side: Side,
        /// Position, m.
        position: Vec3,
    },
    /// Tilt of a glove.
    Tilt {
        /// Pitch of the fingers, rad.
        pitch: f64,
        /// Roll about the forearm, rad.
        roll: f64,
    },
    /// A thumb stick, each axis from -1 to 1.
    Joystick {
        /// To the right.
        x: f64,
        /// Forwards.
        y: f64,
    },
    /// A button was pressed or released. Reported once per change.
    Button {
        /// Button.
        button: Button,
        /// Whether it is down.
        pressed: bool,
    },
    /// An analog trigger, 0 to 1.
    Trigger(f64),
    /// Information about the device.
    Info(DeviceInfo),
    /// A bone of a tracked skeleton.
    Bone {
        /// Which one.
        bone: HumanBone,
        /// Pose in the frame of its parent; for the root in the world.
        pose: Pose,
    },
    /// A tracked object.
    Tracked {
        /// Kind.
        object: TrackedObject,
        /// Serial number as sent.
        serial: String,
        /// Pose in the world.
        pose: Pose,
    },
}

/// Maximum distance of a position from the origin, m.
pub const MAX_POSITION: f64 = 100.0;
/// Maximum length of a text, in bytes.
pub const LONGEST_TEXT: usize = 64;

impl Reading {
    /// Whether every number is finite and in range, every rotation is normalised, and every text is short.
    pub fn is_sound(&self) -> bool {
        let unit = |v: f64| (0.0..=1.0).contains(&v);
        let signed = |v: f64| (-1.0..=1.0).contains(&v);
        let turn = |q: &Quat| (q.coords.norm() - 1.0).abs() < 1e-9;
        let place = |p: &Vec3| p.norm() <= MAX_POSITION;
        let short = |s: &str| s.len() <= LONGEST_TEXT;
        match self {
            Self::Flex(flex) => flex.iter().all(|(_, v)| unit(v)),
            Self::Orientation(q) => turn(q),
            Self::Position { position, .. } => place(position),
            // The byte 0 means half a degree more than a right angle.
            Self::Tilt { pitch, roll } => [pitch, roll].iter().all(|v| v.abs() < FRAC_PI_2 + 0.01),
            Self::Joystick { x, y } => signed(*x) && signed(*y),
            Self::Button { .. } => true,
            Self::Trigger(v) => unit(*v),
            Self::Info(info) => short(&info.model) && short(&info.firmware),
            Self::Bone { pose, .. } => turn(&pose.rotation) && place(&pose.translation.vector),
            Self::Tracked { serial, pose, .. } => {
                short(serial) && turn(&pose.rotation) && place(&pose.translation.vector)
            }
        }
    }
}

/// A rotation from four wire values, w first; `None` if they are not close to a unit quaternion (noise or another
/// order).
pub(super) fn rotation([w, x, y, z]: [f64; 4]) -> Option<Quat> {
    let raw = nalgebra::Quaternion::new(w, x, y, z);
    let length = raw.norm();
    ((length - 1.0).abs() < 0.02).then(|| Quat::new_normalize(raw))
}

/// Buttons of gloves and trackers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Button {
    JoystickClick,
    Trigger,
    A,
    B,
    Grab,
    Pinch,
    Menu,
    Calibrate,
    /// A numbered button, from 0.
    Numbered(u8),
}

impl fmt::Display for Button {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::JoystickClick => "joystick_click",
            Self::Trigger => "trigger",
            Self::A => "a",
            Self::B => "b",
            Self::Grab => "grab",
            Self::Pinch => "pinch",
            Self::Menu => "menu",
            Self::Calibrate => "calibrate",
            Self::Numbered(number) => return write!(f, "button_{number}"),
        })
    }
}

/// Information about a device; unknown fields are empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Model.
    pub model: String,
    /// Firmware version.
    pub firmware: String,
    /// Hand of the device.
    pub side: Option<Side>,
}

/// The kinds of tracked objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum TrackedObject {
    Headset,
    Controller,
    Tracker,
}

/// A joint of a finger, counted from the wrist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FingerJoint {
    /// Below the metacarpal bone. The saddle joint of the thumb; almost rigid for the others.
    Metacarpal,
    /// Between finger and palm.
    Knuckle,
    /// The next joint. The last one of the thumb.
    Middle,
    /// The joint nearest the tip; the thumb has none.
    Last,
}

impl FingerJoint {
    /// All four, from the wrist.
    pub const ALL: [FingerJoint; 4] =
        [FingerJoint::Metacarpal, FingerJoint::Knuckle, FingerJoint::Middle, FingerJoint::Last];
}

/// Two adjacent fingers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum Gap {
    ThumbIndex,
    IndexMiddle,
    MiddleRing,
    RingLittle,
}

impl Gap {
    /// All four, from the thumb.
    pub const ALL: [Gap; 4] = [Gap::ThumbIndex, Gap::IndexMiddle, Gap::MiddleRing, Gap::RingLittle];
}

/// A bend sensor of a glove.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sensor {
    /// One sensor for a whole finger.
    Curl(Finger),
    /// One joint of a finger.
    Joint(Finger, FingerJoint),
    /// Splay of a finger; half of the scale is straight.
    Splay(Finger),
    /// Angle between two fingers.
    Between(Gap),
    /// Thumb across the palm.
    ThumbPalm,
    /// The wrist.
    Wrist,
}

/// Number of sensors.
pub const SENSORS: usize = 36;

impl Sensor {
    /// All sensors in the order of their indices.
    pub fn all() -> impl Iterator<Item = Sensor> {
        let curls = Finger::ALL.into_iter().map(Sensor::Curl);
        let joints =
            Finger::ALL.into_iter().flat_map(|f| FingerJoint::ALL.into_iter().map(move |p| Sensor::Joint(f, p)));
        let splays = Finger::ALL.into_iter().map(Sensor::Splay);
        let gaps = Gap::ALL.into_iter().map(Sensor::Between);
        curls.chain(joints).chain(splays).chain(gaps).chain([Sensor::ThumbPalm, Sensor::Wrist])
    }

    /// Index.
    pub fn index(self) -> usize {
        match self {
            Self::Curl(finger) => finger as usize,
            Self::Joint(finger, place) => 5 + 4 * finger as usize + place as usize,
            Self::Splay(finger) => 25 + finger as usize,
            Self::Between(gap) => 30 + gap as usize,
            Self::ThumbPalm => 34,
            Self::Wrist => 35,
        }
    }

    /// Name: `thumb`, `thumb_knuckle`, `thumb_splay`, `thumb_index_gap`, `thumb_palm`, `wrist` and so on.
    pub fn name(self) -> String {
        match self {
            Self::Curl(finger) => finger.name().into(),
            Self::Joint(finger, place) => {
                format!("{}_{}", finger.name(), ["metacarpal", "knuckle", "middle", "last"][place as usize])
            }
            Self::Splay(finger) => format!("{}_splay", finger.name()),
            Self::Between(gap) => {
                ["thumb_index_gap", "index_middle_gap", "middle_ring_gap", "ring_little_gap"][gap as usize].to_string()
            }
            Self::ThumbPalm => "thumb_palm".into(),
            Self::Wrist => "wrist".into(),
        }
    }

    /// The sensor with this name.
    pub fn named(name: &str) -> Option<Sensor> {
        Self::all().find(|sensor| sensor.name() == name)
    }

    /// The hand angle it measures; `None` if it measures several or none of the twenty.
    pub fn angle(self) -> Option<Angle> {
        let (finger, kind) = match self {
            // The thumb's joints start below its metacarpal, those of the other fingers above.
            Self::Joint(finger, place) => {
                let kinds = [AngleKind::BaseFlexion, AngleKind::MiddleFlexion, AngleKind::TipFlexion];
                let first = if finger == Finger::Thumb { FingerJoint::Metacarpal } else { FingerJoint::Knuckle };
                (finger, *kinds.get((place as usize).checked_sub(first as usize)?)?)
            }
            Self::Splay(finger) => (finger, AngleKind::BaseAbduction),
            Self::Curl(_) | Self::Between(_) | Self::ThumbPalm | Self::Wrist => return None,
        };
        Some(Angle { finger, kind })
    }
}

/// Bend sensor values of a glove, from 0 to 1 over the range of the wire. The calibration maps them to angles; the
/// range of a hand is always smaller.
#[derive(Clone, Copy, PartialEq)]
pub struct FlexReading {
    present: u64,
    values: [f64; SENSORS],
}

impl Default for FlexReading {
    fn default() -> Self {
        Self { present: 0, values: [0.0; SENSORS] }
    }
}

impl FlexReading {
    /// Values of some sensors.
    pub fn of(values: impl IntoIterator<Item = (Sensor, f64)>) -> Self {
        let mut reading = Self::default();
        values.into_iter().for_each(|(sensor, value)| reading.set(sensor, value));
        reading
    }

    /// Sets a value, clamped to 0..=1; ignores NaN.
    pub fn set(&mut self, sensor: Sensor, value: f64) {
        if !value.is_nan() {
            self.present |= 1 << sensor.index();
            self.values[sensor.index()] = value.clamp(0.0, 1.0);
        }
    }

    /// Value of a sensor; `None` if the glove has none there.
    pub fn get(&self, sensor: Sensor) -> Option<f64> {
        (self.present >> sensor.index() & 1 == 1).then(|| self.values[sensor.index()])
    }

    /// Bend of a joint: its own sensor, or that of the whole finger.
    pub fn bend(&self, finger: Finger, place: FingerJoint) -> Option<f64> {
        self.get(Sensor::Joint(finger, place)).or_else(|| self.get(Sensor::Curl(finger)))
    }

    /// Splay of a finger, from -1 to 1.
    pub fn splay(&self, finger: Finger) -> Option<f64> {
        self.get(Sensor::Splay(finger)).map(|value| 2.0 * value - 1.0)
    }

    /// All sensors with a value.
    pub fn iter(&self) -> impl Iterator<Item = (Sensor, f64)> + '_ {
        Sensor::all().filter_map(|sensor| self.get(sensor).map(|value| (sensor, value)))
    }

    /// Whether no sensor has a value.
    pub fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// Copies the values that another reading has.
    pub fn update(&mut self, other: &FlexReading) {
        other.iter().for_each(|(sensor, value)| self.set(sensor, value));
    }
}

impl fmt::Debug for FlexReading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter().map(|(sensor, value)| (sensor.name(), value))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sensors_have_one_index_and_one_name_each() {
        assert!(Sensor::all().enumerate().all(|(i, sensor)| sensor.index() == i));
        assert_eq!(Sensor::all().count(), SENSORS);
        assert!(Sensor::all().all(|sensor| Sensor::named(&sensor.name()) == Some(sensor)));
        assert_eq!(Sensor::named("sixth_finger"), None);
    }

    #[test]
    fn sensors_map_to_joint_angles() {
        let name = |sensor: Sensor| sensor.angle().map(Angle::name);
        assert_eq!(name(Sensor::Joint(Finger::Index, FingerJoint::Knuckle)).as_deref(), Some("index_base_flexion"));
        assert_eq!(name(Sensor::Joint(Finger::Index, FingerJoint::Last)).as_deref(), Some("index_tip_flexion"));
        assert_eq!(name(Sensor::Joint(Finger::Index, FingerJoint::Metacarpal)), None);
        assert_eq!(name(Sensor::Joint(Finger::Thumb, FingerJoint::Knuckle)).as_deref(), Some("thumb_middle_flexion"));
        assert_eq!(name(Sensor::Joint(Finger::Thumb, FingerJoint::Last)), None);
        assert_eq!(name(Sensor::Splay(Finger::Ring)).as_deref(), Some("ring_base_abduction"));
        assert_eq!(name(Sensor::Curl(Finger::Ring)), None);
    }

    #[test]
    fn a_missing_joint_follows_its_finger_and_values_stay_in_range() {
        let mut flex = FlexReading::of([(Sensor::Curl(Finger::Index), 0.25)]);
        assert_eq!(flex.bend(Finger::Index, FingerJoint::Last), Some(0.25));
        flex.set(Sensor::Joint(Finger::Index, FingerJoint::Last), 7.0);
        flex.set(Sensor::Joint(Finger::Index, FingerJoint::Middle), f64::NAN);
        assert_eq!(flex.bend(Finger::Index, FingerJoint::Last), Some(1.0));
        assert_eq!(flex.bend(Finger::Index, FingerJoint::Middle), Some(0.25));
        assert_eq!(flex.bend(Finger::Thumb, FingerJoint::Last), None);
        assert_eq!(flex.iter().count(), 2);
    }

    #[test]
    fn invalid_readings_are_detected() {
        assert!(Reading::Trigger(1.0).is_sound());
        assert!(!Reading::Trigger(1.1).is_sound());
        assert!(!Reading::Joystick { x: f64::NAN, y: 0.0 }.is_sound());
        assert!(!Reading::Position { side: Side::Left, position: Vec3::new(f64::INFINITY, 0.0, 0.0) }.is_sound());
        let crooked = Quat::new_unchecked(nalgebra::Quaternion::new(0.9, 0.0, 0.0, 0.0));
        assert!(!Reading::Orientation(crooked).is_sound());
        assert_eq!(rotation([0.9, 0.0, 0.0, 0.0]), None);
        assert_eq!(rotation([f64::NAN, 0.0, 0.0, 0.0]), None);
        assert_eq!(rotation([0.999, 0.0, 0.0, 0.0]), Some(Quat::identity()));
    }
}
