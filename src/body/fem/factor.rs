use faer::dyn_stack::{MemBuffer, MemStack};
use faer::linalg::cholesky::llt;
use faer::sparse::linalg::SupernodalThreshold;
use faer::sparse::linalg::cholesky::{
    CholeskySymbolicParams, LltRef, SymbolicCholesky, SymmetricOrdering, factorize_symbolic_cholesky,
};
use faer::sparse::{SparseColMatRef, SymbolicSparseColMat};
use faer::{Conj, MatMut, MatRef, Par, Side};

use super::matrix::{BlockMatrix, BlockPattern};

/// Up to this many unknowns a dense factor is taken. `fingerpad bench factor` prints both: sparse factorisation is cheaper from about
/// a hundred unknowns on, but a product with a dense inverse is the cheaper solve up to about three hundred, and bodies are solved
/// with many times for every time they are factored.
const DENSE: usize = 200;

/// Solves by substitution before the inverse is made: with a factor that serves for one step only it never is.
const SOLVES_BEFORE_INVERSE: u32 = 2;

/// Up to this many unknowns columns of the inverse of a sparse system are kept: 16 MB.
const KEPT: usize = 1400;

/// Right-hand sides with more entries than this are solved for as a whole.
const FEW: usize = 36;

/// `A = m M + k K` factored, with all its memory kept from step to step.
pub struct Factor(Kind);

impl std::fmt::Debug for Factor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.0 {
            Kind::Dense(dense) => write!(f, "Factor(dense, {} unknowns)", dense.n),
            Kind::Sparse(sparse) => write!(f, "Factor(sparse, {} unknowns)", sparse.n),
        }
    }
}

enum Kind {
    Dense(Dense),
    Sparse(Box<Sparse>),
}

/// Column-major square matrices: the Cholesky factor, and the inverse made from it once it has been used a few times.
struct Dense {
    n: usize,
    lower: Vec<f64>,
    inverse: Vec<f64>,
    /// Solves since the last factorisation.
    solves: u32,
    scratch: MemBuffer,
    column: Vec<f64>,
}

struct Sparse {
    n: usize,
    matrix: SymbolicSparseColMat<usize>,
    values: Vec<f64>,
    /// Place in `values` of each entry of each block; entries above the diagonal have none.
    slots: Vec<[[u32; 3]; 3]>,
    symbolic: SymbolicCholesky<usize>,
    lower: Vec<f64>,
    scratch: MemBuffer,
    columns: usize,
    inverse: Columns,
}

/// Columns of the inverse that were asked for since the last factorisation. What touches a body touches a few of its nodes, step after
/// step, while a factor lasts.
struct Columns {
    /// Column-major; nothing if the body is too large.
    values: Vec<f64>,
    known: Vec<bool>,
    sum: Vec<f64>,
}

/// The matrix is not positive definite, or not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the system matrix is not positive definite")]
pub struct NotPositive;

impl Factor {
    /// Makes room for systems of a pattern: dense or sparse by size, or as told.
    pub fn new(pattern: &BlockPattern) -> Self {
        if 3 * pattern.rows() <= DENSE { Self::dense(pattern) } else { Self::sparse(pattern) }
    }

    /// A dense one, whatever the size.
    pub fn dense(pattern: &BlockPattern) -> Self {
        let n = 3 * pattern.rows();
        let need = llt::factor::cholesky_in_place_scratch::<f64>(n, Par::Seq, Default::default())
            .or(llt::inverse::inverse_scratch::<f64>(n, Par::Seq));
        Self(Kind::Dense(Dense {
            n,
            lower: vec![0.0; n * n],
            inverse: vec![0.0; n * n],
            solves: 0,
            scratch: MemBuffer::new(need),
            column: vec![0.0; n],
        }))
    }

    /// A sparse one, whatever the size. The symbolic part is done here, once.
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

    /// Solves in place by two triangular solves, without the inverse: the yardstick of the benchmark.
    pub fn solve_by_substitution(&mut self, rhs: &mut [f64]) {
        match &mut self.0 {
            Kind::Dense(dense) => dense.substitute(rhs),
            Kind::Sparse(sparse) => sparse.solve(rhs),
        }
    }

    /// Solves in place for one right-hand side that is mostly zero.
    pub fn solve_few(&mut self, rhs: &mut [f64]) {
        match &mut self.0 {
            Kind::Dense(dense) => dense.solve(rhs),
            Kind::Sparse(sparse) => sparse.solve_few(rhs),
        }
    }

    /// Solves in place for right-hand sides that lie one after another.
    pub fn solve(&mut self, rhs: &mut [f64]) {
        match &mut self.0 {
            Kind::Dense(dense) => dense.solve(rhs),
            Kind::Sparse(sparse) => sparse.solve(rhs),
        }
    }
}

