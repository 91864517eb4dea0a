//! Linear tetrahedra with the corotational strain, and the linear systems they make.

mod continuum;
mod elastic;
mod element;
mod factor;
mod lanes;
mod matrix;
mod relaxation;
mod statics;

pub use continuum::{Continuum, ContinuumState, Refactor, RefactorPolicy};
pub use element::{Element, Lame, StrainLimit};
pub use factor::Factor;
pub use matrix::{BlockMatrix, BlockPattern};
pub use relaxation::{BRANCHES, Branches, Relaxation};
pub use statics::{StaticCompliance, StaticFault};
