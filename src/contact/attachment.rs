use super::aggregate::tangents;
use super::anchor::{Anchor, Contact, Layer};
use crate::body::{Bodies, HandId};
use crate::hand::NodeMap;
use crate::math::Vec3;
use crate::tracking::Segment;

/// What an attachment leaves free.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// All rotations: three rows.
    Point,
    /// Nothing: six rows.
    Weld,
    /// The rotation about an axis, in the world when it is made: five rows.
    Hinge(Vec3),
}

/// What can be attached.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Part {
    /// A rigid body.
    Rigid(usize),
    /// The bone of a hand's segment.
    Bone(HandId, Segment),
    /// A point among the nodes of a soft body; it can be held at a point only.
    Soft(usize, NodeMap),
    /// The static world.
    World,
}

impl Part {
    /// The point of it that is at a place now.
    fn anchor(self, bodies: &Bodies, place: &Vec3) -> Anchor {
        match self {
            Part::Rigid(body) => {
                let local = bodies.rigid[body].pose().inverse_transform_point(&(*place).into()).coords;
                Anchor::Rigid { body, local }
            }
            Part::Bone(hand, segment) => {
                let pose = &bodies.hands[hand.index()].skeleton.kinematics().poses[segment.index()];
                Anchor::Bone { hand, segment, local: pose.inverse_transform_point(&(*place).into()).coords }
            }
            Part::Soft(body, nodes) => Anchor::Soft { body, nodes },
            Part::World => Anchor::World(*place),
        }
    }
}

/// Why two parts cannot be attached.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AttachmentFault {
    /// A joint that holds rotations, on a soft body.
    #[error("a soft body can be attached at a point only")]
    SoftJoint,
    /// The axis has no direction.
    #[error("the axis of a hinge must not be zero")]
    Axis,
    /// Both ends belong to the same thing.
    #[error("a part cannot be attached to itself")]
    Itself,
}

/// Two parts held together by equality rows. Rotations are held through further points a little way off: what keeps those in place
/// keeps the parts from turning.
#[derive(Clone, Debug, PartialEq)]
pub struct Attachment {
    /// Points of the one part and of the other that were at the same place when it was made.
    points: Vec<[Anchor; 2]>,
    joint: Joint,
}

/// How far off the further points are, m.
const ARM: f64 = 0.05;

impl Attachment {
    /// Attaches two parts where they are, at a place in the world.
    pub fn new(bodies: &Bodies, parts: [Part; 2], at: &Vec3, joint: Joint) -> Result<Self, AttachmentFault> {
        if parts[0] == parts[1] {
            return Err(AttachmentFault::Itself);
        }
        if joint != Joint::Point && parts.iter().any(|p| matches!(p, Part::Soft(..))) {
            return Err(AttachmentFault::SoftJoint);
        }
        // The other side is held where the soft body's point is.
        let soft = parts.iter().find(|p| matches!(p, Part::Soft(..)));
        let at = soft.map_or(*at, |p| p.anchor(bodies, at).place(bodies));
        let pair = |place: Vec3| parts.map(|p| p.anchor(bodies, &place));
        let points = match joint {
            Joint::Point => vec![pair(at)],
            Joint::Weld => vec![pair(at), pair(at + ARM * Vec3::x()), pair(at + ARM * Vec3::y())],
            Joint::Hinge(axis) => {
                let axis = axis.try_normalize(1e-12).ok_or(AttachmentFault::Axis)?;
                vec![pair(at), pair(at + ARM * axis)]
            }
        };
        Ok(Self { points, joint })
    }

    /// What it leaves free.
    pub fn joint(&self) -> Joint {
        self.joint
    }

    /// Where its points are on the one side and on the other, m.
    pub fn places(&self, bodies: &Bodies) -> impl Iterator<Item = [Vec3; 2]> {
        self.points.iter().map(|pair| pair.map(|anchor| anchor.place(bodies)))
    }

    /// Rows it takes.
    pub fn rows(&self) -> usize {
        match self.joint {
            Joint::Point => 3,
            Joint::Weld => 6,
            Joint::Hinge(_) => 5,
        }
    }

    /// How many links it has.
    pub(super) fn links_count(&self) -> usize {
        self.points.len()
    }

    /// Its points as links between the bodies where they are now.
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

    /// Which link each row is about, and along what, for links as they are now.
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
