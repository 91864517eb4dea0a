use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

use super::ball::{solve_in_ball, solve_in_disc};
use crate::problem::{ContactPatch, ContactProblem, FrictionModel, Law, ProblemFault};

/// What the solver is run with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverParameters {
    /// It stops when a sweep changes no velocity by more than this part of the largest free velocity.
    pub tolerance: f64,
    /// Most sweeps.
    pub iterations: usize,
    /// Speed below which friction is smoothed, m/s.
    pub smooth: f64,
}

impl Default for SolverParameters {
    fn default() -> Self {
        Self { tolerance: 1e-9, iterations: 1000, smooth: 1e-10 }
    }
}

/// How a solve ended.
#[derive(Clone, Debug, PartialEq)]
pub enum SolverStatus {
    /// Within the tolerance.
    Converged,
    /// The limit of sweeps came first; the forces are the best so far.
    IterationLimit,
    /// The deadline came first; the forces are the best so far.
    Deadline,
    /// The problem cannot be solved; the forces are zero.
    Bad(ProblemFault),
}

/// How it went.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// How it ended.
    pub status: SolverStatus,
    /// Sweeps made.
    pub iterations: usize,
    /// Largest change of a velocity in the last sweep, as part of the largest free velocity.
    pub residual: f64,
}

/// Nonlinear block Gauss–Seidel (Duriez 2006, algorithm 1): each block in turn is solved exactly for its own law, with the forces of
/// the others as they stand. Blocks of all laws mix.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GaussSeidel {
    /// What it is run with.
    pub parameters: SolverParameters,
}

/// Rounds between normal force and friction inside a block.
const INNER: usize = 3;

impl GaussSeidel {
    /// Solves from the forces that are there (a warm start, or zeros). `go_on` is asked before each sweep; a clock may say no.
    pub fn solve(&self, problem: &ContactProblem, forces: &mut [f64], mut go_on: impl FnMut() -> bool) -> Solution {
        if let Err(fault) = problem.check() {
            forces.fill(0.0);
            return Solution { status: SolverStatus::Bad(fault), iterations: 0, residual: 0.0 };
        }
        forces.iter_mut().filter(|f| !f.is_finite()).for_each(|f| *f = 0.0);
        let scale = problem.free.iter().fold(0.0f64, |m, v| m.max(v.abs())).max(f64::MIN_POSITIVE);
        let mut residual = f64::INFINITY;
        for sweep in 0..self.parameters.iterations {
            if !go_on() {
                return Solution { status: SolverStatus::Deadline, iterations: sweep, residual };
            }
            let mut change = 0.0f64;
            for (first, law) in problem.blocks() {
                change = change.max(self.solve_block(problem, first, law, forces));
            }
            residual = change / scale;
            if residual <= self.parameters.tolerance {
                return Solution { status: SolverStatus::Converged, iterations: sweep + 1, residual };
            }
        }
        Solution { status: SolverStatus::IterationLimit, iterations: self.parameters.iterations, residual }
    }

    /// Solves one block; returns by how much that changed its velocities.
    fn solve_block(&self, problem: &ContactProblem, first: usize, law: &Law, forces: &mut [f64]) -> f64 {
        let mut change = 0.0f64;
        let mut set = |forces: &mut [f64], row: usize, force: f64| {
            let d = force - forces[row];
            forces[row] = force;
            change = change.max((problem.w(row, row) * d).abs());
        };
        match law {
            Law::Equality(rows) => {
                for _ in 0..INNER {
                    for row in first..first + rows {
                        let force = forces[row] - problem.velocity(row, forces) / problem.w(row, row);
                        set(forces, row, force);
                    }
                }
            }
            Law::Frictionless => {
                let force = normal(problem, first, forces);
                set(forces, first, force);
            }
            Law::Coulomb { mu } => {
                for _ in 0..INNER {
                    let force = normal(problem, first, forces);
                    set(forces, first, force);
                    let friction = slide(problem, first, forces, mu * forces[first]);
                    (0..2).for_each(|i| set(forces, first + 1 + i, friction[i]));
                }
            }
            Law::Aggregate { mu, patch, friction } => {
                for _ in 0..INNER {
                    let force = normal(problem, first, forces);
                    set(forces, first, force);
                    let force = self.aggregate_friction(problem, first, forces, mu * forces[first], patch, *friction);
                    (0..3).for_each(|i| set(forces, first + 1 + i, force[i]));
                }
            }
        }
        change
    }

    fn aggregate_friction(
        &self,
        problem: &ContactProblem,
        first: usize,
        forces: &[f64],
        bound: f64,
        patch: &ContactPatch,
        model: FrictionModel,
    ) -> Vector3<f64> {
        let w = Matrix3::from_fn(|i, j| problem.w(first + 1 + i, first + 1 + j));
        let own = Vector3::new(forces[first + 1], forces[first + 2], forces[first + 3]);
        let now = Vector3::from_fn(|i, _| problem.velocity(first + 1 + i, forces));
        let free = now - w * own;
        match model {
            FrictionModel::Exact => patch.solve(&w, &free, bound, self.parameters.smooth, &now).1,
            FrictionModel::Ellipsoid => {
                // Scaled by its half axes the ellipsoid is a ball.
                let axes = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, patch.torsion()));
                axes * solve_in_ball(&(axes * w * axes), &(axes * free), bound)
            }
            FrictionModel::Coulomb => {
                // The torque row stays at zero, so the tangential rows are those of a point contact.
                let slip = solve_in_disc(&w.fixed_view::<2, 2>(0, 0).into_owned(), &free.xy(), bound);
                Vector3::new(slip.x, slip.y, 0.0)
            }
            FrictionModel::Paper => {
                // Bounds from the gradient of the dissipation at the free velocity; at rest it has none, and each is taken in full.
                let still = Vector3::new(problem.free[first + 1], problem.free[first + 2], problem.free[first + 3]);
                let gradient = patch.opposing(&still, 0.0);
                let moving = patch.support(&still) > self.parameters.smooth;
                let (slip, spin) =
                    if moving { (gradient.xy().norm(), gradient.z.abs()) } else { (1.0, patch.torsion()) };
                let mut force = own;
                for _ in 0..INNER {
                    let at = |force: &Vector3<f64>, i: usize| free[i] + (w.row(i) * force)[0];
                    let w2: Matrix2<f64> = w.fixed_view::<2, 2>(0, 0).into_owned();
                    let own2 = Vector2::new(force.x, force.y);
                    let free2 = Vector2::new(at(&force, 0), at(&force, 1)) - w2 * own2;
                    let slipped = solve_in_disc(&w2, &free2, slip * bound);
                    (force.x, force.y) = (slipped.x, slipped.y);
                    let torque = force.z - at(&force, 2) / w[(2, 2)];
                    force.z = torque.clamp(-spin * bound, spin * bound);
                }
                force
            }
        }
    }
}

/// The normal force that just stops penetration, or none.
fn normal(problem: &ContactProblem, row: usize, forces: &[f64]) -> f64 {
    (forces[row] - problem.velocity(row, forces) / problem.w(row, row)).max(0.0)
}

/// Friction of a point contact whose rows begin at `first`.
fn slide(problem: &ContactProblem, first: usize, forces: &[f64], bound: f64) -> Vector2<f64> {
    let w = Matrix2::from_fn(|i, j| problem.w(first + 1 + i, first + 1 + j));
    let own = Vector2::new(forces[first + 1], forces[first + 2]);
    let now = Vector2::from_fn(|i, _| problem.velocity(first + 1 + i, forces));
    solve_in_disc(&w, &(now - w * own), bound)
}
