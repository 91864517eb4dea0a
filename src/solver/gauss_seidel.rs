use nalgebra::{SMatrix, SVector};

use super::anderson::Anderson;
use super::block::Block;
use super::newton::Newton;
use crate::problem::{ContactProblem, Law, ProblemFault};

/// What the solver is run with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolverParameters {
    /// It stops when a sweep changes no velocity by more than this part of the largest free velocity.
    pub tolerance: f64,
    /// Most sweeps.
    pub iterations: usize,
    /// Speed below which friction is smoothed, m/s.
    pub smooth: f64,
    /// A residual that gets no smaller is small enough below this, m/s: gaps are known to a nanometre, and where contacts are redundant
    /// they contradict each other by that much a step.
    pub fine: f64,
}

impl Default for SolverParameters {
    fn default() -> Self {
        Self { tolerance: 1e-9, iterations: 300, smooth: 1e-8, fine: 1e-7 }
    }
}

/// How a solve ended.
#[derive(Clone, Debug, PartialEq)]
pub enum SolverStatus {
    /// Within the tolerance.
    Converged,
    /// The limit of sweeps came first; the forces are the best so far.
    IterationLimit,
    /// Neither sweeps nor Newton's method get any further; the forces are the best so far.
    Stalled,
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
/// the others as they stand. Blocks of all laws mix. BEYOND the paper: where blocks are stiffly coupled sweeps take hundreds of rounds, so
/// those of problems of moderate size are followed by Newton's method, and those of large ones are accelerated by Anderson's.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GaussSeidel {
    /// What it is run with.
    pub parameters: SolverParameters,
}

/// Working memory of the solver, to be kept from step to step.
#[derive(Clone, Debug, Default)]
pub struct SolverMemory {
    anderson: Anderson,
    newton: Newton,
    before: Vec<f64>,
    /// The forces whose sweep changed least.
    best: Vec<f64>,
}

/// Sweeps of large problems before they are accelerated; even. With a good start fewer are enough.
const PLAIN: usize = 8;

/// Sweeps after which it should be known what presses, sticks and slides, so that Newton's method can be tried; and tried again.
const SETTLED: usize = 2;

/// So often Newton's method and the sweeps after it may leave the residual as it is.
const GIVEN_UP: usize = 4;

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
        let enough = self.parameters.tolerance * scale;
        let (mut residual, mut least) = (f64::INFINITY, f64::INFINITY);
        memory.best.clear();
        memory.best.extend_from_slice(forces);
        let done = |status, iterations, residual| Solution { status, iterations, residual: residual / scale };
        let newton = Newton::fits(problem);
        // Sweeps until Newton's method is tried; how often it was of no use, and the least residual then.
        let (mut patience, mut stuck, mut from) = (SETTLED, 0, f64::INFINITY);
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
            // To and fro, so that what presses at one end of a chain is felt at the other within two sweeps.
            forward = !forward;
            patience -= usize::from(newton);
            if patience == 0 {
                let (asked, improved) = memory.newton.run(problem, forces, &self.parameters, 0.1 * enough, &mut go_on);
                spent += asked;
                patience = if improved { 1 } else { SETTLED };
                if !improved {
                    (stuck, from) = if least < 0.5 * from { (0, least) } else { (stuck + 1, from) };
                    let fine = least <= self.parameters.fine;
                    if fine || stuck == GIVEN_UP {
                        forces.copy_from_slice(&memory.best);
                        let status = if fine { SolverStatus::Converged } else { SolverStatus::Stalled };
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

    /// Solves one block; returns by how much that changed its velocities.
    fn solve_block(&self, problem: &ContactProblem, first: usize, law: &Law, forces: &mut [f64]) -> f64 {
        if let Law::Equality(rows) = law {
            return hold(problem, first, *rows, forces);
        }
        let block = Block::gather(problem, first, law, forces);
        let answer = block.answer(&self.parameters);
        forces[first..first + law.rows()].copy_from_slice(&answer.as_slice()[..law.rows()]);
        block.change(&answer)
    }
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
