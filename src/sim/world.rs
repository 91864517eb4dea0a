mod saved;

use std::time::Instant;

use super::touch::PressurePoint;
use crate::body::{Bodies, Body, BodyId, Collider, ColliderId, Handle, RefactorPolicy, Step};
use crate::contact::{
    Attachment, Contact, ContactParameters, Group, Islands, Materials, Pair, Proximity, System, ToolProblem,
    depth_in_mesh, signed_distance,
};
use crate::math::{StateHash, Vec3};
use crate::solver::{ConvexParameters, GaussSeidel, SolverParameters, SolverStatus};
pub use saved::{StateError, WorldState};

/// Parameters of a world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Parameters {
    /// Time step, s.
    pub dt: f64,
    /// Acceleration of gravity, m/s².
    pub gravity: Vec3,
    /// When soft bodies update their linearisation.
    pub refactor: RefactorPolicy,
    /// Parameters of contact.
    pub contact: ContactParameters,
    /// Parameters of the solver.
    pub solver: SolverParameters,
    /// Time limit of the solver per step, s; runs are reproducible without a limit.
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

/// Status of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Status {
    /// Success.
    #[default]
    Done,
    /// A number of the state is not finite; the world makes no further steps.
    NotFinite,
    /// A body is faster than [`TOP_SPEED`]; the world makes no further steps.
    TooFast(BodyId),
}

/// Result of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepReport {
    /// Status.
    pub status: Status,
    /// Hash of the state after it.
    pub hash: u64,
}

/// The bodies, their attachments, and the clock.
#[derive(Clone, Debug, Default)]
pub struct World {
    /// Parameters.
    pub parameters: Parameters,
    /// All bodies, including static ones.
    pub bodies: Bodies,
    /// Surface materials.
    pub materials: Materials,
    /// Attachments between bodies.
    pub attachments: Vec<Attachment>,
    /// Whether steps also build their contact problem as rows with laws in [`World::system`], for other solvers.
    pub keeps_rows: bool,
    proximity: Proximity,
    system: System,
    statistics: Statistics,
    times: StageTimes,
    /// Sweep limit of the next step, instead of the deadline.
    grant: Option<u64>,
    /// Number of sweeps if the last step hit its deadline.
    cut_short: Option<u64>,
    steps: u64,
    /// Deepest point that the second search of the last step saw, m.
    unlisted: f64,
    stopped: Option<Status>,
    /// Contact forces of the last step, for bodies that use them.
    loads: Vec<PressurePoint>,
}

impl World {
    /// An empty world.
    pub fn new(parameters: Parameters) -> Self {
        Self { parameters, ..Self::default() }
    }

    /// Adds a body without a name.
    pub fn add<T: Body>(&mut self, body: T) -> Handle<T> {
        self.bodies.add(body)
    }

    /// Adds a body with a name.
    pub fn add_named<T: Body>(&mut self, name: &str, body: T) -> Handle<T> {
        self.bodies.add_named(name, body)
    }

