use crate::math::Vec3;

use super::coupling::Wrench;

/// Observer and controller of passivity in the time domain (Hannaford and Ryu 2002), for translation and for rotation.
///
/// The force `f` sent to the device is held until the next sample, so the energy that the virtual side absorbed in a period is exactly
/// `−f · Δx` with the motion `Δx` of the device in it. Where the sum falls below zero the virtual side has given out energy that it never received. The
/// controller then adds the damping `α = −E / (T |v|²)`, which takes the energy back in the next period if the device keeps its velocity.
///
/// DEVIATION: the paper observes `f v T` with the velocity of one sample. The product with the measured motion has no error of discretisation.
#[derive(Clone, Debug, Default)]
pub struct PassivityController {
    channels: [Channel; 2],
    /// Largest damping that is added, N·s/m and N·m·s/rad.
    limits: [f64; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Channel {
    energy: f64,
    least: f64,
    dissipated: f64,
    commanded: Vec3,
}

/// Speeds below this do not dissipate, m/s and rad/s.
const SLOWEST: f64 = 1e-6;

impl PassivityController {
    /// A controller that adds at most so much damping. More than `m/T` for a moving mass `m` would itself be unstable.
    pub fn new(limits: [f64; 2]) -> Self {
        Self { channels: [Channel::default(); 2], limits }
    }

    /// Records the motion of the device, in metres and radians, since the last wrench was sent.
    pub fn observe(&mut self, motion: &[Vec3; 2]) {
        for (channel, moved) in self.channels.iter_mut().zip(motion) {
            channel.energy -= channel.commanded.dot(moved);
            channel.least = channel.least.min(channel.energy);
        }
    }

    /// The wrench on the device with the damping that passivity needs. Linear and angular velocity are those of the device.
    pub fn control(&mut self, wanted: &Wrench, velocity: &[Vec3; 2], period: f64) -> Wrench {
        let mut out = [wanted.force, wanted.torque];
        for k in 0..2 {
            let (channel, v) = (&self.channels[k], velocity[k]);
            if channel.energy < 0.0 && v.norm() > SLOWEST {
                let damping = (-channel.energy / (period * v.norm_squared())).min(self.limits[k]);
                out[k] -= damping * v;
                self.channels[k].dissipated += damping * v.norm_squared() * period;
            }
        }
        self.tell(Wrench { force: out[0], torque: out[1] })
    }

    /// Sets the wrench sent to the device, where something else than [`Self::control`] decided it.
    pub fn tell(&mut self, wrench: Wrench) -> Wrench {
        self.channels[0].commanded = wrench.force;
        self.channels[1].commanded = wrench.torque;
        wrench
    }

    /// Energy that the virtual side has absorbed, J.
    pub fn energy(&self) -> f64 {
        self.channels.iter().map(|c| c.energy).sum()
    }

    /// The least it was, for translation or rotation, J.
    pub fn least_energy(&self) -> f64 {
        self.channels.iter().map(|c| c.least).fold(0.0, f64::min)
    }

    /// Energy that the controller has taken out, by its own reckoning, J.
    pub fn dissipated(&self) -> f64 {
        self.channels.iter().map(|c| c.dissipated).sum()
    }
}
