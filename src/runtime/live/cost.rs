use std::fmt;

use super::measures::WorkTimes;
use crate::viewer::window::WindowCost;

/// Minimum number of steps of each kind for a comparison.
const MIN_STEPS: u64 = 30;
/// Steps after which the comparison is updated.
const UPDATE_INTERVAL: u64 = 200;

/// Cost of the steps of a simulation, and of a window for it.
#[derive(Default)]
pub struct Costs {
    steps: WorkTimes,
    /// Steps with and without a frame being drawn.
    drawn: WorkTimes,
    rested: WorkTimes,
    reports: WorkTimes,
    shown: WindowCost,
}

impl Costs {
    /// Adds a step of some duration, s, with or without a frame being drawn, or both.
    pub fn step(&mut self, time: f64, drawn: Option<bool>) {
        self.steps.add(time);
        match drawn {
            Some(true) => self.drawn.add(time),
            Some(false) => self.rested.add(time),
            None => {}
        }
        if self.steps.count().is_multiple_of(UPDATE_INTERVAL) {
            self.shown = self.measured();
        }
    }

    /// Adds a report of some duration, s.
    pub fn report(&mut self, time: f64) {
        self.reports.add(time);
    }

    /// Recent cost.
    pub fn now(&self) -> WindowCost {
        self.shown
    }

    /// Number of steps.
    #[cfg(test)]
    pub fn steps(&self) -> u64 {
        self.steps.count()
    }

    /// Number of reports.
    #[cfg(test)]
    pub fn reports(&self) -> u64 {
        self.reports.count()
    }

    fn measured(&self) -> WindowCost {
        let enough = self.drawn.count() >= MIN_STEPS && self.rested.count() >= MIN_STEPS;
        WindowCost {
            reports: self.reports.sum() / self.steps.sum().max(f64::MIN_POSITIVE),
            drawing: enough.then(|| self.drawn.median() / self.rested.median().max(f64::MIN_POSITIVE)),
        }
    }
}

impl fmt::Display for Costs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let cost = self.measured();
        write!(
            f,
            "{} steps, median {:.3} ms; {} reports for the window, {:.1} % of the time of the steps",
            self.steps.count(),
            1e3 * self.steps.median(),
            self.reports.count(),
            100.0 * cost.reports
        )?;
        if let Some(drawing) = cost.drawing {
            write!(
                f,
                "; a step takes {:.3} ms while a frame is drawn and {:.3} ms while none is, {drawing:.3} times as long",
                1e3 * self.drawn.median(),
                1e3 * self.rested.median()
            )?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_with_and_without_drawing_are_compared() {
        let mut costs = Costs::default();
        for i in 0..200 {
            costs.report(0.75e-4);
            costs.step(if i % 2 == 0 { 2e-3 } else { 1e-3 }, Some(i % 2 == 0));
        }
        let cost = costs.now();
        assert!((cost.reports - 0.05).abs() < 1e-12 && cost.drawing == Some(2.0), "{cost:?}");
        assert!(
            costs.to_string().contains("5.0 % of the time of the steps") && costs.to_string().contains("2.000 times")
        );
        costs.step(1.0, None);
        assert_eq!((costs.steps(), costs.reports(), costs.now()), (201, 200, cost));
    }

    #[test]
    fn too_few_steps_are_not_compared() {
        let mut costs = Costs::default();
        (0..200).for_each(|i| costs.step(1e-3, Some(i > 180)));
        assert_eq!(costs.now().drawing, None);
        assert!(!costs.to_string().contains("drawn"), "{costs}");
    }
}
