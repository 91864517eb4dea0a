//! Acceptance checks of a step. All limits are fractions of the wire scale unless stated otherwise.

use super::average::Average;
use super::fit;
use super::refusal::{Reason, Refusal};
use super::{Averages, Calibration, PoseStep, SensorPart};
use crate::protocol::Sensor;

/// Minimum number of readings per sensor.
pub(super) const LEAST_READINGS: usize = 30;
/// Maximum number of readings.
pub(super) const MOST_READINGS: usize = 2000;
/// Minimum span: 5 % of the scale, thirteen values of a glove with 255.
const LEAST_SPAN: f64 = 0.05;
/// Minimum span in standard deviations of the noise. Below, averaging would take longer than a hand can be held still.
const LEAST_SPAN_IN_NOISE: f64 = 8.0;
/// Maximum noise of a sensor at rest.
const MOST_NOISE: f64 = 0.02;
/// Maximum fraction of outliers.
const MOST_LEFT_OUT: f64 = 0.2;
/// Maximum drift during a step: as a fraction of the scale while the span is unknown, then of the span.
const MOST_DRIFT: f64 = 0.015;
const MOST_DRIFT_OF_SPAN: f64 = 0.05;
/// Drift within this many standard deviations is noise.
const SURE: f64 = 5.0;
/// Target standard error as a fraction of the span. The error of a bend is the sum of up to five of them.
const WANTED_ERROR: f64 = 0.0025;
/// Assumed span while it is unknown.
const LIKELY_SPAN: f64 = 0.1;
/// A finger is bent beyond this fraction of its span.
const BENT_FRACTION: f64 = 0.5;
/// Maximum total crosstalk from all other sensors, as a fraction of the span.
const MOST_CROSSTALK: f64 = 1.0;

/// Number of readings for the target standard error of a sensor.
pub(super) fn wanted(average: &Average, span: Option<f64>) -> usize {
    let span = span.map_or(LIKELY_SPAN, |span| span.abs().max(LEAST_SPAN));
    // The cast saturates.
    (average.noise / (WANTED_ERROR * span)).powi(2).ceil() as usize
}

impl Calibration {
    /// Maximum drift of a sensor during a step.
    fn allowed_drift(&self, sensor: Sensor, average: &Average) -> f64 {
        let limit = self.span(sensor).map_or(MOST_DRIFT, |span| MOST_DRIFT_OF_SPAN * span.abs().max(LEAST_SPAN));
        // The difference of the means of two halves has twice the standard error of the mean of all.
        limit.max(2.0 * SURE * average.standard_error())
    }

    /// All problems of a step.
    pub(super) fn check(&self, step: PoseStep, averages: &Averages) -> Vec<Refusal> {
        let refusal = |(sensor, reason)| Refusal { step, sensor: Some(sensor), reason };
        let (mut refusals, mut small) = (Vec::new(), Vec::new());
        for &sensor in self.sensors.iter().filter(|sensor| SensorPart::of(**sensor).is_some()) {
            let Some(average) = averages[sensor.index()] else {
                refusals.push(refusal((sensor, Reason::Silent { readings: 0, least: LEAST_READINGS })));
                continue;
            };
            if let Some(reason) = self.unsteady(sensor, &average).or_else(|| self.wrong_pose(step, sensor, &average)) {
                refusals.push(refusal((sensor, reason)));
            } else if let Some(reason) = self.small_span(step, sensor, &average) {
                small.push((sensor, reason));
            }
        }
        match self.same_as_flat(step, averages, small.len()) {
            Some(reason) => refusals.push(Refusal { step, sensor: None, reason }),
            None => refusals.extend(small.into_iter().map(refusal)),
        }
        refusals
    }

    fn unsteady(&self, sensor: Sensor, average: &Average) -> Option<Reason> {
        let all = average.count + average.left_out;
        if all < LEAST_READINGS {
            return Some(Reason::Silent { readings: all, least: LEAST_READINGS });
        }
        let scattered =
            (average.noise > MOST_NOISE).then_some(Reason::Noisy { noise: average.noise, most: MOST_NOISE });
        self.moved(sensor, average).or(scattered)
    }

