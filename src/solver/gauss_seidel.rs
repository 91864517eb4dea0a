use nalgebra::{Matrix2, Matrix3, Matrix4, SMatrix, SVector, Vector2, Vector3, Vector4};

use super::anderson::Anderson;
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
        Self { tolerance: 1e-9, iterations: 300, smooth: 1e-8 }
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

/// Working memory of the solver, to be kept from step to step.
#[derive(Clone, Debug, Default)]
pub struct SolverMemory {
    anderson: Anderson,
    before: Vec<f64>,
    /// The forces whose sweep changed least.
    best: Vec<f64>,
}

/// Sweeps before they are accelerated; even. With a good start fewer are enough.
const PLAIN: usize = 8;

/// Rounds between normal force and friction inside a block.
const INNER: usize = 8;

impl GaussSeidel {
    /// Solves from the forces that are there (a warm start, or zeros). `go_on` is asked before each sweep; a clock may say no.
    pub fn solve(&self, problem: &ContactProblem, forces: &mut [f64], go_on: impl FnMut() -> bool) -> Solution {
        self.solve_in(&mut SolverMemory::default(), problem, forces, go_on)
    }

    /// The same in working memory that is there already.
    pub fn solve_in(
        &self,
        memory: &mut SolverMemory,
        problem: &ContactProblem,
        forces: &mut [f64],
        mut go_on: impl FnMut() -> bool,
    ) -> Solution {
        if let Err(fault) = problem.check() {
            forces.fill(0.0);
            return Solution { status: SolverStatus::Bad(fault), iterations: 0, residual: 0.0 };
        }
        forces.iter_mut().filter(|f| !f.is_finite()).for_each(|f| *f = 0.0);
        let scale = problem.free.iter().fold(0.0f64, |m, v| m.max(v.abs())).max(f64::MIN_POSITIVE);
        let (mut residual, mut least) = (f64::INFINITY, f64::INFINITY);
        memory.best.clear();
        memory.best.extend_from_slice(forces);
        let done = |status, iterations, residual| Solution { status, iterations, residual };
        for sweep in 0..self.parameters.iterations {
            if !go_on() {
                return done(SolverStatus::Deadline, sweep, residual);
            }
            // To and fro, so that what presses at one end of a chain is felt at the other within two sweeps.
            let forward = sweep % 2 == 0;
            if forward && sweep >= PLAIN {
                if sweep == PLAIN {
                    memory.anderson.start(problem.rows());
                }
                memory.before.clear();
                memory.before.extend_from_slice(forces);
            }
            residual = self.sweep(problem, forces, forward) / scale;
            if residual <= self.parameters.tolerance {
                return done(SolverStatus::Converged, sweep + 1, residual);
            }
            if residual < least {
                least = residual;
                memory.best.clear();
                memory.best.extend_from_slice(forces);
            }
            if !forward && sweep > PLAIN {
                memory.anderson.mix(&memory.before, forces, |row| problem.w(row, row));
            }
        }
        // The last sweep may have been a bad guess.
        if least < residual || !residual.is_finite() {
            forces.copy_from_slice(&memory.best);
        }
        done(SolverStatus::IterationLimit, self.parameters.iterations, least.min(residual))
    }

    /// Visits every block once; returns the largest change of a velocity.
    fn sweep(&self, problem: &ContactProblem, forces: &mut [f64], forward: bool) -> f64 {
        let mut change = 0.0f64;
        if forward {
            for (first, law) in problem.blocks() {
                change = change.max(self.solve_block(problem, first, law, forces));
            }
        } else {
            let mut first = problem.rows();
            for law in problem.laws.iter().rev() {
                first -= law.rows();
                change = change.max(self.solve_block(problem, first, law, forces));
            }
        }
        change
    }

