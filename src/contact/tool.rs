use crate::body::{Bodies, BodyId, ColliderId, MaterialPoint};
use crate::math::Vec3;

use super::aggregate::tangents;
use super::anchor::Contact;
use super::islands::{Island, Islands, displacement, shear_length};
use super::parameters::ContactParameters;
use super::proximity::Proximity;
use crate::problem::JacobianSegment;
use crate::solver::{add_scaled, invert};

/// The contact problem of one body, the tool, after a step of the scene, condensed on the constraints of the tool (Duriez 2004, §4; Peterlik
/// 2011, step S6). A faster loop solves it again while the tool moves.
///
/// The rows are directions of the relative displacement `a − b` of the two points of each constraint: normal and two tangents of a contact, or one row
/// of an attachment. With `H` the Hessian of the cost of the island ([`crate::problem::ConvexProblem`]) at the solution, restricted to the other bodies
/// and without the constraints of the tool, and `J` their Jacobian in the rows times the step, forces `λ` on the rows move the environment by
/// `W λ`, `W = J H⁻¹ Jᵀ`. `H` has the tangent stiffness of all other contacts, so an object that rests on the ground is as
/// stiff as object and ground.
///
/// DEVIATION: Peterlik's `J_v A_v⁻¹ J_vᵀ` is that of the touched object alone. An object lighter than the tool that lies on a table would then be felt as free,
/// and the two loops would overshoot each other.
#[derive(Clone, Debug, Default)]
pub struct ToolProblem {
    /// Increases with every problem.
    pub number: u64,
    /// Time at the end of the step, s.
    pub time: f64,
    /// Length of the step, s.
    pub step: f64,
    /// The constraints.
    pub constraints: Vec<ToolConstraint>,
    /// `W`, row by row, m/N.
    pub compliance: Vec<f64>,
    /// Forces of the scene on the rows, N.
    pub forces: Vec<f64>,
}

/// A contact or a row of an attachment of a tool.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolConstraint {
    /// The colliders and the feature of a contact, or the number of the row of an attachment.
    pub key: (ColliderId, ColliderId, u64),
    /// The point of the tool.
    pub point: MaterialPoint,
    /// One if the tool is the first body `a` of the relative displacement, minus one if it is the second.
    pub sign: f64,
    /// Position of the point at the end of the step, m.
    pub place: Vec3,
    /// Directions of the rows. An attachment has one.
    pub directions: [Vec3; 3],
    /// Whether it is a contact.
    pub contact: bool,
    /// Gap at the end of the step of an open contact, m; zero otherwise.
    pub gap: f64,
    /// Velocity of the environment along the relative displacement, m/s.
    pub environment: Vec3,
    /// Compliance of the constraint itself: the tangent of the elastic foundation, m/N.
    pub softness: f64,
    /// Friction coefficient.
    pub friction: f64,
    /// Shear length: the tangential stiffness is the normal force divided by it, m.
    pub shear_length: f64,
    /// Shear displacement at the end of the step, m.
    pub shear: Vec3,
}

impl ToolConstraint {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        if self.contact { 3 } else { 1 }
    }
}

impl ToolProblem {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.forces.len()
    }

    /// Force on the tool for forces on the rows, N.
    pub fn force_on_tool(&self, forces: &[f64]) -> Vec3 {
        let mut at = forces.iter();
        self.constraints.iter().fold(Vec3::zeros(), |sum, c| {
            let rows = c.directions[..c.rows()].iter().zip(&mut at);
            sum + c.sign * rows.map(|(d, f)| *f * d).sum::<Vec3>()
        })
    }
}

/// Working memory of the condensation.
#[derive(Clone, Debug, Default)]
pub(super) struct ToolMemory {
    /// First unknown of each block of the environment, or `None` for blocks of the tool.
    starts: Vec<Option<u32>>,
    hessian: Vec<f64>,
    work: Vec<f64>,
    /// Entries of one row.
    row: Vec<(u32, f64)>,
    /// Rows of `J`, and of `J H⁻¹`.
    rows: Vec<f64>,
    solved: Vec<f64>,
    mu: Vec<f64>,
    /// Segments and direction of each row.
    directions: Vec<([u32; 2], Vec3)>,
    moved: Vec<f64>,
}

