use super::elastic::{ElementGroup, Strains, Turns, UNTURNED, add_forces, grouped, turn_of};
use super::element::{Element, Lame, cofactor};
use super::factor::{Factor, NotPositive};
use super::lanes::Lanes;
use super::matrix::{BlockMatrix, BlockPattern};
use super::relaxation::{Branches, Relaxation};
use crate::hand::Material;
use crate::math::{Mat3, StateHash, Vec3};
use crate::mesh::TetMesh;

/// When a soft body updates and factors its system matrix. Elastic forces are exact in every step; the matrix
/// determines their change within the step, so the rest state does not depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refactor {
    /// Every step.
    Always,
    /// When some element has rotated far enough since the last update.
    Drift,
    /// Only if elements have rotated, or are compressed or stretched, so much that a step would be unstable.
    Never,
}

/// The policy and its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefactorPolicy {
    /// When.
    pub when: Refactor,
    /// Maximum rotation of an element under [`Refactor::Drift`], rad, in the frame of the body.
    pub drift: f64,
}

impl Default for RefactorPolicy {
    fn default() -> Self {
        Self { when: Refactor::Drift, drift: 0.1 }
    }
}

/// Maximum rotation of an element since the last update for a stable step, rad. A matrix rotated by `θ` underestimates
/// the stiffness by up to `λ sin² θ` in directions in which it has `μ`.
const FAR: f64 = 0.3;

/// `tr S` above which the stiffness of an element depends on its stretch.
const TORN: f64 = 3.05;

/// `φ` of strain limiting above which its slope enters the stiffness.
const NOTICED: f64 = 1.02;

/// Ratios of `φ` to that of the stiffness above which the latter is computed again: of a larger one, for stability, and of a smaller one, so that a
/// step is not too slow.
const STIFFER: f64 = 1.3;
const SOFTER: f64 = 2.0;

/// A tetrahedral body in its own frame: the constant part.
#[derive(Clone, Debug)]
pub struct Continuum {
    elements: Vec<Element>,
    groups: Vec<ElementGroup>,
    rest: Vec<Vec3>,
    /// Unknown of each node, `u32::MAX` for fixed ones.
    unknown: Vec<u32>,
    /// Node of each unknown.
    free: Vec<u32>,
    /// Lumped mass of each unknown, kg.
    masses: Vec<f64>,
    /// Offsets in the stiffness of the blocks `(a, b)`, `b ≤ a` by unknown, of each element.
    slots: Vec<[u32; 16]>,
    pattern: BlockPattern,
    material: Material,
    /// `β` of strain limiting.
    stiffening: f64,
    relaxation: Option<Relaxation>,
}

/// Its state and working memory.
#[derive(Clone, Debug)]
pub struct ContinuumState {
    /// Displacement of every node from rest in the frame of the body; zero for fixed nodes.
    pub displacement: Vec<Vec3>,
    /// Velocity of the unknowns along the axes of the body's frame.
    pub velocity: Vec<f64>,
    /// Rotations of the elements, and elastic forces `∂E/∂x` on the nodes, at the last evaluation.
    pub(super) turns: Vec<Turns>,
    strains: Vec<Strains>,
    forces: Vec<Vec3>,
    /// Forces of relaxation, if the body relaxes.
    pub(super) branches: Branches,
    /// Rotations and strains of the stiffness.
    pub(super) stiffness: BlockMatrix,
    pub(super) stiffness_turns: Vec<Turns>,
    pub(super) stiffness_strains: Vec<Strains>,
    pub(super) linearised: bool,
    pub(super) factor: Factor,
    /// Time step of the factor; zero if there is none.
    pub(super) factored_h: f64,
    pub(super) refactorisations: u64,
    pub(super) failures: u64,
}

