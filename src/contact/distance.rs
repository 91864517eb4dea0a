use glam::DVec3;
use parry3d::query::{PointQueryWithLocation, Ray, RayCullingMode};
use parry3d::shape::{Capsule, ConvexPolyhedron, SharedShape, TriMesh, TrianglePointLocation, TypedShape};

use crate::math::{Vec3, from_glam, to_glam};

/// Signed distance of a point from a shape's surface, and its gradient.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Signed {
    /// Distance, m; negative inside.
    pub distance: f64,
    /// Unit gradient of the distance.
    pub normal: Vec3,
}

/// Closer to the surface than this, m, the direction to the closest point is dominated by rounding: a surface normal is
/// used instead.
const ROUNDING_DISTANCE: f64 = 1e-9;

/// Vectors shorter than this, m, have no direction.
const TINY: f64 = 1e-12;

/// Signed distance in the frame of the shape.
///
/// Boxes, balls, capsules, cylinders, half-spaces and hulls are exact inside and out; for a closed mesh with parry3d's
/// `ORIENTED` flag, angle-weighted pseudo-normals give the sign. Other shapes use parry3d's own projection,
/// which may allocate.
pub fn signed_distance(shape: &SharedShape, p: &Vec3) -> Signed {
    signed_distance_within(shape, p, f64::INFINITY)
}

/// The same where the surface is known to be no farther than `most`: of a mesh less is searched. The result is the same to the bit.
pub(super) fn signed_distance_within(shape: &SharedShape, p: &Vec3, most: f64) -> Signed {
    match shape.as_typed_shape() {
        TypedShape::Cuboid(s) => from_box(&from_glam(s.half_extents), p),
        TypedShape::Ball(s) => from_centre(p, s.radius, Vec3::y),
        TypedShape::Capsule(s) => from_capsule(s, p),
        TypedShape::Cylinder(s) => from_cylinder(s.half_height, s.radius, p),
        TypedShape::HalfSpace(s) => Signed { distance: to_glam(p).dot(s.normal), normal: from_glam(s.normal) },
        TypedShape::ConvexPolyhedron(s) => from_hull(s, to_glam(p)),
        TypedShape::TriMesh(s) => from_mesh(s, to_glam(p), most),
        _ => from_projection(shape, to_glam(p)),
    }
}

/// Distance from a ball around the origin of `v`; at its centre the given direction is used.
fn from_centre(v: &Vec3, radius: f64, otherwise: impl FnOnce() -> Vec3) -> Signed {
    let r = v.norm();
    Signed { distance: r - radius, normal: if r > TINY { v / r } else { otherwise() } }
}

fn from_capsule(capsule: &Capsule, p: &Vec3) -> Signed {
    let (a, b) = (from_glam(capsule.segment.a), from_glam(capsule.segment.b));
    let (axis, v) = (b - a, p - a);
    let length = axis.norm_squared();
    let along = if length > 0.0 { (v.dot(&axis) / length).clamp(0.0, 1.0) } else { 0.0 };
    from_centre(&(v - along * axis), capsule.radius, || perpendicular(&axis))
}

/// A unit vector perpendicular to another, deterministic.
fn perpendicular(v: &Vec3) -> Vec3 {
    v.cross(&Vec3::ith(v.iamin(), 1.0)).try_normalize(0.0).unwrap_or_else(Vec3::y)
}

fn from_box(half: &Vec3, p: &Vec3) -> Signed {
    let over = p.abs() - half;
    let beyond = over.sup(&Vec3::zeros());
    let d = beyond.norm();
    if d >= ROUNDING_DISTANCE {
        return Signed { distance: d, normal: (beyond / d).zip_map(p, f64::copysign) };
    }
    let face = over.imax();
    let distance = if d > 0.0 { d } else { over[face] };
    Signed { distance, normal: Vec3::ith(face, 1.0_f64.copysign(p[face])) }
}

