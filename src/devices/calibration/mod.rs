//! Glove calibration from a few poses of the hand. Pure: readings in, parameters out; the dialogue and the reading of
//! the glove are elsewhere.
//!
//! A sensor i reads, with bends b from 0 (flat) to 1 (fist),
//!
//!   raw_i = flat_i + (fist_i - flat_i) (b_i + Σ_j c_ij b_j) + noise,    c_ii = 0.
//!
//! c is the crosstalk: the effect of other bends, as a fraction of this sensor's span. So `fist_i` is the reading when
//! only this sensor is bent; in a fist it is fist_i + (fist_i - flat_i) Σ_j c_ij. With this definition no pose is
//! special, and solving the model for b gives 0 everywhere for the flat hand and 1 everywhere for the fist.
//!
//! A spread sensor has its 0 at the flat hand with closed fingers, and its 1 at the spread hand.
//!
//! [`Calibration`] runs through its [`PoseStep`]s and rejects unusable ones with the reason; see `check`. The fit of flat,
//! fist and c is in `fit`.
//!
//! ```
//! use fingerpad::devices::calibration::{Calibration, PoseStep};
//! use fingerpad::protocol::{FlexReading, Sensor};
//! use fingerpad::tracking::Finger;
//!
//! let index = Sensor::Curl(Finger::Index);
//! let mut calibration = Calibration::new([index], []);
//! for (pose, raw) in [(PoseStep::Flat, 0.2), (PoseStep::Fist, 0.8)] {
//!     assert_eq!(calibration.current(), Some(pose));
//!     let readings: Vec<FlexReading> = (0..100).map(|_| FlexReading::of([(index, raw)])).collect();
//!     calibration.take(&readings).expect("a pose held still");
//! }
//! let found = &calibration.finish()[0];
//! assert!((found.flat - 0.2).abs() < 1e-9 && (found.fist - 0.8).abs() < 1e-9);
//! ```

mod average;
mod check;
mod fit;
mod hand_size;
mod mount;
mod profile;
mod refusal;
mod step;
#[cfg(test)]
mod tests;

pub use fit::SensorCalibration;
pub use hand_size::hand_length;
pub use mount::{Mount, MountFault};
pub use profile::{UserProfile, hand_file};
pub use refusal::{Reason, Refusal};
pub use step::{PoseStep, SensorPart};

use average::Average;

use crate::protocol::{FlexReading, SENSORS, Sensor};

/// Readings of the sensors in one step, by sensor index.
type Averages = [Option<Average>; SENSORS];

/// A calibration in progress.
#[derive(Clone, Debug)]
pub struct Calibration {
    sensors: Vec<Sensor>,
    steps: Vec<PoseStep>,
    taken: Vec<Averages>,
}

/// Progress of a calibration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CalibrationProgress {
    /// Completed steps.
    pub done: usize,
    /// Total number of steps.
    pub of: usize,
}

impl Calibration {
    /// Calibrates these sensors with these steps. Flat hand and fist are always included and come first.
    pub fn new(sensors: impl IntoIterator<Item = Sensor>, steps: impl IntoIterator<Item = PoseStep>) -> Self {
        let mut order = vec![PoseStep::Flat, PoseStep::Fist];
        for step in steps {
            if !order.contains(&step) {
                order.push(step);
            }
        }
        Self { sensors: sensors.into_iter().collect(), steps: order, taken: Vec::new() }
    }

    /// The sensors that are calibrated.
    pub fn sensors(&self) -> &[Sensor] {
        &self.sensors
    }

    /// All steps in order.
    pub fn steps(&self) -> &[PoseStep] {
        &self.steps
    }

    /// Current progress.
    pub fn progress(&self) -> CalibrationProgress {
        CalibrationProgress { done: self.taken.len(), of: self.steps.len() }
    }

    /// The current step; `None` when all are done.
    pub fn current(&self) -> Option<PoseStep> {
        self.steps.get(self.taken.len()).copied()
    }

    /// Undoes the last step.
    pub fn back(&mut self) {
        self.taken.pop();
    }

    /// Whether the hand is still over these readings, so that measuring can start.
    pub fn is_still(&self, readings: &[FlexReading]) -> bool {
        let averages = self.averages(readings);
        let is_still = |sensor: &Sensor| averages[sensor.index()].is_none_or(|one| self.moved(*sensor, &one).is_none());
        self.sensors.iter().all(is_still)
    }

    /// Number of readings that the current step needs, judged by those so far: more if the noise is large relative to
    /// the span.
    pub fn wanted(&self, readings: &[FlexReading]) -> usize {
        let averages = self.averages(readings);
        let wanted =
            |sensor: &Sensor| averages[sensor.index()].map_or(0, |average| check::wanted(&average, self.span(*sensor)));
        self.sensors.iter().map(wanted).max().unwrap_or(0).clamp(check::LEAST_READINGS, check::MOST_READINGS)
    }

    /// Adds the readings of the current step. If rejected, the step stays current and earlier steps are kept.
    pub fn take(&mut self, readings: &[FlexReading]) -> Result<CalibrationProgress, Vec<Refusal>> {
        let Some(step) = self.current() else { return Ok(self.progress()) };
        let averages = self.averages(readings);
        let refusals = self.check(step, &averages);
        if !refusals.is_empty() {
            return Err(refusals);
        }
        self.taken.push(averages);
        if self.current().is_none() {
            let refusals = self.check_fit();
            if !refusals.is_empty() {
                self.taken.pop();
                return Err(refusals);
            }
        }
        Ok(self.progress())
    }

    /// Fitted parameters of every sensor that some step moves; empty before the last step.
    pub fn finish(&self) -> Vec<SensorCalibration> {
        if self.current().is_some() { Vec::new() } else { fit::fit(&self.sensors, &self.steps, &self.taken) }
    }

    fn averages(&self, readings: &[FlexReading]) -> Averages {
        let mut averages = [None; SENSORS];
        for sensor in &self.sensors {
            let values: Vec<f64> = readings.iter().filter_map(|reading| reading.get(*sensor)).collect();
            averages[sensor.index()] = Average::of(&values);
        }
        averages
    }

    /// Reading of a sensor in a completed step.
    fn read(&self, step: PoseStep, sensor: Sensor) -> Option<f64> {
        let place = self.steps.iter().position(|s| *s == step)?;
        self.taken.get(place)?[sensor.index()].map(|average| average.value)
    }

    /// Signed span from the flat hand to the pose that moves the sensor most, if both are done.
    fn span(&self, sensor: Sensor) -> Option<f64> {
        let far = if SensorPart::of(sensor)? == SensorPart::Spread { PoseStep::Spread } else { PoseStep::Fist };
        Some(self.read(far, sensor)? - self.read(PoseStep::Flat, sensor)?)
    }
}
