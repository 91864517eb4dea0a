use super::{SurfaceMesh, grid};
use crate::math::Vec3;

/// A point as a weighted sum of four nodes. The weights sum to one; a point outside its tetrahedron has a negative one.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NodeMap {
    /// Nodes of the tetrahedral mesh.
    pub nodes: [u32; 4],
    /// Their weights.
    pub weights: [f64; 4],
}

impl NodeMap {
    /// The weighted sum of a field over the nodes.
    pub fn sum(&self, field: &[Vec3]) -> Vec3 {
        (0..4).map(|i| self.weights[i] * field[self.nodes[i] as usize]).sum()
    }
}

/// A tetrahedral mesh. Every tetrahedron is positively oriented: `(b−a) · ((c−a) × (d−a)) > 0`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TetMesh {
    /// Node positions.
    pub nodes: Vec<Vec3>,
    /// Four node indices per tetrahedron.
    pub tets: Vec<[u32; 4]>,
}

/// Why a mesh cannot be simulated. Elements and nodes are counted from zero.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum MeshFault {
    /// No tetrahedra.
    #[error("the mesh has no tetrahedra")]
    Empty,
    /// A tetrahedron refers to a missing node.
    #[error("tetrahedron {tet} refers to node {node}, but there are only {nodes} nodes")]
    MissingNode {
        /// Which tetrahedron.
        tet: usize,
        /// The missing node.
        node: u32,
        /// Number of nodes.
        nodes: usize,
    },
    /// A node with a non-finite coordinate.
    #[error("node {node} has a coordinate that is not finite")]
    NotFinite {
        /// Which node.
        node: usize,
    },
    /// Negative volume.
    #[error("tetrahedron {tet} is inverted (volume {volume:.3e} m³)")]
    Inverted {
        /// Which tetrahedron.
        tet: usize,
        /// Its signed volume.
        volume: f64,
    },
    /// Almost no volume.
    #[error("tetrahedron {tet} is flat (quality {quality:.1e}; a regular tetrahedron has 1)")]
    Flat {
        /// Which tetrahedron.
        tet: usize,
        /// Its quality.
        quality: f64,
    },
}

/// Corners of the face opposite each corner, wound outward for a positively oriented tetrahedron.
const FACES: [[usize; 3]; 4] = [[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]];

impl TetMesh {
    /// The four corners of a tetrahedron.
    pub fn corners(&self, tet: usize) -> [Vec3; 4] {
        self.tets[tet].map(|n| self.nodes[n as usize])
    }

    /// Signed volume of a tetrahedron.
    pub fn volume(&self, tet: usize) -> f64 {
        let [a, b, c, d] = self.corners(tet);
        (b - a).dot(&(c - a).cross(&(d - a))) / 6.0
    }

    /// Total volume.
    pub fn total_volume(&self) -> f64 {
        (0..self.tets.len()).map(|t| self.volume(t)).sum()
    }

    /// Mean-ratio quality: `12 (3V)^⅔ / Σ l²`, one for a regular tetrahedron, zero for a flat one.
    pub fn quality(&self, tet: usize) -> f64 {
        let [a, b, c, d] = self.corners(tet);
        let squares: f64 = [b - a, c - a, d - a, c - b, d - b, d - c].iter().map(|e| e.norm_squared()).sum();
        let volume = self.volume(tet);
        volume.signum() * 12.0 * (3.0 * volume.abs()).powf(2.0 / 3.0) / squares
    }

