use std::collections::{BTreeMap, BinaryHeap};

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
        let roots = self.component_roots();
        (0..).zip(&roots).filter(|&(v, &root)| v == root).count()
    }

    /// The connected components as meshes of their own, in the order of their first vertices.
    pub fn pieces(&self) -> Vec<Self> {
        let roots = self.component_roots();
        let (mut pieces, mut numbers) = (Vec::new(), vec![(0, 0); self.vertices.len()]);
        let mut known = BTreeMap::new();
        for (v, root) in roots.iter().enumerate() {
            let piece = *known.entry(root).or_insert(pieces.len());
            if piece == pieces.len() {
                pieces.push(Self::default());
            }
            numbers[v] = (piece, pieces[piece].vertices.len() as u32);
            pieces[piece].vertices.push(self.vertices[v]);
        }
        for corners in &self.triangles {
            pieces[numbers[corners[0] as usize].0].triangles.push(corners.map(|v| numbers[v as usize].1));
        }
        pieces.retain(|piece| !piece.triangles.is_empty());
        pieces
    }

    /// The same surface with no edge longer than some length, of which only edges that are longer are split: the longest first, in the middle.
    /// Stops when there are as many vertices as allowed.
    pub fn with_short_edges(&self, longest: f64, most_vertices: usize) -> Self {
        let mut mesh = self.clone();
        // Triangles at each edge, and long edges by length. Lengths are positive, so their bits are ordered as they are.
        let mut at_edge: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
        let mut long = BinaryHeap::new();
        let key = |a: u32, b: u32| (a.min(b), a.max(b));
        let length = |mesh: &Self, (a, b): (u32, u32)| (mesh.vertices[a as usize] - mesh.vertices[b as usize]).norm();
        for (t, corners) in (0..).zip(&self.triangles) {
            for i in 0..3 {
                at_edge.entry(key(corners[i], corners[(i + 1) % 3])).or_default().push(t);
            }
        }
        let look_at = |long: &mut BinaryHeap<_>, mesh: &Self, edge: (u32, u32)| {
            let own = length(mesh, edge);
            if own > longest {
                long.push((own.to_bits(), edge));
            }
        };
        at_edge.keys().for_each(|&edge| look_at(&mut long, &mesh, edge));
        while let Some((_, edge)) = long.pop() {
            let middle = mesh.vertices.len() as u32;
            if mesh.vertices.len() >= most_vertices {
                break;
            }
            mesh.vertices.push(0.5 * (mesh.vertices[edge.0 as usize] + mesh.vertices[edge.1 as usize]));
            for t in at_edge.remove(&edge).unwrap_or_default() {
                let corners = mesh.triangles[t as usize];
                let i = (0..2).find(|&i| key(corners[i], corners[i + 1]) == edge).unwrap_or(2);
                let [a, b, c] = [corners[i], corners[(i + 1) % 3], corners[(i + 2) % 3]];
                let new = mesh.triangles.len() as u32;
                mesh.triangles[t as usize] = [a, middle, c];
                mesh.triangles.push([middle, b, c]);
                at_edge.entry(key(b, c)).or_default().iter_mut().for_each(|own| {
                    if *own == t {
                        *own = new;
                    }
                });
                at_edge.entry(key(a, middle)).or_default().push(t);
                at_edge.entry(key(middle, b)).or_default().push(new);
                at_edge.entry(key(middle, c)).or_default().extend([t, new]);
                look_at(&mut long, &mesh, key(middle, c));
            }
            look_at(&mut long, &mesh, key(edge.0, middle));
            look_at(&mut long, &mesh, key(middle, edge.1));
        }
        mesh
    }

    /// One vertex of each component, for each vertex.
    fn component_roots(&self) -> Vec<u32> {
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
        (0..self.vertices.len() as u32).map(|v| root(&mut parent, v)).collect()
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
    fn pieces_are_the_components() {
        let (mut mesh, _) = block(&Vec3::new(0.3, 0.2, 0.1), [2, 2, 1]).boundary();
        let (other, _) = block(&Vec3::repeat(0.1), [1, 1, 1]).boundary();
        let count = mesh.vertices.len() as u32;
        mesh.vertices.extend(other.vertices.iter().map(|p| p + Vec3::x()));
        mesh.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + count)));
        let pieces = mesh.pieces();
        let volumes: Vec<f64> = pieces.iter().map(SurfaceMesh::volume).collect();
        assert!(pieces.len() == 2 && pieces.iter().all(SurfaceMesh::is_closed));
        assert!((volumes[0] - 0.006).abs() < 1e-12 && (volumes[1] - 0.001).abs() < 1e-12, "{volumes:?}");
    }

    #[test]
    fn long_edges_are_split() {
        let (coarse, _) = block(&Vec3::new(0.3, 0.2, 0.01), [1, 1, 1]).boundary();
        let fine = coarse.with_short_edges(0.02, 10_000);
        let longest = (0..fine.triangles.len()).flat_map(|t| {
            let corners = fine.corners(t);
            (0..3).map(move |i| (corners[i] - corners[(i + 1) % 3]).norm())
        });
        assert!(longest.fold(0.0, f64::max) <= 0.02 && fine.is_closed());
        assert!((fine.area() - coarse.area()).abs() < 1e-12 && (fine.volume() - coarse.volume()).abs() < 1e-15);
        assert_eq!(coarse.with_short_edges(0.02, 100).vertices.len(), 100);
        assert_eq!(coarse.with_short_edges(1.0, 10_000), coarse);
    }

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