impl Continuum {
    /// The body of a valid mesh ([`TetMesh::check`]) with some nodes fixed.
    pub fn new(mesh: &TetMesh, held: &[bool], material: Material) -> Self {
        let elements: Vec<_> = (0..mesh.tets.len()).map(|t| Element::new(mesh.tets[t], &mesh.corners(t))).collect();
        let mut unknown = vec![u32::MAX; mesh.nodes.len()];
        let mut free = Vec::new();
        for (node, slot) in unknown.iter_mut().enumerate().filter(|(node, _)| !held[*node]) {
            *slot = free.len() as u32;
            free.push(node as u32);
        }
        let mut masses = vec![0.0; free.len()];
        for element in &elements {
            for node in element.nodes {
                if let Some(mass) = masses.get_mut(unknown[node as usize] as usize) {
                    *mass += 0.25 * element.volume * material.density;
                }
            }
        }
        let groups = elements.iter().map(|e| e.nodes.map(|n| unknown[n as usize]));
        let pattern = BlockPattern::from_groups(free.len(), groups);
        let place = |a: u32, b: u32| match (a, b) {
            (u32::MAX, _) | (_, u32::MAX) => u32::MAX,
            (a, b) if b > a => u32::MAX,
            (a, b) => pattern.find(a, b).map_or(u32::MAX, |p| p as u32),
        };
        let slots = elements
            .iter()
            .map(|e| {
                let of = e.nodes.map(|n| unknown[n as usize]);
                std::array::from_fn(|k| place(of[k / 4], of[k % 4]))
            })
            .collect();
        let groups = grouped(&elements);
        Self {
            elements,
            groups,
            rest: mesh.nodes.clone(),
            unknown,
            free,
            masses,
            slots,
            pattern,
            material,
            stiffening: 0.0,
            relaxation: None,
        }
    }

    /// The same body with strain limiting, see [`Element`]; zero is linear.
    pub fn stiffened(self, stiffening: f64) -> Self {
        Self { stiffening, ..self }
    }

    /// The same body with viscoelastic relaxation.
    pub fn relaxing(self, relaxation: Option<Relaxation>) -> Self {
        Self { relaxation, ..self }
    }

    /// The body at rest.
    pub fn at_rest(&self) -> ContinuumState {
        let (n, groups) = (3 * self.free.len(), self.groups.len());
        ContinuumState {
            displacement: vec![Vec3::zeros(); self.rest.len()],
            velocity: vec![0.0; n],
            turns: vec![UNTURNED; groups],
            strains: vec![Strains::default(); groups],
            forces: vec![Vec3::zeros(); self.rest.len()],
            branches: Branches::at_rest(if self.relaxation.is_some() { self.rest.len() } else { 0 }),
            stiffness: BlockMatrix::zeros(&self.pattern),
            stiffness_turns: vec![UNTURNED; groups],
            stiffness_strains: vec![Strains::default(); groups],
            linearised: false,
            factor: Factor::new(&self.pattern),
            factored_h: 0.0,
            refactorisations: 0,
            failures: 0,
        }
    }

    /// Number of unknowns: three per free node.
    pub fn dofs(&self) -> usize {
        3 * self.free.len()
    }

    /// Number of elements.
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// Node positions at rest.
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// Unknown of a node, `None` if it is fixed.
    pub fn unknown(&self, node: u32) -> Option<usize> {
        let unknown = self.unknown[node as usize];
        (unknown != u32::MAX).then_some(unknown as usize)
    }

    /// Node of each unknown.
    pub fn free_nodes(&self) -> &[u32] {
        &self.free
    }

    /// Lumped mass of each unknown, kg.
    pub fn masses(&self) -> &[f64] {
        &self.masses
    }

    /// The material.
    pub fn material(&self) -> &Material {
        &self.material
    }

    /// Pattern of the blocks of the stiffness.
    pub(super) fn pattern(&self) -> &BlockPattern {
        &self.pattern
    }

    fn lame(&self) -> Lame {
        Lame { stiffening: self.stiffening, ..Lame::linear(self.material.lambda(), self.material.mu()) }
    }

    fn corners(&self, element: &Element, displacement: &[Vec3]) -> [Vec3; 4] {
        element.nodes.map(|n| self.rest[n as usize] + displacement[n as usize])
    }

    /// Factor on `M` and on `K` in `A = M + h D + h² K` with Rayleigh damping `D = α M + β K`.
    fn system_factors(&self, h: f64) -> (f64, f64) {
        let relaxation = self.relaxation.map_or(1.0, |law| law.stiffness_factor(h));
        (1.0 + h * self.material.damping_mass, h * self.material.damping_stiffness + h * h * relaxation)
    }

    /// Rotations and elastic forces in the current state.
    fn compute_forces(&self, state: &mut ContinuumState) {
        state.forces.fill(Vec3::zeros());
        let ContinuumState { displacement, turns, strains, forces, .. } = state;
        add_forces(&self.groups, &self.lame(), displacement, turns, strains, forces);
    }

