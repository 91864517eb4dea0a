use std::sync::Arc;

use parry3d::shape::{ShapeType, SharedShape};

use super::distance::{Signed, signed_distance, signed_distance_within};
use crate::body::Bounds;
use crate::math::Vec3;

/// Vertices of a surface and how far each was from a shape when that was last looked up. Distance changes no faster than place, so most
/// of them need not be looked up again for a while, nor the surface as a whole.
#[derive(Clone)]
pub(super) struct FarVertices {
    /// Kept to detect a change of shape.
    shape: SharedShape,
    bounds: Bounds,
    costly: bool,
    /// Place in the frame of the shape, and distance; of shapes whose distance takes a search only.
    known: Vec<(Vec3, f64)>,
    count: usize,
    /// The same of points of a rigid core under the surface.
    core: Vec<(Vec3, f64)>,
    /// No vertex was nearer when surface and shape had travelled so far.
    least: f64,
    travel: [f64; 2],
}

impl std::fmt::Debug for FarVertices {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "FarVertices({} of {})", self.known.len(), self.count)
    }
}

/// Nothing is known.
const UNKNOWN: (Vec3, f64) = (Vec3::new(0.0, 0.0, 0.0), f64::NEG_INFINITY);

impl FarVertices {
    pub fn new(shape: &SharedShape, vertices: usize) -> Self {
        let costly = is_costly(shape);
        Self {
            shape: shape.clone(),
            bounds: shape.compute_local_aabb().into(),
            costly,
            known: vec![UNKNOWN; if costly { vertices } else { 0 }],
            core: Vec::new(),
            count: vertices,
            least: f64::NEG_INFINITY,
            travel: [0.0; 2],
        }
    }

    pub fn is_of(&self, shape: &SharedShape, vertices: usize) -> bool {
        Arc::ptr_eq(&self.shape.0, &shape.0) && self.count == vertices
    }

    /// Whether every vertex is farther than `margin` for sure.
    pub fn is_apart(&self, travel: [f64; 2], margin: f64) -> bool {
        self.least - (travel[0] - self.travel[0]) - (travel[1] - self.travel[1]) > margin
    }

    /// Starts looking all vertices up.
    pub fn begin(&mut self, travel: [f64; 2]) {
        (self.least, self.travel) = (f64::INFINITY, travel);
    }

    /// The distance of a vertex, or none if it is farther than `margin` for sure.
    pub fn distance(&mut self, vertex: usize, place: &Vec3, margin: f64) -> Option<Signed> {
        let boxed = self.bounds.distance(place);
        if boxed > margin {
            self.least = self.least.min(boxed);
            return None;
        }
        let signed = if self.costly {
            let known = &mut self.known[vertex];
            let bound = known.1 - (place - known.0).norm();
            if bound > margin {
                self.least = self.least.min(bound);
                return None;
            }
            looked_up(&self.shape, place, known)
        } else {
            signed_distance(&self.shape, place)
        };
        self.least = self.least.min(signed.distance);
        Some(signed)
    }

    /// The distance of a point of the rigid core, or none if it is farther than `margin` for sure.
    pub fn core_distance(&mut self, number: usize, place: &Vec3, margin: f64) -> Option<Signed> {
        if self.core.len() <= number {
            self.core.resize(number + 1, UNKNOWN);
        }
        let known = &mut self.core[number];
        if known.1 - (place - known.0).norm() > margin { None } else { Some(looked_up(&self.shape, place, known)) }
    }
}

/// Looks a distance up, starting from the one that was known nearby.
fn looked_up(shape: &SharedShape, place: &Vec3, known: &mut (Vec3, f64)) -> Signed {
    let most = if known.1.is_finite() { known.1.abs() + (place - known.0).norm() } else { f64::INFINITY };
    let signed = signed_distance_within(shape, place, most);
    *known = (*place, signed.distance);
    signed
}

/// Whether the distance from a shape takes a search.
fn is_costly(shape: &SharedShape) -> bool {
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
        /// For any motion of a vertex, skipped ones are farther than the margin, and others are evaluated.
        #[test]
        fn no_close_contact_is_missed(steps in prop::collection::vec([-0.004..0.004f64, -0.004..0.004, -0.004..0.004], 1..80)) {
            let shape = mesh();
            let mut far = FarVertices::new(&shape, 1);
            let mut place = Vec3::new(0.03, 0.0, 0.0);
            for step in steps {
                place += Vec3::from(step);
                let truth = signed_distance(&shape, &place);
                match far.distance(0, &place, 0.005) {
                    Some(found) => prop_assert_eq!(found, truth),
                    None => prop_assert!(truth.distance > 0.005, "{} m", truth.distance),
                }
            }
        }
    }
}
