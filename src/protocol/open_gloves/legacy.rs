//! The legacy encoding: `thumb&index&middle&ring&little&x&y&click&trigger&a&b&grab&pinch`, thirteen numbers, the last
//! six 0 or 1.

use super::super::Encoder;
use super::super::lines::LineFormat;
use super::super::reading::{Button, FlexReading, Reading, Sensor};
use super::super::{from_scale, to_scale};
use super::{Buttons, beyond_scale, number, signed, to_signed};
use crate::tracking::Finger;

const FIELDS: usize = 13;
const LEGACY_BUTTONS: [Button; 6] =
    [Button::JoystickClick, Button::Trigger, Button::A, Button::B, Button::Grab, Button::Pinch];

/// Line format of the legacy encoding.
pub(in super::super) struct LegacyFormat {
    maximum: u16,
    largest: u16,
    buttons: Buttons,
}

impl LegacyFormat {
    pub(in super::super) fn new(maximum: u16) -> Self {
        Self { maximum: maximum.max(1), largest: 0, buttons: Buttons::default() }
    }
}

/// The thirteen numbers of a line.
fn fields(line: &str) -> Option<[u16; FIELDS]> {
    let mut fields = [0; FIELDS];
    let mut texts = line.split('&');
    for field in &mut fields {
        *field = number(texts.next()?.as_bytes())?;
    }
    texts.next().is_none().then_some(fields)
}

impl LineFormat for LegacyFormat {
    fn longest(&self) -> usize {
        FIELDS * 6 + 2
    }

    fn needs_line_end_first(&self) -> bool {
        true
    }

    fn read(&mut self, line: &str, out: &mut Vec<Reading>) -> bool {
        let Some(fields) = fields(line).filter(|fields| fields[7..].iter().all(|down| *down <= 1)) else {
            return false;
        };
        self.largest = fields.into_iter().fold(self.largest, u16::max);
        let flex = Finger::ALL.into_iter().zip(fields);
        out.push(Reading::Flex(FlexReading::of(
            flex.map(|(finger, raw)| (Sensor::Curl(finger), from_scale(raw, self.maximum))),
        )));
        out.push(Reading::Joystick { x: signed(fields[5], self.maximum), y: signed(fields[6], self.maximum) });
        let mut now = Buttons::default();
        LEGACY_BUTTONS.into_iter().zip(&fields[7..]).for_each(|(button, down)| now.set(button, *down == 1));
        self.buttons.change_to(now, out);
        true
    }

    fn reset(&mut self) {
        (self.largest, self.buttons) = (0, Buttons::default());
    }

    fn hint(&self) -> Option<String> {
        beyond_scale(self.largest, self.maximum)
    }

    fn expectation(&self) -> String {
        "check that the glove uses the legacy encoding, at 115200 baud".into()
    }
}

/// Encoder of the legacy encoding.
pub(in super::super) struct LegacyEncoder {
    maximum: u16,
    flex: FlexReading,
    joystick: [f64; 2],
    buttons: Buttons,
}

impl LegacyEncoder {
    pub(in super::super) fn new(maximum: u16) -> Self {
        Self { maximum: maximum.max(1), flex: FlexReading::default(), joystick: [0.0; 2], buttons: Buttons::default() }
    }
}

impl Encoder for LegacyEncoder {
    fn set(&mut self, reading: &Reading) {
        match reading {
            Reading::Flex(flex) => self.flex.update(flex),
            Reading::Joystick { x, y } => self.joystick = [*x, *y],
            Reading::Button { button, pressed } => self.buttons.set(*button, *pressed),
            _ => {}
        }
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        let curl = |finger| to_scale(self.flex.get(Sensor::Curl(finger)).unwrap_or(0.0), self.maximum);
        let curls = Finger::ALL.into_iter().map(curl);
        let joystick = self.joystick.map(|value| to_signed(value, self.maximum));
        let buttons = LEGACY_BUTTONS.map(|button| u16::from(self.buttons.is_down(button)));
        let fields: Vec<_> = curls.chain(joystick).chain(buttons).map(|field| field.to_string()).collect();
        out.extend(fields.join("&").bytes());
        out.push(b'\n');
    }
}
