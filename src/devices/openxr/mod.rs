//! Hand tracking with an OpenXR runtime (XR_EXT_hand_tracking), without rendering to the headset.
//!
//! ```no_run
//! use std::time::Instant;
//! use fingerpad::assets::{builtin_device_file, load_device};
//! use fingerpad::devices::start_openxr;
//! use fingerpad::runtime::average_hands;
//!
//! let profile = load_device(&builtin_device_file("openxr").expect("a shipped profile"))?;
//! let source = start_openxr(&profile, &average_hands()?, Instant::now())?;
//! for sample in source.samples().iter().take(10) {
//!     println!("{:?}", sample.palm());
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod failure;
mod hands;
mod runtime;
mod session;
mod vibration;

pub use super::joints::{HandReading, HandSize, JOINTS, JointReader, PALM, TrackedJoint, WRIST, metacarpal, phalanx};
pub use failure::Failure;
pub use hands::start_openxr;
pub(super) use runtime::list;
