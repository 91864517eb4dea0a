//! Tracks: threads that run a script while the simulation stands still. One baton goes to and fro, so at any time
//! either the simulation
//! runs or one track does, in an order that does not depend on the machine.

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
use super::limits::{MEMORY, OPERATIONS, SLICE, WALL};
use super::load::{Refusal, Request};
use super::memory;
use super::state::State;

/// What goes wrong in a script.
pub type Fault = Box<EvalAltResult>;

/// What a track says when it gives the baton back.
pub enum Ask {
    /// It waits for a time, s.
    Wait(f64),
    /// It waits until some tracks have come to their end.
    Join(Vec<usize>),
    /// It wants closures to be run beside it.
    Start(Vec<Arc<Callback>>),
    /// It wants something that takes longer than scripts may.
    Load(Request),
    /// Goals and events have been looked at.
    Judged,
    /// It has come to its end.
    Over(Result<(), Fault>),
}

/// What a track is given with the baton.
pub enum Go {
    /// Nothing more.
    On,
    /// The numbers of the tracks it wanted, or why it cannot have them.
    Started(Result<Vec<usize>, String>),
    /// Whether it got what it wanted.
    Loaded(Result<(), Refusal>),
}

/// What all tracks of a run look at.
pub struct Shared {
    state: Mutex<State>,
    stop: AtomicBool,
    operations: AtomicU64,
    /// Bytes that all values of the script take.
    memory: AtomicIsize,
    clock: Mutex<Clock>,
}

/// Time that the script has taken since the last step, and when that was last looked at.
struct Clock {
    spent: Duration,
    last: Instant,
}

impl Shared {
    /// The world and the task at their start.
    pub fn new(state: State) -> Self {
        Self {
            state: Mutex::new(state),
            stop: AtomicBool::new(false),
            operations: AtomicU64::new(0),
            memory: AtomicIsize::new(0),
            clock: Mutex::new(Clock { spent: Duration::ZERO, last: Instant::now() }),
        }
    }

    /// The world and the task. A panic in between leaves them as they are, and they are sound at every moment.
    pub fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Everything is counted from here.
    pub fn begin_phase(&self) {
        self.operations.store(0, Ordering::Relaxed);
        *self.clock() = Clock { spent: Duration::ZERO, last: Instant::now() };
    }

    /// What came before was not the script's time.
    pub fn restart_clock(&self) {
        self.clock().last = Instant::now();
    }

    /// No track goes on from here.
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

    /// Counts an operation; says why there may not be another.
    fn count(&self) -> Option<String> {
        let count = 1 + self.operations.fetch_add(1, Ordering::Relaxed);
        if self.stop.load(Ordering::Relaxed) {
            return Some(CALLED_OFF.into());
        }
        if self.count_memory() > MEMORY {
            let most = MEMORY >> 20;
            return Some(format!(
                "the values of the script take more than {most} MB; does a loop add to one for ever?"
            ));
        }
        if count.is_multiple_of(16) {
            let (mut clock, now) = (self.clock(), Instant::now());
            let slice = now.duration_since(clock.last).min(SLICE);
            *clock = Clock { spent: clock.spent + slice, last: now };
        }
        if count > OPERATIONS || count.is_multiple_of(16) { self.excess() } else { None }
    }

    /// Bytes that all values take, with the changes that this thread has made.
    fn count_memory(&self) -> isize {
        let change = memory::change();
        self.memory.fetch_add(change, Ordering::Relaxed) + change
    }

    /// Why a script may not go on that has done so much since the last step, if it may not.
    fn excess(&self) -> Option<String> {
        if self.operations() > OPERATIONS {
            return Some(format!("more than {OPERATIONS} operations without a pause; {ADVICE}"));
        }
        (self.clock().spent > WALL).then(|| format!("more than {} ms without a pause; {ADVICE}", WALL.as_millis()))
    }
}

const CALLED_OFF: &str = "the script was called off";
const ADVICE: &str = "does a loop never end, or does it lack a `wait`?";

/// A track as it sees itself.
struct Own {
    shared: Arc<Shared>,
    ask: Sender<Ask>,
    go: Receiver<Go>,
    judge: bool,
}

thread_local! {
    static OWN: RefCell<Option<Own>> = const { RefCell::new(None) };
}

/// A track as the simulation sees it.
pub struct Track {
    /// Dropped to call the track off.
    pub go: Option<Sender<Go>>,
    /// What it says.
    pub ask: Receiver<Ask>,
    /// What it waits for.
    pub waiting: Waiting,
    /// Its thread.
    pub thread: Option<JoinHandle<()>>,
}

/// What a track waits for.
pub enum Waiting {
    /// The baton.
    Baton,
    /// A time, s.
    Time(f64),
    /// The end of other tracks.
    Tracks(Vec<usize>),
    /// Nothing: it has come to its end.
    Over,
}

