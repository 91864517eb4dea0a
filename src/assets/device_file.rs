//! Profiles of devices: what is plugged in where, and what its values mean for a hand. `docs/devices.md` lists the keys.

mod profile;
mod ranges;
mod read;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use self::profile::{
    Anchor, DeviceKind, DeviceProfile, FilterSettings, HapticSettings, HapticSource, Parts, PlaceSettings, Port,
    SensorMap,
};
use super::Files;
use super::problem::Problems;
use super::table::Document;

/// Reads the profile of a device. A file with `base = "other.toml"` holds only what differs from the other: so a person's
/// calibration stands beside the profile of the glove.
pub fn load_device(file: &Path) -> Result<DeviceProfile, Problems> {
    Files::default().load_device(file)
}

impl Files {
    /// Reads the profile of a device and those that it names, as [`load_device`] does from the disk.
    pub fn load_device(&self, file: &Path) -> Result<DeviceProfile, Problems> {
        let document = Document::load_over_bases(self, file)?;
        let root = document.root();
        let profile = read::profile(&root, file);
        // A recording keeps profiles, not what they play.
        if let DeviceKind::Motion(motion) = &profile.kind
            && !self.are_kept()
            && let Some(why) = self.why_absent(motion)
        {
            root.complain("file", why);
        }
        document.into_problems().into_result().map(|()| profile)
    }
}
