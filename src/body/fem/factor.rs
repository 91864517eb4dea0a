use std::cell::RefCell;
use std::sync::Arc;

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};
use faer::linalg::cholesky::llt;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, MatRef, Par, Side};

use super::matrix::{BlockMatrix, BlockPattern};
use crate::solver::{add_product, add_scaled};

/// Maximum number of unknowns of a dense factor. `fingerpad bench factor` compares both: sparse factorisation is
/// cheaper from about a hundred unknowns, but a product with a dense inverse is the cheaper solve up to about three
/// hundred, and there are many solves per factorisation.
const DENSE: usize = 200;

/// Right-hand sides with no more entries than this are multiplied column by column.
const FEW_ENTRIES: usize = 36;

/// `A = m M + k K` factored. Solving does not change it, so several threads may solve at once.
#[derive(Clone)]
pub struct Factor(Kind);

impl std::fmt::Debug for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Kind::Dense(dense) => write!(f, "Factor(dense, {} unknowns)", dense.n),
            Kind::Sparse(sparse) => write!(f, "Factor(sparse, {} unknowns)", sparse.n),
        }
    }
}

#[derive(Clone)]
enum Kind {
    Dense(Dense),
    Sparse(Box<Sparse>),
}

/// Column-major square matrices: the Cholesky factor, and the inverse once the factor is used for a second step.
#[derive(Clone)]
struct Dense {
    n: usize,
    lower: Vec<f64>,
    inverse: Vec<f64>,
    inverted: bool,
}

#[derive(Clone)]
struct Sparse {
    n: usize,
    matrix: SymbolicSparseColMat<usize>,
    values: Vec<f64>,
    /// Index in `values` of each entry of each block; entries above the diagonal have none.
    slots: Vec<[[u32; 3]; 3]>,
    symbolic: Arc<SymbolicCholesky<usize>>,
    lower: Vec<f64>,
}

/// Working memory of a thread.
struct Scratch {
    buffer: MemBuffer,
    need: StackReq,
    column: Vec<f64>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> =
        RefCell::new(Scratch { buffer: MemBuffer::new(StackReq::EMPTY), need: StackReq::EMPTY, column: Vec::new() });
}

/// Calls a function with working memory, which grows to the maximum size used in this thread.
fn with_stack<R>(need: StackReq, act: impl FnOnce(&mut MemStack) -> R) -> R {
    SCRATCH.with_borrow_mut(|scratch| {
        let before = &scratch.need;
        if need.size_bytes() > before.size_bytes() || need.align_bytes() > before.align_bytes() {
            scratch.need = scratch.need.or(need);
            scratch.buffer = MemBuffer::new(scratch.need);
        }
        act(MemStack::new(&mut scratch.buffer))
    })
}

/// The matrix is not positive definite, or not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system matrix is not positive definite")]
pub struct NotPositive;

impl Factor {
    /// Allocates for systems with a pattern: dense or sparse by size, or as requested.
    pub fn new(pattern: &BlockPattern) -> Self {
        if 3 * pattern.rows() <= DENSE { Self::dense(pattern) } else { Self::sparse(pattern) }
    }

    /// A dense factor for any size.
    pub fn dense(pattern: &BlockPattern) -> Self {
        let n = 3 * pattern.rows();
        Self(Kind::Dense(Dense { n, lower: vec![0.0; n * n], inverse: vec![0.0; n * n], inverted: false }))
    }

    /// A sparse factor for any size. The symbolic factorisation is done here, once.
    pub fn sparse(pattern: &BlockPattern) -> Self {
        Self(Kind::Sparse(Box::new(Sparse::new(pattern))))
    }

    /// Factors `mass_factor · diag(masses) + stiffness_factor · K`.
    pub fn factor(
        &mut self,
        pattern: &BlockPattern,
        k: &BlockMatrix,
        stiffness_factor: f64,
        masses: &[f64],
        mass_factor: f64,
    ) -> Result<(), NotPositive> {
        let entry = |row: usize, column: usize, place: usize, i: usize, j: usize| {
            let mass = if row == column && i == j { mass_factor * masses[row] } else { 0.0 };
            stiffness_factor * k.blocks[place][(i, j)] + mass
        };
        match &mut self.0 {
            Kind::Dense(dense) => {
                let n = dense.n;
                dense.lower.fill(0.0);
                for (row, column, place) in pattern.iter() {
                    for j in 0..3 {
                        for i in 0..3 {
                            dense.lower[(3 * column + j) * n + 3 * row + i] = entry(row, column, place, i, j);
                        }
                    }
                }
                dense.factor()
            }
            Kind::Sparse(sparse) => {
                for (row, column, place) in pattern.iter() {
                    for i in 0..3 {
                        for j in 0..3 {
                            let slot = sparse.slots[place][i][j];
                            if slot != u32::MAX {
                                sparse.values[slot as usize] = entry(row, column, place, i, j);
                            }
                        }
                    }
                }
                sparse.factor()
            }
        }
    }

    /// Prepares the factor for reuse in another step. A dense one is inverted: a product with the inverse is the
    /// cheaper solve.
    pub fn reuse(&mut self) {
        if let Kind::Dense(dense) = &mut self.0
            && !dense.inverted
        {
            dense.invert();
        }
    }

    /// Whether solving multiplies with the inverse.
    pub(super) fn is_inverted(&self) -> bool {
        matches!(&self.0, Kind::Dense(dense) if dense.inverted)
    }

