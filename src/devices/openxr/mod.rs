//! Hands that an OpenXR runtime tracks (XR_EXT_hand_tracking), without a picture in the headset.

mod failure;
mod hands;
mod joints;
mod runtime;
mod session;
mod vibration;

pub use failure::Failure;
pub use hands::start_openxr;
pub use joints::{HandReading, HandSize, JOINTS, Joint, JointReader, PALM, WRIST, metacarpal, phalanx};
pub(super) use runtime::list;
