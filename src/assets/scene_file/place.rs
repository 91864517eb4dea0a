use super::ranges;
use crate::assets::table::{Table, listed};
use crate::math::{Pose, Quat, Vec3};

/// The ways to give an orientation.
const ROTATION_KEYS: [&str; 3] = ["rotation", "quaternion", "axis_angle"];

/// Reads `position` and one of the rotations; missing values keep their defaults.
pub fn read_place(table: &Table<'_>, held: &Pose) -> Pose {
    let position = table.numbers_or("position", held.translation.vector.into(), ranges::PLACE);
    let named: Vec<&str> = ROTATION_KEYS.into_iter().filter(|key| table.has(key)).collect();
    if let [_, second, ..] = named.as_slice() {
        table.complain(second, format!("expected one of {}, found {} of them", listed(&ROTATION_KEYS), named.len()));
    }
    let rotation = match named.first() {
        // About X, then Y, then Z, each fixed in the world.
        Some(&"rotation") => {
            let [x, y, z] = table.numbers::<3>("rotation", ranges::ROTATION).map(f64::to_radians);
            Quat::from_euler_angles(x, y, z)
        }
        Some(&"quaternion") => {
            let [x, y, z, w] = table.numbers("quaternion", ranges::COMPONENT);
            let q = nalgebra::Quaternion::new(w, x, y, z);
            if (q.norm() - 1.0).abs() > 0.01 {
                table.complain("quaternion", format!("its length is {:.3}; expected a unit [x, y, z, w]", q.norm()));
            }
            Quat::try_new(q, 1e-6).unwrap_or_else(Quat::identity)
        }
        Some(_) => {
            // The axis may have any length; the fourth number is the angle.
            let [x, y, z, degrees] = table.numbers("axis_angle", ranges::ROTATION);
            let axis = nalgebra::Unit::try_new(Vec3::new(x, y, z), 1e-9);
            if axis.is_none() {
                table.complain("axis_angle", "the axis, the first three numbers, must not be zero");
            }
            axis.map_or_else(Quat::identity, |axis| Quat::from_axis_angle(&axis, degrees.to_radians()))
        }
        None => held.rotation,
    };
    Pose::from_parts(Vec3::from(position).into(), rotation)
}
