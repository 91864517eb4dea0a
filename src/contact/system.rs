use std::ops::Range;

use super::aggregate::{Aggregate, Pressure, TouchingPoint, split_by_normal, tangents};
use super::anchor::Contact;
use super::attachment::Attachment;
use super::group::{Group, PositionStage};
use super::islands::Islands;
use super::memory::{ContactMemory, Memory, Remembered, RememberedContact};
use super::parameters::{ContactParameters, Method};
use super::proximity::{Pair, Proximity};
use crate::body::{Bodies, BodyId, BodyKind};
use crate::math::Vec3;
use crate::problem::Law;
use crate::solver::GaussSeidel;

/// One constraint: a block of rows with a law.
#[derive(Clone, Debug)]
pub struct Block {
    /// What it came from.
    pub source: Source,
    /// Its rows among those of the whole system.
    pub rows: Range<usize>,
    /// The bodies it moves.
    pub bodies: [Option<BodyKind>; 4],
    /// Coefficient of friction.
    pub mu: f64,
    /// Gap along its first row at the start of the step, m.
    pub gap: f64,
    /// How far the skin's outermost layer gives way along the first row: under the force of the last step, and once solved under that
    /// of this one, m.
    pub given: f64,
    /// How far the skin's outermost layer gives way along each row per newton (or newton metre), m/N (or 1/N·m).
    pub compliance: [f64; 4],
    /// The frame of its rows: normal and two tangents.
    pub frame: [Vec3; 3],
    /// Force along the normal and the tangents, N, and torque about the normal, N·m, once solved.
    pub force: [f64; 4],
}

/// What a block of rows came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// One contact of a pair.
    Point {
        /// The pair.
        pair: usize,
        /// The contact.
        contact: usize,
    },
    /// Contacts of a pair together.
    Aggregate {
        /// The pair.
        pair: usize,
        /// Which of the aggregates.
        aggregate: usize,
        /// Which part of the pair, if it was split.
        part: u32,
    },
    /// An attachment.
    Attachment(usize),
}

/// Part of a row: a direction at a contact.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowTerm {
    pub contact: u32,
    pub direction: Vec3,
}

/// Rows of constraints, each a sum of terms.
#[derive(Debug, Default)]
pub(super) struct Rows {
    terms: Vec<RowTerm>,
    /// One past the last term of each row.
    ends: Vec<usize>,
}

impl Rows {
    pub fn clear(&mut self) {
        self.terms.clear();
        self.ends.clear();
    }

    pub fn len(&self) -> usize {
        self.ends.len()
    }

    pub fn push(&mut self, terms: impl Iterator<Item = RowTerm>) {
        self.terms.extend(terms);
        self.ends.push(self.terms.len());
    }

    /// The terms of a row.
    pub fn terms(&self, row: usize) -> &[RowTerm] {
        &self.terms[if row == 0 { 0 } else { self.ends[row - 1] }..self.ends[row]]
    }
}

/// Contacts and attachments as rows with laws, sorted into groups of bodies that touch each other; with all its memory.
#[derive(Debug, Default)]
pub struct System {
    /// The constraints.
    pub blocks: Vec<Block>,
    /// The aggregates among them; those past [`System::aggregate_count`] are spare.
    aggregates: Vec<Aggregate>,
    aggregate_count: usize,
    /// Contacts of each aggregate, in the order of its rows.
    members: Vec<Vec<u32>>,
    rows: Rows,
    /// Groups; those past [`System::group_count`] are spare.
    groups: Vec<Group>,
    group_count: usize,
    pub(super) memory: Memory<Remembered>,
    pub(super) contact_memory: ContactMemory,
    /// The contact problem of the step, island by island.
    pub islands: Islands,
    // Working memory.
    parents: Vec<u32>,
    points: Vec<TouchingPoint>,
    part: Vec<TouchingPoint>,
    parts: Vec<u32>,
    chosen: Vec<u32>,
    group_of: Vec<u32>,
}

/// Gap after the free motion below which things are as good as touching, m.
const TOUCHING: f64 = 2e-4;

/// An aggregate's friction is solved over the cells of a grid with this many a side, if it has more contacts than cells.
const PATCH_CELLS: usize = 6;

impl System {
    /// The groups of the last step.
    pub fn groups(&self) -> &[Group] {
        &self.groups[..self.group_count]
    }

