//! Tracks: threads that run a script while the simulation is paused. Control is passed explicitly, so that at any time
//! either the simulation or exactly one track runs, in an order that does not depend on the machine.

use std::cell::RefCell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use rhai::{AST, Dynamic, Engine, EvalAltResult, Position, Scope};

use super::api::found;
use super::callback::Callback;
use super::limits::{MEMORY, OPERATIONS, SCRIPT_TIME_LIMIT, SLICE};
use super::load::{LoadRefusal, Request};
use super::memory;
use super::state::State;

/// A script error.
pub type Fault = Box<EvalAltResult>;

/// Request of a track when it returns control.
pub enum TrackRequest {
    /// Wait until a time, s.
    Wait(f64),
    /// Wait until some tracks have ended.
    Join(Vec<usize>),
    /// Start closures as parallel tracks.
    Start(Vec<Arc<Callback>>),
    /// Run an operation that may exceed the script time limit.
    Load(Request),
    /// Goals and events have been evaluated.
    Judged,
    /// The track has ended.
    Over(Result<(), Fault>),
}

/// Response to a track when it gets control.
pub enum Go {
    /// Nothing.
    On,
    /// The numbers of the new tracks, or why they could not be started.
    Started(Result<Vec<usize>, String>),
    /// Result of a load request.
    Loaded(Result<(), LoadRefusal>),
}

/// State shared by all tracks of a run.
pub struct Shared {
    state: Mutex<State>,
    stop: AtomicBool,
    operations: AtomicU64,
    /// Whether a track is in a call that uses the world. It waits for no variable there, however long it takes.
    in_call: AtomicBool,
    /// Bytes of all values of the script.
    memory: AtomicIsize,
    clock: Mutex<Clock>,
}

/// Script time since the last step, and the last clock read.
struct Clock {
    spent: Duration,
    last: Instant,
}

impl Shared {
    /// The initial world and task.
    pub fn new(state: State) -> Self {
        Self {
            state: Mutex::new(state),
            stop: AtomicBool::new(false),
            operations: AtomicU64::new(0),
            in_call: AtomicBool::new(false),
            memory: AtomicIsize::new(0),
            clock: Mutex::new(Clock { spent: Duration::ZERO, last: Instant::now() }),
        }
    }

    /// The world and the task. They stay valid if a track panics.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Resets the counters.
    pub fn begin_phase(&self) {
        self.operations.store(0, Ordering::Relaxed);
        *self.clock() = Clock { spent: Duration::ZERO, last: Instant::now() };
    }

    /// Excludes the time so far from the script time.
    pub fn restart_clock(&self) {
        self.clock().last = Instant::now();
    }

