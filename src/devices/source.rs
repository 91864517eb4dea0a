//! Sources of hand samples. Every source runs in its own thread and is held by a [`SourceHandle`]; the thread
//! communicates through a [`SourceFeed`]. Neither blocks the other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError, bounded};

use super::haptics::Levels;
use crate::math::{Pose, Quat, Vec3};
use crate::protocol::{DecodeStatistics, FlexReading};
use crate::tracking::{ANGLES, Side};

/// Maximum number of queued samples: five seconds of the fastest glove. Beyond, the oldest are discarded.
const MAX_WAITING_SAMPLES: usize = 1024;
/// Button events that may wait to be read. Beyond, the newest are lost.
const MAX_BUTTON_EVENTS: usize = 64;
/// Time that a dropped handle waits for its thread, which may be blocked in a driver call.
const JOIN_TIMEOUT: Duration = Duration::from_secs(1);

/// A sample of one hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceSample {
    /// Time of the measurement, s since the start instant of the source.
    pub time: f64,
    /// Hand.
    pub side: Side,
    /// Position of the palm in the frame of the source, m; `None` from a glove.
    pub position: Option<Vec3>,
    /// Orientation of the palm in the frame of the source.
    pub orientation: Option<Quat>,
    /// Joint angles, rad; `None` if the source does not measure the joint.
    pub angles: [Option<f64>; ANGLES],
    /// Raw sensor values of a glove, as fractions of the wire scale.
    pub flex: FlexReading,
    /// Bends from 0 (flat hand) to 1 (fist).
    pub bends: FlexReading,
    /// Pressed buttons, one bit each.
    pub buttons: u32,
    /// Length from the wrist to the tip of the middle finger, m, if measured.
    pub hand_length: Option<f64>,
}

impl SourceSample {
    /// An empty sample.
    pub fn new(time: f64, side: Side) -> Self {
        let (flex, bends) = (FlexReading::default(), FlexReading::default());
        let (position, orientation) = (None, None);
        Self { time, side, position, orientation, angles: [None; ANGLES], flex, bends, buttons: 0, hand_length: None }
    }

    /// Pose of the palm, if completely known.
    pub fn palm(&self) -> Option<Pose> {
        self.position.zip(self.orientation).map(|(position, turn)| Pose::from_parts(position.into(), turn))
    }

    /// Whether it has any value.
    pub fn says_something(&self) -> bool {
        self.position.is_some() || self.orientation.is_some() || self.has_angles()
    }

    /// Whether it has any joint angle.
    pub fn has_angles(&self) -> bool {
        self.angles.iter().any(Option::is_some)
    }
}

/// State of a source, or of one of its hands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// Searching.
    Connecting,
    /// Connected; no sample of the hand yet.
    Connected,
    /// Receiving samples.
    Streaming,
    /// No more samples: the hand is not tracked or its glove is silent.
    Stale,
    /// Not connected, and why, one sentence without a full stop. The source keeps trying.
    Lost(String),
}

impl SourceState {
    /// Rank of a state; the highest is streaming.
    fn rank(&self) -> u8 {
        match self {
            Self::Connecting | Self::Lost(_) => 0,
            Self::Connected => 1,
            Self::Stale => 2,
            Self::Streaming => 3,
        }
    }
}

impl std::fmt::Display for SourceState {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Connecting => "connecting",
            Self::Connected => "connected",
            Self::Streaming => "streaming",
            Self::Stale => "stale",
            Self::Lost(reason) => return write!(f, "lost: {reason}"),
        })
    }
}

/// A request to vibrate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vibration {
    /// Hand.
    pub side: Side,
    /// Amplitude, 0 to 1.
    pub amplitude: f64,
    /// Duration.
    pub duration: Duration,
}

/// Contact forces on a hand in the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandForces {
    /// Hand.
    pub side: Side,
    /// Total normal force on the phalanges of each finger, N.
    pub fingers: [f64; 5],
    /// Normal force on the palm, N.
    pub palm: f64,
    /// Maximum pressure on each finger and on the palm, Pa.
    pub pressure: [f64; 6],
    /// Power that friction dissipates on each finger and on the palm, W.
    pub slip: [f64; 6],
}

