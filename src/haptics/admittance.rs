use std::collections::VecDeque;

use super::coupling::Wrench;
use super::emulated::HandDynamics;
use super::guard::DeviceSample;
use crate::math::{Pose, Vec3, exp, log};

/// Admittance control: the device measures the force of the hand and receives a target pose. The motion is that of a virtual mass with damping, acted on by the
/// hand and the scene (the mode of Duriez 2004, §5.2).
///
/// The virtual mass takes the place of the hand's in the loop: the coupling to the scene is passive where its damping exceeds `K T/2 + |B|`, with the
/// stiffness `K` and the damping `B` of both coupling and hand, as both forces are held for a period.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Admittance {
    /// Virtual mass, kg.
    pub mass: f64,
    /// Virtual moment of inertia, kg·m².
    pub inertia: f64,
    /// Damping for translation, N·s/m.
    pub damping: f64,
    /// Damping for rotation, N·m·s/rad.
    pub angular_damping: f64,
    /// Largest speed, m/s.
    pub speed_limit: f64,
    /// Largest angular speed, rad/s.
    pub turn_limit: f64,
}

impl Default for Admittance {
    fn default() -> Self {
        Self { mass: 1.0, inertia: 1e-3, damping: 5.0, angular_damping: 0.02, speed_limit: 2.0, turn_limit: 20.0 }
    }
}

/// Target of an admittance-controlled device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct AdmittanceState {
    /// Its pose.
    pub pose: Pose,
    /// Linear and angular velocity.
    pub velocity: [Vec3; 2],
}

impl Admittance {
    /// One step: implicit in the damping, so any damping is stable.
    pub fn step(&self, state: &mut AdmittanceState, hand: &Wrench, scene: &Wrench, h: f64) {
        let moved = |v: &Vec3, f: Vec3, m: f64, b: f64, most: f64| {
            super::coupling::limited(&((m * v + h * f) / (m + h * b)), most)
        };
        let (force, torque) = (hand.force + scene.force, hand.torque + scene.torque);
        if !(force.iter().chain(torque.iter()).all(|x| x.is_finite())) {
            // No sensor, no motion.
            state.velocity = [Vec3::zeros(); 2];
            return;
        }
        let [v, w] = &mut state.velocity;
        *v = moved(v, force, self.mass, self.damping, self.speed_limit);
        *w = moved(w, torque, self.inertia, self.angular_damping, self.turn_limit);
        state.pose.translation.vector += h * *v;
        state.pose.rotation = exp(&(h * *w)) * state.pose.rotation;
        state.pose.rotation.renormalize();
    }
}

/// An emulated device under admittance control, in an emulated hand. The device is stiff, so it is where it is told to be, and the hand has no motion of its own:
/// its spring and damper pull at the sensor, which reports after a delay.
#[derive(Clone, Debug)]
pub struct AdmittedHand {
    control: Admittance,
    hand: HandDynamics,
    state: AdmittanceState,
    sensed: VecDeque<Wrench>,
    time: f64,
}

impl AdmittedHand {
    /// At rest.
    pub fn new(control: Admittance, hand: HandDynamics, pose: Pose) -> Self {
        let sensed = std::iter::repeat_n(Wrench::default(), hand.delay).collect();
        let state = AdmittanceState { pose, velocity: [Vec3::zeros(); 2] };
        Self { control, hand, state, sensed, time: 0.0 }
    }

    /// Moves by one step of the loop with the wrench of the scene on the device; `aim` is the intended position.
    pub fn step(&mut self, scene: &Wrench, aim: &Pose, h: f64) {
        let (hand, pose, [v, w]) = (&self.hand, &self.state.pose, &self.state.velocity);
        let stretch = aim.translation.vector - pose.translation.vector;
        let turn = log(&(aim.rotation * pose.rotation.inverse()));
        self.sensed.push_back(Wrench {
            force: hand.stiffness * stretch - hand.damping * v,
            torque: hand.angular_stiffness * turn - hand.angular_damping * w,
        });
        let pulled = self.sensed.pop_front().unwrap_or_default();
        self.control.step(&mut self.state, &pulled, scene, h);
        self.time += h;
    }

    /// What the device sends.
    pub fn sample(&self) -> DeviceSample {
        DeviceSample { time: self.time, pose: self.state.pose }
    }

    /// Linear and angular velocity.
    pub fn velocity(&self) -> &[Vec3; 2] {
        &self.state.velocity
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_constant_push_ends_at_force_over_damping() {
        let control = Admittance {
            mass: 2.0,
            inertia: 0.01,
            damping: 10.0,
            angular_damping: 0.1,
            speed_limit: 1.0,
            turn_limit: 10.0,
        };
        let push = Wrench { force: Vec3::new(3.0, 0.0, 0.0), torque: Vec3::new(0.0, 0.0, 0.2) };
        for h in [0.01, 0.005, 0.002, 0.001] {
            let mut state = AdmittanceState { pose: Pose::identity(), velocity: [Vec3::zeros(); 2] };
            (0..(5.0 / h) as usize).for_each(|_| control.step(&mut state, &push, &Wrench::default(), h));
            assert!((state.velocity[0].x - 0.3).abs() < 1e-9 && (state.velocity[1].z - 2.0).abs() < 1e-9);
            let hard = Wrench { force: Vec3::new(-300.0, 0.0, 0.0), ..Wrench::default() };
            (0..(5.0 / h) as usize).for_each(|_| control.step(&mut state, &hard, &Wrench::default(), h));
            assert!((state.velocity[0].x + 1.0).abs() < 1e-12, "the speed is limited");
            let broken = Wrench { force: Vec3::repeat(f64::NAN), ..Wrench::default() };
            control.step(&mut state, &broken, &Wrench::default(), h);
            assert_eq!(state.velocity, [Vec3::zeros(); 2]);
        }
    }
}
