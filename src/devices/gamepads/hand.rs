use crate::devices::glove::GloveMap;
use crate::devices::source::SourceSample;
use crate::math::Vec3;
use crate::protocol::{FlexReading, Sensor};
use crate::tracking::{Finger, Side};

/// The fastest that the palm goes, m/s.
const SPEED: f64 = 0.25;
/// The farthest that it goes from where it began, along each axis, m.
const REACH: f64 = 0.6;
/// How far a stick may lean without meaning it, in parts of the way.
const DEAD: f64 = 0.15;
/// How fast a finger closes, in whole bends a second: a button has no half.
const CLOSING: f64 = 4.0;
/// The longest time that one step moves by, s: after a hiccup the hand does not leap.
const LONGEST: f64 = 0.05;
/// How near home is home, m.
const HOME: f64 = 1e-3;

/// The buttons that are told of, by the places of an Xbox controller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum PadButton {
    A,
    B,
    X,
    Y,
    LeftBumper,
    RightBumper,
    Select,
    Start,
    LeftStick,
    RightStick,
    Up,
    Down,
    Left,
    Right,
}

impl PadButton {
    /// All of them.
    pub const ALL: [PadButton; 14] = [
        Self::A,
        Self::B,
        Self::X,
        Self::Y,
        Self::LeftBumper,
        Self::RightBumper,
        Self::Select,
        Self::Start,
        Self::LeftStick,
        Self::RightStick,
        Self::Up,
        Self::Down,
        Self::Left,
        Self::Right,
    ];

    /// What it is called in scripts.
    pub fn name(self) -> &'static str {
        [
            "a",
            "b",
            "x",
            "y",
            "left_bumper",
            "right_bumper",
            "select",
            "start",
            "left_stick",
            "right_stick",
            "up",
            "down",
            "left",
            "right",
        ][self as usize]
    }
}

/// What is pushed on a gamepad.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PadState {
    /// To the right and ahead, each from −1 to 1.
    pub left_stick: [f64; 2],
    /// To the right and ahead.
    pub right_stick: [f64; 2],
    /// From 0 to 1.
    pub left_trigger: f64,
    /// From 0 to 1.
    pub right_trigger: f64,
    /// Held buttons, a bit for each in their order.
    pub buttons: u32,
}

impl PadState {
    /// Whether a button is held.
    pub fn holds(&self, button: PadButton) -> bool {
        self.buttons >> button as u32 & 1 == 1
    }
}

/// A hand that a gamepad moves: `docs/devices.md` says how.
#[derive(Clone, Debug)]
pub struct PadHand {
    side: Side,
    glove: GloveMap,
    /// Which of the four fingers follow the right trigger.
    follows: [bool; 4],
    bends: [f64; 5],
    position: Vec3,
    goes_home: bool,
    buttons: u32,
    /// Time of the last step, s.
    time: Option<f64>,
}

impl PadHand {
    /// An open hand where it begins; the map says what bent fingers are.
    pub fn new(side: Side, glove: GloveMap) -> Self {
        let (follows, bends, position) = ([true; 4], [0.0; 5], Vec3::zeros());
        Self { side, glove, follows, bends, position, goes_home: false, buttons: 0, time: None }
    }

    /// The hand at a time, s, and the buttons that went down or up since it was last asked.
    pub fn step(&mut self, pad: &PadState, time: f64) -> (SourceSample, Vec<(&'static str, bool)>) {
        let dt = self.time.map_or(0.0, |last| (time - last).clamp(0.0, LONGEST));
        self.time = Some(time);
        let changed = pad.buttons ^ self.buttons;
        self.buttons = pad.buttons;
        let events: Vec<_> = PadButton::ALL
            .into_iter()
            .filter(|button| changed >> *button as u32 & 1 == 1)
            .map(|button| (button, pad.holds(button)))
            .collect();
        events.iter().filter(|(_, pressed)| *pressed).for_each(|(button, _)| self.choose(*button));
        self.walk(pad, dt);
        self.close(pad, dt);
        let raw = FlexReading::of(Finger::ALL.map(|finger| (Sensor::Curl(finger), self.bends[finger as usize])));
        let sample = SourceSample {
            position: Some(self.position),
            flex: raw,
            bends: self.glove.bends(&raw),
            buttons: self.buttons,
            ..SourceSample::new(time, self.side)
        };
        (sample, events.into_iter().map(|(button, pressed)| (button.name(), pressed)).collect())
    }

    /// The direction pad chooses the fingers that follow; select sends the palm home.
    fn choose(&mut self, button: PadButton) {
        match button {
            PadButton::Up => self.follows = [true; 4],
            PadButton::Left => self.follows = [true, false, false, false],
            PadButton::Right => self.follows = [true, true, false, false],
            PadButton::Down => self.follows = [false, true, true, true],
            PadButton::Select => self.goes_home = true,
            _ => {}
        }
    }

    fn walk(&mut self, pad: &PadState, dt: f64) {
        let ([right, ahead], [_, up]) = (meant(pad.left_stick), meant([0.0, pad.right_stick[1]]));
        let wanted = Vec3::new(right, up, -ahead);
        if wanted != Vec3::zeros() {
            self.goes_home = false;
            // No faster aslant than straight.
            self.position += dt * SPEED * wanted / wanted.norm().max(1.0);
            self.position = self.position.map(|x| x.clamp(-REACH, REACH));
        } else if self.goes_home {
            let (distance, step) = (self.position.norm(), dt * SPEED);
            self.goes_home = distance > HOME;
            self.position *= if distance > step.max(HOME) { 1.0 - step / distance } else { 0.0 };
        }
    }

    fn close(&mut self, pad: &PadState, dt: f64) {
        let pulled =
            |trigger: f64, bumper: PadButton| if pad.holds(bumper) { 1.0 } else { sound(trigger).clamp(0.0, 1.0) };
        let thumb = pulled(pad.left_trigger, PadButton::LeftBumper);
        let fingers = pulled(pad.right_trigger, PadButton::RightBumper);
        let others = self.follows.map(|follows| if follows { fingers } else { 0.0 });
        let wanted = [thumb, others[0], others[1], others[2], others[3]];
        for (bend, wanted) in self.bends.iter_mut().zip(wanted) {
            *bend += (wanted - *bend).clamp(-CLOSING * dt, CLOSING * dt);
        }
    }
}

fn sound(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// What a stick means: nothing near its middle, then from 0 to 1, and finer near the middle than at the end.
fn meant(stick: [f64; 2]) -> [f64; 2] {
    let [x, y] = stick.map(sound);
    let lean = f64::hypot(x, y);
    if lean <= DEAD {
        return [0.0; 2];
    }
    let part = ((lean - DEAD) / (1.0 - DEAD)).min(1.0);
    [x, y].map(|way| part * part * way / lean)
}
