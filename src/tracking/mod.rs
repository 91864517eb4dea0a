//! Rank 1: layer 1 of the hand: tracked samples with time stamps and validity.

mod inlet;
mod motion;
mod names;
mod tracked;

pub use inlet::{Inlet, SampleSource};
pub use motion::{PoseKey, PoseSequence, minimum_jerk};
pub use names::{ANGLES, Angle, AngleKind, Finger, PHALANGES, SEGMENTS, Segment, Side};
pub use tracked::{Driven, DropReason, HandSample, Limits, TrackedHand, TrackingState, Verdict};
