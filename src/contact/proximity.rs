use std::collections::BTreeMap;
use std::ops::Range;

use parry3d::query::{ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d::shape::PolygonalFeature;

use super::anchor::{Anchor, Contact, Layer};
use super::distance::{GAIN, Signed, nearest_on_edge, nearest_on_triangle, signed_distance, sweep};
use super::far::{FarVertices, is_costly};
use super::material::{Friction, Materials};
use super::memory::Memory;
use super::parameters::ContactParameters;
use super::surface::{Bounds, ShapeKind, Surface, SurfaceKind, to_parry};
use super::system::Key;
use super::triangle::nearest_in_mesh;
use crate::body::{Bodies, BodyId, HandId};
use crate::math::{Pose, Vec3, from_glam, to_glam};
use crate::tracking::Segment;

/// The contacts between two bodies.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The one body; of a hand's segment its tissue.
    pub a: BodyId,
    /// The other.
    pub b: BodyId,
    /// Which contacts.
    pub contacts: Range<usize>,
    /// Whether they may be aggregated.
    pub aggregate: bool,
    /// Coefficients of friction.
    pub friction: Friction,
}

/// Finds what is close, and keeps its memory from step to step.
///
/// It looks at the start of the step, which is free of collisions, and fixes the directions there: near a sharp edge the nearest face of
/// a point that is deep inside flips (formulation §1). The free motion changes velocities only, so it may have been made before; from it
/// come the gaps at its end, and what it sweeps through when something moves farther than the alarm distance.
#[derive(Debug, Default)]
pub struct Proximity {
    /// The contacts, pair by pair.
    pub contacts: Vec<Contact>,
    /// The pairs.
    pub pairs: Vec<Pair>,
    surfaces: Vec<Surface>,
    shapes: Vec<(ShapeKind, Bounds)>,
    manifolds: BTreeMap<(usize, usize), Manifold>,
    /// Contact of each vertex of a surface with a shape, or `u32::MAX`.
    vertex_contacts: Vec<u32>,
    /// Distances of a surface's vertices from a shape; `None` where it is too far to matter.
    distances: Vec<Option<Signed>>,
    /// Where on each edge of a surface a shape is nearest, and how near, if it is nearer there than at both ends.
    edge_places: Vec<Option<(f64, Signed)>>,
    /// Places and areas of the contacts between vertices, in the last step and in this one.
    areas_before: Memory<([f64; 3], f64)>,
    areas_now: Memory<([f64; 3], f64)>,
    /// What was found of vertices far from meshes and hulls, by surface and shape.
    far: BTreeMap<(usize, usize), FarVertices>,
}

/// Contact of two shapes, with parry3d's working memory.
#[derive(Default)]
struct Manifold {
    parts: Vec<ContactManifold<(), ()>>,
    workspace: Option<ContactManifoldsWorkspace>,
}

impl std::fmt::Debug for Manifold {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Manifold({} parts)", self.parts.len())
    }
}

/// What a search needs to know.
struct Search<'a> {
    bodies: &'a Bodies,
    materials: &'a Materials,
    parameters: &'a ContactParameters,
    h: f64,
}

/// Points of two shapes nearer to each other than this are one, m.
const SAME_PLACE: f64 = 1e-4;

/// Two shapes may touch at this many points without any being taken out; those that are lie between others that look the same way, by the
/// cosine of the angle, and are no deeper than those, m.
const FEW: usize = 8;
const SAME_WAY: f64 = 0.9998;
const SAME_GAP: f64 = 1e-6;

/// Contacts that the free motion leaves farther apart than this many alarm distances are not kept.
const KEPT: f64 = 0.5;

