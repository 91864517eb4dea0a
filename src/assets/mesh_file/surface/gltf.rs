//! glTF 2.0, binary (GLB) and JSON: the triangles of every mesh of the scene, where its node puts it.

use std::path::{Component, Path};
use std::sync::Arc;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use gltf::accessor::{DataType, Dimensions};
use gltf::buffer::Source;
use gltf::mesh::Mode;
use gltf::{Accessor, Document, Node, Primitive, Semantic};

use super::{FilePlace, Flaw, Soup};
use crate::assets::files::{Files, TextKind};
use crate::assets::limits::{MESH_BYTES, TRIANGLES, VERTICES};
use crate::assets::problem::Problems;
use crate::math::Vec3;

type Mat4 = nalgebra::Matrix4<f64>;

/// Bytes of the header of a GLB, and of that of a chunk.
const GLB_HEADER: usize = 12;
const CHUNK: usize = 8;

/// Reads a file, and those that it names as buffers.
pub fn read(files: &Files, file: &Path, bytes: &[u8]) -> Result<Soup, Problems> {
    let outcome = (|| {
        let (json, binary) = if bytes.starts_with(b"glTF") { split(bytes)? } else { (bytes, None) };
        let document = parse(json)?;
        let buffers = buffers(files, file, &document, binary)?;
        soup(&document, &buffers)
    })();
    outcome.map_err(|failure| match failure {
        GltfFailure::Flaw(flaw) => flaw.into_problems(file, bytes),
        GltfFailure::Problems(problems) => problems,
    })
}

/// An error in this file, or in one that it names.
enum GltfFailure {
    Flaw(Flaw),
    Problems(Problems),
}

impl From<Flaw> for GltfFailure {
    fn from(flaw: Flaw) -> Self {
        Self::Flaw(flaw)
    }
}

fn fault(key: impl Into<String>, message: impl Into<String>) -> Flaw {
    Flaw { place: FilePlace::Whole, key: key.into(), message: message.into() }
}

/// The JSON of a GLB and its binary chunk. The crate's own `Glb::from_slice` subtracts lengths unchecked.
fn split(bytes: &[u8]) -> Result<(&[u8], Option<&[u8]>), Flaw> {
    let word = |at: usize| bytes.get(at..).and_then(|rest| rest.first_chunk()).map(|word| u32::from_le_bytes(*word));
    let at_byte = |at: usize, message: String| Flaw::new(FilePlace::Byte(at), message);
    match word(4) {
        Some(2) => {}
        Some(version) => return Err(at_byte(4, format!("found GLB version {version}, expected 2: export it again"))),
        None => return Err(at_byte(4, "the file ends in its header".into())),
    }
    let (mut at, mut json, mut binary) = (GLB_HEADER, None, None);
    while let (Some(length), Some(kind)) = (word(at), word(at + 4)) {
        let start = at + CHUNK;
        let chunk = usize::try_from(length).ok().and_then(|length| bytes.get(start..)?.get(..length));
        let Some(chunk) = chunk else {
            let message = format!(
                "a chunk of {length} bytes is announced, but the file ends after {}: it was cut off",
                bytes.len() - start
            );
            return Err(at_byte(at, message));
        };
        match &kind.to_le_bytes() {
            b"JSON" if json.is_none() => json = Some(chunk),
            b"BIN\0" if binary.is_none() => binary = Some(chunk),
            _ => {}
        }
        at = start + chunk.len();
    }
    json.map(|json| (json, binary)).ok_or_else(|| at_byte(GLB_HEADER, "found no chunk of JSON".into()))
}

fn parse(json: &[u8]) -> Result<Document, Flaw> {
    let root: gltf::json::Root = gltf::json::deserialize::from_slice(json).map_err(|error| {
        // Without the place, which serde_json appends: it is counted from the chunk, and given as a line where that is the file's.
        fault(format!("JSON line {} column {}", error.line(), error.column()), format!("not valid glTF: {error}"))
    })?;
    // The crate validates positions with an unchecked index.
    let known = root.accessors.len();
    for (mesh, primitive) in
        root.meshes.iter().enumerate().flat_map(|(m, mesh)| mesh.primitives.iter().map(move |p| (m, p)))
    {
        if let Some(index) = primitive.attributes.values().find(|index| index.value() >= known) {
            let message = format!("not valid glTF: accessor {} is not among the {known} of the file", index.value());
            return Err(fault(format!("meshes[{mesh}]"), message));
        }
    }
    Document::from_json(root).map_err(|error| match error {
        gltf::Error::Validation(found) => {
            let (path, error) = found
                .first()
                .map_or((String::new(), String::new()), |(path, error)| (path.to_string(), error.to_string()));
            let fix = if path.starts_with("extensionsRequired") {
                ": export it without compression and extensions"
            } else {
                ""
            };
            fault(path, format!("not valid glTF: {error}{fix}"))
        }
        error => fault("", format!("not valid glTF: {error}")),
    })
}

