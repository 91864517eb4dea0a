use std::collections::BTreeMap;

use super::TetMesh;
use crate::math::Vec3;

/// Tetrahedra in the cells of a grid of any shape, six per cell. `place` gives the position of a node; nodes with the same key are one. The axes of
/// the grid are right-handed. Along a mirrored axis the split of the cells in the first half is the mirror image of that in the second.
pub(super) fn cells(
    cells: [usize; 3],
    mirrored: [bool; 3],
    wanted: impl Fn([usize; 3]) -> bool,
    key: impl Fn([usize; 3]) -> [usize; 3],
    place: impl Fn([usize; 3]) -> Vec3,
) -> TetMesh {
    let mut numbers = BTreeMap::new();
    let mut mesh = TetMesh::default();
    let mut node = |at: [usize; 3]| -> u32 {
        let at = key(at);
        *numbers.entry(at).or_insert_with(|| {
            mesh.nodes.push(place(at));
            mesh.nodes.len() as u32 - 1
        })
    };
    // Six tetrahedra around a diagonal: Kuhn's split. Its faces conform between cells, mirrored or not.
    const PATHS: [[usize; 3]; 6] = [[0, 1, 2], [1, 2, 0], [2, 0, 1], [0, 2, 1], [2, 1, 0], [1, 0, 2]];
    let [nx, ny, nz] = cells;
    let all = (0..nx).flat_map(|i| (0..ny).flat_map(move |j| (0..nz).map(move |k| [i, j, k])));
    for cell in all.filter(|&cell| wanted(cell)) {
        let flipped = [0, 1, 2].map(|axis| mirrored[axis] && 2 * cell[axis] + 1 < cells[axis]);
        let turned = flipped.iter().filter(|flip| **flip).count() % 2 == 1;
        for (p, path) in PATHS.iter().enumerate() {
            let mut at = [0, 1, 2].map(|axis| cell[axis] + usize::from(flipped[axis]));
            let mut tet = [node(at); 4];
            for (step, &axis) in path.iter().enumerate() {
                at[axis] = if flipped[axis] { at[axis] - 1 } else { at[axis] + 1 };
                tet[step + 1] = node(at);
            }
            if (p >= 3) != turned {
                tet.swap(2, 3);
            }
            mesh.tets.push(tet);
        }
    }
    mesh
}
