use super::ANGLES;
use super::inlet::{Inlet, SampleSource};
use crate::math::{Pose, Saved, StateFault, StateReader, StateWriter, Vec3, exp, log};

/// A sample of one source. Gloves have no palm, trackers no fingers.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandSample {
    /// Time of the measurement, s on the simulation clock.
    pub time: f64,
    /// Pose of the palm in the world.
    pub palm: Option<Pose>,
    /// The twenty joint angles, rad.
    pub angles: Option<[f64; ANGLES]>,
}

impl HandSample {
    /// A complete sample.
    pub fn full(time: f64, palm: Pose, angles: [f64; ANGLES]) -> Self {
        Self { time, palm: Some(palm), angles: Some(angles) }
    }
}

/// The parts of the hands that devices move; scenes and scripts move the rest. Left and right, indexed by
/// [`Side`](super::Side).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Driven {
    /// The palms.
    pub palm: [bool; 2],
    /// The joints.
    pub fingers: [bool; 2],
}

impl Driven {
    /// Both hands completely.
    pub const ALL: Driven = Driven { palm: [true; 2], fingers: [true; 2] };

    /// Whether devices move anything.
    pub fn any(&self) -> bool {
        self.palm.iter().chain(&self.fingers).any(|&driven| driven)
    }
}

/// Plausibility limits of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limits {
    /// Maximum palm speed between two samples, m/s; a faster change is a jump. Hands reach about 10 m/s when throwing.
    pub speed: f64,
    /// Maximum angular speed of the palm, rad/s.
    pub turn: f64,
    /// Maximum joint speed, rad/s.
    pub joint_turn: f64,
    /// A jump is accepted once samples have agreed with each other for this long, s. Until then the hand does not move.
    pub confirm: f64,
    /// The hand is stale without a sample for this long, s: it rests at its last pose.
    pub stale: f64,
    /// Maximum distance of a palm from the origin, m.
    pub range: f64,
    /// Maximum extrapolation time, s; also limited to one and a half sample intervals.
    pub ahead: f64,
    /// Maximum extrapolation of the palm position, m.
    pub ahead_distance: f64,
    /// Maximum extrapolation of the palm rotation and of each joint, rad.
    pub ahead_turn: f64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            speed: 20.0,
            turn: 60.0,
            joint_turn: 100.0,
            confirm: 0.05,
            stale: 0.1,
            range: 100.0,
            ahead: 0.05,
            ahead_distance: 0.025,
            ahead_turn: 0.25,
        }
    }
}

/// Result of a sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Accepted as the target of the hand.
    Accepted,
    /// Implausibly far from the last; held back until more samples agree with it.
    Suspect,
    /// Rejected.
    Dropped(DropReason),
}

/// Why a sample was rejected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropReason {
    /// A non-finite value or time.
    NotFinite,
    /// A quaternion whose length is far from 1.
    NotARotation,
    /// Not newer than the last sample.
    OutOfOrder,
    /// Out of range.
    OutOfRange,
    /// Neither palm nor angles.
    Empty,
    /// A source of higher priority moves the parts that it is about.
    Outranked,
}

/// State of the tracking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackingState {
    /// No sample yet.
    Waiting,
    /// Receiving samples.
    Tracking,
    /// No sample for longer than the limit; the last pose is held.
    Stale,
}

/// Layer 1: the tracked hand. Invalid samples are rejected and counted; the resulting pose is always finite.
///
/// Palm and joints may come from different devices with different rates. Each is tracked separately: samples of one
/// neither make those of the other outdated nor confirm its jumps.
///
/// Devices sample at a lower rate than the simulation: 0.5 m/s at 100 Hz is 5 mm per sample. Between samples the pose
/// is extrapolated by the age of the sample times the rate of the last two samples, within limits. Without further
/// samples the extrapolation is undone until the hand is stale, at its last measured pose. A sample of the current time
/// is used unchanged.
#[derive(Clone, Debug)]
pub struct TrackedHand {
    limits: Limits,
    inlet: Inlet,
    palm: Followed<Pose>,
    angles: Followed<[f64; ANGLES]>,
    accepted: u64,
    dropped: u64,
    suspected: u64,
}

impl TrackedHand {
    /// A hand at rest until samples arrive.
    pub fn new(palm: Pose, angles: [f64; ANGLES], limits: Limits) -> Self {
        let (palm, angles) = (Followed::new(palm), Followed::new(angles));
        Self { limits, inlet: Inlet::default(), palm, angles, accepted: 0, dropped: 0, suspected: 0 }
    }

