//! The hands that a headset tracks, as a device of a session.

use std::path::Path;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};

use super::device_profile::start_device;
use super::headset_mount::Mounting;
use super::{DeviceSet, Error, average_hands, average_skeleton, open_profile};
use crate::assets::{DeviceProfile, Mounts, Parts, PlaceSettings, TrackerAnchor, load_hand};
use crate::devices::calibration::Mount;
use crate::devices::haptics::{LevelDriver, VibrationDriver};
use crate::devices::joints::{JOINTS, JointReader, PALM, TrackedJoint};
use crate::devices::{SourceFeed, SourceHandle, SourceRequest, SourceSample, SourceState};
use crate::hand::{HandDescription, Skeleton};
use crate::math::Pose;
use crate::sim::World;
use crate::tracking::{ANGLES, Finger, Side};
use crate::viewer::headset::{Controller, HandOutput, HandPulse, TrackedInput};

/// Samples that wait for the simulation, of both hands.
const QUEUED_SAMPLES: usize = 16;
/// Poll interval for vibrations.
const VIBRATION_PERIOD: Duration = Duration::from_millis(5);

/// The headset's ends of the connection.
pub struct HeadsetChannels {
    /// Tracked hands for the simulation.
    pub inputs: Sender<TrackedInput>,
    /// Vibrations and forces from its contacts, and advice.
    pub outputs: Receiver<HandOutput>,
    /// Calibrated mounts of controllers on gloved hands.
    pub mounts: Receiver<(Side, Mount)>,
}

/// The profile of the hands in a headset: that of hand tracking, with samples in the world of the scene.
pub fn headset_profile() -> Result<DeviceProfile, Error> {
    let mut profile = open_profile("openxr")?;
    profile.name = "headset".into();
    profile.place = PlaceSettings { anchor: TrackerAnchor::World, ..profile.place };
    Ok(profile)
}

/// Both hands of a headset as the only device of a world.
pub fn headset_devices(profile: &DeviceProfile, world: &World) -> Result<(DeviceSet, HeadsetChannels), Error> {
    gloved_headset_devices(profile, &[], &[None, None], world)
}

/// Both hands of a headset; the fingers of gloved hands are those of the gloves. The palm of a gloved hand is that of the
/// controller or tracker on it, with the given mount or one that the user is guided to calibrate, or else the tracked palm.
pub fn gloved_headset_devices(
    profile: &DeviceProfile,
    gloves: &[DeviceProfile],
    mounts: &Mounts,
    world: &World,
) -> Result<(DeviceSet, HeadsetChannels), Error> {
    let (inputs, tracked) = bounded(QUEUED_SAMPLES);
    let (mounted, found) = bounded(2);
    let (output, outputs) = bounded(QUEUED_SAMPLES);
    let mut set = DeviceSet::empty(world);
    let epoch = set.epoch();
    // The next scene may have a hand that this one lacks.
    let mut models = Vec::new();
    for side in [Side::Left, Side::Right] {
        let own = world.bodies.hands().map(|hand| hand.model()).find(|model| model.description.side == side);
        models.push(match own {
            Some(model) => (model.description.clone(), model.skeleton.clone()),
            None => average_hand(side)?,
        });
    }
    let hands = models.iter().map(|(description, skeleton)| {
        let reader = JointReader::new(skeleton);
        let (haptics, forces) = (profile.haptics.map(VibrationDriver::new), profile.haptics.map(LevelDriver::new));
        let side = description.side;
        let is_gloved = gloves.iter().any(|glove| glove.gives().fingers && glove.side.is_none_or(|own| own == side));
        let mount = mounts[side as usize];
        let mounting = (is_gloved && mount.is_none()).then(|| Mounting::new(description));
        let worn = is_gloved.then_some(MountedGlove { mount, mounting });
        HeadsetHand { side, reader, curl: Curl::new(description), haptics, forces, worn }
    });
    let mut wearers: Vec<HeadsetHand> = hands.collect();
    let body = move |feed: &SourceFeed| run(feed, &mut wearers, &tracked, &output, &mounted, epoch);
    let skeletons = average_hands()?;
    for glove in gloves {
        // Their palms are those of the headset.
        let uses = Parts { position: false, orientation: false, ..glove.place.uses };
        let glove = DeviceProfile { place: PlaceSettings { uses, ..glove.place }, ..glove.clone() };
        set.add(&glove, start_device(&glove, &skeletons, set.epoch())?);
    }
    let failed = |error| Error::Thread { name: profile.name.clone(), error };
    set.add(profile, SourceHandle::start(&profile.name, body).map_err(failed)?);
    Ok((set, HeadsetChannels { inputs, outputs, mounts: found }))
}

/// The average hand of a side.
fn average_hand(side: Side) -> Result<(HandDescription, Skeleton), Error> {
    let file = format!("fingerpad:/hands/{}.toml", side.name());
    Ok((load_hand(Path::new(&file))?, average_skeleton(side)?))
}

