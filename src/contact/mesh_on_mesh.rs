use super::anchor::Contact;
use super::proximity::{EDGE_SHARE, Proximity, Search};
use super::surface::Surface;
use super::triangle::{Nearest, TriangleTree};
use crate::math::{Mat3, Vec3};

/// Vertices farther inside another mesh than this are not found, m. It is less than half the thickness of a finger, so that the
/// nearest point is on the side that the vertex came from.
const DEEP: f64 = 5e-3;

/// Vertices of a surface whose mean motion is that of the surface.
const SAMPLES: usize = 12;

/// Deformable surfaces against each other: vertices against faces, both ways, and sharp edges against sharp edges. Where the surfaces
/// approach by more than the alarm distance in the step, the paths of vertices and edges are searched for the first contact
/// (Duriez 2004, §3.1).
impl Proximity {
    pub(super) fn surfaces_and_surfaces(&mut self, search: &Search<'_>) {
        let (surfaces, mut trees) = (std::mem::take(&mut self.surfaces), std::mem::take(&mut self.trees));
        trees.values_mut().for_each(TriangleTree::outdate);
        for (i, a) in surfaces.iter().enumerate() {
            for b in &surfaces[i + 1..] {
                // The surface whose contacts are aggregated comes first, whatever the order of the bodies: skin before soft bodies.
                let (a, b) = if b.aggregates && !a.aggregates { (b, a) } else { (a, b) };
                // Surfaces of one body move together: their speeds do not bound how fast they approach each other.
                let speed = if a.id.body == b.id.body { 0.0 } else { a.top_speed + b.top_speed };
                let reach = search.reach(speed);
                let near = a.deformable && b.deformable && a.bounds.meets(&b.bounds, reach);
                if !near || !search.may_meet(a, b, reach) {
                    continue;
                }
                let first = self.contacts.len();
                for (points, mesh, turned) in [(a, b, false), (b, a, true)] {
                    let triangles = &mesh.mesh(search.bodies).rest.triangles;
                    let tree = trees.entry(mesh.id).or_insert_with(|| TriangleTree::new(&mesh.positions, triangles));
                    tree.update(&mesh.positions, triangles);
                    self.vertices_on_mesh(search, points, mesh, tree, turned, speed);
                }
                self.edges_on_edges(search, a, b, speed);
                let ids = [a.id, b.id];
                self.close_pair(search, ids, first, a.aggregates, search.friction(ids));
            }
        }
        (self.surfaces, self.trees) = (surfaces, trees);
    }

    /// Vertices of one surface against the triangles of another. `turned`: the contact's first side is the mesh, not the vertex.
    fn vertices_on_mesh(
        &mut self,
        search: &Search<'_>,
        points: &Surface,
        mesh: &Surface,
        tree: &TriangleTree,
        turned: bool,
        speed: f64,
    ) {
        let (bodies, threshold) = (search.bodies, search.reach(0.0));
        let swept = search.h * speed > search.parameters.alarm;
        let margin = if swept { search.reach(speed) } else { threshold };
        let triangles = &mesh.mesh(bodies).rest.triangles;
        let passing = if swept { approach(search, points, mesh, margin) } else { None };
        // The body, if both belong to it.
        let own = (points.id.body == mesh.id.body).then(|| bodies.expect(mesh.id.body));
        let is_off =
            |v: usize| own.is_some_and(|body| !body.vertex_meets_itself(points.id.index(), v, mesh.id.index()));
        let side = |found: &Nearest, x: &Vec3| found.normal.dot(&(x - found.place));
        let near = |x: &Vec3, within: f64| tree.nearest(&mesh.positions, triangles, x, within);
        // Vertices farther inside than the alarm distance are looked for where others are deep.
        let mut deep = false;
        for (v, x) in points.positions.iter().enumerate() {
            if is_off(v) || !mesh.bounds.contains(x, if passing.is_some() { margin } else { threshold }) {
                continue;
            }
            let hit = || tree.first_hit(&mesh.positions, triangles, [x, &(x + passing?)]);
            let close = if mesh.bounds.contains(x, threshold) { near(x, threshold) } else { None };
            let Some(found) = close.or_else(hit) else { continue };
            deep |= side(&found, x) < -0.5 * threshold;
            self.contacts.push(vertex_contact(search, (points, v), mesh, &found, turned));
        }
        if !deep {
            return;
        }
        for (v, x) in points.positions.iter().enumerate() {
            if is_off(v) || !mesh.bounds.contains(x, 0.0) {
                continue;
            }
            let Some(found) = near(x, DEEP).filter(|found| side(found, x) <= -threshold) else { continue };
            self.contacts.push(vertex_contact(search, (points, v), mesh, &found, turned));
        }
    }