    /// Extrapolated pose of the palm at a time.
    pub fn palm_at(&self, now: f64) -> Pose {
        self.palm.at(now, &self.limits)
    }

    /// Extrapolated joint angles at a time.
    pub fn angles_at(&self, now: f64) -> [f64; ANGLES] {
        self.angles.at(now, &self.limits)
    }

    /// Last accepted pose of the palm.
    pub fn palm(&self) -> &Pose {
        &self.palm.value
    }

    /// Last accepted joint angles.
    pub fn angles(&self) -> &[f64; ANGLES] {
        &self.angles.value
    }

    /// Velocity of the palm, m/s and rad/s in the world, from the last two samples; zero after a jump, and after the
    /// extrapolation time.
    pub fn palm_velocity(&self, now: f64) -> (Vec3, Vec3) {
        self.palm.rate(now, &self.limits)
    }

    /// Joint rates, rad/s; zero after a jump, and after the extrapolation time.
    pub fn angle_rates(&self, now: f64) -> [f64; ANGLES] {
        self.angles.rate(now, &self.limits)
    }

    /// Whether samples still arrive.
    pub fn state(&self, now: f64) -> TrackingState {
        let last = [self.palm.heard, self.angles.heard].into_iter().flatten().reduce(f64::max);
        match last {
            None => TrackingState::Waiting,
            Some(last) if now - last > self.limits.stale => TrackingState::Stale,
            Some(_) => TrackingState::Tracking,
        }
    }

    /// Number of accepted samples.
    pub fn accepted(&self) -> u64 {
        self.accepted
    }

    /// Number of rejected samples.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// Number of samples held back as jumps; some may have been confirmed later.
    pub fn suspected(&self) -> u64 {
        self.suspected
    }

    /// Which source moves which part.
    pub fn inlet(&self) -> &Inlet {
        &self.inlet
    }

    /// Which source moves which part, to change it.
    pub fn inlet_mut(&mut self) -> &mut Inlet {
        &mut self.inlet
    }

    /// Takes the parts of a sample in that no source of higher priority has claimed.
    pub fn accept_from(&mut self, source: SampleSource, sample: HandSample) -> Verdict {
        match self.inlet.admit(source, sample) {
            Some(admitted) => self.accept(admitted),
            None => Verdict::Dropped(DropReason::Outranked),
        }
    }

    /// Takes a sample in, with the priority of a device.
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
        let limits = &self.limits;
        let faults = [
            (!sample.time.is_finite()).then_some(DropReason::NotFinite),
            sample.palm.and_then(|palm| palm.fault(limits)),
            sample.angles.and_then(|angles| angles.fault(limits)),
        ];
        if let Some(reason) = faults.into_iter().flatten().next() {
            return Verdict::Dropped(reason);
        }
        let palm = sample.palm.map(|mut palm| {
            palm.rotation.renormalize();
            self.palm.judge(sample.time, palm, limits)
        });
        let angles = sample.angles.map(|angles| self.angles.judge(sample.time, angles, limits));
        match (palm, angles) {
            (None, None) => Verdict::Dropped(DropReason::Empty),
            (Some(verdict), None) | (None, Some(verdict)) => verdict,
            // A late sample of one part does not affect the other.
            (Some(Verdict::Dropped(_)), Some(verdict)) | (Some(verdict), Some(Verdict::Dropped(_))) => verdict,
            (Some(Verdict::Suspect), _) | (_, Some(Verdict::Suspect)) => Verdict::Suspect,
            (Some(Verdict::Accepted), Some(Verdict::Accepted)) => Verdict::Accepted,
        }
    }
}

crate::saved_fields!(TrackedHand: inlet, palm, angles, accepted, dropped, suspected);

/// A separately tracked part of the hand.
trait TrackedPart: Copy + Default + Saved {
    /// Rate of change.
    type Rate: Copy + Saved;
    /// Zero rate.
    const REST: Self::Rate;

    /// Why the value is invalid.
    fn fault(&self, limits: &Limits) -> Option<DropReason>;
    /// Whether the hand can have moved there in a time.
    fn can_reach(&self, other: &Self, after: f64, limits: &Limits) -> bool;
    /// Rate of the motion.
    fn rate_to(&self, other: &Self, after: f64) -> Self::Rate;
    /// Value after a time at a rate, within the limits.
    fn ahead(&self, rate: &Self::Rate, age: f64, limits: &Limits) -> Self;
}

