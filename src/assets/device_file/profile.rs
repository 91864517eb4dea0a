use std::path::PathBuf;

use crate::math::{Pose, Quat};
use crate::protocol::{Format, Sensor};
use crate::tracking::{Angle, Side};

/// Time without a sample after which a part of the hand is frozen, s.
pub(super) const DEFAULT_STALE: f64 = 0.2;

/// A device profile.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceProfile {
    /// Display name.
    pub name: String,
    /// The file it was read from.
    pub file: PathBuf,
    /// User of the calibration.
    pub user: Option<String>,
    /// Kind of device.
    pub kind: DeviceKind,
    /// Hand; `None` for a device of both.
    pub side: Option<Side>,
    /// Port.
    pub port: Port,
    /// Baud rate, if not the default.
    pub baud: Option<u32>,
    /// Latency from measurement to arrival, s.
    pub latency: f64,
    /// Silence after which its part of the hand is held, s.
    pub stale: f64,
    /// Filter; `None` for none.
    pub filter: Option<FilterSettings>,
    /// Whether the tilt of a glove rotates the palm.
    pub tilt: bool,
    /// Serial number of the tracked object; any if `None`.
    pub tracker: Option<String>,
    /// Sensor maps in the order of the sensor indices.
    pub sensors: Vec<SensorMap>,
    /// Mounting of a tracker.
    pub place: PlaceSettings,
    /// Haptic output; `None` for none.
    pub haptics: Option<HapticSettings>,
}

/// Kind of a device.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceKind {
    /// A device with a byte protocol, on a serial port, UDP or USB HID.
    Wire(Format),
    /// Hands tracked by an OpenXR runtime.
    OpenXr,
    /// A gamepad instead of a hand.
    Gamepad,
    /// A GameTrak as a joystick with six axes.
    GametrakJoystick,
    /// The tracked hand of a scene, a script or a recording.
    Motion(PathBuf),
    /// A source that a program adds; profiles in files cannot be of this kind.
    Custom,
}

impl DeviceKind {
    /// Name in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Wire(format) => format.name(),
            Self::OpenXr => "openxr",
            Self::Gamepad => "gamepad",
            Self::GametrakJoystick => "gametrak-joystick",
            Self::Motion(_) => "motion",
            Self::Custom => "custom",
        }
    }
}

/// Port of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Port {
    /// The only matching port.
    Auto,
    /// A serial port or a device file; for UDP, the listening address.
    Named(String),
    /// Any port with these USB ids.
    Usb {
        /// Vendor id.
        vendor: u16,
        /// Product id.
        product: u16,
    },
}

/// The One-Euro filter (Casiez, Roussel and Vogel, CHI 2012): a low-pass whose cut-off increases with speed,
/// `min_cutoff + beta |speed|`. Speeds are in units per second; the unit is the full bend of a finger, 0.2 m or one
/// radian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterSettings {
    /// Cut-off at rest, Hz: lower values reduce jitter.
    pub min_cutoff: f64,
    /// Cut-off per speed, Hz per unit per second: higher values reduce lag.
    pub beta: f64,
    /// Cut-off of the speed itself, Hz.
    pub derivative_cutoff: f64,
}

impl Default for FilterSettings {
    fn default() -> Self {
        Self { min_cutoff: 3.0, beta: 4.0, derivative_cutoff: 1.0 }
    }
}

/// Map of a glove sensor. Its raw value is `flat + (fist − flat) (b + Σ c b')`: `b` is its bend, from 0 to 1, and each
/// `b'` the bend of another sensor with crosstalk `c`.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorMap {
    /// Which sensor.
    pub sensor: Sensor,
    /// Raw value of the flat hand, as a fraction of the wire scale.
    pub flat: f64,
    /// Raw value of the fist.
    pub fist: f64,
    /// Driven angles with their values for the flat hand and for the fist, rad.
    pub drives: Vec<(Angle, [f64; 2])>,
    /// Crosstalk: the other sensor, and the fraction of its bend.
    pub crosstalk: Vec<(Sensor, f64)>,
}