    /// Sharp edges of two surfaces of different bodies that cross each other. Those of one body are where its parts were cut at a joint.
    fn edges_on_edges(&mut self, search: &Search<'_>, a: &Surface, b: &Surface, speed: f64) {
        if a.id.body == b.id.body || a.sharp_edges.is_empty() || b.sharp_edges.is_empty() {
            return;
        }
        let (bodies, reach) = (search.bodies, search.reach(speed));
        for &(i, beside_i) in &a.sharp_edges {
            let one = SharpEdge::new(a, i, beside_i);
            if !one.ends.iter().any(|x| b.bounds.contains(x, reach)) {
                continue;
            }
            for &(j, beside_j) in &b.sharp_edges {
                let other = SharpEdge::new(b, j, beside_j);
                let halves = 0.5 * (one.length() + other.length());
                if (one.middle() - other.middle()).norm() > halves + reach {
                    continue;
                }
                let Some(normal) = one.normal_against(&other) else { continue };
                let anchors = |at: [f64; 2]| {
                    [
                        a.anchor(bodies, one.vertices(), weights(at[0])),
                        b.anchor(bodies, other.vertices(), weights(at[1])),
                    ]
                };
                let middles = [one.middle(), other.middle()];
                let [v, w] = anchors([0.5; 2]);
                let moved = search.h * (v.velocity(bodies, &middles[0]) - w.velocity(bodies, &middles[1]));
                let gap = normal.dot(&(one.ends[0] - other.ends[0]));
                let part = if gap < search.reach(0.0) { 0.0 } else { -gap / normal.dot(&moved) };
                if gap < -DEEP || !(0.0..=1.0).contains(&part) {
                    continue;
                }
                let Some(at) = one.crossing(&other, &normal, &(part * moved)) else { continue };
                let places = [one.at(at[0]), other.at(at[1])];
                let feature = 1 << 60 | u64::from(i) << 30 | u64::from(j);
                let area = EDGE_SHARE * a.edges[i as usize].1.min(b.edges[j as usize].1);
                self.contacts.push(search.contact(anchors(at), places, normal, area, feature, [a.layer, b.layer]));
            }
        }
    }
}

/// The contact of a vertex with a point of a mesh.
fn vertex_contact(
    search: &Search<'_>,
    (points, v): (&Surface, usize),
    mesh: &Surface,
    found: &Nearest,
    turned: bool,
) -> Contact {
    let (bodies, x) = (search.bodies, points.positions[v]);
    let area = points.mesh(bodies).areas[v];
    let vertex = points.anchor(bodies, [v as u32; 3], [1.0, 0.0, 0.0]);
    let on_mesh = mesh.anchor(bodies, mesh.mesh(bodies).rest.triangles[found.triangle], found.weights);
    let feature = u64::from(turned) << 33 | v as u64;
    let layers = [points.layer, mesh.layer];
    if turned {
        search.contact([on_mesh, vertex], [found.place, x], -found.normal, area, feature, layers)
    } else {
        search.contact([vertex, on_mesh], [x, found.place], found.normal, area, feature, layers)
    }
}

/// How far the free motion moves one surface relative to another, m: the difference of the means over the vertices in reach. `None` if it is
/// less than the alarm distance. Single vertices of compressed tissue move farther, since the free motion knows no contact; they do
/// not pass another surface.
fn approach(search: &Search<'_>, one: &Surface, other: &Surface, reach: f64) -> Option<Vec3> {
    let mean = |surface: &Surface, within: &Surface| {
        let (mut sum, mut count) = (Vec3::zeros(), 0.0);
        let sampled = surface.positions.iter().enumerate().step_by(surface.positions.len().div_ceil(SAMPLES));
        for (v, x) in sampled.filter(|(_, x)| within.bounds.contains(x, reach)) {
            sum += surface.anchor(search.bodies, [v as u32; 3], [1.0, 0.0, 0.0]).velocity(search.bodies, x);
            count += 1.0;
        }
        (count > 0.0).then(|| search.h * sum / count)
    };
    let moved = mean(one, other)? - mean(other, one)?;
    (moved.norm() > search.reach(0.0)).then_some(moved)
}

