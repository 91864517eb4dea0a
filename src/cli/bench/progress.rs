use std::fmt::Display;
use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

use crate::cli::Talk;

/// A line on stderr that says how far things are, and is gone at the end. Where nobody looks, there is none.
pub struct Progress {
    shown: bool,
    last: Option<Instant>,
}

impl Progress {
    /// A line that is still empty.
    pub fn new(talk: Talk) -> Self {
        Self { shown: talk >= Talk::Normal && std::io::stderr().is_terminal(), last: None }
    }

    /// Replaces the line, but not so often that it costs time.
    pub fn show(&mut self, message: impl Display) {
        if self.shown && self.last.is_none_or(|last| last.elapsed() > Duration::from_millis(100)) {
            eprint!("\r\x1b[K{message}");
            // A terminal that is gone is no reason to stop.
            let _ = std::io::stderr().flush();
            self.last = Some(Instant::now());
        }
    }

    /// Clears the line, so that something else can be printed.
    pub fn clear(&mut self) {
        if self.last.take().is_some() {
            eprint!("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}
