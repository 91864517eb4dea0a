use crate::body::{Bodies, Body, Hand, HandId, RefactorPolicy, Step};
use crate::contact::{Attachment, ContactParameters, Materials};
use crate::math::{StateHash, Vec3};
use crate::solver::SolverParameters;

/// What a world is run with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Length of a step, s.
    pub dt: f64,
    /// Acceleration of gravity, m/s².
    pub gravity: Vec3,
    /// When soft bodies refresh their linearisation.
    pub refactor: RefactorPolicy,
    /// How contact is found and made into constraints.
    pub contact: ContactParameters,
    /// How they are solved.
    pub solver: SolverParameters,
    /// Time that the solver may take in a step, s; without a limit every run of the same input is the same.
    pub deadline: Option<f64>,
}

impl Default for Parameters {
    fn default() -> Self {
        Self {
            dt: 0.01,
            gravity: Vec3::new(0.0, -9.81, 0.0),
            refactor: RefactorPolicy::default(),
            contact: ContactParameters::default(),
            solver: SolverParameters::default(),
            deadline: None,
        }
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

/// The bodies, what holds them together, and the clock.
#[derive(Debug, Default)]
pub struct World {
    /// What it is run with.
    pub parameters: Parameters,
    /// Everything that moves, and everything that does not.
    pub bodies: Bodies,
    /// What their surfaces are made of.
    pub materials: Materials,
    /// What holds bodies together.
    pub attachments: Vec<Attachment>,
    statistics: Statistics,
    times: StageTimes,
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
        self.bodies.hands.push(hand);
        HandId::at(self.bodies.hands.len() - 1)
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
        let finite = self.bodies.iter().all(Body::is_finite);
        self.broken = !finite;
        self.report(if finite { Status::Done } else { Status::NotFinite })
    }

    fn step_input(&self) -> Step {
        let p = &self.parameters;
        Step { h: p.dt, time: self.time(), gravity: p.gravity, refactor: p.refactor }
    }

    fn free_motion(&mut self, step: &Step) {
        self.bodies.iter_mut().for_each(|body| body.free_motion(step));
    }

    fn advance(&mut self, step: &Step) {
        self.bodies.iter_mut().for_each(|body| body.advance(step.h));
    }

    fn follow_bones(&mut self) {
        self.bodies.hands.iter_mut().for_each(Hand::follow_bones);
    }

    fn report(&self, status: Status) -> StepReport {
        StepReport { status, hash: self.state_hash() }
    }

    /// Hash of the state of all bodies.
    pub fn state_hash(&self) -> u64 {
        let mut hash = StateHash::default();
        self.bodies.iter().for_each(|body| body.hash(&mut hash));
        hash.value()
    }

    /// How the last step's contact went.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// How long the stages of the last step took.
    pub fn times(&self) -> &StageTimes {
        &self.times
    }
}

/// How the contact of a step went.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Contacts that took part.
    pub contacts: usize,
    /// Rows of all problems.
    pub constraints: usize,
    /// Groups of touching bodies.
    pub groups: usize,
    /// Most sweeps of the solver in a group.
    pub iterations: usize,
    /// Greatest residual of a group.
    pub residual: f64,
    /// Groups in which the solver came to no end.
    pub unconverged: usize,
    /// Deepest point left inside another body after the step, m.
    pub penetration: f64,
}

/// Time that the stages of a step took, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes {
    /// Finding what is close.
    pub proximity: f64,
    /// Free motion of all bodies.
    pub free: f64,
    /// Rows and the Delassus operator.
    pub assembly: f64,
    /// The solver.
    pub solve: f64,
    /// Applying forces, moving on, and post-stabilisation.
    pub correction: f64,
    /// All of it.
    pub total: f64,
}