/// A button was pressed or released.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ButtonEvent {
    /// Name.
    pub name: String,
    /// Whether it is down.
    pub pressed: bool,
}

/// Status of a source.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceStatistics {
    /// Decoder statistics since the device was last opened.
    pub decode: DecodeStatistics,
    /// The probable problem and its remedy.
    pub hint: Option<String>,
    /// Number of times that the device was opened.
    pub opened: u64,
    /// Port.
    pub port: String,
}

/// State shared by both ends of a source.
#[derive(Debug)]
struct SourceShared {
    /// Of the left and of the right hand.
    states: [SourceState; 2],
    /// Last haptic command for each hand.
    sent: [Levels; 2],
    /// The newest contact forces and vibration of each hand that the source has not taken yet. A newer value replaces an older.
    touches: [Option<HandForces>; 2],
    vibrations: [Option<Vibration>; 2],
    statistics: SourceStatistics,
}

impl SourceShared {
    /// The next output that the source has not taken yet. Vibrations come first: they are rare and short.
    fn next_output(&mut self) -> Option<SourceRequest> {
        let vibration = self.vibrations.iter_mut().find_map(Option::take).map(SourceRequest::Vibrate);
        vibration.or_else(|| self.touches.iter_mut().find_map(Option::take).map(SourceRequest::Feel))
    }

