use crate::math::Vec3;

/// Bins of the histogram of periods. Each is a hundredth of the nominal period wide; the last holds all longer ones.
const PERIOD_BINS: usize = 1001;

/// Periods of a loop, without allocation while it runs.
#[derive(Clone, Debug)]
pub struct LoopStatistics {
    nominal: f64,
    bins: Vec<u32>,
    last: Option<f64>,
    longest: f64,
    missed: u64,
    count: u64,
    gap: f64,
    peak: f64,
}

/// What a loop did.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LoopReport {
    /// Periods counted.
    pub count: u64,
    /// Median of the period, s.
    pub median: f64,
    /// 99th percentile, s.
    pub p99: f64,
    /// 99.9th percentile, s.
    pub p999: f64,
    /// The longest, s.
    pub longest: f64,
    /// Periods longer than one and a half nominal ones.
    pub missed_deadlines: u64,
    /// Largest difference between the forces of the haptic and the simulation loop, N.
    pub force_difference: f64,
    /// Largest force of the simulation loop, N.
    pub peak_force: f64,
}

impl LoopStatistics {
    /// For a loop with this period, s.
    pub fn new(nominal: f64) -> Self {
        Self { nominal, bins: vec![0; PERIOD_BINS], last: None, longest: 0.0, missed: 0, count: 0, gap: 0.0, peak: 0.0 }
    }

    /// A step begins.
    pub fn tick(&mut self, now: f64) {
        if let Some(last) = self.last {
            self.record(now - last);
        }
        self.last = Some(now);
    }

    /// A period, or another duration of a step, s.
    pub fn record(&mut self, period: f64) {
        let bin = (100.0 * period / self.nominal).clamp(0.0, (PERIOD_BINS - 1) as f64) as usize;
        self.bins[bin] = self.bins[bin].saturating_add(1);
        self.longest = self.longest.max(period);
        self.missed += u64::from(period > 1.5 * self.nominal);
        self.count += 1;
    }

    /// The forces of both loops on the same tool, N.
    pub fn compare(&mut self, haptic: &Vec3, simulated: &Vec3) {
        self.gap = self.gap.max((haptic - simulated).norm());
        self.peak = self.peak.max(simulated.norm());
    }

    /// Upper edge of the bin in which a part of the periods is reached.
    fn percentile(&self, part: f64) -> f64 {
        let wanted = (part * self.count as f64).ceil() as u64;
        let mut seen = 0;
        for (i, n) in self.bins.iter().enumerate() {
            seen += u64::from(*n);
            if seen >= wanted && seen > 0 {
                return if i + 1 == PERIOD_BINS { self.longest } else { (i + 1) as f64 * self.nominal / 100.0 };
            }
        }
        0.0
    }

    /// The figures so far.
    pub fn report(&self) -> LoopReport {
        LoopReport {
            count: self.count,
            median: self.percentile(0.5),
            p99: self.percentile(0.99),
            p999: self.percentile(0.999),
            longest: self.longest,
            missed_deadlines: self.missed,
            force_difference: self.gap,
            peak_force: self.peak,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_and_deadlines() {
        let mut statistics = LoopStatistics::new(1e-3);
        let mut now = 0.0;
        statistics.tick(now);
        for i in 0..1000 {
            now += if i % 100 == 7 { 2.5e-3 } else { 1.0e-3 };
            statistics.tick(now);
        }
        let report = statistics.report();
        assert_eq!((report.count, report.missed_deadlines), (1000, 10));
        assert!((report.median - 1e-3).abs() < 2e-5 && (report.longest - 2.5e-3).abs() < 1e-9, "{report:?}");
        assert!((report.p99 - 1e-3).abs() < 2e-5 && (report.p999 - 2.5e-3).abs() < 3e-5, "{report:?}");
    }
}
