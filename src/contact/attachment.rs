use super::aggregate::tangents;
use super::anchor::{Anchor, Contact, Layer};
use crate::body::{Bodies, BodyId};
use crate::math::Vec3;

/// Degrees of freedom of an attachment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// All rotations: three rows.
    Point,
    /// Nothing: six rows.
    Weld,
    /// The rotation about an axis, in the world when it is made: five rows.
    Hinge(Vec3),
}

/// One end of an attachment: a rigid frame or collider of a body, such as a bone of a hand, or the world.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AttachmentEnd {
    /// The body, or [`BodyId::WORLD`].
    pub body: BodyId,
    /// Index of its rigid frame or collider; bones of a hand are in the order of its segments.
    pub part: usize,
}

impl AttachmentEnd {
    /// The world.
    pub const WORLD: Self = Self { body: BodyId::WORLD, part: 0 };

    /// A body with one rigid frame or collider.
    pub fn new(body: impl Into<BodyId>) -> Self {
        Self { body: body.into(), part: 0 }
    }

    /// The material point that is at a position now.
    fn anchor(self, bodies: &Bodies, place: &Vec3) -> Option<Anchor> {
        if self.body == BodyId::WORLD {
            return Some(Anchor::world(*place));
        }
        let point = bodies.get(self.body)?.attachment_point(self.part, place)?;
        Some(Anchor::new(self.body, point))
    }
}

/// Why two parts cannot be attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachmentFault {
    /// A rotational joint on a soft body.
    #[error("a soft body can be attached at a point only")]
    SoftJoint,
    /// A zero axis.
    #[error("the axis of a hinge must not be zero")]
    Axis,
    /// Both ends belong to the same part.
    #[error("a part cannot be attached to itself")]
    Itself,
    /// The point is not on one of the bodies.
    #[error("the point lies outside of the body")]
    Outside,
}

/// Two parts joined by equality rows. Rotations are constrained by additional points at some distance.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Points of both parts that coincided when it was made.
    points: Vec<[Anchor; 2]>,
    joint: Joint,
}

/// Distance of the additional points, m.
const ARM: f64 = 0.05;

impl Attachment {
    /// Attaches two ends in their current poses, at a position in the world.
    pub fn new(bodies: &Bodies, ends: [AttachmentEnd; 2], at: &Vec3, joint: Joint) -> Result<Self, AttachmentFault> {
        if ends[0] == ends[1] {
            return Err(AttachmentFault::Itself);
        }
        let anchor = |end: AttachmentEnd, place: &Vec3| end.anchor(bodies, place).ok_or(AttachmentFault::Outside);
        let soft = [anchor(ends[0], at)?, anchor(ends[1], at)?].into_iter().find(|anchor| !anchor.point.is_rigid());
        if joint != Joint::Point && soft.is_some() {
            return Err(AttachmentFault::SoftJoint);
        }
        // The other side is attached at the soft body's point.
        let at = soft.map_or(*at, |anchor| anchor.place(bodies));
        let pair = |place: Vec3| Ok([anchor(ends[0], &place)?, anchor(ends[1], &place)?]);
        let points = match joint {
            Joint::Point => vec![pair(at)?],
            Joint::Weld => vec![pair(at)?, pair(at + ARM * Vec3::x())?, pair(at + ARM * Vec3::y())?],
            Joint::Hinge(axis) => {
                let axis = axis.try_normalize(1e-12).ok_or(AttachmentFault::Axis)?;
                vec![pair(at)?, pair(at + ARM * axis)?]
            }
        };
        Ok(Self { points, joint })
    }

    /// Whether it involves a body.
    pub fn holds(&self, body: BodyId) -> bool {
        self.points.iter().flatten().any(|anchor| anchor.body == body)
    }

    /// Replaces the ids of bodies that moved to another registry.
    pub fn rename(&mut self, moved: &[(BodyId, BodyId)]) {
        for anchor in self.points.iter_mut().flatten() {
            if let Some((_, now)) = moved.iter().find(|(before, _)| *before == anchor.body) {
                anchor.body = *now;
            }
        }
    }

    /// Its joint.
    pub fn joint(&self) -> Joint {
        self.joint
    }

    /// Current positions of its points on both sides, m.
    pub fn places(&self, bodies: &Bodies) -> impl Iterator<Item = [Vec3; 2]> {
        self.points.iter().map(|pair| pair.map(|anchor| anchor.place(bodies)))
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self.joint {
            Joint::Point => 3,
            Joint::Weld => 6,
            Joint::Hinge(_) => 5,
        }
    }

    /// Number of links.
    pub(super) fn links_count(&self) -> usize {
        self.points.len()
    }

    /// Its points as links between the bodies in their current poses.
    pub(crate) fn links(&self, bodies: &Bodies) -> impl Iterator<Item = Contact> {
        self.points.iter().map(|&[a, b]| {
            let places = [a.place(bodies), b.place(bodies)];
            let free_velocity = a.velocity(bodies, &places[0]) - b.velocity(bodies, &places[1]);
            let normal = Vec3::zeros();
            Contact {
                a,
                b,
                places,
                normal,
                gap: 0.0,
                free_velocity,
                free_gap: 0.0,
                area: 0.0,
                layer: Layer::default(),
                shear_compliance: 0.0,
                feature: 0,
            }
        })
    }

    /// The link and the direction of each row, for the current links.
    pub(super) fn directions(&self, links: &[Contact], mut row: impl FnMut(usize, Vec3)) {
        (0..3).for_each(|i| row(0, Vec3::ith(i, 1.0)));
        let arm = |i: usize| (links[i].places[0] - links[0].places[0]).normalize();
        match self.joint {
            Joint::Point => {}
            Joint::Hinge(_) => tangents(&arm(1)).into_iter().for_each(|t| row(1, t)),
            Joint::Weld => {
                let (x, y) = (arm(1), arm(2));
                let z = x.cross(&y);
                row(1, y);
                row(1, z);
                row(2, z);
            }
        }
    }
}