    /// The worst quality and its tetrahedron.
    pub fn worst_quality(&self) -> Option<(usize, f64)> {
        (0..self.tets.len()).map(|t| (t, self.quality(t))).min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// Checks whether the mesh can be simulated.
    pub fn check(&self) -> Result<(), MeshFault> {
        const FLAT: f64 = 1e-3;
        if self.tets.is_empty() {
            return Err(MeshFault::Empty);
        }
        if let Some(node) = self.nodes.iter().position(|p| p.iter().any(|x| !x.is_finite())) {
            return Err(MeshFault::NotFinite { node });
        }
        for (tet, corners) in self.tets.iter().enumerate() {
            if let Some(&node) = corners.iter().find(|&&n| n as usize >= self.nodes.len()) {
                return Err(MeshFault::MissingNode { tet, node, nodes: self.nodes.len() });
            }
            let quality = self.quality(tet);
            if quality < -FLAT {
                return Err(MeshFault::Inverted { tet, volume: self.volume(tet) });
            }
            // A non-finite quality (coincident or extremely distant corners) is rejected too.
            if !quality.is_finite() || quality < FLAT {
                return Err(MeshFault::Flat { tet, quality });
            }
        }
        Ok(())
    }

    /// The boundary faces, wound outward, in a fixed order.
    pub fn boundary_faces(&self) -> Vec<[u32; 3]> {
        let mut sides = Vec::with_capacity(4 * self.tets.len());
        for (tet, corners) in self.tets.iter().enumerate() {
            for face in FACES {
                let face = face.map(|i| corners[i]);
                let mut key = face;
                key.sort_unstable();
                sides.push((key, tet, face));
            }
        }
        sides.sort_unstable_by_key(|&(key, tet, _)| (key, tet));
        // A face between two tetrahedra is listed twice.
        let single = sides.chunk_by(|a, b| a.0 == b.0).filter(|same| same.len() == 1);
        let mut faces: Vec<_> = single.map(|same| (same[0].1, same[0].2)).collect();
        faces.sort_by_key(|&(tet, _)| tet);
        faces.into_iter().map(|(_, face)| face).collect()
    }

    /// The outer surface as a triangle mesh, and the node of each of its vertices.
    pub fn boundary(&self) -> (SurfaceMesh, Vec<u32>) {
        SurfaceMesh::from_faces(&self.nodes, &self.boundary_faces())
    }
}

/// A box of `cells` cells from the origin to `size`, six tetrahedra per cell.
pub fn block(size: &Vec3, cells: [usize; 3]) -> TetMesh {
    blocks(size, cells, |_| true)
}

/// A subset of the cells of a box, six tetrahedra each: tables, bars and stairs.
pub fn blocks(size: &Vec3, cells: [usize; 3], wanted: impl Fn([usize; 3]) -> bool) -> TetMesh {
    let place = |at: [usize; 3]| {
        let part = Vec3::from_fn(|i, _| at[i] as f64 / cells[i] as f64);
        size.component_mul(&part)
    };
    grid::cells(cells, [false; 3], wanted, |at| at, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn block_fills_its_box_with_good_elements() {
        let mesh = block(&Vec3::new(0.3, 0.2, 0.1), [3, 2, 1]);
        assert_eq!(mesh.nodes.len(), 4 * 3 * 2);
        assert_eq!(mesh.tets.len(), 36);
        mesh.check().expect("a sound mesh");
        assert!((mesh.total_volume() - 0.006).abs() < 1e-15);
        let (surface, _) = mesh.boundary();
        assert!((surface.area() - 2.0 * (0.06 + 0.03 + 0.02)).abs() < 1e-12);
        assert!((surface.volume() - 0.006).abs() < 1e-15, "faces are wound outward");
        assert!(surface.is_closed());
    }

    #[test]
    fn quality_is_one_for_a_regular_tetrahedron() {
        let nodes = vec![
            Vec3::new(1.0, 1.0, 1.0),
            Vec3::new(-1.0, -1.0, 1.0),
            Vec3::new(-1.0, 1.0, -1.0),
            Vec3::new(1.0, -1.0, -1.0),
        ];
        let mesh = TetMesh { nodes, tets: vec![[0, 1, 2, 3]] };
        assert!((mesh.quality(0).abs() - 1.0).abs() < 1e-12);
    }

    #[test]
    fn faults_name_the_element() {
        let mut mesh = block(&Vec3::repeat(1.0), [1, 1, 1]);
        mesh.tets[4].swap(0, 1);
        assert!(matches!(mesh.check(), Err(MeshFault::Inverted { tet: 4, .. })));
        mesh.tets[4] = [0, 1, 2, 99];
        assert!(matches!(mesh.check(), Err(MeshFault::MissingNode { tet: 4, node: 99, .. })));
        mesh.tets[4] = [0, 1, 1, 2];
        assert!(matches!(mesh.check(), Err(MeshFault::Flat { tet: 4, .. })));
        mesh.nodes[3].x = f64::NAN;
        assert!(matches!(mesh.check(), Err(MeshFault::NotFinite { node: 3 })));
        assert_eq!(TetMesh::default().check(), Err(MeshFault::Empty));
    }
}
