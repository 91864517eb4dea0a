use super::ANGLES;
use crate::math::{Pose, Vec3, exp, log};

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

/// What of the hands devices move; scenes and scripts move the rest. Left and right, as [`Side`](super::Side) counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Driven {
    /// The palms.
    pub palm: [bool; 2],
    /// The joints.
    pub fingers: [bool; 2],
}

impl Driven {
    /// Everything of both hands.
    pub const ALL: Driven = Driven { palm: [true; 2], fingers: [true; 2] };

    /// Whether devices move anything.
    pub fn any(&self) -> bool {
        self.palm.iter().chain(&self.fingers).any(|&driven| driven)
    }

    /// What is left of a sample that no device gave; `None` if nothing is.
    pub fn rest_of(&self, side: super::Side, sample: HandSample) -> Option<HandSample> {
        let palm = sample.palm.filter(|_| !self.palm[side as usize]);
        let angles = sample.angles.filter(|_| !self.fingers[side as usize]);
        (palm.is_some() || angles.is_some()).then_some(HandSample { palm, angles, ..sample })
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
    /// A sample is extrapolated for this long at most, s, and for no more than one and a half times the time between the last two samples.
    pub ahead: f64,
    /// And by no more than this, m of the palm's place.
    pub ahead_distance: f64,
    /// And this, rad of the palm's rotation and of every joint.
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
///
/// Palm and joints may come from different devices, each at its own rate: each is followed by itself, so that the samples of one
/// neither outdate those of the other nor clear it of suspicion.
///
/// Devices sample more slowly than the simulation steps: 0.5 m/s at 100 Hz is 5 mm a sample. Between samples the hand is extrapolated by
/// its rate times the age of the sample, with the rate of the last two samples. A hand that stops or is lost is extrapolated no farther
/// than the limits allow; without further samples it goes back until it is stale, and stays where it was seen last. A sample of the present
/// moment is not changed.
#[derive(Clone, Debug)]
pub struct TrackedHand {
    limits: Limits,
    palm: Followed<Pose>,
    angles: Followed<[f64; ANGLES]>,
    accepted: u64,
    dropped: u64,
    suspected: u64,
}

impl TrackedHand {
    /// A hand that rests at a pose until samples come.
    pub fn new(palm: Pose, angles: [f64; ANGLES], limits: Limits) -> Self {
        let (palm, angles) = (Followed::new(palm), Followed::new(angles));
        Self { limits, palm, angles, accepted: 0, dropped: 0, suspected: 0 }
    }

    /// Where the palm is expected at a time: the last sample, extrapolated.
    pub fn palm_at(&self, now: f64) -> Pose {
        self.palm.at(now, &self.limits)
    }

    /// The angles that the joints are expected to have at a time: the last sample, extrapolated.
    pub fn angles_at(&self, now: f64) -> [f64; ANGLES] {
        self.angles.at(now, &self.limits)
    }

    /// Where the palm is said to be.
    pub fn palm(&self) -> &Pose {
        &self.palm.value
    }

    /// The angles the joints are said to have.
    pub fn angles(&self) -> &[f64; ANGLES] {
        &self.angles.value
    }

    /// Velocity of the palm, m/s and rad/s in the world, from the last two samples; zero after a jump, and when no sample has come for
    /// longer than the palm is extrapolated.
    pub fn palm_velocity(&self, now: f64) -> (Vec3, Vec3) {
        self.palm.rate(now, &self.limits)
    }

    /// Rates of the joints, rad/s; zero after a jump, and when no sample has come for longer than the joints are extrapolated.
    pub fn angle_rates(&self, now: f64) -> [f64; ANGLES] {
        self.angles.rate(now, &self.limits)
    }

    /// Whether samples still come.
    pub fn state(&self, now: f64) -> TrackingState {
        let last = [self.palm.heard, self.angles.heard].into_iter().flatten().reduce(f64::max);
        match last {
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
            // What is late of one part does not spoil the other.
            (Some(Verdict::Dropped(_)), Some(verdict)) | (Some(verdict), Some(Verdict::Dropped(_))) => verdict,
            (Some(Verdict::Suspect), _) | (_, Some(Verdict::Suspect)) => Verdict::Suspect,
            (Some(Verdict::Accepted), Some(Verdict::Accepted)) => Verdict::Accepted,
        }
    }
}

/// What samples tell of one part of the hand.
trait Part: Copy {
    /// How fast it changes.
    type Rate: Copy;
    /// At rest.
    const REST: Self::Rate;

    /// Why it cannot be a measurement.
    fn fault(&self, limits: &Limits) -> Option<DropReason>;
    /// Whether a hand can be there after a time.
    fn can_reach(&self, other: &Self, after: f64, limits: &Limits) -> bool;
    /// How fast it went there.
    fn rate_to(&self, other: &Self, after: f64) -> Self::Rate;
    /// Where it is after a time at a rate, no farther away than the limits allow.
    fn ahead(&self, rate: &Self::Rate, age: f64, limits: &Limits) -> Self;
}

impl Part for Pose {
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

impl Part for [f64; ANGLES] {
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

/// A sample is extrapolated for this many times the time between the last two: the next may be late by half of it.
const INTERVALS: f64 = 1.5;
/// Times that differ by less are the same, s.
const SAME: f64 = 1e-9;

/// A part of the hand on its way through time.
#[derive(Clone, Debug)]
struct Followed<P: Part> {
    value: P,
    rate: P::Rate,
    /// Time between the last two samples, s.
    interval: f64,
    /// When the value was measured.
    time: Option<f64>,
    /// When the last sample was measured, believed or not.
    heard: Option<f64>,
    /// A jump that is not believed yet: since when, and the last sample of it.
    suspect: Option<(f64, f64, P)>,
}

impl<P: Part> Followed<P> {
    fn new(value: P) -> Self {
        Self { value, rate: P::REST, interval: 0.0, time: None, heard: None, suspect: None }
    }

    /// For how long a sample is extrapolated, s.
    fn horizon(&self, limits: &Limits) -> f64 {
        (INTERVALS * self.interval).min(limits.ahead).min(limits.stale)
    }

    /// How fast it changes; not at all when nothing was heard for longer than it is extrapolated.
    fn rate(&self, now: f64, limits: &Limits) -> P::Rate {
        if self.time.is_some_and(|time| now - time <= self.horizon(limits) + SAME) { self.rate } else { P::REST }
    }

    /// Where it is expected at a time.
    fn at(&self, now: f64, limits: &Limits) -> P {
        match self.time.map(|time| now - time) {
            // Also where times differ by rounding: what is told for every step is taken as it is told.
            Some(age) if age > SAME && age < limits.stale => {
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
        // After a pause the hand may be anywhere it can have gone at the speed limit; the first sample ever is believed.
        let after = self.time.map(|last| time - last);
        if after.is_none_or(|after| self.value.can_reach(&new, after, limits)) {
            self.take(time, new, after.map_or(P::REST, |after| self.value.rate_to(&new, after)));
            self.interval = after.unwrap_or(0.0);
            return Verdict::Accepted;
        }
        // A jump. It becomes believable when later samples keep agreeing with it: a tracker that found the hand again,
        // not a glitch of one frame.
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

    /// Samples at 100 Hz, asked for at 1 kHz: a swing of 5 cm that reaches 0.5 m/s.
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
        assert!(step < 1.1e-3, "no stairs: {step}");
        assert!(held > 4e-3, "held samples would be stairs: {held}");
    }

    #[test]
    fn a_hand_that_stops_or_is_lost_goes_no_farther_than_allowed() {
        let mut hand = hand();
        let send = |hand: &mut TrackedHand, i: i32, x: f64| {
            assert_eq!(hand.accept(HandSample::full(0.01 * f64::from(i), at(x), [x; ANGLES])), Verdict::Accepted);
        };
        (0..=10).for_each(|i| send(&mut hand, i, 0.005 * f64::from(i)));
        // It stops at 5 cm: one interval too far at the most, and back with the sample that says so.
        assert!((hand.palm_at(0.1099).translation.x - 0.05) < 0.005);
        send(&mut hand, 11, 0.05);
        assert_eq!(hand.palm_at(0.115), at(0.05));
        assert_eq!(hand.palm_velocity(0.115), (Vec3::zeros(), Vec3::zeros()));
        // It goes on, and is lost: it goes one and a half intervals ahead, and back to where it was seen last until it is stale.
        send(&mut hand, 12, 0.055);
        send(&mut hand, 13, 0.06);
        for (later, x) in [(0.145, 0.0675), (0.1875, 0.06375), (0.231, 0.06), (5.0, 0.06)] {
            assert!((hand.palm_at(later).translation.x - x).abs() < 1e-12, "{later}");
            assert!((hand.angles_at(later)[0] - x).abs() < 1e-12, "{later}");
            assert!(later < 0.15 || hand.palm_velocity(later) == (Vec3::zeros(), Vec3::zeros()));
        }
        assert_eq!(hand.state(5.0), TrackingState::Stale);
        // Found again far away: a pause is no speed.
        assert_eq!(hand.accept(HandSample::full(9.0, at(1.0), [0.0; ANGLES])), Verdict::Accepted);
        assert!((hand.palm_at(9.01).translation.x - 1.0).abs() < 0.003);
    }

    #[test]
    fn extrapolation_is_bounded_in_time_and_distance() {
        let mut hand = hand();
        // 10 m/s and 50 rad/s, in samples 40 ms apart: the time allows for 0.5 m.
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
        // A sample of the present moment, or of the future, is taken as it is.
        assert_eq!((hand.palm_at(0.04), hand.palm_at(0.03)), (there, there));
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
        // The palm jumps for good; the glove goes on meanwhile.
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
