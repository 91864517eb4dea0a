use crate::devices::glove::GloveMap;
use crate::devices::source::SourceSample;
use crate::math::Vec3;
use crate::protocol::{FlexReading, Sensor};
use crate::tracking::{Finger, Side};

/// Maximum speed of the palm, m/s.
const STICK_SPEED: f64 = 0.25;
/// Maximum distance of the palm from its start along each axis, m.
const PALM_RANGE: f64 = 0.6;
/// Dead zone of a stick, as a fraction of its range.
const DEAD: f64 = 0.15;
/// Closing speed of a finger by a button, in full bends per second.
const FINGER_SPEED: f64 = 4.0;
/// Maximum time step, s: no jump after a delay.
const MAX_TIME_STEP: f64 = 0.05;
/// Distance at which home is reached, m.
const HOME: f64 = 1e-3;

/// Reported buttons, in the layout of an Xbox controller.
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

    /// Name in scripts.
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

/// State of the controls of a gamepad.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PadState {
    /// Right and forward, each from −1 to 1.
    pub left_stick: [f64; 2],
    /// Right and forward.
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

/// A hand driven by a gamepad, as described in `docs/devices.md`.
#[derive(Clone, Debug)]
pub struct PadHand {
    side: Side,
    glove: GloveMap,
    /// The fingers that follow the right trigger.
    follows: [bool; 4],
    bends: [f64; 5],
    position: Vec3,
    goes_home: bool,
    buttons: u32,
    /// Time of the last step, s.
    time: Option<f64>,
}

impl PadHand {
    /// An open hand at its start; the map defines bent fingers.
    pub fn new(side: Side, glove: GloveMap) -> Self {
        let (follows, bends, position) = ([true; 4], [0.0; 5], Vec3::zeros());
        Self { side, glove, follows, bends, position, goes_home: false, buttons: 0, time: None }
    }

    /// The hand at a time, s, and the button changes since the last call.
    pub fn step(&mut self, pad: &PadState, time: f64) -> (SourceSample, Vec<(&'static str, bool)>) {
        let dt = self.time.map_or(0.0, |last| (time - last).clamp(0.0, MAX_TIME_STEP));
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

    /// The direction pad selects the fingers that follow; select moves the palm home.
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
            // Diagonal motion is not faster.
            self.position += dt * STICK_SPEED * wanted / wanted.norm().max(1.0);
            self.position = self.position.map(|x| x.clamp(-PALM_RANGE, PALM_RANGE));
        } else if self.goes_home {
            let (distance, step) = (self.position.norm(), dt * STICK_SPEED);
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
            *bend += (wanted - *bend).clamp(-FINGER_SPEED * dt, FINGER_SPEED * dt);
        }
    }
}

fn sound(value: f64) -> f64 {
    if value.is_finite() { value } else { 0.0 }
}

/// Response of a stick: zero in the dead zone, then from 0 to 1, with finer control near the centre.
fn meant(stick: [f64; 2]) -> [f64; 2] {
    let [x, y] = stick.map(sound);
    let lean = f64::hypot(x, y);
    if lean <= DEAD {
        return [0.0; 2];
    }
    let part = ((lean - DEAD) / (1.0 - DEAD)).min(1.0);
    [x, y].map(|way| part * part * way / lean)
}
