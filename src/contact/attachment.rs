use super::aggregate::tangents;
use super::anchor::{Anchor, Contact, Layer};
use crate::body::{Bodies, BodyId, ColliderId, Drive, DriveLaw};
use crate::math::{Saved, StateWriter, Vec3};

/// Degrees of freedom of an attachment.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Joint {
    /// All rotations: three rows.
    Point,
    /// Nothing: six rows.
    Weld,
    /// The rotation about an axis, in the world when it is made: five rows.
    Hinge(Vec3),
    /// The displacement along an axis, in the world when it is made: five rows.
    Slider(Vec3),
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
    #[error("the axis of a hinge or a slider must not be zero")]
    Axis,
    /// A drive of a joint that is neither a hinge nor a slider, or between two bodies that both move, or of a body that is not rigid.
    #[error("a drive needs a hinge or a slider between a rigid body and the world or a fixed body")]
    Drive,
    /// Limits in the wrong order, or a number that is not finite or negative.
    #[error(
        "a drive needs limits in increasing order around 0, and a stiffness, a damping and a strength that are not negative"
    )]
    Law,
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
    /// The driven body and its drive.
    drive: Option<(BodyId, Drive)>,
    /// Whether the driven body is the second end.
    second_moves: bool,
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
            Joint::Slider(axis) => {
                let axis = axis.try_normalize(1e-12).ok_or(AttachmentFault::Axis)?;
                vec![pair(at)?, pair(at + ARM * axis)?, pair(at + ARM * tangents(&axis)[0])?]
            }
        };
        Ok(Self { points, joint, drive: None, second_moves: false })
    }

    /// Gives a hinge or a slider a spring, a damper, a motor and limits. The coordinate is zero now; it increases as the first end turns or
    /// moves along the axis relative to the second. One end must not move: the axis of the drive is fixed in the world.
    pub fn driven(mut self, bodies: &Bodies, law: DriveLaw) -> Result<Self, AttachmentFault> {
        let (axis, turns) = match self.joint {
            Joint::Hinge(axis) => (axis.normalize(), true),
            Joint::Slider(axis) => (axis.normalize(), false),
            Joint::Point | Joint::Weld => return Err(AttachmentFault::Drive),
        };
        let sound = law.limits[0] <= 0.0
            && law.limits[1] >= 0.0
            && [law.spring[0], law.damping, law.motor[1]].iter().all(|x| *x >= 0.0 && x.is_finite())
            && [law.spring[1], law.motor[0]].iter().all(|x| x.is_finite());
        if !sound {
            return Err(AttachmentFault::Law);
        }
        let [a, b] = self.points[0];
        let moves = |anchor: &Anchor| bodies.get(anchor.body).is_some_and(|body| body.part_count() > 0);
        let (anchor, law) = match (moves(&a), moves(&b)) {
            (true, false) => (a, law),
            (false, true) => (b, law.reversed()),
            _ => return Err(AttachmentFault::Drive),
        };
        let body = bodies.get(anchor.body).filter(|body| body.kind() == "rigid").ok_or(AttachmentFault::Drive)?;
        let place = anchor.place(bodies);
        let orientation = body.pose().rotation;
        self.second_moves = anchor == b;
        self.drive = Some((anchor.body, Drive { axis, turns, point: [anchor.point.local, place], orientation, law }));
        Ok(self)
    }

    /// The driven body and its drive.
    pub fn drive(&self) -> Option<&(BodyId, Drive)> {
        self.drive.as_ref()
    }

    /// Sets the speed of its motor, m/s or rad/s; returns whether it has one.
    pub fn set_motor_speed(&mut self, speed: f64) -> bool {
        let Some((_, drive)) = self.drive.as_mut().filter(|(_, drive)| drive.law.motor[1] > 0.0) else { return false };
        drive.law.motor[0] = if self.second_moves { -speed } else { speed };
        true
    }

    /// Speed of its motor, m/s or rad/s, if it has one.
    pub fn motor_speed(&self) -> Option<f64> {
        let [speed, most] = self.drive.as_ref()?.1.law.motor;
        (most > 0.0).then_some(if self.second_moves { -speed } else { speed })
    }

    /// Appends what is fixed when it is made.
    pub(crate) fn save_model(&self, to: &mut StateWriter) {
        for anchor in self.points.iter().flatten() {
            (anchor.body, anchor.point.part, anchor.point.local).save(to);
            (anchor.point.nodes.nodes, anchor.point.nodes.weights).save(to);
        }
        (self.rows(), self.drive.is_some()).save(to);
    }

    /// Whether it involves a body.
    pub fn holds(&self, body: BodyId) -> bool {
        self.points.iter().flatten().any(|anchor| anchor.body == body)
    }

    /// Colliders next to its ends, each with the body at the other end.
    pub fn joined(&self, bodies: &Bodies) -> impl Iterator<Item = (ColliderId, BodyId)> {
        let [a, b] = self.points[0];
        [(a, b.body), (b, a.body)].into_iter().flat_map(move |(end, other)| {
            let colliders = bodies.get(end.body).map_or(0..0, |body| body.colliders_at(end.point.part as usize));
            colliders.map(move |collider| (ColliderId::new(end.body, collider), other))
        })
    }

    /// Whether it joins two bodies, in either order.
    pub fn joins(&self, one: BodyId, other: BodyId) -> bool {
        self.points.iter().any(|[a, b]| [a.body, b.body] == [one, other] || [a.body, b.body] == [other, one])
    }

    /// Replaces the ids of bodies that moved to another registry.
    pub fn rename(&mut self, moved: &[(BodyId, BodyId)]) {
        for anchor in self.points.iter_mut().flatten() {
            if let Some((_, now)) = moved.iter().find(|(before, _)| *before == anchor.body) {
                anchor.body = *now;
            }
        }
        if let Some((body, _)) = &mut self.drive
            && let Some((_, now)) = moved.iter().find(|(before, _)| before == body)
        {
            *body = *now;
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
            Joint::Hinge(_) | Joint::Slider(_) => 5,
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
        if !matches!(self.joint, Joint::Slider(_)) {
            (0..3).for_each(|i| row(0, Vec3::ith(i, 1.0)));
        }
        let arm = |i: usize| (links[i].places[0] - links[0].places[0]).normalize();
        match self.joint {
            Joint::Point => {}
            // Points at the ends of both arms: displacements across the axis, and rotations about the three axes.
            Joint::Slider(_) => {
                let (axis, aside) = (arm(1), arm(2));
                let other = axis.cross(&aside);
                for point in [0, 1] {
                    row(point, aside);
                    row(point, other);
                }
                row(2, other);
            }
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
