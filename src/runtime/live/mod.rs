//! A session behind a window: a thread that steps it, takes the commands of the window and reports to it. Neither waits for the
//! other. [`start`] returns the [`WindowLink`](crate::viewer::window::WindowLink) that [`show`](crate::viewer::window::show) needs;
//! `src/cli/view.rs` is the example of its use.
//!
//! ```no_run
//! use std::path::Path;
//! use fingerpad::runtime::Session;
//! use fingerpad::runtime::live::{LiveOptions, start};
//! use fingerpad::viewer::window::Command;
//!
//! let session = Session::load(Path::new("ball"), &[])?;
//! let (link, thread) = start(session, LiveOptions::default())?;
//! // A window would send commands for keys and buttons, and draw the reports.
//! link.send(Command::Quit);
//! let ended = thread.join().expect("no panic");
//! println!("{:?}", ended.success);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
