use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::{factor, solve};
use faer::{MatMut, MatRef, Par};
use nalgebra::SMatrix;

use super::block::LocalProblem;
use super::gauss_seidel::SolverParameters;
use crate::problem::{ContactProblem, Law};

/// Problems with more rows are left to the sweeps: one factorisation would cost more than many sweeps.
const MOST_ROWS: usize = 192;

/// Attachments with more rows too.
const ATTACHMENT_ROWS: usize = 6;

/// Maximum number of steps, and minimum step length.
const MAX_NEWTON_STEPS: usize = 12;
const MIN_STEP_LENGTH: f64 = 0.05;

/// Relative regularisation of each block; the matrix is singular for redundant contacts, as under the legs of a rigid
/// table. Multiplied by this factor where laws keep switching.
const DAMPING: f64 = 1e-4;
const HARDER: f64 = 100.0;

/// Newton's method on the fixed-point equation of Gauss–Seidel.
///
/// Each block solves for given forces of the others, `x_b = S_b(y_b)` with `y_b = free_b + Σ_{c≠b} W_bc x_c`; the
/// solution is the fixed point. With `D_b = ∂S_b/∂y_b` ([`LocalProblem::derivative`]) the Newton step is
///
/// ```text
/// (1 − D (W − blockdiag W)) dx = S(y(x)) − x,
/// ```
///
/// whose matrix, where everything sticks, is `W` scaled by its own blocks. Sweeps determine which contacts press, stick
/// and slide; then two or three of these steps suffice for any stiffness of the coupling, which is where sweeps are
/// slow. A step may be wrong where laws switch: the caller must check the residual of the next sweep.
#[derive(Default)]
pub struct Newton {
    /// Column by column.
    matrix: Vec<f64>,
    step: Vec<f64>,
    /// The forces at which the step is computed, and the residual of the blocks.
    start: Vec<f64>,
    residual: Vec<f64>,
    derivatives: Vec<SMatrix<f64, ATTACHMENT_ROWS, ATTACHMENT_ROWS>>,
    permutation: Vec<usize>,
    inverse: Vec<usize>,
    scratch: Option<MemBuffer>,
    room: usize,
}

impl std::fmt::Debug for Newton {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Newton(room for {} rows)", self.room)
    }
}

impl Clone for Newton {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Newton {
    /// Whether it is suitable for a problem.
    pub fn fits(problem: &ContactProblem) -> bool {
        let small = |law: &Law| !matches!(law, Law::Equality(rows) if *rows > ATTACHMENT_ROWS);
        problem.laws.len() > 1 && problem.rows() <= MOST_ROWS && problem.laws.iter().all(small)
    }

    /// Makes steps until the residual is below `enough` (m/s). A step is halved until the residual decreases; otherwise
    /// the damping is increased. `go_on` is called before each evaluation and may end the solve. Returns the number of
    /// evaluations, and whether the residual was at least halved.
    pub fn run(
        &mut self,
        problem: &ContactProblem,
        forces: &mut [f64],
        parameters: &SolverParameters,
        enough: f64,
        mut go_on: impl FnMut() -> bool,
    ) -> (usize, bool) {
        let n = problem.rows();
        self.make_room(n);
        self.start.clear();
        self.start.extend_from_slice(forces);
        if !go_on() {
            return (0, false);
        }
        let (mut evaluations, mut damping) = (1, DAMPING);
        let first = self.evaluate(problem, forces, parameters, damping);
        let mut now = first;
        'steps: for _ in 0..MAX_NEWTON_STEPS {
            if now <= enough || !self.find_step(problem) {
                break;
            }
            let mut part = 1.0;
            while part >= MIN_STEP_LENGTH {
                for ((x, from), dx) in forces.iter_mut().zip(&self.start).zip(&self.step) {
                    *x = from + part * dx;
                }
                if !go_on() {
                    break 'steps;
                }
                evaluations += 1;
                let then = self.evaluate(problem, forces, parameters, damping);
                if then < (1.0 - 0.1 * part) * now {
                    now = then;
                    self.start.copy_from_slice(forces);
                    if part == 1.0 {
                        damping = (damping / HARDER).max(DAMPING);
                    }
                    continue 'steps;
                }
                part *= 0.5;
            }
            if damping >= 1.0 || !go_on() {
                break;
            }
            damping *= HARDER;
            evaluations += 1;
            forces.copy_from_slice(&self.start);
            self.evaluate(problem, forces, parameters, damping);
        }
        forces.copy_from_slice(&self.start);
        (evaluations, now < 0.5 * first)
    }

