use super::super::aggregate::{Aggregate, Pressure, TouchingPoint, split_by_normal, tangents};
use super::super::attachment::Attachment;
use super::super::memory::Remembered;
use super::super::parameters::ContactParameters;
use super::super::proximity::{Pair, Proximity};
use super::{ConstraintBlock, RowTerm, Source, System};
use crate::body::Bodies;
use crate::math::Vec3;

/// Gap after the free motion below which contacts count as touching, m.
const TOUCHING: f64 = 2e-4;

impl System {
    /// Three rows per contact. Contacts that the free motion leaves open are included if they are almost touching:
    /// other forces of the step may close them.
    pub(super) fn point_pair(&mut self, bodies: &Bodies, proximity: &Proximity, index: usize, pair: &Pair) {
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
    pub(super) fn aggregate_pair(
        &mut self,
        bodies: &Bodies,
        proximity: &Proximity,
        index: usize,
        pair: &Pair,
        parameters: &ContactParameters,
    ) {
        self.choose_points(proximity, pair, parameters);
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

    /// Lists the contacts of an aggregate with their weights: by compression, by depth, or by the area of penetrating
    /// contacts. Without any, the almost touching ones are used, weighted by closeness.
    fn choose_points(&mut self, proximity: &Proximity, pair: &Pair, parameters: &ContactParameters) {
        let contacts = &proximity.contacts[pair.contacts.clone()];
        let spread = parameters.pressure == Pressure::NonUniform;
        let pressed: f64 = contacts.iter().filter(|_| spread).map(|c| c.layer.pressed).sum();
        let least = contacts.iter().map(|c| c.free_gap).fold(f64::INFINITY, f64::min);
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
    pub(super) fn attach(
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
}

/// Initial forces: those of the last step, in the frame of this one.
fn start_force(frame: &[Vec3; 3], before: Option<&Remembered>) -> [f64; 4] {
    let Some(before) = before else { return [0.0; 4] };
    let [n, t, s] = frame.map(|axis| axis.dot(&before.force));
    [n.max(0.0), t, s, before.torque]
}
