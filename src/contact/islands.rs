mod formulation;
mod movers;
mod results;

use nalgebra::Vector3;

use super::aggregate::TouchingPoint;
use super::anchor::Contact;
use super::attachment::Attachment;
use super::condensed::Condensed;
use super::memory::{ContactMemory, Memory, Remembered};
use super::parameters::ContactParameters;
use super::proximity::{Pair, Proximity};
use crate::body::{Bodies, BodyId, PartId};
use crate::math::{Mat3, Vec3};
use crate::problem::{ConvexProblem, FrictionPatch};
use crate::solver::{ConvexNewton, ConvexParameters, Solution};
use formulation::shift_of;
pub(super) use formulation::{displacement, shear_length};
use movers::{Mover, SteadyMotion};
pub use results::{SolvedPatch, SolvedPoint};

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
    pub(super) ends: Vec<ContactEnd>,
    /// A body of which all close contacts are included, also open ones.
    pub tool: Option<BodyId>,
    /// Frame of the second body of each pair at the start of the step.
    start_frames: Vec<Mat3>,
    /// Parts of bodies involved, and the index of each part of the world among them.
    movers: Vec<Mover>,
    mover_count: usize,
    mover_of: Vec<u32>,
    /// Condensed compliance of soft parts, by part of the world.
    pub(super) condensed: Vec<Condensed>,
    // Working memory.
    parents: Vec<u32>,
    island_of: Vec<u32>,
    points: Vec<TouchingPoint>,
    chosen: Vec<u32>,
    parts: Vec<u32>,
    columns: Vec<(u32, u32, Vec3)>,
    /// Jacobians of the contacts between hard surfaces, from the first pass that included each.
    hard_columns: Vec<(PartId, usize, Vec3)>,
    attachment_rows: Vec<(usize, Vec3)>,
    steady: SteadyMotion,
    /// Force of each link of an attachment in the last step, N.
    pub(super) link_forces: Vec<Vec3>,
    row: Vec<f64>,
    nearest: Vec<(f64, u32)>,
}

/// What the contact problem of a step is built from, besides the bodies.
pub(super) struct ContactInputs<'a> {
    pub proximity: &'a Proximity,
    pub attachments: &'a [Attachment],
    pub parameters: &'a ContactParameters,
    /// Forces of the friction patches of the last step.
    pub memory: &'a Memory<Remembered>,
    /// Length of the step, s.
    pub h: f64,
}

/// One island.
#[derive(Clone, Debug, Default)]
pub(super) struct Island {
    movers: Vec<u32>,
    pub problem: ConvexProblem,
    newton: ConvexNewton,
    pub x: Vec<f64>,
    /// Index of the contact of each contact of the problem.
    pub contacts: Vec<u32>,
    /// Link of each row of an attachment.
    pub links: Vec<u32>,
    /// Pair and part of each friction patch.
    patches: Vec<(u32, u32)>,
    solution: Option<Solution>,
}
/// State of a contact at the end of the step.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ContactEnd {
    /// Gap at the end of the step for the current velocities, m.
    pub gap: f64,
    /// Shear displacement at the end of the step, m.
    pub shear: Vec3,
    /// Normal at the end of the step.
    pub normal: Vec3,
    /// Shear displacement at its start.
    start_shear: Vec3,
    /// Correction of the gap for contacts that start too deep, m.
    shift: f64,
    included: bool,
    /// Range of its Jacobian in `hard_columns`.
    columns: Option<[u32; 2]>,
    /// Predicted gap and shear displacement, m.
    predicted: f64,
    predicted_shear: Vec3,
    /// Normal force that bounds friction, N.
    bound: f64,
    /// Solution: normal force, N, friction on the first surface, N, and slip, m.
    pub pressure: f64,
    pub friction: Vec3,
    pub slip: Vec3,
    part: Option<u32>,
}

/// Gap after the free motion below which a contact is included in the first pass, m, unless it is open and at rest. Others are added if they close.
pub(super) const JOINS: f64 = 1e-4;

/// Number of open contacts of a tool that are included, shared by its pairs, and how far the second of a pair may be, m.
const OPEN: usize = 40;
const CLOSE: f64 = 1e-3;

/// The free motion of a surface that yields statically is back to rest, far from the solution. Contacts on it that are farther apart at the start are
/// left out of the first pass, m.
const YIELDING_JOINS: f64 = 2e-4;

/// Contacts of a tool with a surface that yields: those that may close in the step, and as many of the nearest others (Duriez 2006, §7.3).
const NEAREST: usize = 24;

/// Passes of solve and measure.
const PASSES: usize = 8;

