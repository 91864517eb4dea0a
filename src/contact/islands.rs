use nalgebra::Vector3;

use super::aggregate::{TouchingPoint, split_by_normal};
use super::anchor::Contact;
use super::attachment::Attachment;
use super::condensed::Condensed;
use super::memory::{ContactMemory, Memory, Remembered, RememberedContact};
use super::parameters::ContactParameters;
use super::proximity::{Pair, Proximity};
use super::system::root;
use crate::body::{Bodies, BodyId, PartId};
use crate::math::{Mat3, Vec3};
use crate::problem::{
    Compliance, ContactTerm, ConvexProblem, Entry, EqualityTerm, FrictionPatch, NormalLaw, Quadratic, Segment,
};
use crate::solver::{ConvexNewton, ConvexParameters, Solution, SolverStatus};

/// The contact problem of a step, island by island: bodies in contact directly or through others.
///
/// `build` makes a [`ConvexProblem`] for each from the contacts that may close, [`Islands::solve`] finds the velocity
/// changes, [`Islands::apply`] applies them, and [`Islands::measure`] evaluates the resulting gaps. Gaps are nonlinear
/// in rotations, and an excluded contact may have closed: then the problem is rebuilt about the new state and solved
/// again.
#[derive(Clone, Debug, Default)]
pub struct Islands {
    islands: Vec<Island>,
    count: usize,
    /// State of each contact, in the order of [`Proximity::contacts`].
    ends: Vec<ContactEnd>,
    /// Frame of the second body of each pair at the start of the step.
    start_frames: Vec<Mat3>,
    /// Parts of bodies involved, and the index of each part of the world among them.
    movers: Vec<Mover>,
    mover_count: usize,
    mover_of: Vec<u32>,
    /// Condensed compliance of soft parts, by part of the world.
    condensed: Vec<Condensed>,
    // Working memory.
    parents: Vec<u32>,
    island_of: Vec<u32>,
    points: Vec<TouchingPoint>,
    chosen: Vec<u32>,
    parts: Vec<u32>,
    columns: Vec<(u32, u32, Vec3)>,
    attachment_rows: Vec<(usize, Vec3)>,
    /// Force of each link of an attachment in the last step, N.
    link_forces: Vec<Vec3>,
    row: Vec<f64>,
}

/// One island.
#[derive(Clone, Debug, Default)]
struct Island {
    movers: Vec<u32>,
    problem: ConvexProblem,
    newton: ConvexNewton,
    x: Vec<f64>,
    /// Index of the contact of each contact of the problem.
    contacts: Vec<u32>,
    /// Link of each row of an attachment.
    links: Vec<u32>,
    /// Pair and part of each friction patch.
    patches: Vec<(u32, u32)>,
    solution: Option<Solution>,
}

/// A part of a body that contact moves.
#[derive(Clone, Debug)]
struct Mover {
    id: PartId,
    /// Degrees of freedom that contact acts on, ascending; all of them for small bodies.
    touched: Vec<u32>,
    /// Index of each degree of freedom in `touched`, or `u32::MAX`.
    marks: Vec<u32>,
    whole: bool,
    /// Sizes of the groups in `touched`. For a large body the degrees of freedom of a group touch the same bodies, so
    /// that a contact on one part of it is not coupled with all of it.
    parts: Vec<usize>,
    /// Bit mask of the bodies in contact with each degree of freedom of a large body.
    partners: Vec<u64>,
    /// Geometric stiffness of its attachments times the square of the step, kg·m².
    geometric: f64,
    /// First of its blocks in the island's problem.
    block: u32,
    /// Velocity change due to contact.
    dv: Vec<f64>,
    next: Vec<f64>,
}

/// State of a contact at the end of the step.
#[derive(Clone, Copy, Debug, Default)]
struct ContactEnd {
    /// Gap at the end of the step for the current velocities, m.
    gap: f64,
    /// Shear displacement at the end of the step, m.
    shear: Vec3,
    /// Normal at the end of the step.
    normal: Vec3,
    /// Shear displacement at its start.
    start_shear: Vec3,
    /// Correction of the gap for contacts that start too deep, m.
    shift: f64,
    included: bool,
    /// Predicted gap and shear displacement, m.
    predicted: f64,
    predicted_shear: Vec3,
    /// Normal force that bounds friction, N.
    bound: f64,
    /// Solution: normal force, N, friction on the first surface, N, and slip, m.
    pressure: f64,
    friction: Vec3,
    slip: Vec3,
    part: Option<u32>,
}

