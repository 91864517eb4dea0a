use std::time::{Duration, Instant};

use super::session::HandSession;
use super::{Failure, HandReading, HandSize, JOINTS, JointReader, TrackedJoint};
use crate::assets::{DeviceProfile, Parts};
use crate::devices::haptics::{Levels, Pulse, VibrationDriver};
use crate::devices::smooth::Smoother;
use crate::devices::source::{
    HandForces, SourceFeed, SourceHandle, SourceRequest, SourceSample, SourceState, Vibration,
};
use crate::devices::start::Hands;
use crate::tracking::Side;

/// Samples per second: the rate of common headsets.
const HAND_RATE: f64 = 90.0;
/// First and maximum delay before reconnecting; each delay is twice the last.
const RETRY_DELAYS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(4)];

/// Starts to track the hands of a profile with the OpenXR runtime. The palms are in the runtime's local space: upright,
/// with its origin near the initial position of the head.
///
/// Angles are those of the given hands; `epoch` is time zero of the samples. Errors are reported as the source's state,
/// and the connection is retried.
pub fn start_openxr(profile: &DeviceProfile, hands: &Hands, epoch: Instant) -> std::io::Result<SourceHandle> {
    let (profile, hands) = (profile.clone(), hands.clone());
    SourceHandle::start(&profile.name.clone(), move |feed| run(feed, &profile, &hands, epoch))
}

/// Connects, streams and reconnects until stopped.
fn run(feed: &SourceFeed, profile: &DeviceProfile, hands: &Hands, epoch: Instant) {
    let [shortest, longest] = RETRY_DELAYS;
    let mut wait = shortest;
    loop {
        let failure = match HandSession::open() {
            Ok(session) => {
                feed.set_state(SourceState::Connected);
                feed.set_statistics(|statistics| statistics.opened += 1);
                // A connection that worked is retried soon.
                wait = shortest;
                match Stream::new(session, profile, hands, epoch).run(feed) {
                    Ok(()) => return,
                    Err(failure) => failure,
                }
            }
            Err(failure) => failure,
        };
        feed.set_state(SourceState::Lost(failure.to_string()));
        if !feed.rest_until(Instant::now() + wait) {
            return;
        }
        wait = (2 * wait).min(longest);
    }
}

/// A session with hand tracking.
struct Stream<'a> {
    session: HandSession,
    profile: &'a DeviceProfile,
    epoch: Instant,
    /// Left and right; `None` if the profile does not use it.
    hands: [Option<TrackedSide>; 2],
}

/// A tracked hand of the session.
struct TrackedSide {
    side: Side,
    reader: JointReader,
    smoother: Smoother,
    haptics: Option<VibrationDriver>,
    /// Time of the last tracking, s.
    at: f64,
}

impl<'a> Stream<'a> {
    fn new(session: HandSession, profile: &'a DeviceProfile, hands: &Hands, epoch: Instant) -> Self {
        let seen = |side: Side, skeleton| {
            profile.side.is_none_or(|own| own == side).then(|| TrackedSide {
                side,
                reader: JointReader::new(skeleton),
                smoother: Smoother::new(profile.filter),
                haptics: profile.haptics.map(VibrationDriver::new),
                at: epoch.elapsed().as_secs_f64(),
            })
        };
        let hands = [seen(Side::Left, &hands.left), seen(Side::Right, &hands.right)];
        Self { session, profile, epoch, hands }
    }

    fn now(&self) -> f64 {
        self.epoch.elapsed().as_secs_f64()
    }

    /// Sends samples of the hands until stopped; an error ends the session.
    fn run(mut self, feed: &SourceFeed) -> Result<(), Failure> {
        let period = Duration::from_secs_f64(1.0 / HAND_RATE);
        let mut next = Instant::now();
        loop {
            self.session.follow_events()?;
            self.look(feed)?;
            self.vibrate(feed);
            // After a delay the schedule restarts.
            next = (next + period).max(Instant::now());
            loop {
                match feed.wait_until(next) {
                    SourceRequest::None => break,
                    SourceRequest::Vibrate(vibration) => self.session.vibrate(&vibration),
                    SourceRequest::Feel(touch) => self.feel(&touch),
                    SourceRequest::Stop => {
                        self.release_motors(feed);
                        return Ok(());
                    }
                }
            }
        }
    }

    fn look(&mut self, feed: &SourceFeed) -> Result<(), Failure> {
        for hand in self.hands.iter_mut().flatten() {
            let now = self.epoch.elapsed().as_secs_f64();
            let joints = self.session.locate(hand.side)?;
            let time = now - self.profile.latency;
            match joints.and_then(|joints| hand.sample(time, &self.profile.place.uses, &joints)) {
                Some(sample) => {
                    hand.at = now;
                    feed.send(sample);
                }
                None if now - hand.at > self.profile.stale => feed.miss(hand.side),
                None => {}
            }
        }
        Ok(())
    }

    fn feel(&mut self, touch: &HandForces) {
        let now = self.now();
        let hand = self.hands[touch.side as usize].as_mut();
        if let Some(haptics) = hand.and_then(|hand| hand.haptics.as_mut()) {
            haptics.feel(touch, now);
        }
    }

    /// Sends due vibrations to the controllers.
    fn vibrate(&mut self, feed: &SourceFeed) {
        let now = self.now();
        for hand in self.hands.iter_mut().flatten() {
            if let Some(pulse) = hand.haptics.as_mut().and_then(|haptics| haptics.due(now)) {
                send(&self.session, hand.side, &pulse, feed);
            }
        }
    }

    fn release_motors(&mut self, feed: &SourceFeed) {
        for hand in self.hands.iter_mut().flatten() {
            if let Some(pulse) = hand.haptics.as_mut().and_then(VibrationDriver::stop) {
                send(&self.session, hand.side, &pulse, feed);
            }
        }
    }
}

fn send(session: &HandSession, side: Side, pulse: &Pulse, feed: &SourceFeed) {
    let duration = Duration::try_from_secs_f64(pulse.duration).unwrap_or_default();
    session.vibrate(&Vibration { side, amplitude: pulse.amplitude, duration });
    feed.set_sent_levels(side, Levels { fingers: [pulse.amplitude; 5], palm: pulse.amplitude });
}

impl TrackedSide {
    /// The used parts of the joints, if any.
    fn sample(&mut self, time: f64, uses: &Parts, joints: &[TrackedJoint; JOINTS]) -> Option<SourceSample> {
        let HandReading { palm, angles } = self.reader.read(joints);
        let mut sample = SourceSample::new(time, self.side);
        if uses.fingers {
            sample.angles = self.smoother.angles(time, &angles);
        }
        sample.position =
            palm.filter(|_| uses.position).map(|palm| self.smoother.position(time, palm.translation.vector));
        sample.orientation =
            palm.filter(|_| uses.orientation).map(|palm| self.smoother.orientation(time, palm.rotation));
        sample.hand_length = HandSize::measure(joints).hand_length;
        sample.says_something().then_some(sample)
    }
}