/// Tolerance between predicted and measured gaps, m.
const AGREED: f64 = 1e-6;

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
        self.hard_columns.clear();
        self.start_frames.clear();
        self.steady.update(bodies);
        let yields = self.tool.and_then(|tool| bodies.get(tool)).is_some_and(|body| body.deformation().is_some());
        for pair in &proximity.pairs {
            let turn = frame(bodies, pair);
            self.start_frames.push(turn);
            let statics = [pair.a, pair.b].iter().any(|c| bodies.expect(c.body).deformation().is_some());
            let joins = if statics { YIELDING_JOINS } else { f64::INFINITY };
            for contact in &proximity.contacts[pair.contacts.clone()] {
                let before = memory.find((pair.a, pair.b, contact.feature));
                let n = &contact.normal;
                let tangential = |v: Vec3| v - v.dot(n) * n;
                let start_shear = before.map_or(Vec3::zeros(), |m| tangential(turn * m.shear));
                let shift = shift_of(contact, parameters, h);
                let may_close = contact.free_gap < JOINS && contact.gap < joins;
                let included = before.is_some_and(|m| m.pressure > 0.0)
                    || (may_close && self.steady.may_close(bodies, contact, h));
                self.ends.push(ContactEnd {
                    gap: contact.free_gap + shift,
                    shear: start_shear + tangential(h * contact.free_velocity),
                    start_shear,
                    normal: contact.normal,
                    shift,
                    included,
                    pressure: before.map_or(0.0, |m| m.pressure),
                    bound: before.map_or(0.0, |m| m.bound),
                    friction: before.map_or(Vec3::zeros(), |m| m.friction),
                    part: before.and_then(|m| m.part),
                    ..Default::default()
                });
            }
        }
        if yields {
            self.include_nearest(proximity);
        } else {
            self.include_near_tool(proximity);
        }
    }

    /// Includes open contacts of the tool, which the faster loop may close before the next step: the nearest one of each pair of colliders, at any
    /// distance, and more where the tool has few pairs.
    fn include_near_tool(&mut self, proximity: &Proximity) {
        let Some(tool) = self.tool else { return };
        let of_tool = |pair: &Pair| tool == pair.a.body || tool == pair.b.body;
        let gap = |i: usize| proximity.contacts[i].gap.min(proximity.contacts[i].free_gap);
        let most = OPEN / proximity.pairs.iter().filter(|pair| of_tool(pair)).count().max(1);
        for pair in proximity.pairs.iter().filter(|pair| of_tool(pair)) {
            for k in 0..most.max(1) {
                let open = pair.contacts.clone().filter(|&i| !self.ends[i].included);
                let Some(i) = open.min_by(|&i, &j| gap(i).total_cmp(&gap(j))) else { break };
                if k > 0 && gap(i) > CLOSE {
                    break;
                }
                self.ends[i].included = true;
            }
        }
    }

    /// Includes open contacts of a tool, the nearest ones.
    fn include_nearest(&mut self, proximity: &Proximity) {
        let Some(tool) = self.tool else { return };
        self.nearest.clear();
        let mut included = 0;
        for pair in proximity.pairs.iter().filter(|pair| pair.a.body == tool || pair.b.body == tool) {
            for i in pair.contacts.clone() {
                if self.ends[i].included {
                    included += 1;
                } else {
                    self.nearest.push((self.ends[i].gap, i as u32));
                }
            }
        }
        self.nearest.sort_unstable_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        for &(_, i) in self.nearest.iter().take(NEAREST.saturating_sub(included)) {
            self.ends[i as usize].included = true;
        }
    }

    /// Maximum number of passes of build, solve, apply and measure.
    pub fn passes() -> usize {
        PASSES
    }

    /// Minimises the cost of every island.
    pub fn solve(&mut self, parameters: &ConvexParameters, mut go_on: impl FnMut() -> bool) {
        for island in &mut self.islands[..self.count] {
            let Island { problem, newton, x, .. } = island;
            // A later pass keeps the friction bounds of the one before.
            let follows = island.solution.is_none();
            let mut solution = newton.solve(problem, x, parameters, follows, &mut go_on);
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
                if end.included && !contact.layer.is_soft() {
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

    /// Adds the contacts that the second search found at the end of the step.
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
            (end.normal, end.gap, end.included, end.columns) = (*n, gap + end.shift, true, None);
        }
    }

    /// The island of a body whose parts move together, and the blocks of each part there.
    pub(super) fn island_of_body(
        &self,
        body: BodyId,
    ) -> Option<(&Island, impl Iterator<Item = std::ops::Range<u32>> + Clone)> {
        let index = self.movers[..self.mover_count].iter().position(|mover| mover.id.body == body)?;
        let own = self.movers[..self.mover_count].iter().filter(move |mover| mover.id.body == body);
        let blocks = own.map(|mover| mover.block..mover.block + mover.parts.len() as u32);
        Some((&self.islands[self.island_of[index] as usize], blocks))
    }

    /// Removes the problems of the last step.
    pub fn clear(&mut self) {
        self.islands.iter_mut().for_each(|island| island.solution = None);
        self.count = 0;
    }
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
