//! Flat, fist and crosstalk of each sensor from what it read in the steps.
//!
//! With B_kp the bend of part p of the hand in step k (0 or 1) the model says that a sensor reads on average
//!
//!   y_k = flat + Σ_p a_p B_kp,    a_own = fist - flat,    a_p = (fist - flat) Σ_{j in p} c_j  for the other parts,
//!
//! which is linear in flat and a: least squares over the steps, for each sensor on its own. Flat hand, fist, thumb in, three, two,
//! one and thumb up determine all five fingers (from each to the next one finger moves), the spread hand determines the spread;
//! one step more than there are unknowns is left, by which the poses check each other: the misfit.
//!
//! With fewer steps there are several answers. Among them we take the one with the least crosstalk: λ Σ a_p² over the other
//! parts is added, with λ so small that it decides only what the steps leave open. With flat hand, fist and thumb in this is
//! the crosstalk from the thumb to the fingers as measured, none from finger to finger, and on the thumb the same from each finger.
//!
//! Sensors of one part always move together in the steps. What they do to each other is in their own spans, and what they do to
//! others is shared out among them alike.

use nalgebra::{DMatrix, DVector};

use super::average::Average;
use super::step::PARTS;
use super::{Averages, Part, Step};
use crate::protocol::Sensor;

/// The weight of crosstalk among the equations: it decides only what the steps leave open.
const LEAST_CROSSTALK: f64 = 1e-7;
/// A sensor that moves less than this, in parts of the scale, is left as it is in the profile.
const LEFT_ALONE: f64 = 0.05;
/// Less crosstalk than this is none.
const NEGLIGIBLE: f64 = 0.002;

/// What was found of a sensor.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorCalibration {
    /// Which one.
    pub sensor: Sensor,
    /// What it reads of the flat hand.
    pub flat: f64,
    /// What it reads when it alone is bent as in the fist (or spread); with crosstalk, not quite what it reads in a fist.
    pub fist: f64,
    /// How much of other sensors' bends shows in it, in parts of its span.
    pub crosstalk: Vec<(Sensor, f64)>,
    /// The standard deviation of its noise, in parts of the scale.
    pub noise: f64,
    /// The standard error of its bend by noise alone, in the worst of poses, in parts of the span.
    pub error: f64,
    /// How far the steps contradict each other, in parts of the span: how unlike the poses were that should have been alike.
    pub misfit: f64,
}

/// Fits all sensors that move.
pub(super) fn fit(sensors: &[Sensor], steps: &[Step], taken: &[Averages]) -> Vec<SensorCalibration> {
    let moving: Vec<Sensor> = sensors.iter().copied().filter(|s| moves(*s, steps, taken)).collect();
    let count = |part: Part| moving.iter().filter(|s| Part::of(**s) == Some(part)).count();
    let counts: Vec<usize> = Part::all().map(count).collect();
    moving.iter().filter_map(|sensor| fit_one(*sensor, &moving, &counts, steps, taken)).collect()
}

/// Whether some step shows enough of a sensor.
fn moves(sensor: Sensor, steps: &[Step], taken: &[Averages]) -> bool {
    let Some(part) = Part::of(sensor) else { return false };
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
    steps: &[Step],
    taken: &[Averages],
) -> Option<SensorCalibration> {
    let own = Part::of(sensor)?;
    let rows: Vec<(Step, Average)> =
        steps.iter().zip(taken).filter_map(|(step, averages)| Some((*step, averages[sensor.index()]?))).collect();
    let b = DMatrix::from_fn(rows.len(), 1 + PARTS, |k, p| match Part::all().nth(p.wrapping_sub(1)) {
        Some(part) if p > 0 => rows[k].0.bend(part),
        _ => 1.0,
    });
    let mut normal = b.transpose() * &b;
    for part in Part::all().filter(|part| *part != own) {
        normal[(1 + part.index(), 1 + part.index())] += LEAST_CROSSTALK;
    }
    // From the readings of the steps to flat and a.
    let solve = normal.cholesky()?.solve(&b.transpose());
    let y = DVector::from_iterator(rows.len(), rows.iter().map(|(_, average)| average.value));
    let found = &solve * &y;
    let (flat, span) = (found[0], found[1 + own.index()]);
    let share = |other: &Sensor| {
        let part = Part::of(*other).filter(|part| *part != own && !part.truly_moves(sensor))?;
        let crosstalk = found[1 + part.index()] / span / counts[part.index()] as f64;
        (crosstalk.abs() >= NEGLIGIBLE).then_some((*other, crosstalk))
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

/// The standard error of what the sensor is said to read, in the worst of the poses with every part straight or bent.
fn worst_error(solve: &DMatrix<f64>, rows: &[(Step, Average)]) -> f64 {
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
