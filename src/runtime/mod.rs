//! Rank 8: running sessions. A [`Session`] owns a world with its script, devices, recorder and sinks.
//!
//! | to do | use |
//! |---|---|
//! | step in your own loop | [`Session::step`], [`Session::run`] |
//! | run in real time in a thread, with snapshots | [`SessionThread`] |
//! | drive a world of your own with devices | [`DeviceSet::track`], [`DeviceSet::send_feedback`] |
//! | couple a tool to a force-feedback device | [`Session::attach_haptics`], or [`HapticThread`] and [`ElasticThread`] with a world of your own |
//! | feel a soft hand at 1 kHz on its gloves | [`Session::feel_at`], or [`HandThread`] with a world of your own |
//! | add a device of your own | [`DeviceSet::add`], `examples/own_device.rs` |
//! | try random inputs for hours | `soak` (feature `script`) |
//! | send the hands to another program | [`VmcSender`], or your own [`Sink`] |
//!
//! # One inlet per hand
//!
//! All samples of a hand pass its [`Inlet`](crate::tracking::Inlet), which ranks their sources: a device wins over mouse and
//! keyboard, these over a script, a script over the motion in the scene file. Palm and joints are ranked separately, so a glove
//! without a tracker moves the joints and leaves the palm to the others.
//!
//! # Latest wins
//!
//! Threads never wait for each other. Forces for a device are kept in a slot per hand that holds the newest; snapshots of a
//! [`SessionThread`] in a [`Latest`](crate::sync::Latest).
//!
//! ```
//! use std::path::Path;
//! use fingerpad::runtime::Session;
//!
//! let mut session = Session::load(Path::new("rest"), &[])?;
//! while !session.is_over() {
//!     session.step()?;
//! }
//! assert_eq!(Some(session.steps()), session.length());
//! # Ok::<(), fingerpad::runtime::Error>(())
//! ```

mod byte_playback;
mod device_profile;
mod device_set;
mod elastic_thread;
mod error;
mod hand_motion;
mod hand_thread;
mod haptic_device;
pub mod haptic_feedback;
mod haptic_thread;
#[cfg(all(feature = "vr", not(target_os = "macos")))]
mod headset;
#[cfg(all(feature = "vr", not(target_os = "macos")))]
mod headset_mount;
#[cfg(feature = "viewer")]
pub mod live;
mod loop_thread;
mod motion_source;
mod overlap;
mod pace;
mod session;
#[cfg(feature = "script")]
pub mod soak;
mod thread;
mod vmc_sender;

pub use byte_playback::{Opener, is_byte_recording, opener};
pub use device_profile::{
    average_hands, average_skeleton, driven_by, emulate, open_profile, open_profile_from, start_device,
};
pub use device_set::{DeviceChange, DeviceSet, DeviceStatus};
pub use elastic_thread::ElasticThread;
pub use error::Error;
pub use hand_motion::{BUILTIN_MOTIONS, HandMotion};
pub use hand_thread::HandThread;
pub use haptic_device::{HapticPort, UnknownHapticPort};
pub use haptic_thread::{HapticLink, HapticThread};
#[cfg(all(feature = "vr", not(target_os = "macos")))]
pub use headset::{HeadsetChannels, gloved_headset_devices, headset_devices, headset_profile};
pub use overlap::overlap_warnings;
pub use pace::Pace;
pub use session::{Difference, Pacing, SceneMut, SceneRef, Session, Sink, shipped_path};
pub use thread::{SessionThread, ThreadOutcome};
pub use vmc_sender::VmcSender;
