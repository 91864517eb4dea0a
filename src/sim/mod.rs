//! Rank 5: the world and its step.
//!
//! `examples/grasp.rs` builds a world and steps it, `examples/snapshot.rs` branches one.
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
pub use world::{Parameters, StageTimes, Statistics, Status, StepReport, TOP_SPEED, World};
