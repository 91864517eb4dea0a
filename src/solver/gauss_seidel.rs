use nalgebra::{SMatrix, SVector};

use super::anderson::Anderson;
use super::block::LocalProblem;
use super::newton::Newton;
use crate::problem::{ContactProblem, Law, ProblemFault};

/// Parameters of the solver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverParameters {
    /// Relative tolerance: maximum change of a velocity in a sweep, relative to the largest free velocity.
    pub tolerance: f64,
    /// Maximum number of sweeps.
    pub iterations: usize,
    /// Speed below which friction is smoothed, m/s.
    pub smooth: f64,
    /// Absolute tolerance for a stalled residual, m/s: gaps are accurate to a nanometre, and redundant contacts are
    /// inconsistent by that much per step.
    pub stall_tolerance: f64,
}

impl Default for SolverParameters {
    fn default() -> Self {
        Self { tolerance: 1e-9, iterations: 300, smooth: 1e-8, stall_tolerance: 1e-7 }
    }
}

/// Status of a solve.
#[derive(Clone, Debug, PartialEq)]
pub enum SolverStatus {
    /// Residual within the tolerance.
    Converged,
    /// Sweep limit reached; the forces are the best so far.
    IterationLimit,
    /// Neither sweeps nor Newton's method make progress; the forces are the best so far.
    Stalled,
    /// Deadline reached; the forces are the best so far.
    Deadline,
    /// Invalid problem; the forces are zero.
    Bad(ProblemFault),
}

/// Result of a solve.
#[derive(Clone, Debug, PartialEq)]
pub struct Solution {
    /// Status.
    pub status: SolverStatus,
    /// Number of sweeps.
    pub iterations: usize,
    /// Largest change of a velocity in the last sweep, relative to the largest free velocity.
    pub residual: f64,
}

/// Nonlinear block Gauss–Seidel (Duriez 2006, algorithm 1): each block in turn is solved exactly for its own law, with
/// the current forces of the others. Blocks of all laws can be mixed. BEYOND the paper: stiffly coupled blocks need
/// hundreds of sweeps, so sweeps of problems of moderate size are followed by Newton's method, and those of large ones
/// by Anderson acceleration.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GaussSeidel {
    /// Parameters.
    pub parameters: SolverParameters,
}

/// Working memory of the solver, kept from step to step.
#[derive(Clone, Debug, Default)]
pub struct SolverMemory {
    anderson: Anderson,
    newton: Newton,
    before: Vec<f64>,
    /// The forces with the smallest change in a sweep.
    best: Vec<f64>,
}

/// Sweeps of large problems before acceleration; even. A good warm start needs fewer.
const PLAIN: usize = 8;

/// Sweeps after which the active set is expected to be known, so that Newton's method is tried; and between later
/// tries.
const SETTLING_SWEEPS: usize = 2;

/// Number of attempts of Newton's method without progress before giving up.
const GIVEN_UP: usize = 4;

impl GaussSeidel {
    /// Solves from the current forces (a warm start, or zeros). `go_on` is called before each sweep and may end the
    /// solve.
    pub fn solve(&self, problem: &ContactProblem, forces: &mut [f64], go_on: impl FnMut() -> bool) -> Solution {
        self.solve_in(&mut SolverMemory::default(), problem, forces, go_on)
    }

    /// The same with existing working memory.
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
        let enough = self.parameters.tolerance * scale;
        let (mut residual, mut least) = (f64::INFINITY, f64::INFINITY);
        memory.best.clear();
        memory.best.extend_from_slice(forces);
        let done = |status, iterations, residual| Solution { status, iterations, residual: residual / scale };
        let newton = Newton::fits(problem);
        // Sweeps until Newton's method is tried; number of useless attempts, and the smallest residual then.
        let (mut patience, mut stuck, mut from) = (SETTLING_SWEEPS, 0, f64::INFINITY);
        let (mut forward, mut spent) = (true, 0);
        while spent < self.parameters.iterations {
            if !go_on() {
                return done(SolverStatus::Deadline, spent, residual);
            }
            let mixed = !newton && spent >= PLAIN;
            if mixed && forward {
                if spent == PLAIN {
                    memory.anderson.start(problem.rows());
                }
                memory.before.clear();
                memory.before.extend_from_slice(forces);
            }
            residual = self.sweep(problem, forces, forward);
            spent += 1;
            if residual <= enough {
                return done(SolverStatus::Converged, spent, residual);
            }
            if residual < least {
                least = residual;
                memory.best.clear();
                memory.best.extend_from_slice(forces);
            }
            if mixed && !forward {
                memory.anderson.mix(&memory.before, forces, |row| problem.w(row, row));
            }
            // Alternating direction, so that forces propagate through a chain within two sweeps.
            forward = !forward;
            patience -= usize::from(newton);
            if patience == 0 {
                let (evaluations, improved) =
                    memory.newton.run(problem, forces, &self.parameters, 0.1 * enough, &mut go_on);
                spent += evaluations;
                patience = if improved { 1 } else { SETTLING_SWEEPS };
                if !improved {
                    (stuck, from) = if least < 0.5 * from { (0, least) } else { (stuck + 1, from) };
                    let is_accurate = least <= self.parameters.stall_tolerance;
                    if is_accurate || stuck == GIVEN_UP {
                        forces.copy_from_slice(&memory.best);
                        let status = if is_accurate { SolverStatus::Converged } else { SolverStatus::Stalled };
                        return done(status, spent, least);
                    }
                }
            }
        }
        // The last sweep may have been a bad guess.
        if least < residual || !residual.is_finite() {
            forces.copy_from_slice(&memory.best);
        }
        done(SolverStatus::IterationLimit, spent, least.min(residual))
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

    /// Solves one block; returns the change of its velocities.
    fn solve_block(&self, problem: &ContactProblem, first: usize, law: &Law, forces: &mut [f64]) -> f64 {
        if let Law::Equality(rows) = law {
            return hold(problem, first, *rows, forces);
        }
        let block = LocalProblem::gather(problem, first, law, forces);
        let solution = block.solve(&self.parameters);
        forces[first..first + law.rows()].copy_from_slice(&solution.as_slice()[..law.rows()]);
        block.change(&solution)
    }
}

/// Solves an equality block exactly if it is small, row by row otherwise; returns the largest change of a velocity.
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