/// A box in the plane of the axis and the point: over the side and over the cap.
fn from_cylinder(half_height: f64, radius: f64, p: &Vec3) -> Signed {
    let r = (p.x * p.x + p.z * p.z).sqrt();
    let outward = if r > TINY { Vec3::new(p.x / r, 0.0, p.z / r) } else { Vec3::x() };
    let upward = Vec3::new(0.0, 1.0_f64.copysign(p.y), 0.0);
    let (side, cap) = (r - radius, p.y.abs() - half_height);
    let (x, y) = (side.max(0.0), cap.max(0.0));
    let d = (x * x + y * y).sqrt();
    if d >= ROUNDING_DISTANCE {
        return Signed { distance: d, normal: (x / d) * outward + (y / d) * upward };
    }
    let distance = if d > 0.0 { d } else { side.max(cap) };
    Signed { distance, normal: if side > cap { outward } else { upward } }
}

/// Inside, the highest face plane decides. Outside, the closest point is on a face that the point is above, and no face
/// is closer than its plane. parry3d is as good outside, but allocates inside.
fn from_hull(hull: &ConvexPolyhedron, p: DVec3) -> Signed {
    let (mut top, mut height) = (0, f64::NEG_INFINITY);
    let (mut foot, mut d) = (p, f64::INFINITY);
    for face in 0..hull.faces().len() {
        let above = height_above(hull, face, p);
        if above > height {
            (top, height) = (face, above);
        }
        if above >= ROUNDING_DISTANCE && above < d {
            let q = nearest_on_face(hull, face, p, above);
            if p.distance(q) < d {
                (foot, d) = (q, p.distance(q));
            }
        }
    }
    if height < ROUNDING_DISTANCE {
        return Signed { distance: height, normal: from_glam(hull.faces()[top].normal) };
    }
    Signed { distance: d, normal: from_glam((p - foot) / d) }
}

/// Height of a point above the plane of a hull's face. Degenerate faces are never below.
fn height_above(hull: &ConvexPolyhedron, face: usize, p: DVec3) -> f64 {
    let face = &hull.faces()[face];
    if face.normal == DVec3::ZERO {
        return f64::NEG_INFINITY;
    }
    let corner = hull.vertices_adj_to_face()[face.first_vertex_or_edge as usize];
    face.normal.dot(p - hull.points()[corner as usize])
}

/// The closest point of a hull's face: the projection of the point, or the closest point of an edge that separates it.
fn nearest_on_face(hull: &ConvexPolyhedron, face: usize, p: DVec3, above: f64) -> DVec3 {
    let face = &hull.faces()[face];
    let (first, count) = (face.first_vertex_or_edge as usize, face.num_vertices_or_edges as usize);
    let ring = &hull.vertices_adj_to_face()[first..first + count];
    let (mut nearest, mut least) = (p - above * face.normal, f64::INFINITY);
    for (i, &corner) in ring.iter().enumerate() {
        let a = hull.points()[corner as usize];
        let edge = hull.points()[ring[(i + 1) % count] as usize] - a;
        if face.normal.cross(edge).dot(p - a) < 0.0 {
            let q = a + ((p - a).dot(edge) / edge.length_squared()).clamp(0.0, 1.0) * edge;
            if p.distance_squared(q) < least {
                (nearest, least) = (q, p.distance_squared(q));
            }
        }
    }
    nearest
}

