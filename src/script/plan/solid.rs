use parry3d::query::Ray;
use parry3d::shape::SharedShape;

use crate::body::{Body, Collider, tessellated};
use crate::contact::{Signed, signed_distance};
use crate::math::{Pose, Vec3, from_glam, to_glam};

/// A body as a convex or closed solid in the world, for distances and lines through it.
#[derive(Clone, Debug)]
pub struct Solid {
    shape: SharedShape,
    pose: Pose,
    /// Centre of mass, m.
    pub centre: Vec3,
    /// Points of its surface in the world.
    points: Vec<Vec3>,
    /// Maximum distance of a point from the centre, m.
    pub reach: f64,
}

/// A line on which two pads can press a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Line {
    /// Unit direction.
    pub axis: Vec3,
    /// Middle between the ends, m.
    pub middle: Vec3,
    /// Distance between the ends, m.
    pub width: f64,
    /// Cosine of the largest angle between the axis and the mean surface normal under a pad.
    pub facing: f64,
    /// Smallest fraction of a pad that touches the surface.
    pub covered: f64,
}

/// Radius of the part of the surface that a pad touches, m.
const PAD_RADIUS: f64 = 0.004;
/// Directions that are tried, over a half sphere.
const DIRECTIONS: usize = 160;
/// Directions closer than this are the same, as a cosine: 10°.
const SAME: f64 = 0.985;
/// Smallest part of a pad that must meet the surface.
const COVERED: f64 = 0.4;
/// Largest angle from a normal, as a part of the angle of friction.
const CONE: f64 = 0.7;

impl Solid {
    /// The solid of a body: its own shape, or the convex hull of a deformable surface. `None` for unbounded bodies.
    pub fn of(body: &dyn Body) -> Option<Self> {
        let mut hulled = Vec::new();
        for index in 0..body.collider_count() {
            match body.collider(index) {
                Collider::Shape(own) => {
                    let rest = tessellated(own.shape)?;
                    let points: Vec<Vec3> =
                        rest.vertices.iter().map(|p| own.pose * nalgebra::Point3::from(*p)).map(|p| p.coords).collect();
                    return Some(Self::new(own.shape.clone(), own.pose, body.centre(), points));
                }
                Collider::Mesh(_) => body.vertex_positions(index, &mut hulled),
            }
        }
        let corners: Vec<_> = hulled.iter().map(to_glam).collect();
        let hull = SharedShape::convex_hull(&corners)?;
        Some(Self::new(hull, Pose::identity(), body.centre(), hulled))
    }

    fn new(shape: SharedShape, pose: Pose, centre: Vec3, points: Vec<Vec3>) -> Self {
        let reach = points.iter().map(|p| (p - centre).norm()).fold(0.0, f64::max);
        Self { shape, pose, centre, points, reach }
    }

    /// Signed distance of a point and its gradient.
    pub fn distance(&self, p: &Vec3) -> Signed {
        distance_from(&self.shape, &self.pose, p)
    }

    /// Distance from the centre to the farthest point in a direction, m.
    pub fn extent(&self, direction: &Vec3) -> f64 {
        self.points.iter().map(|p| (p - self.centre).dot(direction)).fold(0.0, f64::max)
    }

    /// Direction to the farthest point of the surface, and its distance from the centre, m.
    pub fn longest(&self) -> (Vec3, f64) {
        let farthest =
            self.points.iter().max_by(|a, b| (*a - self.centre).norm().total_cmp(&(*b - self.centre).norm()));
        let way = farthest.map_or_else(Vec3::zeros, |p| p - self.centre);
        (way.try_normalize(1e-9).unwrap_or_else(Vec3::x), way.norm())
    }

    /// Where a line from outside first meets the surface, and the normal there.
    fn entry(&self, through: &Vec3, from: &Vec3) -> Option<(Vec3, Vec3)> {
        let far = 3.0 * self.reach + 0.01;
        let origin = self.pose.inverse_transform_point(&(through + far * from).into()).coords;
        let towards = self.pose.rotation.inverse_transform_vector(&-from);
        let ray = Ray::new(to_glam(&origin), to_glam(&towards));
        let hit = self.shape.cast_local_ray_and_get_normal(&ray, 2.0 * far, true)?;
        let place = through + (far - hit.time_of_impact) * from;
        Some((place, self.pose.rotation * from_glam(hit.normal)))
    }

    /// The end of a line through a point, the mean normal under a pad there, and the part of the pad that meets the surface.
    fn end(&self, through: &Vec3, axis: &Vec3) -> Option<(Vec3, Vec3, f64)> {
        let (place, normal) = self.entry(through, axis)?;
        let across = axis.cross(&if axis.x.abs() < 0.6 { Vec3::x() } else { Vec3::y() }).normalize();
        let other = axis.cross(&across);
        const AROUND: usize = 6;
        let beside = (0..AROUND).filter_map(|i| {
            let (sin, cos) = (std::f64::consts::TAU * i as f64 / AROUND as f64).sin_cos();
            self.entry(&(through + PAD_RADIUS * (cos * across + sin * other)), axis)
        });
        // What lies more than a pad's depth lower is not touched.
        let touched = beside.filter(|(p, _)| (place - p).dot(axis) < 0.5 * PAD_RADIUS).map(|(_, n)| n);
        let (sum, count) = touched.fold((normal, 1), |(sum, count), n| (sum + n, count + 1));
        Some((place, sum.try_normalize(1e-9)?, f64::from(count) / (1 + AROUND) as f64))
    }

