use std::fmt::Write;

use super::SensorCalibration;
use crate::protocol::Sensor;
use crate::tracking::Finger;

/// A profile of one user: what differs from the profile of the device.
#[derive(Clone, Debug, PartialEq)]
pub struct UserProfile<'a> {
    /// The profile of the device, as the file is to name it.
    pub base: &'a str,
    /// The name of the device.
    pub device: &'a str,
    /// The user.
    pub user: &'a str,
    /// Where it is plugged in, if that is not as the profile of the device has it.
    pub port: Option<&'a str>,
    /// What was measured.
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
        writeln!(text, "# by `fingerpad devices calibrate`; do it again when the glove sits differently.")?;
        writeln!(text, "#")?;
        writeln!(
            text,
            "# Values are parts of the wire's scale. flat: of the flat hand. fist: with this sensor bent as in the fist and no"
        )?;
        writeln!(
            text,
            "# other (of sensors between fingers: with the hand spread). crosstalk: how much of the bend of other sensors shows"
        )?;
        writeln!(text, "# in this one, in parts of its span from flat to fist.")?;
        writeln!(text, "base = {}", quoted(self.base))?;
        writeln!(text, "user = {}", quoted(self.user))?;
        if let Some(port) = self.port {
            writeln!(text, "port = {}", quoted(port))?;
        }
        for found in self.sensors {
            let (noise, error) = (100.0 * found.noise, 100.0 * found.error);
            writeln!(text, "\n# Noise {noise:.2} % of the scale; the bend is sure to {:.1} % by it.", 2.0 * error)?;
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

/// The angle to the side, in degrees, of a finger beside the others and of one that is spread. A sensor of the splay goes both ways
/// on its scale, and its device's profile says what the ends of the scale are; once it is calibrated its ends are these two.
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

/// The text of a hand file of this length, m: another hand with its proportions.
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

/// A number with so many digits at most, and a point.
fn decimal(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let short = text.trim_end_matches('0');
    let short = if short.ends_with('.') { format!("{short}0") } else { short.into() };
    if short == "-0.0" { "0.0".into() } else { short }
}

/// A text as a string of TOML.
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

/// A text for a comment.
fn one_line(text: &str) -> String {
    text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect()
}
