use openxr::{Event, SessionState, sys};

use super::Failure;
use super::runtime::Runtime;
use super::vibration::Vibrator;
use super::{JOINTS, TrackedJoint};
use crate::devices::source::Vibration;
use crate::tracking::Side;

/// A headless session that tracks both hands.
pub(super) struct HandSession {
    instance: openxr::Instance,
    session: openxr::Session<openxr::Headless>,
    /// Left and right.
    trackers: [openxr::HandTracker; 2],
    /// Origin of the runtime: near the initial position of the head, upright.
    space: openxr::Space,
    /// `None` if the runtime has no vibrating controllers.
    vibrator: Option<Vibrator>,
    events: openxr::EventDataBuffer,
    is_running: bool,
}

impl HandSession {
    /// Creates everything from the loader to the hand trackers.
    pub(super) fn open() -> Result<Self, Failure> {
        let runtime = Runtime::open()?;
        let headset = runtime.headset()?;
        runtime.tracks_hands(headset)?;
        runtime.runs_without_pictures()?;
        let instance = runtime.instance;
        let info = openxr::headless::SessionCreateInfo {};
        // SAFETY: a headless session has no graphics handles that could be wrong.
        let (session, _, _) = unsafe { instance.create_session(headset, &info) }.map_err(Failure::without_session)?;
        let tracker = |hand| session.create_hand_tracker(hand).map_err(Failure::without_session);
        let trackers = [tracker(openxr::Hand::LEFT)?, tracker(openxr::Hand::RIGHT)?];
        let space = session
            .create_reference_space(openxr::ReferenceSpaceType::LOCAL, openxr::Posef::IDENTITY)
            .map_err(Failure::without_session)?;
        let vibrator = Vibrator::new(&instance, &session).ok();
        let events = openxr::EventDataBuffer::new();
        Ok(Self { instance, session, trackers, space, vibrator, events, is_running: false })
    }

    /// Processes the runtime's events; an error ends the session.
    pub(super) fn follow_events(&mut self) -> Result<(), Failure> {
        while let Some(event) = self.instance.poll_event(&mut self.events).map_err(Failure::running)? {
            let state = match event {
                Event::InstanceLossPending(_) => return Err(Failure::InstanceLost),
                Event::SessionStateChanged(change) => change.state(),
                _ => continue,
            };
            match state {
                SessionState::READY => {
                    // Headless sessions have no views, but the view type is required.
                    let kind = openxr::ViewConfigurationType::PRIMARY_STEREO;
                    self.session.begin(kind).map_err(Failure::running)?;
                    self.is_running = true;
                }
                SessionState::STOPPING => {
                    self.is_running = false;
                    self.session.end().map_err(Failure::running)?;
                }
                SessionState::LOSS_PENDING => return Err(Failure::SessionLost),
                SessionState::EXITING => return Err(Failure::Closed),
                _ => {}
            }
        }
        Ok(())
    }

    /// The current joints of a hand; `None` while it is not tracked.
    pub(super) fn locate(&self, side: Side) -> Result<Option<[TrackedJoint; JOINTS]>, Failure> {
        if !self.is_running {
            return Ok(None);
        }
        let now = self.instance.now().map_err(Failure::running)?;
        match self.space.locate_hand_joints(&self.trackers[side as usize], now) {
            Ok(locations) => Ok(locations.map(|locations| locations.map(|location| known(&location)))),
            // The runtime has no data for this instant; the next may work.
            Err(sys::Result::ERROR_TIME_INVALID) => Ok(None),
            Err(error) => Err(Failure::running(error)),
        }
    }

    /// Vibrates a controller, if there is one. Errors are ignored.
    pub(super) fn vibrate(&self, vibration: &Vibration) {
        if let Some(vibrator) = self.vibrator.as_ref().filter(|_| self.is_running) {
            let _ = vibrator.vibrate(&self.session, vibration);
        }
    }
}

/// The valid parts of a location according to its flags.
fn known(location: &openxr::HandJointLocation) -> TrackedJoint {
    let (p, q) = (location.pose.position, location.pose.orientation);
    let joint = TrackedJoint::new([p.x, p.y, p.z].map(f64::from), [q.x, q.y, q.z, q.w].map(f64::from));
    let flags = location.location_flags;
    TrackedJoint {
        position: joint.position.filter(|_| flags.contains(openxr::SpaceLocationFlags::POSITION_VALID)),
        orientation: joint.orientation.filter(|_| flags.contains(openxr::SpaceLocationFlags::ORIENTATION_VALID)),
    }
}
