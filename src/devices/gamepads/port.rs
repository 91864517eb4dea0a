use std::time::{Duration, Instant};

use gilrs::{Axis, Button, Gamepad, GamepadId, Gilrs, GilrsBuilder};

use super::rumble::Rumble;
use super::{PadButton, PadHand, PadState, string_position};
use crate::assets::{DeviceKind, DeviceProfile, Port};
use crate::devices::glove::GloveMap;
use crate::devices::haptics::{Levels, VibrationDriver};
use crate::devices::list::{ListedDevice, ListedKind};
use crate::devices::smooth::Smoother;
use crate::devices::source::{SourceFeed, SourceHandle, SourceRequest, SourceSample, SourceState};
use crate::protocol::{Format, Link};
use crate::tracking::Side;

/// Samples per second.
const SAMPLE_RATE: f64 = 100.0;
/// Time before gamepads are searched again.
const SEARCH_INTERVAL: Duration = Duration::from_secs(1);

/// The buttons by position.
const BUTTON_PLACES: [(Button, PadButton); 14] = [
    (Button::South, PadButton::A),
    (Button::East, PadButton::B),
    (Button::West, PadButton::X),
    (Button::North, PadButton::Y),
    (Button::LeftTrigger, PadButton::LeftBumper),
    (Button::RightTrigger, PadButton::RightBumper),
    (Button::Select, PadButton::Select),
    (Button::Start, PadButton::Start),
    (Button::LeftThumb, PadButton::LeftStick),
    (Button::RightThumb, PadButton::RightStick),
    (Button::DPadUp, PadButton::Up),
    (Button::DPadDown, PadButton::Down),
    (Button::DPadLeft, PadButton::Left),
    (Button::DPadRight, PadButton::Right),
];

/// Starts a gamepad or a joystick of a profile.
pub(in crate::devices) fn start(profile: &DeviceProfile, epoch: Instant) -> std::io::Result<SourceHandle> {
    let profile = profile.clone();
    SourceHandle::start(&profile.name.clone(), move |feed| run(feed, &profile, epoch))
}

fn run(feed: &SourceFeed, profile: &DeviceProfile, epoch: Instant) {
    let mut gilrs = loop {
        // The dead zones of a joystick would be jumps of the position.
        match GilrsBuilder::new().with_default_filters(!is_gametrak(profile)).build() {
            Ok(gilrs) => break gilrs,
            Err(error) => feed.set_state(SourceState::Lost(format!("gamepads cannot be listed: {error}"))),
        }
        if is_stopped(feed, Instant::now() + SEARCH_INTERVAL, |_| {}) {
            return;
        }
    };
    let mut held = Held::new(profile, epoch);
    let period = Duration::from_secs_f64(1.0 / SAMPLE_RATE);
    let mut next = Instant::now();
    loop {
        while gilrs.next_event().is_some() {}
        held.follow(&mut gilrs, feed);
        next = (next + period).max(Instant::now());
        if is_stopped(feed, next, |request| held.handle(request)) {
            held.release_motors(feed);
            return;
        }
    }
}

/// Waits and forwards what arrives; returns whether to stop.
fn is_stopped(feed: &SourceFeed, deadline: Instant, mut handle: impl FnMut(SourceRequest)) -> bool {
    loop {
        match feed.wait_until(deadline) {
            SourceRequest::None => return false,
            SourceRequest::Stop => return true,
            request => handle(request),
        }
    }
}

fn is_gametrak(profile: &DeviceProfile) -> bool {
    profile.kind == DeviceKind::GametrakJoystick
}

/// State of the controls, if connected.
struct Held<'a> {
    profile: &'a DeviceProfile,
    epoch: Instant,
    side: Side,
    hand: PadHand,
    glove: GloveMap,
    smoother: Smoother,
    haptics: Option<VibrationDriver>,
    /// The gamepad and its motors.
    pad: Option<(GamepadId, Option<Rumble>)>,
    /// Pressed buttons of a joystick.
    buttons: u32,
}

