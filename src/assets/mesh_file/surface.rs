//! Closed triangle meshes: OBJ, STL, PLY and glTF. A reader for each format makes a [`Soup`]; the checks are the same for all.
//!
//! OBJ, STL and PLY are read by own code: `tobj` and `stl_io` report no line, `stl_io` takes a binary STL whose header begins with
//! `solid` for text, and the PLY crates keep every property of every element in a map. glTF is parsed and validated by the crate `gltf`;
//! its accessors are read here, with checked offsets.

mod cut;
#[cfg(feature = "gltf")]
mod gltf;
mod obj;
mod ply;
mod stl;
#[cfg(test)]
mod tests;
mod topology;

use std::path::Path;

use super::scan::ScanError;
use super::{extents, size_fault};
use crate::assets::files::{Files, TextKind};
use crate::assets::limits::{TRIANGLES, VERTICES};
use crate::assets::problem::{Problem, Problems, line_column};
use crate::math::Vec3;
use crate::mesh::SurfaceMesh;

/// Volume, as a part of the cube of the longest extent, below which it is rounding.
const MIN_VOLUME_RATIO: f64 = 1e-12;

/// Triangles as a file lists them. Vertices may be repeated.
#[derive(Debug, Default)]
pub struct Soup {
    pub vertices: Vec<Vec3>,
    pub triangles: Vec<[u32; 3]>,
    /// The place of each triangle in the file.
    pub places: Vec<FilePlace>,
}

/// A place in a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FilePlace {
    /// Nowhere in particular.
    #[default]
    Whole,
    /// Byte offset in a text file, reported as line and column.
    Text(usize),
    /// Byte offset in a binary file.
    Byte(usize),
}

/// An error in a file.
#[derive(Debug)]
pub struct Flaw {
    pub place: FilePlace,
    /// Section or path of keys; empty if none.
    pub key: String,
    pub message: String,
}

impl Flaw {
    pub fn new(place: FilePlace, message: impl Into<String>) -> Self {
        Self { place, key: String::new(), message: message.into() }
    }

    fn into_problems(self, file: &Path, bytes: &[u8]) -> Problems {
        let (mut message, key) = (self.message, self.key);
        let (line, column) = match self.place {
            FilePlace::Whole => (0, 0),
            FilePlace::Text(at) => line_column(&String::from_utf8_lossy(bytes), at),
            FilePlace::Byte(at) => {
                message = format!("byte {at}: {message}");
                (0, 0)
            }
        };
        Problems(vec![Problem { file: file.into(), line, column, key, message }])
    }
}

impl From<ScanError<'_>> for Flaw {
    fn from(fault: ScanError<'_>) -> Self {
        Self { place: FilePlace::Text(fault.at), key: fault.section.into(), message: fault.message }
    }
}

impl Soup {
    /// Adds a vertex and returns its number.
    pub fn add_vertex(&mut self, place: FilePlace, p: Vec3) -> Result<u32, Flaw> {
        if self.vertices.len() >= VERTICES {
            return Err(Flaw::new(place, format!("more than {VERTICES} vertices: simplify the mesh")));
        }
        self.vertices.push(p);
        Ok(self.vertices.len() as u32 - 1)
    }

    /// Adds a triangle of known vertices.
    pub fn add_triangle(&mut self, place: FilePlace, corners: [u32; 3]) -> Result<(), Flaw> {
        if self.triangles.len() >= TRIANGLES {
            return Err(Flaw::new(place, format!("more than {TRIANGLES} triangles: simplify the mesh")));
        }
        self.triangles.push(corners);
        self.places.push(place);
        Ok(())
    }

    /// Adds a polygon of known vertices, cut into triangles.
    pub fn add_polygon(&mut self, place: FilePlace, corners: &[u32]) -> Result<(), Flaw> {
        if !(3..=cut::MAX_POLYGON_CORNERS).contains(&corners.len()) {
            let (found, most) = (corners.len(), cut::MAX_POLYGON_CORNERS);
            return Err(Flaw::new(place, format!("a face of {found} corners, expected 3 to {most}")));
        }
        for triangle in cut::triangles(&self.vertices, corners) {
            self.add_triangle(place, triangle)?;
        }
        Ok(())
    }

