use super::Probe;
use crate::elastic::error::ElasticError;
use crate::math::Vec3;

/// Points that a profile is sampled with, about.
const SAMPLES: usize = 96;
/// Turns and differences of curvature below this part are rounding.
const ROUNDING: f64 = 1e-6;
/// Curvature is discontinuous where it changes by more than this part of the greater value.
const JUMP: f64 = 0.5;

/// A convex curve in the half plane of radius and height, from the axis at the bottom around to the axis at the top.
///
/// It is sampled evenly and its normals are interpolated between the samples, so that depth and normal below the surface are
/// continuous; corners are rounded over one sample.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    points: Vec<[f64; 2]>,
    normals: Vec<[f64; 2]>,
    /// Length of the curve up to each sample, as a part of the whole.
    stations: Vec<f64>,
    /// Stations of its anchor points between the ends.
    anchors: Vec<f64>,
}

type Plane = [f64; 2];

fn sub(a: Plane, b: Plane) -> Plane {
    [a[0] - b[0], a[1] - b[1]]
}

fn cross(a: Plane, b: Plane) -> f64 {
    a[0] * b[1] - a[1] * b[0]
}

fn dot(a: Plane, b: Plane) -> f64 {
    a[0] * b[0] + a[1] * b[1]
}

fn unit(a: Plane) -> Plane {
    let length = dot(a, a).sqrt();
    [a[0] / length, a[1] / length]
}

fn mix(a: Plane, b: Plane, s: f64) -> Plane {
    [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])]
}

impl Profile {
    /// The profile through some points `[radius, height]` in metres.
    pub fn new(given: &[[f64; 2]]) -> Result<Self, ElasticError> {
        let [first, between @ .., last] = given else { return Err(ElasticError::OpenProfile) };
        let size = given.iter().flatten().fold(0.0f64, |most, x| most.max(x.abs()));
        let is_finite = given.iter().flatten().all(|x| x.is_finite());
        let is_closed = first[0] == 0.0 && last[0] == 0.0 && last[1] > first[1];
        let edges: Vec<Plane> = given.windows(2).map(|w| sub(w[1], w[0])).collect();
        let is_apart = edges.iter().all(|&e| dot(e, e).sqrt() > 1e-9 * size);
        let is_right = !between.is_empty() && between.iter().all(|p| p[0] > 0.0);
        if !(is_finite && is_closed && is_apart && is_right) {
            return Err(ElasticError::OpenProfile);
        }
        // The mirrored edges continue the curve beyond the axis.
        let mirrored = |e: Plane| [e[0], -e[1]];
        for point in 0..given.len() {
            let before = if point == 0 { mirrored(edges[0]) } else { edges[point - 1] };
            let after = edges.get(point).copied().unwrap_or_else(|| mirrored(edges[point - 1]));
            let (before, after) = (unit(before), unit(after));
            let reverses = dot(before, after) < 0.0 && cross(before, after).abs() <= ROUNDING;
            if cross(before, after) < -ROUNDING || reverses {
                return Err(ElasticError::ConcaveProfile { point });
            }
        }
        Ok(Self::sampled(given, &edges))
    }

    fn sampled(given: &[Plane], edges: &[Plane]) -> Self {
        let lengths: Vec<f64> = edges.iter().map(|&e| dot(e, e).sqrt()).collect();
        let total: f64 = lengths.iter().sum();
        let (mut points, mut stations) = (vec![given[0]], vec![0.0]);
        let mut at = 0.0;
        for (i, &length) in lengths.iter().enumerate() {
            let parts = (length / total * SAMPLES as f64).ceil().max(1.0) as usize;
            for part in 1..=parts {
                let s = part as f64 / parts as f64;
                points.push(mix(given[i], given[i + 1], s));
                stations.push((at + s * length) / total);
            }
            at += length;
        }
        let outward = |a: Plane, b: Plane| unit([b[1] - a[1], a[0] - b[0]]);
        let last = points.len() - 1;
        let normals = (0..=last)
            .map(|k| match k {
                0 => [0.0, -1.0],
                k if k == last => [0.0, 1.0],
                k => {
                    let (a, b) = (outward(points[k - 1], points[k]), outward(points[k], points[k + 1]));
                    unit([a[0] + b[0], a[1] + b[1]])
                }
            })
            .collect();
        let anchors = anchor_stations(edges, &lengths, total);
        let mut profile = Self { points, normals, stations, anchors };
        if profile.anchors.is_empty() {
            // As for a sphere, whose curvature is the same everywhere: the equator.
            let widest = (0..=last).max_by(|&a, &b| profile.points[a][0].total_cmp(&profile.points[b][0]));
            profile.anchors.push(profile.stations[widest.unwrap_or(0)]);
        }
        profile
    }