    /// The line through a point in a direction.
    pub fn line(&self, through: &Vec3, axis: &Vec3) -> Option<Line> {
        let ((a, from, on_a), (b, to, on_b)) = (self.end(through, &-axis)?, self.end(through, axis)?);
        let facing = (-from.dot(axis)).min(to.dot(axis));
        Some(Line { axis: *axis, middle: 0.5 * (a + b), width: (b - a).dot(axis), facing, covered: on_a.min(on_b) })
    }

    /// Lines through a point on which two pads hold the body with a friction coefficient.
    ///
    /// Two pads hold a body without a torque if the line between them lies inside both friction cones (V.-D. Nguyen, Constructing
    /// force-closure grasps, IJRR 1988). Each direction of a half sphere is also turned towards the normals at its ends until it does
    /// not turn any more, which ends at the axes of a box and at the smallest width of a hull.
    pub fn lines(&self, through: &Vec3, mu: f64, widest: f64) -> Vec<Line> {
        let least = (CONE * mu.atan()).cos();
        let mut found: Vec<Line> = Vec::new();
        for i in 0..DIRECTIONS {
            let sampled = half_sphere(i);
            for axis in [self.settled(through, sampled), Some(sampled)].into_iter().flatten() {
                let Some(line) = self.line(through, &axis) else { continue };
                let is_new = found.iter().all(|other| other.axis.dot(&line.axis).abs() < SAME);
                if line.facing >= least && line.covered >= COVERED && line.width <= widest && is_new {
                    found.push(line);
                }
            }
        }
        found
    }

    /// A direction turned towards the normals at its ends.
    fn settled(&self, through: &Vec3, start: Vec3) -> Option<Vec3> {
        const TURNS: usize = 8;
        let mut axis = start;
        for _ in 0..TURNS {
            let ((_, from), (_, to)) = (self.entry(through, &-axis)?, self.entry(through, &axis)?);
            let next = (to - from + 0.2 * axis).try_normalize(1e-6)?;
            if next.dot(&axis) > 1.0 - 1e-7 {
                return Some(next);
            }
            axis = next;
        }
        Some(axis)
    }
}

/// Evenly distributed directions with `y ≥ 0` (a Fibonacci spiral).
fn half_sphere(i: usize) -> Vec3 {
    let y = (i as f64 + 0.5) / DIRECTIONS as f64;
    let (sin, cos) = (2.399_963_229_728_653 * i as f64).sin_cos();
    let r = (1.0 - y * y).sqrt();
    Vec3::new(r * cos, y, r * sin)
}

/// Signed distance of a point in the world from a shape.
pub fn distance_from(shape: &SharedShape, pose: &Pose, p: &Vec3) -> Signed {
    let local = pose.inverse_transform_point(&(*p).into()).coords;
    let Signed { distance, normal } = signed_distance(shape, &local);
    Signed { distance, normal: pose.rotation * normal }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{RigidBody, RigidShape};

    fn solid(shape: &RigidShape) -> Solid {
        let pose = Pose::from_parts(Vec3::new(0.1, 0.2, -0.3).into(), crate::math::exp(&Vec3::new(0.3, -0.7, 0.2)));
        Solid::of(&RigidBody::with_mass(shape, 0.1, pose).expect("a body")).expect("a solid")
    }

    #[test]
    fn a_box_has_three_axes_and_its_widths() {
        let solid = solid(&RigidShape::Box(Vec3::new(0.01, 0.02, 0.03)));
        let lines = solid.lines(&solid.centre, 0.4, 1.0);
        let turn = solid.pose.rotation;
        for (axis, width) in [(Vec3::x(), 0.02), (Vec3::y(), 0.04), (Vec3::z(), 0.06)] {
            let best = lines
                .iter()
                .max_by(|a, b| (turn * axis).dot(&a.axis).abs().total_cmp(&(turn * axis).dot(&b.axis).abs()));
            let best = best.expect("a line");
            assert!((turn * axis).dot(&best.axis).abs() > 0.9999 && (best.width - width).abs() < 1e-6, "{best:?}");
        }
        assert!(lines.iter().all(|line| line.facing > (0.7 * 0.4f64.atan()).cos() - 1e-12));
    }

    #[test]
    fn a_ball_has_lines_in_every_direction_and_a_cone_has_none_along_its_slope() {
        let ball = solid(&RigidShape::Ball(0.03));
        let lines = ball.lines(&ball.centre, 0.5, 1.0);
        assert!(lines.len() > 40 && lines.iter().all(|line| (line.width - 0.06).abs() < 1e-9), "{}", lines.len());
        assert!(ball.lines(&ball.centre, 0.5, 0.05).is_empty(), "wider than the hand opens");
    }
}