    /// Evaluates every block: stores its residual and derivative. Returns the norm of the residual, m/s.
    fn evaluate(
        &mut self,
        problem: &ContactProblem,
        forces: &[f64],
        parameters: &SolverParameters,
        damping: f64,
    ) -> f64 {
        self.residual.clear();
        self.derivatives.clear();
        let mut size = 0.0;
        for (first, law) in problem.blocks() {
            let mut derivative = SMatrix::<f64, ATTACHMENT_ROWS, ATTACHMENT_ROWS>::zeros();
            if let Law::Equality(rows) = law {
                let mut w = SMatrix::<f64, ATTACHMENT_ROWS, ATTACHMENT_ROWS>::identity();
                for i in 0..*rows {
                    (0..*rows).for_each(|j| w[(i, j)] = problem.w(first + i, first + j));
                }
                derivative = -w.try_inverse().unwrap_or_else(SMatrix::zeros);
                for i in 0..*rows {
                    let push = (0..*rows).map(|j| derivative[(i, j)] * problem.velocity(first + j, forces));
                    self.residual.push(push.sum());
                }
                derivative /= 1.0 + damping;
            } else {
                let block = LocalProblem::gather(problem, first, law, forces);
                let solution = block.solve(parameters);
                self.residual.extend((0..law.rows()).map(|i| solution[i] - block.own[i]));
                let own = block.derivative(&solution, parameters.smooth, damping);
                derivative.fixed_view_mut::<4, 4>(0, 0).copy_from(&own);
            }
            self.derivatives.push(derivative);
            size += (first..first + law.rows()).map(|r| (problem.w(r, r) * self.residual[r]).powi(2)).sum::<f64>();
        }
        size.sqrt()
    }

    /// Computes the Newton step; false if the matrix is singular.
    fn find_step(&mut self, problem: &ContactProblem) -> bool {
        let n = problem.rows();
        self.matrix.clear();
        self.matrix.resize(n * n, 0.0);
        for ((first, law), derivative) in problem.blocks().zip(&self.derivatives) {
            let own = first..first + law.rows();
            for c in 0..n {
                if own.contains(&c) {
                    self.matrix[c * n + c] = 1.0;
                    continue;
                }
                // W is symmetric: a column of it is a row.
                let coupling = &problem.delassus[c * n..][own.clone()];
                for i in 0..own.len() {
                    let sum: f64 = coupling.iter().enumerate().map(|(k, w)| derivative[(i, k)] * w).sum();
                    self.matrix[c * n + first + i] = -sum;
                }
            }
        }
        self.step.clear();
        self.step.extend_from_slice(&self.residual);
        self.solve(n)
    }

    fn make_room(&mut self, n: usize) {
        if self.room < n {
            // With room for a few more contacts.
            self.room = (2 * n).min(MOST_ROWS);
            let need = factor::lu_in_place_scratch::<usize, f64>(self.room, self.room, Par::Seq, Default::default())
                .or(solve::solve_in_place_scratch::<usize, f64>(self.room, 1, Par::Seq));
            self.scratch = Some(MemBuffer::new(need));
            self.matrix.reserve(self.room * self.room);
            self.step.reserve(self.room);
            self.permutation.resize(self.room, 0);
            self.inverse.resize(self.room, 0);
        }
    }

    /// Overwrites the right-hand side with the solution.
    fn solve(&mut self, n: usize) -> bool {
        let Some(scratch) = &mut self.scratch else { return false };
        let stack = MemStack::new(scratch);
        let matrix = MatMut::from_column_major_slice_mut(&mut self.matrix, n, n);
        let (permutation, inverse) = (&mut self.permutation[..n], &mut self.inverse[..n]);
        let (_, order) = factor::lu_in_place(matrix, permutation, inverse, Par::Seq, stack, Default::default());
        let factors = MatRef::from_column_major_slice(&self.matrix, n, n);
        let right = MatMut::from_column_major_slice_mut(&mut self.step, n, 1);
        solve::solve_in_place(factors, factors, order, right, Par::Seq, stack);
        self.step.iter().all(|x| x.is_finite())
    }
}
