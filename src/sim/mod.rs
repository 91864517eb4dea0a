//! Rank 5: the world and its step.
//!
//! `examples/grasp.rs` builds a world and steps it, `examples/snapshot.rs` branches one.
//!
//! # Model, state and workspace
//!
//! - The *model* is fixed while a world steps: shapes, meshes, masses, materials, attachments and [`Parameters`]. Meshes and factored patterns are shared
//!   by clones of a world.
//! - The *state* is what a step starts from: positions and velocities, tracked hands, linearisations of soft bodies, and what contacts keep from the
//!   last step. [`World::save_state`] copies it, [`WorldState`] is the same as bytes, and [`World::restore`] puts it into a world with the same model.
//!   Each body says what its state is by [`Saved`](crate::math::Saved).
//! - The *workspace* is written in each step before it is read: contacts, the contact problem, distances. [`World::touches`], [`World::statistics`] and
//!   [`World::proximity`] show what the last step left there.
//!
//! [`World::state_hash`] hashes the motion of all bodies. Two runs with equal hashes in every step are equal.
//!
//! ```
//! use fingerpad::body::{RigidBody, RigidShape};
//! use fingerpad::math::Pose;
//! use fingerpad::sim::{Parameters, Status, World};
//!
//! let mut world = World::new(Parameters::default());
//! let ball = world.add(RigidBody::new(&RigidShape::Ball(0.05), 1000.0, Pose::identity())?);
//! for _ in 0..100 {
//!     assert_eq!(world.step().status, Status::Done);
//! }
//! // After one second of free fall.
//! assert!((world.bodies[ball].linear_velocity().y + 9.81).abs() < 1e-9);
//! # Ok::<(), fingerpad::body::ShapeFault>(())
//! ```

mod touch;
pub mod two_rate;
mod world;

pub use touch::{Load, PressurePoint, Touch};
pub use world::{Parameters, StageTimes, StateError, Statistics, Status, StepReport, TOP_SPEED, World, WorldState};
