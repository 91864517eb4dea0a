//! Rank 4: what touches. Layer 5, the collision skin; aggregates of contacts; rows and the Delassus operator. Proximity will stand here.

mod aggregate;
mod delassus;
mod skin;

pub use aggregate::{Aggregate, Pressure, TouchingPoint, split_by_normal};
pub use delassus::{ConstraintRow, delassus};
pub use skin::{CollisionSkin, SkinVertex};
