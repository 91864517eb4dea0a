mod arc;
mod ellipsoid;
mod profile;

use std::f64::consts::{FRAC_PI_2, PI};

pub use self::profile::Profile;
use super::error::{ElasticError, in_range, positive};
use crate::math::Vec3;
use crate::mesh::{Ring, SurfaceMesh, block, revolved};

/// Width of the band in which faces blend into each other at an edge, as a part of the inner radius.
const EDGE_BAND: f64 = 0.08;
/// Depths are cut off at this part of the inner radius.
const DEPTH_LIMIT: f64 = 0.9;

/// An undeformed surface, convex, about the origin of the object's frame; Y points up.
#[derive(Clone, Debug, PartialEq)]
pub enum ElasticShape {
    /// A box.
    Box {
        /// Half of its size, m.
        half: Vec3,
    },
    /// A ball.
    Ball {
        /// Radius, m.
        radius: f64,
    },
    /// An ellipsoid with its axes along the axes of the frame.
    Ellipsoid {
        /// Semi-axes, m.
        semi: Vec3,
    },
    /// A cylinder along Y with half balls at its ends.
    Capsule {
        /// Radius, m.
        radius: f64,
        /// Half of the distance between the centres of the half balls, m.
        half_length: f64,
    },
    /// A surface of revolution about Y.
    Revolved(Profile),
}

/// A point below the surface: how deep, and where the surface is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Probe {
    /// Depth along the normal, m; positive inside.
    pub depth: f64,
    /// Outward unit normal of the surface at the foot.
    pub normal: Vec3,
    /// The surface point above it, m.
    pub foot: Vec3,
}

impl ElasticShape {
    /// A box of some size.
    pub fn block(size: Vec3) -> Self {
        Self::Box { half: 0.5 * size }
    }

    pub(super) fn check(&self) -> Result<(), ElasticError> {
        match self {
            Self::Box { half } => half.iter().try_for_each(|&h| positive("the half size of a box", h)),
            Self::Ball { radius } => positive("the radius of a ball", *radius),
            Self::Ellipsoid { semi } => semi.iter().try_for_each(|&s| positive("the semi-axis of an ellipsoid", s)),
            Self::Capsule { radius, half_length } => {
                positive("the radius of a capsule", *radius)?;
                in_range("the half length of a capsule", *half_length, *half_length >= 0.0, "0 or more")
            }
            Self::Revolved(_) => Ok(()),
        }
    }

    /// Where a point is relative to the surface, if it is inside.
    pub fn probe(&self, p: &Vec3) -> Option<Probe> {
        let probe = match self {
            Self::Box { half } => box_probe(half, p)?,
            Self::Ball { radius } => round_probe(p, *radius, p)?,
            Self::Ellipsoid { semi } => ellipsoid::probe(semi, p)?,
            Self::Capsule { radius, half_length } => {
                round_probe(p, *radius, &(p - Vec3::y() * p.y.clamp(-half_length, *half_length)))?
            }
            Self::Revolved(profile) => profile.probe(p)?,
        };
        (probe.depth > 0.0).then_some(probe)
    }

    /// Radius of a ball about the origin that contains the shape, m.
    pub fn outer_radius(&self) -> f64 {
        match self {
            Self::Box { half } => half.norm(),
            Self::Ball { radius } => *radius,
            Self::Ellipsoid { semi } => semi.max(),
            Self::Capsule { radius, half_length } => radius + half_length,
            Self::Revolved(profile) => profile.outer_radius(),
        }
    }

    /// The least half width, m.
    pub fn inner_radius(&self) -> f64 {
        match self {
            Self::Box { half } => half.min(),
            Self::Ball { radius } | Self::Capsule { radius, .. } => *radius,
            Self::Ellipsoid { semi } => semi.min(),
            Self::Revolved(profile) => profile.inner_radius(),
        }
    }

    /// Greatest resolved depth, m: beyond it the nearest surface point soon is on the other side.
    pub fn depth_limit(&self) -> f64 {
        DEPTH_LIMIT * self.inner_radius()
    }

    /// The lowest point of the surface on the Y axis.
    pub fn bottom(&self) -> Vec3 {
        match self {
            Self::Box { half } => Vec3::new(0.0, -half.y, 0.0),
            Self::Revolved(profile) => Vec3::new(0.0, profile.ends()[0], 0.0),
            _ => self.meridian_point(0.0, 0.0),
        }
    }

    /// The surface with a maximum number of triangles.
    pub fn mesh(&self, triangles: usize) -> Result<SurfaceMesh, ElasticError> {
        const FEWEST: usize = 200;
        const MAX_TRIANGLES: usize = 200_000;
        let is_good = (FEWEST..=MAX_TRIANGLES).contains(&triangles);
        in_range("the number of triangles", triangles as f64, is_good, "200 to 200000")?;
        if let Self::Box { half } = self {
            let cells = ((triangles / 12) as f64).sqrt() as usize;
            let (mut mesh, _) = block(&(2.0 * half), [cells; 3]).boundary();
            mesh.vertices.iter_mut().for_each(|v| *v -= half);
            return Ok(mesh);
        }
        let [around, along] = grid(triangles / 2);
        let ring = |i: usize| {
            let t = i as f64 / (along + 1) as f64;
            let points = if i == 0 || i == along + 1 { 1 } else { around };
            // The ellipsoid is a scaled ball.
            let p = self.meridian_point(t, 0.0);
            Ring { radius: p.x, height: p.y, points }
        };
        let mut mesh = revolved(&(0..along + 2).map(ring).collect::<Vec<_>>());
        if let Self::Ellipsoid { semi } = self {
            mesh.vertices.iter_mut().for_each(|v| v.z *= semi.z / semi.x);
        }
        Ok(mesh)
    }

