use std::collections::BTreeMap;
use std::ops::Range;

use parry3d::query::{ContactManifold, ContactManifoldsWorkspace, DefaultQueryDispatcher, PersistentQueryDispatcher};
use parry3d::shape::{PolygonalFeature, SharedShape};

use super::anchor::{Anchor, Contact, Layer};
use super::attachment::Attachment;
use super::broad_phase::BroadPhase;
use super::distance::{GAIN, Signed, nearest_on_edge, nearest_on_triangle, signed_distance, sweep};
use super::far::FarVertices;
use super::material::{Friction, Materials};
use super::memory::ContactKey;
use super::memory::Memory;
use super::parameters::ContactParameters;
use super::second_search::EndShape;
use super::surface::{Shape, Surface, list_colliders, to_parry};
use super::triangle::TriangleTree;
use crate::body::{Bodies, BodyId, ColliderId, SurfaceLayer};
use crate::math::{Vec3, from_glam, to_glam};

/// The contacts between two colliders.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// The first collider; a mesh, if there is one.
    pub a: ColliderId,
    /// The second.
    pub b: ColliderId,
    /// Range of contacts.
    pub contacts: Range<usize>,
    /// Whether they may be aggregated.
    pub aggregate: bool,
    /// Friction coefficients.
    pub friction: Friction,
}

/// Detects close points, with memory from step to step.
///
/// Detection uses the collision-free positions at the start of the step and fixes the normals there: near a sharp edge
/// the closest face of a deep point flips (formulation §1). The free motion changes only velocities, so it may be
/// computed before; it gives the gaps at its end, and the swept path of anything that moves farther than the alarm
/// distance.
#[derive(Clone, Debug, Default)]
pub struct Proximity {
    /// The contacts, pair by pair.
    pub contacts: Vec<Contact>,
    /// The pairs.
    pub pairs: Vec<Pair>,
    broad: BroadPhase,
    pub(super) surfaces: Vec<Surface>,
    pub(super) shapes: Vec<Shape>,
    /// Contacts that the last second search added or replaced, and their gaps at the end of the step, m.
    pub(super) found: Vec<(u32, f64)>,
    // Working memory of the second search.
    pub(super) end_shapes: Vec<EndShape>,
    pub(super) end_positions: Vec<Vec3>,
    pub(super) spare: Vec<Contact>,
    manifolds: BTreeMap<(ColliderId, ColliderId), Manifold>,
    /// Epoch of the bodies that the colliders were listed for.
    epoch: u64,
    /// Contact of each vertex of a surface with a shape, or `u32::MAX`.
    vertex_contacts: Vec<u32>,
    /// Distances of a surface's vertices from a shape; `None` if far away.
    pub(super) distances: Vec<Option<Signed>>,
    /// Closest point on each edge of a surface and its distance, if it is closer than both ends.
    edge_places: Vec<Option<(f64, Signed)>>,
    /// The contacts between vertices, in the last step and in this one.
    pub(super) between_before: Memory<Placed>,
    between_now: Memory<Placed>,
    /// Places of a surface's vertices in the frame of a shape.
    pub(super) locals: Vec<Vec3>,
    /// How far surfaces and their vertices were from shapes when that was last looked up, by surface and shape.
    far: BTreeMap<(ColliderId, ColliderId), FarVertices>,
    /// Colliders next to an attachment, and the body at its other end: they do not touch each other.
    joined: Vec<(ColliderId, BodyId)>,
    /// Trees over the triangles of surfaces that meet other surfaces.
    pub(super) trees: BTreeMap<ColliderId, TriangleTree>,
}

/// Contact of two shapes, with parry3d's working memory.
#[derive(Clone, Default)]
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
pub(super) struct Search<'a> {
    pub bodies: &'a Bodies,
    pub materials: &'a Materials,
    pub parameters: &'a ContactParameters,
    pub h: f64,
}

/// Points of two shapes closer than this are merged, m.
const SAME_PLACE: f64 = 1e-4;

