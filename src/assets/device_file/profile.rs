use std::path::PathBuf;

use crate::math::{Pose, Quat};
use crate::protocol::{Format, Sensor};
use crate::tracking::{Angle, Side};

/// A device as a profile describes it.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceProfile {
    /// What to call it.
    pub name: String,
    /// The file it was read from.
    pub file: PathBuf,
    /// Whom it was calibrated for.
    pub user: Option<String>,
    /// What it is.
    pub kind: DeviceKind,
    /// The hand it is for; `None` for a device of both.
    pub side: Option<Side>,
    /// Where it is plugged in.
    pub port: Port,
    /// Speed of a serial line, if it is not the usual one.
    pub baud: Option<u32>,
    /// How long after the measurement its sample arrives, s.
    pub latency: f64,
    /// After how long without a sample its part of the hand is frozen, s.
    pub stale: f64,
    /// How its values are smoothed; `None` if they are not.
    pub filter: Option<FilterSettings>,
    /// Whether the tilt that a glove measures turns the palm.
    pub tilt: bool,
    /// Serial number of the tracked object that is the hand; any if not named.
    pub tracker: Option<String>,
    /// What each sensor measures, in the order of the sensors' indices.
    pub sensors: Vec<SensorMap>,
    /// Where a tracker has the hand.
    pub place: PlaceSettings,
    /// What the hand feels through it; `None` if nothing.
    pub haptics: Option<HapticSettings>,
}

/// What a device is.
#[derive(Clone, Debug, PartialEq)]
pub enum DeviceKind {
    /// Something that speaks a format of bytes, on a serial line, by UDP or as reports of USB.
    Wire(Format),
    /// Hands that an OpenXR runtime tracks.
    OpenXr,
    /// A gamepad that is held instead of a hand.
    Gamepad,
    /// A GameTrak that the system shows as a joystick of six axes.
    GametrakJoystick,
    /// The tracked hand of a scene, a script or a recording.
    Motion(PathBuf),
}

impl DeviceKind {
    /// What it is called in files.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Wire(format) => format.name(),
            Self::OpenXr => "openxr",
            Self::Gamepad => "gamepad",
            Self::GametrakJoystick => "gametrak-joystick",
            Self::Motion(_) => "motion",
        }
    }
}

/// Where a device is plugged in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Port {
    /// At the only port that could have it.
    Auto,
    /// At a serial port or a file of the system; of UDP, the address to listen at.
    Named(String),
    /// Wherever these USB ids are.
    Usb {
        /// The vendor's number.
        vendor: u16,
        /// The product's number.
        product: u16,
    },
}

/// The One-Euro filter (Casiez, Roussel and Vogel, CHI 2012): a low-pass whose cut-off rises with speed,
/// `min_cutoff + beta |speed|`. Speeds are in units a second; the unit is the full bend of a finger, 0.2 m or one radian.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FilterSettings {
    /// Cut-off at rest, Hz: lower trembles less.
    pub min_cutoff: f64,
    /// How much a unit a second adds to the cut-off, Hz: higher lags less.
    pub beta: f64,
    /// Cut-off of the speed itself, Hz.
    pub derivative_cutoff: f64,
}

impl Default for FilterSettings {
    fn default() -> Self {
        Self { min_cutoff: 3.0, beta: 4.0, derivative_cutoff: 1.0 }
    }
}

/// What a sensor of a glove measures. Its raw value is `flat + (fist − flat) (b + Σ c b')`: `b` is how far it is bent, from 0 to 1,
/// and each `b'` that of another sensor which shows in it.
#[derive(Clone, Debug, PartialEq)]
pub struct SensorMap {
    /// Which sensor.
    pub sensor: Sensor,
    /// Its raw value for the flat hand, in parts of the scale of the wire.
    pub flat: f64,
    /// Its raw value for the fist.
    pub fist: f64,
    /// The angles that it drives, each with its value for the flat hand and for the fist, rad.
    pub drives: Vec<(Angle, [f64; 2])>,
    /// What of the others shows in it: the other, and how much of its bend.
    pub crosstalk: Vec<(Sensor, f64)>,
}

/// Where a tracker has the hand: `frame · T · palm` is the palm in the world if the tracker says `T`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlaceSettings {
    /// What the first sample stands for.
    pub anchor: Anchor,
    /// The device's frame in the world.
    pub frame: Pose,
    /// Factor on positions.
    pub scale: f64,
    /// The palm in the frame of the part that is tracked.
    pub palm: Quat,
    /// What is taken from the device, if it has it.
    pub uses: Parts,
}

impl Default for PlaceSettings {
    fn default() -> Self {
        Self { anchor: Anchor::Start, frame: Pose::identity(), scale: 1.0, palm: Quat::identity(), uses: Parts::ALL }
    }
}

/// What the first sample of a tracker stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// The place and the heading at which the hand begins in the scene: whoever puts a tracker on begins there.
    Start,
    /// Itself: the tracker's frame is known in the world.
    World,
}

/// Parts of a hand that devices tell of.
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

/// What the hand feels through a device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HapticSettings {
    /// What is felt.
    pub source: HapticSource,
    /// The force, N, or the pressure, Pa, that is felt as everything the device can.
    pub full: f64,
    /// The most that the device is told, from 0 to 1.
    pub maximum: f64,
    /// The most often it is told, Hz.
    pub rate: f64,
    /// After how long without news of the simulation it is told to let go, s.
    pub watchdog: f64,
}

/// What is felt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HapticSource {
    /// The normal force of a finger.
    Force,
    /// The greatest pressure on a finger.
    Pressure,
}

impl Default for HapticSettings {
    fn default() -> Self {
        Self { source: HapticSource::Force, full: 5.0, maximum: 1.0, rate: 60.0, watchdog: 0.1 }
    }
}

impl DeviceProfile {
    /// What it tells of a hand: what its kind measures and its profile takes.
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
            DeviceKind::OpenXr | DeviceKind::Motion(_) => Parts::ALL,
        };
        let uses = self.place.uses;
        Parts {
            fingers: has.fingers && uses.fingers,
            position: has.position && uses.position,
            orientation: has.orientation && uses.orientation,
        }
    }
}
