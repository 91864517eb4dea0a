//! The key table: actions, on-screen help, and the manual page.

use super::puppet::Steer;
use crate::hand::POSES;
use crate::tracking::Finger;
use crate::viewer::Layers;

/// A key by its symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// A character, in lower case.
    Char(char),
    /// A function key.
    Function(u8),
    /// Escape.
    Escape,
    /// Home.
    Home,
    /// Tabulator.
    Tab,
    /// An arrow or page key, by the direction in which it moves the palm.
    Arrow(Arrow),
}

/// A direction as seen by the user: right, up, away, or the opposite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Arrow {
    /// Left arrow.
    Left,
    /// Right arrow.
    Right,
    /// Up arrow.
    Away,
    /// Down arrow.
    Towards,
    /// Page up.
    Up,
    /// Page down.
    Down,
}

impl Arrow {
    /// Every one.
    pub const ALL: [Arrow; 6] = [Self::Left, Self::Right, Self::Away, Self::Towards, Self::Up, Self::Down];

    /// Right, up, and away from the user.
    pub fn direction(self) -> [f64; 3] {
        match self {
            Self::Left => [-1.0, 0.0, 0.0],
            Self::Right => [1.0, 0.0, 0.0],
            Self::Away => [0.0, 0.0, 1.0],
            Self::Towards => [0.0, 0.0, -1.0],
            Self::Up => [0.0, 1.0, 0.0],
            Self::Down => [0.0, -1.0, 0.0],
        }
    }
}

/// Actions of keys and mouse.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum UserAction {
    /// Pause or continue.
    Pause,
    /// One step.
    Step,
    /// Next faster or slower speed.
    Speed(i32),
    /// Restart.
    Restart,
    /// Another scene.
    Next(i32),
    /// Next value of a law: method, friction or pressure.
    Law(usize),
    /// A layer, by its number.
    Layer(usize),
    /// Take over the next hand; release after the last.
    TakeHand,
    /// An action on the driven hand.
    Steer(Steer),
    /// Rotate the camera by pixels.
    Orbit([f32; 2]),
    /// Pan the camera by pixels.
    Pan([f32; 2]),
    /// Zoom by a factor.
    Zoom(f32),
    /// Reset the camera.
    ResetCamera,
    /// Toggle following the hand.
    Follow,
    /// Move the driven palm across the view by pixels.
    Drag([f32; 2]),
    /// Move it away from the eye by notches of the wheel.
    Push(f32),
    /// Rotate it by pixels.
    Twist([f32; 2]),
    /// Move and rotate it while keys are held: right, up, away from the user.
    Glide([f64; 3], [f64; 3]),
    /// Grab the object at a pixel.
    Grab([f32; 2]),
    /// Move the end of the spring by pixels.
    Tug([f32; 2]),
    /// Move that end away from the eye by notches of the wheel.
    TugAway(f32),
    /// Release it.
    LetGo,
    /// Select the body at a pixel.
    Select([f32; 2]),
    /// Toggle the panels.
    Panels,
    /// Toggle the scene tree.
    Tree,
    /// Toggle the key list.
    Help,
    /// Write a picture.
    Picture,
    /// Close the window.
    Quit,
}

/// Actions on press and release of a key.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Binding {
    /// The keys.
    pub keys: &'static [Key],
    /// On press.
    pub down: UserAction,
    /// On press with shift, if different.
    pub shifted: Option<UserAction>,
    /// On release, if any.
    pub up: Option<UserAction>,
    /// Whether holding it repeats it.
    pub repeats: bool,
}

const fn tap(keys: &'static [Key], down: UserAction) -> Binding {
    Binding { keys, down, shifted: None, up: None, repeats: false }
}

const fn again(keys: &'static [Key], down: UserAction) -> Binding {
    Binding { keys, down, shifted: None, up: None, repeats: true }
}

const fn curl(keys: &'static [Key], finger: Finger) -> Binding {
    Binding {
        keys,
        down: UserAction::Steer(Steer::Curl(finger, 1)),
        shifted: Some(UserAction::Steer(Steer::Curl(finger, -1))),
        up: Some(UserAction::Steer(Steer::Curl(finger, 0))),
        repeats: false,
    }
}

