use std::collections::HashMap;

use kiss3d::egui::{Order, pos2};
use kiss3d::event::{self, Action, MouseButton, WindowEvent};
use kiss3d::window::Window;

use super::controls::{Controls, Modifiers, PointerButton, WindowInput};
use super::keys::{Arrow, Key, UserAction};
use super::layout::WindowLayout;

/// Scroll units per notch of the wheel.
const NOTCH: f64 = 10.0;

/// Converts window events to actions.
#[derive(Default)]
pub struct Events {
    /// Symbols of the pressed keys, independent of the keyboard layout.
    down: HashMap<event::Key, Key>,
    /// Pointer position, in pixels.
    pointer: [f32; 2],
    /// Whether a button was pressed over the scene instead of a panel.
    grabbed: bool,
}

impl Events {
    /// All events since the last frame. Keys do not go to the panels unless a text field has the focus.
    pub fn take(&mut self, window: &Window, layout: &WindowLayout, controls: &mut Controls) -> Vec<UserAction> {
        let typing = window.is_egui_capturing_keyboard();
        // Uses the pointer position at the event, not at the last frame: frames can be slow.
        let panels = window.egui_context();
        let covered = |[x, y]: [f32; 2]| {
            let scale = panels.pixels_per_point();
            let at = [x / scale, y / scale];
            // egui's background layer covers the whole window; panels and popups are above it.
            let layer = panels.layer_id_at(pos2(at[0], at[1]));
            !layout.is_scene(at) || layer.is_some_and(|layer| layer.order != Order::Background)
        };
        let mut manager = window.events();
        let mut acts = Vec::new();
        let mut pressed = None;
        for mut event in manager.iter() {
            if event.value.is_keyboard_event() {
                if typing {
                    continue;
                }
                event.inhibited = true;
            }
            if let Some(modifiers) = event.value.modifiers() {
                acts.extend(controls.take(WindowInput::Modifiers(Modifiers {
                    shift: modifiers.contains(event::Modifiers::Shift),
                    control: modifiers.contains(event::Modifiers::Control),
                })));
            }
            // A text key is identified by the following text event.
            if let (Some(key), WindowEvent::Char(character)) = (pressed.take(), &event.value)
                && !character.is_control()
            {
                let name = Key::Char(character.to_lowercase().next().unwrap_or(*character));
                self.down.insert(key, name);
                acts.extend(controls.take(WindowInput::Down(name)));
                continue;
            }
            if let WindowEvent::Key(key, Action::Press, _) = event.value {
                pressed = Some(key);
                if let Some(name) = named(key) {
                    self.down.insert(key, name);
                    acts.extend(controls.take(WindowInput::Down(name)));
                }
                continue;
            }
            acts.extend(self.other(&event.value, &covered, controls));
        }
        acts
    }

    fn other(
        &mut self,
        event: &WindowEvent,
        covered: &impl Fn([f32; 2]) -> bool,
        controls: &mut Controls,
    ) -> Vec<UserAction> {
        let input = match *event {
            WindowEvent::Key(key, Action::Release, _) => self.down.remove(&key).map(WindowInput::Up),
            WindowEvent::MouseButton(button, action, _) => {
                let pressed = action == Action::Press;
                let button = match button {
                    MouseButton::Button1 => PointerButton::Left,
                    MouseButton::Button2 => PointerButton::Right,
                    MouseButton::Button3 => PointerButton::Middle,
                    _ => return Vec::new(),
                };
                if pressed && covered(self.pointer) {
                    return Vec::new();
                }
                self.grabbed = pressed;
                Some(WindowInput::Button(button, pressed))
            }
            WindowEvent::CursorPos(x, y, _) => {
                self.pointer = [x as f32, y as f32];
                Some(WindowInput::Pointer(self.pointer))
            }
            WindowEvent::Scroll(_, y, _) if self.grabbed || !covered(self.pointer) => {
                Some(WindowInput::Wheel((y / NOTCH) as f32))
            }
            WindowEvent::Focus(false) => {
                self.down.clear();
                let up = controls.held().into_iter().map(WindowInput::Up);
                return up.chain([WindowInput::Leave]).filter_map(|input| controls.take(input)).collect();
            }
            _ => None,
        };
        input.and_then(|input| controls.take(input)).into_iter().collect()
    }
}

/// Keys without text.
fn named(key: event::Key) -> Option<Key> {
    use event::Key as Other;
    const FUNCTIONS: [Other; 6] = [Other::F1, Other::F2, Other::F3, Other::F4, Other::F5, Other::F6];
    match key {
        Other::Escape => Some(Key::Escape),
        Other::Home => Some(Key::Home),
        Other::Tab => Some(Key::Tab),
        Other::Left => Some(Key::Arrow(Arrow::Left)),
        Other::Right => Some(Key::Arrow(Arrow::Right)),
        Other::Up => Some(Key::Arrow(Arrow::Away)),
        Other::Down => Some(Key::Arrow(Arrow::Towards)),
        Other::PageUp => Some(Key::Arrow(Arrow::Up)),
        Other::PageDown => Some(Key::Arrow(Arrow::Down)),
        key => FUNCTIONS.iter().position(|own| *own == key).map(|number| Key::Function(number as u8 + 1)),
    }
}
