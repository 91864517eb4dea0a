use super::fine::{SkinPoint, reference};
use super::tones::{NailPlace, Tones};
use crate::hand::HandModel;
use crate::math::Pose;
use crate::tracking::{Finger, Segment, Side};

/// What is drawn at a point of the skin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Detail {
    /// Height above the visual skin, m.
    pub(super) relief: f64,
    /// Row of the palette, 0 to 1.
    pub(super) tone: f64,
    /// Darkening by creases and occlusion, 0 to 1.
    pub(super) shade: f64,
}

impl Detail {
    /// Linear interpolation.
    pub(super) fn mixed(&self, other: &Self, part: f64) -> Self {
        let mix = |a: f64, b: f64| a + part * (b - a);
        Self {
            relief: mix(self.relief, other.relief),
            tone: mix(self.tone, other.tone),
            shade: mix(self.shade, other.shade),
        }
    }

    /// Whether relief, tone or shade differ by more than the limits.
    pub(super) fn differs(&self, other: &Self, [relief, tone, shade]: &[f64; 3]) -> bool {
        (self.relief - other.relief).abs() > *relief
            || (self.tone - other.tone).abs() > *tone
            || (self.shade - other.shade).abs() > *shade
    }
}

/// One millimetre of an average hand, m: creases scale with the hand.
pub(super) fn millimetre(model: &HandModel) -> f64 {
    model.description.hand_length() / 187.0
}

/// Creases, nails and cuff of a hand.
pub(super) struct Relief<'a> {
    tones: Tones<'a>,
    across: Vec<Across>,
    palm: Vec<Vec<[f64; 2]>>,
    unit: f64,
    side: f64,
    /// Where the wrist is, m.
    wrist: f64,
}

/// A crease across a finger.
struct Across {
    finger: Finger,
    /// From the palm frame to the frame of the bone beyond the joint.
    frame: Pose,
    /// Where along the bone, and how much it is curved: m and 1/m.
    along: f64,
    arch: f64,
    /// On the palmar side, or on the back.
    is_palmar: bool,
    /// Half its length, m.
    half: f64,
    /// Depth and width, m, and darkness.
    depth: f64,
    width: f64,
    dark: f64,
}

/// The lines of the palm: across below the fingers, across the middle, and around the ball of the thumb; and two at the wrist. Millimetres of
/// an average right hand in the palm frame, across and towards the wrist.
const LINES: [&[[f64; 2]]; 5] = [
    &[[37.0, 4.0], [30.0, -1.0], [22.0, -6.0], [13.0, -10.0], [4.0, -14.0], [-3.0, -19.0], [-8.0, -25.0]],
    &[[-25.0, -6.0], [-18.0, -5.0], [-9.0, -2.0], [1.0, 3.0], [10.0, 9.0], [18.0, 15.0], [25.0, 19.0]],
    &[[-25.0, -6.0], [-18.0, -2.0], [-11.0, 5.0], [-6.5, 14.0], [-4.5, 24.0], [-4.0, 34.0], [-5.0, 44.0], [-7.0, 52.0]],
    &[[-18.0, 58.0], [-9.0, 60.5], [1.0, 61.0], [10.0, 60.0], [19.0, 57.0]],
    &[[-17.0, 65.0], [-6.0, 66.5], [6.0, 66.5], [17.0, 64.5]],
];
/// Depth and width of the lines, in units, and their darkness.
const LINE: (f64, f64, f64) = (0.32, 1.15, 0.2);

impl<'a> Relief<'a> {
    pub(super) fn new(model: &'a HandModel) -> Self {
        let unit = millimetre(model);
        let poses = reference(model);
        let across = Finger::ALL.into_iter().flat_map(|finger| across(model, finger, &poses, unit)).collect();
        let palm = LINES.map(|line| line.iter().map(|p| p.map(|c| c * unit)).collect());
        let side = if model.description.side == Side::Left { -1.0 } else { 1.0 };
        let wrist = model.description.palm.wrist.z;
        Self { tones: Tones::new(model), across, palm: palm.into(), unit, side, wrist }
    }

    /// Relief and colour of a point.
    pub(super) fn at(&self, point: &SkinPoint) -> Detail {
        let (tone, nail) = self.tones.at(point);
        let (mut relief, mut dark) = (0.0, 0.0f64);
        let mut press = |depth: f64, darkness: f64, part: f64| {
            relief -= depth * part;
            dark = dark.max(darkness * part);
        };
        for crease in &self.across {
            press(crease.depth, crease.dark, crease.at(point));
        }
        let (depth, _, darkness) = LINE;
        press(depth * self.unit, darkness, self.on_line(point));
        // Creases that meet are no deeper than one.
        relief = f64::max(relief, -0.4 * self.unit);
        if let Some(nail) = nail {
            let (height, rim) = self.nail(&nail);
            (relief, dark) = (height, f64::max(dark * (1.0 - nail.inside()), rim));
        }
        let (raised, opening) = self.cuff(point);
        let light = (1.0 - dark) * (1.0 - OCCLUSION * point.hollow) * (1.0 - opening);
        Detail { relief: relief + raised, tone, shade: 1.0 - light }
    }

