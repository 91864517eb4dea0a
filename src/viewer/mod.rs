//! Rank 7: pictures of meshes and lines, drawn off screen with kiss3d; no display server is needed.
//!
//! The only module that names kiss3d and wgpu. A [`Figure`] says what is seen; [`draw`] makes a [`Picture`] of it.

mod adapter;
mod camera;
mod draw;
mod figure;
mod picture;
#[cfg(test)]
mod tests;

pub use camera::Camera;
pub use draw::{draw, draw_all};
pub use figure::{Colour, Figure, Lines, PAPER, Painted, SKIN};
pub use picture::Picture;

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewerError {
    /// Neither a graphics card's driver nor a software one is installed.
    #[error(
        "no graphics adapter was found (Vulkan or OpenGL); \
         install a driver, or mesa-vulkan-drivers for drawing in software"
    )]
    NoAdapter,
    /// The figure cannot be drawn as it is.
    #[error("figure {index} cannot be drawn: {problem}")]
    BadFigure {
        /// Its place among those asked for, from 0.
        index: usize,
        /// What is wrong with it.
        problem: String,
    },
    /// The driver or the renderer gave up.
    #[error("drawing failed: {0}")]
    Failed(String),
}