/// Number of contacts of two shapes above which redundant ones are removed: those between others with similar normals,
/// by the cosine of the angle, and not deeper, m.
const FEW: usize = 8;
const SAME_WAY: f64 = 0.9998;
const SAME_GAP: f64 = 1e-6;

/// Contacts that are farther apart than this many alarm distances at the start of the step and after the free motion are not kept.
pub(super) const KEPT: f64 = 0.5;

/// Area of a contact between points without an area on an elastic object, such as that of a bone, m².
const POINT_AREA: f64 = 1e-5;

impl Search<'_> {
    pub fn contact(
        &self,
        [a, b]: [Anchor; 2],
        places: [Vec3; 2],
        normal: Vec3,
        area: f64,
        feature: u64,
        layers: [Option<SurfaceLayer>; 2],
    ) -> Contact {
        let gap = normal.dot(&(places[0] - places[1])) - self.parameters.offset;
        let free_velocity = a.velocity(self.bodies, &places[0]) - b.velocity(self.bodies, &places[1]);
        let free_gap = gap + self.h * normal.dot(&free_velocity);
        let mut layer = Layer::default();
        let mut shear_compliance = 0.0;
        for own in layers.iter().flatten() {
            layer.softness += self.parameters.layer / (own.modulus * area);
            shear_compliance += self.parameters.layer / (own.shear_modulus * area);
            layer.thickness += self.parameters.layer;
            layer.damping = layer.damping.max(own.damping);
        }
        for own in [&a, &b].into_iter().filter_map(|anchor| anchor.elastic_surface(self.bodies)) {
            let spring = own.spring.scaled(if area > 0.0 { area } else { POINT_AREA });
            layer.backing = Some(layer.backing.map_or(spring, |other| other.in_series(&spring)));
            layer.damping = layer.damping.max(own.damping);
        }
        Contact { a, b, places, normal, gap, free_velocity, free_gap, area, layer, shear_compliance, feature }
    }

    /// Coefficients of friction between two colliders.
    pub fn friction(&self, ids: [ColliderId; 2]) -> Friction {
        let [a, b] = ids.map(|id| self.bodies.expect(id.body).material());
        self.materials.pair(a, b)
    }

    /// Whether two surfaces may meet: those of different bodies, and some of one.
    pub fn may_meet(&self, a: &Surface, b: &Surface, margin: f64) -> bool {
        let colliders = [a.id.index(), b.id.index()];
        a.id.body != b.id.body || self.bodies.expect(a.id.body).may_meet_itself(colliders, margin)
    }

    /// Distance within which a body with this speed may make contact in the step.
    pub fn reach(&self, speed: f64) -> f64 {
        self.parameters.alarm + self.parameters.offset + self.h * speed
    }
}

impl Proximity {
    /// Leaves out contact between what is attached.
    pub fn join(&mut self, bodies: &Bodies, attachments: &[Attachment]) {
        self.joined.clear();
        self.joined.extend(attachments.iter().flat_map(|attachment| attachment.joined(bodies)));
    }

    /// Whether contact between two colliders is detected: those of two bodies that are not attached there and of which one can move, and some of
    /// one body.
    pub(super) fn may_touch(&self, bodies: &Bodies, a: ColliderId, b: ColliderId) -> bool {
        if [a.body, b.body].iter().all(|&id| bodies.expect(id).part_count() == 0) {
            return false;
        }
        let own = a.body == b.body && !bodies.expect(a.body).touches_itself([a.index(), b.index()]);
        !own && !self.joined.iter().any(|&(end, other)| (end, other) == (a, b.body) || (end, other) == (b, a.body))
    }

    /// Finds all contacts for the positions at the start of the step and the velocities after the free motion.
    pub fn find(&mut self, bodies: &Bodies, materials: &Materials, parameters: &ContactParameters, h: f64) {
        let search = Search { bodies, materials, parameters, h };
        self.contacts.clear();
        self.pairs.clear();
        self.list_colliders(bodies);
        self.between_now.clear();
        self.surfaces_and_shapes(&search);
        self.between_now.sort();
        std::mem::swap(&mut self.between_now, &mut self.between_before);
        self.surfaces_and_surfaces(&search);
        self.shapes_and_shapes(&search);
    }

