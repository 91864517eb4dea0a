use parry3d::bounding_volume::Aabb;
use parry3d::shape::SharedShape;

use crate::math::{Pose, Vec3, from_glam};
use crate::mesh::SurfaceMesh;
use crate::problem::CubicSpring;

/// The geometry of one collider of a body, as proximity reads it.
#[derive(Clone, Copy, Debug)]
pub enum Collider<'a> {
    /// Vertices that are tested against other surfaces.
    Mesh(MeshCollider<'a>),
    /// A rigid shape with a distance function.
    Shape(ShapeCollider<'a>),
}

/// A surface given by its vertices. [`super::Body::vertex_positions`] tells where they are.
#[derive(Clone, Copy, Debug)]
pub struct MeshCollider<'a> {
    /// The surface at rest.
    pub rest: &'a SurfaceMesh,
    /// Area of each vertex at rest, m².
    pub areas: &'a [f64],
    /// Whether the contacts with another body form one aggregate, if contacts are aggregated.
    pub aggregates: bool,
    /// Whether it meets other deformable surfaces. Samples of a rigid body meet them through the shape of the body.
    pub deformable: bool,
    /// The elastic layer on it.
    pub layer: Option<SurfaceLayer>,
}

/// A rigid shape and its pose.
#[derive(Clone, Copy, Debug)]
pub struct ShapeCollider<'a> {
    /// The shape in its own frame.
    pub shape: &'a SharedShape,
    /// Pose of that frame in the world.
    pub pose: Pose,
    /// Whether it can move.
    pub moves: bool,
    /// Whether the body meets other shapes through the samples of a [`MeshCollider`] instead.
    pub sampled: bool,
}

/// The outermost layer of a soft surface. It is thinner than the mesh resolves, so each contact compresses it independently.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceLayer {
    /// Modulus of uniaxial compression without lateral strain, Pa.
    pub modulus: f64,
    /// Shear modulus, Pa.
    pub shear_modulus: f64,
    /// Time constant of viscous damping, s.
    pub damping: f64,
}

/// The surface of an elastic object: force against compression, per area. Each contact compresses it independently.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ElasticSurface {
    /// The law of an area of 1 m².
    pub spring: CubicSpring,
    /// Time constant of viscous damping, s.
    pub damping: f64,
}

/// Force on a point of the surface of a body in the last step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SurfaceLoad {
    /// Position, m.
    pub place: Vec3,
    /// Force on the body, N.
    pub force: Vec3,
    /// Pressure, Pa; zero for a point without an area.
    pub pressure: f64,
}

crate::saved_fields!(SurfaceLoad: place, force, pressure);

/// An axis-aligned box in the world.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Lowest corner, m.
    pub low: Vec3,
    /// Highest corner, m.
    pub high: Vec3,
}

impl Bounds {
    /// A box that reaches farther on every side, and a little more for rounding.
    pub fn widened(&self, by: f64) -> Self {
        let by = Vec3::repeat(by * (1.0 + 1e-9) + 1e-12);
        Self { low: self.low - by, high: self.high + by }
    }

    /// Distance of a point from the box, m; zero inside.
    pub fn distance(&self, p: &Vec3) -> f64 {
        (self.low - p).sup(&(p - self.high)).sup(&Vec3::zeros()).norm()
    }

    /// The smallest box around some points; empty without any.
    pub fn of(points: &[Vec3]) -> Self {
        let mut bounds = Self { low: Vec3::repeat(f64::INFINITY), high: Vec3::repeat(f64::NEG_INFINITY) };
        for p in points {
            bounds.low = bounds.low.inf(p);
            bounds.high = bounds.high.sup(p);
        }
        bounds
    }

    /// Whether two boxes are closer than a margin.
    pub fn meets(&self, other: &Bounds, margin: f64) -> bool {
        (0..3).all(|i| self.low[i] - margin <= other.high[i] && other.low[i] - margin <= self.high[i])
    }

    /// Whether a point is closer than a margin.
    pub fn contains(&self, p: &Vec3, margin: f64) -> bool {
        (0..3).all(|i| self.low[i] - margin <= p[i] && p[i] <= self.high[i] + margin)
    }

    /// The eight corners.
    pub fn corners(&self) -> impl Iterator<Item = Vec3> + use<> {
        let Self { low, high } = *self;
        (0..8).map(move |i| Vec3::from_fn(|c, _| if i >> c & 1 == 0 { low[c] } else { high[c] }))
    }
}

impl From<Aabb> for Bounds {
    fn from(aabb: Aabb) -> Self {
        Self { low: from_glam(aabb.mins), high: from_glam(aabb.maxs) }
    }
}
