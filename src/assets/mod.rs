//! Rank 6: the only reader of `hands/`, `scenes/` and `devices/`. A file comes in; a checked description or every problem in it
//! goes out.

mod hand_file;
mod mesh_file;
mod problem;
mod table;

pub use hand_file::load_hand;
pub use mesh_file::parse_tet_mesh;
pub use problem::{Problem, Problems};
