use super::field::{DistanceField, unit};
use super::frames::{CARRIERS, Carrier};
use crate::hand::{HandDescription, Kinematics};
use crate::math::Vec3;
use crate::tracking::{Finger, Segment};

/// Maximum number of frames per vertex.
pub(super) const INFLUENCES: usize = 4;

/// Computes the skinning weights of a point of the skin.
///
/// A finger is a chain of frames: palm, half-way frame of the base joint, first phalanx, half-way frame of the middle
/// joint … A point has a coordinate on each chain, from 0 on the palm to 3 on the last phalanx. It increases by one
/// over about the thickness of the finger around each joint, and the point is blended between the two adjacent frames.
pub(super) struct Weights<'a> {
    hand: &'a HandDescription,
    field: &'a DistanceField<'a>,
    kin: &'a Kinematics,
    unit: f64,
}

/// Fingers share a point at the web if their distances from it differ by less than this, in units.
const WEB_BLEND: f64 = 11.0;
/// Heights above the base joint over which the sharing ends, in units.
const WEB_ENDS: [f64; 2] = [17.0, 26.0];
/// Distances from the thumb's metacarpal over which its ball blends into the palm, in units.
const THENAR: [f64; 2] = [11.0, 32.0];
/// Reference point on the metacarpal, as a fraction of its length.
const THENAR_BEGINS: f64 = 0.3;
/// Distances from the thumb's phalanges over which their influence ends, in units.
const SLEEVE: [f64; 2] = [14.0, 22.0];

impl<'a> Weights<'a> {
    pub(super) fn new(hand: &'a HandDescription, field: &'a DistanceField<'a>, kin: &'a Kinematics) -> Self {
        Self { hand, field, kin, unit: unit(hand) }
    }

    /// The frames of a point of the skin; the weights sum to one, unused entries are zero.
    pub(super) fn at(&self, p: &Vec3) -> [(Carrier, f64); INFLUENCES] {
        let mut sums = [0.0; CARRIERS];
        blend_frames(&mut sums, Finger::Thumb, 1.0, self.thumb(p));
        // The fingers get what the thumb leaves to the palm.
        let palm = std::mem::take(&mut sums[0]);
        for (&finger, share) in Finger::ALL[1..].iter().zip(self.shares(p)) {
            blend_frames(&mut sums, finger, palm * share, self.along_chain(finger, self.passed(finger, 0, p), p));
        }
        let mut order: [usize; CARRIERS] = std::array::from_fn(|i| i);
        order.sort_by(|&a, &b| sums[b].total_cmp(&sums[a]));
        let kept = &order[..INFLUENCES];
        let total: f64 = kept.iter().map(|&i| sums[i]).sum();
        std::array::from_fn(|i| (Carrier::at(kept[i]), sums[kept[i]] / total))
    }

    /// Share of each finger in a point: all of one finger except near a web.
    fn shares(&self, p: &Vec3) -> [f64; 4] {
        let fingers = [Finger::Index, Finger::Middle, Finger::Ring, Finger::Little];
        let distances = fingers.map(|f| self.field.finger(f, p));
        let nearest = distances.into_iter().fold(f64::INFINITY, f64::min);
        let shares: [f64; 4] = std::array::from_fn(|f| {
            let ahead = self.height(fingers[f], 0, p) / self.unit;
            let [begin, end] = WEB_ENDS;
            let width = WEB_BLEND * self.unit * (1.0 - smooth_step((ahead - begin) / (end - begin)));
            let behind = distances[f] - nearest;
            if behind <= 0.0 { 1.0 } else { (1.0 - behind / width.max(1e-9)).max(0.0).powi(2) }
        });
        let total: f64 = shares.iter().sum();
        shares.map(|s| s / total)
    }

    /// The coordinate on the thumb's chain. The ball of the thumb lies between metacarpal and palm and follows both, so
    /// the distance from the bones is used.
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

    /// The coordinate on the chain of a finger for a point at this height above its base.
    fn along_chain(&self, finger: Finger, base: f64, p: &Vec3) -> f64 {
        base * (1.0 + self.passed(finger, 1, p) * (1.0 + self.passed(finger, 2, p)))
    }

    /// Position of a point past a joint, 0 to 1.
    fn passed(&self, finger: Finger, place: usize, p: &Vec3) -> f64 {
        let description = &self.hand.fingers[finger as usize];
        let radius = description.bone_radius[place] + description.tissue[place].side;
        smooth_step(0.5 + 0.5 * self.height(finger, place, p) / radius)
    }

    /// Height of a point above a joint, along the phalanx beyond it.
    fn height(&self, finger: Finger, place: usize, p: &Vec3) -> f64 {
        -self.in_bone(finger, place, p).z
    }

    fn in_bone(&self, finger: Finger, place: usize, p: &Vec3) -> Vec3 {
        let pose = &self.kin.poses[Segment::phalanx(finger, place).index()];
        pose.inverse_transform_vector(&(p - pose.translation.vector))
    }
}

/// Blends a share of a point between the two frames next to a coordinate of a finger's chain.
fn blend_frames(sums: &mut [f64; CARRIERS], finger: Finger, share: f64, along: f64) {
    let below = (2.0 * along).floor();
    let above = 2.0 * along - below;
    sums[Carrier::on_chain(finger, below as usize).index()] += share * (1.0 - above);
    sums[Carrier::on_chain(finger, below as usize + 1).index()] += share * above;
}

fn smooth_step(x: f64) -> f64 {
    let x = x.clamp(0.0, 1.0);
    x * x * (3.0 - 2.0 * x)
}
