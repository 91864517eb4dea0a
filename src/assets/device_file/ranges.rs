//! Valid ranges of the numbers of a profile.

use crate::math::Range;

/// Baud rate.
pub const BAUD: Range = Range::new(300.0, 4e6, "baud");
/// Latency of a sample.
pub const LATENCY: Range = Range::new(0.0, 1.0, "s");
/// Silence before a part is held.
pub const STALE: Range = Range::new(0.02, 10.0, "s");
/// A cut-off of the filter.
pub const CUTOFF: Range = Range::new(0.01, 1000.0, "Hz");
/// Slope of the cut-off.
pub const BETA: Range = Range::new(0.0, 1000.0, "");
/// A raw value, in parts of the scale.
pub const RAW: Range = Range::new(0.0, 1.0, "");
/// An angle that a sensor drives.
pub const DEGREES: Range = Range::new(-180.0, 180.0, "°");
/// Crosstalk.
pub const CROSSTALK: Range = Range::new(-0.9, 0.9, "");
/// Factor on positions.
pub const SCALE: Range = Range::new(0.01, 100.0, "");
/// Maximum wire value.
pub const MAXIMUM: Range = Range::new(1.0, 65535.0, "");
/// Force or pressure of the maximum output.
pub const FULL: Range = Range::new(1e-3, 1e7, "");
/// Power of slip of the maximum vibration.
pub const SLIP: Range = Range::new(1e-3, 1e3, "W");
/// Maximum output.
pub const SHARE: Range = Range::new(0.0, 1.0, "");
/// Update rate.
pub const RATE: Range = Range::new(1.0, 1000.0, "Hz");
/// Watchdog time.
pub const WATCHDOG: Range = Range::new(0.01, 2.0, "s");
