//! Where a controller or tracker is mounted on a hand that wears a glove.
//!
//! The pose of the palm is `P = C X` with the pose `C` of the controller and the constant offset `X = (R_X, t_X)`. The user sees
//! no real hand in a headset, so two steps that need no eyes determine it:
//!
//! 1. The flat hand rests on a table, fingers straight ahead: the orientation `R_P` of the palm is known, and
//!    `R_X = R_Cᵀ R_P`.
//! 2. The tip of the straight index finger stays on one spot `w` while the hand is turned. With `p` the tip in the frame of the
//!    controller, `R_i p + t_i = w` for all poses. Least squares:
//!
//!    ```text
//!    |  n I      −Σ R_iᵀ | | p |   | −Σ R_iᵀ t_i |
//!    | −Σ R_i     n I    | | w | = |  Σ t_i      |
//!    ```
//!
//!    The matrix is singular if all poses are turned about one axis: along it `p` and `w` can move together. Its smallest
//!    eigenvalue divided by `n` says how well they are determined.
//!
//! With the tip `q` of the straight index finger in the frame of the palm, `t_X = p − R_X q`.

use nalgebra::{Matrix6, Vector6};

use crate::math::{Mat3, Pose, Quat, Vec3};

/// Minimum number of poses of the second step.
const MIN_POSES: usize = 30;
/// Smallest eigenvalue per pose: turns of about ±15° about two axes.
const MIN_TURN: f64 = 0.01;
/// Maximum root mean square distance of the tip from its spot, m.
const MOST_SLIP: f64 = 0.006;

/// Why the mount is not known, one sentence without a full stop.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
pub enum MountFault {
    /// Too few poses.
    #[error("the controller was located {0} times only, at least {MIN_POSES} are needed; keep it in sight")]
    TooFew(usize),
    /// The hand was not turned.
    #[error("the hand was not turned enough; tilt it to all sides and turn it")]
    NotTurned,
    /// The finger slipped.
    #[error("the finger moved by {:.0} mm; keep its tip on one spot, and the finger straight", 1e3 * .0)]
    Slipped(f64),
}

/// The mount of a controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mount {
    /// The palm in the frame of the controller.
    pub palm: Pose,
    /// Root mean square distance of the tip from its spot, m.
    pub slip: f64,
}

impl Mount {
    /// The mount from the controller at rest with the orientation of the palm there, its poses while the finger stays on a spot,
    /// and the tip of the straight index finger in the palm.
    pub fn of(rest: &Quat, palm_at_rest: &Quat, turned: &[Pose], tip: &Vec3) -> Result<Self, MountFault> {
        let (spot, slip) = pivot(turned)?;
        let turn = rest.inverse() * palm_at_rest;
        Ok(Self { palm: Pose::from_parts((spot - turn * tip).into(), turn), slip })
    }
}

/// The fixed point of some poses in their frame, and its scatter.
fn pivot(poses: &[Pose]) -> Result<(Vec3, f64), MountFault> {
    let count = poses.len();
    if count < MIN_POSES {
        return Err(MountFault::TooFew(count));
    }
    let n = count as f64;
    let turns: Vec<Mat3> = poses.iter().map(|pose| *pose.rotation.to_rotation_matrix().matrix()).collect();
    let sum: Mat3 = turns.iter().sum();
    let mut matrix = Matrix6::identity() * n;
    matrix.fixed_view_mut::<3, 3>(0, 3).copy_from(&-sum.transpose());
    matrix.fixed_view_mut::<3, 3>(3, 0).copy_from(&-sum);
    let mut right = Vector6::zeros();
    for (pose, turn) in poses.iter().zip(&turns) {
        let t = pose.translation.vector;
        let mut top = right.fixed_rows_mut::<3>(0);
        top -= turn.transpose() * t;
        let mut bottom = right.fixed_rows_mut::<3>(3);
        bottom += t;
    }
    let least = matrix.symmetric_eigenvalues().min() / n;
    let solution = matrix.cholesky().filter(|_| least > MIN_TURN).ok_or(MountFault::NotTurned)?.solve(&right);
    let (p, w) = (Vec3::from(solution.fixed_rows::<3>(0)), Vec3::from(solution.fixed_rows::<3>(3)));
    let off = poses.iter().map(|pose| (pose * nalgebra::Point3::from(p) - nalgebra::Point3::from(w)).norm_squared());
    let slip = (off.sum::<f64>() / n).sqrt();
    if slip > MOST_SLIP { Err(MountFault::Slipped(slip)) } else { Ok((p, slip)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Random;

    const TIP: Vec3 = Vec3::new(-0.025, 0.0, -0.115);

    fn mount() -> Pose {
        Pose::from_parts(Vec3::new(0.01, -0.06, -0.05).into(), Quat::from_scaled_axis(Vec3::new(0.4, 2.0, -0.7)))
    }

    /// Poses of the controller while the tip stays on a spot and the palm is turned by `turn(i)`.
    fn turned(count: usize, slip: f64, turn: impl Fn(f64) -> Vec3) -> Vec<Pose> {
        let spot = Vec3::new(0.3, 0.75, -0.2);
        let mut random = Random::new(7, 0);
        let mut noise = || slip * (2.0 * random.unit() - 1.0);
        (0..count)
            .map(|i| {
                let palm_turn = Quat::from_scaled_axis(turn(i as f64 / count as f64));
                let at = spot + Vec3::new(noise(), noise(), noise()) - palm_turn * TIP;
                Pose::from_parts(at.into(), palm_turn) * mount().inverse()
            })
            .collect()
    }

    fn both_axes(part: f64) -> Vec3 {
        let angle = 40.0 * part;
        Vec3::new(0.5 * angle.sin(), 0.6 * (0.7 * angle).cos(), 0.5 * (1.3 * angle).sin())
    }

    #[test]
    fn a_known_mount_is_found() {
        let palm = Quat::from_scaled_axis(Vec3::y() * 0.3);
        let rest = (Pose::from_parts(Vec3::zeros().into(), palm) * mount().inverse()).rotation;
        let found = Mount::of(&rest, &palm, &turned(200, 0.0, both_axes), &TIP).expect("a mount");
        let off = mount().inverse() * found.palm;
        assert!(off.translation.vector.norm() < 1e-9 && off.rotation.angle() < 1e-9 && found.slip < 1e-9, "{found:?}");
        // A trembling finger: errors average out.
        let found = Mount::of(&rest, &palm, &turned(400, 0.004, both_axes), &TIP).expect("a mount");
        let off = mount().inverse() * found.palm;
        assert!(off.translation.vector.norm() < 1e-3, "{off}");
        assert!((found.slip - 0.004).abs() < 5e-4, "a uniform error of 4 mm to each side: {}", found.slip);
    }

    #[test]
    fn unusable_poses_are_refused() {
        let of = |poses: &[Pose]| Mount::of(&Quat::identity(), &Quat::identity(), poses, &TIP);
        assert_eq!(of(&turned(10, 0.0, both_axes)), Err(MountFault::TooFew(10)));
        assert_eq!(of(&turned(100, 0.0, |_| Vec3::zeros())), Err(MountFault::NotTurned));
        assert_eq!(of(&turned(100, 0.0, |part| Vec3::x() * part)), Err(MountFault::NotTurned), "about one axis");
        assert!(matches!(of(&turned(200, 0.03, both_axes)), Err(MountFault::Slipped(slip)) if slip > 0.02));
    }
}
