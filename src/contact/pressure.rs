mod line;

use self::line::{Kind, Line, Member, Rub, SPIN};
use super::aggregate::{Aggregate, TouchingPoint};
use super::anchor::Contact;
use super::attachment::Attachment;
use super::memory::{ContactMemory, Memory, Remembered, RememberedContact};
use super::proximity::{Pair, Proximity};
use crate::body::{Bodies, BodyKind};
use crate::math::Vec3;
use crate::solver::Anderson;

/// How pressure spreads over the single contacts, by a contact problem in which every one of them stays out.
///
/// The aggregate leaves open how its force is spread. The paper spreads it by how deep the free motion goes (eq. 11), as if every
/// point stood on a spring of its own; points then come to rest a good part of the indentation inside or outside. Here the spread
/// follows from Signorini's law at every contact,
///
/// ```text
/// 0 ≤ P ⟂ gap + h n·v_free + δ(P) + h² n Σ_bodies H A⁻¹ (Hᵀ n P + q_T) ≥ 0,
/// ```
///
/// `δ` being what the outermost layer gives way by ([`super::Layer`]) and `q_T` the friction. All bodies move, so the spread does not overshoot when a light
/// object tilts. At rest it is exact: the aggregate's force is `Σ P`, and no point is inside.
///
/// Friction is an unknown too, three rows for each aggregate of the last step with the shares that it had then, in an ellipsoid, and two for
/// each contact of rigid bodies: pressure that shifts and friction that answers must agree within the step. With the friction of the last
/// step instead, a bar held between two pads rocks from step to step. Of other contacts it is that of the last step.
///
/// It is solved by projected Gauss–Seidel on the displacements of the bodies. A sweep costs contacts times degrees of freedom, no
/// operator is formed, and the pressures of the last step are the start, so at rest one sweep is enough.
#[derive(Debug, Default)]
pub(super) struct PressureSolve {
    /// Normal force of each contact, N.
    pub forces: Vec<f64>,
    lines: Vec<Line>,
    parts: Vec<LinePart>,
    rubs: Vec<Rub>,
    members: Vec<Member>,
    bodies: Vec<MovedBody>,
    /// Place in `bodies` of each body of the world, or `u32::MAX`.
    places: Vec<u32>,
    /// What is not zero of the lines' rows, by place in `shifts`.
    entries: Vec<(u32, f64)>,
    /// Rows, and from when they are asked for their responses, body by body.
    responses: Vec<f64>,
    shifts: Vec<f64>,
    // Working memory.
    points: Vec<TouchingPoint>,
    aggregate: Aggregate,
    anderson: Anderson,
    before: Vec<f64>,
    image: Vec<f64>,
}

/// The row of a line on one body.
#[derive(Clone, Copy, Debug)]
struct LinePart {
    body: u32,
    /// Which of the body's rows.
    row: usize,
    /// Its entries.
    entries_start: usize,
    entries_end: usize,
}

#[derive(Clone, Copy, Debug)]
struct MovedBody {
    kind: BodyKind,
    dofs: usize,
    lines: usize,
    /// Where its rows and responses begin; the friction of the last step is the row after the last.
    data: usize,
    shift: usize,
}

/// Sweeps before they are accelerated; even.
const PLAIN: usize = 6;
/// Most sweeps, and the change of a gap below which they end, m. Where little has changed since the last step, which the first sweep
/// tells, fewer will do: the next step goes on with them.
const SWEEPS: usize = 160;
const SWEEPS_AT_REST: usize = 60;
const ENOUGH: f64 = 1e-10;
const LITTLE: f64 = 1e-6;

impl PressureSolve {
    /// Estimates the normal forces of all contacts.
    pub fn solve(
        &mut self,
        bodies: &mut Bodies,
        near: &Proximity,
        attachments: &[Attachment],
        memory: &ContactMemory,
        blocks: &Memory<Remembered>,
        h: f64,
    ) {
        self.list_lines(bodies, near, attachments, memory, blocks, h);
        self.fill_rows(bodies, near, memory, h);
        self.sweep(bodies, h);
        self.forces.clear();
        self.forces.resize(near.contacts.len(), 0.0);
        for line in self.lines.iter().filter(|line| line.kind == Kind::Press) {
            self.forces[line.contact] = line.force;
        }
    }

