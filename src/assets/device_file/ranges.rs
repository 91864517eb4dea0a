//! The ranges within which the numbers of a profile are accepted.

use crate::hand::ranges::Range;

const fn range(min: f64, max: f64, unit: &'static str) -> Range {
    Range { min, max, unit }
}

/// Speed of a serial line.
pub const BAUD: Range = range(300.0, 4e6, "baud");
/// Delay of a sample.
pub const LATENCY: Range = range(0.0, 1.0, "s");
/// Silence before a part is frozen.
pub const STALE: Range = range(0.02, 10.0, "s");
/// A cut-off of the filter.
pub const CUTOFF: Range = range(0.01, 1000.0, "Hz");
/// Rise of the cut-off with speed.
pub const BETA: Range = range(0.0, 1000.0, "");
/// A raw value, in parts of the scale.
pub const RAW: Range = range(0.0, 1.0, "");
/// An angle that a sensor drives.
pub const DEGREES: Range = range(-180.0, 180.0, "°");
/// What of one sensor shows in another.
pub const CROSSTALK: Range = range(-0.9, 0.9, "");
/// Factor on positions.
pub const SCALE: Range = range(0.01, 100.0, "");
/// The largest number of a wire.
pub const MAXIMUM: Range = range(1.0, 65535.0, "");
/// The force or pressure that is felt as everything.
pub const FULL: Range = range(1e-3, 1e7, "");
/// The most a device is told.
pub const SHARE: Range = range(0.0, 1.0, "");
/// How often a device is told.
pub const RATE: Range = range(1.0, 1000.0, "Hz");
/// Silence of the simulation before a device lets go.
pub const WATCHDOG: Range = range(0.01, 2.0, "s");
