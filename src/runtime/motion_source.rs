//! A source that plays the tracked hand of a scene, a script or a recording in place of a device.

use std::path::Path;
use std::time::{Duration, Instant};

use super::error::Error;
use super::hand_motion::HandMotion;
use crate::assets::DeviceProfile;
use crate::devices::{SourceFeed, SourceHandle, SourceSample, SourceState};
use crate::tracking::Side;

/// Samples per second.
const PLAYBACK_RATE: f64 = 100.0;

/// Plays a motion from now on; the hand rests at its end.
pub(super) fn start(profile: &DeviceProfile, file: &Path, epoch: Instant) -> Result<SourceHandle, Error> {
    let sides = profile.side.map_or(vec![Side::Left, Side::Right], |side| vec![side]);
    let name = file.to_string_lossy();
    let of = |side: &Side| HandMotion::of(&name, Some(*side)).map(|motion| (*side, motion));
    let mut motions: Vec<_> = sides.iter().map(of).collect();
    // A profile for both hands may be played by a file with one.
    if motions.iter().any(Result::is_ok) {
        motions.retain(Result::is_ok);
    }
    let motions: Vec<_> = motions.into_iter().collect::<Result<_, _>>()?;
    let uses = profile.place.uses;
    let perform = move |feed: &SourceFeed| {
        feed.set_state(SourceState::Connected);
        let (began, period) = (Instant::now(), Duration::from_secs_f64(1.0 / PLAYBACK_RATE));
        let mut next = began;
        loop {
            for (side, motion) in &motions {
                let target = motion.sample(began.elapsed().as_secs_f64());
                let mut sample = SourceSample::new(epoch.elapsed().as_secs_f64(), *side);
                if let Some(palm) = target.and_then(|target| target.palm) {
                    sample.position = uses.position.then_some(palm.translation.vector);
                    sample.orientation = uses.orientation.then_some(palm.rotation);
                }
                if let Some(angles) = target.and_then(|target| target.angles).filter(|_| uses.fingers) {
                    sample.angles = angles.map(Some);
                }
                feed.send(sample);
            }
            next = (next + period).max(Instant::now());
            if !feed.rest_until(next) {
                return;
            }
        }
    };
    SourceHandle::start(&profile.name, perform).map_err(|error| Error::Thread { name: profile.name.clone(), error })
}
