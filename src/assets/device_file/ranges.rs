//! Valid ranges of the numbers of a profile.

use crate::hand::ranges::Range;

const fn range(min: f64, max: f64, unit: &'static str) -> Range {
    Range { min, max, unit }
}

/// Baud rate.
pub const BAUD: Range = range(300.0, 4e6, "baud");
/// Latency of a sample.
pub const LATENCY: Range = range(0.0, 1.0, "s");
/// Silence before a part is held.
pub const STALE: Range = range(0.02, 10.0, "s");
/// A cut-off of the filter.
pub const CUTOFF: Range = range(0.01, 1000.0, "Hz");
/// Slope of the cut-off.
pub const BETA: Range = range(0.0, 1000.0, "");
/// A raw value, in parts of the scale.
pub const RAW: Range = range(0.0, 1.0, "");
/// An angle that a sensor drives.
pub const DEGREES: Range = range(-180.0, 180.0, "°");
/// Crosstalk.
pub const CROSSTALK: Range = range(-0.9, 0.9, "");
/// Factor on positions.
pub const SCALE: Range = range(0.01, 100.0, "");
/// Maximum wire value.
pub const MAXIMUM: Range = range(1.0, 65535.0, "");
/// Force or pressure of the maximum output.
pub const FULL: Range = range(1e-3, 1e7, "");
/// Maximum output.
pub const SHARE: Range = range(0.0, 1.0, "");
/// Update rate.
pub const RATE: Range = range(1.0, 1000.0, "Hz");
/// Watchdog time.
pub const WATCHDOG: Range = range(0.01, 2.0, "s");
