//! fingerpad: soft hands for virtual worlds.
#![warn(missing_docs)]

pub mod assets;
pub mod body;
pub mod contact;
pub mod hand;
pub mod math;
pub mod mesh;
pub mod sim;
pub mod tracking;
