//! Simulated users: gloves with offsets, small spans, noise and crosstalk.

mod files;
mod refusals;

use proptest::prelude::*;

use super::*;
use crate::math::Random;
use crate::protocol::{FingerJoint, Gap};
use crate::tracking::Finger;

fn between(random: &mut Random, low: f64, high: f64) -> f64 {
    low + (high - low) * random.unit()
}

/// A normal distribution by the sum of twelve uniform numbers.
fn normal(random: &mut Random) -> f64 {
    (0..12).map(|_| random.unit()).sum::<f64>() - 6.0
}

fn curls() -> Vec<Sensor> {
    Finger::ALL.map(Sensor::Curl).to_vec()
}

/// The sensors of the 5DT 16; without the last two, of the Ultra 14.
fn sixteen() -> Vec<Sensor> {
    let bends =
        Finger::ALL.into_iter().flat_map(|f| [FingerJoint::Knuckle, FingerJoint::Middle].map(|p| Sensor::Joint(f, p)));
    bends.chain(Gap::ALL.map(Sensor::Between)).chain([Sensor::ThumbPalm, Sensor::Wrist]).collect()
}

/// All joints and the splay, as in OpenGloves, including those that hardly move.
fn joints_and_splay() -> Vec<Sensor> {
    let joints = Finger::ALL.into_iter().flat_map(|f| FingerJoint::ALL.map(|p| Sensor::Joint(f, p)));
    joints.chain(Finger::ALL.map(Sensor::Splay)).collect()
}

struct User {
    sensors: Vec<Sensor>,
    flat: Vec<f64>,
    span: Vec<f64>,
    crosstalk: Vec<Vec<f64>>,
    noise: f64,
    random: Random,
}

impl User {
    /// A user with spans from 10 % to 60 % of the scale in either direction, up to 15 % of crosstalk from each other
    /// finger, and some noise.
    fn new(sensors: Vec<Sensor>, noise: f64, seed: u64) -> Self {
        let mut random = Random::new(seed, 0);
        let n = sensors.len();
        let mut crosstalk = vec![vec![0.0; n]; n];
        let part = |i: usize| SensorPart::of(sensors[i]);
        for i in 0..n {
            for other in SensorPart::all().filter(|other| Some(*other) != part(i) && !other.truly_moves(sensors[i])) {
                let sources: Vec<usize> =
                    (0..n).filter(|j| part(*j) == Some(other) && SensorPart::must_move(sensors[*j])).collect();
                let share = between(&mut random, -0.03, 0.15) / sources.len().max(1) as f64;
                sources.iter().filter(|_| part(i).is_some()).for_each(|j| crosstalk[i][*j] = share);
            }
        }
        let (mut flat, mut span) = (Vec::new(), Vec::new());
        for i in 0..n {
            // The full range of the sensor, with all others bent or straight, stays on the scale with its noise.
            let reach = 1.0 + crosstalk[i].iter().map(|c| c.abs()).sum::<f64>();
            let size = between(&mut random, 0.1, 0.6).min((0.98 - 12.0 * noise) / (reach + 0.2));
            let low = 6.0 * noise + 0.2 * size + random.unit() * (1.0 - 12.0 * noise - size * (reach + 0.2)).max(0.0);
            let up = random.unit() < 0.5;
            flat.push(if up { low } else { 1.0 - low });
            span.push(match (SensorPart::must_move(sensors[i]), up) {
                (false, _) => 0.0,
                (true, true) => size,
                (true, false) => -size,
            });
        }
        Self { sensors, flat, span, crosstalk, noise, random }
    }

    /// Readings of the glove for these bends.
    fn reading(&mut self, bends: &[f64]) -> FlexReading {
        let mut reading = FlexReading::default();
        for i in 0..self.sensors.len() {
            let others: f64 = self.crosstalk[i].iter().zip(bends).map(|(c, b)| c * b).sum();
            let noise = self.noise * normal(&mut self.random);
            reading.set(self.sensors[i], self.flat[i] + self.span[i] * (bends[i] + others) + noise);
        }
        reading
    }

    fn bends(&self, step: PoseStep) -> Vec<f64> {
        self.sensors.iter().map(|sensor| SensorPart::of(*sensor).map_or(0.0, |part| step.bend(part))).collect()
    }

