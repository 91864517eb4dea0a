//! Linear tetrahedra with the corotational strain, and the linear systems they make.

mod continuum;
mod elastic;
mod element;
mod factor;
mod lanes;
mod matrix;

pub use continuum::{Continuum, ContinuumState, Refactor, RefactorPolicy};
pub use element::{Element, Lame};
pub use factor::Factor;
pub use matrix::{BlockMatrix, BlockPattern};
