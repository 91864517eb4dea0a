use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::lu::partial_pivoting::{factor, solve};
use faer::{MatMut, MatRef, Par};
use nalgebra::SMatrix;

use super::block::Block;
use super::gauss_seidel::SolverParameters;
use crate::problem::{ContactProblem, Law};

/// Problems with more rows than this are left to the sweeps: the factorisation of one step would cost more than many of them.
const MOST_ROWS: usize = 192;

/// Attachments with more rows than this are too.
const JOINT: usize = 6;

/// Most steps, and the shortest part of one that is tried.
const STEPS: usize = 12;
const SHORTEST: f64 = 0.05;

/// Each block is taken for softer by this part than it is, or there would be no step where contacts are redundant, as under the legs of
/// a rigid table; and for softer still by this factor where laws switch at every step.
const DAMPING: f64 = 1e-4;
const HARDER: f64 = 100.0;

/// Newton's method on what Gauss–Seidel iterates.
///
/// Each block answers what the others do to it, `x_b = S_b(y_b)` with `y_b = free_b + Σ_{c≠b} W_bc x_c`; the solution is where all
/// answers are what is there already. With `D_b = ∂S_b/∂y_b` ([`Block::derivative`]) the step to it is
///
/// ```text
/// (1 − D (W − blockdiag W)) dx = S(y(x)) − x,
/// ```
///
/// whose matrix, where everything sticks, is `W` scaled by its own blocks. Sweeps tell which contacts press, stick and slide; once they
/// do, it takes two or three of these steps however stiffly the blocks are coupled, which is what sweeps are slow at. A step may be
/// wrong where laws switch: whoever takes it must look at what the next sweep says.
#[derive(Default)]
pub struct Newton {
    /// Column by column.
    matrix: Vec<f64>,
    step: Vec<f64>,
    /// The forces from which steps are made, and by how much the blocks would have them changed.
    start: Vec<f64>,
    residual: Vec<f64>,
    derivatives: Vec<SMatrix<f64, JOINT, JOINT>>,
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
    /// Whether it is the right thing for a problem.
    pub fn fits(problem: &ContactProblem) -> bool {
        let small = |law: &Law| !matches!(law, Law::Equality(rows) if *rows > JOINT);
        problem.laws.len() > 1 && problem.rows() <= MOST_ROWS && problem.laws.iter().all(small)
    }

    /// Makes steps until the residual is below `enough` (m/s). A step is halved until the residual is smaller than before; if that
    /// does not help it is damped more. `go_on` is asked before the blocks are asked; a clock may say no. Returns how often the blocks
    /// were asked, and whether the residual is smaller by half at least.
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
        let (mut asked, mut damping) = (1, DAMPING);
        let first = self.ask(problem, forces, parameters, damping);
        let mut now = first;
        'steps: for _ in 0..STEPS {
            if now <= enough || !self.find_step(problem) {
                break;
            }
            let mut part = 1.0;
            while part >= SHORTEST {
                for ((x, from), dx) in forces.iter_mut().zip(&self.start).zip(&self.step) {
                    *x = from + part * dx;
                }
                if !go_on() {
                    break 'steps;
                }
                asked += 1;
                let then = self.ask(problem, forces, parameters, damping);
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
            asked += 1;
            forces.copy_from_slice(&self.start);
            self.ask(problem, forces, parameters, damping);
        }
        forces.copy_from_slice(&self.start);
        (asked, now < 0.5 * first)
    }

    /// Asks every block for its answer: notes what it answers less what it has, and how the answer follows the other blocks. Returns the
    /// length of the residual, m/s.
    fn ask(&mut self, problem: &ContactProblem, forces: &[f64], parameters: &SolverParameters, damping: f64) -> f64 {
        self.residual.clear();
        self.derivatives.clear();
        let mut size = 0.0;
        for (first, law) in problem.blocks() {
            let mut derivative = SMatrix::<f64, JOINT, JOINT>::zeros();
            if let Law::Equality(rows) = law {
                let mut w = SMatrix::<f64, JOINT, JOINT>::identity();
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
                let block = Block::gather(problem, first, law, forces);
                let answer = block.answer(parameters);
                self.residual.extend((0..law.rows()).map(|i| answer[i] - block.own[i]));
                let own = block.derivative(&answer, parameters.smooth, damping);
                derivative.fixed_view_mut::<4, 4>(0, 0).copy_from(&own);
            }
            self.derivatives.push(derivative);
            size += (first..first + law.rows()).map(|r| (problem.w(r, r) * self.residual[r]).powi(2)).sum::<f64>();
        }
        size.sqrt()
    }

    /// Solves for the step to where the answers are what is there; false if there is none.
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
                let felt = &problem.delassus[c * n..][own.clone()];
                for i in 0..own.len() {
                    let sum: f64 = felt.iter().enumerate().map(|(k, w)| derivative[(i, k)] * w).sum();
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
            // With room for a few contacts more.
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

    /// Makes the right side the solution.
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
