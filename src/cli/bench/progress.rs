use std::fmt::Display;
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use crate::cli::{Talk, terminal};

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
            terminal::control(format!("\r\x1b[K{}", terminal::plain(&message.to_string())));
            self.last = Some(Instant::now());
        }
    }

    /// Clears the line, so that something else can be printed.
    pub fn clear(&mut self) {
        if self.last.take().is_some() {
            terminal::control("\r\x1b[K");
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Progress over jobs of which some take longer than others.
pub struct Bar {
    progress: Progress,
    started: Instant,
    /// How long each job is thought to take, against the others.
    weights: Vec<f64>,
    done: usize,
}

/// Characters between the brackets.
const WIDTH: usize = 24;

impl Bar {
    /// A bar over some jobs, by their weights.
    pub fn new(talk: Talk, weights: Vec<f64>) -> Self {
        Self { progress: Progress::new(talk), started: Instant::now(), weights, done: 0 }
    }

    /// Shows how much of the present job is done, from 0 to 1, and what it is.
    pub fn show(&mut self, part: f64, message: impl Display) {
        let line = line(&self.weights, self.done, part, self.started.elapsed().as_secs_f64(), &message);
        self.progress.show(line);
    }

    /// Clears the line, so that something else can be printed.
    pub fn clear(&mut self) {
        self.progress.clear();
    }

    /// Takes the present job as done, and clears the line.
    pub fn finish_job(&mut self) {
        self.done += 1;
        self.clear();
    }
}

/// The bar, the jobs done, the present one, and the time that is left if all goes on as it went.
fn line(weights: &[f64], done: usize, part: f64, elapsed: f64, message: &dyn Display) -> String {
    let present = weights.get(done).copied().unwrap_or(0.0);
    let finished = weights.iter().take(done).sum::<f64>() + part.clamp(0.0, 1.0) * present;
    let all = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    let full = ((finished / all * WIDTH as f64) as usize).min(WIDTH);
    let bar = format!("{}{}", "█".repeat(full), "░".repeat(WIDTH - full));
    // At first there is nothing to judge by.
    let left = if elapsed > 1.0 && finished > 0.0 {
        format!(", about {} left", spoken(elapsed / finished * (all - finished)))
    } else {
        String::new()
    };
    format!("{bar} {done} of {} done{left}; {message}", weights.len())
}

fn spoken(seconds: f64) -> String {
    let seconds = seconds.round() as u64;
    if seconds < 90 { format!("{seconds} s") } else { format!("{} min {:02} s", seconds / 60, seconds % 60) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_left_follows_the_weights() {
        let weights = [1.0, 3.0, 4.0];
        // Half of all is done in 30 s, so 30 s are left.
        let shown = line(&weights, 2, 0.0, 30.0, &"ball");
        assert!(shown.contains("2 of 3 done, about 30 s left; ball"), "{shown}");
        assert_eq!(shown.matches('█').count(), WIDTH / 2);
        assert!(line(&weights, 0, 0.5, 60.0, &"").contains("about 15 min 00 s left"));
        assert!(!line(&weights, 0, 0.0, 60.0, &"").contains("left"));
        // More than everything is everything.
        assert_eq!(line(&weights, 3, 7.0, 9.0, &"").matches('█').count(), WIDTH);
        assert!(line(&[], 0, 0.0, 9.0, &"").contains("0 of 0"));
    }
}