    /// Solves one block; returns by how much that changed its velocities. The velocity that the other blocks give it is summed up once;
    /// what happens inside the block is then a matter of its own few rows.
    fn solve_block(&self, problem: &ContactProblem, first: usize, law: &Law, forces: &mut [f64]) -> f64 {
        if let Law::Equality(rows) = law {
            return hold(problem, first, *rows, forces);
        }
        let n = law.rows();
        let mut w = Matrix4::identity();
        let mut own = Vector4::zeros();
        let mut outside = Vector4::zeros();
        for i in 0..n {
            own[i] = forces[first + i];
            outside[i] = problem.velocity(first + i, forces);
            (0..n).for_each(|j| w[(i, j)] = problem.w(first + i, first + j));
        }
        outside -= w * own;
        (n..4).for_each(|i| outside[i] = 0.0);
        let before = own;
        for _ in 0..INNER {
            let last = own;
            let others: f64 = (1..n).map(|j| w[(0, j)] * own[j]).sum();
            own[0] = (-(outside[0] + others) / w[(0, 0)]).max(0.0);
            match law {
                Law::Coulomb { mu } => {
                    let w2 = w.fixed_view::<2, 2>(1, 1).into_owned();
                    let free = Vector2::new(outside[1] + w[(1, 0)] * own[0], outside[2] + w[(2, 0)] * own[0]);
                    let friction = solve_in_disc(&w2, &free, mu * own[0]);
                    (own[1], own[2]) = (friction.x, friction.y);
                }
                Law::Aggregate { mu, patch, friction } => {
                    let w3 = w.fixed_view::<3, 3>(1, 1).into_owned();
                    let free = Vector3::from_fn(|i, _| outside[1 + i] + w[(1 + i, 0)] * own[0]);
                    let at_free = Vector3::from_fn(|i, _| problem.free[first + 1 + i]);
                    let start = Vector3::new(own[1], own[2], own[3]);
                    let block = FrictionBlock { w: w3, free, at_free, bound: mu * own[0], start };
                    let force = self.aggregate_friction(&block, patch, *friction);
                    (0..3).for_each(|i| own[1 + i] = force[i]);
                }
                Law::Frictionless | Law::Equality(_) => break,
            }
            let change = (0..n).map(|i| (w[(i, i)] * (own[i] - last[i])).abs()).fold(0.0, f64::max);
            let speed = (0..n).map(|i| outside[i].abs()).fold(0.0, f64::max);
            if change <= 0.1 * self.parameters.tolerance * speed {
                break;
            }
        }
        let mut change = 0.0f64;
        for i in 0..n {
            forces[first + i] = own[i];
            change = change.max((w[(i, i)] * (own[i] - before[i])).abs());
        }
        change
    }

    fn aggregate_friction(&self, block: &FrictionBlock, patch: &ContactPatch, model: FrictionModel) -> Vector3<f64> {
        let FrictionBlock { w, free, at_free, bound, start } = block;
        let bound = *bound;
        match model {
            FrictionModel::Exact => {
                // What stops all motion is the answer if the set has it; the points on its axes and all between them it has for sure.
                if let Some(stop) = w.cholesky().map(|factor| -factor.solve(free))
                    && stop.xy().norm() * patch.torsion() + stop.z.abs() <= bound * patch.torsion()
                {
                    return stop;
                }
                let now = free + w * start;
                patch.solve(w, free, bound, self.parameters.smooth, &now).1
            }
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
                let gradient = patch.opposing(at_free, 0.0);
                let moving = patch.support(at_free) > self.parameters.smooth;
                let (slip, spin) =
                    if moving { (gradient.xy().norm(), gradient.z.abs()) } else { (1.0, patch.torsion()) };
                let mut force = *start;
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

/// Friction of one aggregate with the normal force as it stands: `u = free + W f`.
struct FrictionBlock {
    w: Matrix3<f64>,
    free: Vector3<f64>,
    /// The free velocity of the whole problem along these rows.
    at_free: Vector3<f64>,
    /// Coefficient of friction times the normal force, N.
    bound: f64,
    /// Forces to start from.
    start: Vector3<f64>,
}

/// Solves an equality block exactly if it is as small as a joint, row by row otherwise; returns the largest change of a velocity.
fn hold(problem: &ContactProblem, first: usize, rows: usize, forces: &mut [f64]) -> f64 {
    const JOINT: usize = 6;
    let mut change = 0.0f64;
    if rows <= JOINT {
        let mut w = SMatrix::<f64, JOINT, JOINT>::identity();
        let mut v = SVector::<f64, JOINT>::zeros();
        for i in 0..rows {
            v[i] = problem.velocity(first + i, forces);
            (0..rows).for_each(|j| w[(i, j)] = problem.w(first + i, first + j));
        }
        if let Some(factor) = w.cholesky() {
            let push = factor.solve(&v);
            for i in 0..rows {
                forces[first + i] -= push[i];
                change = change.max(v[i].abs());
            }
            return change;
        }
    }
    for row in first..first + rows {
        let v = problem.velocity(row, forces);
        forces[row] -= v / problem.w(row, row);
        change = change.max(v.abs());
    }
    change
}
