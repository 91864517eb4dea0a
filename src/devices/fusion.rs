//! Fuses several devices into one hand: fingers from a glove, position from a tracker, orientation from an inertial
//! sensor.
//!
//! Each part of a hand is driven by the first device, in the order of adding, that reports it and is not silent. A part
//! whose device is silent is held, and blended to the new value when a device reports it again: the hand never jumps
//! because of a loose cable.
//!
//! ```
//! use fingerpad::assets::{DeviceProfile, Parts};
//! use fingerpad::devices::SourceSample;
//! use fingerpad::devices::fusion::Fusion;
//! use fingerpad::math::Pose;
//! use fingerpad::tracking::{ANGLES, Side};
//!
//! let mut fusion = Fusion::new();
//! fusion.add_hand(Side::Right, &Pose::identity(), &[0.0; ANGLES]);
//! let fingers = Parts { fingers: true, position: false, orientation: false };
//! let glove = fusion.add_source(&DeviceProfile::custom("glove", Some(Side::Right), fingers));
//! let sample = SourceSample { angles: [Some(0.3); ANGLES], ..SourceSample::new(0.01, Side::Right) };
//! fusion.take(glove, &sample);
//! let news = fusion.news(Side::Right, 0.0);
//! assert!(news.palm.is_none() && news.fingers.is_some(), "the glove drives the fingers only");
//! ```

mod place;
#[cfg(test)]
mod tests;

use self::place::DeviceToWorld;
use super::source::SourceSample;
use crate::assets::{DeviceProfile, Parts};
use crate::math::{Pose, Quat, Vec3};
use crate::tracking::{ANGLES, Driven, HandSample, Side, minimum_jerk};

/// Blend time after a silence, s.
const EASE: f64 = 0.3;

/// The hands that devices drive.
#[derive(Debug, Default)]
pub struct Fusion {
    /// Left and right; `None` if there is no such hand.
    hands: [Option<Fused>; 2],
    sources: Vec<FusedSource>,
}

#[derive(Debug)]
struct FusedSource {
    stale: f64,
    gives: Parts,
    side: Option<Side>,
    /// Reference frame of each hand.
    placed: [DeviceToWorld; 2],
}

/// New parts of a step. Times are those of the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FusedParts {
    /// The palm.
    pub palm: Option<HandSample>,
    /// The joints.
    pub fingers: Option<HandSample>,
}

impl Fusion {
    /// An empty fusion.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a hand at its initial pose.
    pub fn add_hand(&mut self, side: Side, palm: &Pose, angles: &[f64; ANGLES]) {
        self.hands[side as usize] = Some(Fused {
            start: *palm,
            position: FusedPart::new(palm.translation.vector),
            orientation: FusedPart::new(palm.rotation),
            fingers: FusedPart::new(*angles),
        });
    }

    /// Adds a device; returns its number for [`Fusion::take`].
    pub fn add_source(&mut self, profile: &DeviceProfile) -> usize {
        let placed = [DeviceToWorld::new(&profile.place), DeviceToWorld::new(&profile.place)];
        self.sources.push(FusedSource { stale: profile.stale, gives: profile.gives(), side: profile.side, placed });
        self.sources.len() - 1
    }

    /// The parts that the devices drive.
    pub fn drives(&self) -> Driven {
        let mut driven = Driven::default();
        for side in [Side::Left, Side::Right] {
            let own = self.sources.iter().filter(|source| source.side.is_none_or(|s| s == side));
            for source in own {
                driven.palm[side as usize] |= source.gives.position || source.gives.orientation;
                driven.fingers[side as usize] |= source.gives.fingers;
            }
        }
        driven
    }

    /// The next sample of the device defines the start of that hand in the scene.
    pub fn recentre(&mut self, source: usize, side: Side) {
        if let Some(source) = self.sources.get_mut(source) {
            source.placed[side as usize].forget();
        }
    }