/// Weights of the vertices of an edge at a parameter.
fn weights(s: f64) -> [f64; 3] {
    [1.0 - s, s, 0.0]
}

/// A sharp convex edge and the triangles beside it.
struct SharpEdge {
    vertices: [u32; 2],
    ends: [Vec3; 2],
    /// The corners of its triangles that are not on it.
    beside: [Vec3; 2],
}

impl SharpEdge {
    fn new(surface: &Surface, edge: u32, beside: [u32; 2]) -> Self {
        let vertices = surface.edges[edge as usize].0;
        let place = |v: u32| surface.positions[v as usize];
        Self { vertices, ends: vertices.map(place), beside: beside.map(place) }
    }

    fn vertices(&self) -> [u32; 3] {
        [self.vertices[0], self.vertices[1], self.vertices[1]]
    }

    fn along(&self) -> Vec3 {
        self.ends[1] - self.ends[0]
    }

    fn length(&self) -> f64 {
        self.along().norm()
    }

    fn at(&self, s: f64) -> Vec3 {
        self.ends[0] + s * self.along()
    }

    fn middle(&self) -> Vec3 {
        self.at(0.5)
    }

    /// Whether both triangles are behind the plane through the edge with an outward normal.
    fn is_extreme(&self, normal: &Vec3) -> bool {
        self.beside.iter().all(|x| normal.dot(&(x - self.ends[0])) <= 0.0)
    }

    /// The common normal of two edges, from the other one to this one, if neither surface is in the way.
    fn normal_against(&self, other: &Self) -> Option<Vec3> {
        let normal = self.along().cross(&other.along()).try_normalize(1e-3 * self.length() * other.length())?;
        [normal, -normal].into_iter().find(|n| other.is_extreme(n) && self.is_extreme(&-n))
    }

    /// Parameters where this edge, moved by some displacement, crosses the other one in the direction of the normal.
    fn crossing(&self, other: &Self, normal: &Vec3, moved: &Vec3) -> Option<[f64; 2]> {
        let columns = Mat3::from_columns(&[self.along(), -other.along(), *normal]);
        let solved = columns.try_inverse()? * (other.ends[0] - self.ends[0] - moved);
        let at = [solved.x, solved.y];
        at.iter().all(|s| (0.0..=1.0).contains(s)).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Roof edges along x and z, the first above the second.
    fn crossed(gap: f64, offset: f64) -> [SharpEdge; 2] {
        let upper = |x: f64| Vec3::new(x, gap, offset);
        let lower = |z: f64| Vec3::new(0.0, 0.0, z);
        let above = [-0.1, 0.1].map(|z| Vec3::new(0.0, gap + 0.1, offset + z));
        let below = [-0.1, 0.1].map(|x| Vec3::new(x, -0.1, 0.0));
        [
            SharpEdge { vertices: [0, 1], ends: [upper(-0.5), upper(0.5)], beside: above },
            SharpEdge { vertices: [2, 3], ends: [lower(-0.5), lower(0.5)], beside: below },
        ]
    }

    #[test]
    fn crossed_edges_have_one_common_normal() {
        let [one, other] = crossed(0.01, 0.2);
        let normal = one.normal_against(&other).expect("they face each other");
        assert!((normal - Vec3::y()).norm() < 1e-12);
        let at = one.crossing(&other, &normal, &Vec3::zeros()).expect("they cross");
        assert!((at[0] - 0.5).abs() < 1e-12 && (at[1] - 0.7).abs() < 1e-12, "{at:?}");
        assert!(other.normal_against(&one).is_some_and(|n| (n + Vec3::y()).norm() < 1e-12));
    }

    #[test]
    fn edges_that_miss_or_face_away_have_no_contact() {
        let [one, other] = crossed(0.01, 0.6);
        let normal = one.normal_against(&other).expect("they face each other");
        assert!(one.crossing(&other, &normal, &Vec3::zeros()).is_none(), "beyond the end");
        assert!(one.crossing(&other, &normal, &Vec3::new(0.0, 0.0, -0.2)).is_some(), "on its way");
        let [mut one, other] = crossed(0.01, 0.0);
        one.beside = one.beside.map(|x| x - Vec3::new(0.0, 0.2, 0.0));
        assert!(one.normal_against(&other).is_none(), "its triangles hang below it");
    }
}
