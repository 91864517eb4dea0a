use std::f64::consts::FRAC_PI_2;
use std::fmt;

use super::bones::HumanBone;
use crate::math::{Pose, Quat, Vec3};
use crate::tracking::{Angle, AngleKind, Finger, Side};

/// One thing that a device said. Decoders hand on only sound readings: see [`Reading::is_sound`].
// Flexion is the common case and readings live in buffers that are used again: a box would cost an allocation a packet.
#[allow(clippy::large_enum_variant)]
#[derive(Clone, Debug, PartialEq)]
pub enum Reading {
    /// How far the sensors of a glove are bent.
    Flex(FlexReading),
    /// Which way a tracker is turned, in its own frame of reference.
    Orientation(Quat),
    /// Where a tracker of two positions has one of them.
    Position {
        /// Which of the two.
        side: Side,
        /// Where, m.
        position: Vec3,
    },
    /// How a glove is tilted against the vertical.
    Tilt {
        /// Fingers up or down, rad.
        pitch: f64,
        /// About the forearm, rad.
        roll: f64,
    },
    /// A thumb stick, each axis from -1 to 1.
    Joystick {
        /// To the right.
        x: f64,
        /// Forwards.
        y: f64,
    },
    /// A button went down or up. Said once for each change.
    Button {
        /// Which one.
        button: Button,
        /// Down or up.
        pressed: bool,
    },
    /// An analog trigger, 0 to 1.
    Trigger(f64),
    /// What the device says of itself.
    Info(DeviceInfo),
    /// A bone of a body that another program tracks.
    Bone {
        /// Which one.
        bone: HumanBone,
        /// Its placement in the frame of its parent; of the root, in the world.
        pose: Pose,
    },
    /// A tracked object that another program passes on.
    Tracked {
        /// What it is.
        object: TrackedObject,
        /// Its serial number, as the sender writes it.
        serial: String,
        /// Its placement in the world.
        pose: Pose,
    },
}

/// The farthest a position may be from the origin, m. Beyond is nonsense.
pub const FARTHEST: f64 = 100.0;
/// The longest text a reading carries, in bytes.
pub const LONGEST_TEXT: usize = 64;

impl Reading {
    /// Whether every number is finite and in its range, every rotation is one, and every text is short.
    pub fn is_sound(&self) -> bool {
        let unit = |v: f64| (0.0..=1.0).contains(&v);
        let signed = |v: f64| (-1.0..=1.0).contains(&v);
        let turn = |q: &Quat| (q.coords.norm() - 1.0).abs() < 1e-9;
        let place = |p: &Vec3| p.norm() <= FARTHEST;
        let short = |s: &str| s.len() <= LONGEST_TEXT;
        match self {
            Self::Flex(flex) => flex.iter().all(|(_, v)| unit(v)),
            Self::Orientation(q) => turn(q),
            Self::Position { position, .. } => place(position),
            // The byte 0 stands for half a degree more than a right angle.
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

/// A rotation from four numbers of a wire, w first, or `None` if they are not nearly one: noise, or another order.
pub(super) fn rotation([w, x, y, z]: [f64; 4]) -> Option<Quat> {
    let raw = nalgebra::Quaternion::new(w, x, y, z);
    let length = raw.norm();
    ((length - 1.0).abs() < 0.02).then(|| Quat::new_normalize(raw))
}

/// The buttons of gloves and trackers.
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
    /// A button without a name, from 0.
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

/// What a device says of itself; what it does not say is empty.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Its model.
    pub model: String,
    /// The version of its firmware.
    pub firmware: String,
    /// The hand it is made for.
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

/// A joint along a finger, counted from the wrist.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Place {
    /// Below the metacarpal bone. Of the thumb it is the saddle joint; of the others it hardly moves.
    Metacarpal,
    /// Where the finger leaves the palm.
    Knuckle,
    /// The next. Of the thumb it is the last.
    Middle,
    /// The joint nearest the tip; the thumb has none.
    Last,
}

impl Place {
    /// All four, from the wrist.
    pub const ALL: [Place; 4] = [Place::Metacarpal, Place::Knuckle, Place::Middle, Place::Last];
}

/// Two fingers side by side.
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
    /// One sensor along a whole finger.
    Curl(Finger),
    /// At one joint of a finger.
    Joint(Finger, Place),
    /// A finger to the side; half of the scale is straight ahead.
    Splay(Finger),
    /// How far two fingers are spread.
    Between(Gap),
    /// The thumb over the palm.
    ThumbPalm,
    /// The wrist.
    Wrist,
}

/// How many sensors there are.
pub const SENSORS: usize = 36;

impl Sensor {
    /// All of them, in the order of their indices.
    pub fn all() -> impl Iterator<Item = Sensor> {
        let curls = Finger::ALL.into_iter().map(Sensor::Curl);
        let joints = Finger::ALL.into_iter().flat_map(|f| Place::ALL.into_iter().map(move |p| Sensor::Joint(f, p)));
        let splays = Finger::ALL.into_iter().map(Sensor::Splay);
        let gaps = Gap::ALL.into_iter().map(Sensor::Between);
        curls.chain(joints).chain(splays).chain(gaps).chain([Sensor::ThumbPalm, Sensor::Wrist])
    }

