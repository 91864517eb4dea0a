//! 5DT Data Glove 5: five flex sensors and two of tilt. From the manufacturer's manual, version 2.00, appendix C.
//!
//! A packet has nine bytes, `80`, five of flex, pitch, roll, checksum. The right glove sends the thumb first, the left the
//! little finger. Flex grows as the finger bends; tilt is level at 128 and spans 180° over the byte. Some gloves send `55`
//! after each packet; it is also the answer to a reset.
//!
//! The manual does not say what the checksum is. Known programs disagree: the XOR of the seven values (VR Juggler), their
//! sum, or not looked at (VRPN).
//!
//! Information has 32 bytes: `BR`, major and minor version, capabilities (low byte: bit 0 right, bit 6 left; high byte: bit 4
//! tilt), ten reserved, sixteen of name filled up with zeros.
//!
//! The wireless glove sends, unasked, the nine bytes and a tenth for the hand: `01` right, `40` left.
//!
//! A level glove sends the header's byte as tilt. Worse, while the hand is still, packets read from there on have a right XOR
//! too, since the XOR of nine bytes in a ring does not know where it began. So every beginning that looks right is compared
//! with the others, and the one under which the glove is nearest to level is taken. What even that leaves open, when fingers happen to
//! send the same byte, the next movement settles.

use std::f64::consts::PI;

use super::super::framing::{ENOUGH, Fault, Front, Layout};
use super::super::reading::{DeviceInfo, FlexReading, Reading, Sensor};
use super::super::{Encoder, from_scale, to_scale};
use super::wrong_hand;
use crate::tracking::{Finger, Side};

const HEADER: u8 = 0x80;
const LENGTH: usize = 9;
const LEVEL: u8 = 128;
/// The answer to a reset, and what some gloves send after a packet.
pub(super) const MARK: u8 = 0x55;
pub(super) const INFO_LENGTH: usize = 32;
const RIGHT: u8 = 0x01;
const LEFT: u8 = 0x40;
const HAS_TILT: u8 = 0x10;

/// What the last byte of a packet is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Checksum {
    /// The XOR of the seven values.
    #[default]
    Xor,
    /// Their sum, modulo 256.
    Sum,
    /// Unknown: not looked at. Noise that happens to look like packets may then cost more than two: a level glove can be
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
        self == Self::None || packet[LENGTH - 1] == self.of(&packet[1..LENGTH - 1])
    }
}

/// How a wired glove is asked for values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GloveMode {
    /// It is told once and goes on by itself.
    #[default]
    Stream,
    /// It is asked for each.
    Report,
}

/// Whether the last byte is a checksum of any kind.
fn is_summed(packet: &[u8]) -> bool {
    Checksum::Xor.holds(packet) || Checksum::Sum.holds(packet)
}

/// What stands at the front, if it is nine bytes of values.
fn nine(bytes: &[u8], checksum: Checksum) -> Front {
    match bytes.first() {
        None => Front::Partial,
        Some(&HEADER) if bytes.len() < LENGTH => Front::Partial,
        Some(&HEADER) if checksum.holds(bytes) => {
            let level = [0, 1, 3][bytes[6..8].iter().filter(|tilt| **tilt == LEVEL).count()];
            let summed = if checksum == Checksum::None && is_summed(bytes) { 6 } else { 0 };
            Front::Whole { length: LENGTH, evidence: 1, likelihood: level + summed }
        }
        Some(&HEADER) if is_summed(bytes) => Front::Wrong(Fault::OtherChecksum),
        Some(&HEADER) => Front::Wrong(Fault::Checksum),
        Some(_) => Front::Wrong(Fault::Header),
    }
}

fn other_checksum(checksum: Checksum) -> String {
    match checksum {
        Checksum::Sum => {
            "the packets end in the XOR of the values and not in their sum: set the checksum to xor".into()
        }
        _ => "the packets end in the sum of the values and not in their XOR: set the checksum to sum".into(),
    }
}

/// The fingers in the order of the wire.
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

/// The packets of the wired glove.
pub(in super::super) struct FiveLayout {
    side: Side,
    checksum: Checksum,
    told: Option<Side>,
    /// Packets in a row that ended in a checksum though none is asked for.
    summed: u32,
}

/// So many and the next is expected to end in one too: if not, packets begin elsewhere.
const SUMMED: u32 = 2;

impl FiveLayout {
    pub(in super::super) fn new(side: Side, checksum: Checksum) -> Self {
        Self { side, checksum, told: None, summed: 0 }
    }
}

impl Layout for FiveLayout {
    fn length(&self) -> usize {
        LENGTH
    }

    fn is_ambiguous(&self) -> bool {
        true
    }

