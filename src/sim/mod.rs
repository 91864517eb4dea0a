//! Rank 5: the world and its step.

mod snapshot;
mod touch;
mod world;

pub use snapshot::{HandSnapshot, Snapshot};
pub use touch::{Load, PressurePoint, Touch};
pub use world::{Parameters, StageTimes, Statistics, Status, StepReport, World};
