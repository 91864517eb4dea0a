//! Rank 2: from a contact problem to its forces. Nonlinear block Gauss–Seidel with the exact laws, and the linear
//! complementarity solvers that it is compared with.

mod anderson;
mod ball;
mod block;
mod gauss_seidel;
mod lcp;
mod newton;
mod pyramid;

pub use anderson::Anderson;
pub use ball::{solve_in_ball, solve_in_disc};
pub use gauss_seidel::{GaussSeidel, Solution, SolverMemory, SolverParameters, SolverStatus};
pub use lcp::{LcpFault, lemke, principal_pivoting};
pub use pyramid::{PyramidSolution, frictionless_lcp, pyramid_lcp};
