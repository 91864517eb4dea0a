use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use rhai::{AST, Engine};

use super::callback::Callback;
use super::limits::{FAREWELL, LOADING, STUCK, TRACKS, TRACKS_EVER};
use super::load::{self, Refusal, Request};
use super::track::{Ask, Fault, Go, Part, Shared, Track, Waiting, fault, start};

/// Rounding of times, s.
const SAME: f64 = 1e-9;

/// Gives the baton to one track after the other.
pub struct Conductor {
    /// What all tracks look at.
    pub shared: Arc<Shared>,
    engine: Arc<Engine>,
    ast: Arc<AST>,
    tracks: Vec<Track>,
    judge: Option<Track>,
    /// Time of reading files and making meshes since the last step.
    loading: Duration,
}

impl Conductor {
    /// A script before its first line.
    pub fn new(engine: Arc<Engine>, ast: Arc<AST>, shared: Arc<Shared>) -> Result<Self, Fault> {
        let mut conductor = Self { shared, engine, ast, tracks: Vec::new(), judge: None, loading: Duration::ZERO };
        let main = conductor.start(Part::Whole)?;
        conductor.tracks.push(main);
        Ok(conductor)
    }

    /// Whether the script has come to its end; tracks that it started and left behind end with it.
    pub fn is_over(&self) -> bool {
        self.tracks.first().is_some_and(|main| matches!(main.waiting, Waiting::Over))
    }

    /// Lets every track run whose time has come, until all of them wait.
    pub fn phase(&mut self) -> Result<(), Fault> {
        self.shared.begin_phase();
        self.loading = Duration::ZERO;
        let mut moved = true;
        while moved {
            moved = false;
            let mut next = 0;
            // Tracks that are started on the way run in the same round.
            while next < self.tracks.len() {
                if self.is_ready(next) {
                    moved = true;
                    self.run(next)?;
                }
                next += 1;
            }
        }
        Ok(())
    }

    /// Has goals, failure conditions and events looked at.
    pub fn judge(&mut self) -> Result<(), Fault> {
        let wanted = {
            let mut state = self.shared.state();
            if !state.task.has_rules() {
                state.events.clear();
            }
            state.task.has_rules()
        };
        if !wanted {
            return Ok(());
        }
        if self.judge.is_none() {
            self.judge = Some(self.start(Part::Judge)?);
        }
        self.shared.begin_phase();
        match self.give(None, Go::On) {
            Ask::Over(Err(error)) if self.has_verdict() => drop(error),
            Ask::Over(done) => done?,
            _ => {}
        }
        Ok(())
    }

    fn has_verdict(&self) -> bool {
        self.shared.state().task.verdict.is_some()
    }

    fn start(&self, part: Part) -> Result<Track, Fault> {
        start(part, self.engine.clone(), self.ast.clone(), self.shared.clone())
            .map_err(|e| fault(format!("the system gives no thread for the script: {e}")))
    }

    fn is_ready(&self, track: usize) -> bool {
        match &self.tracks[track].waiting {
            Waiting::Baton => true,
            Waiting::Time(time) => self.shared.state().time() >= time - SAME,
            Waiting::Tracks(others) => others.iter().all(|&o| matches!(self.tracks[o].waiting, Waiting::Over)),
            Waiting::Over => false,
        }
    }

    /// Gives a track the baton until it waits.
    fn run(&mut self, track: usize) -> Result<(), Fault> {
        let mut go = Go::On;
        loop {
            go = match self.give(Some(track), go) {
                Ask::Wait(time) => return self.set_waiting(track, Waiting::Time(time)),
                Ask::Join(others) => return self.set_waiting(track, Waiting::Tracks(others)),
                Ask::Judged => return Ok(()),
                Ask::Start(closures) => Go::Started(self.start_closures(closures)?),
                Ask::Load(request) => {
                    let loaded = self.load(&request);
                    // Reading files and making meshes is not the script's time.
                    self.shared.restart_clock();
                    Go::Loaded(loaded)
                }
                Ask::Over(done) => {
                    self.tracks[track].end();
                    self.set_waiting(track, Waiting::Over)?;
                    return if self.has_verdict() { Ok(()) } else { done };
                }
            };
        }
    }

    fn load(&mut self, request: &Request) -> Result<(), Refusal> {
        if self.loading > LOADING {
            let most = LOADING.as_secs();
            return Err(format!("more than {most} s of loading without a pause; does a loop load for ever?").into());
        }
        let start = Instant::now();
        let loaded = load::perform(request, &mut self.shared.state());
        self.loading += start.elapsed();
        loaded
    }

    fn set_waiting(&mut self, track: usize, waiting: Waiting) -> Result<(), Fault> {
        self.tracks[track].waiting = waiting;
        Ok(())
    }

    fn start_closures(&mut self, closures: Vec<Arc<Callback>>) -> Result<Result<Vec<usize>, String>, Fault> {
        let first = self.tracks.len();
        let running = self.tracks.iter().filter(|track| !matches!(track.waiting, Waiting::Over)).count();
        if running + closures.len() > TRACKS || first + closures.len() > TRACKS_EVER {
            let most = format!("{TRACKS} at a time and {TRACKS_EVER} in a run");
            return Ok(Err(format!("too many parallel tracks; there may be {most}")));
        }
        for closure in closures {
            let track = self.start(Part::Closure(closure))?;
            self.tracks.push(track);
        }
        Ok(Ok((first..self.tracks.len()).collect()))
    }

    /// Waits for what a track says, as long as it does anything.
    fn answer(&self, asked: &Receiver<Ask>) -> Result<Ask, RecvTimeoutError> {
        loop {
            let before = self.shared.operations();
            match asked.recv_timeout(STUCK) {
                Err(RecvTimeoutError::Timeout) if self.shared.operations() > before => {}
                answer => return answer,
            }
        }
    }

    /// Hands the baton over and waits until it is back; without a number the judge gets it.
    fn give(&mut self, number: Option<usize>, go: Go) -> Ask {
        let track = match number {
            Some(number) => self.tracks.get(number),
            None => self.judge.as_ref(),
        };
        let lost = || Ask::Over(Err(fault("the script's thread is gone")));
        let Some((Some(sender), asked)) = track.map(|t| (&t.go, t.ask.clone())) else { return lost() };
        if sender.send(go).is_err() {
            return lost();
        }
        match self.answer(&asked) {
            Ok(ask) => ask,
            Err(RecvTimeoutError::Disconnected) => lost(),
            Err(RecvTimeoutError::Timeout) => {
                // The others let go of what they hold as they end; so does this one then.
                self.shared.call_off();
                self.tracks.iter_mut().chain(&mut self.judge).for_each(|track| track.go = None);
                let came_back = asked.recv_timeout(FAREWELL).is_ok();
                if !came_back {
                    let track = number.map_or(self.judge.as_mut(), |number| self.tracks.get_mut(number));
                    track.into_iter().for_each(|track| drop(track.thread.take()));
                }
                Ask::Over(Err(fault(
                    "the script stood still: does one track use a variable in which another one waits?",
                )))
            }
        }
    }
}

impl Track {
    /// Ends the thread of a track that waits or has come to its end.
    fn end(&mut self) {
        self.go = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Drop for Conductor {
    fn drop(&mut self) {
        self.shared.call_off();
        let mut tracks: Vec<&mut Track> = self.tracks.iter_mut().chain(&mut self.judge).collect();
        tracks.iter_mut().for_each(|track| track.go = None);
        tracks.iter_mut().for_each(|track| track.end());
    }
}
