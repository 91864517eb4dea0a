//! 5DT Data Glove 5: five flex sensors and two tilt sensors. From the manufacturer's manual, version 2.00, appendix C.
//!
//! A packet has nine bytes: `80`, five flex values, pitch, roll, checksum. The right glove sends the thumb first, the
//! left glove the little finger. Flex values increase with the bend; tilt is 128 when level and spans 180° over the
//! byte. Some gloves send `55` after each packet; it is also the response to a reset.
//!
//! The manual does not define the checksum. Known programs disagree: the XOR of the seven values (VR Juggler), their
//! sum, or ignored (VRPN).
//!
//! The information has 32 bytes: `BR`, major and minor version, capabilities (low byte: bit 0 right, bit 6 left; high
//! byte: bit 4 tilt), ten reserved bytes, and a zero-padded name of sixteen bytes.
//!
//! The wireless glove streams without a request: the nine bytes and a tenth for the hand, `01` right, `40` left.
//!
//! A level glove sends the header byte as its tilt. While the hand is still, packets read from that offset also have a
//! correct XOR, because the XOR of nine cyclic bytes does not depend on the start. So all plausible offsets are
//! compared, and the one at which the glove is closest to level is taken. If finger values equal the header byte too,
//! the offset stays ambiguous until the hand moves.

use std::f64::consts::PI;

use super::super::framing::{BOUNDARY_EVIDENCE, FramingFault, PacketLayout, PacketStart};
use super::super::reading::{DeviceInfo, FlexReading, Reading, Sensor};
use super::super::{Encoder, from_scale, to_scale};
use super::wrong_hand;
use crate::tracking::{Finger, Side};

const FIVE_HEADER: u8 = 0x80;
const FIVE_LENGTH: usize = 9;
const LEVEL: u8 = 128;
/// Response to a reset; also sent after each packet by some gloves.
pub(super) const MARK: u8 = 0x55;
pub(super) const FIVE_INFO_LENGTH: usize = 32;
const RIGHT_BIT: u8 = 0x01;
const LEFT_BIT: u8 = 0x40;
const HAS_TILT: u8 = 0x10;

/// Checksum of a packet (its last byte).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksum {
    /// The XOR of the seven values.
    #[default]
    Xor,
    /// Their sum, modulo 256.
    Sum,
    /// Unknown and ignored. Noise that resembles packets may then cost more than two packets: a level glove can be
    /// misread until it tilts.
    None,
}

impl Checksum {
    fn of(self, values: &[u8]) -> u8 {
        match self {
            Self::Xor | Self::None => values.iter().fold(0, |sum, v| sum ^ v),
            Self::Sum => values.iter().fold(0, |sum, v| sum.wrapping_add(*v)),
        }
    }

    fn holds(self, packet: &[u8]) -> bool {
        self == Self::None || packet[FIVE_LENGTH - 1] == self.of(&packet[1..FIVE_LENGTH - 1])
    }
}

/// How values are requested from a wired glove.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GloveMode {
    /// Streaming after one command.
    #[default]
    Stream,
    /// One request per packet.
    Report,
}

/// Whether the last byte is any known checksum.
fn is_summed(packet: &[u8]) -> bool {
    Checksum::Xor.holds(packet) || Checksum::Sum.holds(packet)
}

/// Parses nine bytes of values at the start of the buffer.
fn nine(bytes: &[u8], checksum: Checksum) -> PacketStart {
    match bytes.first() {
        None => PacketStart::Partial,
        Some(&FIVE_HEADER) if bytes.len() < FIVE_LENGTH => PacketStart::Partial,
        Some(&FIVE_HEADER) if checksum.holds(bytes) => {
            let level = [0, 1, 3][bytes[6..8].iter().filter(|tilt| **tilt == LEVEL).count()];
            let summed = if checksum == Checksum::None && is_summed(bytes) { 6 } else { 0 };
            PacketStart::Whole { length: FIVE_LENGTH, evidence: 1, likelihood: level + summed }
        }
        Some(&FIVE_HEADER) if is_summed(bytes) => PacketStart::Wrong(FramingFault::OtherChecksum),
        Some(&FIVE_HEADER) => PacketStart::Wrong(FramingFault::Checksum),
        Some(_) => PacketStart::Wrong(FramingFault::Header),
    }
}

