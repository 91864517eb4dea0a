//! Rank 2: elastic objects pressed by rigid tools, fast enough for a haptic loop: the model of Luo and Xiao, T-RO 2007.
//!
//! An [`ElasticObject`] has a convex parametric [`ElasticShape`] and is touched by one rigid [`Tool`]. Points of the tool below the surface are
//! clustered into regions. Each region answers with the force of the [`DuffingLaw`], sticks or slides by the [`FrictionLaw`], and
//! displaces the surface through a skeleton of [`Beam`]s from the contact to the [`Anchors`] of the shape.
//!
//! A [`PressedObject`] has the same skeleton and shape, but takes its forces from elsewhere: from the contact problem of a world.
//!
//! The model is quasi-static and phenomenological: the force follows from the depth of the tool alone, and the shape from the force.
//! Differences from the paper are marked `DEVIATION` in the code.
//!
//! ```
//! use fingerpad::elastic::DuffingLaw;
//!
//! let law = DuffingLaw { mass: 1.0, linear: 40.0, cubic: 0.0 };
//! assert_eq!(law.force(0.5), 20.0);
//! ```

mod anchors;
mod contacts;
mod error;
mod field;
mod friction;
mod law;
mod object;
mod options;
mod pressed;
mod regions;
mod saved;
mod shape;
mod skeleton;
mod skin;
mod tool;

pub use anchors::{Anchors, Patch};
pub use error::ElasticError;
pub use field::Field;
pub use friction::{Condition, StickSlide};
pub use law::{DuffingLaw, FrictionLaw};
pub use object::{ContactStatus, ElasticObject, ElasticResponse};
pub use options::{ElasticOptions, Inclusion, SolidMaterial};
pub use pressed::{PressedObject, PressedPoint};
pub use regions::Region;
pub use shape::{ElasticShape, Probe, Profile};
pub use skeleton::{Beam, BeamLoad, split};
pub use tool::{Compass, Mallet, Tool, ToolPoint};