    /// Removes a body and the attachments that hold it. Other bodies keep their ids and their contacts.
    pub fn remove(&mut self, id: impl Into<BodyId>) -> Option<Box<dyn Body>> {
        let id = id.into();
        let body = self.bodies.remove(id)?;
        self.attachments.retain(|attachment| !attachment.holds(id));
        Some(body)
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
    /// The free motion is computed before proximity: it changes velocities, not positions, and its velocities determine
    /// the search distance.
    pub fn step(&mut self) -> StepReport {
        if let Some(status) = self.stopped {
            return self.report(status);
        }
        let step = self.step_input();
        let mut clock = Stopwatch::start();
        (self.times, self.unlisted) = (StageTimes::default(), 0.0);
        self.free_motion(&step);
        self.times.free = clock.lap();
        self.proximity.join(&self.bodies, &self.attachments);
        self.proximity.find(&self.bodies, &self.materials, &self.parameters.contact, step.h);
        self.times.proximity = clock.lap();
        for attachment in &self.attachments {
            self.proximity.contacts.extend(attachment.links(&self.bodies));
        }
        self.system.clear();
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
        self.settle(&step);
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
        for (body, drive) in self.attachments.iter().filter_map(Attachment::drive) {
            if let Some(body) = self.bodies.get_mut(*body) {
                body.add_drive(drive);
            }
        }
        self.bodies.for_each_part(|part| part.free_motion(step));
    }

    /// The contact problem of the step: formulate, solve, apply, and check the predicted gaps.
    fn resolve_contact(&mut self, step: &Step, clock: &mut Stopwatch) {
        let p = self.parameters;
        let solver = ConvexParameters { iterations: p.solver.iterations, ..Default::default() };
        let mut budget = Budget::new(p.deadline, self.grant.take(), clock.start);
        self.system.start(&self.bodies, &self.proximity, &p.contact, step.h);
        for pass in 0..Islands::passes() {
            let first = pass == 0;
            self.system.formulate(&mut self.bodies, &self.proximity, &self.attachments, &p.contact, step.h, first);
            self.times.formulation += clock.lap();
            self.system.islands.solve(&solver, || budget.go_on());
            self.times.solve += clock.lap();
            self.system.islands.apply(&mut self.bodies, step.h, first);
            if first {
                self.bodies.for_each_part(|part| part.advance(step.h));
            }
            self.update_bodies();
            let again = self.system.islands.measure(&self.bodies, &self.proximity, p.contact.offset);
            self.times.advance += clock.lap();
            let found = self.search_end(step, pass + 1 < Islands::passes() && !budget.ended);
            self.times.proximity += clock.lap();
            if !(again || found) || budget.ended {
                break;
            }
        }
        self.cut_short = budget.ended.then_some(budget.spent);
        self.system.keep(&self.bodies, &self.proximity, &p.contact, SLOW, step.h);
        self.times.advance += clock.lap();
    }

    /// Searches for contacts at the end of the step that the search along the free motion did not list. Returns whether there are any.
    fn search_end(&mut self, step: &Step, keep: bool) -> bool {
        let (contact, islands) = (&self.parameters.contact, &self.system.islands);
        let deviation = |body: BodyId, size: f64| islands.deviation(body, size, step.h);
        let found = self.proximity.search_end(&self.bodies, &self.materials, contact, keep, deviation);
        self.unlisted = found.deepest;
        if found.contacts > 0 {
            self.system.include_found(&self.bodies, &self.proximity, &self.parameters.contact, step.h);
        }
        found.contacts > 0
    }

    /// Contacts and attachments as rows with laws, and the contact problem of every group of bodies that touch.
    fn constrain(&mut self, step: &Step) {
        self.system.build(&mut self.bodies, &mut self.proximity, &self.attachments, &self.parameters.contact);
        self.system.assemble(&mut self.bodies, &self.proximity, &self.parameters.contact, step.h);
    }

    /// The laws of contact and friction on velocities.
    fn solve_velocities(&mut self) {
        let solver = GaussSeidel { parameters: self.parameters.solver };
        let mut budget = Budget::new(self.parameters.deadline, self.grant.take(), Instant::now());
        for group in self.system.groups_mut() {
            group.solve(&solver, || budget.go_on());
        }
        self.cut_short = budget.ended.then_some(budget.spent);
        self.system.remember(&self.proximity, SLOW);
    }

    /// `v = v_free + h A⁻¹ Hᵀ λ`.
    fn apply_forces(&mut self, step: &Step) {
        for group in self.system.groups_mut() {
            group.apply_forces(&mut self.bodies, step.h);
        }
    }

    /// `q = q_t + h v`.
    fn advance(&mut self, step: &Step) {
        self.bodies.for_each_part(|part| part.advance(step.h));
        self.update_bodies();
    }

    /// Post-stabilisation: non-penetration on positions.
    fn correct_positions(&mut self, step: &Step) {
        // In position units instead of velocities.
        let stall_tolerance = step.h * self.parameters.solver.stall_tolerance;
        let solver = GaussSeidel { parameters: SolverParameters { stall_tolerance, ..self.parameters.solver } };
        let offset = self.parameters.contact.offset;
        if self.system.correct_positions(&mut self.bodies, &self.proximity, &solver, offset, step.h) {
            self.update_bodies();
        }
    }

    /// Recomputes what depends on the positions, such as the skin of hands.
    fn update_bodies(&mut self) {
        self.bodies.iter_mut().for_each(|(_, body)| body.update());
    }

    /// Hands the forces of the step to the bodies that use them.
    fn settle(&mut self, step: &Step) {
        let mut loads = std::mem::take(&mut self.loads);
        loads.clear();
        if self.bodies.iter_mut().any(|(_, body)| body.surface_loads().is_some()) {
            loads.extend(self.pressure_points());
        }
        for (id, body) in self.bodies.iter_mut() {
            if let Some(own) = body.surface_loads() {
                own.clear();
                own.extend(loads.iter().filter_map(|point| point.load_on(id)));
            }
            body.settle(step.h);
        }
        self.loads = loads;
    }

    /// Collects the statistics, and stops a world with a non-finite state.
    fn close(&mut self) -> StepReport {
        let groups = self.system.groups();
        let solutions = || groups.iter().filter_map(|g| g.solution.as_ref());
        let pairs = self.proximity.pairs.iter();
        let depths = pairs.flat_map(|p| self.proximity.contacts[p.contacts.clone()].iter().map(|c| self.depth(p, c)));
        let deepest = depths.fold(self.unlisted, f64::max);
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
                penetration: deepest,
            }
        } else {
            Statistics {
                contacts: self.system.touching(),
                constraints: groups.iter().map(Group::rows).sum(),
                groups: groups.len(),
                iterations: solutions().map(|s| s.iterations).max().unwrap_or(0),
                residual: solutions().map(|s| s.residual).fold(0.0, f64::max),
                unconverged: solutions().filter(|s| s.status != SolverStatus::Converged).count(),
                penetration: deepest,
            }
        };
        self.stopped = self.fault();
        self.report(self.stopped.unwrap_or(Status::Done))
    }

    /// What stops the world, if anything does.
    fn fault(&self) -> Option<Status> {
        if !self.bodies.iter().all(|(_, body)| body.is_finite()) {
            return Some(Status::NotFinite);
        }
        self.bodies.ids().find(|&id| self.top_speed(id) > TOP_SPEED).map(Status::TooFast)
    }

    /// An upper bound of the speed of a body, m/s.
    pub fn top_speed(&self, id: BodyId) -> f64 {
        self.proximity.top_speed(&self.bodies, id)
    }

    /// Depth of the first point of a contact inside the other body. The fixed normal overestimates it beyond an edge,
    /// so the depth is limited by the distance to the shape. Elastic surfaces are compressed, not penetrated.
    fn depth(&self, pair: &Pair, contact: &Contact) -> f64 {
        let other = pair.b;
        let along = -contact.gap_now(&self.bodies, 0.0);
        if along <= 0.0 || contact.layer.backing.is_some() {
            return 0.0;
        }
        match self.bodies.get(other.body).map(|body| body.collider(other.index())) {
            Some(Collider::Shape(on)) => {
                let place = contact.a.place(&self.bodies) - on.pose.translation.vector;
                let local = on.pose.rotation.inverse_transform_vector(&place);
                along.min(-signed_distance(on.shape, &local).distance)
            }
            Some(Collider::Mesh(_)) if along > SHALLOW => along.min(self.depth_in_mesh(pair, contact)),
            _ => along,
        }
    }

    /// Depth of the point of one surface inside the mesh of the other, m.
    fn depth_in_mesh(&self, pair: &Pair, contact: &Contact) -> f64 {
        let (a, b) = (contact.a.place(&self.bodies), contact.b.place(&self.bodies));
        let inside = |id: ColliderId, place: &Vec3| {
            let body = self.bodies.expect(id.body);
            let Collider::Mesh(mesh) = body.collider(id.index()) else { return f64::INFINITY };
            let mut positions = Vec::new();
            body.vertex_positions(id.index(), &mut positions);
            depth_in_mesh(&positions, &mesh.rest.triangles, place)
        };
        inside(pair.b, &a).max(inside(pair.a, &b)).max(0.0)
    }

    /// Marks a body as tool of a haptic loop: its contact problem also has the close contacts that are open.
    pub fn set_tool(&mut self, tool: Option<BodyId>) {
        self.system.islands.tool = tool;
    }

    /// The contact problem of the last step, condensed on the constraints of the tool.
    pub fn hand_over(&mut self, out: &mut ToolProblem) {
        let Some(tool) = self.system.islands.tool else { return };
        let (bodies, contact) = (&self.bodies, &self.parameters.contact);
        let stiffness = ConvexParameters::default().attachment_stiffness;
        self.system.hand_over(bodies, &self.proximity, tool, contact, stiffness, out);
        (out.time, out.step) = (self.time(), self.parameters.dt);
    }

    /// Sets the shear displacement that a contact starts the next step with, m.
    pub fn set_shear(&mut self, key: (ColliderId, ColliderId, u64), shear: &Vec3) {
        self.system.set_shear(&self.bodies, key, shear);
    }

    /// Contacts detected in the last step.
    pub fn proximity(&self) -> &Proximity {
        &self.proximity
    }

    /// Forgets the distances that proximity keeps from step to step. The results of later steps do not change.
    pub fn forget_distances(&mut self) {
        self.proximity.forget_distances();
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
        self.bodies.iter().for_each(|(_, body)| body.hash(&mut hash));
        hash.value()
    }

    /// Contact statistics of the last step.
    pub fn statistics(&self) -> &Statistics {
        &self.statistics
    }

    /// Number of sweeps, of all groups together, if the last step hit its deadline.
    pub fn cut_short(&self) -> Option<u64> {
        self.cut_short
    }

    /// Caps the sweeps of the next step, to replay a run that hit its deadline.
    pub fn grant_sweeps(&mut self, sweeps: u64) {
        self.grant = Some(sweeps);
    }

    /// Stage times of the last step.
    pub fn times(&self) -> &StageTimes {
        &self.times
    }
}

