use super::coupling::{VirtualCoupling, Wrench};
use super::guard::{DeviceFault, DeviceGuard, DeviceSample, GuardOptions};
use super::passivity::PassivityController;
use super::statistics::{LoopReport, LoopStatistics};
use crate::math::{Pose, Vec3};

/// Settings of a haptic loop.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HapticOptions {
    /// Period, s.
    pub period: f64,
    /// Coupling between device and tool.
    pub coupling: VirtualCoupling,
    /// When a device is not trusted.
    pub guard: GuardOptions,
    /// Damping of the device itself and of the hand that holds it, N·s/m and N·m·s/rad.
    pub device_damping: [f64; 2],
    /// Largest damping of the passivity controller, N·s/m and N·m·s/rad; `None` switches it off.
    pub passivity: Option<[f64; 2]>,
}

impl Default for HapticOptions {
    fn default() -> Self {
        Self {
            period: 1e-3,
            coupling: VirtualCoupling::default(),
            guard: GuardOptions::default(),
            device_damping: [2.0, 0.01],
            passivity: Some([30.0, 0.03]),
        }
    }
}

/// The tool that a device is coupled to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolState {
    /// Its pose.
    pub pose: Pose,
    /// Its linear and angular velocity.
    pub velocity: [Vec3; 2],
}

/// What a step of the loop decides.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HapticOutput {
    /// To the device.
    pub device: Wrench,
    /// To the tool.
    pub tool: Wrench,
    /// What is wrong with the device.
    pub fault: Option<DeviceFault>,
}

/// A haptic loop, one step at a time.
#[derive(Clone, Debug)]
pub struct HapticLoop {
    options: HapticOptions,
    guard: DeviceGuard,
    passivity: PassivityController,
    statistics: LoopStatistics,
}

impl HapticLoop {
    /// A loop that has heard nothing of its device.
    pub fn new(options: HapticOptions) -> Self {
        Self {
            guard: DeviceGuard::new(options.guard),
            passivity: PassivityController::new(options.passivity.unwrap_or_default()),
            statistics: LoopStatistics::new(options.period),
            options,
        }
    }

    /// One step at the time `now`, with what the device last sent. The force is zero when the device cannot be trusted.
    pub fn step(&mut self, sample: Option<&DeviceSample>, tool: &ToolState, now: f64) -> HapticOutput {
        self.statistics.tick(now);
        self.guard.push(sample, now);
        self.passivity.observe(self.guard.motion());
        let coupled = match self.guard.pose() {
            Some(pose) => {
                let device = (pose, self.guard.velocity());
                self.options.coupling.wrench(device, (&tool.pose, &tool.velocity)).scaled(self.guard.trust(now))
            }
            None => Wrench::default(),
        };
        let coupled = if coupled.is_finite() { coupled } else { Wrench::default() };
        let device = if self.options.passivity.is_some() && self.guard.fault().is_none() {
            self.passivity.control(&coupled.opposite(), self.guard.velocity(), self.options.period)
        } else {
            self.passivity.tell(coupled.opposite())
        };
        HapticOutput { device, tool: coupled, fault: self.guard.fault() }
    }

    /// A sentence where the coupling is too stiff for the loop.
    pub fn warning(&self) -> Option<String> {
        self.options.coupling.warning(self.options.period, self.options.device_damping)
    }

    /// Observer and controller of passivity.
    pub fn passivity(&self) -> &PassivityController {
        &self.passivity
    }

    /// The guard of the device.
    pub fn guard(&self) -> &DeviceGuard {
        &self.guard
    }

    /// Periods and deadlines.
    pub fn report(&self) -> LoopReport {
        self.statistics.report()
    }
}
