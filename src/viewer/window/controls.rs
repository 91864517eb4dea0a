use std::collections::BTreeSet;

use super::keys::{BINDINGS, Key, UserAction};
use super::puppet::Steer;

/// Input events of mouse and keyboard.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WindowInput {
    /// Key pressed; repeated while it is held.
    Down(Key),
    /// Key released.
    Up(Key),
    /// Mouse button pressed or released.
    Button(PointerButton, bool),
    /// Pointer moved to a pixel.
    Pointer([f32; 2]),
    /// Wheel turned by a number of notches, away from the user.
    Wheel(f32),
    /// State of shift and control.
    Modifiers(Modifiers),
    /// Focus lost: nothing is held any more.
    Leave,
}

/// A button of the mouse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerButton {
    /// Left.
    Left,
    /// Middle.
    Middle,
    /// Right.
    Right,
}

/// Modifier keys.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Modifiers {
    /// Shift.
    pub shift: bool,
    /// Control.
    pub control: bool,
}

/// Converts input events to actions.
#[derive(Clone, Debug, Default)]
pub struct Controls {
    /// Whether a hand is driven.
    pub driving: bool,
    held: Vec<Key>,
    buttons: BTreeSet<u8>,
    pointer: Option<[f32; 2]>,
    modifiers: Modifiers,
    /// Position of the left button press, while the pointer has not moved away.
    click: Option<[f32; 2]>,
    /// Whether an object is pulled.
    pulls: bool,
}

/// Maximum pointer motion of a click, in pixels.
const CLICK: f32 = 4.0;

/// Zoom factor and finger curl per notch of the wheel.
const NOTCH_ZOOM: f32 = 1.12;
const NOTCH_CURL: f64 = 0.08;

impl Controls {
    /// The actions of an input event.
    pub fn take(&mut self, input: WindowInput) -> Option<UserAction> {
        match input {
            WindowInput::Down(key) => self.down(key),
            WindowInput::Up(key) => {
                self.held.retain(|held| *held != key);
                if matches!(key, Key::Arrow(_)) {
                    return self.glide();
                }
                let up = BINDINGS.iter().find(|binding| binding.keys.contains(&key))?.up;
                self.allowed(up?)
            }
            WindowInput::Button(button, true) => self.pressed(button),
            WindowInput::Button(button, false) => self.released(button),
            WindowInput::Pointer(at) => {
                let far = |from: [f32; 2]| (at[0] - from[0]).hypot(at[1] - from[1]) > CLICK;
                self.click = self.click.filter(|from| !far(*from));
                let by = self.pointer.replace(at).map(|was| [at[0] - was[0], at[1] - was[1]])?;
                self.dragged(by)
            }
            WindowInput::Wheel(notches) => Some(self.wheel(notches)),
            WindowInput::Modifiers(modifiers) => {
                let changed = std::mem::replace(&mut self.modifiers, modifiers) != modifiers;
                let glides = self.held.iter().any(|key| matches!(key, Key::Arrow(_)));
                if changed && glides { self.glide() } else { None }
            }
            WindowInput::Leave => {
                self.buttons.clear();
                (self.pointer, self.click) = (None, None);
                std::mem::take(&mut self.pulls).then_some(UserAction::LetGo)
            }
        }
    }

    fn pressed(&mut self, button: PointerButton) -> Option<UserAction> {
        self.buttons.insert(button as u8);
        if button != PointerButton::Left {
            return None;
        }
        if self.modifiers.control {
            self.pulls = true;
            return self.pointer.map(UserAction::Grab);
        }
        self.click = self.pointer.filter(|_| !self.modifiers.shift);
        None
    }

    fn released(&mut self, button: PointerButton) -> Option<UserAction> {
        self.buttons.remove(&(button as u8));
        if button != PointerButton::Left {
            return None;
        }
        if std::mem::take(&mut self.pulls) {
            return Some(UserAction::LetGo);
        }
        self.click.take().map(UserAction::Select)
    }

    /// Motion of the driven palm by held arrow keys, or its rotation with shift.
    fn glide(&self) -> Option<UserAction> {
        let mut sum = [0.0; 3];
        for direction in self.held.iter().filter_map(|key| match key {
            Key::Arrow(arrow) => Some(arrow.direction()),
            _ => None,
        }) {
            sum.iter_mut().zip(direction).for_each(|(sum, part)| *sum += part);
        }
        self.allowed(if self.modifiers.shift {
            UserAction::Glide([0.0; 3], sum)
        } else {
            UserAction::Glide(sum, [0.0; 3])
        })
    }

    /// Held keys; released when the focus is lost.
    pub fn held(&self) -> Vec<Key> {
        self.held.clone()
    }

