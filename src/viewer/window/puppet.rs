use crate::hand::{HandDescription, POSES};
use crate::math::{Pose, Vec3, exp, log};
use crate::tracking::{ANGLES, Finger, HandSample};

/// What mouse and keyboard want of a hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Steer {
    /// Takes a hand over by its number, or gives it back.
    Take(Option<usize>),
    /// Moves the palm, m.
    Move(Vec3),
    /// Turns the palm about the world's axes, rad.
    Turn(Vec3),
    /// Moves the palm, m/s, and turns it about the world's axes, rad/s, until told otherwise.
    Glide(Vec3, Vec3),
    /// Begins to curl a finger (1), to stretch it (−1), or leaves it as it is (0).
    Curl(Finger, i8),
    /// Curls all fingers by a part of the way.
    CurlAll(f64),
    /// Closes the hand around what is there, or opens it.
    Grip(bool),
    /// Goes to the pose of that number among [`POSES`].
    Pose(usize),
}

/// What a hand that is driven feels.
#[derive(Clone, Copy, Debug, Default)]
pub struct Feeling {
    /// Where its palm is, m.
    pub palm: Vec3,
    /// Sum of the normal forces on each finger, N.
    pub pressing: [f64; 5],
}

/// How fast the palm follows, m/s and rad/s, and how soon, s.
const SPEED: f64 = 0.8;
const TURN: f64 = 5.0;
const LAG: f64 = 0.05;
/// How far the tracked palm may be from the simulated one, m: farther it would only press harder.
const REACH: f64 = 0.03;
/// How far the goal may run ahead, m.
const FAR: f64 = 0.25;
/// Joints follow no faster than this, rad/s.
const JOINT: f64 = 5.0;
/// Parts of the way from stretched to closed in a second: closing and opening.
const CLOSE: f64 = 0.6;
const OPEN: f64 = 2.5;
/// A finger that presses with this force has found something, and closes no further, N.
const FIRM: f64 = 1.5;

/// Where a closing hand goes if nothing is in its way: base flexion, base abduction, middle and tip flexion, degrees.
const CLOSED: [[f64; 4]; 5] = [
    [34.0, 58.0, 26.0, 34.0],
    [78.0, 0.0, 62.0, 34.0],
    [78.0, 0.0, 62.0, 34.0],
    [78.0, 0.0, 62.0, 34.0],
    [78.0, 0.0, 62.0, 34.0],
];

/// A hand driven by mouse and keyboard: from wishes to the samples of a tracker, smooth enough to be believed.
#[derive(Clone, Debug)]
pub struct Puppet {
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

impl Puppet {
    /// Takes a hand over where it is.
    pub fn new(hand: &HandDescription, palm: Pose, angles: [f64; ANGLES]) -> Self {
        let poses = POSES.iter().map(|name| hand.pose(name).copied().unwrap_or(angles)).collect();
        let (rates, curls) = ([0; 5], [0.0; 5]);
        Self { goal: palm, palm, base: angles, angles, curls, rates, grip: None, glide: Default::default(), poses }
    }

    /// Takes a wish in. Taking over and giving back is not for a hand to decide.
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

    /// What a tracker would say at the end of a step of some length, s.
    pub fn sample(&mut self, time: f64, h: f64, feeling: &Feeling) -> HandSample {
        self.close(h, feeling);
        self.goal.translation.vector += h * self.glide.0;
        self.goal.rotation = exp(&(h * self.glide.1)) * self.goal.rotation;
        let part = 1.0 - (-h / LAG).exp();
        let wanted = self.wanted();
        for (angle, wanted) in self.angles.iter_mut().zip(&wanted) {
            *angle += (part * (wanted - *angle)).clamp(-JOINT * h, JOINT * h);
        }
        self.follow(part, h, &feeling.palm);
        let turn = log(&(self.goal.rotation * self.palm.rotation.inverse()));
        self.palm.rotation = exp(&limited(part * turn, TURN * h)) * self.palm.rotation;
        HandSample::full(time, self.palm, self.angles)
    }

    /// The tracked palm goes to its goal; what holds the simulated one up holds both back, so that a hand on the table answers at once when
    /// it is drawn back.
    fn follow(&mut self, part: f64, h: f64, simulated: &Vec3) {
        let (goal, palm) = (&mut self.goal.translation.vector, &mut self.palm.translation.vector);
        *palm += limited(part * (*goal - *palm), SPEED * h);
        let ahead = *palm - simulated;
        let most = if ahead.norm() > REACH { REACH } else { FAR };
        *palm = simulated + limited(ahead, REACH);
        *goal = *palm + limited(*goal - *palm, most);
    }

    fn close(&mut self, h: f64, feeling: &Feeling) {
        for finger in 0..5 {
            let free = feeling.pressing[finger] < FIRM;
            let rate = match (self.rates[finger], self.grip) {
                (0, Some(true)) if free => CLOSE,
                (0, Some(false)) => -OPEN,
                (0, _) => 0.0,
                (rate, _) => f64::from(rate) * CLOSE,
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

    fn puppet() -> Puppet {
        let hand = builtin_hand().expect("the hand");
        let open = *hand.pose("open").expect("a pose");
        Puppet::new(&hand, Pose::translation(0.0, 0.2, 0.0), open)
    }

    /// Drives it for some steps as a hand that follows at once; returns where it ends.
    fn follow(puppet: &mut Puppet, steps: usize, pressing: [f64; 5]) -> HandSample {
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
    fn it_goes_where_it_is_dragged_and_a_tracker_believes_every_sample() {
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
    fn a_grip_closes_each_finger_until_it_finds_something_and_lets_go() {
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
    fn it_glides_until_it_is_told_to_stop() {
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
        assert!((part - 0.5 * CLOSE).abs() < 0.02, "{part}");
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
    fn a_hand_that_is_held_up_answers_at_once_when_it_is_drawn_back() {
        let mut puppet = puppet();
        // The simulated palm does not move.
        let feeling = Feeling { palm: puppet.palm.translation.vector, ..Feeling::default() };
        let start = feeling.palm;
        puppet.steer(Steer::Move(Vec3::new(0.0, -1.0, 0.0)));
        for step in 0..200 {
            puppet.sample(f64::from(step) * H, H, &feeling);
        }
        assert!(start.y - puppet.palm.translation.y <= REACH + 1e-12, "it presses no harder than that");
        puppet.steer(Steer::Move(Vec3::new(0.0, 2.5 * REACH, 0.0)));
        for step in 200..260 {
            puppet.sample(f64::from(step) * H, H, &feeling);
        }
        assert!(puppet.palm.translation.y > start.y, "{}", puppet.palm.translation.y - start.y);
    }
}
