use std::ops::Range;

use super::aggregate::{Aggregate, Pressure, TouchingPoint, split_by_normal, tangents};
use super::attachment::Attachment;
use super::group::{Group, PositionStage};
use super::islands::Islands;
use super::memory::{ContactMemory, Memory, Remembered, RememberedContact};
use super::parameters::{ContactParameters, Method};
use super::proximity::{Pair, Proximity};
use crate::body::{Bodies, PartId};
use crate::math::Vec3;
use crate::problem::Law;
use crate::solver::GaussSeidel;

/// One constraint: a block of rows with a law.
#[derive(Clone, Debug)]
pub struct ConstraintBlock {
    /// Its source.
    pub source: Source,
    /// Its rows in the whole system.
    pub rows: Range<usize>,
    /// The parts it moves.
    pub parts: [Option<PartId>; 4],
    /// Friction coefficient.
    pub mu: f64,
    /// Gap along its first row at the start of the step, m.
    pub gap: f64,
    /// Compression of the elastic foundation along the first row: under the force of the last step, and after the solve
    /// of this one, m.
    pub compression: f64,
    /// Compliance of the elastic foundation along each row, m/N (or 1/(N·m)).
    pub compliance: [f64; 4],
    /// The frame of its rows: normal and two tangents.
    pub frame: [Vec3; 3],
    /// Force along the normal and the tangents, N, and torque about the normal, N·m, once solved.
    pub force: [f64; 4],
}