    /// Updates rotations, elastic forces and stiffness for the current state.
    pub fn linearise(&self, state: &mut ContinuumState) {
        self.compute_forces(state);
        self.assemble(state);
    }

    /// The stiffness for the rotations of the state.
    fn assemble(&self, state: &mut ContinuumState) {
        let lame = self.lame();
        let blocks = &mut state.stiffness.blocks;
        blocks.fill(Mat3::zeros());
        for (t, (element, slots)) in self.elements.iter().zip(&self.slots).enumerate() {
            let (group, lane) = (t / 4, t % 4);
            let rotation = turn_of(&state.turns[group], lane).to_rotation_matrix().into_inner();
            let gradients = element.turned_gradients(&rotation);
            let (stretch, volume) = (state.strains[group].stretch.0[lane], state.strains[group].volume.0[lane]);
            let own = lame.scaled(state.strains[group].limiting.0[lane]);
            let mut stiffening = Element::stiffening(&own, stretch, volume, 0.0);
            for (k, &slot) in slots.iter().enumerate().filter(|(_, slot)| **slot != u32::MAX) {
                blocks[slot as usize] += element.warped_block(&own, stiffening.twist, &gradients, k / 4, k % 4);
            }
            if own.mu > NOTICED * lame.mu {
                let f = element.deformation(&self.corners(element, &state.displacement));
                let stress = Element::linear_stress(&lame, &f, &rotation);
                let slope = lame.limit(Element::strain(&lame, &f, &rotation)).slope / lame.mu;
                let loads = element.gradients.map(|g| stress * g);
                for (k, &slot) in slots.iter().enumerate().filter(|(_, slot)| **slot != u32::MAX) {
                    blocks[slot as usize] += element.limiting_block(slope, &loads, k / 4, k % 4);
                }
            }
            if volume < Element::CRUSHED {
                let f = element.deformation(&self.corners(element, &state.displacement));
                stiffening = Element::stiffening(&lame, stretch, volume, f.norm());
                let turned = element.gradients.map(|g| cofactor(&f) * g);
                for (k, &slot) in slots.iter().enumerate().filter(|(_, slot)| **slot != u32::MAX) {
                    blocks[slot as usize] += element.crushed_block(&stiffening, &turned, k / 4, k % 4);
                }
            }
        }
        state.stiffness_turns.copy_from_slice(&state.turns);
        state.stiffness_strains.copy_from_slice(&state.strains);
        state.linearised = true;
        state.factored_h = 0.0;
    }

    /// Whether some element has rotated by more than an angle since the stiffness was computed.
    fn has_turned(&self, state: &ContinuumState, angle: f64) -> bool {
        // The product of two unit quaternions is the cosine of half the angle between them.
        let least = Lanes::all((0.5 * angle).cos().powi(2));
        state.turns.iter().zip(&state.stiffness_turns).any(|(q, p)| {
            let dot = q[0] * p[0] + q[1] * p[1] + q[2] * p[2] + q[3] * p[3];
            (dot * dot).any(least, |square, least| square < least)
        })
    }

    /// Whether compressed or stretched elements have changed their stiffness so much that a step would be unstable or
    /// very slow.
    fn has_stiffened(&self, state: &ContinuumState) -> bool {
        let lame = self.lame();
        let modulus = lame.lambda + 2.0 * lame.mu;
        if self.stiffening > 0.0 {
            let stale = |(now, then): (&Strains, &Strains)| {
                now.limiting.any(then.limiting, |now, then| now > STIFFER * then || then > SOFTER * now)
            };
            if state.strains.iter().zip(&state.stiffness_strains).any(stale) {
                return true;
            }
        }
        state.strains.iter().zip(&state.stiffness_strains).any(|(now, then)| {
            let crushed = now.volume.any(then.volume, |a, b| a.min(b) < Element::CRUSHED);
            let torn = now.stretch.any(then.stretch, |a, b| a.max(b) > TORN);
            (crushed || torn)
                && (0..4).any(|lane| {
                    let [a, b] = [now, then].map(|s| {
                        let (stretch, volume) = (s.stretch.0[lane], s.volume.0[lane]);
                        let added = Element::stiffening(&lame, stretch, volume, 1.0);
                        [added.volume, added.any + added.twist]
                    });
                    (0..2).any(|i| a[i] > 1.5 * b[i] + 0.5 * modulus || b[i] > 4.0 * a[i] + 2.0 * modulus)
                })
        })
    }

