use super::super::aggregate::{TouchingPoint, split_by_normal};
use super::super::anchor::{Contact, Layer};
use super::super::parameters::ContactParameters;
use super::super::proximity::Pair;
use super::movers::push_body;
use super::{ContactInputs, Islands, JOINS};
use crate::body::{Bodies, PartId};
use crate::math::Vec3;
use crate::problem::{ContactTerm, ConvexProblem, Entry, EqualityTerm, JacobianSegment, NormalLaw};

/// Initial penetration allowed for hard contacts, m.
const HARD_DEPTH: f64 = 5e-5;

/// Reference area of the stiffness of a point between hard surfaces, m².
const UNIT_AREA: f64 = 1e-6;

/// Speed at which deeper initial penetrations are resolved, m/s.
const RECOVERY: f64 = 0.1;

impl Islands {
    /// Builds the problem of every island about the current state.
    pub(in crate::contact) fn build(&mut self, bodies: &mut Bodies, inputs: &ContactInputs, first: bool) {
        let links = inputs.proximity.pairs.last().map_or(0, |p| p.contacts.end);
        self.list_movers(bodies, inputs.proximity);
        self.connect(bodies, inputs.proximity);
        self.add_geometric_stiffness(bodies, &inputs.proximity.contacts[links..], inputs.h);
        self.push_unknowns(bodies, inputs.h);
        for (index, pair) in inputs.proximity.pairs.iter().enumerate() {
            self.push_pair(bodies, inputs, index, pair);
        }
        self.push_attachments(bodies, inputs, first);
        if first {
            self.warm_start(bodies);
        }
    }

    /// Adds the velocity changes of the bodies of every island, their inertia, and the terms of single coordinates such
    /// as joint limits.
    fn push_unknowns(&mut self, bodies: &mut Bodies, h: f64) {
        for island in &mut self.islands[..self.count] {
            island.problem.step = h;
            for &m in &island.movers {
                let mover = &mut self.movers[m as usize];
                mover.block = island.problem.sizes.len() as u32;
                push_body(bodies, mover, &mut self.condensed, &mut island.problem);
                for term in bodies.part(mover.id).coordinate_terms() {
                    let (block, local) = mover.unknown(term.dof);
                    island.problem.coordinates.push((block, local, *term));
                }
            }
            island.x.clear();
            for &m in &island.movers {
                let mover = &self.movers[m as usize];
                island.x.extend(mover.touched.iter().map(|&d| mover.dv[d as usize]));
            }
        }
    }

    /// Adds the rows of the attachments. Their contacts follow those of the pairs.
    fn push_attachments(&mut self, bodies: &Bodies, inputs: &ContactInputs, first: bool) {
        let (proximity, h) = (inputs.proximity, inputs.h);
        let links = proximity.pairs.last().map_or(0, |p| p.contacts.end);
        let mut link = links;
        let mut rows = std::mem::take(&mut self.attachment_rows);
        for attachment in inputs.attachments {
            let own = &proximity.contacts[link..link + attachment.links_count()];
            let Some(island) = own.first().and_then(|c| self.island_at(bodies, c)) else {
                link += own.len();
                continue;
            };
            rows.clear();
            attachment.directions(own, |k, direction| rows.push((k, direction)));
            for &(k, direction) in &rows {
                let contact = &proximity.contacts[link + k];
                let segments = self.push_jacobian(bodies, island, contact, None, h);
                let apart = contact.a.place(bodies) - contact.b.place(bodies);
                // Before the first pass the bodies are at the start of the step.
                let moved = if first { h * contact.free_velocity } else { Vec3::zeros() };
                let error = direction.dot(&(apart + moved));
                let island = &mut self.islands[island];
                let moved = displacement(&island.problem, segments, &island.x);
                island.problem.equalities.push(EqualityTerm {
                    segments,
                    direction,
                    error: error - direction.dot(&moved),
                });
                island.links.push((link + k - links) as u32);
            }
            link += own.len();
        }
        self.attachment_rows = rows;
    }

