use super::description::HandDescription;
use super::meshing::{NodeMap, SegmentMesh};
use super::shape::SegmentShape;
use crate::math::Vec3;
use crate::mesh::SurfaceMesh;
use crate::tracking::{ANGLES, Segment};

/// The closed skin of the whole hand that is drawn, at rest in the reference pose with the palm at the origin.
#[derive(Clone, Debug, PartialEq)]
pub struct VisualSkin {
    /// Vertices at the reference pose, and triangles.
    pub mesh: SurfaceMesh,
    /// The angles of the reference pose, rad.
    pub reference: [f64; ANGLES],
    /// What moves each vertex.
    pub vertices: Vec<VisualVertex>,
}

/// What moves a vertex: a few segments with weights that add up to one.
#[derive(Clone, Debug, PartialEq)]
pub struct VisualVertex {
    /// The segments; unused places have weight zero.
    pub influences: [Influence; 4],
}

/// The pull of one segment on a vertex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Influence {
    /// Which segment.
    pub segment: Segment,
    /// How much.
    pub weight: f64,
    /// Where the vertex lies in the frame of the bone at rest.
    pub p_bone: Vec3,
    /// The nodes of the segment's tissue whose displacement it takes along.
    pub tissue: NodeMap,
}

impl VisualSkin {
    /// Polygonises the smooth union of the segments' outlines.
    pub fn new(_hand: &HandDescription, _shapes: &[SegmentShape], _meshes: &[SegmentMesh]) -> Self {
        Self { mesh: SurfaceMesh::default(), reference: [0.0; ANGLES], vertices: Vec::new() }
    }

    /// Stub.
    pub fn posed(&self, _kin: &super::Kinematics, _u: impl Fn(Segment, &NodeMap) -> Vec3, _out: &mut Vec<Vec3>) {}
}
