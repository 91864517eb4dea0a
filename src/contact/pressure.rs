use super::anchor::Contact;
use super::memory::ContactMemory;
use super::proximity::{Pair, Proximity};
use crate::body::{Bodies, BodyKind, HandId};
use crate::tracking::Segment;

/// How the tissue of a segment would spread the pressure over its contacts, by a contact problem of its own.
///
/// The aggregate leaves open how its force is spread. The paper spreads it by how deep the free motion goes (eq. 11), as if every
/// point stood on a spring of its own; points then come to rest a good part of the indentation inside or outside. Here the spread
/// follows from the law that no single point goes inside,
///
/// ```text
/// 0 ≤ P ⟂ gap + c P + h n·(v_bone − v_other + R u̇_free) + h² n B A⁻¹ (Bᵀ n P + q_T) ≥ 0,
/// ```
///
/// `c` being the compliance of the outermost layer, with only the tissue free to move: bone and touched body go on as they did in the last step, and friction `q_T` as well. What they
/// do instead is for the aggregates to find; at rest the estimate is right, the aggregate's force is `Σ P`, and no point is inside.
///
/// It is solved by projected Gauss–Seidel on the displacement of the nodes, so a sweep costs contacts times nodes and no operator
/// is formed; the pressures of the last step are the start.
#[derive(Debug, Default)]
pub(super) struct TissuePressure {
    /// Pressure force of each contact, N.
    pub forces: Vec<f64>,
    rows: Vec<f64>,
    responses: Vec<f64>,
    shift: Vec<f64>,
    diagonal: Vec<f64>,
    /// Gaps after the step without any contact force, m.
    gaps: Vec<f64>,
    contacts: Vec<usize>,
}

/// Most sweeps, and the change of a gap below which they end, m.
const SWEEPS: usize = 100;
const ENOUGH: f64 = 1e-10;

impl TissuePressure {
    /// Estimates the forces of all contacts of soft skin; those of others stay zero.
    pub fn estimate(&mut self, bodies: &mut Bodies, near: &Proximity, memory: &ContactMemory, h: f64) {
        self.forces.clear();
        self.forces.resize(near.contacts.len(), 0.0);
        let mut pairs = near.pairs.as_slice();
        while let Some(first) = pairs.first() {
            let same = pairs.iter().take_while(|p| p.a == first.a).count();
            let (own, rest) = pairs.split_at(same);
            if let BodyKind::Tissue(hand, segment) = bodies.kind(first.a)
                && bodies.hands[hand.index()].soft
            {
                self.estimate_segment(bodies, near, own, memory, (hand, segment), h);
            }
            pairs = rest;
        }
    }

    fn estimate_segment(
        &mut self,
        bodies: &mut Bodies,
        near: &Proximity,
        pairs: &[Pair],
        memory: &ContactMemory,
        (hand, segment): (HandId, Segment),
        h: f64,
    ) {
        let kind = BodyKind::Tissue(hand, segment);
        let dofs = bodies.get(bodies.id(kind)).dofs();
        self.contacts.clear();
        self.contacts.extend(pairs.iter().flat_map(|p| p.contacts.clone()));
        let count = self.contacts.len();
        self.rows.clear();
        self.rows.resize((count + 1) * dofs, 0.0);
        // One row of normals a contact, and after them the friction of the last step.
        let (rows, friction) = self.rows.split_at_mut(count * dofs);
        let mut next = 0;
        for pair in pairs {
            for i in pair.contacts.clone() {
                let contact = &near.contacts[i];
                contact.a.add_row(
                    bodies,
                    kind,
                    &contact.places[0],
                    &contact.normal,
                    &mut rows[next * dofs..(next + 1) * dofs],
                );
                if let Some(before) = memory.find((pair.a, pair.b, contact.feature)) {
                    self.forces[i] = before.pressure;
                    contact.a.add_row(bodies, kind, &contact.places[0], &before.friction, friction);
                }
                next += 1;
            }
        }
        self.responses.clear();
        self.responses.extend_from_slice(&self.rows);
        bodies.get_mut(bodies.id(kind)).apply_inverse(&mut self.responses);
        let (responses, friction) = self.responses.split_at(count * dofs);
        self.shift.clear();
        self.shift.extend(friction.iter().map(|x| h * h * x));
        self.diagonal.clear();
        for (k, &i) in self.contacts.iter().enumerate() {
            let (row, response) = (&self.rows[k * dofs..(k + 1) * dofs], &responses[k * dofs..(k + 1) * dofs]);
            self.diagonal.push(h * h * dot(row, response) + near.contacts[i].compliance);
            let force = h * h * self.forces[i];
            self.shift.iter_mut().zip(response).for_each(|(x, r)| *x += force * r);
        }
        let gap = |contact: &Contact| {
            let [a, b] = &contact.places;
            let tissue = contact.a.velocity(bodies, a) - contact.a.bone_velocity(bodies, a);
            let rigid = contact.a.start_velocity(bodies, a) - contact.b.start_velocity(bodies, b);
            contact.gap + h * contact.normal.dot(&(rigid + tissue))
        };
        self.gaps.clear();
        self.gaps.extend(self.contacts.iter().map(|&i| gap(&near.contacts[i])));
        for _ in 0..SWEEPS {
            let mut change = 0.0f64;
            for k in 0..count {
                let (w, free) = (self.diagonal[k], self.gaps[k]);
                if w <= 0.0 {
                    continue;
                }
                let force = &mut self.forces[self.contacts[k]];
                let give = near.contacts[self.contacts[k]].compliance * *force;
                let now = free + give + dot(&self.rows[k * dofs..(k + 1) * dofs], &self.shift);
                let wanted = (*force - now / w).max(0.0);
                let step = h * h * (wanted - *force);
                if step != 0.0 {
                    *force = wanted;
                    let response = &self.responses[k * dofs..(k + 1) * dofs];
                    self.shift.iter_mut().zip(response).for_each(|(x, r)| *x += step * r);
                    change = change.max((w * step / (h * h)).abs());
                }
            }
            if change < ENOUGH {
                break;
            }
        }
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
