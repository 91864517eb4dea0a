//! Rank 7: gloves, trackers, headsets and gamepads. The only module that names openxr, gilrs and serialport.
//!
//! `examples/grasp.rs` opens a glove by the name of its profile; `examples/own_device.rs` is a source of your own in one file.
//!
//! ```
//! use fingerpad::assets::{builtin_device_file, load_device};
//!
//! let profile = load_device(&builtin_device_file("opengloves").expect("a shipped profile"))?;
//! assert!(profile.gives().fingers && !profile.gives().position);
//! # Ok::<(), fingerpad::assets::Problems>(())
//! ```

mod assemble;
pub mod calibration;
pub mod emulator;
mod error;
pub mod filter;
pub mod fusion;
pub mod gamepads;
pub mod glove;
pub mod haptics;
pub mod human;
pub mod joints;
mod list;
#[cfg(feature = "openxr")]
pub mod openxr;
#[cfg(feature = "serial")]
mod serial_ports;
mod smooth;
mod source;
mod start;
pub mod wire;
mod wired;

#[cfg(feature = "openxr")]
pub use self::openxr::start_openxr;
pub use error::DeviceError;
pub use list::{ListedDevice, ListedKind, list};
pub use source::{
    ButtonEvent, ForceOutlet, HandForces, SourceFeed, SourceHandle, SourceRequest, SourceSample, SourceState,
    SourceStatistics, Vibration,
};
pub use start::{Hands, start, start_on};