    /// Computes the elastic forces, and updates the factor according to the policy.
    pub fn prepare(&self, state: &mut ContinuumState, h: f64, policy: &RefactorPolicy) {
        self.compute_forces(state);
        if let Some(law) = &self.relaxation {
            state.branches.follow(law, h, &mut state.forces);
        }
        let stale = match policy.when {
            Refactor::Always => true,
            Refactor::Drift => self.has_turned(state, policy.drift.min(FAR)),
            Refactor::Never => self.has_turned(state, FAR),
        };
        if stale || !state.linearised || self.has_stiffened(state) {
            self.assemble(state);
        }
        if state.factored_h != h {
            let made = self.factor(state, h);
            state.refactorisations += 1;
            // A non-finite matrix: the last factor is kept, and the check of the state reports it.
            state.failures += u64::from(made.is_err());
            state.factored_h = h;
        } else {
            state.factor.reuse();
        }
    }

    /// Factors the matrix of a step of length `h` with the stiffness of the state.
    fn factor(&self, state: &mut ContinuumState, h: f64) -> Result<(), NotPositive> {
        let (mass, stiffness) = self.system_factors(h);
        state.factor.factor(&self.pattern, &state.stiffness, stiffness, &self.masses, mass)
    }

    /// Makes the factor of a restored state again.
    pub(super) fn refactor(&self, state: &mut ContinuumState, is_inverted: bool) {
        if state.factored_h > 0.0 && self.factor(state, state.factored_h).is_ok() && is_inverted {
            state.factor.reuse();
        }
    }

    /// Whether a state at rest needs no [`Continuum::prepare`] for a step: its factor is that of the step, and nothing relaxes.
    pub fn is_current(&self, state: &ContinuumState, h: f64, policy: &RefactorPolicy) -> bool {
        state.linearised && state.factored_h == h && policy.when != Refactor::Always && self.relaxation.is_none()
    }

    /// Velocity change without constraints, `A dv = b` (Talvas 2015, eq. 2), written to `dv`. `load` is the external
    /// force on each unknown.
    ///
    /// With the exact elastic force `f`, `b = h (load − f − K (h + β) v − α M v)`; with `A = M + h D + h² K` that is
    /// `A (v + dv) = M v + h (load − f)`.
    pub fn free_change(&self, state: &mut ContinuumState, h: f64, load: impl Fn(usize) -> Vec3, dv: &mut [f64]) {
        for (i, (&mass, &node)) in self.masses.iter().zip(&self.free).enumerate() {
            let force = load(i) - state.forces[node as usize];
            for c in 0..3 {
                dv[3 * i + c] = mass * state.velocity[3 * i + c] + h * force[c];
            }
        }
        state.factor.solve(dv);
        dv.iter_mut().zip(&state.velocity).for_each(|(dv, v)| *dv -= v);
    }

    /// The factor of a step `h` at rest, and a right-hand side for it.
    pub fn ready_factor(&self, h: f64) -> (Factor, Vec<f64>) {
        let mut state = self.at_rest();
        self.prepare(&mut state, h, &RefactorPolicy::default());
        (state.factor, vec![1.0; self.dofs()])
    }

    /// Passes the factorisation of a step at rest, and one solve, to a timer; returns `(factor, solve)`.
    pub fn time_factor(
        &self,
        make: impl Fn(&BlockPattern) -> Factor,
        mut stopwatch: impl FnMut(&mut dyn FnMut()) -> f64,
    ) -> (f64, f64) {
        let mut state = self.at_rest();
        self.linearise(&mut state);
        let mut factor = make(&self.pattern);
        let (mass, stiffness) = self.system_factors(0.01);
        let mut rhs = vec![1.0; self.dofs()];
        let factored = stopwatch(&mut || {
            // The matrix at rest is positive definite; otherwise the time would show it.
            let _ = factor.factor(&self.pattern, &state.stiffness, stiffness, &self.masses, mass);
        });
        let solved = stopwatch(&mut || {
            rhs.fill(1.0);
            factor.solve(&mut rhs);
        });
        (factored, solved)
    }

