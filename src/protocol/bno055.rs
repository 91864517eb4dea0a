//! Bosch BNO055 over UART at 115200 baud: register reads and writes on request. From its data sheet.
//!
//! Read: `AA 01`, register, length; the response is `BB`, length, data. Write: `AA 00`, register, length, data; the
//! response is `EE` and a status, 1 for success. A failed read is also answered with `EE` and a status. Status 7 (bus
//! overrun) is common on a healthy line; the command is repeated.
//!
//! The orientation is at register 20: w, x, y, z, little-endian words scaled by 2¹⁴. It is zero until a fusion mode is
//! set (register 3D, mode 0C).

use super::framing::{BOUNDARY_EVIDENCE, FramingFault, PacketLayout, PacketStart};
use super::reading::{Reading, rotation};
use super::{Emulated, Encoder, Host};
use crate::math::Quat;

const COMMAND: u8 = 0xAA;
const WRITE: u8 = 0x00;
const READ: u8 = 0x01;
const DATA: u8 = 0xBB;
const STATUS: u8 = 0xEE;
const DONE: u8 = 0x01;
const WRONG_START: u8 = 0x06;
const BUSY: u8 = 0x07;
const TOO_LONG: u8 = 0x08;
const TOO_SHORT: u8 = 0x09;
const LAST_STATUS: u8 = 0x0A;
const MODE: u8 = 0x3D;
const FUSION: u8 = 0x0C;
const IDENTITY: u8 = 0x00;
const CHIP: u8 = 0xA0;
const QUATERNION_REGISTER: u8 = 0x20;
const ORIENTATION_LENGTH: u8 = 8;
const ANSWER_LENGTH: usize = 10;
const QUATERNION_SCALE: f64 = 16384.0;

const SET_MODE: [u8; 5] = [COMMAND, WRITE, MODE, 1, FUSION];
const ASK: [u8; 4] = [COMMAND, READ, QUATERNION_REGISTER, ORIENTATION_LENGTH];

fn words(packet: &[u8]) -> [f64; 4] {
    std::array::from_fn(|i| f64::from(i16::from_le_bytes([packet[2 * i + 2], packet[2 * i + 3]])) / QUATERNION_SCALE)
}

/// Decoder of the sensor's responses.
#[derive(Default)]
pub(super) struct Bno055Layout {
    /// The last error status other than busy, and whether an orientation followed it.
    error: Option<u8>,
    is_asleep: bool,
}

impl PacketLayout for Bno055Layout {
    fn length(&self) -> usize {
        ANSWER_LENGTH
    }

    fn front(&self, bytes: &[u8]) -> PacketStart {
        match bytes {
            [] | [DATA] | [STATUS] => PacketStart::Partial,
            [STATUS, DONE..=LAST_STATUS, ..] => PacketStart::Whole { length: 2, evidence: 1, likelihood: 0 },
            [DATA, ORIENTATION_LENGTH, ..] if bytes.len() < ANSWER_LENGTH => PacketStart::Partial,
            [DATA, ORIENTATION_LENGTH, ..] => {
                let words = words(bytes);
                let evidence = if rotation(words).is_some() { BOUNDARY_EVIDENCE } else { 1 };
                let plausible = evidence == BOUNDARY_EVIDENCE || words == [0.0; 4];
                let whole = PacketStart::Whole { length: ANSWER_LENGTH, evidence, likelihood: 0 };
                if plausible { whole } else { PacketStart::Wrong(FramingFault::Header) }
            }
            _ => PacketStart::Wrong(FramingFault::Header),
        }
    }

    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool {
        if packet[0] == STATUS {
            self.error = Some(packet[1]).filter(|status| *status != DONE && *status != BUSY);
        } else {
            let rotation = rotation(words(packet));
            (self.error, self.is_asleep) = (None, rotation.is_none());
            out.extend(rotation.map(Reading::Orientation));
        }
        true
    }

    fn reset(&mut self) {
        *self = Self::default();
    }

    fn hint(&self) -> Option<String> {
        let asleep = || "the sensor sends no orientation: it is not in a fusion mode".into();
        let error = self.error.map(|status| format!("the sensor rejects commands with status {status:#04x}"));
        error.or_else(|| self.is_asleep.then(asleep))
    }

    fn expectation(&self) -> String {
        "check that it is a BNO055 set to UART, at 115200 baud".into()
    }
}

/// Encodes the orientation as the response to a read.
pub(super) struct Bno055Encoder(Quat);

impl Default for Bno055Encoder {
    fn default() -> Self {
        Self(Quat::identity())
    }
}

