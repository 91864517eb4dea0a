use crate::body::Body;
use crate::contact::ToolProblem;

/// The static part of a tool in the fast loop, condensed on the degrees of freedom that its constraints act on (Duriez 2004, §4.2: a condensed
/// model taken out of the precomputed matrix). Only these are followed; [`Yielding::complete`] computes the rest.
#[derive(Clone, Debug, Default)]
pub(super) struct Yielding {
    /// Degrees of freedom that constraints act on, ascending, and the forces on them in the last step, N.
    dofs: Vec<u32>,
    loads: Vec<f64>,
    before: (Vec<u32>, Vec<f64>),
    /// `C` for them, row by row.
    compliance: Vec<f64>,
    /// Entries of each row of the problem: index in `dofs`, and value; and the first of each row.
    entries: Vec<(u32, f64)>,
    starts: Vec<usize>,
    moved: Vec<f64>,
}

impl Yielding {
    /// Forgets the forces.
    pub fn clear(&mut self) {
        self.dofs.clear();
        self.loads.clear();
    }

    /// Lists the degrees of freedom of a new problem. Displacements follow from the forces of the last step.
    pub fn take_over(&mut self, body: &mut dyn Body, problem: &ToolProblem) {
        if body.deformation().is_none() {
            return;
        }
        let known = !self.dofs.is_empty();
        std::mem::swap(&mut self.before.0, &mut self.dofs);
        std::mem::swap(&mut self.before.1, &mut self.loads);
        self.dofs.clear();
        for c in &problem.constraints {
            body.columns(&c.point, &c.place, &mut |part, dof, _| {
                if part > 0 {
                    self.dofs.push(dof as u32);
                }
            });
        }
        self.dofs.sort_unstable();
        self.dofs.dedup();
        self.loads.clear();
        self.loads.resize(self.dofs.len(), 0.0);
        self.compliance.clear();
        let Some(deformation) = body.deformation_mut() else { return };
        for &dof in &self.dofs {
            if known {
                deformation.set(dof, deformation.response(dof, &self.before.0, &self.before.1));
            }
            let row = deformation.model().row(dof as usize);
            self.compliance.extend(self.dofs.iter().map(|&other| row[other as usize]));
        }
    }

    /// Free motion: back to rest.
    pub fn relax(&self, body: &mut dyn Body, h: f64) {
        if let Some(deformation) = body.deformation_mut() {
            deformation.relax_some(&self.dofs, h);
        }
    }

    /// Adds `H C Hᵀ` to the compliance of the rows.
    pub fn add_compliance(&mut self, body: &dyn Body, problem: &ToolProblem, w: &mut [f64]) {
        let count = self.dofs.len();
        if count == 0 {
            return;
        }
        self.entries.clear();
        self.starts.clear();
        for c in &problem.constraints {
            for direction in &c.directions[..c.rows()] {
                self.starts.push(self.entries.len());
                body.columns(&c.point, &c.place, &mut |part, dof, velocity| {
                    if part > 0
                        && let Ok(at) = self.dofs.binary_search(&(dof as u32))
                    {
                        self.entries.push((at as u32, c.sign * direction.dot(&velocity)));
                    }
                });
            }
        }
        self.starts.push(self.entries.len());
        let n = problem.rows();
        for j in 0..n {
            let own = &self.entries[self.starts[j]..self.starts[j + 1]];
            self.moved.clear();
            self.moved.resize(count, 0.0);
            for &(at, x) in own {
                let row = &self.compliance[at as usize * count..(at as usize + 1) * count];
                self.moved.iter_mut().zip(row).for_each(|(m, c)| *m += x * c);
            }
            for i in 0..n {
                let other = &self.entries[self.starts[i]..self.starts[i + 1]];
                w[i * n + j] += other.iter().map(|&(at, x)| x * self.moved[at as usize]).sum::<f64>();
            }
        }
    }

    /// Displaces the tool by the forces on the rows.
    pub fn load(&mut self, body: &mut dyn Body, forces: &[f64], h: f64) {
        let Some(deformation) = body.deformation_mut() else { return };
        self.loads.fill(0.0);
        if !self.dofs.is_empty() {
            for (row, force) in self.starts.windows(2).zip(forces) {
                self.entries[row[0]..row[1]].iter().for_each(|&(at, x)| self.loads[at as usize] += force * x);
            }
        }
        deformation.load_some(&self.dofs, &self.compliance, &self.loads, h);
    }

    /// Displaces all of a copy of the tool by the forces of the last step.
    pub fn complete(&self, body: &mut dyn Body) {
        if let Some(deformation) = body.deformation_mut() {
            deformation.complete(&self.dofs, &self.loads);
            body.update();
        }
    }
}
