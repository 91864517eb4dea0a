use std::time::Instant;

use crate::body::{Bodies, Body, BodyId, BodyKind, Hand, HandId, RefactorPolicy, Step};
use crate::contact::{
    Attachment, Contact, ContactParameters, Group, Islands, Materials, Proximity, System, signed_distance,
};
use crate::math::{StateHash, Vec3};
use crate::solver::{ConvexParameters, GaussSeidel, SolverParameters, SolverStatus};

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
    /// Whether steps also leave their contact problem as rows with laws in [`World::system`], for other solvers.
    pub keeps_rows: bool,
    near: Proximity,
    system: System,
    statistics: Statistics,
    times: StageTimes,
    /// Sweeps that the solver may make in the coming step, whatever the clock says.
    grant: Option<u64>,
    /// Sweeps after which the deadline ended the solving of the last step, if it did.
    cut_short: Option<u64>,
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

    /// One step (Talvas 2015, algorithm 1).
    ///
    /// The free motion stands before the proximity, which looks at where the bodies are: the free motion changes how they move, not where
    /// they are, and its velocities tell how far to look.
    pub fn step(&mut self) -> StepReport {
        if self.broken {
            return self.report(Status::NotFinite);
        }
        let step = self.step_input();
        let mut clock = Stopwatch::start();
        self.times = StageTimes::default();
        self.free_motion(&step);
        self.times.free = clock.lap();
        self.near.find(&self.bodies, &self.materials, &self.parameters.contact, step.h);
        self.times.proximity = clock.lap();
        for attachment in &self.attachments {
            self.near.contacts.extend(attachment.links(&self.bodies));
        }
        if self.keeps_rows && self.parameters.contact.is_convex() {
            self.constrain(&step);
            let solver = GaussSeidel { parameters: self.parameters.solver };
            self.system.groups_mut().iter_mut().for_each(|group| group.solve(&solver, || true));
            clock.lap();
        }
        if self.parameters.contact.is_convex() {
            self.resolve_contact(&step, &mut clock);
        } else {
            self.constrain(&step);
            self.times.assembly = clock.lap();
            self.solve_velocities();
            self.times.solve = clock.lap();
            self.apply_forces(&step);
            self.advance(&step);
            self.times.advance = clock.lap();
            self.correct_positions(&step);
            self.times.correction = clock.lap();
        }
        self.steps += 1;
        let report = self.close();
        clock.lap();
        self.times.total = clock.total();
        report
    }

    fn step_input(&self) -> Step {
        let p = &self.parameters;
        Step { h: p.dt, time: self.time(), gravity: p.gravity, refactor: p.refactor }
    }

    /// `A dv = b` for every body, without constraints.
    fn free_motion(&mut self, step: &Step) {
        self.bodies.iter_mut().for_each(|body| body.free_motion(step));
    }

    /// The contact problem of the step: formulate, solve, apply, and look whether the contacts are where the problem predicted.
    fn resolve_contact(&mut self, step: &Step, clock: &mut Stopwatch) {
        let p = self.parameters;
        let solver = ConvexParameters { iterations: p.solver.iterations, ..Default::default() };
        let mut budget = Budget::new(p.deadline, self.grant.take(), clock.start);
        self.system.islands.forget_solutions();
        self.system.start(&self.bodies, &self.near, &p.contact, step.h);
        for pass in 0..Islands::passes() {
            let first = pass == 0;
            self.system.formulate(&mut self.bodies, &self.near, &self.attachments, &p.contact, step.h, first);
            self.times.formulation += clock.lap();
            self.system.islands.solve(&solver, || budget.go_on());
            self.times.solve += clock.lap();
            self.system.islands.apply(&mut self.bodies, step.h, first);
            if first {
                self.bodies.iter_mut().for_each(|body| body.advance(step.h));
            }
            self.follow_bones();
            let again = self.system.islands.measure(&self.bodies, &self.near, p.contact.offset);
            self.times.advance += clock.lap();
            if !again || budget.ended {
                break;
            }
        }
        self.cut_short = budget.ended.then_some(budget.spent);
        self.system.keep(&self.bodies, &self.near, &p.contact, SLOW, step.h);
        self.times.advance += clock.lap();
    }

    /// Contacts and attachments as rows with laws, and the contact problem of every group of bodies that touch.
    fn constrain(&mut self, step: &Step) {
        self.system.build(&mut self.bodies, &mut self.near, &self.attachments, &self.parameters.contact);
        self.system.assemble(&mut self.bodies, &self.near, &self.parameters.contact, step.h);
    }

    /// The laws of contact and friction on velocities.
    fn solve_velocities(&mut self) {
        let solver = GaussSeidel { parameters: self.parameters.solver };
        let mut budget = Budget::new(self.parameters.deadline, self.grant.take(), Instant::now());
        for group in self.system.groups_mut() {
            group.solve(&solver, || budget.go_on());
        }
        self.cut_short = budget.ended.then_some(budget.spent);
        self.system.remember(&self.near, SLOW);
    }

    /// `v = v_free + h A⁻¹ Hᵀ λ`.
    fn apply_forces(&mut self, step: &Step) {
        for group in self.system.groups_mut() {
            group.apply_forces(&mut self.bodies, step.h);
        }
    }

    /// `q = q_t + h v`.
    fn advance(&mut self, step: &Step) {
        self.bodies.iter_mut().for_each(|body| body.advance(step.h));
        self.follow_bones();
    }

    /// Post-stabilisation: non-penetration on positions.
    fn correct_positions(&mut self, step: &Step) {
        // Of places, not of speeds.
        let fine = step.h * self.parameters.solver.fine;
        let solver = GaussSeidel { parameters: SolverParameters { fine, ..self.parameters.solver } };
        let offset = self.parameters.contact.offset;
        if self.system.correct_positions(&mut self.bodies, &self.near, &solver, offset, step.h) {
            self.follow_bones();
        }
    }

    fn follow_bones(&mut self) {
        self.bodies.hands.iter_mut().for_each(Hand::follow_bones);
    }

    /// Sums up how it went, and stops a world whose numbers ran away.
    fn close(&mut self) -> StepReport {
        let groups = self.system.groups();
        let solutions = || groups.iter().filter_map(|g| g.solution.as_ref());
        let pairs = self.near.pairs.iter();
        let depths = pairs.flat_map(|p| self.near.contacts[p.contacts.clone()].iter().map(|c| self.depth(p.b, c)));
        self.statistics = if self.parameters.contact.is_convex() {
            let islands = &self.system.islands;
            let patches = || islands.solved_patches(self.parameters.dt);
            Statistics {
                contacts: patches().map(|p| p.contacts).sum(),
                constraints: patches().map(|p| p.rows).sum::<usize>() + islands.attachment_rows(),
                groups: islands.solutions().count(),
                iterations: islands.solutions().map(|s| s.iterations).max().unwrap_or(0),
                residual: islands.solutions().map(|s| s.residual).fold(0.0, f64::max),
                unconverged: islands.unconverged(),
                penetration: depths.fold(0.0, f64::max),
            }
        } else {
            Statistics {
                contacts: self.system.touching(),
                constraints: groups.iter().map(Group::rows).sum(),
                groups: groups.len(),
                iterations: solutions().map(|s| s.iterations).max().unwrap_or(0),
                residual: solutions().map(|s| s.residual).fold(0.0, f64::max),
                unconverged: solutions().filter(|s| s.status != SolverStatus::Converged).count(),
                penetration: depths.fold(0.0, f64::max),
            }
        };
        let finite = self.bodies.iter().all(Body::is_finite);
        self.broken = !finite;
        self.report(if finite { Status::Done } else { Status::NotFinite })
    }

    /// How deep the one point of a contact is inside the other body. The fixed direction would say too much beyond an edge, so what it
    /// says is inside is measured against the shape.
    fn depth(&self, other: BodyId, contact: &Contact) -> f64 {
        let along = -contact.gap_now(&self.bodies, 0.0);
        if along <= 0.0 {
            return 0.0;
        }
        let (shape, pose) = match self.bodies.kind(other) {
            BodyKind::Rigid(i) => (self.bodies.rigid[i].shape(), self.bodies.rigid[i].pose()),
            BodyKind::Fixed(i) => (self.bodies.fixed[i].shape(), *self.bodies.fixed[i].pose()),
            _ => return along,
        };
        let place = contact.a.place(&self.bodies) - pose.translation.vector;
        let local = pose.rotation.inverse_transform_vector(&place);
        along.min(-signed_distance(shape, &local).distance)
    }

    /// What was close in the last step.
    pub fn near(&self) -> &Proximity {
        &self.near
    }

    /// The constraints of the last step, and the problems they made.
    pub fn system(&self) -> &System {
        &self.system
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

    /// Sweeps, of all groups together, after which the deadline ended the solving of the last step; `None` if it did not.
    pub fn cut_short(&self) -> Option<u64> {
        self.cut_short
    }

    /// Has the solver end in the coming step after that many sweeps, and not by the clock: what the clock decided once is repeated so.
    pub fn grant_sweeps(&mut self, sweeps: u64) {
        self.grant = Some(sweeps);
    }

    /// How long the stages of the last step took.
    pub fn times(&self) -> &StageTimes {
        &self.times
    }
}

