use faer::Mat;
use faer::prelude::Solve;
use nalgebra::{Matrix3, Vector3};

use crate::problem::{ContactProblem, Law};

/// Natural-map residual `‖F_nat(λ)‖ / ‖v_free‖` of some forces (Acary, Brémond and Huber 2018): with `v = W λ + v_free` and `P` the projection
/// onto the friction cones, `F_nat(λ) = λ − P(λ − ṽ)`, where `ṽ` is `v` with `μ |v_T|` added along each normal. It is zero where all laws hold.
/// `None` for problems with laws other than point contacts.
pub fn natural_map_residual(problem: &ContactProblem, forces: &[f64]) -> Option<f64> {
    let mu = coefficients(problem)?;
    let mut sum = 0.0;
    for (c, mu) in mu.iter().enumerate() {
        let v = Vector3::from_fn(|i, _| problem.velocity(3 * c + i, forces));
        let force = Vector3::from_column_slice(&forces[3 * c..3 * c + 3]);
        sum += (force - project(&(force - lifted(&v, *mu)), *mu)).norm_squared();
    }
    let scale = problem.free.iter().map(|v| v * v).sum::<f64>().sqrt();
    Some(sum.sqrt() / scale.max(f64::MIN_POSITIVE))
}

/// The friction coefficients of a problem with point contacts only.
fn coefficients(problem: &ContactProblem) -> Option<Vec<f64>> {
    problem.laws.iter().map(|law| if let Law::Coulomb { mu } = law { Some(*mu) } else { None }).collect()
}

/// The velocity with `μ |v_T|` added along the normal (de Saxcé's change of variable).
fn lifted(v: &Vector3<f64>, mu: f64) -> Vector3<f64> {
    Vector3::new(v.x + mu * v.y.hypot(v.z), v.y, v.z)
}

/// The projection onto the cone `|z_T| ≤ μ z_n`.
fn project(z: &Vector3<f64>, mu: f64) -> Vector3<f64> {
    let t = z.y.hypot(z.z);
    if t <= mu * z.x {
        return *z;
    }
    if mu * t <= -z.x {
        return Vector3::zeros();
    }
    let n = (z.x + mu * t) / (1.0 + mu * mu);
    Vector3::new(n, mu * n * z.y / t, mu * n * z.z / t)
}

/// Result of a solve.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProximalSolution {
    /// Whether the residual is within the tolerance.
    pub converged: bool,
    /// Number of proximal steps or sweeps.
    pub iterations: usize,
    /// Natural-map residual of the forces.
    pub residual: f64,
}

/// Solves point contacts with friction to a small natural-map residual, also with redundant contacts and singular `W`.
///
/// The proximal point method solves a sequence of problems `v = (W + α) λ + v_free − α λ_k`, whose matrix is regular, from the forces `λ_k` of the
/// last one; a fixed point solves the original problem. Each is solved by Newton's method on the equations of Alart and
/// Curnier 1991, with a nonmonotone line search. Where that fails, sweeps of block Gauss–Seidel on the regular problem give another start, and
/// are the next `λ_k` if it fails again. `α` decreases while Newton's method works and increases where it fails. The
/// best forces are kept.
///
/// `W` need not be symmetric: that of other programs is not always.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ProximalNewton {
    /// Target natural-map residual.
    pub tolerance: f64,
    /// Maximum number of proximal steps.
    pub iterations: usize,
}

impl Default for ProximalNewton {
    fn default() -> Self {
        Self { tolerance: 1e-9, iterations: 100 }
    }
}

/// Initial, minimum and maximum `α`, relative to the mean diagonal of `W`.
const ALPHA: [f64; 3] = [1e-3, 1e-8, 1.0];
/// Sweeps before the first proximal step; doubled after each failure.
const INITIAL_SWEEPS: usize = 20;
const MOST_DOUBLINGS: usize = 3;
/// Maximum number of Newton steps, and the window of the nonmonotone line search.
const PROXIMAL_NEWTON: usize = 60;
const COMPARED: usize = 4;
/// `α` may decrease if Newton's method takes at most this many steps.
const EASY: usize = 5;
/// Maximum number of iterations for the forces of one contact.
const LOCAL: usize = 500;

