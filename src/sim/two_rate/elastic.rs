use std::time::Instant;

use super::lockstep::{HapticDevice, HapticReport, Lockstep, LockstepSettings, between};
use crate::body::{BodyId, ElasticBody, HeldTool};
use crate::elastic::{ContactStatus, Region};
use crate::haptics::{DeviceSample, HapticLoop, HapticOptions, HapticOutput, LoopStatistics, ToolState, Wrench};
use crate::math::{Pose, Vec3};
use crate::sim::{StepReport, World};

/// A haptic loop with the tool of an elastic object (Luo 2007, fig. 1 and §VII): in every step the device moves the tool, contact is detected,
/// and the force is computed. It is the same in lockstep and in a thread.
#[derive(Debug)]
pub struct ElasticSide {
    /// Guard, coupling and passivity.
    pub control: HapticLoop,
    cost: LoopStatistics,
    device_force: f64,
    peak_force: f64,
    regions: usize,
}

impl ElasticSide {
    /// A loop with a tool at rest.
    pub fn new(options: HapticOptions, tool: &HeldTool) -> Self {
        let mut control = HapticLoop::new(options);
        control.hold(tool.pose());
        let cost = LoopStatistics::new(options.period);
        Self { control, cost, device_force: 0.0, peak_force: 0.0, regions: 0 }
    }

    /// One step with what the device sent, at a time on the clock of the loop.
    pub fn step(&mut self, tool: &mut HeldTool, sample: Option<&DeviceSample>, now: f64, h: f64) -> HapticOutput {
        let clock = Instant::now();
        self.control.listen(sample, now);
        if let Some(guide) = self.control.guide(now) {
            tool.follow(&guide, h);
        }
        let output = self.control.answer(&ToolState { pose: *tool.pose(), velocity: *tool.velocity() }, now);
        self.device_force = self.device_force.max(output.device.force.norm());
        self.peak_force = self.peak_force.max(tool.force().norm());
        self.regions = self.regions.max(tool.object().response().regions.len());
        self.cost.record(clock.elapsed().as_secs_f64());
        output
    }

    /// The figures so far. There is one loop only, so forces do not differ; each region is one constraint.
    pub fn figures(&self) -> HapticReport {
        let mut periods = self.control.report();
        periods.peak_force = self.peak_force;
        HapticReport {
            rate: 1.0 / self.control.options().period,
            periods,
            cost: self.cost.report(),
            faults: self.control.guard().faults(),
            least_energy: self.control.passivity().least_energy(),
            device_force: self.device_force,
            unconverged: 0,
            constraints: self.regions,
        }
    }
}

/// State of a tool in its loop: what the scene needs to draw it.
#[derive(Clone, Debug, Default)]
pub struct ElasticReport {
    /// Pose of the tool.
    pub pose: Pose,
    /// Contact state; `None` before the first step.
    pub status: Option<ContactStatus>,
    /// Force on the tool, N.
    pub force: Vec3,
    /// Contact regions, in the frame of the object.
    pub regions: Vec<Region>,
    /// The wrench last sent to the device.
    pub sent: Wrench,
}

impl ElasticReport {
    /// Writes the state of a tool. Reuses its memory.
    pub fn fill(&mut self, tool: &HeldTool) {
        let response = tool.object().response();
        (self.pose, self.status, self.force) = (*tool.pose(), Some(response.status), response.force);
        self.regions.clear();
        self.regions.extend_from_slice(response.regions);
    }

    /// Copies the state to the tool of the scene.
    pub fn show(&self, tool: &mut HeldTool) {
        if let Some(status) = self.status {
            tool.take_over(&self.pose, status, &self.regions);
        }
    }
}

/// A scene and the haptic loop of an elastic object's tool on one thread: some steps of the loop before each step of the scene, which deforms the
/// object.
#[derive(Debug)]
pub struct ElasticLockstep {
    body: BodyId,
    side: ElasticSide,
    device: HapticDevice,
    rate: f64,
    /// Where the person wants the device: at the start and at the end of a step of the scene.
    aims: [Pose; 2],
    commanded: Wrench,
}

impl ElasticLockstep {
    /// Couples the tool of an elastic body to a device; `None` if the body has no tool.
    pub fn new(world: &mut World, body: BodyId, settings: &LockstepSettings) -> Option<Self> {
        let steps = (world.parameters.dt * settings.rate).round().max(1.0);
        let options = HapticOptions { period: world.parameters.dt / steps, ..settings.options };
        let tool = world.bodies.get_as_mut::<ElasticBody>(body)?.tool_mut()?;
        tool.hold();
        let pose = *tool.pose();
        Some(Self {
            body,
            side: ElasticSide::new(options, tool),
            device: HapticDevice::new(settings, pose),
            rate: settings.rate,
            aims: [pose; 2],
            commanded: Wrench::default(),
        })
    }

