//! Motions of a tracked hand: built in, or taken from a scene, a script or a recording.

use std::f64::consts::FRAC_PI_6;
use std::path::Path;

use super::error::Error;
use super::session::Session;
use crate::assets::{Problems, builtin_hand};
use crate::hand::HandDescription;
use crate::math::{Pose, Quat, Vec3};
use crate::tracking::{ANGLES, Finger, HandSample, PoseKey, PoseSequence, Side};

/// Names of the built-in motions.
pub const BUILTIN_MOTIONS: [&str; 4] = ["fist", "wave", "count", "still"];
/// Samples per second of a built-in motion.
const MOTION_RATE: f64 = 100.0;
/// Height of the palm in the built-in motions, m.
const PALM_HEIGHT: f64 = 1.0;

/// Samples of a tracked hand over time.
#[derive(Clone, Debug, PartialEq)]
pub struct HandMotion {
    samples: Vec<HandSample>,
    /// Whether it ends as it began, so that it can be repeated.
    pub is_cyclic: bool,
}

impl HandMotion {
    /// A built-in motion by name, or the tracked hand of a scene, a script or a recording.
    pub fn of(name: &str, side: Option<Side>) -> Result<Self, Error> {
        if BUILTIN_MOTIONS.contains(&name) { Self::builtin(name) } else { Self::of_file(Path::new(name), side) }
    }

    /// The tracked hand of a scene, a script (its first trial) or a recording, simulated to its end: the first hand, or that of a
    /// side.
    pub fn of_file(file: &Path, side: Option<Side>) -> Result<Self, Error> {
        let mut session = Session::load(file, &[])?;
        let mut motion = Self { samples: Vec::new(), is_cyclic: false };
        let mut time = 0.0;
        motion.note(&session, side, time).ok_or_else(|| Error::NoHand { file: file.into(), side })?;
        while !session.is_over() && session.trial() <= 1 {
            let before = session.steps();
            session.step().map_err(|error| Error::Motion { file: file.into(), reason: Box::new(error) })?;
            if session.steps() > before {
                time += session.scene().world.parameters.dt;
                motion.note(&session, side, time);
            }
        }
        Ok(motion)
    }

    fn note(&mut self, session: &Session, side: Option<Side>, time: f64) -> Option<()> {
        let scene = session.scene();
        let fits = |own: Side| side.is_none_or(|side| side == own);
        let hand = scene.world.bodies.hands().find(|hand| fits(hand.model().description.side))?;
        let tracked = &hand.skeleton.tracked;
        self.samples.push(HandSample::full(time, *tracked.palm(), *tracked.angles()));
        Some(())
    }

    fn builtin(name: &str) -> Result<Self, Error> {
        let hand = builtin_hand()?;
        let keys = match name {
            "fist" => fist(&hand)?,
            "wave" => wave(&hand)?,
            "count" => count(&hand)?,
            "still" => vec![key(0.0, 0.0, pose(&hand, "open")?)],
            _ => {
                let message = format!("there is no such motion; expected {}", BUILTIN_MOTIONS.join(", "));
                return Err(Error::Unknown { name: name.into(), message });
            }
        };
        let sequence = PoseSequence::new(keys);
        let steps = (sequence.end() * MOTION_RATE).round() as u32;
        let samples = (0..=steps).filter_map(|step| sequence.sample(f64::from(step) / MOTION_RATE)).collect();
        Ok(Self { samples, is_cyclic: true })
    }

    /// Time of the last sample, s.
    pub fn end(&self) -> f64 {
        self.samples.last().map_or(0.0, |sample| sample.time)
    }

    /// The sample at a time, interpolated. The hand rests before the first sample and after the last.
    pub fn sample(&self, time: f64) -> Option<HandSample> {
        let next = self.samples.partition_point(|sample| sample.time <= time);
        let after = self.samples.get(next).or(self.samples.last())?;
        let before = next.checked_sub(1).and_then(|i| self.samples.get(i)).unwrap_or(after);
        let length = after.time - before.time;
        let part = if length > 0.0 { ((time - before.time) / length).clamp(0.0, 1.0) } else { 1.0 };
        let palm = before.palm.zip(after.palm).map(|(a, b)| {
            let place = a.translation.vector.lerp(&b.translation.vector, part);
            // Half a turn between two samples has no shorter way.
            Pose::from_parts(place.into(), a.rotation.try_slerp(&b.rotation, part, 1e-9).unwrap_or(b.rotation))
        });
        let angles = before.angles.zip(after.angles);
        let angles = angles.map(|(a, b)| std::array::from_fn(|i| a[i] + part * (b[i] - a[i])));
        Some(HandSample { time, palm, angles })
    }

    /// The sample at a time, with the motion repeated from its end.
    pub fn sample_repeated(&self, time: f64) -> Option<HandSample> {
        let end = self.end();
        self.sample(if end > 0.0 { time.rem_euclid(end) } else { time })
    }
}

