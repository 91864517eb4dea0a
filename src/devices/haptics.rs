//! Converts the contact forces on a hand to device commands. Times are arguments, so nothing here waits.
//!
//! A device with an actuator per finger gets **levels** ([`LevelDriver`]): forces or pressures relative to the
//! profile's `full`, up to its `maximum`, at its `rate`. A device that vibrates as a whole gets **amplitudes**
//! ([`VibrationDriver`]). Both release when the simulation sends no update for the profile's `watchdog` time, and when
//! it stops.
//!
//! ```
//! use fingerpad::assets::HapticSettings;
//! use fingerpad::devices::HandForces;
//! use fingerpad::devices::haptics::LevelDriver;
//! use fingerpad::tracking::Side;
//!
//! // Full at 5 N, and released after 0.1 s of silence.
//! let mut driver = LevelDriver::new(HapticSettings::default());
//! let touch = HandForces { side: Side::Right, fingers: [0.0, 2.5, 0.0, 0.0, 0.0], palm: 0.0, pressure: [0.0; 6], slip: [0.0; 6] };
//! driver.feel(&touch, 0.0);
//! assert_eq!(driver.due(0.0).expect("a command").fingers[1], 0.5);
//! assert_eq!(driver.due(0.2).expect("a release").fingers[1], 0.0);
//! ```

#[cfg(test)]
mod tests;

use super::source::HandForces;
use crate::assets::{HapticSettings, HapticSource};

/// Repeat interval of unchanged commands, s: a lost command must not leave a motor on.
const REPEAT: f64 = 0.5;
/// Duration of the vibration after a change of contact, s.
const FADE: f64 = 0.08;
/// Fraction of a level that keeps vibrating while nothing changes.
const HOLD: f64 = 0.1;
/// Amplitudes below this are zero: they would only hum.
const MIN_AMPLITUDE: f64 = 0.02;
/// Rounding of times, s.
const SLACK: f64 = 1e-6;
/// Length of a vibration beyond the next update, in periods of the rate.
const VIBRATION_OVERLAP: f64 = 2.0;

/// Actuator level of each finger and of the palm, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Levels {
    /// Thumb to little finger.
    pub fingers: [f64; 5],
    /// The palm.
    pub palm: f64,
}

impl Levels {
    /// All levels zero.
    pub const ZERO: Levels = Levels { fingers: [0.0; 5], palm: 0.0 };

    /// Levels of a touch with the settings of a profile. NaN is zero.
    pub fn of(touch: &HandForces, settings: &HapticSettings) -> Self {
        let [a, b, c, d, e] = touch.fingers;
        let felt = match settings.source {
            HapticSource::Force => [a, b, c, d, e, touch.palm],
            HapticSource::Pressure => touch.pressure,
        };
        let level = |value: f64| {
            let sound = if value.is_finite() { value } else { 0.0 };
            (sound / settings.full).clamp(0.0, settings.maximum)
        };
        let [fingers @ .., palm] = felt.map(level);
        Self { fingers, palm }
    }

    /// Fingers, then the palm.
    pub fn all(&self) -> [f64; 6] {
        let [a, b, c, d, e] = self.fingers;
        [a, b, c, d, e, self.palm]
    }
}

/// Schedules the commands to a device with actuators at the fingers of one hand.
#[derive(Clone, Debug)]
pub struct LevelDriver {
    settings: HapticSettings,
    /// Current levels and their time.
    felt: Option<(f64, Levels)>,
    /// Last command and its time.
    sent: Option<(f64, Levels)>,
}

impl LevelDriver {
    /// A driver without commands so far.
    pub fn new(settings: HapticSettings) -> Self {
        Self { settings, felt: None, sent: None }
    }

    /// Sets the current levels.
    pub fn feel(&mut self, touch: &HandForces, now: f64) {
        self.felt = Some((now, Levels::of(touch, &self.settings)));
    }

    /// The command to send now, if any.
    pub fn due(&mut self, now: f64) -> Option<Levels> {
        let alive = self.felt.filter(|(at, _)| now - at <= self.settings.watchdog);
        let wanted = alive.map_or(Levels::ZERO, |(_, levels)| levels);
        let is_due = match self.sent {
            // Starts with zero levels, whatever the device was set to.
            None => true,
            // A release is sent at once.
            Some((_, last)) if alive.is_none() && last != Levels::ZERO => true,
            Some((at, last)) if last != wanted => now - at + SLACK >= 1.0 / self.settings.rate,
            Some((at, _)) => now - at + SLACK >= REPEAT,
        };
        is_due.then(|| {
            self.sent = Some((now, wanted));
            wanted
        })
    }

