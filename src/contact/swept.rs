use super::proximity::{Proximity, Search, TRIANGLE_SHARE};
use super::surface::{Shape, Surface};
use crate::math::{Vec3, from_glam, to_glam};

/// A hit may be beside the triangle by this fraction of the longest edge, since neighbouring triangles have different normals and the
/// shape may pass between their hits.
const BESIDE: f64 = 0.3;

impl Proximity {
    /// Triangles of a surface that a point of a convex shape hits within the step (Duriez 2004, §3.1, vertex against face). The vertices of
    /// the surface alone miss a small body, which passes between them, and the corner of a large one.
    ///
    /// In the frame of the shape a triangle with the normal `n` moves by `d` and first meets the extreme point `s` of the shape along `−n`,
    /// after the fraction `n·(s − x)/(n·d)` of the step.
    pub(super) fn swept_triangles_on_shape(
        &mut self,
        search: &Search<'_>,
        surface: &Surface,
        on: &Shape,
        threshold: f64,
        speed: f64,
    ) {
        let Some(support) = on.shape.as_support_map() else { return };
        let (bodies, pose, travel) = (search.bodies, &on.pose, search.h * speed);
        let farthest = surface.longest_edge / 3f64.sqrt();
        let first = self.contacts.len();
        for (t, &corners) in surface.mesh(bodies).rest.triangles.iter().enumerate() {
            let [Some(a), Some(b), Some(c)] = corners.map(|v| self.distances[v as usize]) else { continue };
            if a.distance.min(b.distance).min(c.distance) > travel + farthest {
                continue;
            }
            let x = corners.map(|v| self.locals[v as usize]);
            let Some(n) = (x[1] - x[0]).cross(&(x[2] - x[0])).try_normalize(0.0) else { continue };
            let s = from_glam(support.local_support_point(to_glam(&-n)));
            let gap = n.dot(&(s - x[0]));
            // Closer triangles are searched at the start of the step.
            if gap <= threshold || gap > travel {
                continue;
            }
            let anchor = on.anchor(bodies, s);
            let place = pose.translation.vector + pose.rotation * s;
            let centre = surface.anchor(bodies, corners, [1.0 / 3.0; 3]);
            let velocity = centre.velocity(bodies, &centre.place(bodies)) - anchor.velocity(bodies, &place);
            let d = search.h * pose.rotation.inverse_transform_vector(&velocity);
            let closing = n.dot(&d);
            if closing <= gap {
                continue;
            }
            let hit = s - gap / closing * d;
            let (weights, nearest) = clamped(&x, &hit);
            if (nearest - hit).norm() > BESIDE * surface.longest_edge {
                continue;
            }
            let feature = 1 << 34 | t as u64;
            let places = [pose.translation.vector + pose.rotation * nearest, place];
            let anchors = [surface.anchor(bodies, corners, weights), anchor];
            let (normal, area) = (pose.rotation * -n, TRIANGLE_SHARE * surface.triangle_areas[t]);
            if self.contacts[..first].iter().rev().take(surface.triangle_areas.len()).all(|c| c.feature != feature) {
                self.contacts.push(search.contact(anchors, places, normal, area, feature, [surface.layer, None]));
            }
        }
    }
}

/// Barycentric weights of a point in the plane of a triangle, moved into the triangle, and the point there.
fn clamped(x: &[Vec3; 3], p: &Vec3) -> ([f64; 3], Vec3) {
    let normal = (x[1] - x[0]).cross(&(x[2] - x[0]));
    let part = |i: usize| normal.dot(&(x[(i + 2) % 3] - x[(i + 1) % 3]).cross(&(p - x[(i + 1) % 3])));
    let raw = [0, 1, 2].map(|i| (part(i) / normal.norm_squared()).max(0.0));
    let sum: f64 = raw.iter().sum();
    let weights = raw.map(|w| w / sum.max(f64::MIN_POSITIVE));
    (weights, (0..3).map(|i| weights[i] * x[i]).sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_are_barycentric_and_stay_in_the_triangle() {
        let x = [Vec3::zeros(), Vec3::x(), Vec3::y()];
        let (w, at) = clamped(&x, &Vec3::new(0.25, 0.5, 0.0));
        assert!((w[0] - 0.25).abs() + (w[1] - 0.25).abs() + (w[2] - 0.5).abs() < 1e-15 && (at.y - 0.5).abs() < 1e-15);
        let (w, at) = clamped(&x, &Vec3::new(0.5, -0.3, 0.0));
        assert!(w[2] == 0.0 && at.y == 0.0 && at.x > 0.3 && at.x < 0.7, "{at}");
    }
}