impl Dense {
    fn factor(&mut self) -> Result<(), NotPositive> {
        let n = self.n;
        let stack = MemStack::new(&mut self.scratch);
        let lower = MatMut::from_column_major_slice_mut(&mut self.lower, n, n);
        self.solves = 0;
        llt::factor::cholesky_in_place(lower, Default::default(), Par::Seq, stack, Default::default())
            .map(|_| ())
            .map_err(|_| NotPositive)
    }

    fn invert(&mut self) {
        let n = self.n;
        let stack = MemStack::new(&mut self.scratch);
        let inverse = MatMut::from_column_major_slice_mut(&mut self.inverse, n, n);
        llt::inverse::inverse(inverse, MatRef::from_column_major_slice(&self.lower, n, n), Par::Seq, stack);
        for j in 0..n {
            for i in 0..j {
                self.inverse[j * n + i] = self.inverse[i * n + j];
            }
        }
    }

    fn substitute(&mut self, rhs: &mut [f64]) {
        let (n, columns) = (self.n, rhs.len() / self.n);
        let lower = MatRef::from_column_major_slice(&self.lower, n, n);
        let rhs = MatMut::from_column_major_slice_mut(rhs, n, columns);
        llt::solve::solve_in_place(lower, rhs, Par::Seq, MemStack::new(&mut self.scratch));
    }

    fn solve(&mut self, rhs: &mut [f64]) {
        self.solves = self.solves.saturating_add(1);
        if self.solves <= SOLVES_BEFORE_INVERSE {
            return self.substitute(rhs);
        }
        if self.solves == SOLVES_BEFORE_INVERSE + 1 {
            self.invert();
        }
        let n = self.n;
        for x in rhs.chunks_exact_mut(n) {
            self.column.fill(0.0);
            for (j, &xj) in x.iter().enumerate() {
                if xj != 0.0 {
                    for (y, a) in self.column.iter_mut().zip(&self.inverse[j * n..(j + 1) * n]) {
                        *y += a * xj;
                    }
                }
            }
            x.copy_from_slice(&self.column);
        }
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
        // Only running out of memory can fail here, and that ends the program anyway.
        let symbolic = factorize_symbolic_cholesky(matrix.as_ref(), Side::Lower, SymmetricOrdering::Amd, params)
            .unwrap_or_else(|e| unreachable!("a symmetric pattern always has a symbolic factor: {e:?}"));
        let mut sparse = Self {
            n,
            matrix,
            values,
            slots,
            lower: vec![0.0; symbolic.len_val()],
            symbolic,
            scratch: MemBuffer::new(faer::dyn_stack::StackReq::EMPTY),
            columns: 0,
            inverse: Columns {
                values: if n <= KEPT { vec![0.0; n * n] } else { Vec::new() },
                known: vec![false; n],
                sum: vec![0.0; n],
            },
        };
        sparse.make_room(4);
        sparse
    }

    fn make_room(&mut self, columns: usize) {
        if columns > self.columns {
            self.columns = columns;
            let factor = self.symbolic.factorize_numeric_llt_scratch::<f64>(Par::Seq, Default::default());
            let solve = self.symbolic.solve_in_place_scratch::<f64>(columns, Par::Seq);
            self.scratch = MemBuffer::new(factor.or(solve));
        }
    }

    fn factor(&mut self) -> Result<(), NotPositive> {
        self.inverse.known.fill(false);
        let matrix = SparseColMatRef::new(self.matrix.as_ref(), &self.values[..]);
        let stack = MemStack::new(&mut self.scratch);
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
    }

    fn solve(&mut self, rhs: &mut [f64]) {
        let columns = rhs.len() / self.n;
        self.make_room(columns);
        let factor = LltRef::new(&self.symbolic, &self.lower[..]);
        let rhs = MatMut::from_column_major_slice_mut(rhs, self.n, columns);
        factor.solve_in_place_with_conj(Conj::No, rhs, Par::Seq, MemStack::new(&mut self.scratch));
    }

    fn solve_few(&mut self, rhs: &mut [f64]) {
        let n = self.n;
        if self.inverse.values.is_empty() || rhs.iter().filter(|x| **x != 0.0).count() > FEW {
            return self.solve(rhs);
        }
        let mut values = std::mem::take(&mut self.inverse.values);
        let mut sum = std::mem::take(&mut self.inverse.sum);
        sum.fill(0.0);
        for (j, &x) in rhs.iter().enumerate().filter(|(_, x)| **x != 0.0) {
            let column = &mut values[j * n..(j + 1) * n];
            if !self.inverse.known[j] {
                column.fill(0.0);
                column[j] = 1.0;
                self.solve(column);
                self.inverse.known[j] = true;
            }
            sum.iter_mut().zip(&*column).for_each(|(y, a)| *y += a * x);
        }
        rhs.copy_from_slice(&sum);
        (self.inverse.values, self.inverse.sum) = (values, sum);
    }
}
