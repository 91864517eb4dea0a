use crate::hand::{HandDescription, POSES};
use crate::math::{Pose, Vec3, exp, log};
use crate::tracking::{ANGLES, Finger, HandSample};

/// Mouse and keyboard commands for a hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steer {
    /// Take over a hand by its number, or release it.
    Take(Option<usize>),
    /// Move the palm, m.
    Move(Vec3),
    /// Rotate the palm about the world axes, rad.
    Turn(Vec3),
    /// Move the palm, m/s, and rotate it about the world axes, rad/s, until changed.
    Glide(Vec3, Vec3),
    /// Start to curl a finger (1), to stretch it (−1), or stop (0).
    Curl(Finger, i8),
    /// Curl all fingers by a fraction of their range.
    CurlAll(f64),
    /// Grasp or open.
    Grip(bool),
    /// Go to the pose with this index in [`POSES`].
    Pose(usize),
}

/// Feedback of a driven hand.
#[derive(Clone, Copy, Debug, Default)]
pub struct Feeling {
    /// Position of its palm, m.
    pub palm: Vec3,
    /// Sum of the normal forces on each finger, N.
    pub pressing: [f64; 5],
}

/// Maximum speeds of the palm, m/s and rad/s, and its time constant, s.
const PALM_SPEED: f64 = 0.8;
const PALM_TURN_SPEED: f64 = 5.0;
const LAG: f64 = 0.05;
/// Maximum distance of the tracked palm from the simulated one, m: a larger one would only increase the force.
const MAX_PALM_OFFSET: f64 = 0.03;
/// Maximum lead of the goal, m.
const MAX_LEAD: f64 = 0.25;
/// Maximum joint speed, rad/s.
const MAX_JOINT_SPEED: f64 = 5.0;
/// Closing and opening speed, in full ranges per second.
const CLOSING_SPEED: f64 = 0.6;
const OPENING_SPEED: f64 = 2.5;
/// A finger with this contact force stops closing, N.
const FIRM: f64 = 1.5;

/// Fully closed hand: base flexion, base abduction, middle and tip flexion, degrees.
const CLOSED: [[f64; 4]; 5] = [
    [34.0, 58.0, 26.0, 34.0],
    [78.0, 0.0, 62.0, 34.0],
    [78.0, 0.0, 62.0, 34.0],
    [78.0, 0.0, 62.0, 34.0],
    [78.0, 0.0, 62.0, 34.0],
];

/// A hand driven by mouse and keyboard: converts commands to smooth tracker samples.
#[derive(Clone, Debug)]
pub struct DrivenHand {
    goal: Pose,
    palm: Pose,
    base: [f64; ANGLES],
    angles: [f64; ANGLES],
    curls: [f64; 5],
    rates: [i8; 5],
    grip: Option<bool>,
    glide: (Vec3, Vec3),
    poses: Vec<[f64; ANGLES]>,
}

impl DrivenHand {
    /// Starts to drive a hand from its current pose.
    pub fn new(hand: &HandDescription, palm: Pose, angles: [f64; ANGLES]) -> Self {
        let poses = POSES.iter().map(|name| hand.pose(name).copied().unwrap_or(angles)).collect();
        let (rates, curls) = ([0; 5], [0.0; 5]);
        Self { goal: palm, palm, base: angles, angles, curls, rates, grip: None, glide: Default::default(), poses }
    }

    /// Applies a command, except taking over and releasing.
    pub fn steer(&mut self, wish: Steer) {
        match wish {
            Steer::Take(_) => {}
            Steer::Move(by) if by.iter().all(|x| x.is_finite()) => self.goal.translation.vector += by,
            Steer::Turn(by) if by.iter().all(|x| x.is_finite()) => {
                self.goal.rotation = exp(&by) * self.goal.rotation;
                self.goal.rotation.renormalize();
            }
            Steer::Move(_) | Steer::Turn(_) => {}
            Steer::Glide(by, turn) => {
                if by.iter().chain(&turn).all(|x| x.is_finite()) {
                    self.glide = (by, turn);
                }
            }
            Steer::Curl(finger, rate) => self.rates[finger as usize] = rate.signum(),
            Steer::CurlAll(by) if by.is_finite() => {
                self.curls.iter_mut().for_each(|curl| *curl = (*curl + by).clamp(0.0, 1.0));
            }
            Steer::CurlAll(_) => {}
            Steer::Grip(closes) => self.grip = Some(closes),
            Steer::Pose(number) => {
                if let Some(pose) = self.poses.get(number) {
                    (self.base, self.curls, self.grip) = (*pose, [0.0; 5], None);
                }
            }
        }
    }