impl ProximalNewton {
    /// Solves from the current forces; `None` for problems with laws other than point contacts.
    pub fn solve(&self, problem: &ContactProblem, forces: &mut [f64]) -> Option<ProximalSolution> {
        let work = Work::of(problem)?;
        let mean = (0..work.n).map(|i| problem.w(i, i)).sum::<f64>() / work.n.max(1) as f64;
        let free = problem.free.iter().map(|v| v * v).sum::<f64>().sqrt();
        let [mut alpha, least, greatest] = ALPHA;
        work.sweep(forces, INITIAL_SWEEPS, 0.0, &[]);
        let mut best = (work.residual(forces), forces.to_vec());
        let (mut iterations, mut failures) = (0, 0);
        while best.0 > self.tolerance && iterations < self.iterations {
            iterations += 1;
            let centre = forces.to_vec();
            let enough = 1e-3 * self.tolerance * free;
            let (mut steps, mut solved) = work.newton(forces, alpha * mean, &centre, enough);
            if !solved {
                // Sweeps converge fast on the regularised problem and determine the active set.
                forces.copy_from_slice(&centre);
                work.sweep(forces, (2 * INITIAL_SWEEPS) << failures.min(MOST_DOUBLINGS), alpha * mean, &centre);
                let swept = forces.to_vec();
                (steps, solved) = work.newton(forces, alpha * mean, &centre, enough);
                if !solved {
                    forces.copy_from_slice(&swept);
                }
            }
            let residual = work.residual(forces);
            if residual < best.0 {
                best = (residual, forces.to_vec());
            }
            if solved {
                if steps <= EASY {
                    alpha = (0.1 * alpha).max(least);
                }
                continue;
            }
            failures += 1;
            alpha = (10.0 * alpha).min(greatest);
        }
        forces.copy_from_slice(&best.1);
        Some(ProximalSolution { converged: best.0 <= self.tolerance, iterations, residual: best.0 })
    }
}

/// Block Gauss–Seidel on point contacts, as a reference: sweeps until the natural-map residual is small. `None` for
/// problems with other laws.
pub fn block_sweeps(
    problem: &ContactProblem,
    forces: &mut [f64],
    tolerance: f64,
    most: usize,
) -> Option<ProximalSolution> {
    /// Sweeps between two evaluations of the residual.
    const LOOK: usize = 10;
    let work = Work::of(problem)?;
    let mut iterations = 0;
    loop {
        let residual = work.residual(forces);
        let converged = residual <= tolerance;
        if converged || iterations >= most {
            return Some(ProximalSolution { converged, iterations, residual });
        }
        work.sweep(forces, LOOK, 0.0, &[]);
        iterations += LOOK;
    }
}

/// A problem prepared for sweeps and steps.
struct Work<'p> {
    problem: &'p ContactProblem,
    n: usize,
    mu: Vec<f64>,
    /// Columns and values of the nonzero entries of each row of `W`.
    rows: Vec<Vec<(usize, f64)>>,
    /// Own block of each contact, and the scale `3 / tr W_cc` from velocities to forces.
    blocks: Vec<(Matrix3<f64>, f64)>,
}

impl<'p> Work<'p> {
    fn of(problem: &'p ContactProblem) -> Option<Self> {
        let mu = coefficients(problem)?;
        let n = problem.rows();
        let row = |i: usize| (0..n).map(|j| (j, problem.w(i, j))).filter(|(_, w)| *w != 0.0).collect();
        let block = |c: usize| {
            let w = Matrix3::from_fn(|i, j| problem.w(3 * c + i, 3 * c + j));
            (w, 3.0 / w.trace())
        };
        let (rows, blocks) = ((0..n).map(row).collect(), (0..mu.len()).map(block).collect());
        Some(Self { problem, n, mu, rows, blocks })
    }

    fn velocity(&self, row: usize, forces: &[f64]) -> f64 {
        self.problem.free[row] + self.rows[row].iter().map(|(j, w)| w * forces[*j]).sum::<f64>()
    }

    fn residual(&self, forces: &[f64]) -> f64 {
        let residual = natural_map_residual(self.problem, forces).unwrap_or(f64::INFINITY);
        if residual.is_finite() { residual } else { f64::INFINITY }
    }

    /// Sweeps over the contacts several times, each with a projected fixed-point iteration on its own three rows; with
    /// `W + α` and `v_free − α λ_k` if `α` is not zero.
    fn sweep(&self, forces: &mut [f64], times: usize, alpha: f64, centre: &[f64]) {
        for c in (0..times).flat_map(|_| 0..self.mu.len()) {
            let mut force = contact(forces, c);
            let (mut w, _) = self.blocks[c];
            let mut outside = Vector3::from_fn(|i, _| self.velocity(3 * c + i, forces)) - w * force;
            if alpha > 0.0 {
                outside -= alpha * contact(centre, c);
                w += alpha * Matrix3::identity();
            }
            // At most the inverse of the largest eigenvalue, so that the iteration contracts.
            let scale = 1.0 / w.trace();
            for _ in 0..LOCAL {
                let next = project(&(force - scale * lifted(&(outside + w * force), self.mu[c])), self.mu[c]);
                let change = (next - force).norm();
                force = next;
                if change <= 1e-15 * force.norm() {
                    break;
                }
            }
            forces[3 * c..3 * c + 3].copy_from_slice(force.as_slice());
        }
    }