fn from_mesh(mesh: &TriMesh, p: DVec3, most: f64) -> Signed {
    // Rounding must not leave the nearest triangle out.
    let most = most * (1.0 + 1e-6) + ROUNDING_DISTANCE;
    let near = most.is_finite().then(|| mesh.project_local_point_and_get_location_with_max_dist(p, false, most));
    let found = near.flatten().unwrap_or_else(|| mesh.project_local_point_and_get_location(p, false));
    let (projection, (triangle, location)) = found;
    let way = p - projection.point;
    let d = way.length();
    // Without a valid normal (degenerate triangles or two-sided sheets) the point counts as outside.
    let outward = outward_normal(mesh, triangle, location).try_normalize().or(way.try_normalize()).unwrap_or(DVec3::Y);
    let height = way.dot(outward);
    if matches!(location, TrianglePointLocation::OnFace(..)) {
        return Signed { distance: height, normal: from_glam(outward) };
    }
    let sign = if height < 0.0 { -1.0 } else { 1.0 };
    Signed { distance: sign * d, normal: from_glam(if d >= ROUNDING_DISTANCE { sign / d * way } else { outward }) }
}

/// The normal of a face, or the pseudo-normal of an edge or a vertex, which also gives the correct sign at concave ones
/// (Bærentzen and Aanæs 2005).
fn outward_normal(mesh: &TriMesh, triangle: u32, location: TrianglePointLocation) -> DVec3 {
    let t = triangle as usize;
    match (mesh.pseudo_normals_if_oriented(), location) {
        (Some(normals), TrianglePointLocation::OnEdge(edge, _)) => normals.edges_pseudo_normal[t][edge as usize],
        (Some(normals), TrianglePointLocation::OnVertex(corner)) => {
            normals.vertices_pseudo_normal[mesh.indices()[t][corner as usize] as usize]
        }
        _ => mesh.triangle(triangle).scaled_normal(),
    }
}

fn from_projection(shape: &SharedShape, p: DVec3) -> Signed {
    let projection = shape.project_local_point(p, false);
    let way = p - projection.point;
    let d = way.length();
    let sign = if projection.is_inside { -1.0 } else { 1.0 };
    let outward = || (p - shape.compute_local_aabb().center()).try_normalize().unwrap_or(DVec3::Y);
    Signed { distance: sign * d, normal: from_glam(if d >= ROUNDING_DISTANCE { sign / d * way } else { outward() }) }
}

/// Minimum improvement over the best corner to search for, m.
pub(super) const GAIN: f64 = 1e-5;

/// Tolerance of the search; the position matters, not only the distance, which changes little near the top of a round
/// object.
const FINE_GAIN: f64 = 1e-7;

/// Maximum number of distance evaluations per triangle.
const EVALUATIONS: usize = 16;

/// The point of an edge from `a` to `b` (in the shape's frame) with the minimum signed distance, if it is closer than
/// both ends by more than `GAIN`: its parameter from 0 to 1, and the distance. `at` are the distances at the ends. The
/// normal is perpendicular to the edge: where an edge of the shape crosses it, it lies between the normals of the two
/// faces.
///
/// Along a line the signed distance of a convex shape is convex. Tangents at the two ends of the interval that holds the minimum bound it
/// from below where they cross. They find a kink at once; the zero of the slope by regula falsi finds the minimum of a smooth curve.
/// Both are tried in turn.
pub fn nearest_on_edge(shape: &SharedShape, a: &Vec3, b: &Vec3, at: [&Signed; 2]) -> Option<(f64, Signed)> {
    let edge = b - a;
    let length = edge.norm();
    let slope = |here: &Signed| here.normal.dot(&edge);
    let (mut low, mut high) = ((0.0, *at[0], slope(at[0])), (1.0, *at[1], slope(at[1])));
    let ends = at[0].distance.min(at[1].distance);
    let mut best: Option<(f64, Signed)> = None;
    for round in 0..EVALUATIONS {
        let ((s0, Signed { distance: d0, .. }, g0), (s1, Signed { distance: d1, .. }, g1)) = (low, high);
        if g0 >= 0.0 || g1 <= 0.0 {
            break;
        }
        let crossing = (d0 - d1 + g1 * s1 - g0 * s0) / (g1 - g0);
        let bound = d0 + g0 * (crossing - s0);
        let known = best.map_or(ends - GAIN, |(_, here)| here.distance - EDGE_GAIN);
        if bound >= known {
            break;
        }
        let middle = s0 + (s1 - s0) * g0 / (g0 - g1);
        let s = if round % 2 == 0 { crossing } else { middle };
        if !(s > s0 && s < s1) {
            break;
        }
        let most = (d0.abs() + (s - s0) * length).min(d1.abs() + (s1 - s) * length);
        let here = signed_distance_within(shape, &(a + s * edge), most);
        if best.is_none_or(|(_, best)| here.distance < best.distance) {
            best = Some((s, here));
        }
        let g = slope(&here);
        if g < 0.0 {
            low = (s, here, g);
        } else {
            high = (s, here, g);
        }
    }
    let (s, here) = best.filter(|(_, here)| here.distance < ends - GAIN)?;
    // The combination of the normals on both sides with zero slope.
    let (left, right) = (-low.2, high.2);
    let between = if left > 0.0 && right > 0.0 { right * low.1.normal + left * high.1.normal } else { here.normal };
    let normal = between.try_normalize(TINY).unwrap_or(here.normal);
    Some((s, Signed { distance: here.distance, normal }))
}

