use nalgebra::{Matrix2, Matrix3, Matrix4, Vector2, Vector3, Vector4};

use super::ball::{solve_in_ball, solve_in_disc};
use super::gauss_seidel::SolverParameters;
use crate::problem::{ContactPatch, ContactProblem, FrictionModel, Law};

/// Iterations between normal force and friction inside a block.
const INNER: usize = 8;

/// The rows of one contact or aggregate for given forces of the other blocks: `v = outside + W x`. Rows that the law
/// does not have are zero.
pub(super) struct LocalProblem<'p> {
    law: &'p Law,
    rows: usize,
    w: Matrix4<f64>,
    outside: Vector4<f64>,
    /// Free velocity of the whole problem along the friction rows.
    at_free: Vector3<f64>,
    /// Current forces.
    pub own: Vector4<f64>,
}

/// Friction for the current normal force: `u = free + W f`.
struct FrictionBlock {
    w: Matrix3<f64>,
    free: Vector3<f64>,
    /// The free velocity of the whole problem along these rows.
    at_free: Vector3<f64>,
    /// Friction coefficient times the normal force, N.
    bound: f64,
    /// Initial forces.
    start: Vector3<f64>,
}

impl<'p> LocalProblem<'p> {
    /// Velocity due to the other blocks is summed once; the local solve then involves only its own few rows.
    pub fn gather(problem: &ContactProblem, first: usize, law: &'p Law, forces: &[f64]) -> Self {
        let rows = law.rows();
        let (mut w, mut own, mut outside) = (Matrix4::identity(), Vector4::zeros(), Vector4::zeros());
        for i in 0..rows {
            own[i] = forces[first + i];
            outside[i] = problem.velocity(first + i, forces);
            (0..rows).for_each(|j| w[(i, j)] = problem.w(first + i, first + j));
        }
        outside -= w * own;
        (rows..4).for_each(|i| outside[i] = 0.0);
        let at_free = Vector3::from_fn(|i, _| if 1 + i < rows { problem.free[first + 1 + i] } else { 0.0 });
        Self { law, rows, w, outside, at_free, own }
    }

    /// Velocity change along each row due to a change of the forces.
    pub fn change(&self, to: &Vector4<f64>) -> f64 {
        (0..self.rows).map(|i| (self.w[(i, i)] * (to[i] - self.own[i])).abs()).fold(0.0, f64::max)
    }

    /// The forces that satisfy the law.
    pub fn solve(&self, parameters: &SolverParameters) -> Vector4<f64> {
        let (w, outside, mut own) = (&self.w, &self.outside, self.own);
        let speed = (0..self.rows).map(|i| outside[i].abs()).fold(0.0, f64::max);
        for _ in 0..INNER {
            let last = own;
            let others: f64 = (1..self.rows).map(|j| w[(0, j)] * own[j]).sum();
            own[0] = (-(outside[0] + others) / w[(0, 0)]).max(0.0);
            match self.law {
                Law::Coulomb { mu } => {
                    let w2 = w.fixed_view::<2, 2>(1, 1).into_owned();
                    let free = Vector2::new(outside[1] + w[(1, 0)] * own[0], outside[2] + w[(2, 0)] * own[0]);
                    let friction = solve_in_disc(&w2, &free, mu * own[0]);
                    (own[1], own[2]) = (friction.x, friction.y);
                }
                Law::Aggregate { mu, patch, friction } => {
                    let block = FrictionBlock {
                        w: w.fixed_view::<3, 3>(1, 1).into_owned(),
                        free: Vector3::from_fn(|i, _| outside[1 + i] + w[(1 + i, 0)] * own[0]),
                        at_free: self.at_free,
                        bound: mu * own[0],
                        start: Vector3::new(own[1], own[2], own[3]),
                    };
                    let force = block.force(patch, *friction, parameters.smooth);
                    (0..3).for_each(|i| own[1 + i] = force[i]);
                }
                Law::Frictionless | Law::Equality(_) => break,
            }
            let change = (0..self.rows).map(|i| (w[(i, i)] * (own[i] - last[i])).abs()).fold(0.0, f64::max);
            if change <= 0.1 * parameters.tolerance * speed {
                break;
            }
        }
        own
    }

