use nalgebra::{SMatrix, SVector};

/// A 6 × 6 block.
pub type Block = SMatrix<f64, 6, 6>;
/// Six numbers of one node: three of translation, then three of rotation.
pub type Six = SVector<f64, 6>;

/// A symmetric positive definite block tridiagonal matrix with blocks of 6 × 6, and its Cholesky factor.
///
/// With `A_ii` on the diagonal and `A_i,i+1` above it, the factor has the pivots `L_i L_iᵀ = A_ii − G_{i−1}ᵀ G_{i−1}` and the blocks
/// `G_i = L_i⁻¹ A_i,i+1`. Factor and solve take a fixed number of operations for each node.
#[derive(Clone, Debug)]
pub struct BlockTridiagonal {
    /// Blocks of the diagonal.
    pub diagonal: Vec<Block>,
    /// Blocks above it; one fewer.
    pub upper: Vec<Block>,
    pivots: Vec<Block>,
    coupling: Vec<Block>,
}

impl BlockTridiagonal {
    /// A zero matrix with a number of blocks.
    pub fn new(blocks: usize) -> Self {
        let (n, m) = (blocks, blocks.saturating_sub(1));
        let zero = Block::zeros();
        Self { diagonal: vec![zero; n], upper: vec![zero; m], pivots: vec![zero; n], coupling: vec![zero; m] }
    }

    /// Number of blocks on the diagonal.
    pub fn blocks(&self) -> usize {
        self.diagonal.len()
    }

    /// Sets every entry to zero.
    pub fn clear(&mut self) {
        self.diagonal.fill(Block::zeros());
        self.upper.fill(Block::zeros());
    }

    /// Factors the matrix. Returns false where it is not positive definite; the factor is then not usable.
    pub fn factor(&mut self) -> bool {
        let mut reduced = self.diagonal.first().copied().unwrap_or_else(Block::zeros);
        for i in 0..self.diagonal.len() {
            let Some(pivot) = cholesky(&reduced) else { return false };
            self.pivots[i] = pivot;
            if i + 1 < self.diagonal.len() {
                let mut g = self.upper[i];
                forward_columns(&pivot, &mut g);
                self.coupling[i] = g;
                count(6 * 6 * 6);
                reduced = self.diagonal[i + 1] - g.tr_mul(&g);
            }
        }
        true
    }

    /// Replaces `b`, six numbers for each block, by `A⁻¹ b`.
    pub fn solve(&self, b: &mut [f64]) {
        let n = self.diagonal.len();
        let mut y = Six::zeros();
        for i in 0..n {
            let mut r = get(b, i);
            if i > 0 {
                count(36);
                r -= self.coupling[i - 1].tr_mul(&y);
            }
            forward(&self.pivots[i], &mut r);
            y = r;
            put(b, i, &y);
        }
        let mut x = Six::zeros();
        for i in (0..n).rev() {
            let mut r = get(b, i);
            if i + 1 < n {
                count(36);
                r -= self.coupling[i] * x;
            }
            backward(&self.pivots[i], &mut r);
            x = r;
            put(b, i, &x);
        }
    }

    /// `A x` into `out`.
    pub fn multiply(&self, x: &[Six], out: &mut [Six]) {
        for i in 0..self.diagonal.len() {
            let mut y = self.diagonal[i] * x[i];
            if i > 0 {
                y += self.upper[i - 1].tr_mul(&x[i - 1]);
            }
            if i + 1 < self.diagonal.len() {
                y += self.upper[i] * x[i + 1];
            }
            out[i] = y;
        }
    }
}

/// The six numbers of block `i`.
pub(super) fn get(b: &[f64], i: usize) -> Six {
    Six::from_column_slice(&b[6 * i..6 * i + 6])
}

fn put(b: &mut [f64], i: usize, x: &Six) {
    b[6 * i..6 * i + 6].copy_from_slice(x.as_slice());
}

/// The lower Cholesky factor, with the reciprocals of its diagonal on the diagonal. `None` where a pivot is not positive.
fn cholesky(a: &Block) -> Option<Block> {
    count(6 * 6 * 6 / 6);
    let mut l = Block::zeros();
    for j in 0..6 {
        let mut d = a[(j, j)];
        for k in 0..j {
            d -= l[(j, k)] * l[(j, k)];
        }
        if !(d > 0.0 && d.is_finite()) {
            return None;
        }
        let inverse = 1.0 / d.sqrt();
        l[(j, j)] = inverse;
        for i in j + 1..6 {
            let mut s = a[(i, j)];
            for k in 0..j {
                s -= l[(i, k)] * l[(j, k)];
            }
            l[(i, j)] = s * inverse;
        }
    }
    Some(l)
}

