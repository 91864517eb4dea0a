use super::element::{Element, Lame};
use super::factor::Factor;
use super::matrix::{BlockMatrix, BlockPattern};
use crate::hand::Material;
use crate::math::{Mat3, Vec3};
use crate::mesh::TetMesh;

/// When a soft body refreshes its element rotations and its factorisation: the knob between accuracy and speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refactor {
    /// Every step.
    Always,
    /// When some node has moved far enough since the last time.
    Drift,
    /// Never: rotations stay those of the rest shape, linear elasticity in the frame of the body.
    Never,
}

/// The knob and its threshold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RefactorPolicy {
    /// When.
    pub when: Refactor,
    /// How far a node may move under [`Refactor::Drift`], as a fraction of the mean edge. Element rotations then lag by about as
    /// many radians, and forces by that times the strain.
    pub drift: f64,
}

impl Default for RefactorPolicy {
    fn default() -> Self {
        Self { when: Refactor::Drift, drift: 0.02 }
    }
}

/// A tetrahedral body in its own frame: constant.
#[derive(Clone, Debug)]
pub struct Continuum {
    elements: Vec<Element>,
    rest: Vec<Vec3>,
    /// Unknown of each node, `u32::MAX` for held ones.
    unknown: Vec<u32>,
    /// Node of each unknown.
    free: Vec<u32>,
    /// Lumped mass of each unknown, kg.
    masses: Vec<f64>,
    /// Places in the stiffness of the blocks `(a, b)`, `b ≤ a` by unknown, of each element.
    slots: Vec<[u32; 16]>,
    pattern: BlockPattern,
    material: Material,
    mean_edge: f64,
}

/// Its state and working memory.
#[derive(Debug)]
pub struct ContinuumState {
    /// Displacement of every node from rest in the frame of the body; zero where held.
    pub displacement: Vec<Vec3>,
    /// Velocity of the unknowns along the axes of the body's frame.
    pub velocity: Vec<f64>,
    rotations: Vec<Mat3>,
    /// Elastic force `∂E/∂x`, stiffness and displacement where they were last computed.
    force: Vec<f64>,
    stiffness: BlockMatrix,
    linearised_at: Vec<Vec3>,
    linearised: bool,
    factor: Factor,
    /// Step length that the factor is for; zero if there is none.
    factored_h: f64,
    work: Vec<f64>,
    product: Vec<f64>,
    refactorisations: u64,
    failures: u64,
}

