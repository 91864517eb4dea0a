//! Requests to end, by Ctrl-C or a signal: what is played ends after its step, so that motors let go and files are whole. A second request
//! ends the program at once.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// When the first request came.
static FIRST_REQUEST: OnceLock<Instant> = OnceLock::new();
/// Whether SIGQUIT came; its handler may do no more than set this.
static QUIT: AtomicBool = AtomicBool::new(false);
/// Requests so close together are one: a signal to a program and one to its group, as `timeout` sends them.
const SAME_REQUEST: Duration = Duration::from_millis(500);
/// Exit code of a program that was interrupted, as shells give it.
pub const INTERRUPTED: u8 = 130;

/// Whether an end of the program was requested.
pub fn is_asked() -> bool {
    FIRST_REQUEST.get().is_some() || QUIT.load(Ordering::Relaxed)
}

/// Ends the program as one that was interrupted.
pub fn end() -> ! {
    std::process::exit(INTERRUPTED.into())
}

/// A file that reaches the limit of `ulimit -f` is an error of its writer. By default a signal ends the program instead, with all files
/// cut off.
#[cfg(unix)]
pub fn ignore_size_limit() {
    // SAFETY: the disposition of a signal is set to a constant of the system, and no other code here uses this signal.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

/// From now on a first request to end, by SIGINT, SIGTERM, SIGHUP or SIGQUIT, is noted; the next one ends the program.
pub fn listen() {
    let note = || {
        if FIRST_REQUEST.get_or_init(Instant::now).elapsed() > SAME_REQUEST {
            end();
        }
    };
    // Without a handler signals end the program as they do by default.
    let _ = ctrlc::set_handler(note);
    #[cfg(unix)]
    note_quit();
}

/// Handles the first SIGQUIT as a request to end; the second has its default effect.
#[cfg(unix)]
fn note_quit() {
    extern "C" fn note(_: libc::c_int) {
        QUIT.store(true, Ordering::Relaxed);
    }
    // SAFETY: `action` is a valid sigaction with an empty mask, and its handler only stores to an atomic, which is allowed in handlers.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = note as *const () as libc::sighandler_t;
        action.sa_flags = libc::SA_RESTART | libc::SA_RESETHAND;
        libc::sigemptyset(&mut action.sa_mask);
        libc::sigaction(libc::SIGQUIT, &action, std::ptr::null_mut());
    }
}
