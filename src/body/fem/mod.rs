//! Linear tetrahedra with the corotational strain, and the linear systems they make.
//!
//! A cube that is pulled at its top is in equilibrium with the load:
//!
//! ```
//! use fingerpad::body::fem::Continuum;
//! use fingerpad::hand::Material;
//! use fingerpad::math::Vec3;
//! use fingerpad::mesh::block;
//!
//! let mesh = block(&Vec3::new(0.02, 0.02, 0.02), [2, 2, 2]);
//! let lowest = mesh.nodes.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
//! let held: Vec<bool> = mesh.nodes.iter().map(|p| p.y == lowest).collect();
//! let material = Material { young: 1e5, poisson: 0.3, density: 1000.0, damping_mass: 0.0, damping_stiffness: 0.0 };
//! let cube = Continuum::new(&mesh, &held, material);
//! let mut state = cube.at_rest();
//! let load: Vec<f64> = (0..cube.dofs()).map(|i| if i % 3 == 1 { 1e-3 } else { 0.0 }).collect();
//! let left = cube.settle(&mut state, &load, 0.0, 10);
//! assert!(left < 1e-9, "{left} N are left");
//! assert!(cube.elastic_energy(&state, &state.displacement) > 0.0);
//! ```

mod continuum;
mod elastic;
mod element;
mod factor;
mod lanes;
mod matrix;
mod relaxation;
mod saved;
mod statics;

pub use continuum::{Continuum, ContinuumState, Refactor, RefactorPolicy};
pub use element::{Element, Lame, StrainLimit};
pub use factor::Factor;
pub use matrix::{BlockMatrix, BlockPattern};
pub use relaxation::{BRANCHES, Branches, Relaxation};
pub use statics::{StaticCompliance, StaticFault};
