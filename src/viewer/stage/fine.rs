use std::collections::HashMap;

use parry3d::shape::TriMesh;

use super::relief::{Detail, Relief};
use crate::hand::HandModel;
use crate::math::{Pose, Vec3, to_glam};
use crate::mesh::SurfaceMesh;
use crate::tracking::SEGMENTS;

/// The drawn skin: the visual skin, refined where creases, nails and colours need it.
///
/// Added vertices lie in the middle of an edge, on the curved surface that the normals at the ends of the edge suggest. They cost much less
/// than vertices of the visual skin, which are carried by bones and tissue.
#[derive(Clone, Debug)]
pub(super) struct FineSkin {
    /// Number of vertices of the visual skin, which come first.
    coarse: usize,
    /// The ends of the edge of each added vertex. Both precede it.
    parents: Vec<[u32; 2]>,
    pub(super) triangles: Vec<[u32; 3]>,
    /// Relief and colour of each vertex.
    pub(super) details: Vec<Detail>,
}

/// A point of the skin in the reference pose.
#[derive(Clone, Debug)]
pub(super) struct SkinPoint {
    pub(super) place: Vec3,
    pub(super) normal: Vec3,
    /// Share of each segment in carrying it.
    pub(super) shares: [f64; SEGMENTS],
    /// Occlusion of ambient light by the hand itself, 0 to 1.
    pub(super) hollow: f64,
}

/// Number of times that edges are split.
const LEVELS: usize = 2;
/// Differences from linear interpolation along an edge beyond which it is split: relief in m, tone and shade.
const ROUGH: [f64; 3] = [3e-5, 0.03, 0.05];

impl FineSkin {
    pub(super) fn new(model: &HandModel) -> Self {
        let skin = &model.visual().mesh;
        let relief = Relief::new(model);
        let mut points = points(model);
        let mut details: Vec<Detail> = points.iter().map(|p| relief.at(p)).collect();
        let (mut parents, mut triangles) = (Vec::new(), skin.triangles.clone());
        for _ in 0..LEVELS {
            let mut middles: HashMap<[u32; 2], Option<u32>> = HashMap::new();
            let mut middle = |a: u32, b: u32| {
                let ends = [a.min(b), a.max(b)];
                *middles.entry(ends).or_insert_with(|| {
                    let [one, other] = ends.map(|v| v as usize);
                    let is_rough = [0.25, 0.5, 0.75].into_iter().any(|part| {
                        let there = relief.at(&SkinPoint::between(&points[one], &points[other], part));
                        there.differs(&details[one].mixed(&details[other], part), &ROUGH)
                    });
                    is_rough.then(|| {
                        let point = SkinPoint::between(&points[one], &points[other], 0.5);
                        details.push(relief.at(&point));
                        points.push(point);
                        parents.push(ends);
                        points.len() as u32 - 1
                    })
                })
            };
            let mut finer = Vec::with_capacity(2 * triangles.len());
            for &[a, b, c] in &triangles {
                let middles = [middle(a, b), middle(b, c), middle(c, a)];
                split([a, b, c], middles, &mut finer);
            }
            triangles = finer;
        }
        Self { coarse: skin.vertices.len(), parents, triangles, details }
    }

    /// The vertices for the vertices of the visual skin, with the relief.
    pub(super) fn posed(&self, coarse: SurfaceMesh) -> Vec<Vec3> {
        let mut normals = coarse.vertex_normals();
        let mut vertices = coarse.vertices;
        vertices.reserve(self.parents.len());
        normals.reserve(self.parents.len());
        for ends in &self.parents {
            let [a, b] = ends.map(|v| v as usize);
            let (place, normal) = between([vertices[a], vertices[b]], [normals[a], normals[b]], 0.5);
            vertices.push(place);
            normals.push(normal);
        }
        for ((p, normal), detail) in vertices.iter_mut().zip(&normals).zip(&self.details) {
            *p += detail.relief * normal;
        }
        vertices
    }

    /// Values at the vertices of the visual skin, extended to all.
    pub(super) fn spread(&self, mut values: Vec<f32>) -> Vec<f32> {
        values.truncate(self.coarse);
        values.reserve(self.parents.len());
        for &[a, b] in &self.parents {
            values.push(0.5 * (values[a as usize] + values[b as usize]));
        }
        values
    }
}

impl SkinPoint {
    fn between(a: &Self, b: &Self, part: f64) -> Self {
        let (place, normal) = between([a.place, b.place], [a.normal, b.normal], part);
        let mix = |x: f64, y: f64| x + part * (y - x);
        let shares = std::array::from_fn(|s| mix(a.shares[s], b.shares[s]));
        Self { place, normal, shares, hollow: mix(a.hollow, b.hollow) }
    }
}

/// A point between two points of a smooth surface: the mean of the chord's point and its projections on the tangent planes of both ends
/// (T. Boubekeur and M. Alexa, Phong Tessellation, ACM Transactions on Graphics 27(5), 2008), and the normal there.
fn between([a, b]: [Vec3; 2], [na, nb]: [Vec3; 2], part: f64) -> (Vec3, Vec3) {
    /// Share of the projections. With a half a chord of a sphere is moved onto it to second order; the paper takes three quarters.
    const CURVED: f64 = 0.5;
    let chord = a + part * (b - a);
    let [down_a, down_b] = [(a, na), (b, nb)].map(|(p, n)| (chord - p).dot(&n) * n);
    let place = chord - CURVED * (down_a + part * (down_b - down_a));
    (place, (na + part * (nb - na)).try_normalize(1e-9).unwrap_or(na))
}

