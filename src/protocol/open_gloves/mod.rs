//! LucidGloves and all others that speak as OpenGloves does: lines of ASCII at 115200 baud, the port with DTR on.
//!
//! The older encoding is thirteen numbers joined by `&`, the newer one letters with numbers; see the two files. Numbers are of
//! the converter: up to 4095 on an ESP32, 1023 on an AVR. From the firmware and the driver of OpenGloves.

mod alpha;
mod legacy;
mod link;

pub(super) use alpha::{AlphaEncoder, AlphaScript};
pub(super) use legacy::{LegacyEncoder, LegacyScript};
pub(super) use link::{EmulatedOpenGlove, FORCE_MAXIMUM, OpenGlovesHost};
pub use link::{ForceFeedback, HostLine, VibrationPulse};

use super::reading::{Button, Reading};
use super::{from_scale, to_scale};

/// Digits of the longest number that is taken for one.
const DIGITS: usize = 5;

/// Which buttons are down; tells the changes.
#[derive(Clone, Copy, Default)]
struct Buttons([bool; 8]);

const BUTTONS: [Button; 8] = [
    Button::JoystickClick,
    Button::Trigger,
    Button::A,
    Button::B,
    Button::Grab,
    Button::Pinch,
    Button::Menu,
    Button::Calibrate,
];

impl Buttons {
    fn set(&mut self, button: Button, pressed: bool) {
        if let Some(index) = BUTTONS.iter().position(|known| *known == button) {
            self.0[index] = pressed;
        }
    }

    fn is_down(&self, button: Button) -> bool {
        BUTTONS.iter().zip(self.0).any(|(known, down)| *known == button && down)
    }

    /// Tells every button that is not as before.
    fn change_to(&mut self, now: Buttons, out: &mut Vec<Reading>) {
        for ((button, before), pressed) in BUTTONS.into_iter().zip(self.0).zip(now.0) {
            if before != pressed {
                out.push(Reading::Button { button, pressed });
            }
        }
        *self = now;
    }
}

/// A number on the scale as -1 to 1.
fn signed(raw: u16, maximum: u16) -> f64 {
    2.0 * from_scale(raw, maximum) - 1.0
}

/// The other way.
fn to_signed(value: f64, maximum: u16) -> u16 {
    to_scale((value + 1.0) / 2.0, maximum)
}

/// A number of ASCII digits; `None` if it is none or too long. What is beyond a word is the largest word.
fn number(text: &[u8]) -> Option<u16> {
    if text.is_empty() || text.len() > DIGITS {
        return None;
    }
    let digit = |value: u32, byte: &u8| byte.is_ascii_digit().then(|| 10 * value + u32::from(byte - b'0'));
    let value = text.iter().try_fold(0, digit)?;
    Some(u16::try_from(value).unwrap_or(u16::MAX))
}

/// What to say when numbers are larger than the scale.
fn beyond_scale(largest: u16, maximum: u16) -> Option<String> {
    let advice = if largest <= 4095 && maximum < 4095 { " (set it to 4095, as on an ESP32)" } else { "" };
    (largest > maximum).then(|| format!("numbers up to {largest} came, the profile's largest is {maximum}{advice}"))
}
