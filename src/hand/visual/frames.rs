use crate::hand::Kinematics;
use crate::math::{Pose, Quat, Vec3, log};
use crate::tracking::{Finger, SEGMENTS, Segment};

/// A frame that carries skin: that of a segment, or one with half of the segment's joint rotation.
///
/// Skin that is blended between two bones alone collapses on the outside of a bent joint: at a right angle the midpoint
/// keeps 71 % of its distance from the joint. With a half-way frame it keeps at least 92 %, and 100 % in the middle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Carrier {
    /// The segment.
    pub segment: Segment,
    /// Whether it has only half of the rotation from the reference pose at the segment's proximal joint. The palm has
    /// no such joint.
    pub halfway: bool,
}

/// The sixteen segments and the fifteen joints.
pub(super) const CARRIERS: usize = 2 * SEGMENTS - 1;

impl Carrier {
    pub(super) fn index(self) -> usize {
        self.segment.index() + if self.halfway { SEGMENTS - 1 } else { 0 }
    }

    pub(super) fn at(index: usize) -> Self {
        let halfway = index >= SEGMENTS;
        Self { segment: Segment::at(if halfway { index + 1 - SEGMENTS } else { index }), halfway }
    }

    /// The frame at a step along a finger: 0 the palm, 1 half-way to the first phalanx, 2 the first phalanx … 6 the
    /// last.
    pub(super) fn on_chain(finger: Finger, step: usize) -> Self {
        match step.min(6) {
            0 => Self { segment: Segment::PALM, halfway: false },
            step => Self { segment: Segment::phalanx(finger, (step - 1) / 2), halfway: step % 2 == 1 },
        }
    }
}

/// The joints in the reference pose, in which a half-way frame coincides with its segment.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ReferenceJoints {
    /// Rotation of each segment in the frame of its parent.
    rotations: [Quat; SEGMENTS],
    /// Flexion axis of each finger's base in the frame of the palm.
    flexion: [Vec3; 5],
}

/// Poses and motion of the frames.
pub(super) struct Frames<'a> {
    kin: &'a Kinematics,
    pub(super) poses: [Pose; CARRIERS],
    turns: [[Option<HalfTurn>; 2]; CARRIERS],
}

/// A joint angle of which a frame has half.
#[derive(Clone, Copy)]
struct HalfTurn {
    /// Index among the twenty.
    angle: usize,
    /// Joint rotation since the reference pose, rad.
    turned: f64,
    /// Rotation axis of the frame, in the world.
    axis: Vec3,
}

impl ReferenceJoints {
    pub(super) fn new(kin: &Kinematics) -> Self {
        let rotation = |s: Segment| s.parent().map_or(Quat::identity(), |parent| relative(kin, parent, s));
        let palm = kin.poses[0].rotation.inverse();
        Self {
            rotations: std::array::from_fn(|i| rotation(Segment::at(i))),
            flexion: std::array::from_fn(|f| palm * kin.axes[4 * f]),
        }
    }

    /// The frames in another pose.
    pub(super) fn frames<'a>(&self, kin: &'a Kinematics) -> Frames<'a> {
        let turns: [_; CARRIERS] = std::array::from_fn(|i| self.half_turns(Carrier::at(i), kin));
        let pose = |i: usize| {
            let pose = kin.poses[Carrier::at(i).segment.index()];
            // The origin of a phalanx is the centre of its joint, so only its rotation changes.
            let back = |rotation, half: HalfTurn| turn(&half.axis, -0.5 * half.turned) * rotation;
            Pose::from_parts(pose.translation, turns[i].into_iter().flatten().fold(pose.rotation, back))
        };
        Frames { kin, poses: std::array::from_fn(pose), turns }
    }

    /// The angles of which the frame has half, in the order of the chain; empty for a segment's own frame.
    fn half_turns(&self, carrier: Carrier, kin: &Kinematics) -> [Option<HalfTurn>; 2] {
        let segment = carrier.segment;
        let (true, Some((finger, place)), Some(parent)) = (carrier.halfway, segment.finger(), segment.parent()) else {
            return [None; 2];
        };
        let finger = finger as usize;
        let from = kin.poses[parent.index()].rotation;
        let unturned = from * self.rotations[segment.index()];
        let now = kin.poses[segment.index()].rotation;
        let turned = |unturned: Quat, axis: &Vec3| log(&(now * unturned.inverse())).dot(axis);
        if place > 0 {
            let angle = 4 * finger + 1 + place;
            let axis = kin.axes[angle];
            return [Some(HalfTurn { angle, turned: turned(unturned, &axis), axis }), None];
        }
        let (flexion, abduction) = (4 * finger, 4 * finger + 1);
        let (axis, carried) = (kin.axes[abduction], kin.axes[flexion]);
        let abducted = angle_about(&axis, &(from * self.flexion[finger]), &carried);
        let flexed = turned(turn(&axis, abducted) * unturned, &carried);
        // The flexion axis rotates with abduction, half as far here.
        let halfway = turn(&axis, -0.5 * abducted) * carried;
        [
            Some(HalfTurn { angle: abduction, turned: abducted, axis }),
            Some(HalfTurn { angle: flexion, turned: flexed, axis: halfway }),
        ]
    }
}

impl Frames<'_> {
    /// Adds `Jᵀ f` of a force `f` at the point `p` that moves with a frame.
    pub(super) fn add_point_force(&self, carrier: Carrier, p: &Vec3, f: &Vec3, onto: &mut [f64]) {
        let whole = carrier.segment.parent().filter(|_| carrier.halfway).unwrap_or(carrier.segment);
        self.kin.add_point_force(whole, p, f, onto);
        for half in self.turns[carrier.index()].iter().flatten() {
            onto[6 + half.angle] += 0.5 * half.axis.dot(&(p - self.kin.centres[half.angle]).cross(f));
        }
    }
}

fn relative(kin: &Kinematics, parent: Segment, child: Segment) -> Quat {
    kin.poses[parent.index()].rotation.inverse() * kin.poses[child.index()].rotation
}

fn turn(axis: &Vec3, angle: f64) -> Quat {
    Quat::from_scaled_axis(angle * axis)
}

/// The angle about an axis from `a` to `b`, both projected along it.
fn angle_about(axis: &Vec3, a: &Vec3, b: &Vec3) -> f64 {
    let (a, b) = (a - axis * axis.dot(a), b - axis * axis.dot(b));
    f64::atan2(axis.dot(&a.cross(&b)), a.dot(&b))
}