    /// Readings of a step, as many as the calibration needs.
    fn readings(&mut self, calibration: &Calibration, step: PoseStep) -> Vec<FlexReading> {
        let bends = self.bends(step);
        let mut readings: Vec<_> = (0..100).map(|_| self.reading(&bends)).collect();
        // Checking costs more than reading, so it is not done for each reading.
        let wanted = calibration.wanted(&readings);
        while readings.len() < wanted {
            readings.push(self.reading(&bends));
        }
        readings
    }

    fn calibrate(&mut self, steps: Vec<PoseStep>) -> Result<Vec<SensorCalibration>, Vec<Refusal>> {
        let mut calibration = Calibration::new(self.sensors.clone(), steps);
        while let Some(step) = calibration.current() {
            let readings = self.readings(&calibration, step);
            calibration.take(&readings)?;
        }
        Ok(calibration.finish())
    }
}

/// The bends of a reading with the fitted parameters.
fn solve(found: &[SensorCalibration], reading: &FlexReading) -> Vec<f64> {
    let n = found.len();
    let crosstalk = |i: usize, j: usize| {
        let of = |(sensor, part): &(Sensor, f64)| (*sensor == found[j].sensor).then_some(*part);
        found[i].crosstalk.iter().find_map(of).unwrap_or(0.0)
    };
    let matrix = nalgebra::DMatrix::from_fn(n, n, |i, j| if i == j { 1.0 } else { crosstalk(i, j) });
    let scaled = |c: &SensorCalibration| (reading.get(c.sensor).expect("a value") - c.flat) / (c.fist - c.flat);
    let right = nalgebra::DVector::from_iterator(n, found.iter().map(scaled));
    matrix.lu().solve(&right).expect("crosstalk is small").iter().copied().collect()
}

/// The largest error of a bend over random poses, for sensors of one part together and individually.
fn largest_error(user: &mut User, found: &[SensorCalibration], together: bool) -> f64 {
    let noise = std::mem::take(&mut user.noise);
    let mut worst = 0.0_f64;
    for _ in 0..40 {
        let parts: Vec<f64> = (0..step::PARTS).map(|_| user.random.unit()).collect();
        let bend = |s: &Sensor, alone: f64| {
            SensorPart::of(*s).map_or(0.0, |p| if together { parts[p.index()] } else { alone })
        };
        let alone: Vec<f64> = user.sensors.iter().map(|_| user.random.unit()).collect();
        let bends: Vec<f64> = user.sensors.iter().zip(alone).map(|(s, alone)| bend(s, alone)).collect();
        let reading = user.reading(&bends);
        for (one, bend) in found.iter().zip(solve(found, &reading)) {
            let place = user.sensors.iter().position(|s| *s == one.sensor).expect("a sensor of the user's");
            worst = worst.max((bend - bends[place]).abs());
        }
    }
    user.noise = noise;
    worst
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_user_of_a_glove_of_five_is_recovered(seed: u64, noise in 0.005..0.01) {
        let mut user = User::new(curls(), noise, seed);
        let found = user.calibrate(PoseStep::fitting(&curls())).expect("a good hand");
        prop_assert_eq!(found.len(), 5);
        let error = largest_error(&mut user, &found, false);
        prop_assert!(error < 0.02, "{} of full scale; {:?}", error, found);
    }

    #[test]
    fn a_user_of_a_glove_of_sixteen_is_recovered(seed: u64, noise in 0.001..0.005, fourteen: bool) {
        let sensors: Vec<_> = sixteen().into_iter().take(if fourteen { 14 } else { 16 }).collect();
        let mut user = User::new(sensors.clone(), noise, seed);
        let found = user.calibrate(PoseStep::full(&sensors)).expect("a good hand");
        prop_assert_eq!(found.len(), if fourteen { 14 } else { 15 }, "all but the wrist");
        let error = largest_error(&mut user, &found, false);
        prop_assert!(error < 0.02, "{} of full scale; {:?}", error, found);
    }

    #[test]
    fn joints_and_splay_are_recovered_and_what_hardly_moves_is_left(seed: u64, noise in 0.001..0.005) {
        let mut user = User::new(joints_and_splay(), noise, seed);
        let found = user.calibrate(PoseStep::full(&joints_and_splay())).expect("a good hand");
        prop_assert_eq!(found.len(), 19);
        prop_assert!(found.iter().all(|f| SensorPart::must_move(f.sensor)));
        let error = largest_error(&mut user, &found, false);
        prop_assert!(error < 0.02, "{} of full scale; {:?}", error, found);
    }

    /// Without crosstalk between the fingers, flat hand, fist and thumb in are sufficient.
    #[test]
    fn the_basic_steps_do_for_crosstalk_of_the_thumb(seed: u64, noise in 0.005..0.01) {
        let mut user = User::new(curls(), noise, seed);
        let on_the_thumb = user.crosstalk[0].iter().sum::<f64>() / 4.0;
        for i in 1..5 {
            (1..5).for_each(|j| user.crosstalk[i][j] = 0.0);
            user.crosstalk[0][i] = on_the_thumb;
        }
        let found = user.calibrate(PoseStep::basic(&curls())).expect("a good hand");
        let error = largest_error(&mut user, &found, false);
        prop_assert!(error < 0.02, "{} of full scale; {:?}", error, found);
    }

    #[test]
    fn too_small_a_span_is_refused_by_name(seed: u64, finger in 0..5_usize, span in -0.03..0.03) {
        let mut user = User::new(curls(), 0.005, seed);
        user.span[finger] = span;
        let refusals = user.calibrate(PoseStep::fitting(&curls())).expect_err("a sensor that does not move");
        prop_assert_eq!(refusals.len(), 1, "{:?}", &refusals);
        prop_assert_eq!((refusals[0].step, refusals[0].sensor), (PoseStep::Fist, Some(Sensor::Curl(Finger::ALL[finger]))));
        prop_assert!(matches!(refusals[0].reason, Reason::SmallSpan { .. }), "{:?}", &refusals);
        let text = refusals[0].to_string();
        prop_assert!(text.starts_with(Finger::ALL[finger].name()) && text.contains("% of the scale"), "{}", text);
    }
}

