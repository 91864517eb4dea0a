//! Linear complementarity problems: `z ≥ 0`, `w = M z + q ≥ 0`, `zᵀ w = 0`. Reference solvers, not used in the step.

use nalgebra::{DMatrix, DVector};

/// Why a complementarity problem was not solved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LcpFault {
    /// Lemke's path ran to infinity.
    #[error("the path ends in a ray: the problem has no solution that Lemke's method can reach")]
    Ray,
    /// Too many pivots.
    #[error("too many pivots")]
    Pivots,
    /// A principal block that cannot be inverted.
    #[error("a principal block of the matrix is singular")]
    Singular,
}

/// Lemke's method with a covering vector of ones, by complementary pivots on the tableau `w − M z − e z₀ = q`.
pub fn lemke(m: &DMatrix<f64>, q: &DVector<f64>) -> Result<DVector<f64>, LcpFault> {
    let n = q.len();
    if q.iter().all(|&x| x >= 0.0) {
        return Ok(DVector::zeros(n));
    }
    let nudge = 1e-13 * q.amax();
    // Columns: w (0..n), z (n..2n), z₀ (2n), right-hand side (2n + 1).
    let mut tableau = DMatrix::zeros(n, 2 * n + 2);
    for i in 0..n {
        tableau[(i, i)] = 1.0;
        for j in 0..n {
            tableau[(i, n + j)] = -m[(i, j)];
        }
        tableau[(i, 2 * n)] = -1.0;
        // A distinct perturbation per row avoids cycling in degenerate problems.
        tableau[(i, 2 * n + 1)] = q[i] + nudge * (1.0 + (1.618 * i as f64).fract());
    }
    let mut basis: Vec<usize> = (0..n).collect();
    let mut row = (0..n).min_by(|&a, &b| q[a].total_cmp(&q[b])).unwrap_or(0);
    let mut entering = 2 * n;
    for _ in 0..50 * (n + 1) {
        let leaving = basis[row];
        pivot(&mut tableau, row, entering);
        basis[row] = entering;
        if leaving == 2 * n {
            let mut z = DVector::zeros(n);
            for (i, &b) in basis.iter().enumerate() {
                if (n..2 * n).contains(&b) {
                    z[b - n] = tableau[(i, 2 * n + 1)].max(0.0);
                }
            }
            return Ok(z);
        }
        entering = if leaving < n { leaving + n } else { leaving - n };
        row = ratio_test(&tableau, entering, &basis).ok_or(LcpFault::Ray)?;
    }
    Err(LcpFault::Pivots)
}

/// The blocking row; ties prefer that of `z₀`, which ends the path.
fn ratio_test(tableau: &DMatrix<f64>, entering: usize, basis: &[usize]) -> Option<usize> {
    let last = tableau.ncols() - 1;
    let mut best: Option<(f64, usize)> = None;
    let scale = tableau.column(entering).amax();
    for i in 0..tableau.nrows() {
        let a = tableau[(i, entering)];
        if a > 1e-12 * scale {
            let ratio = tableau[(i, last)] / a;
            let better = best.is_none_or(|(r, k)| {
                let tie = (ratio - r).abs() <= 1e-13 * r.abs().max(1e-300);
                if tie { basis[i] == last - 1 && basis[k] != last - 1 } else { ratio < r }
            });
            if better {
                best = Some((ratio, i));
            }
        }
    }
    best.map(|(_, i)| i)
}

fn pivot(tableau: &mut DMatrix<f64>, row: usize, column: usize) {
    let p = tableau[(row, column)];
    tableau.row_mut(row).scale_mut(1.0 / p);
    for i in 0..tableau.nrows() {
        let factor = tableau[(i, column)];
        if i != row && factor != 0.0 {
            for j in 0..tableau.ncols() {
                let x = tableau[(row, j)];
                tableau[(i, j)] -= factor * x;
            }
        }
    }
}

/// Murty's least-index principal pivoting: switch the first index with a wrong sign until there is none. Finite for a
/// positive definite `M`.
pub fn principal_pivoting(m: &DMatrix<f64>, q: &DVector<f64>) -> Result<DVector<f64>, LcpFault> {
    let n = q.len();
    let mut active = vec![false; n];
    let slack = 1e-13 * q.amax();
    for _ in 0..200 * (n + 1) {
        let rows: Vec<usize> = (0..n).filter(|&i| active[i]).collect();
        let block = DMatrix::from_fn(rows.len(), rows.len(), |i, j| m[(rows[i], rows[j])]);
        let rhs = DVector::from_fn(rows.len(), |i, _| -q[rows[i]]);
        let solved = if rows.is_empty() { rhs } else { block.lu().solve(&rhs).ok_or(LcpFault::Singular)? };
        let mut z = DVector::zeros(n);
        rows.iter().zip(solved.iter()).for_each(|(&i, &x)| z[i] = x);
        let w = m * &z + q;
        let Some(wrong) = (0..n).find(|&i| if active[i] { z[i] < 0.0 } else { w[i] < -slack }) else {
            return Ok(z);
        };
        active[wrong] = !active[wrong];
    }
    Err(LcpFault::Pivots)
}
