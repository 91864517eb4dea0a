use kiss3d::camera::Camera3d;
use kiss3d::event::WindowEvent;
use kiss3d::glamx::glam::camera::rh::proj::opengl;
use kiss3d::glamx::{Mat4, Pose3, Vec3};
use kiss3d::window::Canvas;

use super::figure::Painted;

/// An eye that looks at a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Where it stands, m.
    pub eye: [f32; 3],
    /// What is in the middle of the picture, m.
    pub target: [f32; 3],
    /// What points upwards in the picture; if that is the direction of view, any other is taken.
    pub up: [f32; 3],
    /// Angle between the lower and the upper edge of the picture, rad.
    pub field_of_view: f32,
}

impl Camera {
    /// Sees all of some meshes, from a direction away from them, in a picture that is at least as wide as high.
    pub fn around(meshes: &[Painted], direction: [f32; 3]) -> Self {
        let points = || meshes.iter().flat_map(|mesh| &mesh.vertices).map(|&p| Vec3::from(p));
        let (low, high) =
            points().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
        let centre = if low.is_finite() && high.is_finite() { 0.5 * (low + high) } else { Vec3::ZERO };
        let radius = points().map(|p| p.distance(centre)).fold(0.0, f32::max);
        let field_of_view = 35_f32.to_radians();
        // The sphere around them touches the edges of the view; a tenth more leaves a margin.
        let distance = if radius > 0.0 { 1.1 * radius / (0.5 * field_of_view).sin() } else { 1.0 };
        let eye = centre + distance * Vec3::from(direction).normalize_or(Vec3::Z);
        Self { eye: eye.into(), target: centre.into(), up: [0.0, 1.0, 0.0], field_of_view }
    }

    /// The pixel at which a point is seen, from the upper left corner; `None` behind the eye, or if nothing can be seen.
    pub fn project(&self, size: (u32, u32), point: [f32; 3]) -> Option<[f32; 2]> {
        if self.check().is_err() || size.0 == 0 || size.1 == 0 {
            return None;
        }
        let view = View::new(self, size);
        let clip = view.transformation() * view.place(point).extend(1.0);
        let pixel = |ndc: f32, pixels: u32| 0.5 * (1.0 + ndc) * pixels as f32;
        (clip.w > 0.0).then(|| [pixel(clip.x / clip.w, size.0), pixel(-clip.y / clip.w, size.1)])
    }

    /// Says the first thing that keeps anything from being seen.
    pub(super) fn check(&self) -> Result<(), String> {
        let [eye, target] = [self.eye, self.target].map(Vec3::from);
        let distance = eye.distance(target);
        if !(distance > 1e-6 && distance < 1e6) {
            return Err("the camera's eye and target must be two finite points".into());
        }
        let angle = self.field_of_view.to_degrees();
        if !(1.0..=170.0).contains(&angle) {
            return Err(format!("the camera's field of view is {angle}°, it must be within 1° to 170°"));
        }
        Ok(())
    }
}

/// A camera in the renderer's space: the target at the origin, the eye [`View::DISTANCE`] away. Shadows and clipping
/// are tuned once, in that space, and a fingertip is drawn as well as a room.
pub(super) struct View {
    pub eye: Vec3,
    pub up: Vec3,
    target: Vec3,
    scale: f32,
    pose: Pose3,
    projection: Mat4,
}

impl View {
    pub const DISTANCE: f32 = 10.0;
    const NEAR: f32 = 0.04 * Self::DISTANCE;
    const FAR: f32 = 20.0 * Self::DISTANCE;

    pub fn new(camera: &Camera, size: (u32, u32)) -> Self {
        let target = Vec3::from(camera.target);
        let away = Vec3::from(camera.eye) - target;
        let scale = Self::DISTANCE / away.length();
        let eye = away * scale;
        let forward = -eye / Self::DISTANCE;
        let wanted = Vec3::from(camera.up);
        let up = (wanted - wanted.dot(forward) * forward)
            .try_normalize()
            .filter(|up| up.is_finite())
            .unwrap_or_else(|| forward.any_orthonormal_vector());
        let aspect = size.0 as f32 / size.1 as f32;
        Self {
            eye,
            up,
            target,
            scale,
            pose: Pose3::look_at_rh(eye, Vec3::ZERO, up),
            projection: opengl::perspective(camera.field_of_view, aspect, Self::NEAR, Self::FAR),
        }
    }

    /// A point of the figure in the renderer's space.
    pub fn place(&self, point: [f32; 3]) -> Vec3 {
        (Vec3::from(point) - self.target) * self.scale
    }
}

impl Camera3d for View {
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
        (Self::NEAR, Self::FAR)
    }

    fn update(&mut self, _: &Canvas) {}

    fn view_transform_pair(&self, _: usize) -> (Pose3, Mat4) {
        (self.pose, self.projection)
    }
}
