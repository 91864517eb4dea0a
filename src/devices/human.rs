//! From the bones of a humanoid skeleton, as in Unity and the VMC protocol, to the palm and the twenty angles, and
//! back.
//!
//! A bone has a rotation relative to its parent, and in the T-pose all rotations are the identity: the frames of all
//! bones
//! are parallel to those of the body. In the T-pose of VRM (vrm.dev, "Humanoid Overview") the arms lie along x, the palms face down,
//! the fingers lie along x too, and the thumbs are level, half way between x and ahead. The decoder has mirrored Unity's axes to
//! ours, x to the body's right, y up, z back; so the fingers of the left hand point to −x, those of the right to +x, both backs
//! to +y and both thumbs ahead, to −z.
//!
//! Our palm has its fingers at −z and its back at +y. In the T-pose it is therefore turned by `T`, a quarter about y: to the left
//! (+90°) of a left hand, which takes −z to −x, and to the right (−90°) of a right one. The thumb's direction in the palm is
//! (∓1, 0, −1)/√2 then, to the left of a right hand.
//!
//! Let `R` be the rotation of our segment in our palm when its hand is in the T-pose. If a bone has the rotation `B` in
//! the world, its
//! segment has the rotation `B T R`, since that is `T R` for `B = 1`; the palm, with `R = 1`, has `B T`. So with the
//! rotations `l` of the bones
//! from the hand down to a phalanx, `B = B_hand l₁ l₂ …`, the rotation of the segment in the palm is
//!
//! `(B_hand T)⁻¹ B_hand l₁ l₂ … T R = T⁻¹ l₁ l₂ … T R`,
//!
//! from which the angles follow as for OpenXR joints. The angles of our hand in the T-pose, and with them `R`, are
//! computed
//! once per skeleton: those of the base align each finger's first bone with its direction, the others are zero.
//!
//! ```
//! use fingerpad::devices::human::HumanHand;
//! use fingerpad::hand::HandModel;
//! use fingerpad::math::Pose;
//! use fingerpad::tracking::{ANGLES, SEGMENTS, Side};
//!
//! let model = HandModel::right()?;
//! let hand = HumanHand::new(Side::Right, &model.skeleton);
//! let bones = hand.bones(&Pose::identity(), &[0.1; ANGLES]);
//! assert_eq!(bones.len(), SEGMENTS);
//! # Ok::<(), fingerpad::assets::Problems>(())
//! ```

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::f64::consts::FRAC_PI_2;

use nalgebra::{Matrix2, Vector2};

use super::joints::{HandReading, JOINTS, JointReader, PALM, TrackedJoint, phalanx};
use crate::hand::Skeleton;
use crate::math::{Pose, Quat, Vec3};
use crate::protocol::HumanBone;
use crate::tracking::{ANGLES, Finger, SEGMENTS, Segment, Side};

/// Bones that every humanoid has between hips and hand; there may be more.
const NEEDED: [&str; 2] = ["Hips", "Spine"];

/// A hand as a part of a humanoid skeleton.
#[derive(Clone, Debug)]
pub struct HumanHand {
    side: Side,
    skeleton: Skeleton,
    reader: JointReader,
    /// The palm in the T-pose: `T`.
    palm: Quat,
    /// The segments in the T-pose: `T R`.
    rest: [Quat; SEGMENTS],
    /// Base of the middle finger in the palm.
    knuckle: Vec3,
}

impl HumanHand {
    /// The hand of a skeleton.
    pub fn new(side: Side, skeleton: &Skeleton) -> Self {
        let quarter = if side == Side::Left { FRAC_PI_2 } else { -FRAC_PI_2 };
        let palm = Quat::from_scaled_axis(Vec3::y() * quarter);
        let rest = skeleton.kinematics(&Pose::identity(), &t_pose(side, skeleton));
        Self {
            side,
            skeleton: skeleton.clone(),
            reader: JointReader::new(skeleton),
            palm,
            rest: rest.poses.map(|pose| palm * pose.rotation),
            knuckle: rest.poses[Segment::phalanx(Finger::Middle, 0).index()].translation.vector,
        }
    }

