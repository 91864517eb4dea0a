use nalgebra::Matrix4;

use super::{Mat3, Quat, Vec3};

/// The matrix of `a ×`.
pub fn skew(a: &Vec3) -> Mat3 {
    a.cross_matrix()
}

/// The rotation with rotation vector `w`.
pub fn exp(w: &Vec3) -> Quat {
    Quat::from_scaled_axis(*w)
}

/// The rotation vector of `q`, of length at most π.
pub fn log(q: &Quat) -> Vec3 {
    if q.w < 0.0 {
        return Quat::new_unchecked(-q.into_inner()).scaled_axis();
    }
    q.scaled_axis()
}

/// The rotation of the frame with −Z along `direction` and +Y closest to `up`, as for OpenXR joints. `None` if the two
/// are parallel or one is zero.
pub fn rotation_between(direction: &Vec3, up: &Vec3) -> Option<Quat> {
    let z = -direction.try_normalize(1e-9)?;
    let x = up.cross(&z).try_normalize(1e-6)?;
    let y = z.cross(&x);
    let matrix = Mat3::from_columns(&[x, y, z]);
    Some(Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(matrix)))
}

/// The rotation `R` nearest to `f`, with initial guess `start`.
///
/// `R` maximises `tr(Rᵀ F)`. Write `S = Rᵀ F`; a change `R exp([w]×)` is stationary where `S` is symmetric, and Newton's
/// step is `w = (tr(S) I − S)⁻¹ axial(S − Sᵀ)`. It converges quadratically, two or three steps from the last time
/// step's rotation. Where `tr(S) I − S` is not positive definite, `S` is not near the maximum; the maximum is then found
/// by [`nearest_rotation`]. For `det F < 0` it is the rotation of Irving, Teran and Fedkiw 2004: of the principal
/// stretches the smallest is negative.
pub fn polar_from(f: &Mat3, start: &Mat3) -> Mat3 {
    const STEPS: usize = 8;
    let mut r = *start;
    for _ in 0..STEPS {
        let s = r.transpose() * f;
        let axial = Vec3::new(s[(2, 1)] - s[(1, 2)], s[(0, 2)] - s[(2, 0)], s[(1, 0)] - s[(0, 1)]);
        let hessian = Mat3::from_diagonal_element(s.trace()) - 0.5 * (s + s.transpose());
        let Some(w) = newton_step(&hessian, &axial) else { break };
        r *= exp(&w).to_rotation_matrix().into_inner();
        if w.norm_squared() < 1e-28 {
            return reorthonormalised(&r);
        }
    }
    nearest_rotation(f).to_rotation_matrix().into_inner()
}

/// The rotation nearest to `f`, without an initial guess.
///
/// With a unit quaternion `q`, `tr(Rᵀ F) = qᵀ N q` with a symmetric 4 × 4 matrix `N` (Horn 1987), so `q` is the eigenvector
/// of the largest eigenvalue. Jacobi's method finds it for any `f`.
pub fn nearest_rotation(f: &Mat3) -> Quat {
    const SWEEPS: usize = 12;
    let mut n = Matrix4::new(
        f[(0, 0)] + f[(1, 1)] + f[(2, 2)],
        f[(2, 1)] - f[(1, 2)],
        f[(0, 2)] - f[(2, 0)],
        f[(1, 0)] - f[(0, 1)],
        0.0,
        f[(0, 0)] - f[(1, 1)] - f[(2, 2)],
        f[(0, 1)] + f[(1, 0)],
        f[(0, 2)] + f[(2, 0)],
        0.0,
        0.0,
        f[(1, 1)] - f[(0, 0)] - f[(2, 2)],
        f[(1, 2)] + f[(2, 1)],
        0.0,
        0.0,
        0.0,
        f[(2, 2)] - f[(0, 0)] - f[(1, 1)],
    );
    n.fill_lower_triangle_with_upper_triangle();
    let mut vectors = Matrix4::identity();
    let scale = n.norm_squared();
    for _ in 0..SWEEPS {
        let off: f64 = (0..4).map(|i| (i + 1..4).map(|j| n[(i, j)] * n[(i, j)]).sum::<f64>()).sum();
        if off <= 1e-32 * scale {
            break;
        }
        for p in 0..3 {
            for q in p + 1..4 {
                rotate_plane(&mut n, &mut vectors, p, q);
            }
        }
    }
    let largest = n.diagonal().imax();
    let v = vectors.column(largest);
    let q = nalgebra::Quaternion::new(v[0], v[1], v[2], v[3]);
    Quat::try_new(q, 1e-6).unwrap_or_else(Quat::identity)
}

/// A Jacobi rotation that zeroes the entry `(p, q)`.
fn rotate_plane(n: &mut Matrix4<f64>, vectors: &mut Matrix4<f64>, p: usize, q: usize) {
    if n[(p, q)] == 0.0 {
        return;
    }
    let theta = (n[(q, q)] - n[(p, p)]) / (2.0 * n[(p, q)]);
    let t = theta.signum() / (theta.abs() + theta.hypot(1.0));
    let c = 1.0 / t.hypot(1.0);
    let s = t * c;
    for k in 0..4 {
        let (a, b) = (n[(k, p)], n[(k, q)]);
        (n[(k, p)], n[(k, q)]) = (c * a - s * b, s * a + c * b);
        let (a, b) = (vectors[(k, p)], vectors[(k, q)]);
        (vectors[(k, p)], vectors[(k, q)]) = (c * a - s * b, s * a + c * b);
    }
    for k in 0..4 {
        let (a, b) = (n[(p, k)], n[(q, k)]);
        (n[(p, k)], n[(q, k)]) = (c * a - s * b, s * a + c * b);
    }
}

