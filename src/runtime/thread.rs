//! A session in its own thread.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};

use super::error::Error;
use super::pace::Pace;
use super::session::Session;
use crate::sync::Latest;

/// Least time between two snapshots that the reader waits for.
const SNAPSHOT_PERIOD: Duration = Duration::from_millis(4);

type WorldCommand = Box<dyn FnOnce(&mut Session) + Send>;

/// The session after its thread has ended, and the error that ended it, if any.
pub struct ThreadOutcome {
    /// The session.
    pub session: Session,
    /// The error of the last step.
    pub error: Option<Error>,
}

/// A session that is stepped in real time in its own thread.
///
/// After steps a snapshot is made of the session and put into a slot of which the reader takes the newest. Commands run between
/// two steps. Neither thread waits for the other. The thread ends with the session; dropping or [`SessionThread::stop`] ends it
/// after the current step.
///
/// ```
/// use std::path::Path;
/// use fingerpad::runtime::{Session, SessionThread};
///
/// let session = Session::load(Path::new("rest"), &[])?;
/// let thread = SessionThread::start(session, |session, time: &mut f64| *time = session.scene().world.time())?;
/// thread.send(|session| session.scene_mut().world.parameters.gravity.y = -1.62);
/// let time = loop {
///     // A renderer would draw here.
///     match thread.latest() {
///         Some(time) if *time >= 0.05 => break *time,
///         _ => std::thread::yield_now(),
///     }
/// };
/// let outcome = thread.stop();
/// assert!(outcome.session.scene().world.time() >= time && outcome.error.is_none());
/// # Ok::<(), fingerpad::runtime::Error>(())
/// ```
pub struct SessionThread<S> {
    /// Dropped to end the thread.
    commands: Option<Sender<WorldCommand>>,
    snapshots: Arc<Latest<S>>,
    thread: Option<JoinHandle<ThreadOutcome>>,
}

impl<S: Default + Send + 'static> SessionThread<S> {
    /// Starts to step a session in real time. `snapshot` fills a value from the session; the value may hold an older snapshot,
    /// whose buffers can be reused.
    pub fn start(session: Session, snapshot: impl FnMut(&Session, &mut S) + Send + 'static) -> Result<Self, Error> {
        let (commands, received) = unbounded();
        let snapshots = Arc::new(Latest::default());
        let slot = Arc::clone(&snapshots);
        let body = move || step_until_stopped(session, &received, &slot, snapshot);
        let thread = std::thread::Builder::new()
            .name("session".into())
            .spawn(body)
            .map_err(|error| Error::Thread { name: "the session".into(), error })?;
        Ok(Self { commands: Some(commands), snapshots, thread: Some(thread) })
    }

    /// The newest snapshot, unless it was taken before.
    pub fn latest(&self) -> Option<Box<S>> {
        self.snapshots.take()
    }

    /// Gives a snapshot back, so that its buffers are reused.
    pub fn give_back(&self, snapshot: Box<S>) {
        self.snapshots.give_back(snapshot);
    }

    /// Runs a command between two steps. Ignored once the thread has ended.
    pub fn send(&self, command: impl FnOnce(&mut Session) + Send + 'static) {
        if let Some(commands) = &self.commands {
            let _ = commands.send(Box::new(command));
        }
    }

    /// Whether the session has ended or failed.
    pub fn is_over(&self) -> bool {
        self.thread.as_ref().is_none_or(JoinHandle::is_finished)
    }

    /// Ends the thread after the current step and returns its session.
    ///
    /// # Panics
    ///
    /// If the thread has panicked.
    pub fn stop(mut self) -> ThreadOutcome {
        self.commands = None;
        let thread = self.thread.take().map(JoinHandle::join);
        match thread {
            Some(Ok(outcome)) => outcome,
            Some(Err(panic)) => std::panic::resume_unwind(panic),
            None => unreachable!("the thread is joined once, here or in drop"),
        }
    }
}

impl<S> Drop for SessionThread<S> {
    fn drop(&mut self) {
        self.commands = None;
        if let Some(thread) = self.thread.take() {
            // A panic of the thread was reported by the panic hook.
            let _ = thread.join();
        }
    }
}

fn step_until_stopped<S: Default>(
    mut session: Session,
    commands: &Receiver<WorldCommand>,
    snapshots: &Latest<S>,
    mut snapshot: impl FnMut(&Session, &mut S),
) -> ThreadOutcome {
    let mut pace = Pace::new(Instant::now());
    let mut made = Instant::now();
    let mut publish = |session: &Session| {
        let mut blank = snapshots.blank();
        snapshot(session, &mut blank);
        snapshots.put(blank);
    };
    publish(&session);
    let mut error = None;
    while error.is_none() && !session.is_over() {
        let dt = session.scene().world.parameters.dt;
        let wait = if pace.is_due(Instant::now(), dt) { Duration::ZERO } else { pace.wait(dt) };
        match commands.recv_timeout(wait) {
            Ok(command) => command(&mut session),
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) if pace.is_due(Instant::now(), dt) => {
                error = session.step().err();
                pace.stepped(Instant::now(), dt);
                if snapshots.is_wanted() || made.elapsed() >= SNAPSHOT_PERIOD {
                    publish(&session);
                    made = Instant::now();
                }
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
    }
    publish(&session);
    ThreadOutcome { session, error }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::assets::Setting;

    fn time(session: &Session, time: &mut f64) {
        *time = session.scene().world.time();
    }

    #[test]
    fn it_steps_in_real_time_and_the_last_snapshot_is_that_of_the_end() {
        let session = Session::load(Path::new("rest"), &[Setting::new("seconds", 0.2)]).expect("a scene");
        let clock = Instant::now();
        let thread = SessionThread::start(session, time).expect("a thread");
        while !thread.is_over() {
            assert!(clock.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(clock.elapsed() >= Duration::from_millis(150), "{:?}", clock.elapsed());
        let last = thread.latest().expect("a snapshot");
        let outcome = thread.stop();
        assert!(outcome.error.is_none() && outcome.session.is_over());
        assert_eq!(*last, outcome.session.scene().world.time());
    }

    #[test]
    fn commands_run_between_steps_and_an_error_ends_it() {
        let session = Session::load(Path::new("rest"), &[]).expect("a scene");
        let thread = SessionThread::start(session, time).expect("a thread");
        thread.send(|session| session.scene_mut().world.parameters.gravity.y = f64::NAN);
        let clock = Instant::now();
        while !thread.is_over() {
            assert!(clock.elapsed() < Duration::from_secs(60));
            std::thread::sleep(Duration::from_millis(1));
        }
        assert!(matches!(thread.stop().error, Some(Error::Stopped { .. })));
    }
}
