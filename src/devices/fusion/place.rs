use crate::assets::{PlaceSettings, TrackerAnchor};
use crate::math::{Pose, Quat, Vec3};

/// Transformation from the frame of a device to the world.
///
/// With [`TrackerAnchor::Start`] the first position is mapped to the initial position of the hand. The first orientation only
/// determines the heading: a tracker knows the vertical, but not where the user's front is, so it is rotated about the
/// vertical to be closest to the hand. With `d = q_start q⁻¹` that rotation has the angle `2 atan2(d_y, d_w)`, the
/// twist of `d` about y.
#[derive(Clone, Copy, Debug)]
pub(super) struct DeviceToWorld {
    settings: PlaceSettings,
    heading: Option<Quat>,
    /// A position of the device, and the corresponding position in the world.
    origin: Option<(Vec3, Vec3)>,
}

impl DeviceToWorld {
    pub fn new(settings: &PlaceSettings) -> Self {
        let mut placed = Self { settings: *settings, heading: None, origin: None };
        placed.forget();
        placed
    }

    /// The next sample is the first.
    pub fn forget(&mut self) {
        let known = self.settings.anchor == TrackerAnchor::World;
        self.heading = known.then(Quat::identity);
        self.origin = known.then(|| (Vec3::zeros(), self.settings.frame.translation.vector));
    }

    /// Maps the first sample to the initial pose of the hand.
    pub fn anchor(&mut self, position: Option<Vec3>, turn: Option<Quat>, start: &Pose) {
        if let (None, Some(turn)) = (self.heading, turn) {
            let off = start.rotation * (self.settings.frame.rotation * turn * self.settings.palm).inverse();
            let twist = 2.0 * off.j.atan2(off.w);
            self.heading = Some(Quat::from_scaled_axis(Vec3::y() * twist));
        }
        if let (None, Some(position)) = (self.origin, position) {
            self.origin = Some((position, start.translation.vector));
        }
    }

    pub fn position(&self, measured: &Vec3) -> Vec3 {
        let (origin, place) = self.origin.unwrap_or_default();
        let heading = self.heading.unwrap_or_else(Quat::identity);
        place + heading * (self.settings.frame.rotation * (self.settings.scale * (measured - origin)))
    }

    pub fn orientation(&self, measured: &Quat) -> Quat {
        let heading = self.heading.unwrap_or_else(Quat::identity);
        heading * self.settings.frame.rotation * measured * self.settings.palm
    }
}