fn other_checksum(checksum: Checksum) -> String {
    match checksum {
        Checksum::Sum => {
            "the packets end with the XOR of the values instead of their sum: set the checksum to xor".into()
        }
        _ => "the packets end with the sum of the values instead of their XOR: set the checksum to sum".into(),
    }
}

/// The fingers in wire order.
fn fingers(side: Side) -> [Finger; 5] {
    let mut fingers = Finger::ALL;
    if side == Side::Left {
        fingers.reverse();
    }
    fingers
}

fn read_nine(packet: &[u8], side: Side, out: &mut Vec<Reading>) {
    let flex = fingers(side).into_iter().zip(&packet[1..6]);
    out.push(Reading::Flex(FlexReading::of(
        flex.map(|(finger, raw)| (Sensor::Curl(finger), from_scale((*raw).into(), 255))),
    )));
    let tilt = |raw: u8| (f64::from(raw) - f64::from(LEVEL)) * PI / 255.0;
    out.push(Reading::Tilt { pitch: tilt(packet[6]), roll: tilt(packet[7]) });
}

/// Packet layout of the wired glove.
pub(in super::super) struct FiveLayout {
    side: Side,
    checksum: Checksum,
    reported: Option<Side>,
    /// Consecutive packets with a checksum although none is configured.
    summed: u32,
}

/// After this many, a checksum is expected; a mismatch means a wrong offset.
const SUMMED: u32 = 2;

impl FiveLayout {
    pub(in super::super) fn new(side: Side, checksum: Checksum) -> Self {
        Self { side, checksum, reported: None, summed: 0 }
    }
}

impl PacketLayout for FiveLayout {
    fn length(&self) -> usize {
        FIVE_LENGTH
    }

    fn is_ambiguous(&self) -> bool {
        true
    }

    fn front(&self, bytes: &[u8]) -> PacketStart {
        match bytes {
            [MARK, ..] => PacketStart::Whole { length: 1, evidence: 0, likelihood: 0 },
            [b'B'] => PacketStart::Partial,
            [b'B', b'R', ..] if bytes.len() < FIVE_INFO_LENGTH => PacketStart::Partial,
            [b'B', b'R', ..] if read_info(bytes).is_some() => {
                PacketStart::Whole { length: FIVE_INFO_LENGTH, evidence: BOUNDARY_EVIDENCE, likelihood: 20 }
            }
            [FIVE_HEADER, ..] if self.summed >= SUMMED && bytes.len() >= FIVE_LENGTH && !is_summed(bytes) => {
                PacketStart::Wrong(FramingFault::Header)
            }
            _ => nine(bytes, self.checksum),
        }
    }

    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool {
        match packet.len() {
            FIVE_LENGTH => {
                let counts = self.checksum == Checksum::None && is_summed(packet);
                self.summed = if counts { self.summed.saturating_add(1) } else { 0 };
                read_nine(packet, self.side, out);
            }
            FIVE_INFO_LENGTH => {
                let info = read_info(packet);
                self.reported = info.as_ref().and_then(|info| info.side);
                out.extend(info.map(Reading::Info));
            }
            _ => return false,
        }
        true
    }

    fn lost(&mut self) {
        self.summed = 0;
    }

    fn reset(&mut self) {
        (self.reported, self.summed) = (None, 0);
    }

    fn hint(&self) -> Option<String> {
        wrong_hand(self.reported, self.side)
    }

    fn expectation(&self) -> String {
        "check that it is a wired 5DT Data Glove 5, at 19200 baud (the wireless one uses 9600)".into()
    }

    fn other_checksum(&self) -> String {
        other_checksum(self.checksum)
    }
}

/// Parses the 32 bytes of information; `None` if they are invalid.
fn read_info(bytes: &[u8]) -> Option<DeviceInfo> {
    let side = match bytes[4] & (RIGHT_BIT | LEFT_BIT) {
        RIGHT_BIT => Side::Right,
        LEFT_BIT => Side::Left,
        _ => return None,
    };
    let name = &bytes[16..FIVE_INFO_LENGTH];
    let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
    let (name, filling) = name.split_at(end);
    let is_text = name.iter().all(|b| (b' '..=b'~').contains(b)) && filling.iter().all(|b| *b == 0);
    is_text.then(|| DeviceInfo {
        model: name.iter().map(|b| char::from(*b)).collect(),
        firmware: format!("{}.{}", bytes[2], bytes[3]),
        side: Some(side),
    })
}