/// A solved friction patch.
#[derive(Clone, Copy, Debug)]
pub struct SolvedPatch {
    /// The pair.
    pub pair: usize,
    /// Part of the pair.
    pub part: u32,
    /// Normal and tangents.
    pub frame: [Vec3; 3],
    /// Centre of pressure.
    pub centre: Vec3,
    /// Normal force, friction along the tangents and torque about the normal.
    pub force: [f64; 4],
    /// Friction coefficient.
    pub mu: f64,
    /// Maximum torque per unit of `μ N`, m.
    pub torsion: f64,
    /// Number of closed contacts.
    pub contacts: usize,
    /// Slip speed, m/s, and spin speed, rad/s.
    pub slip: [f64; 2],
    /// Rows: four for an aggregate, three for a point.
    pub rows: usize,
}

/// A solved contact.
#[derive(Clone, Copy, Debug)]
pub struct SolvedPoint {
    /// The pair.
    pub pair: usize,
    /// The contact.
    pub contact: usize,
    /// Force on the first body, N.
    pub force: Vec3,
    /// Normal force, N.
    pub pressure: f64,
}

/// Maximum stored shear displacement of a contact, as a multiple of that at which it slips.
const SHEAR_LIMIT: f64 = 3.0;

/// Gap after the free motion below which a contact is included in the first pass, m. Others are added if they close.
const JOINS: f64 = 1e-4;

/// Passes of solve and measure.
const PASSES: usize = 5;

/// Tolerance between predicted and measured gaps, m.
const AGREED: f64 = 1e-6;

/// Initial penetration allowed for hard contacts, m.
const HARD_DEPTH: f64 = 5e-5;

/// Reference area of the stiffness of a point between hard surfaces, m².
const UNIT_AREA: f64 = 1e-6;

/// Speed at which deeper initial penetrations are resolved, m/s.
const RECOVERY: f64 = 0.1;

impl Islands {
    /// Starts a step: no velocity changes, gaps of the free motion.
    pub(super) fn start(
        &mut self,
        bodies: &Bodies,
        proximity: &Proximity,
        memory: &ContactMemory,
        parameters: &ContactParameters,
        h: f64,
    ) {
        self.mover_count = 0;
        self.mover_of.clear();
        self.mover_of.resize(bodies.part_count(), u32::MAX);
        self.condensed.resize_with(bodies.part_count(), Condensed::default);
        self.ends.clear();
        self.start_frames.clear();
        for pair in &proximity.pairs {
            let turn = frame(bodies, pair);
            self.start_frames.push(turn);
            for contact in &proximity.contacts[pair.contacts.clone()] {
                let before = memory.find((pair.a, pair.b, contact.feature));
                let n = &contact.normal;
                let tangential = |v: Vec3| v - v.dot(n) * n;
                let start_shear = before.map_or(Vec3::zeros(), |m| tangential(turn * m.shear));
                let shift = shift_of(contact, parameters, h);
                self.ends.push(ContactEnd {
                    gap: contact.free_gap + shift,
                    shear: start_shear + tangential(h * contact.free_velocity),
                    start_shear,
                    normal: contact.normal,
                    shift,
                    included: contact.free_gap < JOINS || before.is_some_and(|m| m.pressure > 0.0),
                    pressure: before.map_or(0.0, |m| m.pressure),
                    bound: before.map_or(0.0, |m| m.bound),
                    friction: before.map_or(Vec3::zeros(), |m| m.friction),
                    part: before.and_then(|m| m.part),
                    ..Default::default()
                });
            }
        }
    }

    /// Maximum number of passes of build, solve, apply and measure.
    pub fn passes() -> usize {
        PASSES
    }

