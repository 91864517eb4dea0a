use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError};
use rhai::{AST, Engine};

use super::callback::Callback;
use super::limits::{FAREWELL, LOADING, STUCK, TRACKS, TRACKS_EVER};
use super::load::{self, LoadRefusal, Request};
use super::track::{Fault, Go, Shared, Track, TrackCode, TrackRequest, Waiting, fault, start};

/// Rounding of times, s.
const TIME_EPSILON: f64 = 1e-9;

/// Schedules the tracks: exactly one runs at a time.
pub struct Conductor {
    /// State shared by all tracks.
    pub shared: Arc<Shared>,
    engine: Arc<Engine>,
    ast: Arc<AST>,
    tracks: Vec<Track>,
    judge: Option<Track>,
    /// Loading time since the last step.
    loading: Duration,
}

impl Conductor {
    /// A script before its first line.
    pub fn new(engine: Arc<Engine>, ast: Arc<AST>, shared: Arc<Shared>) -> Result<Self, Fault> {
        let mut conductor = Self { shared, engine, ast, tracks: Vec::new(), judge: None, loading: Duration::ZERO };
        let main = conductor.start(TrackCode::Whole)?;
        conductor.tracks.push(main);
        Ok(conductor)
    }

    /// Whether the script has ended; its remaining tracks end with it.
    pub fn is_over(&self) -> bool {
        self.tracks.first().is_some_and(|main| matches!(main.waiting, Waiting::Over))
    }

    /// Runs every track that is due, until all of them wait.
    pub fn phase(&mut self) -> Result<(), Fault> {
        self.shared.begin_phase();
        self.loading = Duration::ZERO;
        let mut moved = true;
        while moved {
            moved = false;
            let mut next = 0;
            // Tracks started in this round run in the same round.
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

    /// Evaluates goals, failure conditions and events.
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
            self.judge = Some(self.start(TrackCode::Judge)?);
        }
        self.shared.begin_phase();
        match self.give(None, Go::On) {
            TrackRequest::Over(Err(error)) if self.has_verdict() => drop(error),
            TrackRequest::Over(done) => done?,
            _ => {}
        }
        Ok(())
    }

    fn has_verdict(&self) -> bool {
        self.shared.state().task.verdict.is_some()
    }

    fn start(&self, part: TrackCode) -> Result<Track, Fault> {
        start(part, self.engine.clone(), self.ast.clone(), self.shared.clone())
            .map_err(|e| fault(format!("cannot start a thread for the script: {e}")))
    }

    fn is_ready(&self, track: usize) -> bool {
        match &self.tracks[track].waiting {
            Waiting::Control => true,
            Waiting::Time(time) => self.shared.state().time() >= time - TIME_EPSILON,
            Waiting::Tracks(others) => others.iter().all(|&o| matches!(self.tracks[o].waiting, Waiting::Over)),
            Waiting::Over => false,
        }
    }

    /// Runs a track until it waits.
    fn run(&mut self, track: usize) -> Result<(), Fault> {
        let mut go = Go::On;
        loop {
            go = match self.give(Some(track), go) {
                TrackRequest::Wait(time) => return self.set_waiting(track, Waiting::Time(time)),
                TrackRequest::Join(others) => return self.set_waiting(track, Waiting::Tracks(others)),
                TrackRequest::Judged => return Ok(()),
                TrackRequest::Start(closures) => Go::Started(self.start_closures(closures)?),
                TrackRequest::Load(request) => {
                    let loaded = self.load(&request);
                    // Loading does not count as script time.
                    self.shared.restart_clock();
                    Go::Loaded(loaded)
                }
                TrackRequest::Over(done) => {
                    self.tracks[track].end();
                    self.set_waiting(track, Waiting::Over)?;
                    return if self.has_verdict() { Ok(()) } else { done };
                }
            };
        }
    }

    fn load(&mut self, request: &Request) -> Result<(), LoadRefusal> {
        if self.loading > LOADING {
            let most = LOADING.as_secs();
            return Err(format!("more than {most} s of loading without a pause; check for an endless loop").into());
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
            return Ok(Err(format!("too many parallel tracks; at most {most}")));
        }
        for closure in closures {
            let track = self.start(TrackCode::Closure(closure))?;
            self.tracks.push(track);
        }
        Ok(Ok((first..self.tracks.len()).collect()))
    }

    /// Waits for a request of a track while it is active.
    fn next_request(&self, receiver: &Receiver<TrackRequest>) -> Result<TrackRequest, RecvTimeoutError> {
        loop {
            let before = self.shared.operations();
            match receiver.recv_timeout(STUCK) {
                Err(RecvTimeoutError::Timeout) if self.shared.operations() > before || self.shared.is_in_call() => {}
                answer => return answer,
            }
        }
    }

    /// Passes control to a track and waits until it returns; `None` is the track of goals and events.
    fn give(&mut self, number: Option<usize>, go: Go) -> TrackRequest {
        let track = match number {
            Some(number) => self.tracks.get(number),
            None => self.judge.as_ref(),
        };
        let lost = || TrackRequest::Over(Err(fault("the script's thread has ended")));
        let Some((Some(sender), receiver)) = track.map(|t| (&t.go, t.requests.clone())) else { return lost() };
        if sender.send(go).is_err() {
            return lost();
        }
        match self.next_request(&receiver) {
            Ok(request) => request,
            Err(RecvTimeoutError::Disconnected) => lost(),
            Err(RecvTimeoutError::Timeout) => {
                // The others release their locks as they end; this one too.
                self.shared.call_off();
                self.tracks.iter_mut().chain(&mut self.judge).for_each(|track| track.go = None);
                let came_back = receiver.recv_timeout(FAREWELL).is_ok();
                if !came_back {
                    let track = number.map_or(self.judge.as_mut(), |number| self.tracks.get_mut(number));
                    track.into_iter().for_each(|track| drop(track.thread.take()));
                }
                TrackRequest::Over(Err(fault(
                    "the script is blocked: one track uses a variable while another waits in it",
                )))
            }
        }
    }
}

impl Track {
    /// Ends the thread of a track.
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
