use crate::body::{LOW_RANK, LowRank, Part, PartId};
use crate::solver::{add_product, invert};

/// A soft body condensed on the degrees of freedom that contact acts on.
///
/// With `T` those degrees of freedom, forces on them move them by `C = (A⁻¹)_TT`, and the cost of a velocity change
/// `x_T` is exactly `½ x_Tᵀ C⁻¹ x_T`. Its size does not depend on the skin resolution.
///
/// Rows of `A⁻¹` are cached while the body's factor is unchanged, for any set `T`, and `C⁻¹` while `T` is unchanged
/// too. For a free
/// body a part of low rank changes in every step, `C = C₀ + W Q Wᵀ`, and is added to the inverse (Woodbury):
/// `C⁻¹ = C₀⁻¹ − U (Q⁻¹ + Wᵀ U)⁻¹ Uᵀ` with `U = C₀⁻¹ W`.
#[derive(Clone, Debug, Default)]
pub(super) struct Condensed {
    /// The part.
    pub(super) part: Option<PartId>,
    pub(super) epoch: Option<u64>,
    pub(super) stamp: Option<u64>,
    pub(super) touched: Vec<u32>,
    /// Cached rows of `A₀⁻¹`, and the row of each degree of freedom.
    pub(super) rows: Vec<f64>,
    pub(super) row_of: Vec<u32>,
    /// `C₀` and `C`.
    pub(super) kept_compliance: Vec<f64>,
    pub(super) compliance: Vec<f64>,
    /// `C₀⁻¹` and `C⁻¹`.
    pub(super) kept: Vec<f64>,
    pub(super) stiffness: Vec<f64>,
    columns: Vec<f64>,
    solved: Vec<f64>,
    work: Vec<f64>,
}

impl Condensed {
    /// Brings it up to date.
    pub fn update(&mut self, id: PartId, body: &dyn Part, touched: &[u32]) {
        let (dofs, epoch) = (body.dofs(), body.inverse_epoch());
        let same = epoch.is_some() && epoch == self.epoch && self.part == Some(id);
        self.part = Some(id);
        if !same || self.row_of.len() != dofs {
            self.rows.clear();
            self.row_of.clear();
            self.row_of.resize(dofs, u32::MAX);
        }
        let inverted = !(same && self.touched == touched);
        if inverted {
            self.epoch = epoch;
            self.touched.clear();
            self.touched.extend_from_slice(touched);
            self.invert_kept(body);
        }
        let low = body.low_rank();
        let stamp = low.as_ref().map(|low| low.stamp);
        if inverted || stamp != self.stamp {
            self.stamp = stamp;
            self.stiffness.clear();
            self.stiffness.extend_from_slice(&self.kept);
            self.compliance.clear();
            self.compliance.extend_from_slice(&self.kept_compliance);
            if let Some(low) = low {
                self.add_low_rank(&low, dofs);
            }
        }
    }

    /// `C⁻¹`.
    pub fn stiffness(&self) -> &[f64] {
        &self.stiffness
    }

    /// `C`.
    pub fn compliance(&self) -> &[f64] {
        &self.compliance
    }

    /// `C₀⁻¹`, from rows that are known and those that are not.
    fn invert_kept(&mut self, body: &dyn Part) {
        let (n, dofs) = (self.touched.len(), body.dofs());
        let known = self.rows.len();
        for &dof in &self.touched {
            if self.row_of[dof as usize] == u32::MAX {
                let first = self.rows.len();
                self.row_of[dof as usize] = (first / dofs) as u32;
                self.rows.resize(first + dofs, 0.0);
                self.rows[first + dof as usize] = 1.0;
            }
        }
        body.apply_kept_inverse(&mut self.rows[known..]);
        self.kept.clear();
        for &dof in &self.touched {
            let row = &self.rows[self.row_of[dof as usize] as usize * dofs..][..dofs];
            self.kept.extend(self.touched.iter().map(|&other| row[other as usize]));
        }
        self.kept_compliance.clear();
        self.kept_compliance.extend_from_slice(&self.kept);
        self.work.resize(n * n, 0.0);
        invert(&mut self.kept, n, &mut self.work);
    }

