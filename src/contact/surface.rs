use parry3d::bounding_volume::Aabb;
use parry3d::shape::SharedShape;

use super::anchor::Anchor;
use crate::body::{Bodies, BodyId, BodyKind, HandId, MaterialId};
use crate::hand::NodeMap;
use crate::math::{Pose, Vec3, from_glam, to_glam};
use crate::mesh::SurfaceMesh;
use crate::tracking::Segment;

/// A surface of sampled points: the skin of a segment, the boundary of a soft body, or the samples of a rigid one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SurfaceKind {
    Skin(HandId, Segment),
    Soft(usize),
    Samples(usize),
}

/// A box along the axes of the world.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    pub low: Vec3,
    pub high: Vec3,
}

impl Bounds {
    pub fn of(points: &[Vec3]) -> Self {
        let mut bounds = Self { low: Vec3::repeat(f64::INFINITY), high: Vec3::repeat(f64::NEG_INFINITY) };
        for p in points {
            bounds.low = bounds.low.inf(p);
            bounds.high = bounds.high.sup(p);
        }
        bounds
    }

    pub fn meets(&self, other: &Bounds, margin: f64) -> bool {
        (0..3).all(|i| self.low[i] - margin <= other.high[i] && other.low[i] - margin <= self.high[i])
    }

    pub fn contains(&self, p: &Vec3, margin: f64) -> bool {
        (0..3).all(|i| self.low[i] - margin <= p[i] && p[i] <= self.high[i] + margin)
    }
}

impl From<Aabb> for Bounds {
    fn from(aabb: Aabb) -> Self {
        Self { low: from_glam(aabb.mins), high: from_glam(aabb.maxs) }
    }
}

/// A surface where it is at the start of the step.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    pub kind: SurfaceKind,
    pub positions: Vec<Vec3>,
    pub bounds: Bounds,
    /// Longest edge at rest, m.
    pub longest_edge: f64,
    /// The edges between vertices, and the area of the triangles at each, a third of it, at rest, m².
    pub edges: Vec<([u32; 2], f64)>,
    /// The edges of each triangle, from one corner to the next; whether they run the same way is in the order of their vertices.
    pub triangle_edges: Vec<[u32; 3]>,
    /// Area of each triangle at rest, m².
    pub triangle_areas: Vec<f64>,
}

impl Surface {
    pub fn new(bodies: &Bodies, kind: SurfaceKind) -> Self {
        let (triangles, _) = kind.topology(bodies);
        let mut surface = Self {
            kind,
            positions: Vec::new(),
            bounds: Bounds::of(&[]),
            longest_edge: 0.0,
            edges: Vec::new(),
            triangle_edges: Vec::new(),
            triangle_areas: Vec::new(),
        };
        surface.update(bodies);
        surface.list_edges(triangles, kind.triangle_areas(bodies));
        let p = &surface.positions;
        let edge = |a: u32, b: u32| (p[a as usize] - p[b as usize]).norm();
        let longest = triangles.iter().flat_map(|&[a, b, c]| [edge(a, b), edge(b, c), edge(c, a)]).fold(0.0, f64::max);
        surface.longest_edge = longest;
        surface
    }

    fn list_edges(&mut self, triangles: &[[u32; 3]], areas: Vec<f64>) {
        let mut known = std::collections::BTreeMap::new();
        for (corners, area) in triangles.iter().zip(&areas) {
            let of_triangle = [0, 1, 2].map(|i| {
                let (a, b) = (corners[i], corners[(i + 1) % 3]);
                let ends = [a.min(b), a.max(b)];
                let edge = *known.entry(ends).or_insert_with(|| {
                    self.edges.push((ends, 0.0));
                    self.edges.len() - 1
                });
                self.edges[edge].1 += area / 3.0;
                edge as u32
            });
            self.triangle_edges.push(of_triangle);
        }
        self.triangle_areas = areas;
    }