impl Islands {
    /// Condenses the solved problem on the constraints of a body. Its parts move together.
    #[expect(clippy::too_many_arguments, reason = "the inputs of the step")]
    pub(super) fn hand_over(
        &self,
        bodies: &Bodies,
        proximity: &Proximity,
        tool: BodyId,
        parameters: &ContactParameters,
        attachment_stiffness: f64,
        memory: &mut ToolMemory,
        out: &mut ToolProblem,
    ) {
        out.constraints.clear();
        out.compliance.clear();
        out.forces.clear();
        let Some((island, blocks)) = self.island_of_body(tool) else { return };
        let problem = &island.problem;
        // The tissue of a hand yields beside its skeleton, which moves the rows in the fast loop.
        let is_hand = bodies.get(tool).is_some_and(|body| body.part_count() > 1 && body.deformation().is_none());
        let mut unknowns = 0;
        memory.starts.clear();
        for (block, &size) in problem.sizes.iter().enumerate() {
            let own = blocks.clone().any(|own| own.contains(&(block as u32)));
            memory.starts.push((!own).then_some(unknowns));
            unknowns += if own { 0 } else { size as u32 };
        }
        let n = unknowns as usize;
        memory.assemble(island, n, attachment_stiffness);
        if n > 0 {
            memory.work.clear();
            memory.work.resize(n * n, 0.0);
            invert(&mut memory.hessian, n, &mut memory.work);
        }
        memory.list_friction(island);
        memory.rows.clear();
        memory.directions.clear();
        for (k, (term, &i)) in problem.contacts.iter().zip(&island.contacts).enumerate() {
            let contact = &proximity.contacts[i as usize];
            let Some(side) = side(contact, tool) else { continue };
            let end = &self.ends[i as usize];
            let [t, s] = tangents(&end.normal);
            let pressed = end.pressure > 0.0;
            let pair = proximity.pairs.iter().find(|p| p.contacts.contains(&(i as usize)));
            let Some(pair) = pair else { continue };
            out.constraints.push(ToolConstraint {
                key: (pair.a, pair.b, contact.feature),
                directions: [end.normal, t, s],
                contact: true,
                gap: if pressed { 0.0 } else { end.gap.max(0.0) },
                softness: if pressed { tangent(term, end.pressure) } else { term.law.softness },
                friction: memory.mu[k],
                shear_length: shear_length(contact, parameters),
                shear: end.shear - end.slip,
                ..side.constraint(bodies, is_hand)
            });
            out.forces.extend([end.pressure, end.friction.dot(&t), end.friction.dot(&s)]);
            memory.push_rows(island, term.segments, &[end.normal, t, s], n);
        }
        let links = proximity.pairs.last().map_or(0, |p| p.contacts.end);
        for (k, (term, &link)) in problem.equalities.iter().zip(&island.links).enumerate() {
            let contact = &proximity.contacts[links + link as usize];
            let Some(side) = side(contact, tool) else { continue };
            let error = term.error + term.direction.dot(&displacement(problem, term.segments, &island.x));
            let own = side.constraint(bodies, is_hand);
            out.constraints.push(ToolConstraint {
                key: (own.key.0, own.key.1, k as u64),
                directions: [term.direction, Vec3::zeros(), Vec3::zeros()],
                softness: 1.0 / attachment_stiffness,
                ..own
            });
            out.forces.push(-attachment_stiffness * error);
            memory.push_rows(island, term.segments, &[term.direction], n);
        }
        let rows = out.forces.len();
        out.compliance.resize(rows * rows, 0.0);
        if is_hand {
            memory.add_tissue(island, rows, &mut out.compliance);
        }
        if n > 0 {
            memory.solved.clear();
            memory.solved.resize(rows * n, 0.0);
            let ToolMemory { rows: jacobian, hessian: inverse, solved, .. } = &mut *memory;
            for (row, out) in jacobian.chunks_exact(n).zip(solved.chunks_exact_mut(n)) {
                for (&x, column) in row.iter().zip(inverse.chunks_exact(n)).filter(|(x, _)| **x != 0.0) {
                    add_scaled(out, column, x);
                }
            }
            for i in 0..rows {
                for j in 0..rows {
                    let (a, b) = (&memory.solved[i * n..(i + 1) * n], &memory.rows[j * n..(j + 1) * n]);
                    out.compliance[i * rows + j] += a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                }
            }
        }
    }
}

