use std::f64::consts::TAU;

use super::error::{ElasticError, in_range, positive};
use crate::math::{Pose, Quat, Vec3};
use crate::mesh::{Ring, SurfaceMesh, revolved};

/// Most points of a tool: building one takes the square of their number.
const MAX_POINTS: usize = 10_000;

/// A rigid tool: convex pieces, and points on their surfaces at which contact is detected. In the tool's own frame.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// Points on the surface.
    pub points: Vec<ToolPoint>,
    /// Centre of mass of the pieces, m.
    pub centre: Vec3,
    pieces: Vec<Piece>,
    mesh: SurfaceMesh,
}

/// A vertex of a tool's mesh.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ToolPoint {
    /// Where it is, m.
    pub position: Vec3,
    /// Outward unit normal.
    pub normal: Vec3,
    /// Its share of the surface, m².
    pub area: f64,
}

/// A convex body as an intersection of half spaces.
#[derive(Clone, Debug, PartialEq)]
struct Piece {
    planes: Vec<(Vec3, f64)>,
    centre: Vec3,
    radius: f64,
}

/// A mallet: a cylinder along X about the origin as its head, and a handle down along −Y that ends in a half ball.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mallet {
    /// Radius of the head, m.
    pub head_radius: f64,
    /// Length of the head, m.
    pub head_length: f64,
    /// Radius of the handle and of its tail, m.
    pub handle_radius: f64,
    /// From the middle of the head to the end of the tail, m.
    pub handle_length: f64,
}

impl Default for Mallet {
    fn default() -> Self {
        Self { head_radius: 0.010, head_length: 0.03, handle_radius: 0.005, handle_length: 0.08 }
    }
}

/// A pair of compasses in the XY plane: two legs from a hinge above the origin to rounded pins at `±spread/2` on X.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Compass {
    /// Distance between the pins, m.
    pub spread: f64,
    /// Length of a leg, m.
    pub leg: f64,
    /// Radius of a pin, m.
    pub pin_radius: f64,
}

impl Default for Compass {
    fn default() -> Self {
        Self { spread: 0.05, leg: 0.08, pin_radius: 0.003 }
    }
}

impl Tool {
    /// A tool of convex pieces, each a closed mesh wound counter-clockwise seen from outside. Vertices should be spread
    /// evenly: contact is detected there.
    pub fn from_meshes(meshes: &[SurfaceMesh]) -> Result<Self, ElasticError> {
        if meshes.is_empty() {
            return Err(ElasticError::EmptyTool);
        }
        check_size(meshes.iter().map(|mesh| mesh.vertices.len() as f64).sum())?;
        let (mut points, mut pieces, mut whole) = (Vec::new(), Vec::new(), SurfaceMesh::default());
        let (mut moment, mut volume) = (Vec3::zeros(), 0.0);
        for (piece, mesh) in meshes.iter().enumerate() {
            let is_finite = mesh.vertices.iter().flatten().all(|x| x.is_finite());
            let is_indexed = mesh.triangles.iter().flatten().all(|&v| (v as usize) < mesh.vertices.len());
            if !is_finite || !is_indexed || !mesh.is_closed() || mesh.volume() <= 0.0 {
                return Err(ElasticError::OpenPiece { piece });
            }
            pieces.push(Piece::new(mesh).ok_or(ElasticError::ConcavePiece { piece })?);
            let vertices = mesh.vertices.iter().zip(normals(mesh)).zip(mesh.vertex_areas());
            points.extend(vertices.map(|((&position, normal), area)| ToolPoint { position, normal, area }));
            for t in 0..mesh.triangles.len() {
                let [a, b, c] = mesh.corners(t);
                let part = a.dot(&b.cross(&c)) / 6.0;
                moment += part * (a + b + c) / 4.0;
                volume += part;
            }
            let first = whole.vertices.len() as u32;
            whole.vertices.extend(&mesh.vertices);
            whole.triangles.extend(mesh.triangles.iter().map(|t| t.map(|v| first + v)));
        }
        Ok(Self { points, centre: moment / volume, pieces, mesh: whole })
    }

    /// A tool of the connected components of a mesh, which are its convex pieces. Edges longer than the spacing are split.
    pub fn from_mesh(mesh: &SurfaceMesh, spacing: f64) -> Result<Self, ElasticError> {
        positive("the spacing of the tool's points", spacing)?;
        check_size(mesh.area() / (spacing * spacing))?;
        Self::from_meshes(&mesh.with_short_edges(spacing, MAX_POINTS + 1).pieces())
    }

    /// A ball about the origin, with vertices some distance apart.
    pub fn ball(radius: f64, spacing: f64) -> Result<Self, ElasticError> {
        positive("the radius of a ball", radius)?;
        Self::from_meshes(&[solid(&cap([0.0, 0.0], radius, -1.0, 1.0), spacing)?])
    }

