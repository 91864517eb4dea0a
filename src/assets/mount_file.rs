use std::path::Path;

use super::Files;
use super::problem::Problems;
use super::scene_file::read_place;
use super::table::Document;
use crate::math::Pose;
use crate::tracking::Side;

/// Where controllers are mounted on the hands: the palm in the frame of the controller, left and right.
pub type Mounts = [Option<Pose>; 2];

/// Reads a file that `fingerpad vr --mount` wrote.
pub fn load_mounts(file: &Path) -> Result<Mounts, Problems> {
    let document = Document::load_over_bases(&Files::default(), file)?;
    let root = document.root();
    let mounts = [Side::Left, Side::Right].map(|side| {
        let table = root.table_if_any(side.name())?;
        let pose = read_place(&table, &Pose::identity());
        table.finish();
        Some(pose)
    });
    root.finish();
    document.into_problems().into_result().map(|()| mounts)
}

/// The text of such a file.
pub fn mounts_text(mounts: &Mounts) -> String {
    let mut text =
        String::from("# Where controllers are mounted on the hands: the palm in the frame of the controller.\n");
    for side in [Side::Left, Side::Right] {
        let Some(pose) = &mounts[side as usize] else { continue };
        let (p, q) = (pose.translation.vector, pose.rotation.coords);
        text += &format!(
            "\n[{}]\nposition = [{:.6}, {:.6}, {:.6}]\nquaternion = [{:.7}, {:.7}, {:.7}, {:.7}]\n",
            side.name(),
            p.x,
            p.y,
            p.z,
            q.x,
            q.y,
            q.z,
            q.w
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Quat, Vec3};

    #[test]
    fn mounts_round_trip() {
        let turn = Quat::from_scaled_axis(Vec3::new(0.4, -2.0, 0.7));
        let mounts = [None, Some(Pose::from_parts(Vec3::new(0.01, -0.06, 0.05).into(), turn))];
        let file = std::env::temp_dir().join(format!("fingerpad-mounts-{}.toml", std::process::id()));
        std::fs::write(&file, mounts_text(&mounts)).expect("a file");
        let read = load_mounts(&file).unwrap_or_else(|problems| panic!("{problems}"));
        std::fs::write(&file, "[right]\nposition = [1, 2]\n").expect("a file");
        let wrong = load_mounts(&file).expect_err("two numbers").to_string();
        std::fs::remove_file(&file).expect("it was written");
        assert!(read[0].is_none());
        let off = mounts[1].expect("right").inverse() * read[1].expect("right");
        assert!(off.translation.vector.norm() < 1e-5 && off.rotation.angle() < 1e-5, "{off}");
        assert!(wrong.contains("position"), "{wrong}");
    }
}