impl Search<'_> {
    fn contact(&self, a: Anchor, b: Anchor, places: [Vec3; 2], normal: Vec3, area: f64, feature: u64) -> Contact {
        let gap = normal.dot(&(places[0] - places[1])) - self.parameters.offset;
        let free_velocity = a.velocity(self.bodies, &places[0]) - b.velocity(self.bodies, &places[1]);
        let free_gap = gap + self.h * normal.dot(&free_velocity);
        let [one, other] = [&a, &b].map(|anchor| self.layer_compliance(anchor, area));
        let soft = [one, other].iter().filter(|c| c[0] > 0.0).count();
        let damping = [&a, &b].map(|anchor| self.layer_damping(anchor)).into_iter().fold(0.0, f64::max);
        let thickness = self.parameters.layer * soft as f64;
        let layer = Layer { softness: one[0] + other[0], thickness, damping, pressed: 0.0 };
        let shear_compliance = one[1] + other[1];
        Contact { a, b, places, normal, gap, free_velocity, free_gap, area, layer, shear_compliance, feature }
    }

    /// The outermost layer of soft skin is finer than its mesh, and gives way at each point by itself: thickness over area and modulus,
    /// that of pressing without spreading sideways, and that of shear.
    fn layer_compliance(&self, anchor: &Anchor, area: f64) -> [f64; 2] {
        match anchor {
            Anchor::Skin { hand, .. } if self.bodies.hands[hand.index()].soft => {
                let tissue = &self.bodies.hands[hand.index()].model().description.tissue;
                [tissue.lambda() + 2.0 * tissue.mu(), tissue.mu()]
                    .map(|modulus| self.parameters.layer / (modulus * area))
            }
            _ => [0.0; 2],
        }
    }

    /// Time constant of the layer's viscous damping, s: the layer is part of the tissue.
    fn layer_damping(&self, anchor: &Anchor) -> f64 {
        match anchor {
            Anchor::Skin { hand, .. } => self.bodies.hands[hand.index()].model().description.tissue.damping_stiffness,
            _ => 0.0,
        }
    }

    /// Distance within which something of this speed may touch in the step.
    fn reach(&self, speed: f64) -> f64 {
        self.parameters.alarm + self.parameters.offset + self.h * speed
    }
}

impl Proximity {
    /// Finds all contacts for the bodies' places at the start of the step and their velocities after the free motion.
    pub fn find(&mut self, bodies: &Bodies, materials: &Materials, parameters: &ContactParameters, h: f64) {
        let search = Search { bodies, materials, parameters, h };
        self.contacts.clear();
        self.pairs.clear();
        self.take_over(bodies);
        self.areas_now.clear();
        self.surfaces_and_shapes(&search);
        self.areas_now.sort();
        std::mem::swap(&mut self.areas_now, &mut self.areas_before);
        self.surfaces_and_surfaces(&search);
        self.shapes_and_shapes(&search);
    }

    /// Lists surfaces and shapes anew if bodies came or went, and takes their places over.
    fn take_over(&mut self, bodies: &Bodies) {
        let kinds = || {
            let segments = |h: usize| Segment::all().map(move |s| SurfaceKind::Skin(HandId::at(h), s));
            let soft = (0..bodies.soft.len()).map(SurfaceKind::Soft);
            let sampled = (0..bodies.rigid.len()).filter(|&i| bodies.rigid[i].samples().is_some());
            (0..bodies.hands.len()).flat_map(segments).chain(soft).chain(sampled.map(SurfaceKind::Samples))
        };
        let sized = |kind: SurfaceKind| (kind, kind.topology(bodies).1.len());
        if !kinds().map(sized).eq(self.surfaces.iter().map(|s| (s.kind, s.positions.len()))) {
            self.surfaces = kinds().map(|kind| Surface::new(bodies, kind)).collect();
        }
        self.surfaces.iter_mut().for_each(|surface| surface.update(bodies));
        let rigid = (0..bodies.rigid.len()).map(ShapeKind::Rigid);
        self.shapes.clear();
        let all = rigid.chain((0..bodies.fixed.len()).map(ShapeKind::Fixed));
        self.shapes.extend(all.map(|kind| (kind, kind.bounds(bodies))));
    }

