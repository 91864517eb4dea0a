use super::anchor::Contact;
use super::attachment::Attachment;
use super::memory::ContactMemory;
use super::proximity::Proximity;
use crate::body::{Bodies, BodyKind};
use crate::math::Vec3;

/// How pressure spreads over the single contacts, by a contact problem without friction in which every one of them stays out.
///
/// The aggregate leaves open how its force is spread. The paper spreads it by how deep the free motion goes (eq. 11), as if every
/// point stood on a spring of its own; points then come to rest a good part of the indentation inside or outside. Here the spread
/// follows from Signorini's law at every contact,
///
/// ```text
/// 0 ≤ P ⟂ gap + h n·v_free + c P + h² n Σ_bodies H A⁻¹ (Hᵀ n P + q_T) ≥ 0,
/// ```
///
/// `c` being the compliance of the outermost layer and `q_T` the friction of the last step. All bodies move, so the spread does not
/// overshoot when a light object tilts. At rest it is exact: the aggregate's force is `Σ P`, and no point is inside.
///
/// It is solved by projected Gauss–Seidel on the displacements of the bodies. A sweep costs contacts times degrees of freedom, no
/// operator is formed, and the pressures of the last step are the start, so at rest one sweep is enough.
#[derive(Debug, Default)]
pub(super) struct PressureSolve {
    /// Normal force of each contact, N.
    pub forces: Vec<f64>,
    lines: Vec<Line>,
    parts: Vec<LinePart>,
    bodies: Vec<MovedBody>,
    /// Place in `bodies` of each body of the world, or `u32::MAX`.
    places: Vec<u32>,
    /// What is not zero of the lines' rows, by place in `shifts`.
    entries: Vec<(u32, f64)>,
    /// Rows, and from when they are asked for their responses, body by body.
    responses: Vec<f64>,
    shifts: Vec<f64>,
}

/// One unknown force: of a contact, or along one direction of an attachment.
#[derive(Clone, Copy, Debug)]
struct Line {
    contact: usize,
    direction: Vec3,
    /// An attachment pulls as well as it pushes.
    both_ways: bool,
    /// Gap after the free motion, and what a newton does to it, m and m/N.
    gap: f64,
    diagonal: f64,
    compliance: f64,
    force: f64,
    /// One past the last of its parts.
    parts_end: usize,
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

/// Most sweeps, and the change of a gap below which they end, m.
const SWEEPS: usize = 60;
const ENOUGH: f64 = 1e-10;

impl PressureSolve {
    /// Estimates the normal forces of all contacts.
    pub fn solve(
        &mut self,
        bodies: &mut Bodies,
        near: &Proximity,
        attachments: &[Attachment],
        memory: &ContactMemory,
        h: f64,
    ) {
        self.list_lines(bodies, near, attachments, memory);
        self.fill_rows(bodies, near, memory, h);
        self.sweep(bodies, h);
        self.forces.clear();
        self.forces.resize(near.contacts.len(), 0.0);
        for line in self.lines.iter().filter(|line| !line.both_ways) {
            self.forces[line.contact] = line.force;
        }
    }

    /// Lists the unknowns and the bodies that they move. Contacts of attachments stand at the end of the list of contacts.
    fn list_lines(&mut self, bodies: &Bodies, near: &Proximity, attachments: &[Attachment], memory: &ContactMemory) {
        self.lines.clear();
        self.parts.clear();
        self.bodies.clear();
        self.places.clear();
        self.places.resize(bodies.count(), u32::MAX);
        let contacts = near.pairs.iter().flat_map(|p| p.contacts.clone().map(move |i| (p, i)));
        for (pair, i) in contacts {
            let contact = &near.contacts[i];
            let before = memory.find((pair.a, pair.b, contact.feature));
            let (gap, compliance) = (contact.free_gap, contact.compliance);
            let line =
                Line { gap, compliance, force: before.map_or(0.0, |m| m.pressure), ..Line::at(i, contact.normal) };
            self.push_line(bodies, contact, line);
        }
        let mut first = near.pairs.last().map_or(0, |p| p.contacts.end);
        for attachment in attachments {
            let links = &near.contacts[first..first + attachment.links_count()];
            attachment.directions(links, |link, direction| {
                let contact = &links[link];
                let gap = direction.dot(&(contact.places[0] - contact.places[1]));
                let line = Line { both_ways: true, gap, ..Line::at(first + link, direction) };
                self.push_line(bodies, contact, line);
            });
            first += links.len();
        }
    }