    /// The groups of the last step, to be solved.
    pub fn groups_mut(&mut self) -> &mut [Group] {
        &mut self.groups[..self.group_count]
    }

    /// The aggregates of the last step.
    pub fn aggregates(&self) -> &[Aggregate] {
        &self.aggregates[..self.aggregate_count]
    }

    /// Contacts of an aggregate, in the order of its rows.
    pub fn members(&self, aggregate: usize) -> &[u32] {
        &self.members[aggregate]
    }

    /// Contacts that take part in constraints.
    pub fn touching(&self) -> usize {
        let points = self.blocks.iter().filter(|b| matches!(b.source, Source::Point { .. })).count();
        points + self.members[..self.aggregate_count].iter().map(Vec::len).sum::<usize>()
    }

    /// Makes blocks of the contacts and attachments, and groups of the blocks.
    pub fn build(
        &mut self,
        bodies: &mut Bodies,
        near: &mut Proximity,
        attachments: &[Attachment],
        parameters: &ContactParameters,
    ) {
        for pair in &near.pairs {
            for contact in &mut near.contacts[pair.contacts.clone()] {
                let before = self.contact_memory.find((pair.a, pair.b, contact.feature));
                contact.layer.pressed = before.map_or(0.0, |m| m.pressure);
            }
        }
        self.blocks.clear();
        self.rows.clear();
        self.aggregate_count = 0;
        for (index, pair) in near.pairs.iter().enumerate() {
            if pair.aggregate && parameters.method == Method::Aggregate {
                self.aggregate_pair(bodies, near, index, pair, parameters);
            } else {
                self.point_pair(bodies, near, index, pair);
            }
        }
        let mut first = near.pairs.last().map_or(0, |p| p.contacts.end);
        for (index, attachment) in attachments.iter().enumerate() {
            self.attach(bodies, near, index, attachment, first);
            first += attachment.links_count();
        }
        self.sort_into_groups(bodies);
    }

    /// Three rows a contact. Contacts that the free motion leaves open take part too if they are as good as touching: the other forces of
    /// the step may close them.
    fn point_pair(&mut self, bodies: &Bodies, near: &Proximity, index: usize, pair: &Pair) {
        for i in pair.contacts.clone() {
            let contact = &near.contacts[i];
            let before = self.memory.find((pair.a, pair.b, contact.feature));
            if contact.free_gap >= TOUCHING {
                continue;
            }
            let [t, s] = tangents(&contact.normal);
            let frame = [contact.normal, t, s];
            let first = self.rows.len();
            for direction in frame {
                self.rows.push(std::iter::once(RowTerm { contact: i as u32, direction }));
            }
            self.blocks.push(Block {
                source: Source::Point { pair: index, contact: i },
                rows: first..first + 3,
                bodies: touched(bodies, contact),
                mu: pair.friction.now(before),
                gap: contact.gap,
                given: contact.layer.depth(contact.layer.pressed),
                compliance: [
                    contact.layer.compliance(contact.layer.pressed),
                    contact.shear_compliance,
                    contact.shear_compliance,
                    0.0,
                ],
                frame,
                force: start_force(&frame, before),
            });
        }
    }