    fn lock(shared: &Mutex<Self>) -> MutexGuard<'_, Self> {
        shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A running source. Dropping it stops the source.
#[derive(Debug)]
pub struct SourceHandle {
    name: String,
    samples: Receiver<SourceSample>,
    buttons: Receiver<ButtonEvent>,
    shared: Arc<Mutex<SourceShared>>,
    /// `None` while dropping, which tells the thread to stop.
    wake: Option<Sender<()>>,
    /// Disconnected when the thread has finished.
    running: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl SourceHandle {
    /// Starts a thread that feeds the handle until [`SourceFeed::wait_until`] returns a request to stop.
    pub fn start(name: &str, body: impl FnOnce(&SourceFeed) + Send + 'static) -> std::io::Result<Self> {
        let (sender, samples) = bounded(MAX_WAITING_SAMPLES);
        // One token is enough: it says that there may be something in the slots.
        let (wake, woken) = bounded(1);
        let (pressed, buttons) = bounded(MAX_BUTTON_EVENTS);
        let (alive, running) = bounded(0);
        let states = [SourceState::Connecting, SourceState::Connecting];
        let (sent_levels, statistics) = ([Levels::ZERO; 2], SourceStatistics::default());
        let shared = Arc::new(Mutex::new(SourceShared {
            states,
            sent: sent_levels,
            touches: [None; 2],
            vibrations: [None; 2],
            statistics,
        }));
        let feed = SourceFeed {
            sender,
            oldest: samples.clone(),
            buttons: pressed,
            shared: shared.clone(),
            woken,
            _alive: alive,
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || body(&feed))?;
        let (wake, thread) = (Some(wake), Some(thread));
        Ok(Self { name: name.into(), samples, buttons, shared, wake, running, thread })
    }

    /// Name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The samples of both hands in the order of their times.
    pub fn samples(&self) -> &Receiver<SourceSample> {
        &self.samples
    }

    /// State: the better one of two hands.
    pub fn state(&self) -> SourceState {
        let [left, right] = &SourceShared::lock(&self.shared).states;
        if left.rank() > right.rank() { left.clone() } else { right.clone() }
    }

    /// State of one hand.
    pub fn state_of(&self, side: Side) -> SourceState {
        SourceShared::lock(&self.shared).states[side as usize].clone()
    }

    /// Status.
    pub fn statistics(&self) -> SourceStatistics {
        SourceShared::lock(&self.shared).statistics.clone()
    }

    /// Description of a source without samples: state and probable problem.
    pub fn complaint(&self) -> String {
        let (state, statistics) = (self.state(), self.statistics());
        let is_nonsense = statistics.decode.bytes > 0 && statistics.decode.packets == 0;
        let nothing = if is_nonsense { "no valid data" } else { "nothing" };
        let at = if statistics.port.is_empty() { String::new() } else { format!(" at {}", statistics.port) };
        let hint = statistics.hint.map_or(String::new(), |hint| format!("; {hint}"));
        format!("{}{at} sends {nothing} ({state}){hint}", self.name)
    }

    /// Button events.
    pub fn buttons(&self) -> &Receiver<ButtonEvent> {
        &self.buttons
    }

    /// Sends the contact forces on a hand, to be called in every step: without news a device lets go after its watchdog time.
    /// A source that is slower than the caller gets the newest forces of each hand, and never older ones.
    pub fn feel(&self, touch: HandForces) {
        SourceShared::lock(&self.shared).touches[touch.side as usize] = Some(touch);
        self.wake();
    }

    /// Takes contact forces as [`SourceHandle::feel`] does, from another thread. It must be dropped before the handle, which otherwise waits for the
    /// source in vain.
    pub fn outlet(&self) -> ForceOutlet {
        ForceOutlet { shared: Arc::clone(&self.shared), wake: self.wake.clone() }
    }

    /// Last haptic command for a hand; a device that vibrates as a whole has its amplitude in all six levels.
    pub fn sent_levels(&self, side: Side) -> Levels {
        SourceShared::lock(&self.shared).sent[side as usize]
    }

    /// Vibrates a hand, if the source can.
    pub fn vibrate(&self, vibration: Vibration) {
        SourceShared::lock(&self.shared).vibrations[vibration.side as usize] = Some(vibration);
        self.wake();
    }

    fn wake(&self) {
        if let Some(wake) = &self.wake {
            // If a token waits already, the source will look; one that has ended does not.
            let _ = wake.try_send(());
        }
    }
}

impl Drop for SourceHandle {
    fn drop(&mut self) {
        self.wake = None;
        let is_through = self.running.recv_timeout(JOIN_TIMEOUT) == Err(RecvTimeoutError::Disconnected);
        if let Some(thread) = self.thread.take().filter(|_| is_through) {
            // A panic has been reported as the source's state.
            let _ = thread.join();
        }
    }
}

/// The haptic output of a source, for another thread than that of its handle.
#[derive(Clone, Debug)]
pub struct ForceOutlet {
    shared: Arc<Mutex<SourceShared>>,
    wake: Option<Sender<()>>,
}

impl ForceOutlet {
    /// As [`SourceHandle::feel`].
    pub fn feel(&self, touch: HandForces) {
        SourceShared::lock(&self.shared).touches[touch.side as usize] = Some(touch);
        if let Some(wake) = &self.wake {
            let _ = wake.try_send(());
        }
    }
}

/// A request to a source.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SourceRequest {
    /// None; the wait has timed out.
    None,
    /// Vibrate.
    Vibrate(Vibration),
    /// Current contact forces.
    Feel(HandForces),
    /// Stop: the handle was dropped.
    Stop,
}

/// The thread's end of a source.
#[derive(Debug)]
pub struct SourceFeed {
    sender: Sender<SourceSample>,
    oldest: Receiver<SourceSample>,
    buttons: Sender<ButtonEvent>,
    shared: Arc<Mutex<SourceShared>>,
    woken: Receiver<()>,
    _alive: Sender<()>,
}

impl SourceFeed {
    /// Sends a sample and marks the hand as streaming. If the queue is full, the oldest sample is discarded.
    pub fn send(&self, sample: SourceSample) {
        let mut next = sample;
        while let Err(TrySendError::Full(back)) = self.sender.try_send(next) {
            let _ = self.oldest.try_recv();
            next = back;
        }
        self.set_state_of(sample.side, SourceState::Streaming);
    }