    /// The tracker sample at the end of a step of some length, s.
    pub fn sample(&mut self, time: f64, h: f64, feeling: &Feeling) -> HandSample {
        self.close(h, feeling);
        self.goal.translation.vector += h * self.glide.0;
        self.goal.rotation = exp(&(h * self.glide.1)) * self.goal.rotation;
        let part = 1.0 - (-h / LAG).exp();
        let wanted = self.wanted();
        for (angle, wanted) in self.angles.iter_mut().zip(&wanted) {
            *angle += (part * (wanted - *angle)).clamp(-MAX_JOINT_SPEED * h, MAX_JOINT_SPEED * h);
        }
        self.follow(part, h, &feeling.palm);
        let turn = log(&(self.goal.rotation * self.palm.rotation.inverse()));
        self.palm.rotation = exp(&limited(part * turn, PALM_TURN_SPEED * h)) * self.palm.rotation;
        HandSample::full(time, self.palm, self.angles)
    }

    /// Moves the tracked palm to its goal. Both are limited by the simulated palm, so that a hand on the table responds
    /// at once when it is pulled back.
    fn follow(&mut self, part: f64, h: f64, simulated: &Vec3) {
        let (goal, palm) = (&mut self.goal.translation.vector, &mut self.palm.translation.vector);
        *palm += limited(part * (*goal - *palm), PALM_SPEED * h);
        let ahead = *palm - simulated;
        let most = if ahead.norm() > MAX_PALM_OFFSET { MAX_PALM_OFFSET } else { MAX_LEAD };
        *palm = simulated + limited(ahead, MAX_PALM_OFFSET);
        *goal = *palm + limited(*goal - *palm, most);
    }

    fn close(&mut self, h: f64, feeling: &Feeling) {
        for finger in 0..5 {
            let free = feeling.pressing[finger] < FIRM;
            let rate = match (self.rates[finger], self.grip) {
                (0, Some(true)) if free => CLOSING_SPEED,
                (0, Some(false)) => -OPENING_SPEED,
                (0, _) => 0.0,
                (rate, _) => f64::from(rate) * CLOSING_SPEED,
            };
            self.curls[finger] = (self.curls[finger] + rate * h).clamp(0.0, 1.0);
        }
    }

    fn wanted(&self) -> [f64; ANGLES] {
        std::array::from_fn(|i| {
            let closed = CLOSED[i / 4][i % 4].to_radians();
            self.base[i] + self.curls[i / 4] * (closed - self.base[i])
        })
    }
}

