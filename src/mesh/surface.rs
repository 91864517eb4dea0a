use std::collections::BTreeMap;

use crate::math::{Mat3, Vec3};

/// A triangle mesh, wound counter-clockwise seen from outside.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SurfaceMesh {
    /// Vertex positions.
    pub vertices: Vec<Vec3>,
    /// Three vertex indices per triangle.
    pub triangles: Vec<[u32; 3]>,
}

/// Position of a refined vertex on the coarse mesh: a triangle and barycentric coordinates.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SurfaceVertexMap {
    /// The coarse triangle.
    pub triangle: u32,
    /// Barycentric weights of its corners.
    pub weights: [f64; 3],
}

/// Volume, centroid and inertia of a solid of unit density.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SolidMoments {
    /// m³.
    pub volume: f64,
    /// m.
    pub centre: Vec3,
    /// Inertia about the centroid, m⁵.
    pub inertia: Mat3,
}

impl SurfaceMesh {
    /// The mesh of some faces over shared nodes, with the node of each vertex.
    pub fn from_faces(nodes: &[Vec3], faces: &[[u32; 3]]) -> (Self, Vec<u32>) {
        let mut vertex_of = vec![u32::MAX; nodes.len()];
        let mut node_of = Vec::new();
        let mut mesh = Self::default();
        for face in faces {
            mesh.triangles.push(face.map(|node| {
                let slot = &mut vertex_of[node as usize];
                if *slot == u32::MAX {
                    *slot = node_of.len() as u32;
                    node_of.push(node);
                    mesh.vertices.push(nodes[node as usize]);
                }
                *slot
            }));
        }
        (mesh, node_of)
    }

    /// The corners of a triangle.
    pub fn corners(&self, triangle: usize) -> [Vec3; 3] {
        self.triangles[triangle].map(|v| self.vertices[v as usize])
    }

    /// Total area.
    pub fn area(&self) -> f64 {
        (0..self.triangles.len()).map(|t| 0.5 * self.area_vector(t).norm()).sum()
    }

    /// Twice the area of a triangle along its outward normal.
    pub fn area_vector(&self, triangle: usize) -> Vec3 {
        let [a, b, c] = self.corners(triangle);
        (b - a).cross(&(c - a))
    }

    /// Enclosed volume, positive if the triangles face outward.
    pub fn volume(&self) -> f64 {
        (0..self.triangles.len())
            .map(|t| {
                let [a, b, c] = self.corners(t);
                a.dot(&b.cross(&c)) / 6.0
            })
            .sum()
    }

    /// Moments of the enclosed solid: sums over the tetrahedra that the triangles span with the first vertex. With `p_i` the corners
    /// of a tetrahedron of volume `V` relative to that vertex and `s = Σ p_i`, `∫ x xᵀ = V/20 (Σ p_i p_iᵀ + s sᵀ)`.
    pub fn solid_moments(&self) -> SolidMoments {
        let origin = self.vertices.first().copied().unwrap_or_default();
        let (mut volume, mut first, mut second) = (0.0, Vec3::zeros(), Mat3::zeros());
        for t in 0..self.triangles.len() {
            let corners = self.corners(t).map(|p| p - origin);
            let v = corners[0].dot(&corners[1].cross(&corners[2])) / 6.0;
            let sum: Vec3 = corners.iter().sum();
            let products: Mat3 = corners.iter().map(|p| p * p.transpose()).sum();
            volume += v;
            first += 0.25 * v * sum;
            second += v / 20.0 * (products + sum * sum.transpose());
        }
        let centre = if volume == 0.0 { Vec3::zeros() } else { first / volume };
        let second = second - volume * centre * centre.transpose();
        let inertia = Mat3::from_diagonal_element(second.trace()) - second;
        SolidMoments { volume, centre: origin + centre, inertia }
    }

    /// The area of each vertex: a third of the triangles around it (Talvas 2015, §3.2.1).
    pub fn vertex_areas(&self) -> Vec<f64> {
        let mut areas = vec![0.0; self.vertices.len()];
        for (t, corners) in self.triangles.iter().enumerate() {
            let third = self.area_vector(t).norm() / 6.0;
            for &v in corners {
                areas[v as usize] += third;
            }
        }
        areas
    }

    /// Outward unit normals of the vertices, weighted by area.
    pub fn vertex_normals(&self) -> Vec<Vec3> {
        let mut normals = vec![Vec3::zeros(); self.vertices.len()];
        for (t, corners) in self.triangles.iter().enumerate() {
            let area = self.area_vector(t);
            for &v in corners {
                normals[v as usize] += area;
            }
        }
        normals.iter().map(|n| n.try_normalize(0.0).unwrap_or_else(Vec3::y)).collect()
    }

    /// Whether every edge is shared by exactly two triangles that run it in opposite directions.
    pub fn is_closed(&self) -> bool {
        let mut directed: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for [a, b, c] in &self.triangles {
            for edge in [(*a, *b), (*b, *c), (*c, *a)] {
                *directed.entry(edge).or_default() += 1;
            }
        }
        !directed.is_empty() && directed.iter().all(|(&(a, b), &count)| count == 1 && directed.get(&(b, a)) == Some(&1))
    }

    /// Number of connected components.
    pub fn components(&self) -> usize {
        let mut parent: Vec<u32> = (0..self.vertices.len() as u32).collect();
        fn root(parent: &mut [u32], mut v: u32) -> u32 {
            while parent[v as usize] != v {
                parent[v as usize] = parent[parent[v as usize] as usize];
                v = parent[v as usize];
            }
            v
        }
        for [a, b, c] in &self.triangles {
            for (p, q) in [(*a, *b), (*b, *c)] {
                let (p, q) = (root(&mut parent, p), root(&mut parent, q));
                parent[p as usize] = q;
            }
        }
        (0..self.vertices.len() as u32).filter(|&v| root(&mut parent, v) == v).count()
    }

