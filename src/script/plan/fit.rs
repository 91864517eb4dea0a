use parry3d::shape::SharedShape;

use super::cover::Cover;
use super::opposition::{Opposition, Posture};
use super::solid::{Line, Solid, distance_from};
use crate::body::{BodyId, Collider};
use crate::hand::HandModel;
use crate::math::{Pose, Quat, Vec3};
use crate::script::state::State;
use crate::script::track::still_at_work;
use crate::tracking::{ANGLES, Finger, Segment};

/// Kind of a grasp: the fingers that the thumb opposes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grip {
    /// Thumb and index finger.
    Pinch,
    /// Thumb, index and middle finger.
    Tripod,
    /// All fingers.
    Power,
}

impl Grip {
    /// Names in scripts.
    pub const NAMES: [(&str, Grip); 3] = [("pinch", Grip::Pinch), ("tripod", Grip::Tripod), ("power", Grip::Power)];

    fn fingers(self) -> &'static [Finger] {
        match self {
            Grip::Pinch => &Finger::ALL[..2],
            Grip::Tripod => &Finger::ALL[..3],
            Grip::Power => &Finger::ALL,
        }
    }

    /// Cost of a grasp with few fingers, by the force per side, N.
    fn cost(self, force: f64) -> f64 {
        let others = (self.fingers().len() - 1) as f64;
        // A finger presses with a few newtons without effort; every further finger must find room.
        0.15 * (force / (3.0 * others)).powi(2) + 0.05 * others
    }
}

/// A planned grasp.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The postures that close it.
    pub opposition: Opposition,
    /// Pose of the palm at the grasp.
    pub palm: Pose,
    /// Pose of the palm before it: the body is ahead of the hand.
    pub ahead: Pose,
    /// Gap of the pads while the hand approaches, m.
    pub open: f64,
    /// Width of the body between the pads, m.
    pub width: f64,
    /// Unit vector from the thumb to the other fingers in the palm frame.
    pub axis: Vec3,
    /// Kind.
    pub grip: Grip,
    /// Force of the thumb, N.
    pub force: f64,
    /// How good it is; zero is best.
    pub cost: f64,
}

/// Why there is no plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPlan {
    /// The body has no finite shape.
    #[error("it has no finite shape")]
    Unbounded,
    /// No line fits between the pads.
    #[error("it is too wide for the hand in every direction that friction holds")]
    TooWide,
    /// Every pose collides.
    #[error("the hand reaches it from nowhere without touching something else first")]
    NoRoom,
}

/// Clearance on both sides while the hand approaches, m.
const CLEARANCE: f64 = 0.009;
/// Distance of the pose before the grasp, m.
const AHEAD: f64 = 0.09;
/// Clearance to everything else, m.
const MARGIN: f64 = 0.0005;
/// Rotations about the line that are tried.
const ROTATIONS: usize = 24;
/// Candidates that are examined in detail, and those that are tested for collisions, per kind of grasp.
const DETAILED: usize = 12;
const TRIED: usize = 4000;
/// Widest body that any hand opens to, m.
const WIDEST: f64 = 0.16;
/// Sum of the overlaps of a candidate that is too much, m.
const OVERLAP: f64 = 0.012;
/// Sum of the overlaps that does not count, m, and the cost of more, 1/m.
const FREE: f64 = 0.001;
const OVERLAPPING: f64 = 150.0;
/// Factor on the force that friction needs.
const SAFETY: f64 = 2.4;
/// Acceleration that a held body must withstand besides gravity, m/s².
const HANDLING: f64 = 2.0;
/// Bodies that reach farther than this may be grasped away from their centre, m.
const LONG: f64 = 0.03;
/// Torque that two pads resist without slip, N·m.
const TURNING: f64 = 0.02;
/// Smallest force of the thumb, N.
const LEAST_FORCE: f64 = 0.6;

/// Something in the way.
enum Obstacle {
    Shape(SharedShape, Pose),
    /// Balls of another hand.
    Balls(Vec<(Vec3, f64)>),
}

