//! A scene, a script or a recording with its devices, recorder and sinks, stepped in lockstep by the caller.

mod felt;
mod load;
mod replay;
mod scene_ref;
#[cfg(test)]
mod tests;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use self::felt::Felt;
pub use self::load::shipped_path;
pub use self::replay::Difference;
use self::replay::Replay;
pub use self::scene_ref::{SceneMut, SceneRef};
use super::device_set::DeviceSet;
use super::error::Error;
use super::haptic_device::HapticPort;
use crate::assets::{Files, Scene};
use crate::record::{Ending, Eye, Header, Input, Recorder, Recording, RunSource};
#[cfg(feature = "script")]
use crate::script::{RunState, ScriptRun, TaskOutcome};
use crate::sim::World;
use crate::tracking::{Driven, HandSample, SampleSource, Verdict};

/// Rounding of times, as a fraction of a step.
const TIME_ROUNDING: f64 = 1e-9;

/// An output that is updated after every step.
pub trait Sink: Send {
    /// Sends the state of the world after a step.
    fn after_step(&mut self, world: &World);
    /// Another world is stepped from now on.
    fn rebind(&mut self, world: &World);
}

/// How fast [`Session::run`] steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pacing {
    /// Without waiting.
    AsFastAsPossible,
    /// No faster than real time.
    RealTime,
}

/// A scene, a script or a recording of either, with everything that acts on it: devices, recorder and sinks.
///
/// The scene or the script is loaded once and owned by the session. Each [`Session::step`] reads the devices, advances the
/// world, sends haptic feedback, updates the sinks and records the inputs.
pub struct Session {
    file: PathBuf,
    /// What is played, as it is written into a recording.
    header: Header,
    files: Files,
    play: Play,
    steps: u64,
    /// Hash of the state after the last step.
    hash: u64,
    /// Inputs since the last step.
    inputs: Vec<Input>,
    recorder: Option<Recorder>,
    /// Where the eyes of a user in a headset are; `true` if that is not recorded yet.
    eyes: Option<([Eye; 2], bool)>,
    replay: Option<Replay>,
    /// The fast loop of a hand; it ends before the devices that it feeds.
    felt: Felt,
    devices: Option<DeviceSet>,
    haptics: Option<HapticPort>,
    sinks: Vec<Box<dyn Sink>>,
    /// The error that ended the run.
    broken: Option<String>,
}

enum Play {
    Scene(Box<Scene>),
    #[cfg(feature = "script")]
    Script(Box<ScriptRun>),
}

