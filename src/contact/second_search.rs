use parry3d::query::{ShapeCastOptions, cast_shapes};

use super::anchor::Contact;
use super::distance::{signed_distance, sweep};
use super::material::Materials;
use super::parameters::ContactParameters;
use super::proximity::{KEPT, Pair, Proximity, Search};
use super::surface::{Shape, Surface, to_parry};
use crate::body::{Bodies, BodyId, Bounds, Collider, ColliderId};
use crate::math::{Pose, Vec3, from_glam, to_glam};

/// Depth below which a contact of the second search is left to the next step, m.
const FOUND: f64 = 2e-5;

/// Error of the linear prediction of a gap from which on a pair is searched again, m.
const CURVED: f64 = 1e-5;

/// Contacts of the same features are the same if they are closer than this, m.
const SAME_CONTACT: f64 = 1e-3;

/// Number of contacts that may have the same features, and what their numbers differ by.
const COPIES: u64 = 4;
const COPY: u64 = 0x0001_2345_6789_0000;

/// Result of a second search.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// Contacts that were added or replaced.
    pub contacts: usize,
    /// Deepest point that was seen, m.
    pub deepest: f64,
}

/// A shape at the end of the step and its motion in the step, m.
#[derive(Clone, Debug)]
pub(super) struct EndShape {
    shape: Shape,
    /// Pose at the start of the step, and bounds of the start and the end.
    start: Pose,
    path: Bounds,
    /// No point of it moved farther.
    moved: f64,
    /// Error of a linear prediction of its points.
    error: f64,
    /// Upper bound of the displacement by contact.
    deviation: f64,
}

/// The search at the start of the step looks along the free motion. It keeps every contact that begins or ends within `KEPT` alarm
/// distances, so its list is complete for a pair whose bodies moved less than that relative to each other, and for a pair
/// whose motion contact changed by less than that. The second search looks at all other pairs at the end of the step, and at pairs
/// of rigid shapes that rotated so far that their gaps are not linear in the velocity.
impl Proximity {
    /// Searches the end of the step. `deviation` bounds the displacement of a body of some size by contact, m. With `keep` the contacts
    /// that are found are added to the list, or replace those of the same feature.
    pub fn search_end(
        &mut self,
        bodies: &Bodies,
        materials: &Materials,
        parameters: &ContactParameters,
        keep: bool,
        deviation: impl Fn(BodyId, f64) -> f64,
    ) -> Found {
        let search = Search { bodies, materials, parameters, h: 0.0 };
        let end = self.pairs.last().map_or(0, |p| p.contacts.end);
        // The links of attachments follow the contacts of all pairs.
        let mut links = std::mem::take(&mut self.spare);
        links.clear();
        links.extend(self.contacts.drain(end..));
        self.found.clear();
        let mut found = Found::default();
        self.list_end_shapes(bodies, &deviation);
        self.shapes_at_end(&search, keep, &mut found);
        self.surfaces_at_end(&search, keep, &deviation, &mut found);
        found.contacts = self.found.len();
        self.contacts.append(&mut links);
        self.spare = links;
        found
    }

    /// An upper bound of the speed of a body after the step, m/s.
    pub fn top_speed(&self, bodies: &Bodies, id: BodyId) -> f64 {
        let shapes = self.shapes.iter().map(|s| (s.id, &s.bounds));
        let colliders = shapes.chain(self.surfaces.iter().map(|s| (s.id, &s.bounds)));
        let own = colliders.filter(|(collider, _)| collider.body == id);
        own.map(|(collider, bounds)| bodies.expect(id).top_speed(collider.index(), bounds)).fold(0.0, f64::max)
    }

    fn list_end_shapes(&mut self, bodies: &Bodies, deviation: &impl Fn(BodyId, f64) -> f64) {
        self.end_shapes.clear();
        for start in &self.shapes {
            let Collider::Shape(now) = bodies.expect(start.id.body).collider(start.id.index()) else { continue };
            let (shape, pose, path) = (start.clone(), start.pose, start.bounds);
            let mut end = EndShape { shape, start: pose, path, moved: 0.0, error: 0.0, deviation: 0.0 };
            if start.moves {
                end.shape.pose = now.pose;
                end.shape.bounds = start.shape.compute_aabb(&to_parry(&now.pose)).into();
                let size = (start.bounds.high - start.bounds.low).norm();
                let angle = (start.pose.rotation.inverse() * now.pose.rotation).angle();
                let shift = now.pose.translation.vector - start.pose.translation.vector;
                end.moved = shift.norm() + angle * size;
                end.error = 0.5 * angle * angle * size;
                end.deviation = deviation(start.id.body, size);
                let reached = &end.shape.bounds;
                end.path = Bounds::of(&[path.low, path.high, reached.low, reached.high]);
            }
            self.end_shapes.push(end);
        }
    }

