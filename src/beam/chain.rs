use super::description::{BeamDescription, Damping, End, Motion};
use super::element::{BeamElement, BeamStrains, NodePose};
use super::error::BeamError;
use super::path::frames;
use super::tridiagonal::{BlockTridiagonal, Six, get};
use crate::math::{Mat3, Quat, Vec3, exp};
use crate::problem::Guide;

/// One number for each strain of an element.
pub(super) type StrainVector = nalgebra::SVector<f64, 6>;

/// Linear and angular momentum.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Momentum {
    /// kg·m/s.
    pub linear: Vec3,
    /// About the origin, kg·m²/s.
    pub angular: Vec3,
}

/// A chain of beams and its state.
///
/// One step of length `h` is implicit Euler (formulation §1; Peterlik 2011, eq. 4) with the mass `M` lumped at the nodes. The velocity `v'` at its end satisfies
///
/// - dynamic: `M (v' − v) = −∇ψ(q + h v') h + h p − hα M v'`, with `ψ = Σ k (½ ε² + ½ β/h (ε − ε₀)²)`, the loads `p` and the strains `ε₀` at the start;
/// - quasi-static: the same without `M (v' − v)`: the velocity before does not count.
///
/// These are the stationary points of `Φ(u) = ½ |u − v|²_M + ½ hα |u|²_M + ψ(q + h u) − h p·u`. Newton's method minimises it from the guess `u = v`, or
/// `u = 0` where that is lower, with the matrix `A = (1 + hα) M + (h² + hβ) K + h² T`, or `hα M + …`, and halves a step that does not
/// lower `Φ`. `K` is the Gauss–Newton stiffness of the elements, `T` what tension adds. `A` is positive definite; contact works with the last one.
///
/// DEVIATION: the papers linearise once, at `q`. A beam that a step turns by `θ` against the place where it was linearised is left with a stretch of `θ²/2`, which is a large
/// tension in a stiff thread. Another iteration is done only while `θ` is above 1e-3 rad, so a chain that moves evenly takes one.
///
/// **Momentum.** The state of a node's rotation is its angular momentum in the world, so a node that nothing acts on keeps it. The internal forces of a step have no resultant.
/// Their torque about the positions at the start of the step is of the first order in `h` when the chain turns: the numerical damping of rotation that
/// implicit Euler has. A chain with two free ends is therefore corrected after the solve by the rigid motion that restores both momenta, which
/// also removes the rounding of the solve. Both are then kept to rounding in free motion. Contact is solved with `A`, without this correction.
#[derive(Clone, Debug)]
pub struct BeamChain {
    pub(super) elements: Vec<BeamElement>,
    pub(super) strains: Vec<BeamStrains>,
    /// Elastic and damping stress where forces are linearised.
    pub(super) stresses: Vec<StrainVector>,
    pub(super) start_strains: Vec<StrainVector>,
    pub(super) radii: Vec<f64>,
    pub(super) mass: Vec<f64>,
    /// Principal moments of inertia of the nodes, in their frames.
    pub(super) inertia: Vec<Vec3>,
    pub(super) position: Vec<Vec3>,
    pub(super) orientation: Vec<Quat>,
    /// Where forces are linearised.
    pub(super) ahead: Vec<(Vec3, Quat)>,
    /// The guess before an iteration.
    pub(super) before: Vec<(Six, Quat)>,
    pub(super) velocity: Vec<Six>,
    /// Angular momentum of each node about itself, in the world.
    pub(super) spin: Vec<Vec3>,
    pub(super) inertia_world: Vec<Mat3>,
    pub(super) ends: [End; 2],
    pub(super) end_velocity: [Six; 2],
    pub(super) motion: Motion,
    pub(super) damping: Damping,
    pub(super) load: Vec<Six>,
    /// A node that is pulled to a pose.
    pub(super) guide: Option<(usize, Guide)>,
    pub(super) matrix: BlockTridiagonal,
    pub(super) rhs: Vec<f64>,
    pub(super) start: Vec<Six>,
    pub(super) iterations: usize,
}

