use super::chain::{BeamChain, add_to, join, split};
use super::description::End;
use super::tridiagonal::{Block, Six, get};
use crate::math::{Vec3, exp};

/// The system of a step: matrix, right-hand side, and the potential that it minimises. See [`BeamChain`].
impl BeamChain {
    /// Sets the place where forces are linearised, `q + h u`.
    pub(super) fn look_ahead(&mut self, h: f64) {
        for i in 0..self.nodes() {
            let (v, w) = split(&self.velocity[i]);
            self.ahead[i] = (self.position[i] + h * v, exp(&(h * w)) * self.orientation[i]);
        }
    }

    /// Assembles `mass M + material K + tension T` and leaves the strains where forces are linearised. `lag` is `β/h`.
    pub(super) fn assemble(&mut self, mass: f64, material: f64, tension: f64, lag: f64) {
        self.refresh_inertia();
        for i in 0..self.nodes() {
            let mut block = Block::identity() * (mass * self.mass[i]);
            block.fixed_view_mut::<3, 3>(3, 3).copy_from(&(self.inertia_world[i] * mass));
            self.matrix.diagonal[i] = block;
        }
        for i in 0..self.elements.len() {
            let ([a, b], element) = ([&self.ahead[i], &self.ahead[i + 1]], &self.elements[i]);
            let strains = element.strains([(&a.0, &a.1), (&b.0, &b.1)]);
            let stress = element.stress(&(strains.values + (strains.values - self.start_strains[i]) * lag));
            let tangent = element.tangent(&strains, stress[0]);
            self.strains[i] = strains;
            self.stresses[i] = stress;
            let t = tangent.tension * tension;
            let add = |block: &mut Block, part: &Block, sign: f64| {
                *block += part * material;
                let mut corner = block.fixed_view_mut::<3, 3>(0, 0);
                corner += t * sign;
            };
            add(&mut self.matrix.diagonal[i], &tangent.first, 1.0);
            add(&mut self.matrix.diagonal[i + 1], &tangent.second, 1.0);
            self.matrix.upper[i] = Block::zeros();
            add(&mut self.matrix.upper[i], &tangent.coupling, -1.0);
        }
    }

    /// Force on every node, `h (f + gravity + load)`, into the right-hand side.
    pub(super) fn assemble_force(&mut self, h: f64, gravity: &Vec3) {
        for i in 0..self.nodes() {
            let mut force = self.load[i];
            for c in 0..3 {
                force[c] += self.mass[i] * gravity[c];
            }
            self.rhs[6 * i..6 * i + 6].copy_from_slice((h * force).as_slice());
        }
        for i in 0..self.elements.len() {
            let [a, b] = self.strains[i].gradient(&self.stresses[i]);
            add_to(&mut self.rhs, i, &(-h * a));
            add_to(&mut self.rhs, i + 1, &(-h * b));
        }
    }

    /// Adds `M (v − u) − hα M u` for the guess `u`, which is the present velocity; `v` is that at the start, or nothing.
    pub(super) fn add_inertia(&mut self, h: f64, quasi_static: bool) {
        for i in 0..self.nodes() {
            let change = if quasi_static { Six::zeros() } else { self.start[i] - self.velocity[i] };
            let (v, w) = split(&(change - h * self.damping.mass * self.velocity[i]));
            add_to(&mut self.rhs, i, &join(&(self.mass[i] * v), &(self.inertia_world[i] * w)));
        }
    }

    /// Adds the guide of a node at the guess.
    pub(super) fn add_guide(&mut self, h: f64) {
        let Some((node, guide)) = &self.guide else { return };
        let (v, w) = split(&self.velocity[*node]);
        let term = guide.at(&self.position[*node], &self.orientation[*node], [&v, &w], h);
        for c in 0..6 {
            self.matrix.diagonal[*node][(c, c)] += term.matrix[c / 3];
        }
        add_to(&mut self.rhs, *node, &(h * join(&term.wrench[0], &term.wrench[1])));
    }

    /// `Φ` of the present velocity, at the place of [`Self::look_ahead`].
    pub(super) fn potential(&self, h: f64, gravity: &Vec3, quasi_static: bool) -> f64 {
        let lag = self.damping.stiffness / h;
        let mut sum = 0.0;
        for i in 0..self.nodes() {
            let square = |u: &Six| {
                let (v, w) = split(u);
                self.mass[i] * v.norm_squared() + w.dot(&(self.inertia_world[i] * w))
            };
            let u = &self.velocity[i];
            if !quasi_static {
                sum += 0.5 * square(&(u - self.start[i]));
            }
            sum += 0.5 * h * self.damping.mass * square(u);
            sum -= h * (self.load[i].dot(u) + self.mass[i] * gravity.dot(&u.fixed_rows::<3>(0)));
        }
        for (i, element) in self.elements.iter().enumerate() {
            let [a, b] = [&self.ahead[i], &self.ahead[i + 1]];
            let strains = element.strain_values([(&a.0, &a.1), (&b.0, &b.1)]);
            sum += element.energy(&strains) + lag * element.energy(&(strains - self.start_strains[i]));
        }
        if let Some((node, guide)) = &self.guide {
            let (v, w) = split(&self.velocity[*node]);
            sum += guide.at(&self.position[*node], &self.orientation[*node], [&v, &w], h).potential;
        }
        sum
    }

    /// Takes the held coordinates of an end out of the system: their unknowns become zero.
    fn hold(&mut self, end: usize) {
        let n = self.nodes();
        let node = if end == 0 { 0 } else { n - 1 };
        for c in 0..self.ends[end].held() {
            self.matrix.diagonal[node].row_mut(c).fill(0.0);
            self.matrix.diagonal[node].column_mut(c).fill(0.0);
            self.matrix.diagonal[node][(c, c)] = 1.0;
            if end == 0 {
                self.matrix.upper[0].row_mut(c).fill(0.0);
            } else {
                self.matrix.upper[n - 2].column_mut(c).fill(0.0);
            }
            self.rhs[6 * node + c] = 0.0;
        }
    }

    /// Holds both ends, factors and solves. The solution is left in the right-hand side. Returns whether there is one.
    pub(super) fn solve_held(&mut self) -> bool {
        self.hold(0);
        self.hold(1);
        let good = self.matrix.factor();
        if good {
            self.matrix.solve(&mut self.rhs);
        }
        good
    }

    pub(super) fn solution(&self) -> &[f64] {
        &self.rhs
    }

    /// The largest force on a coordinate that is not held, after [`Self::assemble_force`] with `h = 1`: N, and N·m for rotations.
    pub(super) fn residual(&self) -> (f64, f64) {
        let (mut force, mut torque) = (0f64, 0f64);
        for i in 0..self.nodes() {
            let end = match i {
                0 => self.ends[0],
                _ if i + 1 == self.nodes() => self.ends[1],
                _ => End::Free,
            };
            let r = get(&self.rhs, i);
            if end == End::Free {
                force = force.max(r.fixed_rows::<3>(0).norm());
            }
            if end != End::Clamped {
                torque = torque.max(r.fixed_rows::<3>(3).norm());
            }
        }
        (force, torque)
    }
}
