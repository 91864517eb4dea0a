//! Rank 7: gloves, trackers, headsets and gamepads. The only module that names openxr, gilrs and serialport.

#[cfg(feature = "gamepad")]
mod gamepads;
mod list;
#[cfg(feature = "openxr")]
mod runtime;
#[cfg(feature = "serial")]
mod serial_ports;

pub use list::{Found, Kind, list};