impl Obstacle {
    fn distance(&self, p: &Vec3) -> f64 {
        match self {
            Obstacle::Shape(shape, pose) => distance_from(shape, pose, p).distance,
            Obstacle::Balls(balls) => balls.iter().map(|(c, r)| (p - c).norm() - r).fold(f64::INFINITY, f64::min),
        }
    }
}

/// Plans grasps of one body by one hand.
pub struct Planner<'s> {
    model: &'s HandModel,
    cover: Cover,
    palm: Pose,
    solid: Solid,
    obstacles: Vec<Obstacle>,
    mu: f64,
    force: f64,
    /// Weight of the body, with what it withstands besides, N.
    weight: f64,
}

struct Candidate {
    palm: Pose,
    /// Number of its line.
    line: usize,
    posture: Posture,
    cost: f64,
}

impl<'s> Planner<'s> {
    /// A planner for the present state of the world.
    pub fn new(state: &'s State, hand: usize, body: BodyId) -> Result<Self, NoPlan> {
        let bodies = &state.scene.world.bodies;
        let own = bodies.hand(hand);
        let object = bodies.get(body).ok_or(NoPlan::Unbounded)?;
        let solid = Solid::of(object).ok_or(NoPlan::Unbounded)?;
        let mu = state.scene.world.materials.pair(own.material, object.material()).rest.max(0.05);
        let weight = object.mass().unwrap_or(0.0) * (state.scene.world.parameters.gravity.norm() + HANDLING);
        let force = SAFETY * weight / (2.0 * mu) + LEAST_FORCE;
        let palm = own.skeleton.tracked.palm();
        let mut planner = Self {
            model: own.model(),
            cover: Cover::new(own.model()),
            palm: *palm,
            solid,
            obstacles: Vec::new(),
            mu,
            force,
            weight,
        };
        planner.obstacles = planner.find_obstacles(state, hand, body);
        Ok(planner)
    }

    fn find_obstacles(&self, state: &State, hand: usize, body: BodyId) -> Vec<Obstacle> {
        let bodies = &state.scene.world.bodies;
        let mut found = Vec::new();
        for (_, other) in bodies.hands().enumerate().filter(|(number, _)| *number != hand) {
            let cover = Cover::new(other.model());
            let balls = cover.in_frames(&other.skeleton.kinematics().poses).map(|(_, c, r)| (c, r)).collect();
            found.push(Obstacle::Balls(balls));
        }
        for (_, other) in bodies.iter().filter(|(id, other)| *id != body && other.kind() != "hand") {
            for index in 0..other.collider_count() {
                if let Collider::Shape(shape) = other.collider(index) {
                    found.push(Obstacle::Shape(shape.shape.clone(), shape.pose));
                }
            }
        }
        found
    }

    /// The best grasp of a kind, or of any.
    pub fn plan(&self, grip: Option<Grip>) -> Result<Plan, NoPlan> {
        let lines = self.lines();
        let mut best: Option<Plan> = None;
        let mut fits = false;
        for (_, kind) in Grip::NAMES.into_iter().filter(|(_, kind)| grip.is_none_or(|grip| grip == *kind)) {
            let opposition = Opposition::new(self.model, kind.fingers());
            let widest = opposition.widest() - 2.0 * CLEARANCE;
            let fitting: Vec<_> = lines.iter().filter(|(line, _)| line.width <= widest).copied().collect();
            fits |= !fitting.is_empty();
            let plan = self.of_kind(kind, &opposition, &fitting);
            if let Some(plan) = plan.filter(|plan| best.as_ref().is_none_or(|best| plan.cost < best.cost)) {
                best = Some(plan);
            }
        }
        best.ok_or(if fits { NoPlan::NoRoom } else { NoPlan::TooWide })
    }

    /// The lines on which pads can press the body, and their cost.
    fn lines(&self) -> Vec<(Line, f64)> {
        let mut lines = Vec::new();
        for (through, off) in self.centres() {
            still_at_work();
            lines.extend(self.solid.lines(&through, self.mu, WIDEST).into_iter().map(|line| (line, off)));
        }
        lines
    }

