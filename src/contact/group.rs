use std::ops::Range;

use super::anchor::Contact;
use super::system::{ConstraintBlock, RowTerm, Rows, Source};
use crate::body::{Bodies, PartId};
use crate::problem::{ContactPatch, ContactProblem, Law};
use crate::solver::{GaussSeidel, Solution, SolverMemory};

/// Rows on one part of a group.
#[derive(Clone, Debug)]
struct PartRows {
    id: PartId,
    dofs: usize,
    /// Its rows of the group, as a range of [`Group::touched`].
    rows: Range<usize>,
    /// Offset of its directions and responses.
    data: usize,
}

/// A group of touching bodies and its contact problem.
#[derive(Clone, Debug, Default)]
pub struct Group {
    /// Its constraints, as indices of the system's blocks.
    pub blocks: Vec<usize>,
    /// First row of each, and one past the last.
    pub starts: Vec<usize>,
    /// The contact problem.
    pub problem: ContactProblem,
    /// Forces along its rows.
    pub forces: Vec<f64>,
    /// Result of the solver.
    pub solution: Option<Solution>,
    parts: Vec<PartRows>,
    /// Rows that move each part, part by part.
    touched: Vec<u32>,
    /// Index of each row in the system.
    system_rows: Vec<usize>,
    /// Rows `H` and their responses `A⁻¹ Hᵀ` on each body.
    directions: Vec<f64>,
    responses: Vec<f64>,
    pub(super) spare_patches: Vec<ContactPatch>,
    /// Post-stabilisation: the rows involved, their problem and its solution.
    position_rows: Vec<usize>,
    position_problem: ContactProblem,
    position_forces: Vec<f64>,
    position_shift: Vec<f64>,
    memory: SolverMemory,
    change: Vec<f64>,
}

/// Inputs of post-stabilisation.
#[derive(Clone, Copy)]
pub(super) struct PositionStage<'a> {
    pub blocks: &'a [ConstraintBlock],
    pub rows: &'a Rows,
    pub contacts: &'a [Contact],
    pub solver: &'a GaussSeidel,
    /// Contact offset, m.
    pub offset: f64,
    pub h: f64,
}

/// Position errors below this are ignored, m.
const SLOP: f64 = 1e-8;

/// Maximum position correction per step, m.
const MAX_CORRECTION: f64 = 1e-3;

impl Group {
    /// Clears the group but keeps its memory.
    pub(super) fn clear(&mut self) {
        for law in self.problem.laws.drain(..) {
            if let Law::Aggregate { patch, .. } = law {
                self.spare_patches.push(patch);
            }
        }
        self.problem.delassus.clear();
        self.problem.free.clear();
        self.blocks.clear();
        self.starts.clear();
        self.forces.clear();
        self.parts.clear();
        self.touched.clear();
        self.system_rows.clear();
        self.directions.clear();
        self.responses.clear();
        self.solution = None;
    }

    /// Rows of its problem.
    pub fn rows(&self) -> usize {
        self.starts.last().copied().unwrap_or(0)
    }

    /// Numbers the rows, and lists the bodies with the rows that move them.
    pub(super) fn number_rows(&mut self, blocks: &[ConstraintBlock], bodies: &Bodies) {
        self.starts.push(0);
        for &index in &self.blocks {
            let block = &blocks[index];
            self.starts.push(self.starts[self.starts.len() - 1] + block.rows.len());
            self.system_rows.extend(block.rows.clone());
            for &id in block.parts.iter().flatten() {
                if self.parts.iter().all(|b| b.id != id) {
                    let dofs = bodies.part(id).dofs();
                    self.parts.push(PartRows { id, dofs, rows: 0..0, data: 0 });
                }
            }
        }
        let mut data = 0;
        for body in &mut self.parts {
            let first = self.touched.len();
            for (place, &index) in self.blocks.iter().enumerate() {
                if blocks[index].parts.contains(&Some(body.id)) {
                    self.touched.extend((self.starts[place] as u32)..(self.starts[place + 1] as u32));
                }
            }
            (body.rows, body.data) = (first..self.touched.len(), data);
            data += body.rows.len() * body.dofs;
        }
        self.directions.resize(data, 0.0);
    }

