use crate::body::{BodyId, MaterialPoint};
use crate::math::Vec3;

/// What an attachment leaves free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// All rotations: three rows.
    Point,
    /// Nothing: six rows.
    Weld,
    /// The rotation about an axis, given in the frame of the first end: five rows.
    Hinge(Vec3),
}

/// One end of an attachment: a point of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct End {
    /// The body.
    pub body: BodyId,
    /// Its point.
    pub at: MaterialPoint,
}

/// Two bodies held together by equality rows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// One end; welds and hinges need a rigid body or a segment of a hand here and there.
    pub a: End,
    /// The other.
    pub b: End,
    /// What it leaves free.
    pub joint: Joint,
}
