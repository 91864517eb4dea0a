use nalgebra::{Matrix2, Matrix3, Vector2, Vector3};

/// Friction with a ball as its set: the force `f`, `|f| ≤ bound`, that opposes `u = u₀ + W f` with maximum dissipation.
///
/// Sticking, `f = −W⁻¹ u₀`, if that is inside. Otherwise `f = −s u` with `u = (I + s W)⁻¹ u₀`, and `s` is the root of
/// `s |(I + s W)⁻¹ u₀| = bound`, whose left side grows with `s`; in the eigenbasis of `W` it is a sum of scalars.
pub fn solve_in_ball(w: &Matrix3<f64>, free: &Vector3<f64>, bound: f64) -> Vector3<f64> {
    if bound <= 0.0 || free.norm() == 0.0 {
        return Vector3::zeros();
    }
    let eigen = w.symmetric_eigen();
    let values = eigen.eigenvalues.map(|x| x.max(1e-14 * eigen.eigenvalues.amax()));
    let b = eigen.eigenvectors.transpose() * free;
    let stick = -b.component_div(&values);
    if stick.norm() <= bound {
        return eigen.eigenvectors * stick;
    }
    let force_at = |s: f64| Vector3::from_fn(|i, _| -s * b[i] / (1.0 + s * values[i]));
    // |f(s)| increases towards that of sticking: double until the root is bracketed, then bisect.
    let (mut low, mut high) = (0.0, bound / b.norm());
    for _ in 0..2000 {
        if force_at(high).norm() >= bound {
            break;
        }
        (low, high) = (high, 2.0 * high);
    }
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            break;
        }
        if force_at(middle).norm() < bound { low = middle } else { high = middle }
    }
    let force = force_at(0.5 * (low + high));
    eigen.eigenvectors * (force * (bound / force.norm()))
}

/// The same for a disc.
pub fn solve_in_disc(w: &Matrix2<f64>, free: &Vector2<f64>, bound: f64) -> Vector2<f64> {
    // A third direction without a load.
    let mut w3 = Matrix3::identity() * w.trace();
    w3.fixed_view_mut::<2, 2>(0, 0).copy_from(w);
    solve_in_ball(&w3, &Vector3::new(free.x, free.y, 0.0), bound).xy()
}
