//! The guided calibration of a controller on the wrist of a gloved hand. Pure: poses in, advice and the mount out.

use crate::devices::calibration::Mount;
use crate::hand::HandDescription;
use crate::math::{Pose, Quat, Vec3};
use crate::tracking::{Finger, Side};

/// How long the hand must be still, s, and how far it may move then, m and rad.
const STILL_SECONDS: f64 = 1.5;
const MOVED: f64 = 0.005;
const STILL_TURN: f64 = 0.03;
/// Time to put the finger on a spot, and time to turn the hand about it, s.
const PLACING_TIME: f64 = 4.0;
const TURNING_TIME: f64 = 8.0;

/// A calibration in progress.
#[derive(Clone, Debug)]
pub struct Mounting {
    side: Side,
    /// Tip of the straight index finger in the palm.
    tip: Vec3,
    step: MountStep,
    advice: String,
}

#[derive(Clone, Debug)]
enum MountStep {
    /// The flat hand lies on the table; since when it is still, and where.
    Rest(Option<(f64, Pose)>),
    /// The finger is put on a spot until a time; the controller's orientation at rest.
    Place(Quat, f64),
    /// The hand is turned about the spot until a time.
    Turn(Quat, f64, Vec<Pose>),
}

impl Mounting {
    /// Starts with the flat hand.
    pub fn new(hand: &HandDescription) -> Self {
        let index = &hand.fingers[Finger::Index as usize];
        let length = index.lengths.iter().sum::<f64>() + index.tip;
        let tip = index.base + length * index.direction.normalize();
        let mut mounting = Self { side: hand.side, tip, step: MountStep::Rest(None), advice: String::new() };
        mounting.rest("");
        mounting
    }

    /// What the user should do.
    pub fn advice(&self) -> &str {
        &self.advice
    }

    /// Follows the controller in the world, where the user looks along −z; returns the mount once it is known.
    pub fn follow(&mut self, time: f64, controller: &Pose) -> Option<Mount> {
        match &mut self.step {
            MountStep::Rest(since) => {
                let (start, place) = *since.get_or_insert((time, *controller));
                let off = place.inverse() * controller;
                if off.translation.vector.norm() > MOVED || off.rotation.angle() > STILL_TURN {
                    *since = None;
                } else if time - start > STILL_SECONDS {
                    self.step = MountStep::Place(controller.rotation, time + PLACING_TIME);
                    let name = self.side.name();
                    self.advice =
                        format!("{name} hand: put the tip of the straight index finger on a spot of the table");
                }
            }
            MountStep::Place(rest, until) if time > *until => {
                let name = self.side.name();
                self.advice = format!("{name} hand: keep the finger there, and tilt and turn the hand to all sides");
                self.step = MountStep::Turn(*rest, time + TURNING_TIME, Vec::new());
            }
            MountStep::Place(..) => {}
            MountStep::Turn(_, until, poses) if time < *until => poses.push(*controller),
            MountStep::Turn(rest, _, poses) => {
                // Fingers ahead and the back of the hand up: the axes of the world.
                let found = Mount::of(rest, &Quat::identity(), poses, &self.tip);
                match found {
                    Ok(mount) => return Some(mount),
                    Err(why) => self.rest(&format!("Again: {why}. ")),
                }
            }
        }
        None
    }

    fn rest(&mut self, before: &str) {
        self.step = MountStep::Rest(None);
        let name = self.side.name();
        self.advice =
            format!("{before}{name} hand: lay it flat on the table, fingers straight ahead, and keep it still");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::builtin_hand;

    /// A user who follows the advice, but turns the hand too little in the first attempt.
    #[test]
    fn the_advice_leads_to_the_mount() {
        let hand = builtin_hand().expect("a hand");
        let known =
            Pose::from_parts(Vec3::new(0.02, -0.05, -0.06).into(), Quat::from_scaled_axis(Vec3::new(1.2, -0.3, 0.5)));
        let mut mounting = Mounting::new(&hand);
        let tip = mounting.tip;
        let (mut found, mut again) = (None, false);
        let mut time = 0.0_f64;
        while found.is_none() && time < 60.0 {
            time += 1.0 / 60.0;
            let palm = if mounting.advice().contains("lay it flat") {
                again |= mounting.advice().contains("Again: the hand was not turned enough");
                Pose::translation(0.1, 0.0, -0.1)
            } else if mounting.advice().contains("put the tip") {
                Pose::translation(0.1, 0.1, -0.1)
            } else {
                let angle = 2.0 * time;
                // The first attempt turns about one axis only.
                let other = if again { 0.5 * (0.7 * angle).cos() } else { 0.0 };
                let turn = Quat::from_scaled_axis(Vec3::new(0.6 * angle.sin(), other, 0.4 * other * angle.sin()));
                Pose::from_parts((Vec3::new(0.2, 0.0, -0.3) - turn * tip).into(), turn)
            };
            found = mounting.follow(time, &(palm * known.inverse()));
        }
        assert!(again, "the first attempt is refused");
        let off = known.inverse() * found.expect("a mount").palm;
        assert!(off.translation.vector.norm() < 1e-6 && off.rotation.angle() < 1e-6, "{off}");
    }
}
