use kiss3d::glamx::{Mat4, Pose3, Quat as GpuQuat, Vec4};

use super::camera::Camera;
use super::lens::Lens;
use super::window::eye::{RENDER_SCALE, place};
use crate::math::{Pose, Vec3};

/// Near and far clipping planes, m.
const PLANES: [f32; 2] = [0.03, 60.0];

/// Angles from the viewing axis of an eye to the edges of its picture, rad; negative to the left and below.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Fov {
    /// Left edge.
    pub left: f64,
    /// Right edge.
    pub right: f64,
    /// Upper edge.
    pub up: f64,
    /// Lower edge.
    pub down: f64,
}

impl Fov {
    /// Whether it spans a picture.
    pub fn is_sound(&self) -> bool {
        let limit = std::f64::consts::FRAC_PI_2;
        let all = [self.left, self.right, self.up, self.down];
        all.iter().all(|a| a.is_finite() && a.abs() < limit) && self.left < self.right && self.down < self.up
    }

    /// Width over height of a picture with square pixels.
    pub fn aspect(&self) -> f64 {
        (self.right.tan() - self.left.tan()) / (self.up.tan() - self.down.tan())
    }

    /// The asymmetric perspective projection with depths from −1 to 1. With `l, r, t, b` the tangents of the angles, a point
    /// `(x, y, −z)` is at `((2x/z − r − l) / (r − l), (2y/z − t − b) / (t − b))`.
    fn projection(&self, near: f32, far: f32) -> Mat4 {
        let [l, r, t, b] = [self.left, self.right, self.up, self.down].map(|angle| angle.tan() as f32);
        Mat4::from_cols(
            Vec4::new(2.0 / (r - l), 0.0, 0.0, 0.0),
            Vec4::new(0.0, 2.0 / (t - b), 0.0, 0.0),
            Vec4::new((r + l) / (r - l), (t + b) / (t - b), -(far + near) / (far - near), -1.0),
            Vec4::new(0.0, 0.0, -2.0 * far * near / (far - near), 0.0),
        )
    }

    /// Pixel of a point in the frame of the eye, from the upper left corner; `None` behind the eye.
    pub fn project(&self, size: (u32, u32), point: &Vec3) -> Option<[f64; 2]> {
        let [l, r, t, b] = [self.left, self.right, self.up, self.down].map(f64::tan);
        let (x, y) = (point.x / -point.z, point.y / -point.z);
        (point.z < 0.0).then(|| [(x - l) / (r - l) * f64::from(size.0), (t - y) / (t - b) * f64::from(size.1)])
    }
}

/// Pose and field of view of an eye in the world of the scene.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EyeView {
    /// Looks along −z, with y up.
    pub pose: Pose,
    /// Field of view.
    pub fov: Fov,
}

impl EyeView {
    /// Distances of the depths 0 and 1 in the depth image, m. The projection has clip depths from −1 to 1, with near and far
    /// planes `n, f`: at a distance `d` it gives `z = (f + n)/(f − n) − 2 f n/((f − n) d)`. The graphics card keeps `0 ≤ z ≤ 1`
    /// only, so what is nearer than `z = 0`, at `d = 2 f n/(f + n)`, is cut off. As `z` is linear in `1/d`, the image is that of
    /// a projection with depths from 0 to 1 and planes at these two distances.
    #[cfg(any(test, feature = "vr"))]
    pub(super) const DEPTHS: [f64; 2] = {
        let (n, f) = (PLANES[0] as f64, PLANES[1] as f64);
        [2.0 * f * n / (f + n), f]
    };

    /// Distance along the viewing axis, m, of a depth from 0 to 1.
    #[cfg(any(test, feature = "vr"))]
    pub(super) fn distance_of_depth(depth: f64) -> f64 {
        let [near, far] = Self::DEPTHS.map(f64::recip);
        (near + depth * (far - near)).recip()
    }

    /// Distance that the fog is tuned for, m.
    pub(super) const FOG: f32 = 1.5;

    /// Whether it can be drawn.
    pub fn is_sound(&self) -> bool {
        self.fov.is_sound() && self.pose.to_homogeneous().iter().all(|x| x.is_finite())
    }

    /// Pixel of a point of the world, from the upper left corner; `None` behind the eye.
    pub fn project(&self, size: (u32, u32), point: &Vec3) -> Option<[f64; 2]> {
        self.fov.project(size, &self.pose.inverse_transform_point(&(*point).into()).coords)
    }

    /// A camera at the eye that looks the same way. Marks are oriented towards it.
    pub fn camera(&self) -> Camera {
        let turn = self.pose.rotation;
        let eye = self.pose.translation.vector;
        let [ahead, up] = [eye - turn * Vec3::z(), turn * Vec3::y()].map(|v| v.cast::<f32>().into());
        Camera { eye: eye.cast::<f32>().into(), target: ahead, up, field_of_view: 1.0 }
    }

