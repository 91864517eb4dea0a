use crate::math::{Quat, Vec3};
use crate::mesh::SurfaceMesh;

/// Corners of a ring.
const SIDES: usize = 10;

/// Rings of a rounded end, by the sine of the latitude.
const CAP: [f64; 2] = [0.95, 0.6];

/// A tube along some nodes, with a radius at each and rounded ends.
pub fn tube(nodes: &[Vec3], radii: &[f64]) -> SurfaceMesh {
    let n = nodes.len().min(radii.len());
    let mut mesh = SurfaceMesh { vertices: Vec::new(), triangles: Vec::new() };
    if n < 2 {
        return mesh;
    }
    let chord = |i: usize| (nodes[i + 1] - nodes[i]).try_normalize(1e-12).unwrap_or_else(Vec3::x);
    let tangent = |i: usize| match i {
        0 => chord(0),
        _ if i + 1 == n => chord(n - 2),
        _ => (chord(i - 1) + chord(i)).try_normalize(1e-6).unwrap_or_else(|| chord(i)),
    };
    let mut spare = Vec3::zeros();
    spare[tangent(0).iamin()] = 1.0;
    let mut across = tangent(0).cross(&spare).normalize();
    let small = |s: f64| (1.0 - s * s).sqrt();
    for s in CAP {
        let (t, r) = (tangent(0), radii[0]);
        ring(&mut mesh, nodes[0] - s * r * t, &t, &across, r * small(s));
    }
    for i in 0..n {
        let t = tangent(i);
        if i > 0 {
            across = Quat::rotation_between(&tangent(i - 1), &t).unwrap_or_else(Quat::identity) * across;
        }
        ring(&mut mesh, nodes[i], &t, &across, radii[i]);
    }
    for s in CAP.into_iter().rev() {
        let (t, r) = (tangent(n - 1), radii[n - 1]);
        ring(&mut mesh, nodes[n - 1] + s * r * t, &t, &across, r * small(s));
    }
    close(&mut mesh, nodes[0] - radii[0] * tangent(0), nodes[n - 1] + radii[n - 1] * tangent(n - 1));
    mesh
}

fn ring(mesh: &mut SurfaceMesh, centre: Vec3, along: &Vec3, across: &Vec3, radius: f64) {
    let other = along.cross(across);
    for k in 0..SIDES {
        let (sin, cos) = (2.0 * std::f64::consts::PI * k as f64 / SIDES as f64).sin_cos();
        mesh.vertices.push(centre + radius * (cos * across + sin * other));
    }
}

/// Joins the rings and closes both ends with a point.
fn close(mesh: &mut SurfaceMesh, first: Vec3, last: Vec3) {
    let rings = mesh.vertices.len() / SIDES;
    let at = |ring: usize, k: usize| (ring * SIDES + k % SIDES) as u32;
    let tips = [mesh.vertices.len() as u32, mesh.vertices.len() as u32 + 1];
    mesh.vertices.extend([first, last]);
    for k in 0..SIDES {
        for r in 0..rings - 1 {
            let [a, b, c, d] = [at(r, k), at(r, k + 1), at(r + 1, k + 1), at(r + 1, k)];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
        mesh.triangles.push([tips[0], at(0, k + 1), at(0, k)]);
        mesh.triangles.push([tips[1], at(rings - 1, k), at(rings - 1, k + 1)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tube_is_closed_and_has_about_the_volume_of_its_capsule() {
        let nodes: Vec<Vec3> = (0..5).map(|i| Vec3::new(0.01 * f64::from(i), 0.0, 0.0)).collect();
        let mesh = tube(&nodes, &[2e-3; 5]);
        assert!(mesh.is_closed());
        let r: f64 = 2e-3;
        let volume = std::f64::consts::PI * r * r * (0.04 + 4.0 / 3.0 * r);
        assert!((mesh.volume() / volume - 1.0).abs() < 0.1, "{} for {volume}", mesh.volume());
        assert!(tube(&nodes[..1], &[1.0]).triangles.is_empty());
    }
}
