//! Rank 1: layer 1 of the hand: tracked samples with time stamps and validity.
//!
//! ```
//! use fingerpad::math::Pose;
//! use fingerpad::tracking::{ANGLES, HandSample, Limits, TrackedHand, Verdict};
//!
//! let mut hand = TrackedHand::new(Pose::identity(), [0.0; ANGLES], Limits::default());
//! let at = |x: f64| Pose::translation(x, 0.0, 0.0);
//! assert_eq!(hand.accept(HandSample::full(0.00, at(0.00), [0.0; ANGLES])), Verdict::Accepted);
//! assert_eq!(hand.accept(HandSample::full(0.01, at(0.01), [0.0; ANGLES])), Verdict::Accepted);
//! // A metre in 10 ms is a glitch until later samples agree with it.
//! assert_eq!(hand.accept(HandSample::full(0.02, at(1.00), [0.0; ANGLES])), Verdict::Suspect);
//! assert_eq!(hand.palm(), &at(0.01));
//! ```

mod inlet;
mod motion;
mod names;
mod tracked;

pub use inlet::{Inlet, SampleSource};
pub use motion::{PoseKey, PoseSequence, minimum_jerk};
pub use names::{ANGLES, Angle, AngleKind, Finger, PHALANGES, SEGMENTS, Segment, Side};
pub use tracked::{Driven, DropReason, HandSample, Limits, TrackedHand, TrackingState, Verdict};
