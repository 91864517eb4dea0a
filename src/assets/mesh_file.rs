//! Meshes from files: closed surfaces, and tetrahedra. A reader for each format of the latter makes a draft that
//! remembers where every element stands; what makes a draft a sound mesh is the same for all.

mod gmsh;
mod obj;
mod scan;
mod size;
mod vtk;

use std::path::Path;

pub use self::obj::parse_surface_mesh;
use self::scan::{Fault, Scanner};
use super::limits::TETRAHEDRA;
use super::problem::{Problem, Problems, line_column};
use crate::math::Vec3;
use crate::mesh::{MeshFault, TetMesh};

/// Reads a tetrahedral mesh from the text of a Gmsh 2.2 or 4.1 ASCII file or a legacy VTK ASCII unstructured grid.
///
/// The format is recognised by the text; `file` only goes into the problems. Coordinates are taken as they stand.
/// Points, lines and faces are skipped, and so are nodes that no tetrahedron uses; other solids are refused.
pub fn parse_tet_mesh(file: &Path, text: &str) -> Result<TetMesh, Problems> {
    read(text).and_then(|draft| draft.finish()).map_err(|Fault { at, section, message }| {
        let (line, column) = line_column(text, at);
        Problems(vec![Problem { file: file.into(), line, column, key: section.into(), message }])
    })
}

fn read(text: &str) -> Result<Draft, Fault<'_>> {
    let mut start = Scanner::new(text);
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

/// Why an element with nodes on its edges is refused: the simulation is of linear tetrahedra, and to drop nodes would
/// change the shape.
fn higher_order(element: &str, number: u64, kind: u64, linear: &str) -> String {
    format!(
        "{element} {number} is a tetrahedron of second or higher order (type {kind}), expected 4 nodes \
         (type {linear}): mesh again with element order 1"
    )
}

/// Why a solid that is no tetrahedron is refused.
fn other_solid(element: &str, number: u64, kind: u64, linear: &str) -> String {
    format!(
        "{element} {number} is a solid other than a tetrahedron (type {kind}), expected type {linear}: leaving it out would leave \
         a hole; mesh again with tetrahedra only"
    )
}

/// A tetrahedron as it stands in the file.
struct Tet {
    /// Its number in the file.
    number: u64,
    /// The offset of what stands for it in the file.
    at: usize,
    /// Indices of [`Draft::nodes`].
    nodes: [usize; 4],
}

/// What a reader found: every reference is sound, the shapes are not yet looked at.
struct Draft {
    /// The section of the elements, what the format calls them, and the offset of the section.
    section: &'static str,
    element: &'static str,
    heading: usize,
    nodes: Vec<Vec3>,
    tets: Vec<Tet>,
    /// How many elements were of other types.
    skipped: usize,
}

impl Draft {
    /// Drops unused nodes and checks the mesh.
    fn finish(self) -> Result<TetMesh, Fault<'static>> {
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
                mesh.nodes.push(*node);
            }
        }
        mesh.tets = self.tets.iter().map(|tet| tet.nodes.map(|node| renumbered[node])).collect();
        let fault = |message: String| Fault { at: self.heading, section: self.section, message };
        if mesh.tets.len() > TETRAHEDRA {
            let found = mesh.tets.len();
            return Err(fault(format!("found {found} tetrahedra, expected at most {TETRAHEDRA}: mesh more coarsely")));
        }
        if let Some(why) = size::size_fault(&mesh.nodes) {
            return Err(fault(why));
        }
        match mesh.check() {
            Ok(()) => Ok(mesh),
            Err(fault) => Err(self.fault(&mesh, &fault)),
        }
    }

    /// Says in terms of the file what is wrong with the mesh made from it.
    fn fault(&self, mesh: &TetMesh, fault: &MeshFault) -> Fault<'static> {
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
        Fault { at, section: self.section, message }
    }
}

#[cfg(test)]
mod tests;