    /// Forgets the distances that are kept from step to step. What is found does not depend on them, only how fast.
    pub fn forget_distances(&mut self) {
        self.far.clear();
        self.trees.clear();
    }

    /// Lists surfaces and shapes, and drops what was kept of colliders that are gone.
    fn list_colliders(&mut self, bodies: &Bodies) {
        if !list_colliders(bodies, &mut self.surfaces, &mut self.shapes) {
            self.forget_distances();
        }
        if self.epoch != bodies.epoch() {
            self.epoch = bodies.epoch();
            let exist =
                |(a, b): &(ColliderId, ColliderId)| bodies.get(a.body).is_some() && bodies.get(b.body).is_some();
            self.manifolds.retain(|ids, _| exist(ids));
            self.far.retain(|ids, _| exist(ids));
        }
    }

    pub(super) fn close_pair(
        &mut self,
        search: &Search<'_>,
        ids: [ColliderId; 2],
        first: usize,
        aggregate: bool,
        friction: Friction,
    ) {
        let alarm = search.parameters.alarm;
        let mut kept = first;
        for i in first..self.contacts.len() {
            if self.contacts[i].free_gap.min(self.contacts[i].gap) < KEPT * alarm {
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
        for surface in &surfaces {
            for shape in shapes.iter().filter(|shape| shape.id.body != surface.id.body) {
                let speed = surface.top_speed + shape.top_speed;
                let apart = !surface.bounds.meets(&shape.bounds, search.reach(speed));
                if apart || !self.may_touch(search.bodies, surface.id, shape.id) {
                    continue;
                }
                let first = self.contacts.len();
                self.surface_on_shape(search, surface, shape, speed);
                if self.contacts.len() == first {
                    continue;
                }
                if surface.meets_twice(search.bodies, shape) {
                    self.contacts[first..].iter_mut().for_each(|contact| contact.give_area(0.5 * contact.area));
                }
                let ids = [surface.id, shape.id];
                self.close_pair(search, ids, first, surface.aggregates, search.friction(ids));
            }
        }
        (self.surfaces, self.shapes) = (surfaces, shapes);
    }

    /// Vertices of a surface against a shape; and where an edge or corner of the shape lies between them, the closest
    /// point of the edges and triangles there. All of these move continuously with the shape: a vertex is fixed on the
    /// surface, an edge has one closest point unless the distance is constant along it, and a contact between vertices
    /// is weighted by how much closer it is.
    fn surface_on_shape(&mut self, search: &Search<'_>, surface: &Surface, on: &Shape, speed: f64) {
        let (bodies, p) = (search.bodies, search.parameters);
        let (shape, pose) = (&on.shape, on.pose);
        // Contacts that are farther now and cannot come closer in this step would not be kept.
        let threshold = p.alarm.min(KEPT * p.alarm + search.h * speed) + p.offset;
        let swept = search.h * speed > p.alarm;
        let least = if swept { search.reach(speed) } else { threshold };
        let margin = |v: usize| least.max(threshold + surface.reach[v]);
        let count = surface.positions.len();
        let travel = [surface.travel, on.travel];
        let far = self.far.entry((surface.id, on.id)).or_insert_with(|| FarVertices::new(shape, count));
        if !far.is_of(shape, count) {
            *far = FarVertices::new(shape, count);
        }
        if far.is_apart(travel, least.max(threshold + surface.longest_edge)) {
            return;
        }
        let areas = surface.mesh(bodies).areas;
        far.begin(travel);
        self.distances.clear();
        self.locals.clear();
        self.vertex_contacts.clear();
        self.vertex_contacts.resize(count, u32::MAX);
        for (v, x) in surface.positions.iter().enumerate() {
            let x_local = pose.rotation.inverse_transform_vector(&(x - pose.translation.vector));
            self.locals.push(x_local);
            let signed = far.distance(v, &x_local, margin(v));
            self.distances.push(signed);
            let Some(signed) = signed else { continue };
            let anchor = surface.anchor(bodies, [v as u32; 3], [1.0, 0.0, 0.0]);
            // Position on the shape and normal: the closest point, or the one that the free motion hits.
            let (on_shape, normal) = if signed.distance < threshold {
                (x_local - signed.distance * signed.normal, signed.normal)
            } else if swept && signed.distance < search.reach(speed) {
                let moved = search.h * (anchor.velocity(bodies, x) - on.anchor(bodies, x_local).velocity(bodies, x));
                let to = x_local + pose.rotation.inverse_transform_vector(&moved);
                let Some((part, normal)) = sweep(shape, &x_local, &to) else { continue };
                (x_local + part * (to - x_local), normal)
            } else {
                continue;
            };
            let places = [*x, pose.translation.vector + pose.rotation * on_shape];
            let anchors = [anchor, on.anchor(bodies, on_shape)];
            self.vertex_contacts[v] = self.contacts.len() as u32;
            let layers = [surface.layer, None];
            self.contacts.push(search.contact(anchors, places, pose.rotation * normal, areas[v], v as u64, layers));
        }
        self.edges_on_shape(search, surface, on, threshold);
        self.triangles_on_shape(search, surface, on, threshold);
        if swept {
            self.swept_triangles_on_shape(search, surface, on, threshold, speed);
        }
        self.core_on_shape(search, surface, on, speed);
    }

    /// The rigid core under a soft surface against a shape that touches the surface: bones under skin. Under a heavy load the tissue is
    /// compressed to nothing, and the bone carries the rest. Points that a body of this speed may reach within the step are listed.
    fn core_on_shape(&mut self, search: &Search<'_>, surface: &Surface, on: &Shape, speed: f64) {
        let threshold = search.reach(speed);
        let touching = search.parameters.layer + search.h * speed;
        if !self.distances.iter().flatten().any(|signed| signed.distance < touching) {
            return;
        }
        let pose = &on.pose;
        let (contacts, far) = (&mut self.contacts, self.far.get_mut(&(surface.id, on.id)));
        let Some(far) = far else { return };
        search.bodies.expect(surface.id.body).core_points(surface.id.index(), &mut |number, point, place| {
            let local = pose.rotation.inverse_transform_vector(&(place - pose.translation.vector));
            let known = far.core_distance(number as usize, &local, threshold);
            let Some(signed) = known.filter(|signed| signed.distance < threshold) else { return };
            let on_shape = local - signed.distance * signed.normal;
            let below = pose.translation.vector + pose.rotation * on_shape;
            let anchors = [Anchor::new(surface.id.body, point), on.anchor(search.bodies, on_shape)];
            let feature = 1 << 35 | u64::from(number);
            let normal = pose.rotation * signed.normal;
            contacts.push(search.contact(anchors, [place, below], normal, 0.0, feature, [None; 2]));
        });
    }

    /// Edges of a surface against a shape, where an edge of the shape or a round part lies between two vertices.
    fn edges_on_shape(&mut self, search: &Search<'_>, surface: &Surface, on: &Shape, threshold: f64) {
        self.edge_places.clear();
        self.edge_places.resize(surface.edges.len(), None);
        let (shape, ids) = (&on.shape, [surface.id, on.id]);
        for (e, &([a, b], area)) in surface.edges.iter().enumerate() {
            let [Some(at_a), Some(at_b)] = [a, b].map(|v| self.distances[v as usize]) else { continue };
            let ends = at_a.distance.min(at_b.distance);
            if 0.5 * (at_a.distance + at_b.distance - surface.longest_edge) > threshold {
                continue;
            }
            // Distance changes no faster than place: no point of the edge is nearer than this.
            let [x, y] = [a, b].map(|v| self.locals[v as usize]);
            if 0.5 * (at_a.distance + at_b.distance - (y - x).norm()) > threshold {
                continue;
            }
            let nearest = nearest_on_edge(shape, &x, &y, [&at_a, &at_b]);
            self.edge_places[e] = nearest;
            let key = (ids[0], ids[1], 1 << 32 | e as u64);
            let full = EDGE_SHARE * area;
            let offset = search.parameters.offset;
            let found = nearest.map(|(s, d)| {
                let pressed = EdgePressure::new([&at_a, &at_b], s, &d, offset);
                pressed.map_or((s, d), |pressed| pressed.centre(shape, &x, &y, &d))
            });
            let target = nearest.zip(found).map(|((_, d), (s, Signed { normal, .. }))| Placed {
                weights: [1.0 - s, s, 0.0],
                normal,
                area: full * gained(ends - d.distance),
            });
            let Some(Placed { weights, normal, area }) = self.faded(key, target, full) else { continue };
            let at = weights[0] * x + weights[1] * y;
            let signed = nearest.map_or_else(|| signed_distance(shape, &at), |(_, d)| Signed { normal, ..d });
            if signed.distance < threshold {
                let at = Between { vertices: [a, b, b], weights, at, signed };
                self.contact_between(search, surface, on, &at, [a, b].into_iter(), area, key.2);
            }
        }
    }

    /// Triangles of a surface against a shape, where a corner of the shape reaches between the edges.
    fn triangles_on_shape(&mut self, search: &Search<'_>, surface: &Surface, on: &Shape, threshold: f64) {
        let (shape, ids) = (&on.shape, [surface.id, on.id]);
        let triangles = &surface.mesh(search.bodies).rest.triangles;
        // Maximum distance of a point of a triangle from the closest corner.
        let farthest = surface.longest_edge / 3f64.sqrt();
        for (t, &corners) in triangles.iter().enumerate() {
            let [Some(a), Some(b), Some(c)] = corners.map(|v| self.distances[v as usize]) else { continue };
            let lowest = a.distance.min(b.distance).min(c.distance);
            // No point of a triangle is farther from a corner than the longest edge there. Vertices beyond the margin, whose distance may
            // not be known, are left out by the same rule.
            let beyond = |(v, d): (u32, Signed)| d.distance > threshold + surface.reach[v as usize];
            if lowest > threshold + farthest || corners.into_iter().zip([a, b, c]).any(beyond) {
                continue;
            }
            let x = corners.map(|v| self.locals[v as usize]);
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
            let target = inside.then(|| Placed {
                weights,
                normal: nearest.normal,
                area: full * gained(lowest - nearest.distance),
            });
            let Some(Placed { weights, area, .. }) = self.faded(key, target, full) else { continue };
            let at = (0..3).map(|i| weights[i] * x[i]).sum::<Vec3>();
            let mut signed = if inside { nearest } else { signed_distance(shape, &at) };
            if signed.distance >= threshold {
                continue;
            }
            // Inside the triangle the gradient of the distance along it is zero: the normal is that of the triangle.
            let across = (x[1] - x[0]).cross(&(x[2] - x[0]));
            if let Some(normal) = across.try_normalize(0.0) {
                signed.normal = normal * normal.dot(&signed.normal).signum();
            }
            let at = Between { vertices: corners, weights, at, signed };
            self.contact_between(search, surface, on, &at, corners.into_iter(), area, key.2);
        }
    }

    /// A contact between vertices: half way from that of the last step to the current one. Without a current one it stays in place and
    /// fades. Place, normal and area depend on the start of the step only, so a full update could alternate between two
    /// states.
    fn faded(&mut self, key: ContactKey, target: Option<Placed>, full: f64) -> Option<Placed> {
        let before = self.between_before.find(key).copied();
        let now = match (target, before) {
            (Some(target), Some(before)) => Placed { area: 0.5 * (before.area + target.area), ..target },
            (Some(target), None) => Placed { area: 0.5 * target.area, ..target },
            (None, Some(before)) => Placed { area: 0.5 * before.area, ..before },
            (None, None) => return None,
        };
        if target.is_none() && now.area < 1e-2 * full {
            return None;
        }
        self.between_now.keep(key, now);
        Some(now)
    }

    /// Adds a contact between vertices of a surface. Its area is taken from those vertices, so that the areas of all
    /// contacts sum to that of the surface.
    #[expect(clippy::too_many_arguments, reason = "what a contact is made of")]
    fn contact_between(
        &mut self,
        search: &Search<'_>,
        surface: &Surface,
        on: &Shape,
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
        let pose = &on.pose;
        let on_shape = between.at - between.signed.distance * between.signed.normal;
        let places = [between.at, on_shape].map(|q| pose.translation.vector + pose.rotation * q);
        let anchor = surface.anchor(search.bodies, between.vertices, between.weights);
        let anchors = [anchor, on.anchor(search.bodies, on_shape)];
        let normal = pose.rotation * between.signed.normal;
        self.contacts.push(search.contact(anchors, places, normal, area, feature, [surface.layer, None]));
    }

    fn shapes_and_shapes(&mut self, search: &Search<'_>) {
        let (shapes, mut broad) = (std::mem::take(&mut self.shapes), std::mem::take(&mut self.broad));
        broad.update(&shapes, search.reach(0.0), search.h);
        for &[i, j] in broad.pairs() {
            let [one, other] = [&shapes[i as usize], &shapes[j as usize]];
            // What moves comes first.
            let (a, b) = if one.moves { (one, other) } else { (other, one) };
            let speed = a.top_speed + b.top_speed;
            let apart = !a.bounds.meets(&b.bounds, search.reach(speed));
            if a.sampled || b.sampled || !a.moves || apart || !self.may_touch(search.bodies, a.id, b.id) {
                continue;
            }
            let first = self.contacts.len();
            self.shape_on_shape(search, [a, b], speed);
            let ids = [a.id, b.id];
            self.close_pair(search, ids, first, false, search.friction(ids));
        }
        (self.shapes, self.broad) = (shapes, broad);
    }

    /// The lowest feature of a shape against a plane; false if the shape has no such feature. (parry3d allocates here.)
    fn shape_on_ground(&mut self, search: &Search<'_>, [on, ground]: [&Shape; 2], up: &Vec3) -> bool {
        let bodies = search.bodies;
        let (shape, pose, plane) = (&on.shape, &on.pose, &ground.pose);
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
            let on_plane = plane.inverse_transform_point(&below.into()).coords;
            let anchors = [on.anchor(bodies, local), ground.anchor(bodies, on_plane)];
            let feature = u64::from(feature.vids[i].0);
            let contact = search.contact(anchors, [place, below], normal, 0.0, feature, [None; 2]);
            if contact.gap <= search.parameters.alarm || contact.free_gap < 0.0 {
                self.contacts.push(contact);
            }
        }
        true
    }

    pub(super) fn shape_on_shape(&mut self, search: &Search<'_>, pair: [&Shape; 2], speed: f64) {
        let bodies = search.bodies;
        if let Some(ground) = pair[1].shape.as_halfspace()
            && self.shape_on_ground(search, pair, &from_glam(ground.normal))
        {
            return;
        }
        let [x1, x2] = pair.map(|shape| shape.pose);
        let pos12 = to_parry(&(x1.inverse() * x2));
        let manifold = self.manifolds.entry((pair[0].id, pair[1].id)).or_default();
        // Clearing the manifold forces a new search, which is more accurate than updating old points. It starts without the old normal, so that
        // contacts depend on the present poses only.
        for part in &mut manifold.parts {
            part.points.clear();
            (part.local_n1, part.local_n2) = Default::default();
        }
        let [s1, s2] = pair.map(|shape| &shape.shape);
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
                let anchors = [pair[0].anchor(bodies, p1), pair[1].anchor(bodies, p2)];
                let contact = search.contact(anchors, places, normal, 0.0, feature, [None; 2]);
                let far = contact.gap > search.parameters.alarm;
                // Points of adjacent features may coincide; one is enough.
                let known = self.contacts[first..].iter().any(|c| (c.places[0] - places[0]).norm() < SAME_PLACE);
                if !known && (!far || contact.free_gap < 0.0) {
                    self.contacts.push(contact);
                }
            }
        }
        thin_out(&mut self.contacts, first);
    }
}

