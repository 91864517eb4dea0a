use super::Probe;
use crate::math::Vec3;

/// The nearest point on an ellipsoid.
///
/// The foot of p is `f_i = e_i² p_i / (t + e_i²)` with the root t of `Σ (e_i p_i / (t + e_i²))² = 1`. Left of the root the
/// sum is convex and decreases, so Newton's method approaches it from the left without overshooting.
pub(super) fn probe(semi: &Vec3, p: &Vec3) -> Option<Probe> {
    const STEPS: usize = 60;
    let scaled = p.component_div(semi);
    if scaled.norm_squared() >= 1.0 {
        return None;
    }
    let squares = semi.component_mul(semi);
    let products = semi.component_mul(p).abs();
    // One term alone reaches 1 here, so the sum is at least 1.
    let start = (0..3).map(|i| products[i] - squares[i]).fold(f64::NEG_INFINITY, f64::max);
    let mut t = start.max(-squares.min() * (1.0 - 1e-9));
    for _ in 0..STEPS {
        let (mut value, mut slope) = (-1.0, 0.0);
        for i in 0..3 {
            let below = t + squares[i];
            let term = products[i] / below;
            value += term * term;
            slope -= 2.0 * term * term / below;
        }
        if value <= 1e-15 || slope == 0.0 {
            break;
        }
        let step = value / slope;
        t -= step;
        if step.abs() <= 1e-16 * squares.max() {
            break;
        }
    }
    let foot = Vec3::from_fn(|i, _| squares[i] * p[i] / (t + squares[i]));
    let gradient = foot.component_div(&squares);
    let normal = gradient.try_normalize(f64::MIN_POSITIVE).unwrap_or_else(Vec3::y);
    Some(Probe { depth: normal.dot(&(foot - p)), normal, foot })
}
