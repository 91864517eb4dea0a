use std::collections::BTreeMap;
use std::path::Path;

use proptest::prelude::*;

use crate::assets::{Files, Problem};
use crate::mesh::SurfaceMesh;

const CUBE: &str = "# a cube\no cube\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 0 0 1\nv 1 0 1\nv 1 1 1\n\
    v 0 1 1\nvn 0 0 1\nf 4 3 2 1\nf 5//1 6//1 7//1 8//1\nf 1 2 6 5\nf 3 4 8 \\\n7\nf 2 3 7 6\nf -8 -4 -1 -5\n";
/// Corners of the triangles of a unit tetrahedron, outward.
const TETRAHEDRON: [[[f32; 3]; 3]; 4] = {
    let (o, x, y, z) = ([0., 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]);
    [[o, y, x], [o, x, z], [o, z, y], [x, y, z]]
};

fn load_scaled(bytes: impl Into<Vec<u8>>, scale: f64) -> Result<SurfaceMesh, Problem> {
    let files = Files::kept(BTreeMap::from([("x".to_string(), bytes.into())]));
    files.load_surface_mesh(Path::new("x"), scale).map_err(|mut problems| problems.0.remove(0))
}

fn load(bytes: impl Into<Vec<u8>>) -> Result<SurfaceMesh, Problem> {
    load_scaled(bytes, 1.0)
}

fn problem(bytes: impl Into<Vec<u8>>) -> Problem {
    load(bytes).expect_err("a problem")
}

fn binary_stl(head: &str, triangles: &[[[f32; 3]; 3]]) -> Vec<u8> {
    let mut bytes = head.as_bytes().to_vec();
    bytes.resize(80, 0);
    bytes.extend((triangles.len() as u32).to_le_bytes());
    for triangle in triangles {
        bytes.extend([0; 12]);
        triangle.as_flattened().iter().for_each(|x| bytes.extend(x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn text_stl() -> String {
    let facet = |triangle: &[[f32; 3]; 3]| {
        let vertices: String = triangle.iter().map(|[x, y, z]| format!("      vertex {x} {y} {z}\n")).collect();
        format!("  facet normal nan 0 0\n    outer loop\n{vertices}    endloop\n  endfacet\n")
    };
    format!("solid one of\n{}endsolid one\n", TETRAHEDRON.iter().map(facet).collect::<String>())
}

const PLY: &str = "ply\nformat ascii 1.0\ncomment by hand\nelement vertex 4\nproperty float x\nproperty float y\nproperty double z\n\
    property uchar red\nelement face 4\nproperty list uchar int vertex_indices\nelement edge 1\nproperty int a\nend_header\n\
    0 0 0 255\n1 0 0 255\n0 1 0 255\n0 0 1 255\n3 0 2 1\n3 0 1 3\n3 0 3 2\n3 1 2 3\n7\n";

fn binary_ply(big: bool) -> Vec<u8> {
    let name = if big { "binary_big_endian" } else { "binary_little_endian" };
    let head = PLY.split("end_header\n").next().expect("a header").replace("ascii", name);
    let mut bytes = format!("{head}end_header\n").into_bytes();
    let mut put = |own: &[u8]| {
        if big { bytes.extend(own.iter().rev()) } else { bytes.extend(own) }
    };
    for [x, y, z] in [[0f32, 0., 0.], [1., 0., 0.], [0., 1., 0.], [0., 0., 1.]] {
        put(&x.to_le_bytes());
        put(&y.to_le_bytes());
        put(&f64::from(z).to_le_bytes());
        put(&[255]);
    }
    for face in [[0i32, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]] {
        put(&[3]);
        face.iter().for_each(|corner| put(&corner.to_le_bytes()));
    }
    put(&7i32.to_le_bytes());
    bytes
}

#[cfg(feature = "gltf")]
fn gltf_json(buffer: &str, node: &str) -> String {
    format!(
        r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],
        "nodes":[{{"children":[1]}},{{"mesh":0{node}}}],
        "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"indices":1}}]}}],
        "accessors":[{{"bufferView":0,"componentType":5126,"count":12,"type":"VEC3","min":[0,0,0],"max":[1,1,1]}},
                     {{"bufferView":1,"componentType":5123,"count":12,"type":"SCALAR"}}],
        "bufferViews":[{{"buffer":0,"byteLength":144}},{{"buffer":0,"byteOffset":144,"byteLength":24}}],
        "buffers":[{{"byteLength":168{buffer}}}]}}"#
    )
}

/// The vertices of every triangle, and their numbers.
#[cfg(feature = "gltf")]
fn gltf_buffer() -> Vec<u8> {
    let mut bytes: Vec<u8> = TETRAHEDRON.as_flattened().as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
    bytes.extend((0..12u16).flat_map(u16::to_le_bytes));
    bytes
}

#[cfg(feature = "gltf")]
fn glb(node: &str) -> Vec<u8> {
    let (mut json, binary) = (gltf_json("", node).into_bytes(), gltf_buffer());
    json.resize(json.len().next_multiple_of(4), b' ');
    let length = 12 + 8 + json.len() + 8 + binary.len();
    let word = |x: usize| (x as u32).to_le_bytes();
    let head = [*b"glTF", word(2), word(length), word(json.len()), *b"JSON"].concat();
    [head, json, word(binary.len()).to_vec(), b"BIN\0".to_vec(), binary].concat()
}

#[test]
fn the_same_tetrahedron_comes_from_every_format() {
    #[cfg_attr(not(feature = "gltf"), expect(unused_mut, reason = "glTF is pushed"))]
    let mut files: Vec<Vec<u8>> = vec![
        binary_stl("made by a program", &TETRAHEDRON),
        // Its head is that of a text.
        binary_stl("solid as a rock", &TETRAHEDRON),
        text_stl().into(),
        text_stl().to_uppercase().replace("NAN", "0").into(),
        PLY.into(),
        PLY.replace('\n', "\r\n").into(),
        binary_ply(false),
        binary_ply(true),
        "v 0 0 0 1 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4".into(),
    ];
    #[cfg(feature = "gltf")]
    files.push(glb(""));
    for (number, bytes) in files.into_iter().enumerate() {
        let mesh = load(bytes.clone()).unwrap_or_else(|problem| panic!("{number}: {problem}"));
        assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (4, 4), "{number}");
        assert!(mesh.is_closed() && (mesh.volume() - 1.0 / 6.0).abs() < 1e-9, "{number}");
        let small = load_scaled(bytes, 0.001).expect("in millimetres");
        assert!((small.volume() * 6e9 - 1.0).abs() < 1e-9, "{number}");
    }
}

