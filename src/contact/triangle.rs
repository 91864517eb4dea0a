use crate::math::Vec3;

/// The point of a triangle nearest to another: barycentric weights. The regions of corners, edges and face are told apart by the signs
/// of projections, so that the weights of what does not take part are exactly zero.
pub(super) fn nearest_on(p: &Vec3, [a, b, c]: &[Vec3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return [1.0 - t, t, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return [1.0 - t, 0.0, t];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - t, t];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

/// What is nearest to a point on a mesh.
pub(super) struct Nearest {
    pub triangle: usize,
    pub weights: [f64; 3],
    pub place: Vec3,
    /// Unit direction in which the signed distance grows.
    pub normal: Vec3,
}

/// The nearest point of a closed, outward wound mesh within a distance, inside or out. Where several triangles are equally near, as
/// around an edge or a corner, their normals together say which side the point is on.
pub(super) fn nearest_in_mesh(positions: &[Vec3], triangles: &[[u32; 3]], p: &Vec3, within: f64) -> Option<Nearest> {
    let mut least = within * within;
    let mut best: Option<(usize, [f64; 3], Vec3)> = None;
    let mut outward = Vec3::zeros();
    for (t, corners) in triangles.iter().enumerate() {
        let x = corners.map(|v| positions[v as usize]);
        // A triangle is nowhere nearer than its box.
        let (low, high) = (x[0].inf(&x[1]).inf(&x[2]), x[0].sup(&x[1]).sup(&x[2]));
        let away = (low - p).sup(&(p - high)).sup(&Vec3::zeros());
        if away.norm_squared() > least * (1.0 + 1e-9) {
            continue;
        }
        let weights = nearest_on(p, &x);
        let place: Vec3 = (0..3).map(|i| weights[i] * x[i]).sum();
        let d = (p - place).norm_squared();
        if d > least * (1.0 + 1e-9) {
            continue;
        }
        let normal = (x[1] - x[0]).cross(&(x[2] - x[0])).try_normalize(0.0).unwrap_or_else(Vec3::zeros);
        if d < least * (1.0 - 1e-9) || best.is_none() {
            outward = Vec3::zeros();
        }
        outward += normal;
        if best.is_none() || d < least {
            best = Some((t, weights, place));
            least = d;
        }
    }
    let (triangle, weights, place) = best?;
    let away = p - place;
    let side = if away.dot(&outward) < 0.0 { -1.0 } else { 1.0 };
    let normal = away.try_normalize(1e-9).map(|n| side * n).or_else(|| outward.try_normalize(1e-9))?;
    Some(Nearest { triangle, weights, place, normal })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::block;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = Vec3> {
        [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64].prop_map(Vec3::from)
    }

    proptest! {
        /// No sampled point of the triangle is nearer.
        #[test]
        fn nearest_point_of_a_triangle(p in vector(), a in vector(), b in vector(), c in vector()) {
            prop_assume!((b - a).cross(&(c - a)).norm() > 1e-3);
            let w = nearest_on(&p, &[a, b, c]);
            prop_assert!(w.iter().all(|w| *w >= 0.0) && (w.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let d = (p - (w[0] * a + w[1] * b + w[2] * c)).norm();
            for i in 0..=20 {
                for j in 0..=20 - i {
                    let (u, v) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                    prop_assert!((p - (u * a + v * b + (1.0 - u - v) * c)).norm() >= d - 1e-12);
                }
            }
        }

        /// On a box the nearest point of its mesh is that of the box, inside and out.
        #[test]
        fn distance_from_a_meshed_box(p in vector()) {
            let (mesh, _) = block(&Vec3::new(1.0, 0.8, 0.6), [2, 2, 2]).boundary();
            let (half, centre) = (Vec3::new(0.5, 0.4, 0.3), Vec3::new(0.5, 0.4, 0.3));
            let q = p - centre;
            let out = (q.abs() - half).sup(&Vec3::zeros());
            let inside = (q.abs() - half).max();
            let expected = if out.norm() > 0.0 { out.norm() } else { inside };
            prop_assume!(expected.abs() > 1e-6);
            let found = nearest_in_mesh(&mesh.vertices, &mesh.triangles, &p, 10.0).expect("within ten metres");
            let d = (p - found.place).dot(&found.normal);
            prop_assert!((d - expected).abs() < 1e-12, "{d} for {expected}");
        }
    }
}