/// Tolerance of the edge search, m.
const EDGE_GAIN: f64 = 1e-10;

/// The point of a triangle (in the shape's frame) with the minimum signed distance: barycentric weights and the
/// distance. `at` are the distances at the corners, `on_edges` known parameters on the edges from one corner to the
/// next.
///
/// The signed distance of a convex shape is convex: each evaluation gives a cutting plane, and all better points are on
/// its lower side. The remaining polygon is cut at its centroid until nothing better can remain, for at most 16
/// iterations, each of which removes at least 37 % (usually half) of the area. Around a concave mesh this finds a local
/// minimum.
pub fn nearest_on_triangle(
    shape: &SharedShape,
    corners: &[Vec3; 3],
    at: &[Signed; 3],
    on_edges: &[Option<(f64, Signed)>; 3],
) -> ([f64; 3], Signed) {
    const PLACES: [[f64; 2]; 3] = [[0.0, 0.0], [1.0, 0.0], [0.0, 1.0]];
    let edges = [corners[1] - corners[0], corners[2] - corners[0]];
    let tangent = |place: [f64; 2], here: &Signed| {
        let slope = edges.map(|edge| here.normal.dot(&edge));
        DistanceBound { slope, offset: here.distance - slope[0] * place[0] - slope[1] * place[1] }
    };
    let on_edge = |i: usize| {
        let (from, to) = (PLACES[i], PLACES[(i + 1) % 3]);
        on_edges[i].map(|(s, here)| ([from[0] + s * (to[0] - from[0]), from[1] + s * (to[1] - from[1])], here))
    };
    let lowest = (0..3).min_by(|&i, &j| at[i].distance.total_cmp(&at[j].distance)).unwrap_or(0);
    let (mut place, mut best) = (PLACES[lowest], at[lowest]);
    for (on_edge, here) in (0..3).filter_map(on_edge) {
        if here.distance < best.distance {
            (place, best) = (on_edge, here);
        }
    }
    let mut left = Polygon::triangle(PLACES);
    for (on_edge, here) in (0..3).filter_map(on_edge) {
        left.keep_below(&tangent(on_edge, &here), best.distance - GAIN);
    }
    for i in [lowest, (lowest + 1) % 3, (lowest + 2) % 3] {
        left.keep_below(&tangent(PLACES[i], &at[i]), best.distance - GAIN);
    }
    let lowest_known = best.distance;
    for _ in 0..EVALUATIONS {
        let Some(centre) = left.centre() else { break };
        let at = corners[0] + centre[0] * edges[0] + centre[1] * edges[1];
        let known = corners[0] + place[0] * edges[0] + place[1] * edges[1];
        let here = signed_distance_within(shape, &at, best.distance.abs() + (at - known).norm());
        if here.distance < best.distance {
            (place, best) = (centre, here);
        }
        left.keep_below(&tangent(centre, &here), best.distance - FINE_GAIN);
    }
    if best.distance < lowest_known {
        (place, best) = polished(shape, corners, edges, place, best);
    }
    ([(1.0 - place[0] - place[1]).max(0.0), place[0], place[1]], best)
}