/// What a track runs.
pub enum Part {
    /// The script from top to bottom.
    Whole,
    /// A closure.
    Closure(Arc<Callback>),
    /// Goals, failure conditions and event handlers, after every step.
    Judge,
}

/// Starts a track; it runs when it is given the baton.
pub fn start(part: Part, engine: Arc<Engine>, ast: Arc<AST>, shared: Arc<Shared>) -> std::io::Result<Track> {
    // Room for one message: neither side waits to get rid of its own.
    let (ask, asked) = bounded(1);
    let (go, gone) = bounded(1);
    let run = move || {
        let own = Own { shared: shared.clone(), ask: ask.clone(), go: gone, judge: matches!(part, Part::Judge) };
        OWN.with(|cell| *cell.borrow_mut() = Some(own));
        if receive().is_err() {
            return;
        }
        let done = catch_unwind(AssertUnwindSafe(|| match part {
            Part::Whole => engine.run_ast_with_scope(&mut Scope::new(), &ast),
            Part::Closure(closure) => closure.call(&engine, ()).map(drop),
            Part::Judge => judge(&engine),
        }));
        // What the track held is given back.
        shared.count_memory();
        let panicked = || Err(fault("the program itself failed in this call; this is not the script's fault"));
        // Sorting takes no notice of what ends its closure.
        let in_time = || shared.excess().map_or(Ok(()), |why| Err(over(&why)));
        let _ = ask.send(Ask::Over(done.unwrap_or_else(|_| panicked()).and_then(|()| in_time())));
    };
    let thread = std::thread::Builder::new().name("script".into()).stack_size(STACK).spawn(run)?;
    Ok(Track { go: Some(go), ask: asked, waiting: Waiting::Baton, thread: Some(thread) })
}

/// Deep recursion is stopped by the limits before it needs this much.
const STACK: usize = 16 * 1024 * 1024;

/// Looks at events, goals and failure conditions whenever it gets the baton.
fn judge(engine: &Engine) -> Result<(), Fault> {
    let of = |closure: &Callback, name: &str| -> Result<bool, Fault> {
        let answer = closure.call(engine, ())?;
        let wrong = || fault(format!("`{name}`: expected true or false, found {}", found(&answer)));
        answer.as_bool().map_err(|_| closure.named_here(wrong()))
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
        send(Ask::Judged)?;
        receive()?;
    }
}

/// An error with a message; it gets the place of the call.
pub fn fault(message: impl Into<String>) -> Fault {
    EvalAltResult::ErrorRuntime(message.into().into(), Position::NONE).into()
}

/// An error of which a script sees less than the user does; it gets the place of the call.
pub fn refused(refusal: Refusal) -> Fault {
    EvalAltResult::ErrorRuntime(Dynamic::from(refusal), Position::NONE).into()
}

/// The end of a track that scripts cannot catch.
pub fn over(why: &str) -> Fault {
    EvalAltResult::ErrorTerminated(why.to_string().into(), Position::NONE).into()
}

/// Called by the engine for every operation.
pub fn progress(_: u64) -> Option<Dynamic> {
    OWN.with(|own| own.borrow().as_ref().and_then(|own| own.shared.count()).map(Dynamic::from))
}

/// The world and the task, for the time of a call.
pub fn with<R>(act: impl FnOnce(&mut State) -> Result<R, Fault>) -> Result<R, Fault> {
    OWN.with(|own| {
        let own = own.borrow();
        let own = own.as_ref().ok_or_else(|| fault("this needs a running simulation"))?;
        act(&mut own.shared.state())
    })
}

fn send(ask: Ask) -> Result<(), Fault> {
    let sender = OWN.with(|own| own.borrow().as_ref().map(|own| own.ask.clone()));
    sender.ok_or_else(|| fault("this needs a running simulation"))?.send(ask).map_err(|_| over(CALLED_OFF))
}

fn receive() -> Result<Go, Fault> {
    let own = OWN.with(|own| own.borrow().as_ref().map(|own| (own.go.clone(), own.shared.clone())));
    let (go, shared) = own.ok_or_else(|| fault("this needs a running simulation"))?;
    let go = go.recv().map_err(|_| over(CALLED_OFF))?;
    if shared.stop.load(Ordering::Relaxed) { Err(over(CALLED_OFF)) } else { Ok(go) }
}

/// Gives the baton back until the simulation sends it again.
pub fn ask(ask: Ask) -> Result<Go, Fault> {
    if OWN.with(|own| own.borrow().as_ref().is_some_and(|own| own.judge)) {
        return Err(fault(
            "goals, failure conditions and event handlers are looked at between two steps: they cannot wait",
        ));
    }
    send(ask)?;
    receive()
}

/// Lets the simulation go on until a time, at least for one step.
pub fn wait_until_time(time: f64) -> Result<(), Fault> {
    let soonest = with(|state| Ok(state.time() + 0.5 * state.scene.world.parameters.dt))?;
    ask(Ask::Wait(time.max(soonest))).map(drop)
}
