//! A session behind a window: a thread that steps it, takes the commands of the window and reports to it. Neither waits for the
//! other. [`start`] returns the [`WindowLink`](crate::viewer::window::WindowLink) that [`show`](crate::viewer::window::show) needs;
//! `src/cli/view.rs` is the example of its use.

mod bodies;
mod cost;
mod due;
mod measures;
mod parameters;
mod playlist;
mod pull;
mod simulation;
mod summary;
#[cfg(test)]
mod tests;
mod traces;
mod watch;

pub use cost::Costs;
pub use simulation::{Ended, Interrupt, LiveOptions, start};
pub use summary::{RunStatistics, Summarize};
