use std::fmt::Write;

use super::SensorCalibration;
use crate::protocol::Sensor;
use crate::tracking::Finger;

/// A user profile: the differences from the device profile.
#[derive(Clone, Debug, PartialEq)]
pub struct UserProfile<'a> {
    /// The device profile as the file names it.
    pub base: &'a str,
    /// The name of the device.
    pub device: &'a str,
    /// The user.
    pub user: &'a str,
    /// Port, if it differs from the device profile.
    pub port: Option<&'a str>,
    /// The fitted parameters.
    pub sensors: &'a [SensorCalibration],
}

impl UserProfile<'_> {
    /// The text of the file.
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string does not fail.
        let _ = self.write(&mut text);
        text
    }

    fn write(&self, text: &mut String) -> std::fmt::Result {
        writeln!(text, "# {}, calibrated for {}", one_line(self.device), one_line(self.user))?;
        writeln!(text, "# by `fingerpad devices calibrate`; repeat it when the glove fits differently.")?;
        writeln!(text, "#")?;
        writeln!(
            text,
            "# Values are fractions of the wire scale. flat: flat hand. fist: only this sensor bent as in the fist"
        )?;
        writeln!(text, "# (sensors between fingers: hand spread). crosstalk: effect of the bend of other sensors")?;
        writeln!(text, "# on this one, as a fraction of its span from flat to fist.")?;
        writeln!(text, "base = {}", quoted(self.base))?;
        writeln!(text, "user = {}", quoted(self.user))?;
        if let Some(port) = self.port {
            writeln!(text, "port = {}", quoted(port))?;
        }
        for found in self.sensors {
            let (noise, error) = (100.0 * found.noise, 100.0 * found.error);
            writeln!(text, "\n# Noise {noise:.2} % of the scale; accuracy of the bend {:.1} %.", 2.0 * error)?;
            writeln!(text, "[sensor.{}]", found.sensor.name())?;
            writeln!(text, "flat = {}", decimal(found.flat.clamp(0.0, 1.0), 4))?;
            writeln!(text, "fist = {}", decimal(found.fist.clamp(0.0, 1.0), 4))?;
            if let Some(([side_by_side, spread], angle)) = splay(found.sensor).zip(found.sensor.angle()) {
                writeln!(text, "{} = [{side_by_side}, {spread}]", angle.name())?;
            }
            let share = |(other, part): &(Sensor, f64)| format!("{} = {}", other.name(), decimal(*part, 3));
            let shares: Vec<String> = found.crosstalk.iter().map(share).collect();
            if !shares.is_empty() {
                writeln!(text, "crosstalk = {{ {} }}", shares.join(", "))?;
            }
        }
        Ok(())
    }
}

/// The abduction angle, in degrees, of a finger beside the others and of a spread one. A splay sensor covers both
/// directions, and its device profile defines the ends of the scale; calibration moves the ends to these two.
fn splay(sensor: Sensor) -> Option<[i32; 2]> {
    let Sensor::Splay(finger) = sensor else { return None };
    Some(match finger {
        Finger::Thumb => [-8, 60],
        Finger::Index => [0, 15],
        Finger::Middle => [0, 0],
        Finger::Ring => [0, -12],
        Finger::Little => [0, -20],
    })
}

/// Text of a hand file with this length, m: the proportions of another hand.
pub fn hand_file(base: &str, name: &str, length: f64) -> String {
    format!(
        "# The hand of {}: the proportions of its base, the length measured by `fingerpad devices calibrate`.\n\
         base = {}\nname = {}\nhand_length = {}\n",
        one_line(name),
        quoted(base),
        quoted(name),
        decimal(length, 4)
    )
}

/// A number with a limited number of digits, and a decimal point.
fn decimal(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let short = text.trim_end_matches('0');
    let short = if short.ends_with('.') { format!("{short}0") } else { short.into() };
    if short == "-0.0" { "0.0".into() } else { short }
}

/// A TOML string.
fn quoted(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Text for a one-line comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
