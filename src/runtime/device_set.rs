//! The devices that move the hands of a world and receive its haptic feedback.

use std::fmt;
use std::time::{Duration, Instant};

use super::device_profile::{average_skeleton, driven_by, open_profile, start_device};
use super::error::Error;
use super::haptic_feedback;
use crate::assets::DeviceProfile;
use crate::body::HandId;
use crate::devices::fusion::Fusion;
use crate::devices::haptics::Levels;
use crate::devices::{ForceOutlet, Hands, SourceHandle, SourceState, SourceStatistics};
use crate::hand::Skeleton;
use crate::sim::World;
use crate::tracking::{Driven, HandSample, SampleSource, Side};

/// Time between two checks of the devices in [`DeviceSet::wait`].
const CHECK_PERIOD: Duration = Duration::from_millis(5);

/// Running devices, and the hands of a world that they move.
///
/// Several devices may move one hand: the fingers from a glove, the palm from a tracker. Of several hands of one side the first
/// is moved.
///
/// With a world of your own, call [`DeviceSet::track`] before and [`DeviceSet::send_feedback`] after every step. A
/// [`Session`](super::Session) does both. See `examples/grasp.rs` and, for a source of your own, `examples/own_device.rs`.
pub struct DeviceSet {
    epoch: Instant,
    fusion: Fusion,
    devices: Vec<RunningDevice>,
    /// Index and side of the hands that are moved.
    hands: Vec<(usize, Side)>,
    driven: Driven,
}

/// A running device.
struct RunningDevice {
    handle: SourceHandle,
    /// The hand it is for; `None` if for both.
    side: Option<Side>,
    has_haptics: bool,
    samples: u64,
    /// Age of the newest sample in each step that had one, s.
    ages: Vec<f64>,
    /// The state and hint that were reported last.
    state: SourceState,
    hint: Option<String>,
}

/// Input that arrived since the last step.
#[derive(Default)]
pub(super) struct Received {
    /// Index of a hand, and its sample.
    pub samples: Vec<(usize, HandSample)>,
    /// Buttons, and whether they were pressed.
    pub buttons: Vec<(String, bool)>,
}

/// A change of the state of a device, or a hint about a problem with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceChange {
    /// Name of the device.
    pub device: String,
    /// The new state, or the hint.
    pub message: String,
}

impl fmt::Display for DeviceChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.device, self.message)
    }
}

/// State and statistics of a device.
#[derive(Clone, Debug)]
pub struct DeviceStatus {
    /// Name of the device.
    pub name: String,
    /// Whether it sends samples.
    pub state: SourceState,
    /// Samples received.
    pub samples: u64,
    /// Samples per second since the set was started.
    pub rate: f64,
    /// Age of the newest sample in each step that had one, s.
    pub ages: Vec<f64>,
    /// Port, decoder errors and hints.
    pub statistics: SourceStatistics,
}

impl DeviceSet {
    /// Starts devices by profile for the hands of a world: the path of a profile (.toml), the name of a shipped one, or a
    /// recording of bytes (.fpraw), each optionally with `@PORT`.
    pub fn open<S: AsRef<str>>(profiles: impl IntoIterator<Item = S>, world: &World) -> Result<Self, Error> {
        let profiles: Vec<_> =
            profiles.into_iter().map(|name| open_profile(name.as_ref())).collect::<Result<_, _>>()?;
        Self::start(&profiles, world)
    }

    /// Starts the devices of some profiles for the hands of a world.
    pub fn start(profiles: &[DeviceProfile], world: &World) -> Result<Self, Error> {
        let mut set = Self::empty(world);
        let wanted = driven_by(profiles);
        for side in [Side::Left, Side::Right] {
            let moved = wanted.palm[side as usize] || wanted.fingers[side as usize];
            let named = profiles.iter().find(|profile| profile.side == Some(side));
            if let Some(profile) = named.filter(|_| moved && !set.hands.iter().any(|(_, own)| *own == side)) {
                return Err(Error::NoHandForDevice { device: profile.name.clone(), side });
            }
        }
        let skeletons = Hands { left: skeleton(world, Side::Left)?, right: skeleton(world, Side::Right)? };
        for profile in profiles {
            set.add(profile, start_device(profile, &skeletons, set.epoch)?);
        }
        Ok(set)
    }

