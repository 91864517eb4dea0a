//! Device profiles: port, calibration and mapping to a hand. `docs/devices.md` lists the keys.

mod profile;
mod ranges;
mod read;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use self::profile::{
    DeviceKind, DeviceProfile, FilterSettings, HapticSettings, HapticSource, Parts, PlaceSettings, Port, SensorMap,
    TrackerAnchor,
};
use super::Files;
use super::problem::Problems;
use super::table::Document;

/// Reads a device profile. A file with `base = "other.toml"` contains only the differences: a user's calibration
/// extends the profile of the glove.
pub fn load_device(file: &Path) -> Result<DeviceProfile, Problems> {
    Files::default().load_device(file)
}

impl Files {
    /// Reads a device profile and the files that it refers to, like [`load_device`] from the disk.
    pub fn load_device(&self, file: &Path) -> Result<DeviceProfile, Problems> {
        let document = Document::load_over_bases(self, file)?;
        let root = document.root();
        let profile = read::profile(&root, file);
        // A recording contains profiles, not the motions they play.
        if let DeviceKind::Motion(motion) = &profile.kind
            && !self.are_kept()
            && let Some(why) = self.why_absent(motion)
        {
            root.complain("file", why);
        }
        document.into_problems().into_result().map(|()| profile)
    }
}
