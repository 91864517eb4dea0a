use kiss3d::camera::Camera3d;
use kiss3d::event::WindowEvent;
use kiss3d::glamx::glam::camera::rh::proj::opengl;
use kiss3d::glamx::{Mat4, Pose3, Vec3};
use kiss3d::window::Canvas;

use crate::viewer::Camera;

/// Units of the renderer in a metre: a hand is then about as far away as shadows and clipping are tuned for. It never changes, so what does
/// not move is put on the graphics card once.
const SCALE: f32 = 25.0;

/// A camera in the renderer's space.
pub struct Eye {
    at: Vec3,
    distance: f32,
    pose: Pose3,
    projection: Mat4,
}

impl Eye {
    /// The eye of a camera, in a window of some size.
    pub fn new(camera: &Camera, size: (u32, u32)) -> Self {
        let [eye, target] = [camera.eye, camera.target].map(place);
        let distance = eye.distance(target).max(1e-3);
        let aspect = size.0.max(1) as f32 / size.1.max(1) as f32;
        let (near, far) = planes(distance);
        Self {
            at: eye,
            distance,
            pose: Pose3::look_at_rh(eye, target, camera.up.into()),
            projection: opengl::perspective(camera.field_of_view, aspect, near, far),
        }
    }

    /// How far away it looks.
    pub fn distance(&self) -> f32 {
        self.distance
    }

    /// A point drawn near to the eye: seen at the same place, before everything else.
    pub fn before_all(&self, point: Vec3) -> Vec3 {
        self.at.lerp(point, 0.15)
    }

    /// A point a hair nearer, so that a line lies over its surface.
    pub fn nearer(&self, point: Vec3) -> Vec3 {
        point.lerp(self.at, 1e-3)
    }
}

/// A point of a figure in the renderer's space.
pub fn place(point: [f32; 3]) -> Vec3 {
    SCALE * Vec3::from(point)
}

fn planes(distance: f32) -> (f32, f32) {
    (0.04 * distance, 20.0 * distance.max(10.0))
}

impl Camera3d for Eye {
    fn handle_event(&mut self, _: &Canvas, _: &WindowEvent) {}

    fn eye(&self) -> Vec3 {
        self.at
    }

    fn view_transform(&self) -> Pose3 {
        self.pose
    }

    fn transformation(&self) -> Mat4 {
        self.projection * self.pose.to_mat4()
    }

    fn inverse_transformation(&self) -> Mat4 {
        self.transformation().inverse()
    }

    fn clip_planes(&self) -> (f32, f32) {
        planes(self.distance)
    }

    fn update(&mut self, _: &Canvas) {}

    fn view_transform_pair(&self, _: usize) -> (Pose3, Mat4) {
        (self.pose, self.projection)
    }
}
