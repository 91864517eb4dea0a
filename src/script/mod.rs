//! Rank 7: Rhai scripts. The only module that uses rhai.
//!
//! A script runs in its own thread, but only while the simulation is paused: a call that takes simulated time, such as
//! `wait(0.5)`, returns control to the simulation until that time. [`ScriptRun`] steps both.
//!
//! ```
//! use fingerpad::script::check;
//!
//! assert!(check("mine.rhai", "let hand = hand(\"right\"); hand.pose(\"fist\", 0.5);").is_ok());
//! let errors = check("mine.rhai", "wiat(0.5);").expect_err("a misspelt function");
//! assert!(errors[0].to_string().contains("wait"));
//! ```

mod api;
mod callback;
mod check;
mod conductor;
mod docs;
mod error;
mod events;
mod grasp;
mod limits;
mod load;
mod memory;
mod modules;
mod plan;
mod puppet;
mod run;
mod state;
mod task;
mod track;

pub use check::{check, check_file};
pub use docs::{definitions, reference};
pub use error::ScriptError;
pub use memory::CountingAllocator;
pub use run::{RunState, SceneGuard, ScriptOptions, ScriptRun};
pub use task::{Phase, TaskOutcome, TrialOutcome};
