use super::continuum::{Continuum, ContinuumState};
use super::factor::Factor;
use crate::math::{Mat3, Vec3};

/// Static compliance of a linear elastic body, condensed on some of its nodes (Duriez 2004, §3.4 and §5; Duriez 2006, §6.2).
///
/// With the stiffness `K` of all nodes at rest, forces `f` on the listed nodes `S` displace them by `u_S = C f`. `C` is symmetric and positive
/// semidefinite, and equal to a solve with all nodes.
///
/// If nodes are held, `C = (K⁻¹)_SS` with these eliminated: the Dirichlet conditions of the paper. A free body has no `K⁻¹`: the rigid motions
/// `Φ`, with `Φᵀ M Φ = I`, belong to a rigid body. That moves with the acceleration `Φ Φᵀ f`, and the inertia of the nodes, `M Φ Φᵀ f`,
/// balances the load. What is left has no resultant, and displaces the nodes up to a rigid motion, which is chosen so that the nodes do not move on
/// average, `Φᵀ M u = 0`. With the projection `P = I − Φ Φᵀ M` and any inverse `G` for loads without a resultant,
///
/// ```text
/// C = (P G Pᵀ)_SS.
/// ```
///
/// `G` is the inverse of `K` with six springs that prevent rigid motions without redundancy: three at one node, two at another across the line to the
/// first, one at a third across the plane of the three. A load without a resultant leaves them unstrained, so their stiffness does not enter.
#[derive(Clone)]
pub struct StaticCompliance {
    /// Number of degrees of freedom: three for each listed node that is not held.
    dofs: usize,
    /// First degree of freedom of each listed node, or `u32::MAX` if it is held.
    first: Vec<u32>,
    /// `C`, row by row, m/N.
    values: Vec<f64>,
}

/// Why a body has no static compliance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StaticFault {
    /// Some part is not connected to the rest or to a held node.
    #[error("the mesh must be in one piece, so that every part of it is held")]
    Loose,
    /// Every node is held.
    #[error("every node is held; leave some of them free to deform")]
    AllHeld,
}

/// Compliance added to every degree of freedom, relative to the mean: if all nodes of a free body are loaded, `C` has no inverse.
const SINGULAR: f64 = 1e-11;

impl Continuum {
    /// Condenses the static response at rest on some nodes.
    pub fn static_compliance(&self, nodes: &[u32]) -> Result<StaticCompliance, StaticFault> {
        if self.free_nodes().is_empty() {
            return Err(StaticFault::AllHeld);
        }
        let mut state = self.at_rest();
        self.linearise(&mut state);
        let free = self.free_nodes().len() == self.rest().len();
        let modes = free.then(|| RigidMotions::new(self));
        if free {
            self.prevent_rigid_motion(&mut state);
        }
        let factor = self.static_factor(&state).ok_or(StaticFault::Loose)?;
        let mut next = 0;
        let first = nodes.iter().map(|&node| {
            self.unknown(node).map_or(u32::MAX, |_| {
                next += 3;
                next - 3
            })
        });
        let first: Vec<u32> = first.collect();
        let unknowns: Vec<usize> =
            nodes.iter().filter_map(|&n| self.unknown(n)).flat_map(|i| [3 * i, 3 * i + 1, 3 * i + 2]).collect();
        let (dofs, all) = (unknowns.len(), self.dofs());
        let mut values = vec![0.0; dofs * dofs];
        let mut load = vec![0.0; all];
        for (row, &unknown) in values.chunks_exact_mut(dofs).zip(&unknowns) {
            load.fill(0.0);
            load[unknown] = 1.0;
            if let Some(modes) = &modes {
                modes.remove_resultant(&mut load);
            }
            factor.solve(&mut load);
            if let Some(modes) = &modes {
                modes.remove_motion(&mut load);
            }
            row.iter_mut().zip(&unknowns).for_each(|(x, &u)| *x = load[u]);
        }
        if values.iter().any(|x| !x.is_finite()) {
            return Err(StaticFault::Loose);
        }
        let mean = (0..dofs).map(|i| values[i * dofs + i]).sum::<f64>() / dofs.max(1) as f64;
        for i in 0..dofs {
            for j in 0..i {
                let x = 0.5 * (values[i * dofs + j] + values[j * dofs + i]);
                (values[i * dofs + j], values[j * dofs + i]) = (x, x);
            }
            values[i * dofs + i] += SINGULAR * mean;
        }
        Ok(StaticCompliance { dofs, first, values })
    }

    fn prevent_rigid_motion(&self, state: &mut ContinuumState) {
        let x: Vec<Vec3> = self.free_nodes().iter().map(|&n| self.rest()[n as usize]).collect();
        let farthest = |distance: &dyn Fn(&Vec3) -> f64| {
            (0..x.len()).max_by(|&a, &b| distance(&x[a]).total_cmp(&distance(&x[b]))).unwrap_or(0)
        };
        let a = 0;
        let b = farthest(&|p| (p - x[a]).norm());
        let along = (x[b] - x[a]).normalize();
        let across = |p: &Vec3| (p - x[a]) - (p - x[a]).dot(&along) * along;
        let c = farthest(&|p| across(p).norm());
        let normal = along.cross(&across(&x[c])).normalize();
        let scale = self.mean_stiffness(state);
        for (node, spring) in
            [(a, Mat3::identity()), (b, Mat3::identity() - along * along.transpose()), (c, normal * normal.transpose())]
        {
            self.add_to_diagonal(state, node, &(scale * spring));
        }
    }
}

