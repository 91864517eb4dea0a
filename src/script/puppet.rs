use nalgebra::Unit;

use crate::math::{Pose, Quat, Vec3, exp, log};
use crate::tracking::{ANGLES, Finger, HandSample, minimum_jerk};

/// Easing of a motion.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Easing {
    /// Minimum jerk, as in undisturbed human motion.
    #[default]
    Smooth,
    /// Constant speed.
    Linear,
    /// Accelerating from rest.
    In,
    /// Decelerating to rest.
    Out,
}

impl Easing {
    /// Names in scripts.
    pub const NAMES: [(&str, Easing); 4] =
        [("smooth", Easing::Smooth), ("linear", Easing::Linear), ("in", Easing::In), ("out", Easing::Out)];

    /// Fraction of the path after a fraction of the time.
    pub fn at(self, t: f64) -> f64 {
        let t = t.clamp(0.0, 1.0);
        match self {
            Easing::Smooth => minimum_jerk(t),
            Easing::Linear => t,
            Easing::In => t * t,
            Easing::Out => t * (2.0 - t),
        }
    }
}

/// A value that can be interpolated.
pub trait Blend: Copy {
    /// Interpolates between two values.
    fn blend(from: &Self, to: &Self, part: f64) -> Self;
}

impl Blend for f64 {
    fn blend(from: &f64, to: &f64, part: f64) -> f64 {
        from + part * (to - from)
    }
}

impl Blend for Vec3 {
    fn blend(from: &Vec3, to: &Vec3, part: f64) -> Vec3 {
        from.lerp(to, part)
    }
}

impl Blend for Quat {
    fn blend(from: &Quat, to: &Quat, part: f64) -> Quat {
        exp(&(part * log(&(to * from.inverse())))) * from
    }
}

/// An interpolated value.
#[derive(Clone, Copy, Debug)]
struct Ramp<T> {
    from: T,
    to: T,
    start: f64,
    end: f64,
    easing: Easing,
}

impl<T: Blend> Ramp<T> {
    fn still(value: T) -> Self {
        Self { from: value, to: value, start: 0.0, end: 0.0, easing: Easing::Smooth }
    }

    fn at(&self, time: f64) -> T {
        if time >= self.end {
            return self.to;
        }
        T::blend(&self.from, &self.to, self.easing.at((time - self.start) / (self.end - self.start)))
    }

    /// Moves from the value at a time to another; the last command counts.
    fn go(&mut self, to: T, time: f64, seconds: f64, easing: Easing) {
        *self = Self { from: self.at(time), to, start: time, end: time + seconds, easing };
    }
}

/// Fingers that close until each presses with a force, and keep it.
#[derive(Clone, Debug)]
pub struct ForceGrip {
    /// Which fingers.
    pub fingers: Vec<Finger>,
    /// Force of each, N.
    pub newtons: f64,
    /// Rate of each angle at full speed, rad/s.
    pub rates: [f64; ANGLES],
}

/// Fingers that hold a body: from where they touched it, the joint springs are displaced by what the forces need.
#[derive(Clone, Debug)]
pub struct Hold {
    /// The body.
    pub body: String,
    /// Which fingers.
    pub fingers: Vec<Finger>,
    /// Angles where they touched, rad.
    pub angles: [f64; ANGLES],
    /// Displacement of the springs, rad.
    pub pull: [f64; ANGLES],
    /// When the forces begin, s.
    pub start: f64,
    /// Time for them to build up, s.
    pub build_up: f64,
    /// Factor on the forces; it grows while the body slips.
    pub gain: f64,
}

/// Friction utilisation above which a hold tightens.
const TIGHTEN_ABOVE: f64 = 0.75;
/// Growth of the forces of a hold while the body slips, 1/s, and their largest factor.
const TIGHTENING: f64 = 5.0;
const TIGHTEST: f64 = 3.0;

/// A rotation of the palm about an axis through a point.
#[derive(Clone, Debug)]
struct PalmArc {
    point: Vec3,
    axis: Vec3,
    /// From the point to the palm at the start, m.
    arm: Vec3,
    /// Orientation at the start.
    rotation: Quat,
    angle: Ramp<f64>,
}

impl PalmArc {
    fn turn(&self, time: f64) -> Quat {
        // By the axis and not its product with the angle: the square of a huge angle overflows.
        Quat::from_axis_angle(&Unit::new_unchecked(self.axis), self.angle.at(time))
    }

