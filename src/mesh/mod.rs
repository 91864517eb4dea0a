//! Rank 1: meshes as pure geometry: tetrahedra, triangle surfaces, element quality, and mesh generators.
//!
//! ```
//! use fingerpad::math::Vec3;
//! use fingerpad::mesh::block;
//!
//! let mesh = block(&Vec3::new(0.1, 0.2, 0.3), [2, 4, 6]);
//! assert!(mesh.check().is_ok());
//! assert!((mesh.total_volume() - 0.006).abs() < 1e-12);
//! ```

mod ball;
mod clip;
mod grid;
mod isosurface;
mod revolved;
mod shell;
mod surface;
mod tetrahedra;

pub use ball::ball;
pub use clip::{Clip, ClipFault, pipe};
pub use isosurface::{Grid, polygonise};
pub use revolved::{Ring, revolved};
pub use shell::{ShellGrid, shell};
pub use surface::{SolidMoments, SurfaceMesh, SurfaceVertexMap};
pub use tetrahedra::{MeshFault, NodeMap, TetMesh, block, blocks};