/// Source of a block of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// One contact of a pair.
    Point {
        /// The pair.
        pair: usize,
        /// The contact.
        contact: usize,
    },
    /// Several contacts of a pair.
    Aggregate {
        /// The pair.
        pair: usize,
        /// Index of the aggregate.
        aggregate: usize,
        /// Part of the pair, if it was split.
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
#[derive(Clone, Debug, Default)]
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

/// Contacts and attachments as rows with laws, in groups of touching bodies; with all its memory.
#[derive(Clone, Debug, Default)]
pub struct System {
    /// The constraints.
    pub blocks: Vec<ConstraintBlock>,
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

/// Gap after the free motion below which contacts count as touching, m.
const TOUCHING: f64 = 2e-4;

/// Cells per side of the friction grid; used if an aggregate has more contacts than cells.
const PATCH_CELLS: usize = 6;

impl System {
    /// The groups of the last step.
    pub fn groups(&self) -> &[Group] {
        &self.groups[..self.group_count]
    }

    /// The groups of the last step, for solving.
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

    /// Number of contacts in constraints.
    pub fn touching(&self) -> usize {
        let points = self.blocks.iter().filter(|b| matches!(b.source, Source::Point { .. })).count();
        points + self.members[..self.aggregate_count].iter().map(Vec::len).sum::<usize>()
    }

    /// Makes blocks of the contacts and attachments, and groups of the blocks.
    pub fn build(
        &mut self,
        bodies: &mut Bodies,
        proximity: &mut Proximity,
        attachments: &[Attachment],
        parameters: &ContactParameters,
    ) {
        for pair in &proximity.pairs {
            for contact in &mut proximity.contacts[pair.contacts.clone()] {
                let before = self.contact_memory.find((pair.a, pair.b, contact.feature));
                contact.layer.pressed = before.map_or(0.0, |m| m.pressure);
            }
        }
        self.blocks.clear();
        self.rows.clear();
        self.aggregate_count = 0;
        for (index, pair) in proximity.pairs.iter().enumerate() {
            if pair.aggregate && parameters.method == Method::Aggregate {
                self.aggregate_pair(bodies, proximity, index, pair, parameters);
            } else {
                self.point_pair(bodies, proximity, index, pair);
            }
        }
        let mut first = proximity.pairs.last().map_or(0, |p| p.contacts.end);
        for (index, attachment) in attachments.iter().enumerate() {
            self.attach(bodies, proximity, index, attachment, first);
            first += attachment.links_count();
        }
        self.sort_into_groups(bodies);
    }

    /// Three rows per contact. Contacts that the free motion leaves open are included if they are almost touching:
    /// other forces of the step may close them.
    fn point_pair(&mut self, bodies: &Bodies, proximity: &Proximity, index: usize, pair: &Pair) {
        for i in pair.contacts.clone() {
            let contact = &proximity.contacts[i];
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
            self.blocks.push(ConstraintBlock {
                source: Source::Point { pair: index, contact: i },
                rows: first..first + 3,
                parts: contact.parts(bodies),
                mu: pair.friction.now(before),
                gap: contact.gap,
                compression: contact.layer.depth(contact.layer.pressed),
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

    /// Four rows for the contacts of a pair that the free motion closes, or for each part with similar normals. If it
    /// closes none, the almost touching ones are used, weighted by closeness.
    fn aggregate_pair(
        &mut self,
        bodies: &Bodies,
        proximity: &Proximity,
        index: usize,
        pair: &Pair,
        parameters: &ContactParameters,
    ) {
        let contacts = &proximity.contacts[pair.contacts.clone()];
        let spread = parameters.pressure == Pressure::NonUniform;
        let pressed: f64 = contacts.iter().filter(|_| spread).map(|c| c.layer.pressed).sum();
        let least = contacts.iter().map(|c| c.free_gap).fold(f64::INFINITY, f64::min);
        // Weighted by compression, by depth, or by the area of penetrating contacts. Without any, the almost touching
        // ones are used, weighted by closeness.
        let limit = if least < 0.0 { 0.0 } else { TOUCHING };
        let weight = |i: usize| {
            let c = &proximity.contacts[i];
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
            let (c, weight) = (&proximity.contacts[i], weight(i));
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
                self.push_aggregate(bodies, proximity, index, pair, slot, (part, split));
            }
        }
        self.parts = parts;
    }

    fn push_aggregate(
        &mut self,
        bodies: &Bodies,
        proximity: &Proximity,
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
        let gap =
            members.iter().zip(&aggregate.patch.points).map(|(&i, p)| p.share * proximity.contacts[i as usize].gap);
        let before = self.memory.find((pair.a, pair.b, u64::from(part)));
        let frame = [aggregate.normal, aggregate.tangents[0], aggregate.tangents[1]];
        let gap = gap.sum();
        // The foundation deforms at every point by its share of the force. Tangentially only if the pair is split:
        // there friction of one part and pressure of the other are redundant without this compliance.
        let (mut compliance, mut compression) = ([0.0; 4], 0.0);
        let force = start_force(&frame, before);
        for ((&i, rows), point) in members.iter().zip(&aggregate.rows).zip(&aggregate.patch.points) {
            let contact = &proximity.contacts[i as usize];
            let (layer, pressed) = (&contact.layer, point.share * force[0]);
            let shear = if split { contact.shear_compliance } else { 0.0 };
            for ((sum, give), row) in
                compliance.iter_mut().zip([layer.compliance(pressed), shear, shear, shear]).zip(rows)
            {
                *sum += give * row.norm_squared();
            }
            compression += point.share * layer.depth(pressed);
        }
        self.blocks.push(ConstraintBlock {
            source: Source::Aggregate { pair: index, aggregate: slot, part },
            rows: first..first + rows,
            parts: proximity.contacts[members[0] as usize].parts(bodies),
            mu: pair.friction.now(before),
            gap,
            compression,
            compliance,
            frame,
            force,
        });
    }

    /// Rows of an attachment whose links start at some contact.
    fn attach(
        &mut self,
        bodies: &Bodies,
        proximity: &Proximity,
        index: usize,
        attachment: &Attachment,
        first_link: usize,
    ) {
        let first_row = self.rows.len();
        attachment.directions(&proximity.contacts[first_link..], |link, direction| {
            self.rows.push(std::iter::once(RowTerm { contact: (first_link + link) as u32, direction }));
        });
        self.blocks.push(ConstraintBlock {
            source: Source::Attachment(index),
            rows: first_row..self.rows.len(),
            parts: proximity.contacts[first_link].parts(bodies),
            mu: 0.0,
            gap: 0.0,
            compression: 0.0,
            compliance: [0.0; 4],
            frame: [Vec3::zeros(); 3],
            force: [0.0; 4],
        });
    }

    /// Bodies in contact, directly or through others, form a group; the static world connects nothing.
    fn sort_into_groups(&mut self, bodies: &Bodies) {
        self.parents.clear();
        self.parents.extend(0..bodies.part_count() as u32);
        for block in &self.blocks {
            let mut ids = block.parts.iter().flatten().map(|&part| bodies.part_index(part) as u32);
            let Some(first) = ids.next() else { continue };
            for id in ids {
                let (a, b) = (root(&mut self.parents, first), root(&mut self.parents, id));
                self.parents[a.max(b) as usize] = a.min(b);
            }
        }
        self.group_count = 0;
        self.group_of.clear();
        self.group_of.resize(bodies.part_count(), u32::MAX);
        for (index, block) in self.blocks.iter().enumerate() {
            let Some(part) = block.parts.iter().flatten().next() else { continue };
            let root = root(&mut self.parents, bodies.part_index(*part) as u32) as usize;
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

    /// Assembles every group's contact problem: the Delassus operator, free velocities, laws and the warm start.
    pub fn assemble(&mut self, bodies: &mut Bodies, proximity: &Proximity, parameters: &ContactParameters, h: f64) {
        let Self { blocks, aggregates, rows, groups, group_count, .. } = self;
        for group in &mut groups[..*group_count] {
            group.number_rows(blocks, bodies);
            group.assemble_operator(bodies, rows, &proximity.contacts, h);
            for &index in &group.blocks {
                let block = &blocks[index];
                for row in block.rows.clone() {
                    let velocity = |t: &RowTerm| t.direction.dot(&proximity.contacts[t.contact as usize].free_velocity);
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
                    // The foundation deforms by the difference to the force of the last step.
                    let n = group.rows();
                    for row in 0..block.rows.len() {
                        group.problem.free[first + row] -= block.compliance[row] * block.force[row] / h;
                        group.problem.delassus[(first + row) * (n + 1)] += block.compliance[row] / h;
                    }
                    // Open contacts may close their gap.
                    group.problem.free[first] += (block.gap + block.compression).max(0.0) / h;
                    group.forces[first..first + block.rows.len()].copy_from_slice(&block.force[..block.rows.len()]);
                }
                group.problem.laws.push(law);
            }
        }
    }

    /// Starts the contact problem of a step from the free motion and the memory of the last step.
    pub fn start(&mut self, bodies: &Bodies, proximity: &Proximity, parameters: &ContactParameters, h: f64) {
        self.islands.start(bodies, proximity, &self.contact_memory, parameters, h);
    }

    /// Builds the convex problem of every island about the current state.
    pub fn formulate(
        &mut self,
        bodies: &mut Bodies,
        proximity: &Proximity,
        attachments: &[Attachment],
        parameters: &ContactParameters,
        h: f64,
        first: bool,
    ) {
        self.islands.build(bodies, proximity, attachments, parameters, &self.memory, h, first);
    }

    /// Takes the contacts in that the second search found.
    pub fn include_found(&mut self, bodies: &Bodies, proximity: &Proximity, parameters: &ContactParameters, h: f64) {
        self.islands.include_found(bodies, proximity, parameters, h);
    }

    /// Keeps what the next step starts from.
    pub fn keep(&mut self, bodies: &Bodies, proximity: &Proximity, parameters: &ContactParameters, slow: f64, h: f64) {
        self.islands.remember(bodies, proximity, &mut self.memory, &mut self.contact_memory, parameters, slow, h);
    }

    /// Post-stabilisation: solves non-penetration and attachment on positions. Returns whether anything moved.
    pub fn correct_positions(
        &mut self,
        bodies: &mut Bodies,
        proximity: &Proximity,
        solver: &GaussSeidel,
        offset: f64,
        h: f64,
    ) -> bool {
        let Self { blocks, rows, groups, group_count, .. } = self;
        let stage = PositionStage { blocks, rows, contacts: &proximity.contacts, solver, offset, h };
        let mut moved = false;
        for group in &mut groups[..*group_count] {
            moved |= group.correct_positions(bodies, &stage);
        }
        moved
    }

    /// Copies the solved forces to the blocks, and stores them for the next step. A contact slides if it moves faster
    /// than `slow`, m/s.
    pub fn remember(&mut self, proximity: &Proximity, slow: f64) {
        let Self { blocks, groups, group_count, memory, contact_memory, aggregates, members, .. } = self;
        memory.clear();
        contact_memory.clear();
        for group in &groups[..*group_count] {
            for (place, &index) in group.blocks.iter().enumerate() {
                let block = &mut blocks[index];
                let first = group.starts[place];
                let key = |pair: usize, feature: u64| (proximity.pairs[pair].a, proximity.pairs[pair].b, feature);
                let key = match block.source {
                    Source::Point { pair, contact } => key(pair, proximity.contacts[contact].feature),
                    Source::Aggregate { pair, part, .. } => key(pair, u64::from(part)),
                    Source::Attachment(_) => continue,
                };
                let pressed = group.forces[first];
                block.compression = match block.source {
                    Source::Aggregate { aggregate, .. } => {
                        let shares = members[aggregate].iter().zip(&aggregates[aggregate].patch.points);
                        let depth = |i: u32, share: f64| proximity.contacts[i as usize].layer.depth(share * pressed);
                        shares.map(|(&i, p)| p.share * depth(i, p.share)).sum()
                    }
                    Source::Point { contact, .. } => proximity.contacts[contact].layer.depth(pressed),
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
                    let key = (
                        proximity.pairs[pair].a,
                        proximity.pairs[pair].b,
                        proximity.contacts[contact as usize].feature,
                    );
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

/// Initial forces: those of the last step, in the frame of this one.
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
