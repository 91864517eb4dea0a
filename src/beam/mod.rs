//! Rank 2: chains of corotational beams: rods, clips and threads (Peterlik 2011, §III.B).
//!
//! A [`BeamChain`] is a row of nodes with six degrees of freedom each, joined by [`BeamElement`]s. Forces are the exact gradient of an energy. One step is
//! implicit Euler, linearised once, or the quasi-static motion of the paper; its matrix is block tridiagonal and is factored in a time linear in
//! the number of nodes ([`BlockTridiagonal`]). Nothing is allocated after the chain is made.
//!
//! A cantilever of steel bends as Euler and Bernoulli say, by `F L³ / (3 E I)`:
//!
//! ```
//! use fingerpad::beam::{BeamChain, BeamDescription, BeamMaterial, End, Section, Six, along_points};
//! use fingerpad::math::Vec3;
//!
//! let (length, radius, young, force) = (0.1, 1e-3, 200e9, 0.1);
//! let nodes = along_points(&[Vec3::zeros(), Vec3::new(length, 0.0, 0.0)], 10)?;
//! let material = BeamMaterial::solid(young, 0.3, 7800.0);
//! let mut description = BeamDescription::new(nodes, Section::Round { radius }, material);
//! description.ends = [End::Clamped, End::Free];
//! let mut chain = BeamChain::new(&description)?;
//! chain.set_load(10, Six::new(0.0, -force, 0.0, 0.0, 0.0, 0.0));
//! assert!(chain.settle(&Vec3::zeros(), 1e-9, 100).converged);
//!
//! let inertia = std::f64::consts::PI * radius.powi(4) / 4.0;
//! let expected = force * length.powi(3) / (3.0 * young * inertia);
//! assert!((chain.positions()[10].y + expected).abs() < 2e-3 * expected);
//! # Ok::<(), fingerpad::beam::BeamError>(())
//! ```

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