    /// Its place among them.
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

    /// `thumb`, `thumb_knuckle`, `thumb_splay`, `thumb_index_gap`, `thumb_palm`, `wrist` and the like.
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

    /// The sensor of a name.
    pub fn named(name: &str) -> Option<Sensor> {
        Self::all().find(|sensor| sensor.name() == name)
    }

    /// The angle of the hand that it measures; `None` where it measures several together or none of the twenty.
    pub fn angle(self) -> Option<Angle> {
        let (finger, kind) = match self {
            // The thumb's joints of the hand begin below its metacarpal, those of the others above.
            Self::Joint(finger, place) => {
                let kinds = [AngleKind::BaseFlexion, AngleKind::MiddleFlexion, AngleKind::TipFlexion];
                let first = if finger == Finger::Thumb { Place::Metacarpal } else { Place::Knuckle };
                (finger, *kinds.get((place as usize).checked_sub(first as usize)?)?)
            }
            Self::Splay(finger) => (finger, AngleKind::BaseAbduction),
            Self::Curl(_) | Self::Between(_) | Self::ThumbPalm | Self::Wrist => return None,
        };
        Some(Angle { finger, kind })
    }
}

/// What the bend sensors of a glove say: from 0, one end of the scale of the wire, to 1, the other. What a value means in
/// angles is for the calibration to say; the span that a hand uses is always smaller.
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
    /// A reading of some sensors.
    pub fn of(values: impl IntoIterator<Item = (Sensor, f64)>) -> Self {
        let mut reading = Self::default();
        values.into_iter().for_each(|(sensor, value)| reading.set(sensor, value));
        reading
    }

    /// Notes a value, held to 0..=1; one that is not a number is not noted.
    pub fn set(&mut self, sensor: Sensor, value: f64) {
        if !value.is_nan() {
            self.present |= 1 << sensor.index();
            self.values[sensor.index()] = value.clamp(0.0, 1.0);
        }
    }

    /// What a sensor says; `None` if the glove has none there.
    pub fn get(&self, sensor: Sensor) -> Option<f64> {
        (self.present >> sensor.index() & 1 == 1).then(|| self.values[sensor.index()])
    }

    /// How far a joint is bent: by its own sensor, else by that of the whole finger.
    pub fn bend(&self, finger: Finger, place: Place) -> Option<f64> {
        self.get(Sensor::Joint(finger, place)).or_else(|| self.get(Sensor::Curl(finger)))
    }

    /// How far a finger is to the side, from -1 to 1.
    pub fn splay(&self, finger: Finger) -> Option<f64> {
        self.get(Sensor::Splay(finger)).map(|value| 2.0 * value - 1.0)
    }

    /// Every sensor that said something.
    pub fn iter(&self) -> impl Iterator<Item = (Sensor, f64)> + '_ {
        Sensor::all().filter_map(|sensor| self.get(sensor).map(|value| (sensor, value)))
    }

    /// Whether no sensor said anything.
    pub fn is_empty(&self) -> bool {
        self.present == 0
    }

    /// Takes over what another reading has.
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
    fn joints_know_their_angles() {
        let name = |sensor: Sensor| sensor.angle().map(Angle::name);
        assert_eq!(name(Sensor::Joint(Finger::Index, Place::Knuckle)).as_deref(), Some("index_base_flexion"));
        assert_eq!(name(Sensor::Joint(Finger::Index, Place::Last)).as_deref(), Some("index_tip_flexion"));
        assert_eq!(name(Sensor::Joint(Finger::Index, Place::Metacarpal)), None);
        assert_eq!(name(Sensor::Joint(Finger::Thumb, Place::Knuckle)).as_deref(), Some("thumb_middle_flexion"));
        assert_eq!(name(Sensor::Joint(Finger::Thumb, Place::Last)), None);
        assert_eq!(name(Sensor::Splay(Finger::Ring)).as_deref(), Some("ring_base_abduction"));
        assert_eq!(name(Sensor::Curl(Finger::Ring)), None);
    }

    #[test]
    fn a_missing_joint_follows_its_finger_and_values_stay_in_range() {
        let mut flex = FlexReading::of([(Sensor::Curl(Finger::Index), 0.25)]);
        assert_eq!(flex.bend(Finger::Index, Place::Last), Some(0.25));
        flex.set(Sensor::Joint(Finger::Index, Place::Last), 7.0);
        flex.set(Sensor::Joint(Finger::Index, Place::Middle), f64::NAN);
        assert_eq!(flex.bend(Finger::Index, Place::Last), Some(1.0));
        assert_eq!(flex.bend(Finger::Index, Place::Middle), Some(0.25));
        assert_eq!(flex.bend(Finger::Thumb, Place::Last), None);
        assert_eq!(flex.iter().count(), 2);
    }

    #[test]
    fn unsound_readings_are_told() {
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
