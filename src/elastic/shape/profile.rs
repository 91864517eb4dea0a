use super::arc::{Plane, ProfileArc, cross, dot, mix, sub, unit};
use super::{EDGE_BAND, Probe, smooth_max};
use crate::elastic::error::ElasticError;
use crate::math::Vec3;

/// Points that a profile is sampled with, about.
const PROFILE_SAMPLES: usize = 96;
/// Turns below this are rounding.
const TURN_ROUNDING: f64 = 1e-6;
/// Curvature is discontinuous where it changes by more than this part of the greater value.
const JUMP: f64 = 0.5;
/// A point at which the curve turns by more than this is a corner, rad.
const CORNER: f64 = 0.3;

/// A convex curve in the half plane of radius and height, from the axis at the bottom around to the axis at the top.
///
/// Depth below the surface is continuous with its first derivatives: smooth arcs have interpolated normals, and the arcs blend at
/// corners like the faces of a box.
#[derive(Clone, Debug, PartialEq)]
pub struct Profile {
    arcs: Vec<ProfileArc>,
    /// Samples of the curve and their normals.
    points: Vec<Plane>,
    normals: Vec<Plane>,
    /// Length of the curve up to each sample, as a part of the whole.
    stations: Vec<f64>,
    /// Stations of its anchor points between the ends.
    anchors: Vec<f64>,
}

impl Profile {
    /// The profile through some points `[radius, height]` in metres.
    pub fn new(vertices: &[[f64; 2]]) -> Result<Self, ElasticError> {
        let [first, between @ .., last] = vertices else { return Err(ElasticError::OpenProfile) };
        let size = vertices.iter().flatten().fold(0.0f64, |most, x| most.max(x.abs()));
        let is_finite = vertices.iter().flatten().all(|x| x.is_finite());
        let is_closed = first[0] == 0.0 && last[0] == 0.0 && last[1] > first[1];
        let edges: Vec<Plane> = vertices.windows(2).map(|w| sub(w[1], w[0])).collect();
        let is_apart = edges.iter().all(|&e| dot(e, e).sqrt() > 1e-9 * size);
        let is_right = !between.is_empty() && between.iter().all(|p| p[0] > 0.0);
        if !(is_finite && is_closed && is_apart && is_right) {
            return Err(ElasticError::OpenProfile);
        }
        // The mirrored edges continue the curve beyond the axis.
        let mirrored = |e: Plane| [e[0], -e[1]];
        for point in 0..vertices.len() {
            let before = if point == 0 { mirrored(edges[0]) } else { edges[point - 1] };
            let after = edges.get(point).copied().unwrap_or_else(|| mirrored(edges[point - 1]));
            let (before, after) = (unit(before), unit(after));
            let reverses = dot(before, after) < 0.0 && cross(before, after).abs() <= TURN_ROUNDING;
            if cross(before, after) < -TURN_ROUNDING || reverses {
                return Err(ElasticError::ConcaveProfile { point });
            }
        }
        Ok(Self::sampled(vertices, &edges))
    }

    fn sampled(vertices: &[Plane], edges: &[Plane]) -> Self {
        let lengths: Vec<f64> = edges.iter().map(|&e| dot(e, e).sqrt()).collect();
        let total: f64 = lengths.iter().sum();
        let (mut points, mut stations) = (vec![vertices[0]], vec![0.0]);
        let mut at = 0.0;
        for (i, &length) in lengths.iter().enumerate() {
            let parts = (length / total * PROFILE_SAMPLES as f64).ceil().max(1.0) as usize;
            for part in 1..=parts {
                let s = part as f64 / parts as f64;
                points.push(mix(vertices[i], vertices[i + 1], s));
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
        let mut profile = Self { arcs: arcs(vertices, edges), points, normals, stations, anchors };
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
        let band = EDGE_BAND * self.inner_radius();
        let mut value = f64::NEG_INFINITY;
        let mut gradient = [0.0, 0.0];
        for arc in &self.arcs {
            let (distance, slope) = arc.distance(radius, p.y, band);
            let (greater, part) = smooth_max(distance, value, band);
            gradient = mix(gradient, slope, part);
            value = greater;
        }
        if value >= 0.0 {
            return None;
        }
        let outward = if radius > 0.0 { Vec3::new(p.x, 0.0, p.z) / radius } else { Vec3::x() };
        let normal = (gradient[0] * outward + Vec3::new(0.0, gradient[1], 0.0)).normalize();
        Some(Probe { depth: -value, normal, foot: p - value * normal })
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
        (low, super::arc::foot([self.points[low], self.points[high]], [self.normals[low], self.normals[high]], q))
    }
}

/// The smooth arcs of a curve between its corners.
fn arcs(vertices: &[Plane], edges: &[Plane]) -> Vec<ProfileArc> {
    let is_corner = |k: usize| {
        let (a, b) = (edges[k - 1], edges[k]);
        cross(a, b).atan2(dot(a, b)) > CORNER
    };
    // At the axis the curve turns into its mirror image.
    let last = edges.len();
    let is_tip = |k: usize| k == 0 && 2.0 * edges[0][1].atan2(edges[0][0]) > CORNER;
    let is_top = |k: usize| k == last && 2.0 * edges[last - 1][1].atan2(-edges[last - 1][0]) > CORNER;
    let mut arcs = Vec::new();
    let mut start = 0;
    for end in 1..=last {
        if end < last && !is_corner(end) {
            continue;
        }
        let poles = [start == 0 && !is_tip(0), end == last && !is_top(last)];
        arcs.push(ProfileArc::new(&vertices[start..=end], poles, is_tip(start) || is_top(end)));
        start = end;
    }
    arcs
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
    // Where the curve meets the axis its curvature continues as its mirror image, unless it is a corner.
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
