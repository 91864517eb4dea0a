use super::super::anchor::Contact;
use super::super::condensed::Condensed;
use super::super::proximity::Proximity;
use super::super::system::root;
use super::{Island, Islands, JOINS};
use crate::body::{Bodies, PartId};
use crate::math::Vec3;
use crate::problem::{Compliance, ConvexProblem, Quadratic};

/// A part of a body that contact moves.
#[derive(Clone, Debug)]
pub(super) struct Mover {
    pub id: PartId,
    /// Degrees of freedom that contact acts on, ascending; all of them for small bodies.
    pub touched: Vec<u32>,
    /// Index of each degree of freedom in `touched`, or `u32::MAX`.
    pub marks: Vec<u32>,
    pub whole: bool,
    /// Sizes of the groups in `touched`. For a large body the degrees of freedom of a group touch the same bodies, so
    /// that a contact on one part of it is not coupled with all of it.
    pub parts: Vec<usize>,
    /// Bit mask of the bodies in contact with each degree of freedom of a large body.
    pub partners: Vec<u64>,
    /// Geometric stiffness of its attachments times the square of the step, kg·m².
    pub geometric: f64,
    /// First of its blocks in the island's problem.
    pub block: u32,
    /// Velocity change due to contact.
    pub dv: Vec<f64>,
    pub next: Vec<f64>,
}

/// Velocity changes of all parts by the free motion, to predict where contacts are if the bodies keep their velocities.
#[derive(Clone, Debug, Default)]
pub(super) struct SteadyMotion {
    changes: Vec<f64>,
    /// First entry of each part.
    starts: Vec<usize>,
}

impl SteadyMotion {
    pub fn update(&mut self, bodies: &Bodies) {
        self.changes.clear();
        self.starts.clear();
        for (_, body) in bodies.iter() {
            for part in (0..body.part_count()).map(|i| body.part(i)) {
                let start = self.changes.len();
                self.starts.push(start);
                self.changes.resize(start + part.dofs(), 0.0);
                part.free_change(&mut self.changes[start..]);
            }
        }
    }

    /// Whether a contact is nearly closed, or moves. The springs of a hand that holds something would close its fingers by millimetres in the free
    /// motion; contacts that are open and do not move with the present velocities stay open in such a grasp.
    pub fn may_close(&self, bodies: &Bodies, contact: &Contact, h: f64) -> bool {
        let mut change = 0.0;
        contact.columns(bodies, |part, dof, column| {
            change += self.changes[self.starts[bodies.part_index(part)] + dof] * contact.normal.dot(&column);
        });
        let steady = contact.free_gap - h * change;
        contact.gap.min(steady) < JOINS || (contact.gap - steady).abs() > JOINS
    }
}

impl Islands {
    /// Lists the bodies moved by the included contacts and the attachments, and their degrees of freedom.
    pub(super) fn list_movers(&mut self, bodies: &Bodies, proximity: &Proximity) {
        let Self { movers, mover_count, mover_of, ends, .. } = self;
        let included = ends.iter().map(|e| e.included).chain(std::iter::repeat(true));
        for (contact, _) in proximity.contacts.iter().zip(included).filter(|(_, included)| *included) {
            let parts = contact.parts(bodies).into_iter().flatten();
            let partners = parts.fold(0u64, |bits, part| bits | 1 << (bodies.part_index(part) % 64));
            contact.columns(bodies, |part, dof, _| {
                let place = &mut mover_of[bodies.part_index(part)];
                if *place == u32::MAX {
                    *place = *mover_count as u32;
                    if *mover_count == movers.len() {
                        movers.push(Mover::new(part));
                    }
                    movers[*mover_count].begin(bodies, part);
                    *mover_count += 1;
                }
                let mover = &mut movers[*place as usize];
                if mover.whole {
                    return;
                }
                mover.partners[dof] |= partners;
                if mover.marks[dof] == u32::MAX {
                    mover.marks[dof] = 0;
                    mover.touched.push(dof as u32);
                }
            });
        }
        movers[..*mover_count].iter_mut().for_each(|mover| mover.sort(bodies));
    }

    /// Assigns the movers to islands.
    pub(super) fn connect(&mut self, bodies: &Bodies, proximity: &Proximity) {
        self.parents.clear();
        self.parents.extend(0..self.mover_count as u32);
        let included = self.ends.iter().map(|e| e.included).chain(std::iter::repeat(true));
        for (contact, _) in proximity.contacts.iter().zip(included).filter(|(_, included)| *included) {
            let parts = contact.parts(bodies).into_iter().flatten();
            let mut ids = parts.map(|part| self.mover_of[bodies.part_index(part)]);
            let Some(first) = ids.next() else { continue };
            for id in ids {
                let (a, b) = (root(&mut self.parents, first), root(&mut self.parents, id));
                self.parents[a.max(b) as usize] = a.min(b);
            }
        }
        self.count = 0;
        self.island_of.clear();
        self.island_of.resize(self.mover_count, u32::MAX);
        for m in 0..self.mover_count as u32 {
            let root = root(&mut self.parents, m) as usize;
            if self.island_of[root] == u32::MAX {
                self.island_of[root] = self.count as u32;
                if self.count == self.islands.len() {
                    self.islands.push(Island::default());
                }
                let island = &mut self.islands[self.count];
                island.movers.clear();
                island.problem.clear();
                island.contacts.clear();
                island.patches.clear();
                island.links.clear();
                self.count += 1;
            }
            self.island_of[m as usize] = self.island_of[root];
            self.islands[self.island_of[root] as usize].movers.push(m);
        }
    }

