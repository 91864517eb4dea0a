use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::error::Error;
use crate::haptics::{Reader, Writer, latest};
use crate::sim::two_rate::HapticReport;

/// Delay, in periods, after which the loop restarts from the clock instead of catching up.
const MAX_LATE_PERIODS: f64 = 3.0;

/// Part of the period that a solver may take in a step.
pub(super) const SOLVER_BUDGET: f64 = 0.5;

/// Steps of the loop between two updates of its figures.
const FIGURES: u64 = 50;

/// What a haptic thread does in every period.
pub(super) trait PeriodicStep: Send + 'static {
    /// One step, at a time on the clock of the loop, s. It must not wait.
    fn step(&mut self, now: f64);

    /// Leaves the device without force.
    fn release(&mut self);

    /// The figures so far.
    fn figures(&self) -> HapticReport;
}

/// A thread that runs a haptic loop at a fixed rate. Stopping or dropping ends it and leaves the device without force.
pub(super) struct LoopThread {
    noted: Reader<HapticReport>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<HapticReport>>,
}

impl LoopThread {
    /// Starts a loop of some period, s.
    pub fn start(period: f64, work: impl PeriodicStep) -> Result<Self, Error> {
        let (notes, noted) = latest(&work.figures());
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("haptics".into())
            .spawn(move || run(period, work, notes, &asked))
            .map_err(|error| Error::Thread { name: "the haptic loop".into(), error })?;
        Ok(Self { noted, stop, thread: Some(thread) })
    }

    /// Figures of the loop, at most [`FIGURES`] steps old.
    pub fn figures(&mut self) -> HapticReport {
        *self.noted.read()
    }

    /// Ends the loop and returns its figures.
    ///
    /// # Panics
    ///
    /// If the thread has panicked.
    pub fn stop(mut self) -> Option<HapticReport> {
        self.stop.store(true, Ordering::Release);
        match self.thread.take()?.join() {
            Ok(report) => Some(report),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    }
}

impl Drop for LoopThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// Releases the device also if the loop panics.
struct Released<W: PeriodicStep>(W);

impl<W: PeriodicStep> Drop for Released<W> {
    fn drop(&mut self) {
        self.0.release();
    }
}

fn run(period: f64, work: impl PeriodicStep, mut notes: Writer<HapticReport>, stop: &AtomicBool) -> HapticReport {
    let mut work = Released(work);
    let start = Instant::now();
    let (mut due, mut steps) = (0.0, 0);
    while !stop.load(Ordering::Acquire) {
        let now = start.elapsed().as_secs_f64();
        if now < due {
            std::thread::sleep(Duration::from_secs_f64(due - now));
            continue;
        }
        due = if now - due > MAX_LATE_PERIODS * period { now } else { due } + period;
        work.0.step(now);
        steps += 1;
        if steps % FIGURES == 0 {
            notes.write(work.0.figures());
        }
    }
    work.0.figures()
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::*;
    use crate::haptics::{HapticOptions, LoopStatistics};

    /// Counts what the thread does; `fails_at` is the step that panics.
    struct Counter {
        steps: u64,
        fails_at: u64,
        log: Arc<Mutex<(Vec<f64>, u64)>>,
    }

    impl PeriodicStep for Counter {
        fn step(&mut self, now: f64) {
            self.steps += 1;
            assert!(self.steps != self.fails_at, "the step that fails");
            self.log.lock().expect("a log").0.push(now);
        }

        fn release(&mut self) {
            self.log.lock().expect("a log").1 += 1;
        }

        fn figures(&self) -> HapticReport {
            HapticReport { unconverged: self.steps, ..no_figures() }
        }
    }

    fn no_figures() -> HapticReport {
        let period = HapticOptions::default().period;
        let periods = LoopStatistics::new(period).report();
        HapticReport {
            rate: 1.0 / period,
            periods,
            cost: periods,
            faults: 0,
            least_energy: 0.0,
            device_force: 0.0,
            unconverged: 0,
            constraints: 0,
        }
    }

    #[test]
    fn steps_are_a_period_apart_and_the_device_is_released_once() {
        let log = Arc::default();
        let work = Counter { steps: 0, fails_at: 0, log: Arc::clone(&log) };
        let thread = LoopThread::start(2e-3, work).expect("a thread");
        std::thread::sleep(Duration::from_millis(300));
        let figures = thread.stop().expect("figures");
        let (times, released) = &*log.lock().expect("a log");
        assert_eq!((figures.unconverged as usize, *released), (times.len(), 1));
        assert!(times.len() > 10 && times.len() <= 200, "{}", times.len());
        // A step is at most three periods late; then it is caught up. So twenty steps take at least sixteen periods.
        assert!(times.windows(20).all(|t| t[19] - t[0] > 16.0 * 2e-3 - 1e-9), "{times:?}");
    }

    #[test]
    fn a_panic_releases_the_device() {
        let log = Arc::default();
        let work = Counter { steps: 0, fails_at: 3, log: Arc::clone(&log) };
        let mut thread = LoopThread::start(1e-3, work).expect("a thread");
        while !thread.thread.as_ref().is_some_and(JoinHandle::is_finished) {
            std::thread::sleep(Duration::from_millis(1));
        }
        assert_eq!(thread.figures().unconverged, 0);
        drop(thread);
        assert_eq!(log.lock().expect("a log").1, 1);
    }
}
