//! Rank 7: Rhai scripts. The only module that names rhai.
//!
//! A script is a story with pauses. It runs in a thread of its own, but only while the simulation stands still: a
//! call that takes time,
//! as `wait(0.5)`, gives the baton back until its time has come. [`ScriptRun`] steps both.

mod api;
mod callback;
mod check;
mod conductor;
mod docs;
mod error;
mod events;
mod grasp;
mod last_step;
mod limits;
mod load;
mod memory;
mod modules;
mod puppet;
mod run;
mod state;
mod task;
mod track;
mod words;

pub use check::{check, check_file};
pub use docs::{definitions, reference};
pub use error::ScriptError;
pub use memory::CountingAllocator;
pub use run::{RunState, SceneGuard, ScriptOptions, ScriptRun};
pub use task::{Phase, TaskOutcome, TrialOutcome};
