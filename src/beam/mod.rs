//! Rank 2: chains of corotational beams: rods, clips and threads (Peterlik 2011, §III.B).
//!
//! A [`BeamChain`] is a row of nodes with six degrees of freedom each, joined by [`BeamElement`]s. Forces are the exact gradient of an energy. One step is
//! implicit Euler, linearised once, or the quasi-static motion of the paper; its matrix is block tridiagonal and is factored in a time linear in
//! the number of nodes ([`BlockTridiagonal`]). Nothing is allocated after the chain is made.

mod assembly;
mod chain;
mod description;
mod element;
mod error;
mod path;
mod section;
mod settle;
mod step;
mod tridiagonal;

pub use chain::{BeamChain, Momentum};
pub use description::{BeamDescription, Damping, End, Motion};
pub use element::{BeamElement, BeamStrains, NodePose, Tangent};
pub use error::BeamError;
pub use path::{MOST_BEAMS, along_arc, along_points, frames};
pub use section::{BeamMaterial, Section, SectionProperties};
pub use settle::Settled;
pub use tridiagonal::{Block, BlockTridiagonal, Six};