    fn of_kind(&self, grip: Grip, opposition: &Opposition, lines: &[(Line, f64)]) -> Option<Plan> {
        let mut candidates = Vec::new();
        let mut covers = Vec::new();
        for (number, (line, off)) in lines.iter().enumerate() {
            still_at_work();
            let open = opposition.at(line.width + 2.0 * CLEARANCE)?;
            covers.push(self.cover.placed(self.model, &open.angles));
            self.add_candidates(number, line, *off, opposition, &mut candidates);
        }
        candidates.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        // The most comfortable ones are examined first, until enough of them are free of collisions.
        let mut free = 0;
        let mut kept = Vec::new();
        for mut candidate in candidates.into_iter().take(TRIED) {
            let way = candidate.palm.rotation * candidate.posture.middle.normalize();
            still_at_work();
            let overlap = self.overlap(&covers[candidate.line], &candidate.palm, &way);
            if overlap < OVERLAP {
                candidate.cost += OVERLAPPING * overlap;
                free += usize::from(overlap < FREE);
                kept.push(candidate);
            }
            if free == DETAILED {
                break;
            }
        }
        kept.sort_by(|a, b| a.cost.total_cmp(&b.cost));
        let detailed = kept.iter().take(2 * DETAILED).filter_map(|candidate| {
            still_at_work();
            let more = self.examine(candidate, &lines[candidate.line].0, opposition)?;
            Some((candidate.cost + more + grip.cost(self.force), candidate))
        });
        let (cost, candidate) = detailed.min_by(|a, b| a.0.total_cmp(&b.0))?;
        Some(self.plan_of(candidate, &lines[candidate.line].0, grip, opposition.clone(), cost))
    }

    /// Points that lines go through, and their cost. Above the centre of mass the body hangs from the pads; away from it, along the body,
    /// its weight turns it about the line.
    fn centres(&self) -> Vec<(Vec3, f64)> {
        let solid = &self.solid;
        let top = solid.extent(&Vec3::y());
        let up = [0.0, 0.3, 0.55, 0.75].map(|part| (solid.centre + part * top * Vec3::y(), 0.0));
        let mut centres = up.to_vec();
        let (way, reach) = solid.longest();
        if reach > LONG {
            let turning = self.weight * reach / TURNING;
            let along = [-0.7, -0.5, -0.3, 0.3, 0.5, 0.7];
            centres.extend(along.map(|part: f64| (solid.centre + part * reach * way, 0.3 + part.abs() * turning)));
        }
        centres
    }

    fn add_candidates(
        &self,
        number: usize,
        line: &Line,
        off: f64,
        opposition: &Opposition,
        candidates: &mut Vec<Candidate>,
    ) {
        let Some(posture) = opposition.at(line.width) else { return };
        for side in [1.0, -1.0] {
            let axis = side * line.axis;
            let Some(aligned) = Quat::rotation_between(&posture.axis, &axis) else { continue };
            for i in 0..ROTATIONS {
                let angle = std::f64::consts::TAU * i as f64 / ROTATIONS as f64;
                let turn = Quat::from_axis_angle(&nalgebra::Unit::new_normalize(axis), angle) * aligned;
                let palm = Pose::from_parts((line.middle - turn * posture.middle).into(), turn);
                // The body lies ahead: the hand moves along the way from the palm to the pads.
                let way = turn * posture.middle.normalize();
                let cost = off + self.comfort(&turn, &way, line);
                candidates.push(Candidate { palm, line: number, posture: posture.clone(), cost });
            }
        }
    }

    /// How far a pose is from how the hand is held now, and from an easy grasp.
    fn comfort(&self, turn: &Quat, way: &Vec3, line: &Line) -> f64 {
        let turned = self.palm.rotation.angle_to(turn);
        let below = 1.0 + way.y;
        let lean = line.facing.clamp(-1.0, 1.0).acos() / self.mu.atan();
        0.35 * turned * turned + 0.5 * below + 0.5 * lean + 8.0 * line.width + 0.5 * (1.0 - line.covered)
    }

