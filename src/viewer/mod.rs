//! Rank 7: pictures of scenes, rendered off screen with kiss3d; no display server is needed.
//!
//! The only module that uses kiss3d and wgpu. A [`Frame`] is the moving state, copied out of a world; a [`Stage`] holds
//! the rest of the scene and turns a frame into a [`Figure`]; [`draw`] renders it to a [`Picture`].
//!
//! ```
//! use fingerpad::assets::load_builtin_scene;
//! use fingerpad::viewer::{CameraPlacement, Frame, Layers, Stage};
//!
//! let scene = load_builtin_scene("rest", &[]).expect("a shipped scene")?;
//! let (stage, frame) = (Stage::of(&scene), Frame::of(&scene.world));
//! let camera = stage.camera([&frame], &CameraPlacement::default());
//! let figure = stage.figure(&frame, &Layers::NONE, camera);
//! // `fingerpad::viewer::draw` makes a picture of the figure where there is a graphics adapter.
//! # let _ = figure;
//! # Ok::<(), fingerpad::assets::Problems>(())
//! ```

mod adapter;
mod animation;
mod camera;
mod draw;
mod eye_view;
mod figure;
mod frame;
#[cfg(all(feature = "vr", not(target_os = "macos")))]
pub mod headset;
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
pub use eye_view::{EyeView, Fov};
pub use figure::{Colour, Figure, Lines, PAPER_COLOUR, Painted, SKIN_COLOUR};
pub use frame::{Frame, HandFrame};
pub use layers::Layers;
pub use legend::{Legend, full_scale};
pub use palette::{Paint, Palette};
pub use picture::Picture;
pub use stage::{CameraPlacement, Stage};

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ViewerError {
    /// Neither a graphics driver nor a software renderer is installed.
    #[error(
        "no graphics adapter was found (Vulkan or OpenGL); \
         install a driver, or mesa-vulkan-drivers for drawing in software"
    )]
    NoAdapter,
    /// An invalid figure.
    #[error("figure {index} cannot be drawn: {problem}")]
    BadFigure {
        /// Its index.
        index: usize,
        /// The error.
        problem: String,
    },
    /// The driver or the renderer failed.
    #[error("drawing failed: {0}")]
    Failed(String),
}
