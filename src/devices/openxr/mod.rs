//! Hand tracking with an OpenXR runtime (XR_EXT_hand_tracking), without rendering to the headset.

mod failure;
mod hands;
mod runtime;
mod session;
mod vibration;

pub use super::joints::{HandReading, HandSize, JOINTS, JointReader, PALM, TrackedJoint, WRIST, metacarpal, phalanx};
pub use failure::Failure;
pub use hands::start_openxr;
pub(super) use runtime::list;
