//! Rank 4: what touches. Layer 5, the collision skin; proximity and the rows of the contact problem will stand here.

mod delassus;
mod skin;

pub use delassus::{ConstraintRow, delassus};
pub use skin::{CollisionSkin, SkinVertex};
