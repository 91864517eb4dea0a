//! Rank 1: layer 1 of the hand. What a device or a script says the hand does, with time stamps and validity.

mod motion;
mod names;
mod tracked;

pub use motion::{PoseKey, PoseSequence, minimum_jerk};
pub use names::{ANGLES, Angle, AngleKind, Finger, PHALANGES, SEGMENTS, Segment, Side};
pub use tracked::{Driven, DropReason, HandSample, Limits, TrackedHand, TrackingState, Verdict};
