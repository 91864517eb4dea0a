use super::coupling::Wrench;
use super::guard::DeviceSample;
use crate::math::{Pose, Quat};

/// Axes of a device in the scene, and the motion of the tool for a motion of the device.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DeviceFrame {
    /// Rotates vectors of the device into the scene.
    pub rotation: Quat,
    /// Distance of the tool for a distance of the device.
    pub scale: f64,
}

impl Default for DeviceFrame {
    fn default() -> Self {
        Self { rotation: Quat::identity(), scale: 1.0 }
    }
}

/// Maps samples of a device into the scene, and wrenches back.
///
/// With the rotation `R` and the scale `s` of the frame, the first sample `p₀, d₀` of the device and the pose `x₀, q₀` of the tool at that time,
///
/// ```text
/// x = x₀ + s R (p − p₀)        q = R d d₀⁻¹ R⁻¹ q₀        on the device: force s R⁻¹ f, torque R⁻¹ τ
/// ```
///
/// Velocities then are `ẋ = s R ṗ` and `ω = R ω_d`, so the power on the device is `f·ẋ + τ·ω`, as in the scene: passivity in one frame is passivity in
/// the other.
#[derive(Clone, Copy, Debug)]
pub struct DeviceMap {
    frame: DeviceFrame,
    tool: Pose,
    first: Option<Pose>,
}

impl DeviceMap {
    /// For a tool at a pose. The first sample of the device is mapped to this pose.
    pub fn new(frame: DeviceFrame, tool: Pose) -> Self {
        Self { frame, tool, first: None }
    }

    /// A sample in the scene. One that is not sound stays so.
    pub fn to_scene(&mut self, sample: &DeviceSample) -> DeviceSample {
        if self.first.is_none() && sample.is_sound() {
            self.first = Some(sample.pose);
        }
        let (Some(first), DeviceFrame { rotation, scale }) = (self.first, self.frame) else { return *sample };
        let moved = scale * (rotation * (sample.pose.translation.vector - first.translation.vector));
        let turned = rotation * sample.pose.rotation * first.rotation.inverse() * rotation.inverse();
        let place = self.tool.translation.vector + moved;
        DeviceSample { time: sample.time, pose: Pose::from_parts(place.into(), turned * self.tool.rotation) }
    }

    /// A wrench of the scene for the device.
    pub fn to_device(&self, wrench: &Wrench) -> Wrench {
        let back = self.frame.rotation.inverse();
        Wrench { force: self.frame.scale * (back * wrench.force), torque: back * wrench.torque }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Vec3, exp, log};

    #[test]
    fn the_first_sample_is_the_pose_of_the_tool_and_power_is_kept() {
        // Z of the device is up, and the tool moves three times as far.
        let frame =
            DeviceFrame { rotation: Quat::from_euler_angles(-0.5 * std::f64::consts::PI, 0.0, 0.0), scale: 3.0 };
        let tool = Pose::from_parts(Vec3::new(0.1, 0.2, 0.3).into(), exp(&Vec3::new(0.3, 0.1, -0.4)));
        let mut map = DeviceMap::new(frame, tool);
        let nowhere = DeviceSample { time: 0.0, pose: Pose::translation(f64::NAN, 0.0, 0.0) };
        assert!(!map.to_scene(&nowhere).is_sound());
        let start = Pose::from_parts(Vec3::new(0.5, -0.2, 0.1).into(), exp(&Vec3::new(0.0, 1.0, 0.2)));
        let first = map.to_scene(&DeviceSample { time: 0.0, pose: start }).pose;
        assert!((first.translation.vector - tool.translation.vector).norm() < 1e-15);
        assert!(first.rotation.angle_to(&tool.rotation) < 1e-7);
        assert!(!map.to_scene(&nowhere).is_sound());
        let (moved, turned) = (Vec3::new(0.0, 0.001, 0.01), Vec3::new(1e-4, 2e-4, -3e-4));
        let pose = Pose::from_parts((start.translation.vector + moved).into(), exp(&turned) * start.rotation);
        let then = map.to_scene(&DeviceSample { time: 1e-3, pose }).pose;
        let step = then.translation.vector - first.translation.vector;
        assert!((step - Vec3::new(0.0, 0.03, -0.003)).norm() < 1e-12, "{step}");
        let wrench = Wrench { force: Vec3::new(1.0, -2.0, 0.5), torque: Vec3::new(0.1, 0.4, -0.2) };
        let on_device = map.to_device(&wrench);
        let scene = wrench.force.dot(&step) + wrench.torque.dot(&log(&(then.rotation * first.rotation.inverse())));
        let device = on_device.force.dot(&moved) + on_device.torque.dot(&turned);
        assert!((scene - device).abs() < 1e-12, "{scene} J in the scene, {device} J on the device");
    }
}
