use super::chain::{BeamChain, join, split};
use super::description::{Damping, End, Motion};
use super::tridiagonal::{Six, get};
use crate::math::{Mat3, Vec3, exp, log};

/// A step is solved when the last iteration turned no beam by more than this, rad: the stretch that is left is half its square.
const LARGEST_ERROR_TURN: f64 = 1e-3;

/// Most iterations of a step, and most halvings of one.
const MOST_ITERATIONS: usize = 10;
const MOST_HALVINGS: usize = 8;

/// Part of `Φ` that is rounding.
const ENERGY_ROUNDING: f64 = 1e-12;

/// The motion of a step without contact. See [`BeamChain`].
impl BeamChain {
    fn begin(&mut self) -> bool {
        for i in 0..self.nodes() {
            self.refresh_turn(i);
        }
        self.start.copy_from_slice(&self.velocity);
        for i in 0..self.elements.len() {
            self.start_strains[i] = self.elements[i].strain_values(self.pair(i));
        }
        self.iterations = 0;
        self.motion == Motion::QuasiStatic
    }

    /// The free motion of a chain in contact: linearised once, at the start of the step (formulation §1).
    ///
    /// Without contact a taut thread around a post would end up straight through the post. A linearisation there says nothing about the end of the step
    /// with contact, which is near the start. A linearisation at `q + h v` would be nearer still, but was unstable: the velocities of light nodes
    /// are noisy.
    pub fn free_motion_in_contact(&mut self, h: f64, gravity: &Vec3) {
        let quasi_static = self.begin();
        self.velocity.fill(Six::zeros());
        self.set_held();
        self.look_ahead(h);
        self.solve_once(h, gravity, quasi_static);
        for i in 0..self.nodes() {
            let dv = self.velocity[i] + get(&self.rhs, i) - self.start[i];
            self.velocity[i] = self.start[i];
            self.add_velocity(i, &dv);
        }
    }

    /// Velocity at the end of a step without contact, and the factor of `A` for [`Self::apply_inverse`].
    pub fn free_motion(&mut self, h: f64, gravity: &Vec3) {
        let quasi_static = self.begin();
        let (mut potential, mut turn) = self.guess(h, gravity, quasi_static);
        while self.iterations < MOST_ITERATIONS && turn >= LARGEST_ERROR_TURN {
            turn = self.improve(h, gravity, quasi_static, &mut potential);
        }
        for i in 0..self.nodes() {
            let dv = self.velocity[i] - self.start[i];
            self.velocity[i] = self.start[i];
            self.add_velocity(i, &dv);
        }
        if !quasi_static && self.ends == [End::Free; 2] && self.guide.is_none() {
            self.restore_momentum(h, gravity);
        }
    }

    /// Chooses the first guess and returns its `Φ`: one iteration from the velocity at the start, or rest where that is lower. The motion at the
    /// start stretches what turns, so it is judged after its first iteration.
    fn guess(&mut self, h: f64, gravity: &Vec3, quasi_static: bool) -> (f64, f64) {
        self.velocity.fill(Six::zeros());
        self.set_held();
        self.look_ahead(h);
        let mut still = self.potential(h, gravity, quasi_static);
        if quasi_static || self.start.iter().all(|v| *v == Six::zeros()) {
            let turn = self.improve(h, gravity, quasi_static, &mut still);
            return (still, turn);
        }
        self.velocity.copy_from_slice(&self.start);
        self.set_held();
        self.look_ahead(h);
        let mut moving = f64::INFINITY;
        let turn = self.improve(h, gravity, quasi_static, &mut moving);
        if turn < LARGEST_ERROR_TURN {
            return (moving, turn);
        }
        moving = self.potential(h, gravity, quasi_static);
        if moving <= still + ENERGY_ROUNDING * still.abs() {
            return (moving, turn);
        }
        self.velocity.fill(Six::zeros());
        self.set_held();
        self.look_ahead(h);
        let turn = self.improve(h, gravity, quasi_static, &mut still);
        (still, turn)
    }

    /// Gives the held coordinates their velocities.
    fn set_held(&mut self) {
        let last = self.nodes() - 1;
        for (end, node) in [(0, 0), (1, last)] {
            for c in 0..self.ends[end].held() {
                self.velocity[node][c] = self.end_velocity[end][c];
            }
        }
    }

    /// Assembles and solves the system at the guess. Returns false where there is no solution.
    fn solve_once(&mut self, h: f64, gravity: &Vec3, quasi_static: bool) -> bool {
        self.iterations += 1;
        let Damping { mass, stiffness } = self.damping;
        let inertial = if quasi_static { h * mass } else { 1.0 + h * mass };
        self.assemble(inertial, h * h + h * stiffness, h * h, stiffness / h);
        self.assemble_force(h, gravity);
        self.add_inertia(h, quasi_static);
        self.add_guide(h);
        let good = self.solve_held();
        if !good {
            // Only a state that is not finite has no factor. It is left so, for `is_finite` to report.
            self.velocity.fill(Six::repeat(f64::NAN));
        }
        good
    }

