//! Forces on every segment of a soft hand at the haptic rate.
//!
//! The hand is driven by a glove or a tracker, which gives no position of a tool to couple to, so the fast loop does not return anything to the
//! scene: it starts every time from the state of the scene and follows the tracked motion until the next one. After a step of the scene, at the time
//! `T`, the contacts of each segment with each other collider are condensed on an aggregate (Talvas 2015, §3.2–3.4). With the shares
//! `p_i = λ_i / Σ λ` of the normal forces, `n = Σ p_i n_i / |Σ p_i n_i|` and tangents `t`, `s`,
//!
//! ```text
//! x_c = Σ p_i x_i      δ_d = Σ p_i d·δ_i  for d in n, t, s      λ_i = p_i Σ_d d Λ_d      W_c = P W Pᵀ
//! ```
//!
//! where row `d` of `P` has the entries `p_i d·d_ik` for the directions `d_ik` of contact `i`, and `W` is the compliance of tissue and environment. Since a bone
//! is rigid, `Σ p_i J(x_i) = J(x_c)`: an aggregate acts on the skeleton in one point. There are three rows for each aggregate, whatever the resolution of the skin.
//!
//! The forces of the scene have a torque about `x_c` too, of the curvature of the surface and of friction against spin. It is kept in proportion to the normal force:
//! `τ = τ_T Λ_n / Λ_n,T`, and so is the pressure map.
//!
//! At rest the fast loop has the forces of the scene, since its rows are solved for the change from `Λ_T` (see the parent module).
//!
//! DEVIATION: the shares are fixed between two steps of the scene. Joint limits and bounded springs are those that act in the free motion of the fast step, and
//! attachments of the hand are left out.

use std::any::Any;

use super::fast::FastTool;
use super::scene::FreeVelocities;
use crate::body::{Body, BodyId, ColliderId, Hand, HandId};
use crate::contact::{ToolConstraint, ToolProblem, tangents};
use crate::hand::{REDUCED, Reduced};
use crate::math::Vec3;
use crate::sim::World;
use crate::tracking::{HandSample, SEGMENTS, SampleSource, Verdict};

/// Contacts whose normals are farther apart than this, by the cosine, belong to different aggregates.
const ONE_WAY: f64 = 0.54;

/// The pressure grows with the force at most by this factor between two steps of the scene.
const MOST_GROWTH: f64 = 4.0;

/// What a segment of a hand feels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SegmentFeel {
    /// Sum of the normal forces, N.
    pub pressing: f64,
    /// Force on the segment, N.
    pub force: Vec3,
    /// Torque on the segment about the origin of its bone, N·m.
    pub torque: Vec3,
    /// Largest pressure, Pa.
    pub pressure: f64,
}

/// Contacts of a segment with another collider.
#[derive(Clone, Debug)]
struct FeltAggregate {
    key: (ColliderId, ColliderId),
    segment: usize,
    /// Contacts and their shares.
    members: Vec<(u32, f64)>,
    normal: Vec3,
    /// Normal force of the scene, N.
    pressing: f64,
    /// Torque of the scene about the centre, N·m, and on the coordinates of the hand.
    torque: Vec3,
    load: Reduced,
    /// Largest pressure, Pa.
    peak: f64,
}

/// The contact problem of a hand after a step of the scene, one aggregate for each segment and other collider.
#[derive(Clone, Debug, Default)]
struct HandProblem {
    full: ToolProblem,
    tool: ToolProblem,
    aggregates: Vec<FeltAggregate>,
    /// First row of each constraint of `full`.
    starts: Vec<usize>,
    /// Rows of `P`.
    shares: Vec<(u32, f64)>,
    rows: Vec<usize>,
    moved: Vec<f64>,
}

/// The fast loop of a hand.
///
/// In lockstep one loop takes the steps of the scene over and makes its own. With threads, one takes them over beside the scene, and copies of it
/// ([`HandLoop::copy_from`]) go to the thread of the devices.
#[derive(Debug)]
pub struct HandLoop {
    hand: HandId,
    tool: FastTool,
    problem: HandProblem,
    free: FreeVelocities,
    steps: u64,
    feel: [SegmentFeel; SEGMENTS],
}