    /// Takes the positions over.
    pub fn update(&mut self, bodies: &Bodies) {
        self.positions.clear();
        match self.kind {
            SurfaceKind::Skin(hand, segment) => {
                self.positions.extend_from_slice(bodies.hands[hand.index()].skin.positions(segment));
            }
            SurfaceKind::Soft(body) => {
                let body = &bodies.soft[body];
                self.positions.extend(body.surface().1.iter().map(|&n| body.positions()[n as usize]));
            }
            SurfaceKind::Samples(body) => {
                let body = &bodies.rigid[body];
                let pose = body.pose();
                let place = |p: &Vec3| pose.translation.vector + pose.rotation * p;
                self.positions.extend(body.samples().iter().flat_map(|s| &s.mesh.vertices).map(place));
            }
        }
        self.bounds = Bounds::of(&self.positions);
    }

    /// A speed that no point of it exceeds, m/s.
    pub fn top_speed(&self, bodies: &Bodies) -> f64 {
        let fastest =
            |v: &[f64]| v.chunks_exact(3).map(|v| v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).fold(0.0, f64::max);
        match self.kind {
            SurfaceKind::Skin(hand, segment) => {
                let hand = &bodies.hands[hand.index()];
                // The bone is rigid: no point is faster than the fastest corner of a box around it.
                let corner = |i: usize| {
                    let pick = |c: usize| if i >> c & 1 == 0 { self.bounds.low[c] } else { self.bounds.high[c] };
                    let at = Vec3::new(pick(0), pick(1), pick(2));
                    hand.skeleton.kinematics().point_velocity(segment, &at, &hand.skeleton.state().velocity).norm()
                };
                let tissue =
                    if hand.soft { fastest(&hand.tissues[segment.index()].state().velocity).sqrt() } else { 0.0 };
                (0..8).map(corner).fold(0.0, f64::max) + tissue
            }
            SurfaceKind::Soft(body) => {
                bodies.soft[body].velocities().iter().map(Vec3::norm_squared).fold(0.0, f64::max).sqrt()
            }
            SurfaceKind::Samples(body) => ShapeKind::Rigid(body).top_speed(bodies),
        }
    }
}

impl SurfaceKind {
    /// Triangles and vertex areas.
    pub fn topology(self, bodies: &Bodies) -> (&[[u32; 3]], &[f64]) {
        match self {
            SurfaceKind::Skin(hand, segment) => {
                let mesh = &bodies.hands[hand.index()].model().meshes[segment.index()];
                (&mesh.skin.triangles, &mesh.skin_areas)
            }
            SurfaceKind::Soft(body) => {
                let body = &bodies.soft[body];
                (&body.surface().0.triangles, body.surface_areas())
            }
            SurfaceKind::Samples(body) => match bodies.rigid[body].samples() {
                Some(samples) => (&samples.mesh.triangles, &samples.areas),
                None => (&[], &[]),
            },
        }
    }

    /// Areas of the triangles at rest, m².
    fn triangle_areas(self, bodies: &Bodies) -> Vec<f64> {
        let areas = |mesh: &SurfaceMesh| (0..mesh.triangles.len()).map(|t| 0.5 * mesh.area_vector(t).norm()).collect();
        match self {
            SurfaceKind::Skin(hand, segment) => areas(&bodies.hands[hand.index()].model().meshes[segment.index()].skin),
            SurfaceKind::Soft(body) => areas(bodies.soft[body].surface().0),
            SurfaceKind::Samples(body) => bodies.rigid[body].samples().map_or(Vec::new(), |s| areas(&s.mesh)),
        }
    }

