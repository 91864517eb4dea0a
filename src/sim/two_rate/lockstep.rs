use std::time::Instant;

use super::fast::{FastTool, ToolReport};
use super::scene::SceneSide;
use crate::body::BodyId;
use crate::contact::ToolProblem;
use crate::haptics::{
    AdmittedHand, DeviceSample, EmulatedHand, HandDynamics, HapticLoop, HapticOptions, HapticOutput, LoopReport,
    LoopStatistics, ToolState, Wrench,
};
use crate::math::{Pose, Vec3, exp, log};
use crate::sim::{StepReport, World};

/// A device in lockstep with the scene.
#[derive(Clone, Debug)]
pub enum HapticDevice {
    /// It is always at its target; forces do not move it.
    Positioned(Pose),
    /// A hand that holds it: mass, damper, spring and delay.
    Emulated(Box<EmulatedHand>),
    /// A device under admittance control in a hand: the virtual mass of [`crate::haptics::Admittance`].
    Admitted(Box<AdmittedHand>),
}

impl HapticDevice {
    /// A device of an emulated hand, or one that follows its aim exactly.
    pub fn new(settings: &LockstepSettings, pose: Pose) -> Self {
        match (settings.hand, settings.options.admittance) {
            (Some(hand), None) => Self::Emulated(Box::new(EmulatedHand::new(hand, pose))),
            (Some(hand), Some(control)) => Self::Admitted(Box::new(AdmittedHand::new(control, hand, pose))),
            (None, _) => Self::Positioned(pose),
        }
    }

    /// Where it is.
    pub fn pose(&self) -> Pose {
        match self {
            Self::Positioned(pose) => *pose,
            Self::Emulated(hand) => hand.sample().pose,
            Self::Admitted(hand) => hand.sample().pose,
        }
    }

    pub(super) fn step(&mut self, commanded: &Wrench, aim: &Pose, h: f64) {
        match self {
            Self::Positioned(pose) => *pose = *aim,
            Self::Emulated(hand) => hand.step(commanded, aim, h),
            Self::Admitted(hand) => hand.step(commanded, aim, h),
        }
    }
}

/// Settings of a haptic loop in lockstep.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LockstepSettings {
    /// Rate of the haptic loop, Hz. There is a whole number of its steps in a step of the scene.
    pub rate: f64,
    /// Coupling, guard and passivity. The period follows from the rate.
    pub options: HapticOptions,
    /// The emulated hand, or `None` for a device that follows its aim exactly.
    pub hand: Option<HandDynamics>,
}

/// Figures of a haptic loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HapticReport {
    /// Rate of the haptic loop, Hz.
    pub rate: f64,
    /// Periods, missed deadlines, and forces of both loops.
    pub periods: LoopReport,
    /// Time that steps of the haptic loop took, s.
    pub cost: LoopReport,
    /// Faults of the device.
    pub faults: u64,
    /// Least energy that the passivity observer saw, J.
    pub least_energy: f64,
    /// Largest force of the device, N.
    pub device_force: f64,
    /// Steps in which the solver ran out of sweeps.
    pub unconverged: u64,
    /// Largest number of constraints.
    pub constraints: usize,
}

/// A scene and its haptic loop on one thread: some steps of the haptic loop after each step of the scene.
#[derive(Debug)]
pub struct Lockstep {
    scene: SceneSide,
    side: HapticSide,
    device: HapticDevice,
    problem: ToolProblem,
    report: ToolReport,
    rate: f64,
    /// Target of the device at the start and at the end of a step of the scene.
    aims: [Pose; 2],
    commanded: Wrench,
}

/// The fast loop's side: loop, tool and figures. It is the same in lockstep and in a thread.
#[derive(Debug)]
pub struct HapticSide {
    /// Guard, coupling and passivity.
    pub control: HapticLoop,
    /// The tool.
    pub tool: FastTool,
    cost: LoopStatistics,
    device_force: f64,
    unconverged: u64,
    constraints: usize,
}

impl HapticSide {
    /// A loop with a tool at rest.
    pub fn new(options: HapticOptions, tool: FastTool) -> Self {
        let mut control = HapticLoop::new(options);
        control.hold(&tool.frame().0);
        let cost = LoopStatistics::new(options.period);
        Self { control, tool, cost, device_force: 0.0, unconverged: 0, constraints: 0 }
    }

    /// One step with the newest problem of the scene and what the device sent, from a time on the clock of the loop and on that of the scene. `go_on` limits the
    /// solver.
    pub fn step(
        &mut self,
        problem: &ToolProblem,
        sample: Option<&DeviceSample>,
        [now, scene_time]: [f64; 2],
        h: f64,
        go_on: impl FnMut() -> bool,
    ) -> HapticOutput {
        let clock = Instant::now();
        self.control.listen(sample, now);
        let guide = self.control.guide(now);
        self.tool.step(problem, guide, scene_time, h, go_on);
        let (pose, velocity) = self.tool.frame();
        let output = self.control.answer(&ToolState { pose, velocity }, now);
        self.unconverged += u64::from(!self.tool.swept().converged);
        self.constraints = self.constraints.max(problem.constraints.len());
        self.device_force = self.device_force.max(output.device.force.norm());
        self.cost.record(clock.elapsed().as_secs_f64());
        output
    }

