use nalgebra::{DMatrix, DVector};

use super::lcp::{LcpFault, lemke};
use crate::problem::{ContactProblem, Law};

/// The normal rows of a problem as a frictionless complementarity problem: `(M, q, rows)`.
pub fn frictionless_lcp(problem: &ContactProblem) -> (DMatrix<f64>, DVector<f64>, Vec<usize>) {
    let unilateral = |(first, law): (usize, &Law)| (!matches!(law, Law::Equality(_))).then_some(first);
    let rows: Vec<usize> = problem.blocks().filter_map(unilateral).collect();
    let m = DMatrix::from_fn(rows.len(), rows.len(), |i, j| problem.w(rows[i], rows[j]));
    let q = DVector::from_fn(rows.len(), |i, _| problem.free[rows[i]]);
    (m, q, rows)
}

/// Forces with the cone replaced by a pyramid.
#[derive(Clone, Debug, PartialEq)]
pub struct PyramidSolution {
    /// Forces along the problem's rows.
    pub forces: Vec<f64>,
    /// Size of the complementarity problem.
    pub size: usize,
}

/// Solves point contacts with friction pyramids of `sides` sides by Lemke's method (Duriez 2006, eq. 23–24).
///
/// Each contact has the unknowns `f_n`, `β_1 … β_k` along the sides `d_j`, and a slack `γ`, the speed of sliding:
///
/// ```text
/// v_n ≥ 0 ⟂ f_n,    d_j · v_T + γ ≥ 0 ⟂ β_j,    μ f_n − Σ β_j ≥ 0 ⟂ γ,
/// ```
///
/// `k + 2` rows per contact. Problems with other laws than point contacts have no such form: `None`.
pub fn pyramid_lcp(problem: &ContactProblem, sides: usize) -> Option<Result<PyramidSolution, LcpFault>> {
    let contacts: Vec<(usize, f64)> = problem
        .blocks()
        .map(|(first, law)| match law {
            Law::Coulomb { mu } => Some((first, *mu)),
            _ => None,
        })
        .collect::<Option<_>>()?;
    let per = sides + 2;
    let size = per * contacts.len();
    let direction = |j: usize| {
        let angle = std::f64::consts::TAU * j as f64 / sides as f64;
        [angle.cos(), angle.sin()]
    };
    // Unknown (contact c, k): its combination of the contact's three rows.
    let combination = |c: usize, k: usize| -> [(usize, f64); 2] {
        let (first, _) = contacts[c];
        if k == 0 {
            return [(first, 1.0), (first, 0.0)];
        }
        let [x, y] = direction(k - 1);
        [(first + 1, x), (first + 2, y)]
    };
    let mut m = DMatrix::zeros(size, size);
    let mut q = DVector::zeros(size);
    for (c, &(_, mu)) in contacts.iter().enumerate() {
        for k in 0..=sides {
            let row = per * c + k;
            q[row] = combination(c, k).iter().map(|&(r, x)| x * problem.free[r]).sum();
            for other in 0..contacts.len() {
                for l in 0..=sides {
                    let mut sum = 0.0;
                    for (r, x) in combination(c, k) {
                        for (s, y) in combination(other, l) {
                            sum += x * y * problem.w(r, s);
                        }
                    }
                    m[(row, per * other + l)] = sum;
                }
            }
        }
        let slack = per * c + sides + 1;
        m[(slack, per * c)] = mu;
        for k in 1..=sides {
            m[(per * c + k, slack)] = 1.0;
            m[(slack, per * c + k)] = -1.0;
        }
    }
    Some(lemke(&m, &q).map(|z| {
        let mut forces = vec![0.0; problem.rows()];
        for c in 0..contacts.len() {
            for k in 0..=sides {
                for (row, x) in combination(c, k) {
                    forces[row] += x * z[per * c + k];
                }
            }
        }
        PyramidSolution { forces, size }
    }))
}
