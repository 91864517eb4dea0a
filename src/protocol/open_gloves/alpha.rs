//! The alpha encoding: keys, each followed by its number, in any order.
//!
//! `A` to `E` are the curls from thumb to little finger; `(AB)` to `(EB)` their splay; `(AAA)` to `(EAD)` their joints:
//! finger, an A, joint from the wrist. `F` and `G` are the stick, `P` the trigger. Buttons are listed while they are
//! pressed, without a number: `H` stick, `I` trigger, `J` A, `K` B, `L` grab, `M` pinch, `N` menu, `O` calibrate. The
//! response to an information request is a line with `(ZV)` firmware, `(ZG)` type and `(ZH)` hand, 0 for left.

use super::super::Encoder;
use super::super::lines::LineFormat;
use super::super::reading::{DeviceInfo, FingerJoint, FlexReading, Reading, Sensor};
use super::super::{from_scale, to_scale};
use super::{Buttons, GLOVE_BUTTONS, beyond_scale, number, signed, to_signed};
use crate::tracking::{Finger, Side};

/// Twice the length of a line with every key and four-digit numbers, for future keys.
const MAX_LINE: usize = 640;

/// Line format of the alpha encoding.
pub(in super::super) struct AlphaFormat {
    maximum: u16,
    largest: u16,
    buttons: Buttons,
    joystick: [f64; 2],
}

/// Content of a line.
#[derive(Default)]
struct AlphaLine {
    flex: FlexReading,
    joystick: [Option<u16>; 2],
    trigger: Option<u16>,
    buttons: Buttons,
    info: Option<DeviceInfo>,
    /// Whether the line contains a known key other than information. Only then does a missing button count as released.
    has_values: bool,
    largest: u16,
}

impl AlphaFormat {
    pub(in super::super) fn new(maximum: u16) -> Self {
        Self { maximum: maximum.max(1), largest: 0, buttons: Buttons::default(), joystick: [0.0; 2] }
    }

    fn parse(&self, line: &str) -> Option<AlphaLine> {
        let mut parsed = AlphaLine::default();
        let mut rest = line.as_bytes();
        while !rest.is_empty() {
            let (key, after) = take_key(rest)?;
            let digits = after.iter().take_while(|b| b.is_ascii_digit()).count();
            let value = if digits == 0 { None } else { Some(number(&after[..digits])?) };
            parsed.note(key, value, self.maximum)?;
            rest = &after[digits..];
        }
        Some(parsed)
    }
}

/// Splits off the first key, without its brackets.
fn take_key(text: &[u8]) -> Option<(&[u8], &[u8])> {
    match text {
        [b'(', inside @ ..] => {
            let end = inside.iter().position(|b| *b == b')').filter(|end| (2..=4).contains(end))?;
            let (key, rest) = inside.split_at(end);
            key.iter().all(u8::is_ascii_uppercase).then(|| (key, &rest[1..]))
        }
        [b'A'..=b'Z', rest @ ..] => Some((&text[..1], rest)),
        _ => None,
    }
}

fn finger(letter: u8) -> Option<Finger> {
    Finger::ALL.get(usize::from(letter.checked_sub(b'A')?)).copied()
}

impl AlphaLine {
    /// Applies a key; `None` if its number is missing or unexpected. Unknown keys are ignored.
    fn note(&mut self, key: &[u8], value: Option<u16>, maximum: u16) -> Option<()> {
        let sensor = match *key {
            [letter @ b'A'..=b'E'] => Some(Sensor::Curl(finger(letter)?)),
            [letter @ b'A'..=b'E', b'B'] => Some(Sensor::Splay(finger(letter)?)),
            [letter @ b'A'..=b'E', b'A', joint @ b'A'..=b'D'] => {
                Some(Sensor::Joint(finger(letter)?, FingerJoint::ALL[usize::from(joint - b'A')]))
            }
            _ => None,
        };
        if let Some(sensor) = sensor {
            self.flex.set(sensor, from_scale(value?, maximum));
        } else {
            match *key {
                [b'F'] => self.joystick[0] = Some(value?),
                [b'G'] => self.joystick[1] = Some(value?),
                [b'P'] => self.trigger = Some(value?),
                [letter @ b'H'..=b'O'] => {
                    if value.is_some() {
                        return None;
                    }
                    self.buttons.set(GLOVE_BUTTONS[usize::from(letter - b'H')], true);
                }
                [b'Z', ..] => return self.note_info(&key[1..], value),
                _ => return Some(()),
            }
        }
        self.has_values = true;
        self.largest = self.largest.max(value.unwrap_or(0));
        Some(())
    }