/// The end of a constraint that is on the tool, and the other one.
struct ToolSide<'c> {
    contact: &'c Contact,
    first: bool,
}

fn side(contact: &Contact, tool: BodyId) -> Option<ToolSide<'_>> {
    match (contact.a.body == tool, contact.b.body == tool) {
        (true, false) => Some(ToolSide { contact, first: true }),
        (false, true) => Some(ToolSide { contact, first: false }),
        _ => None,
    }
}

impl ToolSide<'_> {
    /// `on_bone`: the point is that of the bone under the skin.
    fn constraint(&self, bodies: &Bodies, on_bone: bool) -> ToolConstraint {
        let Contact { a, b, .. } = self.contact;
        let (own, other, sign) = if self.first { (a, b, 1.0) } else { (b, a, -1.0) };
        let there = other.place(bodies);
        let place = own.place(bodies);
        let part = own.point.part as usize;
        let bone = bodies.get(own.body).filter(|_| on_bone).and_then(|body| body.attachment_point(part, &place));
        ToolConstraint {
            key: (ColliderId::new(a.body, 0), ColliderId::new(b.body, 0), 0),
            point: bone.unwrap_or(own.point),
            sign,
            place,
            directions: [Vec3::zeros(); 3],
            contact: false,
            gap: 0.0,
            environment: -sign * other.velocity(bodies, &there),
            softness: 0.0,
            friction: 0.0,
            shear_length: 0.0,
            shear: Vec3::zeros(),
        }
    }
}

/// Tangent compliance of a contact under a force, m/N.
fn tangent(term: &crate::problem::ContactTerm, force: f64) -> f64 {
    let law = &term.law;
    let strained = if law.thickness.is_finite() { law.softness * force / law.thickness } else { 0.0 };
    law.softness / ((1.0 + strained) * (1.0 + strained))
}

impl ToolMemory {
    /// Entries of a row that belong to the environment. Returns whether the row has entries of the tool.
    fn gather(&mut self, island: &Island, segments: [u32; 2], direction: &Vec3) -> bool {
        let problem = &island.problem;
        self.row.clear();
        let mut on_tool = false;
        for JacobianSegment { block, entries } in &problem.segments[segments[0] as usize..segments[1] as usize] {
            let Some(start) = self.starts[*block as usize] else {
                on_tool = true;
                continue;
            };
            for entry in &problem.entries[entries[0] as usize..entries[1] as usize] {
                self.row.push((start + entry.local, direction.dot(&entry.column)));
            }
        }
        on_tool
    }

    fn push_rows(&mut self, island: &Island, segments: [u32; 2], directions: &[Vec3], n: usize) {
        for direction in directions {
            self.directions.push((segments, *direction));
            self.gather(island, segments, direction);
            let first = self.rows.len();
            self.rows.resize(first + n, 0.0);
            self.row.iter().for_each(|&(i, x)| self.rows[first + i as usize] += x);
        }
    }

    /// Adds the compliance of the soft parts of the tool itself. Each is coupled with the rest by the constraints alone, so it is that of the part.
    fn add_tissue(&mut self, island: &Island, rows: usize, compliance: &mut [f64]) {
        let problem = &island.problem;
        for part in &problem.compliances {
            let blocks = part.blocks[0]..part.blocks[1];
            if blocks.clone().any(|block| self.starts[block as usize].is_some()) {
                continue;
            }
            let size: usize = blocks.clone().map(|block| problem.sizes[block as usize]).sum();
            let values = &problem.compliance_values[part.start..part.start + size * size];
            // Unknowns of the part that a row moves, and by how much.
            let entries = |row: &([u32; 2], Vec3)| {
                let (segments, direction) = *row;
                let own = &problem.segments[segments[0] as usize..segments[1] as usize];
                own.iter().filter(|segment| blocks.contains(&segment.block)).flat_map({
                    let blocks = blocks.clone();
                    move |segment| {
                        let before = (blocks.start..segment.block).map(|block| problem.sizes[block as usize]);
                        let first: usize = before.sum();
                        let entries = &problem.entries[segment.entries[0] as usize..segment.entries[1] as usize];
                        entries.iter().map(move |e| (first + e.local as usize, direction.dot(&e.column)))
                    }
                })
            };
            for (j, row) in self.directions.iter().enumerate() {
                self.moved.clear();
                self.moved.resize(size, 0.0);
                for (unknown, x) in entries(row) {
                    let column = &values[unknown * size..(unknown + 1) * size];
                    self.moved.iter_mut().zip(column).for_each(|(m, c)| *m += x * c);
                }
                for (i, other) in self.directions.iter().enumerate() {
                    let own: f64 = entries(other).map(|(unknown, x)| x * self.moved[unknown]).sum();
                    compliance[i * rows + j] += own;
                }
            }
        }
    }

