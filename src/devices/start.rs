use std::time::Instant;

use super::source::SourceHandle;
use super::wire::{self, Opened};
use super::wired;
use crate::assets::{DeviceKind, DeviceProfile};
use crate::hand::Skeleton;
use crate::protocol::Format;

/// The hands that devices move: angles of joints are those of their skeletons.
#[derive(Clone, Debug)]
pub struct Hands {
    /// The left one.
    pub left: Skeleton,
    /// The right one.
    pub right: Skeleton,
}

/// Starts the device of a profile in its own thread; `epoch` is time zero of its samples. Whatever is missing or goes wrong with
/// the device is told as the source's state, and tried again. An error is a device that this program cannot have.
pub fn start(profile: &DeviceProfile, hands: &Hands, epoch: Instant) -> Result<SourceHandle, String> {
    let failed = |error: std::io::Error| format!("no thread could be started for {}: {error}", profile.name);
    match &profile.kind {
        DeviceKind::Wire(format) => {
            let (own, format) = (profile.clone(), *format);
            start_on(profile, format, hands, epoch, move || wire::open(&own, &format)).map_err(failed)
        }
        #[cfg(feature = "openxr")]
        DeviceKind::OpenXr => super::start_openxr(profile, hands, epoch).map_err(failed),
        #[cfg(not(feature = "openxr"))]
        DeviceKind::OpenXr => Err(format!("OpenXR cannot be used: {}", super::list::left_out("openxr"))),
        #[cfg(feature = "gamepad")]
        DeviceKind::Gamepad | DeviceKind::GametrakJoystick => super::gamepads::start(profile, epoch).map_err(failed),
        #[cfg(not(feature = "gamepad"))]
        DeviceKind::Gamepad | DeviceKind::GametrakJoystick => {
            Err(format!("gamepads and joysticks cannot be used: {}", super::list::left_out("gamepad")))
        }
        DeviceKind::Motion(file) => Err(format!("{} is a motion; it is played by the program", file.display())),
    }
}

/// Starts the device of a profile that speaks a format, on a line that is opened in another way than its profile says.
pub fn start_on(
    profile: &DeviceProfile,
    format: Format,
    hands: &Hands,
    epoch: Instant,
    open: impl FnMut() -> Result<Opened, String> + Send + 'static,
) -> std::io::Result<SourceHandle> {
    let (own, hands) = (profile.clone(), hands.clone());
    SourceHandle::start(&profile.name, move |feed| {
        wired::run(feed, wired::Device { profile: &own, format: &format, hands: &hands, epoch }, open);
    })
}