    /// Derivative of the solution with respect to the other blocks: `∂x/∂outside`.
    ///
    /// An open block stays open. In a closed one, `w_nn dλ + w_nf·df = −dv_n`; and friction `f = −μ λ ∇φ(u)` with
    /// `u = outside_f + W_ff f + w_fn λ` follows by `df = −g dλ − K du`, `g = μ ∇φ` and `K = μ λ ∇²φ`, where `φ(u)` is how fast a unit of
    /// friction dissipates. Norms in `φ` are smoothed as in the law, so that `K` of a sticking contact is finite but
    /// large.
    pub fn derivative(&self, solution: &Vector4<f64>, smooth: f64, damping: f64) -> Matrix4<f64> {
        if solution[0] <= 0.0 {
            return Matrix4::zeros();
        }
        let u = (self.outside + self.w * solution).fixed_rows::<3>(1).into_owned();
        let (g, k) = self.friction_slope(&u, solution[0], smooth);
        let w = (1.0 + damping) * self.w;
        let (w_ff, w_fn) = (w.fixed_view::<3, 3>(1, 1), w.fixed_view::<3, 1>(1, 0));
        let mut left = Matrix4::identity();
        left.fixed_view_mut::<1, 4>(0, 0).copy_from(&w.row(0));
        left.fixed_view_mut::<3, 1>(1, 0).copy_from(&(g + k * w_fn));
        left.fixed_view_mut::<3, 3>(1, 1).copy_from(&(Matrix3::identity() + k * w_ff));
        let mut right = Matrix4::identity();
        right.fixed_view_mut::<3, 3>(1, 1).copy_from(&k);
        left.lu().solve(&-right).unwrap_or_else(Matrix4::zeros)
    }

    /// `μ ∇φ` and `μ λ ∇²φ` at a motion.
    fn friction_slope(&self, u: &Vector3<f64>, normal: f64, smooth: f64) -> (Vector3<f64>, Matrix3<f64>) {
        let flat = Vector3::new(1.0, 1.0, 0.0);
        let (mu, (gradient, hessian)) = match self.law {
            Law::Frictionless | Law::Equality(_) => return (Vector3::zeros(), Matrix3::zeros()),
            Law::Coulomb { mu } => (*mu, smooth_length(u, &flat, smooth)),
            Law::Aggregate { mu, patch, friction } => {
                let slope = match friction {
                    FrictionModel::Exact => patch.smooth_derivatives(u, smooth),
                    FrictionModel::Ellipsoid => smooth_length(u, &Vector3::new(1.0, 1.0, patch.torsion()), smooth),
                    FrictionModel::Coulomb => smooth_length(u, &flat, smooth),
                    FrictionModel::Paper => {
                        let (slip, spin) = paper_bounds(patch, &self.at_free, smooth);
                        let (g1, h1) = smooth_length(u, &(slip * flat), slip * smooth);
                        let (g2, h2) = smooth_length(u, &Vector3::new(0.0, 0.0, spin), spin * smooth);
                        (g1 + g2, h1 + h2)
                    }
                };
                (*mu, slope)
            }
        };
        (mu * gradient, mu * normal * hessian)
    }
}

/// Gradient and Hessian of `√(|a ∘ u|² + smooth²)`, with a scale factor per axis.
fn smooth_length(u: &Vector3<f64>, stretch: &Vector3<f64>, smooth: f64) -> (Vector3<f64>, Matrix3<f64>) {
    let v = stretch.component_mul(u);
    let inverse = 1.0 / (v.norm_squared() + smooth * smooth).sqrt().max(f64::MIN_POSITIVE);
    let c = inverse * v;
    let axes = Matrix3::from_diagonal(stretch);
    (axes * c, inverse * (axes * (Matrix3::identity() - c * c.transpose()) * axes))
}

/// Bounds on force and torque per unit of `μ λ_n`, from the gradient of the dissipation at the free velocity; at rest
/// it is undefined, and both have their maximum (Talvas 2015, eq. 18–20).
fn paper_bounds(patch: &ContactPatch, at_free: &Vector3<f64>, smooth: f64) -> (f64, f64) {
    if patch.support(at_free) > smooth {
        let gradient = patch.opposing(at_free, 0.0);
        (gradient.xy().norm(), gradient.z.abs())
    } else {
        (1.0, patch.torsion())
    }
}