/// Iterations that a step may spend: until its deadline, or as many as it is granted.
struct Budget {
    deadline: Option<f64>,
    grant: Option<u64>,
    started: Instant,
    spent: u64,
    /// Whether it ran out. Once it has it has for all islands, so that the count says where.
    ended: bool,
}

impl Budget {
    fn new(deadline: Option<f64>, grant: Option<u64>, started: Instant) -> Self {
        Self { deadline, grant, started, spent: 0, ended: false }
    }

    fn go_on(&mut self) -> bool {
        self.ended = self.ended
            || match self.grant {
                Some(most) => self.spent >= most,
                None => self.deadline.is_some_and(|limit| self.started.elapsed().as_secs_f64() >= limit),
            };
        self.spent += u64::from(!self.ended);
        !self.ended
    }
}

/// Times of laps.
struct Stopwatch {
    start: Instant,
    lap: Instant,
}

impl Stopwatch {
    fn start() -> Self {
        let now = Instant::now();
        Self { start: now, lap: now }
    }

    /// Since the last lap, s.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.lap, now)).as_secs_f64()
    }

    /// Since the start, s.
    fn total(&self) -> f64 {
        self.lap.duration_since(self.start).as_secs_f64()
    }
}

/// Contacts that move slower than this are held by the friction of rest, m/s.
const SLOW: f64 = 1e-3;

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