    /// Adds a sample; ignored if there is no such hand.
    pub fn take(&mut self, source: usize, sample: &SourceSample) {
        let (Some(hand), Some(own)) = (&mut self.hands[sample.side as usize], self.sources.get_mut(source)) else {
            return;
        };
        let origin = ValueOrigin { source, time: sample.time, stale: own.stale };
        let placed = &mut own.placed[sample.side as usize];
        placed.anchor(sample.position, sample.orientation, &hand.start);
        if let Some(position) = sample.position {
            hand.position.set_target(origin, placed.position(&position));
        }
        if let Some(turn) = sample.orientation {
            hand.orientation.set_target(origin, placed.orientation(&turn));
        }
        if sample.has_angles() {
            // Parts that the device does not report are unchanged.
            let held = hand.fingers.value;
            hand.fingers.set_target(origin, std::array::from_fn(|i| sample.angles[i].unwrap_or(held[i])));
        }
    }

    /// The new parts of a hand since the last call. `shift` is added to the sample times to convert them to simulation
    /// time.
    pub fn news(&mut self, side: Side, shift: f64) -> FusedParts {
        let Some(hand) = &mut self.hands[side as usize] else { return FusedParts::default() };
        let palm_time = [hand.position.news(), hand.orientation.news()].into_iter().flatten().reduce(f64::max);
        let palm = Pose::from_parts(hand.position.value.into(), hand.orientation.value);
        let angles = hand.fingers.value;
        FusedParts {
            palm: palm_time.map(|time| HandSample { time: time + shift, palm: Some(palm), angles: None }),
            fingers: (hand.fingers.news()).map(|time| HandSample {
                time: time + shift,
                palm: None,
                angles: Some(angles),
            }),
        }
    }
}

#[derive(Debug)]
struct Fused {
    /// Initial pose in the scene.
    start: Pose,
    position: FusedPart<Vec3>,
    orientation: FusedPart<Quat>,
    fingers: FusedPart<[f64; ANGLES]>,
}

/// Device and time of a value.
#[derive(Clone, Copy)]
struct ValueOrigin {
    source: usize,
    time: f64,
    stale: f64,
}

/// A value that can be interpolated.
trait Eased: Copy {
    fn towards(&self, other: &Self, part: f64) -> Self;
}

impl Eased for Vec3 {
    fn towards(&self, other: &Self, part: f64) -> Self {
        self + part * (other - self)
    }
}

impl Eased for Quat {
    fn towards(&self, other: &Self, part: f64) -> Self {
        self.try_slerp(other, part, 1e-9).unwrap_or(*other)
    }
}

impl Eased for [f64; ANGLES] {
    fn towards(&self, other: &Self, part: f64) -> Self {
        std::array::from_fn(|i| self[i] + part * (other[i] - self[i]))
    }
}

/// A part of a hand.
#[derive(Debug)]
struct FusedPart<T> {
    value: T,
    /// Its device, the time of its last value, and the allowed silence of the device.
    owner: Option<(usize, f64, f64)>,
    /// Start time and value of the blend.
    easing: Option<(f64, T)>,
    /// The time of a value that has not been read yet.
    news: Option<f64>,
}

impl<T: Eased> FusedPart<T> {
    fn new(value: T) -> Self {
        Self { value, owner: None, easing: None, news: None }
    }

    fn set_target(&mut self, origin: ValueOrigin, target: T) {
        let ValueOrigin { source, time, stale } = origin;
        let goes_on = match self.owner {
            None => false,
            Some((owner, last, _)) if owner == source => {
                if time <= last {
                    return;
                }
                time - last <= stale
            }
            // Another device with priority is not silent.
            Some((owner, last, patience)) if owner < source && time - last <= patience => return,
            Some(_) => false,
        };
        if !goes_on {
            self.easing = Some((time, self.value));
        }
        self.owner = Some((source, time, stale));
        self.news = Some(time);
        self.value = match self.easing {
            Some((since, from)) if time - since < EASE => from.towards(&target, minimum_jerk((time - since) / EASE)),
            _ => {
                self.easing = None;
                target
            }
        };
    }

    fn news(&mut self) -> Option<f64> {
        self.news.take()
    }
}