    /// Sets the state of both hands.
    pub fn set_state(&self, state: SourceState) {
        SourceShared::lock(&self.shared).states = [state.clone(), state];
    }

    /// Sets the state of one hand.
    pub fn set_state_of(&self, side: Side, state: SourceState) {
        SourceShared::lock(&self.shared).states[side as usize] = state;
    }

    /// Sets the last haptic command for a hand.
    pub fn set_sent_levels(&self, side: Side, levels: Levels) {
        SourceShared::lock(&self.shared).sent[side as usize] = levels;
    }

    /// Sets the status.
    pub fn set_statistics(&self, change: impl FnOnce(&mut SourceStatistics)) {
        change(&mut SourceShared::lock(&self.shared).statistics);
    }

    /// Sends a button event; lost if the queue is full.
    pub fn press(&self, name: String, pressed: bool) {
        let _ = self.buttons.try_send(ButtonEvent { name, pressed });
    }

    /// Marks a hand without new samples: stale if there were samples before.
    pub fn miss(&self, side: Side) {
        let state = &mut SourceShared::lock(&self.shared).states[side as usize];
        if *state == SourceState::Streaming {
            *state = SourceState::Stale;
        }
    }

    /// Waits for a source without haptics; returns whether to continue.
    pub fn rest_until(&self, deadline: Instant) -> bool {
        loop {
            match self.wait_until(deadline) {
                SourceRequest::None => return true,
                SourceRequest::Vibrate(_) | SourceRequest::Feel(_) => {}
                SourceRequest::Stop => return false,
            }
        }
    }

    /// The pending request, without waiting. A wait with an elapsed deadline would yield the processor several times
    /// first, which is expensive on a busy machine.
    pub fn request(&self) -> SourceRequest {
        // The token is taken before the slots are read, so that a value put in after that leaves another.
        let woken = self.woken.try_recv();
        let output = SourceShared::lock(&self.shared).next_output();
        output.unwrap_or(if woken == Err(TryRecvError::Disconnected) {
            SourceRequest::Stop
        } else {
            SourceRequest::None
        })
    }