/// Newton's method on the gradient of the distance within a triangle, with finite differences. Near the top of a round
/// object the distance alone does not determine the position accurately, and contacts must not jump. Steps that do not
/// reduce the distance are rejected, as at kinks.
fn polished(
    shape: &SharedShape,
    corners: &[Vec3; 3],
    edges: [Vec3; 2],
    mut place: [f64; 2],
    mut best: Signed,
) -> ([f64; 2], Signed) {
    const APART: f64 = 1e-4;
    let at = |place: [f64; 2]| signed_distance(shape, &(corners[0] + place[0] * edges[0] + place[1] * edges[1]));
    for _ in 0..2 {
        let slope = edges.map(|edge| best.normal.dot(&edge));
        let beside = [at([place[0] + APART, place[1]]), at([place[0], place[1] + APART])];
        let column = beside.map(|here| [0, 1].map(|i| (here.normal.dot(&edges[i]) - slope[i]) / APART));
        let determinant = column[0][0] * column[1][1] - column[1][0] * column[0][1];
        let step = [
            (column[1][0] * slope[1] - column[1][1] * slope[0]) / determinant,
            (column[0][1] * slope[0] - column[0][0] * slope[1]) / determinant,
        ];
        let next = [place[0] + step[0], place[1] + step[1]];
        let inside = next[0] >= 0.0 && next[1] >= 0.0 && next[0] + next[1] <= 1.0;
        let here = if inside { at(next) } else { break };
        if here.distance > best.distance {
            break;
        }
        (place, best) = (next, here);
    }
    (place, best)
}

/// A linear lower bound of the distance in a triangle.
struct DistanceBound {
    slope: [f64; 2],
    offset: f64,
}

impl DistanceBound {
    fn value(&self, place: &[f64; 2]) -> f64 {
        self.offset + self.slope[0] * place[0] + self.slope[1] * place[1]
    }
}

/// A triangle and one more corner per cut.
const MOST_CORNERS: usize = 3 + 6 + EVALUATIONS;

/// A convex polygon on a triangle, by its corners in order.
struct Polygon {
    corners: [[f64; 2]; MOST_CORNERS],
    count: usize,
}

impl Polygon {
    fn triangle(places: [[f64; 2]; 3]) -> Self {
        let mut corners = [[0.0; 2]; MOST_CORNERS];
        corners[..3].copy_from_slice(&places);
        Self { corners, count: 3 }
    }

    fn push(&mut self, place: [f64; 2]) {
        if self.count < MOST_CORNERS {
            self.corners[self.count] = place;
            self.count += 1;
        }
    }

    /// Removes the region where a function is at or above a level.
    fn keep_below(&mut self, function: &DistanceBound, level: f64) {
        let whole = Self { ..*self };
        self.count = 0;
        for i in 0..whole.count {
            let (a, b) = (whole.corners[i], whole.corners[(i + 1) % whole.count]);
            let (over_a, over_b) = (function.value(&a) - level, function.value(&b) - level);
            if over_a < 0.0 {
                self.push(a);
            }
            if (over_a < 0.0) != (over_b < 0.0) {
                let t = over_a / (over_a - over_b);
                self.push([a[0] + t * (b[0] - a[0]), a[1] + t * (b[1] - a[1])]);
            }
        }
    }

