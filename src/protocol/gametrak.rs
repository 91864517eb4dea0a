//! GameTrak: two retractable strings, each guided by a stick that measures its direction. USB 14B7:0982, reports of 16
//! bytes at about 75 Hz: six little-endian 12-bit words, left x, y, length, right x, y, length; then a hat in the low
//! nibble and twelve buttons above it; two more bytes, where one library finds left x. From published drivers.
//!
//! Some units are silent until the host has written `Gametrak` and then `45` with a key, and stop again unless they
//! receive `46` with the next key about every hundred reports: see [`next_key`].
//!
//! A gamepad interface shows it as six axes: see [`axis_from_joystick`] and [`position`].

use super::packets::Packets;
use super::reading::{Button, Reading};
use super::{Emulated, Encoder, Host};
use crate::math::Vec3;
use crate::tracking::Side;

const REPORT_LENGTH: usize = 16;
/// Maximum value of an axis.
pub const AXIS_MAXIMUM: u16 = 4095;
const MIDDLE: f64 = 2048.0;
/// Stick angle at the end of the scale, degrees.
const LEAN: f64 = 34.7;
/// Maximum string length, m.
const STRING: f64 = 3.065;
/// Distance of each string from the centre of the base, m.
const APART: f64 = 0.065;
const BUTTON_BYTE: u8 = 12;
const HELLO: &[u8] = b"Gametrak";
const FIRST_REPLY: u8 = 0x45;
const NEXT: u8 = 0x46;
const FIRST_KEY: u32 = 0x23;
/// Reports between two keys.
const KEY_EVERY: u32 = 100;
/// Reports after which an emulated unit without a key stops.
const KEYLESS_REPORTS: u32 = 3 * KEY_EVERY;

/// Position of the end of a string, m, from its three axes: right, up, and towards the user, from the centre of the
/// base. The third axis is largest when the string is retracted.
pub fn position(side: Side, [x, y, pulled]: [f64; 3]) -> Vec3 {
    let lean = |axis: f64| (axis - MIDDLE) / MIDDLE * LEAN.to_radians();
    let (sideways, forwards) = (lean(x), -lean(y));
    let length = STRING * (1.0 - pulled / (2.0 * MIDDLE));
    let direction = Vec3::new(sideways.sin() * forwards.cos(), sideways.cos() * forwards.cos(), forwards.sin());
    length * direction + Vec3::new(offset(side), 0.0, 0.0)
}

fn offset(side: Side) -> f64 {
    if side == Side::Left { -APART } else { APART }
}

/// The axis values closest to a position.
fn axes(side: Side, position: &Vec3) -> [u16; 3] {
    let string = position - Vec3::new(offset(side), 0.0, 0.0);
    let length = string.norm();
    let (sideways, forwards) = (string.x.atan2(string.y), (string.z / length).clamp(-1.0, 1.0).asin());
    let axis = |lean: f64| MIDDLE * (1.0 + lean / LEAN.to_radians());
    // The cast turns NaN into zero: the direction of a string without length is irrelevant.
    [axis(sideways), axis(-forwards), 2.0 * MIDDLE * (1.0 - length / STRING)]
        .map(|axis| axis.round().clamp(0.0, f64::from(AXIS_MAXIMUM)) as u16)
}

/// The axis value for a gamepad axis from -1 to 1.
pub fn axis_from_joystick(value: f64) -> f64 {
    (value.clamp(-1.0, 1.0) + 1.0) / 2.0 * f64::from(AXIS_MAXIMUM)
}

/// The successor of a 24-bit key. The first key is 23; the low byte is sent.
pub fn next_key(key: u32) -> u32 {
    let lowest = key & 1;
    let second = ((key >> 15) ^ (key >> 16)) & 2;
    let low = ((key << 2) ^ (key >> 16)) & 0xFC;
    let high = (key << 7) & 0xFF_FF00;
    high | low | second | lowest
}

/// Report layout of the device.
pub(super) struct GametrakReports {
    left_x_at_end: bool,
    buttons: u16,
}

