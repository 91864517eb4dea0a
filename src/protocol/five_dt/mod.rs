//! The 5DT Data Gloves: the one of five fingers on a wire and by radio, the one of sixteen sensors, and the Ultra.

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

use super::reading::{Gap, Place, Sensor};
use crate::tracking::{Finger, Side};

/// The sensors of the gloves of sixteen, in the order of the wire; those of fourteen have the first fourteen.
pub(super) const SIXTEEN: [Sensor; 16] = [
    Sensor::Joint(Finger::Thumb, Place::Knuckle),
    Sensor::Joint(Finger::Thumb, Place::Middle),
    Sensor::Between(Gap::ThumbIndex),
    Sensor::Joint(Finger::Index, Place::Knuckle),
    Sensor::Joint(Finger::Index, Place::Middle),
    Sensor::Between(Gap::IndexMiddle),
    Sensor::Joint(Finger::Middle, Place::Knuckle),
    Sensor::Joint(Finger::Middle, Place::Middle),
    Sensor::Between(Gap::MiddleRing),
    Sensor::Joint(Finger::Ring, Place::Knuckle),
    Sensor::Joint(Finger::Ring, Place::Middle),
    Sensor::Between(Gap::RingLittle),
    Sensor::Joint(Finger::Little, Place::Knuckle),
    Sensor::Joint(Finger::Little, Place::Middle),
    Sensor::ThumbPalm,
    Sensor::Wrist,
];

/// What to say when a glove is for the other hand than the profile.
fn wrong_hand(told: Option<Side>, expected: Side) -> Option<String> {
    let told = told.filter(|told| *told != expected)?;
    Some(format!("the glove says that it is for the {} hand, the profile says {}", told.name(), expected.name()))
}
