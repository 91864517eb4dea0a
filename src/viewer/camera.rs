use kiss3d::camera::Camera3d;
use kiss3d::glamx::Vec3;

use super::eye_view::EyeView;
use super::figure::Painted;
use super::lens::Lens;
use super::window::eye::RENDER_SCALE;

/// Vertical field of view of scene pictures, degrees.
const FIELD_OF_VIEW: f32 = 28.0;

/// A camera position and target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Camera {
    /// Eye position, m.
    pub eye: [f32; 3],
    /// Point in the centre of the picture, m.
    pub target: [f32; 3],
    /// Up direction; if it is parallel to the view direction, another one is used.
    pub up: [f32; 3],
    /// Vertical field of view, rad.
    pub field_of_view: f32,
}

impl Camera {
    /// Frames all meshes from a direction, in a picture at least as wide as high.
    pub fn around(meshes: &[Painted], direction: [f32; 3]) -> Self {
        let points = || meshes.iter().flat_map(|mesh| &mesh.vertices).map(|&p| Vec3::from(p));
        let (low, high) =
            points().fold((Vec3::INFINITY, Vec3::NEG_INFINITY), |(low, high), p| (low.min(p), high.max(p)));
        let centre = if low.is_finite() && high.is_finite() { 0.5 * (low + high) } else { Vec3::ZERO };
        let radius = points().map(|p| p.distance(centre)).fold(0.0, f32::max);
        let field_of_view = 35_f32.to_radians();
        // The bounding sphere touches the edges of the view; 10 % margin.
        let distance = if radius > 0.0 { 1.1 * radius / (0.5 * field_of_view).sin() } else { 1.0 };
        let eye = centre + distance * Vec3::from(direction).normalize_or(Vec3::Z);
        Self { eye: eye.into(), target: centre.into(), up: [0.0, 1.0, 0.0], field_of_view }
    }

    /// Frames all points as large as possible from a direction, for an aspect ratio.
    pub(super) fn fitted(points: &[[f32; 3]], direction: crate::math::Vec3, aspect: f64) -> Self {
        let field_of_view = FIELD_OF_VIEW.to_radians();
        let back = Vec3::new(direction.x as f32, direction.y as f32, direction.z as f32).normalize_or(Vec3::Z);
        let right = Vec3::Y.cross(back).try_normalize().unwrap_or(Vec3::X);
        let axes = [right, back.cross(right), back];
        let points: Vec<[f32; 3]> = points.iter().map(|&p| axes.map(|axis| axis.dot(p.into()))).collect();
        let middle = |values: &dyn Fn(&[f32; 3]) -> [f32; 2]| {
            let ends = points
                .iter()
                .map(values)
                .fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], v| [low.min(v[0]), high.max(v[1])]);
            if ends[0].is_finite() && ends[1].is_finite() { 0.5 * (ends[0] + ends[1]) } else { 0.0 }
        };
        let mut target: [f32; 3] = std::array::from_fn(|i| middle(&|p| [p[i]; 2]));
        // A margin of one twelfth of the picture at each edge.
        let slope = 0.84 * (0.5 * field_of_view).tan();
        let slopes = [slope * aspect as f32, slope];
        let mut distance = 0.0;
        // Perspective shifts the centre of the picture from that of the points.
        for _ in 0..4 {
            let needed = |p: &[f32; 3]| {
                let aside = |i: usize| (p[i] - target[i]).abs() / slopes[i];
                p[2] - target[2] + aside(0).max(aside(1))
            };
            distance = points.iter().map(needed).fold(0.0, f32::max);
            for i in 0..2 {
                let seen = |p: &[f32; 3]| (p[i] - target[i]) / (distance - (p[2] - target[2])).max(0.1 * distance);
                target[i] += distance * middle(&|p| [seen(p); 2]);
            }
        }
        let distance = if distance > 1e-3 && distance.is_finite() { distance } else { 1.0 };
        let target = (0..3).map(|i| target[i] * axes[i]).fold(Vec3::ZERO, |sum, part| sum + part);
        let eye = target + distance * back;
        Self { eye: eye.into(), target: target.into(), up: [0.0, 1.0, 0.0], field_of_view }
    }

    /// The view that a scene specifies.
    pub(super) fn at(view: &crate::assets::Viewpoint) -> Self {
        let [eye, target] = [view.position, view.target].map(|p| p.cast::<f32>().into());
        Self { eye, target, up: [0.0, 1.0, 0.0], field_of_view: FIELD_OF_VIEW.to_radians() }
    }

    /// Zooms in by a factor, towards a point if there is one.
    pub(super) fn nearer(&self, zoom: f64, place: Option<crate::math::Vec3>) -> Self {
        if !(zoom > 0.0 && zoom.is_finite()) || zoom == 1.0 {
            return *self;
        }
        let away = (Vec3::from(self.eye) - Vec3::from(self.target)) / zoom as f32;
        let place = place.filter(|_| zoom > 1.0).map(|p| Vec3::new(p.x as f32, p.y as f32, p.z as f32));
        let target = place.unwrap_or(self.target.into());
        Self { eye: (target + away).into(), target: target.into(), ..*self }
    }

    /// Unit vectors at a point: towards the eye, and up in the picture.
    pub(super) fn towards_and_up(&self, point: &crate::math::Vec3) -> [crate::math::Vec3; 2] {
        let vector = |v: [f32; 3]| crate::math::Vec3::from(v.map(f64::from));
        let towards = (vector(self.eye) - point).try_normalize(0.0).unwrap_or_else(crate::math::Vec3::z);
        let up = vector(self.up);
        let up = (up - up.dot(&towards) * towards).try_normalize(1e-6).unwrap_or_else(crate::math::Vec3::x);
        [towards, up]
    }

    /// Pixel of a point, from the upper left corner; `None` behind the eye, or for an invalid camera.
    pub fn project(&self, size: (u32, u32), point: [f32; 3]) -> Option<[f32; 2]> {
        if self.check().is_err() || size.0 == 0 || size.1 == 0 {
            return None;
        }
        let view = View::new(self, size);
        let clip = view.lens.transformation() * view.place(point).extend(1.0);
        let pixel = |ndc: f32, pixels: u32| 0.5 * (1.0 + ndc) * pixels as f32;
        (clip.w > 0.0).then(|| [pixel(clip.x / clip.w, size.0), pixel(-clip.y / clip.w, size.1)])
    }

    /// Reports the first error of the camera.
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
/// are tuned for that space, so quality does not depend on the size of the scene.
pub(super) struct View {
    pub lens: Lens,
    pub up: Vec3,
    /// Where the fog is measured from, in the renderer's space.
    pub distance: f32,
    target: Vec3,
    scale: f32,
}

impl View {
    pub const DISTANCE: f32 = 10.0;
    const PLANES: (f32, f32) = (0.04 * Self::DISTANCE, 20.0 * Self::DISTANCE);

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
        let lens = Lens::new(eye, Vec3::ZERO, up, camera.field_of_view, size, Self::PLANES);
        Self { lens, up, distance: Self::DISTANCE, target, scale }
    }

    /// The view of an eye, in the renderer's space of the window.
    pub fn of_eye(eye: &EyeView) -> Self {
        let (lens, distance) = (eye.lens(), RENDER_SCALE * EyeView::FOG);
        Self { lens, up: Vec3::Y, distance, target: Vec3::ZERO, scale: RENDER_SCALE }
    }

    /// A point of the figure in the renderer's space.
    pub fn place(&self, point: [f32; 3]) -> Vec3 {
        (Vec3::from(point) - self.target) * self.scale
    }
}
