//! Forces on a hand for its devices: after every step, or at a haptic rate.

use super::Session;
use crate::runtime::device_set::DeviceSet;
use crate::runtime::error::Error;
use crate::runtime::hand_thread::HandThread;
use crate::runtime::haptic_feedback;
use crate::sim::World;
use crate::sim::two_rate::HapticReport;

/// The loop that computes the forces on a hand at a haptic rate, if one was asked for.
#[derive(Default)]
pub(super) struct Felt {
    rate: Option<f64>,
    thread: Option<HandThread>,
    /// Time of the world at the last step, s; a new trial starts again.
    time: f64,
}

impl Felt {
    /// Whether a loop was asked for.
    pub fn is_on(&self) -> bool {
        self.rate.is_some()
    }

    /// The same rate for another scene. The loop ends.
    pub fn for_next(&mut self) -> Self {
        self.thread = None;
        Self { rate: self.rate, ..Self::default() }
    }

    /// Hands the last step over. Starts the loop in the first step of a scene or trial.
    fn follow(&mut self, world: &mut World, devices: &DeviceSet) -> Result<(), Error> {
        let Some(rate) = self.rate else { return Ok(()) };
        if world.time() <= self.time {
            self.thread = None;
        }
        self.time = world.time();
        if self.thread.is_none() {
            let Some((hand, outlets)) = devices.outlets(world) else { return Ok(()) };
            self.thread = HandThread::start(world, hand, rate, move |forces| {
                outlets.iter().for_each(|outlet| outlet.feel(*forces));
            })?;
        }
        if let Some(thread) = &mut self.thread {
            let hand = thread.hand();
            let Some(index) = world.bodies.hand_ids().iter().position(|id| *id == hand) else { return Ok(()) };
            let side = world.bodies.hand(index).model().description.side;
            let forces = haptic_feedback::of_hand(world, hand, side);
            thread.take_over(world, &forces);
        }
        Ok(())
    }
}

impl Session {
    /// Computes the forces on the first hand that the devices move at this rate, Hz, in a thread of its own, in place of once per step. Such a run cannot
    /// be recorded, as the contact problem then has more of the open contacts.
    pub fn feel_at(&mut self, rate: f64) -> Result<(), Error> {
        if let Some(recorder) = &self.recorder {
            return Err(Error::HapticRecording { file: recorder.file().into() });
        }
        self.felt.rate = Some(rate);
        Ok(())
    }

    /// Figures of the loop of [`Session::feel_at`].
    pub fn felt_figures(&mut self) -> Option<HapticReport> {
        self.felt.thread.as_mut().map(HandThread::figures)
    }

    /// Sends the forces of the last step to the devices.
    pub(super) fn send_forces(&mut self) -> Result<(), Error> {
        let Some(devices) = self.devices.take() else { return Ok(()) };
        let mut felt = std::mem::take(&mut self.felt);
        let followed = felt.follow(&mut self.scene_mut().world, &devices);
        devices.send_feedback_but(&self.scene().world, felt.thread.as_ref().map(HandThread::hand));
        (self.felt, self.devices) = (felt, Some(devices));
        followed
    }
}
