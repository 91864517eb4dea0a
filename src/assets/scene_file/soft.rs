use super::bodies::read_file;
use super::ranges;
use crate::assets::files::Files;
use crate::assets::problem::Problems;
use crate::assets::table::Table;
use crate::mesh::{Clip, ClipFault, TetMesh, ball, blocks, pipe};

const SOFT_SHAPES: [&str; 6] = ["block", "ball", "table", "clip", "pipe", "mesh"];
/// Maximum number of cells.
const MOST_CELLS: usize = 5000;

/// The mesh of a soft or quasi-rigid body. Blocks, tables, balls, rings of clips and pipes are centred at the origin; a mesh from a file keeps its origin.
pub fn read_soft_mesh(table: &Table<'_>, files: &Files, problems: &mut Problems) -> Option<TetMesh> {
    let which = table.choice("shape", &SOFT_SHAPES);
    if !table.has("shape") {
        return None;
    }
    match SOFT_SHAPES[which] {
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
        "clip" => read_clip(table),
        "pipe" => read_pipe(table),
        _ => read_file(table, files, problems, Files::load_tet_mesh),
    }
}

fn read_clip(table: &Table<'_>) -> Option<TetMesh> {
    let default = Clip::default();
    let clip = Clip {
        inner_radius: table.number_or("radius", default.inner_radius, ranges::SIZE),
        thickness: table.number_or("thickness", default.thickness, ranges::SIZE),
        opening: table.number_if_any("opening", ranges::OPENING).map_or(default.opening, f64::to_radians),
        width: table.number_or("width", default.width, ranges::SIZE),
        handle: table.numbers_or("handle", default.handle, ranges::SIZE),
        cells: if table.has("cells") { read_cells(table)? } else { default.cells },
    };
    let fault = |fault: ClipFault| {
        let key = match fault {
            ClipFault::Size => "radius",
            ClipFault::Opening => "opening",
            ClipFault::Handle => "handle",
            ClipFault::Cells => "cells",
        };
        table.complain(key, fault.to_string());
    };
    clip.mesh().map_err(fault).ok()
}

fn read_pipe(table: &Table<'_>) -> Option<TetMesh> {
    let size = |key: &str| table.number(key, ranges::SIZE);
    let [outer, inner, length] = ["radius", "inner_radius", "length"].map(size);
    let cells = read_cells(table)?;
    if ["radius", "inner_radius", "length", "cells"].iter().any(|key| !table.has(key) || table.is_wrong(key)) {
        return None;
    }
    if inner >= outer {
        table.complain("inner_radius", format!("{inner} m; expected less than the `radius`, {outer} m"));
        return None;
    }
    if cells[1] < 3 {
        table.complain("cells", format!("{} cells around the pipe; expected at least 3", cells[1]));
        return None;
    }
    Some(pipe(inner, outer, length, cells))
}

/// Three numbers of cells.
fn read_cells(table: &Table<'_>) -> Option<[usize; 3]> {
    let cells = table.counts::<3>("cells", ranges::CELLS);
    let count: usize = cells.iter().product();
    if count > MOST_CELLS {
        table.complain("cells", format!("{count} cells in all; expected at most {MOST_CELLS}"));
        return None;
    }
    Some(cells)
}

/// The cells of a block to fill, by position and number of cells.
fn read_blocks(table: &Table<'_>, wanted: impl Fn([usize; 3], [usize; 3]) -> bool) -> Option<TetMesh> {
    let size = table.vector("size", ranges::SIZE);
    let cells = read_cells(table)?;
    let mut mesh = blocks(&size, cells, |cell| wanted(cell, cells));
    mesh.nodes.iter_mut().for_each(|p| *p -= 0.5 * size);
    Some(mesh)
}