    fn front(&self, bytes: &[u8]) -> Front {
        match bytes {
            [MARK, ..] => Front::Whole { length: 1, evidence: 0, likelihood: 0 },
            [b'B'] => Front::Partial,
            [b'B', b'R', ..] if bytes.len() < INFO_LENGTH => Front::Partial,
            [b'B', b'R', ..] if read_info(bytes).is_some() => {
                Front::Whole { length: INFO_LENGTH, evidence: ENOUGH, likelihood: 20 }
            }
            [HEADER, ..] if self.summed >= SUMMED && bytes.len() >= LENGTH && !is_summed(bytes) => {
                Front::Wrong(Fault::Header)
            }
            _ => nine(bytes, self.checksum),
        }
    }

    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool {
        match packet.len() {
            LENGTH => {
                let counts = self.checksum == Checksum::None && is_summed(packet);
                self.summed = if counts { self.summed.saturating_add(1) } else { 0 };
                read_nine(packet, self.side, out);
            }
            INFO_LENGTH => {
                let info = read_info(packet);
                self.told = info.as_ref().and_then(|info| info.side);
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
        (self.told, self.summed) = (None, 0);
    }

    fn hint(&self) -> Option<String> {
        wrong_hand(self.told, self.side)
    }

    fn expectation(&self) -> String {
        "is it a wired 5DT Data Glove 5, and the speed 19200 baud (a wireless one has 9600)?".into()
    }

    fn other_checksum(&self) -> String {
        other_checksum(self.checksum)
    }
}

/// What the 32 bytes of information say; `None` if they cannot be such.
fn read_info(bytes: &[u8]) -> Option<DeviceInfo> {
    let side = match bytes[4] & (RIGHT | LEFT) {
        RIGHT => Side::Right,
        LEFT => Side::Left,
        _ => return None,
    };
    let name = &bytes[16..INFO_LENGTH];
    let end = name.iter().position(|b| *b == 0).unwrap_or(name.len());
    let (name, filling) = name.split_at(end);
    let is_text = name.iter().all(|b| (b' '..=b'~').contains(b)) && filling.iter().all(|b| *b == 0);
    is_text.then(|| DeviceInfo {
        model: name.iter().map(|b| char::from(*b)).collect(),
        firmware: format!("{}.{}", bytes[2], bytes[3]),
        side: Some(side),
    })
}

/// The values of a glove of five fingers, as bytes.
pub(in super::super) struct FiveEncoder {
    side: Side,
    checksum: Checksum,
    /// Whether a packet is followed by the mark.
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
        out.push(HEADER);
        let raw = |finger| to_scale(self.flex.get(Sensor::Curl(finger)).unwrap_or(0.0), 255) as u8;
        out.extend(fingers(self.side).map(raw));
        out.extend(self.tilt);
        out.push(self.checksum.of(&out[start + 1..]));
    }

    /// The 32 bytes of information.
    pub(super) fn info(&self) -> Vec<u8> {
        let hand = if self.side == Side::Right { RIGHT } else { LEFT };
        let mut info = vec![b'B', b'R', 2, 0, hand, HAS_TILT];
        info.resize(16, 0);
        info.extend(b"5DT DataGlove 5");
        info.resize(INFO_LENGTH, 0);
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

/// The packets of the wireless glove.
pub(in super::super) struct WirelessLayout {
    side: Side,
    checksum: Checksum,
    told: Option<Side>,
}

impl WirelessLayout {
    pub(in super::super) fn new(side: Side, checksum: Checksum) -> Self {
        Self { side, checksum, told: None }
    }
}

impl Layout for WirelessLayout {
    fn length(&self) -> usize {
        LENGTH + 1
    }

    fn is_ambiguous(&self) -> bool {
        true
    }

    fn front(&self, bytes: &[u8]) -> Front {
        match nine(bytes, self.checksum) {
            Front::Whole { evidence, likelihood, .. } => match bytes.get(LENGTH) {
                None => Front::Partial,
                Some(&RIGHT | &LEFT) => Front::Whole { length: LENGTH + 1, evidence, likelihood },
                Some(_) => Front::Wrong(Fault::Header),
            },
            other => other,
        }
    }

    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool {
        read_nine(packet, self.side, out);
        let side = if packet[LENGTH] == RIGHT { Side::Right } else { Side::Left };
        if self.told != Some(side) {
            self.told = Some(side);
            let model = "5DT Data Glove 5-W".into();
            out.push(Reading::Info(DeviceInfo { model, side: Some(side), ..DeviceInfo::default() }));
        }
        true
    }

    fn reset(&mut self) {
        self.told = None;
    }

    fn hint(&self) -> Option<String> {
        wrong_hand(self.told, self.side)
    }

    fn expectation(&self) -> String {
        "is it a wireless 5DT Data Glove 5-W, and the speed 9600 baud (a wired one has 19200)?".into()
    }

    fn other_checksum(&self) -> String {
        other_checksum(self.checksum)
    }
}

/// The values of a wireless glove, as bytes.
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
        out.push(if self.0.side == Side::Right { RIGHT } else { LEFT });
    }
}