    fn close_pair(&mut self, search: &Search<'_>, ids: [BodyId; 2], first: usize, aggregate: bool, friction: Friction) {
        let alarm = search.parameters.alarm;
        let mut kept = first;
        for i in first..self.contacts.len() {
            if self.contacts[i].free_gap < KEPT * alarm {
                self.contacts.swap(kept, i);
                kept += 1;
            }
        }
        self.contacts.truncate(kept);
        if kept > first {
            self.pairs.push(Pair { a: ids[0], b: ids[1], contacts: first..kept, aggregate, friction });
        }
    }

    fn surfaces_and_shapes(&mut self, search: &Search<'_>) {
        let (surfaces, shapes) = (std::mem::take(&mut self.surfaces), std::mem::take(&mut self.shapes));
        for (s, surface) in surfaces.iter().enumerate() {
            let speed = surface.top_speed(search.bodies);
            for (i, (shape, bounds)) in shapes.iter().enumerate() {
                let speed = speed + shape.top_speed(search.bodies);
                let own = matches!((surface.kind, shape), (SurfaceKind::Samples(a), ShapeKind::Rigid(b)) if a == *b);
                if own || !surface.bounds.meets(bounds, search.reach(speed)) {
                    continue;
                }
                let first = self.contacts.len();
                self.surface_on_shape(search, surface, *shape, (s, i), speed);
                let ids = [surface.kind.body(search.bodies), shape.body(search.bodies)];
                let materials = [surface.kind.material(search.bodies), shape.material(search.bodies)];
                let friction = search.materials.pair(materials[0], materials[1]);
                self.close_pair(search, ids, first, surface.kind.aggregates(), friction);
            }
        }
        (self.surfaces, self.shapes) = (surfaces, shapes);
    }

    /// Vertices of a surface against a shape; and where an edge or corner of the shape reaches between them, the nearest point of the
    /// edges and triangles there. All of these move continuously with the shape: a vertex is fixed on the surface, an edge has one nearest
    /// point unless the distance is constant along it, and a contact between vertices counts by how much nearer it is than they are.
    fn surface_on_shape(
        &mut self,
        search: &Search<'_>,
        surface: &Surface,
        kind: ShapeKind,
        key: (usize, usize),
        speed: f64,
    ) {
        let (bodies, p) = (search.bodies, search.parameters);
        let (shape, pose) = (kind.shape(bodies), kind.pose(bodies));
        let areas = surface.kind.topology(bodies).1;
        let local_bounds: Bounds = shape.compute_local_aabb().into();
        let near = p.alarm + p.offset;
        let swept = search.h * speed > p.alarm;
        let to_local = |x: &Vec3| pose.rotation.inverse_transform_vector(&(x - pose.translation.vector));
        let margin = if swept { search.reach(speed) } else { near }.max(near + surface.longest_edge);
        let count = surface.positions.len();
        let mut far = is_costly(shape).then(|| {
            let far = self.far.entry(key).or_insert_with(|| FarVertices::new(shape, count));
            if !far.is_of(shape, count) {
                *far = FarVertices::new(shape, count);
            }
            far
        });
        self.distances.clear();
        self.vertex_contacts.clear();
        self.vertex_contacts.resize(count, u32::MAX);
        for (v, x) in surface.positions.iter().enumerate() {
            let x_local = to_local(x);
            let signed = match &mut far {
                _ if !local_bounds.contains(&x_local, margin) => None,
                Some(far) => far.distance(v, &x_local, margin),
                None => Some(signed_distance(shape, &x_local)),
            };
            self.distances.push(signed);
            let Some(signed) = signed else { continue };
            let anchor = surface.kind.anchor(bodies, [v as u32; 3], [1.0, 0.0, 0.0]);
            // Where on the shape, and which way out: the nearest place, or the one that the free motion runs into.
            let (on_shape, normal) = if signed.distance < near {
                (x_local - signed.distance * signed.normal, signed.normal)
            } else if swept && signed.distance < search.reach(speed) {
                let moved = search.h * (anchor.velocity(bodies, x) - kind.anchor(x_local, *x).velocity(bodies, x));
                let to = x_local + pose.rotation.inverse_transform_vector(&moved);
                let Some((part, normal)) = sweep(shape, &x_local, &to) else { continue };
                (x_local + part * (to - x_local), normal)
            } else {
                continue;
            };
            let places = [*x, pose.translation.vector + pose.rotation * on_shape];
            let other = kind.anchor(on_shape, places[1]);
            self.vertex_contacts[v] = self.contacts.len() as u32;
            self.contacts.push(search.contact(anchor, other, places, pose.rotation * normal, areas[v], v as u64));
        }
        self.edges_on_shape(search, surface, kind, near);
        self.triangles_on_shape(search, surface, kind, near);
        self.bone_on_shape(search, surface, kind, near);
    }

