use super::fine::{SkinPoint, reference};
use super::relief::{millimetre, smooth};
use crate::hand::{HandModel, Look};
use crate::math::{Pose, Vec3};
use crate::tracking::{Finger, SEGMENTS, Segment};
use crate::viewer::figure::{Colour, SKIN_COLOUR};
use crate::viewer::palette::{Palette, mix, scale};

/// Colours of a look.
struct Colours {
    /// The inside of the hand.
    pale: Colour,
    /// The back of the hand.
    back: Colour,
    /// Knuckles and fingertips.
    flushed: Colour,
    nail: Colour,
    cuticle: Colour,
    /// The cuff that ends the forearm.
    cuff: Colour,
}

impl Colours {
    fn of(look: Look) -> Self {
        let cuff = [0.30, 0.30, 0.32];
        match look {
            Look::Light => Self {
                pale: [0.92, 0.73, 0.64],
                back: SKIN_COLOUR,
                flushed: [0.87, 0.59, 0.51],
                nail: [0.95, 0.80, 0.76],
                cuticle: [0.80, 0.56, 0.49],
                cuff,
            },
            Look::Tan => Self {
                pale: [0.85, 0.64, 0.51],
                back: [0.76, 0.55, 0.42],
                flushed: [0.72, 0.47, 0.36],
                nail: [0.90, 0.73, 0.64],
                cuticle: [0.66, 0.44, 0.34],
                cuff,
            },
            Look::Brown => Self {
                pale: [0.74, 0.53, 0.41],
                back: [0.55, 0.37, 0.27],
                flushed: [0.47, 0.30, 0.22],
                nail: [0.80, 0.61, 0.52],
                cuticle: [0.44, 0.28, 0.21],
                cuff: [0.62, 0.64, 0.66],
            },
            Look::Dark => Self {
                pale: [0.60, 0.42, 0.33],
                back: [0.34, 0.23, 0.18],
                flushed: [0.27, 0.18, 0.14],
                nail: [0.66, 0.49, 0.42],
                cuticle: [0.27, 0.18, 0.14],
                cuff: [0.66, 0.68, 0.70],
            },
            Look::Robot => Self {
                pale: [0.52, 0.55, 0.59],
                back: [0.80, 0.82, 0.84],
                flushed: [0.36, 0.39, 0.43],
                nail: [0.80, 0.82, 0.84],
                cuticle: [0.62, 0.64, 0.67],
                cuff: [0.24, 0.26, 0.29],
            },
        }
    }
}

/// Palette rows of the tones: the cuff ends and the inside of the hand begins, the back of the hand, flushed skin, and the rim of a nail.
const CUFF: f64 = 0.06;
const INSIDE_TONE: f64 = 0.1;
const BACK: f64 = 0.26;
const RED: f64 = 0.44;
const RIM: f64 = 0.7;
/// The plate of a nail, from which its free edge differs.
const PLATE: f64 = 0.9;
/// Below this fraction of the scale the skin tone is shown.
const FAINT: f32 = 0.08;

/// Colours of the skin: pressure across, skin tone down.
pub(super) fn palette(look: Look) -> Palette {
    let colours = Colours::of(look);
    Palette::new((256, 128), |pressure, tone| {
        let shown = (pressure / FAINT).clamp(0.0, 1.0);
        mix(skin(&colours, f64::from(tone)), scale(pressure), shown * shown * (3.0 - 2.0 * shown))
    })
}

/// Colours of the skin without pressure: shade across, skin tone down.
pub(super) fn shaded(look: Look) -> Palette {
    let colours = Colours::of(look);
    // Light that is scattered in a crease of skin keeps more of its red.
    let dark = if look == Look::Robot { [0.25, 0.26, 0.28] } else { [0.42, 0.22, 0.17] };
    Palette::new((64, 256), |shade, tone| {
        let colour = skin(&colours, f64::from(tone));
        std::array::from_fn(|i| colour[i] * (1.0 - shade * (1.0 - dark[i])))
    })
}