fn limited(v: Vec3, most: f64) -> Vec3 {
    let size = v.norm();
    if size > most { v * (most / size) } else { v }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::builtin_hand;
    use crate::tracking::{Limits, TrackedHand, Verdict};

    const H: f64 = 0.01;

    fn puppet() -> DrivenHand {
        let hand = builtin_hand().expect("the hand");
        let open = *hand.pose("open").expect("a pose");
        DrivenHand::new(&hand, Pose::translation(0.0, 0.2, 0.0), open)
    }

    /// Drives it for some steps as a hand that follows exactly; returns the final position.
    fn follow(puppet: &mut DrivenHand, steps: usize, pressing: [f64; 5]) -> HandSample {
        let mut feeling = Feeling { palm: puppet.palm.translation.vector, pressing };
        let mut last = None;
        for step in 0..steps {
            let sample = puppet.sample(step as f64 * H, H, &feeling);
            feeling.palm = sample.palm.expect("a palm").translation.vector;
            last = Some(sample);
        }
        last.expect("a step")
    }

    #[test]
    fn a_drag_moves_the_palm_with_plausible_samples() {
        let mut puppet = puppet();
        let mut tracked = TrackedHand::new(puppet.palm, puppet.angles, Limits::default());
        puppet.steer(Steer::Move(Vec3::new(0.1, -0.05, 0.02)));
        puppet.steer(Steer::Turn(Vec3::new(0.0, 1.0, 0.0)));
        puppet.steer(Steer::Pose(1));
        let mut feeling = Feeling { palm: puppet.palm.translation.vector, ..Feeling::default() };
        for step in 0..150 {
            let sample = puppet.sample(f64::from(step) * H, H, &feeling);
            assert_eq!(tracked.accept(sample), Verdict::Accepted);
            feeling.palm = sample.palm.expect("a palm").translation.vector;
        }
        assert!((tracked.palm().translation.vector - Vec3::new(0.1, 0.15, 0.02)).norm() < 1e-3);
        assert!((tracked.palm().rotation.angle() - 1.0).abs() < 1e-3);
        let fist = *builtin_hand().expect("the hand").pose(POSES[1]).expect("a pose");
        assert!(tracked.angles().iter().zip(&fist).all(|(is, was)| (is - was).abs() < 0.02));
    }

    #[test]
    fn a_grasp_closes_each_finger_until_contact_and_releases() {
        let mut puppet = puppet();
        let open = puppet.angles;
        puppet.steer(Steer::Grip(true));
        // The ring finger presses from the start.
        let held = follow(&mut puppet, 300, [0.0, 0.0, 0.0, 2.0, 0.0]).angles.expect("angles");
        assert!((held[12] - open[12]).abs() < 1e-9, "the ring finger stays");
        assert!((held[4] - CLOSED[1][0].to_radians()).abs() < 0.01, "the index finger closes");
        puppet.steer(Steer::Grip(false));
        let free = follow(&mut puppet, 200, [0.0; 5]).angles.expect("angles");
        assert!(free.iter().zip(&open).all(|(is, was)| (is - was).abs() < 0.01));
    }

    #[test]
    fn it_moves_until_stopped() {
        let mut puppet = puppet();
        puppet.steer(Steer::Glide(Vec3::new(0.0, 0.1, 0.0), Vec3::new(0.0, 0.0, 0.5)));
        let gone = follow(&mut puppet, 100, [0.0; 5]).palm.expect("a palm");
        assert!((gone.translation.y - 0.3).abs() < 0.015 && (gone.rotation.angle() - 0.5).abs() < 0.06, "{gone}");
        puppet.steer(Steer::Glide(Vec3::zeros(), Vec3::zeros()));
        let there = follow(&mut puppet, 100, [0.0; 5]).palm.expect("a palm");
        assert!((there.translation.y - 0.3).abs() < 1e-4, "{there}");
    }

    #[test]
    fn single_fingers_and_the_wheel_curl() {
        let mut puppet = puppet();
        let open = puppet.angles;
        puppet.steer(Steer::Curl(Finger::Middle, 1));
        follow(&mut puppet, 50, [0.0; 5]);
        puppet.steer(Steer::Curl(Finger::Middle, 0));
        let curled = follow(&mut puppet, 100, [0.0; 5]).angles.expect("angles");
        let part = (curled[8] - open[8]) / (CLOSED[2][0].to_radians() - open[8]);
        assert!((part - 0.5 * CLOSING_SPEED).abs() < 0.02, "{part}");
        assert_eq!(curled[4], open[4]);
        puppet.steer(Steer::CurlAll(5.0));
        assert_eq!(puppet.curls, [1.0; 5]);
        puppet.steer(Steer::CurlAll(f64::NAN));
        puppet.steer(Steer::Move(Vec3::new(f64::NAN, 0.0, 0.0)));
        puppet.steer(Steer::Turn(Vec3::new(f64::INFINITY, 0.0, 0.0)));
        puppet.steer(Steer::Pose(99));
        let sample = follow(&mut puppet, 1, [0.0; 5]);
        assert!(sample.palm.is_some_and(|p| p.translation.vector.iter().all(|x| x.is_finite())));
    }

    #[test]
    fn a_blocked_hand_responds_at_once_when_pulled_back() {
        let mut puppet = puppet();
        // The simulated palm does not move.
        let feeling = Feeling { palm: puppet.palm.translation.vector, ..Feeling::default() };
        let start = feeling.palm;
        puppet.steer(Steer::Move(Vec3::new(0.0, -1.0, 0.0)));
        for step in 0..200 {
            puppet.sample(f64::from(step) * H, H, &feeling);
        }
        assert!(start.y - puppet.palm.translation.y <= MAX_PALM_OFFSET + 1e-12, "it presses no harder than that");
        puppet.steer(Steer::Move(Vec3::new(0.0, 2.5 * MAX_PALM_OFFSET, 0.0)));
        for step in 200..260 {
            puppet.sample(f64::from(step) * H, H, &feeling);
        }
        assert!(puppet.palm.translation.y > start.y, "{}", puppet.palm.translation.y - start.y);
    }
}