    /// Builds the problem of every island about the current state.
    #[expect(clippy::too_many_arguments, reason = "the inputs of the step")]
    pub(super) fn build(
        &mut self,
        bodies: &mut Bodies,
        proximity: &Proximity,
        attachments: &[Attachment],
        parameters: &ContactParameters,
        blocks: &Memory<Remembered>,
        h: f64,
        first: bool,
    ) {
        self.list_movers(bodies, proximity);
        self.connect(bodies, proximity);
        let links = proximity.pairs.last().map_or(0, |p| p.contacts.end);
        self.add_geometric_stiffness(bodies, &proximity.contacts[links..], h);
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
        for (index, pair) in proximity.pairs.iter().enumerate() {
            self.push_pair(bodies, proximity, index, pair, parameters, blocks, h);
        }
        let mut link = links;
        for attachment in attachments {
            let own = &proximity.contacts[link..link + attachment.links_count()];
            let Some(island) = own.first().and_then(|c| self.island_at(bodies, c)) else {
                link += own.len();
                continue;
            };
            let mut rows = std::mem::take(&mut self.attachment_rows);
            rows.clear();
            attachment.directions(own, |k, direction| rows.push((k, direction)));
            for &(k, direction) in &rows {
                let contact = &proximity.contacts[link + k];
                let segments = self.push_jacobian(bodies, island, contact, h);
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
            self.attachment_rows = rows;
            link += own.len();
        }
        if first {
            self.warm_start(bodies);
        }
    }

    /// Lists the bodies moved by the included contacts and the attachments, and their degrees of freedom.
    fn list_movers(&mut self, bodies: &Bodies, proximity: &Proximity) {
        let Self { movers, mover_count, mover_of, ends, .. } = self;
        let included = ends.iter().map(|e| e.included).chain(std::iter::repeat(true));
        for (contact, _) in proximity.contacts.iter().zip(included).filter(|(_, included)| *included) {
            let parts = contact.parts(bodies).into_iter().flatten();
            let partners = parts.fold(0u64, |bits, part| bits | 1 << (bodies.part_index(part) % 64));
            contact.columns(bodies, |part, dof, _| {
                let place = &mut mover_of[bodies.part_index(part)];
                if *place == u32::MAX {
                    *place = *mover_count as u32;
                    if *mover_count == movers.len() {
                        movers.push(Mover::new(part));
                    }
                    movers[*mover_count].begin(bodies, part);
                    *mover_count += 1;
                }
                let mover = &mut movers[*place as usize];
                if mover.whole {
                    return;
                }
                mover.partners[dof] |= partners;
                if mover.marks[dof] == u32::MAX {
                    mover.marks[dof] = 0;
                    mover.touched.push(dof as u32);
                }
            });
        }
        movers[..*mover_count].iter_mut().for_each(|mover| mover.sort(bodies));
    }

    /// A force `f` at an arm `r` of a rigid body rotates with the body, which is a stiffness of up to `|f| |r|` against
    /// rotation. A light link in a heavy chain is unstable without it, since the step uses the direction of the force
    /// at its start only. DEVIATION from momentum balance: the rotational response of the body to constraints is that
    /// of a body with additional inertia, as far as `h² |f| |r|` exceeds its own (after Tournier et al. 2015).
    fn add_geometric_stiffness(&mut self, bodies: &Bodies, links: &[Contact], h: f64) {
        self.movers[..self.mover_count].iter_mut().for_each(|mover| mover.geometric = 0.0);
        self.link_forces.resize(links.len(), Vec3::zeros());
        for (link, force) in links.iter().zip(&self.link_forces) {
            for anchor in [&link.a, &link.b] {
                for part in anchor.parts(bodies).into_iter().flatten() {
                    if let Some(arm) = bodies.part(part).rotation_arm(&anchor.place(bodies)) {
                        let mover = self.mover_of[bodies.part_index(part)];
                        self.movers[mover as usize].geometric += h * h * force.norm() * arm;
                    }
                }
            }
        }
    }

    /// Assigns the movers to islands.
    fn connect(&mut self, bodies: &Bodies, proximity: &Proximity) {
        self.parents.clear();
        self.parents.extend(0..self.mover_count as u32);
        let included = self.ends.iter().map(|e| e.included).chain(std::iter::repeat(true));
        for (contact, _) in proximity.contacts.iter().zip(included).filter(|(_, included)| *included) {
            let parts = contact.parts(bodies).into_iter().flatten();
            let mut ids = parts.map(|part| self.mover_of[bodies.part_index(part)]);
            let Some(first) = ids.next() else { continue };
            for id in ids {
                let (a, b) = (root(&mut self.parents, first), root(&mut self.parents, id));
                self.parents[a.max(b) as usize] = a.min(b);
            }
        }
        self.count = 0;
        self.island_of.clear();
        self.island_of.resize(self.mover_count, u32::MAX);
        for m in 0..self.mover_count as u32 {
            let root = root(&mut self.parents, m) as usize;
            if self.island_of[root] == u32::MAX {
                self.island_of[root] = self.count as u32;
                if self.count == self.islands.len() {
                    self.islands.push(Island::default());
                }
                let island = &mut self.islands[self.count];
                island.movers.clear();
                island.problem.clear();
                island.contacts.clear();
                island.patches.clear();
                island.links.clear();
                self.count += 1;
            }
            self.island_of[m as usize] = self.island_of[root];
            self.islands[self.island_of[root] as usize].movers.push(m);
        }
    }

    fn island_at(&self, bodies: &Bodies, contact: &Contact) -> Option<usize> {
        let part = contact.parts(bodies).into_iter().flatten().next()?;
        Some(self.island_of[self.mover_of[bodies.part_index(part)] as usize] as usize)
    }

    /// Adds the Jacobian of a contact to an island's problem.
    fn push_jacobian(&mut self, bodies: &Bodies, island: usize, contact: &Contact, h: f64) -> [u32; 2] {
        let Self { islands, movers, mover_of, columns, .. } = self;
        columns.clear();
        contact.columns(bodies, |part, dof, column| {
            let mover = &movers[mover_of[bodies.part_index(part)] as usize];
            let (block, local) = mover.unknown(dof);
            columns.push((block, local, h * column));
        });
        columns.sort_unstable_by_key(|&(block, local, _)| u64::from(block) << 32 | u64::from(local));
        let problem = &mut islands[island].problem;
        let first = problem.segments.len() as u32;
        for &(block, local, column) in columns.iter() {
            let at = problem.entries.len() as u32;
            let open = problem.segments.len() as u32 > first
                && problem.segments.last().is_some_and(|s: &Segment| s.block == block);
            if open {
                if let Some(entry) = problem.entries.last_mut().filter(|e| e.local == local) {
                    entry.column += column;
                    continue;
                }
                if let Some(segment) = problem.segments.last_mut() {
                    segment.entries[1] = at + 1;
                }
            } else {
                problem.segments.push(Segment { block, entries: [at, at + 1] });
            }
            problem.entries.push(Entry { local, column });
        }
        [first, problem.segments.len() as u32]
    }

    /// Adds the included contacts of a pair, and their friction.
    #[expect(clippy::too_many_arguments, reason = "the inputs of the step")]
    fn push_pair(
        &mut self,
        bodies: &Bodies,
        proximity: &Proximity,
        index: usize,
        pair: &Pair,
        parameters: &ContactParameters,
        blocks: &Memory<Remembered>,
        h: f64,
    ) {
        self.points.clear();
        self.chosen.clear();
        for i in pair.contacts.clone() {
            if !self.ends[i].included {
                continue;
            }
            let contact = &proximity.contacts[i];
            let Some(island) = self.island_at(bodies, contact) else { continue };
            let segments = self.push_jacobian(bodies, island, contact, h);
            let end = &self.ends[i];
            let island = &mut self.islands[island];
            let moved = displacement(&island.problem, segments, &island.x);
            island.problem.contacts.push(ContactTerm {
                segments,
                normal: end.normal,
                place: contact.places[0],
                gap: end.gap - end.normal.dot(&moved),
                shear: end.shear - moved + moved.dot(&end.normal) * end.normal,
                start_shear: end.start_shear,
                start_depth: (-contact.gap - end.shift).max(0.0),
                viscosity: contact.layer.damping / h,
                law: law_of(contact, parameters),
                pressure: end.pressure,
                bound: end.bound,
            });
            island.contacts.push(i as u32);
            let weight = end.pressure + 1e-6 * contact.area;
            let depth = (JOINS - contact.free_gap).max(0.0);
            self.points.push(TouchingPoint {
                place: contact.places[0],
                normal: end.normal,
                depth,
                weight,
                part: end.part,
            });
            self.chosen.push(i as u32);
        }
        let Some(&one) = self.chosen.first() else { return };
        let Some(island) = self.island_at(bodies, &proximity.contacts[one as usize]) else { return };
        let island = &mut self.islands[island];
        let first = island.problem.contacts.len() - self.chosen.len();
        if !pair.aggregate || !parameters.patches {
            for k in 0..self.chosen.len() {
                let contact = &proximity.contacts[self.chosen[k] as usize];
                let mu = pair.friction.now(blocks.find((pair.a, pair.b, contact.feature)));
                let start = island.problem.members.len();
                island.problem.members.push((first + k) as u32);
                island.problem.push_patch(start, mu, shear_length(contact, parameters), parameters.friction);
                island.patches.push((index as u32, u32::MAX));
            }
            return;
        }
        let angle = if parameters.split { parameters.split_angle } else { std::f64::consts::PI };
        let count = split_by_normal(&self.points, angle, &mut self.parts) as u32;
        for part in 0..count {
            let start = island.problem.members.len();
            for k in (0..self.chosen.len()).filter(|&k| self.parts[k] == part) {
                island.problem.members.push((first + k) as u32);
                self.ends[self.chosen[k] as usize].part = Some(part);
            }
            if island.problem.members.len() > start {
                let mu = pair.friction.now(blocks.find((pair.a, pair.b, u64::from(part))));
                let length = shear_length(&proximity.contacts[one as usize], parameters);
                island.problem.push_patch(start, mu, length, parameters.friction);
                island.patches.push((index as u32, part));
            }
        }
    }

    /// Warm start from the velocities of the last step: at rest they are the solution.
    fn warm_start(&mut self, bodies: &Bodies) {
        for island in &mut self.islands[..self.count] {
            island.x.clear();
            for &m in &island.movers {
                let mover = &self.movers[m as usize];
                self.row.clear();
                self.row.resize(mover.dv.len(), 0.0);
                bodies.part(mover.id).free_change(&mut self.row);
                island.x.extend(mover.touched.iter().map(|&d| -self.row[d as usize]));
            }
        }
    }

    /// Minimises the cost of every island.
    pub fn solve(&mut self, parameters: &ConvexParameters, mut go_on: impl FnMut() -> bool) {
        for island in &mut self.islands[..self.count] {
            let Island { problem, newton, x, .. } = island;
            let mut solution = newton.solve(problem, x, parameters, &mut go_on);
            if let Some(before) = &island.solution {
                solution.iterations += before.iterations;
            }
            island.solution = Some(solution);
        }
        self.link_forces.fill(Vec3::zeros());
        for island in &mut self.islands[..self.count] {
            let Island { problem, contacts, movers, x, links, .. } = island;
            for (row, &link) in problem.equalities.iter().zip(&*links) {
                let error = row.error + row.direction.dot(&displacement(problem, row.segments, x));
                self.link_forces[link as usize] += parameters.attachment_stiffness * error * row.direction;
            }
            for (contact, &i) in problem.contacts.iter().zip(&*contacts) {
                let end = &mut self.ends[i as usize];
                (end.pressure, end.bound) = (contact.pressure, contact.bound);
                let moved = displacement(problem, contact.segments, x);
                let along = contact.normal.dot(&moved);
                (end.predicted, end.predicted_shear) =
                    (contact.gap + along, contact.shear + moved - along * contact.normal);
            }
            for patch in problem.patches() {
                spread_friction(patch, problem, contacts, &mut self.ends);
            }
            let mut at = 0;
            for &m in &*movers {
                let mover = &mut self.movers[m as usize];
                let n = mover.touched.len();
                mover.next.clear();
                mover.next.extend_from_slice(&x[at..at + n]);
                at += n;
            }
        }
    }

    /// Applies the velocity changes; on the first pass before the bodies are advanced, on later ones positions are
    /// corrected too.
    pub fn apply(&mut self, bodies: &mut Bodies, h: f64, first: bool) {
        for mover in &mut self.movers[..self.mover_count] {
            if !mover.whole {
                // The forces on the touched degrees of freedom move all of them.
                let condensed = &mut self.condensed[bodies.part_index(mover.id)];
                condensed.expand(bodies.part(mover.id), &mut mover.next, &mut self.row);
            }
            self.row.clear();
            self.row.extend(mover.next.iter().zip(&mover.dv).map(|(next, now)| next - now));
            std::mem::swap(&mut mover.next, &mut mover.dv);
            let body = bodies.part_mut(mover.id);
            body.change_velocity(&self.row);
            if !first {
                self.row.iter_mut().for_each(|x| *x *= h);
                body.change_position(&self.row);
            }
        }
    }

    /// Measures the contacts after the step. Returns whether another pass is needed: a predicted gap is wrong, an
    /// excluded contact has closed, or an attachment is open. Between hard surfaces that roll on each other the initial
    /// contact points do not represent the final gap; there the prediction is kept.
    pub fn measure(&mut self, bodies: &Bodies, proximity: &Proximity, offset: f64) -> bool {
        // The two points of an attachment separate if bodies rotate: the links follow the contacts of the pairs.
        let links = proximity.pairs.last().map_or(0, |p| p.contacts.end);
        let apart = |link: &Contact| (link.a.place(bodies) - link.b.place(bodies)).norm();
        let mut again = proximity.contacts[links..].iter().any(|link| apart(link) > AGREED);
        for (pair, start) in proximity.pairs.iter().zip(&self.start_frames) {
            // Normals rotate with the second body.
            let turned = frame(bodies, pair) * start.transpose();
            for i in pair.contacts.clone() {
                let (contact, end) = (&proximity.contacts[i], &mut self.ends[i]);
                let places = [contact.a.place(bodies), contact.b.place(bodies)];
                let apart = places[0] - places[1];
                if end.included && contact.layer.softness == 0.0 {
                    (end.gap, end.shear) = (end.predicted, end.predicted_shear);
                    continue;
                }
                end.normal = turned * contact.normal;
                end.gap = end.normal.dot(&apart) - offset + end.shift;
                let moved = apart - (contact.places[0] - contact.places[1]);
                end.shear = turned * end.start_shear + moved - moved.dot(&end.normal) * end.normal;
                if end.included {
                    again |= end.gap.min(end.predicted) < 0.0 && (end.gap - end.predicted).abs() > AGREED;
                } else if end.gap < 0.0 {
                    end.included = true;
                    again = true;
                }
            }
        }
        again
    }

    /// Upper bound of the displacement by contact in this step of a body of some size, m.
    pub fn deviation(&self, body: BodyId, size: f64, h: f64) -> f64 {
        let norm = |v: &[f64]| v.iter().map(|x| x * x).sum::<f64>().sqrt();
        let of = |mover: &Mover| {
            if mover.whole {
                let linear = mover.dv.len().min(3);
                norm(&mover.dv[..linear]) + size * mover.dv[linear..].iter().map(|x| x.abs()).sum::<f64>()
            } else {
                mover.dv.chunks_exact(3).map(norm).fold(0.0, f64::max)
            }
        };
        h * self.movers[..self.mover_count].iter().filter(|m| m.id.body == body).map(of).sum::<f64>()
    }

    /// Takes in the contacts that the second search found at the end of the step.
    pub(super) fn include_found(
        &mut self,
        bodies: &Bodies,
        proximity: &Proximity,
        parameters: &ContactParameters,
        h: f64,
    ) {
        let known = self.start_frames.len();
        self.start_frames.extend(proximity.pairs[known..].iter().map(|pair| frame(bodies, pair)));
        self.ends.resize(proximity.pairs.last().map_or(0, |p| p.contacts.end), ContactEnd::default());
        for &(i, gap) in &proximity.found {
            let (contact, end) = (&proximity.contacts[i as usize], &mut self.ends[i as usize]);
            let [one, other] = [(&contact.a, 0), (&contact.b, 1)].map(|(a, k)| a.velocity(bodies, &contact.places[k]));
            let n = &contact.normal;
            let tangential = |v: Vec3| v - v.dot(n) * n;
            end.shift = shift_of(contact, parameters, h);
            end.start_shear = tangential(end.start_shear);
            end.shear = end.start_shear + tangential(h * (one - other));
            (end.normal, end.gap, end.included) = (*n, gap + end.shift, true);
        }
    }

    /// Keeps what the next step starts from.
    #[expect(clippy::too_many_arguments, reason = "the inputs of the step")]
    pub(super) fn remember(
        &self,
        bodies: &Bodies,
        proximity: &Proximity,
        blocks: &mut Memory<Remembered>,
        contacts: &mut ContactMemory,
        parameters: &ContactParameters,
        slow: f64,
        h: f64,
    ) {
        blocks.clear();
        contacts.clear();
        for pair in &proximity.pairs {
            let turn = frame(bodies, pair).transpose();
            for i in pair.contacts.clone() {
                let (contact, end) = (&proximity.contacts[i], &self.ends[i]);
                if end.included && end.pressure > 0.0 {
                    let key = (pair.a, pair.b, contact.feature);
                    // A contact is limited by its own friction; the patch may require a few times as much at its rim.
                    let most = SHEAR_LIMIT * pair.friction.rest * shear_length(contact, parameters);
                    let shear = (end.shear - end.slip).cap_magnitude(most);
                    let shear = turn * shear;
                    contacts.keep(
                        key,
                        RememberedContact {
                            pressure: end.pressure,
                            bound: end.bound,
                            friction: end.friction,
                            part: end.part,
                            shear,
                        },
                    );
                }
            }
        }
        for island in &self.islands[..self.count] {
            for (patch, &(pair, part)) in island.problem.patches().iter().zip(&island.patches) {
                if patch.pressure <= 0.0 {
                    continue;
                }
                let feature = if part == u32::MAX {
                    let contact = island.problem.members[patch.members.start];
                    proximity.contacts[island.contacts[contact as usize] as usize].feature
                } else {
                    u64::from(part)
                };
                let pair = &proximity.pairs[pair as usize];
                let sliding = patch.state.slip.xy().norm() > h * slow;
                let [n, t, s] = &patch.frame;
                let f = &patch.state.force;
                let force = patch.pressure * n + f.x * t + f.y * s;
                blocks.keep((pair.a, pair.b, feature), Remembered { force, torque: f.z, sliding });
            }
        }
        blocks.sort();
        contacts.sort();
    }

    /// The closed friction patches.
    pub fn solved_patches(&self, h: f64) -> impl Iterator<Item = SolvedPatch> + '_ {
        self.islands[..self.count].iter().flat_map(move |island| {
            let patches = island.problem.patches().iter().zip(&island.patches);
            patches.filter(|(patch, _)| patch.pressure > 0.0).map(move |(patch, &(pair, part))| {
                let (f, slip) = (&patch.state.force, &patch.state.slip);
                let members = &island.problem.members[patch.members.clone()];
                let pressures = members.iter().map(|&m| island.problem.contacts[m as usize].pressure);
                let pressing = pressures.clone().filter(|p| *p > 0.0);
                SolvedPatch {
                    pair: pair as usize,
                    part,
                    frame: patch.frame,
                    centre: patch.centre,
                    force: [pressures.sum(), f.x, f.y, f.z],
                    mu: patch.mu,
                    torsion: if patch.spins { patch.patch.torsion() } else { 0.0 },
                    contacts: pressing.count(),
                    slip: [slip.xy().norm() / h, if patch.spins { slip.z.abs() / h } else { 0.0 }],
                    rows: if patch.spins { 4 } else { 3 },
                }
            })
        })
    }

