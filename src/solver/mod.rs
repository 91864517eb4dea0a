//! Rank 2: solvers of contact problems: Newton's method on the convex problem, nonlinear block Gauss–Seidel with the
//! exact laws, and linear complementarity solvers as references.
//!
//! The linear complementarity problem `0 ≤ z ⟂ M z + q ≥ 0`:
//!
//! ```
//! use fingerpad::solver::lemke;
//! use nalgebra::{dmatrix, dvector};
//!
//! let z = lemke(&dmatrix![2.0, 1.0; 1.0, 2.0], &dvector![-4.0, -5.0])?;
//! assert!((z - dvector![1.0, 2.0]).norm() < 1e-12);
//! # Ok::<(), fingerpad::solver::LcpFault>(())
//! ```
//!
//! Contact problems: [`crate::problem`].

mod anderson;
mod ball;
mod block;
mod block_cholesky;
mod convex;
mod dual;
mod dual_sweeps;
mod gauss_seidel;
mod kernels;
mod lcp;
mod newton;
mod proximal;
mod pyramid;
mod softening;

pub use anderson::Anderson;
pub use ball::{solve_in_ball, solve_in_disc};
pub use block_cholesky::BlockCholesky;
pub use convex::{ConvexNewton, ConvexParameters};
pub use dual_sweeps::{DualBlock, DualSweeps, Swept};
pub use gauss_seidel::{GaussSeidel, Solution, SolverMemory, SolverParameters, SolverStatus};
pub use kernels::{add_product, add_scaled, invert, wide};
pub use lcp::{LcpFault, lemke, principal_pivoting};
pub use proximal::{ProximalNewton, ProximalSolution, block_sweeps, natural_map_residual};
pub use pyramid::{PyramidSolution, frictionless_lcp, pyramid_lcp};