/// The bytes of every buffer: the binary chunk, base64 in the JSON, or a file beside this one.
fn buffers(
    files: &Files,
    file: &Path,
    document: &Document,
    binary: Option<&[u8]>,
) -> Result<Vec<Arc<[u8]>>, GltfFailure> {
    let mut buffers = Vec::new();
    for buffer in document.buffers() {
        let key = format!("buffers[{}]", buffer.index());
        let bytes: Arc<[u8]> = match buffer.source() {
            Source::Bin => binary.ok_or_else(|| fault(&key, "the file has no binary chunk"))?.into(),
            Source::Uri(uri) => match uri.strip_prefix("data:") {
                Some(data) => {
                    let data = data.split_once(";base64,").map(|(_, data)| data);
                    let data = data.ok_or_else(|| fault(&key, "expected base64 data"))?;
                    STANDARD.decode(data).map_err(|error| fault(&key, format!("not base64: {error}")))?.into()
                }
                None => {
                    let name = percent_decoded(uri);
                    let inside = Path::new(&name)
                        .components()
                        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
                    if !inside || name.contains(':') || name.is_empty() {
                        return Err(fault(key, "expected a file beside this one or below").into());
                    }
                    let beside = file.parent().unwrap_or(Path::new("")).join(name);
                    files.read_bytes(&beside, TextKind::Mesh).map_err(GltfFailure::Problems)?
                }
            },
        };
        if (bytes.len() as u64) < buffer.length() as u64 {
            let message = format!("has {} bytes, expected {}: it was cut off", bytes.len(), buffer.length());
            return Err(fault(key, message).into());
        }
        buffers.push(bytes);
        if buffers.iter().map(|buffer| buffer.len() as u64).sum::<u64>() > 2 * MESH_BYTES {
            return Err(fault("buffers", format!("more than {} bytes together", 2 * MESH_BYTES)).into());
        }
    }
    Ok(buffers)
}

/// A file name from a URI: `%20` is a blank.
fn percent_decoded(uri: &str) -> String {
    let (mut out, mut rest) = (Vec::new(), uri.as_bytes());
    while let Some((first, after)) = rest.split_first() {
        let code = after
            .get(..2)
            .and_then(|two| std::str::from_utf8(two).ok())
            .and_then(|two| u8::from_str_radix(two, 16).ok());
        match code.filter(|_| *first == b'%') {
            Some(byte) => (out.push(byte), rest = &after[2..]),
            None => (out.push(*first), rest = after),
        };
    }
    String::from_utf8_lossy(&out).into_owned()
}