/// Time that the stages of a step took, s. A stage that the method does not have took none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes {
    /// Free motion of all bodies.
    pub free: f64,
    /// Finding what is close.
    pub proximity: f64,
    /// Building the convex contact problem of every island, in all passes.
    pub formulation: f64,
    /// Rows and the Delassus operator, for the methods that are solved on velocities.
    pub assembly: f64,
    /// The solver.
    pub solve: f64,
    /// Applying the solution, advancing the bodies and, for the convex problem, measuring the gaps.
    pub advance: f64,
    /// Position correction, for the methods that are solved on velocities.
    pub correction: f64,
    /// The whole step.
    pub total: f64,
}

impl StageTimes {
    /// Names of the stages, in the order of the step.
    pub const NAMES: [&str; 7] = ["free", "proximity", "formulation", "assembly", "solve", "advance", "correction"];

    /// Times of the stages, in the order of [`StageTimes::NAMES`], s.
    pub fn stages(&self) -> [f64; 7] {
        [self.free, self.proximity, self.formulation, self.assembly, self.solve, self.advance, self.correction]
    }

    /// Name and time of each stage.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, f64)> + use<> {
        Self::NAMES.into_iter().zip(self.stages())
    }

    /// The whole cost of contact: every stage but free motion and proximity, s.
    pub fn contact(&self) -> f64 {
        self.stages()[2..].iter().sum()
    }
}