    fn note_info(&mut self, key: &[u8], value: Option<u16>) -> Option<()> {
        let info = self.info.get_or_insert_default();
        match key {
            b"V" => info.firmware = value?.to_string(),
            b"G" => info.model = format!("type {}", value?),
            b"H" => info.side = Some(if value? == 0 { Side::Left } else { Side::Right }),
            _ => {}
        }
        Some(())
    }
}

impl LineFormat for AlphaFormat {
    fn longest(&self) -> usize {
        MAX_LINE
    }

    fn needs_line_end_first(&self) -> bool {
        false
    }

    fn read(&mut self, line: &str, out: &mut Vec<Reading>) -> bool {
        let Some(line) = self.parse(line) else { return false };
        self.largest = self.largest.max(line.largest);
        if !line.flex.is_empty() {
            out.push(Reading::Flex(line.flex));
        }
        for (axis, sent) in self.joystick.iter_mut().zip(line.joystick) {
            *axis = sent.map_or(*axis, |raw| signed(raw, self.maximum));
        }
        if line.joystick.iter().any(Option::is_some) {
            out.push(Reading::Joystick { x: self.joystick[0], y: self.joystick[1] });
        }
        out.extend(line.trigger.map(|raw| Reading::Trigger(from_scale(raw, self.maximum))));
        if line.has_values {
            self.buttons.change_to(line.buttons, out);
        }
        let info = line.info.filter(|info| *info != DeviceInfo::default());
        out.extend(info.map(Reading::Info));
        true
    }

    fn reset(&mut self) {
        (self.largest, self.buttons, self.joystick) = (0, Buttons::default(), [0.0; 2]);
    }

    fn hint(&self) -> Option<String> {
        beyond_scale(self.largest, self.maximum)
    }

    fn expectation(&self) -> String {
        "check that the glove uses the alpha encoding, at 115200 baud".into()
    }
}

/// Encoder of the alpha encoding.
pub(in super::super) struct AlphaEncoder {
    maximum: u16,
    flex: FlexReading,
    joystick: Option<[f64; 2]>,
    trigger: Option<f64>,
    buttons: Buttons,
    info: DeviceInfo,
}

impl AlphaEncoder {
    pub(in super::super) fn new(maximum: u16) -> Self {
        Self {
            maximum: maximum.max(1),
            flex: FlexReading::default(),
            joystick: None,
            trigger: None,
            buttons: Buttons::default(),
            info: DeviceInfo::default(),
        }
    }

    /// The response to an information request.
    pub(super) fn info_line(&self) -> Vec<u8> {
        let firmware = self.info.firmware.parse::<u16>().unwrap_or(1);
        let kind = self.info.model.strip_prefix("type ").and_then(|kind| kind.parse::<u16>().ok()).unwrap_or(0);
        let hand = u8::from(self.info.side != Some(Side::Left));
        format!("(ZV){firmware}(ZG){kind}(ZH){hand}\n").into_bytes()
    }
}

impl Encoder for AlphaEncoder {
    fn set(&mut self, reading: &Reading) {
        match reading {
            Reading::Flex(flex) => self.flex.update(flex),
            Reading::Joystick { x, y } => self.joystick = Some([*x, *y]),
            Reading::Trigger(value) => self.trigger = Some(*value),
            Reading::Button { button, pressed } => self.buttons.set(*button, *pressed),
            Reading::Info(info) => self.info = info.clone(),
            _ => {}
        }
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        let mut put = |key: &str, raw: u16| out.extend(format!("{key}{raw}").bytes());
        let raw = |value: f64| to_scale(value, self.maximum);
        for finger in Finger::ALL {
            let letter = char::from(b'A' + finger as u8);
            put(&letter.to_string(), raw(self.flex.get(Sensor::Curl(finger)).unwrap_or(0.0)));
            if let Some(splay) = self.flex.get(Sensor::Splay(finger)) {
                put(&format!("({letter}B)"), raw(splay));
            }
            for place in FingerJoint::ALL {
                if let Some(bend) = self.flex.get(Sensor::Joint(finger, place)) {
                    put(&format!("({letter}A{})", char::from(b'A' + place as u8)), raw(bend));
                }
            }
        }
        for (key, value) in ["F", "G"].into_iter().zip(self.joystick.into_iter().flatten()) {
            put(key, to_signed(value, self.maximum));
        }
        if let Some(trigger) = self.trigger {
            put("P", raw(trigger));
        }
        for (index, button) in GLOVE_BUTTONS.into_iter().enumerate() {
            if self.buttons.is_down(button) {
                out.push(b'H' + index as u8);
            }
        }
        out.push(b'\n');
    }
}
