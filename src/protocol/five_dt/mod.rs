//! The 5DT Data Gloves: the wired and wireless Data Glove 5, the Data Glove 16, and the Ultra.

mod five;
mod five_link;
mod sixteen;
mod ultra;

pub use five::{Checksum, GloveMode};
pub(super) use five::{FiveEncoder, FiveLayout, WirelessEncoder, WirelessLayout};
pub(super) use five_link::{EmulatedFive, FiveHost};
pub(super) use sixteen::{EmulatedSixteen, SixteenEncoder, SixteenLayout};
pub use ultra::UltraSensors;
pub(super) use ultra::{UltraUsbEncoder, UltraUsbReports, UltraWirelessEncoder, UltraWirelessLayout};

use super::reading::{FingerJoint, Gap, Sensor};
use crate::tracking::{Finger, Side};

/// The sensors of the 16-sensor gloves in wire order; 14-sensor gloves have the first fourteen.
pub(super) const SIXTEEN: [Sensor; 16] = [
    Sensor::Joint(Finger::Thumb, FingerJoint::Knuckle),
    Sensor::Joint(Finger::Thumb, FingerJoint::Middle),
    Sensor::Between(Gap::ThumbIndex),
    Sensor::Joint(Finger::Index, FingerJoint::Knuckle),
    Sensor::Joint(Finger::Index, FingerJoint::Middle),
    Sensor::Between(Gap::IndexMiddle),
    Sensor::Joint(Finger::Middle, FingerJoint::Knuckle),
    Sensor::Joint(Finger::Middle, FingerJoint::Middle),
    Sensor::Between(Gap::MiddleRing),
    Sensor::Joint(Finger::Ring, FingerJoint::Knuckle),
    Sensor::Joint(Finger::Ring, FingerJoint::Middle),
    Sensor::Between(Gap::RingLittle),
    Sensor::Joint(Finger::Little, FingerJoint::Knuckle),
    Sensor::Joint(Finger::Little, FingerJoint::Middle),
    Sensor::ThumbPalm,
    Sensor::Wrist,
];

/// Hint if the glove reports a different hand than the profile.
fn wrong_hand(reported: Option<Side>, expected: Side) -> Option<String> {
    let reported = reported.filter(|reported| *reported != expected)?;
    Some(format!("the glove reports the {} hand, the profile says {}", reported.name(), expected.name()))
}
