use std::time::{Duration, Instant};

use super::Failure;
use super::joints::{HandReading, HandSize, JOINTS, Joint, JointReader};
use super::session::Session;
use crate::devices::source::{SourceFeed, SourceHandle, SourceSample, SourceState, Told};
use crate::hand::Skeleton;
use crate::tracking::Side;

/// Samples of a hand per second: the rate of common headsets.
const RATE: f64 = 90.0;
/// First and longest wait before a lost runtime is looked for again; each wait is twice the last.
const WAITS: [Duration; 2] = [Duration::from_millis(250), Duration::from_secs(4)];

/// Starts to track both hands through the OpenXR runtime. The palms' frame is that of the runtime's local space: upright, with
/// its origin about where the head was at the start.
///
/// Angles are those of the given hands; `epoch` is time zero of the samples. Whatever is missing or goes wrong is told as the
/// source's state, and tried again.
pub fn start_openxr(left: &Skeleton, right: &Skeleton, epoch: Instant) -> std::io::Result<SourceHandle> {
    let readers = [JointReader::new(left), JointReader::new(right)];
    SourceHandle::start("OpenXR", move |feed| run(feed, &readers, epoch))
}

/// Connects, streams, and connects again, until told to stop.
fn run(feed: &SourceFeed, readers: &[JointReader; 2], epoch: Instant) {
    let [shortest, longest] = WAITS;
    let mut wait = shortest;
    loop {
        let failure = match Session::open() {
            Ok(session) => {
                feed.set_state(SourceState::Connected);
                // What has worked is likely to work again soon.
                wait = shortest;
                match stream(session, feed, readers, epoch) {
                    Ok(()) => return,
                    Err(failure) => failure,
                }
            }
            Err(failure) => failure,
        };
        feed.set_state(SourceState::Lost(failure.to_string()));
        let deadline = Instant::now() + wait;
        loop {
            match feed.wait_until(deadline) {
                Told::Nothing => break,
                Told::Vibrate(_) | Told::Feel(_) => {}
                Told::Stop => return,
            }
        }
        wait = (2 * wait).min(longest);
    }
}

/// Sends what the session sees of the hands until told to stop; an error is the end of the session.
fn stream(mut session: Session, feed: &SourceFeed, readers: &[JointReader; 2], epoch: Instant) -> Result<(), Failure> {
    let period = Duration::from_secs_f64(1.0 / RATE);
    let mut next = Instant::now();
    loop {
        session.follow_events()?;
        for side in [Side::Left, Side::Right] {
            let time = epoch.elapsed().as_secs_f64();
            match session.locate(side)?.and_then(|joints| sample(time, side, &readers[side as usize], &joints)) {
                Some(sample) => feed.send(sample),
                None => feed.miss(side),
            }
        }
        // After a hiccup the rhythm starts anew.
        next = (next + period).max(Instant::now());
        loop {
            match feed.wait_until(next) {
                Told::Nothing => break,
                Told::Vibrate(vibration) => session.vibrate(&vibration),
                Told::Feel(_) => {}
                Told::Stop => return Ok(()),
            }
        }
    }
}

/// What the joints say, if anything.
fn sample(time: f64, side: Side, reader: &JointReader, joints: &[Joint; JOINTS]) -> Option<SourceSample> {
    let HandReading { palm, angles } = reader.read(joints);
    let says_something = palm.is_some() || angles.iter().any(Option::is_some);
    let hand_length = HandSize::measure(joints).hand_length;
    let (position, orientation) = palm.map(|palm| (palm.translation.vector, palm.rotation)).unzip();
    says_something.then(|| SourceSample { position, orientation, angles, hand_length, ..SourceSample::new(time, side) })
}