    /// Hessian of the cost for the environment, without the constraints of the tool.
    fn assemble(&mut self, island: &Island, n: usize, attachment_stiffness: f64) {
        let problem = &island.problem;
        self.hessian.clear();
        self.hessian.resize(n * n, 0.0);
        for q in &problem.quadratic {
            let [a, b] = q.blocks.map(|b| b as usize);
            let (Some(first), Some(second)) = (self.starts[a], self.starts[b]) else { continue };
            let columns = problem.sizes[b];
            for i in 0..problem.sizes[a] {
                for j in 0..columns {
                    let x = problem.quadratic_values[q.start + i * columns + j];
                    let (row, column) = (first as usize + i, second as usize + j);
                    self.hessian[row * n + column] += x;
                    if a != b {
                        self.hessian[column * n + row] += x;
                    }
                }
            }
        }
        for contact in &problem.contacts {
            let moved = displacement(problem, contact.segments, &island.x);
            let stiffness = contact.force(contact.gap + contact.normal.dot(&moved)).1;
            if stiffness > 0.0 && !self.gather(island, contact.segments, &contact.normal) {
                self.add_outer(n, stiffness);
            }
        }
        for equality in &problem.equalities {
            if !self.gather(island, equality.segments, &equality.direction) {
                self.add_outer(n, attachment_stiffness);
            }
        }
        self.add_friction(island, n);
        for (block, first, term) in &problem.coordinates {
            let Some(start) = self.starts[*block as usize] else { continue };
            let (count, h) = (term.law.count(), problem.step);
            let at: usize = problem.sizes[..*block as usize].iter().sum::<usize>() + *first as usize;
            let moved = Vec3::from_fn(|i, _| if i < count { h * island.x[at + i] } else { 0.0 });
            let (_, slope) = term.correction(&moved);
            for i in 0..count {
                for j in 0..count {
                    let (row, column) = ((start + first) as usize + i, (start + first) as usize + j);
                    self.hessian[row * n + column] += h * h * slope[(i, j)];
                }
            }
        }
    }

    fn add_outer(&mut self, n: usize, stiffness: f64) {
        for &(i, x) in &self.row {
            for &(j, y) in &self.row {
                self.hessian[i as usize * n + j as usize] += stiffness * x * y;
            }
        }
    }

    /// Friction patches between other bodies.
    fn add_friction(&mut self, island: &Island, n: usize) {
        let problem = &island.problem;
        for patch in problem.patches() {
            let others = patch.blocks.iter().all(|(b, _)| self.starts[*b as usize].is_some());
            if patch.pressure <= 0.0 || !others {
                continue;
            }
            let (w, k) = (patch.width, &patch.state.stiffness);
            let unknowns = || {
                patch.blocks.iter().flat_map(|&(b, first)| {
                    let start = self.starts[b as usize].unwrap_or(0) as usize;
                    (0..problem.sizes[b as usize]).map(move |i| (start + i, first + i))
                })
            };
            for (row, i) in unknowns() {
                let left = [0, 1, 2].map(|c| (0..3).map(|r| patch.rows[r * w + i] * k[(r, c)]).sum::<f64>());
                for (column, j) in unknowns() {
                    let x: f64 = (0..3).map(|c| left[c] * patch.rows[c * w + j]).sum();
                    self.hessian[row * n + column] += x;
                }
            }
        }
    }

    /// Friction coefficient of each contact of an island.
    fn list_friction(&mut self, island: &Island) {
        self.mu.clear();
        self.mu.resize(island.problem.contacts.len(), 0.0);
        for patch in island.problem.patches() {
            for &member in &island.problem.members[patch.members.clone()] {
                self.mu[member as usize] = patch.mu;
            }
        }
    }
}
