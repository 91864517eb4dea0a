//! The haptic loop of an elastic object's tool in its own thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::error::Error;
use super::haptic_thread::{FIGURES, HapticLink, MAX_LATE_PERIODS};
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
    figures: Reader<HapticReport>,
    /// The newest figures, and the wrench last sent to the device.
    newest: (HapticReport, Wrench),
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<HapticReport>>,
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
        let no_figures = side.figures();
        let (noted, figures) = latest(&no_figures);
        let stop = Arc::new(AtomicBool::new(false));
        let asked = Arc::clone(&stop);
        let thread = std::thread::Builder::new()
            .name("haptics".into())
            .spawn(move || ElasticLoop { side, tool, reporter, noted, link, period: options.period }.run(&asked))
            .map_err(|error| Error::Thread { name: "the haptic loop".into(), error })?;
        let newest = (no_figures, Wrench::default());
        Ok(Some(Self { body, reports, figures, newest, stop, thread: Some(thread) }))
    }

    /// One step of the scene with the newest state of the tool.
    pub fn step(&mut self, world: &mut World) -> StepReport {
        if let Some(tool) = world.bodies.get_as_mut::<ElasticBody>(self.body).and_then(ElasticBody::tool_mut) {
            self.reports.read().show(tool);
        }
        self.newest = (*self.figures.read(), self.reports.read().sent);
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
    pub fn stop(mut self) -> Option<HapticReport> {
        self.stop.store(true, Ordering::Release);
        match self.thread.take()?.join() {
            Ok(report) => Some(report),
            Err(panic) => std::panic::resume_unwind(panic),
        }
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

impl Drop for ElasticThread {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported by the panic hook.
            let _ = thread.join();
        }
    }
}

/// What the thread owns.
struct ElasticLoop<L> {
    side: ElasticSide,
    tool: HeldTool,
    reporter: Writer<ElasticReport>,
    noted: Writer<HapticReport>,
    link: L,
    period: f64,
}

impl<L: HapticLink> ElasticLoop<L> {
    fn run(mut self, stop: &AtomicBool) -> HapticReport {
        let start = Instant::now();
        let (mut due, mut steps) = (0.0, 0);
        while !stop.load(Ordering::Acquire) {
            let now = start.elapsed().as_secs_f64();
            if now < due {
                std::thread::sleep(Duration::from_secs_f64(due - now));
                continue;
            }
            due = if now - due > MAX_LATE_PERIODS * self.period { now } else { due } + self.period;
            let sample = self.link.receive(now);
            let output = self.side.step(&mut self.tool, sample.as_ref(), now, self.period);
            self.link.send(&output.device);
            let tool = &self.tool;
            self.reporter.fill(|report| {
                report.fill(tool);
                report.sent = output.device;
            });
            steps += 1;
            if steps % FIGURES == 0 {
                self.noted.write(self.side.figures());
            }
        }
        self.link.send(&Wrench::default());
        self.side.figures()
    }
}
