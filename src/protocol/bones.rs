use crate::tracking::{Finger, Segment, Side};

/// A bone of Unity's humanoid skeleton, or the root.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct HumanBone(u8);

/// Each bone and its parent. If a skeleton lacks the parent, the next ancestor is used.
const BONES: [(&str, &str); 26] = [
    ("root", ""),
    ("Hips", "root"),
    ("Spine", "Hips"),
    ("Chest", "Spine"),
    ("UpperChest", "Chest"),
    ("Neck", "UpperChest"),
    ("Head", "Neck"),
    ("Jaw", "Head"),
    ("LeftEye", "Head"),
    ("RightEye", "Head"),
    ("LeftShoulder", "UpperChest"),
    ("LeftUpperArm", "LeftShoulder"),
    ("LeftLowerArm", "LeftUpperArm"),
    ("LeftHand", "LeftLowerArm"),
    ("RightShoulder", "UpperChest"),
    ("RightUpperArm", "RightShoulder"),
    ("RightLowerArm", "RightUpperArm"),
    ("RightHand", "RightLowerArm"),
    ("LeftUpperLeg", "Hips"),
    ("LeftLowerLeg", "LeftUpperLeg"),
    ("LeftFoot", "LeftLowerLeg"),
    ("LeftToes", "LeftFoot"),
    ("RightUpperLeg", "Hips"),
    ("RightLowerLeg", "RightUpperLeg"),
    ("RightFoot", "RightLowerLeg"),
    ("RightToes", "RightFoot"),
];
const FINGER_BONES: usize = 15;
const COUNT: usize = BONES.len() + 2 * FINGER_BONES;

impl HumanBone {
    /// The root.
    pub const ROOT: HumanBone = HumanBone(0);

    /// All bones: the body first, then the fingers of the left and of the right hand.
    pub fn all() -> impl Iterator<Item = HumanBone> {
        (0..COUNT).map(|index| HumanBone(index as u8))
    }

    /// The bone of a hand. Unity counts the thumb's bones from the metacarpal, like this crate, and calls it proximal.
    pub fn of_hand(side: Side, segment: Segment) -> Self {
        match segment.index().checked_sub(1) {
            None => HumanBone(if side == Side::Left { 13 } else { 17 }),
            Some(phalanx) => HumanBone((BONES.len() + FINGER_BONES * side as usize + phalanx) as u8),
        }
    }

    /// Side and part of the hand; `None` for other bones.
    pub fn hand(self) -> Option<(Side, Segment)> {
        let side = |right: bool| if right { Side::Right } else { Side::Left };
        match usize::from(self.0).checked_sub(BONES.len()) {
            Some(finger_bone) => Some((side(finger_bone >= FINGER_BONES), Segment::at(1 + finger_bone % FINGER_BONES))),
            None => matches!(self.0, 13 | 17).then(|| (side(self.0 == 17), Segment::PALM)),
        }
    }

    /// Unity's name, such as `LeftIndexProximal`.
    pub fn name(self) -> String {
        let Some((side, finger, place)) = self.hand().and_then(|(side, s)| s.finger().map(|(f, p)| (side, f, p)))
        else {
            return BONES[usize::from(self.0)].0.into();
        };
        let side = if side == Side::Left { "Left" } else { "Right" };
        let finger = ["Thumb", "Index", "Middle", "Ring", "Little"][finger as usize];
        format!("{side}{finger}{}", ["Proximal", "Intermediate", "Distal"][place])
    }

    /// The bone with this name.
    pub fn named(name: &str) -> Option<Self> {
        if let Some(index) = BONES.iter().position(|(bone, _)| *bone == name) {
            return Some(HumanBone(index as u8));
        }
        let (side, rest) = match (name.strip_prefix("Left"), name.strip_prefix("Right")) {
            (Some(rest), _) => (Side::Left, rest),
            (_, Some(rest)) => (Side::Right, rest),
            _ => return None,
        };
        let fingers = ["Thumb", "Index", "Middle", "Ring", "Little"];
        let (finger, rest) = (fingers.iter().zip(Finger::ALL))
            .find_map(|(prefix, finger)| rest.strip_prefix(prefix).map(|rest| (finger, rest)))?;
        let place = ["Proximal", "Intermediate", "Distal"].iter().position(|place| *place == rest)?;
        Some(Self::of_hand(side, Segment::phalanx(finger, place)))
    }

    /// The parent bone; `None` for the root.
    pub fn parent(self) -> Option<Self> {
        match self.hand() {
            Some((side, segment)) if segment != Segment::PALM => segment.parent().map(|p| Self::of_hand(side, p)),
            _ => Self::named(BONES[usize::from(self.0)].1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_to_one_and_every_bone_leads_to_the_root() {
        assert_eq!(HumanBone::all().count(), 56, "the 55 of Unity and the root");
        for bone in HumanBone::all() {
            assert_eq!(HumanBone::named(&bone.name()), Some(bone), "{}", bone.name());
            if let Some((side, segment)) = bone.hand() {
                assert_eq!(HumanBone::of_hand(side, segment), bone);
            }
            let mut up = bone;
            let steps = std::iter::from_fn(|| up.parent().inspect(|parent| up = *parent)).take(20).count();
            assert!(steps < 20 && up == HumanBone::ROOT, "{} ends in {}", bone.name(), up.name());
        }
        let palm = HumanBone::named("RightHand").expect("a bone");
        assert_eq!(palm.hand(), Some((Side::Right, Segment::PALM)));
        let tip = HumanBone::named("LeftLittleDistal").expect("a bone");
        assert_eq!(tip.hand(), Some((Side::Left, Segment::phalanx(Finger::Little, 2))));
        assert_eq!(tip.parent().map(HumanBone::name).as_deref(), Some("LeftLittleIntermediate"));
        assert_eq!(HumanBone::named("LeftIndexTip"), None);
        assert_eq!(HumanBone::named(""), None);
    }
}