    /// The bone under soft skin against a shape that touches the skin, by the nodes of the tissue that the bone holds. Under a heavy load the
    /// tissue is pressed to nothing, and the bone carries the rest.
    fn bone_on_shape(&mut self, search: &Search<'_>, surface: &Surface, kind: ShapeKind, near: f64) {
        let SurfaceKind::Skin(id, segment) = surface.kind else { return };
        let hand = &search.bodies.hands[id.index()];
        let touched = self.distances.iter().flatten().any(|signed| signed.distance < search.parameters.layer);
        if !hand.soft || !touched {
            return;
        }
        let (shape, pose) = (kind.shape(search.bodies), kind.pose(search.bodies));
        let bone = &hand.skeleton.kinematics().poses[segment.index()];
        let to_shape = pose.inverse() * bone;
        let mesh = &hand.model().meshes[segment.index()];
        for (n, local) in mesh.tissue.nodes.iter().enumerate().filter(|(n, _)| mesh.held[*n]) {
            let signed = signed_distance(shape, &(to_shape * nalgebra::Point3::from(*local)).coords);
            if signed.distance >= near {
                continue;
            }
            let place = bone.translation.vector + bone.rotation * local;
            let normal = pose.rotation * signed.normal;
            let below = place - signed.distance * normal;
            let on_shape = pose.rotation.inverse_transform_vector(&(below - pose.translation.vector));
            let anchors = (Anchor::Bone { hand: id, segment, local: *local }, kind.anchor(on_shape, below));
            let feature = 1 << 35 | n as u64;
            self.contacts.push(search.contact(anchors.0, anchors.1, [place, below], normal, 0.0, feature));
        }
    }

    /// Edges of a surface against a shape, where an edge of the shape or something round reaches between two vertices.
    fn edges_on_shape(&mut self, search: &Search<'_>, surface: &Surface, kind: ShapeKind, near: f64) {
        self.edge_places.clear();
        self.edge_places.resize(surface.edges.len(), None);
        let (shape, pose) = (kind.shape(search.bodies), kind.pose(search.bodies));
        let ids = [surface.kind.body(search.bodies), kind.body(search.bodies)];
        let to_local = |v: u32| {
            let x = &surface.positions[v as usize];
            pose.rotation.inverse_transform_vector(&(x - pose.translation.vector))
        };
        for (e, &([a, b], area)) in surface.edges.iter().enumerate() {
            let [Some(at_a), Some(at_b)] = [a, b].map(|v| self.distances[v as usize]) else { continue };
            // Distance changes no faster than place.
            let ends = at_a.distance.min(at_b.distance);
            if 0.5 * (at_a.distance + at_b.distance - surface.longest_edge) > near {
                continue;
            }
            let [x, y] = [a, b].map(to_local);
            let found = nearest_on_edge(shape, &x, &y, [&at_a, &at_b]);
            self.edge_places[e] = found;
            let key = (ids[0], ids[1], 1 << 32 | e as u64);
            let full = EDGE_SHARE * area;
            let target = found.map(|(s, d)| ([1.0 - s, s, 0.0], full * gained(ends - d.distance)));
            let Some((weights, area)) = self.faded(key, target, full) else { continue };
            let at = weights[0] * x + weights[1] * y;
            let signed = found.map_or_else(|| signed_distance(shape, &at), |(_, signed)| signed);
            if signed.distance < near {
                let at = Between { vertices: [a, b, b], weights, at, signed };
                self.contact_between(search, surface, kind, &at, [a, b].into_iter(), area, key.2);
            }
        }
    }

