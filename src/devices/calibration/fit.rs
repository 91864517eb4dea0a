//! Fits flat, fist and crosstalk of each sensor to its readings in the steps.
//!
//! With B_kp the bend of part p of the hand in step k (0 or 1) the model says that a sensor reads on average
//!
//!   y_k = flat + Σ_p a_p B_kp,    a_own = fist - flat,    a_p = (fist - flat) Σ_{j in p} c_j  for the other parts,
//!
//! which is linear in flat and a: least squares over the steps, for each sensor on its own. Flat hand, fist, thumb in, three, two,
//! one and thumb up determine all five fingers (from each to the next one finger moves), the spread hand determines the spread;
//! one step more than there are unknowns is left, by which the poses check each other: the misfit.
//!
//! With fewer steps the solution is not unique. We take the one with the least crosstalk: λ Σ a_p² over the other
//! parts is added, with λ so small that it only selects among the solutions. With flat hand, fist and thumb in this is
//! the crosstalk from the thumb to the fingers as measured, none from finger to finger, and on the thumb the same from each finger.
//!
//! Sensors of one part always move together in the steps. Their mutual crosstalk is included in their spans, and their
//! crosstalk to
//! others is divided equally among them.

use nalgebra::{DMatrix, DVector};

use super::average::Average;
use super::step::PARTS;
use super::{Averages, PoseStep, SensorPart};
use crate::protocol::Sensor;

/// Weight of the crosstalk regularisation; it only selects among solutions.
const LEAST_CROSSTALK: f64 = 1e-7;
/// A sensor that moves less than this fraction of the scale keeps the values of the profile.
const LEFT_ALONE: f64 = 0.05;
/// Smaller crosstalk is set to zero.
const MIN_CROSSTALK: f64 = 0.002;

/// Fitted parameters of a sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorCalibration {
    /// Which one.
    pub sensor: Sensor,
    /// Reading of the flat hand.
    pub flat: f64,
    /// Reading when only this sensor is bent as in the fist (or spread); with crosstalk it differs from the reading in
    /// a fist.
    pub fist: f64,
    /// Crosstalk from other sensors, as fractions of its span.
    pub crosstalk: Vec<(Sensor, f64)>,
    /// Standard deviation of its noise, as a fraction of the scale.
    pub noise: f64,
    /// Standard error of its bend due to noise in the worst pose, as a fraction of the span.
    pub error: f64,
    /// Misfit of the steps as a fraction of the span: how much poses differed that should agree.
    pub misfit: f64,
}

/// Fits all sensors that move.
pub(super) fn fit(sensors: &[Sensor], steps: &[PoseStep], taken: &[Averages]) -> Vec<SensorCalibration> {
    let moving: Vec<Sensor> = sensors.iter().copied().filter(|s| moves(*s, steps, taken)).collect();
    let count = |part: SensorPart| moving.iter().filter(|s| SensorPart::of(**s) == Some(part)).count();
    let counts: Vec<usize> = SensorPart::all().map(count).collect();
    moving.iter().filter_map(|sensor| fit_one(*sensor, &moving, &counts, steps, taken)).collect()
}

/// Whether some step moves a sensor enough.
fn moves(sensor: Sensor, steps: &[PoseStep], taken: &[Averages]) -> bool {
    let Some(part) = SensorPart::of(sensor) else { return false };
    let read = |bent: bool| {
        let found = steps.iter().zip(taken).find(|(step, _)| (step.bend(part) > 0.5) == bent);
        found.and_then(|(_, averages)| averages[sensor.index()]).map(|average| average.value)
    };
    read(false).zip(read(true)).is_some_and(|(flat, bent)| (bent - flat).abs() >= LEFT_ALONE)
}

fn fit_one(
    sensor: Sensor,
    moving: &[Sensor],
    counts: &[usize],
    steps: &[PoseStep],
    taken: &[Averages],
) -> Option<SensorCalibration> {
    let own = SensorPart::of(sensor)?;
    let rows: Vec<(PoseStep, Average)> =
        steps.iter().zip(taken).filter_map(|(step, averages)| Some((*step, averages[sensor.index()]?))).collect();
    let b = DMatrix::from_fn(rows.len(), 1 + PARTS, |k, p| match SensorPart::all().nth(p.wrapping_sub(1)) {
        Some(part) if p > 0 => rows[k].0.bend(part),
        _ => 1.0,
    });
    let mut normal = b.transpose() * &b;
    for part in SensorPart::all().filter(|part| *part != own) {
        normal[(1 + part.index(), 1 + part.index())] += LEAST_CROSSTALK;
    }
    // From the readings of the steps to flat and a.
    let solve = normal.cholesky()?.solve(&b.transpose());
    let y = DVector::from_iterator(rows.len(), rows.iter().map(|(_, average)| average.value));
    let found = &solve * &y;
    let (flat, span) = (found[0], found[1 + own.index()]);
    let share = |other: &Sensor| {
        let part = SensorPart::of(*other).filter(|part| *part != own && !part.truly_moves(sensor))?;
        let crosstalk = found[1 + part.index()] / span / counts[part.index()] as f64;
        (crosstalk.abs() >= MIN_CROSSTALK).then_some((*other, crosstalk))
    };
    let misfit = (&y - &b * &found).amax() / span.abs();
    Some(SensorCalibration {
        sensor,
        flat,
        fist: flat + span,
        crosstalk: moving.iter().filter_map(share).collect(),
        noise: rows.iter().map(|(_, average)| average.noise).fold(0.0, f64::max),
        error: worst_error(&solve, &rows) / span.abs(),
        misfit,
    })
}

/// Standard error of the predicted reading in the worst of the poses with every part straight or bent.
fn worst_error(solve: &DMatrix<f64>, rows: &[(PoseStep, Average)]) -> f64 {
    let corner = |bits: usize| {
        let pose = |p: usize| if p == 0 || bits >> (p - 1) & 1 == 1 { 1.0 } else { 0.0 };
        let weight = |k: usize| (0..=PARTS).map(|p| pose(p) * solve[(p, k)]).sum::<f64>();
        rows.iter()
            .enumerate()
            .map(|(k, (_, average))| (weight(k) * average.standard_error()).powi(2))
            .sum::<f64>()
            .sqrt()
    };
    (0..1 << PARTS).map(corner).fold(0.0, f64::max)
}
