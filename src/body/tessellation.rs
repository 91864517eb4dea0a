use parry3d::shape::{SharedShape, TypedShape};

use crate::math::{Vec3, from_glam};
use crate::mesh::SurfaceMesh;

/// Resolution of round shapes.
const ROUND_SEGMENTS: u32 = 48;

/// The surface of a shape in its frame, for pictures: flat faces have separate vertices, so that edges are visible.
/// `None` for infinite shapes.
pub fn tessellated(shape: &SharedShape) -> Option<SurfaceMesh> {
    let (vertices, triangles, smooth) = match shape.as_typed_shape() {
        TypedShape::Cuboid(s) => flat(s.to_trimesh()),
        TypedShape::Ball(s) => round(s.to_trimesh(ROUND_SEGMENTS, ROUND_SEGMENTS / 2)),
        TypedShape::Capsule(s) => round(s.to_trimesh(ROUND_SEGMENTS, ROUND_SEGMENTS / 2)),
        TypedShape::Cylinder(s) => flat(s.to_trimesh(ROUND_SEGMENTS)),
        TypedShape::ConvexPolyhedron(s) => flat(s.to_trimesh()),
        TypedShape::TriMesh(s) => flat((s.vertices().to_vec(), s.indices().to_vec())),
        _ => return None,
    };
    let vertices: Vec<Vec3> = vertices.into_iter().map(from_glam).collect();
    if smooth {
        return Some(SurfaceMesh { vertices, triangles });
    }
    let corners = triangles.iter().flatten().map(|&v| vertices[v as usize]).collect();
    let triangles = (0..triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
    Some(SurfaceMesh { vertices: corners, triangles })
}

type MeshParts = (Vec<glam::DVec3>, Vec<[u32; 3]>);

fn flat((vertices, triangles): MeshParts) -> (Vec<glam::DVec3>, Vec<[u32; 3]>, bool) {
    (vertices, triangles, false)
}

fn round((vertices, triangles): MeshParts) -> (Vec<glam::DVec3>, Vec<[u32; 3]>, bool) {
    (vertices, triangles, true)
}