/// Removes contacts of two shapes that lie between two others with similar normals: they are redundant for rigid
/// bodies. A mesh on a plane has dozens.
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

/// Place of a contact between vertices in its edge or triangle, normal in the frame of the shape, and area, m².
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Placed {
    pub(super) weights: [f64; 3],
    pub(super) normal: Vec3,
    pub(super) area: f64,
}

/// A point between vertices of a surface, in the frame of a shape, and its distance from the shape.
struct Between {
    vertices: [u32; 3],
    weights: [f64; 3],
    at: Vec3,
    signed: Signed,
}

/// Compression along an edge that is pressed into a shape: it rises linearly from one end to the nearest point, and falls to the
/// other end.
///
/// Where an edge of the surface lies nearly along an edge of the shape, the nearest point moves from end to end in a rotation by a
/// fraction of a milliradian, and the tissue below follows: a contact there would alternate from step to step. The
/// centre of the compression moves less, the more even the compression is. At first touch both are the same.
struct EdgePressure {
    /// Areas below the compression of the two parts, and parameters of their centres.
    weights: [f64; 2],
    centres: [f64; 2],
}

impl EdgePressure {
    /// `None` where nothing is compressed. `nearest` is the distance at the parameter `s`.
    fn new(ends: [&Signed; 2], s: f64, nearest: &Signed, offset: f64) -> Option<Self> {
        let top = offset - nearest.distance;
        if top <= 0.0 {
            return None;
        }
        let mut pressure = Self { weights: [0.0; 2], centres: [s; 2] };
        for (k, end) in ends.iter().enumerate() {
            let (low, length) = ((offset - end.distance).min(top), [-s, 1.0 - s][k]);
            // A trapezium to the end, or a triangle to where the compression ends.
            let (low, length) = if low >= 0.0 { (low, length) } else { (0.0, length * top / (top - low)) };
            pressure.weights[k] = 0.5 * (top + low) * length.abs();
            pressure.centres[k] = s + length * (top + 2.0 * low) / (3.0 * (top + low));
        }
        Some(pressure)
    }

