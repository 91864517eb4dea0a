use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rhai::{AST, Engine};

use super::conductor::Conductor;
use super::error::ScriptError;
use super::events::Event;
use super::limits::{COMPUTING, RUN_SECONDS, compile};
use super::modules::{Folder, Sources};
use super::state::{Origin, State};
use super::task::{TaskOutcome, TrialOutcome};
use super::track::{Fault, Shared};
use super::{api, load};
use crate::assets::{Files, Scene, Setting, TextKind};
use crate::sim::Status;
use crate::tracking::{Driven, HandSample, Verdict};

/// Options of a script run.
#[derive(Clone, Debug, Default)]
pub struct ScriptOptions {
    /// Settings of the scene; they override the script. `seed` among them is the random seed.
    pub settings: Vec<Setting>,
    /// Maximum simulated time of a trial, s; without it all trials together have 300 s.
    pub seconds: Option<f64>,
    /// Parts of the hands that devices move: samples come from [`ScriptRun::feed_hand`], and the script only evaluates
    /// the task.
    pub device: Driven,
}

/// Status of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Running.
    Running,
    /// Ended; see [`ScriptRun::outcome`].
    Done,
    /// Failed with a script error; see [`ScriptRun::error`]. The world is unchanged since.
    Broken,
}

/// A script and its world.
///
/// Dropping it ends the script's threads.
pub struct ScriptRun {
    file: PathBuf,
    options: ScriptOptions,
    engine: Arc<Engine>,
    ast: Arc<AST>,
    sources: Sources,
    shared: Arc<Shared>,
    conductor: Option<Conductor>,
    trials: Vec<TrialOutcome>,
    /// Whether the last trial has ended and the next has not started.
    between: bool,
    /// End time of the script, s.
    ended: Option<f64>,
    /// Simulated time of the completed trials, s.
    simulated: f64,
    /// Wall time of steps and trials.
    computed: Duration,
    steps: u64,
    /// Hash of the state after the last step.
    hash: u64,
    outcome: Option<TaskOutcome>,
    error: Option<ScriptError>,
}

impl ScriptRun {
    /// Reads a script and runs it up to its first pause, so that its scene exists.
    pub fn load(file: &Path, options: &ScriptOptions) -> Result<Self, ScriptError> {
        Self::load_from(&Files::default(), file, options)
    }

