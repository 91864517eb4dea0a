use crate::math::{Pose, Vec3, log};

/// A force and a torque, in the world.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Wrench {
    /// N.
    pub force: Vec3,
    /// About the origin of the device's frame, N·m.
    pub torque: Vec3,
}

impl Wrench {
    /// Whether both are finite.
    pub fn is_finite(&self) -> bool {
        self.force.iter().chain(self.torque.iter()).all(|x| x.is_finite())
    }

    /// The opposite.
    pub fn opposite(&self) -> Self {
        Self { force: -self.force, torque: -self.torque }
    }

    /// The wrench made smaller.
    pub fn scaled(&self, part: f64) -> Self {
        Self { force: self.force * part, torque: self.torque * part }
    }
}

/// A spring and a damper with six degrees of freedom between a device and a tool of the scene (Duriez 2006, §7.1; Colgate, Stanley and Brown 1995).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct VirtualCoupling {
    /// Stiffness for translation, N/m.
    pub stiffness: f64,
    /// Damping for translation, N·s/m.
    pub damping: f64,
    /// Stiffness for rotation, N·m/rad.
    pub angular_stiffness: f64,
    /// Damping for rotation, N·m·s/rad.
    pub angular_damping: f64,
    /// Largest force, N.
    pub force_limit: f64,
    /// Largest torque, N·m.
    pub torque_limit: f64,
}

impl Default for VirtualCoupling {
    fn default() -> Self {
        Self {
            stiffness: 500.0,
            damping: 1.0,
            angular_stiffness: 1.0,
            angular_damping: 0.005,
            force_limit: 5.0,
            torque_limit: 0.2,
        }
    }
}

/// `b − (K T / 2 + |B|)` of a coupling, for translation in N·s/m and for rotation in N·m·s/rad (Colgate and Schenkel 1997).
/// A sampled spring and damper is passive where it is positive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StabilityMargin {
    /// Translation.
    pub linear: f64,
    /// Rotation.
    pub angular: f64,
}

/// A value of a coupling that is negative or not finite.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("the {name} of the coupling is {value}, expected zero or a positive number")]
pub struct CouplingError {
    /// Name of the value.
    pub name: &'static str,
    /// The value.
    pub value: f64,
}

impl VirtualCoupling {
    /// Checks every value.
    pub fn check(&self) -> Result<(), CouplingError> {
        let values = [
            ("stiffness", self.stiffness),
            ("damping", self.damping),
            ("angular stiffness", self.angular_stiffness),
            ("angular damping", self.angular_damping),
            ("force limit", self.force_limit),
            ("torque limit", self.torque_limit),
        ];
        match values.iter().find(|(_, v)| !(*v >= 0.0 && v.is_finite())) {
            Some(&(name, value)) => Err(CouplingError { name, value }),
            None => Ok(()),
        }
    }

    /// The wrench on the tool, about its origin; the device receives the opposite. Velocities are linear and angular.
    pub fn wrench(&self, device: (&Pose, &[Vec3; 2]), tool: (&Pose, &[Vec3; 2])) -> Wrench {
        let stretch = device.0.translation.vector - tool.0.translation.vector;
        let turn = log(&(device.0.rotation * tool.0.rotation.inverse()));
        let force = self.stiffness * stretch + self.damping * (device.1[0] - tool.1[0]);
        let torque = self.angular_stiffness * turn + self.angular_damping * (device.1[1] - tool.1[1]);
        Wrench { force: limited(&force, self.force_limit), torque: limited(&torque, self.torque_limit) }
    }

    /// How far the coupling is from the limit of passivity, for a loop period and the damping of the device for translation and rotation.
    pub fn margin(&self, period: f64, device_damping: [f64; 2]) -> StabilityMargin {
        let margin = |b: f64, k: f64, damping: f64| b - (0.5 * k * period + damping.abs());
        StabilityMargin {
            linear: margin(device_damping[0], self.stiffness, self.damping),
            angular: margin(device_damping[1], self.angular_stiffness, self.angular_damping),
        }
    }

    /// A sentence for the user where the loop is too slow for the coupling.
    pub fn warning(&self, period: f64, device_damping: [f64; 2]) -> Option<String> {
        let margin = self.margin(period, device_damping);
        let (name, unit, k, b, damping) = if margin.linear < 0.0 {
            ("translation", "N·s/m", self.stiffness, device_damping[0], self.damping)
        } else if margin.angular < 0.0 {
            ("rotation", "N·m·s/rad", self.angular_stiffness, device_damping[1], self.angular_damping)
        } else {
            return None;
        };
        let most = (2.0 * (b - damping) / period).max(0.0);
        Some(format!(
            "the coupling may be unstable in {name}: the device damps {b} {unit}, below K T/2 + |B| = {} {unit}; at {:.0} Hz a stiffness of at most {most:.0} is passive (it is {k})",
            0.5 * k * period + damping,
            1.0 / period
        ))
    }
}

/// A vector cut to a length.
pub(super) fn limited(v: &Vec3, most: f64) -> Vec3 {
    let length = v.norm();
    if length > most { v * (most / length) } else { *v }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::exp;

    const STILL: [Vec3; 2] = [Vec3::new(0.0, 0.0, 0.0), Vec3::new(0.0, 0.0, 0.0)];

    #[test]
    fn spring_damper_and_limits() {
        let coupling = VirtualCoupling::default();
        let tool = Pose::identity();
        let device = Pose::from_parts(Vec3::new(2e-3, 0.0, 0.0).into(), exp(&Vec3::new(0.0, 0.1, 0.0)));
        let wrench = coupling.wrench((&device, &STILL), (&tool, &STILL));
        assert!((wrench.force - Vec3::new(1.0, 0.0, 0.0)).norm() < 1e-12);
        assert!((wrench.torque - Vec3::new(0.0, 0.1, 0.0)).norm() < 1e-12);
        let moving = [Vec3::new(0.0, 0.5, 0.0), Vec3::new(0.0, 0.0, 2.0)];
        let wrench = coupling.wrench((&tool, &moving), (&tool, &STILL));
        assert!((wrench.force - Vec3::new(0.0, 0.5, 0.0)).norm() < 1e-12 && (wrench.torque.z - 0.01).abs() < 1e-12);
        let far = Pose::translation(0.3, 0.4, 0.0);
        assert!((coupling.wrench((&far, &STILL), (&tool, &STILL)).force - Vec3::new(3.0, 4.0, 0.0)).norm() < 1e-12);
    }

    #[test]
    fn the_limit_of_colgate_and_schenkel() {
        let coupling = VirtualCoupling { stiffness: 1000.0, damping: 1.0, ..VirtualCoupling::default() };
        let margin = coupling.margin(1e-3, [2.0, 1.0]);
        assert!((margin.linear - 0.5).abs() < 1e-12);
        assert!(coupling.warning(1e-3, [2.0, 1.0]).is_none());
        let warning = coupling.warning(4e-3, [2.0, 1.0]).expect("too slow");
        assert!(
            warning.contains("translation") && warning.contains("250 Hz") && warning.contains("at most 500"),
            "{warning}"
        );
    }
}
