//! Rank 4: what touches. Proximity between surfaces; aggregates of contacts; attachments; rows and the Delassus operator.

mod aggregate;
mod attachment;
mod delassus;
mod material;
mod parameters;

pub use aggregate::{Aggregate, Pressure, TouchingPoint, split_by_normal};
pub use attachment::{Attachment, End, Joint};
pub use delassus::{ConstraintRow, delassus};
pub use material::{Friction, Materials};
pub use parameters::{ContactParameters, Method};