    fn push_line(&mut self, bodies: &Bodies, contact: &Contact, mut line: Line) {
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
        let mut first = 0;
        for line in &self.lines {
            let contact = &near.contacts[line.contact];
            for part in &mut self.parts[first..line.parts_end] {
                let body = &self.bodies[part.body as usize];
                let row = body.data + part.row * body.dofs;
                let row = &mut self.responses[row..row + body.dofs];
                contact.add_row(bodies, body.kind, &line.direction, row);
                part.entries_start = self.entries.len();
                let entries = row.iter().enumerate().filter(|(_, x)| **x != 0.0);
                self.entries.extend(entries.map(|(i, &x)| ((body.shift + i) as u32, x)));
                part.entries_end = self.entries.len();
            }
            first = line.parts_end;
        }
        for pair in &near.pairs {
            for contact in &near.contacts[pair.contacts.clone()] {
                let Some(before) = memory.find((pair.a, pair.b, contact.feature)) else { continue };
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
        let mut first = 0;
        for line in &mut self.lines {
            let parts = &self.parts[first..line.parts_end];
            first = line.parts_end;
            if line.force != 0.0 {
                respond(line, parts, &self.bodies, &self.entries, &mut self.responses, bodies, h);
                push(parts, &self.bodies, &self.responses, &mut self.shifts, h * h * line.force);
            }
        }
    }

    /// Projected Gauss–Seidel. Lines that stay open all along are never asked for their response.
    fn sweep(&mut self, bodies: &mut Bodies, h: f64) {
        for _ in 0..SWEEPS {
            let (mut change, mut first) = (0.0f64, 0);
            for line in &mut self.lines {
                let parts = &self.parts[first..line.parts_end];
                first = line.parts_end;
                let [Some(start), Some(end)] =
                    [parts.first().map(|p| p.entries_start), parts.last().map(|p| p.entries_end)]
                else {
                    continue;
                };
                let moved: f64 = self.entries[start..end].iter().map(|&(i, x)| x * self.shifts[i as usize]).sum();
                let gap = line.gap + line.compliance * line.force + moved;
                if !line.both_ways && line.force == 0.0 && gap >= 0.0 {
                    continue;
                }
                if line.diagonal == 0.0 {
                    respond(line, parts, &self.bodies, &self.entries, &mut self.responses, bodies, h);
                }
                if line.diagonal <= 0.0 {
                    continue;
                }
                let wanted = line.force - gap / line.diagonal;
                let wanted = if line.both_ways { wanted } else { wanted.max(0.0) };
                let step = wanted - line.force;
                if step != 0.0 {
                    line.force = wanted;
                    push(parts, &self.bodies, &self.responses, &mut self.shifts, h * h * step);
                    change = change.max((line.diagonal * step).abs());
                }
            }
            if change < ENOUGH {
                break;
            }
        }
    }
}

/// Makes a line's rows their responses, and notes what a newton does to its own gap.
fn respond(
    line: &mut Line,
    parts: &[LinePart],
    moved: &[MovedBody],
    entries: &[(u32, f64)],
    responses: &mut [f64],
    bodies: &mut Bodies,
    h: f64,
) {
    line.diagonal = line.compliance;
    for part in parts {
        let body = &moved[part.body as usize];
        let row = body.data + part.row * body.dofs;
        let response = &mut responses[row..row + body.dofs];
        bodies.get_mut(bodies.id(body.kind)).apply_inverse(response);
        let own = entries[part.entries_start..part.entries_end].iter();
        line.diagonal += h * h * own.map(|&(i, x)| x * response[i as usize - body.shift]).sum::<f64>();
    }
}

/// Adds what a force along a line does to the displacements.
fn push(parts: &[LinePart], moved: &[MovedBody], responses: &[f64], shifts: &mut [f64], scale: f64) {
    for part in parts {
        let body = &moved[part.body as usize];
        let row = body.data + part.row * body.dofs;
        let shift = shifts[body.shift..body.shift + body.dofs].iter_mut();
        shift.zip(&responses[row..row + body.dofs]).for_each(|(x, r)| *x += scale * r);
    }
}

impl Line {
    fn at(contact: usize, direction: Vec3) -> Self {
        Self {
            contact,
            direction,
            both_ways: false,
            gap: 0.0,
            diagonal: 0.0,
            compliance: 0.0,
            force: 0.0,
            parts_end: 0,
        }
    }
}