impl HandLoop {
    /// For a hand of a world; `None` if the contact method is not the convex problem. A world has one tool or hand at a haptic rate.
    pub fn new(world: &mut World, hand: HandId) -> Option<Self> {
        let body = world.bodies.get(hand.id())?;
        if !world.parameters.contact.is_convex() {
            return None;
        }
        let mut tool = FastTool::new(body, 0, world.parameters.gravity);
        tool.solve_directly();
        (tool.body_mut() as &mut dyn Any).downcast_mut::<Hand>()?.leave_skin();
        world.set_tool(Some(hand.id()));
        let (problem, free) = (HandProblem::default(), FreeVelocities::default());
        Some(Self { hand, tool, problem, free, steps: 0, feel: [SegmentFeel::default(); SEGMENTS] })
    }

    /// Takes over a step of the scene that was just made: state of the hand, tracked motion and contact problem.
    pub fn take_over(&mut self, world: &mut World) {
        self.steps += 1;
        world.hand_over(&mut self.problem.full);
        self.free.remove_responses(&mut self.problem.full);
        let Some(body) = world.bodies.get(self.hand.id()) else { return };
        self.tool.reset(body);
        if let Some(hand) = (self.tool.body_mut() as &mut dyn Any).downcast_mut::<Hand>() {
            hand.skeleton.tracked.clone_from(&world.bodies[self.hand].skeleton.tracked);
        }
        self.problem.condense(world, self.hand.id());
        self.problem.tool.number = self.steps;
        self.find_feel();
    }

    /// Makes this loop a copy of another one of the same hand that has just taken a step of the scene over. What only the next
    /// [`HandLoop::take_over`] needs stays behind.
    pub fn copy_from(&mut self, newest: &Self) {
        self.steps = newest.steps;
        self.tool.reset(newest.tool.body());
        if let (Some(hand), Some(other)) =
            ((self.tool.body_mut() as &mut dyn Any).downcast_mut::<Hand>(), newest.hand())
        {
            hand.skeleton.tracked.clone_from(&other.skeleton.tracked);
        }
        self.problem.tool.clone_from(&newest.problem.tool);
        self.problem.aggregates.clone_from(&newest.problem.aggregates);
        self.feel = newest.feel;
    }

    /// Time at the end of the step of the scene that was taken over, s.
    pub fn scene_time(&self) -> f64 {
        self.problem.tool.time
    }

    /// Takes a tracked sample in, as [`Hand::track_from`].
    pub fn track(&mut self, sample: HandSample) -> Option<Verdict> {
        let hand = (self.tool.body_mut() as &mut dyn Any).downcast_mut::<Hand>()?;
        Some(hand.track_from(SampleSource::Device, sample))
    }

    /// One step to the time `now + h` on the clock of the scene. The solver ends early when `go_on` returns false.
    pub fn step(&mut self, now: f64, h: f64, go_on: impl FnMut() -> bool) {
        let mut load = Reduced::zeros();
        for (i, a) in self.problem.aggregates.iter().enumerate() {
            load += self.growth(i) * a.load;
        }
        self.tool.set_load(load.as_slice());
        self.tool.step(&self.problem.tool, None, now, h, go_on);
        self.find_feel();
    }

    /// What each segment feels, in the order of [`crate::tracking::Segment::all`].
    pub fn feel(&self) -> &[SegmentFeel; SEGMENTS] {
        &self.feel
    }

    /// Number of aggregates.
    pub fn aggregates(&self) -> usize {
        self.problem.aggregates.len()
    }

    /// Whether the solver has converged in the last step.
    pub fn has_converged(&self) -> bool {
        self.tool.swept().converged
    }

    /// The hand in the fast loop. Its skin stays where it was.
    pub fn hand(&self) -> Option<&Hand> {
        (self.tool.body() as &dyn Any).downcast_ref()
    }

    /// Normal force of an aggregate in relation to that of the scene.
    fn growth(&self, aggregate: usize) -> f64 {
        let (now, scene) = (self.forces()[3 * aggregate], self.problem.aggregates[aggregate].pressing);
        if scene > 0.0 { (now / scene).clamp(0.0, MOST_GROWTH) } else { 0.0 }
    }

    /// Forces of the fast loop, or those of the scene before its first step.
    fn forces(&self) -> &[f64] {
        self.tool.forces_of(&self.problem.tool).unwrap_or(&self.problem.tool.forces)
    }

