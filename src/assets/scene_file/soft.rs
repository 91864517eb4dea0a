use super::bodies::read_file;
use super::ranges;
use crate::assets::files::Files;
use crate::assets::problem::Problems;
use crate::assets::table::Table;
use crate::mesh::{TetMesh, ball, blocks};

const SHAPES: [&str; 4] = ["block", "ball", "table", "mesh"];
/// Maximum number of cells.
const MOST_CELLS: usize = 5000;

/// The mesh of a soft body. Blocks, tables and balls are centred at the origin; a mesh from a file keeps its origin.
pub fn read_soft_mesh(table: &Table<'_>, files: &Files, problems: &mut Problems) -> Option<TetMesh> {
    let which = table.choice("shape", &SHAPES);
    if !table.has("shape") {
        return None;
    }
    match SHAPES[which] {
        "block" => read_blocks(table, |_, _| true),
        "table" => {
            let leg = table.count_or("leg", 1, ranges::CELLS);
            let top = table.count_or("top", 1, ranges::CELLS);
            read_blocks(table, |[i, j, k], [nx, ny, nz]| {
                let in_leg = |at: usize, cells: usize| at < leg || at + leg >= cells;
                j + top >= ny || (in_leg(i, nx) && in_leg(k, nz))
            })
        }
        "ball" => {
            let radius = table.number("radius", ranges::SIZE);
            Some(ball(radius, table.count_or("resolution", 3, ranges::LAYERS)))
        }
        _ => read_file(table, files, problems, Files::load_tet_mesh),
    }
}

/// The cells of a block to fill, by position and number of cells.
fn read_blocks(table: &Table<'_>, wanted: impl Fn([usize; 3], [usize; 3]) -> bool) -> Option<TetMesh> {
    let size = table.vector("size", ranges::SIZE);
    let cells = table.counts::<3>("cells", ranges::CELLS);
    let count: usize = cells.iter().product();
    if count > MOST_CELLS {
        table.complain("cells", format!("{count} cells in all; expected at most {MOST_CELLS}"));
        return None;
    }
    let mut mesh = blocks(&size, cells, |cell| wanted(cell, cells));
    mesh.nodes.iter_mut().for_each(|p| *p -= 0.5 * size);
    Some(mesh)
}