impl TrackedPart for Pose {
    type Rate = (Vec3, Vec3);
    const REST: Self::Rate = (Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 0.0));

    fn fault(&self, limits: &Limits) -> Option<DropReason> {
        let (p, q) = (&self.translation.vector, self.rotation.coords);
        if !p.iter().chain(q.iter()).all(|x| x.is_finite()) {
            Some(DropReason::NotFinite)
        } else if (q.norm() - 1.0).abs() > 0.01 {
            Some(DropReason::NotARotation)
        } else {
            (p.norm() > limits.range).then_some(DropReason::OutOfRange)
        }
    }

    fn can_reach(&self, other: &Self, after: f64, limits: &Limits) -> bool {
        let moved = (other.translation.vector - self.translation.vector).norm();
        moved <= limits.speed * after && other.rotation.angle_to(&self.rotation) <= limits.turn * after
    }

    fn rate_to(&self, other: &Self, after: f64) -> Self::Rate {
        let turn = log(&(other.rotation * self.rotation.inverse()));
        ((other.translation.vector - self.translation.vector) / after, turn / after)
    }

    fn ahead(&self, (linear, angular): &Self::Rate, age: f64, limits: &Limits) -> Self {
        let place = self.translation.vector + (age * linear).cap_magnitude(limits.ahead_distance);
        let mut rotation = exp(&(age * angular).cap_magnitude(limits.ahead_turn)) * self.rotation;
        rotation.renormalize();
        Pose::from_parts(place.into(), rotation)
    }
}

impl TrackedPart for [f64; ANGLES] {
    type Rate = [f64; ANGLES];
    const REST: Self::Rate = [0.0; ANGLES];

    fn fault(&self, _: &Limits) -> Option<DropReason> {
        if !self.iter().all(|a| a.is_finite()) {
            return Some(DropReason::NotFinite);
        }
        self.iter().any(|a| a.abs() > std::f64::consts::TAU).then_some(DropReason::OutOfRange)
    }

    fn can_reach(&self, other: &Self, after: f64, limits: &Limits) -> bool {
        let most = limits.joint_turn * after;
        self.iter().zip(other).all(|(a, b)| (a - b).abs() <= most)
    }

    fn rate_to(&self, other: &Self, after: f64) -> Self::Rate {
        std::array::from_fn(|i| (other[i] - self[i]) / after)
    }

    fn ahead(&self, rate: &Self::Rate, age: f64, limits: &Limits) -> Self {
        let most = limits.ahead_turn;
        std::array::from_fn(|i| self[i] + (age * rate[i]).clamp(-most, most))
    }
}

/// Extrapolation time in sample intervals: the next sample may be late by half an interval.
const INTERVALS: f64 = 1.5;
/// Times that differ by less are equal, s.
const SAME_TIME: f64 = 1e-9;

/// The tracking state of one part.
#[derive(Clone, Debug)]
struct Followed<P: TrackedPart> {
    value: P,
    rate: P::Rate,
    /// Time between the last two samples, s.
    interval: f64,
    /// Time of the value.
    time: Option<f64>,
    /// Time of the last sample, accepted or not.
    heard: Option<f64>,
    /// A jump that is not accepted yet: its start and its last sample.
    suspect: Option<(f64, f64, P)>,
}

impl<P: TrackedPart> Saved for Followed<P> {
    fn save(&self, to: &mut StateWriter) {
        self.value.save(to);
        self.rate.save(to);
        self.interval.save(to);
        [self.time, self.heard].save(to);
        self.suspect.save(to);
    }

    fn restore(&mut self, from: &mut StateReader<'_>) -> Result<(), StateFault> {
        self.value.restore(from)?;
        self.rate.restore(from)?;
        self.interval.restore(from)?;
        [self.time, self.heard] = from.get()?;
        self.suspect.restore(from)
    }
}

impl<P: TrackedPart> Followed<P> {
    fn new(value: P) -> Self {
        Self { value, rate: P::REST, interval: 0.0, time: None, heard: None, suspect: None }
    }

    /// Extrapolation time, s.
    fn horizon(&self, limits: &Limits) -> f64 {
        (INTERVALS * self.interval).min(limits.ahead).min(limits.stale)
    }

    /// Rate of change; zero after the extrapolation time.
    fn rate(&self, now: f64, limits: &Limits) -> P::Rate {
        if self.time.is_some_and(|time| now - time <= self.horizon(limits) + SAME_TIME) { self.rate } else { P::REST }
    }

