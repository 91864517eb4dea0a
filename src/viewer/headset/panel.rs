//! A flat panel in the world: where it is, what points at it, and what that means to its widgets.

use kiss3d::egui::{Event, Modifiers, PointerButton, pos2};

use crate::math::{Pose, Quat, Vec3};

/// Distance of a new panel from the head, and how far it is below the eyes, m.
const PANEL_DISTANCE: f64 = 0.48;
const BELOW: f64 = 0.10;
/// Radius of a finger at its tip, m.
const FINGER: f64 = 0.006;
/// A finger this far in front of the panel no longer presses, m.
const RELEASE: f64 = 0.008;
/// A finger hovers within this distance before the panel, and presses up to this depth behind it, m.
const HOVER: f64 = 0.08;
const PANEL_DEPTH: f64 = 0.05;

/// A rectangle in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Panel {
    /// Its centre; x to the right, y up, z towards the user.
    pub pose: Pose,
    /// Width and height, m.
    pub size: [f64; 2],
    /// Width and height of its picture.
    pub pixels: (u32, u32),
}

impl Panel {
    /// A panel upright in front of the head, facing it.
    pub fn before(head: &Pose, width: f64, pixels: (u32, u32)) -> Self {
        let forward = head.rotation * -Vec3::z();
        let level = Vec3::new(forward.x, 0.0, forward.z).try_normalize(0.05).unwrap_or_else(|| -Vec3::z());
        let centre = head.translation.vector + PANEL_DISTANCE * level - BELOW * Vec3::y();
        Self::facing(centre, head.translation.vector, width, pixels)
    }

    /// A panel at a point that faces another one, without roll.
    pub fn facing(centre: Vec3, eye: Vec3, width: f64, pixels: (u32, u32)) -> Self {
        let back = (eye - centre).try_normalize(1e-6).unwrap_or_else(Vec3::z);
        // `face_towards` turns +z to the direction.
        let turn = Quat::face_towards(&back, &Vec3::y());
        let height = width * f64::from(pixels.1) / f64::from(pixels.0.max(1));
        Self { pose: Pose::from_parts(centre.into(), turn), size: [width, height], pixels }
    }

    /// Pixel below a point, from the upper left corner, and the height of the point above the panel, m.
    pub fn locate(&self, point: &Vec3) -> ([f64; 2], f64) {
        let p = self.pose.inverse_transform_point(&(*point).into()).coords;
        let (width, height) = (f64::from(self.pixels.0), f64::from(self.pixels.1));
        ([(p.x / self.size[0] + 0.5) * width, (0.5 - p.y / self.size[1]) * height], p.z)
    }

    /// Pixel where a ray meets the front.
    pub fn hit(&self, ray: &Ray) -> Option<[f64; 2]> {
        let front = self.pose.rotation * Vec3::z();
        let (rate, height) = (ray.direction.dot(&front), (ray.origin - self.pose.translation.vector).dot(&front));
        if rate > -1e-6 || height < 0.0 {
            return None;
        }
        let (pixel, _) = self.locate(&(ray.origin - height / rate * ray.direction));
        self.contains(pixel).then_some(pixel)
    }

    /// The point of the world at a pixel.
    pub fn at(&self, [x, y]: [f64; 2]) -> Vec3 {
        let (width, height) = (f64::from(self.pixels.0), f64::from(self.pixels.1));
        let local = Vec3::new((x / width - 0.5) * self.size[0], (0.5 - y / height) * self.size[1], 0.0);
        (self.pose * nalgebra::Point3::from(local)).coords
    }

    fn contains(&self, [x, y]: [f64; 2]) -> bool {
        (0.0..f64::from(self.pixels.0)).contains(&x) && (0.0..f64::from(self.pixels.1)).contains(&y)
    }
}

/// What a controller or a hand points with.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ray {
    /// Its origin in the world.
    pub origin: Vec3,
    /// Its direction, a unit vector.
    pub direction: Vec3,
    /// Whether the trigger is pulled, or thumb and index finger are pinched.
    pub is_pressed: bool,
}

/// A place on the panel that something points at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Mark {
    /// Pixel from the upper left corner.
    pub at: [f64; 2],
    /// Whether it presses.
    pub is_pressed: bool,
}