    /// Centroid, if the polygon is not empty.
    fn centre(&self) -> Option<[f64; 2]> {
        let origin = self.corners[0];
        let (mut area, mut moment) = (0.0, [0.0; 2]);
        for i in 2..self.count {
            let [a, b] = [self.corners[i - 1], self.corners[i]].map(|c| [c[0] - origin[0], c[1] - origin[1]]);
            let piece = a[0] * b[1] - a[1] * b[0];
            area += piece;
            moment = [moment[0] + piece * (a[0] + b[0]), moment[1] + piece * (a[1] + b[1])];
        }
        (area > 1e-14).then(|| [origin[0] + moment[0] / (3.0 * area), origin[1] + moment[1] / (3.0 * area)])
    }
}

/// First intersection of a point that moves from `from` (outside) to `to` with the surface: fraction of the path in [0,
/// 1], and the outward unit normal there. `None` if it starts inside, or less than a nanometre outside.
pub fn sweep(shape: &SharedShape, from: &Vec3, to: &Vec3) -> Option<(f64, Vec3)> {
    let start = signed_distance(shape, from);
    let way = to - from;
    let length = way.norm();
    if !(start.distance > ROUNDING_DISTANCE && start.distance <= length + ROUNDING_DISTANCE) {
        return None;
    }
    match shape.as_typed_shape() {
        TypedShape::TriMesh(mesh) => sweep_to_mesh(mesh, from, &(way / length), length),
        TypedShape::Cuboid(_)
        | TypedShape::Ball(_)
        | TypedShape::Capsule(_)
        | TypedShape::Cylinder(_)
        | TypedShape::HalfSpace(_)
        | TypedShape::ConvexPolyhedron(_) => sweep_to_convex(shape, from, &way, start),
        _ => {
            let direction = way / length;
            let ray = Ray::new(to_glam(from), to_glam(&direction));
            let hit = shape.cast_local_ray_and_get_normal(&ray, length, false)?;
            let normal = from_glam(hit.normal).try_normalize(0.5).unwrap_or(-direction);
            Some((hit.time_of_impact / length, normal * -normal.dot(&direction).signum()))
        }
    }
}

/// Along a line the distance from a convex shape is convex, so Newton's method approaches the surface without
/// overshooting.
fn sweep_to_convex(shape: &SharedShape, from: &Vec3, way: &Vec3, start: Signed) -> Option<(f64, Vec3)> {
    // A few iterations as a rule; a grazing path takes one per bisection.
    const ROUNDS: usize = 64;
    let (mut t, mut normal, mut distance) = (0.0, start.normal, start.distance);
    for _ in 0..ROUNDS {
        let rate = normal.dot(way);
        if rate >= 0.0 {
            return None;
        }
        t -= distance / rate;
        if distance <= ROUNDING_DISTANCE {
            return Some((t.min(1.0), normal));
        }
        if t > 1.0 + TINY {
            return None;
        }
        let here = signed_distance(shape, &(from + t * way));
        distance = here.distance;
        // At an edge the normal of one of its faces is used, which may point along the motion.
        if distance > ROUNDING_DISTANCE || here.normal.dot(way) < 0.0 {
            normal = here.normal;
        }
    }
    None
}

fn sweep_to_mesh(mesh: &TriMesh, from: &Vec3, direction: &Vec3, length: f64) -> Option<(f64, Vec3)> {
    let cast = |from: Vec3| {
        let ray = Ray::new(to_glam(&from), to_glam(direction));
        mesh.cast_local_ray_with_culling(&ray, length + ROUNDING_DISTANCE, RayCullingMode::IgnoreBackfaces)
    };
    // Two triangles round differently at their common edge, and some rays through it miss both: a slight offset avoids
    // this.
    let right = perpendicular(direction);
    let aside = ROUNDING_DISTANCE * (right + 0.6 * direction.cross(&right));
    let hit = cast(*from).or_else(|| cast(from + aside))?;
    Some(((hit.time_of_impact / length).min(1.0), from_glam(hit.normal)))
}

#[cfg(test)]
mod tests;
