//! The haptic loop in its own thread.

use std::time::Instant;

use super::error::Error;
use super::loop_thread::{LoopThread, PeriodicStep, SOLVER_BUDGET};
use crate::body::BodyId;
use crate::contact::ToolProblem;
use crate::haptics::{BridgeServer, DeviceSample, HapticOptions, LoopStatistics, Reader, Wrench, Writer, latest};
use crate::math::Vec3;
use crate::sim::two_rate::{FastTool, HapticReport, HapticSide, LiveLoop, SceneSide, ToolReport};
use crate::sim::{StepReport, World};

/// A device that is read and written by the haptic thread. Neither call may wait.
pub trait HapticLink: Send {
    /// The newest sample since the last call, at the time `now` of the loop, s.
    fn receive(&mut self, now: f64) -> Option<DeviceSample>;

    /// Sends a wrench.
    fn send(&mut self, wrench: &Wrench);
}

impl HapticLink for Box<dyn HapticLink> {
    fn receive(&mut self, now: f64) -> Option<DeviceSample> {
        (**self).receive(now)
    }

    fn send(&mut self, wrench: &Wrench) {
        (**self).send(wrench);
    }
}

impl HapticLink for BridgeServer {
    fn receive(&mut self, _now: f64) -> Option<DeviceSample> {
        BridgeServer::receive(self)
    }

    fn send(&mut self, wrench: &Wrench) {
        BridgeServer::send(self, wrench);
    }
}

/// A haptic loop beside a scene that the caller steps. Both exchange the newest problem and the newest state of the tool through triple buffers and never wait
/// for each other. Stopping or dropping ends the thread and leaves the device without force.
pub struct HapticThread {
    scene: SceneSide,
    problems: Writer<ToolProblem>,
    reports: Reader<ToolReport>,
    /// The newest figures, and the wrench last sent to the device.
    newest: (HapticReport, Wrench),
    /// Number of the newest problem, and the force on the tool in it.
    solved: (u64, Vec3),
    /// Forces of both loops.
    forces: LoopStatistics,
    thread: LoopThread,
}

impl HapticThread {
    /// Couples a frame of a body to a device and starts the loop. `None` if the body cannot be a tool.
    pub fn start(
        world: &mut World,
        tool: BodyId,
        frame: usize,
        options: HapticOptions,
        link: impl HapticLink + 'static,
    ) -> Result<Option<Self>, Error> {
        let Some(scene) = SceneSide::new(world, tool, frame) else { return Ok(None) };
        let Some(body) = world.bodies.get(tool) else { return Ok(None) };
        let fast = FastTool::new(body, frame, world.parameters.gravity);
        let first = fast.report();
        let side = HapticSide::new(options, fast);
        let (problems, newest) = latest(&ToolProblem::default());
        let (reporter, reports) = latest(&first);
        let (period, no_figures) = (options.period, side.figures());
        let work = ContactLoop { side, newest, reporter, link, period, good: first, number: 0, arrived: 0.0 };
        let thread = LoopThread::start(period, work)?;
        Ok(Some(Self {
            scene,
            problems,
            reports,
            newest: (no_figures, Wrench::default()),
            solved: (0, Vec3::zeros()),
            forces: LoopStatistics::new(period),
            thread,
        }))
    }

    /// One step of the scene with the newest state of the tool; its contact problem goes to the loop.
    pub fn step(&mut self, world: &mut World) -> StepReport {
        let (scene, report, solved) = (&mut self.scene, self.reports.read(), &mut self.solved);
        // The forces of both loops for the same problem.
        if report.problem == solved.0 && solved.0 > 0 {
            self.forces.compare(&report.force, &solved.1);
        }
        self.newest = (self.thread.figures(), report.sent);
        let mut done = None;
        self.problems.fill(|problem| {
            done = Some(scene.step(world, report, problem));
            *solved = (problem.number, problem.force_on_tool(&problem.forces));
        });
        match done {
            Some(done) => done,
            None => world.step(),
        }
    }

    /// The newest state of the tool.
    pub fn report(&mut self) -> &ToolReport {
        self.reports.read()
    }

    /// The figures at the last step of the scene.
    pub fn figures(&self) -> HapticReport {
        let (forces, mut figures) = (self.forces.report(), self.newest.0);
        figures.periods.force_difference = forces.force_difference;
        figures.periods.peak_force = forces.peak_force;
        figures
    }

    /// Ends the loop and returns its figures.
    ///
    /// # Panics
    ///
    /// If the thread has panicked.
    pub fn stop(self) -> Option<HapticReport> {
        self.thread.stop()
    }
}

impl std::fmt::Debug for HapticThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HapticThread").field("figures", &self.newest.0).finish_non_exhaustive()
    }
}

impl LiveLoop for HapticThread {
    fn step(&mut self, world: &mut World) -> StepReport {
        HapticThread::step(self, world)
    }

    fn figures(&self) -> HapticReport {
        HapticThread::figures(self)
    }

    fn sent_wrench(&self) -> Wrench {
        self.newest.1
    }
}

/// What the thread owns.
struct ContactLoop<L> {
    side: HapticSide,
    newest: Reader<ToolProblem>,
    reporter: Writer<ToolReport>,
    link: L,
    period: f64,
    /// The last finite state of the tool.
    good: ToolReport,
    /// Number of the newest problem, and when it came, s.
    number: u64,
    arrived: f64,
}

impl<L: HapticLink + 'static> PeriodicStep for ContactLoop<L> {
    fn step(&mut self, now: f64) {
        let sample = self.link.receive(now);
        let problem = self.newest.read();
        if problem.number != self.number {
            (self.number, self.arrived) = (problem.number, now);
        }
        // The problem is as old as it has been here; the clocks of scene and loop need not agree.
        let scene_time = problem.time + (now - self.arrived);
        let (began, budget) = (Instant::now(), SOLVER_BUDGET * self.period);
        let go_on = || began.elapsed().as_secs_f64() < budget;
        let output = self.side.step(problem, sample.as_ref(), [now, scene_time], self.period, go_on);
        if !self.side.tool.is_finite() {
            self.link.send(&Wrench::default());
            self.side.tool.reset(&*self.good.body);
            return;
        }
        self.link.send(&output.device);
        self.side.tool.fill_report(&mut self.good);
        let tool = &self.side.tool;
        self.reporter.fill(|report| {
            tool.fill_report(report);
            report.sent = output.device;
        });
    }

    fn release(&mut self) {
        self.link.send(&Wrench::default());
    }

    fn figures(&self) -> HapticReport {
        self.side.figures()
    }
}