/// A hand of the user.
struct HeadsetHand {
    side: Side,
    reader: JointReader,
    curl: Curl,
    haptics: Option<VibrationDriver>,
    /// Resistance to the curl of the fingers.
    forces: Option<LevelDriver>,
    /// A glove, with a controller on the wrist.
    worn: Option<MountedGlove>,
}

/// A controller on a gloved hand.
#[derive(Clone)]
struct MountedGlove {
    /// The palm in the frame of the controller.
    mount: Option<Pose>,
    /// Its calibration.
    mounting: Option<Mounting>,
}

/// Converts inputs to samples, and forces to vibrations, until stopped.
fn run(
    feed: &SourceFeed,
    wearers: &mut [HeadsetHand],
    tracked: &Receiver<TrackedInput>,
    outputs: &Sender<HandOutput>,
    mounts: &Sender<(Side, Mount)>,
    epoch: Instant,
) {
    feed.set_state(SourceState::Connected);
    loop {
        let input = tracked.recv_timeout(VIBRATION_PERIOD);
        let now = epoch.elapsed().as_secs_f64();
        if let Ok(input) = &input {
            calibrate(wearers, input, now, outputs, mounts);
        }
        if let Ok(input) = &input
            && let Some(wearer) = wearers.iter().find(|wearer| wearer.side == input.side)
        {
            match wearer.sample(now, input) {
                Some(sample) => feed.send(sample),
                None => feed.miss(input.side),
            }
        } else if input.is_err_and(|error| error.is_disconnected()) {
            feed.set_state(SourceState::Lost("the headset session has ended".into()));
            std::thread::sleep(VIBRATION_PERIOD);
        }
        loop {
            match feed.request() {
                SourceRequest::None => break,
                SourceRequest::Stop => return,
                SourceRequest::Feel(touch) => {
                    if let Some(wearer) = wearers.iter_mut().find(|wearer| wearer.side == touch.side) {
                        wearer.haptics.iter_mut().for_each(|driver| driver.feel(&touch, now));
                        wearer.forces.iter_mut().for_each(|driver| driver.feel(&touch, now));
                    }
                }
                SourceRequest::Vibrate(vibration) => {
                    let (side, amplitude) = (vibration.side, vibration.amplitude);
                    let duration = vibration.duration.as_secs_f64();
                    let _ = outputs.try_send(HandOutput::Pulse(HandPulse { side, amplitude, duration }));
                }
            }
        }
        for wearer in wearers.iter_mut() {
            let side = wearer.side;
            if let Some(pulse) = wearer.haptics.as_mut().and_then(|driver| driver.due(now)) {
                let pulse = HandPulse { side, amplitude: pulse.amplitude, duration: pulse.duration };
                let _ = outputs.try_send(HandOutput::Pulse(pulse));
            }
            if let Some(levels) = wearer.forces.as_mut().and_then(|driver| driver.due(now)) {
                let _ = outputs.try_send(HandOutput::Forces { side, fingers: levels.fingers });
            }
        }
    }
}

/// Guides the calibration of the first mount that is not known.
fn calibrate(
    wearers: &mut [HeadsetHand],
    input: &TrackedInput,
    now: f64,
    outputs: &Sender<HandOutput>,
    mounts: &Sender<(Side, Mount)>,
) {
    let Some(wearer) =
        wearers.iter_mut().find(|wearer| wearer.worn.as_ref().is_some_and(|worn| worn.mounting.is_some()))
    else {
        return;
    };
    let (Some(worn), true) = (&mut wearer.worn, wearer.side == input.side) else { return };
    let (Some(mounting), Some(controller)) = (&mut worn.mounting, &input.controller) else { return };
    let found = mounting.follow(now, &controller.palm);
    let advice: std::sync::Arc<str> = if found.is_some() { "".into() } else { mounting.advice().into() };
    let _ = outputs.try_send(HandOutput::Advice(advice));
    if let Some(mount) = found {
        (worn.mount, worn.mounting) = (Some(mount.palm), None);
        let _ = mounts.try_send((wearer.side, mount));
    }
}

impl HeadsetHand {
    /// The tracked hand, or the one around a controller; `None` if neither is known.
    fn sample(&self, time: f64, input: &TrackedInput) -> Option<SourceSample> {
        let mut sample = SourceSample::new(time, self.side);
        if let Some(worn) = &self.worn {
            return self.gloved(sample, worn, input);
        }
        // Without a measured joint the runtime repeats or invents a pose.
        if let Some(tracked) = input.joints.as_ref().filter(|joints| joints.confidence > 0.0) {
            let joints: [TrackedJoint; JOINTS] = std::array::from_fn(|j| {
                let (position, orientation) = tracked.joints[j];
                TrackedJoint { position, orientation }
            });
            self.read(&mut sample, &joints);
            sample.angles = self.reader.read(&joints).angles;
        } else {
            let controller = input.controller.as_ref()?;
            let mut joints: [TrackedJoint; JOINTS] =
                std::array::from_fn(|_| TrackedJoint { position: None, orientation: None });
            joints[PALM] = TrackedJoint {
                position: Some(controller.palm.translation.vector),
                orientation: Some(controller.palm.rotation),
            };
            self.read(&mut sample, &joints);
            sample.angles = self.curl.angles(controller).map(Some);
        }
        sample.says_something().then_some(sample)
    }

