use crate::hand::{HandModel, VisualVertex};
use crate::math::{Pose, Vec3};
use crate::tracking::Segment;
use crate::viewer::figure::{Colour, SKIN};
use crate::viewer::palette::{Palette, mix, scale};

/// The inside of the hand, and flushed skin.
const PALE: Colour = [0.92, 0.73, 0.64];
const FLUSHED: Colour = [0.87, 0.59, 0.51];
const NAIL: Colour = [0.95, 0.80, 0.76];
const CUTICLE: Colour = [0.80, 0.56, 0.49];

/// Palette rows of the tones: the back of the hand, flushed skin, and the rim of a nail.
const BACK: f64 = 0.2;
const RED: f64 = 0.4;
const RIM: f64 = 0.7;
/// Below this fraction of the scale the skin tone is shown.
const FAINT: f32 = 0.08;

/// Colours of the skin: pressure across, skin tone down.
pub(super) fn palette() -> Palette {
    Palette::new((256, 128), |pressure, tone| {
        let shown = (pressure / FAINT).clamp(0.0, 1.0);
        mix(skin(f64::from(tone)), scale(pressure), shown * shown * (3.0 - 2.0 * shown))
    })
}

fn skin(tone: f64) -> Colour {
    let part = |from: f64, to: f64| ((tone - from) / (to - from)).clamp(0.0, 1.0) as f32;
    if tone < BACK {
        mix(PALE, SKIN, part(0.0, BACK))
    } else if tone < RED {
        mix(SKIN, FLUSHED, part(BACK, RED))
    } else if tone < RIM {
        mix(mix(SKIN, FLUSHED, 0.8), CUTICLE, part(RIM - 0.07, RIM))
    } else {
        mix(CUTICLE, NAIL, part(RIM, RIM + 0.06))
    }
}

/// The tone of each vertex of the skin: lighter inside the hand, flushed at fingertips and knuckles, and nails.
pub(super) fn tones(model: &HandModel) -> Vec<f32> {
    let kin = model.skeleton.kinematics(&Pose::identity(), &model.visual.reference);
    let normals = model.visual.mesh.vertex_normals();
    let tone = |(vertex, normal): (&VisualVertex, &Vec3)| {
        // The first influence has the largest weight.
        let main = &vertex.influences[0];
        let segment = main.carrier.segment;
        let normal = kin.poses[segment.index()].rotation.inverse() * normal;
        let nail = nail(model, segment, &main.p_bone, &normal);
        let back = smooth(-0.5, 0.6, normal.y);
        let red = flush(model, segment, &main.p_bone, back);
        let plain = BACK * back * (1.0 - red) + RED * red;
        // The tone changes gradually towards a nail, so that its rim is sharper than the mesh.
        (if nail > -1.0 { RIM + (1.0 - RIM) * nail.min(1.0) } else { plain }) as f32
    };
    model.visual.vertices.iter().zip(&normals).map(tone).collect()
}

/// Flush of the skin, 0 to 1.
fn flush(model: &HandModel, segment: Segment, p_bone: &Vec3, back: f64) -> f64 {
    let Some((finger, place)) = segment.finger() else { return 0.0 };
    let length = model.description.fingers[finger as usize].lengths[place];
    let to_joint = p_bone.z.abs().min((p_bone.z + length).abs().max(if place == 2 { length } else { 0.0 }));
    let knuckle = 0.75 * back * (1.0 - smooth(0.002, 0.009, to_joint));
    let pad = if place == 2 { 0.8 * smooth(0.45, 0.95, -p_bone.z / length) } else { 0.0 };
    knuckle.max(pad)
}

/// Distance of a point inside the outline of a nail, in half widths; −1 except on last phalanges.
fn nail(model: &HandModel, segment: Segment, p_bone: &Vec3, normal: &Vec3) -> f64 {
    let Some((finger, 2)) = segment.finger() else { return -1.0 };
    let finger = &model.description.fingers[finger as usize];
    let breadth = 0.72 * (finger.bone_radius[2] + finger.tissue[2].side);
    let length = finger.lengths[2];
    // From the middle of the phalanx nearly to its tip; rounded.
    let (z, middle, half) = (-p_bone.z, 0.86 * length, 0.36 * length);
    let across = (p_bone.x / breadth).abs();
    let along = (z - middle) / half;
    let outline = (across.powi(4) + along.abs().powf(if along < 0.0 { 2.6 } else { 3.5 })).powf(0.3);
    if normal.y > 0.25 { 1.6 * (1.0 - outline) } else { -1.0 }
}

fn smooth(from: f64, to: f64, x: f64) -> f64 {
    let x = ((x - from) / (to - from)).clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::builtin_hand_model;

    #[test]
    fn there_are_five_nails_on_the_backs_of_the_tips() {
        let model = builtin_hand_model().expect("a hand");
        let kin = model.skeleton.kinematics(&Pose::identity(), &model.visual.reference);
        let mut nails = std::collections::BTreeMap::new();
        for (v, tone) in tones(&model).into_iter().enumerate() {
            assert!((0.0..=1.0).contains(&tone));
            if f64::from(tone) > RIM {
                let segment = model.visual.vertices[v].influences[0].carrier.segment;
                let local =
                    kin.poses[segment.index()].inverse() * nalgebra::Point3::from(model.visual.mesh.vertices[v]);
                assert!(segment.is_tip() && local.y > 0.0, "{segment:?} {local}");
                *nails.entry(segment).or_insert(0) += 1;
            }
        }
        assert_eq!(nails.len(), 5, "{nails:?}");
        assert!(nails.values().all(|&count| count >= 6), "{nails:?}");
    }

    #[test]
    fn pressure_replaces_the_skin_tone() {
        let palette = palette();
        let (columns, rows) = palette.size;
        let at = |column: u32, row: u32| palette.colours[(row * columns + column) as usize];
        for row in [0, rows / 3, rows - 1] {
            let half = (columns / 2) as f32 / (columns - 1) as f32;
            let wanted = [
                (0, skin(f64::from(row) / f64::from(rows - 1))),
                (columns / 2, scale(half)),
                (columns - 1, scale(1.0)),
            ];
            for (column, wanted) in wanted {
                let off = (0..3).map(|c| (at(column, row)[c] - wanted[c]).abs()).fold(0.0, f32::max);
                assert!(off < 1e-5, "column {column}, row {row}: {off}");
            }
        }
    }
}
