//! Ctrl-C while devices run: what is played ends where it is, so that motors let go and files are whole. A second one ends the program.

use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);
/// What shells say of a program that was interrupted.
const INTERRUPTED: i32 = 130;

/// Whether somebody wants it to end.
pub fn is_asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

/// Ends the program as one that was interrupted.
pub fn end() -> ! {
    std::process::exit(INTERRUPTED)
}

/// From now on a request to end is noted; the next one is obeyed at once.
pub fn listen() {
    let note = || {
        if ASKED.swap(true, Ordering::Relaxed) {
            end();
        }
    };
    // Whoever cannot be told is ended as always.
    let _ = ctrlc::set_handler(note);
}