/// A finger that may poke the panel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Poke {
    /// Whether the finger was in front: one that comes from behind does not press.
    is_armed: bool,
    is_pressed: bool,
}

impl Poke {
    /// Follows the end of a finger.
    pub fn follow(&mut self, panel: &Panel, tip: Option<&Vec3>) -> Option<Mark> {
        let found = tip.map(|tip| panel.locate(tip));
        let Some((at, height)) = found.filter(|(at, height)| panel.contains(*at) && *height < HOVER) else {
            // Away from the panel it is in front again.
            *self = Self::default();
            self.is_armed = true;
            return None;
        };
        let gap = height - FINGER;
        if gap < -PANEL_DEPTH {
            *self = Self::default();
            return None;
        }
        self.is_armed |= gap > RELEASE;
        self.is_pressed = self.is_armed && gap < if self.is_pressed { RELEASE } else { 0.0 };
        Some(Mark { at, is_pressed: self.is_pressed })
    }
}

/// Converts what points at the panel to events of a mouse.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pointer {
    last: Option<Mark>,
}

impl Pointer {
    /// The events of a frame.
    pub fn follow(&mut self, now: Option<Mark>) -> Vec<Event> {
        let (before, mut events) = (self.last, Vec::new());
        self.last = now;
        let button = |at: [f64; 2], pressed: bool| Event::PointerButton {
            pos: pos2(at[0] as f32, at[1] as f32),
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::default(),
        };
        let was_pressed = before.is_some_and(|mark| mark.is_pressed);
        match now {
            Some(mark) => {
                events.push(Event::PointerMoved(pos2(mark.at[0] as f32, mark.at[1] as f32)));
                if mark.is_pressed != was_pressed {
                    events.push(button(mark.at, mark.is_pressed));
                }
            }
            None if before.is_some() => {
                // A press that leaves the panel is no click.
                events.push(Event::PointerGone);
                if was_pressed {
                    events.push(button([-1.0, -1.0], false));
                }
            }
            None => {}
        }
        events
    }
}

/// Notices that the user looks at the own open palm for a while.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PalmGaze {
    since: Option<f64>,
    is_done: bool,
}

impl PalmGaze {
    /// How long the user must look, s.
    const HOLD: f64 = 0.6;

    /// True once for each look that lasts; `now` in s.
    pub fn follow(&mut self, looks: bool, now: f64) -> bool {
        if !looks {
            *self = Self::default();
            return false;
        }
        let since = *self.since.get_or_insert(now);
        let fires = !self.is_done && now - since >= Self::HOLD;
        self.is_done |= fires;
        fires
    }
}

