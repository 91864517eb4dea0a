//! Hands that an OpenXR runtime tracks (XR_EXT_hand_tracking), without a picture in the headset.

mod failure;
mod hands;
mod runtime;
mod session;
mod vibration;

pub use super::joints::{HandReading, HandSize, JOINTS, Joint, JointReader, PALM, WRIST, metacarpal, phalanx};
pub use failure::Failure;
pub use hands::start_openxr;
pub(super) use runtime::list;
