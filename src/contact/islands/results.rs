use super::super::memory::{ContactMemory, Memory, Remembered, RememberedContact};
use super::super::parameters::ContactParameters;
use super::super::proximity::Proximity;
use super::formulation::shear_length;
use super::{Islands, frame};
use crate::body::Bodies;
use crate::math::Vec3;
use crate::solver::{Solution, SolverStatus};

/// Maximum stored shear displacement of a contact, as a multiple of that at which it slips.
const SHEAR_LIMIT: f64 = 3.0;

/// A solved friction patch.
#[derive(Clone, Copy, Debug)]
pub struct SolvedPatch {
    /// The pair.
    pub pair: usize,
    /// Part of the pair.
    pub part: u32,
    /// Normal and tangents.
    pub frame: [Vec3; 3],
    /// Centre of pressure.
    pub centre: Vec3,
    /// Normal force, friction along the tangents and torque about the normal.
    pub force: [f64; 4],
    /// Friction coefficient.
    pub mu: f64,
    /// Maximum torque per unit of `μ N`, m.
    pub torsion: f64,
    /// Number of closed contacts.
    pub contacts: usize,
    /// Slip speed, m/s, and spin speed, rad/s.
    pub slip: [f64; 2],
    /// Rows: four for an aggregate, three for a point.
    pub rows: usize,
}

/// A solved contact.
#[derive(Clone, Copy, Debug)]
pub struct SolvedPoint {
    /// The pair.
    pub pair: usize,
    /// The contact.
    pub contact: usize,
    /// Force on the first body, N.
    pub force: Vec3,
    /// Normal force, N.
    pub pressure: f64,
}

impl Islands {
    /// Keeps what the next step starts from: forces of patches and contacts, and shear displacements. A patch slides if it moves
    /// faster than `slow`, m/s.
    pub(in crate::contact) fn remember(
        &self,
        bodies: &Bodies,
        proximity: &Proximity,
        parameters: &ContactParameters,
        (slow, h): (f64, f64),
        (patches, contacts): (&mut Memory<Remembered>, &mut ContactMemory),
    ) {
        self.remember_contacts(bodies, proximity, parameters, contacts);
        self.remember_patches(proximity, h * slow, patches);
    }

    fn remember_contacts(
        &self,
        bodies: &Bodies,
        proximity: &Proximity,
        parameters: &ContactParameters,
        memory: &mut ContactMemory,
    ) {
        memory.clear();
        for pair in &proximity.pairs {
            let turn = frame(bodies, pair).transpose();
            for i in pair.contacts.clone() {
                let (contact, end) = (&proximity.contacts[i], &self.ends[i]);
                if !end.included || end.pressure <= 0.0 {
                    continue;
                }
                // A contact is limited by its own friction; the patch may require a few times as much at its rim.
                let most = SHEAR_LIMIT * pair.friction.rest * shear_length(contact, parameters);
                memory.keep(
                    (pair.a, pair.b, contact.feature),
                    RememberedContact {
                        pressure: end.pressure,
                        bound: end.bound,
                        friction: end.friction,
                        part: end.part,
                        shear: turn * (end.shear - end.slip).cap_magnitude(most),
                    },
                );
            }
        }
        memory.sort();
    }

    fn remember_patches(&self, proximity: &Proximity, slow: f64, memory: &mut Memory<Remembered>) {
        memory.clear();
        for island in &self.islands[..self.count] {
            for (patch, &(pair, part)) in island.problem.patches().iter().zip(&island.patches) {
                if patch.pressure <= 0.0 {
                    continue;
                }
                let feature = if part == u32::MAX {
                    let contact = island.problem.members[patch.members.start];
                    proximity.contacts[island.contacts[contact as usize] as usize].feature
                } else {
                    u64::from(part)
                };
                let pair = &proximity.pairs[pair as usize];
                let sliding = patch.state.slip.xy().norm() > slow;
                let [n, t, s] = &patch.frame;
                let f = &patch.state.force;
                let force = patch.pressure * n + f.x * t + f.y * s;
                memory.keep(
                    (pair.a, pair.b, feature),
                    Remembered { force, pressing: patch.pressure, torque: f.z, sliding },
                );
            }
        }
        memory.sort();
    }

    /// The closed friction patches.
    pub fn solved_patches(&self, h: f64) -> impl Iterator<Item = SolvedPatch> + '_ {
        self.islands[..self.count].iter().flat_map(move |island| {
            let patches = island.problem.patches().iter().zip(&island.patches);
            patches.filter(|(patch, _)| patch.pressure > 0.0).map(move |(patch, &(pair, part))| {
                let (f, slip) = (&patch.state.force, &patch.state.slip);
                let members = &island.problem.members[patch.members.clone()];
                let pressures = members.iter().map(|&m| island.problem.contacts[m as usize].pressure);
                let pressing = pressures.clone().filter(|p| *p > 0.0);
                SolvedPatch {
                    pair: pair as usize,
                    part,
                    frame: patch.frame,
                    centre: patch.centre,
                    force: [pressures.sum(), f.x, f.y, f.z],
                    mu: patch.mu,
                    torsion: if patch.spins { patch.patch.torsion() } else { 0.0 },
                    contacts: pressing.count(),
                    slip: [slip.xy().norm() / h, if patch.spins { slip.z.abs() / h } else { 0.0 }],
                    rows: if patch.spins { 4 } else { 3 },
                }
            })
        })
    }

    /// The closed contacts.
    pub fn solved_points<'a>(&'a self, proximity: &'a Proximity) -> impl Iterator<Item = SolvedPoint> + 'a {
        proximity.pairs.iter().enumerate().flat_map(move |(pair, p)| {
            p.contacts.clone().filter(|&i| self.ends.get(i).is_some_and(|e| e.included && e.pressure > 0.0)).map(
                move |i| {
                    let end = &self.ends[i];
                    let force = end.pressure * end.normal + end.friction;
                    SolvedPoint { pair, contact: i, force, pressure: end.pressure }
                },
            )
        })
    }

    /// Results of the solver.
    pub fn solutions(&self) -> impl Iterator<Item = &Solution> {
        self.islands[..self.count].iter().filter_map(|island| island.solution.as_ref())
    }

    /// Number of attachment rows.
    pub fn attachment_rows(&self) -> usize {
        self.islands[..self.count].iter().map(|island| island.problem.equalities.len()).sum()
    }

    /// Whether some island did not converge.
    pub fn unconverged(&self) -> usize {
        self.solutions().filter(|s| s.status != SolverStatus::Converged).count()
    }
}