    /// Four rows for the contacts of a pair that the free motion closes, or for each part of them that looks one way. If it closes none,
    /// those that are as good as touching stand in, the nearer the more.
    fn aggregate_pair(
        &mut self,
        bodies: &Bodies,
        near: &Proximity,
        index: usize,
        pair: &Pair,
        parameters: &ContactParameters,
    ) {
        let contacts = &near.contacts[pair.contacts.clone()];
        let spread = parameters.pressure == Pressure::NonUniform;
        let pressed: f64 = contacts.iter().filter(|_| spread).map(|c| c.layer.pressed).sum();
        let least = contacts.iter().map(|c| c.free_gap).fold(f64::INFINITY, f64::min);
        // By what the tissue asks for; otherwise by depth, or by the area of what is deep at all. If nothing is, those that are as
        // good as touching stand in, the nearer the more.
        let limit = if least < 0.0 { 0.0 } else { TOUCHING };
        let weight = |i: usize| {
            let c = &near.contacts[i];
            if pressed > 0.0 {
                c.layer.pressed
            } else if parameters.pressure == Pressure::Uniform {
                if c.free_gap < limit { c.area } else { 0.0 }
            } else {
                c.area * (limit - c.free_gap).max(0.0)
            }
        };
        self.points.clear();
        self.chosen.clear();
        for i in pair.contacts.clone() {
            let (c, weight) = (&near.contacts[i], weight(i));
            if weight > 0.0 {
                let depth = (limit - c.free_gap).max(0.0);
                let part = self.contact_memory.find((pair.a, pair.b, c.feature)).and_then(|m| m.part);
                self.points.push(TouchingPoint { place: c.places[0], normal: c.normal, depth, weight, part });
                self.chosen.push(i as u32);
            }
        }
        if self.points.is_empty() {
            return;
        }
        let angle = if parameters.split { parameters.split_angle } else { std::f64::consts::PI };
        let mut parts = std::mem::take(&mut self.parts);
        let count = split_by_normal(&self.points, angle, &mut parts) as u32;
        let split = parts.iter().any(|&part| part != parts[0]);
        for part in 0..count {
            let slot = self.aggregate_count;
            if slot == self.aggregates.len() {
                self.aggregates.push(Aggregate::default());
                self.members.push(Vec::new());
            }
            self.members[slot].clear();
            self.part.clear();
            let all = self.chosen.iter().zip(&parts).zip(&self.points);
            for ((contact, _), point) in all.filter(|((_, p), _)| **p == part) {
                self.members[slot].push(*contact);
                self.part.push(*point);
            }
            if self.aggregates[slot].update(&self.part) {
                self.aggregate_count += 1;
                self.push_aggregate(bodies, near, index, pair, slot, (part, split));
            }
        }
        self.parts = parts;
    }

    fn push_aggregate(
        &mut self,
        bodies: &Bodies,
        near: &Proximity,
        index: usize,
        pair: &Pair,
        slot: usize,
        (part, split): (u32, bool),
    ) {
        let (aggregate, members) = (&self.aggregates[slot], &self.members[slot]);
        let rows = if aggregate.resists_spin { 4 } else { 3 };
        let first = self.rows.len();
        for row in 0..rows {
            let terms = members.iter().zip(&aggregate.rows);
            self.rows.push(terms.map(|(&contact, rows)| RowTerm { contact, direction: rows[row] }));
        }
        let gap = members.iter().zip(&aggregate.patch.points).map(|(&i, p)| p.share * near.contacts[i as usize].gap);
        let before = self.memory.find((pair.a, pair.b, u64::from(part)));
        let frame = [aggregate.normal, aggregate.tangents[0], aggregate.tangents[1]];
        let gap = gap.sum();
        // The layer gives way at every point by its part of the force. Along the skin only where the pair is split: there the friction of
        // one part does what the pressure of the other does, and without it nothing says which of them.
        let (mut compliance, mut given) = ([0.0; 4], 0.0);
        let force = start_force(&frame, before);
        for ((&i, rows), point) in members.iter().zip(&aggregate.rows).zip(&aggregate.patch.points) {
            let contact = &near.contacts[i as usize];
            let (layer, pressed) = (&contact.layer, point.share * force[0]);
            let shear = if split { contact.shear_compliance } else { 0.0 };
            for ((sum, give), row) in
                compliance.iter_mut().zip([layer.compliance(pressed), shear, shear, shear]).zip(rows)
            {
                *sum += give * row.norm_squared();
            }
            given += point.share * layer.depth(pressed);
        }
        self.blocks.push(Block {
            source: Source::Aggregate { pair: index, aggregate: slot, part },
            rows: first..first + rows,
            bodies: touched(bodies, &near.contacts[members[0] as usize]),
            mu: pair.friction.now(before),
            gap,
            given,
            compliance,
            frame,
            force,
        });
    }

    /// Rows of an attachment whose links begin at some contact.
    fn attach(&mut self, bodies: &Bodies, near: &Proximity, index: usize, attachment: &Attachment, first_link: usize) {
        let first_row = self.rows.len();
        attachment.directions(&near.contacts[first_link..], |link, direction| {
            self.rows.push(std::iter::once(RowTerm { contact: (first_link + link) as u32, direction }));
        });
        self.blocks.push(Block {
            source: Source::Attachment(index),
            rows: first_row..self.rows.len(),
            bodies: touched(bodies, &near.contacts[first_link]),
            mu: 0.0,
            gap: 0.0,
            given: 0.0,
            compliance: [0.0; 4],
            frame: [Vec3::zeros(); 3],
            force: [0.0; 4],
        });
    }

