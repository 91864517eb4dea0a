//! What plays scenes, scripts and recordings step by step, and records what it plays.

mod replay;
mod scene_ref;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow, bail};

pub use self::replay::Difference;
use self::replay::Replay;
pub use self::scene_ref::{SceneMut, SceneRef};
use super::bones_out::BonesOut;
use super::gear::Gear;
use crate::assets::{FileKind, Files, Scene, Setting, builtin_file, builtin_scenes, nearest_builtin};
use crate::record::{EXTENSION, Ending, Header, Input, Recorder, Recording, Source};
#[cfg(feature = "script")]
use crate::script::{RunState, ScriptOptions, ScriptRun, TaskOutcome};
use crate::sim::Status;
use crate::tracking::{Driven, HandSample, Verdict};

/// Something that is played step by step: a scene with the motions in its file, a script, or the recording of one of them.
pub struct Player {
    file: PathBuf,
    /// What is played, as a recording of it would say.
    header: Header,
    files: Files,
    play: Play,
    steps: u64,
    /// Hash of the state after the last step.
    hash: u64,
    /// What came from outside since the last step.
    inputs: Vec<Input>,
    recorder: Option<Recorder>,
    replay: Option<Replay>,
    /// What moves the hands, if devices do.
    gear: Option<Gear>,
    /// Who is told how the hands move.
    bones: Option<BonesOut>,
    /// Why it broke off.
    broken: Option<String>,
}

enum Play {
    Scene(Box<Scene>),
    #[cfg(feature = "script")]
    Script(Box<ScriptRun>),
}

impl Player {
    /// Reads a scene file (.toml), a script (.rhai), a recording (.fpr), or a shipped scene or script by its name. A setting `seconds` is the
    /// length of a scene, and the most that a trial of a script may take.
    pub fn load(file: &Path, settings: &[Setting]) -> anyhow::Result<Self> {
        Self::load_as(file, settings, Driven::default())
    }

    /// The same, with hands that devices move, or parts of them: samples come from [`Player::feed`], and motions of scene and script
    /// are left out there.
    pub fn load_for_device(file: &Path, settings: &[Setting], device: Driven) -> anyhow::Result<Self> {
        Self::load_as(file, settings, device)
    }

    fn load_as(file: &Path, settings: &[Setting], device: Driven) -> anyhow::Result<Self> {
        let path = shipped(file);
        let source = match path.extension().and_then(|e| e.to_str()) {
            Some("toml") => Source::Scene,
            Some("rhai") => Source::Script,
            Some(EXTENSION) => {
                if device.any() || !settings.is_empty() {
                    let file = file.display();
                    bail!("{file}: a recording is played as it was made, without a device and with its own settings");
                }
                return Self::load_recording(file);
            }
            _ => {
                let near = file.to_str().and_then(nearest_builtin).map(|near| format!("; did you mean `{near}`?"));
                bail!(
                    "{}: expected a scene file (.toml), a script (.rhai), a recording (.{EXTENSION}) or the name of a shipped scene ({}) or script{}",
                    file.display(),
                    builtin_scenes().collect::<Vec<_>>().join(", "),
                    near.unwrap_or_default()
                )
            }
        };
        if let (Some(near), None) = (near_missing(&path), path.parent().filter(|folder| *folder != Path::new(""))) {
            bail!("{}: there is no such file, and no shipped one of that name; did you mean `{near}`?", file.display());
        }
        let header = Header::of(source, &Files::key(&path), settings, device);
        Self::build(file, &path, Files::default(), header)
    }

    /// Reads a recording, whatever its name.
    pub fn load_recording(file: &Path) -> anyhow::Result<Self> {
        Self::play_recording(file, Arc::new(Recording::read(file)?))
    }

    fn play_recording(file: &Path, recording: Arc<Recording>) -> anyhow::Result<Self> {
        let (header, files) = (recording.header.clone(), Files::kept(recording.files.clone()));
        let path = PathBuf::from(&header.file);
        let built = Self::build(file, &path, files, header);
        // In one sentence: problems of kept files say nothing of the recording.
        let mut player =
            built.map_err(|error| anyhow!("{}: what was recorded cannot be played: {error:#}", file.display()))?;
        let start = player.scene().world.state_hash();
        player.replay = Some(Replay::new(recording, start));
        Ok(player)
    }

