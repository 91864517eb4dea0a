//! Commands to a glove: `(ZA)` starts streaming, `Z` requests information, `(ZZ)` stops; `A%dB%dC%dD%dE%d` sets the
//! finger resistance, `F%.2fG%.2fH%.2f` vibrates. Gloves without these features ignore them.

use super::super::reading::Reading;
use super::super::{Emulated, Encoder, Host, to_scale};
use super::{AlphaEncoder, number};

/// Resistance of each finger, thumb first: 0 free, 1 blocked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ForceFeedback(pub [f64; 5]);

/// A vibration command.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct VibrationPulse {
    /// Frequency in the firmware's unit.
    pub frequency: f64,
    /// Duration, s.
    pub duration: f64,
    /// Amplitude, 0 to 1.
    pub amplitude: f64,
}

/// A command line from the host to a glove.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum HostLine {
    /// Start streaming.
    Start,
    /// Request the information.
    Query,
    /// Stop streaming.
    Stop,
    /// Set the finger resistance.
    Force(ForceFeedback),
    /// Vibrate.
    Vibrate(VibrationPulse),
}

/// Maximum force on the wire of most firmwares; one library uses 4095.
pub(in super::super) const FORCE_MAXIMUM: u16 = 1000;
/// Maximum of the vibration parameters.
const MAX_VIBRATION: f64 = 1e4;
/// Maximum length of a command line.
const MAX_COMMAND: usize = 64;
/// Command lines that an emulated glove stores.
const REMEMBERED: usize = 16;

impl HostLine {
    /// The line with its terminator. Forces range from 0 to `force_maximum`, which is 1000 for most firmwares.
    pub fn to_bytes(&self, force_maximum: u16) -> Vec<u8> {
        let text = match self {
            Self::Start => "(ZA)".into(),
            Self::Query => "Z".into(),
            Self::Stop => "(ZZ)".into(),
            Self::Force(ForceFeedback(fingers)) => {
                let [a, b, c, d, e] = fingers.map(|force| to_scale(force, force_maximum));
                format!("A{a}B{b}C{c}D{d}E{e}")
            }
            Self::Vibrate(VibrationPulse { frequency, duration, amplitude }) => {
                let held = |value: &f64| if value.is_nan() { 0.0 } else { value.clamp(0.0, MAX_VIBRATION) };
                let [f, g, h] = [frequency, duration, amplitude].map(held);
                format!("F{f:.2}G{g:.2}H{h:.2}")
            }
        };
        (text + "\n").into_bytes()
    }

    /// Parses a line without its terminator; `None` if it is not a command.
    pub fn parse(line: &str, force_maximum: u16) -> Option<HostLine> {
        match line.as_bytes() {
            b"(ZA)" => Some(Self::Start),
            b"Z" => Some(Self::Query),
            b"(ZZ)" => Some(Self::Stop),
            [b'A', ..] => {
                let force =
                    |text: &str| number(text.as_bytes()).map(|raw| super::from_scale(raw, force_maximum.max(1)));
                Some(Self::Force(ForceFeedback(split(line, "ABCDE", force)?)))
            }
            [b'F', ..] => {
                let value = |text: &str| text.parse().ok().filter(|value| (0.0..=MAX_VIBRATION).contains(value));
                let [frequency, duration, amplitude] = split(line, "FGH", value)?;
                Some(Self::Vibrate(VibrationPulse { frequency, duration, amplitude }))
            }
            _ => None,
        }
    }
}

/// The values between keys in a fixed order.
fn split<const N: usize>(line: &str, keys: &str, value: impl Fn(&str) -> Option<f64>) -> Option<[f64; N]> {
    let mut values = [0.0; N];
    let mut rest = line;
    for (slot, key) in values.iter_mut().zip(keys.chars()) {
        rest = rest.strip_prefix(key)?;
        let end = rest.find(|c: char| c.is_ascii_uppercase()).unwrap_or(rest.len());
        *slot = value(&rest[..end])?;
        rest = &rest[end..];
    }
    rest.is_empty().then_some(values)
}

/// Starts the glove and requests its information.
pub(in super::super) struct OpenGlovesHost;

impl Host for OpenGlovesHost {
    fn start(&mut self) -> Vec<Vec<u8>> {
        [HostLine::Start, HostLine::Query].map(|line| line.to_bytes(FORCE_MAXIMUM)).into()
    }

    fn receive(&mut self, _: &[u8]) -> Vec<Vec<u8>> {
        Vec::new()
    }

    fn silence(&mut self) -> Vec<Vec<u8>> {
        vec![HostLine::Start.to_bytes(FORCE_MAXIMUM)]
    }

    fn stop(&mut self) -> Vec<Vec<u8>> {
        vec![HostLine::Stop.to_bytes(FORCE_MAXIMUM)]
    }
}

/// Emulated glove. It streams until it is stopped.
pub(in super::super) struct EmulatedOpenGlove {
    encoder: AlphaEncoder,
    force_maximum: u16,
    line: Vec<u8>,
    is_stopped: bool,
    heard: Vec<HostLine>,
}

impl EmulatedOpenGlove {
    pub(in super::super) fn new(encoder: AlphaEncoder, force_maximum: u16) -> Self {
        Self { encoder, force_maximum, line: Vec::new(), is_stopped: false, heard: Vec::new() }
    }

    fn obey(&mut self, response: &mut Vec<u8>) {
        let line = std::str::from_utf8(&self.line).ok();
        let Some(line) = line.and_then(|line| HostLine::parse(line.trim_end(), self.force_maximum)) else { return };
        match line {
            HostLine::Start => self.is_stopped = false,
            HostLine::Stop => self.is_stopped = true,
            HostLine::Query => response.extend(self.encoder.info_line()),
            HostLine::Force(_) | HostLine::Vibrate(_) => {}
        }
        if self.heard.len() == REMEMBERED {
            self.heard.remove(0);
        }
        self.heard.push(line);
    }
}

impl Emulated for EmulatedOpenGlove {
    fn set(&mut self, reading: &Reading) {
        self.encoder.set(reading);
    }

    fn receive(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut response = Vec::new();
        for &byte in bytes {
            if byte == b'\n' {
                self.obey(&mut response);
                self.line.clear();
            } else if self.line.len() <= MAX_COMMAND {
                self.line.push(byte);
            }
        }
        response
    }

    fn sample(&mut self) -> Vec<u8> {
        let mut line = Vec::new();
        if !self.is_stopped {
            self.encoder.packet(&mut line);
        }
        line
    }

    fn commands(&mut self) -> Vec<HostLine> {
        std::mem::take(&mut self.heard)
    }
}