    /// Part of a line of the palm at a point.
    fn on_line(&self, point: &SkinPoint) -> f64 {
        // The ball of the thumb moves with palm and thumb.
        let thenar = Segment::phalanx(Finger::Thumb, 0).index();
        let facing = smooth(0.1, 0.55, -point.normal.y) * smooth(0.3, 0.8, point.shares[0] + point.shares[thenar]);
        if facing == 0.0 {
            return 0.0;
        }
        let at = [self.side * point.place.x, point.place.z];
        let part = |line: &Vec<[f64; 2]>| {
            let (distance, along) = along_line(line, at);
            // It fades at both ends.
            gauss(distance / (LINE.1 * self.unit)) * smooth(0.0, 0.3, along) * smooth(0.0, 0.3, 1.0 - along)
        };
        facing * self.palm.iter().map(part).fold(0.0, f64::max)
    }

    /// Height of a nail and darkness of the fold around it.
    fn nail(&self, nail: &NailPlace) -> (f64, f64) {
        let fold = gauss(nail.within / 0.14);
        let plate = smooth(0.02, 0.22, nail.within);
        ((0.22 * plate - 0.3 * fold * (1.0 - nail.free)) * self.unit, 0.2 * fold * (1.0 - nail.free))
    }

    /// Height of the cuff over the skin, and the darkness of its open end.
    fn cuff(&self, point: &SkinPoint) -> (f64, f64) {
        /// Where it begins and ends behind the wrist, its thickness and the width of its edge, in units.
        const CUFF: [f64; 4] = [12.0, 27.0, 1.6, 0.5];
        let [from, to, thick, edge] = CUFF.map(|c| c * self.unit);
        let behind = point.place.z - self.wrist;
        let over = behind - to;
        // The rounded end is pushed in, along its normal, to a plane.
        let flat = if over > 0.0 { over / point.normal.z.max(0.4) } else { 0.0 };
        let opening = 0.6 * smooth(0.0, 2.0 * self.unit, over);
        (thick * smooth(from - edge, from + edge, behind) - flat, opening)
    }
}

/// Part of the ambient light that a hollow loses.
const OCCLUSION: f64 = 0.55;

impl Across {
    /// Part of the crease at a point.
    fn at(&self, point: &SkinPoint) -> f64 {
        let carried: f64 = (0..3).map(|place| point.shares[Segment::phalanx(self.finger, place).index()]).sum();
        if carried < 0.2 {
            return 0.0;
        }
        let local = (self.frame * nalgebra::Point3::from(point.place)).coords;
        let facing = (self.frame.rotation * point.normal).y * if self.is_palmar { -1.0 } else { 1.0 };
        let away = local.z + self.along - self.arch * local.x * local.x;
        if away.abs() > 4.0 * self.width {
            return 0.0;
        }
        let side = 1.0 - smooth(0.7, 1.0, local.x.abs() / self.half);
        gauss(away / self.width) * smooth(0.0, 0.5, facing) * side * smooth(0.2, 0.6, carried)
    }
}

/// The creases of a finger: at its base and its joints on the palmar side, and wrinkles on the backs of the joints.
fn across(model: &HandModel, finger: Finger, poses: &[Pose], unit: f64) -> Vec<Across> {
    let of = &model.description.fingers[finger as usize];
    let crease = |place: usize, along: f64, is_palmar: bool| {
        let radius = of.bone_radius[place] + of.tissue[place].side;
        let (half, depth, width, dark) =
            if is_palmar { (1.1 * radius, 0.34, 0.95, 0.2) } else { (0.62 * radius, 0.14, 0.8, 0.1) };
        Across {
            finger,
            frame: poses[Segment::phalanx(finger, place).index()].inverse(),
            along: along * unit,
            // Wrinkles on the back curve around the knuckle.
            arch: if is_palmar { 6.0 } else { 12.0 * along.signum() * f64::from(along != 0.0) },
            is_palmar,
            half,
            depth: depth * unit,
            width: width * unit,
            dark,
        }
    };
    let web = 0.43 * of.lengths[0] / unit;
    let palmar: &[(usize, f64)] = match finger {
        Finger::Thumb => &[(1, -1.0), (1, 2.0), (2, -0.5)],
        _ => &[(0, web), (1, -1.6), (1, 1.4), (2, -0.3)],
    };
    let backs: &[(usize, f64)] = match finger {
        Finger::Thumb => &[(2, -2.2), (2, 0.0), (2, 2.2)],
        _ => &[(1, -2.6), (1, 0.0), (1, 2.6), (2, -1.2), (2, 1.2)],
    };
    let palmar = palmar.iter().map(|&(place, along)| crease(place, along, true));
    palmar.chain(backs.iter().map(|&(place, along)| crease(place, along, false))).collect()
}

/// Distance from a polyline, and the fraction of its length at the closest point.
fn along_line(line: &[[f64; 2]], p: [f64; 2]) -> (f64, f64) {
    let (mut best, mut at, mut length) = (f64::INFINITY, 0.0, 0.0);
    for ends in line.windows(2) {
        let [way, out] =
            [0, 1].map(|k| [0, 1].map(|i| if k == 0 { ends[1][i] - ends[0][i] } else { p[i] - ends[0][i] }));
        let span = f64::hypot(way[0], way[1]);
        let part = ((way[0] * out[0] + way[1] * out[1]) / (span * span)).clamp(0.0, 1.0);
        let distance = f64::hypot(out[0] - part * way[0], out[1] - part * way[1]);
        if distance < best {
            (best, at) = (distance, length + part * span);
        }
        length += span;
    }
    (best, at / length)
}

fn gauss(x: f64) -> f64 {
    (-x * x).exp()
}

/// A smooth step from 0 to 1.
pub(super) fn smooth(from: f64, to: f64, x: f64) -> f64 {
    let x = ((x - from) / (to - from)).clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