    /// A set without devices, for the hands of a world. Sources are added with [`DeviceSet::add`].
    pub fn empty(world: &World) -> Self {
        let mut fusion = Fusion::new();
        let hands = add_hands(&mut fusion, world);
        Self { epoch: Instant::now(), fusion, devices: Vec::new(), hands, driven: Driven::default() }
    }

    /// Adds a running source. The profile says which parts of which hand it gives, and how it is placed in the world.
    pub fn add(&mut self, profile: &DeviceProfile, handle: SourceHandle) {
        self.fusion.add_source(profile);
        self.driven = self.fusion.drives();
        let (side, has_haptics) = (profile.side, profile.haptics.is_some());
        let state = SourceState::Connecting;
        self.devices.push(RunningDevice { handle, side, has_haptics, samples: 0, ages: Vec::new(), state, hint: None });
    }

    /// Time zero of the samples of all sources.
    pub fn epoch(&self) -> Instant {
        self.epoch
    }

    /// The parts of the hands that the devices move.
    pub fn driven(&self) -> Driven {
        self.driven
    }

    /// Moves the hands of another world from now on; the devices are centred again.
    pub(super) fn rebind(&mut self, world: &World) {
        self.hands = add_hands(&mut self.fusion, world);
        for source in 0..self.devices.len() {
            [Side::Left, Side::Right].into_iter().for_each(|side| self.fusion.recentre(source, side));
        }
    }

    /// Waits until every device sends samples. `on_change` is called with the changes meanwhile and returns whether to go on.
    pub fn wait(&mut self, timeout: Duration, mut on_change: impl FnMut(&[DeviceChange]) -> bool) -> Result<(), Error> {
        let start = Instant::now();
        while let Some(silent) = self.devices.iter().find(|device| device.handle.state() != SourceState::Streaming) {
            if start.elapsed() > timeout {
                return Err(Error::DeviceSilent(silent.handle.complaint()));
            }
            let name = silent.handle.name().to_string();
            std::thread::sleep(CHECK_PERIOD);
            let goes_on = on_change(&self.take_changes());
            let is_silent = |device: &RunningDevice| device.handle.state() != SourceState::Streaming;
            if !goes_on && self.devices.iter().any(is_silent) {
                return Err(Error::Cancelled(name));
            }
        }
        on_change(&self.take_changes());
        Ok(())
    }

    /// Changes of state and new hints since the last call.
    pub fn take_changes(&mut self) -> Vec<DeviceChange> {
        let mut changes = Vec::new();
        for device in &mut self.devices {
            let (state, hint) = (device.handle.state(), device.handle.statistics().hint);
            let mut report = |message: String| {
                changes.push(DeviceChange { device: device.handle.name().into(), message });
            };
            if state != device.state {
                report(state.to_string());
            }
            if let Some(hint) = hint.as_ref().filter(|hint| device.hint.as_ref() != Some(hint)) {
                report(hint.clone());
            }
            (device.state, device.hint) = (state, hint);
        }
        changes
    }

    /// Samples and buttons since the last call; `now` is the simulated time, to which the samples are shifted.
    pub(super) fn poll(&mut self, now: f64) -> Received {
        let wall = self.epoch.elapsed().as_secs_f64();
        let mut received = Received::default();
        for (source, device) in self.devices.iter_mut().enumerate() {
            let mut newest = None;
            for sample in device.handle.samples().try_iter() {
                device.samples += 1;
                newest = Some(sample.time);
                self.fusion.take(source, &sample);
            }
            device.ages.extend(newest.map(|time| wall - time));
            for event in device.handle.buttons().try_iter() {
                if event.name == "calibrate" && event.pressed {
                    [Side::Left, Side::Right].into_iter().for_each(|side| self.fusion.recentre(source, side));
                }
                received.buttons.push((event.name, event.pressed));
            }
        }
        for (hand, side) in &self.hands {
            let news = self.fusion.news(*side, now - wall);
            received.samples.extend([news.palm, news.fingers].into_iter().flatten().map(|sample| (*hand, sample)));
        }
        received
    }