impl GametrakReports {
    pub(super) fn new(left_x_at_end: bool) -> Self {
        Self { left_x_at_end, buttons: 0 }
    }
}

impl Packets for GametrakReports {
    fn read(&mut self, report: &[u8], out: &mut Vec<Reading>) -> bool {
        if report.len() != REPORT_LENGTH {
            return false;
        }
        let word = |at: usize| u16::from_le_bytes([report[at], report[at + 1]]);
        let mut axes: [u16; 6] = std::array::from_fn(|i| word(2 * i));
        if self.left_x_at_end {
            axes[0] = word(14);
        }
        if axes.iter().any(|axis| *axis > AXIS_MAXIMUM) {
            return false;
        }
        for (side, axes) in [(Side::Left, &axes[..3]), (Side::Right, &axes[3..])] {
            let position = position(side, [axes[0], axes[1], axes[2]].map(f64::from));
            out.push(Reading::Position { side, position });
        }
        let buttons = word(12) >> 4;
        for number in (0..BUTTON_BYTE).filter(|number| (buttons ^ self.buttons) >> number & 1 == 1) {
            let pressed = buttons >> number & 1 == 1;
            out.push(Reading::Button { button: Button::Numbered(number), pressed });
        }
        self.buttons = buttons;
        true
    }

    fn reset(&mut self) {
        self.buttons = 0;
    }

    fn hint(&self) -> Option<String> {
        None
    }

    fn expectation(&self) -> String {
        "check that it is a GameTrak with reports of 16 bytes and axes up to 4095, and whether left x is at the end"
            .into()
    }
}

/// Encoder of two positions.
pub(super) struct GametrakEncoder {
    left_x_at_end: bool,
    axes: [[u16; 3]; 2],
    buttons: u16,
}

impl GametrakEncoder {
    pub(super) fn new(left_x_at_end: bool) -> Self {
        Self { left_x_at_end, axes: [[2048, 2048, AXIS_MAXIMUM]; 2], buttons: 0 }
    }
}

impl Encoder for GametrakEncoder {
    fn set(&mut self, reading: &Reading) {
        match reading {
            Reading::Position { side, position } => self.axes[*side as usize] = axes(*side, position),
            Reading::Button { button: Button::Numbered(number @ 0..BUTTON_BYTE), pressed } => {
                self.buttons = self.buttons & !(1 << number) | u16::from(*pressed) << number;
            }
            _ => {}
        }
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        let last = if self.left_x_at_end { self.axes[0][0] } else { 0 };
        let words = self.axes.into_iter().flatten().chain([self.buttons << 4, last]);
        out.extend(words.flat_map(u16::to_le_bytes));
    }
}

/// Wakes the device and keeps it awake.
#[derive(Default)]
pub(super) struct GametrakHost {
    key: u32,
    reports: u32,
}

impl Host for GametrakHost {
    fn start(&mut self) -> Vec<Vec<u8>> {
        *self = Self { key: FIRST_KEY, reports: 0 };
        vec![HELLO.into(), vec![FIRST_REPLY, FIRST_KEY as u8]]
    }

    fn receive(&mut self, _: &[u8]) -> Vec<Vec<u8>> {
        self.reports += 1;
        if self.reports < KEY_EVERY {
            return Vec::new();
        }
        (self.key, self.reports) = (next_key(self.key), 0);
        vec![vec![NEXT, (self.key & 0xFF) as u8]]
    }

    fn silence(&mut self) -> Vec<Vec<u8>> {
        self.start()
    }

