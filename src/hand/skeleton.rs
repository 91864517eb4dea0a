use super::description::HandDescription;
use super::dynamics::{REDUCED, Reduced};
use crate::math::{Pose, Quat, Vec3, rotation_between};
use crate::tracking::{ANGLES, Finger, SEGMENTS, Segment, Side};

/// Layer 3: the joint chain. Constant; [`Kinematics`] holds a configuration.
#[derive(Clone, Debug, PartialEq)]
pub struct Skeleton {
    fingers: [Chain; 5],
}

#[derive(Clone, Debug, PartialEq)]
struct Chain {
    /// Base joint in the palm's frame.
    base: Vec3,
    /// Frame of the finger with all angles zero, in the palm frame.
    frame: Quat,
    /// Unit axes of the four angles in the frame of the finger.
    axes: [nalgebra::Unit<Vec3>; 4],
    lengths: [f64; 3],
}

/// A configuration in the world: poses of the sixteen segments, axes and centres of the twenty joints.
#[derive(Clone, Debug, PartialEq)]
pub struct Kinematics {
    /// Frame of each segment: at its proximal joint, −Z along the bone, +Y the back.
    pub poses: [Pose; SEGMENTS],
    /// Axis of each angle.
    pub axes: [Vec3; ANGLES],
    /// Centre of each angle's joint.
    pub centres: [Vec3; ANGLES],
}

/// Sine of the minimum angle between the two axes of a finger's base: 30°.
const LEAST_SINE: f64 = 0.5;

/// Mirrors a hand, x → −x. A direction `v` maps to `m v`; a rotation axis is a pseudovector and maps to `−m a`, so that
/// the same angle bends the mirrored finger the same way.
fn mirrored(v: &Vec3) -> Vec3 {
    Vec3::new(-v.x, v.y, v.z)
}

impl Skeleton {
    /// The skeleton of a described hand, or the finger whose directions or axes do not span a frame.
    pub fn new(hand: &HandDescription) -> Result<Self, Finger> {
        let chain = |which: Finger| -> Result<Chain, Finger> {
            let finger = &hand.fingers[which as usize];
            let left = hand.side == Side::Left;
            let place = |v: &Vec3| if left { mirrored(v) } else { *v };
            let turn = |a: &Vec3| if left { -mirrored(a) } else { *a };
            let mut axes = [Vec3::x_axis(); 4];
            for (unit, axis) in axes.iter_mut().zip(&finger.axes) {
                *unit = nalgebra::Unit::try_new(turn(axis), 1e-6).ok_or(which)?;
            }
            // Nearly parallel base axes give a motion without inertia.
            if axes[0].cross(&axes[1]).norm() < LEAST_SINE {
                return Err(which);
            }
            Ok(Chain {
                base: place(&finger.base),
                frame: rotation_between(&place(&finger.direction), &place(&finger.dorsal)).ok_or(which)?,
                axes,
                lengths: finger.lengths,
            })
        };
        let [a, b, c, d, e] = Finger::ALL.map(chain);
        Ok(Self { fingers: [a?, b?, c?, d?, e?] })
    }

    /// Forward kinematics.
    ///
    /// The base of a finger is a universal joint: abduction about an axis fixed in the palm, then flexion about an axis
    /// that rotates with it.
    pub fn kinematics(&self, palm: &Pose, angles: &[f64; ANGLES]) -> Kinematics {
        let mut kin =
            Kinematics { poses: [*palm; SEGMENTS], axes: [Vec3::zeros(); ANGLES], centres: [Vec3::zeros(); ANGLES] };
        for (f, chain) in self.fingers.iter().enumerate() {
            let q = &angles[4 * f..4 * f + 4];
            let [flexion, abduction, middle, tip] = &chain.axes;
            let mut at = palm * nalgebra::Point3::from(chain.base);
            let fixed = palm.rotation * chain.frame;
            let abducted = fixed * Quat::from_axis_angle(abduction, q[1]);
            let mut turned = abducted * Quat::from_axis_angle(flexion, q[0]);
            kin.axes[4 * f + 1] = fixed * **abduction;
            kin.axes[4 * f] = abducted * **flexion;
            kin.centres[4 * f] = at.coords;
            kin.centres[4 * f + 1] = at.coords;
            for place in 0..3 {
                if place > 0 {
                    let axis = [middle, tip][place - 1];
                    kin.axes[4 * f + 1 + place] = turned * **axis;
                    kin.centres[4 * f + 1 + place] = at.coords;
                    turned *= Quat::from_axis_angle(axis, q[1 + place]);
                }
                kin.poses[1 + 3 * f + place] = Pose::from_parts(at.coords.into(), turned);
                at += turned * Vec3::new(0.0, 0.0, -chain.lengths[place]);
            }
        }
        kin
    }

    /// Indices of the angles that move a segment.
    pub fn angles_of(segment: Segment) -> std::ops::Range<usize> {
        match segment.finger() {
            None => 0..0,
            Some((finger, place)) => 4 * finger as usize..4 * finger as usize + place + 2,
        }
    }
}

impl Kinematics {
    /// Velocity of the point `p` of a segment for reduced velocities `v`: `J(q, p) v`.
    pub fn point_velocity(&self, segment: Segment, p: &Vec3, v: &Reduced) -> Vec3 {
        let linear = v.fixed_rows::<3>(0);
        let angular: Vec3 = v.fixed_rows::<3>(3).into_owned();
        let mut velocity = linear + angular.cross(&(p - self.palm()));
        for j in Skeleton::angles_of(segment) {
            velocity += self.axes[j].cross(&(p - self.centres[j])) * v[6 + j];
        }
        velocity
    }

    /// Angular velocity of a segment.
    pub fn angular_velocity(&self, segment: Segment, v: &Reduced) -> Vec3 {
        Skeleton::angles_of(segment).fold(v.fixed_rows::<3>(3).into_owned(), |sum, j| sum + self.axes[j] * v[6 + j])
    }

    /// Columns of the Jacobian of the point `p` of a segment: velocity per unit of each reduced velocity that moves it.
    pub fn point_columns(&self, segment: Segment, p: &Vec3, mut column: impl FnMut(usize, Vec3)) {
        let arm = p - self.palm();
        for i in 0..3 {
            column(i, Vec3::ith(i, 1.0));
            column(3 + i, Vec3::ith(i, 1.0).cross(&arm));
        }
        for j in Skeleton::angles_of(segment) {
            column(6 + j, self.axes[j].cross(&(p - self.centres[j])));
        }
    }

    /// Adds `Jᵀ f` of a force `f` at the point `p` of a segment.
    pub fn add_point_force(&self, segment: Segment, p: &Vec3, f: &Vec3, onto: &mut [f64]) {
        debug_assert_eq!(onto.len(), REDUCED);
        let torque = (p - self.palm()).cross(f);
        for i in 0..3 {
            onto[i] += f[i];
            onto[3 + i] += torque[i];
        }
        for j in Skeleton::angles_of(segment) {
            onto[6 + j] += self.axes[j].dot(&(p - self.centres[j]).cross(f));
        }
    }

    /// Adds `Jᵀ` of a torque on a segment.
    pub fn add_torque(&self, segment: Segment, torque: &Vec3, onto: &mut [f64]) {
        for i in 0..3 {
            onto[3 + i] += torque[i];
        }
        for j in Skeleton::angles_of(segment) {
            onto[6 + j] += self.axes[j].dot(torque);
        }
    }

    fn palm(&self) -> &Vec3 {
        &self.poses[0].translation.vector
    }
}