/// Whether the head looks at a palm that faces it. The palm has −z to the fingers and y out of the back of the hand.
pub fn looks_at(head: &Pose, palm: &Pose) -> bool {
    let to_head = head.translation.vector - palm.translation.vector;
    let distance = to_head.norm();
    if !(0.12..0.75).contains(&distance) {
        return false;
    }
    let to_head = to_head / distance;
    let faces = (palm.rotation * -Vec3::y()).dot(&to_head);
    let looks = -(head.rotation * -Vec3::z()).dot(&to_head);
    faces > 0.82 && looks > 0.88
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panel() -> Panel {
        let pose = Pose::from_parts(Vec3::new(0.1, 1.0, -0.5).into(), Quat::from_scaled_axis(Vec3::y() * 0.4));
        Panel { pose, size: [0.4, 0.2], pixels: (800, 400) }
    }

    fn at(panel: &Panel, x: f64, y: f64, z: f64) -> Vec3 {
        (panel.pose * nalgebra::Point3::new(x, y, z)).coords
    }

    #[test]
    fn a_panel_faces_the_head_without_roll() {
        let head = Pose::from_parts(
            Vec3::new(0.3, 1.5, 0.2).into(),
            Quat::from_scaled_axis(Vec3::y() * 0.7) * Quat::from_scaled_axis(Vec3::x() * -0.3),
        );
        let panel = Panel::before(&head, 0.4, (800, 400));
        let to_head = head.translation.vector - panel.pose.translation.vector;
        assert!((panel.pose.rotation * Vec3::z() - to_head.normalize()).norm() < 1e-9);
        assert!((panel.pose.rotation * Vec3::x()).y.abs() < 1e-9 && (panel.pose.rotation * Vec3::y()).y > 0.9);
        assert!((to_head.norm() - PANEL_DISTANCE.hypot(BELOW)).abs() < 1e-9 && (panel.size[1] - 0.2).abs() < 1e-12);
    }

    #[test]
    fn rays_hit_the_pixel_they_point_at() {
        let panel = panel();
        let origin = at(&panel, 0.3, -0.2, 0.5);
        let towards = |target: Vec3| Ray { origin, direction: (target - origin).normalize(), is_pressed: false };
        let [x, y] = panel.hit(&towards(at(&panel, 0.1, 0.05, 0.0))).expect("on the panel");
        assert!((x - 600.0).abs() < 1e-9 && (y - 100.0).abs() < 1e-9, "{x} {y}");
        assert!((panel.at([x, y]) - at(&panel, 0.1, 0.05, 0.0)).norm() < 1e-12);
        assert!(panel.hit(&towards(at(&panel, 0.21, 0.0, 0.0))).is_none(), "beside it");
        let behind = Ray { origin: at(&panel, 0.0, 0.0, -0.1), ..towards(origin) };
        assert!(panel.hit(&behind).is_none(), "from behind");
    }

    #[test]
    fn a_finger_presses_only_from_the_front() {
        let panel = panel();
        let mut poke = Poke::default();
        let mut follow = |z: f64| poke.follow(&panel, Some(&at(&panel, 0.0, 0.0, z + FINGER))).map(|m| m.is_pressed);
        let path = [(0.2, None), (0.03, Some(false)), (0.001, Some(false)), (-0.001, Some(true)), (-0.02, Some(true))];
        assert!(path.iter().all(|(z, pressed)| follow(*z) == *pressed));
        // With hysteresis, so that a trembling finger clicks once.
        assert_eq!([follow(0.005), follow(0.009), follow(0.005)], [Some(true), Some(false), Some(false)]);
        // Through the panel and back: no click from behind.
        assert_eq!([follow(-0.06), follow(-0.02), follow(-0.01)], [None, Some(false), Some(false)]);
        assert_eq!([follow(0.02), follow(-0.01)], [Some(false), Some(true)]);
        assert_eq!(poke.follow(&panel, None), None);
    }

    #[test]
    fn marks_become_the_events_of_a_mouse() {
        let mut pointer = Pointer::default();
        let mark = |is_pressed| Some(Mark { at: [10.0, 20.0], is_pressed });
        assert!(pointer.follow(None).is_empty());
        assert!(matches!(pointer.follow(mark(false))[..], [Event::PointerMoved(_)]));
        assert!(matches!(
            pointer.follow(mark(true))[..],
            [Event::PointerMoved(_), Event::PointerButton { pressed: true, .. }]
        ));
        assert!(matches!(pointer.follow(mark(true))[..], [Event::PointerMoved(_)]));
        assert!(matches!(
            pointer.follow(None)[..],
            [Event::PointerGone, Event::PointerButton { pressed: false, pos, .. }] if pos.x < 0.0
        ));
    }

    #[test]
    fn a_look_at_the_palm_counts_once_it_lasts() {
        let mut gaze = PalmGaze::default();
        let looks = [(true, 0.0), (true, 0.5), (false, 0.55), (true, 0.6), (true, 1.1), (true, 1.3), (true, 9.0)];
        let fired: Vec<bool> = looks.iter().map(|(looks, now)| gaze.follow(*looks, *now)).collect();
        assert_eq!(fired, [false, false, false, false, false, true, false]);
        let head = Pose::translation(0.0, 1.6, 0.0);
        // The palm before the eyes, fingers up, its inner side to the face.
        let back = Quat::from_scaled_axis(Vec3::x() * std::f64::consts::FRAC_PI_2);
        let up = Quat::from_scaled_axis(Vec3::y() * std::f64::consts::PI) * back;
        let palm = |turn: Quat| Pose::from_parts(Vec3::new(0.0, 1.5, -0.35).into(), turn);
        assert!(looks_at(&head, &palm(up)));
        assert!(!looks_at(&head, &palm(back)), "the back of the hand faces the head");
        assert!(!looks_at(&head, &palm(Quat::identity())), "the back of the hand is up");
        let away = Pose::from_parts(head.translation, Quat::from_scaled_axis(Vec3::y() * 1.5));
        assert!(!looks_at(&away, &palm(up)));
    }
}
