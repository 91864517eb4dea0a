//! Planning of grasps from the shape of a body: where the palm goes, how the fingers are pre-shaped, and how hard they press.
//!
//! 1. [`Opposition`]: the postures in which the thumb opposes some fingers across a gap, for every gap the hand can open to.
//! 2. [`Solid`]: lines through the body along which two pads can press it (antipodal axes).
//! 3. [`Planner`]: the palm pose that puts an opposition on such a line, free of collisions, closest to how the hand is held now.
//! 4. [`pull`]: displacements of the joint springs whose torques press the pads with given forces.

mod cover;
mod effort;
mod fit;
mod opposition;
mod solid;

pub use effort::{PadForce, pull, shares};
pub use fit::{Grip, Plan, Planner};
pub use opposition::pad;
