use std::sync::Arc;

use parry3d::shape::SharedShape;

use super::anchor::Anchor;
use crate::body::{Bodies, Body, Bounds, Collider, ColliderId, MeshCollider, SurfaceLayer};
use crate::math::{Pose, Vec3, to_glam};

/// Cosine of the angle between the triangles at an edge below which the edge is sharp: a right angle is, a smooth surface of some hundred
/// triangles is not.
const SHARP: f64 = 0.6;

/// A mesh collider at the start of the step.
#[derive(Clone, Debug)]
pub(super) struct Surface {
    pub id: ColliderId,
    pub positions: Vec<Vec3>,
    pub bounds: Bounds,
    /// Upper bound of the speed of its points, m/s.
    pub top_speed: f64,
    /// Longest edge at rest, m.
    pub longest_edge: f64,
    /// Longest edge of each vertex at rest, m: no point of its triangles is farther from it.
    pub reach: Vec<f64>,
    /// The edges between vertices, and a third of the area of the triangles at each, at rest, m².
    pub edges: Vec<([u32; 2], f64)>,
    /// The edges of each triangle, from one corner to the next; the order of their vertices gives their direction.
    pub triangle_edges: Vec<[u32; 3]>,
    /// Area of each triangle at rest, m².
    pub triangle_areas: Vec<f64>,
    /// The sharp convex edges at rest, and the corners of their two triangles that are not on them.
    pub sharp_edges: Vec<(u32, [u32; 2])>,
    pub aggregates: bool,
    pub deformable: bool,
    pub layer: Option<SurfaceLayer>,
    /// Sum over the updates of how far its fastest vertex moved, m.
    pub travel: f64,
    before: Vec<Vec3>,
}

impl Surface {
    pub fn new(id: ColliderId, body: &dyn Body, mesh: &MeshCollider<'_>) -> Self {
        let triangles = &mesh.rest.triangles;
        let areas = (0..triangles.len()).map(|t| 0.5 * mesh.rest.area_vector(t).norm()).collect();
        let mut surface = Self {
            id,
            positions: Vec::new(),
            bounds: Bounds::of(&[]),
            top_speed: 0.0,
            longest_edge: 0.0,
            reach: Vec::new(),
            edges: Vec::new(),
            triangle_edges: Vec::new(),
            triangle_areas: Vec::new(),
            sharp_edges: Vec::new(),
            aggregates: mesh.aggregates,
            deformable: mesh.deformable,
            layer: mesh.layer,
            travel: 0.0,
            before: Vec::new(),
        };
        surface.update(body);
        surface.list_edges(triangles, areas);
        let p = &mesh.rest.vertices;
        surface.list_sharp_edges(triangles, p);
        surface.reach.resize(p.len(), 0.0);
        for &(ends, _) in &surface.edges {
            let [a, b] = ends.map(|v| v as usize);
            let length = (p[a] - p[b]).norm();
            surface.reach[a] = surface.reach[a].max(length);
            surface.reach[b] = surface.reach[b].max(length);
        }
        surface.longest_edge = surface.reach.iter().copied().fold(0.0, f64::max);
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

    fn list_sharp_edges(&mut self, triangles: &[[u32; 3]], vertices: &[Vec3]) {
        let mut beside = vec![Vec::new(); self.edges.len()];
        for (t, of_triangle) in self.triangle_edges.iter().enumerate() {
            of_triangle.iter().for_each(|&e| beside[e as usize].push(t));
        }
        for (e, beside) in beside.iter().enumerate() {
            let &[one, other] = beside.as_slice() else { continue };
            let ends = self.edges[e].0;
            let opposite = |t: usize| triangles[t].into_iter().find(|v| !ends.contains(v));
            let normal = |t: usize| {
                let [a, b, c] = triangles[t].map(|v| vertices[v as usize]);
                (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or_default()
            };
            let (Some(first), Some(second)) = (opposite(one), opposite(other)) else { continue };
            let convex = normal(one).dot(&(vertices[second as usize] - vertices[ends[0] as usize])) < 0.0;
            if convex && normal(one).dot(&normal(other)) < SHARP {
                self.sharp_edges.push((e as u32, [first, second]));
            }
        }
    }

    /// Updates positions and speed from the body.
    pub fn update(&mut self, body: &dyn Body) {
        std::mem::swap(&mut self.positions, &mut self.before);
        self.positions.clear();
        body.vertex_positions(self.id.index(), &mut self.positions);
        let moved = self.positions.iter().zip(&self.before).map(|(now, before)| (now - before).norm_squared());
        self.travel += rounded_up(moved.fold(0.0, f64::max).sqrt());
        self.bounds = Bounds::of(&self.positions);
        self.top_speed = body.top_speed(self.id.index(), &self.bounds);
        if let Collider::Mesh(mesh) = body.collider(self.id.index()) {
            self.layer = mesh.layer;
        }
    }

    /// The mesh in its body.
    pub fn mesh<'b>(&self, bodies: &'b Bodies) -> MeshCollider<'b> {
        match bodies.expect(self.id.body).collider(self.id.index()) {
            Collider::Mesh(mesh) => mesh,
            Collider::Shape(_) => unreachable!("surfaces are listed from mesh colliders"),
        }
    }