    /// The closed contacts.
    pub fn solved_points<'a>(&'a self, proximity: &'a Proximity) -> impl Iterator<Item = SolvedPoint> + 'a {
        proximity.pairs.iter().enumerate().flat_map(move |(pair, p)| {
            p.contacts.clone().filter(|&i| self.ends.get(i).is_some_and(|e| e.included && e.pressure > 0.0)).map(
                move |i| {
                    let end = &self.ends[i];
                    let force = end.pressure * end.normal + end.friction;
                    SolvedPoint { pair, contact: i, force, pressure: end.pressure }
                },
            )
        })
    }

    /// Results of the solver.
    pub fn solutions(&self) -> impl Iterator<Item = &Solution> {
        self.islands[..self.count].iter().filter_map(|island| island.solution.as_ref())
    }

    /// Clears the results of the last step.
    pub fn forget_solutions(&mut self) {
        self.islands.iter_mut().for_each(|island| island.solution = None);
    }

    /// Number of attachment rows.
    pub fn attachment_rows(&self) -> usize {
        self.islands[..self.count].iter().map(|island| island.problem.equalities.len()).sum()
    }

    /// Whether some island did not converge.
    pub fn unconverged(&self) -> usize {
        self.solutions().filter(|s| s.status != SolverStatus::Converged).count()
    }
}

