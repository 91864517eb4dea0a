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

/// How a script is run.
#[derive(Clone, Debug, Default)]
pub struct ScriptOptions {
    /// Settings of the scene; they win over what the script sets up. `seed` among them is the seed of random numbers.
    pub settings: Vec<Setting>,
    /// Most simulated time of a trial, s; without it all trials together have 300 s.
    pub seconds: Option<f64>,
    /// What of the hands devices move: samples come from [`ScriptRun::feed_hand`], and the script only judges.
    pub device: Driven,
}

/// Whether a run goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// There is more to come.
    Running,
    /// It is over; see [`ScriptRun::outcome`].
    Done,
    /// The script is broken; see [`ScriptRun::error`]. The world is as it was then.
    Broken,
}

/// A script and the world it plays in.
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
    /// Whether the last trial is over and the next has not begun.
    between: bool,
    /// When the script came to its end, s.
    ended: Option<f64>,
    /// Simulated time of the trials that are over, s.
    simulated: f64,
    /// Time that steps and trials have taken.
    computed: Duration,
    steps: u64,
    /// Hash of the state after the last step.
    hash: u64,
    outcome: Option<TaskOutcome>,
    error: Option<ScriptError>,
}

impl ScriptRun {
    /// Reads a script and runs it up to its first pause, so that its scene is there.
    pub fn load(file: &Path, options: &ScriptOptions) -> Result<Self, ScriptError> {
        Self::load_from(&Files::default(), file, options)
    }

    /// The same, where some files are all that it sees.
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

    /// Reads the script again and starts over; the run is as it was if the script is broken now.
    pub fn reload(&mut self) -> Result<(), ScriptError> {
        let files = self.shared.state().origin.files.clone();
        let files = if files.are_kept() { files } else { Files::default() };
        *self = Self::load_from(&files, &self.file, &self.options)?;
        Ok(())
    }

    /// Whether a script of the run reads differently now; a window would reload it then.
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

    /// Files that the run was made from: scripts and scenes.
    pub fn files(&self) -> Vec<PathBuf> {
        let scripts: Vec<PathBuf> =
            self.sources.lock().unwrap_or_else(PoisonError::into_inner).keys().map(PathBuf::from).collect();
        scripts.into_iter().chain(self.shared.state().files.iter().cloned()).collect()
    }

    /// Begins the next trial if the last is over: until then the world stays as that one left it. The coming step does so too.
    pub fn begin_trials(&mut self) {
        // A trial may be over before its first step.
        while std::mem::take(&mut self.between) {
            let start = Instant::now();
            self.begin_trial();
            self.take_time(start);
        }
    }

    /// Number of the trial under way, from 1.
    pub fn trial(&self) -> u64 {
        self.shared.state().trial
    }

    /// How many trials the script asks for.
    pub fn planned_trials(&self) -> u64 {
        self.shared.state().task.trials.map_or(1, |(count, _)| count)
    }

    /// How the last trial ended, until the next begins.
    pub fn ended_trial(&self) -> Option<&TrialOutcome> {
        self.trials.last().filter(|_| self.between)
    }

    /// One step of the world, and what the script does after it.
    pub fn step(&mut self) -> RunState {
        self.begin_trials();
        if self.conductor.is_none() {
            return self.state();
        }
        let start = Instant::now();
        let finite = {
            let mut state = self.shared.state();
            state.feed();
            let report = state.scene.world.step();
            state.look();
            if report.status == Status::NotFinite {
                // The error that ends a track is not wanted here.
                let _ = state.fail("the state stopped being finite");
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

    /// Counts the time since a start, and ends a run that has taken too long. A recording is played to its end.
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

    /// How the task ended, when it has.
    pub fn outcome(&self) -> Option<&TaskOutcome> {
        self.outcome.as_ref()
    }

    /// What is wrong with the script, if something is.
    pub fn error(&self) -> Option<&ScriptError> {
        self.error.as_ref()
    }

    /// Steps made in all trials.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Hash of the state that the last step left, before the script did anything to it.
    pub fn state_hash(&self) -> u64 {
        self.hash
    }

    /// The part of the story that is told now, if the script names any.
    pub fn phase(&self) -> Option<String> {
        self.shared.state().task.phases.last().map(|phase| phase.name.clone())
    }

    /// What the script has printed since it was last asked, with the time of it.
    pub fn take_messages(&mut self) -> Vec<String> {
        std::mem::take(&mut self.shared.state().messages)
    }

    /// A sample of a hand that a device moves; it is used in the coming step. `None` if there is no such hand.
    pub fn feed_hand(&mut self, hand: &str, sample: HandSample) -> Option<Verdict> {
        self.begin_trials();
        let mut state = self.shared.state();
        let hand = state.scene.hand(hand)?;
        Some(state.scene.world.bodies.hands[hand].track(sample))
    }

    /// A button of a device was pressed or let go; the script's handlers hear of it after the coming step.
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
            // What the script did before it broke is not undone; what it says is.
            if self.shared.state().task.verdict.is_none() {
                self.break_off(&error);
            }
        }
    }

    fn break_off(&mut self, error: &Fault) {
        let names: Vec<String> = self.shared.state().names().cloned().collect();
        self.error = Some(ScriptError::running(&self.name(), &self.sources, &names, error));
        self.conductor = None;
    }

    /// Sees whether the trial is over, and the task with it.
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
                // The error that ends a track is not wanted here.
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
            let reached = if task.goals.is_empty() { "the script came to its end" } else { "all goals were reached" };
            return Some((true, reached.into()));
        }
        if let Some(timeout) = task.timeout.filter(|timeout| now >= timeout - SAME) {
            let late = if open.is_some() { task.missing() } else { "the end of the script".into() };
            if open.is_some() || task.goals.is_empty() {
                return Some((false, format!("{late} was not reached within {timeout} s")));
            }
        }
        if let (Some(ended), Some(hold), None) = (self.ended, open, task.timeout) {
            // Nothing but what is under way can still come.
            if now > ended + hold + state.scene.world.parameters.dt + SAME {
                return Some((false, format!("the script came to its end, but {} was not reached", task.missing())));
            }
        }
        let most = self.options.seconds.unwrap_or(RUN_SECONDS);
        if now >= most - SAME {
            return Some((false, format!("it was not finished after {most} s")));
        }
        let used_up = || (false, format!("it was not finished after {RUN_SECONDS} s, all trials together"));
        self.is_used_up(now).then(used_up)
    }

    /// Whether the trials have had their time together, after some of the present one.
    fn is_used_up(&self, now: f64) -> bool {
        self.options.seconds.is_none() && self.simulated + now >= RUN_SECONDS
    }
}

/// The seed among some settings; the last counts.
fn seed(settings: &[Setting]) -> Option<u64> {
    let given = settings.iter().rev().find(|setting| setting.key == "seed")?;
    given.value.parse::<f64>().ok().map(|seed| seed as u64)
}

/// A look at the world of a run.
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

    /// Tracks hold on to what all of them look at; when that is gone, so are they.
    #[test]
    fn a_run_that_is_dropped_ends_its_threads() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/hello_hand.rhai");
        // At the start, in a motion, and with two tracks side by side.
        for steps in [0, 1, 460] {
            let mut run = ScriptRun::load(&file, &ScriptOptions::default()).unwrap_or_else(|error| panic!("{error}"));
            (0..steps).for_each(|_| assert_eq!(run.step(), RunState::Running));
            let shared = Arc::downgrade(&run.shared);
            drop(run);
            assert!(shared.upgrade().is_none(), "a thread is left after {steps} steps");
        }
    }
}