    /// Whether the samples of the other body meet this one too, where an elastic object is one of them. Each side then has
    /// half of the area: the force of an elastic surface is proportional to the area.
    pub fn meets_twice(&self, bodies: &Bodies, other: &Shape) -> bool {
        let is_elastic = |id: ColliderId| bodies.expect(id.body).elastic_surface().is_some();
        !self.deformable && other.sampled && (is_elastic(self.id) || is_elastic(other.id))
    }

    /// A point of it as a combination of three vertices.
    pub fn anchor(&self, bodies: &Bodies, vertices: [u32; 3], weights: [f64; 3]) -> Anchor {
        Anchor::new(self.id.body, bodies.expect(self.id.body).mesh_point(self.id.index(), vertices, weights))
    }
}

/// A shape collider at the start of the step.
#[derive(Clone, Debug)]
pub(super) struct Shape {
    pub id: ColliderId,
    pub shape: SharedShape,
    pub pose: Pose,
    pub bounds: Bounds,
    /// Upper bound of the speed of its points, m/s.
    pub top_speed: f64,
    pub moves: bool,
    pub sampled: bool,
    /// Sum over the updates of how far any of its points can have moved, m.
    pub travel: f64,
}

impl Shape {
    /// Takes place and speed from the body.
    fn update(&mut self, body: &dyn Body, pose: &Pose) {
        if *pose != self.pose {
            let local: Bounds = self.shape.compute_local_aabb().into();
            let radius = local.low.abs().sup(&local.high.abs()).norm();
            // A turn by `θ` moves a point by at most `2 r sin(θ/2)`, and the quaternions differ by `2 sin(θ/4)` or more.
            let turned = 2.0 * radius * (pose.rotation.coords - self.pose.rotation.coords).norm();
            self.travel += rounded_up((pose.translation.vector - self.pose.translation.vector).norm() + turned);
            self.pose = *pose;
        }
        self.bounds = self.shape.compute_aabb(&to_parry(pose)).into();
        self.top_speed = body.top_speed(self.id.index(), &self.bounds);
    }

    /// A point of it by its place in the frame of the shape.
    pub fn anchor(&self, bodies: &Bodies, local: Vec3) -> Anchor {
        Anchor::new(self.id.body, bodies.expect(self.id.body).shape_point(self.id.index(), local))
    }
}

/// A bound of a length, so that rounding cannot make it too small.
fn rounded_up(length: f64) -> f64 {
    length * (1.0 + 1e-9)
}

/// Lists the colliders of all bodies as surfaces and shapes. What does not change is kept while they stay the same; false if some are new.
pub(super) fn list_colliders(bodies: &Bodies, surfaces: &mut Vec<Surface>, shapes: &mut Vec<Shape>) -> bool {
    let (mut count, mut shape_count, mut all_known) = (0, 0, true);
    for (body_id, body) in bodies.iter() {
        for index in 0..body.collider_count() {
            let id = ColliderId::new(body_id, index);
            match body.collider(index) {
                Collider::Mesh(mesh) => {
                    let same = |s: &Surface| s.id == id && s.positions.len() == mesh.areas.len();
                    match surfaces.get_mut(count) {
                        Some(known) if same(known) => known.update(body),
                        _ => {
                            all_known = false;
                            surfaces.truncate(count);
                            surfaces.push(Surface::new(id, body, &mesh));
                        }
                    }
                    count += 1;
                }
                Collider::Shape(shape) => {
                    let same = |s: &Shape| s.id == id && Arc::ptr_eq(&s.shape.0, &shape.shape.0);
                    if !shapes.get(shape_count).is_some_and(same) {
                        all_known = false;
                        shapes.truncate(shape_count);
                        shapes.push(Shape {
                            id,
                            shape: shape.shape.clone(),
                            pose: shape.pose,
                            bounds: Bounds::of(&[]),
                            top_speed: 0.0,
                            moves: shape.moves,
                            sampled: shape.sampled,
                            travel: 0.0,
                        });
                    }
                    let known = &mut shapes[shape_count];
                    (known.moves, known.sampled) = (shape.moves, shape.sampled);
                    known.update(body, &shape.pose);
                    shape_count += 1;
                }
            }
        }
    }
    shapes.truncate(shape_count);
    surfaces.truncate(count);
    all_known
}

/// A pose as a parry3d type.
pub(super) fn to_parry(pose: &Pose) -> parry3d::math::Pose {
    let q = pose.rotation.coords;
    parry3d::math::Pose::from_parts(
        to_glam(&pose.translation.vector),
        parry3d::math::Rotation::from_xyzw(q.x, q.y, q.z, q.w),
    )
}