    /// Triangles of a surface against a shape, where a corner of the shape reaches between the edges.
    fn triangles_on_shape(&mut self, search: &Search<'_>, surface: &Surface, kind: ShapeKind, near: f64) {
        let (shape, pose) = (kind.shape(search.bodies), kind.pose(search.bodies));
        let ids = [surface.kind.body(search.bodies), kind.body(search.bodies)];
        let triangles = surface.kind.topology(search.bodies).0;
        // No point of a triangle is farther from all corners than this.
        let farthest = surface.longest_edge / 3f64.sqrt();
        for (t, &corners) in triangles.iter().enumerate() {
            let [Some(a), Some(b), Some(c)] = corners.map(|v| self.distances[v as usize]) else { continue };
            let lowest = a.distance.min(b.distance).min(c.distance);
            if lowest > near + farthest {
                continue;
            }
            let x = corners.map(|v| {
                pose.rotation.inverse_transform_vector(&(surface.positions[v as usize] - pose.translation.vector))
            });
            let of_triangle = surface.triangle_edges[t];
            let on_edges = [0, 1, 2].map(|i| {
                let forward = corners[i] < corners[(i + 1) % 3];
                self.edge_places[of_triangle[i] as usize].map(|(s, d)| (if forward { s } else { 1.0 - s }, d))
            });
            let (weights, nearest) = nearest_on_triangle(shape, &x, &[a, b, c], &on_edges);
            let lowest = on_edges.iter().flatten().map(|(_, d)| d.distance).fold(lowest, f64::min);
            let key = (ids[0], ids[1], 1 << 34 | t as u64);
            let full = TRIANGLE_SHARE * surface.triangle_areas[t];
            let inside = nearest.distance < lowest - GAIN;
            let target = inside.then(|| (weights, full * gained(lowest - nearest.distance)));
            let Some((weights, area)) = self.faded(key, target, full) else { continue };
            let at = (0..3).map(|i| weights[i] * x[i]).sum::<Vec3>();
            let mut signed = if inside { nearest } else { signed_distance(shape, &at) };
            if signed.distance >= near {
                continue;
            }
            // Inside the triangle the distance has no slope: the normal is that of the triangle.
            let across = (x[1] - x[0]).cross(&(x[2] - x[0]));
            if let Some(normal) = across.try_normalize(0.0) {
                signed.normal = normal * normal.dot(&signed.normal).signum();
            }
            let at = Between { vertices: corners, weights, at, signed };
            self.contact_between(search, surface, kind, &at, corners.into_iter(), area, key.2);
        }
    }

    /// Place and area of a contact between vertices: half way from those of the last step to where and how large it should be. Where that is
    /// nothing, it stays in place and fades. The area is read off the start of the step, so following all the way could alternate between
    /// two states.
    fn faded(&mut self, key: Key, target: Option<([f64; 3], f64)>, full: f64) -> Option<([f64; 3], f64)> {
        let before = self.areas_before.find(key);
        let now = match (target, before) {
            (Some((weights, area)), _) => (weights, 0.5 * (area + before.map_or(0.0, |(_, area)| *area))),
            (None, Some((weights, area))) => (*weights, 0.5 * area),
            (None, None) => return None,
        };
        if target.is_none() && now.1 < 1e-2 * full {
            return None;
        }
        self.areas_now.keep(key, now);
        Some(now)
    }

