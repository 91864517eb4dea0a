mod assembly;
mod results;
mod rows;

use std::ops::Range;

use super::aggregate::{Aggregate, TouchingPoint};
use super::attachment::Attachment;
use super::group::{Group, PositionStage};
use super::islands::{ContactInputs, Islands};
use super::memory::{ContactMemory, Memory, Remembered};
use super::parameters::{ContactParameters, Method};
use super::proximity::Proximity;
use super::tool::{ToolMemory, ToolProblem};
use crate::body::{Bodies, BodyId, ColliderId, PartId};
use crate::math::Vec3;
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
    tool_memory: ToolMemory,
    // Working memory.
    parents: Vec<u32>,
    points: Vec<TouchingPoint>,
    part: Vec<TouchingPoint>,
    parts: Vec<u32>,
    chosen: Vec<u32>,
    group_of: Vec<u32>,
}

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

    /// Removes the problems of the last step, whichever method solved them. What contacts remember is kept.
    pub fn clear(&mut self) {
        self.blocks.clear();
        self.rows.clear();
        (self.aggregate_count, self.group_count) = (0, 0);
        self.islands.clear();
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
        let inputs = ContactInputs { proximity, attachments, parameters, memory: &self.memory, h };
        self.islands.build(bodies, &inputs, first);
    }

    /// Adds the contacts that the second search found.
    pub fn include_found(&mut self, bodies: &Bodies, proximity: &Proximity, parameters: &ContactParameters, h: f64) {
        self.islands.include_found(bodies, proximity, parameters, h);
    }

    /// Condenses the solved contact problem on the constraints of a body.
    pub fn hand_over(
        &mut self,
        bodies: &Bodies,
        proximity: &Proximity,
        tool: BodyId,
        parameters: &ContactParameters,
        attachment_stiffness: f64,
        out: &mut ToolProblem,
    ) {
        let memory = &mut self.tool_memory;
        self.islands.hand_over(bodies, proximity, tool, parameters, attachment_stiffness, memory, out);
    }

    /// Sets the shear displacement in the world that a contact starts the next step with, if it was closed.
    pub fn set_shear(&mut self, bodies: &Bodies, key: (ColliderId, ColliderId, u64), shear: &Vec3) {
        let Some(body) = bodies.get(key.1.body) else { return };
        if let Some(contact) = self.contact_memory.find_mut(key) {
            contact.shear = body.frame(key.1.index()).transpose() * shear;
        }
    }

    /// Keeps what the next step starts from.
    pub fn keep(&mut self, bodies: &Bodies, proximity: &Proximity, parameters: &ContactParameters, slow: f64, h: f64) {
        let memory = (&mut self.memory, &mut self.contact_memory);
        self.islands.remember(bodies, proximity, parameters, (slow, h), memory);
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
}

/// The representative of the set that `i` belongs to (union-find with path halving).
pub(super) fn root(parents: &mut [u32], mut i: u32) -> u32 {
    while parents[i as usize] != i {
        parents[i as usize] = parents[parents[i as usize] as usize];
        i = parents[i as usize];
    }
    i
}
