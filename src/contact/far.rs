use std::sync::Arc;

use parry3d::shape::{ShapeType, SharedShape};

use super::distance::{Signed, signed_distance};
use crate::math::Vec3;

/// Vertices of a surface and how far each was from a shape when that was last looked up. Distance changes no faster than place, so most
/// of them need not be looked up again for a while.
pub(super) struct FarVertices {
    /// Kept, so that another shape in its place is told apart from it.
    shape: SharedShape,
    /// Place in the frame of the shape, and distance.
    known: Vec<(Vec3, f64)>,
}

impl std::fmt::Debug for FarVertices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FarVertices({})", self.known.len())
    }
}

impl FarVertices {
    pub fn new(shape: &SharedShape, vertices: usize) -> Self {
        Self { shape: shape.clone(), known: vec![(Vec3::zeros(), f64::NEG_INFINITY); vertices] }
    }

    pub fn is_of(&self, shape: &SharedShape, vertices: usize) -> bool {
        Arc::ptr_eq(&self.shape.0, &shape.0) && self.known.len() == vertices
    }

    /// Its distance, or none if it is farther than `margin` for sure.
    pub fn distance(&mut self, vertex: usize, place: &Vec3, margin: f64) -> Option<Signed> {
        let (before, distance) = self.known[vertex];
        if distance - (place - before).norm() > margin {
            return None;
        }
        let signed = signed_distance(&self.shape, place);
        self.known[vertex] = (*place, signed.distance);
        Some(signed)
    }
}

/// Whether the distance from a shape takes a search.
pub(super) fn is_costly(shape: &SharedShape) -> bool {
    matches!(shape.shape_type(), ShapeType::TriMesh | ShapeType::ConvexPolyhedron | ShapeType::Compound)
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use parry3d::shape::TriMeshFlags;
    use proptest::prelude::*;

    use super::*;

    fn mesh() -> SharedShape {
        let corner =
            |i: u32| DVec3::new(f64::from(i & 1), f64::from(i >> 1 & 1), f64::from(i >> 2)) * 0.02 - DVec3::splat(0.01);
        let faces = [
            [0, 2, 1],
            [1, 2, 3],
            [4, 5, 6],
            [5, 7, 6],
            [0, 1, 4],
            [1, 5, 4],
            [2, 6, 3],
            [3, 6, 7],
            [0, 4, 2],
            [2, 4, 6],
            [1, 3, 5],
            [3, 7, 5],
        ];
        SharedShape::trimesh_with_flags((0..8).map(corner).collect(), faces.to_vec(), TriMeshFlags::ORIENTED)
            .expect("a cube")
    }

    proptest! {
        /// However a vertex wanders, what is left out is farther than the margin, and what is not is looked up.
        #[test]
        fn nothing_near_is_left_out(steps in prop::collection::vec([-0.004..0.004f64, -0.004..0.004, -0.004..0.004], 1..80)) {
            let shape = mesh();
            let mut far = FarVertices::new(&shape, 1);
            let mut place = Vec3::new(0.03, 0.0, 0.0);
            for step in steps {
                place += Vec3::from(step);
                let truth = signed_distance(&shape, &place);
                match far.distance(0, &place, 0.005) {
                    Some(found) => prop_assert_eq!(found.distance, truth.distance),
                    None => prop_assert!(truth.distance > 0.005, "{} m", truth.distance),
                }
            }
        }
    }
}
