use crate::hand::{HandModel, Kinematics};
use crate::math::Vec3;
use crate::tracking::{ANGLES, Segment};

/// A pad that presses on a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PadForce {
    /// The segment that touches.
    pub segment: Segment,
    /// Where it touches, m.
    pub place: Vec3,
    /// Force on the body, N.
    pub force: Vec3,
}

/// Displacements of the joint springs, rad, with which pads press with some forces at rest.
///
/// In equilibrium the torques of the springs carry the contact forces: `k_j (q_target − q)_j = Σ (Jᵀ f)_j`, where `f` is the force on the
/// body at a pad and `J` the Jacobian of its place. The force then does not depend on the body's stiffness, and forces `f` that add up to
/// zero leave the palm unloaded.
pub fn pull(model: &HandModel, kinematics: &Kinematics, presses: &[PadForce]) -> [f64; ANGLES] {
    let mut torques = [0.0; crate::hand::REDUCED];
    for press in presses {
        kinematics.add_point_force(press.segment, &press.place, &press.force, &mut torques);
    }
    let coupling = &model.description.coupling;
    std::array::from_fn(|j| {
        let most = coupling.max_joint_torque;
        torques[6 + j].clamp(-most, most) / coupling.joints[j % 4]
    })
}

/// Shares of a force for pads on one side, so that their resultant passes as close as possible through the pad on the other side.
///
/// With `x_i` the places of the pads across the axis relative to the opposite one: minimises `|Σ s_i x_i|² + ε² Σ (s_i − 1/n)²` with
/// `s_i ≥ s_min`, `Σ s_i = 1`, by projected gradient descent. `ε` keeps the shares even where the pads are close together.
pub fn shares(places: &[Vec3], opposite: &Vec3, axis: &Vec3) -> Vec<f64> {
    const EVEN: f64 = 0.01;
    const ROUNDS: usize = 200;
    let n = places.len() as f64;
    let least = 0.25 / n;
    let across = |p: &Vec3| (p - opposite) - (p - opposite).dot(axis) * axis;
    let arms: Vec<Vec3> = places.iter().map(across).collect();
    let steepest = arms.iter().map(|x| x.norm_squared()).sum::<f64>() + EVEN * EVEN;
    let mut shares = vec![1.0 / n; places.len()];
    for _ in 0..ROUNDS {
        let moment: Vec3 = arms.iter().zip(&shares).map(|(x, s)| *s * x).sum();
        for (s, x) in shares.iter_mut().zip(&arms) {
            *s = (*s - (moment.dot(x) + EVEN * EVEN * (*s - 1.0 / n)) / steepest).max(least);
        }
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|s| *s /= sum);
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::builtin_hand_model;
    use crate::math::Pose;
    use crate::tracking::Finger;

    /// The power of the springs equals that of the forces, for any motion of the joints.
    #[test]
    fn springs_carry_the_forces() {
        let model = builtin_hand_model().expect("a hand");
        let angles = *model.description.pose("tripod").expect("a pose");
        let kinematics = model.skeleton.kinematics(&Pose::identity(), &angles);
        let segment = Segment::phalanx(Finger::Index, 2);
        let place = kinematics.poses[segment.index()] * nalgebra::Point3::new(0.0, -0.005, -0.01);
        let press = PadForce { segment, place: place.coords, force: Vec3::new(0.3, -0.8, 0.4) };
        let pull = pull(&model, &kinematics, &[press]);
        for joint in 0..ANGLES {
            let mut v = crate::hand::Reduced::zeros();
            v[6 + joint] = 1.0;
            let power = kinematics.point_velocity(segment, &press.place, &v).dot(&press.force);
            assert!((pull[joint] * model.description.coupling.joints[joint % 4] - power).abs() < 1e-12);
        }
    }

    #[test]
    fn the_resultant_of_the_shares_meets_the_opposite_pad() {
        let axis = Vec3::z();
        let places = [Vec3::new(-0.01, 0.0, 0.0), Vec3::new(0.02, 0.0, 0.001)];
        let shares = shares(&places, &Vec3::new(0.0, 0.0, 0.05), &axis);
        let x: f64 = shares.iter().zip(&places).map(|(s, p)| s * p.x).sum();
        assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        assert!(x.abs() < 0.002 && shares[0] > shares[1], "{shares:?}");
    }
}
