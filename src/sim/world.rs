use super::hand::Hand;
use crate::body::{Body, Fixed, RefactorPolicy, RigidBody, SoftBody, Step};
use crate::math::{StateHash, Vec3};
use crate::typed_id;

typed_id! {
    /// A hand of the world.
    HandId
}

/// What a world is run with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Length of a step, s.
    pub dt: f64,
    /// Acceleration of gravity, m/s².
    pub gravity: Vec3,
    /// When soft bodies refresh their linearisation.
    pub refactor: RefactorPolicy,
}

impl Default for Parameters {
    fn default() -> Self {
        Self { dt: 0.01, gravity: Vec3::new(0.0, -9.81, 0.0), refactor: RefactorPolicy::default() }
    }
}

/// How a step ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// As it should.
    Done,
    /// A number of the state is not finite; the world stands still until it is made anew.
    NotFinite,
}

/// What a step leaves behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// How it ended.
    pub status: Status,
    /// Hash of the state after it.
    pub hash: u64,
}

/// Everything that moves, and everything that does not.
#[derive(Debug, Default)]
pub struct World {
    /// What it is run with.
    pub parameters: Parameters,
    /// Hands.
    pub hands: Vec<Hand>,
    /// Rigid bodies.
    pub rigid: Vec<RigidBody>,
    /// Soft bodies.
    pub soft: Vec<SoftBody>,
    /// The static world.
    pub fixed: Vec<Fixed>,
    steps: u64,
    broken: bool,
}

impl World {
    /// An empty world.
    pub fn new(parameters: Parameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// Adds a hand.
    pub fn add_hand(&mut self, hand: Hand) -> HandId {
        self.hands.push(hand);
        HandId::at(self.hands.len() - 1)
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.steps as f64 * self.parameters.dt
    }

    /// Steps made.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// One step (Talvas 2015, algorithm 1). Without contact the free motion is the motion.
    pub fn step(&mut self) -> StepReport {
        if self.broken {
            return self.report(Status::NotFinite);
        }
        let step = self.step_input();
        self.free_motion(&step);
        self.advance(&step);
        self.follow_bones();
        self.steps += 1;
        let finite = self.bodies().all(Body::is_finite);
        self.broken = !finite;
        self.report(if finite { Status::Done } else { Status::NotFinite })
    }

    fn step_input(&self) -> Step {
        let p = &self.parameters;
        Step { h: p.dt, time: self.time(), gravity: p.gravity, refactor: p.refactor }
    }

    fn free_motion(&mut self, step: &Step) {
        self.bodies_mut().for_each(|body| body.free_motion(step));
    }

    fn advance(&mut self, step: &Step) {
        self.bodies_mut().for_each(|body| body.advance(step.h));
    }

    fn follow_bones(&mut self) {
        self.hands.iter_mut().for_each(Hand::follow_bones);
    }

    fn report(&self, status: Status) -> StepReport {
        StepReport { status, hash: self.state_hash() }
    }

    /// Hash of the state of all bodies.
    pub fn state_hash(&self) -> u64 {
        let mut hash = StateHash::default();
        self.bodies().for_each(|body| body.hash(&mut hash));
        hash.value()
    }

    /// Every body in a fixed order.
    pub fn bodies_mut(&mut self) -> impl Iterator<Item = &mut dyn Body> {
        let hands = self.hands.iter_mut().flat_map(Hand::bodies_mut);
        let rigid = self.rigid.iter_mut().map(|b| b as &mut dyn Body);
        let soft = self.soft.iter_mut().map(|b| b as &mut dyn Body);
        let fixed = self.fixed.iter_mut().map(|b| b as &mut dyn Body);
        hands.chain(rigid).chain(soft).chain(fixed)
    }

    /// Every body in a fixed order.
    pub fn bodies(&self) -> impl Iterator<Item = &dyn Body> {
        let hands = self.hands.iter().flat_map(Hand::bodies);
        let rigid = self.rigid.iter().map(|b| b as &dyn Body);
        let soft = self.soft.iter().map(|b| b as &dyn Body);
        let fixed = self.fixed.iter().map(|b| b as &dyn Body);
        hands.chain(rigid).chain(soft).chain(fixed)
    }
}