    /// Lists the unknowns and the bodies that they move. Contacts of attachments stand at the end of the list of contacts.
    fn list_lines(
        &mut self,
        bodies: &Bodies,
        near: &Proximity,
        attachments: &[Attachment],
        memory: &ContactMemory,
        blocks: &Memory<Remembered>,
        h: f64,
    ) {
        self.lines.clear();
        self.parts.clear();
        self.rubs.clear();
        self.members.clear();
        self.bodies.clear();
        self.places.clear();
        self.places.resize(bodies.count(), u32::MAX);
        for pair in &near.pairs {
            let first = self.lines.len();
            let mut parts = 0;
            for i in pair.contacts.clone() {
                let contact = &near.contacts[i];
                let before = memory.find((pair.a, pair.b, contact.feature));
                let (layer, force) = (&contact.layer, contact.layer.pressed);
                let compliance = layer.compliance(force);
                let gap = contact.free_gap + layer.depth(force) - compliance * force;
                parts = parts.max(before.and_then(|m| m.part).map_or(0, |part| part + 1));
                let line = Line { gap, compliance, force, ..Line::at(Kind::Press, i, contact.normal) };
                self.push_line(bodies, contact, line);
            }
            for part in 0..parts {
                let mu = pair.friction.now(blocks.find((pair.a, pair.b, u64::from(part))));
                let members = members(near, pair, memory).filter(|(_, m)| m.part == Some(part));
                self.list_rub(bodies, near, pair, members, first, (mu, parts > 1), h);
            }
            if is_stiff(bodies, pair) {
                // Also those that did not press: they may come and go.
                for i in pair.contacts.clone() {
                    let key = (pair.a, pair.b, near.contacts[i].feature);
                    let mu = pair.friction.now(blocks.find(key));
                    let friction = memory.find(key).map_or(Vec3::zeros(), |m| m.friction);
                    let alone = RememberedContact { pressure: 1.0, friction, part: None };
                    self.list_rub(bodies, near, pair, std::iter::once((i, &alone)), first, (mu, false), h);
                }
            }
        }
        let mut first = near.pairs.last().map_or(0, |p| p.contacts.end);
        for attachment in attachments {
            let links = &near.contacts[first..first + attachment.links_count()];
            attachment.directions(links, |link, direction| {
                let contact = &links[link];
                let gap = direction.dot(&(contact.places[0] - contact.places[1]));
                let line = Line { gap, ..Line::at(Kind::Pull, first + link, direction) };
                self.push_line(bodies, contact, line);
            });
            first += links.len();
        }
    }

    /// Lines for the friction of what was one constraint in the last step.
    #[expect(clippy::too_many_arguments, reason = "what a step has at hand, and which of it")]
    fn list_rub<'m>(
        &mut self,
        bodies: &Bodies,
        near: &Proximity,
        pair: &Pair,
        members: impl Iterator<Item = (usize, &'m RememberedContact)> + Clone,
        first_line: usize,
        (mu, split): (f64, bool),
        h: f64,
    ) {
        self.points.clear();
        self.points.extend(members.clone().map(|(i, m)| {
            let contact = &near.contacts[i];
            TouchingPoint {
                place: contact.places[0],
                normal: contact.normal,
                depth: 0.0,
                weight: m.pressure,
                part: None,
            }
        }));
        if mu <= 0.0 || !self.aggregate.update(&self.points) {
            return;
        }
        let (start, rub) = (self.members.len(), self.rubs.len());
        let (mut forces, mut gaps, mut compliances) = ([0.0; 3], [0.0; 3], [0.0; 3]);
        let Aggregate { normal, tangents: [t, s], centre, .. } = self.aggregate;
        for ((i, m), [_, rows @ ..]) in members.zip(&self.aggregate.rows) {
            let contact = &near.contacts[i];
            let lever = normal.cross(&(contact.places[0] - centre));
            for (force, direction) in forces.iter_mut().zip([t, s, lever]) {
                *force += direction.dot(&m.friction);
            }
            for ((gap, compliance), row) in gaps.iter_mut().zip(&mut compliances).zip(rows) {
                *gap += h * row.dot(&contact.free_velocity);
                *compliance += if split { contact.shear_compliance * row.norm_squared() } else { 0.0 };
            }
            self.members.push(Member { contact: i, line: first_line + i - pair.contacts.start, rows: *rows });
        }
        let reach = self.aggregate.patch.points.iter().map(|p| p.share * f64::hypot(p.place[0], p.place[1])).sum();
        self.rubs.push(Rub { members: start..self.members.len(), line: self.lines.len(), mu, reach });
        let contact = self.members[start].contact;
        for axis in 0..if self.aggregate.resists_spin { 3 } else { 2 } {
            let (force, compliance, lever) = (forces[axis], compliances[axis], if axis == SPIN { reach } else { 1.0 });
            // The layer gives way by the difference to the force of the last step.
            let gap = gaps[axis] - compliance * force;
            let line = Line { gap, force, compliance, lever, ..Line::at(Kind::Rub { rub, axis }, contact, t) };
            self.push_line(bodies, &near.contacts[contact], line);
        }
    }

