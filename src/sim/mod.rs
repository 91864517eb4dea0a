//! Rank 5: the world and its step.

mod snapshot;
mod world;

pub use snapshot::{HandSnapshot, Snapshot};
pub use world::{Parameters, StageTimes, Statistics, Status, StepReport, World};