    /// The camera that the lights are placed by: that of a user at +z, who looks down at the origin. It does not move with the
    /// head, so shading stays with the scene.
    pub(super) const LIGHTING: Camera =
        Camera { eye: [0.0, 0.45, 0.40], target: [0.0; 3], up: [0.0, 1.0, 0.0], field_of_view: 1.0 };

    /// The camera of the eye in the renderer's space.
    pub(super) fn lens(&self) -> Lens {
        let (p, q) = (self.pose.translation.vector.cast::<f32>(), self.pose.rotation.cast::<f32>());
        let eye = place(p.into());
        let pose = Pose3::from_parts(eye, GpuQuat::from_xyzw(q.i, q.j, q.k, q.w)).inverse();
        let planes = (RENDER_SCALE * PLANES[0], RENDER_SCALE * PLANES[1]);
        Lens::with_projection(eye, pose, self.fov.projection(planes.0, planes.1), planes)
    }
}

#[cfg(test)]
mod tests {
    use kiss3d::camera::Camera3d;

    use super::*;
    use crate::math::Quat;

    const FOV: Fov = Fov { left: -0.9, right: 0.7, up: 0.6, down: -0.8 };

    #[test]
    fn edges_of_the_field_of_view_are_edges_of_the_picture() {
        let matrix = FOV.projection(0.1, 100.0);
        let clip = |x: f64, y: f64, z: f64| {
            let p = matrix * Vec4::new((x * z) as f32, (y * z) as f32, -z as f32, 1.0);
            [p.x / p.w, p.y / p.w, p.z / p.w]
        };
        let near = |a: [f32; 3], b: [f32; 3]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-4);
        assert!(near(clip(FOV.left.tan(), FOV.down.tan(), 0.1), [-1.0, -1.0, -1.0]));
        assert!(near(clip(FOV.right.tan(), FOV.up.tan(), 100.0), [1.0, 1.0, 1.0]));
        // The axis is off the centre of an asymmetric picture.
        let [x, y] = FOV.project((1000, 500), &Vec3::new(0.0, 0.0, -2.0)).expect("in front");
        let [cx, cy, _] = clip(0.0, 0.0, 2.0);
        assert!((x - 500.0 * f64::from(1.0 + cx)).abs() < 1e-2 && (y - 250.0 * f64::from(1.0 - cy)).abs() < 1e-2);
        assert!(x > 550.0 && FOV.project((10, 10), &Vec3::z()).is_none());
        assert!(FOV.is_sound() && !Fov::default().is_sound());
    }

    #[test]
    fn depths_become_distances() {
        let view = EyeView { pose: Pose::identity(), fov: FOV };
        for distance in [0.07, 0.4, 1.5, 30.0] {
            let point = place([0.0, 0.0, -distance]).extend(1.0);
            let clip = view.lens().transformation() * point;
            let found = EyeView::distance_of_depth(f64::from(clip.z / clip.w));
            assert!((found / f64::from(distance) - 1.0).abs() < 2e-3, "{distance}: {found}");
        }
    }

    #[test]
    fn disparity_is_baseline_times_focal_length_over_distance() {
        let (fov, size, base) = (Fov { left: -0.8, right: 0.8, up: 0.8, down: -0.8 }, (800, 800), 0.064);
        let focal = 400.0 / 0.8_f64.tan();
        let column = |eye: f64| fov.project(size, &Vec3::new(0.02 - eye, 0.1, -0.7)).expect("in front")[0];
        assert!((column(-base / 2.0) - column(base / 2.0) - base * focal / 0.7).abs() < 1e-9);
    }

    #[test]
    fn the_lens_shows_points_where_the_field_of_view_projects_them() {
        let turn = Quat::from_scaled_axis(Vec3::new(0.2, 0.7, -0.3));
        let view = EyeView { pose: Pose::from_parts(Vec3::new(0.1, 1.5, 0.3).into(), turn), fov: FOV };
        let world = (view.pose * nalgebra::Point3::from(Vec3::new(0.12, -0.08, -0.6))).coords;
        let clip = view.lens().transformation() * place(world.cast::<f32>().into()).extend(1.0);
        let [x, y] = view.project((640, 480), &world).expect("in front");
        let seen = [320.0 * (1.0 + clip.x / clip.w), 240.0 * (1.0 - clip.y / clip.w)];
        assert!((f64::from(seen[0]) - x).abs() < 0.01 && (f64::from(seen[1]) - y).abs() < 0.01, "{seen:?} {x} {y}");
    }
}
