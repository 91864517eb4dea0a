use super::ANGLES;
use crate::math::{Pose, Vec3, log};

/// What one source says at one instant. A glove leaves out the palm, a tracker the fingers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandSample {
    /// When it was measured, s on the simulation's clock.
    pub time: f64,
    /// The palm's placement in the world.
    pub palm: Option<Pose>,
    /// The twenty joint angles, rad.
    pub angles: Option<[f64; ANGLES]>,
}

impl HandSample {
    /// A sample of everything.
    pub fn full(time: f64, palm: Pose, angles: [f64; ANGLES]) -> Self {
        Self { time, palm: Some(palm), angles: Some(angles) }
    }
}

/// What is taken for a measurement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// A palm that moved faster than this between two samples has jumped, m/s. Hands reach about 10 m/s when throwing.
    pub speed: f64,
    /// A palm that turned faster than this has jumped, rad/s.
    pub turn: f64,
    /// A joint that turned faster than this has jumped, rad/s.
    pub joint_turn: f64,
    /// A jump is believed once samples have agreed with each other for this long, s. Until then the hand stays.
    pub confirm: f64,
    /// Without a sample for this long the hand is stale, s: it stays where it was, at rest.
    pub stale: f64,
    /// The farthest a palm may be from the origin, m. Beyond is nonsense.
    pub range: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self { speed: 20.0, turn: 60.0, joint_turn: 100.0, confirm: 0.05, stale: 0.1, range: 100.0 }
    }
}

/// What became of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It is the hand's target now.
    Accepted,
    /// It lies implausibly far from the last; kept back until more samples agree with it.
    Suspect,
    /// It is not used.
    Dropped(DropReason),
}

/// Why a sample is not used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// A value that is not finite, or a time that is not.
    NotFinite,
    /// A quaternion whose length is far from one.
    NotARotation,
    /// Not newer than the last.
    OutOfOrder,
    /// Farther away than the range.
    OutOfRange,
    /// Neither palm nor angles.
    Empty,
}

/// Whether the hand is being told anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackingState {
    /// No sample yet.
    Waiting,
    /// Samples come.
    Tracking,
    /// None for longer than the limit; the last pose is held.
    Stale,
}

/// Layer 1: the tracked hand. Bad samples are dropped and counted; the pose it hands on is always finite.
#[derive(Clone, Debug)]
pub struct TrackedHand {
    limits: Limits,
    palm: Pose,
    palm_velocity: Vec3,
    palm_turn: Vec3,
    angles: [f64; ANGLES],
    angle_rates: [f64; ANGLES],
    palm_time: Option<f64>,
    angles_time: Option<f64>,
    last_time: Option<f64>,
    suspect: Option<(f64, HandSample)>,
    accepted: u64,
    dropped: u64,
    suspected: u64,
}

impl TrackedHand {
    /// A hand that rests at a pose until samples come.
    pub fn new(palm: Pose, angles: [f64; ANGLES], limits: Limits) -> Self {
        Self {
            limits,
            palm,
            palm_velocity: Vec3::zeros(),
            palm_turn: Vec3::zeros(),
            angles,
            angle_rates: [0.0; ANGLES],
            palm_time: None,
            angles_time: None,
            last_time: None,
            suspect: None,
            accepted: 0,
            dropped: 0,
            suspected: 0,
        }
    }

    /// Where the palm is said to be.
    pub fn palm(&self) -> &Pose {
        &self.palm
    }

    /// The angles the joints are said to have.
    pub fn angles(&self) -> &[f64; ANGLES] {
        &self.angles
    }

    /// Velocity of the palm, m/s and rad/s in the world, from the last two samples; zero when stale or after a jump.
    pub fn palm_velocity(&self, now: f64) -> (Vec3, Vec3) {
        if self.is_fresh(self.palm_time, now) {
            (self.palm_velocity, self.palm_turn)
        } else {
            (Vec3::zeros(), Vec3::zeros())
        }
    }

    /// Rates of the joints, rad/s; zero when stale or after a jump.
    pub fn angle_rates(&self, now: f64) -> [f64; ANGLES] {
        if self.is_fresh(self.angles_time, now) { self.angle_rates } else { [0.0; ANGLES] }
    }

    /// Whether samples still come.
    pub fn state(&self, now: f64) -> TrackingState {
        match self.last_time {
            None => TrackingState::Waiting,
            Some(last) if now - last > self.limits.stale => TrackingState::Stale,
            Some(_) => TrackingState::Tracking,
        }
    }