impl<'a> Held<'a> {
    fn new(profile: &'a DeviceProfile, epoch: Instant) -> Self {
        let (side, glove) = (profile.side.unwrap_or(Side::Right), GloveMap::new(&profile.sensors));
        Self {
            profile,
            epoch,
            side,
            hand: PadHand::new(side, glove.clone()),
            glove,
            smoother: Smoother::new(profile.filter),
            haptics: profile.haptics.map(VibrationDriver::new),
            pad: None,
            buttons: 0,
        }
    }

    fn now(&self) -> f64 {
        self.epoch.elapsed().as_secs_f64()
    }

    fn handle(&mut self, request: SourceRequest) {
        let now = self.now();
        if let (SourceRequest::Feel(touch), Some(haptics)) = (request, &mut self.haptics)
            && touch.side == self.side
        {
            haptics.feel(&touch, now);
        }
    }

    /// Searches for the gamepad and reports its state.
    fn follow(&mut self, gilrs: &mut Gilrs, feed: &SourceFeed) {
        if self.pad.as_ref().is_some_and(|(id, _)| !gilrs.gamepad(*id).is_connected()) {
            self.pad = None;
        }
        if self.pad.is_none() {
            let Some(id) = self.find(gilrs) else {
                return feed.set_state(SourceState::Lost(self.absence()));
            };
            let name = gilrs.gamepad(id).name().to_string();
            self.pad = Some((id, Rumble::of(gilrs, id)));
            feed.set_state(SourceState::Connected);
            feed.set_statistics(|statistics| {
                statistics.opened += 1;
                statistics.port = name;
            });
        }
        let Some((id, rumble)) = &self.pad else { return };
        let now = self.now();
        let pulse = self.haptics.as_mut().and_then(|haptics| haptics.due(now));
        if let (Some(pulse), Some(rumble)) = (pulse, rumble) {
            rumble.play(&pulse);
            feed.set_sent_levels(self.side, Levels { fingers: [pulse.amplitude; 5], palm: pulse.amplitude });
        }
        let pad = gilrs.gamepad(*id);
        let time = now - self.profile.latency;
        let sample =
            if is_gametrak(self.profile) { self.strings(&pad, time, feed) } else { Some(self.pad(&pad, time, feed)) };
        match sample {
            Some(sample) => feed.send(sample),
            None => feed.miss(self.side),
        }
    }

    fn release_motors(&mut self, feed: &SourceFeed) {
        let pulse = self.haptics.as_mut().and_then(VibrationDriver::stop);
        if let (Some(pulse), Some((_, Some(rumble)))) = (pulse, &self.pad) {
            rumble.play(&pulse);
            feed.set_sent_levels(self.side, Levels::ZERO);
        }
    }