    fn add_low_rank(&mut self, low: &LowRank<'_>, dofs: usize) {
        let n = self.touched.len();
        let Some(mut inner) = low.core.try_inverse() else { return };
        self.gather(low, dofs);
        // The rows of Q Wᵀ.
        self.work.clear();
        self.work.resize(LOW_RANK * n, 0.0);
        add_product(low.core.as_slice(), &self.columns, [LOW_RANK, n], 1.0, &mut self.work);
        add_product(&self.columns, &self.work, [n, n], 1.0, &mut self.compliance);
        // `C₀⁻¹` is symmetric: its rows are its columns.
        self.solved.clear();
        self.solved.resize(LOW_RANK * n, 0.0);
        self.work.clear();
        self.work.resize(LOW_RANK * n, 0.0);
        transpose(&self.columns, n, &mut self.work);
        add_product(&self.work, &self.kept, [LOW_RANK, n], 1.0, &mut self.solved);
        for i in 0..LOW_RANK {
            for j in 0..LOW_RANK {
                let (w, u) = (&self.columns[i * n..(i + 1) * n], &self.solved[j * n..(j + 1) * n]);
                inner[(i, j)] += w.iter().zip(u).map(|(w, u)| w * u).sum::<f64>();
            }
        }
        let Some(inner) = (0.5 * (inner + inner.transpose())).try_inverse() else { return };
        // The rows of (Q⁻¹ + Wᵀ U)⁻¹ Uᵀ.
        self.work.fill(0.0);
        add_product(inner.as_slice(), &self.solved, [LOW_RANK, n], 1.0, &mut self.work);
        add_product(&self.solved, &self.work, [n, n], -1.0, &mut self.stiffness);
    }

    /// The columns of `W` at the touched degrees of freedom.
    fn gather(&mut self, low: &LowRank<'_>, dofs: usize) {
        self.columns.clear();
        for column in low.columns.chunks_exact(dofs) {
            self.columns.extend(self.touched.iter().map(|&dof| column[dof as usize]));
        }
    }

    /// Replaces velocities of `T` by the response of all degrees of freedom to the same forces.
    pub fn expand(&mut self, body: &dyn Part, x: &mut Vec<f64>, forces: &mut Vec<f64>) {
        let dofs = body.dofs();
        multiply(&self.stiffness, x, forces);
        x.clear();
        x.resize(dofs, 0.0);
        for (&dof, &force) in self.touched.iter().zip(&*forces).filter(|(_, force)| **force != 0.0) {
            let row = &self.rows[self.row_of[dof as usize] as usize * dofs..][..dofs];
            x.iter_mut().zip(row).for_each(|(x, r)| *x += force * r);
        }
        if let Some(low) = body.low_rank() {
            let mut parts = nalgebra::SVector::<f64, LOW_RANK>::zeros();
            for (part, column) in parts.iter_mut().zip(low.columns.chunks_exact(dofs)) {
                *part = self.touched.iter().zip(&*forces).map(|(&dof, f)| column[dof as usize] * f).sum();
            }
            let parts = low.core * parts;
            for (part, column) in parts.iter().zip(low.columns.chunks_exact(dofs)) {
                x.iter_mut().zip(column).for_each(|(x, c)| *x += part * c);
            }
        }
    }
}

/// Rows of length `n` as columns.
fn transpose(rows: &[f64], n: usize, out: &mut [f64]) {
    let count = rows.len() / n.max(1);
    for (i, row) in rows.chunks_exact(n.max(1)).enumerate() {
        for (j, &x) in row.iter().enumerate() {
            out[j * count + i] = x;
        }
    }
}

/// Product of a symmetric matrix and a vector.
fn multiply(matrix: &[f64], x: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.resize(x.len(), 0.0);
    add_product(x, matrix, [1, x.len()], 1.0, out);
}