    /// Extrapolated value at a time.
    fn at(&self, now: f64, limits: &Limits) -> P {
        match self.time.map(|time| now - time) {
            // Samples of the current time are used unchanged, also if times differ by rounding.
            Some(age) if age > SAME_TIME && age < limits.stale => {
                let horizon = self.horizon(limits);
                let ahead =
                    if age <= horizon { age } else { horizon * (limits.stale - age) / (limits.stale - horizon) };
                self.value.ahead(&self.rate, ahead, limits)
            }
            _ => self.value,
        }
    }

    fn judge(&mut self, time: f64, new: P, limits: &Limits) -> Verdict {
        if self.heard.is_some_and(|heard| time <= heard) {
            return Verdict::Dropped(DropReason::OutOfOrder);
        }
        self.heard = Some(time);
        // After a pause the hand may be anywhere within reach at the speed limit; the first sample is always accepted.
        let after = self.time.map(|last| time - last);
        if after.is_none_or(|after| self.value.can_reach(&new, after, limits)) {
            self.take(time, new, after.map_or(P::REST, |after| self.value.rate_to(&new, after)));
            self.interval = after.unwrap_or(0.0);
            return Verdict::Accepted;
        }
        // A jump. It is accepted if later samples agree with it: the tracker found the hand again, instead of a glitch
        // of one frame.
        let agreed = self.suspect.filter(|(_, last, there)| there.can_reach(&new, time - last, limits));
        let since = agreed.map_or(time, |(since, ..)| since);
        if time - since >= limits.confirm {
            self.take(time, new, P::REST);
            self.interval = 0.0;
            return Verdict::Accepted;
        }
        self.suspect = Some((since, time, new));
        Verdict::Suspect
    }

