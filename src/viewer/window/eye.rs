use kiss3d::glamx::Vec3;

use crate::viewer::Camera;
use crate::viewer::lens::Lens;

/// Units of the renderer in a metre: a hand is then about as far away as shadows and clipping are tuned for. It never changes, so what does
/// not move is put on the graphics card once.
const SCALE: f32 = 25.0;

/// The lens of a camera in the renderer's space, in a window of some size, and how far away it looks.
pub fn lens(camera: &Camera, size: (u32, u32)) -> (Lens, f32) {
    let [eye, target] = [camera.eye, camera.target].map(place);
    let distance = eye.distance(target).max(1e-3);
    let planes = (0.04 * distance, 20.0 * distance.max(10.0));
    (Lens::new(eye, target, camera.up.into(), camera.field_of_view, size, planes), distance)
}

/// A point of a figure in the renderer's space.
pub fn place(point: [f32; 3]) -> Vec3 {
    SCALE * Vec3::from(point)
}