    fn down(&mut self, key: Key) -> Option<UserAction> {
        let repeated = self.held.contains(&key);
        if !repeated {
            self.held.push(key);
        }
        if matches!(key, Key::Arrow(_)) {
            return if repeated { None } else { self.glide() };
        }
        let binding = BINDINGS.iter().find(|binding| binding.keys.contains(&key))?;
        if repeated && !binding.repeats {
            return None;
        }
        let act = binding.shifted.filter(|_| self.modifiers.shift).unwrap_or(binding.down);
        self.allowed(act)
    }

    /// Actions on a hand need a driven hand.
    fn allowed(&self, act: UserAction) -> Option<UserAction> {
        let of_hand = matches!(
            act,
            UserAction::Steer(_)
                | UserAction::Push(_)
                | UserAction::Drag(_)
                | UserAction::Twist(_)
                | UserAction::Glide(..)
        );
        (self.driving || !of_hand).then_some(act)
    }

    fn dragged(&self, by: [f32; 2]) -> Option<UserAction> {
        let holds = |button: PointerButton| self.buttons.contains(&(button as u8));
        let shift = self.modifiers.shift;
        if by == [0.0, 0.0] {
            return None;
        }
        if self.pulls {
            return Some(UserAction::Tug(by));
        }
        if holds(PointerButton::Middle) || (holds(PointerButton::Left) && shift) {
            return Some(UserAction::Pan(by));
        }
        if holds(PointerButton::Right) {
            return Some(if shift && self.driving { UserAction::Twist(by) } else { UserAction::Orbit(by) });
        }
        holds(PointerButton::Left).then_some(if self.driving { UserAction::Drag(by) } else { UserAction::Orbit(by) })
    }