    /// Samples that became the target.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Samples that were dropped for good.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Samples kept back as jumps; some of them may have been confirmed later.
    pub fn suspected(&self) -> u64 {
        self.suspected
    }

    /// Takes a sample in.
    pub fn accept(&mut self, sample: HandSample) -> Verdict {
        let verdict = self.judge(&sample);
        match verdict {
            Verdict::Dropped(_) => self.dropped += 1,
            Verdict::Suspect => self.suspected += 1,
            Verdict::Accepted => self.accepted += 1,
        }
        verdict
    }

    fn judge(&mut self, sample: &HandSample) -> Verdict {
        if let Some(reason) = self.unusable(sample) {
            return Verdict::Dropped(reason);
        }
        self.last_time = Some(sample.time);
        let plausible = self.plausible_after(sample, &self.palm, self.palm_time, &self.angles, self.angles_time);
        if plausible {
            self.suspect = None;
            self.take(sample, true);
            return Verdict::Accepted;
        }
        // A jump. It becomes believable when later samples keep agreeing with it: a tracker that found the hand again,
        // not a glitch of one frame.
        if let Some((since, last)) = self.suspect {
            let palm = last.palm.unwrap_or(self.palm);
            let angles = last.angles.unwrap_or(self.angles);
            let time = Some(last.time);
            if self.plausible_after(sample, &palm, time, &angles, time) {
                if sample.time - since >= self.limits.confirm {
                    self.suspect = None;
                    self.take(sample, false);
                    return Verdict::Accepted;
                }
                self.suspect = Some((since, *sample));
                return Verdict::Suspect;
            }
        }
        self.suspect = Some((sample.time, *sample));
        Verdict::Suspect
    }

    fn unusable(&self, sample: &HandSample) -> Option<DropReason> {
        if !sample.time.is_finite() {
            return Some(DropReason::NotFinite);
        }
        if self.last_time.is_some_and(|last| sample.time <= last) {
            return Some(DropReason::OutOfOrder);
        }
        if sample.palm.is_none() && sample.angles.is_none() {
            return Some(DropReason::Empty);
        }
        if let Some(palm) = &sample.palm {
            let p = &palm.translation.vector;
            let q = palm.rotation.coords;
            if !p.iter().chain(q.iter()).all(|x| x.is_finite()) {
                return Some(DropReason::NotFinite);
            }
            if (q.norm() - 1.0).abs() > 0.01 {
                return Some(DropReason::NotARotation);
            }
            if p.norm() > self.limits.range {
                return Some(DropReason::OutOfRange);
            }
        }
        if let Some(angles) = &sample.angles {
            if !angles.iter().all(|a| a.is_finite()) {
                return Some(DropReason::NotFinite);
            }
            if angles.iter().any(|a| a.abs() > std::f64::consts::TAU) {
                return Some(DropReason::OutOfRange);
            }
        }
        None
    }

    fn plausible_after(
        &self,
        sample: &HandSample,
        palm: &Pose,
        palm_time: Option<f64>,
        angles: &[f64; ANGLES],
        angles_time: Option<f64>,
    ) -> bool {
        // After a pause the hand may be anywhere it can have gone at the speed limit; the first sample ever is believed.
        let palm_fine = match (&sample.palm, palm_time) {
            (Some(new), Some(last)) => {
                let dt = sample.time - last;
                let moved = (new.translation.vector - palm.translation.vector).norm();
                moved <= self.limits.speed * dt && new.rotation.angle_to(&palm.rotation) <= self.limits.turn * dt
            }
            _ => true,
        };
        let angles_fine = match (&sample.angles, angles_time) {
            (Some(new), Some(last)) => {
                let most = self.limits.joint_turn * (sample.time - last);
                new.iter().zip(angles).all(|(a, b)| (a - b).abs() <= most)
            }
            _ => true,
        };
        palm_fine && angles_fine
    }

    fn take(&mut self, sample: &HandSample, continuous: bool) {
        if let Some(mut palm) = sample.palm {
            palm.rotation.renormalize();
            let known = self.palm_time.filter(|_| continuous);
            (self.palm_velocity, self.palm_turn) = match known {
                Some(last) => {
                    let dt = sample.time - last;
                    let turn = log(&(palm.rotation * self.palm.rotation.inverse()));
                    ((palm.translation.vector - self.palm.translation.vector) / dt, turn / dt)
                }
                None => (Vec3::zeros(), Vec3::zeros()),
            };
            self.palm = palm;
            self.palm_time = Some(sample.time);
        }
        if let Some(angles) = sample.angles {
            let known = self.angles_time.filter(|_| continuous);
            for ((rate, new), old) in self.angle_rates.iter_mut().zip(&angles).zip(&self.angles) {
                *rate = known.map_or(0.0, |last| (new - old) / (sample.time - last));
            }
            self.angles = angles;
            self.angles_time = Some(sample.time);
        }
    }

