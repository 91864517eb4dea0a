//! Converts the readings of a device to samples of a hand.

use super::glove::GloveMap;
use super::human::BoneSkeleton;
use super::joints::HandReading;
use super::smooth::Smoother;
use super::source::{SourceFeed, SourceSample};
use super::start::Hands;
use crate::assets::{DeviceProfile, Parts};
use crate::math::{Quat, Vec3};
use crate::protocol::{FlexReading, Format, Reading, TrackedObject};
use crate::tracking::Side;

/// Maximum time between two datagrams of one skeleton frame, s.
const MAX_FRAME_GAP: f64 = 0.004;

/// Combines the readings of a device, calibrated and filtered.
pub struct Assembler {
    side: Side,
    /// The reported hands, for skeleton data.
    sides: Vec<Side>,
    glove: GloveMap,
    /// State of the left and of the right hand.
    filters: [Smoother; 2],
    body: Option<BoneSkeleton>,
    uses: Parts,
    tilt: bool,
    tracker: Option<String>,
    buttons: u32,
    /// Readings since the last sample.
    pending: Pending,
}

#[derive(Default)]
struct Pending {
    flex: Option<FlexReading>,
    position: Option<Vec3>,
    orientation: Option<Quat>,
}

impl Pending {
    fn is_empty(&self) -> bool {
        self.flex.is_none() && self.position.is_none() && self.orientation.is_none()
    }
}

impl Assembler {
    /// For the device of a profile.
    pub fn new(profile: &DeviceProfile, format: &Format, hands: &Hands) -> Self {
        Self {
            side: profile.side.unwrap_or(Side::Right),
            sides: profile.side.map_or(vec![Side::Left, Side::Right], |side| vec![side]),
            glove: GloveMap::new(&profile.sensors),
            filters: [0, 1].map(|_| Smoother::new(profile.filter)),
            body: matches!(format, Format::Vmc).then(|| BoneSkeleton::new(&hands.left, &hands.right)),
            uses: profile.place.uses,
            tilt: profile.tilt,
            tracker: profile.tracker.clone(),
            buttons: 0,
            pending: Pending::default(),
        }
    }

    /// Processes readings that arrived together and sends their samples. `times` are the end of the previous readings
    /// and of these; samples in between are spaced evenly.
    pub fn take(&mut self, readings: &[Reading], times: [f64; 2], feed: &SourceFeed) {
        let whole = self.samples_in(readings);
        let [last, now] = times;
        if now - last > MAX_FRAME_GAP {
            self.end_frames(last, feed);
        }
        let time = |n: usize| last + (now - last) * n as f64 / whole as f64;
        let mut made = 0;
        for reading in readings {
            if self.begins_next_frame(reading) {
                made += 1;
                self.send(time(made), feed);
            }
            self.end_frame(reading, now, feed);
            self.note(reading, feed);
        }
        if !self.pending.is_empty() {
            self.send(now, feed);
        }
        self.send_hands(now, feed);
    }

    /// Number of samples in some readings.
    fn samples_in(&self, readings: &[Reading]) -> usize {
        let kinds = |reading: &Reading| match reading {
            Reading::Flex(_) => Some(0),
            Reading::Position { side, .. } if *side == self.side => Some(1),
            Reading::Orientation(_) => Some(2),
            _ => None,
        };
        let mut counts = [0; 3];
        readings.iter().filter_map(kinds).for_each(|kind| counts[kind] += 1);
        counts.into_iter().max().unwrap_or(0).max(1)
    }

    /// Whether a reading repeats a value of the pending sample.
    fn begins_next_frame(&self, reading: &Reading) -> bool {
        match reading {
            Reading::Flex(_) => self.pending.flex.is_some(),
            Reading::Position { side, .. } => *side == self.side && self.pending.position.is_some(),
            Reading::Orientation(_) => self.pending.orientation.is_some(),
            _ => false,
        }
    }

