use std::f64::consts::FRAC_PI_2;

use super::keys::UserAction;
use super::puppet::Steer;
use crate::math::Vec3;
use crate::viewer::Camera;

/// An orbiting camera.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Orbit {
    target: Vec3,
    /// Azimuth, rad; 0 from +Z.
    azimuth: f64,
    /// Elevation above the horizon, rad.
    elevation: f64,
    distance: f64,
    field_of_view: f64,
    /// Height of the window in pixels.
    height: f64,
}

/// A drag across the height of the window is half a turn.
const ORBIT_TURN: f64 = std::f64::consts::PI;
/// Palm motion per notch of the wheel, m.
const NOTCH_MOTION: f64 = 0.01;
/// Speed of the palm by held keys, m/s and rad/s.
const GLIDE: f64 = 0.12;
const ORBIT_SPIN: f64 = 0.9;

impl Orbit {
    /// Starts from a camera.
    pub fn of(camera: &Camera) -> Self {
        let point = |p: [f32; 3]| Vec3::from(p.map(f64::from));
        let away = point(camera.eye) - point(camera.target);
        let distance = away.norm().max(1e-3);
        Self {
            target: point(camera.target),
            azimuth: away.x.atan2(away.z),
            elevation: (away.y / distance).clamp(-1.0, 1.0).asin(),
            distance,
            field_of_view: f64::from(camera.field_of_view),
            height: 800.0,
        }
    }

    /// The current camera.
    pub fn camera(&self) -> Camera {
        let single = |v: Vec3| [v.x as f32, v.y as f32, v.z as f32];
        let (eye, up) = (self.target + self.distance * self.back(), Vec3::y());
        Camera {
            eye: single(eye),
            target: single(self.target),
            up: single(up),
            field_of_view: self.field_of_view as f32,
        }
    }

    /// Sets the height of the window.
    pub fn set_height(&mut self, pixels: u32) {
        self.height = f64::from(pixels.max(1));
    }

    /// Rotates as if the scene were dragged.
    pub fn turn(&mut self, [right, down]: [f32; 2]) {
        self.azimuth -= ORBIT_TURN * f64::from(right) / self.height;
        let most = FRAC_PI_2 - 0.01;
        self.elevation = (self.elevation + ORBIT_TURN * f64::from(down) / self.height).clamp(-most, most);
    }

    /// Pans as if the scene were dragged.
    pub fn pan(&mut self, by: [f32; 2]) {
        self.target -= self.across(by, &self.target);
    }

    /// Zooms in by a factor.
    pub fn zoom(&mut self, factor: f32) {
        self.distance = (self.distance / f64::from(factor)).clamp(0.03, 20.0);
    }

    /// Moves the target.
    pub fn shift(&mut self, by: Vec3) {
        self.target += by;
    }

    /// Converts an action in the view to one for a hand with this palm.
    pub fn steer(&self, act: &UserAction, palm: &Vec3) -> Option<Steer> {
        match *act {
            UserAction::Steer(wish) => Some(wish),
            UserAction::Drag(by) => Some(Steer::Move(self.across(by, palm))),
            UserAction::Push(notches) => Some(Steer::Move(self.away(notches))),
            UserAction::Twist(by) => Some(Steer::Turn(self.twist(by))),
            UserAction::Glide(by, turn) => Some(Steer::Glide(GLIDE * self.seen(by), ORBIT_SPIN * self.turned(turn))),
            _ => None,
        }
    }

    /// Motion of a point under a pointer that moves by some pixels.
    pub fn across(&self, [right, down]: [f32; 2], point: &Vec3) -> Vec3 {
        let eye = self.target + self.distance * self.back();
        let depth = (eye - point).dot(&self.back()).max(0.1 * self.distance);
        let metres = 2.0 * depth * (0.5 * self.field_of_view).tan() / self.height;
        metres * (f64::from(right) * self.right() - f64::from(down) * self.up())
    }

    /// Palm motion of some notches of the wheel.
    pub fn away(&self, notches: f32) -> Vec3 {
        -NOTCH_MOTION * f64::from(notches) * self.back()
    }

    /// Rotation vector of a drag.
    pub fn twist(&self, [right, down]: [f32; 2]) -> Vec3 {
        ORBIT_TURN / self.height * (f64::from(right) * self.up() + f64::from(down) * self.right())
    }

    /// A direction right, up and away, horizontal or vertical in the world.
    fn seen(&self, [right, up, away]: [f64; 3]) -> Vec3 {
        let level = Vec3::new(-self.azimuth.sin(), 0.0, -self.azimuth.cos());
        right * self.right() + up * Vec3::y() + away * level
    }

    /// Left and right rotate about the vertical, up and down about the horizontal of the view, the page keys about the
    /// view direction.
    fn turned(&self, [right, up, away]: [f64; 3]) -> Vec3 {
        let level = Vec3::new(-self.azimuth.sin(), 0.0, -self.azimuth.cos());
        right * Vec3::y() - away * self.right() + up * level
    }

