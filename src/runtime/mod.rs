//! Rank 8: running sessions. A [`Session`] owns a world with its script, devices, recorder and sinks.
//!
//! | to do | use |
//! |---|---|
//! | step in your own loop | [`Session::step`], [`Session::run`] |
//! | run at real time in a thread, with snapshots | [`SessionThread`] |
//! | drive a world of your own with devices | [`DeviceSet::track`], [`DeviceSet::send_feedback`] |
//! | add a device of your own | [`DeviceSet::add`], `examples/own_device.rs` |
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
mod error;
mod hand_motion;
pub mod haptic_feedback;
#[cfg(feature = "viewer")]
pub mod live;
mod motion_source;
mod overlap;
mod pace;
mod session;
mod thread;
mod vmc_sender;

pub use byte_playback::{Opener, is_byte_recording, opener};
pub use device_profile::{
    average_hands, average_skeleton, driven_by, emulate, open_profile, open_profile_from, start_device,
};
pub use device_set::{DeviceChange, DeviceSet, DeviceStatus};
pub use error::Error;
pub use hand_motion::{BUILTIN_MOTIONS, HandMotion};
pub use overlap::overlap_warnings;
pub use pace::Pace;
pub use session::{Difference, Pacing, SceneMut, SceneRef, Session, Sink, shipped_path};
pub use thread::{SessionThread, ThreadOutcome};
pub use vmc_sender::VmcSender;
