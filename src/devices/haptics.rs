//! What a device is told of what a hand feels, and when. Times are given, so nothing here waits.
//!
//! A device with a motor at each finger is told **levels** ([`LevelDriver`]): forces or pressures in parts of the profile's `full`,
//! no more than its `maximum`, no more often than its `rate`. One that vibrates as a whole is told **amplitudes**
//! ([`VibrationDriver`]). Both let go when the simulation has said nothing for the profile's `watchdog` time, and when it stops.

#[cfg(test)]
mod tests;

use super::source::Touch;
use crate::assets::{HapticSettings, HapticSource};

/// How often what has not changed is said again, s: a line that was lost must not leave a motor on.
const REPEAT: f64 = 0.5;
/// How long a change of contact is felt as a vibration, s.
const FADE: f64 = 0.08;
/// The part of a level that goes on vibrating while nothing changes.
const HOLD: f64 = 0.1;
/// Amplitudes below it are none: they would only hum.
const LEAST: f64 = 0.02;
/// Rounding of times, s.
const SLACK: f64 = 1e-6;
/// How far a vibration reaches beyond the time at which the next is due, in periods of the rate.
const OVERLAP: f64 = 2.0;

/// How strongly each finger and the palm are acted on, each from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Levels {
    /// Thumb to little finger.
    pub fingers: [f64; 5],
    /// The palm.
    pub palm: f64,
}

impl Levels {
    /// Nothing is felt.
    pub const ZERO: Levels = Levels { fingers: [0.0; 5], palm: 0.0 };

    /// What a touch is by the settings of a profile. What is no number is nothing.
    pub fn of(touch: &Touch, settings: &HapticSettings) -> Self {
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

/// When a device with motors at the fingers of one hand is told what.
#[derive(Clone, Debug)]
pub struct LevelDriver {
    settings: HapticSettings,
    /// What is felt, and when that was told.
    felt: Option<(f64, Levels)>,
    /// What the device was told, and when.
    sent: Option<(f64, Levels)>,
}

impl LevelDriver {
    /// A driver of a device that has not been told anything yet.
    pub fn new(settings: HapticSettings) -> Self {
        Self { settings, felt: None, sent: None }
    }

    /// The hand feels this now.
    pub fn feel(&mut self, touch: &Touch, now: f64) {
        self.felt = Some((now, Levels::of(touch, &self.settings)));
    }

    /// What to tell the device now, if anything.
    pub fn due(&mut self, now: f64) -> Option<Levels> {
        let alive = self.felt.filter(|(at, _)| now - at <= self.settings.watchdog);
        let wanted = alive.map_or(Levels::ZERO, |(_, levels)| levels);
        let is_due = match self.sent {
            // Whatever somebody else has left it at, it begins at nothing.
            None => true,
            // To let go does not wait for the next turn.
            Some((_, last)) if alive.is_none() && last != Levels::ZERO => true,
            Some((at, last)) if last != wanted => now - at + SLACK >= 1.0 / self.settings.rate,
            Some((at, _)) => now - at + SLACK >= REPEAT,
        };
        is_due.then(|| {
            self.sent = Some((now, wanted));
            wanted
        })
    }

    /// What to tell the device before it is left alone.
    pub fn stop(&mut self) -> Levels {
        (self.felt, self.sent) = (None, None);
        Levels::ZERO
    }
}

/// A vibration of something as a whole.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pulse {
    /// How strong, 0 to 1; 0 is to be still.
    pub amplitude: f64,
    /// How long, s.
    pub duration: f64,
}

/// When a device that vibrates as a whole is told what of one hand.
///
/// A vibration that lasts as long as a grasp would be unbearable and tell nothing. So what is felt is mostly **change**: of each part
/// of the hand the level `l` less a mean `m` that follows it within `FADE`. The amplitude is the greatest `|l − m|` of all parts
/// and `HOLD` of the greatest `l`, no more than the profile's maximum. A touch begins with a tap that fades to a slight hum, a
/// second finger that joins taps again, and letting go is a tap with nothing after it.
#[derive(Clone, Debug)]
pub struct VibrationDriver {
    settings: HapticSettings,
    mean: [f64; 6],
    /// When it was last told what the hand feels.
    felt: Option<f64>,
    amplitude: f64,
    /// The greatest amplitude since the device was last told one: a short tap is not lost between two turns.
    peak: f64,
    /// What the device was told, and when.
    sent: Option<(f64, f64)>,
}

impl VibrationDriver {
    /// A driver of a device that is still.
    pub fn new(settings: HapticSettings) -> Self {
        Self { settings, mean: [0.0; 6], felt: None, amplitude: 0.0, peak: 0.0, sent: None }
    }

    /// The hand feels this now.
    pub fn feel(&mut self, touch: &Touch, now: f64) {
        let levels = Levels::of(touch, &self.settings).all();
        let change = levels.iter().zip(&self.mean).map(|(l, m)| (l - m).abs()).fold(0.0, f64::max);
        let most = levels.into_iter().fold(0.0, f64::max);
        let amplitude = (change + HOLD * most).min(self.settings.maximum);
        self.amplitude = if amplitude < LEAST { 0.0 } else { amplitude };
        self.peak = self.peak.max(self.amplitude);
        let part = self.felt.map_or(0.0, |at| 1.0 - (-(now - at).max(0.0) / FADE).exp());
        self.mean.iter_mut().zip(levels).for_each(|(m, l)| *m += part * (l - *m));
        self.felt = Some(now);
    }

    /// What to tell the device now, if anything. It is told again before a vibration has ended, as long as there is one.
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
            Pulse { amplitude: wanted, duration: OVERLAP * period }
        })
    }

    /// What to tell the device before it is left alone: `None` if it is still.
    pub fn stop(&mut self) -> Option<Pulse> {
        let was_told = self.sent.is_some_and(|(_, last)| last > 0.0);
        *self = Self::new(self.settings);
        was_told.then_some(Pulse { amplitude: 0.0, duration: 0.0 })
    }
}
