use crate::math::{Mat3, Quat, Vec3, exp};

/// Maximum angle of one substep, rad. The energy error is of fourth order in it.
const SUBSTEP: f64 = 0.15;
/// Maximum number of substeps.
const MOST_SUBSTEPS: f64 = 512.0;
/// A perturbation that rotates the body by less than this in a step is not resolved, rad.
const NEGLIGIBLE: f64 = 1e-12;
/// Fractions of a substep in Suzuki's composition of five second-order steps into one of fourth order; `1 / (4 −
/// 4^(1/3))` four times.
const SUZUKI: [f64; 5] = [P, P, 1.0 - 4.0 * P, P, P];
const P: f64 = 0.414_490_771_794_375_7;

/// The torque-free rotation of a rigid body.
///
/// In the frame of the principal axes the kinetic energy is `H = Σ l_i² / (2 I_i)`, with `l = Rᵀ L` and `L` the angular momentum in the
/// world, which is constant. Let `I_m` be the middle moment. As `|l|` is constant,
///
/// ```text
/// H = |l|² / (2 I_m) + a l_f² / 2 + b l_s² / 2,   a = 1/I_f − 1/I_m,   b = 1/I_s − 1/I_m.
/// ```
///
/// The axis `f` ("fast") is the one with the larger difference. Each term alone is solved exactly by one rotation: the first by
/// `R ← exp(t L / I_m) R`, the others by `R ← R exp(t a l_f e_f)` and `R ← R exp(t b l_s e_s)`. The first commutes with the others, so it
/// is applied once. The other two are composed symmetrically (Strang splitting; McLachlan 1993 splits all three terms), and five such
/// steps to one of fourth order (Suzuki 1990).
///
/// The result is a rotation of the body for any step, so the method cannot diverge, and it preserves `L` to the bit. A
/// body with two
/// equal moments (a round or square rod, a disc, a ball) has `b = 0`, and its motion is exact. For other bodies the step is divided so
/// that no substep rotates about `f` by more than 0.15 rad, and the energy error stays bounded.
#[derive(Clone, Copy, Debug)]
pub struct FreeRotation {
    /// From the principal axes to the frame of the body.
    axes: Quat,
    /// `1 / I_m`.
    middle: f64,
    /// Axis and coefficient of the two other terms.
    fast: (usize, f64),
    slow: (usize, f64),
}

impl FreeRotation {
    /// For a body with this inertia about its centre of mass.
    pub fn new(inertia: &Mat3) -> Self {
        let eigen = inertia.symmetric_eigen();
        let mut vectors = eigen.eigenvectors;
        if vectors.determinant() < 0.0 {
            vectors.neg_mut();
        }
        let axes = Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(vectors));
        let rates = eigen.eigenvalues.map(f64::recip);
        let mut order = [0, 1, 2];
        order.sort_by(|&i, &j| rates[i].total_cmp(&rates[j]));
        let [low, middle, high] = order;
        let of = |axis: usize| (axis, rates[axis] - rates[middle]);
        let (mut fast, mut slow) = (of(high), of(low));
        if slow.1.abs() > fast.1.abs() {
            (fast, slow) = (slow, fast);
        }
        // Moments that differ only by rounding are equal.
        if slow.1.abs() <= 1e-12 * rates[middle] {
            slow.1 = 0.0;
        }
        Self { axes, middle: rates[middle], fast, slow }
    }

    /// The orientation after the time `h`, with the angular momentum `momentum` in the world.
    pub fn turned(&self, orientation: &Quat, momentum: &Vec3, h: f64) -> Quat {
        let ((f, a), (s, b)) = (self.fast, self.slow);
        let mut q = orientation * self.axes;
        let mut l = q.inverse() * momentum;
        let substeps = self.substeps(&l, h);
        let t = h / substeps;
        let turn = |q: &mut Quat, l: &mut Vec3, axis: usize, rate: f64, t: f64| {
            let by = exp(&Vec3::ith(axis, t * rate * l[axis]));
            *q *= by;
            *l = by.inverse() * *l;
        };
        if b == 0.0 {
            turn(&mut q, &mut l, f, a, h);
        } else {
            for part in (0..substeps as usize).flat_map(|_| SUZUKI) {
                turn(&mut q, &mut l, s, b, 0.5 * part * t);
                turn(&mut q, &mut l, f, a, part * t);
                turn(&mut q, &mut l, s, b, 0.5 * part * t);
            }
        }
        let mut turned = exp(&(h * self.middle * momentum)) * q * self.axes.inverse();
        turned.renormalize();
        turned
    }

    /// Number of substeps of a step.
    ///
    /// The slow term rotates the body by at most `d = h |b| |l|` in the step, so `l_f` grows by at most `d |l|`, and
    /// the fast term
    /// rotates it by at most `h |a| (|l_f| + d |l|)`.
    fn substeps(&self, l: &Vec3, h: f64) -> f64 {
        let ((f, a), (_, b)) = (self.fast, self.slow);
        let length = l.norm();
        let slow = h * b.abs() * length;
        if slow <= NEGLIGIBLE {
            return 1.0;
        }
        let fast = h * a.abs() * (l[f].abs() + slow.min(1.0) * length).min(length);
        let substeps = (fast.max(slow) / SUBSTEP).ceil();
        if substeps.is_finite() { substeps.clamp(1.0, MOST_SUBSTEPS) } else { 1.0 }
    }
}