/// Without noise the fit is exact for any crosstalk.
#[test]
fn without_noise_flat_fist_and_crosstalk_are_exact() {
    let mut user = User::new(curls(), 0.0, 7);
    let found = user.calibrate(PoseStep::full(&curls())).expect("a good hand");
    for (i, one) in found.iter().enumerate() {
        assert!((one.flat - user.flat[i]).abs() < 1e-6 && (one.fist - user.flat[i] - user.span[i]).abs() < 1e-6);
        for (other, part) in &one.crosstalk {
            assert!((part - user.crosstalk[i][other.index()]).abs() < 1e-5, "{one:?}");
        }
        assert!(one.misfit < 1e-6 && one.error < 1e-12, "{one:?}");
    }
    // In the poses of the basic steps they are exact too; in others the error is the crosstalk.
    let found = user.calibrate(PoseStep::basic(&curls())).expect("a good hand");
    for step in PoseStep::basic(&curls()) {
        let bends = user.bends(step);
        let reading = user.reading(&bends);
        assert!(solve(&found, &reading).iter().zip(bends).all(|(found, b)| (found - b).abs() < 1e-5), "{step}");
    }
    assert!(largest_error(&mut user, &found, false) > 0.02, "the fingers' own crosstalk wants the other steps");
}

#[test]
fn noisy_gloves_need_more_readings_up_to_a_limit() {
    let wanted = |noise: f64| {
        let mut user = User::new(curls(), noise, 9);
        let calibration = Calibration::new(curls(), PoseStep::full(&curls()));
        let bends = user.bends(PoseStep::Flat);
        let readings: Vec<_> = (0..500).map(|_| user.reading(&bends)).collect();
        calibration.wanted(&readings)
    };
    assert_eq!(wanted(0.0), check::LEAST_READINGS);
    assert!((100..300).contains(&wanted(0.003)), "{}", wanted(0.003));
    assert_eq!(wanted(0.05), check::MOST_READINGS);
}

#[test]
fn the_steps_fit_the_glove() {
    assert_eq!(PoseStep::fitting(&curls()).len(), 7);
    assert_eq!(PoseStep::fitting(&sixteen()), [PoseStep::Flat, PoseStep::Fist, PoseStep::ThumbIn, PoseStep::Spread]);
    assert!(!PoseStep::full(&curls()).contains(&PoseStep::Spread));
    let all = PoseStep::full(&joints_and_splay());
    let design = nalgebra::DMatrix::from_fn(all.len(), 1 + step::PARTS, |k, p| {
        if p == 0 { 1.0 } else { SensorPart::all().nth(p - 1).map_or(0.0, |part| all[k].bend(part)) }
    });
    assert_eq!(design.rank(1e-9), 7, "the full steps determine flat and all parts");
}
