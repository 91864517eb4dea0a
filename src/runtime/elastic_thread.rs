//! The haptic loop of an elastic object's tool in its own thread.

use super::error::Error;
use super::haptic_thread::HapticLink;
use super::loop_thread::{LoopThread, PeriodicStep};
use crate::body::{BodyId, ElasticBody, HeldTool};
use crate::haptics::{HapticOptions, Reader, Wrench, Writer, latest};
use crate::sim::two_rate::{ElasticReport, ElasticSide, HapticReport, LiveLoop};
use crate::sim::{StepReport, World};

/// A haptic loop with the tool of an elastic body beside a scene that the caller steps (Luo 2007, §VII). The loop has a copy of the tool and of the
/// contact, and sends its newest state to the scene through a triple buffer; the scene deforms the object. Neither waits for the other. Stopping or
/// dropping ends the thread and leaves the device without force.
pub struct ElasticThread {
    body: BodyId,
    reports: Reader<ElasticReport>,
    /// The newest figures, and the wrench last sent to the device.
    newest: (HapticReport, Wrench),
    thread: LoopThread,
}

impl ElasticThread {
    /// Couples the tool of an elastic body to a device and starts the loop. `None` if the body has no tool.
    pub fn start(
        world: &mut World,
        body: BodyId,
        options: HapticOptions,
        link: impl HapticLink + 'static,
    ) -> Result<Option<Self>, Error> {
        let elastic = world.bodies.get_as_mut::<ElasticBody>(body);
        let Some(tool) = elastic.and_then(ElasticBody::tool_mut) else { return Ok(None) };
        tool.hold();
        let tool = tool.clone();
        let side = ElasticSide::new(options, &tool);
        let (reporter, reports) = latest(&ElasticReport::default());
        let newest = (side.figures(), Wrench::default());
        let work = ElasticLoop { side, tool, reporter, link, period: options.period };
        let thread = LoopThread::start(options.period, work)?;
        Ok(Some(Self { body, reports, newest, thread }))
    }

    /// One step of the scene with the newest state of the tool.
    pub fn step(&mut self, world: &mut World) -> StepReport {
        if let Some(tool) = world.bodies.get_as_mut::<ElasticBody>(self.body).and_then(ElasticBody::tool_mut) {
            self.reports.read().show(tool);
        }
        self.newest = (self.thread.figures(), self.reports.read().sent);
        world.step()
    }

    /// The newest state of the tool.
    pub fn report(&mut self) -> &ElasticReport {
        self.reports.read()
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

impl std::fmt::Debug for ElasticThread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ElasticThread").field("figures", &self.newest.0).finish_non_exhaustive()
    }
}

impl LiveLoop for ElasticThread {
    fn step(&mut self, world: &mut World) -> StepReport {
        ElasticThread::step(self, world)
    }

    fn figures(&self) -> HapticReport {
        self.newest.0
    }

    fn sent_wrench(&self) -> Wrench {
        self.newest.1
    }
}

/// What the thread owns.
struct ElasticLoop<L> {
    side: ElasticSide,
    tool: HeldTool,
    reporter: Writer<ElasticReport>,
    link: L,
    period: f64,
}

impl<L: HapticLink + 'static> PeriodicStep for ElasticLoop<L> {
    fn step(&mut self, now: f64) {
        let sample = self.link.receive(now);
        let output = self.side.step(&mut self.tool, sample.as_ref(), now, self.period);
        self.link.send(&output.device);
        let tool = &self.tool;
        self.reporter.fill(|report| {
            report.fill(tool);
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
