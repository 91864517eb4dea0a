use std::time::Instant;

use super::error::DeviceError;
use super::source::SourceHandle;
use super::wire::{self, Opened};
use super::wired;
use crate::assets::{DeviceKind, DeviceProfile};
use crate::hand::Skeleton;
use crate::protocol::Format;

/// The hands that devices move; joint angles refer to their skeletons.
#[derive(Clone, Debug)]
pub struct Hands {
    /// The left one.
    pub left: Skeleton,
    /// The right one.
    pub right: Skeleton,
}

/// Starts the device of a profile in its own thread; `epoch` is time zero of its samples. Problems of the device are
/// reported as the source's state, and retried. An error means that this build does not support the device.
pub fn start(profile: &DeviceProfile, hands: &Hands, epoch: Instant) -> Result<SourceHandle, DeviceError> {
    let failed = |error: std::io::Error| DeviceError::Thread { name: profile.name.clone(), error: error.to_string() };
    match &profile.kind {
        DeviceKind::Wire(format) => {
            let (own, format) = (profile.clone(), *format);
            start_on(profile, format, hands, epoch, move || wire::open(&own, &format)).map_err(failed)
        }
        #[cfg(feature = "openxr")]
        DeviceKind::OpenXr => super::start_openxr(profile, hands, epoch).map_err(failed),
        #[cfg(not(feature = "openxr"))]
        DeviceKind::OpenXr => Err(unsupported("OpenXR", "openxr")),
        #[cfg(feature = "gamepad")]
        DeviceKind::Gamepad | DeviceKind::GametrakJoystick => super::gamepads::start(profile, epoch).map_err(failed),
        #[cfg(not(feature = "gamepad"))]
        DeviceKind::Gamepad | DeviceKind::GametrakJoystick => Err(unsupported("gamepads and joysticks", "gamepad")),
        DeviceKind::Custom => {
            Err(DeviceError::Unsupported("a custom device is started by the program that defines it".into()))
        }
        DeviceKind::Motion(file) => {
            Err(DeviceError::Unsupported(format!("{} is a motion; it is played by the runtime", file.display())))
        }
    }
}

/// An error for devices that need a feature that this build does not have.
#[cfg(not(all(feature = "openxr", feature = "gamepad")))]
fn unsupported(devices: &str, feature: &str) -> DeviceError {
    DeviceError::Unsupported(format!("{devices} cannot be used: {}", super::list::left_out(feature)))
}

/// Starts the device of a profile with another way of opening its connection.
pub fn start_on(
    profile: &DeviceProfile,
    format: Format,
    hands: &Hands,
    epoch: Instant,
    open: impl FnMut() -> Result<Opened, DeviceError> + Send + 'static,
) -> std::io::Result<SourceHandle> {
    let (own, hands) = (profile.clone(), hands.clone());
    SourceHandle::start(&profile.name, move |feed| {
        wired::run(feed, wired::WiredDevice { profile: &own, format: &format, hands: &hands, epoch }, open);
    })
}