impl Continuum {
    /// The body of a sound mesh ([`TetMesh::check`]) with some nodes held.
    pub fn new(mesh: &TetMesh, held: &[bool], material: Material) -> Self {
        let elements: Vec<_> = (0..mesh.tets.len()).map(|t| Element::new(mesh.tets[t], &mesh.corners(t))).collect();
        let mut unknown = vec![u32::MAX; mesh.nodes.len()];
        let mut free = Vec::new();
        for (node, slot) in unknown.iter_mut().enumerate().filter(|(node, _)| !held[*node]) {
            *slot = free.len() as u32;
            free.push(node as u32);
        }
        let mut masses = vec![0.0; free.len()];
        let mut edges = 0.0;
        for (t, element) in elements.iter().enumerate() {
            for node in element.nodes {
                if let Some(mass) = masses.get_mut(unknown[node as usize] as usize) {
                    *mass += 0.25 * element.volume * material.density;
                }
            }
            let [a, b, c, d] = mesh.corners(t);
            edges += [b - a, c - a, d - a, c - b, d - b, d - c].iter().map(|e| e.norm()).sum::<f64>() / 6.0;
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
        let mean_edge = edges / elements.len() as f64;
        Self { elements, rest: mesh.nodes.clone(), unknown, free, masses, slots, pattern, material, mean_edge }
    }

    /// The body at rest.
    pub fn at_rest(&self) -> ContinuumState {
        let n = 3 * self.free.len();
        ContinuumState {
            displacement: vec![Vec3::zeros(); self.rest.len()],
            velocity: vec![0.0; n],
            rotations: vec![Mat3::identity(); self.elements.len()],
            force: vec![0.0; n],
            stiffness: BlockMatrix::zeros(&self.pattern),
            linearised_at: vec![Vec3::zeros(); self.rest.len()],
            linearised: false,
            factor: Factor::new(&self.pattern),
            factored_h: 0.0,
            work: vec![0.0; n],
            product: vec![0.0; n],
            refactorisations: 0,
            failures: 0,
        }
    }

    /// Unknowns: three a free node.
    pub fn dofs(&self) -> usize {
        3 * self.free.len()
    }

    /// Elements.
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// Node positions at rest.
    pub fn rest(&self) -> &[Vec3] {
        &self.rest
    }

    /// Unknown of a node, `None` where it is held.
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

    fn lame(&self) -> Lame {
        Lame { lambda: self.material.lambda(), mu: self.material.mu() }
    }

    fn corners(&self, element: &Element, displacement: &[Vec3]) -> [Vec3; 4] {
        element.nodes.map(|n| self.rest[n as usize] + displacement[n as usize])
    }

    /// Factor on `M` and on `K` in `A = M + h D + h² K` with Rayleigh damping `D = α M + β K`.
    fn system_factors(&self, h: f64) -> (f64, f64) {
        (1.0 + h * self.material.damping_mass, h * self.material.damping_stiffness + h * h)
    }

    /// Refreshes rotations, elastic force and stiffness where the state is now.
    pub fn linearise(&self, state: &mut ContinuumState) {
        let lame = self.lame();
        state.force.fill(0.0);
        state.stiffness.blocks.fill(Mat3::zeros());
        for ((element, slots), rotation) in self.elements.iter().zip(&self.slots).zip(&mut state.rotations) {
            let corners = self.corners(element, &state.displacement);
            let f = element.deformation(&corners);
            *rotation = crate::math::polar_from(&f, rotation);
            let forces = element.forces(&lame, &f, rotation);
            for (node, force) in element.nodes.iter().zip(&forces) {
                let unknown = self.unknown[*node as usize];
                if unknown != u32::MAX {
                    add(&mut state.force, unknown as usize, force);
                }
            }
            let gradients = element.turned_gradients(rotation);
            for (k, &slot) in slots.iter().enumerate() {
                if slot != u32::MAX {
                    state.stiffness.blocks[slot as usize] += element.warped_block(&lame, &gradients, k / 4, k % 4);
                }
            }
        }
        state.linearised_at.copy_from_slice(&state.displacement);
        state.linearised = true;
        state.factored_h = 0.0;
    }

    fn has_drifted(&self, state: &ContinuumState, drift: f64) -> bool {
        let far = (drift * self.mean_edge).powi(2);
        state.displacement.iter().zip(&state.linearised_at).any(|(u, at)| (u - at).norm_squared() > far)
    }

    /// Makes the linearisation and the factor ready for a step, as the policy says.
    pub fn prepare(&self, state: &mut ContinuumState, h: f64, policy: &RefactorPolicy) {
        let stale = match policy.when {
            Refactor::Always => true,
            Refactor::Drift => self.has_drifted(state, policy.drift),
            Refactor::Never => false,
        };
        if stale || !state.linearised {
            self.linearise(state);
        }
        if state.factored_h != h {
            let (mass, stiffness) = self.system_factors(h);
            let made = state.factor.factor(&self.pattern, &state.stiffness, stiffness, &self.masses, mass);
            state.refactorisations += 1;
            // A matrix that is not finite: the last factor stays, and the state's own check will tell.
            state.failures += u64::from(made.is_err());
            state.factored_h = h;
        }
    }

    /// The change of velocity without constraints, `A dv = b` (Talvas 2015, eq. 2), left in `dv`. `load` is the force on each
    /// unknown from outside.
    ///
    /// With the elastic force taken as linear about where it was last computed, `f_el = f₀ + K (u − u₀)`:
    /// `b = h (load − f₀ − K (u − u₀ + (h + β) v) − α M v)`.
    pub fn free_change(&self, state: &mut ContinuumState, h: f64, load: impl Fn(usize) -> Vec3, dv: &mut [f64]) {
        let (alpha, beta) = (self.material.damping_mass, self.material.damping_stiffness);
        for (i, &node) in self.free.iter().enumerate() {
            let moved = state.displacement[node as usize] - state.linearised_at[node as usize];
            for c in 0..3 {
                state.work[3 * i + c] = moved[c] + (h + beta) * state.velocity[3 * i + c];
            }
        }
        state.product.copy_from_slice(&state.force);
        state.stiffness.multiply_add(&self.pattern, &state.work, &mut state.product);
        for (i, &mass) in self.masses.iter().enumerate() {
            let outside = load(i);
            for c in 0..3 {
                let k = 3 * i + c;
                dv[k] = h * (outside[c] - state.product[k] - alpha * mass * state.velocity[k]);
            }
        }
        state.factor.solve(dv);
    }

    /// The factor of a step of length `h` at rest, and a right-hand side for it.
    pub fn ready_factor(&self, h: f64) -> (Factor, Vec<f64>) {
        let mut state = self.at_rest();
        self.prepare(&mut state, h, &RefactorPolicy::default());
        (state.factor, vec![1.0; self.dofs()])
    }

    /// Hands the factorisation of a step at rest, and one solve with it, to a stopwatch; `(factor, solve)` as it reads them.
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
            // A body at rest is positive definite; were it not, the time would show it.
            let _ = factor.factor(&self.pattern, &state.stiffness, stiffness, &self.masses, mass);
        });
        let solved = stopwatch(&mut || {
            rhs.fill(1.0);
            factor.solve(&mut rhs);
        });
        (factored, solved)
    }

    /// Elastic energy of some displacements, J, with rotations sought from the state's.
    pub fn elastic_energy(&self, state: &ContinuumState, displacement: &[Vec3]) -> f64 {
        let lame = self.lame();
        let of = |(element, start): (&Element, &Mat3)| {
            let f = element.deformation(&self.corners(element, displacement));
            element.energy(&lame, &f, &crate::math::polar_from(&f, start))
        };
        self.elements.iter().zip(&state.rotations).map(of).sum()
    }

    /// Kinetic energy of the unknowns, J.
    pub fn kinetic_energy(&self, state: &ContinuumState) -> f64 {
        let square = |i: usize| state.velocity[3 * i..3 * i + 3].iter().map(|v| v * v).sum::<f64>();
        self.masses.iter().enumerate().map(|(i, m)| 0.5 * m * square(i)).sum()
    }

    /// Elastic forces `∂E/∂x` on all nodes, held ones included, where the state is now.
    pub fn elastic_forces(&self, state: &ContinuumState) -> Vec<Vec3> {
        let lame = self.lame();
        let mut forces = vec![Vec3::zeros(); self.rest.len()];
        for (element, start) in self.elements.iter().zip(&state.rotations) {
            let f = element.deformation(&self.corners(element, &state.displacement));
            let r = crate::math::polar_from(&f, start);
            for (node, force) in element.nodes.iter().zip(element.forces(&lame, &f, &r)) {
                forces[*node as usize] += force;
            }
        }
        forces
    }

    /// Cauchy stress of each element for small strains, Pa.
    pub fn stresses(&self, state: &ContinuumState) -> Vec<Mat3> {
        let lame = self.lame();
        let of = |(element, start): (&Element, &Mat3)| {
            let f = element.deformation(&self.corners(element, &state.displacement));
            let r = crate::math::polar_from(&f, start);
            element.stress(&lame, &f, &r) * r.transpose()
        };
        self.elements.iter().zip(&state.rotations).map(of).collect()
    }

    /// Displacements in equilibrium with a load on the unknowns, by Newton's method from the present state. A little mass in the
    /// matrix, `pin · M`, is there for rigid motions that nothing holds; it does not change where the iteration ends. Returns the
    /// norm of what is left of the load.
    pub fn settle(&self, state: &mut ContinuumState, load: &[f64], pin: f64, steps: usize) -> f64 {
        let mut left = f64::INFINITY;
        for _ in 0..steps {
            self.linearise(state);
            let mut du: Vec<f64> = load.iter().zip(&state.force).map(|(l, f)| l - f).collect();
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

    /// `A⁻¹` on right-hand sides that lie one after another.
    pub fn apply_inverse(&mut self, rows: &mut [f64]) {
        self.factor.solve(rows);
    }

    /// `A⁻¹` on one right-hand side that is mostly zero.
    pub fn apply_inverse_to_few(&mut self, row: &mut [f64]) {
        self.factor.solve_few(row);
    }

    /// How often the system was factored.
    pub fn refactorisations(&self) -> u64 {
        self.refactorisations
    }

    /// How often that failed.
    pub fn failures(&self) -> u64 {
        self.failures
    }
}

pub(super) fn add(onto: &mut [f64], unknown: usize, v: &Vec3) {
    for c in 0..3 {
        onto[3 * unknown + c] += v[c];
    }
}
