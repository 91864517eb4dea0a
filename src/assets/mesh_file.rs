//! Meshes from files: closed surfaces, and tetrahedra. A reader for each format makes a draft that remembers the place of every element; the
//! checks of a draft are the same for all formats.

mod gmsh;
mod scan;
mod surface;
mod vtk;

use std::path::Path;

use self::scan::{ScanError, TextScanner};
use super::files::{Files, TextKind};
use super::limits::TETRAHEDRA;
use super::problem::{Problem, Problems, line_column};
use crate::math::Vec3;
use crate::mesh::{MeshFault, TetMesh};

/// Reads a tetrahedral mesh from the text of a Gmsh 2.2 or 4.1 ASCII file or a legacy VTK ASCII unstructured grid.
///
/// The format is recognised by the text; `file` only goes into the problems. Coordinates times `scale` are metres.
/// Points, lines, faces and unused nodes are skipped; other solids are rejected.
fn parse_tet_mesh(file: &Path, text: &str, scale: f64) -> Result<TetMesh, Problems> {
    read(text).and_then(|draft| draft.finish(scale)).map_err(|ScanError { at, section, message }| {
        let (line, column) = line_column(text, at);
        Problems(vec![Problem { file: file.into(), line, column, key: section.into(), message }])
    })
}

impl Files {
    /// Reads a tetrahedral mesh from a Gmsh 2.2 or 4.1 ASCII file or a legacy VTK ASCII unstructured grid. Coordinates times `scale` are
    /// metres.
    pub fn load_tet_mesh(&self, file: &Path, scale: f64) -> Result<TetMesh, Problems> {
        if surface::is_other_than_obj(&self.read_bytes(file, TextKind::Mesh)?) {
            let fix = "fill it with tetrahedra, as with `gmsh -3 -format msh41`, and name the `.msh` file here";
            return Err(Problems::with_file(file, format!("found a surface, expected tetrahedra: {fix}")));
        }
        parse_tet_mesh(file, &self.read_text(file, TextKind::Mesh)?, scale)
    }
}

fn read(text: &str) -> Result<UncheckedMesh, ScanError<'_>> {
    let mut start = TextScanner::new(text);
    let at = start.at();
    let body = text.get(at..).unwrap_or_default();
    if body.starts_with("# vtk DataFile Version") {
        return vtk::read(text);
    }
    if body.lines().any(|line| line.trim_ascii() == "$MeshFormat") {
        return gmsh::read(text);
    }
    let found = match start.token() {
        None => "an empty file".into(),
        Some(_) if body.starts_with('<') && body.contains("<VTKFile") => "an XML VTK file".into(),
        Some(word) => format!("a text that begins with {word}"),
    };
    let message = format!(
        "found {found}, expected Gmsh 2.2 ASCII, Gmsh 4.1 ASCII (`$MeshFormat`) or legacy VTK ASCII \
         (`# vtk DataFile Version`): save the mesh again as one of these, a `.msh` or a `.vtk`"
    );
    Err(start.fault(at, message))
}

/// Why an element with mid-edge nodes is rejected: the simulation uses linear tetrahedra, and dropping nodes would
/// change the shape.
fn higher_order(element: &str, number: u64, kind: u64, linear: &str) -> String {
    format!(
        "{element} {number} is a tetrahedron of second or higher order (type {kind}), expected 4 nodes \
         (type {linear}): mesh again with element order 1"
    )
}

/// Why a solid other than a tetrahedron is rejected.
fn other_solid(element: &str, number: u64, kind: u64, linear: &str) -> String {
    format!(
        "{element} {number} is a solid other than a tetrahedron (type {kind}), expected type {linear}: leaving it out would leave \
         a hole; mesh again with tetrahedra only"
    )
}

/// A tetrahedron of the file.
struct Tet {
    /// Its number in the file.
    number: u64,
    /// Its offset in the file.
    at: usize,
    /// Indices of [`UncheckedMesh::nodes`].
    nodes: [usize; 4],
}

/// Result of a reader: all references are valid, shapes are not yet checked.
struct UncheckedMesh {
    /// The section of the elements, the format's name for them, and the offset of the section.
    section: &'static str,
    element: &'static str,
    heading: usize,
    nodes: Vec<Vec3>,
    tets: Vec<Tet>,
    /// Number of elements of other types.
    skipped: usize,
}