    fn wheel(&self, notches: f32) -> UserAction {
        if self.pulls {
            return UserAction::TugAway(notches);
        }
        if self.driving && self.modifiers.shift {
            return UserAction::Steer(Steer::CurlAll(NOTCH_CURL * f64::from(notches)));
        }
        if self.driving && self.buttons.contains(&(PointerButton::Left as u8)) {
            return UserAction::Push(notches);
        }
        UserAction::Zoom(NOTCH_ZOOM.powf(notches))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tracking::Finger;
    use crate::viewer::window::Arrow;

    #[test]
    fn a_drag_turns_the_camera_or_moves_the_hand() {
        let mut controls = Controls::default();
        let drag = |controls: &mut Controls, button: PointerButton| {
            controls.take(WindowInput::Pointer([10.0, 10.0]));
            controls.take(WindowInput::Button(button, true));
            let act = controls.take(WindowInput::Pointer([13.0, 8.0]));
            controls.take(WindowInput::Button(button, false));
            assert_eq!(controls.take(WindowInput::Pointer([20.0, 20.0])), None, "no button is held");
            act
        };
        assert_eq!(drag(&mut controls, PointerButton::Left), Some(UserAction::Orbit([3.0, -2.0])));
        assert_eq!(drag(&mut controls, PointerButton::Middle), Some(UserAction::Pan([3.0, -2.0])));
        controls.driving = true;
        assert_eq!(drag(&mut controls, PointerButton::Left), Some(UserAction::Drag([3.0, -2.0])));
        assert_eq!(drag(&mut controls, PointerButton::Right), Some(UserAction::Orbit([3.0, -2.0])));
        controls.take(WindowInput::Modifiers(Modifiers { shift: true, control: false }));
        assert_eq!(drag(&mut controls, PointerButton::Right), Some(UserAction::Twist([3.0, -2.0])));
        assert_eq!(drag(&mut controls, PointerButton::Left), Some(UserAction::Pan([3.0, -2.0])));
    }

    #[test]
    fn a_click_selects_and_control_pulls() {
        let mut controls = Controls { driving: true, ..Controls::default() };
        controls.take(WindowInput::Pointer([50.0, 60.0]));
        assert_eq!(controls.take(WindowInput::Button(PointerButton::Left, true)), None);
        controls.take(WindowInput::Pointer([51.0, 61.0]));
        assert_eq!(
            controls.take(WindowInput::Button(PointerButton::Left, false)),
            Some(UserAction::Select([50.0, 60.0]))
        );
        controls.take(WindowInput::Button(PointerButton::Left, true));
        controls.take(WindowInput::Pointer([80.0, 60.0]));
        assert_eq!(controls.take(WindowInput::Button(PointerButton::Left, false)), None, "that was a drag");
        controls.take(WindowInput::Modifiers(Modifiers { shift: false, control: true }));
        assert_eq!(controls.take(WindowInput::Button(PointerButton::Left, true)), Some(UserAction::Grab([80.0, 60.0])));
        assert_eq!(controls.take(WindowInput::Pointer([82.0, 50.0])), Some(UserAction::Tug([2.0, -10.0])));
        controls.take(WindowInput::Modifiers(Modifiers::default()));
        assert_eq!(
            controls.take(WindowInput::Wheel(1.0)),
            Some(UserAction::TugAway(1.0)),
            "until the button is released"
        );
        assert_eq!(controls.take(WindowInput::Button(PointerButton::Left, false)), Some(UserAction::LetGo));
        controls.take(WindowInput::Modifiers(Modifiers { shift: false, control: true }));
        controls.take(WindowInput::Button(PointerButton::Left, true));
        assert_eq!(controls.take(WindowInput::Leave), Some(UserAction::LetGo));
    }

    #[test]
    fn held_arrows_move_in_six_directions() {
        let mut controls = Controls { driving: true, ..Controls::default() };
        for arrow in Arrow::ALL {
            let down = controls.take(WindowInput::Down(Key::Arrow(arrow)));
            assert_eq!(down, Some(UserAction::Glide(arrow.direction(), [0.0; 3])));
            assert_eq!(controls.take(WindowInput::Down(Key::Arrow(arrow))), None, "repeated by the keyboard");
            assert_eq!(controls.take(WindowInput::Up(Key::Arrow(arrow))), Some(UserAction::Glide([0.0; 3], [0.0; 3])));
        }
        controls.take(WindowInput::Down(Key::Arrow(Arrow::Left)));
        let both = controls.take(WindowInput::Down(Key::Arrow(Arrow::Up)));
        assert_eq!(both, Some(UserAction::Glide([-1.0, 1.0, 0.0], [0.0; 3])));
        let turned = controls.take(WindowInput::Modifiers(Modifiers { shift: true, control: false }));
        assert_eq!(turned, Some(UserAction::Glide([0.0; 3], [-1.0, 1.0, 0.0])));
        controls.driving = false;
        assert_eq!(controls.take(WindowInput::Up(Key::Arrow(Arrow::Up))), None);
    }

    #[test]
    fn the_wheel_zooms_pushes_and_curls() {
        let mut controls = Controls { driving: true, ..Controls::default() };
        assert_eq!(controls.take(WindowInput::Wheel(1.0)), Some(UserAction::Zoom(NOTCH_ZOOM)));
        controls.take(WindowInput::Button(PointerButton::Left, true));
        assert_eq!(controls.take(WindowInput::Wheel(-1.0)), Some(UserAction::Push(-1.0)));
        controls.take(WindowInput::Modifiers(Modifiers { shift: true, control: false }));
        assert_eq!(controls.take(WindowInput::Wheel(2.0)), Some(UserAction::Steer(Steer::CurlAll(2.0 * NOTCH_CURL))));
        controls.driving = false;
        assert_eq!(controls.take(WindowInput::Wheel(-1.0)), Some(UserAction::Zoom(1.0 / NOTCH_ZOOM)));
    }

    #[test]
    fn held_keys_report_release_without_repeats() {
        let mut controls = Controls { driving: true, ..Controls::default() };
        let (grip, step) = (Key::Char('g'), Key::Char('.'));
        assert_eq!(controls.take(WindowInput::Down(grip)), Some(UserAction::Steer(Steer::Grip(true))));
        assert_eq!(controls.take(WindowInput::Down(grip)), None, "held");
        assert_eq!(controls.held(), [grip]);
        assert_eq!(controls.take(WindowInput::Up(grip)), Some(UserAction::Steer(Steer::Grip(false))));
        assert_eq!(controls.take(WindowInput::Down(step)), Some(UserAction::Step));
        assert_eq!(controls.take(WindowInput::Down(step)), Some(UserAction::Step), "steps go on");
        controls.take(WindowInput::Modifiers(Modifiers { shift: true, control: false }));
        assert_eq!(
            controls.take(WindowInput::Down(Key::Char('z'))),
            Some(UserAction::Steer(Steer::Curl(Finger::Thumb, -1)))
        );
        assert_eq!(
            controls.take(WindowInput::Up(Key::Char('z'))),
            Some(UserAction::Steer(Steer::Curl(Finger::Thumb, 0)))
        );
    }

    #[test]
    fn without_a_hand_its_keys_do_nothing() {
        let mut controls = Controls::default();
        for key in [Key::Char('g'), Key::Char('w'), Key::Char('b'), Key::Function(3)] {
            assert_eq!(
                (controls.take(WindowInput::Down(key)), controls.take(WindowInput::Up(key))),
                (None, None),
                "{key:?}"
            );
        }
        assert_eq!(controls.take(WindowInput::Down(Key::Char('h'))), Some(UserAction::TakeHand));
        assert_eq!(controls.take(WindowInput::Down(Key::Char('ß'))), None);
        assert_eq!(controls.take(WindowInput::Down(Key::Escape)), Some(UserAction::Quit));
    }
}
