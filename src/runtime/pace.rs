use std::time::{Duration, Instant};

/// Maximum number of steps, or time, s, to catch up after a delay; the rest is dropped, and the simulation falls behind
/// real time.
const CATCH_UP: f64 = 4.0;
const CATCH_UP_TIME: f64 = 0.1;
/// Rate of averaging the achieved speed, 1/s.
const AVERAGE: f64 = 2.0;

/// When the next step is due.
pub struct Pace {
    /// Requested speed, relative to real time.
    pub speed: f64,
    /// Simulated time to catch up, s.
    owed: f64,
    looked: Instant,
    reached: f64,
    simulated: f64,
    since: Instant,
}

impl Pace {
    /// Starts at real time.
    pub fn new(now: Instant) -> Self {
        Self { speed: 1.0, owed: 0.0, looked: now, reached: 0.0, simulated: 0.0, since: now }
    }

    /// Advances the clock; returns whether a step of some length, s, is due.
    pub fn is_due(&mut self, now: Instant, dt: f64) -> bool {
        self.owed += self.speed * now.duration_since(self.looked).as_secs_f64();
        self.owed = self.owed.min((CATCH_UP * dt).max(self.speed.min(1.0) * CATCH_UP_TIME));
        self.looked = now;
        // Tolerance for rounding.
        self.owed >= dt * (1.0 - 1e-9)
    }

    /// Time until the next step.
    pub fn wait(&self, dt: f64) -> Duration {
        Duration::from_secs_f64(((dt - self.owed) / self.speed).clamp(0.0, 1.0))
    }

    /// A step was made.
    pub fn stepped(&mut self, now: Instant, dt: f64) {
        self.owed = (self.owed - dt).max(0.0);
        self.simulated += dt;
        let wall = now.duration_since(self.since).as_secs_f64();
        if wall > 0.25 {
            let part = 1.0 - (-AVERAGE * wall).exp();
            let speed = self.simulated / wall;
            self.reached = if self.reached == 0.0 { speed } else { self.reached + part * (speed - self.reached) };
            (self.simulated, self.since) = (0.0, now);
        }
    }

    /// Clears the time to catch up.
    pub fn rest(&mut self, now: Instant) {
        (self.owed, self.looked, self.simulated, self.since) = (0.0, now, 0.0, now);
    }

    /// Recently achieved speed, relative to real time.
    pub fn reached(&self) -> f64 {
        self.reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn steps(pace: &mut Pace, now: Instant, dt: f64) -> usize {
        let mut made = 0;
        while pace.is_due(now, dt) {
            pace.stepped(now, dt);
            made += 1;
        }
        made
    }

    #[test]
    fn the_pace_follows_the_clock_and_the_factor() {
        let start = Instant::now();
        for (speed, expected) in [(1.0, 100), (0.5, 50), (2.0, 200)] {
            let mut pace = Pace { speed, ..Pace::new(start) };
            let at = |ms: u64| start + Duration::from_millis(ms);
            let made: usize = (1..=250).map(|i| steps(&mut pace, at(4 * i), 0.01)).sum();
            assert!(made.abs_diff(expected) <= 1, "{made} steps in a second at {speed}");
            assert!((pace.reached() - speed).abs() < 0.1 * speed, "{}", pace.reached());
        }
    }

    #[test]
    fn the_pace_catches_up_by_a_few_steps_at_most() {
        let start = Instant::now();
        let mut pace = Pace::new(start);
        assert_eq!(steps(&mut pace, start + Duration::from_secs(60), 0.01), 10);
        pace.rest(start + Duration::from_secs(90));
        assert_eq!(steps(&mut pace, start + Duration::from_secs(90), 0.01), 0);
        let wait = pace.wait(0.01);
        assert!(wait <= Duration::from_millis(10) && wait > Duration::from_millis(9), "{wait:?}");
    }
}