#[cfg(feature = "gltf")]
#[test]
fn gltf_places_its_meshes_and_reads_its_buffers() {
    let mesh = load(glb(r#","scale":[-2,1,1],"translation":[0,5,0]"#)).expect("mirrored");
    assert!((mesh.volume() - 1.0 / 3.0).abs() < 1e-9, "triangles of a mirrored mesh are turned round");
    assert!(mesh.vertices.iter().all(|p| p.x <= 0.0 && p.y >= 5.0));
    use base64::Engine;
    let data = base64::engine::general_purpose::STANDARD.encode(gltf_buffer());
    assert!(load(gltf_json(&format!(r#","uri":"data:application/octet-stream;base64,{data}""#), "")).is_ok());
    let beside = |name: &str| {
        let json = gltf_json(&format!(r#","uri":"{name}""#), "").into_bytes();
        let files = BTreeMap::from([("in/x.gltf".to_string(), json), ("in/my mesh.bin".to_string(), gltf_buffer())]);
        Files::kept(files).load_surface_mesh(Path::new("in/x.gltf"), 1.0)
    };
    assert!(beside("my%20mesh.bin").is_ok());
    for outside in ["../in/my%20mesh.bin", "/etc/passwd", "http://x/y", ""] {
        let message = beside(outside).expect_err("outside").to_string();
        assert!(message.contains("expected a file beside this one"), "{message}");
    }
}

#[cfg(feature = "gltf")]
#[test]
fn bad_gltf_is_refused_with_its_place() {
    let json = |from: &str, to: &str| {
        let text = String::from_utf8_lossy(&glb("")).into_owned();
        assert!(text.contains(from), "{from}");
        let bytes = glb("");
        let at = bytes.windows(from.len()).position(|part| part == from.as_bytes()).expect("it is there");
        let mut spoiled = bytes;
        spoiled[at..at + to.len()].copy_from_slice(to.as_bytes());
        problem(spoiled).to_string()
    };
    for (from, to, says) in [
        (r#""children":[1]"#, r#""children":[0]"#, "nodes[0]: is below two nodes or below itself"),
        (r#""children":[1]"#, r#""children":[9]"#, "nodes[0].children[0]: not valid glTF"),
        (r#""count":12"#, r#""count":99"#, "meshes[0].primitives[0]: accessor 0 reaches beyond its buffer"),
        (r#""byteLength":144"#, r#""byteLength":999"#, "accessor 0 reaches beyond its buffer"),
        (r#"5126"#, r#"5125"#, "expected three floats a position"),
        (r#""asset""#, r#""asset;"#, "JSON line 1 column"),
        (r#""byteLength":168"#, r#""byteLength":999"#, "buffers[0]: has 168 bytes, expected 999: it was cut off"),
    ] {
        let found = json(from, to);
        assert!(found.contains(says), "{found}");
    }
    let whole = glb("");
    assert!(problem(&whole[..whole.len() - 1]).to_string().contains("a chunk of 168 bytes is announced"));
    assert!(problem(&whole[..10]).to_string().contains("found no chunk of JSON"));
    let mut old = whole;
    old[4] = 1;
    assert!(problem(old).to_string().contains("byte 4: found GLB version 1, expected 2"));
}

#[test]
fn polygons_become_triangles() {
    let mesh = load(CUBE).expect("a mesh");
    assert_eq!((mesh.vertices.len(), mesh.triangles.len()), (8, 12));
    assert!((mesh.volume() - 1.0).abs() < 1e-12 && mesh.is_closed());
}

#[test]
fn unsound_surfaces_are_named_with_the_fix() {
    for (from, to, line, says) in [
        (
            "f 2 3 7 6\n",
            "",
            12,
            "the surface is open, with 4 edges in one triangle only, the first from (1.0000, 0.0000, 0.0000) to",
        ),
        ("f 4 3 2 1", "f 1 2 3 4", 15, "neighbouring triangles look in opposite directions at 4 edges"),
        ("f 2 3 7 6\n", "f 2 3 7 6\nf 1 2 6 5\n", 18, "not a manifold, with 5 edges in more than two triangles"),
    ] {
        let found = problem(CUBE.replace(from, to));
        assert!(found.message.contains(says) && found.message.contains("in Blender: "), "{found}");
        assert_eq!(found.line, line, "{found}");
    }
    let degenerate =
        load(CUBE.replace("f 2 3 7 6\n", "f 2 3 7 6\nf 1 1 2\n")).expect("a triangle without area is dropped");
    assert_eq!(degenerate.triangles.len(), 12);
    let inside_out: Vec<[[f32; 3]; 3]> = TETRAHEDRON.iter().map(|[a, b, c]| [*a, *c, *b]).collect();
    assert!(problem(binary_stl("x", &inside_out)).message.contains("the faces are oriented inward"));
    let open = problem(binary_stl("x", &TETRAHEDRON[..3]));
    assert!(open.message.starts_with("byte 84: the surface is open, with 3 edges"), "{open}");
    let flat = [[[0., 0., 0.], [1., 0., 0.], [0., 1., 0.]], [[0., 0., 0.], [0., 1., 0.], [1., 0., 0.]]];
    assert!(problem(binary_stl("x", &flat)).message.contains("the surface is flat"));
    let large: Vec<[[f32; 3]; 3]> = TETRAHEDRON.iter().map(|t| t.map(|p| p.map(|x| 500.0 * x))).collect();
    assert!(problem(binary_stl("x", &large)).message.contains("set `scale = 0.001` if the file is in millimetres"));
}

#[test]
fn problems_name_their_line_or_byte() {
    let ply = |from: &str, to: &str| {
        assert!(PLY.contains(from), "{from}");
        PLY.replacen(from, to, 1)
    };
    let stl = |from: &str, to: &str| text_stl().replacen(from, to, 1);
    for (spoiled, line, says) in [
        ("v 0 0 0\nv 1 0 zero\n".into(), 2, "a finite z of vertex 2, found `zero`"),
        ("v 0 0 0\nv 1 0\nv 1 1 1\n".into(), 2, "the line ends, expected a finite z"),
        ("v 0 0 0\nf 1 2 3\n".into(), 2, "1 to 1, found `2`"),
        ("v 0 0 0\nf 1 0 1\n".into(), 2, "found `0`"),
        ("v 0 0 0\nf 1 1\n".into(), 2, "a face of 2 corners"),
        (format!("v 0 0 0\nf {}\n", "1 ".repeat(257)), 2, "a face of 257 corners, expected 3 to 256"),
        ("\ncurve 1 2\n".into(), 2, "expected a line of `v` or `f`, found `curve`"),
        ("v 0 0 0\ncstype bezier\n".into(), 2, "free-form"),
        ("v 1 2 3\n".into(), 0, "found no faces"),
        ("".into(), 0, "found no faces"),
        ("$MeshFormat\n4.1 0 8\n".into(), 0, "found a mesh of tetrahedra, expected a surface"),
        (stl("vertex 1 0 0", "vertex 1 inf 0"), 6, "expected a finite y of a vertex of facet 1, found `inf`"),
        (stl("endloop", "vertex"), 7, "expected `endloop`, found `vertex`"),
        (stl("endsolid", "end"), 30, "expected `facet`, found `end`"),
        ("solid cut\nfacet normal 0 0 1\n".into(), 2, "the file ends, expected `outer`"),
        (ply("format ascii 1.0", "format ascii 2.0"), 2, "expected a line of a PLY 1.0 header"),
        (ply("end_header\n", ""), 13, "expected a line of a PLY 1.0 header"),
        (ply("format ascii 1.0\n", ""), 1, "the header has no `format`"),
        (ply("property float x", "property number x"), 5, "expected a type such as `float`"),
        (ply("property float x\n", ""), 0, "the vertices have no property `x`"),
        (ply("element vertex 4", "element vertex -4"), 4, "expected the number of the elements"),
        (ply("3 1 2 3", "3 1 2 4"), 21, "face 3 names vertex 4, but there are 4, numbered from 0"),
        (ply("3 1 2 3", "3 1 2 -1"), 21, "found -1 in face 3, expected a whole number"),
        (ply("0 0 1 255", "0 0 one 255"), 17, "expected a number of vertex 3 (4 announced), found `one`"),
        (ply("0 0 1 255", "0 0 nan 255"), 17, "vertex 3 is not finite"),
        (ply("edge 1", "edge 9"), 22, "the file ends, expected a number of edge 1 (9 announced)"),
        (ply("element edge", "element tristrips"), 0, "triangle strips"),
    ] {
        let found = problem(spoiled);
        assert!(found.message.contains(says), "{found}");
        assert_eq!(found.line, line, "{found}");
    }
    let cut = binary_ply(false);
    let found = problem(&cut[..cut.len() - 9]).message;
    assert!(
        found.starts_with(&format!("byte {}: the file ends, expected a number of face 3", cut.len() - 12)),
        "{found}"
    );
    let mut stl = binary_stl("x", &TETRAHEDRON);
    assert!(
        problem(&stl[..stl.len() - 1]).message.starts_with("byte 80: a binary STL of 4 triangles is announced, but")
    );
    stl[84 + 50 + 12..84 + 50 + 16].copy_from_slice(&f32::NAN.to_le_bytes());
    assert_eq!(problem(stl).message, "byte 134: a corner of triangle 2 is not finite");
    // Taken for a binary STL that announces no triangles.
    assert!(problem([b"v 0 0 0\n\xff".as_slice(), &[0; 90]].concat()).message.contains("found no faces"));
    assert!(problem(b"v 0 0 0\n\xff").message.contains("byte 8: found neither text nor a known binary format"));
}

#[test]
fn counts_are_bounded_before_memory_is_taken() {
    let many = PLY.replace("element vertex 4", "element vertex 18446744073709551615");
    assert!(problem(many).message.contains("expected a number of vertex"));
    let most = crate::assets::limits::TRIANGLES;
    let obj = format!("v 0 0 0\n{}", "f 1 1 1\n".repeat(most + 1));
    assert_eq!(problem(obj).message, format!("more than {most} triangles: simplify the mesh"));
    let empty =
        PLY.replace("element edge 1\nproperty int a", "element edge 18446744073709551615").replace("\n7\n", "\n");
    assert!(load(empty).is_ok(), "elements without properties have no data");
}

fn seeds() -> Vec<Vec<u8>> {
    #[cfg_attr(not(feature = "gltf"), expect(unused_mut, reason = "glTF is pushed"))]
    let mut seeds = vec![
        binary_stl("x", &TETRAHEDRON),
        text_stl().into_bytes(),
        PLY.into(),
        binary_ply(false),
        binary_ply(true),
        CUBE.into(),
    ];
    #[cfg(feature = "gltf")]
    {
        seeds.push(glb(""));
        seeds.push(gltf_json("", "").into_bytes());
    }
    seeds
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, ..ProptestConfig::default() })]

    /// Mutated files of every format are a sound mesh or a problem.
    #[test]
    fn mutated_files_are_answered(
        seed in any::<prop::sample::Index>(),
        edits in prop::collection::vec((any::<prop::sample::Index>(), 0..3_u8, any::<u8>()), 1..6),
        kept in 0.2..1.5_f64,
    ) {
        let mut bytes = seeds()[seed.index(seeds().len())].clone();
        for (at, kind, byte) in edits {
            let at = at.index(bytes.len());
            match kind {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, b"0123456789-eE.\" \n\xff"[byte as usize % 17]),
                _ => drop(bytes.remove(at)),
            }
        }
        bytes.truncate((bytes.len() as f64 * kept) as usize);
        if let Ok(mesh) = load(bytes) {
            prop_assert!(mesh.is_closed() && mesh.volume() > 0.0);
        }
    }
}