    /// Bodies that touch, directly or through others, form a group; the static world joins nothing.
    fn sort_into_groups(&mut self, bodies: &Bodies) {
        self.parents.clear();
        self.parents.extend(0..bodies.count() as u32);
        for block in &self.blocks {
            let mut ids = block.bodies.iter().flatten().map(|&kind| bodies.id(kind).0);
            let Some(first) = ids.next() else { continue };
            for id in ids {
                let (a, b) = (root(&mut self.parents, first), root(&mut self.parents, id));
                self.parents[a.max(b) as usize] = a.min(b);
            }
        }
        self.group_count = 0;
        self.group_of.clear();
        self.group_of.resize(bodies.count(), u32::MAX);
        for (index, block) in self.blocks.iter().enumerate() {
            let Some(kind) = block.bodies.iter().flatten().next() else { continue };
            let root = root(&mut self.parents, bodies.id(*kind).0) as usize;
            if self.group_of[root] == u32::MAX {
                self.group_of[root] = self.group_count as u32;
                if self.group_count == self.groups.len() {
                    self.groups.push(Group::default());
                }
                self.groups[self.group_count].clear();
                self.group_count += 1;
            }
            self.groups[self.group_of[root] as usize].blocks.push(index);
        }
    }

    /// Sets up every group's contact problem: the Delassus operator, free velocities, laws and the forces to start from.
    pub fn assemble(&mut self, bodies: &mut Bodies, near: &Proximity, parameters: &ContactParameters, h: f64) {
        let Self { blocks, aggregates, rows, groups, group_count, .. } = self;
        for group in &mut groups[..*group_count] {
            group.number_rows(blocks, bodies);
            group.assemble_operator(bodies, rows, &near.contacts, h);
            for &index in &group.blocks {
                let block = &blocks[index];
                for row in block.rows.clone() {
                    let velocity = |t: &RowTerm| t.direction.dot(&near.contacts[t.contact as usize].free_velocity);
                    group.problem.free.push(rows.terms(row).iter().map(velocity).sum());
                }
                let first = group.problem.free.len() - block.rows.len();
                group.forces.extend_from_slice(&[0.0; 6][..block.rows.len()]);
                let law = match block.source {
                    Source::Attachment(_) => Law::Equality(block.rows.len()),
                    Source::Aggregate { aggregate, .. } if block.rows.len() == 4 => {
                        let mut patch = group.spare_patches.pop().unwrap_or_default();
                        aggregates[aggregate].patch.condense(PATCH_CELLS, &mut patch);
                        Law::Aggregate { mu: block.mu, patch, friction: parameters.friction }
                    }
                    _ => Law::Coulomb { mu: block.mu },
                };
                if !matches!(law, Law::Equality(_)) {
                    // What gives way does so by the difference to the force of the last step.
                    let n = group.rows();
                    for row in 0..block.rows.len() {
                        group.problem.free[first + row] -= block.compliance[row] * block.force[row] / h;
                        group.problem.delassus[(first + row) * (n + 1)] += block.compliance[row] / h;
                    }
                    // What is not yet touching may come as near as it takes to touch.
                    group.problem.free[first] += (block.gap + block.given).max(0.0) / h;
                    group.forces[first..first + block.rows.len()].copy_from_slice(&block.force[..block.rows.len()]);
                }
                group.problem.laws.push(law);
            }
        }
    }

    /// Starts the contact problem of a step from the free motion and the memory of the last step.
    pub fn start(&mut self, bodies: &Bodies, near: &Proximity, parameters: &ContactParameters, h: f64) {
        self.islands.start(bodies, near, &self.contact_memory, parameters, h);
    }

    /// Makes the convex problem of every island about the present state.
    pub fn formulate(
        &mut self,
        bodies: &mut Bodies,
        near: &Proximity,
        attachments: &[Attachment],
        parameters: &ContactParameters,
        h: f64,
        first: bool,
    ) {
        self.islands.build(bodies, near, attachments, parameters, &self.memory, h, first);
    }

    /// Keeps what the next step starts from.
    pub fn keep(&mut self, bodies: &Bodies, near: &Proximity, parameters: &ContactParameters, slow: f64, h: f64) {
        self.islands.remember(bodies, near, &mut self.memory, &mut self.contact_memory, parameters, slow, h);
    }