fn skin(colours: &Colours, tone: f64) -> Colour {
    let part = |from: f64, to: f64| ((tone - from) / (to - from)).clamp(0.0, 1.0) as f32;
    let Colours { pale, back, flushed, nail, cuticle, cuff } = *colours;
    if tone < INSIDE_TONE {
        mix(cuff, pale, part(CUFF, INSIDE_TONE))
    } else if tone < BACK {
        mix(pale, back, part(INSIDE_TONE, BACK))
    } else if tone < RED {
        mix(back, flushed, part(BACK, RED))
    } else if tone < RIM {
        mix(mix(back, flushed, 0.8), cuticle, part(RIM - 0.07, RIM))
    } else {
        // The free edge of a nail is lighter.
        let edge = nail.map(|c| c + 0.45 * (0.98 - c));
        mix(mix(cuticle, nail, part(RIM, RIM + 0.06)), edge, part(PLATE, 1.0))
    }
}

/// Place of a point of the skin on a nail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct NailPlace {
    /// Distance inside the outline in half widths, negative outside.
    pub(super) within: f64,
    /// Part of the free edge at the tip, 0 to 1.
    pub(super) free: f64,
}

impl NailPlace {
    /// 1 on the nail, 0 beside it.
    pub(super) fn inside(&self) -> f64 {
        smooth(-0.05, 0.1, self.within)
    }
}

/// Tones of the skin of a hand: lighter inside the hand, flushed at fingertips and knuckles, nails, and a cuff behind the wrist.
pub(super) struct Tones<'a> {
    model: &'a HandModel,
    poses: [Pose; SEGMENTS],
    joints: Vec<(Vec3, f64)>,
    /// Where the cuff begins, m.
    end: f64,
}

impl<'a> Tones<'a> {
    pub(super) fn new(model: &'a HandModel) -> Self {
        let end = model.description.palm.wrist.z + CUFF_FROM * millimetre(model);
        Self { model, poses: reference(model), joints: joints(model), end }
    }

    /// The tone of a point in the reference pose, and its place on or near a nail.
    pub(super) fn at(&self, point: &SkinPoint) -> (f64, Option<NailPlace>) {
        let edge = CUFF_EDGE * millimetre(self.model);
        if point.place.z > self.end + edge {
            return (0.0, None);
        }
        let by_share = |a: &usize, b: &usize| point.shares[*a].total_cmp(&point.shares[*b]);
        let main = Segment::at((0..SEGMENTS).max_by(by_share).unwrap_or(0));
        let p_bone = self.poses[main.index()].inverse_transform_point(&point.place.into()).coords;
        let local = |s: usize| self.poses[s].rotation.inverse() * point.normal;
        let nail = nail(self.model, main, &p_bone, &local(main.index()));
        // The back is that of the bones, by their shares: it does not jump from one to the next.
        let up: f64 = (0..SEGMENTS).filter(|&s| point.shares[s] > 0.0).map(|s| point.shares[s] * local(s).y).sum();
        let back = smooth(-0.5, 0.6, up);
        let away = |p: &Vec3| (point.place - p).norm();
        let knuckle =
            self.joints.iter().map(|(p, radius)| KNUCKLE * (1.0 - smooth(0.2 * radius, 1.5 * radius, away(p))));
        let red = tip(self.model, main, &p_bone).max(back * knuckle.fold(0.0, f64::max));
        let plain = mixed(mixed(INSIDE_TONE, BACK, back), RED, red);
        // The edge of the cuff is blurred, on the inside and on the back alike.
        let cuff = smooth(self.end - edge, self.end + edge, point.place.z);
        let skin = plain.min(mixed(plain, CUFF, cuff));
        let tone = match nail {
            // The tone changes gradually towards a nail, so that its rim is sharper than the mesh.
            Some(nail) if nail.within > 0.0 => {
                mixed(RIM + (PLATE - RIM) * nail.within.min(1.0), 1.0, nail.free * nail.inside())
            }
            Some(nail) => mixed(skin, RIM, smooth(-0.12, 0.0, nail.within)),
            None => skin,
        };
        (tone, nail)
    }
}

/// Flush of the knuckles and of the fingertips.
const KNUCKLE: f64 = 0.38;
const TIP: f64 = 0.5;

/// Where the cuff begins behind the wrist, and half the width of its edge, in millimetres of an average hand.
const CUFF_FROM: f64 = 12.0;
const CUFF_EDGE: f64 = 0.25;