    /// The figures so far.
    pub fn figures(&self) -> HapticReport {
        HapticReport {
            rate: 1.0 / self.control.options().period,
            periods: self.control.report(),
            cost: self.cost.report(),
            faults: self.control.guard().faults(),
            least_energy: self.control.passivity().least_energy(),
            device_force: self.device_force,
            unconverged: self.unconverged,
            constraints: self.constraints,
        }
    }
}

impl Lockstep {
    /// Couples a frame of a body of the world to a device; `None` if the body cannot be a tool or the contact method is not the convex problem.
    pub fn new(world: &mut World, tool: BodyId, frame: usize, settings: &LockstepSettings) -> Option<Self> {
        let scene = SceneSide::new(world, tool, frame)?;
        let fast = FastTool::new(world.bodies.get(tool)?, frame, world.parameters.gravity);
        let (pose, report) = (fast.frame().0, fast.report());
        let steps = (world.parameters.dt * settings.rate).round().max(1.0);
        let options = HapticOptions { period: world.parameters.dt / steps, ..settings.options };
        let mut side = HapticSide::new(options, fast);
        let report = ToolReport { guide: side.control.guide(0.0), ..report };
        Some(Self {
            scene,
            side,
            device: HapticDevice::new(settings, pose),
            problem: ToolProblem::default(),
            report,
            rate: settings.rate,
            aims: [pose; 2],
            commanded: Wrench::default(),
        })
    }

    /// One step of the scene, and those of the haptic loop over the same time.
    pub fn step(&mut self, world: &mut World) -> StepReport {
        let (start, dt) = (world.time(), world.parameters.dt);
        let done = self.scene.step(world, &self.report, &mut self.problem);
        let steps = (dt * self.rate).round().max(1.0) as usize;
        let h = dt / steps as f64;
        for i in 0..steps {
            let now = start + i as f64 * h;
            let sample = DeviceSample { time: now + h, pose: self.device.pose() };
            let output = self.side.step(&self.problem, Some(&sample), [now; 2], h, || true);
            self.commanded = output.device;
            let aim = between(&self.aims, (i + 1) as f64 / steps as f64);
            self.device.step(&output.device, &aim, h);
        }
        self.aims[0] = self.aims[1];
        let scene = self.problem.force_on_tool(&self.problem.forces);
        let haptic = *self.side.tool.force();
        self.side.control.compare(&haptic, &scene);
        self.side.tool.fill_report(&mut self.report);
        done
    }

    /// Sets the target of the device at the end of the next step of the scene.
    pub fn set_aim(&mut self, aim: &Pose) {
        self.aims[1] = *aim;
    }

    /// Target of the device.
    pub fn aim(&self) -> &Pose {
        &self.aims[1]
    }

    /// The device.
    pub fn device(&self) -> &HapticDevice {
        &self.device
    }

    /// The wrench last sent to the device.
    pub fn sent_wrench(&self) -> &Wrench {
        &self.commanded
    }

    /// The tool in the haptic loop.
    pub fn tool(&self) -> &FastTool {
        &self.side.tool
    }

    /// The condensed contact problem of the last step of the scene.
    pub fn problem(&self) -> &ToolProblem {
        &self.problem
    }

    /// Forces on the tool at the end of the last step: in the haptic loop and in the scene, N.
    pub fn forces(&self) -> [Vec3; 2] {
        [*self.side.tool.force(), self.problem.force_on_tool(&self.problem.forces)]
    }

    /// The figures so far.
    pub fn figures(&self) -> HapticReport {
        self.side.figures()
    }

    /// The tool, its frame that is coupled, and the settings of the loop, to run it elsewhere.
    pub fn coupled(&self) -> (BodyId, usize, HapticOptions) {
        (self.scene.tool(), self.side.tool.frame_number(), *self.side.control.options())
    }

    /// A sentence where the coupling is too stiff for the loop. A device that follows its aim exactly feels nothing, so it is always stable.
    pub fn warning(&self) -> Option<String> {
        self.side.control.warning().filter(|_| !matches!(self.device, HapticDevice::Positioned(_)))
    }

    /// The same sentence for a real device in place of this one.
    pub fn warning_live(&self) -> Option<String> {
        self.side.control.warning()
    }
}

/// A pose between two.
pub(super) fn between([a, b]: &[Pose; 2], part: f64) -> Pose {
    let turn = log(&(b.rotation * a.rotation.inverse()));
    let place = a.translation.vector.lerp(&b.translation.vector, part);
    Pose::from_parts(place.into(), exp(&(part * turn)) * a.rotation)
}
