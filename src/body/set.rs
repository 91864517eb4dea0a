use super::{Body, Fixed, Hand, RigidBody, SoftBody};
use crate::math::Mat3;
use crate::tracking::{SEGMENTS, Segment};
use crate::typed_id;

typed_id! {
    /// A hand of the world.
    HandId
}

typed_id! {
    /// A body of the world: the skeletons and tissues of the hands first, then rigid, soft and fixed bodies.
    BodyId
}

/// What stands behind a [`BodyId`], with its number among its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum BodyKind {
    /// The skeleton of a hand.
    Skeleton(HandId),
    /// The tissue of one of its segments.
    Tissue(HandId, Segment),
    /// A rigid body.
    Rigid(usize),
    /// A soft body.
    Soft(usize),
    /// A part of the static world.
    Fixed(usize),
}

/// Bodies of one hand: the skeleton and the tissues.
const PER_HAND: usize = 1 + SEGMENTS;

/// Everything that moves, and everything that does not.
#[derive(Debug, Default)]
pub struct Bodies {
    /// Hands.
    pub hands: Vec<Hand>,
    /// Rigid bodies.
    pub rigid: Vec<RigidBody>,
    /// Soft bodies.
    pub soft: Vec<SoftBody>,
    /// The static world.
    pub fixed: Vec<Fixed>,
}

impl Bodies {
    /// How many there are.
    pub fn count(&self) -> usize {
        PER_HAND * self.hands.len() + self.rigid.len() + self.soft.len() + self.fixed.len()
    }

    /// The id of a body.
    pub fn id(&self, kind: BodyKind) -> BodyId {
        let (rigid, soft) = (PER_HAND * self.hands.len(), self.rigid.len());
        BodyId::at(match kind {
            BodyKind::Skeleton(hand) => PER_HAND * hand.index(),
            BodyKind::Tissue(hand, segment) => PER_HAND * hand.index() + 1 + segment.index(),
            BodyKind::Rigid(i) => rigid + i,
            BodyKind::Soft(i) => rigid + soft + i,
            BodyKind::Fixed(i) => rigid + soft + self.soft.len() + i,
        })
    }

    /// What an id stands for.
    pub fn kind(&self, id: BodyId) -> BodyKind {
        let hands = PER_HAND * self.hands.len();
        let (mut i, soft) = (id.index(), self.soft.len());
        if i < hands {
            let hand = HandId::at(i / PER_HAND);
            return match i % PER_HAND {
                0 => BodyKind::Skeleton(hand),
                s => BodyKind::Tissue(hand, Segment::at(s - 1)),
            };
        }
        i -= hands;
        if i < self.rigid.len() {
            return BodyKind::Rigid(i);
        }
        i -= self.rigid.len();
        if i < soft { BodyKind::Soft(i) } else { BodyKind::Fixed(i - soft) }
    }

    /// The body of an id.
    pub fn get(&self, id: BodyId) -> &dyn Body {
        match self.kind(id) {
            BodyKind::Skeleton(hand) => &self.hands[hand.index()].skeleton,
            BodyKind::Tissue(hand, segment) => &self.hands[hand.index()].tissues[segment.index()],
            BodyKind::Rigid(i) => &self.rigid[i],
            BodyKind::Soft(i) => &self.soft[i],
            BodyKind::Fixed(i) => &self.fixed[i],
        }
    }

    /// The body of an id, to be changed.
    pub fn get_mut(&mut self, id: BodyId) -> &mut dyn Body {
        match self.kind(id) {
            BodyKind::Skeleton(hand) => &mut self.hands[hand.index()].skeleton,
            BodyKind::Tissue(hand, segment) => &mut self.hands[hand.index()].tissues[segment.index()],
            BodyKind::Rigid(i) => &mut self.rigid[i],
            BodyKind::Soft(i) => &mut self.soft[i],
            BodyKind::Fixed(i) => &mut self.fixed[i],
        }
    }

    /// Orientation of the frame that a body turns with: that of its shape, of its bone, or of its best fit.
    pub fn frame(&self, id: BodyId) -> Mat3 {
        match self.kind(id) {
            BodyKind::Skeleton(hand) => self.bone_frame(hand, Segment::PALM),
            BodyKind::Tissue(hand, segment) => self.bone_frame(hand, segment),
            BodyKind::Rigid(i) => self.rigid[i].pose().rotation.to_rotation_matrix().into_inner(),
            BodyKind::Soft(i) => *self.soft[i].frame(),
            BodyKind::Fixed(_) => Mat3::identity(),
        }
    }

    fn bone_frame(&self, hand: HandId, segment: Segment) -> Mat3 {
        let poses = &self.hands[hand.index()].skeleton.kinematics().poses;
        poses[segment.index()].rotation.to_rotation_matrix().into_inner()
    }

    /// Every body in the order of the ids.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut dyn Body> {
        let hands = self.hands.iter_mut().flat_map(Hand::bodies_mut);
        let rigid = self.rigid.iter_mut().map(|b| b as &mut dyn Body);
        let soft = self.soft.iter_mut().map(|b| b as &mut dyn Body);
        let fixed = self.fixed.iter_mut().map(|b| b as &mut dyn Body);
        hands.chain(rigid).chain(soft).chain(fixed)
    }

    /// Every body in the order of the ids.
    pub fn iter(&self) -> impl Iterator<Item = &dyn Body> {
        let hands = self.hands.iter().flat_map(Hand::bodies);
        let rigid = self.rigid.iter().map(|b| b as &dyn Body);
        let soft = self.soft.iter().map(|b| b as &dyn Body);
        let fixed = self.fixed.iter().map(|b| b as &dyn Body);
        hands.chain(rigid).chain(soft).chain(fixed)
    }
}