    /// Angles from the rotations of the finger's bones, rad; `None` beyond an unknown bone.
    pub fn angles(&self, turn: impl Fn(Segment) -> Option<Quat>) -> [Option<f64>; ANGLES] {
        let mut joints = [TrackedJoint::default(); JOINTS];
        joints[PALM].orientation = Some(Quat::identity());
        for finger in Finger::ALL {
            let mut sum = Some(self.palm.inverse());
            for place in 0..3 {
                let segment = Segment::phalanx(finger, place);
                sum = sum.zip(turn(segment)).map(|(sum, turn)| sum * turn);
                joints[phalanx(finger, place)].orientation = sum.map(|sum| sum * self.rest[segment.index()]);
            }
        }
        self.reader.read(&joints).angles
    }

    /// The palm for a pose of the hand bone, whose origin is the wrist; the base of the middle finger coincides.
    pub fn palm(&self, hand: &Pose, middle: Option<Vec3>) -> Pose {
        let turn = hand.rotation * self.palm;
        let wrist = hand.translation.vector;
        let position = middle.map_or(wrist, |middle| wrist + hand.rotation * middle - turn * self.knuckle);
        Pose::from_parts(position.into(), turn)
    }

    /// The bones of our hand: the hand bone, with its origin at our palm's, in the world; the others in their parents.
    pub fn bones(&self, palm: &Pose, angles: &[f64; ANGLES]) -> [(HumanBone, Pose); SEGMENTS] {
        let kinematics = self.skeleton.kinematics(palm, angles);
        let placed = |segment: Segment| {
            let pose = &kinematics.poses[segment.index()];
            Pose::from_parts(pose.translation, pose.rotation * self.rest[segment.index()].inverse())
        };
        std::array::from_fn(|index| {
            let segment = Segment::at(index);
            let pose = segment.parent().map_or_else(|| placed(segment), |p| placed(p).inverse() * placed(segment));
            (HumanBone::of_hand(self.side, segment), pose)
        })
    }
}

/// The angles of a hand in the T-pose: those of each base align the bone with its direction, by Gauss–Newton. A change
/// `δ` of the two angles about the axes `a` moves the direction `d` by `[a₀ × d, a₁ × d] δ`.
fn t_pose(side: Side, skeleton: &Skeleton) -> [f64; ANGLES] {
    let thumb_side = if side == Side::Left { 1.0 } else { -1.0 };
    let mut angles = [0.0; ANGLES];
    for _ in 0..20 {
        let kinematics = skeleton.kinematics(&Pose::identity(), &angles);
        for finger in Finger::ALL {
            let wanted = match finger {
                Finger::Thumb => Vec3::new(thumb_side, 0.0, -1.0).normalize(),
                _ => -Vec3::z(),
            };
            let first = 4 * finger as usize;
            let d = kinematics.poses[Segment::phalanx(finger, 0).index()].rotation * -Vec3::z();
            let [a, b] = [0, 1].map(|k| kinematics.axes[first + k].cross(&d));
            let off = wanted - d;
            let normal = Matrix2::new(a.dot(&a), a.dot(&b), a.dot(&b), b.dot(&b));
            // A finger that cannot reach its direction stays at the closest.
            if let Some(inverse) = normal.try_inverse() {
                let change = inverse * Vector2::new(a.dot(&off), b.dot(&off));
                (angles[first], angles[first + 1]) = (angles[first] + change.x, angles[first + 1] + change.y);
            }
        }
    }
    angles
}

/// A skeleton received bone by bone, and its hands.
#[derive(Clone, Debug)]
pub struct BoneSkeleton {
    hands: [HumanHand; 2],
    bones: HashMap<HumanBone, Pose>,
    /// Whether the hips were received twice: then every bone of the sender was received once.
    is_whole: bool,
    /// The current frame of each hand: some programs send every bone in its own datagram.
    frames: [BoneFrame; 2],
}