    fn shapes_at_end(&mut self, search: &Search<'_>, keep: bool, found: &mut Found) {
        let far = KEPT * search.parameters.alarm;
        let shapes = std::mem::take(&mut self.end_shapes);
        // One of the two shapes of a pair that is searched is as far off as this.
        let off = |s: &EndShape| s.deviation > 0.5 * far || s.error > 0.5 * CURVED;
        for (i, one) in shapes.iter().enumerate().filter(|(_, s)| !s.shape.sampled && off(s)) {
            for (j, other) in shapes.iter().enumerate().filter(|(_, s)| !s.shape.sampled) {
                if i == j || (j < i && off(other)) {
                    continue;
                }
                let (a, b) = if one.shape.moves { (one, other) } else { (other, one) };
                let missed = a.moved + b.moved > far && a.deviation + b.deviation > far;
                let curved = a.error + b.error > CURVED;
                let fixed = !a.shape.moves || !self.may_touch(search.bodies, a.shape.id, b.shape.id);
                if !(missed || curved) || fixed || !a.path.meets(&b.path, 0.0) {
                    continue;
                }
                let first = self.contacts.len();
                if a.shape.bounds.meets(&b.shape.bounds, 0.0) {
                    let (a, b) = (&a.shape, &b.shape);
                    self.shape_on_shape(search, [a, b], 0.0);
                    self.take_found(search, [a.id, b.id], false, first, keep, found, Some(b));
                } else if missed {
                    self.contacts.extend(passage(search, a, b));
                    self.take_found(search, [a.shape.id, b.shape.id], false, first, keep, found, None);
                }
            }
        }
        self.end_shapes = shapes;
    }

    /// Adds the contacts from `first` on, which were found for a pair. With `shape`, the second shape of a pair of shapes, a contact
    /// is no deeper than its point of the first one is inside: beyond an edge, where the faces of the two were clipped, the depth along
    /// the normal is too large.
    #[expect(clippy::too_many_arguments, reason = "the inputs of the search")]
    fn take_found(
        &mut self,
        search: &Search<'_>,
        ids: [ColliderId; 2],
        aggregate: bool,
        first: usize,
        keep: bool,
        found: &mut Found,
        shape: Option<&Shape>,
    ) {
        let mut end = first;
        for i in first..self.contacts.len() {
            let inside = shape.map_or(f64::INFINITY, |on| {
                let place = self.contacts[i].places[0] - on.pose.translation.vector;
                -signed_distance(&on.shape, &on.pose.rotation.inverse_transform_vector(&place)).distance
            });
            let depth = inside.min(-self.contacts[i].gap);
            found.deepest = found.deepest.max(depth);
            if !keep || depth < FOUND {
                continue;
            }
            let own = || self.pairs.iter().filter(|p| [p.a, p.b] == ids).flat_map(|p| p.contacts.clone());
            // A contact began no deeper than its pair did.
            let deepest = own().map(|k| self.contacts[k].gap).fold(0.0, f64::min);
            // Where two bodies turned against each other, the closest points of the same features may be elsewhere. Both contacts are
            // kept then: if the new one replaced the other, the bodies would turn back.
            let place = self.contacts[i].places[0];
            let is_near = |k: usize| (self.contacts[k].a.place(search.bodies) - place).norm() < SAME_CONTACT;
            let features = || (0..COPIES).map(|copy| self.contacts[i].feature ^ (copy * COPY));
            let known = |feature: u64| own().chain(first..end).find(|&k| self.contacts[k].feature == feature);
            let near = features().filter_map(known).find(|&k| is_near(k));
            let unused = features().find(|&feature| known(feature).is_none());
            if let Some(k) = near.or_else(|| if unused.is_none() { known(self.contacts[i].feature) } else { None }) {
                let Contact { gap, feature, .. } = self.contacts[k];
                self.contacts[k] = Contact { gap, feature, ..self.contacts[i] };
                self.found.push((k as u32, -depth));
            } else {
                self.contacts[i].feature = unused.unwrap_or(self.contacts[i].feature);
                self.contacts.swap(end, i);
                self.contacts[end].gap = deepest.max(-depth);
                self.found.push((end as u32, -depth));
                end += 1;
            }
        }
        self.contacts.truncate(end);
        if end > first {
            let friction = search.friction(ids);
            self.pairs.push(Pair { a: ids[0], b: ids[1], contacts: first..end, aggregate, friction });
        }
    }

