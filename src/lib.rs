//! fingerpad: soft hands for virtual worlds.
//!
//! A five-layer hand (tracked joints, reduced coordinates, rigid skeleton, soft phalanges, skin) takes its motion from a device
//! or a script; bodies of every kind stand behind one interface, [`body::Body`]. The modules have ranks, and a module names only
//! those of lower rank: [`math`] · [`mesh`] [`problem`] [`tracking`] · [`elastic`] [`hand`] [`protocol`] [`solver`] · [`body`] · [`contact`] · [`sim`] · [`assets`] ·
//! [`devices`] [`record`] `script` `viewer` · [`cli`].
#![doc = "\n# From the papers to the code\n\n"]
#![doc = include_str!("papers.md")]
#![warn(missing_docs)]

pub mod assets;
pub mod body;
pub mod cli;
pub mod contact;
pub mod devices;
pub mod elastic;
pub mod hand;
pub mod math;
pub mod mesh;
pub mod problem;
pub mod protocol;
pub mod record;
#[cfg(feature = "script")]
pub mod script;
pub mod sim;
pub mod solver;
pub mod tracking;
#[cfg(feature = "viewer")]
pub mod viewer;
