use super::EmulatedMotion;
use crate::assets::{DeviceKind, DeviceProfile, PlaceSettings};
use crate::devices::glove::GloveMap;
use crate::math::{Pose, Vec3};
use crate::protocol::{Format, Reading, TrackedObject};
use crate::tracking::HandSample;

/// Serial number of an emulated tracker if the profile does not name one.
const SERIAL: &str = "EMULATED";

/// A hand with an emulated device: the readings are the inverse of what the profile computes from them.
pub struct EmulatedWearer<F> {
    format: Option<Format>,
    glove: GloveMap,
    place: PlaceSettings,
    serial: String,
    hand: F,
}

impl<F: FnMut(f64) -> Option<HandSample> + Send> EmulatedWearer<F> {
    /// The hand at each time, with the device of a profile.
    pub fn new(profile: &DeviceProfile, hand: F) -> Self {
        let format = if let DeviceKind::Wire(format) = &profile.kind { Some(*format) } else { None };
        Self {
            format,
            glove: GloveMap::new(&profile.sensors),
            place: profile.place,
            serial: profile.tracker.clone().unwrap_or_else(|| SERIAL.into()),
            hand,
        }
    }
}

impl<F: FnMut(f64) -> Option<HandSample> + Send> EmulatedMotion for EmulatedWearer<F> {
    fn readings(&mut self, time: f64, out: &mut Vec<Reading>) {
        let Some(HandSample { palm, angles, .. }) = (self.hand)(time) else { return };
        if let Some(angles) = angles.filter(|_| !self.glove.sensors().is_empty()) {
            out.push(Reading::Flex(self.glove.raw(&angles)));
        }
        let Some(palm) = palm else { return };
        let sensor_pose = sensor_pose(&self.place, &palm);
        match self.format {
            Some(Format::Bno055 | Format::WitMotion { .. } | Format::XImu3) => {
                out.push(Reading::Orientation(sensor_pose.rotation));
            }
            Some(Format::Vmc) => {
                let serial = self.serial.clone();
                out.push(Reading::Tracked { object: TrackedObject::Tracker, serial, pose: sensor_pose });
            }
            _ => out.push(tilt(&palm)),
        }
    }
}

/// Tracker pose of a palm in the world.
fn sensor_pose(place: &PlaceSettings, palm: &Pose) -> Pose {
    let turn = place.frame.rotation.inverse();
    let position = turn * (palm.translation.vector - place.frame.translation.vector) / place.scale;
    Pose::from_parts(position.into(), turn * palm.rotation * place.palm.inverse())
}

/// Tilt of a palm, independent of its heading.
fn tilt(palm: &Pose) -> Reading {
    let up = |axis: Vec3| (palm.rotation * axis).y;
    let pitch = up(-Vec3::z()).clamp(-1.0, 1.0).asin();
    let roll = (-up(Vec3::x())).atan2(up(Vec3::y()));
    Reading::Tilt { pitch, roll: roll.clamp(-std::f64::consts::FRAC_PI_2, std::f64::consts::FRAC_PI_2) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::{builtin_device_file, load_device};
    use crate::math::Quat;
    use crate::tracking::ANGLES;

    fn readings(name: &str, palm: Pose, angles: [f64; ANGLES]) -> Vec<Reading> {
        let profile =
            load_device(&builtin_device_file(name).expect("a shipped profile")).unwrap_or_else(|p| panic!("{p}"));
        let mut out = Vec::new();
        EmulatedWearer::new(&profile, |time| Some(HandSample::full(time, palm, angles))).readings(0.0, &mut out);
        out
    }

    #[test]
    fn tilt_matches_the_orientation() {
        for (heading, pitch, roll) in [(0.0, 0.3, -0.4), (2.0, -0.7, 1.2), (-1.0, 0.0, 0.0)] {
            let turn = |axis: Vec3, angle: f64| Quat::from_scaled_axis(axis * angle);
            let rotation = turn(Vec3::y(), heading) * turn(Vec3::x(), pitch) * turn(-Vec3::z(), roll);
            let Reading::Tilt { pitch: p, roll: r } = tilt(&Pose::from_parts(Vec3::zeros().into(), rotation)) else {
                panic!("a tilt")
            };
            assert!((p - pitch).abs() < 1e-12 && (r - roll).abs() < 1e-12, "{p} {r}");
        }
    }

    #[test]
    fn each_device_encodes_its_measurements() {
        let palm = Pose::from_parts(Vec3::new(0.1, 1.2, -0.3).into(), Quat::from_scaled_axis(Vec3::new(0.2, 0.3, 0.1)));
        let glove = readings("5dt-5", palm, [0.3; ANGLES]);
        assert!(matches!(glove[..], [Reading::Flex(_), Reading::Tilt { .. }]), "{glove:?}");
        let sensor = readings("bno055", palm, [0.3; ANGLES]);
        let [Reading::Orientation(sensor_pose)] = sensor[..] else { panic!("{sensor:?}") };
        let upright = Quat::from_scaled_axis(-Vec3::x() * std::f64::consts::FRAC_PI_2);
        assert!((upright * sensor_pose).angle_to(&palm.rotation) < 1e-9, "its z is up, the world's y is");
        let tracker = readings("vmc", palm, [0.3; ANGLES]);
        assert!(
            matches!(&tracker[..], [Reading::Tracked { pose, .. }] if (pose.translation.vector - palm.translation.vector).norm() < 1e-9)
        );
        assert!(glove.iter().chain(&sensor).chain(&tracker).all(Reading::is_sound));
    }
}