/// Every key.
pub const BINDINGS: [Binding; 45] = [
    tap(&[Key::Char(' ')], UserAction::Pause),
    again(&[Key::Char('.')], UserAction::Step),
    again(&[Key::Char('+'), Key::Char('=')], UserAction::Speed(1)),
    again(&[Key::Char('-')], UserAction::Speed(-1)),
    tap(&[Key::Char('r')], UserAction::Restart),
    tap(&[Key::Char('n')], UserAction::Next(1)),
    tap(&[Key::Char('p')], UserAction::Next(-1)),
    tap(&[Key::Char('m')], UserAction::Law(0)),
    tap(&[Key::Char('f')], UserAction::Law(1)),
    tap(&[Key::Char('l')], UserAction::Law(2)),
    tap(&[Key::Char('1')], UserAction::Layer(0)),
    tap(&[Key::Char('2')], UserAction::Layer(1)),
    tap(&[Key::Char('3')], UserAction::Layer(2)),
    tap(&[Key::Char('4')], UserAction::Layer(3)),
    tap(&[Key::Char('5')], UserAction::Layer(4)),
    tap(&[Key::Char('6')], UserAction::Layer(5)),
    tap(&[Key::Char('7')], UserAction::Layer(6)),
    tap(&[Key::Char('8')], UserAction::Layer(7)),
    tap(&[Key::Char('9')], UserAction::Layer(8)),
    tap(&[Key::Char('0')], UserAction::Layer(9)),
    tap(&[Key::Char('t')], UserAction::Layer(10)),
    tap(&[Key::Char('y')], UserAction::Layer(11)),
    tap(&[Key::Char('k')], UserAction::Layer(12)),
    tap(&[Key::Char('h'), Key::Tab], UserAction::TakeHand),
    Binding {
        keys: &[Key::Char('g')],
        down: UserAction::Steer(Steer::Grip(true)),
        shifted: None,
        up: Some(UserAction::Steer(Steer::Grip(false))),
        repeats: false,
    },
    curl(&[Key::Char('z')], Finger::Thumb),
    curl(&[Key::Char('x')], Finger::Index),
    curl(&[Key::Char('c')], Finger::Middle),
    curl(&[Key::Char('v')], Finger::Ring),
    curl(&[Key::Char('b')], Finger::Little),
    tap(&[Key::Function(1)], UserAction::Steer(Steer::Pose(0))),
    tap(&[Key::Function(2)], UserAction::Steer(Steer::Pose(1))),
    tap(&[Key::Function(3)], UserAction::Steer(Steer::Pose(2))),
    tap(&[Key::Function(4)], UserAction::Steer(Steer::Pose(3))),
    tap(&[Key::Function(5)], UserAction::Steer(Steer::Pose(4))),
    tap(&[Key::Function(6)], UserAction::Steer(Steer::Pose(5))),
    again(&[Key::Char('w')], UserAction::Push(1.0)),
    again(&[Key::Char('s')], UserAction::Push(-1.0)),
    tap(&[Key::Home], UserAction::ResetCamera),
    tap(&[Key::Char('e')], UserAction::Follow),
    tap(&[Key::Char('u')], UserAction::Panels),
    tap(&[Key::Char('o')], UserAction::Tree),
    tap(&[Key::Char('?'), Key::Char('/')], UserAction::Help),
    tap(&[Key::Char('i')], UserAction::Picture),
    tap(&[Key::Char('q'), Key::Escape], UserAction::Quit),
];

/// A section of the key list.
pub struct KeySection {
    /// Its heading.
    pub title: &'static str,
    /// Keys as shown, and their actions.
    pub rows: Vec<(String, String)>,
}

