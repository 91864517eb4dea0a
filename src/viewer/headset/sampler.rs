//! Samples hands and controllers in a thread of its own: often enough for every step of a simulation, and as late as possible, also
//! while a frame takes long.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;

use super::session::{GraphicsSession, reference_space};
use super::{HeadsetError, Placement, TrackedInput};
use crate::tracking::Side;

/// Interval of the samples.
const SAMPLE_PERIOD: Duration = Duration::from_millis(8);

/// The thread, and what it has found.
pub struct Sampler {
    shared: Arc<SharedSamples>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct SharedSamples {
    stops: AtomicBool,
    /// Whether the menu button was pressed since the last look.
    menu: AtomicBool,
    state: Mutex<SamplerState>,
}

#[derive(Default)]
struct SamplerState {
    /// When a frame began, and its predicted display time.
    frame: Option<(Instant, openxr::Time)>,
    /// `None` while the input goes to another program.
    placement: Option<Placement>,
    inputs: [Option<TrackedInput>; 2],
    failure: Option<HeadsetError>,
    /// Number of samples of both hands, and their total duration, s.
    samples: u64,
    spent: f64,
}

impl SharedSamples {
    fn state(&self) -> MutexGuard<'_, SamplerState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sampler {
    /// Starts to send tracked hands.
    pub fn start(session: &GraphicsSession, inputs: Sender<TrackedInput>) -> Result<Self, HeadsetError> {
        let shared = Arc::new(SharedSamples::default());
        let (room, _) = reference_space(&session.session)?;
        let worker = SamplerWorker {
            instance: session.instance.clone(),
            session: session.session.clone(),
            room,
            trackers: session.trackers.clone(),
            actions: session.actions.clone(),
            shared: Arc::clone(&shared),
            inputs,
        };
        let thread = std::thread::Builder::new().name("hands".into()).spawn(move || worker.run());
        let thread = thread.map_err(|error| HeadsetError::Drawing(format!("no thread for the hands: {error}")))?;
        Ok(Self { shared, thread: Some(thread) })
    }

    /// A frame has started. Hands are predicted as far ahead as the frame is shown.
    pub fn begin_frame(&self, display: openxr::Time) {
        self.shared.state().frame = Some((Instant::now(), display));
    }

    /// Sets where the scene is; `None` stops the samples.
    pub fn set_placement(&self, placement: Option<Placement>) {
        self.shared.state().placement = placement;
    }

    /// What was tracked last, left and right.
    pub fn inputs(&self) -> Result<[Option<TrackedInput>; 2], HeadsetError> {
        let state = self.shared.state();
        state.failure.clone().map_or_else(|| Ok(state.inputs.clone()), Err)
    }

    /// Whether the menu button was pressed since the last call.
    pub fn takes_menu_press(&self) -> bool {
        self.shared.menu.swap(false, Ordering::Relaxed)
    }

    /// Number of samples, and the mean duration of one, s.
    pub fn cost(&self) -> (u64, f64) {
        let state = self.shared.state();
        (state.samples, state.spent / state.samples.max(1) as f64)
    }
}

impl Drop for Sampler {
    fn drop(&mut self) {
        self.shared.stops.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// What the thread owns.
struct SamplerWorker {
    instance: openxr::Instance,
    session: openxr::Session<openxr::Vulkan>,
    room: openxr::Space,
    trackers: Option<Arc<super::trackers::Trackers>>,
    actions: Option<Arc<super::actions::Actions>>,
    shared: Arc<SharedSamples>,
    inputs: Sender<TrackedInput>,
}

impl SamplerWorker {
    fn run(self) {
        let mut next = Instant::now();
        while !self.shared.stops.load(Ordering::Relaxed) {
            let (frame, placement) = {
                let state = self.shared.state();
                (state.frame, state.placement)
            };
            if let (Some((began, display)), Some(placement)) = (frame, placement) {
                let start = Instant::now();
                let ahead = (start - began).as_nanos().min(i64::MAX as u128) as i64;
                let time = openxr::Time::from_nanos(display.as_nanos().saturating_add(ahead));
                match self.sample(time, &placement) {
                    // The runtime has no data for this instant; the next may work.
                    Ok(()) | Err(HeadsetError::Failed(_, openxr::sys::Result::ERROR_TIME_INVALID)) => {}
                    Err(failure) => {
                        self.shared.state().failure = Some(failure);
                        return;
                    }
                }
                let mut state = self.shared.state();
                (state.samples, state.spent) = (state.samples + 1, state.spent + start.elapsed().as_secs_f64());
            }
            // After a delay the schedule restarts.
            next = (next + SAMPLE_PERIOD).max(Instant::now());
            std::thread::sleep(next - Instant::now());
        }
    }

    /// Both hands and controllers at a time.
    fn sample(&self, time: openxr::Time, placement: &Placement) -> Result<(), HeadsetError> {
        if let Some(actions) = &self.actions {
            actions.sync(&self.session).map_err(HeadsetError::of("xrSyncActions"))?;
            let pressed = actions.menu_pressed(&self.session);
            if pressed.map_err(HeadsetError::of("xrGetActionStateBoolean"))? {
                self.shared.menu.store(true, Ordering::Relaxed);
            }
        }
        for side in [Side::Left, Side::Right] {
            let joints = match &self.trackers {
                Some(trackers) => trackers
                    .locate(&self.instance, side, &self.room, time, placement)
                    .map_err(HeadsetError::of("xrLocateHandJointsEXT"))?,
                None => None,
            };
            let controller = match &self.actions {
                Some(actions) => actions
                    .controller(&self.session, side, &self.room, time, placement)
                    .map_err(HeadsetError::of("xrLocateSpace"))?,
                None => None,
            };
            let input = TrackedInput { side, joints: joints.map(Box::new), controller };
            self.shared.state().inputs[side as usize] = Some(input.clone());
            // Never waits: a simulation that is behind misses samples.
            let _ = self.inputs.try_send(input);
        }
        Ok(())
    }
}
