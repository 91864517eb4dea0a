use crate::assets::Scene;

/// Data to draw a scene.
#[cfg(feature = "viewer")]
pub type Shot = crate::viewer::Figure;

/// Empty: this build cannot draw.
#[cfg(not(feature = "viewer"))]
pub struct Shot;

/// The current state of a scene.
#[cfg(feature = "viewer")]
pub fn shot(scene: &Scene) -> Shot {
    use crate::cli::render::{From, PictureLayer, scene_figure};
    let from = if scene.world.bodies.hand_ids().is_empty() { From::Oblique } else { From::Side };
    let mut figure = scene_figure(scene, &[PictureLayer::Skin, PictureLayer::Forces], from);
    figure.size = (640, 480);
    figure
}

#[cfg(not(feature = "viewer"))]
pub fn shot(_scene: &Scene) -> Shot {
    Shot
}

/// The pictures as PNG files, or the reason why there are none.
#[cfg(feature = "viewer")]
pub fn draw(shots: &[Shot]) -> Result<Vec<Vec<u8>>, String> {
    let drawn = crate::viewer::draw_all(shots).map_err(|error| error.to_string())?;
    drawn.iter().map(|picture| picture.png_bytes().map_err(|error| error.to_string())).collect()
}

#[cfg(not(feature = "viewer"))]
pub fn draw(_shots: &[Shot]) -> Result<Vec<Vec<u8>>, String> {
    Err("this build does not have the Cargo feature `viewer`".into())
}