fn soup(document: &Document, buffers: &[Arc<[u8]>]) -> Result<Soup, GltfFailure> {
    let mut soup = Soup::default();
    let scene = document.default_scene().or_else(|| document.scenes().next());
    let Some(scene) = scene else {
        return Err(fault("scenes", "found no scene, expected one whose nodes have meshes").into());
    };
    let mut visited = vec![false; document.nodes().count()];
    let mut open: Vec<(Node<'_>, Mat4)> = scene.nodes().map(|node| (node, Mat4::identity())).collect();
    open.reverse();
    while let Some((node, above)) = open.pop() {
        // Each node has one parent; a circle would have no end.
        if std::mem::replace(&mut visited[node.index()], true) {
            return Err(fault(
                format!("nodes[{}]", node.index()),
                "is below two nodes or below itself, expected a tree",
            )
            .into());
        }
        let place = above * Mat4::from_fn(|row, column| f64::from(node.transform().matrix()[column][row]));
        if let Some(mesh) = node.mesh() {
            for primitive in mesh.primitives() {
                let key = format!("meshes[{}].primitives[{}]", mesh.index(), primitive.index());
                add(&mut soup, &primitive, &place, buffers, &key)?;
            }
        }
        open.extend(node.children().map(|child| (child, place)));
    }
    Ok(soup)
}

fn add(soup: &mut Soup, primitive: &Primitive<'_>, place: &Mat4, buffers: &[Arc<[u8]>], key: &str) -> Result<(), Flaw> {
    if matches!(primitive.mode(), Mode::Points | Mode::Lines | Mode::LineLoop | Mode::LineStrip) {
        return Ok(());
    }
    let in_primitive = |flaw: Flaw| Flaw { key: key.into(), ..flaw };
    let positions = primitive.get(&Semantic::Positions).ok_or_else(|| fault(key, "has no attribute `POSITION`"))?;
    if (positions.data_type(), positions.dimensions()) != (DataType::F32, Dimensions::Vec3) {
        return Err(fault(key, "expected three floats a position: export it without quantisation"));
    }
    let first = soup.vertices.len() as u32;
    for item in items(&positions, 12, VERTICES, buffers, key)? {
        let coordinate = |i: usize| item[4 * i..].first_chunk().map_or(f64::NAN, |x| f64::from(f32::from_le_bytes(*x)));
        let p = place * Vec3::new(coordinate(0), coordinate(1), coordinate(2)).push(1.0);
        if !p.iter().all(|x| x.is_finite()) {
            return Err(fault(key, format!("vertex {} is not finite", soup.vertices.len() as u32 - first)));
        }
        soup.add_vertex(FilePlace::Whole, p.xyz()).map_err(in_primitive)?;
    }
    let count = soup.vertices.len() as u32 - first;
    let corners: Vec<u32> = match primitive.indices() {
        None => (0..count).collect(),
        Some(indices) => read_indices(&indices, buffers, key)?,
    };
    if let Some(missing) = corners.iter().find(|&&corner| corner >= count) {
        return Err(fault(key, format!("names vertex {missing}, but has {count}, numbered from 0")));
    }
    // A mirrored placement turns the triangles round.
    let mirrored = place.fixed_view::<3, 3>(0, 0).determinant() < 0.0;
    for [a, b, c] in triangles(primitive.mode(), &corners) {
        let [a, b, c] = [a, b, c].map(|corner| first + corner);
        soup.add_triangle(FilePlace::Whole, if mirrored { [a, c, b] } else { [a, b, c] }).map_err(in_primitive)?;
    }
    Ok(())
}

fn triangles(mode: Mode, corners: &[u32]) -> Vec<[u32; 3]> {
    match mode {
        Mode::TriangleStrip => (2..corners.len())
            .map(|i| {
                if i % 2 == 0 {
                    [corners[i - 2], corners[i - 1], corners[i]]
                } else {
                    [corners[i - 1], corners[i - 2], corners[i]]
                }
            })
            .collect(),
        Mode::TriangleFan => (2..corners.len()).map(|i| [corners[0], corners[i - 1], corners[i]]).collect(),
        _ => corners.chunks_exact(3).map(|three| [three[0], three[1], three[2]]).collect(),
    }
}

fn read_indices(indices: &Accessor<'_>, buffers: &[Arc<[u8]>], key: &str) -> Result<Vec<u32>, Flaw> {
    let size = match (indices.data_type(), indices.dimensions()) {
        (DataType::U8, Dimensions::Scalar) => 1,
        (DataType::U16, Dimensions::Scalar) => 2,
        (DataType::U32, Dimensions::Scalar) => 4,
        _ => return Err(fault(key, "expected indices of unsigned integers")),
    };
    let number = |item: &[u8]| item[..size].iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte));
    Ok(items(indices, size, 3 * TRIANGLES, buffers, key)?.into_iter().map(number).collect())
}

/// The items of an accessor, each of at least `size` bytes.
fn items<'b>(
    accessor: &Accessor<'_>,
    size: usize,
    most: usize,
    buffers: &'b [Arc<[u8]>],
    key: &str,
) -> Result<Vec<&'b [u8]>, Flaw> {
    let count = accessor.count();
    if count > most {
        return Err(fault(key, format!("has {count} vertices or indices, expected at most {most}: simplify the mesh")));
    }
    let (Some(view), None) = (accessor.view(), accessor.sparse()) else {
        return Err(fault(key, "its data are sparse or missing: export it without sparse accessors"));
    };
    let all = buffers.get(view.buffer().index()).and_then(|buffer| buffer.get(view.offset()..)?.get(..view.length()));
    let stride = view.stride().unwrap_or(size);
    let item = |i: usize| {
        let start = i.checked_mul(stride)?.checked_add(accessor.offset())?;
        all?.get(start..start.checked_add(size)?)
    };
    let items: Option<Vec<&[u8]>> = (0..count).map(item).collect();
    items.ok_or_else(|| fault(key, format!("accessor {} reaches beyond its buffer", accessor.index())))
}