    /// One iteration of Newton's method. Returns the largest angle by which it turned a beam.
    fn improve(&mut self, h: f64, gravity: &Vec3, quasi_static: bool, potential: &mut f64) -> f64 {
        if !self.solve_once(h, gravity, quasi_static) {
            return 0.0;
        }
        let turn = self.largest_turn(h);
        for i in 0..self.nodes() {
            self.before[i] = (self.velocity[i], self.ahead[i].1);
        }
        let mut part = 1.0;
        for _ in 0..=MOST_HALVINGS {
            self.add_solution(h, part);
            if turn < LARGEST_ERROR_TURN {
                return turn;
            }
            let new = self.potential(h, gravity, quasi_static);
            if new <= *potential + ENERGY_ROUNDING * new.abs() {
                *potential = new;
                return turn * part;
            }
            part *= 0.5;
        }
        self.add_solution(h, 0.0);
        0.0
    }

    /// Moves the guess by a part of the solution. Rotations are composed, as the elements see them: the velocity that leads there follows.
    fn add_solution(&mut self, h: f64, part: f64) {
        for i in 0..self.nodes() {
            let (dv, dw) = split(&(get(&self.rhs, i) * part));
            let (velocity, ahead) = &self.before[i];
            let (v, _) = split(velocity);
            let turned = exp(&(h * dw)) * ahead;
            let turn = log(&(turned * self.orientation[i].inverse())) / h;
            self.velocity[i] = join(&(v + dv), &turn);
            self.ahead[i] = (self.position[i] + h * (v + dv), turned);
        }
    }

    /// Largest angle by which the solution turns a beam in a step.
    fn largest_turn(&self, h: f64) -> f64 {
        let turn = |i: usize| {
            let (v, _) = split(&(get(&self.rhs, i + 1) - get(&self.rhs, i)));
            h * v.norm() / self.elements[i].length()
        };
        (0..self.elements.len()).map(turn).fold(0.0, f64::max)
    }

    /// The angular velocity that belongs to the angular momentum and the present rotation.
    fn refresh_turn(&mut self, i: usize) {
        let local = self.orientation[i].inverse() * self.spin[i];
        let turn = self.orientation[i] * local.component_div(&self.inertia[i]);
        self.velocity[i].fixed_rows_mut::<3>(3).copy_from(&turn);
    }

    pub(super) fn add_velocity(&mut self, i: usize, dv: &Six) {
        self.velocity[i] += dv;
        let turn: Vec3 = dv.fixed_rows::<3>(3).into();
        self.spin[i] += self.inertia_world[i] * turn;
    }

    /// Gives a free chain the rigid motion that makes its momenta those that loads, gravity and mass damping leave.
    ///
    /// The motion is rigid at the end of the step, so that it does not stretch the beams; momenta are about the positions at its start,
    /// since `x' × m v' = x × m v'`. A turn `ω` then has the angular momentum `Σ m x × (ω × x') + J ω`.
    fn restore_momentum(&mut self, h: f64, gravity: &Vec3) {
        self.look_ahead(h);
        let total: f64 = self.mass.iter().sum();
        let mean =
            |place: &dyn Fn(usize) -> Vec3| (0..self.nodes()).map(|i| self.mass[i] * place(i)).sum::<Vec3>() / total;
        let (centre, centre_ahead) = (mean(&|i| self.position[i]), mean(&|i| self.ahead[i].0));
        let drag = 1.0 + h * self.damping.mass;
        let (mut linear, mut angular, mut inertia) = (Vec3::zeros(), Vec3::zeros(), Mat3::zeros());
        for i in 0..self.nodes() {
            let (m, arm, arm_ahead) = (self.mass[i], self.position[i] - centre, self.ahead[i].0 - centre_ahead);
            let (force, torque) = split(&self.load[i]);
            let ((v0, w0), (v1, w1)) = (split(&self.start[i]), split(&self.velocity[i]));
            // What `(1 + hα) m v' = m v + h f` lacks.
            let p = h * (force + m * gravity) + m * (v0 - drag * v1);
            let s = h * torque + self.inertia_world[i] * (w0 - drag * w1);
            linear += p;
            angular += arm.cross(&p) + s;
            inertia += self.inertia_world[i]
                + (Mat3::from_diagonal_element(arm.dot(&arm_ahead)) - arm_ahead * arm.transpose()) * m;
        }
        let shift = linear / (drag * total);
        let turn = inertia.lu().solve(&(angular / drag)).unwrap_or_else(Vec3::zeros);
        for i in 0..self.nodes() {
            let arm = self.ahead[i].0 - centre_ahead;
            self.add_velocity(i, &join(&(shift + turn.cross(&arm)), &turn));
        }
    }
}