    /// Elastic energy of some displacements, J, with rotations found from the state's.
    pub fn elastic_energy(&self, state: &ContinuumState, displacement: &[Vec3]) -> f64 {
        let lame = self.lame();
        let of = |(t, element): (usize, &Element)| {
            let f = element.deformation(&self.corners(element, displacement));
            element.energy(&lame, &f, &crate::math::polar_from(&f, &state.rotation(t)))
        };
        self.elements.iter().enumerate().map(of).sum()
    }

    /// Kinetic energy of the unknowns, J.
    pub fn kinetic_energy(&self, state: &ContinuumState) -> f64 {
        let square = |i: usize| state.velocity[3 * i..3 * i + 3].iter().map(|v| v * v).sum::<f64>();
        self.masses.iter().enumerate().map(|(i, m)| 0.5 * m * square(i)).sum()
    }

    /// Elastic forces `∂E/∂x` on all nodes, including fixed ones, in the current state.
    pub fn elastic_forces(&self, state: &ContinuumState) -> Vec<Vec3> {
        let mut forces = vec![Vec3::zeros(); self.rest.len()];
        let (mut turns, mut strains) = (state.turns.clone(), state.strains.clone());
        add_forces(&self.groups, &self.lame(), &state.displacement, &mut turns, &mut strains, &mut forces);
        forces
    }

    /// Cauchy stress of each element for small strains, Pa.
    pub fn stresses(&self, state: &ContinuumState) -> Vec<Mat3> {
        let lame = self.lame();
        let of = |(t, element): (usize, &Element)| {
            let f = element.deformation(&self.corners(element, &state.displacement));
            let r = crate::math::polar_from(&f, &state.rotation(t));
            element.stress(&lame, &f, &r) * r.transpose()
        };
        self.elements.iter().enumerate().map(of).collect()
    }

    /// Equilibrium displacements under a load on the unknowns, by Newton's method from the current state. A small mass
    /// term `pin · M` in the matrix makes free rigid motions regular; it does not change the result. Returns the norm
    /// of the residual load.
    pub fn settle(&self, state: &mut ContinuumState, load: &[f64], pin: f64, steps: usize) -> f64 {
        let mut left = f64::INFINITY;
        for _ in 0..steps {
            self.linearise(state);
            let forces = self.free.iter().flat_map(|&n| state.forces[n as usize].iter().copied());
            let mut du: Vec<f64> = load.iter().zip(forces).map(|(l, f)| l - f).collect();
            left = du.iter().map(|x| x * x).sum::<f64>().sqrt();
            if state.factor.factor(&self.pattern, &state.stiffness, 1.0, &self.masses, pin).is_err() {
                break;
            }
            state.factor.solve(&mut du);
            self.displace(state, &du, 1.0);
        }
        state.factored_h = 0.0;
        left
    }

    /// Adds `scale · d` to the displacement of the unknowns.
    pub fn displace(&self, state: &mut ContinuumState, d: &[f64], scale: f64) {
        for (i, &node) in self.free.iter().enumerate() {
            state.displacement[node as usize] += scale * Vec3::new(d[3 * i], d[3 * i + 1], d[3 * i + 2]);
        }
    }
}

impl ContinuumState {
    /// Moves the displacement of the unknowns by `h` times their velocity.
    pub fn advance(&mut self, body: &Continuum, h: f64) {
        let velocity = std::mem::take(&mut self.velocity);
        body.displace(self, &velocity, h);
        self.velocity = velocity;
    }

    /// The stiffness at the last linearisation.
    pub(super) fn stiffness(&self) -> &BlockMatrix {
        &self.stiffness
    }

    /// The same, to be changed.
    pub(super) fn stiffness_mut(&mut self) -> &mut BlockMatrix {
        &mut self.stiffness
    }

    /// Rotation of an element at the last evaluation.
    fn rotation(&self, element: usize) -> Mat3 {
        turn_of(&self.turns[element / 4], element % 4).to_rotation_matrix().into_inner()
    }

    /// Mixes the forces of relaxation into a hash.
    pub fn hash_relaxation(&self, hash: &mut StateHash) {
        self.branches.hash_into(hash);
    }

    /// Applies `A⁻¹` to consecutive right-hand sides.
    pub fn apply_inverse(&self, rows: &mut [f64]) {
        self.factor.solve(rows);
    }

    /// Number of factorisations.
    pub fn refactorisations(&self) -> u64 {
        self.refactorisations
    }

    /// Number of failed factorisations.
    pub fn failures(&self) -> u64 {
        self.failures
    }
}