    /// Moves the hands of a world to what the devices measured since the last call; returns the buttons that were pressed or
    /// released. Not needed with a [`Session`](super::Session).
    pub fn track(&mut self, world: &mut World) -> Vec<(String, bool)> {
        let received = self.poll(world.time());
        for (hand, side) in &self.hands {
            if let Some(&id) = world.bodies.hand_ids().get(*hand) {
                world.bodies[id].skeleton.tracked.inlet_mut().claim_for_devices(&self.driven, *side);
            }
        }
        for (hand, sample) in received.samples {
            if let Some(&id) = world.bodies.hand_ids().get(hand) {
                world.bodies[id].track_from(SampleSource::Device, sample);
            }
        }
        received.buttons
    }

    /// Sends the contact forces and pressures of the last step to the devices. Only the newest is kept for a device that is
    /// slower than the simulation.
    pub fn send_feedback(&self, world: &World) {
        self.send_feedback_but(world, None);
    }

    /// The same for all hands but one, whose forces come from elsewhere.
    pub(super) fn send_feedback_but(&self, world: &World, felt: Option<HandId>) {
        for (hand, side) in &self.hands {
            if felt.is_some() && world.bodies.hand_ids().get(*hand).copied() == felt {
                continue;
            }
            let Some(id) = world.bodies.hand_ids().get(*hand) else { continue };
            let touch = haptic_feedback::of_hand(world, *id, *side);
            self.devices.iter().for_each(|device| device.handle.feel(touch));
        }
    }

    /// Where the forces on the first hand go, for another thread; it must end before the devices are dropped.
    pub(super) fn outlets(&self, world: &World) -> Option<(HandId, Vec<ForceOutlet>)> {
        let (hand, _) = self.hands.first()?;
        let outlets = self.devices.iter().filter(|device| device.has_haptics).map(|device| device.handle.outlet());
        Some((*world.bodies.hand_ids().get(*hand)?, outlets.collect()))
    }

    /// State and statistics of each device.
    pub fn status(&self) -> Vec<DeviceStatus> {
        let wall = self.epoch.elapsed().as_secs_f64().max(1e-3);
        let status = |device: &RunningDevice| DeviceStatus {
            name: device.handle.name().into(),
            state: device.handle.state(),
            samples: device.samples,
            rate: device.samples as f64 / wall,
            ages: device.ages.clone(),
            statistics: device.handle.statistics(),
        };
        self.devices.iter().map(status).collect()
    }

    /// The devices with haptic output: index, name, and the hand they are for.
    pub fn haptic_devices(&self) -> impl Iterator<Item = (usize, &str, Option<Side>)> {
        let haptic = self.devices.iter().enumerate().filter(|(_, device)| device.has_haptics);
        haptic.map(|(index, device)| (index, device.handle.name(), device.side))
    }

    /// The levels that were last sent to a device for a hand.
    pub fn sent_levels(&self, device: usize, side: Side) -> Levels {
        self.devices.get(device).map_or(Levels::ZERO, |device| device.handle.sent_levels(side))
    }
}

/// Adds the hands of a world to a fusion; the first of each side.
fn add_hands(fusion: &mut Fusion, world: &World) -> Vec<(usize, Side)> {
    let mut hands: Vec<(usize, Side)> = Vec::new();
    for (index, hand) in world.bodies.hands().enumerate() {
        let side = hand.model().description.side;
        if !hands.iter().any(|(_, other)| *other == side) {
            fusion.add_hand(side, hand.skeleton.tracked.palm(), hand.skeleton.tracked.angles());
            hands.push((index, side));
        }
    }
    hands
}

/// The skeleton of a hand of the world, or that of the average hand.
fn skeleton(world: &World, side: Side) -> Result<Skeleton, Error> {
    let own = world.bodies.hands().find(|hand| hand.model().description.side == side);
    own.map_or_else(|| average_skeleton(side), |hand| Ok(hand.model().skeleton.clone()))
}