/// Splits a triangle at the middles of its edges ab, bc and ca that have one.
fn split([a, b, c]: [u32; 3], middles: [Option<u32>; 3], onto: &mut Vec<[u32; 3]>) {
    match middles {
        [None, None, None] => onto.push([a, b, c]),
        [Some(ab), None, None] => onto.extend([[a, ab, c], [ab, b, c]]),
        [Some(ab), Some(bc), None] => onto.extend([[ab, b, bc], [a, ab, bc], [a, bc, c]]),
        [Some(ab), Some(bc), Some(ca)] => onto.extend([[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]),
        // The same with other names of the corners.
        [ab, bc, ca] => split([b, c, a], [bc, ca, ab], onto),
    }
}

/// The vertices of the visual skin in the reference pose.
fn points(model: &HandModel) -> Vec<SkinPoint> {
    let mesh = &model.visual().mesh;
    let normals = mesh.vertex_normals();
    let hollows = hollows(mesh, &normals, super::relief::millimetre(model));
    let all = mesh.vertices.iter().zip(normals).zip(&model.visual().vertices).zip(hollows);
    all.map(|(((&place, normal), vertex), hollow)| {
        let mut shares = [0.0; SEGMENTS];
        vertex.influences.iter().for_each(|i| shares[i.carrier.segment.index()] += i.weight);
        SkinPoint { place, normal, shares, hollow }
    })
    .collect()
}

/// Occlusion of the ambient light: how much closer the skin is to points above a vertex than it would be if it were flat.
fn hollows(mesh: &SurfaceMesh, normals: &[Vec3], unit: f64) -> Vec<f64> {
    /// Heights, in units, with their shares.
    const HEIGHTS: [(f64, f64); 4] = [(3.0, 0.3), (6.0, 0.3), (11.0, 0.25), (18.0, 0.15)];
    let surface = TriMesh::new(mesh.vertices.iter().map(to_glam).collect(), mesh.triangles.clone());
    let Ok(surface) = surface else { return vec![0.0; normals.len()] };
    use parry3d::query::PointQuery;
    let at = |(p, normal): (&Vec3, &Vec3)| {
        let missing = |&(height, share): &(f64, f64)| {
            let above = to_glam(&(p + height * unit * normal));
            let distance = (surface.project_local_point(above, false).point - above).length();
            share * (1.0 - distance / (height * unit)).max(0.0)
        };
        HEIGHTS.iter().map(missing).sum::<f64>().min(1.0)
    };
    mesh.vertices.iter().zip(normals).map(at).collect()
}

/// The pose of each segment in the reference pose.
pub(super) fn reference(model: &HandModel) -> [Pose; SEGMENTS] {
    model.skeleton.kinematics(&Pose::identity(), &model.visual().reference).poses
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::builtin_hand_model;

    #[test]
    fn the_drawn_skin_is_closed_and_close_to_the_visual_skin() {
        let model = builtin_hand_model().expect("a hand");
        let fine = FineSkin::new(&model);
        let coarse = &model.visual().mesh;
        let vertices = fine.posed(coarse.clone());
        let mesh = SurfaceMesh { vertices, triangles: fine.triangles.clone() };
        assert!(mesh.is_closed());
        assert_eq!(mesh.vertices.len() as i64 - mesh.triangles.len() as i64 / 2, 2, "no handles");
        assert!(mesh.vertices.len() < 6 * coarse.vertices.len(), "{}", mesh.vertices.len());
        assert!((mesh.volume() / coarse.volume() - 1.0).abs() < 0.02);
        // Behind the wrist is the cuff; elsewhere nothing is moved by more than half a millimetre.
        let wrist = model.description.palm.wrist.z;
        let most = |moved: &dyn Fn(f64) -> f64| {
            let hand = mesh.vertices.iter().zip(&fine.details).filter(|(p, _)| p.z < wrist);
            hand.map(|(_, detail)| moved(detail.relief)).fold(0.0, f64::max)
        };
        assert!(most(&f64::abs) < 0.5e-3, "{}", most(&f64::abs));
        assert!(most(&|r| -r) > 0.15e-3, "there are creases");
        assert_eq!(fine.spread(vec![0.7; coarse.vertices.len()]), vec![0.7; mesh.vertices.len()]);
    }

    #[test]
    fn middles_lie_on_a_sphere() {
        let at = |angle: f64| Vec3::new(angle.cos(), angle.sin(), 0.0);
        let ends = [at(0.0), at(0.5)];
        let (place, normal) = between(ends, ends, 0.5);
        assert!((place.norm() - 1.0).abs() < 0.01, "the chord is at {}", (0.25f64).cos());
        assert!((normal - at(0.25)).norm() < 1e-12);
    }

    #[test]
    fn triangles_are_split_without_gaps() {
        for marks in 0..8u32 {
            let middles = [0, 1, 2].map(|i| (marks >> i & 1 == 1).then_some(3 + i));
            let corners = [[0.0, 0.0], [2.0, 0.0], [0.0, 2.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]];
            let mut parts = Vec::new();
            split([0, 1, 2], middles, &mut parts);
            let area = |t: &[u32; 3]| {
                let [a, b, c] = t.map(|v| corners[v as usize]);
                0.5 * ((b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0]))
            };
            assert!(parts.iter().all(|t| area(t) > 0.0), "{marks}: {parts:?}");
            assert_eq!(parts.iter().map(area).sum::<f64>(), 2.0);
            assert_eq!(parts.len() as u32, 1 + marks.count_ones());
        }
    }
}
