//! Limits of files and worlds. `docs/threats.md` lists them, checked by a test.
//!
//! ```
//! use fingerpad::assets::limits::DESCRIPTION_BYTES;
//!
//! assert_eq!(DESCRIPTION_BYTES, 4 * 1024 * 1024);
//! ```

/// Bytes of a scene, a hand or the profile of a device.
pub const DESCRIPTION_BYTES: u64 = 4 << 20;
/// Bytes of a script.
pub const SCRIPT_BYTES: u64 = 256 << 10;
/// Bytes of a mesh.
pub const MESH_BYTES: u64 = 64 << 20;
/// Bytes of all files that one scene or script reads.
pub const ALL_BYTES: u64 = 256 << 20;
/// Bytes of a contact problem.
pub const PROBLEM_BYTES: u64 = 1 << 30;
/// Bytes of a recording, of either kind.
pub const RECORDING_BYTES: u64 = 1 << 30;
/// Triangles of a surface from a file.
pub const TRIANGLES: usize = 100_000;
/// Vertices of a surface from a file, with those that no triangle uses and those that are repeated.
pub const VERTICES: usize = 3 * TRIANGLES;
/// Tetrahedra of a mesh from a file.
pub const TETRAHEDRA: usize = 35_000;
/// Levels of `base`.
pub const BASES: usize = 8;
/// Bodies of a world.
pub const BODIES: usize = 20_000;
/// Hands of a world.
pub const HANDS: usize = 16;
/// Coordinates of the nodes of all soft bodies and hands of a world.
pub const FREEDOMS: usize = 100_000;
/// Points on the surfaces of all bodies of a world: samples, vertices of meshes and hulls.
pub const POINTS: usize = 400_000;