/// Iteration budget of a step: until its deadline, or a given number.
struct Budget {
    deadline: Option<f64>,
    grant: Option<u64>,
    started: Instant,
    spent: u64,
    /// Whether it is exhausted. This holds for all later islands, so that the count is reproducible.
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

/// Lap timer.
struct Stopwatch {
    start: Instant,
    lap: Instant,
}

impl Stopwatch {
    fn start() -> Self {
        let now = Instant::now();
        Self { start: now, lap: now }
    }

    /// Time since the last lap, s.
    fn lap(&mut self) -> f64 {
        let now = Instant::now();
        now.duration_since(std::mem::replace(&mut self.lap, now)).as_secs_f64()
    }

    /// Time since the start, s.
    fn total(&self) -> f64 {
        self.lap.duration_since(self.start).as_secs_f64()
    }
}

/// Speed beyond which a body stops the world, m/s. Contact cannot follow such a body: it moves a metre in a step of 1 ms.
pub const TOP_SPEED: f64 = 1000.0;

/// Depth of two meshes along the normal of a contact up to which it is not checked against the meshes, m.
const SHALLOW: f64 = 1e-4;

/// Contacts that move slower than this are held by the friction of rest, m/s.
const SLOW: f64 = 1e-3;

/// Contact statistics of a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Statistics {
    /// Contacts in constraints.
    pub contacts: usize,
    /// Rows of all problems.
    pub constraints: usize,
    /// Groups of touching bodies.
    pub groups: usize,
    /// Maximum number of solver sweeps in a group.
    pub iterations: usize,
    /// Maximum residual of a group.
    pub residual: f64,
    /// Number of groups in which the solver did not converge.
    pub unconverged: usize,
    /// Maximum penetration after the step, m.
    pub penetration: f64,
}

/// Stage times of a step, s. Stages that the method does not have are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageTimes {
    /// Free motion of all bodies.
    pub free: f64,
    /// Proximity.
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

    /// Total contact cost: all stages except free motion and proximity, s.
    pub fn contact(&self) -> f64 {
        self.stages()[2..].iter().sum()
    }
}
