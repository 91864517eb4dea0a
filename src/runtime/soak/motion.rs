//! Random motion of a tracked hand: moves, jumps, dropouts, flicker and invalid samples.

use super::dice::Dice;
use super::plan::ROOM_HALF_WIDTH;
use crate::hand::HandModel;
use crate::math::{Pose, Quat, Vec3};
use crate::tracking::{ANGLES, HandSample, minimum_jerk};

/// A target of the hand.
#[derive(Clone, Copy)]
struct HandTarget {
    place: Vec3,
    turn: Vec3,
    angles: [f64; ANGLES],
}

/// What the tracker does between two targets.
#[derive(Clone, Copy, PartialEq)]
enum TrackerAction {
    /// A smooth move.
    Move,
    /// The next target at once.
    Jump,
    /// No samples.
    Dropout,
    /// Every second sample is at the next target.
    Flicker,
    /// Samples that are not finite or out of range, or have wrong times.
    Nonsense,
}

/// The tracker of a hand.
pub struct SoakTracker {
    open: [f64; ANGLES],
    fist: [f64; ANGLES],
    from: HandTarget,
    to: HandTarget,
    act: TrackerAction,
    start: f64,
    seconds: f64,
    samples: u64,
}

impl SoakTracker {
    /// A tracker of a hand at a place.
    pub fn new(place: Vec3, model: &HandModel) -> Self {
        let pose = |name: &str| model.description.pose(name).copied().unwrap_or([0.0; ANGLES]);
        let key = HandTarget { place, turn: Vec3::zeros(), angles: pose("open") };
        let (open, fist) = (pose("open"), pose("fist"));
        Self { open, fist, from: key, to: key, act: TrackerAction::Move, start: 0.0, seconds: 0.1, samples: 0 }
    }

    /// The sample for a time; none in a dropout.
    pub fn sample(&mut self, time: f64, dice: &mut Dice) -> Option<HandSample> {
        if time > self.start + self.seconds {
            self.turn_to(time, dice);
        }
        self.samples += 1;
        let part = match self.act {
            TrackerAction::Move => minimum_jerk((time - self.start) / self.seconds),
            TrackerAction::Jump => 1.0,
            TrackerAction::Dropout => return None,
            TrackerAction::Flicker => f64::from(self.samples.is_multiple_of(2)),
            TrackerAction::Nonsense => return Some(self.nonsense(time, dice)),
        };
        Some(self.between(part, time))
    }

    fn between(&self, part: f64, time: f64) -> HandSample {
        let mix = |a: f64, b: f64| a + part * (b - a);
        let turn = self.from.turn.zip_map(&self.to.turn, mix);
        let place = self.from.place.zip_map(&self.to.place, mix);
        let pose = Pose::from_parts(place.into(), Quat::from_euler_angles(turn.x, turn.y, turn.z));
        HandSample::full(time, pose, std::array::from_fn(|i| mix(self.from.angles[i], self.to.angles[i])))
    }

    /// Chooses the next target, and how it is reached.
    fn turn_to(&mut self, time: f64, dice: &mut Dice) {
        self.from =
            if self.act == TrackerAction::Move || self.act == TrackerAction::Jump { self.to } else { self.from };
        self.start = time;
        (self.act, self.seconds) = match dice.below(20) {
            0..=13 => (TrackerAction::Move, dice.between(0.2, 0.8)),
            14..=15 => (TrackerAction::Jump, dice.between(0.1, 0.4)),
            16..=17 => (TrackerAction::Dropout, dice.between(0.02, 0.6)),
            18 => (TrackerAction::Flicker, dice.between(0.05, 0.2)),
            _ => (TrackerAction::Nonsense, dice.between(0.02, 0.2)),
        };
        // One in twenty targets lies outside of the room: the hand presses on a wall or on the floor.
        let far = if dice.one_in(20) { 2.0 * ROOM_HALF_WIDTH } else { ROOM_HALF_WIDTH - 0.1 };
        let low = if dice.one_in(20) { -0.3 } else { 0.01 };
        let place = Vec3::new(dice.between(-far, far), dice.between(low, 0.4), dice.between(-far, far));
        let turn = Vec3::new(dice.between(-1.0, 1.0), dice.between(-1.5, 1.5), dice.between(-1.0, 1.0));
        let angles = std::array::from_fn(|i| self.open[i] + dice.between(-0.1, 1.1) * (self.fist[i] - self.open[i]));
        self.to = HandTarget { place, turn, angles };
    }

    fn nonsense(&self, time: f64, dice: &mut Dice) -> HandSample {
        let bad = *dice.pick(&[f64::NAN, f64::INFINITY, -f64::INFINITY, 1e300, -1e9, 150.0]);
        let mut sample = self.between(0.0, time);
        match dice.below(4) {
            0 => sample.time = bad,
            1 => sample.time = time - dice.between(0.0, 5.0),
            2 => sample.palm = sample.palm.map(|palm| Pose::from_parts(Vec3::repeat(bad).into(), palm.rotation)),
            _ => sample.angles = Some([bad; ANGLES]),
        }
        sample
    }
}
