use std::f64::consts::FRAC_PI_2;

use super::shape::ElasticShape;
use crate::math::Vec3;
use crate::mesh::SurfaceMesh;

/// Anchor points that a point of the surface is interpolated between, at most.
pub const PATCH: usize = 8;
/// Anchor points on a circle.
const ANCHORS_PER_CIRCLE: usize = 4;

/// The anchor points of a surface and its patches between them (Luo 2007, §V.A and V.E).
///
/// A box has its corners. Round shapes have circles of four points where the meridian has an anchor point, and the poles.
#[derive(Clone, Debug, PartialEq)]
pub struct Anchors {
    /// The points, m.
    pub points: Vec<Vec3>,
    layout: Layout,
}

#[derive(Clone, Debug, PartialEq)]
enum Layout {
    /// Corners of a box; corner i is on the positive side of axis k if bit k is set.
    Corners { half: Vec3 },
    /// Stations of the circles from pole to pole.
    Circles { stations: Vec<f64> },
}

/// Weights of anchor points at a point of the surface. They add up to one; unused entries have weight zero.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Patch {
    /// Numbers of anchor points.
    pub anchors: [u32; PATCH],
    /// Their weights.
    pub weights: [f64; PATCH],
}

impl Patch {
    /// Interpolates a value of the anchor points.
    pub fn interpolate(&self, values: &[Vec3]) -> Vec3 {
        let mut sum = Vec3::zeros();
        for (&anchor, &weight) in self.anchors.iter().zip(&self.weights) {
            if weight != 0.0 {
                sum += weight * values[anchor as usize];
            }
        }
        sum
    }
}

impl Anchors {
    /// The anchor points of a shape.
    pub fn new(shape: &ElasticShape) -> Self {
        if let ElasticShape::Box { half } = shape {
            let sign = |i: usize, axis: usize| if i >> axis & 1 == 1 { 1.0 } else { -1.0 };
            let corner = |i: usize| Vec3::from_fn(|axis, _| sign(i, axis) * half[axis]);
            return Self { points: (0..8).map(corner).collect(), layout: Layout::Corners { half: *half } };
        }
        let between = match shape {
            // Curvature jumps where the half balls begin.
            ElasticShape::Capsule { radius, half_length } if *half_length > 0.0 => {
                let cap = FRAC_PI_2 * radius / (2.0 * (FRAC_PI_2 * radius + half_length));
                vec![cap, 1.0 - cap]
            }
            ElasticShape::Revolved(profile) => profile.anchors().to_vec(),
            // The ends of the axes.
            _ => vec![0.5],
        };
        let mut points = vec![shape.meridian_point(0.0, 0.0)];
        for &t in &between {
            points.extend((0..ANCHORS_PER_CIRCLE).map(|i| shape.meridian_point(t, FRAC_PI_2 * i as f64)));
        }
        points.push(shape.meridian_point(1.0, 0.0));
        let stations = [&[0.0], &between[..], &[1.0]].concat();
        Self { points, layout: Layout::Circles { stations } }
    }

    /// The patch that a point of the surface is in, and its place there.
    // DEVIATION: the patches are those of the surface's own coordinates, not triangles between nearest anchor points,
    // so that they have the symmetry of the shape and do not change when the contact moves.
    pub fn patch(&self, shape: &ElasticShape, p: &Vec3) -> Patch {
        let mut patch = Patch::default();
        match &self.layout {
            Layout::Corners { half } => {
                let part = Vec3::from_fn(|axis, _| (0.5 + 0.5 * p[axis] / half[axis]).clamp(0.0, 1.0));
                for i in 0..PATCH {
                    let along = |axis: usize| if i >> axis & 1 == 1 { part[axis] } else { 1.0 - part[axis] };
                    patch.anchors[i] = i as u32;
                    patch.weights[i] = along(0) * along(1) * along(2);
                }
            }
            Layout::Circles { stations } => {
                let t = shape.station(p).clamp(0.0, 1.0);
                let last = stations.len() - 1;
                let k = stations.partition_point(|&s| s <= t).clamp(1, last) - 1;
                let upper = (t - stations[k]) / (stations[k + 1] - stations[k]);
                let turn = (p.z.atan2(p.x) / FRAC_PI_2).rem_euclid(ANCHORS_PER_CIRCLE as f64);
                let (before, past) = (turn.floor(), turn - turn.floor());
                let mut entry = 0;
                for (circle, part) in [(k, 1.0 - upper), (k + 1, upper)] {
                    for (i, share) in [(before as usize, 1.0 - past), (before as usize + 1, past)] {
                        patch.anchors[entry] = number(circle, last, i) as u32;
                        patch.weights[entry] = part * share;
                        entry += 1;
                    }
                }
            }
        }
        patch
    }

    /// Area of the surface nearest to each anchor point, Γ, m² (Luo 2007, appendix IV).
    // DEVIATION: the paper approximates each Voronoi region by triangles because it measures the deformed surface in
    // every step. The undeformed surface is measured here once, vertex by vertex; a vertex between several anchor points
    // is shared.
    pub fn voronoi_areas(&self, mesh: &SurfaceMesh) -> Vec<f64> {
        if matches!(self.layout, Layout::Corners { .. }) {
            // An eighth of the box is nearest to each corner.
            return vec![mesh.area() / self.points.len() as f64; self.points.len()];
        }
        let mut areas = vec![0.0; self.points.len()];
        for (vertex, area) in mesh.vertices.iter().zip(mesh.vertex_areas()) {
            let distances: Vec<f64> = self.points.iter().map(|p| (p - vertex).norm()).collect();
            let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
            let nearest: Vec<usize> = (0..areas.len()).filter(|&i| distances[i] <= least * (1.0 + 1e-9)).collect();
            for &i in &nearest {
                areas[i] += area / nearest.len() as f64;
            }
        }
        areas
    }
}

/// Number of an anchor point: the lower pole, circles of four, the upper pole.
fn number(circle: usize, last: usize, i: usize) -> usize {
    match circle {
        0 => 0,
        c if c == last => 1 + ANCHORS_PER_CIRCLE * (last - 1),
        c => 1 + ANCHORS_PER_CIRCLE * (c - 1) + i % ANCHORS_PER_CIRCLE,
    }
}
