use std::collections::BTreeMap;

use crate::math::Vec3;
use crate::mesh::{SurfaceMesh, SurfaceVertexMap};

/// Subdivision of the triangles of a smooth body.
const EDGE_PARTS: usize = 4;
/// Edges with a larger angle between adjacent triangles, rad, stay sharp.
const SHARP_EDGE: f64 = 0.7;

/// How the surface of a soft body is drawn; its mesh is coarser than its shape.
#[derive(Clone, Debug)]
pub(super) enum Form {
    /// Smooth: curved triangles that follow the vertex normals.
    Round {
        /// Positions of the refined vertices on the triangles.
        places: Vec<SurfaceVertexMap>,
        /// Its triangles.
        triangles: Vec<[u32; 3]>,
    },
    /// With edges: flat triangles.
    Edged,
}

impl Form {
    /// Distinguishes smooth bodies from edged ones by their shape at rest.
    pub(super) fn of(rest: &SurfaceMesh) -> Self {
        let mut edges: BTreeMap<(u32, u32), Vec3> = BTreeMap::new();
        for (t, &[a, b, c]) in rest.triangles.iter().enumerate() {
            let normal = rest.area_vector(t).try_normalize(0.0).unwrap_or_else(Vec3::y);
            for (from, to) in [(a, b), (b, c), (c, a)] {
                let known = edges.entry((from.min(to), from.max(to))).or_insert(normal);
                if known.dot(&normal) < SHARP_EDGE.cos() {
                    return Self::Edged;
                }
            }
        }
        let (finer, places) = rest.refined(EDGE_PARTS);
        Self::Round { places, triangles: finer.triangles }
    }

    /// The surface to draw for the current vertices.
    pub(super) fn drawn(&self, mesh: &SurfaceMesh) -> SurfaceMesh {
        match self {
            Self::Edged => {
                let vertices = mesh.triangles.iter().flatten().map(|&v| mesh.vertices[v as usize]).collect();
                let triangles = (0..mesh.triangles.len() as u32).map(|t| [3 * t, 3 * t + 1, 3 * t + 2]).collect();
                SurfaceMesh { vertices, triangles }
            }
            Self::Round { places, triangles } => {
                let normals = mesh.vertex_normals();
                let vertices = places.iter().map(|place| bulged(mesh, &normals, place)).collect();
                SurfaceMesh { vertices, triangles: triangles.clone() }
            }
        }
    }
}

/// Normals of a surface with separate vertices per triangle: smooth, except at edges with an angle above [`SHARP_EDGE`]. The
/// side of a cylinder looks round, and its rim is sharp.
pub(super) fn creased_normals(mesh: &SurfaceMesh) -> Vec<Vec3> {
    let place = |p: &Vec3| [p.x, p.y, p.z].map(|c| (1e7 * c).round() as i64);
    let mut around: BTreeMap<[i64; 3], Vec<Vec3>> = BTreeMap::new();
    for (t, corners) in mesh.triangles.iter().enumerate() {
        for &v in corners {
            around.entry(place(&mesh.vertices[v as usize])).or_default().push(mesh.area_vector(t));
        }
    }
    let mut normals = vec![Vec3::y(); mesh.vertices.len()];
    for (t, corners) in mesh.triangles.iter().enumerate() {
        let own = mesh.area_vector(t).try_normalize(0.0).unwrap_or_else(Vec3::y);
        for &v in corners {
            let near = around.get(&place(&mesh.vertices[v as usize])).into_iter().flatten();
            let sum: Vec3 = near.filter(|area| area.dot(&own) >= SHARP_EDGE.cos() * area.norm()).sum();
            normals[v as usize] = sum.try_normalize(0.0).unwrap_or(own);
        }
    }
    normals
}

/// A point of a triangle, moved towards the tangent planes at the triangle's corners (Phong tessellation, Boubekeur and
/// Alexa 2008).
fn bulged(mesh: &SurfaceMesh, normals: &[Vec3], place: &SurfaceVertexMap) -> Vec3 {
    /// Blend factor. One half instead of the paper's three quarters: between two points of a sphere an angle 2 θ apart
    /// the flat point lies at cos θ of the radius and the projected one at cos θ (1 + sin² θ), so the error of the
    /// midpoint is only θ⁴/8.
    const PART: f64 = 0.5;
    let corners = mesh.triangles[place.triangle as usize].map(|v| (mesh.vertices[v as usize], normals[v as usize]));
    let flat: Vec3 = corners.iter().zip(place.weights).map(|((p, _), w)| w * p).sum();
    let onto = |(p, n): &(Vec3, Vec3)| flat - (flat - p).dot(n) * n;
    let touching: Vec3 = corners.iter().zip(place.weights).map(|(corner, w)| w * onto(corner)).sum();
    flat + PART * (touching - flat)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::{ball, block};

    #[test]
    fn a_ball_is_drawn_rounder_than_its_mesh() {
        let (mesh, _) = ball(0.03, 3).boundary();
        let form = Form::of(&mesh);
        assert!(matches!(form, Form::Round { .. }));
        let drawn = form.drawn(&mesh);
        assert!(drawn.is_closed() && drawn.components() == 1);
        let volume = 4.0 / 3.0 * std::f64::consts::PI * 0.03f64.powi(3);
        let [coarse, fine] = [&mesh, &drawn].map(|m| (m.volume() / volume - 1.0).abs());
        assert!(fine < 0.2 * coarse, "{coarse} {fine}");
    }

    #[test]
    fn a_block_keeps_its_edges() {
        let (mesh, _) = block(&Vec3::new(0.1, 0.2, 0.3), [2, 2, 2]).boundary();
        let drawn = Form::of(&mesh).drawn(&mesh);
        assert_eq!(drawn.vertices.len(), 3 * mesh.triangles.len());
        assert!((drawn.volume() - mesh.volume()).abs() < 1e-12);
        // No smooth normals across the edge of two faces.
        let straight = |n: &Vec3| n.iter().filter(|x| x.abs() > 0.999).count() == 1;
        assert!(drawn.vertex_normals().iter().all(straight));
    }

    #[test]
    fn a_cylinder_is_smooth_with_a_sharp_rim() {
        let shape = crate::body::RigidShape::Cylinder(1.0, 1.0).shared().expect("a shape");
        let mesh = crate::body::tessellated(&shape).expect("a surface");
        for (p, normal) in mesh.vertices.iter().zip(creased_normals(&mesh)) {
            let out = Vec3::new(p.x, 0.0, p.z);
            let off = if normal.y.abs() > 0.5 { normal.y.abs() } else { normal.dot(&out) };
            assert!((off - 1.0).abs() < 2e-3, "{normal} at {p}");
        }
    }
}