/// `L⁻¹ b`.
#[inline]
fn forward(l: &Block, b: &mut Six) {
    count(21);
    for i in 0..6 {
        let mut s = b[i];
        for k in 0..i {
            s -= l[(i, k)] * b[k];
        }
        b[i] = s * l[(i, i)];
    }
}

/// `L⁻ᵀ b`.
#[inline]
fn backward(l: &Block, b: &mut Six) {
    count(21);
    for i in (0..6).rev() {
        let mut s = b[i];
        for k in i + 1..6 {
            s -= l[(k, i)] * b[k];
        }
        b[i] = s * l[(i, i)];
    }
}

fn forward_columns(l: &Block, b: &mut Block) {
    for c in 0..6 {
        let mut column: Six = b.column(c).into();
        forward(l, &mut column);
        b.set_column(c, &column);
    }
}

#[cfg(test)]
thread_local! {
    /// Multiplications done by this thread, for the test of linear cost.
    static MULTIPLICATIONS: std::cell::Cell<u64> = const { std::cell::Cell::new(0) };
}

#[inline(always)]
fn count(_multiplications: u64) {
    #[cfg(test)]
    MULTIPLICATIONS.set(MULTIPLICATIONS.get() + _multiplications);
}

#[cfg(test)]
pub(super) fn multiplications() -> u64 {
    MULTIPLICATIONS.get()
}

#[cfg(test)]
mod tests {
    use nalgebra::{DMatrix, DVector};

    use super::*;
    use crate::math::Random;

    /// `Bᵀ B` of a random block bidiagonal matrix, plus a little on the diagonal.
    fn sample(blocks: usize) -> BlockTridiagonal {
        let mut random = Random::new(7, blocks as u64);
        let mut matrix = BlockTridiagonal::new(blocks);
        let mut block = || Block::from_fn(|_, _| random.unit() - 0.5);
        let mut above = Block::zeros();
        for i in 0..blocks {
            let (d, u) = (block(), block());
            matrix.diagonal[i] = d.tr_mul(&d) + above.tr_mul(&above) + Block::identity() * 0.1;
            if i + 1 < blocks {
                matrix.upper[i] = d.tr_mul(&u);
            }
            above = u;
        }
        matrix
    }

    #[test]
    fn solution_is_that_of_the_dense_matrix() {
        let mut matrix = sample(7);
        assert!(matrix.factor());
        let mut dense = DMatrix::zeros(42, 42);
        for i in 0..7 {
            dense.view_mut((6 * i, 6 * i), (6, 6)).copy_from(&matrix.diagonal[i]);
            if i < 6 {
                dense.view_mut((6 * i, 6 * i + 6), (6, 6)).copy_from(&matrix.upper[i]);
                dense.view_mut((6 * i + 6, 6 * i), (6, 6)).copy_from(&matrix.upper[i].transpose());
            }
        }
        let b: Vec<f64> = (0..42).map(|i| (i as f64).sin()).collect();
        let mut x = b.clone();
        matrix.solve(&mut x);
        let expected = dense.lu().solve(&DVector::from_vec(b)).expect("positive definite");
        assert!((DVector::from_vec(x) - &expected).norm() < 1e-10 * expected.norm());
    }

    #[test]
    fn an_indefinite_or_infinite_matrix_is_refused() {
        let mut matrix = sample(3);
        matrix.diagonal[1][(2, 2)] = -1.0;
        assert!(!matrix.factor());
        matrix.diagonal[1][(2, 2)] = f64::NAN;
        assert!(!matrix.factor());
    }

    #[test]
    fn cost_is_linear_in_the_number_of_blocks() {
        let cost = |blocks: usize| {
            let mut matrix = sample(blocks);
            let mut b = vec![1.0; 6 * blocks];
            let before = multiplications();
            assert!(matrix.factor());
            matrix.solve(&mut b);
            (multiplications() - before) as f64 / blocks as f64
        };
        let [ten, hundred, thousand] = [10, 100, 1000].map(cost);
        assert!(ten > 300.0 && (hundred / ten - 1.0).abs() < 0.1 && (thousand / hundred - 1.0).abs() < 0.01);
    }
}