    /// The island that a contact belongs to, if it moves any body.
    fn island_at(&self, bodies: &Bodies, contact: &Contact) -> Option<usize> {
        let part = contact.parts(bodies).into_iter().flatten().next()?;
        Some(self.island_of[self.mover_of[bodies.part_index(part)] as usize] as usize)
    }

    /// Adds the Jacobian of a contact to an island's problem. `hard` is the index of a contact between rigid surfaces: its gap is linear in the
    /// velocity, so its Jacobian is the same in all passes. The material points would turn with a body that rolls, and the normal force at
    /// a point behind the centre would drive it.
    fn push_jacobian(
        &mut self,
        bodies: &Bodies,
        island: usize,
        contact: &Contact,
        hard: Option<usize>,
        h: f64,
    ) -> [u32; 2] {
        let Self { islands, movers, mover_of, columns, hard_columns, ends, .. } = self;
        columns.clear();
        let mut push = |part: PartId, dof: usize, column: Vec3| {
            let mover = &movers[mover_of[bodies.part_index(part)] as usize];
            let (block, local) = mover.unknown(dof);
            columns.push((block, local, h * column));
        };
        if let Some(i) = hard {
            let [first, end] = *ends[i].columns.get_or_insert_with(|| {
                let first = hard_columns.len() as u32;
                contact.columns(bodies, |part, dof, column| hard_columns.push((part, dof, column)));
                [first, hard_columns.len() as u32]
            });
            let own = &hard_columns[first as usize..end as usize];
            own.iter().for_each(|&(part, dof, column)| push(part, dof, column));
        } else {
            contact.columns(bodies, push);
        }
        columns.sort_unstable_by_key(|&(block, local, _)| u64::from(block) << 32 | u64::from(local));
        let problem = &mut islands[island].problem;
        let first = problem.segments.len() as u32;
        for &(block, local, column) in columns.iter() {
            let at = problem.entries.len() as u32;
            let open = problem.segments.len() as u32 > first
                && problem.segments.last().is_some_and(|s: &JacobianSegment| s.block == block);
            if open {
                if let Some(entry) = problem.entries.last_mut().filter(|e| e.local == local) {
                    entry.column += column;
                    continue;
                }
                if let Some(segment) = problem.segments.last_mut() {
                    segment.entries[1] = at + 1;
                }
            } else {
                problem.segments.push(JacobianSegment { block, entries: [at, at + 1] });
            }
            problem.entries.push(Entry { local, column });
        }
        [first, problem.segments.len() as u32]
    }

    /// Adds the included contacts of a pair, and their friction: one patch for each part of an aggregate with similar normals, or
    /// one for each contact.
    fn push_pair(&mut self, bodies: &Bodies, inputs: &ContactInputs, index: usize, pair: &Pair) {
        let island = self.push_contacts(bodies, inputs, pair);
        let Some(island) = island else { return };
        let (proximity, parameters) = (inputs.proximity, inputs.parameters);
        let Self { islands, ends, points, chosen, parts, .. } = self;
        let island = &mut islands[island];
        let first = island.problem.contacts.len() - chosen.len();
        if !pair.aggregate || !parameters.patches {
            for (k, &i) in chosen.iter().enumerate() {
                let contact = &proximity.contacts[i as usize];
                let mu = pair.friction.now(inputs.memory.find((pair.a, pair.b, contact.feature)));
                let start = island.problem.members.len();
                island.problem.members.push((first + k) as u32);
                island.problem.push_patch(start, mu, shear_length(contact, parameters), parameters.friction);
                island.patches.push((index as u32, u32::MAX));
            }
            return;
        }
        let angle = if parameters.split { parameters.split_angle } else { std::f64::consts::PI };
        let count = split_by_normal(points, angle, parts) as u32;
        let length = shear_length(&proximity.contacts[chosen[0] as usize], parameters);
        for part in 0..count {
            let start = island.problem.members.len();
            for k in (0..chosen.len()).filter(|&k| parts[k] == part) {
                island.problem.members.push((first + k) as u32);
                ends[chosen[k] as usize].part = Some(part);
            }
            if island.problem.members.len() > start {
                let mu = pair.friction.now(inputs.memory.find((pair.a, pair.b, u64::from(part))));
                island.problem.push_patch(start, mu, length, parameters.friction);
                island.patches.push((index as u32, part));
            }
        }
    }