/// The bones of a hand received since its last reading. A frame is complete when it has every bone of the last one. A
/// repeated bone, or one after a pause, starts the next frame: others were lost, or the first frame was joined in the
/// middle.
#[derive(Clone, Debug, Default)]
struct BoneFrame {
    reported: HashSet<HumanBone>,
    last: HashSet<HumanBone>,
    /// Whether the last frame was incomplete. Bones that are missing twice are not expected any more.
    was_short: bool,
}

impl BoneFrame {
    /// Adds a bone; returns whether it starts the next frame.
    fn begins_with(&self, bone: HumanBone) -> bool {
        self.reported.contains(&bone)
    }

    /// Whether nothing is missing. The bones of the first frame are unknown, so its first datagram counts as complete.
    fn is_complete(&self) -> bool {
        !self.reported.is_empty() && self.reported.is_superset(&self.last)
    }

    /// Ends the frame.
    fn end(&mut self) {
        let is_short = !self.is_complete();
        let reported = std::mem::take(&mut self.reported);
        if is_short && !self.was_short {
            self.last.extend(reported);
        } else {
            self.last = reported;
        }
        self.was_short = is_short;
    }
}

impl BoneSkeleton {
    /// An unknown skeleton.
    pub fn new(left: &Skeleton, right: &Skeleton) -> Self {
        let hands = [HumanHand::new(Side::Left, left), HumanHand::new(Side::Right, right)];
        Self { hands, bones: HashMap::new(), is_whole: false, frames: Default::default() }
    }

    /// Whether any bone is known.
    pub fn is_known(&self) -> bool {
        !self.bones.is_empty()
    }

    /// Sets the pose of a bone in its parent.
    pub fn set(&mut self, bone: HumanBone, pose: &Pose) {
        let was_known = self.bones.insert(bone, *pose).is_some();
        self.is_whole |= was_known && bone.name() == NEEDED[0];
        if let Some((side, _)) = bone.hand() {
            self.frames[side as usize].reported.insert(bone);
        }
    }

    /// The hand whose frame a bone ends because the frame already has it; call before [`BoneSkeleton::set`].
    pub fn ended_by(&self, bone: HumanBone) -> Option<Side> {
        bone.hand().map(|(side, _)| side).filter(|side| self.frames[*side as usize].begins_with(bone))
    }

    /// Whether a frame of a hand has started and is incomplete.
    pub fn is_open(&self, side: Side) -> bool {
        !self.frames[side as usize].reported.is_empty()
    }

    /// The reading of a hand, if its frame is complete.
    pub fn news(&mut self, side: Side) -> Option<HandReading> {
        self.frames[side as usize].is_complete().then(|| self.end_frame(side))
    }

    /// The reading of a hand; ends its frame, complete or not.
    pub fn end_frame(&mut self, side: Side) -> HandReading {
        self.frames[side as usize].end();
        let hand = &self.hands[side as usize];
        let bone = |segment| self.bones.get(&HumanBone::of_hand(side, segment));
        let angles = hand.angles(|segment| bone(segment).map(|pose| pose.rotation));
        let middle = bone(Segment::phalanx(Finger::Middle, 0)).map(|pose| pose.translation.vector);
        HandReading { palm: self.placed(side).map(|placed| hand.palm(&placed, middle)), angles }
    }

    /// The hand bone in the world, if the whole chain up to the hips is known. Without a root the hips are relative to
    /// the world.
    fn placed(&self, side: Side) -> Option<Pose> {
        let known = |name: &str| HumanBone::named(name).is_some_and(|bone| self.bones.contains_key(&bone));
        let arm =
            if side == Side::Left { ["LeftUpperArm", "LeftLowerArm"] } else { ["RightUpperArm", "RightLowerArm"] };
        let hand = HumanBone::of_hand(side, Segment::PALM);
        let is_whole = self.is_whole && NEEDED.iter().chain(&arm).all(|name| known(name));
        let mut pose = *self.bones.get(&hand).filter(|_| is_whole)?;
        let mut above = hand;
        while let Some(parent) = above.parent() {
            // Chest and shoulders are optional; their children then belong to the next ancestor.
            pose = self.bones.get(&parent).map_or(pose, |parent| parent * pose);
            above = parent;
        }
        Some(pose)
    }
}
