//! fingerpad: soft hands for virtual worlds.
//!
//! A five-layer hand (tracked joints, reduced coordinates, rigid skeleton, soft phalanges, skin) takes its motion from a device
//! or a script, grasps rigid and soft bodies, and sends the contact forces back to the device.
//!
//! # From world to haptics
//!
//! Make a world with ground, ball and hand; open a glove; in every step read the glove, advance the world, read the contact
//! forces of each segment of the hand, and send them to the fingers. The same program is `examples/grasp.rs`.
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//! use fingerpad::body::{Fixed, Hand, HandOptions, RigidBody, RigidShape};
//! use fingerpad::hand::HandModel;
//! use fingerpad::math::Pose;
//! use fingerpad::runtime::{DeviceSet, emulate};
//! use fingerpad::sim::{Parameters, World};
//! use fingerpad::tracking::Segment;
//!
//! let mut world = World::new(Parameters::default());
//! world.add(Fixed::new(&RigidShape::Ground, Pose::identity())?);
//! world.add(RigidBody::new(&RigidShape::Ball(0.032), 700.0, Pose::translation(0.0, 0.032, 0.0))?);
//! let options = HandOptions { palm: Pose::translation(0.012, 0.087, 0.06), ..HandOptions::default() };
//! let hand = world.add(Hand::new(Arc::new(HandModel::right()?), &options)?);
//!
//! // An emulated glove. With a real one: `DeviceSet::open(["opengloves"], &world)?`.
//! let (_glove, profile) = emulate("opengloves", "fist")?;
//! let mut devices = DeviceSet::start(&[profile], &world)?;
//! devices.wait(Duration::from_secs(5), |_| true)?;
//! for _ in 0..20 {
//!     devices.track(&mut world);
//!     world.step();
//!     for segment in Segment::all() {
//!         let load = world.load(hand, segment);
//!         if load.pressing > 0.0 {
//!             println!("{}: {:.2} N", segment.name(), load.pressing);
//!         }
//!     }
//!     devices.send_feedback(&world);
//!     std::thread::sleep(Duration::from_millis(10));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Other examples: `own_device` (a source of your own), `own_body` (a kind of body of your own), `snapshot` (branch a world and compare two friction
//! laws), `headless_batch` (many seeds in parallel). To run scene files and
//! scripts, use a [`runtime::Session`].
//!
//! # Modules
//!
//! The modules have ranks, and a module names only those of lower rank: [`math`] [`sync`] · [`mesh`] [`problem`] [`tracking`] ·
//! [`beam`] [`elastic`] [`hand`] [`protocol`] [`solver`] · [`body`] [`haptics`] · [`contact`] · [`sim`] · [`assets`] · [`devices`] [`record`] `script`
//! `viewer` · [`runtime`] · `cli`. Bodies of every kind implement one interface, [`body::Body`].
#![doc = "\n# From the papers to the code\n\n"]
#![doc = include_str!("papers.md")]
#![warn(missing_docs)]

pub mod assets;
pub mod beam;
pub mod body;
#[cfg(feature = "cli")]
pub mod cli;
pub mod contact;
pub mod devices;
pub mod elastic;
pub mod hand;
pub mod haptics;
pub mod math;
pub mod mesh;
pub mod problem;
pub mod protocol;
pub mod record;
pub mod runtime;
#[cfg(feature = "script")]
pub mod script;
pub mod sim;
pub mod solver;
pub mod sync;
mod text;
pub mod tracking;
#[cfg(feature = "viewer")]
pub mod viewer;
