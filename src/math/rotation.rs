use super::{Mat3, Quat, Vec3};

/// The matrix of `a ×`.
pub fn skew(a: &Vec3) -> Mat3 {
    a.cross_matrix()
}

/// The rotation by the vector `w`: about its direction, by its length.
pub fn exp(w: &Vec3) -> Quat {
    Quat::from_scaled_axis(*w)
}

/// The rotation vector of `q`, of length at most π: the shorter way round.
pub fn log(q: &Quat) -> Vec3 {
    if q.w < 0.0 {
        return Quat::new_unchecked(-q.into_inner()).scaled_axis();
    }
    q.scaled_axis()
}

/// The rotation that takes the frame with −Z along `direction` and +Y nearest to `up`, as OpenXR joints have it.
/// `None` if the two are parallel or one is zero.
pub fn rotation_between(direction: &Vec3, up: &Vec3) -> Option<Quat> {
    let z = -direction.try_normalize(1e-9)?;
    let x = up.cross(&z).try_normalize(1e-6)?;
    let y = z.cross(&x);
    let matrix = Mat3::from_columns(&[x, y, z]);
    Some(Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(matrix)))
}

/// The rotation `R` nearest to `f`, found from the guess `start`.
///
/// `R` maximises `tr(Rᵀ F)`. Write `S = Rᵀ F`; a change `R exp([w]×)` is stationary where `S` is symmetric, and Newton's
/// step is `w = (tr(S) I − S)⁻¹ axial(S − Sᵀ)`. It converges quadratically, two or three steps from the last time
/// step's rotation. Where `tr(S) I − S` is not positive definite (a crushed or inverted element) the step of Müller et
/// al. 2016, `w = axial(S − Sᵀ) / |tr S|`, is taken instead, which only ascends; so an element that turns inside out keeps
/// a proper rotation and is pushed back.
pub fn polar_from(f: &Mat3, start: &Mat3) -> Mat3 {
    const STEPS: usize = 40;
    let mut r = *start;
    for _ in 0..STEPS {
        let s = r.transpose() * f;
        let axial = Vec3::new(s[(2, 1)] - s[(1, 2)], s[(0, 2)] - s[(2, 0)], s[(1, 0)] - s[(0, 1)]);
        let trace = s.trace();
        let hessian = Mat3::from_diagonal_element(trace) - 0.5 * (s + s.transpose());
        let mut w = newton_step(&hessian, &axial).unwrap_or_else(|| axial / (trace.abs() + 1e-9));
        let length = w.norm();
        if length > 1.0 {
            w /= length;
        }
        r *= exp(&w).to_rotation_matrix().into_inner();
        if length < 1e-14 {
            break;
        }
    }
    reorthonormalised(&r)
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

/// Removes the rounding that products of rotations pile up.
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
        /// `F = R S` with `S` symmetric positive definite gives `R` back, from a guess a step away.
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

        /// Whatever comes in, what comes out is a proper rotation.
        #[test]
        fn polar_of_anything_is_a_rotation(columns in [vector(3.0), vector(3.0), vector(3.0)]) {
            let found = polar_from(&Mat3::from_columns(&columns), &Mat3::identity());
            prop_assert!((found.transpose() * found - Mat3::identity()).norm() < 1e-9);
            prop_assert!((found.determinant() - 1.0).abs() < 1e-9);
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
