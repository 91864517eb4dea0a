use crate::math::{Pose, Quat, Vec3, exp, log};

/// A spring and a damper with six degrees of freedom that pull a frame of a body to a moving pose, with limits of force and torque: the
/// virtual coupling of a tool (Duriez 2006, §7.1), implicit in the step of the tool.
///
/// With the pose `x_d`, velocity `v_d`, and a frame at `x` with velocity `u` at the end of a step `h`, the force is
///
/// ```text
/// f(u) = P(y),   y = k (x_d + h v_d − x − h u) + b (v_d − u),   P(y) = y min(1, F / |y|).
/// ```
///
/// It is the gradient `−∂Φ/∂(h u)` of `Φ(u) = h/(h k + b) φ(|y|)`, with `φ(r) = r²/2` up to the limit `F` and `F r − F²/2` beyond, which is convex.
/// Its part of the matrix of the step is the secant `(h² k + h b) min(1, F / |y|)`, an upper bound of the curvature. Rotations are
/// treated alike, with the rotation vector from the frame to the pose.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Guide {
    /// The pose at the start of the step.
    pub pose: Pose,
    /// Its linear and angular velocity.
    pub velocity: [Vec3; 2],
    /// Stiffness for translation and rotation, N/m and N·m/rad.
    pub stiffness: [f64; 2],
    /// Damping, N·s/m and N·m·s/rad.
    pub damping: [f64; 2],
    /// Largest force and torque, N and N·m.
    pub limits: [f64; 2],
}

crate::saved_fields!(Guide: pose, velocity, stiffness, damping, limits);

/// A [`Guide`] at a guess of the velocity at the end of the step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GuideTerm {
    /// Force and torque, N and N·m.
    pub wrench: [Vec3; 2],
    /// Part of the matrix of the step, kg and kg·m².
    pub matrix: [f64; 2],
    /// `Φ`, J.
    pub potential: f64,
}

impl Guide {
    /// The guide after some time with its velocity.
    pub fn after(&self, time: f64) -> Self {
        let place = self.pose.translation.vector + time * self.velocity[0];
        let pose = Pose::from_parts(place.into(), exp(&(time * self.velocity[1])) * self.pose.rotation);
        Self { pose, ..*self }
    }

    /// Force, part of the matrix and potential for a frame at the start of the step and its velocity at the end.
    pub fn at(&self, place: &Vec3, orientation: &Quat, velocity: [&Vec3; 2], h: f64) -> GuideTerm {
        let ahead = exp(&(h * self.velocity[1])) * self.pose.rotation;
        let apart = [
            self.pose.translation.vector + h * self.velocity[0] - place - h * velocity[0],
            log(&(ahead * (exp(&(h * velocity[1])) * orientation).inverse())),
        ];
        let mut term = GuideTerm { wrench: [Vec3::zeros(); 2], matrix: [0.0; 2], potential: 0.0 };
        for k in 0..2 {
            let y = self.stiffness[k] * apart[k] + self.damping[k] * (self.velocity[k] - velocity[k]);
            let (length, most) = (y.norm(), self.limits[k]);
            let part = if length > most { most / length } else { 1.0 };
            let slope = h * self.stiffness[k] + self.damping[k];
            term.wrench[k] = part * y;
            term.matrix[k] = part * h * slope;
            let phi = if length > most { most * length - 0.5 * most * most } else { 0.5 * length * length };
            term.potential += if slope > 0.0 { h / slope * phi } else { 0.0 };
        }
        term
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The force is the gradient of the potential, inside the limits and beyond.
    #[test]
    fn force_is_the_slope_of_the_potential() {
        let guide = Guide {
            pose: Pose::translation(0.01, -0.02, 0.005),
            velocity: [Vec3::new(0.1, 0.0, -0.05), Vec3::zeros()],
            stiffness: [500.0, 0.0],
            damping: [2.0, 0.0],
            limits: [5.0, 1.0],
        };
        let still = Vec3::zeros();
        for (place, h) in [(Vec3::new(0.008, -0.019, 0.004), 1e-3), (Vec3::new(-0.2, 0.1, 0.0), 1e-3), (still, 1e-2)] {
            let at = |u: &Vec3| guide.at(&place, &Quat::identity(), [u, &still], h);
            let u = Vec3::new(0.03, -0.02, 0.01);
            let force = at(&u).wrench[0];
            assert!(force.norm() <= 5.0 + 1e-12);
            for i in 0..3 {
                let d = 1e-5 * Vec3::ith(i, 1.0);
                let slope = -(at(&(u + d)).potential - at(&(u - d)).potential) / 2e-5 / h;
                assert!((slope - force[i]).abs() < 1e-6 * force.norm(), "{slope} {}", force[i]);
            }
        }
    }
}
