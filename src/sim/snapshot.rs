use super::world::World;
use crate::body::Hand;
use crate::math::{Pose, Vec3};
use crate::tracking::{SEGMENTS, Segment};

/// What a viewer needs of a world at one instant.
#[derive(Clone, Debug, Default)]
pub struct Snapshot {
    /// Time, s.
    pub time: f64,
    /// Hands in the world's order.
    pub hands: Vec<HandSnapshot>,
    /// Placements of the rigid bodies.
    pub rigid: Vec<Pose>,
    /// Nodes of the soft bodies.
    pub soft: Vec<Vec<Vec3>>,
}

/// The layers of a hand at one instant, in the world.
#[derive(Clone, Debug, Default)]
pub struct HandSnapshot {
    /// Layer 1: where the tracked hand's segments would be.
    pub tracked: Vec<Pose>,
    /// Layer 3: the segments.
    pub segments: Vec<Pose>,
    /// Layer 4: nodes of each segment's tissue.
    pub tissue: Vec<Vec<Vec3>>,
    /// Layer 5: collision skin of each segment.
    pub skin: Vec<Vec<Vec3>>,
    /// Layer 5: the skin that is drawn.
    pub visual: Vec<Vec3>,
}

impl World {
    /// The world as it is now.
    pub fn snapshot(&self) -> Snapshot {
        let hand = |hand: &Hand| {
            let (kin, tracked) = (hand.skeleton.kinematics(), &hand.skeleton.tracked);
            let ghost = hand.model().skeleton.kinematics(tracked.palm(), tracked.angles());
            let nodes = |s: Segment| {
                let (tissue, frame) = (&hand.tissues[s.index()], &kin.poses[s.index()]);
                let place = |(rest, u): (&Vec3, &Vec3)| frame.translation.vector + frame.rotation * (rest + u);
                tissue.model().rest().iter().zip(&tissue.state().displacement).map(place).collect()
            };
            let mut visual = Vec::with_capacity(hand.model().visual.vertices.len());
            hand.model().visual.posed(kin, |s, map| hand.tissue_displacement(s, map), &mut visual);
            HandSnapshot {
                tracked: ghost.poses.to_vec(),
                segments: kin.poses[..SEGMENTS].to_vec(),
                tissue: Segment::all().map(nodes).collect(),
                skin: Segment::all().map(|s| hand.skin.positions(s).to_vec()).collect(),
                visual,
            }
        };
        Snapshot {
            time: self.time(),
            hands: self.bodies.hands.iter().map(hand).collect(),
            rigid: self.bodies.rigid.iter().map(|b| b.pose()).collect(),
            soft: self.bodies.soft.iter().map(|b| b.positions().to_vec()).collect(),
        }
    }
}
