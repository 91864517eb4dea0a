//! From a hand in a few poses to the calibration of its glove. Pure: readings in, numbers out; who asks the user to hold a
//! pose, and reads the glove, is elsewhere.
//!
//! A sensor i reads, with bends b from 0 (flat) to 1 (fist),
//!
//!   raw_i = flat_i + (fist_i - flat_i) (b_i + Σ_j c_ij b_j) + noise,    c_ii = 0.
//!
//! c is the crosstalk: what the bends of others pull along, in parts of this sensor's span. So `fist_i` is what the sensor reads
//! when it alone is bent; in a fist it reads fist_i + (fist_i - flat_i) Σ_j c_ij. Taken so, no pose is special, and what solves
//! the model for b gives 0 everywhere for the flat hand and 1 everywhere for the fist.
//!
//! A sensor that measures how fingers are spread has its 0 at the flat hand with its fingers closed, and its 1 at the spread hand.
//!
//! [`Calibration`] asks for its [`Step`]s one after another, and refuses those that cannot be used, with the reason; see `check`.
//! How flat, fist and c follow from the steps stands in `fit`.

mod average;
mod check;
mod fit;
mod hand_size;
mod profile;
mod refusal;
mod step;
#[cfg(test)]
mod tests;

pub use fit::SensorCalibration;
pub use hand_size::hand_length;
pub use profile::{UserProfile, hand_file};
pub use refusal::{Reason, Refusal};
pub use step::{Part, Step};

use average::Average;

use crate::protocol::{FlexReading, SENSORS, Sensor};

/// What the sensors read in one step, by the index of the sensor.
type Averages = [Option<Average>; SENSORS];

/// A calibration under way.
#[derive(Clone, Debug)]
pub struct Calibration {
    sensors: Vec<Sensor>,
    steps: Vec<Step>,
    taken: Vec<Averages>,
}

/// How far a calibration is, after a step was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// Steps that are done.
    pub done: usize,
    /// Steps there are.
    pub of: usize,
}

impl Calibration {
    /// Of these sensors, by these steps. Flat hand and fist are always among them, and come first.
    pub fn new(sensors: impl IntoIterator<Item = Sensor>, steps: impl IntoIterator<Item = Step>) -> Self {
        let mut order = vec![Step::Flat, Step::Fist];
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

    /// All steps, in their order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        Progress { done: self.taken.len(), of: self.steps.len() }
    }

    /// The step that comes now; `None` once all are done.
    pub fn current(&self) -> Option<Step> {
        self.steps.get(self.taken.len()).copied()
    }

    /// Takes back the step that was taken last.
    pub fn back(&mut self) {
        self.taken.pop();
    }

    /// Whether the hand is still over these readings, so that measuring can begin.
    pub fn is_still(&self, readings: &[FlexReading]) -> bool {
        let averages = self.averages(readings);
        let is_still = |sensor: &Sensor| averages[sensor.index()].is_none_or(|one| self.moved(*sensor, &one).is_none());
        self.sensors.iter().all(is_still)
    }

    /// How many readings the current step wants, judged by those that it has: more where the noise is large against the span.
    pub fn wanted(&self, readings: &[FlexReading]) -> usize {
        let averages = self.averages(readings);
        let wanted =
            |sensor: &Sensor| averages[sensor.index()].map_or(0, |average| check::wanted(&average, self.span(*sensor)));
        self.sensors.iter().map(wanted).max().unwrap_or(0).clamp(check::LEAST_READINGS, check::MOST_READINGS)
    }

    /// Takes the readings of the current step. Refused, the step stays the current one and nothing is lost.
    pub fn take(&mut self, readings: &[FlexReading]) -> Result<Progress, Vec<Refusal>> {
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

    /// What was found, of every sensor that some step moves; empty before the last step is taken.
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

    /// What a sensor read in a step that is done.
    fn read(&self, step: Step, sensor: Sensor) -> Option<f64> {
        let place = self.steps.iter().position(|s| *s == step)?;
        self.taken.get(place)?[sensor.index()].map(|average| average.value)
    }

    /// From the flat hand to the pose that moves the sensor most, as far as those are done; may be negative.
    fn span(&self, sensor: Sensor) -> Option<f64> {
        let far = if Part::of(sensor)? == Part::Spread { Step::Spread } else { Step::Fist };
        Some(self.read(far, sensor)? - self.read(Step::Flat, sensor)?)
    }
}
