//! Ctrl-C while devices run: what is played ends where it is, so that motors let go and files are whole. A second one ends the program.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// When somebody first asked.
static ASKED: OnceLock<Instant> = OnceLock::new();
/// Requests so close together are one: a signal to a program and one to its group, as `timeout` sends them.
const SAME: Duration = Duration::from_millis(500);
/// What shells say of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Whether somebody wants it to end.
pub fn is_asked() -> bool {
    ASKED.get().is_some()
}

/// Ends the program as one that was interrupted.
pub fn end() -> ! {
    std::process::exit(INTERRUPTED)
}

/// From now on a request to end is noted; the next one is obeyed at once.
pub fn listen() {
    let note = || {
        if ASKED.get_or_init(Instant::now).elapsed() > SAME {
            end();
        }
    };
    // Whoever cannot be told is ended as always.
    let _ = ctrlc::set_handler(note);
}
