use super::field::{Field, unit};
use super::frames::{CARRIERS, Carrier};
use crate::hand::{HandDescription, Kinematics};
use crate::math::Vec3;
use crate::tracking::{Finger, Segment};

/// Most frames that carry a vertex.
pub(super) const INFLUENCES: usize = 4;

/// Decides which frames carry a point of the skin, and how much.
///
/// A finger is a chain of frames: palm, halfway at the base joint, first phalanx, halfway at the middle joint … A point has a
/// coordinate on each chain, 0 on the palm to 3 on the last phalanx, that grows by one over about the thickness of the finger
/// around each joint, and hangs on the two frames next to it.
pub(super) struct Weights<'a> {
    hand: &'a HandDescription,
    field: &'a Field<'a>,
    kin: &'a Kinematics,
    unit: f64,
}

/// Fingers share a point at the web if their distances from it differ by less than this, in units.
const WEB: f64 = 11.0;
/// Heights over the base joint between which the sharing ends, in units.
const WEB_ENDS: [f64; 2] = [17.0, 26.0];
/// Distances from the thumb's metacarpal between which its ball passes into the palm, in units.
const THENAR: [f64; 2] = [11.0, 32.0];
/// Where on the metacarpal they are measured from, as a fraction of its length.
const THENAR_BEGINS: f64 = 0.3;
/// Distances from the thumb's phalanges between which what they carry ends, in units.
const SLEEVE: [f64; 2] = [14.0, 22.0];

impl<'a> Weights<'a> {
    pub(super) fn new(hand: &'a HandDescription, field: &'a Field<'a>, kin: &'a Kinematics) -> Self {
        Self { hand, field, kin, unit: unit(hand) }
    }

    /// The frames that carry a point of the skin; the weights add up to one, unused places have none.
    pub(super) fn at(&self, p: &Vec3) -> [(Carrier, f64); INFLUENCES] {
        let mut sums = [0.0; CARRIERS];
        hang(&mut sums, Finger::Thumb, 1.0, self.thumb(p));
        // What the thumb leaves to the palm is the fingers'.
        let palm = std::mem::take(&mut sums[0]);
        for (&finger, share) in Finger::ALL[1..].iter().zip(self.shares(p)) {
            hang(&mut sums, finger, palm * share, self.along_chain(finger, self.passed(finger, 0, p), p));
        }
        let mut order: [usize; CARRIERS] = std::array::from_fn(|i| i);
        order.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]));
        let kept = &order[..INFLUENCES];
        let total: f64 = kept.iter().map(|&i| sums[i]).sum();
        std::array::from_fn(|i| (Carrier::at(kept[i]), sums[kept[i]] / total))
    }

    /// How much each finger has of a point: all of it but near a web.
    fn shares(&self, p: &Vec3) -> [f64; 4] {
        let fingers = [Finger::Index, Finger::Middle, Finger::Ring, Finger::Little];
        let distances = fingers.map(|f| self.field.finger(f, p));
        let nearest = distances.into_iter().fold(f64::INFINITY, f64::min);
        let shares: [f64; 4] = std::array::from_fn(|f| {
            let ahead = self.height(fingers[f], 0, p) / self.unit;
            let [begin, end] = WEB_ENDS;
            let width = WEB * self.unit * (1.0 - smooth_step((ahead - begin) / (end - begin)));
            let behind = distances[f] - nearest;
            if behind <= 0.0 { 1.0 } else { (1.0 - behind / width.max(1e-9)).max(0.0).powi(2) }
        });
        let total: f64 = shares.iter().sum();
        shares.map(|s| s / total)
    }

    /// The coordinate on the thumb's chain. The ball of the thumb lies between its metacarpal and the palm and follows both,
    /// so what counts is the distance from the bones.
    fn thumb(&self, p: &Vec3) -> f64 {
        let outside = |place: usize, begin: f64, [near, far]: [f64; 2]| {
            let p = self.in_bone(Finger::Thumb, place, p);
            let length = self.hand.fingers[Finger::Thumb as usize].lengths[place];
            let on_axis = Vec3::z() * p.z.clamp(-length, -begin * length);
            ((p - on_axis).norm() / self.unit - near) / (far - near)
        };
        let phalanges = outside(1, 0.0, SLEEVE).min(outside(2, 0.0, SLEEVE));
        let base = 1.0 - smooth_step(outside(0, THENAR_BEGINS, THENAR).min(phalanges));
        self.along_chain(Finger::Thumb, base, p)
    }

    /// The coordinate on the chain of a finger of a point that has passed its base so far.
    fn along_chain(&self, finger: Finger, base: f64, p: &Vec3) -> f64 {
        base * (1.0 + self.passed(finger, 1, p) * (1.0 + self.passed(finger, 2, p)))
    }

    /// How far a point has passed a joint, 0 to 1.
    fn passed(&self, finger: Finger, place: usize, p: &Vec3) -> f64 {
        let description = &self.hand.fingers[finger as usize];
        let radius = description.bone_radius[place] + description.tissue[place].side;
        smooth_step(0.5 + 0.5 * self.height(finger, place, p) / radius)
    }

    /// Height of a point over a joint, along the phalanx beyond it.
    fn height(&self, finger: Finger, place: usize, p: &Vec3) -> f64 {
        -self.in_bone(finger, place, p).z
    }

    fn in_bone(&self, finger: Finger, place: usize, p: &Vec3) -> Vec3 {
        let pose = &self.kin.poses[Segment::phalanx(finger, place).index()];
        pose.inverse_transform_vector(&(p - pose.translation.vector))
    }
}

/// Hangs a share of a point at a coordinate of a finger's chain on the two frames next to it.
fn hang(sums: &mut [f64; CARRIERS], finger: Finger, share: f64, along: f64) {
    let below = (2.0 * along).floor();
    let above = 2.0 * along - below;
    sums[Carrier::on_chain(finger, below as usize).index()] += share * (1.0 - above);
    sums[Carrier::on_chain(finger, below as usize + 1).index()] += share * above;
}

fn smooth_step(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