    /// A force `f` at an arm `r` of a rigid body rotates with the body, which is a stiffness of up to `|f| |r|` against
    /// rotation. A light link in a heavy chain is unstable without it, since the step uses the direction of the force
    /// at its start only. DEVIATION from momentum balance: the rotational response of the body to constraints is that
    /// of a body with additional inertia, as far as `h² |f| |r|` exceeds its own (after Tournier et al. 2015).
    pub(super) fn add_geometric_stiffness(&mut self, bodies: &Bodies, links: &[Contact], h: f64) {
        self.movers[..self.mover_count].iter_mut().for_each(|mover| mover.geometric = 0.0);
        self.link_forces.resize(links.len(), Vec3::zeros());
        for (link, force) in links.iter().zip(&self.link_forces) {
            for anchor in [&link.a, &link.b] {
                for part in anchor.parts(bodies).into_iter().flatten() {
                    if let Some(arm) = bodies.part(part).rotation_arm(&anchor.place(bodies)) {
                        let mover = self.mover_of[bodies.part_index(part)];
                        self.movers[mover as usize].geometric += h * h * force.norm() * arm;
                    }
                }
            }
        }
    }

    /// Warm start from the velocities of the last step: at rest they are the solution.
    pub(super) fn warm_start(&mut self, bodies: &Bodies) {
        for island in &mut self.islands[..self.count] {
            island.x.clear();
            for &m in &island.movers {
                let mover = &self.movers[m as usize];
                self.row.clear();
                self.row.resize(mover.dv.len(), 0.0);
                bodies.part(mover.id).free_change(&mut self.row);
                island.x.extend(mover.touched.iter().map(|&d| -self.row[d as usize]));
            }
        }
    }
}

impl Mover {
    fn new(id: PartId) -> Self {
        Self {
            id,
            touched: Vec::new(),
            marks: Vec::new(),
            whole: true,
            parts: Vec::new(),
            partners: Vec::new(),
            geometric: 0.0,
            block: 0,
            dv: Vec::new(),
            next: Vec::new(),
        }
    }

    fn begin(&mut self, bodies: &Bodies, id: PartId) {
        let body = bodies.part(id);
        let dofs = body.dofs();
        (self.id, self.whole) = (id, body.is_small());
        self.dv.clear();
        self.dv.resize(dofs, 0.0);
        self.marks.clear();
        self.touched.clear();
        if self.whole {
            self.touched.extend(0..dofs as u32);
            self.marks.resize(dofs, 0);
        } else {
            self.marks.resize(dofs, u32::MAX);
        }
        self.partners.clear();
        self.partners.resize(dofs, 0);
    }

    /// Groups the touched degrees of freedom.
    fn sort(&mut self, bodies: &Bodies) {
        self.parts.clear();
        if self.whole {
            self.parts.extend_from_slice(bodies.part(self.id).partition());
        } else {
            let partners = &self.partners;
            self.touched.sort_unstable_by_key(|&dof| (partners[dof as usize], dof));
            let groups = self.touched.chunk_by(|&a, &b| partners[a as usize] == partners[b as usize]);
            self.parts.extend(groups.map(<[u32]>::len));
        }
        for (i, &dof) in self.touched.iter().enumerate() {
            self.marks[dof as usize] = i as u32;
        }
    }

    /// Block and index in it of a degree of freedom.
    pub(super) fn unknown(&self, dof: usize) -> (u32, u32) {
        let mut local = self.marks[dof];
        for (k, &size) in self.parts.iter().enumerate() {
            if local < size as u32 {
                return (self.block + k as u32, local);
            }
            local -= size as u32;
        }
        (self.block, local)
    }
}

/// Adds the unknowns of a body and its part of `A`.
pub(super) fn push_body(bodies: &mut Bodies, mover: &Mover, condensed: &mut [Condensed], problem: &mut ConvexProblem) {
    let first = problem.sizes.len() as u32;
    let (matrix, n) = if mover.whole {
        let body = bodies.part(mover.id);
        (body.matrix(), body.dofs())
    } else {
        let condensed = &mut condensed[bodies.part_index(mover.id)];
        bodies.part_mut(mover.id).prepare_inverse();
        condensed.update(mover.id, bodies.part(mover.id), &mover.touched);
        let blocks = [first, first + mover.parts.len() as u32];
        problem.compliances.push(Compliance { blocks, start: problem.compliance_values.len() });
        problem.compliance_values.extend_from_slice(condensed.compliance());
        (condensed.stiffness(), mover.touched.len())
    };
    let parts = &mover.parts;
    problem.sizes.extend_from_slice(parts);
    let mut row = 0;
    for (i, &rows) in parts.iter().enumerate() {
        let mut column = row;
        for (j, &columns) in parts.iter().enumerate().skip(i) {
            let entry = |r: usize, c: usize| matrix[(row + r) * n + column + c];
            let coupled = i == j || (0..rows).any(|r| (0..columns).any(|c| entry(r, c) != 0.0));
            if coupled {
                let start = problem.quadratic_values.len();
                problem.quadratic.push(Quadratic { blocks: [first + i as u32, first + j as u32], start });
                for r in 0..rows {
                    problem.quadratic_values.extend((0..columns).map(|c| entry(r, c)));
                }
                if mover.geometric > 0.0 && i == j {
                    // Below its own inertia the explicit direction is stable, and momentum is conserved exactly.
                    let least = (3..6).map(|k| entry(k, k)).fold(f64::INFINITY, f64::min);
                    let more = (mover.geometric - least).max(0.0);
                    (3..6).for_each(|k| problem.quadratic_values[start + k * columns + k] += more);
                }
            }
            column += columns;
        }
        row += rows;
    }
}
