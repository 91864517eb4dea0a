//! Rank 7: pictures of scenes, drawn off screen with kiss3d; no display server is needed.
//!
//! The only module that names kiss3d and wgpu. A [`Frame`] is what moves, copied out of a world; a [`Stage`] knows the rest of the scene
//! and makes a [`Figure`] of it, which says what is seen; [`draw`] makes a [`Picture`] of that.

mod adapter;
mod animation;
mod camera;
mod draw;
mod figure;
mod frame;
mod layers;
mod legend;
mod lens;
mod palette;
mod picture;
mod solids;
mod stage;
#[cfg(test)]
mod tests;
pub mod window;

pub use animation::animated_png;
pub use camera::Camera;
pub use draw::{draw, draw_all};
pub use figure::{Colour, Figure, Lines, PAPER, Painted, SKIN};
pub use frame::{Frame, HandFrame};
pub use layers::Layers;
pub use legend::{Legend, full_scale};
pub use palette::{Paint, Palette};
pub use picture::Picture;
pub use stage::{Look, Stage};

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
