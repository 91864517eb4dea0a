//! Rank 4: contact. [`Proximity`] finds close points; [`Islands`] makes one convex problem per island of touching bodies from them, and applies
//! its solution. The point method and the paper's distributions of pressure go through [`System`]: contacts, aggregates and attachments as
//! rows with laws, the Delassus operator, and post-stabilisation.

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
