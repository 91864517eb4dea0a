use std::fmt::Display;
use std::time::Instant;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::cli::{Talk, terminal};

/// A line on stderr that shows progress and is removed at the end. It is drawn 20 times a second at most, cut at the width of the terminal, and not
/// drawn at all where stderr is not a terminal.
pub struct Progress {
    line: ProgressBar,
}

impl Progress {
    /// An empty line.
    pub fn new(talk: Talk) -> Self {
        let shown = talk >= Talk::Normal;
        let target = if shown { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let line = ProgressBar::with_draw_target(None, target);
        line.set_style(style("{wide_msg}"));
        Self { line }
    }

    /// Replaces the line; threads may share it.
    pub fn show(&self, message: impl Display) {
        self.line.set_message(terminal::plain(&message.to_string()).into_owned());
    }

    /// Clears the line before other output.
    pub fn clear(&mut self) {
        // Resetting allows the line to be drawn again after it was cleared.
        self.line.finish_and_clear();
        self.line.reset();
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.line.finish_and_clear();
    }
}

fn style(template: &str) -> ProgressStyle {
    // ok: the templates are constants, and a test draws them.
    ProgressStyle::with_template(template).unwrap().progress_chars("█░")
}

/// Progress over jobs of different weight.
pub struct JobProgress {
    progress: Progress,
    started: Instant,
    /// Relative duration of each job.
    weights: Vec<f64>,
    done: usize,
}

/// Ticks of the whole bar.
const TICKS: u64 = 10_000;

impl JobProgress {
    /// A bar over jobs with the given weights.
    pub fn new(talk: Talk, weights: Vec<f64>) -> Self {
        let progress = Progress::new(talk);
        progress.line.set_style(style("{bar:24} {wide_msg}"));
        progress.line.set_length(TICKS);
        Self { progress, started: Instant::now(), weights, done: 0 }
    }

    /// Shows the current job and its progress, from 0 to 1.
    pub fn show(&mut self, part: f64, message: impl Display) {
        let (done, line) = line(&self.weights, self.done, part, self.started.elapsed().as_secs_f64(), &message);
        self.progress.line.set_position((done * TICKS as f64) as u64);
        self.progress.show(line);
    }

    /// Clears the line before other output.
    pub fn clear(&mut self) {
        self.progress.clear();
    }

    /// Marks the current job as done and clears the line.
    pub fn finish_job(&mut self) {
        self.done += 1;
        self.clear();
    }
}

/// The part that is done, and in words the jobs done, the present one, and the time left at the same pace. The estimate of `indicatif` assumes ticks
/// of equal length, so it is made here by the weights.
fn line(weights: &[f64], done: usize, part: f64, elapsed: f64, message: &dyn Display) -> (f64, String) {
    let present = weights.get(done).copied().unwrap_or(0.0);
    let finished = weights.iter().take(done).sum::<f64>() + part.clamp(0.0, 1.0) * present;
    let all = weights.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    // No estimate at the very beginning.
    let left = if elapsed > 1.0 && finished > 0.0 {
        format!(", about {} left", spoken(elapsed / finished * (all - finished)))
    } else {
        String::new()
    };
    ((finished / all).min(1.0), format!("{done} of {} done{left}; {message}", weights.len()))
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
        // Half of the work took 30 s, so 30 s are left.
        let (part, shown) = line(&weights, 2, 0.0, 30.0, &"ball");
        assert_eq!((part, shown.as_str()), (0.5, "2 of 3 done, about 30 s left; ball"));
        assert!(line(&weights, 0, 0.5, 60.0, &"").1.contains("about 15 min 00 s left"));
        assert!(!line(&weights, 0, 0.0, 60.0, &"").1.contains("left"));
        assert_eq!(line(&weights, 3, 7.0, 9.0, &"").0, 1.0, "no more than everything");
        assert!(line(&[], 0, 0.0, 9.0, &"").1.contains("0 of 0"));
    }

    #[test]
    fn a_line_can_be_shown_again_after_it_was_cleared() {
        let mut bar = JobProgress::new(Talk::Quiet, vec![1.0, 1.0]);
        bar.show(0.5, "one");
        bar.finish_job();
        bar.show(0.5, "two");
        assert_eq!(bar.progress.line.position(), 3 * TICKS / 4);
        assert!(!bar.progress.line.is_finished());
    }
}