    /// The eye, and the direction of the ray through a pixel of a view of some size.
    pub fn ray(&self, at: [f32; 2], size: [f32; 2]) -> (Vec3, Vec3) {
        let half = (0.5 * self.field_of_view).tan() / (0.5 * f64::from(size[1]));
        let right = half * f64::from(at[0] - 0.5 * size[0]);
        let down = half * f64::from(at[1] - 0.5 * size[1]);
        let towards = right * self.right() - down * self.up() - self.back();
        (self.target + self.distance * self.back(), towards.normalize())
    }

    fn back(&self) -> Vec3 {
        let ((sin, cos), (up, level)) = (self.azimuth.sin_cos(), self.elevation.sin_cos());
        Vec3::new(sin * level, up, cos * level)
    }

    fn right(&self) -> Vec3 {
        Vec3::new(self.azimuth.cos(), 0.0, -self.azimuth.sin())
    }

    fn up(&self) -> Vec3 {
        self.back().cross(&self.right())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn orbit() -> Orbit {
        let field_of_view = 30_f32.to_radians();
        let mut orbit =
            Orbit::of(&Camera { eye: [0.3, 0.4, 0.5], target: [0.1, 0.2, 0.0], up: [0.0, 1.0, 0.0], field_of_view });
        orbit.set_height(600);
        orbit
    }

    #[test]
    fn orbit_round_trips_the_camera() {
        let camera = orbit().camera();
        for (is, was) in camera.eye.iter().chain(&camera.target).zip([0.3, 0.4, 0.5, 0.1, 0.2, 0.0]) {
            assert!((is - was).abs() < 1e-6, "{camera:?}");
        }
    }

    #[test]
    fn a_dragged_point_stays_under_the_pointer() {
        let (orbit, size) = (orbit(), (900, 600));
        let point = Vec3::new(0.05, 0.15, 0.1);
        let seen = |p: Vec3| orbit.camera().project(size, [p.x as f32, p.y as f32, p.z as f32]).expect("in front");
        let (before, after) = (seen(point), seen(point + orbit.across([40.0, -25.0], &point)));
        assert!((after[0] - before[0] - 40.0).abs() < 0.1 && (after[1] - before[1] + 25.0).abs() < 0.1);
        let farther = point + orbit.away(2.0);
        let distance = |p: Vec3| (p - Vec3::new(0.3, 0.4, 0.5)).norm();
        assert!(distance(farther) > distance(point) + 0.015);
    }

    #[test]
    fn a_ray_passes_through_the_point_at_its_pixel() {
        let (orbit, point) = (orbit(), Vec3::new(0.05, 0.15, 0.1));
        let seen = orbit.camera().project((900, 600), [0.05, 0.15, 0.1]).expect("in front");
        let (eye, towards) = orbit.ray(seen, [900.0, 600.0]);
        assert!((point - eye).cross(&towards).norm() < 1e-5, "{seen:?}");
    }

    #[test]
    fn keys_move_horizontally_and_vertically() {
        let orbit = orbit();
        for (keys, axis) in [([0.0, 1.0, 0.0], Vec3::y()), ([1.0, 0.0, 0.0], orbit.right())] {
            let Some(Steer::Glide(by, _)) = orbit.steer(&UserAction::Glide(keys, [0.0; 3]), &Vec3::zeros()) else {
                panic!()
            };
            assert!((by - GLIDE * axis).norm() < 1e-12);
        }
        let Some(Steer::Glide(away, _)) = orbit.steer(&UserAction::Glide([0.0, 0.0, 1.0], [0.0; 3]), &Vec3::zeros())
        else {
            panic!()
        };
        assert!(away.y == 0.0 && away.dot(&orbit.back()) < 0.0 && (away.norm() - GLIDE).abs() < 1e-12);
    }

    #[test]
    fn a_pan_moves_the_target_and_a_rotation_keeps_it() {
        let mut orbit = orbit();
        let (size, point) = ((900, 600), [0.1, 0.2, 0.0]);
        let before = orbit.camera().project(size, point).expect("in front");
        orbit.pan([30.0, 10.0]);
        let after = orbit.camera().project(size, point).expect("in front");
        assert!((after[0] - before[0] - 30.0).abs() < 0.1 && (after[1] - before[1] - 10.0).abs() < 0.1);
        let target = orbit.camera().target;
        orbit.turn([100.0, 5000.0]);
        assert_eq!(orbit.camera().target, target);
        assert!(orbit.camera().eye[1] > target[1], "it stops short of the zenith");
        orbit.zoom(2.0);
        let [near, at] = [orbit.camera().eye, target].map(|p| Vec3::from(p.map(f64::from)));
        assert!(((near - at).norm() - 0.5 * 0.33_f64.sqrt()).abs() < 1e-5);
    }
}