    /// Checks that the triangles are a closed surface with the outside out, in metres after scaling.
    fn finish(mut self, scale: f64) -> Result<SurfaceMesh, Flaw> {
        let whole = |message: String| Flaw::new(FilePlace::Whole, message);
        if self.triangles.is_empty() {
            return Err(whole("found no faces, expected a closed surface".into()));
        }
        self.vertices.iter_mut().for_each(|p| *p *= scale);
        let (mut mesh, _) = SurfaceMesh::from_faces(&self.vertices, &self.triangles);
        if let Some(why) = size_fault(&mesh.vertices) {
            return Err(whole(why));
        }
        if !mesh.is_closed() {
            // STL repeats every vertex; glTF and some PLY repeat those at the seams of normals and textures.
            self.weld();
            (mesh, _) = SurfaceMesh::from_faces(&self.vertices, &self.triangles);
        }
        if let Some((triangle, why)) = topology::fault(&mesh) {
            let place = triangle.and_then(|t| self.places.get(t).copied()).unwrap_or_default();
            return Err(Flaw::new(place, why));
        }
        let extent = extents(&mesh.vertices).max();
        if mesh.volume().abs() <= MIN_VOLUME_RATIO * extent.powi(3) {
            return Err(whole("the surface is flat: it encloses no volume".into()));
        }
        if mesh.volume() < 0.0 {
            let fix = "reverse the order of their corners (in Blender: Mesh > Normals > Flip)";
            return Err(whole(format!("the faces are oriented inward: {fix}")));
        }
        Ok(mesh)
    }

    /// Joins vertices at the same place and drops triangles that this makes degenerate.
    fn weld(&mut self) {
        let mut order: Vec<u32> = (0..self.vertices.len() as u32).collect();
        // Adding zero turns −0 into 0.
        let key = |v: u32| self.vertices[v as usize].map(|x| x + 0.0);
        let by_place = |a: &u32, b: &u32| {
            let (p, q) = (key(*a), key(*b));
            p.x.total_cmp(&q.x).then(p.y.total_cmp(&q.y)).then(p.z.total_cmp(&q.z)).then(a.cmp(b))
        };
        order.sort_unstable_by(by_place);
        let mut first: Vec<u32> = (0..self.vertices.len() as u32).collect();
        for pair in order.windows(2) {
            if key(pair[0]) == key(pair[1]) {
                first[pair[1] as usize] = first[pair[0] as usize];
            }
        }
        let triangles = std::mem::take(&mut self.triangles);
        let places = std::mem::take(&mut self.places);
        for (corners, place) in triangles.into_iter().zip(places) {
            let [a, b, c] = corners.map(|v| first[v as usize]);
            if a != b && b != c && c != a {
                self.triangles.push([a, b, c]);
                self.places.push(place);
            }
        }
    }
}

impl Files {
    /// Reads a closed triangle mesh from an OBJ, STL, PLY, GLB or glTF file. The format is recognised by the contents. Coordinates times
    /// `scale` are metres.
    pub fn load_surface_mesh(&self, file: &Path, scale: f64) -> Result<SurfaceMesh, Problems> {
        let bytes = self.read_bytes(file, TextKind::Mesh)?;
        let soup = self.read_soup(file, &bytes)?;
        soup.finish(scale).map_err(|flaw| flaw.into_problems(file, &bytes))
    }

    fn read_soup(&self, file: &Path, bytes: &[u8]) -> Result<Soup, Problems> {
        let start = bytes.strip_prefix("\u{feff}".as_bytes()).unwrap_or(bytes).trim_ascii_start();
        let read = if bytes.starts_with(b"glTF") || start.starts_with(b"{") {
            return self.read_gltf(file, bytes);
        } else if bytes.starts_with(b"ply\n") || bytes.starts_with(b"ply\r") {
            ply::read(bytes)
        } else if stl::is_binary(bytes) {
            stl::read_binary(bytes)
        } else {
            read_text(bytes, start)
        };
        read.map_err(|flaw| flaw.into_problems(file, bytes))
    }

    #[cfg(not(feature = "gltf"))]
    fn read_gltf(&self, file: &Path, _: &[u8]) -> Result<Soup, Problems> {
        Err(Problems::with_file(file, "this program was built without glTF: save the mesh as OBJ, STL or PLY"))
    }

    #[cfg(feature = "gltf")]
    fn read_gltf(&self, file: &Path, bytes: &[u8]) -> Result<Soup, Problems> {
        gltf::read(self, file, bytes)
    }
}

/// Whether these are the bytes of a surface in STL, PLY or glTF.
pub fn is_other_than_obj(bytes: &[u8]) -> bool {
    let start = bytes.trim_ascii_start();
    let heads: [&[u8]; 5] = [b"glTF", b"{", b"ply\n", b"ply\r", b"solid"];
    heads.iter().any(|head| start.starts_with(head)) || stl::is_binary(bytes)
}

fn read_text(bytes: &[u8], start: &[u8]) -> Result<Soup, Flaw> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let known = "expected Wavefront OBJ, STL, PLY, GLB or glTF";
        Flaw::new(
            FilePlace::Byte(error.valid_up_to()),
            format!("found neither text nor a known binary format, {known}"),
        )
    })?;
    if start.starts_with(b"$MeshFormat") || start.starts_with(b"# vtk DataFile") {
        let fix = "set `kind = \"soft\"`, or save the surface as OBJ, STL, PLY or GLB";
        return Err(Flaw::new(FilePlace::Whole, format!("found a mesh of tetrahedra, expected a surface: {fix}")));
    }
    if start.get(..5).is_some_and(|word| word.eq_ignore_ascii_case(b"solid")) {
        return stl::read_text(text);
    }
    obj::read(text)
}
