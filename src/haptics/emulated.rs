use super::coupling::Wrench;
use super::guard::DeviceSample;
use crate::math::{Pose, Vec3, exp, log};

/// A person's hand on a device: a mass, held at a moving target by a spring and a damper. The target is the intended position; the person feels the force of the device at once, and
/// the device answers after a delay.
///
/// Orders of magnitude: 0.1 to 0.5 kg, 1 to 10 N·s/m and 50 to 500 N/m for a hand that holds a stylus.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandDynamics {
    /// Mass of hand and handle, kg.
    pub mass: f64,
    /// Damping of the arm for translation, N·s/m.
    pub damping: f64,
    /// Stiffness of the arm for translation, N/m.
    pub stiffness: f64,
    /// Moment of inertia, kg·m².
    pub inertia: f64,
    /// Damping for rotation, N·m·s/rad.
    pub angular_damping: f64,
    /// Stiffness for rotation, N·m/rad.
    pub angular_stiffness: f64,
    /// Delay of the device from command to force, in steps.
    pub delay: usize,
}

impl Default for HandDynamics {
    fn default() -> Self {
        Self {
            mass: 0.3,
            damping: 2.0,
            stiffness: 150.0,
            inertia: 3e-4,
            angular_damping: 0.01,
            angular_stiffness: 0.5,
            delay: 1,
        }
    }
}

/// Steps of the integration in one step of the loop.
const SUBSTEPS: usize = 20;

/// An emulated device in an emulated hand.
#[derive(Clone, Debug)]
pub struct EmulatedHand {
    dynamics: HandDynamics,
    pose: Pose,
    velocity: [Vec3; 2],
    queue: std::collections::VecDeque<Wrench>,
    time: f64,
    received: f64,
}

impl EmulatedHand {
    /// A hand at rest.
    pub fn new(dynamics: HandDynamics, pose: Pose) -> Self {
        let queue = std::iter::repeat_n(Wrench::default(), dynamics.delay).collect();
        Self { dynamics, pose, velocity: [Vec3::zeros(); 2], queue, time: 0.0, received: 0.0 }
    }

    /// Moves by one step of the loop with the wrench sent to the device now; `aim` is the intended position.
    pub fn step(&mut self, commanded: &Wrench, aim: &Pose, h: f64) {
        self.queue.push_back(*commanded);
        let wrench = self.queue.pop_front().unwrap_or_default();
        let (dt, d) = (h / SUBSTEPS as f64, &self.dynamics);
        for _ in 0..SUBSTEPS {
            let pull = d.stiffness * (aim.translation.vector - self.pose.translation.vector) + wrench.force;
            let twist = d.angular_stiffness * log(&(aim.rotation * self.pose.rotation.inverse())) + wrench.torque;
            let [v, w] = &mut self.velocity;
            // Implicit in the damping.
            *v = (d.mass * *v + dt * pull) / (d.mass + dt * d.damping);
            *w = (d.inertia * *w + dt * twist) / (d.inertia + dt * d.angular_damping);
            self.pose.translation.vector += dt * *v;
            self.pose.rotation = exp(&(dt * *w)) * self.pose.rotation;
            self.received += dt * (wrench.force.dot(v) + wrench.torque.dot(w));
        }
        self.pose.rotation.renormalize();
        self.time += h;
    }

    /// What the device sends.
    pub fn sample(&self) -> DeviceSample {
        DeviceSample { time: self.time, pose: self.pose }
    }

    /// Linear and angular velocity.
    pub fn velocity(&self) -> &[Vec3; 2] {
        &self.velocity
    }

    /// Energy that the hand has received from the device, J.
    pub fn received(&self) -> f64 {
        self.received
    }
}