    /// The same, with only some visible files.
    pub fn load_from(files: &Files, file: &Path, options: &ScriptOptions) -> Result<Self, ScriptError> {
        let name = file.display().to_string();
        let text = files.read_text(file, TextKind::Script).map_err(|problems| {
            let said = problems.0.first().map(|problem| problem.message.clone());
            ScriptError::whole(&name, said.unwrap_or_default())
        })?;
        let files = &files.of_script(file);
        let sources = Sources::default();
        sources.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), text.clone());
        let mut engine = api::build().engine;
        engine.set_module_resolver(Folder::of(file, sources.clone(), files.clone()));
        let mut ast = compile(&engine, &text).map_err(|error| ScriptError::parsing(&name, &text, error))?;
        ast.set_source(&name);
        let origin = Origin {
            file: file.into(),
            files: files.clone(),
            settings: options.settings.clone(),
            seed: seed(&options.settings),
            device: options.device,
        };
        let shared = Arc::new(Shared::new(State::new(origin, 1)));
        let mut run = Self {
            file: file.into(),
            options: options.clone(),
            engine: Arc::new(engine),
            ast: Arc::new(ast),
            sources,
            shared,
            conductor: None,
            trials: Vec::new(),
            between: true,
            ended: None,
            simulated: 0.0,
            computed: Duration::ZERO,
            steps: 0,
            hash: 0,
            outcome: None,
            error: None,
        };
        run.begin_trials();
        match run.error.take() {
            Some(error) => Err(error),
            None => Ok(run),
        }
    }

    /// Reads the script again and restarts; the run is unchanged if the script has errors.
    pub fn reload(&mut self) -> Result<(), ScriptError> {
        let files = self.shared.state().origin.files.clone();
        let files = if files.are_kept() { files } else { Files::default() };
        *self = Self::load_from(&files, &self.file, &self.options)?;
        Ok(())
    }

    /// Whether a script of the run has changed on disk, so that a window should reload it.
    pub fn is_changed(&self) -> bool {
        if self.shared.state().origin.files.are_kept() {
            return false;
        }
        let sources = self.sources.lock().unwrap_or_else(PoisonError::into_inner);
        let now = Files::default();
        sources
            .iter()
            .any(|(file, text)| now.read_text(Path::new(file), TextKind::Script).is_ok_and(|now| now != *text))
    }

    /// Input files of the run: scripts and scenes.
    pub fn files(&self) -> Vec<PathBuf> {
        let scripts: Vec<PathBuf> =
            self.sources.lock().unwrap_or_else(PoisonError::into_inner).keys().map(PathBuf::from).collect();
        scripts.into_iter().chain(self.shared.state().files.iter().cloned()).collect()
    }

    /// Starts the next trial if the last has ended; until then the world is unchanged. The next step does so too.
    pub fn begin_trials(&mut self) {
        // A trial may end before its first step.
        while std::mem::take(&mut self.between) {
            let start = Instant::now();
            self.begin_trial();
            self.take_time(start);
        }
    }

    /// Current trial, from 1.
    pub fn trial(&self) -> u64 {
        self.shared.state().trial
    }

    /// Number of trials that the script requests.
    pub fn planned_trials(&self) -> u64 {
        self.shared.state().task.trials.map_or(1, |(count, _)| count)
    }

    /// Result of the last trial, until the next starts.
    pub fn ended_trial(&self) -> Option<&TrialOutcome> {
        self.trials.last().filter(|_| self.between)
    }

    /// One step of the world, and the script after it.
    pub fn step(&mut self) -> RunState {
        self.begin_trials();
        if self.conductor.is_none() {
            return self.state();
        }
        let start = Instant::now();
        let finite = {
            let mut state = self.shared.state();
            state.feed();
            let report = state.scene.step();
            state.look();
            if let Some(fault) = state.scene.fault(report.status) {
                // The error that ends a track is not wanted here.
                let _ = state.fail(&fault);
            }
            self.hash = report.hash;
            report.status == Status::Done
        };
        self.steps += 1;
        if finite {
            self.go_on(|conductor| conductor.judge().and_then(|()| conductor.phase()));
        }
        self.conclude();
        self.take_time(start);
        self.state()
    }

    /// Counts the time since a start, and ends a run that exceeds its limit. A recording is played without limit.
    fn take_time(&mut self, start: Instant) {
        self.computed += start.elapsed();
        let trials = self.planned_trials() as f64;
        let most = COMPUTING * self.options.seconds.map_or(RUN_SECONDS, |s| (s * trials).max(RUN_SECONDS));
        let is_over = self.outcome.is_some() || self.shared.state().origin.files.are_kept();
        if self.computed.as_secs_f64() > most && !is_over {
            let message = format!("more than {most:.0} s of computing time; `--seconds` allows more");
            self.error = Some(ScriptError::whole(&self.name(), message));
            self.conductor = None;
            self.between = false;
        }
    }

    fn state(&self) -> RunState {
        match (&self.error, &self.outcome) {
            (Some(_), _) => RunState::Broken,
            (None, Some(_)) => RunState::Done,
            (None, None) => RunState::Running,
        }
    }

    /// The world and its names, between two steps.
    pub fn scene(&self) -> SceneGuard<'_> {
        SceneGuard(self.shared.state())
    }

    /// Result of the task, when it has ended.
    pub fn outcome(&self) -> Option<&TaskOutcome> {
        self.outcome.as_ref()
    }

    /// The script error, if any.
    pub fn error(&self) -> Option<&ScriptError> {
        self.error.as_ref()
    }

    /// Steps made in all trials.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// State hash after the last step, before the script changed anything.
    pub fn state_hash(&self) -> u64 {
        self.hash
    }

    /// Current phase, if the script has any.
    pub fn phase(&self) -> Option<String> {
        self.shared.state().task.phases.last().map(|phase| phase.name.clone())
    }

    /// Lines printed since the last call, with their times.
    pub fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().messages)
    }

    /// A sample for a hand that a device moves; used in the next step. `None` if there is no such hand.
    pub fn feed_hand(&mut self, hand: &str, sample: HandSample) -> Option<Verdict> {
        self.begin_trials();
        let mut state = self.shared.state();
        let hand = state.scene.hand(hand)?;
        Some(state.scene.world.bodies.hand_mut(hand).track(sample))
    }

    /// A button of a device was pressed or released; handlers are called after the next step.
    pub fn press_button(&mut self, name: &str, pressed: bool) {
        self.begin_trials();
        let mut state = self.shared.state();
        let event = Event::button(name, pressed, state.time());
        state.events.push(event);
    }

    fn begin_trial(&mut self) {
        let trial = self.trials.len() as u64 + 1;
        let origin = self.shared.state().origin.clone();
        let mut state = State::new(origin, trial);
        match load::empty_scene(&state.origin) {
            Ok(scene) => state.scene = scene,
            Err(problems) => {
                self.error = Some(ScriptError::whole(&self.name(), problems.to_string()));
                return;
            }
        }
        self.ended = None;
        self.shared = Arc::new(Shared::new(state));
        match Conductor::new(self.engine.clone(), self.ast.clone(), self.shared.clone()) {
            Ok(conductor) => self.conductor = Some(conductor),
            Err(error) => return self.break_off(&error),
        }
        self.go_on(Conductor::phase);
        self.conclude();
    }

    fn name(&self) -> String {
        self.file.display().to_string()
    }

    fn go_on(&mut self, act: impl FnOnce(&mut Conductor) -> Result<(), Fault>) {
        let Some(conductor) = &mut self.conductor else { return };
        if let Err(error) = act(conductor) {
            // Effects of the script before the error are kept.
            if self.shared.state().task.verdict.is_none() {
                self.break_off(&error);
            }
        }
    }

    fn break_off(&mut self, error: &Fault) {
        let names: Vec<String> = self.shared.state().names();
        self.error = Some(ScriptError::running(&self.name(), &self.sources, &names, error));
        self.conductor = None;
    }

    /// Checks whether the trial, and the task with it, has ended.
    fn conclude(&mut self) {
        let Some(conductor) = &self.conductor else { return };
        let over = conductor.is_over();
        let (trial, trials, name) = {
            let mut state = self.shared.state();
            let now = state.time();
            if over {
                self.ended.get_or_insert(now);
            }
            if let Some((success, reason)) = self.verdict(&state, now) {
                // The error that ends a track is ignored here.
                let _ = state.end(success, &reason);
            }
            if state.task.verdict.is_none() {
                return;
            }
            state.task.end_phase(now);
            (state.task.outcome(), state.task.trials.unwrap_or((1, 1)), state.task.name.clone())
        };
        self.conductor = None;
        self.trials.push(trial);
        self.simulated += self.shared.state().time();
        if (self.trials.len() as u64) < trials.0 && !self.is_used_up(0.0) {
            self.between = true;
            return;
        }
        let stem = || self.file.file_stem().map(|stem| stem.to_string_lossy().into_owned()).unwrap_or_default();
        let name = name.unwrap_or_else(stem);
        self.outcome = Some(TaskOutcome::of(name, std::mem::take(&mut self.trials), trials.1));
    }

    /// Whether the task has succeeded or failed by itself, and why.
    fn verdict(&self, state: &State, now: f64) -> Option<(bool, String)> {
        const SAME: f64 = 1e-9;
        let task = &state.task;
        let open = task.longest_hold();
        if let (Some(_), None) = (self.ended, open) {
            let reached = if task.goals.is_empty() { "the script ended" } else { "all goals were reached" };
            return Some((true, reached.into()));
        }
        if let Some(timeout) = task.timeout.filter(|timeout| now >= timeout - SAME) {
            let late = if open.is_some() { task.missing() } else { "the end of the script".into() };
            if open.is_some() || task.goals.is_empty() {
                return Some((false, format!("{late} was not reached within {timeout} s")));
            }
        }
        if let (Some(ended), Some(hold), None) = (self.ended, open, task.timeout) {
            // Only active tracks can still change the result.
            if now > ended + hold + state.scene.world.parameters.dt + SAME {
                return Some((false, format!("the script ended, but {} was not reached", task.missing())));
            }
        }
        let most = self.options.seconds.unwrap_or(RUN_SECONDS);
        if now >= most - SAME {
            return Some((false, format!("not finished after {most} s")));
        }
        let used_up = || (false, format!("not finished after {RUN_SECONDS} s, all trials together"));
        self.is_used_up(now).then(used_up)
    }

    /// Whether the time limit of all trials together is exceeded.
    fn is_used_up(&self, now: f64) -> bool {
        self.options.seconds.is_none() && self.simulated + now >= RUN_SECONDS
    }
}