    /// A point of the surface as a sum of three vertices.
    pub fn anchor(self, bodies: &Bodies, vertices: [u32; 3], weights: [f64; 3]) -> Anchor {
        match self {
            SurfaceKind::Skin(hand, segment) => Anchor::Skin { hand, segment, vertices, weights },
            SurfaceKind::Soft(body) => {
                let nodes = vertices.map(|v| bodies.soft[body].surface().1[v as usize]);
                let nodes = NodeMap {
                    nodes: [nodes[0], nodes[1], nodes[2], nodes[2]],
                    weights: [weights[0], weights[1], weights[2], 0.0],
                };
                Anchor::Soft { body, nodes }
            }
            SurfaceKind::Samples(body) => {
                let sum =
                    |mesh: &SurfaceMesh| (0..3).map(|i| weights[i] * mesh.vertices[vertices[i] as usize]).sum::<Vec3>();
                let local = bodies.rigid[body].samples().map_or_else(Vec3::zeros, |s| sum(&s.mesh));
                Anchor::Rigid { body, local }
            }
        }
    }

    /// The body that stands for it in a pair; of a hand's segment its tissue.
    pub fn body(self, bodies: &Bodies) -> BodyId {
        bodies.id(match self {
            SurfaceKind::Skin(hand, segment) => BodyKind::Tissue(hand, segment),
            SurfaceKind::Soft(body) => BodyKind::Soft(body),
            SurfaceKind::Samples(body) => BodyKind::Rigid(body),
        })
    }

    pub fn material(self, bodies: &Bodies) -> MaterialId {
        match self {
            SurfaceKind::Skin(hand, _) => bodies.hands[hand.index()].material,
            SurfaceKind::Soft(body) => bodies.soft[body].material,
            SurfaceKind::Samples(body) => bodies.rigid[body].material,
        }
    }

    /// Whether its contacts with another body are aggregated, if contacts are.
    pub fn aggregates(self) -> bool {
        !matches!(self, SurfaceKind::Soft(_))
    }
}

/// A shape known by its distance: of a rigid body or of the static world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShapeKind {
    Rigid(usize),
    Fixed(usize),
}

impl ShapeKind {
    pub fn shape(self, bodies: &Bodies) -> &SharedShape {
        match self {
            ShapeKind::Rigid(body) => bodies.rigid[body].shape(),
            ShapeKind::Fixed(body) => bodies.fixed[body].shape(),
        }
    }

    pub fn pose(self, bodies: &Bodies) -> Pose {
        match self {
            ShapeKind::Rigid(body) => bodies.rigid[body].pose(),
            ShapeKind::Fixed(body) => *bodies.fixed[body].pose(),
        }
    }

    pub fn bounds(self, bodies: &Bodies) -> Bounds {
        self.shape(bodies).compute_aabb(&to_parry(&self.pose(bodies))).into()
    }

    /// A point of it, by its place in the frame of the shape and in the world.
    pub fn anchor(self, local: Vec3, place: Vec3) -> Anchor {
        match self {
            ShapeKind::Rigid(body) => Anchor::Rigid { body, local },
            ShapeKind::Fixed(_) => Anchor::World(place),
        }
    }

    pub fn body(self, bodies: &Bodies) -> BodyId {
        bodies.id(match self {
            ShapeKind::Rigid(body) => BodyKind::Rigid(body),
            ShapeKind::Fixed(body) => BodyKind::Fixed(body),
        })
    }

    pub fn material(self, bodies: &Bodies) -> MaterialId {
        match self {
            ShapeKind::Rigid(body) => bodies.rigid[body].material,
            ShapeKind::Fixed(body) => bodies.fixed[body].material,
        }
    }

    /// A speed that no point of it exceeds, m/s.
    pub fn top_speed(self, bodies: &Bodies) -> f64 {
        match self {
            ShapeKind::Rigid(body) => {
                let body = &bodies.rigid[body];
                body.linear_velocity().norm() + body.turning().norm() * body.reach()
            }
            ShapeKind::Fixed(_) => 0.0,
        }
    }
}

/// A placement as parry3d has it.
pub(super) fn to_parry(pose: &Pose) -> parry3d::math::Pose {
    let q = pose.rotation.coords;
    parry3d::math::Pose::from_parts(
        to_glam(&pose.translation.vector),
        parry3d::math::Rotation::from_xyzw(q.x, q.y, q.z, q.w),
    )
}