    fn push_line(&mut self, bodies: &Bodies, contact: &Contact, mut line: Line) {
        line.parts_start = self.parts.len();
        let touched = contact.a.bodies(bodies).into_iter().chain(contact.b.bodies(bodies)).flatten();
        for kind in touched {
            let place = &mut self.places[bodies.id(kind).index()];
            if *place == u32::MAX {
                *place = self.bodies.len() as u32;
                let dofs = bodies.get(bodies.id(kind)).dofs();
                self.bodies.push(MovedBody { kind, dofs, lines: 0, data: 0, shift: 0 });
            }
            let body = &mut self.bodies[*place as usize];
            self.parts.push(LinePart { body: *place, row: body.lines, entries_start: 0, entries_end: 0 });
            body.lines += 1;
        }
        line.parts_end = self.parts.len();
        self.lines.push(line);
    }

    /// Rows of all lines, body by body, and the displacements that the forces of the last step make.
    fn fill_rows(&mut self, bodies: &mut Bodies, near: &Proximity, memory: &ContactMemory, h: f64) {
        let (mut data, mut shift) = (0, 0);
        for body in &mut self.bodies {
            (body.data, body.shift) = (data, shift);
            data += (body.lines + 1) * body.dofs;
            shift += body.dofs;
        }
        self.responses.clear();
        self.responses.resize(data, 0.0);
        self.entries.clear();
        for line in &self.lines {
            for part in &mut self.parts[line.parts()] {
                let body = &self.bodies[part.body as usize];
                let row = body.data + part.row * body.dofs;
                let row = &mut self.responses[row..row + body.dofs];
                match line.kind {
                    Kind::Rub { rub, axis } => {
                        for member in &self.members[self.rubs[rub].members.clone()] {
                            near.contacts[member.contact].add_row(bodies, body.kind, &member.rows[axis], row);
                        }
                    }
                    _ => near.contacts[line.contact].add_row(bodies, body.kind, &line.direction, row),
                }
                part.entries_start = self.entries.len();
                let entries = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
                self.entries.extend(entries.map(|(i, &x)| ((body.shift + i) as u32, x)));
                part.entries_end = self.entries.len();
            }
        }
        for pair in near.pairs.iter().filter(|pair| !is_stiff(bodies, pair)) {
            for (i, before) in members(near, pair, memory).filter(|(_, m)| m.part.is_none()) {
                let contact = &near.contacts[i];
                let touched = contact.a.bodies(bodies).into_iter().chain(contact.b.bodies(bodies)).flatten();
                for kind in touched {
                    let body = &self.bodies[self.places[bodies.id(kind).index()] as usize];
                    let row = body.data + body.lines * body.dofs;
                    contact.add_row(bodies, kind, &before.friction, &mut self.responses[row..row + body.dofs]);
                }
            }
        }
        self.shifts.clear();
        for body in &self.bodies {
            let row = body.data + body.lines * body.dofs;
            let friction = &mut self.responses[row..row + body.dofs];
            bodies.get_mut(bodies.id(body.kind)).apply_inverse(friction);
            self.shifts.extend(friction.iter().map(|x| h * h * x));
        }
        for index in 0..self.lines.len() {
            let line = self.lines[index];
            if line.force != 0.0 {
                self.respond(index, bodies, h);
                self.push(index, line.force, h);
            }
        }
    }

