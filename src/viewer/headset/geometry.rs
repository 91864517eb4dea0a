use crate::math::{Pose, Quat, Vec3};
use crate::viewer::Fov;

/// Distance of the hands of the scene from the head, m.
const HAND_DISTANCE: f64 = 0.40;
/// Height of the head above the table of a seated user, m.
const ABOVE_TABLE: f64 = 0.45;
/// Heights of a table above the floor, m.
const TABLES: [f64; 2] = [0.65, 1.15];

/// Where the scene is in the room: the world of the scene relative to the reference space.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Maps points of the reference space to the world.
    pub world_from_room: Pose,
}

impl Default for Placement {
    fn default() -> Self {
        Self { world_from_room: Pose::identity() }
    }
}

impl Placement {
    /// Places a point of the world in front of the head, at table height. Only the heading of the head is used, so that the
    /// scene stays upright. `from_floor`: the reference space has its origin on the floor, so that a table has limits.
    pub fn before(head: &Pose, anchor: &Vec3, from_floor: bool) -> Self {
        let forward = head.rotation * -Vec3::z();
        // Looking straight down or up, the top of the head says where the front is.
        let level = Vec3::new(forward.x, 0.0, forward.z).try_normalize(0.05).or_else(|| {
            let top = head.rotation * Vec3::y() * -forward.y.signum();
            Vec3::new(top.x, 0.0, top.z).try_normalize(1e-6)
        });
        let level = level.unwrap_or_else(|| -Vec3::z());
        let heading = Quat::from_scaled_axis(Vec3::y() * f64::atan2(-level.x, -level.z));
        let eyes = head.translation.vector;
        let table = eyes.y - ABOVE_TABLE;
        let table = if from_floor { table.clamp(TABLES[0], TABLES[1]) } else { table };
        let place = Vec3::new(eyes.x, table, eyes.z) + HAND_DISTANCE * level;
        let turn = heading.inverse();
        Self { world_from_room: Pose::from_parts((anchor - turn * place).into(), turn) }
    }

    /// A pose of the reference space in the world.
    pub fn pose(&self, room: &Pose) -> Pose {
        self.world_from_room * room
    }
}

/// The palm that holds a controller, from its grip pose, in the axes of the palm joint: −z to the fingers, y out of the back of
/// the hand. The grip has −z from the little finger to the thumb, and x along the normal of the palm: into the right palm, out of
/// the left one. So `z_palm = y_grip` and `y_palm = ± x_grip`.
pub(super) fn palm_of_grip(grip: &Pose, is_right: bool) -> Pose {
    let sign = if is_right { 1.0 } else { -1.0 };
    let axes = nalgebra::Matrix3::from_columns(&[sign * Vec3::z(), sign * Vec3::x(), Vec3::y()]);
    let turn = Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(axes));
    Pose::from_parts(grip.translation, grip.rotation * turn)
}

/// A pose of the runtime; `None` if its quaternion is not one.
pub(super) fn pose(of: &openxr::Posef) -> Option<Pose> {
    Some(Pose::from_parts(position(&of.position)?.into(), orientation(&of.orientation)?))
}

/// A finite position.
pub(super) fn position(p: &openxr::Vector3f) -> Option<Vec3> {
    Some(Vec3::new(f64::from(p.x), f64::from(p.y), f64::from(p.z))).filter(|p| p.iter().all(|x| x.is_finite()))
}

/// A unit quaternion; runtimes return zeros for unknown orientations.
pub(super) fn orientation(q: &openxr::Quaternionf) -> Option<Quat> {
    let q = nalgebra::Quaternion::new(f64::from(q.w), f64::from(q.x), f64::from(q.y), f64::from(q.z));
    (q.norm().is_finite() && (q.norm() - 1.0).abs() < 0.1).then(|| Quat::from_quaternion(q))
}

/// The field of view of the runtime.
pub(super) fn fov(of: &openxr::Fovf) -> Fov {
    let [left, right, up, down] = [of.angle_left, of.angle_right, of.angle_up, of.angle_down].map(f64::from);
    Fov { left, right, up, down }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scene_is_upright_in_front_of_the_head_at_table_height() {
        let anchor = Vec3::new(0.1, 0.0, 0.2);
        for (yaw, pitch) in [(0.0, 0.0), (1.2, -0.5), (-2.5, 0.3), (0.7, -1.55), (0.7, 1.55)] {
            let turn = Quat::from_scaled_axis(Vec3::y() * yaw) * Quat::from_scaled_axis(Vec3::x() * pitch);
            let head = Pose::from_parts(Vec3::new(0.5, 1.2, -0.3).into(), turn);
            let placed = Placement::before(&head, &anchor, true);
            let eye = placed.pose(&head).translation.vector;
            // The user is at +z of the anchor, above it, and looks along −z.
            assert!((eye - anchor - Vec3::new(0.0, ABOVE_TABLE, HAND_DISTANCE)).norm() < 1e-9, "{yaw} {pitch}: {eye}");
            assert!((placed.world_from_room.rotation * Vec3::y() - Vec3::y()).norm() < 1e-12);
        }
        // The highest table is for a standing user, the lowest for one lying on the floor.
        for (height, table) in [(1.8, TABLES[1]), (0.3, TABLES[0])] {
            let head = Pose::translation(0.0, height, 0.0);
            let room = Placement::before(&head, &Vec3::zeros(), true).world_from_room.inverse();
            assert!((room.translation.vector.y - table).abs() < 1e-12);
            let room = Placement::before(&head, &Vec3::zeros(), false).world_from_room.inverse();
            assert!((room.translation.vector.y - height + ABOVE_TABLE).abs() < 1e-12);
        }
    }

    #[test]
    fn lengths_are_kept() {
        let head = Pose::from_parts(Vec3::new(0.2, 1.6, 0.1).into(), Quat::from_scaled_axis(Vec3::new(0.3, 2.0, -0.1)));
        let placed = Placement::before(&head, &Vec3::zeros(), true);
        let [a, b] = [Vec3::new(1.0, 2.0, 3.0), Vec3::new(1.0, 2.6, 3.8)]
            .map(|p| placed.world_from_room * nalgebra::Point3::from(p));
        assert!(((a - b).norm() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn grips_become_palms() {
        for is_right in [true, false] {
            let palm = palm_of_grip(&Pose::identity(), is_right).rotation;
            let (back, thumb, fingers) = (palm * Vec3::y(), -Vec3::z(), palm * -Vec3::z());
            // Palm down and fingers forward, the right thumb is to the left.
            let expected = if is_right { thumb.cross(&back) } else { back.cross(&thumb) };
            assert!((fingers - expected).norm() < 1e-12, "{is_right}");
        }
    }

    #[test]
    fn unknown_orientations_are_no_poses() {
        assert!(pose(&openxr::Posef::default()).is_none());
        assert!(pose(&openxr::Posef::IDENTITY).is_some_and(|pose| pose == Pose::identity()));
    }
}