    fn build(file: &Path, path: &Path, files: Files, header: Header) -> anyhow::Result<Self> {
        let play = match header.source {
            Source::Scene => {
                match files.file_kind(path)? {
                    FileKind::Scene => {}
                    FileKind::Hand => bail!("{}: this describes a hand, or nothing; expected a scene", path.display()),
                    FileKind::Device => bail!(
                        "{}: this describes a device; expected a scene, with the device after `--device`",
                        path.display()
                    ),
                }
                Play::Scene(Box::new(files.load_scene(path, &header.settings)?))
            }
            Source::Script => load_script(&files, path, &header)?,
        };
        Ok(Self { file: file.into(), header, files, ..Self::of(play) })
    }

    fn of(play: Play) -> Self {
        Self {
            file: PathBuf::new(),
            header: Header::of(Source::Scene, "", &[], Driven::default()),
            files: Files::default(),
            play,
            steps: 0,
            hash: 0,
            inputs: Vec::new(),
            recorder: None,
            replay: None,
            gear: None,
            bones: None,
            broken: None,
        }
    }

    /// Writes a recording from now on; to be called before the first step.
    pub fn record(&mut self, file: &Path) -> anyhow::Result<()> {
        if self.steps > 0 {
            bail!("{}: a recording begins before the first step", file.display());
        }
        let header = Header::of(self.header.source, &self.header.file, &self.header.settings, self.header.device);
        let start = self.scene().world.state_hash();
        self.recorder = Some(Recorder::create(file, &header, &self.files.read_after(0), start)?);
        Ok(())
    }

    /// Loads something else, or the same again; devices that move the hands go on with it.
    #[cfg(feature = "viewer")]
    pub fn load_next(&mut self, file: &Path, settings: &[Setting]) -> anyhow::Result<Self> {
        let mut next = match self.gear {
            Some(_) => Self::load_for_device(file, settings, self.header.device),
            None => Self::load(file, settings),
        }?;
        if let Some(mut gear) = self.gear.take() {
            gear.move_to(&next.scene());
            next.gear = Some(gear);
        }
        if let Some(mut bones) = self.bones.take() {
            bones.move_to(&next.scene().world);
            next.bones = Some(bones);
        }
        Ok(next)
    }

    /// Devices move the hands from now on.
    pub fn put_on(&mut self, gear: Gear) {
        self.gear = Some(gear);
    }

    /// Whether devices move the hands.
    #[cfg(feature = "viewer")]
    pub fn has_gear(&self) -> bool {
        self.gear.is_some()
    }

    /// What devices move.
    #[cfg(feature = "viewer")]
    pub fn driven(&self) -> Driven {
        self.header.device
    }

    /// Somebody is told how the hands move from now on.
    pub fn show_bones(&mut self, bones: BonesOut) {
        self.bones = Some(bones);
    }

    /// The devices that move the hands, to look at.
    pub fn worn(&self) -> Option<&Gear> {
        self.gear.as_ref()
    }

    /// The devices that move the hands.
    pub fn gear(&mut self) -> Option<&mut Gear> {
        self.gear.as_mut()
    }

    /// Gives the devices back.
    pub fn take_off(&mut self) -> Option<Gear> {
        self.gear.take()
    }

    /// Hands on what came from the devices.
    fn take_from_devices(&mut self) {
        let Some(mut gear) = self.gear.take() else { return };
        let now = self.scene().world.time();
        let came = gear.gather(now);
        for (hand, sample) in came.samples {
            self.feed(&hand, sample);
        }
        for (button, pressed) in came.buttons {
            self.press(&button, pressed);
        }
        self.gear = Some(gear);
    }

    /// Ends the recording, if there is one, and makes sure that all of it is in the file.
    pub fn finish_recording(&mut self) -> anyhow::Result<()> {
        let ending = match &self.broken {
            Some(message) => Ending::Broken(message.clone()),
            None if self.is_over() => Ending::Over,
            None => Ending::Stopped,
        };
        Ok(self.recorder.take().map_or(Ok(()), |recorder| recorder.finish(&ending))?)
    }

    /// A sample of a device for a hand, used in the coming step. `None` if there is no such hand, or a recording moves it.
    pub fn feed(&mut self, hand: &str, sample: HandSample) -> Option<Verdict> {
        if self.replay.is_some() {
            return None;
        }
        self.begin_trials();
        let hand = self.scene().hand(hand)?;
        self.take_sample(hand, sample)
    }

    fn take_sample(&mut self, hand: usize, sample: HandSample) -> Option<Verdict> {
        let verdict = self.scene_mut().world.bodies.hands.get_mut(hand)?.track(sample);
        self.inputs.push(Input::Sample { hand, sample: Box::new(sample) });
        Some(verdict)
    }