    /// Projected Gauss–Seidel to and fro, accelerated as the contact solver's.
    fn sweep(&mut self, bodies: &mut Bodies, h: f64) {
        let count = self.lines.len();
        let mut most = SWEEPS;
        for sweep in 0..SWEEPS {
            let forward = sweep % 2 == 0;
            if forward && sweep >= PLAIN {
                if sweep == PLAIN {
                    self.anderson.start(count);
                }
                self.before.clear();
                self.before.extend(self.lines.iter().map(|line| line.force));
            }
            let visit = |change: f64, index: usize| change.max(self.visit(index, bodies, h));
            let change = if forward { (0..count).fold(0.0, visit) } else { (0..count).rev().fold(0.0, visit) };
            if sweep == 0 && change < LITTLE {
                most = SWEEPS_AT_REST;
            }
            if change < ENOUGH || sweep + 1 >= most {
                break;
            }
            if !forward && sweep > PLAIN {
                self.mix(h);
            }
        }
    }

    /// Solves for one unknown, or for the two tangents of one friction; returns by how much a gap changes, m.
    fn visit(&mut self, index: usize, bodies: &mut Bodies, h: f64) -> f64 {
        let line = self.lines[index];
        if line.parts().is_empty() {
            return 0.0;
        }
        match line.kind {
            Kind::Press => {
                let gap = self.gap(&line);
                // What stays open all along is never asked for its response.
                if line.force == 0.0 && gap >= 0.0 {
                    return 0.0;
                }
                self.respond(index, bodies, h);
                let diagonal = self.lines[index].diagonal;
                self.change(index, (line.force - gap / diagonal).max(0.0), h)
            }
            Kind::Pull => {
                self.respond(index, bodies, h);
                let diagonal = self.lines[index].diagonal;
                self.change(index, line.force - self.gap(&line) / diagonal, h)
            }
            Kind::Rub { rub, axis: SPIN } => {
                self.respond(index, bodies, h);
                let diagonal = self.lines[index].diagonal;
                let most = self.rubs[rub].most_torque(&self.lines, &self.members);
                self.change(index, (line.force - self.gap(&line) / diagonal).max(-most).min(most), h)
            }
            Kind::Rub { rub, axis: 0 } => {
                self.respond(index, bodies, h);
                let (other, diagonal) = (self.lines[index + 1], self.lines[index].diagonal);
                let wanted = [line, other].map(|line| line.force - self.gap(&line) / diagonal);
                let (size, most) =
                    (f64::hypot(wanted[0], wanted[1]), self.rubs[rub].most_force(&self.lines, &self.members));
                let scale = if size > most { most / size } else { 1.0 };
                let [one, two] = [0, 1].map(|i| self.change(index + i, scale * wanted[i], h));
                f64::hypot(one, two)
            }
            // Together with the other tangent.
            Kind::Rub { .. } => 0.0,
        }
    }

    /// The gap of a line as the bodies stand now.
    fn gap(&self, line: &Line) -> f64 {
        let parts = &self.parts[line.parts()];
        let (Some(first), Some(last)) = (parts.first(), parts.last()) else { return 0.0 };
        let entries = &self.entries[first.entries_start..last.entries_end];
        let moved: f64 = entries.iter().map(|&(i, x)| x * self.shifts[i as usize]).sum();
        line.gap + line.compliance * line.force + moved
    }

    /// Gives a line another force; returns by how much that changes its gap, m.
    fn change(&mut self, index: usize, wanted: f64, h: f64) -> f64 {
        let line = &mut self.lines[index];
        let step = wanted - line.force;
        // Where nothing moves it is not finite.
        if step == 0.0 || !step.is_finite() {
            return 0.0;
        }
        line.force = wanted;
        let change = (line.lever * line.diagonal * step).abs();
        self.push(index, step, h);
        change
    }