    /// Solves with `W + α` and `v_free − α λ` by Newton's method. Returns the steps made and whether the equations hold to `enough`, m/s.
    fn newton(&self, forces: &mut [f64], alpha: f64, centre: &[f64], enough: f64) -> (usize, bool) {
        let velocities = |forces: &[f64]| -> Vec<f64> {
            (0..self.n).map(|i| self.velocity(i, forces) + alpha * (forces[i] - centre[i])).collect()
        };
        let mut v = velocities(forces);
        let mut defect = self.defect(forces, &v);
        let mut sizes = vec![self.size(&defect)];
        for steps in 0..PROXIMAL_NEWTON {
            let now = sizes[sizes.len() - 1];
            if now <= enough {
                return (steps, true);
            }
            let Some(step) = self.step(forces, &v, &defect, alpha) else { return (steps, false) };
            let bound = sizes.iter().rev().take(COMPARED).copied().fold(0.0, f64::max);
            let mut part = 1.0;
            loop {
                let trial: Vec<f64> = forces.iter().zip(&step).map(|(x, dx)| x + part * dx).collect();
                let trial_v = velocities(&trial);
                let trial_defect = self.defect(&trial, &trial_v);
                let size = self.size(&trial_defect);
                if size < (1.0 - 1e-4 * part) * bound {
                    forces.copy_from_slice(&trial);
                    (v, defect) = (trial_v, trial_defect);
                    sizes.push(size);
                    break;
                }
                part *= 0.5;
                if part < 1e-3 {
                    return (steps, false);
                }
            }
        }
        (PROXIMAL_NEWTON, false)
    }

    /// Residual of the equations of Alart and Curnier, in units of force: `λ_n − max(0, z_n)` and `λ_T − P_disc(z_T)`
    /// with `z = λ − ρ v` and a disc of radius `μ max(0, z_n)`.
    fn defect(&self, forces: &[f64], v: &[f64]) -> Vec<f64> {
        let mut out = Vec::with_capacity(self.n);
        for (c, (_, scale)) in self.blocks.iter().enumerate() {
            let force = contact(forces, c);
            let z = force - *scale * contact(v, c);
            let (normal, t) = (z.x.max(0.0), z.y.hypot(z.z));
            let bound = self.mu[c] * normal;
            let part = if t <= bound { 1.0 } else { bound / t };
            out.extend([force.x - normal, force.y - part * z.y, force.z - part * z.z]);
        }
        out
    }

    /// Its norm, m/s.
    fn size(&self, defect: &[f64]) -> f64 {
        let parts = self.blocks.iter().enumerate().map(|(c, (_, scale))| (contact(defect, c) / *scale).norm_squared());
        parts.sum::<f64>().sqrt()
    }

    /// Newton's step. The residual changes by `A dλ + B dv` in each contact; open contacts have `A = 1` and `B = 0` and
    /// are eliminated.
    fn step(&self, forces: &[f64], v: &[f64], defect: &[f64], alpha: f64) -> Option<Vec<f64>> {
        let mut step: Vec<f64> = defect.iter().map(|d| -d).collect();
        let (mut closed, mut place) = (Vec::new(), vec![usize::MAX; self.n]);
        let mut slopes = Vec::new();
        for (c, (_, scale)) in self.blocks.iter().enumerate() {
            let z = contact(forces, c) - *scale * contact(v, c);
            if z.x > 0.0 {
                (0..3).for_each(|i| place[3 * c + i] = closed.len() * 3 + i);
                closed.push(c);
                slopes.push(slope(&z, self.mu[c], *scale));
            }
        }
        let size = 3 * closed.len();
        let (mut matrix, mut right) = (Mat::<f64>::zeros(size, size), Mat::<f64>::zeros(size, 1));
        for (k, (&c, (a, b))) in closed.iter().zip(&slopes).enumerate() {
            for i in 0..3 {
                let row = 3 * k + i;
                right[(row, 0)] = -defect[3 * c + i];
                for j in 0..3 {
                    matrix[(row, 3 * k + j)] += a[(i, j)] + alpha * b[(i, j)];
                    for &(column, w) in self.rows[3 * c + j].iter().filter(|_| b[(i, j)] != 0.0) {
                        match place[column] {
                            usize::MAX => right[(row, 0)] -= b[(i, j)] * w * step[column],
                            at => matrix[(row, at)] += b[(i, j)] * w,
                        }
                    }
                }
            }
        }
        let solved = matrix.partial_piv_lu().solve(&right);
        for (k, &c) in closed.iter().enumerate() {
            (0..3).for_each(|i| step[3 * c + i] = solved[(3 * k + i, 0)]);
        }
        step.iter().all(|x| x.is_finite()).then_some(step)
    }
}

/// `A` and `B` of a closed contact: derivatives of its residual by its force and its velocity.
fn slope(z: &Vector3<f64>, mu: f64, scale: f64) -> (Matrix3<f64>, Matrix3<f64>) {
    let (t, bound) = (z.y.hypot(z.z), mu * z.x);
    if t <= bound {
        return (Matrix3::zeros(), scale * Matrix3::identity());
    }
    let (e, part) = ([z.y / t, z.z / t], bound / t);
    let mut b = Matrix3::zeros();
    b[(0, 0)] = 1.0;
    for i in 0..2 {
        b[(1 + i, 0)] = mu * e[i];
        for j in 0..2 {
            b[(1 + i, 1 + j)] = part * (f64::from(u8::from(i == j)) - e[i] * e[j]);
        }
    }
    // The residual is λ − S(λ − ρ v), so A = 1 − S' and B = ρ S'.
    (Matrix3::identity() - b, scale * b)
}

fn contact(values: &[f64], c: usize) -> Vector3<f64> {
    Vector3::from_column_slice(&values[3 * c..3 * c + 3])
}
