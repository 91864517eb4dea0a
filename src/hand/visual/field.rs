use super::flesh::Flesh;
use super::forms::{Ball, Bone, Cone, smooth_min};
use crate::hand::{HandDescription, Kinematics, SegmentShape};
use crate::math::Vec3;
use crate::tracking::{Finger, Segment};

/// The whole hand as a distance field around the reference pose: a smooth union of the outlines of the sixteen segments
/// and the flesh between them.
pub(super) struct DistanceField<'a> {
    unit: f64,
    bones: Vec<Bone<'a>>,
    palm: Vec<Cone>,
    thenar: Vec<Cone>,
    /// Bounding balls of the palm with its flesh, and of each finger.
    around_palm: Ball,
    around_fingers: [Ball; 5],
    /// Planes of the nails in the frames of the last phalanges: normal and height.
    nails: [(Vec3, f64); 5],
}

/// One millimetre of an average hand: primitives, blends and weights scale with the hand.
pub(super) fn unit(hand: &HandDescription) -> f64 {
    /// Millimetres.
    const AVERAGE: f64 = 187.0;
    hand.hand_length() / AVERAGE
}

/// Beyond this many units the bounding balls replace palm and fingers.
const FAR_UNITS: f64 = 25.0;

/// Blend radii of the smooth union, in units.
pub(super) mod blend {
    /// Along a finger: fills the gap where two caps meet.
    pub const JOINT: f64 = 5.0;
    /// Nail with the fingertip.
    pub const NAIL: f64 = 2.0;
    /// Fingers with the palm.
    pub const BASE: f64 = 7.0;
    /// Ball of the thumb with the palm.
    pub const THENAR: f64 = 14.0;
    /// Primitives of the palm with each other.
    pub const PALM: f64 = 12.0;
    /// Tendons with the back of the hand.
    pub const TENDON: f64 = 4.0;
}

impl<'a> DistanceField<'a> {
    /// The field of a right hand in a pose with the palm at the origin.
    pub(super) fn new(hand: &HandDescription, shapes: &'a [SegmentShape], kin: &Kinematics) -> Self {
        let unit = unit(hand);
        let bones: Vec<_> = shapes.iter().zip(&kin.poses).map(|(shape, pose)| Bone::new(shape, pose)).collect();
        let flesh = Flesh { hand, kin, unit };
        let palm = flesh.palm();
        let around_palm = Ball::around(palm.iter().flat_map(Cone::balls).chain(bones[0].balls()));
        let around_fingers =
            Finger::ALL.map(|f| Ball::around((0..3).flat_map(|i| bones[Segment::phalanx(f, i).index()].balls())));
        let nails = Finger::ALL.map(|f| nail(hand, f));
        Self { unit, bones, palm, thenar: flesh.thenar(), around_palm, around_fingers, nails }
    }

    /// Approximate signed distance from the skin, negative inside.
    pub(super) fn distance(&self, p: &Vec3) -> f64 {
        let u = self.unit;
        let hand = smooth_min(self.palm(p), self.metacarpal(p), blend::THENAR * u);
        let thumb = self.bone(Segment::phalanx(Finger::Thumb, 1), blend::JOINT, p);
        let thumb = smooth_min(thumb, self.tip(Finger::Thumb, p), blend::JOINT * u);
        let hand = smooth_min(hand, thumb, blend::JOINT * u);
        let fingers = Finger::ALL[1..].iter().map(|&f| self.finger(f, p)).fold(f64::INFINITY, f64::min);
        smooth_min(hand, fingers, blend::BASE * u)
    }

    /// Approximate distance from the palm without thumb and fingers.
    fn palm(&self, p: &Vec3) -> f64 {
        let outside = self.around_palm.distance(p);
        if outside > FAR_UNITS * self.unit {
            return outside;
        }
        self.palm.iter().fold(self.bone(Segment::PALM, blend::THENAR, p), |d, cone| cone.smooth_union(d, p))
    }

    /// Approximate distance from the thumb's metacarpal with the ball of the thumb.
    fn metacarpal(&self, p: &Vec3) -> f64 {
        let bone = self.bone(Segment::phalanx(Finger::Thumb, 0), blend::THENAR, p);
        self.thenar.iter().fold(bone, |d, cone| cone.smooth_union(d, p))
    }

    /// Approximate distance from a finger.
    pub(super) fn finger(&self, finger: Finger, p: &Vec3) -> f64 {
        let outside = self.around_fingers[finger as usize].distance(p);
        if outside > FAR_UNITS * self.unit {
            return outside;
        }
        let bone = |place| self.bone(Segment::phalanx(finger, place), blend::BASE, p);
        let k = blend::JOINT * self.unit;
        smooth_min(smooth_min(bone(0), bone(1), k), self.tip(finger, p), k)
    }

    /// Approximate distance from the last phalanx of a finger, flattened under the nail.
    fn tip(&self, finger: Finger, p: &Vec3) -> f64 {
        let bone = &self.bones[Segment::phalanx(finger, 2).index()];
        let p = bone.in_frame(p);
        let (normal, height) = &self.nails[finger as usize];
        let above = p.dot(normal) - height;
        -smooth_min(-bone.distance(&p, blend::JOINT * self.unit), -above, blend::NAIL * self.unit)
    }

    /// Approximate distance from a segment's own outline, up to `blend`.
    fn bone(&self, segment: Segment, blend: f64, p: &Vec3) -> f64 {
        let bone = &self.bones[segment.index()];
        bone.distance(&bone.in_frame(p), blend * self.unit)
    }

    /// Corners of a bounding box.
    pub(super) fn bounds(&self) -> (Vec3, Vec3) {
        // In a blend the skin lies outside both primitives.
        let spare = 0.25 * blend::THENAR * self.unit;
        let skin = self.bones.iter().flat_map(|b| b.skin().map(|p| Ball { centre: b.in_palm(&p), radius: 0.0 }));
        skin.chain(self.palm.iter().flat_map(Cone::balls)).fold(
            (Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)),
            |(low, high), ball| {
                let reach = ball.radius + spare;
                (low.inf(&ball.centre.add_scalar(-reach)), high.sup(&ball.centre.add_scalar(reach)))
            },
        )
    }
}

/// The plane of a nail, slightly inclined towards the tip.
fn nail(hand: &HandDescription, finger: Finger) -> (Vec3, f64) {
    let finger = &hand.fingers[finger as usize];
    let back = 0.9 * finger.bone_radius[2] + finger.tissue[2].dorsal;
    let normal = Vec3::new(0.0, 1.0, -0.12).normalize();
    (normal, normal.dot(&Vec3::new(0.0, 0.93 * back, -0.6 * finger.lengths[2])))
}