    /// Post-stabilisation: solves non-penetration and attachment on positions. Returns whether anything moved.
    pub fn correct_positions(
        &mut self,
        bodies: &mut Bodies,
        near: &Proximity,
        solver: &GaussSeidel,
        offset: f64,
        h: f64,
    ) -> bool {
        let Self { blocks, rows, groups, group_count, .. } = self;
        let stage = PositionStage { blocks, rows, contacts: &near.contacts, solver, offset, h };
        let mut moved = false;
        for group in &mut groups[..*group_count] {
            moved |= group.correct_positions(bodies, &stage);
        }
        moved
    }

    /// Takes the solved forces over into the blocks, and remembers them for the next step. A contact slides if it moves faster than
    /// `slow`, m/s.
    pub fn remember(&mut self, near: &Proximity, slow: f64) {
        let Self { blocks, groups, group_count, memory, contact_memory, aggregates, members, .. } = self;
        memory.clear();
        contact_memory.clear();
        for group in &groups[..*group_count] {
            for (place, &index) in group.blocks.iter().enumerate() {
                let block = &mut blocks[index];
                let first = group.starts[place];
                let key = |pair: usize, feature: u64| (near.pairs[pair].a, near.pairs[pair].b, feature);
                let key = match block.source {
                    Source::Point { pair, contact } => key(pair, near.contacts[contact].feature),
                    Source::Aggregate { pair, part, .. } => key(pair, u64::from(part)),
                    Source::Attachment(_) => continue,
                };
                let pressed = group.forces[first];
                block.given = match block.source {
                    Source::Aggregate { aggregate, .. } => {
                        let shares = members[aggregate].iter().zip(&aggregates[aggregate].patch.points);
                        let depth = |i: u32, share: f64| near.contacts[i as usize].layer.depth(share * pressed);
                        shares.map(|(&i, p)| p.share * depth(i, p.share)).sum()
                    }
                    Source::Point { contact, .. } => near.contacts[contact].layer.depth(pressed),
                    Source::Attachment(_) => 0.0,
                };
                block.force = [0.0; 4];
                block.force[..block.rows.len()].copy_from_slice(&group.forces[first..first + block.rows.len()]);
                let [n, t, s, torque] = block.force;
                let velocity = |row: usize| group.problem.velocity(first + row, &group.forces);
                let sliding = n > 0.0 && f64::hypot(velocity(1), velocity(2)) > slow;
                let force = n * block.frame[0] + t * block.frame[1] + s * block.frame[2];
                memory.keep(key, Remembered { force, torque, sliding });
                if let Source::Point { .. } = block.source {
                    let friction = t * block.frame[1] + s * block.frame[2];
                    contact_memory.keep(
                        key,
                        RememberedContact { pressure: n, bound: n, friction, part: None, shear: Vec3::zeros() },
                    );
                }
                let Source::Aggregate { pair, aggregate, part } = block.source else { continue };
                for (&contact, rows) in members[aggregate].iter().zip(&aggregates[aggregate].rows) {
                    let key = (near.pairs[pair].a, near.pairs[pair].b, near.contacts[contact as usize].feature);
                    let (pressure, friction) = (n * rows[0].norm(), t * rows[1] + s * rows[2] + torque * rows[3]);
                    contact_memory.keep(
                        key,
                        RememberedContact {
                            pressure,
                            bound: pressure,
                            friction,
                            part: Some(part),
                            shear: Vec3::zeros(),
                        },
                    );
                }
            }
        }
        memory.sort();
        contact_memory.sort();
    }
}

/// The bodies that a contact moves.
pub(super) fn touched(bodies: &Bodies, contact: &Contact) -> [Option<BodyKind>; 4] {
    let ([a, b], [c, d]) = (contact.a.bodies(bodies), contact.b.bodies(bodies));
    [a, b, c, d]
}

/// Forces to start from: those of the last step, in the frame of this one.
fn start_force(frame: &[Vec3; 3], before: Option<&Remembered>) -> [f64; 4] {
    let Some(before) = before else { return [0.0; 4] };
    let [n, t, s] = frame.map(|axis| axis.dot(&before.force));
    [n.max(0.0), t, s, before.torque]
}

/// The representative of the set that `i` belongs to (union-find with path halving).
pub(super) fn root(parents: &mut [u32], mut i: u32) -> u32 {
    while parents[i as usize] != i {
        parents[i as usize] = parents[parents[i as usize] as usize];
        i = parents[i as usize];
    }
    i
}

/// The pair and feature by which a constraint is known again.
pub(super) type Key = (BodyId, BodyId, u64);
