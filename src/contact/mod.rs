//! Rank 4: contact. [`Proximity`] finds close points; [`Islands`] makes one convex problem per island of touching bodies from them, and applies
//! its solution. The point method and the paper's distributions of pressure go through [`System`]: contacts, aggregates and attachments as
//! rows with laws, the Delassus operator, and post-stabilisation.
//!
//! A box at rest on the ground, and a hinge:
//!
//! ```
//! use fingerpad::body::{Fixed, RigidBody, RigidShape};
//! use fingerpad::contact::{Attachment, AttachmentEnd, Friction, Joint};
//! use fingerpad::math::{Pose, Vec3};
//! use fingerpad::sim::{Parameters, World};
//!
//! let mut world = World::new(Parameters::default());
//! world.materials.set("default", Friction::of(0.8));
//! world.add(Fixed::new(&RigidShape::Ground, Pose::identity())?);
//! let shape = RigidShape::Box(Vec3::new(0.05, 0.05, 0.05));
//! let cube = world.add(RigidBody::new(&shape, 1000.0, Pose::translation(0.0, 0.05, 0.0))?);
//! let door = world.add(RigidBody::new(&shape, 1000.0, Pose::translation(1.0, 1.0, 0.0))?);
//! let ends = [AttachmentEnd::new(door), AttachmentEnd::WORLD];
//! let hinge = Attachment::new(&world.bodies, ends, &Vec3::new(0.95, 1.0, 0.0), Joint::Hinge(Vec3::z()))?;
//! world.attachments.push(hinge);
//! for _ in 0..100 {
//!     world.step();
//! }
//! let pressing: f64 = world.touches().map(|touch| touch.pressing).sum();
//! assert!((pressing - 9.81 * world.bodies[cube].mass()).abs() < 1e-3, "the ground carries the weight");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod aggregate;
mod anchor;
mod attachment;
mod broad_phase;
mod condensed;
mod distance;
mod far;
mod group;
mod islands;
mod material;
mod memory;
mod mesh_on_mesh;
mod parameters;
mod proximity;
mod saved;
mod second_search;
mod surface;
mod swept;
mod system;
mod tool;
mod triangle;

pub use aggregate::{Aggregate, Pressure, TouchingPoint, split_by_normal, tangents};
pub use anchor::{Anchor, Contact, Layer};
pub use attachment::{Attachment, AttachmentEnd, AttachmentFault, Joint};
pub use distance::{Signed, nearest_on_edge, nearest_on_triangle, signed_distance, sweep};
pub use group::Group;
pub use islands::{Islands, SolvedPatch, SolvedPoint};
pub use material::{Friction, MEASURED, Materials, MeasuredFriction};
pub use parameters::{ContactParameters, Method};
pub use proximity::{Pair, Proximity};
pub use second_search::Found;
pub use system::{ConstraintBlock, Source, System};
pub use tool::{ToolConstraint, ToolProblem};
pub use triangle::depth_in_mesh;
