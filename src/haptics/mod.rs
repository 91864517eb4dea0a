//! Rank 3: force-feedback devices: coupling to a tool of the scene, passivity, safety, and the links to devices.
//!
//! One step of a haptic loop is [`HapticLoop::step`]: the sample of the device goes through [`DeviceGuard`], [`VirtualCoupling`] and
//! [`PassivityController`], and comes back as a force and a torque. Times are given, so nothing in it waits and it runs in lockstep as well as in a
//! separate thread. Threads exchange the newest value through [`latest`]. [`EmulatedHand`] is a device without hardware, and [`AdmittedHand`]
//! one under admittance control.
//! [`BridgeServer`] and [`Inverse3Client`] are the links.
//!
//! A device whose user pulls it 2 cm away from a tool that does not move:
//!
//! ```
//! use fingerpad::haptics::{EmulatedHand, HandDynamics, HapticLoop, HapticOptions, ToolState, Wrench};
//! use fingerpad::math::{Pose, Vec3};
//!
//! let options = HapticOptions::default();
//! let mut haptic = HapticLoop::new(options);
//! let mut hand = EmulatedHand::new(HandDynamics::default(), Pose::identity());
//! let tool = ToolState { pose: Pose::identity(), velocity: [Vec3::zeros(); 2] };
//! let aim = Pose::translation(0.02, 0.0, 0.0);
//! let mut sent = Wrench::default();
//! for step in 0..3000 {
//!     hand.step(&sent, &aim, options.period);
//!     sent = haptic.step(Some(&hand.sample()), &tool, f64::from(step) * options.period).device;
//! }
//! // The springs of the hand (150 N/m) and of the coupling (500 N/m) are in series.
//! let expected = -0.02 * 150.0 * 500.0 / 650.0;
//! assert!((sent.force.x - expected).abs() < 0.02, "{}", sent.force.x);
//! ```

mod admittance;
mod bridge;
mod coupling;
mod emulated;
mod frame;
mod guard;
mod inverse3;
mod latest;
mod passivity;
mod statistics;
mod step;

pub use admittance::{Admittance, AdmittanceState, AdmittedHand};
pub use bridge::{BridgeError, BridgeServer};
pub use coupling::{CouplingError, StabilityMargin, VirtualCoupling, Wrench};
pub use emulated::{EmulatedHand, HandDynamics};
pub use frame::{DeviceFrame, DeviceMap};
pub use guard::{DeviceFault, DeviceGuard, DeviceSample, GuardOptions};
pub use inverse3::{EmulatedInverse3, Inverse3Client, Inverse3Error};
pub use latest::{Reader, Writer, latest};
pub use passivity::PassivityController;
pub use statistics::{LoopReport, LoopStatistics};
pub use step::{HapticLoop, HapticOptions, HapticOutput, ToolState};
