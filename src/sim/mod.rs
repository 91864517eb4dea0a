//! Rank 5: the world and its step.

mod touch;
mod world;

pub use touch::{Load, PressurePoint, Touch};
pub use world::{Parameters, StageTimes, Statistics, Status, StepReport, World};
