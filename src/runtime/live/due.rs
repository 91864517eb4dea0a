use std::time::{Duration, Instant};

/// When the next report is due: when the window has taken the last, or when that is old. So a slow window does not get
/// an old report, and a fast simulation makes few unused ones.
pub struct Due {
    made: Instant,
}

impl Due {
    /// Poll interval while waiting for a request.
    pub const LOOK: Duration = Duration::from_millis(8);
    /// Minimum interval between reports.
    const LEAST: Duration = Duration::from_millis(8);
    /// Age at which an unread report is replaced.
    const OLD: Duration = Duration::from_millis(50);

    /// No report yet.
    pub fn new(now: Instant) -> Self {
        Self { made: now }
    }

    /// Whether to make a report now.
    pub fn is_due(&self, now: Instant, wanted: bool) -> bool {
        now - self.made >= if wanted { Self::LEAST } else { Self::OLD }
    }

    /// A report was made.
    pub fn made(&mut self, now: Instant) {
        self.made = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reports made and taken in a second of steps, with a window that reads after some number of steps.
    fn played(steps: u32, look_every: u32) -> (u32, u32) {
        let start = Instant::now();
        let mut due = Due::new(start);
        let (mut made, mut taken, mut is_there) = (0, 0, false);
        for step in 1..=steps {
            let now = start + Duration::from_secs(1) * step / steps;
            if due.is_due(now, !is_there) {
                due.made(now);
                (made, is_there) = (made + 1, true);
            }
            if step % look_every == 0 && is_there {
                (taken, is_there) = (taken + 1, false);
            }
        }
        (made, taken)
    }

    #[test]
    fn no_unnecessary_reports_are_made() {
        for steps in [1_000, 5_000] {
            // A read every 16 ms: 62 of them, and one report is left at the end.
            let (made, taken) = played(steps, steps * 16 / 1_000);
            assert_eq!((made, taken), (63, 62), "{steps}");
        }
    }

    #[test]
    fn a_slow_window_gets_a_recent_report() {
        // Two reads per second: one report in 50 ms, and one more after the read.
        let (made, taken) = played(1_000, 400);
        assert_eq!(taken, 2);
        assert!((20..=24).contains(&made), "{made}");
    }
}