    /// A button of a device was pressed or let go; a script hears of it after the coming step. Of no use to a recording.
    pub fn press(&mut self, name: &str, pressed: bool) {
        if self.replay.is_none() {
            self.take_button(name, pressed);
        }
    }

    fn take_button(&mut self, name: &str, pressed: bool) {
        #[cfg(feature = "script")]
        if let Play::Script(run) = &mut self.play {
            run.press_button(name, pressed);
        }
        self.inputs.push(Input::Button { name: name.into(), pressed });
    }

    fn begin_trials(&mut self) {
        #[cfg(feature = "script")]
        if let Play::Script(run) = &mut self.play {
            run.begin_trials();
        }
    }

    /// One step, with the motion that the hands are told before it and what the script does after it.
    pub fn step(&mut self) -> anyhow::Result<()> {
        if let Some(recording) = self.replay.as_ref().map(|replay| replay.recording.clone()) {
            let Some(step) = recording.steps.get(self.steps as usize) else { return Ok(()) };
            self.take_recorded(&step.inputs)?;
        }
        self.take_from_devices();
        let before = self.steps;
        let stepped = self.advance();
        if let Some(gear) = &self.gear {
            gear.feel(&self.scene().world);
        }
        if let Some(mut bones) = self.bones.take() {
            bones.send(&self.scene().world);
            self.bones = Some(bones);
        }
        self.broken = stepped.as_ref().err().map(|error| format!("{error:#}"));
        let kept = if self.steps > before { self.keep_step() } else { Ok(()) };
        stepped.and(kept)
    }

    /// What came from outside before a step that is repeated.
    fn take_recorded(&mut self, inputs: &[Input]) -> anyhow::Result<()> {
        self.begin_trials();
        // The clock decided once, and does not decide again.
        let mut most = u64::MAX;
        for input in inputs {
            match input {
                Input::Sample { hand, sample } => {
                    let step = self.steps + 1;
                    self.take_sample(*hand, **sample).with_context(|| {
                        format!("a sample was recorded for hand {hand} before step {step}; there is none")
                    })?;
                }
                Input::Button { name, pressed } => self.take_button(name, *pressed),
                Input::CutShort { sweeps } => most = *sweeps,
            }
        }
        self.scene_mut().world.grant_sweeps(most);
        Ok(())
    }

    fn advance(&mut self) -> anyhow::Result<()> {
        match &mut self.play {
            Play::Scene(scene) => {
                scene.feed_rest(&self.header.device);
                let report = scene.world.step();
                (self.steps, self.hash) = (self.steps + 1, report.hash);
                if report.status == Status::NotFinite {
                    let (time, step) = (scene.world.time(), self.steps);
                    bail!("the state stopped being finite at {time:.4} s, in step {step}");
                }
            }
            #[cfg(feature = "script")]
            Play::Script(run) => {
                let state = run.step();
                (self.steps, self.hash) = (run.steps(), run.state_hash());
                if state == RunState::Broken {
                    let error = run.error().context("a broken script says what is wrong")?;
                    return Err(error.clone().into());
                }
            }
        }
        Ok(())
    }

    /// Compares a step with the recorded one, and records it.
    fn keep_step(&mut self) -> anyhow::Result<()> {
        let mut inputs = std::mem::take(&mut self.inputs);
        let (time, cut_short) = {
            let world = &self.scene().world;
            (world.time(), world.cut_short())
        };
        inputs.extend(cut_short.map(|sweeps| Input::CutShort { sweeps }));
        if let Some(replay) = &mut self.replay {
            replay.compare(self.steps, time, self.hash);
            if self.steps == replay.length() && replay.recording.ending == Ending::Over {
                // Trials that are over before their first step end a task too.
                self.begin_trials();
            }
        }
        let Some(mut recorder) = self.recorder.take() else { return Ok(()) };
        recorder.add_files(&self.files.read_after(recorder.files()))?;
        recorder.add_step(&inputs, self.hash)?;
        self.recorder = Some(recorder);
        Ok(())
    }

    /// Whether there is nothing more to play: the scene has reached its length, the script its end, the recording its last step.
    pub fn is_over(&self) -> bool {
        self.replay.as_ref().is_some_and(|replay| self.steps >= replay.length()) || self.comes_to_its_end()
    }

    fn comes_to_its_end(&self) -> bool {
        match &self.play {
            Play::Scene(scene) => scene.world.time() >= scene.seconds - SAME * scene.world.parameters.dt,
            #[cfg(feature = "script")]
            Play::Script(run) => run.outcome().is_some() || run.error().is_some(),
        }
    }

