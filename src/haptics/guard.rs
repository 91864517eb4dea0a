use crate::math::{Pose, Vec3, log};

/// Status that a device reports.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceSample {
    /// Time stamp of the device, s. It grows with every new sample, also of a hand that is held still.
    pub time: f64,
    /// Where it is.
    pub pose: Pose,
}

impl DeviceSample {
    /// Whether all of it is finite and the rotation is one.
    pub fn is_sound(&self) -> bool {
        let place = self.pose.translation.vector.iter().chain(self.pose.rotation.coords.iter());
        place.chain([&self.time]).all(|x| x.is_finite()) && (self.pose.rotation.norm() - 1.0).abs() < 1e-3
    }
}

/// What is wrong with a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DeviceFault {
    /// It has sent nothing new for too long.
    #[error("the device has sent nothing new; its force is zero until it does")]
    Silent,
    /// It sent a number that is not finite, or a rotation that is none.
    #[error("the device sent a pose that is not finite; its force is zero")]
    NotFinite,
    /// It moved faster than any hand.
    #[error("the device jumped; its force is zero until it has moved smoothly for a while")]
    Jump,
}

/// When a device is not trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuardOptions {
    /// How long the newest sample is used, s. Force is zero afterwards.
    pub silence: f64,
    /// Largest speed of a hand, m/s.
    pub speed: f64,
    /// Largest angular speed of a hand, rad/s.
    pub turn: f64,
    /// How long force takes to come back after a fault, s.
    pub recovery: f64,
    /// Cut-off frequency of the velocity filter, Hz.
    pub cutoff: f64,
}

impl Default for GuardOptions {
    fn default() -> Self {
        Self { silence: 0.008, speed: 10.0, turn: 60.0, recovery: 0.2, cutoff: 200.0 }
    }
}

/// Decides whether the samples of a device can be trusted, and filters its velocity.
#[derive(Clone, Debug)]
pub struct DeviceGuard {
    options: GuardOptions,
    newest: Option<(DeviceSample, f64)>,
    velocity: [Vec3; 2],
    motion: [Vec3; 2],
    fault: Option<DeviceFault>,
    good_since: f64,
    faults: u64,
}

impl DeviceGuard {
    /// A guard of a device that has sent nothing yet.
    pub fn new(options: GuardOptions) -> Self {
        let still = [Vec3::zeros(); 2];
        Self {
            options,
            newest: None,
            velocity: still,
            motion: still,
            fault: Some(DeviceFault::Silent),
            good_since: 0.0,
            faults: 0,
        }
    }

    /// Checks the newest sample of the device, if there is one, at the time `now` of the loop.
    pub fn push(&mut self, sample: Option<&DeviceSample>, now: f64) {
        self.motion = [Vec3::zeros(); 2];
        let fault = match sample {
            Some(s) if !s.is_sound() => Some(DeviceFault::NotFinite),
            Some(s) => self.take(s, now),
            None => self.silence(now),
        };
        if fault.is_some() {
            if self.fault.is_none() {
                self.faults += 1;
            }
            self.velocity = [Vec3::zeros(); 2];
        } else if self.fault.is_some() {
            self.good_since = now;
        }
        self.fault = fault;
    }

    fn silence(&self, now: f64) -> Option<DeviceFault> {
        let is_alive = self.newest.is_some_and(|(_, arrived)| now - arrived <= self.options.silence);
        if is_alive { self.fault } else { Some(DeviceFault::Silent) }
    }

    fn take(&mut self, sample: &DeviceSample, now: f64) -> Option<DeviceFault> {
        let Some((last, arrived)) = self.newest else {
            self.newest = Some((*sample, now));
            return None;
        };
        if sample.time == last.time {
            return self.silence(now);
        }
        // A device that starts again counts from the beginning; the clock of the loop is then the measure.
        let passed =
            if sample.time > last.time { (sample.time - last.time).max(1e-4) } else { (now - arrived).max(1e-4) };
        let moved = sample.pose.translation.vector - last.pose.translation.vector;
        let turned = log(&(sample.pose.rotation * last.pose.rotation.inverse()));
        self.newest = Some((*sample, now));
        if moved.norm() > self.options.speed * passed || turned.norm() > self.options.turn * passed {
            return Some(DeviceFault::Jump);
        }
        self.motion = [moved, turned];
        // First-order low-pass of the difference quotient.
        let part = 1.0 - (-2.0 * std::f64::consts::PI * self.options.cutoff * passed).exp();
        for k in 0..2 {
            let v = self.velocity[k];
            self.velocity[k] += part * (self.motion[k] / passed - v);
        }
        None
    }

    /// The newest sound pose, if the device is trusted.
    pub fn pose(&self) -> Option<&Pose> {
        self.newest.as_ref().filter(|_| self.fault.is_none()).map(|(s, _)| &s.pose)
    }

    /// Linear and angular velocity, filtered.
    pub fn velocity(&self) -> &[Vec3; 2] {
        &self.velocity
    }

    /// How the device moved between the last two samples: metres, and a rotation vector. Zero if nothing new came.
    pub fn motion(&self) -> &[Vec3; 2] {
        &self.motion
    }

    /// What is wrong.
    pub fn fault(&self) -> Option<DeviceFault> {
        self.fault
    }

    /// Number of faults.
    pub fn faults(&self) -> u64 {
        self.faults
    }

    /// The part of the force that may be shown: zero at a fault, and rising afterwards.
    pub fn trust(&self, now: f64) -> f64 {
        if self.fault.is_some() { 0.0 } else { ((now - self.good_since) / self.options.recovery).clamp(0.0, 1.0) }
    }
}