    /// Stations of the anchor points between the ends.
    pub(in crate::elastic) fn anchors(&self) -> &[f64] {
        &self.anchors
    }

    /// Heights of the ends on the axis.
    pub(super) fn ends(&self) -> [f64; 2] {
        [self.points[0][1], self.points[self.points.len() - 1][1]]
    }

    pub(super) fn outer_radius(&self) -> f64 {
        self.points.iter().map(|&p| dot(p, p).sqrt()).fold(0.0, f64::max)
    }

    pub(super) fn inner_radius(&self) -> f64 {
        let widest = self.points.iter().map(|p| p[0]).fold(0.0, f64::max);
        widest.min(0.5 * (self.ends()[1] - self.ends()[0]))
    }

    /// The point at a station.
    pub(super) fn at(&self, t: f64) -> Plane {
        let k = self.stations.partition_point(|&s| s <= t).clamp(1, self.points.len() - 1) - 1;
        let s = (t - self.stations[k]) / (self.stations[k + 1] - self.stations[k]);
        mix(self.points[k], self.points[k + 1], s.clamp(0.0, 1.0))
    }

    /// The station of a point on the surface.
    pub(super) fn station(&self, p: &Vec3) -> f64 {
        let (k, s) = self.cell([p.xz().norm(), p.y]);
        self.stations[k] + s * (self.stations[k + 1] - self.stations[k])
    }

    pub(super) fn probe(&self, p: &Vec3) -> Option<Probe> {
        let radius = p.xz().norm();
        let q = [radius, p.y];
        let (k, s) = self.cell(q);
        let foot = mix(self.points[k], self.points[k + 1], s);
        let normal = unit(mix(self.normals[k], self.normals[k + 1], s));
        let depth = dot(normal, sub(foot, q));
        let outward = if radius > 0.0 { Vec3::new(p.x, 0.0, p.z) / radius } else { Vec3::x() };
        let space = |[r, y]: Plane| r * outward + Vec3::new(0.0, y, 0.0);
        (depth > 0.0).then(|| Probe { depth, normal: space(normal), foot: space(foot) })
    }

    /// The piece between two samples whose normals enclose a point, and where along it the point's own normal starts.
    fn cell(&self, q: Plane) -> (usize, f64) {
        let ahead = |k: usize| cross(self.normals[k], sub(q, self.points[k])) >= 0.0;
        let (mut low, mut high) = (0, self.points.len() - 1);
        while high - low > 1 {
            let middle = (low + high) / 2;
            if ahead(middle) {
                low = middle;
            } else {
                high = middle;
            }
        }
        // cross(q − a − s e, n + s m) = 0, a quadratic equation in s with one root from 0 to 1.
        let (a, n) = (self.points[low], self.normals[low]);
        let (e, m, r) = (sub(self.points[high], a), sub(self.normals[high], n), sub(q, a));
        let (c2, c1, c0) = (-cross(e, m), cross(r, m) - cross(e, n), cross(r, n));
        let root = (c1 * c1 - 4.0 * c2 * c0).max(0.0).sqrt();
        let s = -2.0 * c0 / (c1 + root.copysign(c1));
        (low, if s.is_finite() { s.clamp(0.0, 1.0) } else { 0.0 })
    }
}

/// Anchor points of a curve (Luo 2007, §V.A): corners, jumps of curvature, and where curvature is least or greatest.
fn anchor_stations(edges: &[Plane], lengths: &[f64], total: f64) -> Vec<f64> {
    // Curvature at the points between the edges: turn over length.
    let curvatures: Vec<f64> = (1..edges.len())
        .map(|k| {
            let (a, b) = (edges[k - 1], edges[k]);
            cross(a, b).atan2(dot(a, b)) / (0.5 * (lengths[k - 1] + lengths[k]))
        })
        .collect();
    let greatest = curvatures.iter().fold(0.0f64, |most, c| most.max(*c));
    let tolerance = 1e-3 * greatest;
    // Where the curve meets the axis its curvature continues as its mirror image, unless it is a lone corner.
    let at = |k: isize| -> f64 {
        let last = curvatures.len() as isize - 1;
        if curvatures.len() < 3 && (k < 0 || k > last) { 0.0 } else { curvatures[k.clamp(0, last) as usize] }
    };
    let mut stations = Vec::new();
    let mut along = 0.0;
    for k in 0..curvatures.len() as isize {
        along += lengths[k as usize];
        let (before, own, after) = (at(k - 1), at(k), at(k + 1));
        let is_greatest = own > before + tolerance && own > after + tolerance;
        let is_least = own < before - tolerance && own < after - tolerance;
        let jumps = |other: f64| own - other > JUMP * own && own > tolerance;
        if is_greatest || is_least || jumps(before) || jumps(after) {
            stations.push(along / total);
        }
    }
    stations
}
