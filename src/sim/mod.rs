//! Rank 5: the world and its step.

mod hand;
mod snapshot;
mod world;

pub use hand::{Hand, HandOptions};
pub use snapshot::{HandSnapshot, Snapshot};
pub use world::{HandId, Parameters, Status, StepReport, World};
