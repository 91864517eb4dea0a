use kiss3d::glamx::Vec3;

use crate::viewer::Camera;
use crate::viewer::lens::Lens;

/// Renderer units per metre: a hand is then about as far away as shadows and clipping are tuned for. It is constant, so
/// that static objects are uploaded only once.
pub const RENDER_SCALE: f32 = 25.0;

/// The camera in the renderer's space for a window size, and its viewing distance.
pub fn lens(camera: &Camera, size: (u32, u32)) -> (Lens, f32) {
    let [eye, target] = [camera.eye, camera.target].map(place);
    let distance = eye.distance(target).max(1e-3);
    let planes = (0.04 * distance, 20.0 * distance.max(10.0));
    (Lens::new(eye, target, camera.up.into(), camera.field_of_view, size, planes), distance)
}

/// A point of a figure in the renderer's space.
pub fn place(point: [f32; 3]) -> Vec3 {
    RENDER_SCALE * Vec3::from(point)
}