    /// Splits every edge into `parts` and every triangle into `parts²`. The vertices of the coarse mesh come first, in
    /// their order. Returns the refined mesh and the position of each of its vertices on this one.
    pub fn refined(&self, parts: usize) -> (Self, Vec<SurfaceVertexMap>) {
        let mut fine = Self { vertices: self.vertices.clone(), triangles: Vec::new() };
        let mut maps = vec![SurfaceVertexMap { triangle: u32::MAX, weights: [0.0; 3] }; self.vertices.len()];
        for (t, corners) in self.triangles.iter().enumerate() {
            for (i, &v) in corners.iter().enumerate() {
                if maps[v as usize].triangle == u32::MAX {
                    let mut weights = [0.0; 3];
                    weights[i] = 1.0;
                    maps[v as usize] = SurfaceVertexMap { triangle: t as u32, weights };
                }
            }
        }
        let mut on_edge: BTreeMap<(u32, u32, usize), u32> = BTreeMap::new();
        for (t, corners) in self.triangles.iter().enumerate() {
            // Vertex (i, j) of the triangle's lattice: corner 0 + i/parts towards corner 1 + j/parts towards corner 2.
            let mut lattice = |i: usize, j: usize| -> u32 {
                let counts = [parts - i - j, i, j];
                if let Some(corner) = counts.iter().position(|&c| c == parts) {
                    return corners[corner];
                }
                let weights = counts.map(|c| c as f64 / parts as f64);
                let mut add = || {
                    let p: Vec3 = (0..3).map(|c| weights[c] * self.vertices[corners[c] as usize]).sum();
                    fine.vertices.push(p);
                    maps.push(SurfaceVertexMap { triangle: t as u32, weights });
                    (fine.vertices.len() - 1) as u32
                };
                match counts.iter().position(|&c| c == 0) {
                    Some(opposite) => {
                        let (a, b) = (corners[(opposite + 1) % 3], corners[(opposite + 2) % 3]);
                        let along_b = counts[(opposite + 2) % 3];
                        let key = if a < b { (a, b, along_b) } else { (b, a, parts - along_b) };
                        *on_edge.entry(key).or_insert_with(add)
                    }
                    None => add(),
                }
            };
            let mut rows: Vec<Vec<u32>> = Vec::with_capacity(parts + 1);
            for i in 0..=parts {
                rows.push((0..=parts - i).map(|j| lattice(i, j)).collect());
            }
            for i in 0..parts {
                for j in 0..parts - i {
                    fine.triangles.push([rows[i][j], rows[i + 1][j], rows[i][j + 1]]);
                    if j + 1 < parts - i {
                        fine.triangles.push([rows[i + 1][j], rows[i + 1][j + 1], rows[i][j + 1]]);
                    }
                }
            }
        }
        (fine, maps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mesh::block;

    #[test]
    fn refining_keeps_area_volume_and_the_map() {
        let (coarse, _) = block(&Vec3::new(0.3, 0.2, 0.1), [2, 2, 1]).boundary();
        for parts in 1..5 {
            let (fine, maps) = coarse.refined(parts);
            assert_eq!(fine.triangles.len(), parts * parts * coarse.triangles.len());
            assert!(fine.is_closed());
            assert!((fine.area() - coarse.area()).abs() < 1e-12);
            assert!((fine.volume() - coarse.volume()).abs() < 1e-15);
            assert!((fine.vertex_areas().iter().sum::<f64>() - coarse.area()).abs() < 1e-12);
            for (p, map) in fine.vertices.iter().zip(&maps) {
                let corners = coarse.corners(map.triangle as usize);
                let q: Vec3 = (0..3).map(|i| map.weights[i] * corners[i]).sum();
                assert!((p - q).norm() < 1e-15);
            }
        }
    }

    #[test]
    fn moments_of_a_small_block() {
        // Small enough that an absolute threshold on the inertia would show.
        let size = Vec3::new(3e-3, 2e-3, 1e-3);
        let (mut mesh, _) = block(&size, [2, 2, 1]).boundary();
        let turn = nalgebra::Rotation3::from_euler_angles(0.3, -1.1, 2.0);
        let shift = Vec3::new(0.2, -0.1, 0.5);
        let centre = mesh.vertices.iter().sum::<Vec3>() / mesh.vertices.len() as f64;
        mesh.vertices.iter_mut().for_each(|p| *p = shift + turn * (*p - centre));
        let m = mesh.solid_moments();
        let (v, s) = (size.product(), size.component_mul(&size));
        let own = Mat3::from_diagonal(&Vec3::new(s.y + s.z, s.z + s.x, s.x + s.y)) * v / 12.0;
        assert!((m.volume - v).abs() < 1e-12 * v && (m.centre - shift).norm() < 1e-12);
        assert!((m.inertia - turn * own * turn.transpose()).norm() < 1e-9 * own.norm());
    }

    #[test]
    fn a_hole_is_not_closed() {
        let (mut mesh, _) = block(&Vec3::repeat(1.0), [1, 1, 1]).boundary();
        assert!(mesh.is_closed());
        assert_eq!(mesh.components(), 1);
        mesh.triangles.pop();
        assert!(!mesh.is_closed());
    }
}
