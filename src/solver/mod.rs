//! Rank 2: from a contact problem to its forces. Nonlinear block Gauss–Seidel with the exact laws, and the linear
//! complementarity solvers that it is compared with.

mod anderson;
mod ball;
mod block;
mod block_cholesky;
mod convex;
mod gauss_seidel;
mod kernels;
mod lcp;
mod newton;
mod proximal;
mod pyramid;

pub use anderson::Anderson;
pub use ball::{solve_in_ball, solve_in_disc};
pub use block_cholesky::BlockCholesky;
pub use convex::{ConvexNewton, ConvexParameters};
pub use gauss_seidel::{GaussSeidel, Solution, SolverMemory, SolverParameters, SolverStatus};
pub use kernels::{add_product, invert, wide};
pub use lcp::{LcpFault, lemke, principal_pivoting};
pub use proximal::{ProximalNewton, ProximalSolution, block_sweeps, natural_map_residual};
pub use pyramid::{PyramidSolution, frictionless_lcp, pyramid_lcp};
