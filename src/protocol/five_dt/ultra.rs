//! 5DT Data Glove Ultra.
//!
//! Wireless, on a serial port at 115200 baud, 29 bytes: `3C`, a type, `01`, 21 bytes of fourteen packed 12-bit values
//! with the high nibble first, five bytes of unknown meaning.
//!
//! On USB (vendor 5D70), reports of 64 bytes: sixteen signed big-endian words scaled by 4096; the rest is unused. The
//! product id identifies the glove: bit 0 left, bit 1 wireless, bit 4 five sensors instead of fourteen. With fourteen
//! sensors the words are ordered as in the Data Glove 16; with five they are words 0, 3, 6, 9 and 12.

use super::super::framing::{FramingFault, PacketLayout, PacketStart};
use super::super::packets::Packets;
use super::super::reading::{FlexReading, Reading, Sensor};
use super::super::{Encoder, from_scale, to_scale};
use super::SIXTEEN;
use crate::tracking::{Finger, Side};

const ULTRA_HEADER: u8 = 0x3C;
const ULTRA_VALUES: u8 = 0x44;
const ONE: u8 = 1;
const WIRELESS_LENGTH: usize = 29;
const TWELVE_BITS: u16 = 4095;
const ULTRA_LENGTH: usize = 64;
const USB_SCALE: u16 = 4096;

/// Packet layout of the wireless glove.
pub(in super::super) struct UltraWirelessLayout;

impl PacketLayout for UltraWirelessLayout {
    fn length(&self) -> usize {
        WIRELESS_LENGTH
    }

    fn front(&self, bytes: &[u8]) -> PacketStart {
        match bytes {
            [] | [ULTRA_HEADER] | [ULTRA_HEADER, _] => PacketStart::Partial,
            [ULTRA_HEADER, _, ONE, ..] if bytes.len() < WIRELESS_LENGTH => PacketStart::Partial,
            [ULTRA_HEADER, _, ONE, ..] => PacketStart::Whole { length: WIRELESS_LENGTH, evidence: 1, likelihood: 0 },
            _ => PacketStart::Wrong(FramingFault::Header),
        }
    }

    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool {
        let values = packet[3..24].chunks_exact(3).flat_map(|three| {
            let [a, b, c] = [three[0], three[1], three[2]].map(u16::from);
            [a << 4 | b >> 4, (b & 0xF) << 8 | c]
        });
        let values = SIXTEEN.into_iter().zip(values).map(|(sensor, raw)| (sensor, from_scale(raw, TWELVE_BITS)));
        out.push(Reading::Flex(FlexReading::of(values)));
        true
    }

    fn expectation(&self) -> String {
        "check that it is a wireless 5DT Data Glove Ultra, at 115200 baud".into()
    }
}

/// Encoder of the wireless glove.
#[derive(Default)]
pub(in super::super) struct UltraWirelessEncoder(FlexReading);

impl Encoder for UltraWirelessEncoder {
    fn set(&mut self, reading: &Reading) {
        if let Reading::Flex(flex) = reading {
            self.0.update(flex);
        }
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        out.extend([ULTRA_HEADER, ULTRA_VALUES, ONE]);
        for pair in SIXTEEN[..14].chunks_exact(2) {
            let raw = |sensor| to_scale(self.0.get(sensor).unwrap_or(0.0), TWELVE_BITS);
            let (a, b) = (raw(pair[0]), raw(pair[1]));
            out.extend([(a >> 4) as u8, ((a & 0xF) << 4 | b >> 8) as u8, (b & 0xFF) as u8]);
        }
        out.extend([0; 5]);
    }
}

/// Variant of the USB glove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum UltraSensors {
    /// One sensor per finger.
    Five,
    /// Two sensors per finger and four between fingers.
    #[default]
    Fourteen,
}

impl UltraSensors {
    /// The variant and the hand of a USB product id.
    pub fn of_product(product: u16) -> (UltraSensors, Side) {
        let sensors = if product & 0x10 == 0 { Self::Fourteen } else { Self::Five };
        (sensors, if product & 1 == 0 { Side::Right } else { Side::Left })
    }

    /// Each sensor and its word in the report.
    fn words(self) -> impl Iterator<Item = (usize, Sensor)> {
        let five = Finger::ALL.into_iter().map(|finger| (3 * finger as usize, Sensor::Curl(finger)));
        let fourteen = SIXTEEN.into_iter().enumerate().take(14);
        let (five_taken, fourteen_taken) = if self == Self::Five { (5, 0) } else { (0, 14) };
        five.take(five_taken).chain(fourteen.take(fourteen_taken))
    }
}

/// Report layout of the USB glove.
pub(in super::super) struct UltraUsbReports(pub(in super::super) UltraSensors);

impl Packets for UltraUsbReports {
    fn read(&mut self, report: &[u8], out: &mut Vec<Reading>) -> bool {
        if report.len() != ULTRA_LENGTH {
            return false;
        }
        let word = |index: usize| i16::from_be_bytes([report[2 * index], report[2 * index + 1]]);
        let value = |index: usize| f64::from(word(index)) / f64::from(USB_SCALE);
        let values = self.0.words().map(|(index, sensor)| (sensor, value(index)));
        out.push(Reading::Flex(FlexReading::of(values)));
        true
    }

    fn reset(&mut self) {}

    fn hint(&self) -> Option<String> {
        None
    }

    fn expectation(&self) -> String {
        "check that it is a 5DT Data Glove Ultra, whose reports have 64 bytes".into()
    }
}

/// Encoder of the USB glove.
pub(in super::super) struct UltraUsbEncoder {
    sensors: UltraSensors,
    flex: FlexReading,
}

impl UltraUsbEncoder {
    pub(in super::super) fn new(sensors: UltraSensors) -> Self {
        Self { sensors, flex: FlexReading::default() }
    }
}

impl Encoder for UltraUsbEncoder {
    fn set(&mut self, reading: &Reading) {
        if let Reading::Flex(flex) = reading {
            self.flex.update(flex);
        }
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        let start = out.len();
        out.resize(start + ULTRA_LENGTH, 0);
        for (index, sensor) in self.sensors.words() {
            let raw = to_scale(self.flex.get(sensor).unwrap_or(0.0), USB_SCALE);
            out[start + 2 * index..start + 2 * index + 2].copy_from_slice(&raw.to_be_bytes());
        }
    }
}
