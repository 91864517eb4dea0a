//! Wavefront OBJ: the `v` and `f` lines of a surface.

use std::path::Path;

use super::scan::{Fault, Scanner, Token};
use super::size::{extents, size_fault};
use crate::assets::limits::TRIANGLES;
use crate::assets::problem::{Problem, Problems, line_column};
use crate::mesh::SurfaceMesh;

/// What may stand in a file without a meaning for the shape.
const SKIPPED: [&str; 10] = ["vn", "vt", "vp", "o", "g", "s", "usemtl", "mtllib", "l", "p"];

/// Volume, as a part of the cube of the longest extent, below which it is rounding.
const FLAT: f64 = 1e-12;

/// Reads a closed triangle mesh from the text of a Wavefront OBJ file; faces of more corners are cut into fans.
/// Vertices that no face names are dropped. `file` only goes into the problems.
pub fn parse_surface_mesh(file: &Path, text: &str) -> Result<SurfaceMesh, Problems> {
    read(text).map_err(|Fault { at, section, message }| {
        let (line, column) = line_column(text, at);
        Problems(vec![Problem { file: file.into(), line, column, key: section.into(), message }])
    })
}

fn read(text: &str) -> Result<SurfaceMesh, Fault<'_>> {
    let mut lines = Scanner::new(text);
    let (mut vertices, mut faces) = (Vec::new(), Vec::new());
    loop {
        let mut line = lines.line();
        let Some(word) = line.token() else { break };
        match word.text {
            "v" => vertices.push(line.point(format_args!("vertex {}", vertices.len() + 1))?),
            "f" => {
                let mut corners = Vec::new();
                while let Some(corner) = line.token() {
                    corners.push(index(&line, corner, vertices.len())?);
                }
                if corners.len() < 3 {
                    return Err(
                        line.fault(word.at, format!("a face of {} corners, expected at least 3", corners.len()))
                    );
                }
                faces.extend((2..corners.len()).map(|i| [corners[0], corners[i - 1], corners[i]]));
            }
            other if other.starts_with('#') || SKIPPED.contains(&other) => {}
            _ => return Err(line.fault(word.at, format!("expected a line of `v` or `f`, found {word}"))),
        }
    }
    let (mesh, _) = SurfaceMesh::from_faces(&vertices, &faces);
    if mesh.triangles.len() > TRIANGLES {
        let found = mesh.triangles.len();
        return Err(lines.fault(0, format!("found {found} triangles, expected at most {TRIANGLES}: simplify the mesh")));
    }
    if let Some(why) = size_fault(&mesh.vertices) {
        return Err(lines.fault(0, why));
    }
    let extent = extents(&mesh.vertices).max();
    let why = if mesh.triangles.is_empty() {
        "found no faces, expected a closed surface"
    } else if !mesh.is_closed() {
        "the surface is open: every edge must belong to two faces that run it in opposite directions"
    } else if mesh.volume().abs() <= FLAT * extent.powi(3) {
        "the surface is flat: it encloses no volume"
    } else if mesh.volume() < 0.0 {
        "the faces look inward: turn the order of their corners round"
    } else {
        return Ok(mesh);
    };
    Err(lines.fault(0, why))
}

/// The vertex that a corner of a face names: `7`, `7/1/2`, or counted back from the last, `-1`.
fn index<'a>(line: &Scanner<'a>, corner: Token<'a>, vertices: usize) -> Result<u32, Fault<'a>> {
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

#[cfg(test)]
mod tests {
    use super::*;

    const CUBE: &str = "# a cube\no cube\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\n\
        v 0 1 1\nvn 0 0 1\nf 4 3 2 1\nf 5//1 6//1 7//1 8//1\nf 1 2 6 5\nf 3 4 8 7\nf 2 3 7 6\nf -8 -4 -1 -5\n";

    fn problem(text: &str) -> Problem {
        parse_surface_mesh(Path::new("x.obj"), text).expect_err("a problem").0.remove(0)
    }

    #[test]
    fn polygons_become_triangles() {
        let mesh = parse_surface_mesh(Path::new("cube.obj"), CUBE).expect("a mesh");
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (8, 12));
        assert!((mesh.volume() - 1.0).abs() < 1e-12 && mesh.is_closed());
    }

    #[test]
    fn problems_name_their_line() {
        let open = problem(&CUBE.replace("f 2 3 7 6\n", ""));
        assert!(open.message.contains("open"), "{open}");
        let inward = problem(&CUBE.replace("f 4 3 2 1", "f 1 2 3 4"));
        assert!(inward.message.contains("opposite directions"), "{inward}");
        for (spoiled, line, says) in [
            ("v 0 0 0\nv 1 0 zero\n", 2, "a finite z of vertex 2, found `zero`"),
            ("v 0 0 0\nv 1 0\nv 1 1 1\n", 2, "the line ends, expected a finite z"),
            ("v 0 0 0\nf 1 2 3\n", 2, "1 to 1, found `2`"),
            ("v 0 0 0\nf 1 0 1\n", 2, "found `0`"),
            ("v 0 0 0\nf 1 1\n", 2, "a face of 2 corners"),
            ("\ncurve 1 2\n", 2, "expected a line of `v` or `f`, found `curve`"),
            ("v 1 2 3\n", 1, "found no faces"),
        ] {
            let found = problem(spoiled);
            assert_eq!(found.line, line, "{found}");
            assert!(found.message.contains(says), "{found}");
        }
    }
}
