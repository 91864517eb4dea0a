use super::{HandBody, MaterialPoint, Part, Phalanx};
use crate::hand::HandModel;
use crate::math::Vec3;
use crate::tracking::Segment;

/// Layer 5: the collision skin of a hand, with vertex positions in the world.
///
/// It depends on layers 3 and 4: positions and velocities are the sum of the bone's and the tissue's, forces are
/// applied to both by the transposed maps (Talvas 2015, §4).
#[derive(Clone, Debug, Default)]
pub struct CollisionSkin {
    positions: Vec<Vec3>,
    /// First vertex of each segment, and one past the last.
    starts: Vec<u32>,
}

/// A vertex of the skin: a segment, and the vertex of its mesh.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SkinVertex {
    /// The segment.
    pub segment: Segment,
    /// Index among the segment's vertices.
    pub vertex: u32,
}

impl CollisionSkin {
    /// Allocates the skin of a hand.
    pub fn new(model: &HandModel) -> Self {
        let mut starts = vec![0];
        for mesh in &model.meshes {
            starts.push(starts[starts.len() - 1] + mesh.skin.vertices.len() as u32);
        }
        Self { positions: vec![Vec3::zeros(); starts[starts.len() - 1] as usize], starts }
    }

    /// Updates positions from bones and tissue.
    pub fn update(&mut self, hand: &HandBody, tissues: &[Phalanx]) {
        Segment::all().for_each(|segment| self.update_segment(hand, tissues, segment));
    }

    /// The same for one segment.
    pub fn update_segment(&mut self, hand: &HandBody, tissues: &[Phalanx], segment: Segment) {
        let (mesh, tissue) = (&hand.model().meshes[segment.index()], &tissues[segment.index()]);
        let frame = &hand.kinematics().poses[segment.index()];
        let (r, t) = (frame.rotation.to_rotation_matrix(), frame.translation.vector);
        let first = self.starts[segment.index()] as usize;
        let out = &mut self.positions[first..first + mesh.skin.vertices.len()];
        for ((p, rest), map) in out.iter_mut().zip(&mesh.skin.vertices).zip(&mesh.skin_maps) {
            *p = t + r * (rest + tissue.displacement(map));
        }
    }

    /// Positions of a segment's vertices in the world.
    pub fn positions(&self, segment: Segment) -> &[Vec3] {
        &self.positions[self.starts[segment.index()] as usize..self.starts[segment.index() + 1] as usize]
    }

    /// The vertex as a point of the skeleton and as a point of the tissue.
    pub fn points(hand: &HandBody, tissues: &[Phalanx], at: SkinVertex) -> (MaterialPoint, MaterialPoint) {
        let mesh = &hand.model().meshes[at.segment.index()];
        let map = mesh.skin_maps[at.vertex as usize];
        let p_bone = mesh.skin.vertices[at.vertex as usize] + tissues[at.segment.index()].displacement(&map);
        (MaterialPoint::rigid(at.segment.index(), p_bone), MaterialPoint::soft(map))
    }

    /// Velocity of a vertex in the world: `J_i q̇_r + R_bone Σ_k β_ik u̇_k`.
    pub fn velocity(hand: &HandBody, tissues: &[Phalanx], at: SkinVertex) -> Vec3 {
        let (bone, tissue) = Self::points(hand, tissues, at);
        hand.velocity(&bone) + tissues[at.segment.index()].velocity(&tissue)
    }

    /// Applies a force at a vertex to the skeleton and to the segment's tissue.
    pub fn push_force(
        hand: &HandBody,
        tissues: &[Phalanx],
        at: SkinVertex,
        force: &Vec3,
        skeleton: &mut [f64],
        nodes: &mut [f64],
    ) {
        let (bone, tissue) = Self::points(hand, tissues, at);
        hand.add_row(&bone, force, skeleton);
        tissues[at.segment.index()].add_row(&tissue, force, nodes);
    }
}
