use std::f64::consts::{FRAC_PI_2, PI, TAU};

use crate::body::RigidShape;
use crate::math::{Vec3, from_glam};
use crate::mesh::{Ring, SurfaceMesh, block, revolved};

/// About `count` points distributed evenly over the surface of a shape, and the triangles between them; none for the
/// ground.
pub fn sampled(shape: &RigidShape, count: usize) -> Option<SurfaceMesh> {
    let count = count as f64;
    match shape {
        RigidShape::Box(half) => Some(sampled_box(half, count)),
        RigidShape::Ball(radius) => {
            let rings = (count / 6.0).sqrt().round().max(1.0) as usize;
            let mut profile = dome(*radius, 0.0, rings, false);
            profile.extend(dome(*radius, 0.0, rings, true).into_iter().skip(1));
            Some(revolved(&profile))
        }
        RigidShape::Capsule(half, radius) => {
            let share = 2.0 * TAU * radius * (radius + half) / count;
            let rings = (radius * (TAU / 3.0 / share).sqrt()).round().max(1.0) as usize;
            Some(revolved(&walled(dome(*radius, *half, rings, false), dome(*radius, *half, rings, true), share)))
        }
        RigidShape::Cylinder(half, radius) => {
            let share = TAU * radius * (radius + 2.0 * half) / count;
            let rings = (radius * (PI / 3.0 / share).sqrt()).round().max(1.0) as usize;
            Some(revolved(&walled(cap(*radius, *half, rings, false), cap(*radius, *half, rings, true), share)))
        }
        RigidShape::Hull(_) => {
            let shared = shape.shared().ok()?;
            let (points, triangles) = shared.as_convex_polyhedron()?.to_trimesh();
            Some(refined(&SurfaceMesh { vertices: points.into_iter().map(from_glam).collect(), triangles }, count))
        }
        RigidShape::Mesh(mesh) => Some(refined(mesh, count)),
        RigidShape::Ground => None,
    }
}

fn sampled_box(half: &Vec3, count: f64) -> SurfaceMesh {
    let area = 8.0 * (half.x * half.y + half.y * half.z + half.z * half.x);
    let spacing = (area / count).sqrt();
    let cells = [0, 1, 2].map(|i| (2.0 * half[i] / spacing).round().max(1.0) as usize);
    let (mut mesh, _) = block(&(2.0 * half), cells).boundary();
    mesh.vertices.iter_mut().for_each(|p| *p -= half);
    mesh
}

fn refined(mesh: &SurfaceMesh, count: f64) -> SurfaceMesh {
    // A closed mesh has half as many vertices as triangles.
    let parts = (2.0 * count / mesh.triangles.len() as f64).sqrt().round().max(1.0);
    mesh.refined(parts as usize).0
}

/// A flat cap as rings of 6, 12, 18 … points: the triangular lattice of a hexagon, mapped to a disc. From the axis
/// outward at the bottom, back to it at the top.
fn cap(radius: f64, height: f64, rings: usize, top: bool) -> Vec<Ring> {
    let at = |i: usize| Ring { radius: radius * i as f64 / rings as f64, height, points: (6 * i).max(1) };
    ends((0..=rings).map(at).collect(), top)
}

/// Half a sphere, in the same way.
fn dome(radius: f64, height: f64, rings: usize, top: bool) -> Vec<Ring> {
    let at = |i: usize| {
        let polar = FRAC_PI_2 * i as f64 / rings as f64;
        Ring { radius: radius * polar.sin(), height: height + radius * polar.cos(), points: (6 * i).max(1) }
    };
    ends((0..=rings).map(at).collect(), top)
}

fn ends(mut rings: Vec<Ring>, top: bool) -> Vec<Ring> {
    if top {
        rings.reverse();
    } else {
        rings.iter_mut().for_each(|ring| ring.height = -ring.height);
    }
    rings
}

/// Two ends with a round wall between them, where each point has about `share` of the area.
fn walled(mut bottom: Vec<Ring>, top: Vec<Ring>, share: f64) -> Vec<Ring> {
    let (Some(&low), Some(&high)) = (bottom.last(), top.first()) else { return bottom };
    let height = high.height - low.height;
    let around = TAU * low.radius / low.points as f64;
    let rows = (height * around / share).round().max(1.0) as usize;
    bottom.extend((1..rows).map(|i| Ring { height: low.height + height * i as f64 / rows as f64, ..low }));
    bottom.extend(top);
    bottom
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes() -> Vec<RigidShape> {
        let (mesh, _) = block(&Vec3::new(0.1, 0.1, 0.2), [1, 1, 2]).boundary();
        vec![
            RigidShape::Box(Vec3::new(0.03, 0.01, 0.05)),
            RigidShape::Ball(0.04),
            RigidShape::Capsule(0.05, 0.02),
            RigidShape::Cylinder(0.002, 0.05),
            RigidShape::Cylinder(0.1, 0.02),
            RigidShape::Hull(mesh.vertices.clone()),
            RigidShape::Mesh(mesh),
        ]
    }

    #[test]
    fn samples_have_the_requested_number_and_lie_on_the_shape() {
        for shape in shapes() {
            let shared = shape.shared().expect("a shape");
            for count in [50, 200, 1000] {
                let mesh = sampled(&shape, count).expect("samples");
                assert!(mesh.is_closed() && mesh.volume() > 0.0, "{shape:?}");
                let ratio = mesh.vertices.len() as f64 / count as f64;
                assert!((0.6..1.6).contains(&ratio), "{shape:?}: {} for {count}", mesh.vertices.len());
                for p in &mesh.vertices {
                    let (point, _) = shared.project_local_point_and_get_feature(crate::math::to_glam(p));
                    let away = (from_glam(point.point) - p).norm();
                    assert!(away < 1e-9, "{shape:?}: {p:?} is {away} away");
                }
            }
        }
        assert!(sampled(&RigidShape::Ground, 100).is_none());
    }

    #[test]
    fn a_cap_is_covered_evenly() {
        let mesh = sampled(&RigidShape::Cylinder(0.002, 0.05), 400).expect("samples");
        let areas = mesh.vertex_areas();
        let inner: Vec<f64> =
            mesh.vertices.iter().zip(&areas).filter(|(p, _)| p.xz().norm() < 0.045).map(|(_, a)| *a).collect();
        let mean = inner.iter().sum::<f64>() / inner.len() as f64;
        assert!(inner.iter().all(|a| (a / mean - 1.0).abs() < 0.3), "{inner:?}");
        assert!((areas.iter().sum::<f64>() - mesh.area()).abs() < 1e-12);
    }
}
