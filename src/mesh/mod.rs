//! Rank 1: meshes as pure geometry. Tetrahedra, triangle surfaces, how good their elements are, and the ways to make them.

mod isosurface;
mod shell;
mod surface;
mod tetrahedra;

pub use isosurface::{Grid, polygonise};
pub use shell::{ShellGrid, shell};
pub use surface::{SurfaceMesh, SurfaceVertexMap};
pub use tetrahedra::{MeshFault, TetMesh, block, blocks};