fn pose(hand: &HandDescription, name: &str) -> Result<[f64; ANGLES], Error> {
    let missing = || Problems::with_file(Path::new(&hand.name), format!("the built-in hand has no pose `{name}`"));
    Ok(hand.pose(name).copied().ok_or_else(missing)?)
}

/// A key with the palm rotated about the vertical.
fn key(time: f64, turn: f64, angles: [f64; ANGLES]) -> PoseKey {
    let (place, turn) = (Vec3::new(0.2 * turn, PALM_HEIGHT, 0.0), Quat::from_scaled_axis(Vec3::y() * turn));
    PoseKey { time, palm: Pose::from_parts(place.into(), turn), angles }
}

/// Closes to a fist and opens.
fn fist(hand: &HandDescription) -> Result<Vec<PoseKey>, Error> {
    let (open, closed) = (pose(hand, "open")?, pose(hand, "fist")?);
    Ok([(0.0, open), (0.5, open), (1.5, closed), (2.0, closed), (3.0, open)]
        .map(|(t, angles)| key(t, 0.0, angles))
        .into())
}

/// The palm moves back and forth, while one finger after another bends.
fn wave(hand: &HandDescription) -> Result<Vec<PoseKey>, Error> {
    let (open, closed) = (pose(hand, "open")?, pose(hand, "fist")?);
    let step = |step: u32| {
        let bent = |i: usize| step as usize % 10 == i / 4 + 1;
        let turn = [0.0, 1.0, 0.0, -1.0][step as usize / 2 % 4] * FRAC_PI_6;
        key(0.3 * f64::from(step), turn, std::array::from_fn(|i| if bent(i) { closed[i] } else { open[i] }))
    };
    Ok((0..=40).map(step).collect())
}

/// Counts from zero to five on the fingers, thumb first.
fn count(hand: &HandDescription) -> Result<Vec<PoseKey>, Error> {
    let (open, closed) = (pose(hand, "open")?, pose(hand, "fist")?);
    let shown = |fingers: usize| std::array::from_fn(|i| if i / 4 < fingers { open[i] } else { closed[i] });
    let mut keys: Vec<_> = (0..=Finger::ALL.len())
        .flat_map(|fingers| [0.0, 0.7].map(|rest| key(fingers as f64 + rest, 0.0, shown(fingers))))
        .collect();
    keys.push(key(7.0, 0.0, closed));
    Ok(keys)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracking::{Angle, AngleKind};

    fn knuckle(motion: &HandMotion, finger: Finger, time: f64) -> f64 {
        let angles = motion.sample_repeated(time).and_then(|sample| sample.angles).expect("angles");
        angles[Angle { finger, kind: AngleKind::BaseFlexion }.index()].to_degrees()
    }

    #[test]
    fn built_in_motions_match_their_names() {
        for name in BUILTIN_MOTIONS {
            let motion = HandMotion::of(name, Some(Side::Left)).expect(name);
            let (first, last) = (motion.sample(0.0).expect("one"), motion.sample(motion.end()).expect("one"));
            assert!(motion.is_cyclic && first.palm == last.palm && first.angles == last.angles, "{name} is round");
        }
        let fist = HandMotion::of("fist", None).expect("a fist");
        assert!(knuckle(&fist, Finger::Index, 0.2) < 10.0 && knuckle(&fist, Finger::Index, 1.7) > 60.0);
        assert_eq!(knuckle(&fist, Finger::Ring, 1.234), knuckle(&fist, Finger::Ring, 4.234));
        let count = HandMotion::of("count", None).expect("a count");
        let shown = |time| Finger::ALL.iter().skip(1).filter(|f| knuckle(&count, **f, time) < 30.0).count();
        assert_eq!([0.5, 1.5, 2.5, 3.5, 5.5].map(shown), [0, 0, 1, 2, 4]);
    }

    #[test]
    fn the_hand_of_a_scene_is_played_with_interpolation() {
        let motion = HandMotion::of("ball", Some(Side::Right)).expect("a motion");
        assert!(motion.end() > 1.0 && !motion.is_cyclic);
        assert!(knuckle(&motion, Finger::Index, 1.2) > knuckle(&motion, Finger::Index, 0.0) + 10.0, "it closes");
        let at = |time: f64| motion.sample(time).and_then(|sample| sample.angles).expect("angles");
        let (a, b, middle) = (at(0.6), at(0.61), at(0.605));
        assert!((0..ANGLES).all(|i| (0.5 * (a[i] + b[i]) - middle[i]).abs() < 1e-9));
        assert_eq!(motion.sample(1e9).map(|sample| sample.palm), motion.sample(motion.end()).map(|sample| sample.palm));
        let error = HandMotion::of("ball", Some(Side::Left)).expect_err("no such hand");
        assert!(error.to_string().contains("no left hand"), "{error}");
        assert!(HandMotion::of("nothing", None).is_err());
    }
}