    /// A sensor that jumped or drifted during the measurement.
    pub(super) fn moved(&self, sensor: Sensor, average: &Average) -> Option<Reason> {
        let all = (average.count + average.left_out) as f64;
        if average.left_out as f64 > MOST_LEFT_OUT * all {
            return Some(Reason::Moved { by: average.stray });
        }
        let has_drifted = average.drift.abs() > self.allowed_drift(sensor, average);
        has_drifted.then_some(Reason::Moved { by: average.drift })
    }

    /// A finger that does not match the pose of the step, judged by flat hand and fist.
    fn wrong_pose(&self, step: PoseStep, sensor: Sensor, average: &Average) -> Option<Reason> {
        let part = SensorPart::of(sensor).filter(|part| *part != SensorPart::Spread)?;
        let span = self.span(sensor).filter(|span| span.abs() >= LEAST_SPAN)?;
        let bend = (average.value - self.read(PoseStep::Flat, sensor)?) / span;
        match step.bend(part) < BENT_FRACTION {
            true => (bend > BENT_FRACTION).then_some(Reason::Bent { bend }),
            false => (bend < BENT_FRACTION).then_some(Reason::Straight { bend }),
        }
    }

    /// Checks the span of a sensor in the step that determines it.
    fn small_span(&self, step: PoseStep, sensor: Sensor, average: &Average) -> Option<Reason> {
        let shows = if SensorPart::of(sensor)? == SensorPart::Spread { PoseStep::Spread } else { PoseStep::Fist };
        if step != shows || !SensorPart::must_move(sensor) {
            return None;
        }
        let span = (average.value - self.read(PoseStep::Flat, sensor)?).abs();
        if span < LEAST_SPAN {
            return Some(Reason::SmallSpan { span, least: LEAST_SPAN });
        }
        (span < LEAST_SPAN_IN_NOISE * average.noise).then_some(Reason::Buried { span, noise: average.noise })
    }

    /// If all sensors that a step should move have a small span, the pose is wrong instead of the sensors.
    fn same_as_flat(&self, step: PoseStep, averages: &Averages, small: usize) -> Option<Reason> {
        let moved = |sensor: Sensor| Some((averages[sensor.index()]?.value - self.read(PoseStep::Flat, sensor)?).abs());
        let shown = |sensor: &&Sensor| {
            SensorPart::must_move(**sensor)
                && SensorPart::of(**sensor).is_some_and(|part| step.bend(part) > BENT_FRACTION)
        };
        let spans: Vec<_> = self.sensors.iter().filter(shown).filter_map(|s| Some((*s, moved(*s)?))).collect();
        let farthest = spans.iter().copied().max_by(|a, b| a.1.total_cmp(&b.1))?;
        (spans.len() > 1 && small == spans.len()).then_some(Reason::SameAsFlat { farthest })
    }

    /// Checks that need all steps.
    pub(super) fn check_fit(&self) -> Vec<Refusal> {
        let Some(step) = self.steps.last().copied() else { return Vec::new() };
        let found = fit::fit(&self.sensors, &self.steps, &self.taken);
        let total = |c: &fit::SensorCalibration| c.crosstalk.iter().map(|(_, part)| part.abs()).sum::<f64>();
        let is_finger = |c: &&fit::SensorCalibration| SensorPart::of(c.sensor) != Some(SensorPart::Spread);
        let follows = |c: &fit::SensorCalibration| (c.sensor, total(c));
        let refusal =
            |(sensor, crosstalk)| Refusal { step, sensor: Some(sensor), reason: Reason::FollowsOthers { crosstalk } };
        found
            .iter()
            .filter(is_finger)
            .map(follows)
            .filter(|(_, sum)| *sum > MOST_CROSSTALK || sum.is_nan())
            .map(refusal)
            .collect()
    }
}