crate::saved_fields!(
    BeamChain: position, orientation, velocity, spin, inertia_world, end_velocity, load, guide
);

impl BeamChain {
    /// A chain at rest in its undeformed shape.
    pub fn new(description: &BeamDescription) -> Result<Self, BeamError> {
        description.check()?;
        let nodes = &description.nodes;
        let frames = frames(nodes, &description.up)?;
        let n = nodes.len();
        if n - 1 > super::MOST_BEAMS {
            return Err(BeamError::Count { count: n - 1, most: super::MOST_BEAMS });
        }
        let Lumped { elements, mass, inertia, radii } = Lumped::new(description, &frames)?;
        let strains = elements
            .iter()
            .enumerate()
            .map(|(i, e)| e.strains([(&nodes[i], &frames[i]), (&nodes[i + 1], &frames[i + 1])]))
            .collect();
        let mut chain = Self {
            elements,
            strains,
            stresses: vec![StrainVector::zeros(); n - 1],
            start_strains: vec![StrainVector::zeros(); n - 1],
            radii,
            mass,
            inertia,
            position: nodes.clone(),
            before: vec![(Six::zeros(), Quat::identity()); n],
            ahead: nodes.iter().copied().zip(frames.iter().copied()).collect(),
            orientation: frames,
            velocity: vec![Six::zeros(); n],
            spin: vec![Vec3::zeros(); n],
            inertia_world: vec![Mat3::zeros(); n],
            ends: description.ends,
            end_velocity: [Six::zeros(); 2],
            motion: description.motion,
            damping: description.damping,
            load: vec![Six::zeros(); n],
            guide: None,
            matrix: BlockTridiagonal::new(n),
            rhs: vec![0.0; 6 * n],
            start: vec![Six::zeros(); n],
            iterations: 0,
        };
        chain.refresh_inertia();
        Ok(chain)
    }

    /// Number of nodes.
    pub fn nodes(&self) -> usize {
        self.position.len()
    }

    /// The elements.
    pub fn elements(&self) -> &[BeamElement] {
        &self.elements
    }

    /// Positions of the nodes.
    pub fn positions(&self) -> &[Vec3] {
        &self.position
    }

    /// Rotations of the nodes.
    pub fn orientations(&self) -> &[Quat] {
        &self.orientation
    }

    /// Linear and angular velocities of the nodes.
    pub fn velocities(&self) -> &[Six] {
        &self.velocity
    }

    /// Velocities of the nodes at the start of the step.
    pub fn start_velocities(&self) -> &[Six] {
        &self.start
    }

    /// Contact radius at each node, m.
    pub fn radii(&self) -> &[f64] {
        &self.radii
    }

    /// Masses of the nodes, kg.
    pub fn masses(&self) -> &[f64] {
        &self.mass
    }

    /// `A` of the last free motion; the rows of held coordinates are those of the identity.
    pub fn matrix(&self) -> &BlockTridiagonal {
        &self.matrix
    }

    /// Iterations of the last free motion.
    pub fn iterations(&self) -> usize {
        self.iterations
    }

    /// Whether the chain moves with mass or quasi-statically.
    pub fn motion(&self) -> Motion {
        self.motion
    }

    /// How the ends are held.
    pub fn ends(&self) -> [End; 2] {
        self.ends
    }

    /// The velocity with which a held end moves: linear, then angular.
    pub fn set_end_velocity(&mut self, end: usize, velocity: Six) {
        self.end_velocity[end] = velocity;
    }

    /// Pulls a node to a pose, or releases it.
    pub fn set_guide(&mut self, guide: Option<(usize, Guide)>) {
        self.guide = guide;
    }

