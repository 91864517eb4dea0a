use super::{ANGLES, HandSample};
use crate::math::{Pose, exp, log};

/// A scripted tracked motion: poses at times, joined by minimum-jerk curves, which resemble undisturbed human motion.
#[derive(Clone, Debug, PartialEq)]
pub struct PoseSequence {
    keys: Vec<PoseKey>,
}

/// A pose at a time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PoseKey {
    /// Time, s.
    pub time: f64,
    /// Pose of the palm.
    pub palm: Pose,
    /// The twenty angles, rad.
    pub angles: [f64; ANGLES],
}

impl PoseSequence {
    /// The motion through keys, which are sorted by time.
    pub fn new(mut keys: Vec<PoseKey>) -> Self {
        keys.sort_by(|a, b| a.time.total_cmp(&b.time));
        Self { keys }
    }

    /// Time of the last key, s.
    pub fn end(&self) -> f64 {
        self.keys.last().map_or(0.0, |key| key.time)
    }

    /// Sample of a perfect tracker at a time; the hand rests before the first key and after the last. `None` without
    /// keys.
    pub fn sample(&self, time: f64) -> Option<HandSample> {
        let next = self.keys.partition_point(|key| key.time <= time);
        let (first, last) = (self.keys.first()?, self.keys.last()?);
        let (a, b) = match (next.checked_sub(1).map(|i| &self.keys[i]), self.keys.get(next)) {
            (None, _) => (first, first),
            (Some(a), Some(b)) => (a, b),
            (Some(_), None) => (last, last),
        };
        let s = if b.time > a.time { minimum_jerk((time - a.time) / (b.time - a.time)) } else { 1.0 };
        let turn = log(&(b.palm.rotation * a.palm.rotation.inverse()));
        let place = a.palm.translation.vector.lerp(&b.palm.translation.vector, s);
        let palm = Pose::from_parts(place.into(), exp(&(s * turn)) * a.palm.rotation);
        let angles = std::array::from_fn(|j| a.angles[j] + s * (b.angles[j] - a.angles[j]));
        Some(HandSample::full(time, palm, angles))
    }
}

/// From 0 to 1 with velocity and acceleration zero at both ends: `10 t³ − 15 t⁴ + 6 t⁵`.
pub fn minimum_jerk(t: f64) -> f64 {
    let t = t.clamp(0.0, 1.0);
    t * t * t * (10.0 + t * (6.0 * t - 15.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, Vec3};

    #[test]
    fn passes_through_its_keys_and_rests_at_the_ends() {
        let key = |time: f64, x: f64| PoseKey {
            time,
            palm: Pose::from_parts(Vec3::new(x, 0.0, 0.0).into(), Quat::from_scaled_axis(Vec3::new(0.0, x, 0.0))),
            angles: [x; ANGLES],
        };
        let motion = PoseSequence::new(vec![key(3.0, 1.5), key(1.0, 0.5), key(2.0, 1.0)]);
        let at = |t: f64| motion.sample(t).and_then(|s| s.angles).map(|a| a[0]);
        assert_eq!(at(0.0), Some(0.5));
        assert_eq!(at(1.0), Some(0.5));
        assert_eq!(at(1.5), Some(0.75), "half way in half the time");
        assert_eq!(at(2.0), Some(1.0));
        assert_eq!(at(9.0), Some(1.5));
        let palm = motion.sample(1.5).and_then(|s| s.palm).expect("a palm");
        assert!((palm.translation.x - 0.75).abs() < 1e-15);
        assert!((palm.rotation.angle() - 0.75).abs() < 1e-12);
        let speed = |t: f64| (at(t + 1e-6).expect("keys") - at(t - 1e-6).expect("keys")) / 2e-6;
        assert!(speed(1.0).abs() < 1e-6 && speed(2.0).abs() < 1e-6 && speed(1.5) > 0.5);
        assert_eq!(motion.end(), 3.0);
        assert_eq!(PoseSequence::new(Vec::new()).sample(0.0), None);
    }
}
