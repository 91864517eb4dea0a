//! From the 26 joints of XR_EXT_hand_tracking to the palm and the twenty angles. Independent of any runtime.
//!
//! A joint's frame is at the proximal end of its bone, −Z to the tip, +Y to the back, like our segment frames. The
//! angles bring the segments of a given skeleton closest to the joints' orientations, so the user's bone lengths do not
//! matter.
//!
//! ```
//! use fingerpad::devices::joints::{JOINTS, JointReader, PALM, TrackedJoint};
//! use fingerpad::hand::HandModel;
//!
//! let reader = JointReader::new(&HandModel::right()?.skeleton);
//! let mut joints = [TrackedJoint::default(); JOINTS];
//! joints[PALM] = TrackedJoint::new([0.1, 1.2, -0.3], [0.0, 0.0, 0.0, 1.0]);
//! let reading = reader.read(&joints);
//! assert!(reading.palm.is_some() && reading.angles.iter().all(Option::is_none), "only the palm is tracked");
//! # Ok::<(), fingerpad::assets::Problems>(())
//! ```

use crate::hand::Skeleton;
use crate::math::{Pose, Quat, Vec3};
use crate::tracking::{ANGLES, Finger};

/// Number of joints of a hand.
pub const JOINTS: usize = 26;
/// Index of the palm.
pub const PALM: usize = 0;
/// Index of the wrist.
pub const WRIST: usize = 1;

/// Index of the joint at the proximal end of a finger's `place`th phalanx; 3 is the tip.
pub fn phalanx(finger: Finger, place: usize) -> usize {
    match finger {
        Finger::Thumb => 2 + place,
        finger => metacarpal(finger) + 1 + place,
    }
}

/// Index of a finger's metacarpal; for the thumb its first phalanx.
pub fn metacarpal(finger: Finger) -> usize {
    match finger {
        Finger::Thumb => 2,
        finger => 1 + 5 * finger as usize,
    }
}

/// A joint with the known parts.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TrackedJoint {
    /// Position, m.
    pub position: Option<Vec3>,
    /// Orientation.
    pub orientation: Option<Quat>,
}

impl TrackedJoint {
    /// A joint from raw numbers: x, y, z in metres and the quaternion x, y, z, w. Non-finite positions and invalid
    /// rotations are unknown.
    pub fn new(position: [f64; 3], orientation: [f64; 4]) -> Self {
        let [x, y, z, w] = orientation;
        let raw = nalgebra::Quaternion::new(w, x, y, z);
        Self {
            position: position.iter().all(|p| p.is_finite()).then(|| position.into()),
            orientation: ((raw.norm() - 1.0).abs() < 0.01).then(|| Quat::new_normalize(raw)),
        }
    }
}

/// The reading of a hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandReading {
    /// The palm, if known.
    pub palm: Option<Pose>,
    /// The angles, rad; `None` if a required joint is unknown.
    pub angles: [Option<f64>; ANGLES],
}

/// Converts joints to angles of a skeleton.
#[derive(Clone, Debug)]
pub struct JointReader {
    fingers: [Base; 5],
}

/// Constants of a finger.
#[derive(Clone, Debug)]
struct Base {
    /// Frame of the finger with all angles zero, in the palm.
    frame: Quat,
    /// Axes of the four angles in the finger's frame.
    axes: [Vec3; 4],
}

impl JointReader {
    /// A reader for hands with this skeleton, of which side, directions and axes are used.
    pub fn new(skeleton: &Skeleton) -> Self {
        let straight = skeleton.kinematics(&Pose::identity(), &[0.0; ANGLES]);
        let base = |f: usize| {
            let frame = straight.poses[1 + 3 * f].rotation;
            Base { frame, axes: std::array::from_fn(|k| frame.inverse() * straight.axes[4 * f + k]) }
        };
        Self { fingers: std::array::from_fn(base) }
    }

