//! Where samples of hands come from while the program runs. Every source lives in a thread of its own and is held by a
//! [`SourceHandle`]; the thread talks through a [`SourceFeed`]. Neither ever waits for the other.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, TryRecvError, TrySendError, bounded};

use super::haptics::Levels;
use crate::math::{Pose, Quat, Vec3};
use crate::protocol::{DecodeStatistics, FlexReading};
use crate::tracking::{ANGLES, Side};

/// Samples that may wait to be read: five seconds of the fastest glove. Beyond, the oldest are thrown away.
const WAITING: usize = 1024;
/// Wishes and buttons that may wait: whoever does not look at them loses the rest.
const WISHES: usize = 64;
/// How long a dropped handle waits for its thread, which may be inside a call of a driver that hangs.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a source says of one hand at one instant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SourceSample {
    /// When it was measured, s since the instant that the source was given when it was started.
    pub time: f64,
    /// Of which hand.
    pub side: Side,
    /// Where the palm is in the frame of the source, m; `None` from a glove.
    pub position: Option<Vec3>,
    /// How the palm is turned in the frame of the source.
    pub orientation: Option<Quat>,
    /// The joint angles, rad; `None` where the source does not see or has no such joint.
    pub angles: [Option<f64>; ANGLES],
    /// What the sensors of a glove said, in parts of the scale of the wire.
    pub flex: FlexReading,
    /// How far they are bent, from the flat hand, 0, to the fist, 1.
    pub bends: FlexReading,
    /// Buttons that are held down, one bit each.
    pub buttons: u32,
    /// From the wrist to the tip of the middle finger, m, where the source measures it.
    pub hand_length: Option<f64>,
}

impl SourceSample {
    /// A sample that says nothing yet.
    pub fn new(time: f64, side: Side) -> Self {
        let (flex, bends) = (FlexReading::default(), FlexReading::default());
        let (position, orientation) = (None, None);
        Self { time, side, position, orientation, angles: [None; ANGLES], flex, bends, buttons: 0, hand_length: None }
    }

    /// The palm's placement, if all of it is known.
    pub fn palm(&self) -> Option<Pose> {
        self.position.zip(self.orientation).map(|(position, turn)| Pose::from_parts(position.into(), turn))
    }

    /// Whether it tells of anything.
    pub fn says_something(&self) -> bool {
        self.position.is_some() || self.orientation.is_some() || self.has_angles()
    }

    /// Whether it tells of any joint.
    pub fn has_angles(&self) -> bool {
        self.angles.iter().any(Option::is_some)
    }
}

/// How it stands with a source, or with one hand of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SourceState {
    /// Looked for, not found yet.
    Connecting,
    /// Found; it has not said anything of the hand yet.
    Connected,
    /// Samples come.
    Streaming,
    /// Samples came, and none come now: the hand is out of sight or its glove is silent.
    Stale,
    /// Not there or gone, and why, in one sentence without a full stop. The source keeps trying.
    Lost(String),
}

impl SourceState {
    /// How near a state is to samples.
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

/// A wish to have a hand feel something.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Vibration {
    /// Which hand.
    pub side: Side,
    /// How strong, 0 to 1.
    pub amplitude: f64,
    /// How long.
    pub duration: Duration,
}

/// What a hand feels in the simulation.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touch {
    /// Which hand.
    pub side: Side,
    /// Normal force on the phalanges of each finger together, N.
    pub fingers: [f64; 5],
    /// Normal force on the palm, N.
    pub palm: f64,
    /// Greatest pressure on each finger, then on the palm, Pa.
    pub pressure: [f64; 6],
}

/// A button of a device went down or up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ButtonEvent {
    /// Its name.
    pub name: String,
    /// Down or up.
    pub pressed: bool,
}

/// How a source fares.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceStatistics {
    /// What its decoder met, since the device was opened last.
    pub decode: DecodeStatistics,
    /// What is probably wrong and what to do about it.
    pub hint: Option<String>,
    /// How often the device was opened.
    pub opened: u64,
    /// Where it was found.
    pub port: String,
}

/// What both ends of a source look at.
#[derive(Debug)]
struct Shared {
    /// Of the left and of the right hand.
    states: [SourceState; 2],
    /// What the device was told that they feel.
    told: [Levels; 2],
    statistics: SourceStatistics,
}

