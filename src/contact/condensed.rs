use crate::body::Body;
use crate::solver::invert;

/// A soft body as contact sees it: the compliance of the degrees of freedom that contact acts on.
///
/// With `T` those degrees of freedom, forces on them move them by `C = (A⁻¹)_TT`, and the cost of a change of velocity `x_T` is
/// `½ x_Tᵀ C⁻¹ x_T`, exactly. Its size does not depend on how finely the skin is sampled. It is kept from step to step as long as the body's
/// factor and `T` stay.
#[derive(Debug, Default)]
pub(super) struct Condensed {
    epoch: Option<u64>,
    touched: Vec<u32>,
    /// Rows of `A⁻¹`, one for each of `T`.
    responses: Vec<f64>,
    compliance: Vec<f64>,
    stiffness: Vec<f64>,
    work: Vec<f64>,
}

impl Condensed {
    /// Brings it up to date; returns `C⁻¹`.
    pub fn update(&mut self, body: &mut dyn Body, touched: &[u32]) -> &[f64] {
        let (n, dofs, epoch) = (touched.len(), body.dofs(), body.inverse_epoch());
        if epoch.is_some() && epoch == self.epoch && self.touched == touched {
            return &self.stiffness;
        }
        self.epoch = epoch;
        self.touched.clear();
        self.touched.extend_from_slice(touched);
        self.responses.clear();
        self.responses.resize(n * dofs, 0.0);
        for (row, &dof) in self.responses.chunks_exact_mut(dofs).zip(touched) {
            row[dof as usize] = 1.0;
        }
        body.apply_inverse(&mut self.responses);
        self.compliance.clear();
        for row in self.responses.chunks_exact(dofs) {
            self.compliance.extend(touched.iter().map(|&dof| row[dof as usize]));
        }
        self.stiffness.clear();
        self.stiffness.extend_from_slice(&self.compliance);
        self.work.resize(n * n, 0.0);
        invert(&mut self.stiffness, n, &mut self.work);
        &self.stiffness
    }

    /// Replaces velocities of `T` by those of all degrees of freedom that the same forces cause.
    pub fn expand(&self, x: &mut Vec<f64>, work: &mut Vec<f64>, dofs: usize) {
        multiply(&self.stiffness, x, work);
        x.clear();
        x.resize(dofs, 0.0);
        for (row, &force) in self.responses.chunks_exact(dofs).zip(&*work) {
            if force != 0.0 {
                x.iter_mut().zip(row).for_each(|(x, r)| *x += force * r);
            }
        }
    }
}

/// Product of a symmetric matrix and a vector.
fn multiply(matrix: &[f64], x: &[f64], out: &mut Vec<f64>) {
    out.clear();
    out.resize(x.len(), 0.0);
    for (row, &x) in matrix.chunks_exact(x.len().max(1)).zip(x) {
        out.iter_mut().zip(row).for_each(|(o, r)| *o += x * r);
    }
}