    /// A mallet, with vertices some distance apart.
    pub fn mallet(mallet: &Mallet, spacing: f64) -> Result<Self, ElasticError> {
        let Mallet { head_radius, head_length, handle_radius, handle_length } = *mallet;
        for (what, value) in [
            ("the radius of the head", head_radius),
            ("the length of the head", head_length),
            ("the radius of the handle", handle_radius),
            ("the length of the handle beyond the head", handle_length - head_radius),
        ] {
            positive(what, value)?;
        }
        let half = 0.5 * head_length;
        let mut head = solid(&[[0.0, -half], [head_radius, -half], [head_radius, half], [0.0, half]], spacing)?;
        let on_side = Pose::from_parts(Vec3::zeros().into(), Quat::from_axis_angle(&Vec3::z_axis(), -0.25 * TAU));
        move_mesh(&mut head, &on_side);
        let mut rod = cap([0.0, handle_radius - handle_length], handle_radius, -1.0, 0.0);
        rod.extend([[handle_radius, 0.0], [0.0, 0.0]]);
        Self::from_meshes(&[head, solid(&rod, spacing)?])
    }

    /// A pair of compasses, with vertices some distance apart.
    pub fn compass(compass: &Compass, spacing: f64) -> Result<Self, ElasticError> {
        let Compass { spread, leg, pin_radius } = *compass;
        positive("the spread of the compass", spread)?;
        positive("the length of a leg beyond half the spread", leg - 0.5 * spread)?;
        positive("the radius of a pin", pin_radius)?;
        let mut profile = cap([0.0, 0.0], pin_radius, -1.0, 0.0);
        profile.extend([[pin_radius, leg], [0.0, leg]]);
        let pin = solid(&profile, spacing)?;
        let lean = (0.5 * spread / leg).asin();
        let legs = [-1.0, 1.0].map(|side| {
            let turn = Quat::from_axis_angle(&Vec3::z_axis(), side * lean);
            let mut mesh = pin.clone();
            // The lowest point of each pin is on the X axis.
            move_mesh(&mut mesh, &Pose::from_parts(Vec3::new(0.5 * side * spread, pin_radius, 0.0).into(), turn));
            mesh
        });
        Self::from_meshes(&legs)
    }

    /// The surface of all pieces.
    pub fn mesh(&self) -> &SurfaceMesh {
        &self.mesh
    }

    /// How far along a ray from outside the tool ends: the last point of the ray inside a piece, in units of the
    /// direction's length. Nothing if the ray meets no piece.
    pub fn last_inside(&self, from: &Vec3, direction: &Vec3) -> Option<f64> {
        let ends = self.pieces.iter().filter_map(|piece| piece.last_inside(from, direction));
        ends.fold(None, |last, t| Some(last.map_or(t, |l: f64| l.max(t))))
    }
}

impl Piece {
    /// The half spaces of a convex mesh, or nothing if it is concave.
    fn new(mesh: &SurfaceMesh) -> Option<Self> {
        let centre = mesh.vertices.iter().sum::<Vec3>() / mesh.vertices.len() as f64;
        let radius = mesh.vertices.iter().map(|v| (v - centre).norm()).fold(0.0, f64::max);
        let mut planes: Vec<(Vec3, f64)> = Vec::new();
        for t in 0..mesh.triangles.len() {
            // A sliver has no reliable plane; its neighbours bound the piece there.
            let Some(normal) = mesh.area_vector(t).try_normalize(1e-9 * radius * radius) else { continue };
            let offset = normal.dot(&mesh.corners(t)[0]);
            let is_known = |(n, o): &(Vec3, f64)| (n - normal).norm() < 1e-9 && (o - offset).abs() < 1e-9 * radius;
            if !planes.iter().any(is_known) {
                planes.push((normal, offset));
            }
        }
        let is_convex = planes.iter().all(|(n, o)| mesh.vertices.iter().all(|v| n.dot(v) - o < 1e-6 * radius));
        is_convex.then_some(Self { planes, centre, radius })
    }

    fn last_inside(&self, from: &Vec3, direction: &Vec3) -> Option<f64> {
        let away = self.centre - from;
        let along = away.dot(direction) / direction.norm_squared();
        if (away - along * direction).norm_squared() > self.radius * self.radius {
            return None;
        }
        let (mut first, mut last) = (f64::NEG_INFINITY, f64::INFINITY);
        for (normal, offset) in &self.planes {
            let (speed, room) = (normal.dot(direction), offset - normal.dot(from));
            if speed > 0.0 {
                last = last.min(room / speed);
            } else if speed < 0.0 {
                first = first.max(room / speed);
            } else if room < 0.0 {
                return None;
            }
            if first > last {
                return None;
            }
        }
        Some(last)
    }
}