    /// Cancels all tracks.
    pub fn call_off(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    fn clock(&self) -> MutexGuard<'_, Clock> {
        self.clock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Operations since the last step.
    pub fn operations(&self) -> u64 {
        self.operations.load(Ordering::Relaxed)
    }

    /// Whether a track is in a call that uses the world.
    pub fn is_in_call(&self) -> bool {
        self.in_call.load(Ordering::Relaxed)
    }

    /// Counts an operation; fails at a limit.
    fn count(&self) -> Option<String> {
        let count = 1 + self.operations.fetch_add(1, Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) {
            return Some(CANCELLED.into());
        }
        if self.count_memory() > MEMORY {
            let most = MEMORY >> 20;
            return Some(format!("the values of the script take more than {most} MB; check for an endless loop"));
        }
        if count.is_multiple_of(16) {
            let (mut clock, now) = (self.clock(), Instant::now());
            let slice = now.duration_since(clock.last).min(SLICE);
            *clock = Clock { spent: clock.spent + slice, last: now };
        }
        if count > OPERATIONS || count.is_multiple_of(16) { self.excess() } else { None }
    }

    /// Bytes of all values, including the changes of this thread.
    fn count_memory(&self) -> isize {
        let change = memory::change();
        self.memory.fetch_add(change, Ordering::Relaxed) + change
    }

    /// The exceeded limit since the last step, if any.
    fn excess(&self) -> Option<String> {
        if self.operations() > OPERATIONS {
            return Some(format!("more than {OPERATIONS} operations without a pause; {ADVICE}"));
        }
        (self.clock().spent > SCRIPT_TIME_LIMIT)
            .then(|| format!("more than {} ms without a pause; {ADVICE}", SCRIPT_TIME_LIMIT.as_millis()))
    }
}

const CANCELLED: &str = "the script was cancelled";
const ADVICE: &str = "check for an endless loop or a missing `wait`";

/// A track's own view.
struct TrackView {
    shared: Arc<Shared>,
    requests: Sender<TrackRequest>,
    go: Receiver<Go>,
    judge: bool,
}

thread_local! {
    static OWN: RefCell<Option<TrackView>> = const { RefCell::new(None) };
}

/// The scheduler's view of a track.
pub struct Track {
    /// Dropped to cancel the track.
    pub go: Option<Sender<Go>>,
    /// Its requests.
    pub requests: Receiver<TrackRequest>,
    /// What it waits for.
    pub waiting: Waiting,
    /// Its thread.
    pub thread: Option<JoinHandle<()>>,
}

/// What a track waits for.
pub enum Waiting {
    /// Control.
    Control,
    /// A time, s.
    Time(f64),
    /// The end of other tracks.
    Tracks(Vec<usize>),
    /// Nothing: it has ended.
    Over,
}

/// Code of a track.
pub enum TrackCode {
    /// The script from top to bottom.
    Whole,
    /// A closure.
    Closure(Arc<Callback>),
    /// Goals, failure conditions and event handlers, after every step.
    Judge,
}

/// Starts a track; it runs when it gets control.
pub fn start(part: TrackCode, engine: Arc<Engine>, ast: Arc<AST>, shared: Arc<Shared>) -> std::io::Result<Track> {
    // Capacity for one message: neither side blocks on sending.
    let (sender, receiver) = bounded(1);
    let (go, gone) = bounded(1);
    let run = move || {
        let own = TrackView {
            shared: shared.clone(),
            requests: sender.clone(),
            go: gone,
            judge: matches!(part, TrackCode::Judge),
        };
        OWN.with(|cell| *cell.borrow_mut() = Some(own));
        if receive().is_err() {
            return;
        }
        let done = catch_unwind(AssertUnwindSafe(|| match part {
            TrackCode::Whole => engine.run_ast_with_scope(&mut Scope::new(), &ast),
            TrackCode::Closure(closure) => closure.call(&engine, ()).map(drop),
            TrackCode::Judge => judge(&engine),
        }));
        // The track's values are freed.
        shared.count_memory();
        let panicked = || Err(fault("internal error in this call; this is not an error of the script"));
        // Sorting ignores errors of its closure.
        let in_time = || shared.excess().map_or(Ok(()), |why| Err(over(&why)));
        let _ = sender.send(TrackRequest::Over(done.unwrap_or_else(|_| panicked()).and_then(|()| in_time())));
    };
    let thread = std::thread::Builder::new().name("script".into()).stack_size(STACK).spawn(run)?;
    Ok(Track { go: Some(go), requests: receiver, waiting: Waiting::Control, thread: Some(thread) })
}

/// Stack size; the recursion limits apply before it is used up.
const STACK: usize = 16 * 1024 * 1024;

/// Evaluates events, goals and failure conditions whenever it gets control.
fn judge(engine: &Engine) -> Result<(), Fault> {
    let of = |closure: &Callback, name: &str| -> Result<bool, Fault> {
        let returned = closure.call(engine, ())?;
        let wrong = || fault(format!("`{name}`: expected true or false, found {}", found(&returned)));
        returned.as_bool().map_err(|_| closure.named_here(wrong()))
    };
    loop {
        let (events, handlers) = with(|state| Ok((std::mem::take(&mut state.events), state.task.handlers.clone())))?;
        for event in events {
            for (_, handler) in handlers.iter().filter(|(kind, _)| kind == event.kind) {
                handler.call(engine, (event.to_map(),)).map(drop)?;
            }
            memory::uncounted(|| drop(event));
        }
        for (name, closure) in with(|state| Ok(state.task.failures.clone()))? {
            if of(&closure, &name)? {
                with(|state| state.fail(&name))?;
            }
        }
        for (place, name, closure) in with(|state| Ok(state.task.open_goals()))? {
            let holds = of(&closure, &name)?;
            with(|state| state.judge_goal(place, holds))?;
        }
        send(TrackRequest::Judged)?;
        receive()?;
    }
}

/// An error with a message; it gets the position of the call.
pub fn fault(message: impl Into<String>) -> Fault {
    EvalAltResult::ErrorRuntime(message.into().into(), Position::NONE).into()
}

/// An error with a shorter message for the script; it gets the position of the call.
pub fn refused(refusal: LoadRefusal) -> Fault {
    EvalAltResult::ErrorRuntime(Dynamic::from(refusal), Position::NONE).into()
}

/// The end of a track, which scripts cannot catch.
pub fn over(why: &str) -> Fault {
    EvalAltResult::ErrorTerminated(why.to_string().into(), Position::NONE).into()
}

/// Called by the engine for every operation.
pub fn progress(_: u64) -> Option<Dynamic> {
    OWN.with(|own| own.borrow().as_ref().and_then(|own| own.shared.count()).map(Dynamic::from))
}

/// Tells the scheduler that a long call is still running; without this the track counts as blocked.
pub fn still_at_work() {
    OWN.with(|own| {
        if let Some(own) = own.borrow().as_ref() {
            own.shared.operations.fetch_add(1, Ordering::Relaxed);
        }
    });
}

/// The world and the task, for the duration of a call.
pub fn with<R>(act: impl FnOnce(&mut State) -> Result<R, Fault>) -> Result<R, Fault> {
    OWN.with(|own| {
        let own = own.borrow();
        let own = own.as_ref().ok_or_else(|| fault("this needs a running simulation"))?;
        own.shared.in_call.store(true, Ordering::Relaxed);
        let result = act(&mut own.shared.state());
        own.shared.in_call.store(false, Ordering::Relaxed);
        result
    })
}

fn send(request: TrackRequest) -> Result<(), Fault> {
    let sender = OWN.with(|own| own.borrow().as_ref().map(|own| own.requests.clone()));
    sender.ok_or_else(|| fault("this needs a running simulation"))?.send(request).map_err(|_| over(CANCELLED))
}

fn receive() -> Result<Go, Fault> {
    let own = OWN.with(|own| own.borrow().as_ref().map(|own| (own.go.clone(), own.shared.clone())));
    let (go, shared) = own.ok_or_else(|| fault("this needs a running simulation"))?;
    let go = go.recv().map_err(|_| over(CANCELLED))?;
    if shared.stop.load(Ordering::Relaxed) { Err(over(CANCELLED)) } else { Ok(go) }
}

/// Returns control to the simulation until it is given back.
pub fn submit(request: TrackRequest) -> Result<Go, Fault> {
    if OWN.with(|own| own.borrow().as_ref().is_some_and(|own| own.judge)) {
        return Err(fault("goals, failure conditions and event handlers run between two steps and cannot wait"));
    }
    send(request)?;
    receive()
}

/// Runs the simulation until a time, at least for one step.
pub fn wait_until_time(time: f64) -> Result<(), Fault> {
    let soonest = with(|state| Ok(state.time() + 0.5 * state.scene.world.parameters.dt))?;
    submit(TrackRequest::Wait(time.max(soonest))).map(drop)
}