    /// Waits, and returns early if there is a request.
    pub fn wait_until(&self, deadline: Instant) -> SourceRequest {
        loop {
            if let Some(output) = SourceShared::lock(&self.shared).next_output() {
                return output;
            }
            match self.woken.recv_deadline(deadline) {
                Ok(()) => {}
                Err(RecvTimeoutError::Timeout) => return SourceRequest::None,
                Err(RecvTimeoutError::Disconnected) => {
                    return SourceShared::lock(&self.shared).next_output().unwrap_or(SourceRequest::Stop);
                }
            }
        }
    }
}

impl Drop for SourceFeed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.set_state(SourceState::Lost("the source stopped after an internal error".into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that sends one sample of the left hand per millisecond, and repeats vibrations as buttons.
    fn ticking() -> SourceHandle {
        SourceHandle::start("ticking", |feed| {
            let mut buttons = 0;
            for tick in 0_u32.. {
                match feed.wait_until(Instant::now() + Duration::from_millis(1)) {
                    SourceRequest::None | SourceRequest::Feel(_) => {}
                    SourceRequest::Vibrate(v) => buttons = (10.0 * v.amplitude) as u32,
                    SourceRequest::Stop => return,
                }
                feed.send(SourceSample { buttons, ..SourceSample::new(f64::from(tick), Side::Left) });
            }
        })
        .expect("a thread")
    }

    #[test]
    fn samples_states_and_vibrations_pass() {
        let source = ticking();
        let patience = Duration::from_secs(20);
        let first = source.samples().recv_timeout(patience).expect("a sample");
        assert_eq!((first.time, first.side, first.buttons), (0.0, Side::Left, 0));
        source.vibrate(Vibration { side: Side::Left, amplitude: 0.7, duration: patience });
        while source.samples().recv_timeout(patience).expect("a sample").buttons != 7 {}
        assert_eq!((source.name(), source.state()), ("ticking", SourceState::Streaming));
        assert_eq!(source.state_of(Side::Left), SourceState::Streaming);
        assert_eq!(source.state_of(Side::Right), SourceState::Connecting);
        let samples = source.samples().clone();
        drop(source);
        while samples.try_recv().is_ok() {}
        assert_eq!(samples.try_recv(), Err(TryRecvError::Disconnected), "its thread has ended");
    }

    #[test]
    fn the_oldest_samples_are_discarded() {
        let (sent, all_sent) = bounded(1);
        let source = SourceHandle::start("busy", move |feed| {
            (0..3000).for_each(|tick| feed.send(SourceSample::new(f64::from(tick), Side::Right)));
            sent.send(()).expect("the test waits");
            feed.miss(Side::Left);
            feed.miss(Side::Right);
            while feed.wait_until(Instant::now() + Duration::from_secs(20)) != SourceRequest::Stop {}
        })
        .expect("a thread");
        all_sent.recv().expect("all samples");
        let times: Vec<_> = source.samples().try_iter().map(|sample| sample.time).collect();
        let newest: Vec<_> = (3000 - MAX_WAITING_SAMPLES..3000).map(|tick| tick as f64).collect();
        assert_eq!(times, newest);
        while source.state_of(Side::Right) != SourceState::Stale {
            std::thread::yield_now();
        }
        assert_eq!(source.state_of(Side::Left), SourceState::Connecting, "never seen, so not stale");
    }

    /// A source that was busy for a thousand steps gets the forces of the last one, once for each hand.
    #[test]
    fn the_newest_forces_win() {
        let (go, wait) = bounded::<()>(0);
        let (tell, heard) = bounded(16);
        let source = SourceHandle::start("slow", move |feed| {
            wait.recv().expect("the test goes on");
            loop {
                match feed.wait_until(Instant::now() + Duration::from_secs(20)) {
                    SourceRequest::Feel(touch) => tell.send((touch.side, touch.palm)).expect("the test listens"),
                    SourceRequest::Stop => return,
                    _ => {}
                }
            }
        })
        .expect("a thread");
        let touch = |side, palm| HandForces { side, fingers: [0.0; 5], palm, pressure: [0.0; 6], slip: [0.0; 6] };
        for step in 0..1000 {
            source.feel(touch(Side::Left, f64::from(step)));
            source.feel(touch(Side::Right, -f64::from(step)));
        }
        go.send(()).expect("the source waits");
        let patience = Duration::from_secs(20);
        let mut first = [(); 2].map(|()| heard.recv_timeout(patience).expect("forces"));
        first.sort_by_key(|(side, _)| *side as usize);
        assert_eq!(first, [(Side::Left, 999.0), (Side::Right, -999.0)]);
        source.feel(touch(Side::Left, 7.0));
        assert_eq!(heard.recv_timeout(patience), Ok((Side::Left, 7.0)), "and what comes later is not lost");
        drop(source);
        assert_eq!(heard.recv_timeout(patience), Err(RecvTimeoutError::Disconnected), "nothing older follows");
    }

    #[test]
    fn a_panic_is_reported_as_state() {
        let source = SourceHandle::start("broken", |_| std::panic::resume_unwind(Box::new(()))).expect("a thread");
        let end = source.samples().recv_timeout(Duration::from_secs(20));
        assert_eq!(end, Err(RecvTimeoutError::Disconnected));
        assert_eq!(source.state().to_string(), "lost: the source stopped after an internal error");
    }

    /// A driver call that never returns does not block the program.
    #[test]
    fn a_hanging_source_does_not_block() {
        let (release, never) = bounded::<()>(0);
        let hang = move |_: &SourceFeed| {
            let _ = never.recv();
        };
        let source = SourceHandle::start("hanging", hang).expect("a thread");
        let samples = source.samples().clone();
        drop(source);
        assert_eq!(samples.try_recv(), Err(TryRecvError::Empty), "its thread still hangs");
        drop(release);
        assert_eq!(samples.recv_timeout(Duration::from_secs(20)), Err(RecvTimeoutError::Disconnected));
    }
}