    /// The palm of a gloved hand; the glove gives the fingers.
    fn gloved(&self, mut sample: SourceSample, worn: &MountedGlove, input: &TrackedInput) -> Option<SourceSample> {
        let on_wrist = worn.mount.zip(input.controller).map(|(mount, controller)| controller.palm * mount);
        match (on_wrist, &input.joints) {
            (Some(palm), _) => {
                (sample.position, sample.orientation) = (Some(palm.translation.vector), Some(palm.rotation));
            }
            (None, Some(tracked)) if tracked.confidence > 0.0 => {
                let joints = tracked.joints.map(|(position, orientation)| TrackedJoint { position, orientation });
                self.read(&mut sample, &joints);
            }
            _ => {}
        }
        sample.says_something().then_some(sample)
    }

    /// The palm of some joints.
    fn read(&self, sample: &mut SourceSample, joints: &[TrackedJoint; JOINTS]) {
        let palm = self.reader.read(joints).palm;
        sample.position = palm.map(|palm| palm.translation.vector);
        sample.orientation = palm.map(|palm| palm.rotation);
    }
}

/// Fingers of a hand that holds a controller.
#[derive(Clone, Debug)]
struct Curl {
    open: [f64; ANGLES],
    fist: [f64; ANGLES],
}

impl Curl {
    fn new(hand: &HandDescription) -> Self {
        let pose = |name: &str| hand.pose(name).copied().unwrap_or([0.0; ANGLES]);
        Self { open: pose("open"), fist: pose("fist") }
    }

    /// The trigger curls thumb and index finger, the grip the others.
    fn angles(&self, controller: &Controller) -> [f64; ANGLES] {
        std::array::from_fn(|i| {
            let is_pinch = i / 4 == Finger::Thumb as usize || i / 4 == Finger::Index as usize;
            let part = if is_pinch { controller.trigger } else { controller.squeeze };
            self.open[i] + part * (self.fist[i] - self.open[i])
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;
    use crate::runtime::average_skeleton;

    #[test]
    fn trigger_and_grip_curl_their_fingers() {
        let curl = Curl { open: [0.1; ANGLES], fist: [1.1; ANGLES] };
        let controller = |trigger, squeeze| Controller { palm: Pose::identity(), trigger, squeeze };
        assert_eq!(curl.angles(&controller(0.0, 0.0)), [0.1; ANGLES]);
        let half = curl.angles(&controller(1.0, 0.5));
        for (i, angle) in half.into_iter().enumerate() {
            let expected = if i / 4 < 2 { 1.1 } else { 0.6 };
            assert!((angle - expected).abs() < 1e-12, "angle {i}: {angle}");
        }
    }

    #[test]
    fn a_controller_moves_a_hand_that_is_not_tracked() {
        let skeleton = average_skeleton(Side::Right).expect("a hand");
        let curl = Curl { open: [0.0; ANGLES], fist: [1.0; ANGLES] };
        let wearer = HeadsetHand {
            side: Side::Right,
            reader: JointReader::new(&skeleton),
            curl,
            haptics: None,
            forces: None,
            worn: None,
        };
        let palm = Pose::translation(0.1, 0.2, 0.3);
        let controller = Some(Controller { palm, trigger: 1.0, squeeze: 0.0 });
        let input = TrackedInput { side: Side::Right, joints: None, controller };
        let sample = wearer.sample(1.5, &input).expect("a sample");
        assert_eq!(sample.position, Some(Vec3::new(0.1, 0.2, 0.3)));
        assert_eq!((sample.angles[0], sample.angles[19], sample.time), (Some(1.0), Some(0.0), 1.5));
        assert!(wearer.sample(1.5, &TrackedInput { controller: None, ..input.clone() }).is_none());
        // With a glove only the palm is that of the controller, through its mount.
        let mount = Pose::translation(0.0, -0.05, 0.02);
        let worn = |mount| Some(MountedGlove { mount, mounting: None });
        let gloved = HeadsetHand { worn: worn(Some(mount)), ..wearer };
        let sample = gloved.sample(2.0, &input).expect("a sample");
        let off = sample.position.map(|p| (p - Vec3::new(0.1, 0.15, 0.32)).norm());
        assert!(off.is_some_and(|off| off < 1e-12) && !sample.has_angles(), "{sample:?}");
        let unknown = HeadsetHand { worn: worn(None), ..gloved };
        assert!(unknown.sample(2.0, &input).is_none(), "the mount is not known yet");
    }
}