    /// `W = h Σ_bodies H A⁻¹ Hᵀ` (Duriez 2006, eq. 17 and 30; Talvas 2015, eq. 4), body by body over the rows that move it.
    pub(super) fn assemble_operator(&mut self, bodies: &mut Bodies, rows: &Rows, contacts: &[Contact], h: f64) {
        let n = self.rows();
        self.problem.delassus.resize(n * n, 0.0);
        for body in &self.parts {
            let (dofs, touched) = (body.dofs, &self.touched[body.rows.clone()]);
            let data = body.data..body.data + touched.len() * dofs;
            let directions = &mut self.directions[data.clone()];
            for (row, &r) in directions.chunks_exact_mut(dofs).zip(touched) {
                for term in rows.terms(self.system_rows[r as usize]) {
                    contacts[term.contact as usize].add_row(bodies, body.id, &term.direction, row);
                }
            }
            self.responses.extend_from_slice(directions);
            let responses = &mut self.responses[data];
            let part = bodies.part_mut(body.id);
            part.prepare_inverse();
            part.apply_inverse(responses);
            for (i, (left, &r)) in directions.chunks_exact(dofs).zip(touched).enumerate() {
                for (right, &c) in responses.chunks_exact(dofs).zip(touched).take(i + 1) {
                    let w = h * left.iter().zip(right).map(|(a, b)| a * b).sum::<f64>();
                    self.problem.delassus[r as usize * n + c as usize] += w;
                    if r != c {
                        self.problem.delassus[c as usize * n + r as usize] += w;
                    }
                }
            }
        }
    }

    /// Solves for the forces.
    pub fn solve(&mut self, solver: &GaussSeidel, go_on: impl FnMut() -> bool) {
        self.solution = Some(solver.solve_in(&mut self.memory, &self.problem, &mut self.forces, go_on));
    }

    /// `v = v_free + h A⁻¹ Hᵀ λ`.
    pub fn apply_forces(&mut self, bodies: &mut Bodies, h: f64) {
        for body in &self.parts {
            let sum = combine(body, &self.touched, &self.responses, &self.forces, h, &mut self.change);
            bodies.part_mut(body.id).change_velocity(sum);
        }
    }

    /// Solves non-penetration and attachment on positions (Talvas 2015, eq. 5–6 and 10): `q += h A⁻¹ Hᵀ Λ`. Returns whether anything moved.
    pub(super) fn correct_positions(&mut self, bodies: &mut Bodies, stage: &PositionStage<'_>) -> bool {
        self.position_rows.clear();
        self.position_problem.laws.clear();
        self.position_problem.free.clear();
        let mut worst = 0.0f64;
        for (place, &index) in self.blocks.iter().enumerate() {
            let (block, first) = (&stage.blocks[index], self.starts[place]);
            let held = matches!(block.source, Source::Attachment(_));
            let count = if held { block.rows.len() } else { 1 };
            for row in 0..count {
                let error = |t: &RowTerm| {
                    let contact = &stage.contacts[t.contact as usize];
                    let apart = contact.a.place(bodies) - contact.b.place(bodies);
                    let rest = if held { 0.0 } else { stage.offset * t.direction.dot(&contact.normal) };
                    t.direction.dot(&apart) - rest
                };
                let terms = stage.rows.terms(block.rows.start + row).iter();
                let error: f64 = terms.map(error).sum::<f64>() + block.compression;
                // Initially deep penetrations are resolved over several steps, to protect the tissue.
                let error = if held { error } else { error.max(-MAX_CORRECTION) };
                worst = worst.max(if held { error.abs() } else { -error });
                self.position_rows.push(first + row);
                self.position_problem.free.push(error);
            }
            self.position_problem.laws.push(if held { Law::Equality(count) } else { Law::Frictionless });
        }
        if worst <= SLOP {
            return false;
        }
        let n = self.position_rows.len();
        self.position_problem.delassus.clear();
        for &r in &self.position_rows {
            self.position_problem.delassus.extend(self.position_rows.iter().map(|&c| self.problem.w(r, c)));
        }
        self.position_forces.clear();
        self.position_forces.resize(n, 0.0);
        stage.solver.solve_in(&mut self.memory, &self.position_problem, &mut self.position_forces, || true);
        // Over all rows of the group; the others have zero force.
        self.position_shift.clear();
        self.position_shift.resize(self.rows(), 0.0);
        for (&row, &force) in self.position_rows.iter().zip(&self.position_forces) {
            self.position_shift[row] = force;
        }
        for body in &self.parts {
            let sum = combine(body, &self.touched, &self.responses, &self.position_shift, stage.h, &mut self.change);
            bodies.part_mut(body.id).change_position(sum);
        }
        true
    }
}

/// `h Σ_r A⁻¹ H_rᵀ f_r` on one body.
fn combine<'c>(
    body: &PartRows,
    touched: &[u32],
    responses: &[f64],
    forces: &[f64],
    h: f64,
    change: &'c mut Vec<f64>,
) -> &'c [f64] {
    change.clear();
    change.resize(body.dofs, 0.0);
    let rows = &touched[body.rows.clone()];
    let responses = &responses[body.data..body.data + rows.len() * body.dofs];
    for (response, &row) in responses.chunks_exact(body.dofs).zip(rows) {
        let force = h * forces[row as usize];
        if force != 0.0 {
            change.iter_mut().zip(response).for_each(|(x, r)| *x += force * r);
        }
    }
    change
}
