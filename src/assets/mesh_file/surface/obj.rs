//! Wavefront OBJ: the `v` and `f` lines of a surface.

use super::{FilePlace, Flaw, Soup};
use crate::assets::mesh_file::scan::{ScanError, TextScanner, Token};

/// Lines without a meaning for the shape.
const SKIPPED: [&str; 19] = [
    "vn",
    "vt",
    "vp",
    "o",
    "g",
    "s",
    "usemtl",
    "mtllib",
    "l",
    "p",
    "mg",
    "bevel",
    "c_interp",
    "d_interp",
    "lod",
    "shadow_obj",
    "trace_obj",
    "usemap",
    "maplib",
];
/// Free-form curves and surfaces; without them the shape would have holes.
const FREE_FORM: [&str; 6] = ["cstype", "curv", "curv2", "surf", "bzp", "bsp"];

/// Reads the faces of a file; colours and weights after the coordinates of a vertex are ignored.
pub fn read(text: &str) -> Result<Soup, Flaw> {
    let mut lines = TextScanner::new(text);
    let mut soup = Soup::default();
    let mut corners = Vec::new();
    loop {
        let mut line = lines.line();
        let Some(word) = line.token() else { return Ok(soup) };
        let here = FilePlace::Text(word.at);
        match word.text {
            "v" => {
                let p = line.point(format_args!("vertex {}", soup.vertices.len() + 1))?;
                soup.add_vertex(here, p)?;
            }
            "f" => {
                corners.clear();
                while let Some(corner) = line.token() {
                    // The statement continues on the next line.
                    if corner.text == "\\" {
                        line = lines.line();
                        continue;
                    }
                    corners.push(index(&line, corner, soup.vertices.len())?);
                }
                soup.add_polygon(here, &corners)?;
            }
            other if other.starts_with('#') || SKIPPED.contains(&other) => {}
            other if FREE_FORM.contains(&other) => {
                return Err(Flaw::new(here, "found a free-form surface, expected faces: export the mesh as triangles"));
            }
            _ => return Err(Flaw::new(here, format!("expected a line of `v` or `f`, found {word}"))),
        }
    }
}

/// The vertex of a corner: `7`, `7/1/2`, or counted back from the last, `-1`.
fn index<'a>(line: &TextScanner<'a>, corner: Token<'a>, vertices: usize) -> Result<u32, ScanError<'a>> {
    let number = corner.text.split('/').next().and_then(|n| n.parse::<i64>().ok());
    let place = match number {
        Some(n) if n > 0 => usize::try_from(n - 1).ok(),
        Some(n) if n < 0 => usize::try_from(n.unsigned_abs()).ok().and_then(|back| vertices.checked_sub(back)),
        _ => None,
    };
    let known = place.filter(|&place| place < vertices).and_then(|place| u32::try_from(place).ok());
    known.ok_or_else(|| {
        let message = format!("expected the number of a vertex above, 1 to {vertices}, found {corner}");
        line.fault(corner.at, message)
    })
}
