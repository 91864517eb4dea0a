use std::io::{BufRead, IsTerminal};
use std::time::{Duration, Instant};

use crate::cli::Talk;
use crate::cli::bench::progress::Progress;

/// Dialogue with the user, on a terminal or without one.
pub struct People {
    /// Length of the countdown, s; `None` waits for Enter.
    countdown: Option<f64>,
    talk: Talk,
    progress: Progress,
}

/// User input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Continue.
    Ready,
    /// Repeat the previous pose.
    Back,
    /// Quit.
    Quit,
}

impl People {
    pub fn new(yes: bool, countdown: f64, talk: Talk) -> Self {
        let asked = !yes && std::io::stdin().is_terminal();
        Self { countdown: (!asked).then_some(countdown), talk, progress: Progress::new(talk) }
    }

    /// Whether there is no keyboard input.
    pub fn are_counted_down(&self) -> bool {
        self.countdown.is_some()
    }

    /// Prints a permanent line.
    pub fn say(&mut self, message: impl std::fmt::Display) {
        self.progress.clear();
        self.talk.say(message);
    }

    /// Updates the progress line.
    pub fn show(&mut self, message: impl std::fmt::Display) {
        self.progress.show(message);
    }

    /// A progress bar.
    pub fn show_bar(&mut self, done: f64, words: &str) {
        const WIDTH: usize = 30;
        let filled = (done.clamp(0.0, 1.0) * WIDTH as f64).round() as usize;
        self.show(format_args!("  {}{} {words}", "█".repeat(filled), "·".repeat(WIDTH - filled)));
    }

    /// Waits until the user is ready for the pose.
    pub fn wait(&mut self) -> Answer {
        self.progress.clear();
        let Some(seconds) = self.countdown else { return self.ask() };
        let end = Instant::now() + Duration::from_secs_f64(seconds);
        while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero()) {
            self.show(format_args!("  in {:.0} s", left.as_secs_f64().ceil()));
            std::thread::sleep(left.min(Duration::from_millis(100)));
        }
        self.progress.clear();
        Answer::Ready
    }

    fn ask(&self) -> Answer {
        // Also printed with --quiet, since the program waits for input.
        eprint!("  Press Enter when ready (b: repeat the previous pose, q: quit without saving) ");
        let mut line = String::new();
        match std::io::stdin().lock().read_line(&mut line) {
            Ok(0) | Err(_) => Answer::Quit,
            Ok(_) => match line.trim().to_lowercase().as_str() {
                "b" => Answer::Back,
                "q" => Answer::Quit,
                _ => Answer::Ready,
            },
        }
    }
}
