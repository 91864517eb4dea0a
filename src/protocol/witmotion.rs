//! WitMotion sensors at 9600 or 115200 baud. They stream packets of eleven bytes: `55`, a type, eight bytes of values,
//! and the low byte of the sum of the ten. Type 59 is the orientation: four little-endian words scaled by 2¹⁵, w first
//! according to the manufacturer; some devices send it last. The other types, 50 to 5F, are accelerations and so on.

use super::Encoder;
use super::framing::{BOUNDARY_EVIDENCE, FramingFault, PacketLayout, PacketStart};
use super::reading::{Reading, rotation};
use crate::math::Quat;

const WIT_HEADER: u8 = 0x55;
const QUATERNION_PACKET: u8 = 0x59;
const WIT_LENGTH: usize = 11;
const WIT_SCALE: f64 = 32768.0;

/// Order of the quaternion components.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum QuaternionOrder {
    /// Real part first.
    #[default]
    Wxyz,
    /// Real part last.
    Xyzw,
}

impl QuaternionOrder {
    /// From wire order to w first.
    fn real_first(self, [a, b, c, d]: [f64; 4]) -> [f64; 4] {
        if self == Self::Wxyz { [a, b, c, d] } else { [d, a, b, c] }
    }

    /// From w first to wire order.
    fn ordered(self, [w, x, y, z]: [f64; 4]) -> [f64; 4] {
        if self == Self::Wxyz { [w, x, y, z] } else { [x, y, z, w] }
    }
}

fn sum(bytes: &[u8]) -> u8 {
    bytes.iter().fold(0, |sum, byte| sum.wrapping_add(*byte))
}

fn words(packet: &[u8]) -> [f64; 4] {
    std::array::from_fn(|i| f64::from(i16::from_le_bytes([packet[2 * i + 2], packet[2 * i + 3]])) / WIT_SCALE)
}

/// Packet layout of the sensor.
pub(super) struct WitMotionLayout {
    order: QuaternionOrder,
    /// Packets since the last orientation.
    others: u32,
}

impl WitMotionLayout {
    pub(super) fn new(order: QuaternionOrder) -> Self {
        Self { order, others: 0 }
    }
}

impl PacketLayout for WitMotionLayout {
    fn length(&self) -> usize {
        WIT_LENGTH
    }

    fn front(&self, bytes: &[u8]) -> PacketStart {
        match bytes {
            [] | [WIT_HEADER] => PacketStart::Partial,
            [WIT_HEADER, 0x50..=0x5F, ..] if bytes.len() < WIT_LENGTH => PacketStart::Partial,
            [WIT_HEADER, kind @ 0x50..=0x5F, ..] if bytes[WIT_LENGTH - 1] == sum(&bytes[..WIT_LENGTH - 1]) => {
                let turns = *kind == QUATERNION_PACKET && rotation(words(bytes)).is_some();
                PacketStart::Whole {
                    length: WIT_LENGTH,
                    evidence: if turns { BOUNDARY_EVIDENCE } else { 1 },
                    likelihood: 0,
                }
            }
            [WIT_HEADER, 0x50..=0x5F, ..] => PacketStart::Wrong(FramingFault::Checksum),
            _ => PacketStart::Wrong(FramingFault::Header),
        }
    }

    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool {
        let words = (packet[1] == QUATERNION_PACKET).then(|| self.order.real_first(words(packet)));
        let rotation = words.and_then(rotation);
        self.others = if rotation.is_some() { 0 } else { self.others.saturating_add(1) };
        out.extend(rotation.map(Reading::Orientation));
        true
    }

    fn reset(&mut self) {
        self.others = 0;
    }

    fn hint(&self) -> Option<String> {
        (self.others >= 50).then(|| {
            "the sensor sends no orientation: enable its quaternion output with the manufacturer's program".into()
        })
    }

    fn expectation(&self) -> String {
        "check that it is a WitMotion sensor, and that the baud rate matches its setting (9600 by default, or 115200)"
            .into()
    }
}

/// Encoder of the orientation.
pub(super) struct WitMotionEncoder {
    order: QuaternionOrder,
    orientation: Quat,
}

impl WitMotionEncoder {
    pub(super) fn new(order: QuaternionOrder) -> Self {
        Self { order, orientation: Quat::identity() }
    }
}

impl Encoder for WitMotionEncoder {
    fn set(&mut self, reading: &Reading) {
        if let Reading::Orientation(orientation) = reading {
            self.orientation = *orientation;
        }
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend([WIT_HEADER, QUATERNION_PACKET]);
        let q = &self.orientation;
        for value in self.order.ordered([q.w, q.i, q.j, q.k]) {
            // The cast saturates: 1.0 is just beyond the scale.
            out.extend(((value * WIT_SCALE).round() as i16).to_le_bytes());
        }
        out.push(sum(&out[start..]));
    }
}
