//! 5DT Data Glove 16 on a serial port: it streams at 19200 baud without a request. Value packets have 36 bytes: `3C
//! 44`, sixteen big-endian words, two bytes of unknown meaning. Information packets of seven bytes are interspersed:
//! `3C 49`, major, minor, hand (bit 0: right), flags, one unknown byte. From the driver in VRPN.
//!
//! The range of the words is not documented; the converters have twelve bits, and the scale is an option.

use super::super::framing::{FramingFault, PacketLayout, PacketStart};
use super::super::reading::{DeviceInfo, FlexReading, Reading};
use super::super::{Emulated, Encoder, from_scale, to_scale};
use super::{SIXTEEN, wrong_hand};
use crate::tracking::Side;

const SIXTEEN_HEADER: u8 = b'<';
const SIXTEEN_VALUES: u8 = b'D';
const VALUES_LENGTH: usize = 36;
const SIXTEEN_INFO: u8 = b'I';
const SIXTEEN_INFO_LENGTH: usize = 7;
/// Value packets between two information packets in the emulation.
const INFO_EVERY: u32 = 100;

/// Packet layout of the glove.
pub(in super::super) struct SixteenLayout {
    side: Side,
    maximum: u16,
    reported: Option<Side>,
    largest: u16,
}

impl SixteenLayout {
    pub(in super::super) fn new(side: Side, maximum: u16) -> Self {
        Self { side, maximum: maximum.max(1), reported: None, largest: 0 }
    }
}

impl PacketLayout for SixteenLayout {
    fn length(&self) -> usize {
        VALUES_LENGTH
    }

    fn front(&self, bytes: &[u8]) -> PacketStart {
        let length = match bytes {
            [] | [SIXTEEN_HEADER] => return PacketStart::Partial,
            [SIXTEEN_HEADER, SIXTEEN_VALUES, ..] => VALUES_LENGTH,
            [SIXTEEN_HEADER, SIXTEEN_INFO, ..] => SIXTEEN_INFO_LENGTH,
            _ => return PacketStart::Wrong(FramingFault::Header),
        };
        if bytes.len() < length {
            PacketStart::Partial
        } else {
            PacketStart::Whole { length, evidence: 1, likelihood: 0 }
        }
    }

    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool {
        if packet[1] == SIXTEEN_VALUES {
            let words = packet[2..34].chunks_exact(2).map(|word| u16::from_be_bytes([word[0], word[1]]));
            self.largest = words.clone().fold(self.largest, u16::max);
            let values = SIXTEEN.into_iter().zip(words).map(|(sensor, raw)| (sensor, from_scale(raw, self.maximum)));
            out.push(Reading::Flex(FlexReading::of(values)));
        } else {
            let side = if packet[4] & 1 == 1 { Side::Right } else { Side::Left };
            self.reported = Some(side);
            out.push(Reading::Info(DeviceInfo {
                model: "5DT Data Glove 16".into(),
                firmware: format!("{}.{}", packet[2], packet[3]),
                side: Some(side),
            }));
        }
        true
    }

    fn reset(&mut self) {
        (self.reported, self.largest) = (None, 0);
    }

    fn hint(&self) -> Option<String> {
        let beyond = self.largest > self.maximum;
        let scale =
            || format!("received values up to {}, but the maximum of the profile is {}", self.largest, self.maximum);
        wrong_hand(self.reported, self.side).or_else(|| beyond.then(scale))
    }

    fn expectation(&self) -> String {
        "check that it is a 5DT Data Glove 16, at 19200 baud".into()
    }
}

/// Encoder of the glove.
pub(in super::super) struct SixteenEncoder {
    side: Side,
    maximum: u16,
    flex: FlexReading,
}

impl SixteenEncoder {
    pub(in super::super) fn new(side: Side, maximum: u16) -> Self {
        Self { side, maximum: maximum.max(1), flex: FlexReading::default() }
    }

    fn info(&self) -> [u8; SIXTEEN_INFO_LENGTH] {
        [SIXTEEN_HEADER, SIXTEEN_INFO, 1, 2, u8::from(self.side == Side::Right), 1, 0]
    }
}

impl Encoder for SixteenEncoder {
    fn set(&mut self, reading: &Reading) {
        if let Reading::Flex(flex) = reading {
            self.flex.update(flex);
        }
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        out.extend([SIXTEEN_HEADER, SIXTEEN_VALUES]);
        for sensor in SIXTEEN {
            out.extend(to_scale(self.flex.get(sensor).unwrap_or(0.0), self.maximum).to_be_bytes());
        }
        out.extend([0, 0]);
    }
}

/// Emulated glove with sixteen sensors.
pub(in super::super) struct EmulatedSixteen {
    encoder: SixteenEncoder,
    samples: u32,
}

impl EmulatedSixteen {
    pub(in super::super) fn new(encoder: SixteenEncoder) -> Self {
        Self { encoder, samples: 0 }
    }
}

impl Emulated for EmulatedSixteen {
    fn set(&mut self, reading: &Reading) {
        self.encoder.set(reading);
    }

    fn receive(&mut self, _: &[u8]) -> Vec<u8> {
        Vec::new()
    }

    fn sample(&mut self) -> Vec<u8> {
        let mut packet = Vec::new();
        if self.samples.is_multiple_of(INFO_EVERY) {
            packet.extend(self.encoder.info());
        }
        self.samples = self.samples.wrapping_add(1);
        self.encoder.packet(&mut packet);
        packet
    }
}