    /// Copies positions and velocities of a chain. Returns false if it has another number of nodes.
    pub fn copy_state(&mut self, from: &Self) -> bool {
        if self.nodes() != from.nodes() {
            return false;
        }
        self.position.copy_from_slice(&from.position);
        self.orientation.copy_from_slice(&from.orientation);
        self.velocity.copy_from_slice(&from.velocity);
        self.spin.copy_from_slice(&from.spin);
        self.end_velocity = from.end_velocity;
        true
    }

    /// Constant force and torque on a node, in the world.
    pub fn set_load(&mut self, node: usize, load: Six) {
        self.load[node] = load;
    }

    /// Sets the velocity of a node.
    pub fn set_velocity(&mut self, node: usize, velocity: Six) {
        self.velocity[node] = velocity;
        let turn: Vec3 = velocity.fixed_rows::<3>(3).into();
        self.spin[node] = self.inertia_world[node] * turn;
    }

    /// Puts a node somewhere without changing its velocity.
    pub fn set_node(&mut self, node: usize, position: Vec3, orientation: Quat) {
        self.position[node] = position;
        self.orientation[node] = orientation;
        self.refresh_inertia();
    }

    pub(super) fn pair(&self, i: usize) -> [NodePose<'_>; 2] {
        [(&self.position[i], &self.orientation[i]), (&self.position[i + 1], &self.orientation[i + 1])]
    }

    /// Elastic energy, J.
    pub fn elastic_energy(&self) -> f64 {
        (0..self.elements.len()).map(|i| self.elements[i].energy(&self.elements[i].strain_values(self.pair(i)))).sum()
    }

    /// Kinetic energy, J.
    pub fn kinetic_energy(&self) -> f64 {
        let node = |i: usize| {
            let (v, w) = split(&self.velocity[i]);
            0.5 * self.mass[i] * v.norm_squared() + 0.5 * self.spin[i].dot(&w)
        };
        (0..self.nodes()).map(node).sum()
    }

    /// Momentum about the origin.
    pub fn momentum(&self) -> Momentum {
        let mut sum = Momentum { linear: Vec3::zeros(), angular: Vec3::zeros() };
        for i in 0..self.nodes() {
            let p = self.mass[i] * self.velocity[i].fixed_rows::<3>(0);
            sum.linear += p;
            sum.angular += self.position[i].cross(&p) + self.spin[i];
        }
        sum
    }

    /// Gradient of the elastic energy with respect to every node.
    pub fn gradient(&self, out: &mut [Six]) {
        out.fill(Six::zeros());
        for (i, element) in self.elements.iter().enumerate() {
            let strains = element.strains(self.pair(i));
            let [a, b] = strains.gradient(&element.stress(&strains.values));
            out[i] += a;
            out[i + 1] += b;
        }
    }

    /// Tension, shear forces, torque and bending moments of an element, in its frame.
    pub fn stress(&self, element: usize) -> StrainVector {
        let e = &self.elements[element];
        e.stress(&e.strain_values(self.pair(element)))
    }

    /// Recomputes the inertia of the nodes in the world.
    pub(super) fn refresh_inertia(&mut self) {
        for i in 0..self.nodes() {
            let r = self.orientation[i].to_rotation_matrix().into_inner();
            self.inertia_world[i] = r * Mat3::from_diagonal(&self.inertia[i]) * r.transpose();
        }
    }

    /// Replaces each row of `6 · nodes` numbers by `A⁻¹` of it, without the held coordinates.
    pub fn apply_inverse(&self, rows: &mut [f64]) {
        let n = self.nodes();
        for row in rows.chunks_exact_mut(6 * n) {
            for (end, node) in [(0, 0), (1, n - 1)] {
                row[6 * node..6 * node + self.ends[end].held()].fill(0.0);
            }
            self.matrix.solve(row);
        }
    }

    /// Change of velocity that the free motion made.
    pub fn free_change(&self, change: &mut [f64]) {
        for i in 0..self.nodes() {
            change[6 * i..6 * i + 6].copy_from_slice((self.velocity[i] - self.start[i]).as_slice());
        }
    }

