use kiss3d::camera::Camera3d;
use kiss3d::event::WindowEvent;
use kiss3d::glamx::glam::camera::rh::proj::opengl;
use kiss3d::glamx::{Mat4, Pose3, Vec3};
use kiss3d::window::Canvas;

/// A fixed camera in the renderer's space.
pub(super) struct Lens {
    pub eye: Vec3,
    pose: Pose3,
    projection: Mat4,
    planes: (f32, f32),
}

impl Lens {
    /// Foreground marks are drawn at this fraction of their distance.
    const BEFORE_ALL: f32 = 0.15;

    /// A perspective camera with a vertical field of view (rad) for a picture size, and near and far clipping planes.
    pub fn new(eye: Vec3, target: Vec3, up: Vec3, angle: f32, size: (u32, u32), planes: (f32, f32)) -> Self {
        let aspect = size.0.max(1) as f32 / size.1.max(1) as f32;
        let projection = opengl::perspective(angle, aspect, planes.0, planes.1);
        Self { eye, pose: Pose3::look_at_rh(eye, target, up), projection, planes }
    }

    /// A camera with a given projection; `pose` maps the renderer's space to that of the eye.
    pub fn with_projection(eye: Vec3, pose: Pose3, projection: Mat4, planes: (f32, f32)) -> Self {
        Self { eye, pose, projection, planes }
    }

    /// Moves a point towards the eye: same pixel, in front of everything else.
    pub fn before_all(&self, point: Vec3) -> Vec3 {
        self.eye.lerp(point, Self::BEFORE_ALL)
    }

    /// Moves a point slightly towards the eye, so that a line is drawn on top of its surface.
    pub fn nearer(&self, point: Vec3) -> Vec3 {
        point.lerp(self.eye, 1e-3)
    }
}

impl Camera3d for Lens {
    fn handle_event(&mut self, _: &Canvas, _: &WindowEvent) {}

    fn eye(&self) -> Vec3 {
        self.eye
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
        self.planes
    }

    fn update(&mut self, _: &Canvas) {}

    fn view_transform_pair(&self, _: usize) -> (Pose3, Mat4) {
        (self.pose, self.projection)
    }
}
