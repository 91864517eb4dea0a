//! Rank 1: meshes as pure geometry. Tetrahedra, triangle surfaces, how good their elements are, and the ways to make them.

mod ball;
mod isosurface;
mod revolved;
mod shell;
mod surface;
mod tetrahedra;

pub use ball::ball;
pub use isosurface::{Grid, polygonise};
pub use revolved::{Ring, revolved};
pub use shell::{ShellGrid, shell};
pub use surface::{SolidMoments, SurfaceMesh, SurfaceVertexMap};
pub use tetrahedra::{MeshFault, TetMesh, block, blocks};
