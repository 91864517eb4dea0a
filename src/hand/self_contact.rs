use super::description::HandDescription;
use super::meshing::SegmentMesh;
use super::shape::SegmentShape;
use super::skeleton::{Kinematics, Skeleton};
use crate::math::{Pose, Vec3};
use crate::tracking::{SEGMENTS, Segment, Side};

/// Which parts of the skin of a hand meet each other.
///
/// Segments at one joint never do: their skins overlap there. Nor do vertices that lie at another segment in the open hand: in the webs
/// between the fingers the skins of neighbours overlap although the skin is one.
#[derive(Clone, Debug, Default)]
pub struct SelfContact {
    /// For each pair of segments that may meet, which vertices of the first meet the second; empty for other pairs.
    vertices: Vec<Vec<bool>>,
    /// Capsule around each segment in the frame of its bone: ends of its axis and radius, m.
    capsules: Vec<([Vec3; 2], f64)>,
    /// Corners of the palm's box in its frame, m.
    palm: [Vec3; 2],
}

/// Vertices closer to another segment than this in the open hand do not meet it, m.
const WEB: f64 = 0.0015;

impl SelfContact {
    /// The parts of the skin of a hand that meet each other, from its outlines and meshes.
    pub(super) fn new(
        hand: &HandDescription,
        skeleton: &Skeleton,
        shapes: &[SegmentShape],
        meshes: &[SegmentMesh],
    ) -> Self {
        let open = hand.pose("open").copied().unwrap_or([0.0; crate::tracking::ANGLES]);
        let frames = skeleton.kinematics(&Pose::identity(), &open).poses;
        // Outlines are those of a right hand.
        let side = if hand.side == Side::Left { -1.0 } else { 1.0 };
        let apart = |of: usize, p: &Vec3, from: usize| {
            let local = (frames[from].inverse() * frames[of]) * nalgebra::Point3::from(*p);
            shapes[from].distance(&Vec3::new(side * local.x, local.y, local.z)) > WEB
        };
        let mut vertices = vec![Vec::new(); SEGMENTS * SEGMENTS];
        for a in Segment::all() {
            for b in Segment::all().filter(|b| !are_joined(a, *b)) {
                let (a, b) = (a.index(), b.index());
                vertices[SEGMENTS * a + b] = meshes[a].skin.vertices.iter().map(|p| apart(a, p, b)).collect();
            }
        }
        let capsules = meshes.iter().zip(shapes).map(|(mesh, shape)| {
            let ends = [Vec3::zeros(), -shape.length * Vec3::z()];
            let radius = mesh.skin.vertices.iter().map(|p| (p - nearest_on_segment(&ends, p)).norm());
            (ends, radius.fold(0.0, f64::max))
        });
        let corners = &meshes[Segment::PALM.index()].skin.vertices;
        let inf = corners.iter().fold(Vec3::repeat(f64::INFINITY), |low, p| low.inf(p));
        let sup = corners.iter().fold(Vec3::repeat(f64::NEG_INFINITY), |high, p| high.sup(p));
        Self { vertices, capsules: capsules.collect(), palm: [inf, sup] }
    }

    /// Whether two segments may come closer than a margin, by capsules around their bones, and can meet at all.
    pub fn may_meet(&self, kinematics: &Kinematics, [a, b]: [usize; 2], margin: f64) -> bool {
        if self.vertices[SEGMENTS * a + b].is_empty() {
            return false;
        }
        let palm = Segment::PALM.index();
        if a == palm || b == palm {
            let (ends, radius) = self.capsule(kinematics, if a == palm { b } else { a });
            let frame = kinematics.poses[palm].inverse();
            // A distance varies along a segment by no more than its length.
            const STATIONS: usize = 4;
            let half = 0.5 * (ends[1] - ends[0]).norm() / STATIONS as f64;
            let mut stations = (0..STATIONS).map(|i| ends[0].lerp(&ends[1], (i as f64 + 0.5) / STATIONS as f64));
            return stations.any(|p| {
                let p = (frame * nalgebra::Point3::from(p)).coords;
                (self.palm[0] - p).sup(&(p - self.palm[1])).sup(&Vec3::zeros()).norm() < radius + half + margin
            });
        }
        let [(one, r), (other, s)] = [a, b].map(|segment| self.capsule(kinematics, segment));
        distance_of_segments(&one, &other) < r + s + margin
    }

    /// Whether a vertex of a segment meets another segment.
    pub fn meets(&self, segment: usize, vertex: usize, other: usize) -> bool {
        self.vertices[SEGMENTS * segment + other].get(vertex).copied().unwrap_or(false)
    }

    fn capsule(&self, kinematics: &Kinematics, segment: usize) -> ([Vec3; 2], f64) {
        let (ends, radius) = &self.capsules[segment];
        let pose = &kinematics.poses[segment];
        (ends.map(|p| (pose * nalgebra::Point3::from(p)).coords), *radius)
    }
}

/// Whether two segments are the same or share a joint.
fn are_joined(a: Segment, b: Segment) -> bool {
    match (a.finger(), b.finger()) {
        (Some((one, i)), Some((other, j))) => one == other && i.abs_diff(j) <= 1,
        (Some((_, place)), None) | (None, Some((_, place))) => place == 0,
        (None, None) => true,
    }
}

fn nearest_on_segment([a, b]: &[Vec3; 2], p: &Vec3) -> Vec3 {
    let way = b - a;
    let part = (p - a).dot(&way) / way.norm_squared().max(1e-12);
    a + part.clamp(0.0, 1.0) * way
}

/// Distance of two line segments (C. Ericson, Real-Time Collision Detection, 2005, §5.1.9), m.
fn distance_of_segments(one: &[Vec3; 2], other: &[Vec3; 2]) -> f64 {
    let (d1, d2, r) = (one[1] - one[0], other[1] - other[0], one[0] - other[0]);
    let (a, e, f) = (d1.norm_squared(), d2.norm_squared(), d2.dot(&r));
    let (b, c) = (d1.dot(&d2), d1.dot(&r));
    let across = a * e - b * b;
    let s = if across > 1e-12 * a * e { ((b * f - c * e) / across).clamp(0.0, 1.0) } else { 0.5 };
    let t = ((b * s + f) / e.max(1e-12)).clamp(0.0, 1.0);
    // The other end may have been cut off.
    let on_other = other[0] + t * d2;
    (nearest_on_segment(one, &on_other) - on_other).norm()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_of_segments() {
        let x = [Vec3::zeros(), Vec3::x()];
        for (other, distance) in [
            ([Vec3::new(0.5, 0.2, -1.0), Vec3::new(0.5, 0.2, 1.0)], 0.2),
            ([Vec3::new(2.0, 0.0, 0.0), Vec3::new(3.0, 0.0, 0.0)], 1.0),
            ([Vec3::new(1.5, -1.0, 0.0), Vec3::new(1.5, 1.0, 0.0)], 0.5),
            ([Vec3::new(0.2, 0.3, 0.0), Vec3::new(0.8, 0.3, 0.0)], 0.3),
        ] {
            assert!((distance_of_segments(&x, &other) - distance).abs() < 1e-9, "{other:?}");
            assert!((distance_of_segments(&other, &x) - distance).abs() < 1e-9, "{other:?}");
        }
    }
}