    /// Makes a line's rows their responses, and notes what a newton does to its own gap. Tangents are asked together, so that the frame they
    /// are given in plays no part: what a newton does is the most that one along any tangent does.
    fn respond(&mut self, index: usize, bodies: &mut Bodies, h: f64) {
        if self.lines[index].diagonal != 0.0 {
            return;
        }
        let first = match self.lines[index].kind {
            Kind::Rub { axis: 1, .. } => index - 1,
            _ => index,
        };
        let count = if matches!(self.lines[first].kind, Kind::Rub { axis: 0, .. }) { 2 } else { 1 };
        for line in first..first + count {
            for part in &self.parts[self.lines[line].parts()] {
                let body = &self.bodies[part.body as usize];
                let row = body.data + part.row * body.dofs;
                bodies.get_mut(bodies.id(body.kind)).apply_inverse(&mut self.responses[row..row + body.dofs]);
            }
        }
        let felt = |line: usize, cause: usize| {
            let parts = self.parts[self.lines[line].parts()].iter().zip(&self.parts[self.lines[cause].parts()]);
            let each = parts.map(|(part, cause)| {
                let body = &self.bodies[part.body as usize];
                let response = body.data + cause.row * body.dofs;
                let entries = &self.entries[part.entries_start..part.entries_end];
                entries.iter().map(|&(i, x)| x * self.responses[response + i as usize - body.shift]).sum::<f64>()
            });
            h * h * each.sum::<f64>()
        };
        let own = felt(first, first);
        let diagonal = if count == 1 {
            own + self.lines[first].compliance
        } else {
            let (other, both) = (felt(first + 1, first + 1), felt(first, first + 1));
            0.5 * (own + other) + f64::hypot(0.5 * (own - other), both) + self.lines[first].compliance
        };
        // What moves nothing has been asked all the same.
        let diagonal = diagonal.max(f64::MIN_POSITIVE);
        self.lines[first..first + count].iter_mut().for_each(|line| line.diagonal = diagonal);
    }

    /// Adds what a force along a line does to the displacements.
    fn push(&mut self, index: usize, force: f64, h: f64) {
        for part in &self.parts[self.lines[index].parts()] {
            let body = &self.bodies[part.body as usize];
            let row = body.data + part.row * body.dofs;
            let shift = self.shifts[body.shift..body.shift + body.dofs].iter_mut();
            shift.zip(&self.responses[row..row + body.dofs]).for_each(|(x, r)| *x += h * h * force * r);
        }
    }

    /// Goes on to where the last sweeps point.
    fn mix(&mut self, h: f64) {
        self.image.clear();
        self.image.extend(self.lines.iter().map(|line| line.force));
        let lines = &self.lines;
        self.anderson.mix(&self.before, &mut self.image, |i| lines[i].lever * lines[i].diagonal);
        for index in 0..self.lines.len() {
            let (kind, wanted) = (self.lines[index].kind, self.image[index]);
            self.change(index, if kind == Kind::Press { wanted.max(0.0) } else { wanted }, h);
        }
    }
}

/// Contacts of a pair that pressed in the last step, with what is remembered of them.
fn members<'m>(
    near: &'m Proximity,
    pair: &'m Pair,
    memory: &'m ContactMemory,
) -> impl Iterator<Item = (usize, &'m RememberedContact)> + Clone {
    let found = |i: usize| memory.find((pair.a, pair.b, near.contacts[i].feature)).map(|m| (i, m));
    pair.contacts.clone().filter_map(found).filter(|(_, m)| m.pressure > 0.0)
}

/// Whether neither side of a pair gives way: then a response costs next to nothing.
fn is_stiff(bodies: &Bodies, pair: &Pair) -> bool {
    [pair.a, pair.b].iter().all(|&id| matches!(bodies.kind(id), BodyKind::Rigid(_) | BodyKind::Fixed(_)))
}
