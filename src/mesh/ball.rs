use std::collections::BTreeMap;

use super::TetMesh;
use crate::math::Vec3;

/// A ball about the origin: an icosahedron cut into twenty tetrahedra around its centre, each of them into `layers³`,
/// and the layers bent onto spheres. No element has two faces on the surface, so none is flattened however fine the
/// mesh is.
pub fn ball(radius: f64, layers: usize) -> TetMesh {
    let corners = icosahedron();
    let mut mesh = TetMesh::default();
    let mut numbers: BTreeMap<[usize; 12], u32> = BTreeMap::new();
    for face in faces(&corners) {
        // A lattice point by its weights on the three corners; the rest of `layers` is on the centre. Adjacent
        // tetrahedra identify a shared point by the same weights.
        let mut node = |weights: [usize; 3]| -> u32 {
            let mut key = [0; 12];
            (0..3).for_each(|i| key[face[i]] = weights[i]);
            *numbers.entry(key).or_insert_with(|| {
                let sum: usize = weights.iter().sum();
                let towards: Vec3 = (0..3).map(|i| weights[i] as f64 * corners[face[i]]).sum();
                let distance = radius * sum as f64 / layers as f64;
                mesh.nodes.push(towards.try_normalize(0.0).map_or(Vec3::zeros(), |d| distance * d));
                mesh.nodes.len() as u32 - 1
            })
        };
        let mut tets = Vec::new();
        for tet in edgewise(layers) {
            tets.push(tet.map(|[x, y, z]| node([x - y, y - z, z])));
        }
        mesh.tets.extend(tets);
    }
    for tet in 0..mesh.tets.len() {
        if mesh.volume(tet) < 0.0 {
            mesh.tets[tet].swap(2, 3);
        }
    }
    mesh
}

/// The tetrahedra of Kuhn's triangulation of a cube of `k³` cells that lie in its simplex `k ≥ x ≥ y ≥ z ≥ 0`: an
/// edgewise subdivision, the same from both sides of a face if the corners are in the same order on both.
fn edgewise(k: usize) -> Vec<[[usize; 3]; 4]> {
    const PATHS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    let cells = (0..k).flat_map(|x| (0..=x).flat_map(move |y| (0..=y).map(move |z| [x, y, z])));
    let mut tets = Vec::with_capacity(k * k * k);
    for cell in cells {
        for path in PATHS {
            let mut tet = [cell; 4];
            for (step, axis) in path.into_iter().enumerate() {
                tet[step + 1] = tet[step];
                tet[step + 1][axis] += 1;
            }
            if tet.iter().all(|[x, y, z]| x >= y && y >= z) {
                tets.push(tet);
            }
        }
    }
    tets
}

/// The corners of an icosahedron on the unit sphere.
fn icosahedron() -> [Vec3; 12] {
    let golden = 0.5 * (1.0 + 5f64.sqrt());
    std::array::from_fn(|i| {
        let a = if i & 1 == 0 { 1.0 } else { -1.0 };
        let b = if i & 2 == 0 { golden } else { -golden };
        [Vec3::new(0.0, a, b), Vec3::new(a, b, 0.0), Vec3::new(b, 0.0, a)][i / 4].normalize()
    })
}

/// Its faces, corners in ascending order: three corners that are neighbours of each other.
fn faces(corners: &[Vec3; 12]) -> Vec<[usize; 3]> {
    // Neighbours are 63° apart, all others more than 116°.
    let near = |a: usize, b: usize| corners[a].dot(&corners[b]) > 0.0;
    let pairs = (0..12).flat_map(|a| (a + 1..12).map(move |b| (a, b))).filter(|&(a, b)| near(a, b));
    pairs.flat_map(|(a, b)| (b + 1..12).filter(move |&c| near(a, c) && near(b, c)).map(move |c| [a, b, c])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ball_is_sound_round_and_of_good_elements() {
        for layers in 1..=8 {
            let mesh = ball(0.03, layers);
            mesh.check().expect("a sound mesh");
            assert_eq!(mesh.tets.len(), 20 * layers.pow(3));
            let (_, worst) = mesh.worst_quality().expect("elements");
            assert!(worst > 0.5, "{layers} layers: {worst}");
            let (surface, _) = mesh.boundary();
            assert!(surface.is_closed(), "the mesh conforms");
            assert_eq!(surface.triangles.len(), 20 * layers * layers);
            assert!(surface.vertices.iter().all(|p| (p.norm() - 0.03).abs() < 1e-12));
            assert!((surface.volume() - mesh.total_volume()).abs() < 1e-15);
        }
        let whole = 4.0 / 3.0 * std::f64::consts::PI * 0.03f64.powi(3);
        assert!((ball(0.03, 8).total_volume() / whole - 1.0).abs() < 0.02);
    }
}
