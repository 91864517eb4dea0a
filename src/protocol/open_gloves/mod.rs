//! LucidGloves and compatible gloves with the OpenGloves protocol: ASCII lines at 115200 baud, with DTR set.
//!
//! The legacy encoding is thirteen numbers separated by `&`, the alpha encoding letters with numbers; see the two
//! files. Numbers are raw converter values: up to 4095 on an ESP32, 1023 on an AVR. From the firmware and the driver of
//! OpenGloves.

mod alpha;
mod legacy;
mod link;

pub(super) use alpha::{AlphaEncoder, AlphaFormat};
pub(super) use legacy::{LegacyEncoder, LegacyFormat};
pub(super) use link::{EmulatedOpenGlove, FORCE_MAXIMUM, OpenGlovesHost};
pub use link::{ForceFeedback, HostLine, VibrationPulse};

use super::reading::{Button, Reading};
use super::{from_scale, to_scale};

/// Maximum number of digits.
const DIGITS: usize = 5;

/// Pressed buttons; reports changes.
#[derive(Clone, Copy, Default)]
struct Buttons([bool; 8]);

const GLOVE_BUTTONS: [Button; 8] = [
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
        if let Some(index) = GLOVE_BUTTONS.iter().position(|known| *known == button) {
            self.0[index] = pressed;
        }
    }

    fn is_down(&self, button: Button) -> bool {
        GLOVE_BUTTONS.iter().zip(self.0).any(|(known, down)| *known == button && down)
    }

    /// Reports every button whose state changed.
    fn change_to(&mut self, now: Buttons, out: &mut Vec<Reading>) {
        for ((button, before), pressed) in GLOVE_BUTTONS.into_iter().zip(self.0).zip(now.0) {
            if before != pressed {
                out.push(Reading::Button { button, pressed });
            }
        }
        *self = now;
    }
}

/// Maps a number on the scale to -1..=1.
fn signed(raw: u16, maximum: u16) -> f64 {
    2.0 * from_scale(raw, maximum) - 1.0
}

/// The inverse.
fn to_signed(value: f64, maximum: u16) -> u16 {
    to_scale((value + 1.0) / 2.0, maximum)
}

/// Parses ASCII digits; `None` if empty or too long. Saturates at the largest word.
fn number(text: &[u8]) -> Option<u16> {
    if text.is_empty() || text.len() > DIGITS {
        return None;
    }
    let digit = |value: u32, byte: &u8| byte.is_ascii_digit().then(|| 10 * value + u32::from(byte - b'0'));
    let value = text.iter().try_fold(0, digit)?;
    Some(u16::try_from(value).unwrap_or(u16::MAX))
}

/// Hint if numbers exceed the scale.
fn beyond_scale(largest: u16, maximum: u16) -> Option<String> {
    let advice = if largest <= 4095 && maximum < 4095 { " (set it to 4095, as on an ESP32)" } else { "" };
    (largest > maximum)
        .then(|| format!("received numbers up to {largest}, but the maximum of the profile is {maximum}{advice}"))
}