    /// Adds a contact between vertices of a surface. Its area is taken from those vertices, so that the areas of all contacts add up to that
    /// of the surface.
    #[expect(clippy::too_many_arguments, reason = "what a contact is made of")]
    fn contact_between(
        &mut self,
        search: &Search<'_>,
        surface: &Surface,
        kind: ShapeKind,
        between: &Between,
        vertices: impl ExactSizeIterator<Item = u32>,
        area: f64,
        feature: u64,
    ) {
        if area <= 0.0 {
            return;
        }
        let taken = area / vertices.len() as f64;
        for v in vertices {
            if let Some(contact) = self.contacts.get_mut(self.vertex_contacts[v as usize] as usize) {
                contact.give_area(taken);
            }
        }
        let pose = kind.pose(search.bodies);
        let on_shape = between.at - between.signed.distance * between.signed.normal;
        let places = [between.at, on_shape].map(|q| pose.translation.vector + pose.rotation * q);
        let anchor = surface.kind.anchor(search.bodies, between.vertices, between.weights);
        let other = kind.anchor(on_shape, places[1]);
        let normal = pose.rotation * between.signed.normal;
        self.contacts.push(search.contact(anchor, other, places, normal, area, feature));
    }

    fn surfaces_and_surfaces(&mut self, search: &Search<'_>) {
        let surfaces = std::mem::take(&mut self.surfaces);
        for (i, a) in surfaces.iter().enumerate() {
            for b in &surfaces[i + 1..] {
                // Samples of a rigid body meet a soft one through the soft one's vertices and the rigid one's shape.
                let meet = match (a.kind, b.kind) {
                    (SurfaceKind::Skin(a, _), SurfaceKind::Skin(b, _)) => a != b,
                    (SurfaceKind::Skin(..) | SurfaceKind::Soft(_), SurfaceKind::Soft(_)) => true,
                    _ => false,
                };
                if !meet || !a.bounds.meets(&b.bounds, search.reach(0.0)) {
                    continue;
                }
                let first = self.contacts.len();
                self.vertices_on_mesh(search, a, b, false);
                self.vertices_on_mesh(search, b, a, true);
                let ids = [a, b].map(|s| s.kind.body(search.bodies));
                let [ma, mb] = [a, b].map(|s| s.kind.material(search.bodies));
                self.close_pair(search, ids, first, a.kind.aggregates(), search.materials.pair(ma, mb));
            }
        }
        self.surfaces = surfaces;
    }

    /// Vertices of one surface against the triangles of another. `turned`: the contact's one side is the mesh, not the vertex.
    fn vertices_on_mesh(&mut self, search: &Search<'_>, points: &Surface, mesh: &Surface, turned: bool) {
        let (bodies, near) = (search.bodies, search.parameters.alarm + search.parameters.offset);
        let areas = points.kind.topology(bodies).1;
        let triangles = mesh.kind.topology(bodies).0;
        for (v, x) in points.positions.iter().enumerate() {
            if !mesh.bounds.contains(x, near) {
                continue;
            }
            let Some(found) = nearest_in_mesh(&mesh.positions, triangles, x, near) else { continue };
            let vertex = points.kind.anchor(bodies, [v as u32; 3], [1.0, 0.0, 0.0]);
            let on_mesh = mesh.kind.anchor(bodies, triangles[found.triangle], found.weights);
            let feature = u64::from(turned) << 33 | v as u64;
            let contact = if turned {
                search.contact(on_mesh, vertex, [found.place, *x], -found.normal, areas[v], feature)
            } else {
                search.contact(vertex, on_mesh, [*x, found.place], found.normal, areas[v], feature)
            };
            self.contacts.push(contact);
        }
    }