/// Keys as shown, and their actions, section by section. The sections of poses and layers have more rows from other tables.
const SHOWN: [(&str, &[(&str, &str)]); 7] = [
    (
        "Time",
        &[
            ("Space", "pause, continue"),
            (".", "one step"),
            ("+ −", "faster, slower"),
            ("R", "restart"),
            ("N P", "next, previous scene"),
        ],
    ),
    (
        "Your hand",
        &[
            ("H or Tab", "take over a hand, release it"),
            ("drag", "move the palm across the view"),
            ("wheel while dragging, W S", "away from you, towards you"),
            ("← → ↑ ↓ (hold)", "move the palm left, right, away from you, towards you"),
            ("Page Up, Page Down (hold)", "move the palm up, down"),
            ("Shift + right drag, Shift + ← → ↑ ↓ Page Up Page Down", "rotate the palm"),
            ("G (hold)", "grasp; release to open"),
            ("Z X C V B (hold)", "curl thumb, index, middle, ring, little; with Shift stretch"),
            ("Shift + wheel", "curl all fingers"),
        ],
    ),
    (
        "Objects",
        &[
            ("click", "select and show pose, speed, mass, contacts and forces"),
            ("Ctrl + drag", "pull with a spring"),
            ("wheel while pulling", "away from you, towards you"),
        ],
    ),
    (
        "Camera",
        &[
            ("right drag, or drag without a driven hand", "rotate"),
            ("middle drag, or Shift + drag", "pan"),
            ("wheel", "zoom"),
            ("E", "follow the hand on or off"),
            ("Home", "reset"),
        ],
    ),
    ("Layers", &[]),
    (
        "Laws",
        &[
            ("M", "method: aggregate, point"),
            ("F", "friction: exact, paper, ellipsoid, coulomb"),
            ("L", "pressure: nonuniform, uniform"),
        ],
    ),
    (
        "Window",
        &[
            ("U", "panels"),
            ("O", "scene tree and inspector"),
            ("?", "this list"),
            ("I", "write a picture (PNG)"),
            ("Q or Esc", "close this list, or the window"),
        ],
    ),
];

/// The key list for display. It contains every key of the table.
pub fn sections() -> Vec<KeySection> {
    let layer_keys = BINDINGS.iter().filter_map(|binding| match binding.down {
        UserAction::Layer(number) => Some((shown(binding.keys), Layers::SWITCHES[number].0.replace('-', " "))),
        _ => None,
    });
    let section = |(title, rows): (&'static str, &[(&str, &str)])| {
        let mut rows: Vec<_> = rows.iter().map(|(keys, says)| (keys.to_string(), says.to_string())).collect();
        match title {
            "Your hand" => rows.push(("F1 … F6".into(), POSES.join(", "))),
            "Layers" => rows.extend(layer_keys.clone()),
            _ => {}
        }
        KeySection { title, rows }
    };
    SHOWN.into_iter().map(section).collect()
}

fn shown(keys: &[Key]) -> String {
    let name = |key: &Key| match key {
        Key::Char(c) => c.to_uppercase().to_string(),
        other => format!("{other:?}"),
    };
    keys.iter().map(name).collect::<Vec<_>>().join(" ")
}

/// The key list as part of the manual.
pub fn manual() -> String {
    let mut text = String::new();
    for section in sections() {
        text += &format!("\n## {}\n\n| keys | action |\n|---|---|\n", section.title);
        for (keys, says) in section.rows {
            text += &format!("| {keys} | {says} |\n");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn keys_are_unique() {
        let mut seen = BTreeSet::new();
        for key in BINDINGS.iter().flat_map(|binding| binding.keys) {
            assert!(seen.insert(format!("{key:?}")), "{key:?}");
        }
    }

    #[test]
    fn every_key_is_in_the_list() {
        let listed: String = sections().iter().flat_map(|s| &s.rows).map(|(keys, _)| format!(" {keys} ")).collect();
        for binding in BINDINGS {
            let name = match binding.keys[0] {
                Key::Char(' ') => "Space".into(),
                Key::Char('-') => "−".into(),
                Key::Function(number) if (2..6).contains(&number) => continue,
                Key::Function(number) => format!("F{number}"),
                key => shown(&[key]),
            };
            assert!(listed.contains(&format!(" {name} ")), "{name} is not in {listed}");
        }
    }

    #[test]
    fn every_layer_and_every_pose_has_a_key() {
        let does = |act: UserAction| BINDINGS.iter().any(|binding| binding.down == act);
        assert!((0..Layers::SWITCHES.len()).all(|number| does(UserAction::Layer(number))));
        assert!((0..POSES.len()).all(|number| does(UserAction::Steer(Steer::Pose(number)))));
    }
}
