use std::f64::consts::TAU;

use super::SurfaceMesh;
use crate::math::Vec3;

/// A ring of points about the Y axis.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ring {
    /// Distance from the axis.
    pub radius: f64,
    /// Position along the axis.
    pub height: f64,
    /// Number of evenly spaced points; a single one lies on the axis.
    pub points: usize,
}

/// The closed surface through rings, from a point on the axis at the bottom to one at the top.
pub fn revolved(rings: &[Ring]) -> SurfaceMesh {
    let mut mesh = SurfaceMesh::default();
    let mut below: Option<(u32, usize)> = None;
    for ring in rings {
        let first = mesh.vertices.len() as u32;
        for i in 0..ring.points {
            let turn = TAU * i as f64 / ring.points as f64;
            let radius = if ring.points == 1 { 0.0 } else { ring.radius };
            mesh.vertices.push(Vec3::new(radius * turn.cos(), ring.height, radius * turn.sin()));
        }
        if let Some(below) = below {
            stitch(below, (first, ring.points), &mut mesh.triangles);
        }
        below = Some((first, ring.points));
    }
    mesh
}

/// Triangles between two rings, each given by its first vertex and its number of points. Advances around the axis by
/// one point at a time, on the ring that lags.
fn stitch(below: (u32, usize), above: (u32, usize), triangles: &mut Vec<[u32; 3]>) {
    let vertex = |(first, points): (u32, usize), i: usize| first + (i % points) as u32;
    // A point on the axis does not advance.
    let way = |(_, points): (u32, usize)| if points == 1 { 0 } else { points };
    let (mut a, mut b) = (0, 0);
    while a < way(below) || b < way(above) {
        // (a + 1) / below < (b + 1) / above, without rounding.
        let behind = (a + 1) * above.1 < (b + 1) * below.1;
        if a < way(below) && (behind || b == way(above)) {
            triangles.push([vertex(below, a), vertex(above, b), vertex(below, a + 1)]);
            a += 1;
        } else {
            triangles.push([vertex(below, a), vertex(above, b), vertex(above, b + 1)]);
            b += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rings_of_any_size_give_a_closed_outward_surface() {
        let ring = |radius: f64, height: f64, points: usize| Ring { radius, height, points };
        let mesh = revolved(&[
            ring(0.0, 0.0, 1),
            ring(0.5, 0.0, 6),
            ring(1.0, 0.0, 12),
            ring(1.0, 1.0, 12),
            ring(0.4, 1.0, 5),
            ring(0.0, 1.0, 1),
        ]);
        assert!(mesh.is_closed());
        let twelfth = 0.5 * (TAU / 12.0).sin();
        assert!((mesh.volume() - 12.0 * twelfth).abs() < 1e-12, "a prism over twelve corners: {}", mesh.volume());
        let tip = revolved(&[ring(0.0, 0.0, 1), ring(1.0, 1.0, 7), ring(0.0, 2.0, 1)]);
        assert!(tip.is_closed() && tip.volume() > 0.0);
    }
}
