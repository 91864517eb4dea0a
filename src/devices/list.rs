use std::fmt;

use super::wire;
use crate::protocol::{Format, Link};

/// A connected or installed device, or why a kind cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListedDevice {
    /// Kind of device.
    pub kind: ListedKind,
    /// Name: the path of a port, the name of a runtime or a gamepad.
    pub name: String,
    /// Further information; may be empty.
    pub detail: String,
    /// Its USB ids, vendor and product, if it has any.
    pub usb: Option<(u16, u16)>,
    /// Why it cannot be used and the remedy, one sentence without a full stop.
    pub problem: Option<String>,
}

/// The kinds of devices.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ListedKind {
    /// A serial port, to which a glove or a tracker may be connected.
    SerialPort,
    /// A USB HID device: a glove or a GameTrak.
    Usb,
    /// The OpenXR runtime and its headset.
    OpenXr,
    /// A gamepad or joystick.
    Gamepad,
}

impl fmt::Display for ListedKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SerialPort => "serial port",
            Self::Usb => "USB",
            Self::OpenXr => "OpenXR",
            Self::Gamepad => "gamepad",
        })
    }
}

impl fmt::Display for ListedDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.kind)?;
        if !self.name.is_empty() {
            write!(f, " {}", self.name)?;
        }
        if !self.detail.is_empty() {
            write!(f, " ({})", self.detail)?;
        }
        self.problem.as_ref().map_or(Ok(()), |problem| write!(f, ": {problem}"))
    }
}

impl ListedDevice {
    /// A kind that cannot be used.
    pub(super) fn problem(kind: ListedKind, problem: impl Into<String>) -> Self {
        Self { kind, name: String::new(), detail: String::new(), usb: None, problem: Some(problem.into()) }
    }
}

/// All devices by kind: each serial port, each known USB device, the OpenXR runtime, each gamepad. A kind that cannot
/// be enumerated has one entry with the problem.
pub fn list() -> Vec<ListedDevice> {
    [serial_ports(), reports(), runtime(), gamepads()].concat()
}

/// Message for a missing Cargo feature.
#[cfg_attr(all(feature = "serial", feature = "openxr", feature = "gamepad"), allow(dead_code))]
pub(super) fn left_out(feature: &str) -> String {
    format!("built without the Cargo feature `{feature}`; build with `cargo install --path . --features {feature}`")
}

#[cfg(feature = "serial")]
use super::serial_ports::list as serial_ports;
#[cfg(not(feature = "serial"))]
fn serial_ports() -> Vec<ListedDevice> {
    vec![ListedDevice::problem(ListedKind::SerialPort, left_out("serial"))]
}

/// The USB devices whose reports have a known format; mice and keyboards are left out.
fn reports() -> Vec<ListedDevice> {
    let is_known = |(vendor, product): (u16, u16)| {
        let fits = |link: Link| matches!(link, Link::Usb { vendor: v, product: p } if v == vendor && p.is_none_or(|p| p == product));
        Format::ALL.iter().any(|format| fits(format.link()))
    };
    let found = |(name, ids, detail): (String, (u16, u16), String)| ListedDevice {
        kind: ListedKind::Usb,
        name,
        detail: format!("USB {:04x}:{:04x}, {detail}", ids.0, ids.1).trim_end_matches(", ").into(),
        usb: Some(ids),
        problem: None,
    };
    wire::hid_devices().into_iter().filter(|(_, ids, _)| is_known(*ids)).map(found).collect()
}

#[cfg(feature = "openxr")]
use super::openxr::list as runtime;
#[cfg(not(feature = "openxr"))]
fn runtime() -> Vec<ListedDevice> {
    vec![ListedDevice::problem(ListedKind::OpenXr, left_out("openxr"))]
}

#[cfg(feature = "gamepad")]
use super::gamepads::list as gamepads;
#[cfg(not(feature = "gamepad"))]
fn gamepads() -> Vec<ListedDevice> {
    vec![ListedDevice::problem(ListedKind::Gamepad, left_out("gamepad"))]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Listing works on any machine, and usable devices have a name.
    #[test]
    fn everything_found_has_a_name_or_a_problem() {
        let found = list();
        assert!(found.is_sorted_by_key(|found| found.kind));
        assert_eq!(found.iter().filter(|found| found.kind == ListedKind::OpenXr).count(), 1);
        for one in &found {
            assert!(!one.name.is_empty() || one.problem.is_some(), "{one:?}");
            assert!(one.problem.as_ref().is_none_or(|problem| !problem.is_empty() && !problem.ends_with('.')), "{one}");
        }
    }

    #[test]
    fn a_missing_feature_is_reported() {
        let features = [
            (ListedKind::SerialPort, "serial", cfg!(feature = "serial")),
            (ListedKind::OpenXr, "openxr", cfg!(feature = "openxr")),
            (ListedKind::Gamepad, "gamepad", cfg!(feature = "gamepad")),
        ];
        for (kind, feature, is_built) in features {
            let names_it = |found: &ListedDevice| found.kind == kind && found.problem == Some(left_out(feature));
            assert_eq!(list().iter().any(names_it), !is_built);
        }
    }

    #[test]
    fn it_reads_as_one_line() {
        let mut found = ListedDevice {
            kind: ListedKind::SerialPort,
            name: "/dev/ttyUSB0".into(),
            detail: "USB 0403:6001, FT232R".into(),
            usb: Some((0x0403, 0x6001)),
            problem: None,
        };
        assert_eq!(found.to_string(), "serial port /dev/ttyUSB0 (USB 0403:6001, FT232R)");
        found = ListedDevice::problem(ListedKind::Gamepad, left_out("gamepad"));
        let expected = "gamepad: built without the Cargo feature `gamepad`; build with `cargo install --path . --features gamepad`";
        assert_eq!(found.to_string(), expected);
    }
}