/// Encoder of the wired glove.
pub(in super::super) struct FiveEncoder {
    side: Side,
    checksum: Checksum,
    /// Whether a mark follows each packet.
    tail: bool,
    flex: FlexReading,
    tilt: [u8; 2],
}

impl FiveEncoder {
    pub(in super::super) fn new(side: Side, checksum: Checksum, tail: bool) -> Self {
        Self { side, checksum, tail, flex: FlexReading::default(), tilt: [LEVEL; 2] }
    }

    pub(super) fn nine(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.push(FIVE_HEADER);
        let raw = |finger| to_scale(self.flex.get(Sensor::Curl(finger)).unwrap_or(0.0), 255) as u8;
        out.extend(fingers(self.side).map(raw));
        out.extend(self.tilt);
        out.push(self.checksum.of(&out[start + 1..]));
    }

    /// The 32 bytes of information.
    pub(super) fn info(&self) -> Vec<u8> {
        let hand = if self.side == Side::Right { RIGHT_BIT } else { LEFT_BIT };
        let mut info = vec![b'B', b'R', 2, 0, hand, HAS_TILT];
        info.resize(16, 0);
        info.extend(b"5DT DataGlove 5");
        info.resize(FIVE_INFO_LENGTH, 0);
        info
    }
}

impl Encoder for FiveEncoder {
    fn set(&mut self, reading: &Reading) {
        let raw = |angle: f64| (f64::from(LEVEL) + angle * 255.0 / PI).round() as u8;
        match reading {
            Reading::Flex(flex) => self.flex.update(flex),
            Reading::Tilt { pitch, roll } => self.tilt = [raw(*pitch), raw(*roll)],
            _ => {}
        }
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        self.nine(out);
        if self.tail {
            out.push(MARK);
        }
    }
}

/// Packet layout of the wireless glove.
pub(in super::super) struct WirelessLayout {
    side: Side,
    checksum: Checksum,
    reported: Option<Side>,
}

impl WirelessLayout {
    pub(in super::super) fn new(side: Side, checksum: Checksum) -> Self {
        Self { side, checksum, reported: None }
    }
}

impl PacketLayout for WirelessLayout {
    fn length(&self) -> usize {
        FIVE_LENGTH + 1
    }

    fn is_ambiguous(&self) -> bool {
        true
    }

    fn front(&self, bytes: &[u8]) -> PacketStart {
        match nine(bytes, self.checksum) {
            PacketStart::Whole { evidence, likelihood, .. } => match bytes.get(FIVE_LENGTH) {
                None => PacketStart::Partial,
                Some(&RIGHT_BIT | &LEFT_BIT) => PacketStart::Whole { length: FIVE_LENGTH + 1, evidence, likelihood },
                Some(_) => PacketStart::Wrong(FramingFault::Header),
            },
            other => other,
        }
    }

    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool {
        read_nine(packet, self.side, out);
        let side = if packet[FIVE_LENGTH] == RIGHT_BIT { Side::Right } else { Side::Left };
        if self.reported != Some(side) {
            self.reported = Some(side);
            let model = "5DT Data Glove 5-W".into();
            out.push(Reading::Info(DeviceInfo { model, side: Some(side), ..DeviceInfo::default() }));
        }
        true
    }

    fn reset(&mut self) {
        self.reported = None;
    }

    fn hint(&self) -> Option<String> {
        wrong_hand(self.reported, self.side)
    }

    fn expectation(&self) -> String {
        "check that it is a wireless 5DT Data Glove 5-W, at 9600 baud (the wired one uses 19200)".into()
    }

    fn other_checksum(&self) -> String {
        other_checksum(self.checksum)
    }
}

/// Encoder of the wireless glove.
pub(in super::super) struct WirelessEncoder(FiveEncoder);

impl WirelessEncoder {
    pub(in super::super) fn new(side: Side, checksum: Checksum) -> Self {
        Self(FiveEncoder::new(side, checksum, false))
    }
}

impl Encoder for WirelessEncoder {
    fn set(&mut self, reading: &Reading) {
        self.0.set(reading);
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        self.0.nine(out);
        out.push(if self.0.side == Side::Right { RIGHT_BIT } else { LEFT_BIT });
    }
}