/// Outward unit normals of the vertices, weighted by angle: they do not depend on which diagonal splits a flat face.
fn normals(mesh: &SurfaceMesh) -> Vec<Vec3> {
    let mut normals = vec![Vec3::zeros(); mesh.vertices.len()];
    for (t, &triangle) in mesh.triangles.iter().enumerate() {
        let Some(normal) = mesh.area_vector(t).try_normalize(0.0) else { continue };
        let corners = mesh.corners(t);
        for i in 0..3 {
            let (a, b) = (corners[(i + 1) % 3] - corners[i], corners[(i + 2) % 3] - corners[i]);
            normals[triangle[i] as usize] += a.angle(&b) * normal;
        }
    }
    normals.iter().map(|n| n.try_normalize(0.0).unwrap_or_else(Vec3::y)).collect()
}

fn move_mesh(mesh: &mut SurfaceMesh, pose: &Pose) {
    mesh.vertices.iter_mut().for_each(|v| *v = (pose * nalgebra::Point3::from(*v)).coords);
}

/// The part of a circle between two heights, as parts of its radius, from below.
fn cap(centre: [f64; 2], radius: f64, from: f64, to: f64) -> Vec<[f64; 2]> {
    const STEPS: usize = 48;
    let angle = |height: f64| height.clamp(-1.0, 1.0).asin();
    let at = |i: usize| angle(from) + (angle(to) - angle(from)) * i as f64 / STEPS as f64;
    let on_axis = |i: usize| (i == 0 && from <= -1.0) || (i == STEPS && to >= 1.0);
    let point = |i: usize| {
        let r = if on_axis(i) { 0.0 } else { radius * at(i).cos() };
        [centre[0] + r, centre[1] + radius * at(i).sin()]
    };
    (0..=STEPS).map(point).collect()
}

/// The solid of revolution of a convex profile about Y, with vertices some distance apart. Corners of the profile are kept.
/// All rings have as many points as the widest, so that the solid is convex; vertices carry their areas as weights.
fn solid(profile: &[[f64; 2]], spacing: f64) -> Result<SurfaceMesh, ElasticError> {
    const CORNER: f64 = 0.5;
    /// Straight sides are sampled this much more coarsely along the axis.
    const SIDE: f64 = 3.0;
    positive("the spacing of the tool's points", spacing)?;
    let widest = profile.iter().map(|p| p[0]).fold(0.0, f64::max);
    let length: f64 = profile.windows(2).map(|p| (p[1][0] - p[0][0]).hypot(p[1][1] - p[0][1])).sum();
    check_size(TAU * widest / spacing * length / (SIDE * spacing))?;
    let around = 4 * ((TAU * widest / spacing / 4.0).round() as usize).max(2);
    let edge = |i: usize| Vec3::new(profile[i + 1][0] - profile[i][0], profile[i + 1][1] - profile[i][1], 0.0);
    let is_side = |i: usize| edge(i).x == 0.0 && edge(i).norm() > SIDE * spacing;
    let is_kept = |i: usize| {
        i == 0 || i == profile.len() - 1 || is_side(i) != is_side(i - 1) || edge(i - 1).angle(&edge(i)) > CORNER
    };
    let mut rings = vec![Ring { radius: 0.0, height: profile[0][1], points: 1 }];
    let mut start = 0;
    for end in 1..profile.len() {
        if !is_kept(end) {
            continue;
        }
        let length: f64 = (start..end).map(|i| edge(i).norm()).sum();
        let apart = if is_side(start) { SIDE * spacing } else { spacing };
        let parts = (length / apart).ceil().max(1.0) as usize;
        for part in 1..=parts {
            let [radius, height] = along(&profile[start..=end], length * part as f64 / parts as f64);
            let is_pole = end == profile.len() - 1 && part == parts;
            rings.push(Ring { radius, height, points: if is_pole { 1 } else { around } });
        }
        start = end;
    }
    Ok(revolved(&rings))
}

/// Refuses tools with too many points.
fn check_size(points: f64) -> Result<(), ElasticError> {
    let is_good = points <= MAX_POINTS as f64;
    in_range(
        "the number of points of the tool",
        points.round(),
        is_good,
        "at most 10000; use a coarser mesh or a larger spacing",
    )
}

/// The point at some length along a polyline.
fn along(line: &[[f64; 2]], mut length: f64) -> [f64; 2] {
    for pair in line.windows(2) {
        let [a, b] = [pair[0], pair[1]];
        let piece = (b[0] - a[0]).hypot(b[1] - a[1]);
        if length <= piece {
            let s = length / piece;
            return [a[0] + s * (b[0] - a[0]), a[1] + s * (b[1] - a[1])];
        }
        length -= piece;
    }
    line[line.len() - 1]
}