    fn surfaces_at_end(
        &mut self,
        search: &Search<'_>,
        keep: bool,
        deviation: &impl Fn(BodyId, f64) -> f64,
        found: &mut Found,
    ) {
        let far = KEPT * search.parameters.alarm;
        let (surfaces, shapes) = (std::mem::take(&mut self.surfaces), std::mem::take(&mut self.end_shapes));
        let starts = std::mem::take(&mut self.shapes);
        for surface in &surfaces {
            let body = search.bodies.expect(surface.id.body);
            let own = deviation(surface.id.body, HAND.max((surface.bounds.high - surface.bounds.low).norm()));
            self.end_positions.clear();
            body.vertex_positions(surface.id.index(), &mut self.end_positions);
            let bounds = Bounds::of(&self.end_positions);
            for (shape, start) in shapes.iter().zip(&starts) {
                let on = &shape.shape;
                let swept = (bounds.meets(&on.bounds, 0.0) || surface.bounds.meets(&on.bounds, 0.0))
                    && self.may_touch(search.bodies, surface.id, on.id);
                if surface.id.body == on.id.body || own + shape.deviation <= far || !swept {
                    continue;
                }
                let first = self.contacts.len();
                self.surface_at_end(search, surface, &start.pose, on);
                self.take_found(search, [surface.id, on.id], surface.aggregates, first, keep, found, None);
            }
        }
        (self.surfaces, self.shapes, self.end_shapes) = (surfaces, starts, shapes);
    }

    /// Vertices of a surface that entered a shape, or passed through it, and are not listed.
    fn surface_at_end(&mut self, search: &Search<'_>, surface: &Surface, start: &Pose, on: &Shape) {
        let (bodies, offset) = (search.bodies, search.parameters.offset);
        let far = KEPT * search.parameters.alarm;
        let local = |pose: &Pose, x: &Vec3| pose.rotation.inverse_transform_vector(&(x - pose.translation.vector));
        let bounds: Bounds = on.shape.compute_local_aabb().into();
        let areas = surface.mesh(bodies).areas;
        for (v, (before, place)) in surface.positions.iter().zip(&self.end_positions).enumerate() {
            let (from, to) = (local(start, before), local(&on.pose, place));
            if (to - from).norm() < far || !Bounds::of(&[from, to]).meets(&bounds, offset) {
                continue;
            }
            let entered = sweep(&on.shape, &from, &to).map(|(part, normal)| (from + part * (to - from), normal));
            let nearest = || {
                let signed = signed_distance(&on.shape, &to);
                (signed.distance < 0.0).then(|| (to - signed.distance * signed.normal, signed.normal))
            };
            let Some((on_shape, normal)) = entered.or_else(nearest) else { continue };
            let own = self.pairs.iter().filter(|p| p.a == surface.id && p.b == on.id);
            if own.flat_map(|p| &self.contacts[p.contacts.clone()]).any(|c| c.feature == v as u64) {
                continue;
            }
            let places = [*place, on.pose.translation.vector + on.pose.rotation * on_shape];
            let anchors = [surface.anchor(bodies, [v as u32; 3], [1.0, 0.0, 0.0]), on.anchor(bodies, on_shape)];
            let (normal, layers) = (on.pose.rotation * normal, [surface.layer, None]);
            let area = if surface.meets_twice(bodies, on) { 0.5 * areas[v] } else { areas[v] };
            self.contacts.push(search.contact(anchors, places, normal, area, v as u64, layers));
        }
    }
}

/// Where a shape that contact threw aside hit another one on its way, if it is past it at the end of the step.
fn passage(search: &Search<'_>, a: &EndShape, b: &EndShape) -> Option<Contact> {
    let way = |s: &EndShape| to_glam(&(s.shape.pose.translation.vector - s.start.translation.vector));
    let options = ShapeCastOptions { stop_at_penetration: false, ..ShapeCastOptions::with_max_time_of_impact(1.0) };
    let [one, other] = [a, b].map(|s| (to_parry(&s.start), way(s), s.shape.shape.as_ref()));
    let hit = cast_shapes(&one.0, one.1, one.2, &other.0, other.1, other.2, options).ok().flatten()?;
    let normal = -(a.start.rotation * from_glam(hit.normal1));
    let locals = [from_glam(hit.witness1), from_glam(hit.witness2)];
    let place = |s: &EndShape, local: &Vec3| s.shape.pose.translation.vector + s.shape.pose.rotation * local;
    let places = [place(a, &locals[0]), place(b, &locals[1])];
    let anchors = [a.shape.anchor(search.bodies, locals[0]), b.shape.anchor(search.bodies, locals[1])];
    Some(search.contact(anchors, places, normal, 0.0, PASSAGE, [None; 2]))
}

/// Feature of the contact with a shape that a body passed.
const PASSAGE: u64 = u64::MAX;

/// No point of a hand is farther from one of its joints than this, m.
const HAND: f64 = 0.25;
