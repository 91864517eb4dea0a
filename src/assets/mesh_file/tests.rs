mod gmsh;
mod samples;
mod vtk;

use std::fmt::Write;
use std::path::Path;

use proptest::prelude::*;

use self::samples::{FILES, GMSH_22, GMSH_41, VTK, VTK_51};
use super::*;
use crate::mesh::block;

fn parse(text: &str) -> Result<TetMesh, Problems> {
    parse_tet_mesh(Path::new("pad.msh"), text, 1.0)
}

/// Replaces one part of a valid file, and expects the problem `line:column: key: …fragment…`.
#[track_caller]
fn refused(good: &str, piece: &str, by: &str, place: &str, fragment: &str) {
    assert!(good.contains(piece), "{piece:?} is there to be replaced");
    let found = parse(&good.replacen(piece, by, 1)).expect_err("a problem").to_string();
    assert!(found.starts_with(&format!("pad.msh:{place}: ")), "{found}\nis not at {place}");
    assert!(found.contains(fragment), "{found}\ndoes not say {fragment}");
}

/// Expects a problem at the end of a valid file that is truncated before `piece`.
#[track_caller]
fn truncated(good: &str, piece: &str, place: &str, fragment: &str) {
    let end = good.find(piece).expect("the piece is there");
    refused(good, &good[end..], "", place, fragment);
}

#[test]
fn every_variant_is_read() {
    let [o, x, y, z] = [Vec3::zeros(), Vec3::x() * 1e-3, Vec3::y() * 1e-3, Vec3::z() * 1e-3];
    let expected = TetMesh { nodes: vec![z, o, x, y], tets: vec![[1, 2, 3, 0]] };
    for text in FILES {
        assert_eq!(parse(text).as_ref(), Ok(&expected), "{text}");
        assert_eq!(parse(&text.replace('\n', " \r\n")).as_ref(), Ok(&expected), "Windows, trailing blanks");
        assert_eq!(parse(&format!("\u{feff}\n  {text}")).as_ref(), Ok(&expected), "byte order mark, leading blanks");
        assert_eq!(parse(text.trim_end()).as_ref(), Ok(&expected), "no newline at the end");
    }
    assert_eq!(parse(&GMSH_22.replace('\n', "\n\n\t")).as_ref(), Ok(&expected), "blank lines");
}

#[test]
fn a_block_survives_every_format() {
    let mesh = block(&Vec3::new(0.3, 0.1, 0.2), [3, 1, 2]);
    let (n, m) = (mesh.nodes.len(), mesh.tets.len());
    let [mut lines, mut tags, mut nodes22, mut points] = [const { String::new() }; 4];
    for (i, p) in mesh.nodes.iter().enumerate() {
        writeln!(points, "{:e} {:?} {}", p.x, p.y, p.z).unwrap();
        writeln!(tags, "{}", 3 * i + 5).unwrap();
    }
    for (tag, point) in tags.lines().zip(points.lines()) {
        writeln!(nodes22, "{tag} {point}").unwrap();
    }
    let [mut tets22, mut tets41, mut flat, mut offsets] = [const { String::new() }; 4];
    for (i, tet) in mesh.tets.iter().enumerate() {
        let [a, b, c, d] = tet.map(|node| 3 * node + 5);
        writeln!(tets22, "{} 4 2 1 1 {a} {b} {c} {d}", i + 1).unwrap();
        writeln!(tets41, "{} {a} {b} {c} {d}", i + 1).unwrap();
        let [a, b, c, d] = tet;
        writeln!(lines, "4 {a} {b} {c} {d}").unwrap();
        writeln!(flat, "{a} {b} {c} {d}").unwrap();
        write!(offsets, " {}", 4 * (i + 1)).unwrap();
    }
    let types = "10 ".repeat(m);
    let gmsh = |version: &str, nodes: String, elements: String| {
        format!(
            "$MeshFormat\n{version} 0 8\n$EndMeshFormat\n$Nodes\n{nodes}$EndNodes\n$Elements\n{elements}$EndElements\n"
        )
    };
    let vtk = |cells: String| {
        format!(
            "# vtk DataFile Version 4.2\n\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS {n} float\n{points}CELLS {cells}\
             CELL_TYPES {m}\n{types}"
        )
    };
    for text in [
        gmsh("2.2", format!("{n}\n{nodes22}"), format!("{m}\n{tets22}")),
        gmsh("4.1", format!("1 {n} 5 99\n3 1 0 {n}\n{tags}{points}"), format!("1 {m} 1 {m}\n3 1 4 {m}\n{tets41}")),
        vtk(format!("{m} {}\n{lines}", 5 * m)),
        vtk(format!("{} {}\nOFFSETS vtktypeint64\n0{offsets}\nCONNECTIVITY vtktypeint64\n{flat}", m + 1, 4 * m)),
    ] {
        assert_eq!(parse(&text).as_ref(), Ok(&mesh), "{text}");
    }
}