    fn position(&self, time: f64) -> Vec3 {
        self.point + self.turn(time) * self.arm
    }

    fn rotation(&self, time: f64) -> Quat {
        self.turn(time) * self.rotation
    }
}

/// A hand driven by a script: target of its tracked palm and fingers. Palm and joints are separate, so that several
/// motions can run at the same time.
#[derive(Clone, Debug)]
pub struct Puppet {
    position: Ramp<Vec3>,
    rotation: Ramp<Quat>,
    /// A rotation of the palm about an axis, which replaces both.
    arc: Option<PalmArc>,
    angles: [Ramp<f64>; ANGLES],
    limits: [[f64; 2]; ANGLES],
    /// Easing of later motions.
    pub easing: Easing,
    /// The active grip.
    pub grip: Option<ForceGrip>,
    /// The body that it holds.
    pub hold: Option<Hold>,
}

impl Puppet {
    /// A hand at rest with its joint limits.
    pub fn new(palm: &Pose, angles: &[f64; ANGLES], limits: [[f64; 2]; ANGLES]) -> Self {
        Self {
            position: Ramp::still(palm.translation.vector),
            rotation: Ramp::still(palm.rotation),
            arc: None,
            angles: angles.map(Ramp::still),
            limits,
            easing: Easing::Smooth,
            grip: None,
            hold: None,
        }
    }

    /// Target position of the palm.
    pub fn position(&self, time: f64) -> Vec3 {
        self.arc.as_ref().map_or_else(|| self.position.at(time), |arc| arc.position(time))
    }

    /// Target orientation of the palm.
    pub fn rotation(&self, time: f64) -> Quat {
        self.arc.as_ref().map_or_else(|| self.rotation.at(time), |arc| arc.rotation(time))
    }

    /// Target of a joint, rad.
    #[cfg(test)]
    fn angle(&self, joint: usize, time: f64) -> f64 {
        self.angles[joint].at(time)
    }

    /// Moves the palm.
    pub fn move_to(&mut self, place: Vec3, time: f64, seconds: f64) {
        self.leave_arc(time);
        self.position.go(place, time, seconds, self.easing);
    }

    /// Rotates the palm about a unit axis through a point.
    pub fn turn_about(&mut self, point: Vec3, axis: Vec3, angle: f64, time: f64, seconds: f64) {
        self.leave_arc(time);
        let mut turned = Ramp::still(0.0);
        turned.go(angle, time, seconds, self.easing);
        let (arm, rotation) = (self.position.at(time) - point, self.rotation.at(time));
        self.arc = Some(PalmArc { point, axis, arm, rotation, angle: turned });
    }

    /// Continues with separate motions of position and orientation.
    fn leave_arc(&mut self, time: f64) {
        if let Some(arc) = self.arc.take() {
            self.position = Ramp::still(arc.position(time));
            self.rotation = Ramp::still(arc.rotation(time));
        }
    }

    /// Rotates the palm.
    pub fn turn_to(&mut self, rotation: Quat, time: f64, seconds: f64) {
        self.leave_arc(time);
        self.rotation.go(rotation, time, seconds, self.easing);
    }

    /// Bends a joint; ends the grip of its finger.
    pub fn bend_to(&mut self, joint: usize, angle: f64, time: f64, seconds: f64) {
        if let Some(grip) = &mut self.grip {
            grip.fingers.retain(|finger| *finger as usize != joint / 4);
        }
        if let Some(hold) = &mut self.hold {
            hold.fingers.retain(|finger| *finger as usize != joint / 4);
        }
        self.angles[joint].go(angle, time, seconds, self.easing);
    }

    /// Stops all motions at a time.
    pub fn stop(&mut self, time: f64) {
        self.leave_arc(time);
        self.position = Ramp::still(self.position.at(time));
        self.rotation = Ramp::still(self.rotation.at(time));
        self.angles = self.angles.map(|ramp| Ramp::still(ramp.at(time)));
        self.grip = None;
        self.hold = None;
    }

    /// Sets the targets of the fingers that hold a body; `used` is the friction utilisation on it.
    pub fn keep_hold(&mut self, time: f64, h: f64, used: f64) {
        let Some(hold) = &mut self.hold else { return };
        if used > TIGHTEN_ABOVE && time > hold.start + hold.build_up {
            hold.gain = (hold.gain * (1.0 + TIGHTENING * h)).min(TIGHTEST);
        }
        let part = hold.gain * minimum_jerk(((time + h - hold.start) / hold.build_up).clamp(0.0, 1.0));
        for joint in hold.fingers.iter().flat_map(|finger| 4 * *finger as usize..4 * *finger as usize + 4) {
            // Beyond the joint limits too: the target is the rest position of the spring, not the position of the finger.
            self.angles[joint] = Ramp::still(hold.angles[joint] + part * hold.pull[joint]);
        }
    }