    fn is_fresh(&self, time: Option<f64>, now: f64) -> bool {
        time.is_some_and(|t| now - t <= self.limits.stale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Quat;

    fn at(x: f64) -> Pose {
        Pose::translation(x, 0.0, 0.0)
    }

    fn hand() -> TrackedHand {
        TrackedHand::new(at(0.0), [0.0; ANGLES], Limits::default())
    }

    #[test]
    fn velocity_of_a_steady_motion() {
        let mut hand = hand();
        for i in 0..10 {
            let t = 0.01 * f64::from(i);
            let palm = Pose::from_parts(
                nalgebra::Translation3::new(0.5 * t, 0.0, 0.0),
                Quat::from_scaled_axis(Vec3::new(0.0, 2.0 * t, 0.0)),
            );
            assert_eq!(hand.accept(HandSample::full(t, palm, [t; ANGLES])), Verdict::Accepted);
        }
        let (v, w) = hand.palm_velocity(0.09);
        assert!((v - Vec3::new(0.5, 0.0, 0.0)).norm() < 1e-12);
        assert!((w - Vec3::new(0.0, 2.0, 0.0)).norm() < 1e-12);
        assert!((hand.angle_rates(0.09)[7] - 1.0).abs() < 1e-12);
        assert_eq!(hand.palm_velocity(0.5), (Vec3::zeros(), Vec3::zeros()), "stale: at rest");
        assert_eq!(hand.state(0.09), TrackingState::Tracking);
        assert_eq!(hand.state(0.5), TrackingState::Stale);
    }

    #[test]
    fn nonsense_is_dropped_and_counted() {
        let mut hand = hand();
        assert_eq!(hand.state(0.0), TrackingState::Waiting);
        hand.accept(HandSample::full(0.0, at(0.0), [0.0; ANGLES]));
        let dropped = |hand: &mut TrackedHand, s| match hand.accept(s) {
            Verdict::Dropped(reason) => reason,
            other => panic!("{other:?}"),
        };
        let mut angles = [0.0; ANGLES];
        angles[3] = f64::NAN;
        assert_eq!(dropped(&mut hand, HandSample::full(0.01, at(0.0), angles)), DropReason::NotFinite);
        assert_eq!(dropped(&mut hand, HandSample::full(0.01, at(f64::INFINITY), [0.0; ANGLES])), DropReason::NotFinite);
        assert_eq!(dropped(&mut hand, HandSample::full(f64::NAN, at(0.0), [0.0; ANGLES])), DropReason::NotFinite);
        assert_eq!(dropped(&mut hand, HandSample::full(0.0, at(0.0), [0.0; ANGLES])), DropReason::OutOfOrder);
        assert_eq!(dropped(&mut hand, HandSample::full(0.01, at(1e6), [0.0; ANGLES])), DropReason::OutOfRange);
        assert_eq!(dropped(&mut hand, HandSample { time: 0.01, palm: None, angles: None }), DropReason::Empty);
        let mut crooked = at(0.0);
        crooked.rotation = Quat::new_unchecked(nalgebra::Quaternion::new(0.0, 0.0, 0.0, 0.0));
        assert_eq!(dropped(&mut hand, HandSample::full(0.01, crooked, [0.0; ANGLES])), DropReason::NotARotation);
        assert_eq!((hand.accepted(), hand.dropped()), (1, 7));
        assert_eq!(hand.palm(), &at(0.0));
    }

    #[test]
    fn a_glitch_is_ridden_out_and_a_real_jump_is_believed_later() {
        let mut hand = hand();
        let mut send = |t: f64, x: f64| hand.accept(HandSample::full(t, at(x), [0.0; ANGLES]));
        assert_eq!(send(0.00, 0.0), Verdict::Accepted);
        assert_eq!(send(0.01, 1.0), Verdict::Suspect);
        assert_eq!(send(0.02, 0.001), Verdict::Accepted, "back again: it was a glitch");
        for i in 3..8 {
            assert_eq!(send(0.01 * f64::from(i), 5.0), Verdict::Suspect);
        }
        assert_eq!(send(0.08, 5.0), Verdict::Accepted, "it stayed there");
        assert_eq!(hand.palm(), &at(5.0));
        assert_eq!(hand.palm_velocity(0.08).0, Vec3::zeros(), "a jump is not a speed");
        assert_eq!(hand.suspected(), 6);
    }
}