    fn take(&mut self, time: f64, new: P, rate: P::Rate) {
        (self.value, self.rate, self.time, self.suspect) = (new, rate, Some(time), None);
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

    /// Samples at 100 Hz, evaluated at 1 kHz: an oscillation of 5 cm with a peak speed of 0.5 m/s.
    #[test]
    fn a_swing_is_followed_between_samples() {
        let swing = |t: f64| 0.05 * (10.0 * t).sin();
        let mut hand = hand();
        let (mut worst, mut held, mut step, mut last) = (0.0f64, 0.0f64, 0.0f64, None);
        for i in 0..2000 {
            let t = 1e-3 * f64::from(i);
            if i % 10 == 0 {
                let turn = Quat::from_scaled_axis(Vec3::y() * swing(t));
                let palm = Pose::from_parts(Vec3::new(swing(t), 0.0, 0.0).into(), turn);
                assert_eq!(hand.accept(HandSample::full(t, palm, [swing(t); ANGLES])), Verdict::Accepted);
            }
            let now = hand.palm_at(t);
            if i > 20 {
                let angle = log(&now.rotation).y;
                worst = worst.max((now.translation.x - swing(t)).abs()).max((angle - swing(t)).abs());
                worst = worst.max((hand.angles_at(t)[3] - swing(t)).abs());
                held = held.max((hand.palm().translation.x - swing(t)).abs());
                step = last.map_or(0.0f64, |last: f64| step.max((now.translation.x - last).abs()));
            }
            last = Some(now.translation.x);
        }
        // The error of a rate from two samples, T apart and of age τ, is a (τ T + τ²) / 2, and 5 m/s² and 10 ms give 0.5 mm.
        assert!(worst < 0.51e-3, "{worst}");
        assert!(step < 1.1e-3, "no steps: {step}");
        assert!(held > 4e-3, "held samples would be steps: {held}");
    }

    #[test]
    fn extrapolation_of_a_stopped_or_lost_hand_is_bounded() {
        let mut hand = hand();
        let send = |hand: &mut TrackedHand, i: i32, x: f64| {
            assert_eq!(hand.accept(HandSample::full(0.01 * f64::from(i), at(x), [x; ANGLES])), Verdict::Accepted);
        };
        (0..=10).for_each(|i| send(&mut hand, i, 0.005 * f64::from(i)));
        // It stops at 5 cm: at most one interval too far, and back with the next sample.
        assert!((hand.palm_at(0.1099).translation.x - 0.05) < 0.005);
        send(&mut hand, 11, 0.05);
        assert_eq!(hand.palm_at(0.115), at(0.05));
        assert_eq!(hand.palm_velocity(0.115), (Vec3::zeros(), Vec3::zeros()));
        // It moves on and is lost: extrapolated by one and a half intervals, then back to the last measured pose until
        // it is stale.
        send(&mut hand, 12, 0.055);
        send(&mut hand, 13, 0.06);
        for (later, x) in [(0.145, 0.0675), (0.1875, 0.06375), (0.231, 0.06), (5.0, 0.06)] {
            assert!((hand.palm_at(later).translation.x - x).abs() < 1e-12, "{later}");
            assert!((hand.angles_at(later)[0] - x).abs() < 1e-12, "{later}");
            assert!(later < 0.15 || hand.palm_velocity(later) == (Vec3::zeros(), Vec3::zeros()));
        }
        assert_eq!(hand.state(5.0), TrackingState::Stale);
        // Found again far away: a pause does not count as a speed.
        assert_eq!(hand.accept(HandSample::full(9.0, at(1.0), [0.0; ANGLES])), Verdict::Accepted);
        assert!((hand.palm_at(9.01).translation.x - 1.0).abs() < 0.003);
    }

    #[test]
    fn extrapolation_is_bounded_in_time_and_distance() {
        let mut hand = hand();
        // 10 m/s and 50 rad/s with samples 40 ms apart: the interval allows for 0.5 m.
        for i in 0..2 {
            let t = 0.04 * f64::from(i);
            let palm =
                Pose::from_parts(Vec3::new(10.0 * t, 0.0, 0.0).into(), Quat::from_scaled_axis(Vec3::z() * 50.0 * t));
            assert_eq!(hand.accept(HandSample::full(t, palm, [50.0 * t; ANGLES])), Verdict::Accepted);
        }
        let limits = Limits::default();
        let (there, now) = (*hand.palm(), hand.palm_at(0.09));
        assert!((now.translation.x - there.translation.x - limits.ahead_distance).abs() < 1e-12);
        assert!((now.rotation.angle_to(&there.rotation) - limits.ahead_turn).abs() < 1e-9);
        assert!((hand.angles_at(0.09)[5] - hand.angles()[5] - limits.ahead_turn).abs() < 1e-12);
        // A sample of the current time or of the future is used unchanged.
        assert_eq!((hand.palm_at(0.04), hand.palm_at(0.03)), (there, there));
    }

    #[test]
    fn invalid_samples_are_rejected_and_counted() {
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
    fn a_glitch_is_ignored_and_a_real_jump_is_accepted_later() {
        let mut hand = hand();
        let mut send = |t: f64, x: f64| hand.accept(HandSample::full(t, at(x), [0.0; ANGLES]));
        assert_eq!(send(0.00, 0.0), Verdict::Accepted);
        assert_eq!(send(0.01, 1.0), Verdict::Suspect);
        assert_eq!(send(0.02, 0.001), Verdict::Accepted, "back again: a glitch");
        for i in 3..8 {
            assert_eq!(send(0.01 * f64::from(i), 5.0), Verdict::Suspect);
        }
        assert_eq!(send(0.08, 5.0), Verdict::Accepted, "it stayed there");
        assert_eq!(hand.palm(), &at(5.0));
        assert_eq!(hand.palm_velocity(0.08).0, Vec3::zeros(), "a jump is not a speed");
        assert_eq!(hand.suspected(), 6);
    }

    #[test]
    fn a_glove_and_a_tracker_do_not_disturb_each_other() {
        let mut hand = hand();
        let palm = |time: f64, x: f64| HandSample { time, palm: Some(at(x)), angles: None };
        let fingers = |time: f64, a: f64| HandSample { time, palm: None, angles: Some([a; ANGLES]) };
        assert_eq!(hand.accept(palm(0.100, 0.0)), Verdict::Accepted);
        assert_eq!(
            hand.accept(fingers(0.095, 0.1)),
            Verdict::Accepted,
            "older than the palm's, and the newest of its own"
        );
        assert_eq!(hand.accept(fingers(0.095, 0.1)), Verdict::Dropped(DropReason::OutOfOrder));
        // The palm jumps permanently while the glove continues.
        for i in 1..=5 {
            let t = 0.1 + 0.01 * f64::from(i);
            assert_eq!(hand.accept(palm(t, 5.0)), Verdict::Suspect);
            assert_eq!(hand.accept(fingers(t, 0.1)), Verdict::Accepted);
        }
        assert_eq!(hand.accept(palm(0.161, 5.0)), Verdict::Accepted);
        assert_eq!(hand.palm(), &at(5.0));
        assert_eq!(hand.palm_velocity(0.161).0, Vec3::zeros());
    }
}