    fn find_feel(&mut self) {
        self.feel = [SegmentFeel::default(); SEGMENTS];
        for (i, (a, c)) in self.problem.aggregates.iter().zip(&self.problem.tool.constraints).enumerate() {
            let growth = self.growth(i);
            let own = &self.forces()[3 * i..3 * i + 3];
            let force: Vec3 = c.sign * c.directions.iter().zip(own).map(|(d, f)| *f * d).sum::<Vec3>();
            let place = self.tool.body().position(&c.point);
            let Some(hand) = self.hand() else { return };
            let origin = hand.skeleton.kinematics().poses[a.segment].translation.vector;
            let (pressing, torque) = (own[0], (place - origin).cross(&force) + growth * a.torque);
            let feel = &mut self.feel[a.segment];
            feel.pressing += pressing;
            feel.force += force;
            feel.torque += torque;
            feel.pressure = feel.pressure.max(growth * a.peak);
        }
    }
}

impl Clone for HandLoop {
    fn clone(&self) -> Self {
        let mut tool = FastTool::new(self.tool.body(), 0, *self.tool.gravity());
        tool.solve_directly();
        let (problem, free) = (self.problem.clone(), self.free.clone());
        Self { hand: self.hand, tool, problem, free, steps: self.steps, feel: self.feel }
    }
}

impl HandProblem {
    /// Fills `tool` from `full`.
    fn condense(&mut self, world: &World, hand: BodyId) {
        let Some(body) = world.bodies.get(hand) else { return };
        self.group(hand);
        self.find_shares();
        (self.tool.time, self.tool.step) = (self.full.time, self.full.step);
        self.tool.constraints.clear();
        self.tool.forces.clear();
        self.shares.clear();
        self.rows.clear();
        let mut aggregates = std::mem::take(&mut self.aggregates);
        aggregates.iter_mut().for_each(|a| self.push_aggregate(a, body));
        self.aggregates = aggregates;
        self.rows.push(self.shares.len());
        self.fill_compliance();
        for p in world.pressure_points() {
            let own = self.aggregates.iter_mut().filter(|a| a.key == (p.body, p.other));
            own.for_each(|a| a.peak = a.peak.max(p.pressure));
        }
    }

    /// Adds the rows of an aggregate and its constraint to `tool`, and finds its load on the skeleton.
    fn push_aggregate(&mut self, a: &mut FeltAggregate, body: &dyn Body) {
        let members = a.members.iter().map(|&(i, p)| (&self.full.constraints[i as usize], self.starts[i as usize], p));
        let normal: Vec3 = members.clone().map(|(c, _, p)| p * c.directions[0]).sum();
        a.normal = normal.try_normalize(0.0).unwrap_or(a.normal);
        let [t, s] = tangents(&a.normal);
        let directions = [a.normal, t, s];
        let total: Vec3 = members.clone().map(|(c, row, _)| force_on(c, &self.full.forces[row..])).sum();
        let forces = directions.map(|d| d.dot(&total));
        for d in directions {
            self.rows.push(self.shares.len());
            for (c, row, p) in members.clone() {
                self.shares.extend((0..3).map(|k| ((row + k) as u32, p * d.dot(&c.directions[k]))));
            }
        }
        let sum = |of: &dyn Fn(&ToolConstraint, f64) -> f64| members.clone().map(|(c, _, p)| of(c, p)).sum::<f64>();
        let place: Vec3 = members.clone().map(|(c, _, p)| p * c.place).sum();
        let Some((first, ..)) = members.clone().next() else { return };
        let Some(point) = body.attachment_point(a.segment, &place) else { return };
        let shear_length = 1.0 / sum(&|c, p| p / c.shear_length.max(1e-12));
        let sideways = forces[1] * t + forces[2] * s;
        let spring = if forces[0] > 0.0 { shear_length / forces[0] } else { 0.0 };
        let steepest = if forces[0] > 0.0 { sideways.norm() / forces[0] } else { 0.0 };
        let centre = ToolConstraint {
            // No memory of another problem: the scene knows how far each contact has sheared.
            key: (a.key.0, a.key.1, u64::MAX),
            point,
            sign: first.sign,
            place,
            directions,
            contact: true,
            gap: sum(&|c, p| p * c.gap),
            environment: members.clone().map(|(c, _, p)| p * c.environment).sum(),
            softness: sum(&|c, p| p * p * c.softness),
            // On a curved surface friction is more than that of the mean normal allows.
            friction: first.friction.max(steepest),
            shear_length,
            shear: -spring * sideways,
        };
        a.pressing = forces[0];
        self.find_load(a, body, &centre, &total);
        self.tool.constraints.push(centre);
        self.tool.forces.extend(forces);
    }