impl Encoder for Bno055Encoder {
    fn set(&mut self, reading: &Reading) {
        if let Reading::Orientation(orientation) = reading {
            self.0 = *orientation;
        }
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        out.extend([DATA, ORIENTATION_LENGTH]);
        for value in [self.0.w, self.0.i, self.0.j, self.0.k] {
            out.extend(((value * QUATERNION_SCALE).round() as i16).to_le_bytes());
        }
    }
}

/// Sets the mode, then polls the orientation. A command answered with busy is repeated.
pub(super) struct Bno055Host {
    is_running: bool,
    response: Vec<u8>,
}

impl Bno055Host {
    pub(super) fn new() -> Self {
        Self { is_running: false, response: Vec::new() }
    }

    fn command(&self) -> Vec<u8> {
        if self.is_running { ASK.into() } else { SET_MODE.into() }
    }

    /// Whether the response is complete; its content is not checked.
    fn is_answered(&mut self, byte: u8) -> bool {
        self.response.push(byte);
        match *self.response.as_slice() {
            [STATUS | DATA] => false,
            [STATUS, status] => {
                self.is_running |= status == DONE;
                true
            }
            [DATA, length, ..] if length <= 128 => self.response.len() == 2 + usize::from(length),
            _ => {
                self.response.clear();
                false
            }
        }
    }
}

impl Host for Bno055Host {
    fn start(&mut self) -> Vec<Vec<u8>> {
        *self = Self::new();
        vec![self.command()]
    }

    fn receive(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        let mut is_answered = false;
        for &byte in bytes {
            if self.is_answered(byte) {
                self.response.clear();
                is_answered = true;
            }
        }
        // One request at a time, regardless of the number of responses.
        is_answered.then(|| self.command()).into_iter().collect()
    }

    fn silence(&mut self) -> Vec<Vec<u8>> {
        self.response.clear();
        vec![self.command()]
    }

    fn stop(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// Emulated sensor. Like the real one it is sometimes busy.
pub(super) struct EmulatedBno055 {
    encoder: Bno055Encoder,
    mode: u8,
    command: Vec<u8>,
    commands: u32,
}

/// The sensor is busy at every n-th command.
const BUSY_EVERY: u32 = 16;

impl EmulatedBno055 {
    pub(super) fn new() -> Self {
        Self { encoder: Bno055Encoder::default(), mode: 0, command: Vec::new(), commands: 0 }
    }

    /// Response to the command so far; `None` while it is incomplete.
    fn response(&mut self) -> Option<Vec<u8>> {
        let (direction, register, length) = match *self.command.as_slice() {
            [COMMAND] | [COMMAND, READ | WRITE] | [COMMAND, READ | WRITE, _] => return None,
            [COMMAND, direction @ (READ | WRITE), register, length, ..] => (direction, register, length),
            _ => return Some(vec![STATUS, WRONG_START]),
        };
        if length == 0 || length > 128 {
            return Some(vec![STATUS, if length == 0 { TOO_SHORT } else { TOO_LONG }]);
        }
        if direction == WRITE && self.command.len() < 4 + usize::from(length) {
            return None;
        }
        self.commands = self.commands.wrapping_add(1);
        if self.commands.is_multiple_of(BUSY_EVERY) {
            return Some(vec![STATUS, BUSY]);
        }
        if direction == READ {
            return Some(self.registers(register, length));
        }
        let offset = usize::from(MODE.wrapping_sub(register));
        self.mode = self.command[4..].get(offset).copied().unwrap_or(self.mode);
        Some(vec![STATUS, DONE])
    }

    fn registers(&mut self, first: u8, length: u8) -> Vec<u8> {
        let mut orientation = Vec::new();
        self.encoder.packet(&mut orientation);
        let fuses = self.mode & 0x0F >= 0x08;
        let register = |address: u8| match address {
            IDENTITY => CHIP,
            MODE => self.mode,
            0x20..0x28 if fuses => orientation[usize::from(address - QUATERNION_REGISTER) + 2],
            _ => 0,
        };
        let values = (0..length).map(|offset| register(first.wrapping_add(offset)));
        [DATA, length].into_iter().chain(values).collect()
    }
}

impl Emulated for EmulatedBno055 {
    fn set(&mut self, reading: &Reading) {
        self.encoder.set(reading);
    }

    fn receive(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut responses = Vec::new();
        for &byte in bytes {
            self.command.push(byte);
            if let Some(response) = self.response() {
                responses.extend(response);
                self.command.clear();
            }
        }
        responses
    }

    fn sample(&mut self) -> Vec<u8> {
        Vec::new()
    }
}