    /// The steps of the haptic loop over the coming step of the scene, and this.
    pub fn step(&mut self, world: &mut World) -> StepReport {
        let (start, dt) = (world.time(), world.parameters.dt);
        let steps = (dt * self.rate).round().max(1.0) as usize;
        let h = dt / steps as f64;
        if let Some(tool) = world.bodies.get_as_mut::<ElasticBody>(self.body).and_then(ElasticBody::tool_mut) {
            for i in 0..steps {
                let now = start + i as f64 * h;
                let sample = DeviceSample { time: now + h, pose: self.device.pose() };
                self.commanded = self.side.step(tool, Some(&sample), now, h).device;
                let aim = between(&self.aims, (i + 1) as f64 / steps as f64);
                self.device.step(&self.commanded, &aim, h);
            }
        }
        self.aims[0] = self.aims[1];
        world.step()
    }

    /// Sets where the person wants the device at the end of the coming step of the scene.
    pub fn set_aim(&mut self, aim: &Pose) {
        self.aims[1] = *aim;
    }

    /// Where the person wants the device.
    pub fn aim(&self) -> &Pose {
        &self.aims[1]
    }

    /// The body of the tool and the settings of the loop, to run it elsewhere.
    pub fn coupled(&self) -> (BodyId, HapticOptions) {
        (self.body, *self.side.control.options())
    }

    /// The device.
    pub fn device(&self) -> &HapticDevice {
        &self.device
    }

    /// The wrench last sent to the device.
    pub fn sent_wrench(&self) -> &Wrench {
        &self.commanded
    }

    /// The figures so far.
    pub fn figures(&self) -> HapticReport {
        self.side.figures()
    }

    /// A sentence where the coupling is too stiff for the loop. A device that follows its aim exactly is always stable.
    pub fn warning(&self) -> Option<String> {
        self.side.control.warning().filter(|_| !matches!(self.device, HapticDevice::Positioned(_)))
    }

    /// The same for a real device, which follows its hand.
    pub fn warning_live(&self) -> Option<String> {
        self.side.control.warning()
    }
}

/// The haptic loop of a body in the contact problem, or of an elastic object's tool.
#[derive(Debug)]
pub enum AnyLockstep {
    /// A body in the contact problem.
    Body(Box<Lockstep>),
    /// The tool of an elastic body.
    ElasticTool(Box<ElasticLockstep>),
}

impl AnyLockstep {
    /// Couples a frame of a body, or the tool of an elastic body, to a device; `None` if it cannot be a tool or has none.
    pub fn new(world: &mut World, body: BodyId, frame: usize, settings: &LockstepSettings) -> Option<Self> {
        if world.bodies.get_as::<ElasticBody>(body).is_some() {
            return ElasticLockstep::new(world, body, settings).map(|lockstep| Self::ElasticTool(Box::new(lockstep)));
        }
        Lockstep::new(world, body, frame, settings).map(|lockstep| Self::Body(Box::new(lockstep)))
    }

    /// The loop of a body in the contact problem, if it is one.
    pub fn body(&self) -> Option<&Lockstep> {
        match self {
            Self::Body(lockstep) => Some(lockstep),
            Self::ElasticTool(_) => None,
        }
    }

    /// One step of the scene and those of the haptic loop over the same time.
    pub fn step(&mut self, world: &mut World) -> StepReport {
        match self {
            Self::Body(lockstep) => lockstep.step(world),
            Self::ElasticTool(lockstep) => lockstep.step(world),
        }
    }

    /// Sets where the person wants the device at the end of the coming step of the scene.
    pub fn set_aim(&mut self, aim: &Pose) {
        match self {
            Self::Body(lockstep) => lockstep.set_aim(aim),
            Self::ElasticTool(lockstep) => lockstep.set_aim(aim),
        }
    }

    /// Where the person wants the device.
    pub fn aim(&self) -> &Pose {
        match self {
            Self::Body(lockstep) => lockstep.aim(),
            Self::ElasticTool(lockstep) => lockstep.aim(),
        }
    }

    /// The wrench last sent to the device.
    pub fn sent_wrench(&self) -> &Wrench {
        match self {
            Self::Body(lockstep) => lockstep.sent_wrench(),
            Self::ElasticTool(lockstep) => lockstep.sent_wrench(),
        }
    }

    /// The figures so far.
    pub fn figures(&self) -> HapticReport {
        match self {
            Self::Body(lockstep) => lockstep.figures(),
            Self::ElasticTool(lockstep) => lockstep.figures(),
        }
    }

    /// A sentence where the coupling is too stiff for the loop.
    pub fn warning(&self) -> Option<String> {
        match self {
            Self::Body(lockstep) => lockstep.warning(),
            Self::ElasticTool(lockstep) => lockstep.warning(),
        }
    }

    /// The same for a real device, which follows its hand.
    pub fn warning_live(&self) -> Option<String> {
        match self {
            Self::Body(lockstep) => lockstep.warning_live(),
            Self::ElasticTool(lockstep) => lockstep.warning_live(),
        }
    }
}