    /// Solves in place by two triangular solves, without the inverse; for the benchmark.
    pub fn solve_by_substitution(&self, rhs: &mut [f64]) {
        match &self.0 {
            Kind::Dense(dense) => dense.substitute(rhs),
            Kind::Sparse(sparse) => sparse.solve(rhs),
        }
    }

    /// Solves in place for consecutive right-hand sides.
    pub fn solve(&self, rhs: &mut [f64]) {
        match &self.0 {
            Kind::Dense(dense) => dense.solve(rhs),
            Kind::Sparse(sparse) => sparse.solve(rhs),
        }
    }
}

impl Dense {
    fn factor(&mut self) -> Result<(), NotPositive> {
        let n = self.n;
        self.inverted = false;
        let need = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default());
        let lower = MatMut::from_column_major_slice_mut(&mut self.lower, n, n);
        with_stack(need, |stack| {
            llt::factor::cholesky_in_place(lower, Default::default(), Par::Seq, stack, Default::default())
                .map(|_| ())
                .map_err(|_| NotPositive)
        })
    }

    fn invert(&mut self) {
        let n = self.n;
        let inverse = MatMut::from_column_major_slice_mut(&mut self.inverse, n, n);
        let lower = MatRef::from_column_major_slice(&self.lower, n, n);
        with_stack(llt::inverse::inverse_scratch::<f64>(n, Par::Seq), |stack| {
            llt::inverse::inverse(inverse, lower, Par::Seq, stack);
        });
        for j in 0..n {
            for i in 0..j {
                self.inverse[j * n + i] = self.inverse[i * n + j];
            }
        }
        self.inverted = true;
    }

    fn substitute(&self, rhs: &mut [f64]) {
        let (n, columns) = (self.n, rhs.len() / self.n);
        let lower = MatRef::from_column_major_slice(&self.lower, n, n);
        let rhs = MatMut::from_column_major_slice_mut(rhs, n, columns);
        with_stack(llt::solve::solve_in_place_scratch::<f64>(n, columns, Par::Seq), |stack| {
            llt::solve::solve_in_place(lower, rhs, Par::Seq, stack);
        });
    }

    fn solve(&self, rhs: &mut [f64]) {
        if !self.inverted {
            return self.substitute(rhs);
        }
        let n = self.n;
        SCRATCH.with_borrow_mut(|Scratch { column, .. }| {
            for x in rhs.chunks_exact_mut(n) {
                column.clear();
                column.resize(n, 0.0);
                if x.iter().filter(|x| **x != 0.0).count() > FEW_ENTRIES {
                    add_product(x, &self.inverse, [1, n], 1.0, column);
                } else {
                    for (j, &xj) in x.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                        add_scaled(column, &self.inverse[j * n..(j + 1) * n], xj);
                    }
                }
                x.copy_from_slice(column);
            }
        });
    }
}

impl Sparse {
    fn new(pattern: &BlockPattern) -> Self {
        let n = 3 * pattern.rows();
        let mut rows_of = vec![Vec::new(); n];
        for (row, column, place) in pattern.iter() {
            for i in 0..3 {
                for j in 0..3 {
                    if 3 * row + i >= 3 * column + j {
                        rows_of[3 * column + j].push((3 * row + i, place, i, j));
                    }
                }
            }
        }
        let mut column_starts = vec![0];
        let mut row_indices = Vec::new();
        let mut slots = vec![[[u32::MAX; 3]; 3]; pattern.blocks()];
        for column in &mut rows_of {
            column.sort_unstable();
            for &(row, place, i, j) in column.iter() {
                slots[place][i][j] = row_indices.len() as u32;
                row_indices.push(row);
            }
            column_starts.push(row_indices.len());
        }
        let values = vec![0.0; row_indices.len()];
        let matrix = SymbolicSparseColMat::new_checked(n, n, column_starts, None, row_indices);
        let params = CholeskySymbolicParams {
            supernodal_flop_ratio_threshold: SupernodalThreshold::FORCE_SUPERNODAL,
            ..Default::default()
        };
        // Only memory exhaustion can fail here, which aborts the program anyway.
        let symbolic = factorize_symbolic_cholesky(matrix.as_ref(), Side::Lower, SymmetricOrdering::Amd, params)
            .unwrap_or_else(|e| unreachable!("a symmetric pattern always has a symbolic factor: {e:?}"));
        Self { n, matrix, values, slots, lower: vec![0.0; symbolic.len_val()], symbolic: Arc::new(symbolic) }
    }

    fn factor(&mut self) -> Result<(), NotPositive> {
        let need = self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
        let matrix = SparseColMatRef::new(self.matrix.as_ref(), &self.values[..]);
        with_stack(need, |stack| {
            self.symbolic
                .factorize_numeric_llt(
                    &mut self.lower,
                    matrix,
                    Side::Lower,
                    Default::default(),
                    Par::Seq,
                    stack,
                    Default::default(),
                )
                .map(|_| ())
                .map_err(|_| NotPositive)
        })
    }

    fn solve(&self, rhs: &mut [f64]) {
        let columns = rhs.len() / self.n;
        let factor = LltRef::new(&*self.symbolic, &self.lower[..]);
        let rhs = MatMut::from_column_major_slice_mut(rhs, self.n, columns);
        with_stack(self.symbolic.solve_in_place_scratch::<f64>(columns, Par::Seq), |stack| {
            factor.solve_in_place_with_conj(Conj::No, rhs, Par::Seq, stack);
        });
    }
}
