//! The One-Euro filter: Casiez, Roussel and Vogel, "1€ Filter", CHI 2012. A first-order low-pass whose cut-off
//! increases with speed: it removes jitter at rest and has little lag in motion.
//!
//! ```
//! use fingerpad::assets::FilterSettings;
//! use fingerpad::devices::filter::OneEuro;
//!
//! let mut filter = OneEuro::new(FilterSettings::default());
//! let noisy = |i: u32| if i % 2 == 0 { 1.01 } else { 0.99 };
//! let last = (0..200).map(|i| filter.filter(0.01 * f64::from(i), noisy(i))).last().expect("a value");
//! assert!((last - 1.0).abs() < 2e-3, "{last}");
//! ```

use std::f64::consts::TAU;

use crate::assets::FilterSettings;
use crate::math::{Quat, Vec3, exp, log};

/// Silence after which a filter restarts, s.
const RESTART_GAP: f64 = 0.5;

/// Smoothing factor of a low-pass.
fn share(cutoff: f64, dt: f64) -> f64 {
    let lag = 1.0 / (TAU * cutoff);
    dt / (dt + lag)
}

/// A value that can be filtered by its differences.
trait Filtered: Copy {
    /// A difference, in filter units.
    type Difference: Copy;
    const NONE: Self::Difference;
    fn minus(&self, other: &Self) -> Self::Difference;
    /// Adds a fraction of a difference.
    fn plus(&self, part: f64, difference: Self::Difference) -> Self;
    /// Interpolates from one rate to a difference divided by a time.
    fn mix(from: Self::Difference, part: f64, to: Self::Difference, time: f64) -> Self::Difference;
    fn size(difference: Self::Difference) -> f64;
}

impl Filtered for f64 {
    type Difference = f64;
    const NONE: f64 = 0.0;
    fn minus(&self, other: &Self) -> f64 {
        self - other
    }
    fn plus(&self, part: f64, difference: f64) -> Self {
        self + part * difference
    }
    fn mix(from: f64, part: f64, to: f64, time: f64) -> f64 {
        from + part * (to / time - from)
    }
    fn size(difference: f64) -> f64 {
        difference.abs()
    }
}

/// A position; its unit is 0.2 m.
impl Filtered for Vec3 {
    type Difference = Vec3;
    const NONE: Vec3 = Vec3::new(0.0, 0.0, 0.0);
    fn minus(&self, other: &Self) -> Vec3 {
        (self - other) / UNIT
    }
    fn plus(&self, part: f64, difference: Vec3) -> Self {
        self + part * UNIT * difference
    }
    fn mix(from: Vec3, part: f64, to: Vec3, time: f64) -> Vec3 {
        from + part * (to / time - from)
    }
    fn size(difference: Vec3) -> f64 {
        difference.norm()
    }
}

/// A rotation; its unit is one radian.
impl Filtered for Quat {
    type Difference = Vec3;
    const NONE: Vec3 = Vec3::new(0.0, 0.0, 0.0);
    fn minus(&self, other: &Self) -> Vec3 {
        log(&(self * other.inverse()))
    }
    fn plus(&self, part: f64, difference: Vec3) -> Self {
        exp(&(part * difference)) * self
    }
    fn mix(from: Vec3, part: f64, to: Vec3, time: f64) -> Vec3 {
        <Vec3 as Filtered>::mix(from, part, to, time)
    }
    fn size(difference: Vec3) -> f64 {
        difference.norm()
    }
}

/// The unit of positions, m.
const UNIT: f64 = 0.2;

/// A filter of one value.
#[derive(Clone, Copy, Debug)]
#[allow(private_bounds)]
pub struct OneEuro<T: Filtered> {
    settings: FilterSettings,
    /// Time, value and speed so far.
    state: Option<(f64, T, T::Difference)>,
}

#[allow(private_bounds)]
impl<T: Filtered> OneEuro<T> {
    /// A filter without data.
    pub fn new(settings: FilterSettings) -> Self {
        Self { settings, state: None }
    }

    /// The filtered value after a new one at a time, s. Older values are ignored.
    pub fn filter(&mut self, time: f64, value: T) -> T {
        let (filtered, speed) = match self.state {
            Some((last, held, _)) if time <= last => return held,
            Some((last, held, speed)) if time - last < RESTART_GAP => {
                let (dt, difference) = (time - last, value.minus(&held));
                let speed = T::mix(speed, share(self.settings.derivative_cutoff, dt), difference, dt);
                let cutoff = self.settings.min_cutoff + self.settings.beta * T::size(speed);
                (held.plus(share(cutoff, dt), difference), speed)
            }
            _ => (value, T::NONE),
        };
        self.state = Some((time, filtered, speed));
        filtered
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `beta` zero it is a first-order low-pass: the step response is `1 − e^(−t/τ)`, here in its exact discrete
    /// form.
    #[test]
    fn without_beta_it_is_a_low_pass() {
        let settings = FilterSettings { min_cutoff: 2.0, beta: 0.0, derivative_cutoff: 1.0 };
        let mut filter = OneEuro::new(settings);
        filter.filter(0.0, 0.0);
        let (dt, lag) = (0.005, 1.0 / (TAU * 2.0));
        for n in 1..=100 {
            let value = filter.filter(dt * f64::from(n), 1.0);
            let exact = 1.0 - (lag / (lag + dt)).powi(n);
            assert!((value - exact).abs() < 1e-12, "{n}: {value} {exact}");
        }
    }

    /// Jitter of a still hand is damped; the lag of a fast motion is at most 10 to 20 ms.
    #[test]
    fn jitter_is_damped_and_fast_motion_is_followed() {
        let mut filter = OneEuro::new(FilterSettings::default());
        let mut sway: f64 = 0.0;
        for n in 0..400 {
            let noise = if n % 2 == 0 { 0.01 } else { -0.01 };
            let value = filter.filter(0.005 * f64::from(n), 0.5 + noise);
            if n > 100 {
                sway = sway.max((value - 0.5).abs());
            }
        }
        assert!(sway < 0.0015, "{sway}");
        let mut filter = OneEuro::new(FilterSettings::default());
        let mut lag: f64 = 0.0;
        for n in 0..60 {
            let time = 0.005 * f64::from(n);
            let value = filter.filter(time, 3.0 * time);
            if n > 40 {
                lag = lag.max((3.0 * time - value) / 3.0);
            }
        }
        assert!(lag < 0.02, "{lag}");
    }

    #[test]
    fn rotations_take_the_short_way_and_positions_are_filtered_isotropically() {
        let mut filter = OneEuro::new(FilterSettings::default());
        let turn = |angle: f64| Quat::from_scaled_axis(Vec3::y() * angle);
        filter.filter(0.0, turn(3.1));
        let next = filter.filter(0.01, turn(-3.1));
        assert!(next.angle_to(&turn(3.1)) < 0.084, "by way of π and not of zero");
        let (mut x, mut y) = (OneEuro::new(FilterSettings::default()), OneEuro::new(FilterSettings::default()));
        for n in 0..10 {
            let (t, s) = (0.01 * f64::from(n), (0.3 * f64::from(n)).sin());
            let (a, b) = (x.filter(t, Vec3::x() * s), y.filter(t, Vec3::y() * s));
            assert_eq!(a.x, b.y);
        }
    }

    #[test]
    fn old_values_are_ignored_and_a_pause_restarts() {
        let mut filter = OneEuro::new(FilterSettings::default());
        filter.filter(1.0, 0.2);
        assert_eq!(filter.filter(1.0, 0.9), 0.2);
        assert_eq!(filter.filter(2.0, 0.9), 0.9);
    }
}