    /// The surface point at a station from the bottom (0) to the top (1) and an azimuth. Not for boxes, whose surface
    /// has no meridians.
    pub(super) fn meridian_point(&self, t: f64, azimuth: f64) -> Vec3 {
        let polar = |semi: &Vec3| {
            let (sin, cos) = (PI * t).sin_cos();
            Vec3::new(semi.x * sin * azimuth.cos(), -semi.y * cos, semi.z * sin * azimuth.sin())
        };
        let around = |[r, y]: [f64; 2]| Vec3::new(r * azimuth.cos(), y, r * azimuth.sin());
        match self {
            Self::Box { half } => *half,
            Self::Ball { radius } => polar(&Vec3::repeat(*radius)),
            Self::Ellipsoid { semi } => polar(semi),
            Self::Capsule { radius, half_length } => {
                let (cap, side) = (FRAC_PI_2 * radius, 2.0 * half_length);
                let s = t * (2.0 * cap + side);
                let turn = if s < cap { s / radius } else { (s - side).max(cap) / radius };
                let middle = (s - cap).clamp(0.0, side) - half_length;
                around([radius * turn.sin(), middle - radius * turn.cos()])
            }
            Self::Revolved(profile) => around(profile.at(t)),
        }
    }

    /// The station of a surface point, from the bottom (0) to the top (1). Not for boxes.
    pub(super) fn station(&self, p: &Vec3) -> f64 {
        let polar = |q: &Vec3| q.xz().norm().atan2(-q.y) / PI;
        match self {
            Self::Box { .. } => 0.0,
            Self::Ball { .. } => polar(p),
            Self::Ellipsoid { semi } => polar(&p.component_div(semi)),
            Self::Capsule { radius, half_length } => {
                let cap = FRAC_PI_2 * radius;
                let middle = p.y.clamp(-half_length, *half_length);
                let turn = p.xz().norm().atan2(-(p.y - middle));
                (radius * turn + middle + half_length) / (2.0 * (cap + half_length))
            }
            Self::Revolved(profile) => profile.station(p),
        }
    }
}

/// How many points around and rings between the poles make the most triangles within a limit, about as wide as high.
/// The points are a multiple of four, so that the mesh has the mirror planes of the shape.
fn grid(pairs: usize) -> [usize; 2] {
    let ideal = (0.5 * pairs as f64).sqrt();
    let mut best = [4, 1];
    let off = |along: usize| (along as f64 - ideal).abs();
    for along in (0.7 * ideal) as usize + 1..=(1.3 * ideal) as usize {
        let around = 4 * (pairs / along / 4);
        let (count, record) = (around * along, best[0] * best[1]);
        if count > record || (count == record && off(along) < off(best[1])) {
            best = [around, along];
        }
    }
    best
}

/// The ball of some radius about a point that is `from` away from `p`.
fn round_probe(p: &Vec3, radius: f64, from: &Vec3) -> Option<Probe> {
    let squared = from.norm_squared();
    if squared >= radius * radius {
        return None;
    }
    let distance = squared.sqrt();
    let normal = if distance > 0.0 { from / distance } else { Vec3::x() };
    let depth = radius - distance;
    Some(Probe { depth, normal, foot: p + depth * normal })
}

/// The greater of two values, with continuous derivatives: `max(a, b) + (w − |a − b|)² / 4w` within a band of width w, where it
/// is convex; and its derivative by the first.
fn smooth_max(a: f64, b: f64, band: f64) -> (f64, f64) {
    let overlap = (band - (a - b).abs()).max(0.0);
    (a.max(b) + overlap * overlap / (4.0 * band), (0.5 + 0.5 * (a - b) / band).clamp(0.0, 1.0))
}

/// A box whose faces blend: the smooth maximum of the distances to the faces. On a face, away from the edges, it is exact.
fn box_probe(half: &Vec3, p: &Vec3) -> Option<Probe> {
    let outside = p.abs() - half;
    if outside.max() >= 0.0 {
        return None;
    }
    let band = EDGE_BAND * half.min();
    let face = |axis: usize| {
        let mut gradient = Vec3::zeros();
        gradient[axis] = 1f64.copysign(p[axis]);
        (outside[axis], gradient)
    };
    let blend = |(a, ga): (f64, Vec3), (b, gb): (f64, Vec3)| {
        let (value, part) = smooth_max(a, b, band);
        (value, part * ga + (1.0 - part) * gb)
    };
    let (value, gradient) = blend(blend(face(0), face(1)), face(2));
    let normal = gradient.normalize();
    Some(Probe { depth: -value, normal, foot: p - value * normal })
}