    fn find(&self, gilrs: &Gilrs) -> Option<GamepadId> {
        let ids = |vendor: u16, product: u16| {
            move |pad: &Gamepad<'_>| pad.vendor_id() == Some(vendor) && pad.product_id() == Some(product)
        };
        let named = |name: &str, pad: &Gamepad<'_>| pad.name().to_lowercase().contains(&name.to_lowercase());
        let fits = |pad: &Gamepad<'_>| match &self.profile.port {
            Port::Usb { vendor, product } => ids(*vendor, *product)(pad),
            Port::Named(name) => named(name, pad),
            Port::Auto if is_gametrak(self.profile) => {
                let own = matches!(Format::Gametrak { left_x_at_end: false }.link(),
                    Link::Usb { vendor, product: Some(product) } if ids(vendor, product)(pad));
                own || named("gametrak", pad)
            }
            Port::Auto => true,
        };
        gilrs.gamepads().find(|(_, pad)| fits(pad)).map(|(id, _)| id)
    }

    fn absence(&self) -> String {
        match &self.profile.port {
            Port::Usb { vendor, product } => {
                format!("no gamepad has the USB ids {vendor:04x}:{product:04x}; check that it is connected")
            }
            Port::Named(name) => {
                format!("there is no gamepad `{name}`; `fingerpad devices list` shows the connected ones")
            }
            Port::Auto if is_gametrak(self.profile) => {
                "there is no GameTrak among the joysticks; check that it is connected".into()
            }
            Port::Auto => "there is no gamepad; connect one or switch it on".into(),
        }
    }

    fn pad(&mut self, pad: &Gamepad<'_>, time: f64, feed: &SourceFeed) -> SourceSample {
        let axis = |axis| f64::from(pad.value(axis));
        let trigger = |button| pad.button_data(button).map_or(0.0, |data| f64::from(data.value()));
        let held = BUTTON_PLACES.iter().filter(|(button, _)| pad.is_pressed(*button));
        let state = PadState {
            left_stick: [axis(Axis::LeftStickX), axis(Axis::LeftStickY)],
            right_stick: [axis(Axis::RightStickX), axis(Axis::RightStickY)],
            left_trigger: trigger(Button::LeftTrigger2),
            right_trigger: trigger(Button::RightTrigger2),
            buttons: held.fold(0, |bits, (_, own)| bits | 1 << *own as u32),
        };
        let (mut sample, events) = self.hand.step(&state, time);
        events.into_iter().for_each(|(name, pressed)| feed.press(name.into(), pressed));
        let uses = self.profile.place.uses;
        sample.bends = self.smoother.bends(time, &sample.bends);
        if uses.fingers {
            sample.angles = self.glove.angles(&sample.bends);
        }
        sample.position = sample.position.filter(|_| uses.position).map(|p| self.smoother.position(time, p));
        sample
    }

    /// Hand position of a GameTrak, once all of its axes have reported.
    fn strings(&mut self, pad: &Gamepad<'_>, time: f64, feed: &SourceFeed) -> Option<SourceSample> {
        let value = |axis| pad.axis_data(axis).map(|data| f64::from(data.value()));
        // gilrs inverts the vertical axis of a stick.
        let turned = |axis| value(axis).map(|value| -value);
        let axes = [
            value(Axis::LeftStickX),
            turned(Axis::LeftStickY),
            value(Axis::LeftZ),
            value(Axis::RightStickX),
            turned(Axis::RightStickY),
            value(Axis::RightZ),
        ];
        let down = BUTTON_PLACES.iter().enumerate().filter(|(_, (button, _))| pad.is_pressed(*button));
        let buttons = down.fold(0, |bits, (number, _)| bits | 1 << number);
        for number in (0..BUTTON_PLACES.len()).filter(|number| (buttons ^ self.buttons) >> number & 1 == 1) {
            feed.press(format!("button_{number}"), buttons >> number & 1 == 1);
        }
        self.buttons = buttons;
        let position = string_position(self.side, &axes)?;
        let position = Some(self.smoother.position(time, position));
        Some(SourceSample { position, buttons, ..SourceSample::new(time, self.side) })
    }
}

/// The connected gamepads and joysticks, or why they cannot be listed.
pub(in crate::devices) fn list() -> Vec<ListedDevice> {
    let gilrs = match Gilrs::new() {
        Ok(gilrs) => gilrs,
        Err(error) => {
            return vec![ListedDevice::problem(ListedKind::Gamepad, format!("the gamepads cannot be listed: {error}"))];
        }
    };
    let found = |(_, pad): (GamepadId, Gamepad<'_>)| ListedDevice {
        kind: ListedKind::Gamepad,
        name: pad.name().into(),
        detail: (pad.vendor_id().zip(pad.product_id()))
            .map_or_else(String::new, |(vendor, product)| format!("USB {vendor:04x}:{product:04x}")),
        usb: pad.vendor_id().zip(pad.product_id()),
        problem: None,
    };
    gilrs.gamepads().map(found).collect()
}