impl FrictionBlock {
    fn force(&self, patch: &ContactPatch, model: FrictionModel, smooth: f64) -> Vector3<f64> {
        let Self { w, free, at_free, bound, start } = self;
        let bound = *bound;
        match model {
            FrictionModel::Exact => {
                // The sticking force is the solution if it is in the set; the set contains the hull of the points on
                // its axes.
                if let Some(stop) = w.cholesky().map(|factor| -factor.solve(free))
                    && stop.xy().norm() * patch.torsion() + stop.z.abs() <= bound * patch.torsion()
                {
                    return stop;
                }
                let now = free + w * start;
                patch.solve(w, free, bound, smooth, &now).1
            }
            FrictionModel::Ellipsoid => {
                // Scaled by its half axes the ellipsoid is a ball.
                let axes = Matrix3::from_diagonal(&Vector3::new(1.0, 1.0, patch.torsion()));
                axes * solve_in_ball(&(axes * w * axes), &(axes * free), bound)
            }
            FrictionModel::Coulomb => {
                // The torque row is zero, so the tangential rows are those of a point contact.
                let slip = solve_in_disc(&w.fixed_view::<2, 2>(0, 0).into_owned(), &free.xy(), bound);
                Vector3::new(slip.x, slip.y, 0.0)
            }
            FrictionModel::Paper => {
                let (slip, spin) = paper_bounds(patch, at_free, smooth);
                let mut force = *start;
                for _ in 0..INNER {
                    let at = |force: &Vector3<f64>, i: usize| free[i] + (w.row(i) * force)[0];
                    let w2: Matrix2<f64> = w.fixed_view::<2, 2>(0, 0).into_owned();
                    let own2 = Vector2::new(force.x, force.y);
                    let free2 = Vector2::new(at(&force, 0), at(&force, 1)) - w2 * own2;
                    let slipped = solve_in_disc(&w2, &free2, slip * bound);
                    (force.x, force.y) = (slipped.x, slipped.y);
                    let torque = force.z - at(&force, 2) / w[(2, 2)];
                    force.z = torque.clamp(-spin * bound, spin * bound);
                }
                force
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::problem::PatchPoint;
    use proptest::prelude::*;

    fn number() -> impl Strategy<Value = f64> {
        -1.0..1.0f64
    }

    /// A closed block with a well-conditioned operator.
    fn problem(law: Law, numbers: &[f64]) -> ContactProblem {
        let n = law.rows();
        let mut delassus = vec![0.0; n * n];
        for i in 0..n {
            for j in 0..n {
                let both: f64 = (0..n).map(|k| numbers[i * n + k] * numbers[j * n + k]).sum();
                delassus[i * n + j] = 0.2 * both + if i == j { 1.0 } else { 0.0 };
            }
        }
        let mut free: Vec<f64> = numbers[n * n..n * n + n].to_vec();
        free[0] = -1.0 - free[0].abs();
        ContactProblem { delassus, free, laws: vec![law] }
    }

    fn laws() -> impl Strategy<Value = Law> {
        let patch = prop::collection::vec((0.1..1.0f64, [-0.3..0.3f64, -0.3..0.3f64]), 3..8).prop_map(|points| {
            let (patch, _) = ContactPatch::new(points);
            patch
        });
        let friction =
            prop::sample::select(vec![FrictionModel::Exact, FrictionModel::Ellipsoid, FrictionModel::Coulomb]);
        prop_oneof![
            Just(Law::Frictionless),
            (0.05..1.5f64).prop_map(|mu| Law::Coulomb { mu }),
            (0.05..1.5f64, patch, friction).prop_map(|(mu, patch, friction)| Law::Aggregate { mu, patch, friction }),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        /// The derivative of a block's solution agrees with central differences, away from kinks of the law.
        #[test]
        fn the_derivative_matches_the_solution(law in laws(), numbers in prop::collection::vec(number(), 24)) {
            let problem = problem(law, &numbers);
            let (n, law) = (problem.rows(), &problem.laws[0]);
            let parameters = SolverParameters { tolerance: 1e-15, ..Default::default() };
            let solution = |shift: usize, by: f64| {
                let mut moved = problem.clone();
                moved.free[shift] += by;
                let mut block = LocalProblem::gather(&moved, 0, law, &vec![0.0; n]);
                // A block makes only a few iterations per visit.
                for _ in 0..40 {
                    block.own = block.solve(&parameters);
                }
                block.own
            };
            let block = LocalProblem::gather(&problem, 0, law, &vec![0.0; n]);
            let x = solution(0, 0.0);
            let derivative = block.derivative(&x, parameters.smooth, 0.0);
            // Away from kinks: everything slides, or everything sticks by far.
            let u = block.outside + block.w * x;
            let slowest = match law {
                Law::Aggregate { patch, friction: FrictionModel::Exact, .. } => {
                    let speed = |p: &PatchPoint| f64::hypot(u[1] - u[3] * p.place[1], u[2] + u[3] * p.place[0]);
                    patch.points.iter().map(speed).fold(f64::INFINITY, f64::min)
                }
                _ => f64::hypot(u[1], u[2]),
            };
            let bound = match law {
                Law::Coulomb { mu } | Law::Aggregate { mu, .. } => mu * x[0],
                _ => f64::INFINITY,
            };
            let reach = if let Law::Aggregate { patch, .. } = law { patch.torsion() } else { 1.0 };
            let sticks = f64::hypot(x[1], x[2]) + x[3].abs() / reach < 0.9 * bound;
            prop_assume!(slowest > 0.05 || sticks);
            for j in 0..n {
                let step = 1e-6;
                let difference = (solution(j, step) - solution(j, -step)) / (2.0 * step);
                for i in 0..n {
                    let (a, b) = (derivative[(i, j)], difference[i]);
                    prop_assert!((a - b).abs() < 2e-3 * (1.0 + b.abs()), "{i} {j}: {a} {b} of {law:?}");
                }
            }
        }
    }
}
