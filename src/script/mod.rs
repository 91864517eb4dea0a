//! Rank 7: Rhai scripts. The only module that names rhai.

mod check;
mod limits;

pub use check::{ScriptError, check};
