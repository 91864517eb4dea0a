use super::admittance::Admittance;
use super::coupling::{VirtualCoupling, Wrench};
use super::guard::{DeviceFault, DeviceGuard, DeviceSample, GuardOptions};
use super::passivity::PassivityController;
use super::statistics::{LoopReport, LoopStatistics};
use crate::math::{Pose, Vec3, exp, log};
use crate::problem::Guide;

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
    /// The virtual mass of a device under admittance control, which measures force and is told where to be. `None` for impedance control: the device
    /// measures its pose and is told a force.
    pub admittance: Option<Admittance>,
}

impl Default for HapticOptions {
    fn default() -> Self {
        Self {
            period: 1e-3,
            coupling: VirtualCoupling::default(),
            guard: GuardOptions::default(),
            device_damping: [2.0, 0.01],
            passivity: Some([30.0, 0.03]),
            admittance: None,
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
    held: Option<Pose>,
}

impl HapticLoop {
    /// A loop without samples of its device so far.
    pub fn new(options: HapticOptions) -> Self {
        Self {
            guard: DeviceGuard::new(options.guard),
            passivity: PassivityController::new(options.passivity.unwrap_or_default()),
            statistics: LoopStatistics::new(options.period),
            held: None,
            options,
        }
    }

    /// One step at the time `now`, with what the device last sent. The force is zero when the device cannot be trusted.
    pub fn step(&mut self, sample: Option<&DeviceSample>, tool: &ToolState, now: f64) -> HapticOutput {
        self.listen(sample, now);
        self.answer(tool, now)
    }

    /// First half of a step: processes the newest sample of the device.
    pub fn listen(&mut self, sample: Option<&DeviceSample>, now: f64) {
        self.statistics.tick(now);
        self.guard.push(sample, now);
        self.passivity.observe(self.guard.motion());
    }

    /// Holds the tool at a pose until the device is trusted.
    pub fn hold(&mut self, pose: &Pose) {
        self.held = Some(*pose);
    }

    /// The coupling as a spring that a tool is moved with in the coming step. While the device cannot be trusted the tool is held where
    /// it last was; afterwards it is led back to the device. `None` if there was no pose yet.
    pub fn guide(&mut self, now: f64) -> Option<Guide> {
        let trust = self.guard.trust(now);
        let (pose, velocity) = match (self.guard.pose(), self.held) {
            (Some(pose), Some(held)) if trust < 1.0 => {
                let turn = log(&(pose.rotation * held.rotation.inverse()));
                let place = held.translation.vector.lerp(&pose.translation.vector, trust);
                let led = Pose::from_parts(place.into(), exp(&(trust * turn)) * held.rotation);
                (led, self.guard.velocity().map(|v| trust * v))
            }
            (Some(pose), _) => {
                self.held = Some(*pose);
                (*pose, *self.guard.velocity())
            }
            (None, held) => (held?, [Vec3::zeros(); 2]),
        };
        let c = &self.options.coupling;
        Some(Guide {
            pose,
            velocity,
            stiffness: [c.stiffness, c.angular_stiffness],
            damping: [c.damping, c.angular_damping],
            limits: [c.force_limit, c.torque_limit],
        })
    }

    /// Second half of a step: the wrenches for a tool that has moved with [`Self::guide`].
    pub fn answer(&mut self, tool: &ToolState, now: f64) -> HapticOutput {
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
        let damping = self.options.admittance.map_or(self.options.device_damping, |a| [a.damping, a.angular_damping]);
        self.options.coupling.warning(self.options.period, damping)
    }

    /// Observer and controller of passivity.
    pub fn passivity(&self) -> &PassivityController {
        &self.passivity
    }

    /// The guard of the device.
    pub fn guard(&self) -> &DeviceGuard {
        &self.guard
    }

    /// Settings.
    pub fn options(&self) -> &HapticOptions {
        &self.options
    }

    /// Compares the forces of both loops on the tool, N.
    pub fn compare(&mut self, haptic: &Vec3, simulated: &Vec3) {
        self.statistics.compare(haptic, simulated);
    }

    /// Periods and deadlines.
    pub fn report(&self) -> LoopReport {
        self.statistics.report()
    }
}
