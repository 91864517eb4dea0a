use crate::math::Vec3;

/// Spring, damper, motor and limits of one coordinate of a rigid body: its rotation about an axis or its displacement along one.
///
/// With the coordinate `s` at the start of a step `h` and the velocity `u` at its end, the force (or torque) is
///
/// ```text
/// f(u) = k (r − s − h u) − c u + P(g (w − u)) + limits,   P(y) = y min(1, F / |y|),   g = F / (SLIP |w|)
/// ```
///
/// The motor has the straight speed–torque line of a direct-current motor: it reaches its speed `w` without load, and its greatest force
/// `F` when a load slows it by a tenth, so a load `L` makes it run at `w (1 − SLIP L / F)`. The law is part of the matrix of the step as in
/// [`Guide`](crate::problem::Guide): springs of any stiffness are stable at any step, and contact in the same step feels them.
///
/// A limit that the body would pass in the step is a stiff, critically damped spring for this step. Its stiffness is that of an oscillation of
/// the body at 200 Hz, so that a body rests 6 µm beyond a limit under its own weight, and it only pushes back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DriveLaw {
    /// `k`: stiffness, N/m or N·m/rad, and `r`: rest coordinate, m or rad.
    pub spring: [f64; 2],
    /// `c`, N·s/m or N·m·s/rad.
    pub damping: f64,
    /// `w`: speed, m/s or rad/s, and `F`: greatest force or torque, N or N·m. There is no motor without a greatest force.
    pub motor: [f64; 2],
    /// Smallest and largest coordinate, m or rad.
    pub limits: [f64; 2],
}

/// Fraction of the speed by which a motor is slower at its greatest force.
pub const SLIP: f64 = 0.1;
/// Speeds below this have the slip of this one: a motor of speed zero is a brake, m/s or rad/s.
const SLOW_DRIVE: f64 = 0.01;
/// Angular frequency of a body on a limit, rad/s.
const STOP: f64 = 200.0 * std::f64::consts::TAU;

impl Default for DriveLaw {
    fn default() -> Self {
        Self { spring: [0.0; 2], damping: 0.0, motor: [0.0; 2], limits: [f64::NEG_INFINITY, f64::INFINITY] }
    }
}

impl DriveLaw {
    /// The same with the coordinate counted the other way.
    pub fn reversed(&self) -> Self {
        let ([k, rest], [speed, most], [low, high]) = (self.spring, self.motor, self.limits);
        Self { spring: [k, -rest], motor: [-speed, most], limits: [-high, -low], ..*self }
    }

    /// Force for the coordinate at the start of the step and a velocity, and its negative derivative by the velocity; `mass` is the inertia of
    /// the coordinate. The motor has its line or its greatest force, whichever holds at the end of the step.
    pub fn at(&self, s: f64, u: f64, mass: f64, h: f64) -> [f64; 2] {
        let after = |force: f64, slope: f64| u + h * force / (mass + h * slope);
        let [k, rest] = self.spring;
        let mut force = k * (rest - s - h * u) - self.damping * u;
        let mut slope = h * k + self.damping;
        let [speed, most] = self.motor;
        if most > 0.0 {
            let gain = most / (SLIP * speed.abs().max(SLOW_DRIVE));
            let line = [force + gain * (speed - u), slope + gain];
            let pull = gain * (speed - after(line[0], line[1]));
            [force, slope] = if pull.abs() <= most { line } else { [force + most * pull.signum(), slope] };
        }
        let free = after(force, slope);
        let [low, high] = self.limits;
        let end = s + h * free;
        let bound = if end > high {
            high
        } else if end < low {
            low
        } else {
            return [force, slope];
        };
        let (stiff, damp) = (STOP * STOP * mass, 2.0 * STOP * mass);
        let [stop, steep] = [stiff * (bound - s - h * u) - damp * u, h * stiff + damp];
        // The force at the velocity that follows from it.
        let change = after(force + stop, slope + steep) - u;
        let pushes_back = (stop - steep * change) * (bound - end) > 0.0;
        if pushes_back { [force + stop, slope + steep] } else { [force, slope] }
    }
}

/// A coordinate of a rigid body and its law.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Drive {
    /// Unit axis in the world.
    pub axis: Vec3,
    /// Whether it is a rotation about the axis, or a displacement along it.
    pub turns: bool,
    /// A point of the body in its frame, and its position at coordinate zero, m.
    pub point: [Vec3; 2],
    /// Orientation of the body at coordinate zero.
    pub orientation: crate::math::Quat,
    /// Law.
    pub law: DriveLaw,
}

crate::saved_fields!(DriveLaw: spring, damping, motor, limits);
crate::saved_fields!(Drive: axis, turns, point, orientation, law);

#[cfg(test)]
mod tests {
    use super::*;

    /// The force is linear between its kinks with the slope given, and limits only push back.
    #[test]
    fn forces_and_slopes() {
        let law = DriveLaw { spring: [30.0, 0.1], damping: 0.4, motor: [0.5, 2.0], limits: [-0.2, 0.3] };
        for (s, u) in [(0.0, 0.0), (0.1, 0.48), (0.299, 0.2), (-0.25, -1.0), (0.35, 0.0), (0.35, -3.0)] {
            let [force, slope] = law.at(s, u, 0.2, 1e-3);
            let [moved, _] = law.at(s, u + 1e-7, 0.2, 1e-3);
            assert!(
                ((force - moved) / 1e-7 - slope).abs() < 1e-3 * slope,
                "{s} {u}: {} {slope}",
                (force - moved) / 1e-7
            );
            let other = law.reversed().at(-s, -u, 0.2, 1e-3);
            assert!((other[0] + force).abs() < 1e-9 * force.abs().max(1.0) && (other[1] - slope).abs() < 1e-9 * slope);
        }
        let stop = DriveLaw { limits: [0.0, 1.0], ..Default::default() };
        assert_eq!(stop.at(0.5, 1.0, 1.0, 0.01), [0.0, 0.0]);
        assert!(stop.at(-1e-3, 0.0, 1.0, 0.01)[0] > 0.0);
        assert_eq!(stop.at(-1e-3, 5.0, 1.0, 0.01), [0.0, 0.0], "it leaves by itself");
    }
}
