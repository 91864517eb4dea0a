//! Rank 7: gloves, trackers, headsets and gamepads. The only module that names openxr, gilrs and serialport.

#[cfg(feature = "gamepad")]
mod gamepads;
mod list;
#[cfg(feature = "openxr")]
pub mod openxr;
#[cfg(feature = "serial")]
mod serial_ports;
#[cfg(feature = "openxr")]
mod source;

#[cfg(feature = "openxr")]
pub use self::openxr::start_openxr;
pub use list::{Found, Kind, list};
#[cfg(feature = "openxr")]
pub use source::{SourceFeed, SourceHandle, SourceSample, SourceState, Told, Vibration};
