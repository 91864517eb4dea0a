use crate::math::Vec3;

/// The closest point of a triangle: barycentric weights. The regions of corners, edges and face are distinguished by
/// the signs of projections, so that unused weights are exactly zero.
pub(super) fn nearest_on(p: &Vec3, [a, b, c]: &[Vec3; 3]) -> [f64; 3] {
    let (ab, ac, ap) = (b - a, c - a, p - a);
    let (d1, d2) = (ab.dot(&ap), ac.dot(&ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return [1.0, 0.0, 0.0];
    }
    let bp = p - b;
    let (d3, d4) = (ab.dot(&bp), ac.dot(&bp));
    if d3 >= 0.0 && d4 <= d3 {
        return [0.0, 1.0, 0.0];
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        let t = d1 / (d1 - d3);
        return [1.0 - t, t, 0.0];
    }
    let cp = p - c;
    let (d5, d6) = (ab.dot(&cp), ac.dot(&cp));
    if d6 >= 0.0 && d5 <= d6 {
        return [0.0, 0.0, 1.0];
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        let t = d2 / (d2 - d6);
        return [1.0 - t, 0.0, t];
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        let t = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        return [0.0, 1.0 - t, t];
    }
    let sum = va + vb + vc;
    [va / sum, vb / sum, vc / sum]
}

/// Closest point of a mesh.
pub(super) struct Nearest {
    pub triangle: usize,
    pub weights: [f64; 3],
    pub place: Vec3,
    /// Unit gradient of the signed distance.
    pub normal: Vec3,
}

/// A tree of boxes over the triangles of a mesh that deforms. Its order is that of the mesh when it was made; the boxes follow.
#[derive(Clone, Debug)]
pub(super) struct TriangleTree {
    /// Triangles, leaf by leaf.
    order: Vec<u32>,
    /// Boxes of a complete binary tree: the children of node `i` are `2 i + 1` and `2 i + 2`, the last level are the leaves.
    boxes: Vec<[Vec3; 2]>,
    leaves: usize,
    current: bool,
}

/// Triangles of a leaf.
const LEAF: usize = 4;

/// Squares of distances that differ by less than this part are the same distance.
const TIE: f64 = 1e-9;

impl TriangleTree {
    pub fn new(positions: &[Vec3], triangles: &[[u32; 3]]) -> Self {
        let leaves = triangles.len().div_ceil(LEAF).next_power_of_two();
        let mut order: Vec<u32> = (0..triangles.len() as u32).collect();
        let centre = |t: u32| triangles[t as usize].iter().map(|&v| positions[v as usize]).sum::<Vec3>();
        split(&mut order, leaves, &centre, triangles.len().div_ceil(leaves));
        Self { order, boxes: vec![[Vec3::zeros(); 2]; 2 * leaves - 1], leaves, current: false }
    }

    /// The mesh may have moved.
    pub fn outdate(&mut self) {
        self.current = false;
    }

    /// Triangles of a leaf, as places in the order: all leaves but the last ones are full.
    fn of_leaf(&self, leaf: usize) -> std::ops::Range<usize> {
        let size = self.order.len().div_ceil(self.leaves);
        (leaf * size).min(self.order.len())..((leaf + 1) * size).min(self.order.len())
    }

    /// Fits the boxes to the mesh, unless that was done since it was outdated.
    pub fn update(&mut self, positions: &[Vec3], triangles: &[[u32; 3]]) {
        if std::mem::replace(&mut self.current, true) {
            return;
        }
        const NONE: [Vec3; 2] = [
            Vec3::new(f64::INFINITY, f64::INFINITY, f64::INFINITY),
            Vec3::new(f64::NEG_INFINITY, f64::NEG_INFINITY, f64::NEG_INFINITY),
        ];
        for leaf in 0..self.leaves {
            let mut bounds = NONE;
            for &t in &self.order[self.of_leaf(leaf)] {
                for x in triangles[t as usize].map(|v| positions[v as usize]) {
                    bounds = [bounds[0].inf(&x), bounds[1].sup(&x)];
                }
            }
            self.boxes[self.leaves - 1 + leaf] = bounds;
        }
        for node in (0..self.leaves - 1).rev() {
            let [a, b] = [self.boxes[2 * node + 1], self.boxes[2 * node + 2]];
            self.boxes[node] = [a[0].inf(&b[0]), a[1].sup(&b[1])];
        }
    }

    /// Calls back with the triangles that may be within a distance, whose square the callback may lower.
    fn visit(&self, p: &Vec3, least: &mut f64, mut triangle: impl FnMut(usize, &mut f64)) {
        // Of every level one node waits.
        let mut stack = [0usize; 64];
        let mut count = 1;
        while count > 0 {
            count -= 1;
            let node = stack[count];
            if from_box(p, &self.boxes[node]) > *least * (1.0 + TIE) {
                continue;
            }
            if node + 1 >= self.leaves {
                self.order[self.of_leaf(node + 1 - self.leaves)].iter().for_each(|&t| triangle(t as usize, least));
                continue;
            }
            let [a, b] = [2 * node + 1, 2 * node + 2];
            let nearer_first = from_box(p, &self.boxes[a]) <= from_box(p, &self.boxes[b]);
            let [near, far] = if nearer_first { [a, b] } else { [b, a] };
            (stack[count], stack[count + 1]) = (far, near);
            count += 2;
        }
    }

    /// The nearest point of a closed, outward wound mesh within a distance, inside or out. Where several triangles are equally near, as
    /// around an edge or a corner, the first of them is taken, and their normals together say which side the point is on.
    pub fn nearest(&self, positions: &[Vec3], triangles: &[[u32; 3]], p: &Vec3, within: f64) -> Option<Nearest> {
        let corners = |t: usize| triangles[t].map(|v| positions[v as usize]);
        let measured = |x: &[Vec3; 3]| {
            let weights = nearest_on(p, x);
            let place: Vec3 = (0..3).map(|i| weights[i] * x[i]).sum();
            (weights, place, (p - place).norm_squared())
        };
        let mut least = within * within;
        let mut best: Option<(usize, [f64; 3], Vec3)> = None;
        self.visit(p, &mut least, |t, least| {
            let (weights, place, d) = measured(&corners(t));
            if d < *least || (d == *least && best.is_none_or(|(first, ..)| t < first)) {
                *least = d;
                best = Some((t, weights, place));
            }
        });
        let (triangle, weights, place) = best?;
        let away = p - place;
        // On the face of one triangle no other is as near.
        let inside = weights.iter().all(|w| *w > 0.0) && away.norm_squared() > 0.0;
        let normal_of = |x: &[Vec3; 3]| (x[1] - x[0]).cross(&(x[2] - x[0])).try_normalize(0.0).unwrap_or_default();
        let mut outward = Vec3::zeros();
        if inside {
            outward = normal_of(&corners(triangle));
        } else {
            let limit = least * (1.0 + TIE);
            // In the order of the triangles, so that the sum does not depend on the tree.
            let mut same = [0u32; MOST_SAME];
            let mut count = 0;
            self.visit(p, &mut least, |t, _| {
                if count < MOST_SAME && measured(&corners(t)).2 <= limit {
                    same[count] = t as u32;
                    count += 1;
                }
            });
            same[..count].sort_unstable();
            outward += same[..count].iter().map(|&t| normal_of(&corners(t as usize))).sum::<Vec3>();
        }
        let side = if away.dot(&outward) < 0.0 { -1.0 } else { 1.0 };
        let normal = away.try_normalize(1e-9).map(|n| side * n).or_else(|| outward.try_normalize(1e-9))?;
        Some(Nearest { triangle, weights, place, normal })
    }

    /// The triangle that a point first enters from outside on its way, if there is one.
    pub fn first_hit(&self, positions: &[Vec3], triangles: &[[u32; 3]], [from, to]: [&Vec3; 2]) -> Option<Nearest> {
        let way = to - from;
        let mut best: Option<(f64, Nearest)> = None;
        let mut square = 0.25 * way.norm_squared();
        self.visit(&(from + 0.5 * way), &mut square, |t, _| {
            let corners = triangles[t].map(|v| positions[v as usize]);
            let Some((part, weights, normal)) = entry(from, &way, &corners) else { return };
            let earlier = |(first, hit): &(f64, Nearest)| (part, t) < (*first, hit.triangle);
            if best.as_ref().is_none_or(earlier) {
                let place = (0..3).map(|i| weights[i] * corners[i]).sum();
                best = Some((part, Nearest { triangle: t, weights, place, normal }));
            }
        });
        best.map(|(_, hit)| hit)
    }
}

/// Depth of a point inside a closed, outward wound mesh, m; negative outside.
pub fn depth_in_mesh(positions: &[Vec3], triangles: &[[u32; 3]], p: &Vec3) -> f64 {
    let mut tree = TriangleTree::new(positions, triangles);
    tree.update(positions, triangles);
    let nearest = tree.nearest(positions, triangles, p, f64::MAX.sqrt());
    nearest.map_or(f64::NEG_INFINITY, |found| -found.normal.dot(&(p - found.place)))
}

/// Where a path enters a triangle from outside: fraction of the path, barycentric weights, and normal.
fn entry(from: &Vec3, way: &Vec3, [a, b, c]: &[Vec3; 3]) -> Option<(f64, [f64; 3], Vec3)> {
    let (ab, ac, start) = (b - a, c - a, from - a);
    let across = ab.cross(&ac);
    let closing = -across.dot(way);
    if closing <= 0.0 {
        return None;
    }
    let part = across.dot(&start) / closing;
    // Cramer's rule for `start + part way = u ab + v ac`.
    let turned = way.cross(&start);
    let (u, v) = (-ac.dot(&turned) / closing, ab.dot(&turned) / closing);
    let hits = (0.0..=1.0).contains(&part) && u >= 0.0 && v >= 0.0 && u + v <= 1.0;
    let normal = across.try_normalize(0.0)?;
    hits.then_some((part, [1.0 - u - v, u, v], normal))
}

/// Triangles around a corner whose normals are added up.
const MOST_SAME: usize = 32;

/// Square of the distance of a point from a box.
fn from_box(p: &Vec3, [low, high]: &[Vec3; 2]) -> f64 {
    (low - p).sup(&(p - high)).sup(&Vec3::zeros()).norm_squared()
}

/// Sorts triangles so that each half, quarter and so on of the leaves lies together in space.
fn split(order: &mut [u32], leaves: usize, centre: &impl Fn(u32) -> Vec3, size: usize) {
    if leaves <= 1 || order.len() <= 1 {
        return;
    }
    let start = [Vec3::repeat(f64::INFINITY), Vec3::repeat(f64::NEG_INFINITY)];
    let [low, high] = order.iter().map(|&t| centre(t)).fold(start, |[low, high], c| [low.inf(&c), high.sup(&c)]);
    let axis = (high - low).imax();
    order.sort_by(|&a, &b| centre(a)[axis].total_cmp(&centre(b)[axis]));
    let (first, second) = order.split_at_mut((leaves / 2 * size).min(order.len()));
    split(first, leaves / 2, centre, size);
    split(second, leaves / 2, centre, size);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::block;
    use proptest::prelude::*;

    fn vector() -> impl Strategy<Value = Vec3> {
        [-1.0..1.0f64, -1.0..1.0f64, -1.0..1.0f64].prop_map(Vec3::from)
    }

    proptest! {
        /// No sampled point of the triangle is closer.
        #[test]
        fn nearest_point_of_a_triangle(p in vector(), a in vector(), b in vector(), c in vector()) {
            prop_assume!((b - a).cross(&(c - a)).norm() > 1e-3);
            let w = nearest_on(&p, &[a, b, c]);
            prop_assert!(w.iter().all(|w| *w >= 0.0) && (w.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            let d = (p - (w[0] * a + w[1] * b + w[2] * c)).norm();
            for i in 0..=20 {
                for j in 0..=20 - i {
                    let (u, v) = (f64::from(i) / 20.0, f64::from(j) / 20.0);
                    prop_assert!((p - (u * a + v * b + (1.0 - u - v) * c)).norm() >= d - 1e-12);
                }
            }
        }

        /// On a box the closest point of its mesh is that of the box, inside and out.
        #[test]
        fn distance_from_a_meshed_box(p in vector()) {
            let (mesh, _) = block(&Vec3::new(1.0, 0.8, 0.6), [2, 2, 2]).boundary();
            let (half, centre) = (Vec3::new(0.5, 0.4, 0.3), Vec3::new(0.5, 0.4, 0.3));
            let q = p - centre;
            let out = (q.abs() - half).sup(&Vec3::zeros());
            let inside = (q.abs() - half).max();
            let expected = if out.norm() > 0.0 { out.norm() } else { inside };
            prop_assume!(expected.abs() > 1e-6);
            let mut tree = TriangleTree::new(&mesh.vertices, &mesh.triangles);
            tree.update(&mesh.vertices, &mesh.triangles);
            let found = tree.nearest(&mesh.vertices, &mesh.triangles, &p, 10.0).expect("within ten metres");
            let d = (p - found.place).dot(&found.normal);
            prop_assert!((d - expected).abs() < 1e-12, "{d} for {expected}");
        }
    }

    /// Every triangle, one after the other.
    fn searched(positions: &[Vec3], triangles: &[[u32; 3]], p: &Vec3) -> (usize, f64) {
        let distance = |corners: &[u32; 3]| {
            let x = corners.map(|v| positions[v as usize]);
            let weights = nearest_on(p, &x);
            (p - (0..3).map(|i| weights[i] * x[i]).sum::<Vec3>()).norm_squared()
        };
        let all = triangles.iter().map(distance).enumerate();
        all.min_by(|a, b| a.1.total_cmp(&b.1)).expect("a mesh has triangles")
    }

    proptest! {
        /// A path into a box enters it where the slabs of the box say.
        #[test]
        fn a_path_enters_a_box(from in vector(), to in vector()) {
            let (mesh, _) = block(&Vec3::new(1.0, 0.8, 0.6), [2, 2, 2]).boundary();
            let (low, high) = (Vec3::zeros(), Vec3::new(1.0, 0.8, 0.6));
            let is_inside = |p: &Vec3| (0..3).all(|i| p[i] > low[i] && p[i] < high[i]);
            prop_assume!(!is_inside(&from));
            let mut tree = TriangleTree::new(&mesh.vertices, &mesh.triangles);
            tree.update(&mesh.vertices, &mesh.triangles);
            let way = to - from;
            let slabs = (0..3).map(|i| {
                let ends = [(low[i] - from[i]) / way[i], (high[i] - from[i]) / way[i]];
                [ends[0].min(ends[1]), ends[0].max(ends[1])]
            });
            let [enters, leaves] = slabs.fold([0.0, 1.0], |[a, b]: [f64; 2], [c, d]| [a.max(c), b.min(d)]);
            prop_assume!((enters - leaves).abs() > 1e-9);
            match tree.first_hit(&mesh.vertices, &mesh.triangles, [&from, &to]) {
                Some(hit) => {
                    prop_assert!(enters < leaves);
                    prop_assert!((hit.place - (from + enters * way)).norm() < 1e-9);
                    prop_assert!(hit.normal.dot(&way) < 0.0);
                }
                None => prop_assert!(enters > leaves),
            }
        }

        /// However the mesh is deformed since the tree was made, it finds the same triangle as a search of all of them.
        #[test]
        fn a_tree_finds_what_a_search_finds(p in vector(), moves in prop::collection::vec(vector(), 27), within in 0.05..3.0f64) {
            let (mesh, _) = block(&Vec3::new(1.0, 0.8, 0.6), [2, 2, 2]).boundary();
            let mut tree = TriangleTree::new(&mesh.vertices, &mesh.triangles);
            tree.update(&mesh.vertices, &mesh.triangles);
            let moved: Vec<Vec3> = mesh.vertices.iter().zip(moves.iter().cycle()).map(|(x, m)| x + 0.1 * m).collect();
            tree.outdate();
            tree.update(&moved, &mesh.triangles);
            let (triangle, square) = searched(&moved, &mesh.triangles, &p);
            match tree.nearest(&moved, &mesh.triangles, &p, within) {
                Some(found) => prop_assert_eq!(found.triangle, triangle),
                None => prop_assert!(square >= within * within),
            }
        }
    }
}