/// Mounting of a tracker: `frame · T · palm` is the palm in the world for the tracker pose `T`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaceSettings {
    /// Reference of the first sample.
    pub anchor: TrackerAnchor,
    /// The device's frame in the world.
    pub frame: Pose,
    /// Factor on positions.
    pub scale: f64,
    /// The palm in the frame of the part that is tracked.
    pub palm: Quat,
    /// Parts taken from the device.
    pub uses: Parts,
}

impl Default for PlaceSettings {
    fn default() -> Self {
        Self {
            anchor: TrackerAnchor::Start,
            frame: Pose::identity(),
            scale: 1.0,
            palm: Quat::identity(),
            uses: Parts::ALL,
        }
    }
}

/// Reference of the first sample of a tracker.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackerAnchor {
    /// The initial position and heading of the hand in the scene.
    Start,
    /// Absolute: the tracker frame is known in the world.
    World,
}

/// Parts of a hand.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[allow(missing_docs)]
pub struct Parts {
    pub fingers: bool,
    pub position: bool,
    pub orientation: bool,
}

impl Parts {
    /// Everything.
    pub const ALL: Parts = Parts { fingers: true, position: true, orientation: true };
}

/// Haptic output of a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HapticSettings {
    /// Rendered quantity.
    pub source: HapticSource,
    /// Force, N, or pressure, Pa, of the maximum output.
    pub full: f64,
    /// Power that slip on a finger dissipates, W, of the maximum vibration. Devices with actuators at the fingers do not use it.
    pub slip: f64,
    /// Maximum output, from 0 to 1.
    pub maximum: f64,
    /// Maximum update rate, Hz.
    pub rate: f64,
    /// Watchdog: release after this time without an update, s.
    pub watchdog: f64,
}

/// Rendered quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HapticSource {
    /// The normal force of a finger.
    Force,
    /// The greatest pressure on a finger.
    Pressure,
}

impl Default for HapticSettings {
    fn default() -> Self {
        Self { source: HapticSource::Force, full: 5.0, slip: 0.1, maximum: 1.0, rate: 60.0, watchdog: 0.1 }
    }
}

impl DeviceProfile {
    /// A profile for your own source: its hand (`None` for both) and the parts that it measures. Change the other
    /// fields as needed.
    pub fn custom(name: &str, side: Option<Side>, gives: Parts) -> Self {
        Self {
            name: name.into(),
            file: PathBuf::new(),
            user: None,
            kind: DeviceKind::Custom,
            side,
            port: Port::Auto,
            baud: None,
            latency: 0.0,
            stale: DEFAULT_STALE,
            filter: None,
            tilt: false,
            tracker: None,
            sensors: Vec::new(),
            place: PlaceSettings { uses: gives, ..PlaceSettings::default() },
            haptics: None,
        }
    }

    /// The parts that it drives: those that its kind measures and its profile uses.
    pub fn gives(&self) -> Parts {
        let parts = |fingers, position, orientation| Parts { fingers, position, orientation };
        let has = match &self.kind {
            DeviceKind::Wire(format) => match format {
                Format::Bno055 | Format::WitMotion { .. } | Format::XImu3 => parts(false, false, true),
                Format::Gametrak { .. } => parts(false, true, false),
                Format::Vmc => Parts::ALL,
                _ => parts(self.sensors.iter().any(|map| !map.drives.is_empty()), false, self.tilt),
            },
            DeviceKind::GametrakJoystick => parts(false, true, false),
            DeviceKind::Gamepad => parts(self.sensors.iter().any(|map| !map.drives.is_empty()), true, false),
            DeviceKind::OpenXr | DeviceKind::Motion(_) | DeviceKind::Custom => Parts::ALL,
        };
        let uses = self.place.uses;
        Parts {
            fingers: has.fingers && uses.fingers,
            position: has.position && uses.position,
            orientation: has.orientation && uses.orientation,
        }
    }
}