    /// Torque about the centre and load on the skeleton of the members of an aggregate, beyond those of their total force at the centre.
    fn find_load(&self, a: &mut FeltAggregate, body: &dyn Body, centre: &ToolConstraint, total: &Vec3) {
        (a.torque, a.load) = (Vec3::zeros(), Reduced::zeros());
        let load = &mut a.load;
        let mut add = |c: &ToolConstraint, force: Vec3| {
            body.columns(&c.point, &c.place, &mut |part, dof, velocity| {
                if part == 0 && dof < REDUCED {
                    load[dof] += velocity.dot(&force);
                }
            });
        };
        for &(i, _) in &a.members {
            let c = &self.full.constraints[i as usize];
            let force = c.sign * force_on(c, &self.full.forces[self.starts[i as usize]..]);
            a.torque += (c.place - centre.place).cross(&force);
            add(c, force);
        }
        add(centre, -centre.sign * total);
    }

    /// Groups the contacts of the hand by colliders and normals.
    fn group(&mut self, hand: BodyId) {
        self.aggregates.clear();
        self.starts.clear();
        let mut row = 0;
        for (i, c) in self.full.constraints.iter().enumerate() {
            self.starts.push(row);
            row += c.rows();
            if !c.contact {
                continue;
            }
            let key = (c.key.0, c.key.1);
            let like = |a: &&mut FeltAggregate| a.key == key && a.normal.dot(&c.directions[0]) > ONE_WAY;
            match self.aggregates.iter_mut().find(like) {
                Some(a) => a.members.push((i as u32, 0.0)),
                None => self.aggregates.push(FeltAggregate {
                    key,
                    segment: if key.0.body == hand { key.0 } else { key.1 }.index(),
                    members: vec![(i as u32, 0.0)],
                    normal: c.directions[0],
                    pressing: 0.0,
                    torque: Vec3::zeros(),
                    load: Reduced::zeros(),
                    peak: 0.0,
                }),
            }
        }
    }

    /// Shares of the contacts that are pressed, or the nearest contact alone.
    fn find_shares(&mut self) {
        let (constraints, forces, starts) = (&self.full.constraints, &self.full.forces, &self.starts);
        for a in &mut self.aggregates {
            let normal = |i: u32| forces[starts[i as usize]].max(0.0);
            let total: f64 = a.members.iter().map(|&(i, _)| normal(i)).sum();
            if total > 0.0 {
                a.members.retain(|&(i, _)| normal(i) > 0.0);
                a.members.iter_mut().for_each(|(i, p)| *p = normal(*i) / total);
            } else {
                let gap = |i: u32| constraints[i as usize].gap;
                let nearest = a.members.iter().map(|&(i, _)| i).min_by(|&i, &j| gap(i).total_cmp(&gap(j)));
                a.members.clear();
                a.members.extend(nearest.map(|i| (i, 1.0)));
            }
        }
    }

    /// `P W Pᵀ`.
    fn fill_compliance(&mut self) {
        let (n, full) = (self.tool.forces.len(), self.full.rows());
        let row = |r: usize| &self.shares[self.rows[r]..self.rows[r + 1]];
        self.tool.compliance.clear();
        self.tool.compliance.resize(n * n, 0.0);
        for j in 0..n {
            self.moved.clear();
            self.moved.resize(full, 0.0);
            for &(k, x) in row(j) {
                let column = &self.full.compliance[k as usize * full..(k as usize + 1) * full];
                self.moved.iter_mut().zip(column).for_each(|(m, w)| *m += x * w);
            }
            for i in 0..n {
                self.tool.compliance[i * n + j] = row(i).iter().map(|&(k, x)| x * self.moved[k as usize]).sum();
            }
        }
    }
}

/// Force of a contact on its first body.
fn force_on(c: &ToolConstraint, forces: &[f64]) -> Vec3 {
    c.directions.iter().zip(&forces[..c.rows()]).map(|(d, f)| *f * d).sum()
}