    fn stop(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// Emulated device of the kind that must be woken.
pub(super) struct EmulatedGametrak {
    encoder: GametrakEncoder,
    was_greeted: bool,
    key: Option<u32>,
    /// Reports since the last valid key.
    reports: u32,
}

impl EmulatedGametrak {
    pub(super) fn new(encoder: GametrakEncoder) -> Self {
        Self { encoder, was_greeted: false, key: None, reports: 0 }
    }
}

impl Emulated for EmulatedGametrak {
    fn set(&mut self, reading: &Reading) {
        self.encoder.set(reading);
    }

    fn receive(&mut self, bytes: &[u8]) -> Vec<u8> {
        match *bytes {
            [FIRST_REPLY, key] if self.was_greeted && u32::from(key) == FIRST_KEY => {
                (self.key, self.reports) = (Some(FIRST_KEY), 0);
            }
            [NEXT, key] => {
                let expected = self.key.map(next_key);
                if expected.is_some_and(|expected| expected & 0xFF == u32::from(key)) {
                    (self.key, self.reports) = (expected, 0);
                }
            }
            _ => self.was_greeted |= bytes == HELLO,
        }
        Vec::new()
    }

    fn sample(&mut self) -> Vec<u8> {
        let mut report = Vec::new();
        if self.key.is_some() && self.reports < KEYLESS_REPORTS {
            self.reports += 1;
            self.encoder.packet(&mut report);
        }
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_follow_the_known_sequence() {
        let keys: Vec<u8> =
            std::iter::successors(Some(FIRST_KEY), |key| Some(next_key(*key))).map(|key| key as u8).take(9).collect();
        assert_eq!(keys, [0x23, 0x8D, 0x35, 0xDD, 0x15, 0xDB, 0xD9, 0xE3, 0x3B]);
    }

    #[test]
    fn a_report_becomes_positions() {
        let report = [0x31, 0x0f, 0x66, 0x0d, 0xd9, 0x0f, 0xd1, 0x01, 0xf2, 0x01, 0xd8, 0x0f, 0, 0, 0x4e, 0];
        let mut out = Vec::new();
        assert!(GametrakReports::new(false).read(&report, &mut out));
        let Some(Reading::Position { side: Side::Right, position: right }) = out.last() else { panic!("{out:?}") };
        assert!((right * 1e3 - Vec3::new(52.9, 24.0, 13.2)).norm() < 0.1, "{right}");
        assert_eq!(axes(Side::Right, right), [465, 498, 4056]);
        let Some(Reading::Position { side: Side::Left, position: left }) = out.first() else { panic!("{out:?}") };
        assert_eq!(axes(Side::Left, left), [3889, 3430, 4057]);
        assert!(GametrakReports::new(true).read(&report, &mut out), "left x is 78 then");
        let Some(Reading::Position { position, .. }) = out.get(2) else { panic!("{out:?}") };
        assert_eq!(axes(Side::Left, position), [0x4e, 3430, 4057]);
    }

    #[test]
    fn a_joystick_gives_the_same_axes() {
        assert_eq!([-1.0, 0.0, 1.0, 9.0].map(axis_from_joystick), [0.0, 2047.5, 4095.0, 4095.0]);
        let straight_up = position(Side::Left, [2048.0, 2048.0, 2048.0]);
        assert!((straight_up - Vec3::new(-0.065, 3.065 / 2.0, 0.0)).norm() < 1e-12);
    }

    #[test]
    fn an_invalid_report_is_rejected() {
        let mut out = Vec::new();
        assert!(!GametrakReports::new(false).read(&[0; 15], &mut out));
        assert!(!GametrakReports::new(false).read(&[0x10; 16], &mut out), "axes beyond twelve bits");
        assert_eq!(out, []);
    }

    #[test]
    fn the_device_sleeps_until_woken_and_again_without_keys() {
        let mut device = EmulatedGametrak::new(GametrakEncoder::new(false));
        assert!(device.sample().is_empty());
        let mut host = GametrakHost::default();
        host.start().iter().for_each(|write| assert!(device.receive(write).is_empty()));
        for _ in 0..1000 {
            let report = device.sample();
            assert_eq!(report.len(), REPORT_LENGTH);
            host.receive(&report).iter().for_each(|write| assert!(device.receive(write).is_empty()));
        }
        let awake = (0..1000).filter(|_| !device.sample().is_empty()).count() as u32;
        assert!(awake <= KEYLESS_REPORTS);
        device.receive(&[NEXT, 0xFF]);
        assert!(device.sample().is_empty(), "a wrong key");
        host.silence().iter().for_each(|write| assert!(device.receive(write).is_empty()));
        assert!(!device.sample().is_empty());
    }
}