impl Shared {
    fn lock(shared: &Mutex<Self>) -> MutexGuard<'_, Self> {
        shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A source that runs. Dropping it stops the source.
#[derive(Debug)]
pub struct SourceHandle {
    name: String,
    samples: Receiver<SourceSample>,
    buttons: Receiver<ButtonEvent>,
    shared: Arc<Mutex<Shared>>,
    /// Gone while dropping; that is how the thread is told to stop.
    wishes: Option<Sender<Told>>,
    /// Disconnected once the thread is through.
    running: Receiver<()>,
    thread: Option<JoinHandle<()>>,
}

impl SourceHandle {
    /// Starts a thread that feeds the handle until [`SourceFeed::wait_until`] tells it to stop.
    pub fn start(name: &str, body: impl FnOnce(&SourceFeed) + Send + 'static) -> std::io::Result<Self> {
        let (sender, samples) = bounded(WAITING);
        let (wishes, told) = bounded(WISHES);
        let (pressed, buttons) = bounded(WISHES);
        let (alive, running) = bounded(0);
        let states = [SourceState::Connecting, SourceState::Connecting];
        let (told_levels, statistics) = ([Levels::ZERO; 2], SourceStatistics::default());
        let shared = Arc::new(Mutex::new(Shared { states, told: told_levels, statistics }));
        let feed = SourceFeed {
            sender,
            oldest: samples.clone(),
            buttons: pressed,
            shared: shared.clone(),
            told,
            _alive: alive,
        };
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || body(&feed))?;
        let (wishes, thread) = (Some(wishes), Some(thread));
        Ok(Self { name: name.into(), samples, buttons, shared, wishes, running, thread })
    }

    /// What to call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The samples of both hands, in the order of their times.
    pub fn samples(&self) -> &Receiver<SourceSample> {
        &self.samples
    }

    /// How it stands: with two hands, the better of their states.
    pub fn state(&self) -> SourceState {
        let [left, right] = &Shared::lock(&self.shared).states;
        if left.rank() > right.rank() { left.clone() } else { right.clone() }
    }

    /// How it stands with one hand.
    pub fn state_of(&self, side: Side) -> SourceState {
        Shared::lock(&self.shared).states[side as usize].clone()
    }

    /// How it fares.
    pub fn statistics(&self) -> SourceStatistics {
        Shared::lock(&self.shared).statistics.clone()
    }

    /// What to say of a source from which no sample comes: how it stands, and what is probably wrong.
    pub fn complaint(&self) -> String {
        let (state, statistics) = (self.state(), self.statistics());
        let is_nonsense = statistics.decode.bytes > 0 && statistics.decode.packets == 0;
        let nothing = if is_nonsense { "nothing that makes sense" } else { "nothing" };
        let at = if statistics.port.is_empty() { String::new() } else { format!(" at {}", statistics.port) };
        let hint = statistics.hint.map_or(String::new(), |hint| format!("; {hint}"));
        format!("{}{at} sends {nothing} ({state}){hint}", self.name)
    }

    /// Buttons as they are pressed and let go.
    pub fn buttons(&self) -> &Receiver<ButtonEvent> {
        &self.buttons
    }

    /// Tells what the hand feels, if the source can do something with it; to be told in every step, for silence is taken for
    /// nothing to feel.
    pub fn feel(&self, touch: Touch) {
        self.wish(Told::Feel(touch));
    }

    /// What the device was last told that a hand feels; one that vibrates as a whole has its amplitude in all six levels.
    pub fn told(&self, side: Side) -> Levels {
        Shared::lock(&self.shared).told[side as usize]
    }

    /// Has a hand feel something, if the source can; otherwise nothing happens.
    pub fn vibrate(&self, vibration: Vibration) {
        self.wish(Told::Vibrate(vibration));
    }

    fn wish(&self, wish: Told) {
        if let Some(wishes) = &self.wishes {
            // A source that has ended or hangs feels nothing.
            let _ = wishes.try_send(wish);
        }
    }
}

impl Drop for SourceHandle {
    fn drop(&mut self) {
        self.wishes = None;
        let is_through = self.running.recv_timeout(PATIENCE) == Err(RecvTimeoutError::Disconnected);
        if let Some(thread) = self.thread.take().filter(|_| is_through) {
            // A panic has been told of as the source's state.
            let _ = thread.join();
        }
    }
}

/// What a source is told while it waits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Told {
    /// Nothing; the time is up.
    Nothing,
    /// To vibrate, now.
    Vibrate(Vibration),
    /// What the hand feels now.
    Feel(Touch),
    /// To stop: nobody holds the handle any more.
    Stop,
}

/// The thread's end of a source.
#[derive(Debug)]
pub struct SourceFeed {
    sender: Sender<SourceSample>,
    oldest: Receiver<SourceSample>,
    buttons: Sender<ButtonEvent>,
    shared: Arc<Mutex<Shared>>,
    told: Receiver<Told>,
    _alive: Sender<()>,
}

