//! x-io x-IMU3: ASCII lines. `Q,timestamp,w,x,y,z` is the orientation, with the time in microseconds; other letters are
//! other measurements. From its user manual.

use super::Encoder;
use super::lines::LineFormat;
use super::reading::{Reading, rotation};
use crate::math::Quat;

/// Length of the longest message of the manual with numbers at maximum length.
const MAX_MESSAGE: usize = 256;
/// Microseconds between two lines of the emulation.
const LINE_PERIOD: u64 = 10_000;

/// Line format of the sensor.
#[derive(Default)]
pub(super) struct XImu3Format {
    /// Lines since the last orientation.
    others: u32,
}

/// Parses the orientation of a line.
fn orientation(line: &str) -> Option<Quat> {
    let mut fields = line.strip_prefix("Q,")?.split(',');
    fields.next()?.parse::<u64>().ok()?;
    let mut numbers = [0.0; 4];
    for number in &mut numbers {
        *number = fields.next()?.parse().ok()?;
    }
    fields.next().is_none().then(|| rotation(numbers))?
}

impl LineFormat for XImu3Format {
    fn longest(&self) -> usize {
        MAX_MESSAGE
    }

    fn needs_line_end_first(&self) -> bool {
        false
    }

    fn read(&mut self, line: &str, out: &mut Vec<Reading>) -> bool {
        let is_text = line.bytes().all(|byte| (b' '..=b'~').contains(&byte));
        match line.as_bytes() {
            [b'Q', b',', ..] => {
                let Some(orientation) = orientation(line) else { return false };
                self.others = 0;
                out.push(Reading::Orientation(orientation));
                true
            }
            [b'A'..=b'Z', b',', ..] if is_text => {
                self.others = self.others.saturating_add(1);
                true
            }
            _ => false,
        }
    }

    fn reset(&mut self) {
        self.others = 0;
    }

    fn hint(&self) -> Option<String> {
        (self.others >= 50).then(|| "the sensor sends no quaternions: set its AHRS message type".into())
    }

    fn expectation(&self) -> String {
        "check that it is an x-IMU3 with ASCII messages, and that the baud rate matches its setting".into()
    }
}

/// Encoder of the orientation.
pub(super) struct XImu3Encoder {
    time: u64,
    orientation: Quat,
}

impl Default for XImu3Encoder {
    fn default() -> Self {
        Self { time: 0, orientation: Quat::identity() }
    }
}

impl Encoder for XImu3Encoder {
    fn set(&mut self, reading: &Reading) {
        if let Reading::Orientation(orientation) = reading {
            self.orientation = *orientation;
        }
    }

    fn packet(&mut self, out: &mut Vec<u8>) {
        self.time += LINE_PERIOD;
        let q = &self.orientation;
        out.extend(format!("Q,{},{:.4},{:.4},{:.4},{:.4}\r\n", self.time, q.w, q.i, q.j, q.k).bytes());
    }
}