impl UncheckedMesh {
    /// Removes unused nodes and checks the mesh.
    fn finish(self, scale: f64) -> Result<TetMesh, ScanError<'static>> {
        let mut used = vec![false; self.nodes.len()];
        for &node in self.tets.iter().flat_map(|tet| &tet.nodes) {
            used[node] = true;
        }
        let mut mesh = TetMesh::default();
        let mut renumbered = Vec::with_capacity(used.len());
        for (&used, node) in used.iter().zip(&self.nodes) {
            // u32 is enough: more nodes would take tens of gigabytes of text.
            renumbered.push(mesh.nodes.len() as u32);
            if used {
                mesh.nodes.push(scale * node);
            }
        }
        mesh.tets = self.tets.iter().map(|tet| tet.nodes.map(|node| renumbered[node])).collect();
        let fault = |message: String| ScanError { at: self.heading, section: self.section, message };
        if mesh.tets.len() > TETRAHEDRA {
            let found = mesh.tets.len();
            return Err(fault(format!("found {found} tetrahedra, expected at most {TETRAHEDRA}: mesh more coarsely")));
        }
        if let Some(why) = size_fault(&mesh.nodes) {
            return Err(fault(why));
        }
        match mesh.check() {
            Ok(()) => Ok(mesh),
            Err(fault) => Err(self.fault(&mesh, &fault)),
        }
    }

    /// Describes an error of the mesh in terms of the file.
    fn fault(&self, mesh: &TetMesh, fault: &MeshFault) -> ScanError<'static> {
        let at_tet = |tet: usize| self.tets.get(tet).map_or((0, self.heading), |tet| (tet.number, tet.at));
        let element = self.element;
        let (at, message) = match *fault {
            MeshFault::Inverted { tet, volume } => {
                let (number, at) = at_tet(tet);
                let count = mesh.tets.len();
                let inverted = (0..count).filter(|&tet| mesh.volume(tet) < 0.0).count();
                let fix = match inverted {
                    _ if inverted < count => {
                        format!("{inverted} of {count} are, so mesh again or swap two of their nodes")
                    }
                    1 => "swap two of its nodes".into(),
                    _ => format!("all {count} tetrahedra are inverted, so swap two nodes of each"),
                };
                let volume = format!("{element} {number} is inverted (volume {volume:.3e} m³)");
                (at, format!("{volume}, expected (b−a)·((c−a)×(d−a)) > 0: {fix}"))
            }
            MeshFault::Flat { tet, quality } => {
                let (number, at) = at_tet(tet);
                let quality = format!("{element} {number} is flat (quality {quality:.1e}, a regular one has 1)");
                (at, format!("{quality}, expected corners that span a volume: mesh again or remove it"))
            }
            MeshFault::Empty => {
                let skipped = format!("{} {element}s of other types were skipped", self.skipped);
                (self.heading, format!("found no tetrahedra with 4 nodes, expected at least one ({skipped})"))
            }
            _ => (self.heading, fault.to_string()),
        };
        ScanError { at, section: self.section, message }
    }
}

/// Minimum and maximum of the longest side of a mesh, m.
const SIDE: (f64, f64) = (1e-4, 100.0);
/// Maximum coordinate, m.
const MAX_COORDINATE: f64 = 100.0;

/// Extents along the axes; zero without points.
fn extents(points: &[Vec3]) -> Vec3 {
    let Some(first) = points.first() else { return Vec3::zeros() };
    let (low, high) = points.iter().fold((*first, *first), |(low, high), p| (low.inf(p), high.sup(p)));
    high - low
}

/// The problem of the size of a mesh, if any: one that is smaller than a hair or larger than a hall is most likely in other units.
fn size_fault(points: &[Vec3]) -> Option<String> {
    let side = extents(points).max();
    let units = "coordinates times `scale` are metres, so set `scale = 0.001` if the file is in millimetres";
    if points.is_empty() {
        None
    } else if !(SIDE.0..=SIDE.1).contains(&side) {
        Some(format!("the mesh is {side:.3e} m long, expected {} to {} m: {units}", SIDE.0, SIDE.1))
    } else {
        let far = points.iter().map(|p| p.amax()).fold(0.0, f64::max);
        (far > MAX_COORDINATE)
            .then(|| format!("a vertex is {far:.3e} m from the origin, expected at most {MAX_COORDINATE} m: {units}"))
    }
}

#[cfg(test)]
mod tests;