impl SourceFeed {
    /// Hands a sample on, and notes that the hand is streaming. If nobody reads, the oldest sample makes room.
    pub fn send(&self, sample: SourceSample) {
        let mut next = sample;
        while let Err(TrySendError::Full(back)) = self.sender.try_send(next) {
            let _ = self.oldest.try_recv();
            next = back;
        }
        self.set_state_of(sample.side, SourceState::Streaming);
    }

    /// Notes how it stands with both hands.
    pub fn set_state(&self, state: SourceState) {
        Shared::lock(&self.shared).states = [state.clone(), state];
    }

    /// Notes how it stands with one hand.
    pub fn set_state_of(&self, side: Side, state: SourceState) {
        Shared::lock(&self.shared).states[side as usize] = state;
    }

    /// Notes what the device was told that a hand feels.
    pub fn set_told(&self, side: Side, levels: Levels) {
        Shared::lock(&self.shared).told[side as usize] = levels;
    }

    /// Notes how the source fares.
    pub fn set_statistics(&self, change: impl FnOnce(&mut SourceStatistics)) {
        change(&mut Shared::lock(&self.shared).statistics);
    }

    /// Hands on that a button went down or up; lost if nobody ever looks.
    pub fn press(&self, name: String, pressed: bool) {
        let _ = self.buttons.try_send(ButtonEvent { name, pressed });
    }

    /// Notes that nothing was heard of a hand: it is stale if something was heard before.
    pub fn miss(&self, side: Side) {
        let state = &mut Shared::lock(&self.shared).states[side as usize];
        if *state == SourceState::Streaming {
            *state = SourceState::Stale;
        }
    }

    /// Waits while nothing can be felt through the source; whether it shall go on then.
    pub fn rest_until(&self, deadline: Instant) -> bool {
        loop {
            match self.wait_until(deadline) {
                Told::Nothing => return true,
                Told::Vibrate(_) | Told::Feel(_) => {}
                Told::Stop => return false,
            }
        }
    }

    /// What there is to do now, without waiting. A wait that is over at once would not do: it gives the processor away several times
    /// before it looks at its deadline, which on a busy machine costs more than all the rest.
    pub fn told(&self) -> Told {
        match self.told.try_recv() {
            Ok(told) => told,
            Err(TryRecvError::Empty) => Told::Nothing,
            Err(TryRecvError::Disconnected) => Told::Stop,
        }
    }

    /// Waits, and comes back early when there is something to do.
    pub fn wait_until(&self, deadline: Instant) -> Told {
        match self.told.recv_deadline(deadline) {
            Ok(told) => told,
            Err(RecvTimeoutError::Timeout) => Told::Nothing,
            Err(RecvTimeoutError::Disconnected) => Told::Stop,
        }
    }
}

impl Drop for SourceFeed {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.set_state(SourceState::Lost("the source has stopped on an error of its own".into()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A source that sends one sample of the left hand each millisecond, and repeats vibrations as buttons.
    fn ticking() -> SourceHandle {
        SourceHandle::start("ticking", |feed| {
            let mut buttons = 0;
            for tick in 0_u32.. {
                match feed.wait_until(Instant::now() + Duration::from_millis(1)) {
                    Told::Nothing | Told::Feel(_) => {}
                    Told::Vibrate(v) => buttons = (10.0 * v.amplitude) as u32,
                    Told::Stop => return,
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
    fn the_oldest_samples_make_room() {
        let (sent, all_sent) = bounded(1);
        let source = SourceHandle::start("busy", move |feed| {
            (0..3000).for_each(|tick| feed.send(SourceSample::new(f64::from(tick), Side::Right)));
            sent.send(()).expect("the test waits");
            feed.miss(Side::Left);
            feed.miss(Side::Right);
            while feed.wait_until(Instant::now() + Duration::from_secs(20)) != Told::Stop {}
        })
        .expect("a thread");
        all_sent.recv().expect("all samples");
        let times: Vec<_> = source.samples().try_iter().map(|sample| sample.time).collect();
        let newest: Vec<_> = (3000 - WAITING..3000).map(|tick| tick as f64).collect();
        assert_eq!(times, newest);
        while source.state_of(Side::Right) != SourceState::Stale {
            std::thread::yield_now();
        }
        assert_eq!(source.state_of(Side::Left), SourceState::Connecting, "never seen, so not stale");
    }

    #[test]
    fn a_source_that_panics_says_so() {
        let source = SourceHandle::start("broken", |_| std::panic::resume_unwind(Box::new(()))).expect("a thread");
        let end = source.samples().recv_timeout(Duration::from_secs(20));
        assert_eq!(end, Err(RecvTimeoutError::Disconnected));
        assert_eq!(source.state().to_string(), "lost: the source has stopped on an error of its own");
    }

    /// A driver that never comes back does not keep the program from going on.
    #[test]
    fn a_source_that_hangs_is_left_alone() {
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