    /// The palm and the angles.
    pub fn read(&self, joints: &[TrackedJoint; JOINTS]) -> HandReading {
        let palm_turn = palm_orientation(joints);
        let mut angles = [None; ANGLES];
        for (finger, base) in Finger::ALL.into_iter().zip(&self.fingers) {
            let [flexion, abduction, middle, tip] = &base.axes;
            let turn = |place| joints[phalanx(finger, place)].orientation;
            let between = |near: Option<Quat>, far: Option<Quat>| Some(near?.inverse() * far?);
            let bent = between(palm_turn.map(|palm| palm * base.frame), turn(0));
            let both = bent.map(|q| two_angles(&q, abduction, flexion));
            let of_finger = &mut angles[4 * finger as usize..][..4];
            of_finger[0] = both.map(|[_, flexion]| flexion);
            of_finger[1] = both.map(|[abduction, _]| abduction);
            of_finger[2] = between(turn(0), turn(1)).map(|q| one_angle(&q, middle));
            of_finger[3] = between(turn(1), turn(2)).map(|q| one_angle(&q, tip));
        }
        let palm = palm_position(joints).zip(palm_turn).map(|(p, q)| Pose::from_parts(p.into(), q));
        HandReading { palm, angles }
    }
}

/// Orientation of the palm joint, or that of the middle metacarpal, which defines the palm frame.
fn palm_orientation(joints: &[TrackedJoint; JOINTS]) -> Option<Quat> {
    joints[PALM].orientation.or(joints[metacarpal(Finger::Middle)].orientation)
}

/// Position of the palm joint, or the middle of the middle metacarpal.
fn palm_position(joints: &[TrackedJoint; JOINTS]) -> Option<Vec3> {
    let end = |joint: usize| joints[joint].position;
    let middle = || Some(0.5 * (end(metacarpal(Finger::Middle))? + end(phalanx(Finger::Middle, 0))?));
    joints[PALM].position.or_else(middle)
}

/// The angle about the unit axis `a` whose rotation is nearest to `q`: it maximises the product of the quaternions,
/// `w cos(θ/2) + q·a sin(θ/2)`.
fn one_angle(q: &Quat, a: &Vec3) -> f64 {
    wrapped(2.0 * q.imag().dot(a).atan2(q.w))
}

/// The angles `[α, β]` for which the rotation by α about `u`, then by β about the carried-along `v`, is nearest to `q`.
///
/// The product of their quaternions, `(cos α/2, u sin α/2) (cos β/2, v sin β/2)`, with `q` is bilinear in the two half-angle
/// vectors: `(cos α/2, sin α/2) M (cos β/2, sin β/2)ᵀ` with the matrix `M` below. It is greatest at the first pair of
/// singular vectors of `M`. For perpendicular axes and a `q` that the joint can reach the singular values are 1 and 0:
/// no pose is singular, and a twist that the joint cannot follow does not upset it.
fn two_angles(q: &Quat, u: &Vec3, v: &Vec3) -> [f64; 2] {
    let (w, i) = (q.w, q.imag());
    let m = [[w, i.dot(v)], [i.dot(u), i.dot(&u.cross(v)) - w * u.dot(v)]];
    // With σ₁ ≥ |σ₂| the singular values, and δ = α/2, ε = β/2 the directions of the first pair of vectors:
    // (m₀₀ + m₁₁, m₁₀ − m₀₁) = (σ₁ + σ₂) (cos, sin)(δ − ε), (m₀₀ − m₁₁, m₁₀ + m₀₁) = (σ₁ − σ₂) (cos, sin)(δ + ε).
    let difference = (m[1][0] - m[0][1]).atan2(m[0][0] + m[1][1]);
    let sum = (m[1][0] + m[0][1]).atan2(m[0][0] - m[1][1]);
    [wrapped(sum + difference), wrapped(sum - difference)]
}

/// The same angle in −π to π.
fn wrapped(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    (angle + PI).rem_euclid(TAU) - PI
}

/// Lengths of a user's hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandSize {
    /// Length of each phalanx, thumb to little finger, m; the last reaches to the tip's joint, at the end of the finger.
    pub phalanges: [[Option<f64>; 3]; 5],
    /// From the wrist over the knuckle to the tip of the middle finger, stretched or bent, m.
    pub hand_length: Option<f64>,
}

impl HandSize {
    /// Measures joints.
    pub fn measure(joints: &[TrackedJoint; JOINTS]) -> Self {
        let between = |a: usize, b: usize| Some((joints[a].position? - joints[b].position?).norm());
        let bone = |finger, place| between(phalanx(finger, place), phalanx(finger, place + 1));
        let phalanges = Finger::ALL.map(|finger| std::array::from_fn(|place| bone(finger, place)));
        let [a, b, c] = phalanges[Finger::Middle as usize];
        let hand_length = (|| Some(between(WRIST, phalanx(Finger::Middle, 0))? + a? + b? + c?))();
        Self { phalanges, hand_length }
    }
}

#[cfg(test)]
mod tests;