    fn shapes_and_shapes(&mut self, search: &Search<'_>) {
        let shapes = std::mem::take(&mut self.shapes);
        let sampled =
            |kind: &ShapeKind| matches!(kind, ShapeKind::Rigid(i) if search.bodies.rigid[*i].samples().is_some());
        for (i, (a, a_bounds)) in shapes.iter().enumerate() {
            let ShapeKind::Rigid(_) = a else { break };
            for (j, (b, b_bounds)) in shapes.iter().enumerate().skip(i + 1) {
                let speed = a.top_speed(search.bodies) + b.top_speed(search.bodies);
                if sampled(a) || sampled(b) || !a_bounds.meets(b_bounds, search.reach(speed)) {
                    continue;
                }
                let first = self.contacts.len();
                self.shape_on_shape(search, [*a, *b], (i, j), speed);
                let ids = [a, b].map(|s| s.body(search.bodies));
                let [ma, mb] = [a, b].map(|s| s.material(search.bodies));
                self.close_pair(search, ids, first, false, search.materials.pair(ma, mb));
            }
        }
        self.shapes = shapes;
    }

    /// The lowest feature of a shape against a plane; false if the shape has no such feature. (parry3d's own way allocates.)
    fn shape_on_ground(&mut self, search: &Search<'_>, kinds: [ShapeKind; 2], up: &Vec3) -> bool {
        let bodies = search.bodies;
        let (shape, pose, plane) = (kinds[0].shape(bodies), kinds[0].pose(bodies), kinds[1].pose(bodies));
        let normal = plane.rotation * up;
        let down = to_glam(&-(pose.rotation.inverse() * normal));
        let mut feature = PolygonalFeature::default();
        let radius = if let Some(ball) = shape.as_ball() {
            feature.num_vertices = 1;
            ball.radius
        } else if let Some((features, radius)) = shape.as_polygonal_feature_map() {
            features.local_support_feature(down, &mut feature);
            radius
        } else {
            return false;
        };
        for i in 0..feature.num_vertices {
            let local = from_glam(feature.vertices[i] + down * radius);
            let place = pose.translation.vector + pose.rotation * local;
            let height = normal.dot(&(place - plane.translation.vector));
            let below = place - height * normal;
            let anchors = [kinds[0].anchor(local, place), kinds[1].anchor(Vec3::zeros(), below)];
            let feature = u64::from(feature.vids[i].0);
            let contact = search.contact(anchors[0], anchors[1], [place, below], normal, 0.0, feature);
            if contact.gap <= search.parameters.alarm || contact.free_gap < 0.0 {
                self.contacts.push(contact);
            }
        }
        true
    }

    fn shape_on_shape(&mut self, search: &Search<'_>, kinds: [ShapeKind; 2], key: (usize, usize), speed: f64) {
        let bodies = search.bodies;
        if let Some(ground) = kinds[1].shape(bodies).as_halfspace()
            && self.shape_on_ground(search, kinds, &from_glam(ground.normal))
        {
            return;
        }
        let [x1, x2]: [Pose; 2] = kinds.map(|k| k.pose(bodies));
        let pos12 = to_parry(&(x1.inverse() * x2));
        let manifold = self.manifolds.entry(key).or_default();
        // Points of the last step would be moved along instead of found again, which is less exact.
        manifold.parts.iter_mut().for_each(|part| part.points.clear());
        let [s1, s2] = kinds.map(|k| k.shape(bodies));
        let (parts, workspace) = (&mut manifold.parts, &mut manifold.workspace);
        let dispatcher = DefaultQueryDispatcher;
        if dispatcher
            .contact_manifolds(&pos12, s1.as_ref(), s2.as_ref(), search.reach(speed), parts, workspace)
            .is_err()
        {
            return;
        }
        let first = self.contacts.len();
        for part in &manifold.parts {
            // From the second body to the first.
            let normal = -(x1.rotation * from_glam(part.local_n1));
            for point in &part.points {
                let [p1, p2] = [from_glam(point.local_p1), from_glam(point.local_p2)];
                let places = [x1 * nalgebra::Point3::from(p1), x2 * nalgebra::Point3::from(p2)].map(|p| p.coords);
                let feature = u64::from(point.fid1.0) << 32
                    ^ u64::from(point.fid2.0)
                    ^ u64::from(part.subshape1) << 16
                    ^ u64::from(part.subshape2) << 48;
                let [a, b] = [kinds[0].anchor(p1, places[0]), kinds[1].anchor(p2, places[1])];
                let contact = search.contact(a, b, places, normal, 0.0, feature);
                let far = contact.gap > search.parameters.alarm;
                // Points of neighbouring features may fall together; one of them says it all.
                let known = self.contacts[first..].iter().any(|c| (c.places[0] - places[0]).norm() < SAME_PLACE);
                if !known && (!far || contact.free_gap < 0.0) {
                    self.contacts.push(contact);
                }
            }
        }
        thin_out(&mut self.contacts, first);
    }
}

