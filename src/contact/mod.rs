//! Rank 4: what touches. Proximity between surfaces; contacts, aggregates and attachments as rows with laws; the Delassus operator;
//! groups of touching bodies, each with its contact problem; post-stabilisation.

mod aggregate;
mod anchor;
mod attachment;
mod deep;
mod distance;
mod far;
mod group;
mod material;
mod memory;
mod parameters;
mod pressure;
mod proximity;
mod surface;
mod system;
mod triangle;

pub use aggregate::{Aggregate, Pressure, TouchingPoint, split_by_normal, tangents};
pub use anchor::{Anchor, Contact, Layer};
pub use attachment::{Attachment, AttachmentFault, Joint, Part};
pub use distance::{Signed, nearest_on_triangle, signed_distance, sweep};
pub use group::Group;
pub use material::{Friction, Materials};
pub use parameters::{ContactParameters, Method};
pub use proximity::{Pair, Proximity};
pub use system::{Block, Source, System};