    /// The centre of the compression from `a` to `b`: its parameter and the mean normal, with the distance of the nearest point.
    fn centre(&self, shape: &SharedShape, a: &Vec3, b: &Vec3, nearest: &Signed) -> (f64, Signed) {
        let [left, right] = self.weights;
        let total = left + right;
        let s = (left * self.centres[0] + right * self.centres[1]) / total;
        let [one, other] = self.centres.map(|s| signed_distance(shape, &(a + s * (b - a))).normal);
        let normal = (left * one + right * other).try_normalize(0.5 * total).unwrap_or(nearest.normal);
        (s, Signed { normal, ..*nearest })
    }
}

/// Maximum fraction of a surface's area that contacts on its edges and on its triangles represent. On a round object
/// they carry nearly all of the load; the vertices keep the rest.
pub(super) const EDGE_SHARE: f64 = 0.6;
pub(super) const TRIANGLE_SHARE: f64 = 0.35;

/// Weight of a contact that is closer than its surroundings by some distance: it appears gradually.
fn gained(distance: f64) -> f64 {
    const HALF: f64 = 2e-5;
    let more = (distance - GAIN).max(0.0);
    more / (more + HALF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collinear_contacts_are_reduced_to_their_ends() {
        let at = |x: f64, z: f64| {
            let (a, b) = (Vec3::new(x, 0.0, z), Vec3::new(x, -1e-4, z));
            Contact {
                a: Anchor::world(a),
                b: Anchor::world(b),
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
