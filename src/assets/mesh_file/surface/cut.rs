//! Polygons cut into triangles.

use crate::math::Vec3;

/// Most corners of a polygon; cutting takes time with their cube.
pub const MAX_POLYGON_CORNERS: usize = 256;

/// Cuts ears off a polygon, which may be concave and slightly warped, in the plane of its mean normal. A polygon that has no ear, because it
/// crosses itself, is cut into a fan.
pub fn triangles(vertices: &[Vec3], corners: &[u32]) -> Vec<[u32; 3]> {
    if let &[a, b, c] = corners {
        return vec![[a, b, c]];
    }
    let at = |corner: u32| vertices[corner as usize];
    // Newell's normal: twice the area vector.
    let next = corners.iter().cycle().skip(1);
    let normal: Vec3 =
        corners.iter().zip(next).map(|(&a, &b)| (at(a) - at(corners[0])).cross(&(at(b) - at(corners[0])))).sum();
    let turn = |a: u32, b: u32, c: u32| (at(b) - at(a)).cross(&(at(c) - at(b))).dot(&normal);
    let mut left = corners.to_vec();
    let mut cut = Vec::with_capacity(corners.len() - 2);
    while left.len() > 3 {
        let n = left.len();
        let is_ear = |i: &usize| {
            let [a, b, c] = [left[(i + n - 1) % n], left[*i], left[(i + 1) % n]];
            let inside = |p: u32| turn(a, b, p) >= 0.0 && turn(b, c, p) >= 0.0 && turn(c, a, p) >= 0.0;
            turn(a, b, c) > 0.0 && left.iter().all(|&p| [a, b, c].contains(&p) || !inside(p))
        };
        let Some(ear) = (0..n).filter(is_ear).max_by(|&i, &j| {
            // The ear with the widest least angle, so that quads are cut along the better diagonal.
            let shape = |i: usize| roundness([left[(i + n - 1) % n], left[i], left[(i + 1) % n]].map(at));
            shape(i).total_cmp(&shape(j))
        }) else {
            cut.extend((2..n).map(|i| [left[0], left[i - 1], left[i]]));
            return cut;
        };
        cut.push([left[(ear + n - 1) % n], left[ear], left[(ear + 1) % n]]);
        left.remove(ear);
    }
    cut.push([left[0], left[1], left[2]]);
    cut
}

/// Area over the sum of the squared edges.
fn roundness([a, b, c]: [Vec3; 3]) -> f64 {
    let edges = (b - a).norm_squared() + (c - b).norm_squared() + (a - c).norm_squared();
    (b - a).cross(&(c - a)).norm() / edges.max(f64::MIN_POSITIVE)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(polygon: &[[f64; 2]]) -> (f64, f64) {
        let vertices: Vec<Vec3> = polygon.iter().map(|[x, y]| Vec3::new(*x, 0.0, -*y)).collect();
        let corners: Vec<u32> = (0..vertices.len() as u32).collect();
        let parts: Vec<Vec3> = triangles(&vertices, &corners)
            .iter()
            .map(|t| {
                let [a, b, c] = t.map(|v| vertices[v as usize]);
                0.5 * (b - a).cross(&(c - a))
            })
            .collect();
        (parts.iter().sum::<Vec3>().y, parts.iter().map(|part| part.norm()).sum())
    }

    /// The triangles of a fan would overlap.
    #[test]
    fn concave_polygons_are_covered_once() {
        let arrow = [[0.0, 0.0], [2.0, -1.0], [0.5, 0.0], [2.0, 1.0]];
        let comb = [
            [0., 0.],
            [5., 0.],
            [5., 2.],
            [4., 2.],
            [4., 1.],
            [3., 1.],
            [3., 2.],
            [2., 2.],
            [2., 1.],
            [1., 1.],
            [1., 2.],
            [0., 2.],
        ];
        for (polygon, expected) in [(&arrow[..], 0.5), (&comb[..], 8.0)] {
            let (signed, sum) = area(polygon);
            assert!((signed - expected).abs() < 1e-12 && (sum - expected).abs() < 1e-12, "{signed} {sum} {expected}");
        }
        // One corner twice has no ear left; it still ends.
        assert_eq!(triangles(&[Vec3::zeros(); 5], &[0, 1, 2, 3, 4]).len(), 3);
    }
}