    /// Adds to the velocities.
    pub fn change_velocity(&mut self, dv: &[f64]) {
        for i in 0..self.nodes() {
            self.add_velocity(i, &get(dv, i));
        }
    }

    /// Adds to positions and rotations.
    pub fn change_position(&mut self, dq: &[f64]) {
        for i in 0..self.nodes() {
            self.displace(i, &get(dq, i));
        }
    }

    pub(super) fn displace(&mut self, i: usize, dq: &Six) {
        let (move_by, turn) = split(dq);
        self.position[i] += move_by;
        self.orientation[i] = exp(&turn) * self.orientation[i];
        self.orientation[i].renormalize();
    }

    /// Moves the nodes by `h` times their velocities.
    pub fn advance(&mut self, h: f64) {
        for i in 0..self.nodes() {
            let dq = h * self.velocity[i];
            self.displace(i, &dq);
        }
    }

    /// One step without contact.
    pub fn step(&mut self, h: f64, gravity: &Vec3) {
        self.free_motion(h, gravity);
        self.advance(h);
    }

    /// Whether the state has only finite numbers.
    pub fn is_finite(&self) -> bool {
        let positions = self.position.iter().flat_map(|p| p.iter());
        let turns = self.orientation.iter().flat_map(|q| q.coords.iter());
        positions.chain(turns).chain(self.velocity.iter().flat_map(|v| v.iter())).all(|x| x.is_finite())
    }
}

/// The elements of a chain, the mass and inertia that they give to the nodes, and the contact radius there.
struct Lumped {
    elements: Vec<BeamElement>,
    mass: Vec<f64>,
    inertia: Vec<Vec3>,
    radii: Vec<f64>,
}

impl Lumped {
    fn new(description: &BeamDescription, frames: &[Quat]) -> Result<Self, BeamError> {
        let (nodes, material) = (&description.nodes, &description.material);
        let n = nodes.len();
        let [from, to] = description.sections;
        let section = |s: f64| from.towards(&to, s);
        let beams = (n - 1) as f64;
        let (mut elements, mut mass, mut inertia) = (Vec::new(), vec![0.0; n], vec![Vec3::zeros(); n]);
        for i in 0..n - 1 {
            // Gauss points of the element.
            let at = |x: f64| section((i as f64 + x) / beams).map(|s| s.properties(material.poisson));
            let points = [at(0.5 - 0.5 / 3f64.sqrt())?, at(0.5 + 0.5 / 3f64.sqrt())?];
            let pair: [NodePose; 2] = [(&nodes[i], &frames[i]), (&nodes[i + 1], &frames[i + 1])];
            let element = BeamElement::new(pair, &points, material);
            for (side, x) in [(0, 0.25), (1, 0.75)] {
                let half = 0.5 * material.density * element.length();
                let s = at(x)?;
                mass[i + side] += half * s.area;
                inertia[i + side] += half * Vec3::new(s.about_y + s.about_z, s.about_y, s.about_z);
            }
            elements.push(element);
        }
        let radii = (0..n).map(|i| section(i as f64 / beams).map(|s| s.contact_radius())).collect::<Result<_, _>>()?;
        Ok(Self { elements, mass, inertia, radii })
    }
}

/// Translation and rotation.
pub(super) fn split(v: &Six) -> (Vec3, Vec3) {
    (v.fixed_rows::<3>(0).into(), v.fixed_rows::<3>(3).into())
}

/// Six numbers of translation and rotation.
pub(super) fn join(a: &Vec3, b: &Vec3) -> Six {
    Six::new(a.x, a.y, a.z, b.x, b.y, b.z)
}

pub(super) fn add_to(rhs: &mut [f64], i: usize, x: &Six) {
    for c in 0..6 {
        rhs[6 * i + c] += x[c];
    }
}
