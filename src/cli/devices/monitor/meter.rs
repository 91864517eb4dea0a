use std::collections::VecDeque;

use crate::tracking::Side;

/// Time window of rate and jitter, s.
const RATE_WINDOW: f64 = 2.0;
/// A device that was silent for longer has no rate, s.
const SILENT_AFTER: f64 = 0.5;
/// Maximum number of stored times.
const MAX_SAMPLE_TIMES: usize = 4096;

/// Measures sample rate and jitter.
#[derive(Default)]
pub struct Meter {
    /// Samples of both hands since the start.
    pub samples: u64,
    times: [VecDeque<f64>; 2],
}

/// Rate and jitter over the time window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SampleRate {
    /// Samples per second.
    pub rate: f64,
    /// Standard deviation of the sample interval, s.
    pub jitter: f64,
}

impl Meter {
    /// Adds the time of a sample.
    pub fn take(&mut self, side: Side, time: f64) {
        self.samples += 1;
        let times = &mut self.times[side as usize];
        times.push_back(time);
        while times.len() > MAX_SAMPLE_TIMES || times.front().is_some_and(|first| time - first > RATE_WINDOW) {
            times.pop_front();
        }
    }

    /// Time of the latest sample.
    pub fn last(&self) -> Option<f64> {
        self.times.iter().filter_map(|times| times.back()).copied().reduce(f64::max)
    }

    /// Rate and jitter of the hand with the most samples; `None` with fewer than two samples in the window, and after
    /// silence.
    pub fn pace(&self, now: f64) -> Option<SampleRate> {
        self.last().filter(|last| now - last <= SILENT_AFTER)?;
        let recent =
            |times: &VecDeque<f64>| times.iter().copied().filter(|t| now - t <= RATE_WINDOW).collect::<Vec<_>>();
        let times = self.times.iter().map(recent).max_by_key(Vec::len)?;
        let count = times.len().checked_sub(1).filter(|count| *count > 0)? as f64;
        let mean = (times.last()? - times.first()?) / count;
        let square = times.windows(2).map(|pair| (pair[1] - pair[0] - mean).powi(2)).sum::<f64>() / count;
        (mean > 0.0).then(|| SampleRate { rate: 1.0 / mean, jitter: square.sqrt() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rate_and_jitter_are_those_of_the_last_seconds() {
        let mut meter = Meter::default();
        assert_eq!((meter.last(), meter.pace(0.0)), (None, None));
        // Slow at first, then 100 Hz with every other sample 2 ms late.
        (0..10).for_each(|i| meter.take(Side::Right, 0.5 * f64::from(i)));
        for i in 0..400 {
            meter.take(Side::Right, 10.0 + 0.01 * f64::from(i) + if i % 2 == 0 { 0.0 } else { 0.002 });
        }
        let pace = meter.pace(14.0).expect("samples");
        assert!((pace.rate - 100.0).abs() < 0.2, "{pace:?}");
        assert!((pace.jitter - 0.002).abs() < 1e-4, "{pace:?}");
        assert_eq!(meter.samples, 410);
        assert_eq!(meter.pace(14.6), None, "nothing came for long");
        assert!((meter.last().expect("a time") - 13.992).abs() < 1e-9);
    }
}