    /// Adds the normal terms of the included contacts of a pair, and lists them for [`split_by_normal`]. Returns their
    /// island, if there are any.
    fn push_contacts(&mut self, bodies: &Bodies, inputs: &ContactInputs, pair: &Pair) -> Option<usize> {
        self.points.clear();
        self.chosen.clear();
        let mut last = None;
        for i in pair.contacts.clone() {
            if !self.ends[i].included {
                continue;
            }
            let contact = &inputs.proximity.contacts[i];
            let Some(index) = self.island_at(bodies, contact) else { continue };
            let rigid = [&contact.a, &contact.b].iter().all(|anchor| anchor.point.is_rigid());
            let hard = (rigid && !contact.layer.is_soft()).then_some(i);
            let segments = self.push_jacobian(bodies, index, contact, hard, inputs.h);
            let end = &self.ends[i];
            let island = &mut self.islands[index];
            let moved = displacement(&island.problem, segments, &island.x);
            island.problem.contacts.push(ContactTerm {
                segments,
                normal: end.normal,
                place: contact.places[0],
                gap: end.gap - end.normal.dot(&moved),
                shear: end.shear - moved + moved.dot(&end.normal) * end.normal,
                start_shear: end.start_shear,
                start_depth: (-contact.gap - end.shift).max(0.0),
                viscosity: contact.layer.damping / inputs.h,
                law: law_of(contact, inputs.parameters),
                pressure: end.pressure,
                bound: end.bound,
                friction: end.friction,
            });
            island.contacts.push(i as u32);
            self.points.push(TouchingPoint {
                place: contact.places[0],
                normal: end.normal,
                depth: (JOINS - contact.free_gap).max(0.0),
                weight: end.pressure + 1e-6 * contact.area,
                part: end.part,
            });
            self.chosen.push(i as u32);
            last = Some(index);
        }
        last
    }
}

/// Displacement of a contact by velocity changes.
pub(in crate::contact) fn displacement(problem: &ConvexProblem, segments: [u32; 2], x: &[f64]) -> Vec3 {
    // Blocks are in order; the offset of a block is the sum of the preceding sizes.
    let mut moved = Vec3::zeros();
    let (mut block, mut start) = (0, 0);
    for segment in &problem.segments[segments[0] as usize..segments[1] as usize] {
        while block < segment.block {
            start += problem.sizes[block as usize];
            block += 1;
        }
        for entry in &problem.entries[segment.entries[0] as usize..segment.entries[1] as usize] {
            moved += x[start + entry.local as usize] * entry.column;
        }
    }
    moved
}

/// Normal law of a contact: the elastic foundation of the skin and the surface of an elastic object, or a stiff spring.
pub(super) fn law_of(contact: &Contact, parameters: &ContactParameters) -> NormalLaw {
    if contact.layer.is_soft() {
        let Layer { softness, thickness, backing, .. } = contact.layer;
        NormalLaw { softness, thickness, backing }
    } else {
        // Contacts with an area share the load by area.
        let part = if contact.area > 0.0 { contact.area / UNIT_AREA } else { 1.0 };
        NormalLaw { softness: 1.0 / (part * parameters.hardness), thickness: f64::INFINITY, backing: None }
    }
}

/// Correction of the gap of a contact that begins the step too deep, m.
pub(super) fn shift_of(contact: &Contact, parameters: &ContactParameters, h: f64) -> f64 {
    let law = law_of(contact, parameters);
    let allowed = if law.limit().is_finite() { law.limit() } else { HARD_DEPTH };
    (-contact.gap - allowed - h * RECOVERY).max(0.0)
}

/// The shear length of a contact.
pub(in crate::contact) fn shear_length(contact: &Contact, parameters: &ContactParameters) -> f64 {
    if contact.layer.is_soft() { parameters.shear_length } else { parameters.hard_shear_length }
}