impl Mover {
    fn new(id: PartId) -> Self {
        Self {
            id,
            touched: Vec::new(),
            marks: Vec::new(),
            whole: true,
            parts: Vec::new(),
            partners: Vec::new(),
            geometric: 0.0,
            block: 0,
            dv: Vec::new(),
            next: Vec::new(),
        }
    }

    fn begin(&mut self, bodies: &Bodies, id: PartId) {
        let body = bodies.part(id);
        let dofs = body.dofs();
        (self.id, self.whole) = (id, body.is_small());
        self.dv.clear();
        self.dv.resize(dofs, 0.0);
        self.marks.clear();
        self.touched.clear();
        if self.whole {
            self.touched.extend(0..dofs as u32);
            self.marks.resize(dofs, 0);
        } else {
            self.marks.resize(dofs, u32::MAX);
        }
        self.partners.clear();
        self.partners.resize(dofs, 0);
    }

    /// Groups the touched degrees of freedom.
    fn sort(&mut self, bodies: &Bodies) {
        self.parts.clear();
        if self.whole {
            self.parts.extend_from_slice(bodies.part(self.id).partition());
        } else {
            let partners = &self.partners;
            self.touched.sort_unstable_by_key(|&dof| (partners[dof as usize], dof));
            let groups = self.touched.chunk_by(|&a, &b| partners[a as usize] == partners[b as usize]);
            self.parts.extend(groups.map(<[u32]>::len));
        }
        for (i, &dof) in self.touched.iter().enumerate() {
            self.marks[dof as usize] = i as u32;
        }
    }

