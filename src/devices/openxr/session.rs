use openxr::{Event, SessionState, sys};

use super::Failure;
use super::runtime::Runtime;
use super::vibration::Vibrator;
use super::{JOINTS, Joint};
use crate::devices::source::Vibration;
use crate::tracking::Side;

/// A session without pictures that tracks both hands.
pub(super) struct Session {
    instance: openxr::Instance,
    session: openxr::Session<openxr::Headless>,
    /// Left and right.
    trackers: [openxr::HandTracker; 2],
    /// Where the runtime's origin is: about where the head was when the runtime started, upright.
    space: openxr::Space,
    /// `None` if the runtime has no controllers that vibrate.
    vibrator: Option<Vibrator>,
    events: openxr::EventDataBuffer,
    is_running: bool,
}

impl Session {
    /// Goes from the loader all the way to the hands.
    pub(super) fn open() -> Result<Self, Failure> {
        let runtime = Runtime::open()?;
        let headset = runtime.headset()?;
        runtime.tracks_hands(headset)?;
        runtime.runs_without_pictures()?;
        let instance = runtime.instance;
        let info = openxr::headless::SessionCreateInfo {};
        // SAFETY: a headless session has no graphics whose handles could be wrong.
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

    /// Follows the runtime's events; an error is the end of the session.
    pub(super) fn follow_events(&mut self) -> Result<(), Failure> {
        while let Some(event) = self.instance.poll_event(&mut self.events).map_err(Failure::running)? {
            let state = match event {
                Event::InstanceLossPending(_) => return Err(Failure::InstanceLost),
                Event::SessionStateChanged(change) => change.state(),
                _ => continue,
            };
            match state {
                SessionState::READY => {
                    // Headless sessions have no views; the kind is asked for all the same.
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

    /// The joints of a hand now; `None` while the runtime does not see it.
    pub(super) fn locate(&self, side: Side) -> Result<Option<[Joint; JOINTS]>, Failure> {
        if !self.is_running {
            return Ok(None);
        }
        let now = self.instance.now().map_err(Failure::running)?;
        match self.space.locate_hand_joints(&self.trackers[side as usize], now) {
            Ok(locations) => Ok(locations.map(|locations| locations.map(|location| known(&location)))),
            // The runtime does not remember or foresee this instant; it will the next.
            Err(sys::Result::ERROR_TIME_INVALID) => Ok(None),
            Err(error) => Err(Failure::running(error)),
        }
    }

    /// Vibrates a controller, if there is one. What goes wrong is not worth a session.
    pub(super) fn vibrate(&self, vibration: &Vibration) {
        if let Some(vibrator) = self.vibrator.as_ref().filter(|_| self.is_running) {
            let _ = vibrator.vibrate(&self.session, vibration);
        }
    }
}

/// The parts of a location that its flags vouch for.
fn known(location: &openxr::HandJointLocation) -> Joint {
    let (p, q) = (location.pose.position, location.pose.orientation);
    let joint = Joint::new([p.x, p.y, p.z].map(f64::from), [q.x, q.y, q.z, q.w].map(f64::from));
    let flags = location.location_flags;
    Joint {
        position: joint.position.filter(|_| flags.contains(openxr::SpaceLocationFlags::POSITION_VALID)),
        orientation: joint.orientation.filter(|_| flags.contains(openxr::SpaceLocationFlags::ORIENTATION_VALID)),
    }
}
