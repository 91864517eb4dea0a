use std::time::{Duration, Instant};

use super::session::Session;
use super::{Failure, HandReading, HandSize, JOINTS, Joint, JointReader};
use crate::assets::{DeviceProfile, Parts};
use crate::devices::haptics::{Levels, Pulse, VibrationDriver};
use crate::devices::smooth::Smoother;
use crate::devices::source::{SourceFeed, SourceHandle, SourceSample, SourceState, Told, Touch, Vibration};
use crate::devices::start::Hands;
use crate::tracking::Side;

/// Samples of a hand per second: the rate of common headsets.
const RATE: f64 = 90.0;
/// First and longest wait before a lost runtime is looked for again; each wait is twice the last.
const WAITS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(4)];

/// Starts to track the hands of a profile through the OpenXR runtime. The palms' frame is that of the runtime's local space: upright,
/// with its origin about where the head was at the start.
///
/// Angles are those of the given hands; `epoch` is time zero of the samples. Whatever is missing or goes wrong is told as the
/// source's state, and tried again.
pub fn start_openxr(profile: &DeviceProfile, hands: &Hands, epoch: Instant) -> std::io::Result<SourceHandle> {
    let (profile, hands) = (profile.clone(), hands.clone());
    SourceHandle::start(&profile.name.clone(), move |feed| run(feed, &profile, &hands, epoch))
}

/// Connects, streams, and connects again, until told to stop.
fn run(feed: &SourceFeed, profile: &DeviceProfile, hands: &Hands, epoch: Instant) {
    let [shortest, longest] = WAITS;
    let mut wait = shortest;
    loop {
        let failure = match Session::open() {
            Ok(session) => {
                feed.set_state(SourceState::Connected);
                feed.set_statistics(|statistics| statistics.opened += 1);
                // What has worked is likely to work again soon.
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

/// A session that tells of hands.
struct Stream<'a> {
    session: Session,
    profile: &'a DeviceProfile,
    epoch: Instant,
    /// Left and right; `None` if the profile is not for it.
    hands: [Option<Seen>; 2],
}

/// A hand that the session looks at.
struct Seen {
    side: Side,
    reader: JointReader,
    smoother: Smoother,
    haptics: Option<VibrationDriver>,
    /// When it was last seen, s.
    at: f64,
}

impl<'a> Stream<'a> {
    fn new(session: Session, profile: &'a DeviceProfile, hands: &Hands, epoch: Instant) -> Self {
        let seen = |side: Side, skeleton| {
            profile.side.is_none_or(|own| own == side).then(|| Seen {
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

    /// Sends what the session sees of the hands until told to stop; an error is the end of the session.
    fn run(mut self, feed: &SourceFeed) -> Result<(), Failure> {
        let period = Duration::from_secs_f64(1.0 / RATE);
        let mut next = Instant::now();
        loop {
            self.session.follow_events()?;
            self.look(feed)?;
            self.vibrate(feed);
            // After a hiccup the rhythm starts anew.
            next = (next + period).max(Instant::now());
            loop {
                match feed.wait_until(next) {
                    Told::Nothing => break,
                    Told::Vibrate(vibration) => self.session.vibrate(&vibration),
                    Told::Feel(touch) => self.feel(&touch),
                    Told::Stop => {
                        self.let_go(feed);
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

    fn feel(&mut self, touch: &Touch) {
        let now = self.now();
        let hand = self.hands[touch.side as usize].as_mut();
        if let Some(haptics) = hand.and_then(|hand| hand.haptics.as_mut()) {
            haptics.feel(touch, now);
        }
    }

    /// Tells the controllers what is due.
    fn vibrate(&mut self, feed: &SourceFeed) {
        let now = self.now();
        for hand in self.hands.iter_mut().flatten() {
            if let Some(pulse) = hand.haptics.as_mut().and_then(|haptics| haptics.due(now)) {
                send(&self.session, hand.side, &pulse, feed);
            }
        }
    }

    fn let_go(&mut self, feed: &SourceFeed) {
        for hand in self.hands.iter_mut().flatten() {
            if let Some(pulse) = hand.haptics.as_mut().and_then(VibrationDriver::stop) {
                send(&self.session, hand.side, &pulse, feed);
            }
        }
    }
}

fn send(session: &Session, side: Side, pulse: &Pulse, feed: &SourceFeed) {
    let duration = Duration::try_from_secs_f64(pulse.duration).unwrap_or_default();
    session.vibrate(&Vibration { side, amplitude: pulse.amplitude, duration });
    feed.set_told(side, Levels { fingers: [pulse.amplitude; 5], palm: pulse.amplitude });
}

impl Seen {
    /// What the joints say of what is used, if anything.
    fn sample(&mut self, time: f64, uses: &Parts, joints: &[Joint; JOINTS]) -> Option<SourceSample> {
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