    /// Number of all its steps, if it is known beforehand: scripts go on as long as they like.
    pub fn length(&self) -> Option<u64> {
        match (&self.replay, &self.play) {
            (Some(replay), _) => Some(replay.length()),
            (None, Play::Scene(scene)) => {
                Some((scene.seconds / scene.world.parameters.dt - SAME).ceil().max(0.0) as u64)
            }
            #[cfg(feature = "script")]
            (None, Play::Script(_)) => None,
        }
    }

    /// The scene between two steps.
    pub fn scene(&self) -> SceneRef<'_> {
        match &self.play {
            Play::Scene(scene) => SceneRef::Own(scene),
            #[cfg(feature = "script")]
            Play::Script(run) => SceneRef::Scripted(run.scene()),
        }
    }

    /// The scene between two steps, to be changed. Such changes are not recorded.
    pub fn scene_mut(&mut self) -> SceneMut<'_> {
        match &mut self.play {
            Play::Scene(scene) => SceneMut::Own(scene),
            #[cfg(feature = "script")]
            Play::Script(run) => SceneMut::Scripted(run.scene()),
        }
    }

    /// Steps made, in all trials.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Number of the trial under way, from 1; scenes have one.
    pub fn trial(&self) -> u64 {
        match &self.play {
            Play::Scene(_) => 1,
            #[cfg(feature = "script")]
            Play::Script(run) => run.trial(),
        }
    }

    /// The file that is played.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The scene or the script that is played, or that was recorded.
    #[cfg(feature = "script")]
    pub fn source(&self) -> &Path {
        Path::new(&self.header.file)
    }

    /// Files that were read so far; of a recording only its own, as it holds the others.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let read = if self.replay.is_some() { Vec::new() } else { self.files.paths() };
        std::iter::once(self.file.clone()).chain(read).collect()
    }

    /// The recording, if one is played.
    pub fn recording(&self) -> Option<&Recording> {
        self.replay.as_ref().map(|replay| &*replay.recording)
    }

    /// How the run so far differs from the recorded one, if a recording is played and it does.
    pub fn difference(&self) -> Option<Difference> {
        self.replay.as_ref()?.difference(self.steps, self.comes_to_its_end())
    }

    /// What the script has printed since it was last asked.
    pub fn take_messages(&mut self) -> Vec<String> {
        match &mut self.play {
            Play::Scene(_) => Vec::new(),
            #[cfg(feature = "script")]
            Play::Script(run) => run.take_messages(),
        }
    }

    /// The script, if one is played.
    #[cfg(feature = "script")]
    pub fn script(&self) -> Option<&ScriptRun> {
        match &self.play {
            Play::Scene(_) => None,
            Play::Script(run) => Some(run),
        }
    }

    /// How the task ended, if there is one and it has.
    #[cfg(feature = "script")]
    pub fn outcome(&self) -> Option<&TaskOutcome> {
        self.script().and_then(ScriptRun::outcome)
    }
}

/// The path of what a user names: the file, or what the program carries under that name if there is no such file.
pub fn shipped(file: &Path) -> PathBuf {
    let carried = || file.to_str().and_then(builtin_file);
    if file.is_file() { file.into() } else { carried().unwrap_or_else(|| file.into()) }
}

/// What a file that is missing is most likely meant to be.
fn near_missing(file: &Path) -> Option<String> {
    if Files::default().is_there(file) { None } else { file.to_str().and_then(nearest_builtin) }
}

/// Rounding of times, as a part of a step.
const SAME: f64 = 1e-9;

/// Simulated time of a script, s, as of a scene.
#[cfg(feature = "script")]
const SECONDS: std::ops::RangeInclusive<f64> = 1e-3..=3600.0;

#[cfg(feature = "script")]
fn load_script(files: &Files, file: &Path, header: &Header) -> anyhow::Result<Play> {
    let (seconds, settings): (Vec<_>, Vec<_>) = header.settings.iter().cloned().partition(|s| s.key == "seconds");
    let seconds: Option<f64> = seconds.last().map(|s| s.value.parse().context("`seconds` is a number")).transpose()?;
    if let Some(seconds) = seconds.filter(|seconds| !SECONDS.contains(seconds)) {
        bail!("--seconds {seconds}: expected a number from {} to {} s", SECONDS.start(), SECONDS.end());
    }
    let options = ScriptOptions { settings, seconds, device: header.device };
    Ok(Play::Script(Box::new(ScriptRun::load_from(files, file, &options)?)))
}

#[cfg(not(feature = "script"))]
fn load_script(_files: &Files, _file: &Path, _header: &Header) -> anyhow::Result<Play> {
    bail!("scripts need the feature `script`, and this program was built without it")
}