#[test]
fn other_formats_are_named_with_the_fix() {
    let three =
        "expected Gmsh 2.2 ASCII, Gmsh 4.1 ASCII (`$MeshFormat`) or legacy VTK ASCII (`# vtk DataFile Version`)";
    refused("solid", "solid", " \n", "2:1", &format!("found an empty file, {three}"));
    refused("solid", "solid", "\n  solid x", "2:3", &format!("found a text that begins with `solid`, {three}"));
    let xml = "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\">";
    refused(
        "solid",
        "solid",
        xml,
        "1:1",
        &format!("found an XML VTK file, {three}: save the mesh again as one of these"),
    );
    refused(
        GMSH_41,
        "4.1 0 8",
        "4.1 1 8",
        "2:5: $MeshFormat",
        "binary file, expected file type 0 (ASCII): re-export with `gmsh -format msh41 -set",
    );
    for version in ["4.0", "2.1", "4"] {
        let fragment =
            format!("found Gmsh format `{version}`, expected 2.2 or 4.1: re-export with `gmsh -format msh41`");
        refused(GMSH_41, "4.1 0 8", &format!("{version} 1 8"), "2:1: $MeshFormat", &fragment);
    }
    refused(VTK, "ASCII", "BINARY", "3:1", "found a binary VTK file, expected `ASCII`: save it again");
    refused(VTK, "ASCII", "DATASET", "3:1", "expected `ASCII`, found `DATASET`");
    refused(VTK, "unstructured_grid", "POLYDATA", "4:9: DATASET", "expected `UNSTRUCTURED_GRID`, found `POLYDATA`");
}

#[test]
fn invalid_elements_are_reported_by_number() {
    let inverted = "is inverted (volume -1.667e-10 m³), expected (b−a)·((c−a)×(d−a)) > 0";
    let one = |element| format!("{element} {inverted}: swap two of its nodes");
    let flat = "is flat (quality 0.0e0, a regular one has 1), expected corners that span a volume";
    refused(GMSH_22, "7 20 30 40", "20 7 30 40", "25:1: $Elements", &one("element 12"));
    refused(GMSH_41, "7 20 30 40", "20 7 30 40", "30:1: $Elements", &one("element 12"));
    refused(VTK, "4 1\n3", "4 3\n1", "22:9: CELLS", &one("cell 1"));
    refused(VTK_51, "1 3 4 0", "3 1 4 0", "12:1: CELLS", &one("cell 1"));
    refused(VTK, "4 1\n3", "4 1\n1", "22:9: CELLS", &format!("cell 1 {flat}"));

    let second =
        |nodes: &str| GMSH_22.replacen("\n3\n", "\n4\n", 1).replacen("$EndE", &format!(" 9 4 0 {nodes}\n$EndE"), 1);
    let some = format!("element 9 {inverted}: 1 of 2 are, so mesh again or swap two of their nodes");
    refused(&second("A 7 30 40"), "A", "20", "26:2: $Elements", &some);
    refused(&second("A 20 30 7"), "A", "7", "26:2: $Elements", &format!("element 9 {flat}"));
    let all = format!("element 12 {inverted}: all 2 tetrahedra are inverted, so swap two nodes of each");
    refused(&second("20 7 30 40"), "1 7 20 30 40", "1 20 7 30 40", "25:1: $Elements", &all);
}

/// Any text gives a valid mesh or a problem with its position.
fn answers(text: &str) {
    match parse(text) {
        Ok(mesh) => assert_eq!(mesh.check(), Ok(())),
        Err(problems) => assert!(problems.0.iter().all(|problem| problem.line > 0 && problem.column > 0)),
    }
}

proptest! {
    #[test]
    fn any_text_gives_a_mesh_or_a_problem(head in 0..5_usize, text in "(\\PC|[ \n$#<0-9]){0,200}") {
        let heads = ["", "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$", "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n",
            "# vtk DataFile Version 3.0\n\nASCII\nDATASET UNSTRUCTURED_GRID\n", "# vtk DataFile Version 3.0"];
        answers(&format!("{}{text}", heads[head]));
    }

    #[test]
    fn mutated_files_give_a_mesh_or_a_problem(
        file in prop::sample::select(FILES.to_vec()),
        edits in prop::collection::vec(
            (any::<prop::sample::Index>(), 0..3_usize, prop::sample::select(vec![
                "", "0", "4", "-1", "99999999999", "18446744073709551615", "nan", "1e308", "$", "$EndNodes", "CELLS",
                "é", "\n",
            ])), 0..4),
        kept in 0.0..1.5_f64,
    ) {
        let mut words: Vec<&str> = file.split_inclusive([' ', '\n']).collect();
        for (at, removed, inserted) in edits {
            let at = at.index(words.len());
            words.splice(at..(at + removed).min(words.len()), [inserted, " "]);
        }
        let text = words.concat();
        let end = text.floor_char_boundary((text.len() as f64 * kept) as usize);
        answers(&text[..end]);
    }
}