    /// Block and index in it of a degree of freedom.
    fn unknown(&self, dof: usize) -> (u32, u32) {
        let mut local = self.marks[dof];
        for (k, &size) in self.parts.iter().enumerate() {
            if local < size as u32 {
                return (self.block + k as u32, local);
            }
            local -= size as u32;
        }
        (self.block, local)
    }
}

/// Adds the unknowns of a body and its part of `A`.
fn push_body(bodies: &mut Bodies, mover: &Mover, condensed: &mut [Condensed], problem: &mut ConvexProblem) {
    let first = problem.sizes.len() as u32;
    let (matrix, n) = if mover.whole {
        let body = bodies.part(mover.id);
        (body.matrix(), body.dofs())
    } else {
        let condensed = &mut condensed[bodies.part_index(mover.id)];
        bodies.part_mut(mover.id).prepare_inverse();
        condensed.update(mover.id, bodies.part(mover.id), &mover.touched);
        let blocks = [first, first + mover.parts.len() as u32];
        problem.compliances.push(Compliance { blocks, start: problem.compliance_values.len() });
        problem.compliance_values.extend_from_slice(condensed.compliance());
        (condensed.stiffness(), mover.touched.len())
    };
    let parts = &mover.parts;
    problem.sizes.extend_from_slice(parts);
    let mut row = 0;
    for (i, &rows) in parts.iter().enumerate() {
        let mut column = row;
        for (j, &columns) in parts.iter().enumerate().skip(i) {
            let entry = |r: usize, c: usize| matrix[(row + r) * n + column + c];
            let coupled = i == j || (0..rows).any(|r| (0..columns).any(|c| entry(r, c) != 0.0));
            if coupled {
                let start = problem.quadratic_values.len();
                problem.quadratic.push(Quadratic { blocks: [first + i as u32, first + j as u32], start });
                for r in 0..rows {
                    problem.quadratic_values.extend((0..columns).map(|c| entry(r, c)));
                }
                if mover.geometric > 0.0 && i == j {
                    // Below its own inertia the explicit direction is stable, and momentum is conserved exactly.
                    let least = (3..6).map(|k| entry(k, k)).fold(f64::INFINITY, f64::min);
                    let more = (mover.geometric - least).max(0.0);
                    (3..6).for_each(|k| problem.quadratic_values[start + k * columns + k] += more);
                }
            }
            column += columns;
        }
        row += rows;
    }
}