/// `H⁻¹ a` by the leading minors, or `None` where `H` is not safely positive definite.
fn newton_step(h: &Mat3, a: &Vec3) -> Option<Vec3> {
    let scale = h.trace();
    let minor = h[(0, 0)] * h[(1, 1)] - h[(0, 1)] * h[(0, 1)];
    let determinant = h.determinant();
    let safe = h[(0, 0)] > 1e-3 * scale && minor > 1e-4 * scale * scale && determinant > 1e-5 * scale.powi(3);
    if !(scale > 0.0 && safe) {
        return None;
    }
    let (c0, c1, c2): (Vec3, Vec3, Vec3) =
        (h.column(0).into_owned(), h.column(1).into_owned(), h.column(2).into_owned());
    let adjugate_t = Mat3::from_columns(&[c1.cross(&c2), c2.cross(&c0), c0.cross(&c1)]);
    Some(adjugate_t * a / determinant)
}

/// Renormalises a rotation that accumulated rounding errors.
fn reorthonormalised(r: &Mat3) -> Mat3 {
    let e = r.transpose() * r;
    r * (Mat3::from_diagonal_element(1.5) - 0.5 * e)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn vector(limit: f64) -> impl Strategy<Value = Vec3> {
        [-limit..limit, -limit..limit, -limit..limit].prop_map(|[x, y, z]| Vec3::new(x, y, z))
    }

    proptest! {
        /// `F = R S` with `S` symmetric positive definite yields `R` from a nearby guess.
        #[test]
        fn polar_recovers_the_rotation(turn in vector(1.7), guess in vector(0.5), stretch in vector(0.4), shear in vector(0.2)) {
            let r = exp(&turn).to_rotation_matrix().into_inner();
            let mut s = Mat3::from_diagonal(&(Vec3::repeat(1.0) + stretch));
            s[(0, 1)] = shear.x; s[(1, 0)] = shear.x;
            s[(0, 2)] = shear.y; s[(2, 0)] = shear.y;
            s[(1, 2)] = shear.z; s[(2, 1)] = shear.z;
            prop_assume!(s.symmetric_eigenvalues().min() > 0.1);
            let start = r * exp(&guess).to_rotation_matrix().into_inner();
            let found = polar_from(&(r * s), &start);
            prop_assert!((found - r).norm() < 1e-12, "{}", (found - r).norm());
        }

        /// The result is a proper rotation for any input.
        #[test]
        fn polar_of_anything_is_a_rotation(columns in [vector(3.0), vector(3.0), vector(3.0)]) {
            let found = polar_from(&Mat3::from_columns(&columns), &Mat3::identity());
            prop_assert!((found.transpose() * found - Mat3::identity()).norm() < 1e-9);
            prop_assert!((found.determinant() - 1.0).abs() < 1e-9);
        }

        /// The result is optimal for any determinant: `tr(S) I − S` is positive semidefinite and `S` symmetric.
        #[test]
        fn the_nearest_rotation_is_a_maximum(columns in [vector(3.0), vector(3.0), vector(3.0)]) {
            let f = Mat3::from_columns(&columns);
            let s = nearest_rotation(&f).to_rotation_matrix().inverse() * f;
            prop_assert!((s - s.transpose()).norm() < 1e-12 * f.norm());
            let hessian = Mat3::from_diagonal_element(s.trace()) - 0.5 * (s + s.transpose());
            prop_assert!(hessian.symmetric_eigenvalues().min() > -1e-12 * f.norm());
        }

        /// An inverted element: the smallest principal stretch is the negative one.
        #[test]
        fn polar_of_a_reflection(turn in vector(1.7), other in vector(1.7), guess in vector(1.5)) {
            let [r, v, start] = [turn, other, guess].map(|w| exp(&w).to_rotation_matrix().into_inner());
            let s = v * Mat3::from_diagonal(&Vec3::new(1.3, 0.8, -0.4)) * v.transpose();
            let found = polar_from(&(r * s), &start);
            prop_assert!((found - r).norm() < 1e-11, "{}", (found - r).norm());
        }

        #[test]
        fn log_inverts_exp(turn in vector(1.8)) {
            prop_assert!((log(&exp(&turn)) - turn).norm() < 1e-12);
        }
    }

    #[test]
    fn openxr_frame() {
        let q = rotation_between(&Vec3::new(0.0, 0.0, -2.0), &Vec3::new(0.0, 1.0, 0.3)).expect("not parallel");
        assert!((q.to_rotation_matrix().into_inner() - Mat3::identity()).norm() < 1e-12);
        assert!(rotation_between(&Vec3::y(), &Vec3::y()).is_none());
    }
}