/// Takes contacts of two shapes out that lie between two others which look the same way: of rigid bodies those say it all. A mesh on a
/// plane has dozens.
fn thin_out(contacts: &mut Vec<Contact>, first: usize) {
    let mut i = first;
    while contacts.len() - first > FEW && i < contacts.len() {
        let between = |one: &Contact, other: &Contact| {
            let (c, along) = (&contacts[i], other.places[0] - one.places[0]);
            let part = (c.places[0] - one.places[0]).dot(&along) / along.norm_squared();
            let off = (c.places[0] - one.places[0] - part * along).norm();
            let gap = one.gap + part * (other.gap - one.gap);
            let alike = [one, other].iter().all(|o| o.normal.dot(&c.normal) > SAME_WAY);
            alike && part > 0.0 && part < 1.0 && off < 2.0 * SAME_PLACE && c.gap > gap - SAME_GAP
        };
        let others = (first..contacts.len()).filter(|&j| j != i);
        let implied = others.clone().any(|j| others.clone().any(|k| j < k && between(&contacts[j], &contacts[k])));
        if implied {
            contacts.remove(i);
        } else {
            i += 1;
        }
    }
}

/// A point between vertices of a surface, in the frame of a shape, and its distance from the shape.
struct Between {
    vertices: [u32; 3],
    weights: [f64; 3],
    at: Vec3,
    signed: Signed,
}

/// Greatest parts of a surface's area that contacts on its edges and on its triangles stand for. On something round they carry nearly all of the
/// load; the vertices keep the rest.
const EDGE_SHARE: f64 = 0.6;
const TRIANGLE_SHARE: f64 = 0.35;

/// Weight of a contact that is nearer than its surroundings by some distance: it appears gradually.
fn gained(distance: f64) -> f64 {
    const HALF: f64 = 2e-5;
    let more = (distance - GAIN).max(0.0);
    more / (more + HALF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_on_a_line_are_said_by_its_ends() {
        let at = |x: f64, z: f64| {
            let (a, b) = (Vec3::new(x, 0.0, z), Vec3::new(x, -1e-4, z));
            Contact {
                a: Anchor::World(a),
                b: Anchor::World(b),
                places: [a, b],
                normal: Vec3::y(),
                gap: 1e-4,
                free_velocity: Vec3::zeros(),
                free_gap: 1e-4,
                area: 0.0,
                layer: Layer::default(),
                shear_compliance: 0.0,
                feature: 0,
            }
        };
        let mut contacts: Vec<Contact> =
            (0..20).map(|i| at(0.001 * f64::from(i % 10), 0.01 * f64::from(i / 10))).collect();
        contacts[4].gap = 0.5e-4;
        thin_out(&mut contacts, 0);
        assert!(contacts.len() <= FEW);
        let has = |x: f64, z: f64| contacts.iter().any(|c| (c.places[0] - Vec3::new(x, 0.0, z)).norm() < 1e-9);
        assert!(has(0.0, 0.0) && has(0.009, 0.0) && has(0.0, 0.01) && has(0.009, 0.01), "ends stay");
        assert!(has(0.004, 0.0), "and what is deeper");
    }
}
