use crate::math::{Mat3, Vec3};

/// Nonlinear force of a body's springs and limits on its coordinates.
///
/// A body linearises these forces in its free motion: they enter `A` with the stiffness `s`, and have the force `F₀` at
/// the end of the free
/// motion. Contact may move a coordinate past a limit, or saturate a spring, afterwards. The term corrects this: with
/// `y = y₀ + h x` the coordinate at the end of the step it adds the potential whose gradient is
///
/// ```text
/// −h (F(y) − F₀ + s h x)
/// ```
///
/// `A − h² s` is still positive definite and `F` decreases with `y`, so the cost stays convex.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CoordinateTerm {
    /// First of the body's degrees of freedom that it acts on.
    pub dof: usize,
    /// `y₀`; one entry counts for a joint, three for a spring.
    pub end: Vec3,
    /// `F`.
    pub law: CoordinateLaw,
    /// `F₀`.
    pub linear_force: Vec3,
    /// `s`.
    pub linear_stiffness: f64,
}

/// Force against coordinate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CoordinateLaw {
    /// A joint: a spring of bounded torque, and stiff limits.
    Joint {
        /// Rest angle of the spring, rad.
        target: f64,
        /// N·m/rad.
        stiffness: f64,
        /// Maximum torque of the spring, N·m.
        most: f64,
        /// Minimum and maximum angle, rad.
        limits: [f64; 2],
        /// Stiffness beyond them, N·m/rad.
        limit_stiffness: f64,
    },
    /// A spring over three coordinates towards zero, of bounded force.
    Spring {
        /// N/m, or N·m/rad.
        stiffness: f64,
        /// Maximum force, N, or torque, N·m.
        most: f64,
    },
}

impl CoordinateLaw {
    /// Number of coordinates.
    pub fn count(&self) -> usize {
        match self {
            CoordinateLaw::Joint { .. } => 1,
            CoordinateLaw::Spring { .. } => 3,
        }
    }

    /// Force and its negative derivative.
    pub fn force(&self, y: &Vec3) -> (Vec3, Mat3) {
        match *self {
            CoordinateLaw::Joint { target, stiffness, most, limits: [low, high], limit_stiffness } => {
                let spring = stiffness * (target - y.x);
                let (mut force, mut slope) =
                    if spring.abs() > most { (most.copysign(spring), 0.0) } else { (spring, stiffness) };
                let beyond = y.x - y.x.max(low).min(high);
                if beyond != 0.0 {
                    (force, slope) = (force - limit_stiffness * beyond, slope + limit_stiffness);
                }
                (Vec3::new(force, 0.0, 0.0), Mat3::from_diagonal(&Vec3::new(slope, 0.0, 0.0)))
            }
            CoordinateLaw::Spring { stiffness, most } => {
                let length = y.norm();
                if stiffness * length <= most {
                    return (-stiffness * y, Mat3::from_diagonal_element(stiffness));
                }
                let along = y / length;
                let across = Mat3::identity() - along * along.transpose();
                (-most * along, most / length * across)
            }
        }
    }
}

impl CoordinateTerm {
    /// Force and its negative derivative that `A` does not contain, for a displacement `h x`.
    pub fn correction(&self, moved: &Vec3) -> (Vec3, Mat3) {
        let (force, slope) = self.law.force(&(self.end + moved));
        let n = self.law.count();
        let own = Vec3::from_fn(|i, _| if i < n { self.linear_stiffness } else { 0.0 });
        (force - self.linear_force + own.component_mul(moved), slope - Mat3::from_diagonal(&own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// The slope is the derivative of the force, and forces are bounded and monotone.
        #[test]
        fn laws(y in [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64], joint in any::<bool>()) {
            let law = if joint {
                CoordinateLaw::Joint { target: 0.2, stiffness: 3.0, most: 0.7, limits: [-0.4, 0.6], limit_stiffness: 50.0 }
            } else {
                CoordinateLaw::Spring { stiffness: 3.0, most: 2.0 }
            };
            let y = Vec3::from(y);
            let (force, slope) = law.force(&y);
            if !joint {
                prop_assert!(force.norm() <= 2.0 + 1e-12);
            }
            // Away from the kinks.
            let kinks: &[f64] = if joint { &[-0.4, 0.6, 0.2 - 0.7 / 3.0, 0.2 + 0.7 / 3.0] } else { &[] };
            prop_assume!(kinks.iter().all(|k| (y.x - k).abs() > 1e-5) && (3.0 * y.norm() - 2.0).abs() > 1e-5);
            for j in 0..law.count() {
                let mut d = Vec3::zeros();
                d[j] = 1e-6;
                let difference = (law.force(&(y - d)).0 - law.force(&(y + d)).0) / 2e-6;
                prop_assert!((difference - slope.column(j)).norm() < 1e-6 * (1.0 + slope.norm()));
            }
            prop_assert!(slope.symmetric_eigenvalues().min() >= -1e-12 * slope.norm());
            prop_assert!(force.iter().all(|x| x.is_finite()));
        }
    }
}