fn mixed(from: f64, to: f64, part: f64) -> f64 {
    from + part * (to - from)
}

/// Centre and size of the joints whose skin is flushed, in the reference pose: all but the base of the thumb, which lies deep.
fn joints(model: &HandModel) -> Vec<(Vec3, f64)> {
    let poses = reference(model);
    let joint = |segment: Segment| {
        let (finger, place) = segment.finger()?;
        let of = &model.description.fingers[finger as usize];
        let deep = finger == Finger::Thumb && place == 0;
        let pose = &poses[segment.index()];
        // On the back, above the joint.
        let height = of.bone_radius[place] + of.tissue[place].dorsal;
        let centre = pose.translation.vector + pose.rotation * Vec3::new(0.0, height, 0.0);
        (!deep).then_some((centre, if place == 0 { 1.3 } else { 1.0 } * height))
    };
    Segment::phalanges().filter_map(joint).collect()
}

/// Flush of a fingertip, 0 to 1.
fn tip(model: &HandModel, segment: Segment, p_bone: &Vec3) -> f64 {
    let Some((finger, 2)) = segment.finger() else { return 0.0 };
    let length = model.description.fingers[finger as usize].lengths[2];
    TIP * smooth(0.3, 1.05, -p_bone.z / length)
}

/// Place of a point on or near a nail.
fn nail(model: &HandModel, segment: Segment, p_bone: &Vec3, normal: &Vec3) -> Option<NailPlace> {
    let (finger, 2) = segment.finger()? else { return None };
    let finger = &model.description.fingers[finger as usize];
    let breadth = 0.68 * (finger.bone_radius[2] + finger.tissue[2].side);
    let length = finger.lengths[2];
    // From the middle of the phalanx nearly to its tip; rounded.
    let (z, middle, half) = (-p_bone.z, 0.86 * length, 0.36 * length);
    let across = (p_bone.x / breadth).abs();
    let along = (z - middle) / half;
    let outline = (across.powi(3) + along.abs().powf(if along < 0.0 { 2.2 } else { 2.6 })).powf(0.38);
    let within = 1.6 * (1.0 - outline);
    let free = smooth(0.62, 0.74, along + 0.12 * across * across);
    (normal.y > 0.05 && within > -0.6).then_some(NailPlace { within, free })
}

#[cfg(test)]
mod tests {
    use super::super::fine::FineSkin;
    use super::*;
    use crate::assets::builtin_hand_model;

    #[test]
    fn there_are_five_nails_on_the_backs_of_the_tips() {
        let model = builtin_hand_model().expect("a hand");
        let kin = model.skeleton.kinematics(&Pose::identity(), &model.visual().reference);
        let mut nails = std::collections::BTreeMap::new();
        let fine = FineSkin::new(&model);
        let vertices = fine.posed(model.visual().mesh.clone());
        for (place, detail) in vertices.iter().zip(&fine.details) {
            assert!((0.0..=1.0).contains(&detail.tone) && (0.0..=1.0).contains(&detail.shade));
            if detail.tone > RIM {
                let near = |s: &Segment| (kin.poses[s.index()].inverse() * nalgebra::Point3::from(*place)).coords;
                let away = |s: &Segment| near(s).xy().norm() + (near(s).z + 0.015).abs();
                let tips = Segment::all().filter(|s| s.is_tip());
                let segment = tips.min_by(|a, b| away(a).total_cmp(&away(b))).expect("a tip");
                // The rim of a nail reaches the side of the finger.
                assert!(near(&segment).y > -5e-4, "{segment:?} {}", near(&segment));
                *nails.entry(segment).or_insert(0) += 1;
            }
        }
        assert_eq!(nails.len(), 5, "{nails:?}");
        assert!(nails.values().all(|&count| count >= 40), "{nails:?}");
    }

    #[test]
    fn pressure_replaces_the_skin_tone() {
        let palette = palette(Look::Light);
        let (columns, rows) = palette.size;
        let at = |column: u32, row: u32| palette.colours[(row * columns + column) as usize];
        for row in [0, rows / 3, rows - 1] {
            let half = (columns / 2) as f32 / (columns - 1) as f32;
            let wanted = [
                (0, skin(&Colours::of(Look::Light), f64::from(row) / f64::from(rows - 1))),
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