    /// Sum of the overlaps with the body and everything else, at the grasp and on the way to it, m.
    fn overlap(&self, balls: &[(Segment, Vec3, f64)], palm: &Pose, way: &Vec3) -> f64 {
        let mut sum = 0.0;
        for (_, centre, radius) in balls {
            let p = palm.rotation * centre + palm.translation.vector;
            sum += (0.5 * CLEARANCE * 0.5 + radius - self.solid.distance(&p).distance).max(0.0);
            for obstacle in &self.obstacles {
                sum += (MARGIN + radius - obstacle.distance(&p)).max(0.0);
            }
            if sum > OVERLAP {
                break;
            }
            for back in [0.02, 0.05] {
                sum += (radius - self.solid.distance(&(p - back * way)).distance).max(0.0);
            }
        }
        sum
    }

    /// Closes the fingers on the body in the mind: which touch where? Returns the cost of what they make of it, or nothing if
    /// the thumb or all others miss.
    fn examine(&self, candidate: &Candidate, line: &Line, opposition: &Opposition) -> Option<f64> {
        let axis = candidate.palm.rotation * candidate.posture.axis;
        let open = line.width + 2.0 * CLEARANCE;
        let mut thumb = None;
        let mut others = Vec::new();
        let mut tilted: f64 = 0.0;
        for &finger in &opposition.fingers {
            let Some((place, normal)) = self.closed(finger, candidate, opposition, open) else { continue };
            let side = if finger == Finger::Thumb { -1.0 } else { 1.0 };
            let angle = (side * normal.dot(&axis)).clamp(-1.0, 1.0).acos();
            if angle > self.mu.atan() {
                // It would slip off, or pushes the body out of the hand.
                tilted += 0.5;
                continue;
            }
            tilted = tilted.max(0.6 * angle / self.mu.atan());
            if finger == Finger::Thumb { thumb = Some(place) } else { others.push(place) }
        }
        let thumb = thumb?;
        if others.is_empty() {
            return None;
        }
        let shares = super::shares(&others, &thumb, &axis);
        let resultant: Vec3 = others.iter().zip(&shares).map(|(p, s)| *s * p).sum();
        let arm = resultant - thumb;
        let offset = (arm - arm.dot(&axis) * axis).norm();
        let missing = opposition.fingers.len() - 1 - others.len();
        Some(tilted + offset / 0.01 + 0.2 * missing as f64)
    }

    /// Where a finger first touches as its gap closes, and the surface normal there.
    fn closed(
        &self,
        finger: Finger,
        candidate: &Candidate,
        opposition: &Opposition,
        open: f64,
    ) -> Option<(Vec3, Vec3)> {
        const STEP: f64 = 0.003;
        let steps = (open / STEP).ceil() as usize;
        for i in 0..=steps {
            let posture = opposition.at(open - STEP * i as f64)?;
            let frames = self.model.skeleton.kinematics(&candidate.palm, &posture.angles).poses;
            let mut nearest: Option<(f64, Vec3, Vec3)> = None;
            for place in 0..3 {
                let segment = Segment::phalanx(finger, place);
                let frame = &frames[segment.index()];
                for rest in self.model.meshes[segment.index()].skin.vertices.iter().step_by(2) {
                    let p = frame.translation.vector + frame.rotation * rest;
                    if (p - self.solid.centre).norm() > self.solid.reach + STEP {
                        continue;
                    }
                    let at = self.solid.distance(&p);
                    if nearest.is_none_or(|(d, ..)| at.distance < d) {
                        nearest = Some((at.distance, p, at.normal));
                    }
                }
            }
            if let Some((_, place, normal)) = nearest.filter(|(d, ..)| *d <= 0.0) {
                return Some((place, normal));
            }
        }
        None
    }

    fn plan_of(&self, candidate: &Candidate, line: &Line, grip: Grip, opposition: Opposition, cost: f64) -> Plan {
        let way = candidate.palm.rotation * candidate.posture.middle.normalize();
        let ahead = Pose::from_parts((candidate.palm.translation.vector - AHEAD * way).into(), candidate.palm.rotation);
        Plan {
            opposition,
            palm: candidate.palm,
            ahead,
            open: line.width + 2.0 * CLEARANCE,
            width: line.width,
            axis: candidate.posture.axis,
            grip,
            force: self.force,
            cost,
        }
    }
}

impl Plan {
    /// Angles for a gap.
    pub fn angles(&self, gap: f64) -> [f64; ANGLES] {
        self.opposition.at(gap).map_or([0.0; ANGLES], |posture| posture.angles)
    }
}