/// The last seed among some settings.
fn seed(settings: &[Setting]) -> Option<u64> {
    let given = settings.iter().rev().find(|setting| setting.key == "seed")?;
    given.value.parse::<f64>().ok().map(|seed| seed as u64)
}

/// A summary of the world of a run.
pub struct SceneGuard<'r>(MutexGuard<'r, State>);

impl Deref for SceneGuard<'_> {
    type Target = Scene;

    fn deref(&self) -> &Scene {
        &self.0.scene
    }
}

impl DerefMut for SceneGuard<'_> {
    fn deref_mut(&mut self) -> &mut Scene {
        &mut self.0.scene
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tracks hold the shared state; when it is freed, they have ended.
    #[test]
    fn a_run_that_is_dropped_ends_its_threads() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/hello_hand.rhai");
        // At the start, in a motion, and with two parallel tracks.
        for steps in [0, 1, 460] {
            let mut run = ScriptRun::load(&file, &ScriptOptions::default()).unwrap_or_else(|error| panic!("{error}"));
            (0..steps).for_each(|_| assert_eq!(run.step(), RunState::Running));
            let shared = Arc::downgrade(&run.shared);
            drop(run);
            assert!(shared.upgrade().is_none(), "a thread is left after {steps} steps");
        }
    }
}