    /// Closes or opens the fingers of a grip over a step by the error of each force.
    pub fn squeeze(&mut self, time: f64, h: f64, force: impl Fn(Finger) -> f64) {
        let Some(grip) = &self.grip else { return };
        for &finger in &grip.fingers {
            let drive = ((grip.newtons - force(finger)) / grip.newtons.max(1e-6)).clamp(-1.0, 1.0);
            for joint in 4 * finger as usize..4 * finger as usize + 4 {
                let [low, high] = self.limits[joint];
                let angle = self.angles[joint].at(time) + h * drive * grip.rates[joint];
                self.angles[joint] = Ramp::still(angle.clamp(low, high));
            }
        }
    }

    /// Sample of a perfect tracker at a time.
    pub fn sample(&self, time: f64) -> HandSample {
        let palm = Pose::from_parts(self.position(time).into(), self.rotation(time));
        HandSample::full(time, palm, self.angles.map(|ramp| ramp.at(time)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn puppet() -> Puppet {
        Puppet::new(&Pose::identity(), &[0.0; ANGLES], [[-2.0, 2.0]; ANGLES])
    }

    #[test]
    fn palm_and_joints_move_independently() {
        let mut puppet = puppet();
        puppet.move_to(Vec3::new(1.0, 0.0, 0.0), 0.0, 2.0);
        puppet.bend_to(5, 1.0, 1.0, 1.0);
        assert_eq!(puppet.position(1.0).x, 0.5, "half way in half the time");
        assert_eq!((puppet.angle(5, 1.0), puppet.angle(5, 1.5), puppet.angle(5, 3.0)), (0.0, 0.5, 1.0));
        puppet.move_to(Vec3::zeros(), 1.0, 1.0);
        assert_eq!(puppet.position(1.0).x, 0.5, "the last order begins where the hand is");
        puppet.stop(1.5);
        assert_eq!(puppet.position(9.0).x, 0.25);
    }

    #[test]
    fn an_arc_keeps_its_distance_and_gives_way_to_other_motions() {
        let mut puppet = puppet();
        puppet.turn_about(Vec3::new(0.1, 0.0, 0.0), Vec3::y(), std::f64::consts::PI, 0.0, 2.0);
        let half = puppet.position(1.0);
        assert!((half - Vec3::new(0.1, 0.0, 0.1)).norm() < 1e-12, "{half}");
        assert!((puppet.position(2.0).x - 0.2).abs() < 1e-12 && puppet.position(0.3).x > 0.0);
        puppet.move_to(half + Vec3::y(), 1.0, 1.0);
        assert!(
            (puppet.position(1.0) - half).norm() < 1e-12 && (puppet.position(2.0) - half - Vec3::y()).norm() < 1e-12
        );
        assert!((puppet.rotation(5.0).angle() - std::f64::consts::FRAC_PI_2).abs() < 1e-9);
    }

    #[test]
    fn easings_have_the_right_end_points() {
        for (name, easing) in Easing::NAMES {
            assert_eq!((easing.at(0.0), easing.at(1.0)), (0.0, 1.0), "{name}");
            let steps = (0..100).map(|i| easing.at(0.01 * f64::from(i + 1)) - easing.at(0.01 * f64::from(i)));
            assert!(steps.into_iter().all(|d| d > 0.0), "{name}");
        }
    }

    #[test]
    fn a_grip_closes_to_its_force_and_keeps_within_the_limits() {
        let mut puppet = puppet();
        puppet.grip = Some(ForceGrip { fingers: vec![Finger::Index], newtons: 2.0, rates: [1.0; ANGLES] });
        for i in 0..1000 {
            puppet.squeeze(0.01 * f64::from(i), 0.01, |_| 0.0);
        }
        assert_eq!((puppet.angle(4, 10.0), puppet.angle(0, 10.0)), (2.0, 0.0));
        puppet.squeeze(10.0, 0.01, |_| 4.0);
        assert!(puppet.angle(4, 10.0) < 2.0, "too much: it opens");
    }
}