    fn note(&mut self, reading: &Reading, feed: &SourceFeed) {
        match reading {
            Reading::Flex(flex) => self.pending.flex = Some(*flex),
            Reading::Orientation(turn) => self.pending.orientation = Some(*turn),
            Reading::Position { side, position } if *side == self.side => self.pending.position = Some(*position),
            Reading::Tilt { pitch, roll } if self.tilt => {
                // Pitch about x, then roll about the forearm; tilt does not determine the heading.
                let up = Quat::from_scaled_axis(Vec3::x() * *pitch);
                self.pending.orientation = Some(up * Quat::from_scaled_axis(-Vec3::z() * *roll));
            }
            Reading::Tracked { object, serial, pose } if self.is_ours(*object, serial) => {
                self.pending.position = Some(pose.translation.vector);
                self.pending.orientation = Some(pose.rotation);
            }
            Reading::Bone { bone, pose } => {
                if let Some(body) = &mut self.body {
                    body.set(*bone, pose);
                }
            }
            Reading::Button { button, pressed } => {
                let bit = 1 << (button_index(*button) % 32);
                self.buttons = if *pressed { self.buttons | bit } else { self.buttons & !bit };
                feed.press(button.to_string(), *pressed);
            }
            _ => {}
        }
    }

    /// Whether a tracked object is the hand: the one that the profile names, or any tracker or controller if there is
    /// no skeleton data, since hips and feet may have trackers too.
    fn is_ours(&self, object: TrackedObject, serial: &str) -> bool {
        match &self.tracker {
            Some(name) => name == serial,
            None => object != TrackedObject::Headset && !self.body.as_ref().is_some_and(BoneSkeleton::is_known),
        }
    }

    /// Sends the hands with incomplete frames after the sender paused.
    fn end_frames(&mut self, time: f64, feed: &SourceFeed) {
        for side in [Side::Left, Side::Right] {
            let open = self.body.as_mut().filter(|body| body.is_open(side));
            if let Some(hand) = open.map(|body| body.end_frame(side)) {
                self.send_hand(side, &hand, time, feed);
            }
        }
    }

    /// Sends the hand whose incomplete frame ends with a reading.
    fn end_frame(&mut self, reading: &Reading, time: f64, feed: &SourceFeed) {
        let (Reading::Bone { bone, .. }, Some(body)) = (reading, &mut self.body) else { return };
        let Some(side) = body.ended_by(*bone) else { return };
        let hand = body.end_frame(side);
        self.send_hand(side, &hand, time, feed);
    }

    /// Sends the hands of a skeleton with all bones received.
    fn send_hands(&mut self, time: f64, feed: &SourceFeed) {
        for side in [Side::Left, Side::Right] {
            if let Some(hand) = self.body.as_mut().and_then(|body| body.news(side)) {
                self.send_hand(side, &hand, time, feed);
            }
        }
    }

    /// Sends a hand of a skeleton, if it is in use. A tracker that the profile names overrides the skeleton's arm.
    fn send_hand(&mut self, side: Side, hand: &HandReading, time: f64, feed: &SourceFeed) {
        if self.sides.contains(&side) {
            let filters = &mut self.filters[side as usize];
            let mut sample = SourceSample::new(time, side);
            if self.uses.fingers {
                sample.angles = filters.angles(time, &hand.angles);
            }
            let palm = hand.palm.filter(|_| self.tracker.is_none());
            sample.position =
                palm.filter(|_| self.uses.position).map(|palm| filters.position(time, palm.translation.vector));
            sample.orientation =
                palm.filter(|_| self.uses.orientation).map(|palm| filters.orientation(time, palm.rotation));
            if sample.says_something() {
                feed.send(sample);
            }
        }
    }

    fn send(&mut self, time: f64, feed: &SourceFeed) {
        let said = std::mem::take(&mut self.pending);
        let mut sample = SourceSample { buttons: self.buttons, ..SourceSample::new(time, self.side) };
        let filters = &mut self.filters[self.side as usize];
        if let Some(flex) = said.flex {
            sample.flex = flex;
            sample.bends = filters.bends(time, &self.glove.bends(&flex));
            if self.uses.fingers {
                sample.angles = self.glove.angles(&sample.bends);
            }
        }
        if let Some(position) = said.position.filter(|_| self.uses.position) {
            sample.position = Some(filters.position(time, position));
        }
        if let Some(turn) = said.orientation.filter(|_| self.uses.orientation) {
            sample.orientation = Some(filters.orientation(time, turn));
        }
        feed.send(sample);
    }
}

fn button_index(button: crate::protocol::Button) -> u32 {
    use crate::protocol::Button;
    match button {
        Button::JoystickClick => 0,
        Button::Trigger => 1,
        Button::A => 2,
        Button::B => 3,
        Button::Grab => 4,
        Button::Pinch => 5,
        Button::Menu => 6,
        Button::Calibrate => 7,
        Button::Numbered(number) => 8 + u32::from(number),
    }
}
