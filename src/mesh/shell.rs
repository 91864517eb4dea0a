use super::TetMesh;
use crate::math::Vec3;

/// Resolution of a shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ShellGrid {
    /// Nodes per ring, at least three.
    pub around: usize,
    /// Rings between the poles, at least one.
    pub along: usize,
    /// Layers between the inner and the outer surface, at least one.
    pub layers: usize,
}

impl ShellGrid {
    /// Number of tetrahedra: three per prism, `2·around·along` prisms per layer.
    pub fn tetrahedra(&self) -> usize {
        6 * self.around * self.along * self.layers
    }

    /// Nodes per surface: the rings and two poles.
    pub fn surface_nodes(&self) -> usize {
        self.around * self.along + 2
    }

    /// The ring and the position on it of a node of one surface: `(0, _)` is the near pole, `(along + 1, _)` the far
    /// one. Odd rings are offset by half a step, so that the triangles between rings are even.
    fn place(&self, node: usize) -> (usize, f64) {
        if node == 0 {
            return (0, 0.0);
        }
        if node == self.surface_nodes() - 1 {
            return (self.along + 1, 0.0);
        }
        let (ring, i) = ((node - 1) / self.around, (node - 1) % self.around);
        (ring + 1, (i as f64 + 0.5 * (ring % 2) as f64) / self.around as f64)
    }

    /// The triangles of one surface, outward for rings that run from the near pole (+Z end) counter-clockwise about +Z.
    fn triangles(&self) -> Vec<[u32; 3]> {
        let n = self.around;
        let at = |ring: usize, i: usize| (1 + ring * n + i % n) as u32;
        let far = (self.surface_nodes() - 1) as u32;
        let mut triangles = Vec::with_capacity(2 * n * self.along);
        for i in 0..n {
            triangles.push([0, at(0, i), at(0, i + 1)]);
        }
        for ring in 0..self.along - 1 {
            for i in 0..n {
                // Below the upper edge (i, i+1) is node i if the lower ring is the offset one, else node i+1.
                if ring % 2 == 0 {
                    triangles.push([at(ring, i), at(ring + 1, i), at(ring, i + 1)]);
                    triangles.push([at(ring, i + 1), at(ring + 1, i), at(ring + 1, i + 1)]);
                } else {
                    triangles.push([at(ring, i), at(ring + 1, i + 1), at(ring, i + 1)]);
                    triangles.push([at(ring, i), at(ring + 1, i), at(ring + 1, i + 1)]);
                }
            }
        }
        for i in 0..n {
            triangles.push([at(self.along - 1, i), far, at(self.along - 1, i + 1)]);
        }
        triangles
    }
}

/// A conforming tetrahedral mesh of the space between an inner and an outer closed surface that are parametrised alike:
/// `surface(layer, s, t)` with `layer` from 0 (inner) to 1 (outer), `s` from 0 (near pole) to 1 (far pole) by ring, and `t` in
/// [0, 1) around. Returns the mesh and how many of its first nodes lie on the inner surface.
///
/// Each triangle of the surface pattern sweeps a prism from layer to layer. A prism whose corners are ordered
/// `a < b < c` is cut into `(a b c c′) (a b b′ c′) (a a′ b′ c′)`, primes on the next layer: every side face is cut from its
/// lower-numbered inner corner, the same from both sides, so the mesh conforms.
pub fn shell(grid: ShellGrid, surface: impl Fn(f64, f64, f64) -> Vec3) -> (TetMesh, usize) {
    let per_layer = grid.surface_nodes();
    let mut mesh = TetMesh::default();
    for layer in 0..=grid.layers {
        let depth = layer as f64 / grid.layers as f64;
        for node in 0..per_layer {
            let (ring, t) = grid.place(node);
            mesh.nodes.push(surface(depth, ring as f64 / (grid.along + 1) as f64, t));
        }
    }
    let triangles = grid.triangles();
    for layer in 0..grid.layers {
        let (low, high) = ((layer * per_layer) as u32, ((layer + 1) * per_layer) as u32);
        for triangle in &triangles {
            let mut sorted = *triangle;
            sorted.sort_unstable();
            let [a, b, c] = sorted;
            let turned = (0..3).any(|i| [triangle[i], triangle[(i + 1) % 3], triangle[(i + 2) % 3]] == sorted);
            for (mut tet, outward) in [
                ([low + a, low + b, low + c, high + c], true),
                ([low + a, low + b, high + b, high + c], false),
                ([low + a, high + a, high + b, high + c], true),
            ] {
                // An even permutation keeps the orientation of the triangle; an odd one flips it.
                if outward != turned {
                    tet.swap(0, 1);
                }
                mesh.tets.push(tet);
            }
        }
    }
    (mesh, per_layer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::f64::consts::{PI, TAU};

    fn sphere(depth: f64, s: f64, t: f64) -> Vec3 {
        let r = 0.5 + 0.5 * depth;
        let (latitude, longitude) = (PI * s, TAU * t);
        r * Vec3::new(latitude.sin() * longitude.cos(), latitude.sin() * longitude.sin(), latitude.cos())
    }

    #[test]
    fn hollow_sphere() {
        for grid in [
            ShellGrid { around: 3, along: 1, layers: 1 },
            ShellGrid { around: 6, along: 4, layers: 1 },
            ShellGrid { around: 9, along: 7, layers: 3 },
            ShellGrid { around: 40, along: 30, layers: 2 },
        ] {
            let (mesh, inner) = shell(grid, sphere);
            assert_eq!(mesh.tets.len(), grid.tetrahedra());
            assert_eq!(inner, grid.surface_nodes());
            mesh.check().expect("a sound mesh");
            // The boundary is closed, has two components and encloses the volume of the tetrahedra: no overlap.
            let (surface, _) = mesh.boundary();
            assert!(surface.is_closed());
            assert_eq!(surface.components(), 2);
            assert!((surface.volume() - mesh.total_volume()).abs() < 1e-12, "{grid:?}");
        }
        let (mesh, _) = shell(ShellGrid { around: 40, along: 30, layers: 2 }, sphere);
        let exact = 4.0 / 3.0 * PI * (1.0 - 0.125);
        assert!((mesh.total_volume() / exact - 1.0).abs() < 0.02);
    }
}
