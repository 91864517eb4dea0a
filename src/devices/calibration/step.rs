use std::fmt;

use crate::protocol::{FingerJoint, Gap, Sensor};
use crate::tracking::Finger;

/// A pose for the user to hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[allow(missing_docs)]
pub enum PoseStep {
    Flat,
    Fist,
    ThumbIn,
    Spread,
    ThumbUp,
    One,
    Two,
    Three,
}

/// A part of the hand that the steps move as one: sensors of the same part bend together and cannot be distinguished.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SensorPart {
    /// One finger, curled.
    Finger(Finger),
    /// The fingers, spread.
    Spread,
}

/// Number of parts.
pub(super) const PARTS: usize = 6;

impl SensorPart {
    /// All parts in the order of their indices.
    pub(super) fn all() -> impl Iterator<Item = SensorPart> {
        Finger::ALL.into_iter().map(SensorPart::Finger).chain([SensorPart::Spread])
    }

    pub(super) fn index(self) -> usize {
        match self {
            Self::Finger(finger) => finger as usize,
            Self::Spread => 5,
        }
    }

    /// The part that moves a sensor; `None` for the wrist, which no step moves.
    pub fn of(sensor: Sensor) -> Option<SensorPart> {
        match sensor {
            Sensor::Curl(finger) | Sensor::Joint(finger, _) => Some(SensorPart::Finger(finger)),
            Sensor::ThumbPalm => Some(SensorPart::Finger(Finger::Thumb)),
            Sensor::Splay(_) | Sensor::Between(_) => Some(SensorPart::Spread),
            Sensor::Wrist => None,
        }
    }

    /// Whether the steps move a sensor enough for every hand. Other sensors are calibrated only if they move: the
    /// joints below the palm and the splay of the middle finger hardly do, and the thumb has one joint less.
    pub(super) fn must_move(sensor: Sensor) -> bool {
        match sensor {
            Sensor::Joint(Finger::Thumb, place) => place != FingerJoint::Last,
            Sensor::Joint(_, place) => place != FingerJoint::Metacarpal,
            Sensor::Splay(finger) => finger != Finger::Middle,
            _ => SensorPart::of(sensor).is_some(),
        }
    }

    /// Whether curling a finger moves a spread sensor directly, not by crosstalk: the thumb that folds over the palm
    /// also moves towards the index finger.
    pub(super) fn truly_moves(self, sensor: Sensor) -> bool {
        let of_the_thumb = [Sensor::Splay(Finger::Thumb), Sensor::Between(Gap::ThumbIndex)];
        self == SensorPart::Finger(Finger::Thumb) && of_the_thumb.contains(&sensor)
    }
}

impl PoseStep {
    /// The minimal steps for these sensors: flat hand, fist, thumb in, and the spread hand if a sensor measures it.
    pub fn basic(sensors: &[Sensor]) -> Vec<PoseStep> {
        let mut steps = vec![PoseStep::Flat, PoseStep::Fist, PoseStep::ThumbIn];
        if sensors.iter().any(|sensor| SensorPart::of(*sensor) == Some(SensorPart::Spread)) {
            steps.push(PoseStep::Spread);
        }
        steps
    }

    /// Adds the counting gestures, which determine the crosstalk between all fingers: thumb in is four, the flat hand
    /// five, and from each to the next one finger moves.
    pub fn full(sensors: &[Sensor]) -> Vec<PoseStep> {
        let mut steps = Self::basic(sensors);
        steps.extend([PoseStep::Three, PoseStep::Two, PoseStep::One, PoseStep::ThumbUp]);
        steps
    }

    /// The recommended steps for a glove. With one sensor per finger all of them: only the fabric couples a sensor to
    /// its joint, the fingers affect each other's sensors, and the four additional poses take about 15 seconds. Sensors
    /// at the joints need only the basic steps: they have less crosstalk, and no pose distinguishes those of one finger
    /// anyway.
    pub fn fitting(sensors: &[Sensor]) -> Vec<PoseStep> {
        let is_joint = |sensor: &Sensor| matches!(sensor, Sensor::Joint(..));
        if sensors.iter().any(is_joint) { Self::basic(sensors) } else { Self::full(sensors) }
    }

    /// Display name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flat => "flat hand",
            Self::Fist => "fist",
            Self::ThumbIn => "thumb in",
            Self::Spread => "spread",
            Self::ThumbUp => "thumb up",
            Self::One => "one",
            Self::Two => "two",
            Self::Three => "three",
        }
    }

    /// Instruction for the user.
    pub fn instruction(self) -> &'static str {
        match self {
            Self::Flat => "Hold your hand flat: fingers straight and side by side, the thumb along the index finger.",
            Self::Fist => "Make a tight fist, the thumb bent over the fingers.",
            Self::ThumbIn => "Bend the thumb over the palm as far as in the fist; fingers straight and side by side.",
            Self::Spread => "Spread all five fingers as wide as they go, straight.",
            Self::ThumbUp => "Thumb up: the thumb straight, the four fingers in a tight fist.",
            Self::One => "Count one: index finger straight; thumb and the others bent as in the fist.",
            Self::Two => {
                "Count two: index and middle straight, side by side; thumb and the others bent as in the fist."
            }
            Self::Three => {
                "Count three: index, middle, ring straight, side by side; thumb and little bent as in the fist."
            }
        }
    }

    /// Bend of a part in the pose.
    pub fn bend(self, part: SensorPart) -> f64 {
        let fingers = match self {
            Self::Flat => [0, 0, 0, 0, 0],
            Self::Fist => [1, 1, 1, 1, 1],
            Self::ThumbIn => [1, 0, 0, 0, 0],
            Self::Spread => [0, 0, 0, 0, 0],
            Self::ThumbUp => [0, 1, 1, 1, 1],
            Self::One => [1, 0, 1, 1, 1],
            Self::Two => [1, 0, 0, 1, 1],
            Self::Three => [1, 0, 0, 0, 1],
        };
        match part {
            SensorPart::Finger(finger) => f64::from(fingers[finger as usize]),
            SensorPart::Spread => f64::from(u8::from(self == Self::Spread)),
        }
    }
}

impl fmt::Display for PoseStep {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