impl Session {
    /// A session of a scene that is loaded already.
    ///
    /// ```
    /// use fingerpad::assets::load_builtin_scene;
    /// use fingerpad::runtime::Session;
    ///
    /// let mut scene = load_builtin_scene("rest", &[]).expect("a shipped scene")?;
    /// scene.world.parameters.gravity *= 0.5;
    /// let mut session = Session::from_scene(scene);
    /// session.step()?;
    /// assert_eq!(session.steps(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn from_scene(scene: Scene) -> Self {
        Self::of(Play::Scene(Box::new(scene)))
    }

    fn of(play: Play) -> Self {
        Self {
            file: PathBuf::new(),
            header: Header::of(RunSource::Scene, "", &[], Driven::default()),
            files: Files::default(),
            play,
            steps: 0,
            hash: 0,
            inputs: Vec::new(),
            recorder: None,
            eyes: None,
            replay: None,
            felt: Felt::default(),
            devices: None,
            haptics: None,
            sinks: Vec::new(),
            broken: None,
        }
    }

    /// Loads something else, or the same again, and moves devices and sinks to it.
    pub fn load_next(&mut self, file: &Path, settings: &[crate::assets::Setting]) -> Result<Self, Error> {
        let mut next = match self.devices {
            Some(_) => Self::load_with_devices(file, settings, self.header.device),
            None => Self::load(file, settings),
        }?;
        next.felt = self.felt.for_next();
        if let Some(mut devices) = self.devices.take() {
            devices.rebind(&next.scene().world);
            next.devices = Some(devices);
        }
        // The loop of the scene before this one holds the port of the device until it ends.
        if let Some(haptic) = &mut self.scene_mut().haptic {
            haptic.set_live(None);
        }
        next.haptics = self.haptics.take();
        next.sinks = std::mem::take(&mut self.sinks);
        for sink in &mut next.sinks {
            let scene = match &next.play {
                Play::Scene(scene) => SceneRef::Own(scene),
                #[cfg(feature = "script")]
                Play::Script(run) => SceneRef::Scripted(run.scene()),
            };
            sink.rebind(&scene.world);
        }
        Ok(next)
    }

    /// Records inputs and state hashes to a file. Call it before the first step.
    pub fn record(&mut self, file: &Path) -> Result<(), Error> {
        if self.steps > 0 {
            return Err(Error::RecordingTooLate { file: file.into() });
        }
        if self.haptics.is_some() || self.felt.is_on() {
            return Err(Error::HapticRecording { file: file.into() });
        }
        let header = Header::of(self.header.source, &self.header.file, &self.header.settings, self.header.device);
        let start = self.scene().world.state_hash();
        self.recorder = Some(Recorder::create(file, &header, &self.files.read_after(0), start)?);
        Ok(())
    }

    /// The file that is recorded to.
    pub fn recording_file(&self) -> Option<&Path> {
        self.recorder.as_ref().map(Recorder::file)
    }

    /// Finishes the recording, if there is one, and writes all of it to the file.
    pub fn finish_recording(&mut self) -> Result<(), Error> {
        let ending = match &self.broken {
            Some(message) => Ending::Broken(message.clone()),
            None if self.is_over() => Ending::Over,
            None => Ending::Stopped,
        };
        Ok(self.recorder.take().map_or(Ok(()), |recorder| recorder.finish(&ending))?)
    }

    /// Reads these devices before every step, and sends them haptic feedback after it.
    pub fn attach_devices(&mut self, devices: DeviceSet) {
        self.devices = Some(devices);
    }

    /// The attached devices.
    pub fn devices(&self) -> Option<&DeviceSet> {
        self.devices.as_ref()
    }

    /// The attached devices, mutable.
    pub fn devices_mut(&mut self) -> Option<&mut DeviceSet> {
        self.devices.as_mut()
    }

    /// Detaches the devices. Dropping them releases their motors.
    pub fn detach_devices(&mut self) -> Option<DeviceSet> {
        self.felt = Felt::default();
        self.devices.take()
    }

    /// Runs the haptic loop of the scene in a thread of its own with a force-feedback device, in place of the loop in lockstep. Such a run takes
    /// place in real time and cannot be recorded. The scene, or the script by its first step, must have a `[haptic]` section.
    pub fn attach_haptics(&mut self, port: HapticPort) -> Result<(), Error> {
        if self.replay.is_some() {
            return Err(Error::FixedRecording { file: self.file.clone() });
        }
        if let Some(recorder) = &self.recorder {
            return Err(Error::HapticRecording { file: recorder.file().into() });
        }
        self.begin_trials();
        port.couple(&mut self.scene_mut())?;
        self.haptics = Some(port);
        Ok(())
    }

    /// Couples the scene of a new trial to the device.
    fn couple_haptics(&mut self) -> Result<(), Error> {
        let Some(port) = self.haptics.clone() else { return Ok(()) };
        self.begin_trials();
        port.couple(&mut self.scene_mut())
    }

    /// The parts of the hands that devices move.
    pub fn driven(&self) -> Driven {
        self.header.device
    }

    /// Adds an output that is updated after every step.
    pub fn add_sink(&mut self, sink: Box<dyn Sink>) {
        self.sinks.push(sink);
    }

    /// Feeds a device sample to a hand by name; the coming step uses it. `None` if there is no such hand, or if a recording is
    /// replayed.
    pub fn feed(&mut self, hand: &str, sample: HandSample) -> Option<Verdict> {
        if self.replay.is_some() {
            return None;
        }
        self.begin_trials();
        let hand = self.scene().hand(hand)?;
        self.feed_index(hand, sample)
    }

    fn feed_index(&mut self, hand: usize, sample: HandSample) -> Option<Verdict> {
        let verdict = {
            let bodies = &mut self.scene_mut().world.bodies;
            let id = *bodies.hand_ids().get(hand)?;
            bodies[id].track_from(SampleSource::Device, sample)
        };
        self.inputs.push(Input::Sample { hand, sample: Box::new(sample) });
        Some(verdict)
    }

    /// Moves the parts of a hand by mouse and keyboard that no device moves, and keeps scripts and scene motions out until
    /// [`Session::release_pointer`]. Not recorded.
    pub fn feed_pointer(&mut self, hand: usize, sample: HandSample) -> Option<Verdict> {
        self.begin_trials();
        let device = self.header.device;
        let mut scene = self.scene_mut();
        let id = *scene.world.bodies.hand_ids().get(hand)?;
        let hand = &mut scene.world.bodies[id];
        let side = hand.model().description.side;
        let inlet = hand.skeleton.tracked.inlet_mut();
        inlet.claim_for_devices(&device, side);
        inlet.claim(SampleSource::Pointer, true, true);
        Some(hand.track_from(SampleSource::Pointer, sample))
    }

    /// Releases a hand that mouse and keyboard moved.
    pub fn release_pointer(&mut self, hand: usize) {
        let bodies = &mut self.scene_mut().world.bodies;
        if let Some(&id) = bodies.hand_ids().get(hand) {
            bodies[id].skeleton.tracked.inlet_mut().release(SampleSource::Pointer);
        }
    }

    /// Notes where the eyes of a user in a headset are, for the recording. It does not change the run.
    pub fn note_eyes(&mut self, eyes: [Eye; 2]) {
        if self.replay.is_none() {
            self.eyes = Some((eyes, true));
        }
    }

    /// Left and right eye of the user in the headset, as noted or recorded last.
    pub fn eyes(&self) -> Option<&[Eye; 2]> {
        self.eyes.as_ref().map(|(eyes, _)| eyes)
    }

    /// Reports that a button was pressed or released; a script receives the event after the coming step. Ignored while a
    /// recording is replayed.
    pub fn press(&mut self, name: &str, pressed: bool) {
        if self.replay.is_none() {
            self.push_button(name, pressed);
        }
    }

    fn push_button(&mut self, name: &str, pressed: bool) {
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

    /// One step: device input or recorded input, world and script, haptic feedback, sinks, recorder.
    pub fn step(&mut self) -> Result<(), Error> {
        if let Some(recording) = self.replay.as_ref().map(|replay| replay.recording.clone()) {
            let Some(step) = recording.steps.get(self.steps as usize) else { return Ok(()) };
            self.take_recorded(&step.inputs)?;
        }
        self.read_devices();
        self.couple_haptics()?;
        let before = self.steps;
        let stepped = self.advance();
        let stepped = stepped.and(self.send_outputs());
        self.broken = stepped.as_ref().err().map(ToString::to_string);
        let kept = if self.steps > before { self.keep_step() } else { Ok(()) };
        stepped.and(kept)
    }

    /// Steps to the end in the thread of the caller. `after_step` runs after every step, also after one that failed, and may end
    /// the run early.
    pub fn run<E: From<Error>>(
        &mut self,
        pacing: Pacing,
        mut after_step: impl FnMut(&mut Self) -> Result<ControlFlow<()>, E>,
    ) -> Result<(), E> {
        let (start, mut simulated) = (Instant::now(), 0.0);
        while !self.is_over() {
            let before = self.steps;
            let stepped = self.step();
            if self.steps > before {
                simulated += self.scene().world.parameters.dt;
            }
            let next = after_step(self)?;
            stepped?;
            if next.is_break() {
                break;
            }
            if pacing == Pacing::RealTime {
                let ahead = simulated - start.elapsed().as_secs_f64();
                std::thread::sleep(Duration::from_secs_f64(ahead.max(0.0)));
            }
        }
        Ok(())
    }

    /// Feeds the samples and buttons that the devices sent since the last step.
    fn read_devices(&mut self) {
        let Some(mut devices) = self.devices.take() else { return };
        let now = self.scene().world.time();
        let received = devices.poll(now);
        for (hand, sample) in received.samples {
            if self.replay.is_none() {
                self.begin_trials();
                self.feed_index(hand, sample);
            }
        }
        for (button, pressed) in received.buttons {
            self.press(&button, pressed);
        }
        self.devices = Some(devices);
    }

    fn send_outputs(&mut self) -> Result<(), Error> {
        let sent = self.send_forces();
        let mut sinks = std::mem::take(&mut self.sinks);
        {
            let scene = self.scene();
            sinks.iter_mut().for_each(|sink| sink.after_step(&scene.world));
        }
        self.sinks = sinks;
        sent
    }

    /// Applies the inputs of a recorded step.
    fn take_recorded(&mut self, inputs: &[Input]) -> Result<(), Error> {
        self.begin_trials();
        // The recording holds where the deadline ended the solver; the clock of this run does not count.
        let mut most = u64::MAX;
        for input in inputs {
            match input {
                Input::Sample { hand, sample } => {
                    let step = self.steps + 1;
                    self.feed_index(*hand, **sample).ok_or(Error::RecordedHand { hand: *hand, step })?;
                }
                Input::Button { name, pressed } => self.push_button(name, *pressed),
                Input::CutShort { sweeps } => most = *sweeps,
                Input::Eyes(eyes) => self.eyes = Some((**eyes, true)),
            }
        }
        self.scene_mut().world.grant_sweeps(most);
        Ok(())
    }

    fn advance(&mut self) -> Result<(), Error> {
        match &mut self.play {
            Play::Scene(scene) => {
                scene.feed_rest(&self.header.device);
                let report = scene.step();
                (self.steps, self.hash) = (self.steps + 1, report.hash);
                if let Some(fault) = scene.fault(report.status) {
                    return Err(Error::Stopped { fault, step: self.steps });
                }
            }
            #[cfg(feature = "script")]
            Play::Script(run) => {
                let state = run.step();
                (self.steps, self.hash) = (run.steps(), run.state_hash());
                if let (RunState::Broken, Some(error)) = (state, run.error()) {
                    return Err(error.clone().into());
                }
            }
        }
        Ok(())
    }

    /// Compares a step with the recorded one, and records it.
    fn keep_step(&mut self) -> Result<(), Error> {
        let mut inputs = std::mem::take(&mut self.inputs);
        let (time, cut_short) = {
            let world = &self.scene().world;
            (world.time(), world.cut_short())
        };
        if let Some((eyes, is_new)) = &mut self.eyes
            && std::mem::take(is_new)
        {
            inputs.push(Input::Eyes(Box::new(*eyes)));
        }
        inputs.extend(cut_short.map(|sweeps| Input::CutShort { sweeps }));
        if let Some(replay) = &mut self.replay {
            replay.compare(self.steps, time, self.hash);
            if self.steps == replay.length() && replay.recording.ending == Ending::Over {
                // Trials that end before their first step also end a task.
                self.begin_trials();
            }
        }
        let Some(mut recorder) = self.recorder.take() else { return Ok(()) };
        recorder.add_files(&self.files.read_after(recorder.files()))?;
        recorder.add_step(&inputs, self.hash)?;
        self.recorder = Some(recorder);
        Ok(())
    }

    /// Whether the scene has reached its duration, the script its end, or the recording its last step.
    pub fn is_over(&self) -> bool {
        match (&self.replay, &self.play) {
            (None, _) => self.has_ended(),
            // With a device that drove a hand, the scene went on beyond its duration.
            (Some(replay), Play::Scene(_)) => self.steps >= replay.length(),
            #[cfg(feature = "script")]
            (Some(replay), Play::Script(_)) => self.steps >= replay.length() || self.has_ended(),
        }
    }

    fn has_ended(&self) -> bool {
        match &self.play {
            Play::Scene(scene) => scene.world.time() >= scene.seconds - TIME_ROUNDING * scene.world.parameters.dt,
            #[cfg(feature = "script")]
            Play::Script(run) => run.outcome().is_some() || run.error().is_some(),
        }
    }

    /// Number of all steps; `None` for a script, whose duration is not known in advance.
    pub fn length(&self) -> Option<u64> {
        match (&self.replay, &self.play) {
            (Some(replay), _) => Some(replay.length()),
            (None, Play::Scene(scene)) => {
                Some((scene.seconds / scene.world.parameters.dt - TIME_ROUNDING).ceil().max(0.0) as u64)
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

    /// The scene between two steps, mutable. Such changes are not recorded.
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

    /// Hash of the state after the last step.
    pub fn state_hash(&self) -> u64 {
        self.hash
    }

    /// Number of the current trial, from 1; a scene has one.
    pub fn trial(&self) -> u64 {
        match &self.play {
            Play::Scene(_) => 1,
            #[cfg(feature = "script")]
            Play::Script(run) => run.trial(),
        }
    }

    /// The file that was loaded.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// The scene file or script that is played or that was recorded.
    pub fn source(&self) -> &Path {
        Path::new(&self.header.file)
    }

    /// Files read so far. A recording holds its files, so only its own is listed.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let read = if self.replay.is_some() { Vec::new() } else { self.files.paths() };
        std::iter::once(self.file.clone()).chain(read).collect()
    }

    /// The recording, if one is replayed.
    pub fn recording(&self) -> Option<&Recording> {
        self.replay.as_ref().map(|replay| &*replay.recording)
    }

    /// The first difference between this run and the replayed recording.
    pub fn difference(&self) -> Option<Difference> {
        self.replay.as_ref()?.difference(self.steps, self.has_ended())
    }

    /// Lines printed by the script since the last call.
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

    /// The outcome of the task, once the script has ended.
    #[cfg(feature = "script")]
    pub fn outcome(&self) -> Option<&TaskOutcome> {
        self.script().and_then(ScriptRun::outcome)
    }
}