    /// The last command before the device is closed.
    pub fn stop(&mut self) -> Levels {
        (self.felt, self.sent) = (None, None);
        Levels::ZERO
    }
}

/// A vibration of the whole device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pulse {
    /// Amplitude, 0 to 1; 0 stops.
    pub amplitude: f64,
    /// Duration, s.
    pub duration: f64,
}

/// Schedules the vibration of a device for one hand.
///
/// A vibration for the whole duration of a grasp would be annoying and carry no information, so mainly **changes** are
/// rendered: for each part of the hand the level `l` minus a mean `m` that follows it with the time constant `FADE`.
/// The amplitude is the maximum of `|l − m|` over all parts and of `HOLD` times the largest `l`, up to the profile's
/// maximum. A touch starts with a pulse that fades to a weak vibration, a second finger causes another pulse, and a
/// release is a pulse with nothing after it.
///
/// Slip is felt as a vibration that lasts: its level is the largest power `P` that friction dissipates on a part, relative to
/// the profile's `slip`. Power is the choice because it vanishes for a light touch, for a part that sticks, and for the creep of a
/// held grasp. The amplitude is the larger of both.
#[derive(Clone, Debug)]
pub struct VibrationDriver {
    settings: HapticSettings,
    mean: [f64; 6],
    /// Time of the last update.
    felt: Option<f64>,
    amplitude: f64,
    /// The largest amplitude since the last command, so that short pulses are not lost.
    peak: f64,
    /// Last command and its time.
    sent: Option<(f64, f64)>,
}

impl VibrationDriver {
    /// A driver of a device at rest.
    pub fn new(settings: HapticSettings) -> Self {
        Self { settings, mean: [0.0; 6], felt: None, amplitude: 0.0, peak: 0.0, sent: None }
    }

    /// Sets the current levels.
    pub fn feel(&mut self, touch: &HandForces, now: f64) {
        let levels = Levels::of(touch, &self.settings).all();
        let change = levels.iter().zip(&self.mean).map(|(l, m)| (l - m).abs()).fold(0.0, f64::max);
        let most = levels.into_iter().fold(0.0, f64::max);
        // `max` ignores NaN.
        let slip = touch.slip.into_iter().fold(0.0, f64::max) / self.settings.slip;
        let amplitude = (change + HOLD * most).max(slip).min(self.settings.maximum);
        self.amplitude = if amplitude < MIN_AMPLITUDE { 0.0 } else { amplitude };
        self.peak = self.peak.max(self.amplitude);
        let part = self.felt.map_or(0.0, |at| 1.0 - (-(now - at).max(0.0) / FADE).exp());
        self.mean.iter_mut().zip(levels).for_each(|(m, l)| *m += part * (l - *m));
        self.felt = Some(now);
    }

    /// The command to send now, if any. Repeated before a vibration ends while it lasts.
    pub fn due(&mut self, now: f64) -> Option<Pulse> {
        let is_alive = self.felt.is_some_and(|at| now - at <= self.settings.watchdog);
        if !is_alive {
            *self = Self { sent: self.sent, ..Self::new(self.settings) };
        }
        let wanted = self.peak.max(self.amplitude);
        let period = 1.0 / self.settings.rate;
        let is_due = match self.sent {
            None => wanted > 0.0,
            Some((_, last)) if !is_alive => last > 0.0,
            Some((at, last)) => (wanted > 0.0 || last > 0.0) && now - at + SLACK >= period,
        };
        is_due.then(|| {
            (self.sent, self.peak) = (Some((now, wanted)), 0.0);
            Pulse { amplitude: wanted, duration: VIBRATION_OVERLAP * period }
        })
    }

    /// The last command before the device is closed: `None` if it is at rest.
    pub fn stop(&mut self) -> Option<Pulse> {
        let was_told = self.sent.is_some_and(|(_, last)| last > 0.0);
        *self = Self::new(self.settings);
        was_told.then_some(Pulse { amplitude: 0.0, duration: 0.0 })
    }
}