/// Displacement of a contact by velocity changes.
fn displacement(problem: &ConvexProblem, segments: [u32; 2], x: &[f64]) -> Vec3 {
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

/// Distributes the friction and slip of a patch over its contacts.
fn spread_friction(patch: &FrictionPatch, problem: &ConvexProblem, contacts: &[u32], ends: &mut [ContactEnd]) {
    let f = &patch.state.force;
    let [n, t, s] = &patch.frame;
    let gyration = patch.gyration();
    for (k, &m) in problem.members[patch.members.clone()].iter().enumerate() {
        let (contact, end) = (&problem.contacts[m as usize], &mut ends[contacts[m as usize] as usize]);
        (end.friction, end.slip) = (Vec3::zeros(), Vec3::zeros());
        if patch.pressure <= 0.0 {
            continue;
        }
        let own = &contact.normal;
        let tangential = |v: Vec3| v - v.dot(own) * own;
        let spin = if patch.spins { f.z / gyration * n.cross(&(contact.place - patch.centre)) } else { Vec3::zeros() };
        end.friction = patch.patch.points[k].share * tangential(f.x * t + f.y * s + spin);
        let slip: &Vector3<f64> = &patch.state.slip;
        end.slip = tangential(patch.slip_at(slip, &contact.place));
    }
}

/// Rotation of the contacts of a pair: that of the second collider.
fn frame(bodies: &Bodies, pair: &Pair) -> Mat3 {
    bodies.expect(pair.b.body).frame(pair.b.index())
}

/// Normal law of a contact: the elastic foundation of the skin, or a stiff spring.
fn law_of(contact: &Contact, parameters: &ContactParameters) -> NormalLaw {
    if contact.layer.softness > 0.0 {
        NormalLaw { softness: contact.layer.softness, thickness: contact.layer.thickness }
    } else {
        // Contacts with an area share the load by area.
        let part = if contact.area > 0.0 { contact.area / UNIT_AREA } else { 1.0 };
        NormalLaw { softness: 1.0 / (part * parameters.hardness), thickness: f64::INFINITY }
    }
}

/// Correction of the gap of a contact that begins the step too deep, m.
fn shift_of(contact: &Contact, parameters: &ContactParameters, h: f64) -> f64 {
    let law = law_of(contact, parameters);
    let allowed = if law.thickness.is_finite() { NormalLaw::FULL * law.thickness } else { HARD_DEPTH };
    (-contact.gap - allowed - h * RECOVERY).max(0.0)
}

/// The shear length of a contact.
fn shear_length(contact: &Contact, parameters: &ContactParameters) -> f64 {
    if contact.layer.softness > 0.0 { parameters.shear_length } else { parameters.hard_shear_length }
}