/// The numbers are too many to print.
impl std::fmt::Debug for StaticCompliance {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let trace: f64 = (0..self.dofs).map(|i| self.row(i)[i]).sum();
        f.debug_struct("StaticCompliance").field("dofs", &self.dofs).field("trace", &trace).finish_non_exhaustive()
    }
}

impl StaticCompliance {
    /// Degrees of freedom.
    pub fn dofs(&self) -> usize {
        self.dofs
    }

    /// First degree of freedom of a listed node, `None` if it is held.
    pub fn first(&self, node: u32) -> Option<usize> {
        let first = self.first[node as usize];
        (first != u32::MAX).then_some(first as usize)
    }

    /// `C`, row by row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// A row of `C`: the displacements by a force of 1 N.
    pub fn row(&self, dof: usize) -> &[f64] {
        &self.values[dof * self.dofs..(dof + 1) * self.dofs]
    }

    /// Elastic energy of displacements, J: `½ uᵀ C⁻¹ u`, by conjugate gradients.
    pub fn energy(&self, u: &[f64]) -> f64 {
        let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let (mut rest, mut way) = (u.to_vec(), u.to_vec());
        let (mut left, mut energy) = (dot(&rest, &rest), 0.0);
        let enough = 1e-20 * left;
        for _ in 0..2 * self.dofs {
            if left <= enough || left == 0.0 {
                break;
            }
            let moved: Vec<f64> = (0..self.dofs).map(|i| dot(self.row(i), &way)).collect();
            let length = left / dot(&way, &moved);
            energy += 0.5 * length * dot(&way, u);
            rest.iter_mut().zip(&moved).for_each(|(r, m)| *r -= length * m);
            let now = dot(&rest, &rest);
            way.iter_mut().zip(&rest).for_each(|(w, r)| *w = r + now / left * *w);
            left = now;
        }
        energy
    }
}

/// The six rigid motions `Φ` of all nodes about their centre of mass.
struct RigidMotions {
    motions: [Vec<f64>; 6],
    /// `M Φ`.
    momenta: [Vec<f64>; 6],
}

impl RigidMotions {
    fn new(body: &Continuum) -> Self {
        let (nodes, masses) = (body.free_nodes(), body.masses());
        let total: f64 = masses.iter().sum();
        let place = |i: usize| body.rest()[nodes[i] as usize];
        let centre = (0..nodes.len()).map(|i| masses[i] * place(i)).sum::<Vec3>() / total;
        let inertia: Mat3 = (0..nodes.len())
            .map(|i| {
                let y = place(i) - centre;
                masses[i] * (Mat3::from_diagonal_element(y.norm_squared()) - y * y.transpose())
            })
            .sum();
        // Axes of unit inertia: `axesᵀ I axes = 1`.
        let axes = inertia.cholesky().and_then(|c| c.l().try_inverse()).unwrap_or_else(Mat3::zeros);
        let motion = |k: usize, i: usize| {
            if k < 3 {
                Vec3::ith(k, 1.0 / total.sqrt())
            } else {
                axes.row(k - 3).transpose().cross(&(place(i) - centre))
            }
        };
        let column = |k: usize, weigh: bool| -> Vec<f64> {
            let of = |i: usize| if weigh { masses[i] * motion(k, i) } else { motion(k, i) };
            (0..nodes.len()).flat_map(|i| of(i).data.0[0]).collect()
        };
        Self { motions: std::array::from_fn(|k| column(k, false)), momenta: std::array::from_fn(|k| column(k, true)) }
    }

    /// `f ← Pᵀ f = f − M Φ Φᵀ f`.
    fn remove_resultant(&self, load: &mut [f64]) {
        subtract(&self.motions, &self.momenta, load);
    }

    /// `u ← P u = u − Φ Φᵀ M u`.
    fn remove_motion(&self, u: &mut [f64]) {
        subtract(&self.momenta, &self.motions, u);
    }
}

fn subtract(measure: &[Vec<f64>; 6], along: &[Vec<f64>; 6], x: &mut [f64]) {
    let parts: [f64; 6] = std::array::from_fn(|k| measure[k].iter().zip(&*x).map(|(m, x)| m * x).sum());
    for (part, column) in parts.iter().zip(along) {
        x.iter_mut().zip(column).for_each(|(x, c)| *x -= part * c);
    }
}

impl Continuum {
    fn static_factor(&self, state: &ContinuumState) -> Option<Factor> {
        let mut factor = Factor::new(self.pattern());
        factor.factor(self.pattern(), state.stiffness(), 1.0, self.masses(), 0.0).ok()?;
        Some(factor)
    }

    fn mean_stiffness(&self, state: &ContinuumState) -> f64 {
        let n = self.free_nodes().len();
        let of =
            |i: usize| self.pattern().find(i as u32, i as u32).map_or(0.0, |p| state.stiffness().blocks[p].trace());
        (0..n).map(of).sum::<f64>() / (3 * n) as f64
    }

    fn add_to_diagonal(&self, state: &mut ContinuumState, node: usize, spring: &Mat3) {
        if let Some(place) = self.pattern().find(node as u32, node as u32) {
            state.stiffness_mut().blocks[place] += spring;
        }
    }
}
