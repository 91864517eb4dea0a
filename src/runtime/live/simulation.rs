use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};

use super::cost::Costs;
use super::due::Due;
use super::playlist::Playlist;
use super::pull::Spring;
use super::summary::{self, RunLog, Summarize};
use super::traces::Traces;
use super::watch::{FileWatch, LOOK_EVERY};
use super::{bodies, parameters};
use crate::assets::{Scene, Setting};
use crate::devices::SourceState;
use crate::math::Vec3;
use crate::record::Eye;
use crate::runtime::pace::Pace;
use crate::runtime::{DeviceStatus, Error, Session};
use crate::sync::Latest;
use crate::tracking::Segment;
use crate::viewer::window::{
    BodyInfo, Command, DrivenHand, Feeling, HandDevice, Parameter, PlotSample, Report, Steer, WindowLink,
};
use crate::viewer::{EyeView, Stage};

/// Steps in the plots.
const PLOT_STEPS: usize = 400;
/// Minimum and maximum speed, relative to real time.
const SPEEDS: [f64; 2] = [1.0 / 64.0, 64.0];

/// What is left of a simulation that has ended.
pub struct Ended {
    /// Step times, and what the window added to them.
    pub costs: Costs,
    /// Whether the task succeeded, if there was one and it has ended.
    pub success: Option<bool>,
    /// Whether the recording was finished, if there was one.
    pub recorded: Result<(), Error>,
}

/// A request of the system to end the program, such as Ctrl-C.
#[derive(Clone, Copy, Debug)]
pub struct Interrupt {
    /// Whether an end of the program was requested.
    pub is_requested: fn() -> bool,
    /// Ends the program; called after the motors of the devices were released.
    pub end: fn(),
}

/// How a session is run behind a window.
#[derive(Default)]
pub struct LiveOptions {
    /// The settings that the session was loaded with; a restart uses them again.
    pub settings: Vec<Setting>,
    /// Makes the result card of a scene that has no task.
    pub summarize: Option<Summarize>,
    /// Checked after every command and step.
    pub interrupt: Option<Interrupt>,
}

/// Runs a session in its own thread.
pub fn start(session: Session, options: LiveOptions) -> std::io::Result<(WindowLink, JoinHandle<Ended>)> {
    let (commands, orders) = unbounded();
    let reports = Arc::new(Latest::default());
    let drawing = Arc::new(AtomicBool::new(false));
    let link = WindowLink { commands, reports: Arc::clone(&reports), drawing: Arc::clone(&drawing) };
    let simulation = move || {
        let mut simulation = Simulation::new(session, options, reports);
        simulation.drawing = drawing;
        simulation.run(&orders)
    };
    let thread = std::thread::Builder::new().name("simulation".into()).spawn(simulation)?;
    Ok((link, thread))
}

/// A session, the state of its playback, and the slot for reports.
pub(super) struct Simulation {
    session: Session,
    playlist: Playlist,
    settings: Vec<Setting>,
    interrupt: Option<Interrupt>,
    reports: Arc<Latest<Report>>,
    /// Whether the window draws a frame.
    drawing: Arc<AtomicBool>,
    pace: Pace,
    stage: Arc<Stage>,
    generation: u64,
    /// Counts of bodies on the stage, and its time, to detect a change of the stage.
    staged: (u64, f64),
    paused: bool,
    /// Runs at maximum speed up to this time, s.
    seek: Option<f64>,
    puppet: Option<(usize, DrivenHand)>,
    spring: Option<Spring>,
    traces: Traces,
    bodies: Arc<[BodyInfo]>,
    columns: Arc<[String]>,
    log: RunLog,
    error: Option<String>,
    history: VecDeque<PlotSample>,
    parameters: Arc<[Parameter]>,
    name: Arc<str>,
    /// The file that is recorded to.
    recording: Option<Arc<str>>,
    hands: Arc<[String]>,
    watch: FileWatch,
    due: Due,
    costs: Costs,
    changed: bool,
}

impl Simulation {
    pub(super) fn new(session: Session, options: LiveOptions, reports: Arc<Latest<Report>>) -> Self {
        let LiveOptions { settings, summarize, interrupt } = options;
        let now = Instant::now();
        let stage = Arc::new(Stage::of(&session.scene()));
        let staged = shape(&session.scene());
        let mut simulation = Self {
            playlist: Playlist::around(session.file()),
            parameters: Arc::default(),
            name: Arc::default(),
            recording: session.recording_file().map(|file| file.display().to_string().into()),
            hands: Arc::default(),
            watch: FileWatch::new([]),
            staged,
            stage,
            session,
            settings,
            interrupt,
            reports,
            pace: Pace::new(now),
            generation: 1,
            paused: false,
            seek: None,
            puppet: None,
            spring: None,
            traces: Traces::default(),
            bodies: Arc::default(),
            columns: Arc::default(),
            log: RunLog::new(summarize),
            error: None,
            history: VecDeque::with_capacity(PLOT_STEPS),
            drawing: Arc::default(),
            due: Due::new(now),
            costs: Costs::default(),
            changed: true,
        };
        simulation.begin();
        simulation
    }

    fn run(mut self, orders: &Receiver<Command>) -> Ended {
        self.report();
        loop {
            match self.next_order(orders) {
                Ok(Command::Quit) | Err(RecvTimeoutError::Disconnected) => break,
                Ok(order) => self.obey(order),
                Err(RecvTimeoutError::Timeout) => self.go_on(),
            }
            if let Some(interrupt) = self.interrupt.filter(|interrupt| (interrupt.is_requested)()) {
                // Motors are released before the program ends, in every state of the window.
                drop(self.session.detach_devices());
                (interrupt.end)();
            }
            if self.watch.is_changed() {
                self.start_over();
            }
            if self.changed && self.due.is_due(Instant::now(), self.reports.is_wanted()) {
                self.report();
            }
        }
        let recorded = self.session.finish_recording();
        Ended { recorded, success: self.log.card(&self.session).and_then(|card| card.success), costs: self.costs }
    }

    /// The next command, or the time for a step.
    fn next_order(&mut self, orders: &Receiver<Command>) -> Result<Command, RecvTimeoutError> {
        let now = Instant::now();
        let dt = self.dt();
        let wait = if self.seek.is_some() {
            Duration::ZERO
        } else if self.stands() {
            self.pace.rest(now);
            LOOK_EVERY / 2
        } else if self.pace.is_due(now, dt) {
            Duration::ZERO
        } else {
            self.pace.wait(dt)
        };
        orders.recv_timeout(if self.changed { wait.min(Due::LOOK) } else { wait })
    }

    fn dt(&self) -> f64 {
        self.session.scene().world.parameters.dt
    }

    fn time(&self) -> f64 {
        self.session.scene().world.time()
    }

    fn stands(&self) -> bool {
        self.paused || self.error.is_some() || self.is_over()
    }

    /// A scene with a driven hand has no end.
    fn is_over(&self) -> bool {
        let is_driven = self.puppet.is_some() || self.session.devices().is_some();
        self.session.is_over() && (!is_driven || self.length().is_none())
    }

    /// Planned duration; unknown for a script.
    fn length(&self) -> Option<f64> {
        self.session.length().map(|steps| steps as f64 * self.session.scene().world.parameters.dt)
    }

    fn go_on(&mut self) {
        let now = Instant::now();
        let dt = self.dt();
        if let Some(goal) = self.seek {
            if self.time() + 0.5 * dt < goal && self.error.is_none() && !self.session.is_over() {
                self.step();
            } else {
                self.seek = None;
                self.changed = true;
            }
        } else if !self.stands() && self.pace.is_due(now, dt) {
            self.step();
            self.pace.stepped(Instant::now(), dt);
        }
    }

    /// One step, independent of the pace.
    pub(super) fn step(&mut self) {
        self.drive();
        if let Some(spring) = &self.spring {
            spring.pull(&mut self.session.scene_mut());
        }
        let drawing = self.drawing.load(Ordering::Relaxed);
        let stepped = self.session.step();
        let drawn = (drawing == self.drawing.load(Ordering::Relaxed)).then_some(drawing);
        self.changed = true;
        self.log.take_messages(&mut self.session);
        if let Err(error) = stepped {
            self.error = Some(format!("{error:#}"));
            self.paused = true;
        }
        let sample = {
            let scene = self.session.scene();
            let of_hand = |collider| scene.world.bodies.segment(collider).is_some();
            let touches = scene.world.touches().filter(|touch| of_hand(touch.a) || of_hand(touch.b));
            let pressing = touches.fold(0.0, |sum, touch| sum + touch.pressing);
            PlotSample { time: scene.world.time(), pressing, step: scene.world.times().total }
        };
        self.log.step(&self.session.scene().world);
        self.traces.add(&self.session);
        self.costs.step(sample.step, drawn);
        if self.history.len() >= PLOT_STEPS {
            self.history.pop_front();
        }
        self.history.push_back(sample);
        let now = shape(&self.session.scene());
        if now.0 != self.staged.0 || now.1 < self.staged.1 {
            // A script has changed its scene, or started another trial.
            self.restage();
        }
        self.staged = now;
    }

    /// Moves the hand that mouse and keyboard have taken over.
    fn drive(&mut self) {
        let Some((hand, puppet)) = &mut self.puppet else { return };
        let (sample, hand) = {
            let scene = self.session.scene();
            let world = &scene.world;
            let Some(&id) = world.bodies.hand_ids().get(*hand) else { return };
            let (h, body) = (world.parameters.dt, &world.bodies[id]);
            let mut feeling = Feeling { palm: body.skeleton.state().palm.translation.vector, ..Feeling::default() };
            for segment in Segment::phalanges() {
                if let Some((finger, _)) = segment.finger() {
                    feeling.pressing[finger as usize] += world.load(id, segment).pressing;
                }
            }
            (puppet.sample(world.time() + h, h, &feeling), *hand)
        };
        self.session.feed_pointer(hand, sample);
    }

    /// Executes a command.
    pub(super) fn obey(&mut self, order: Command) {
        if let Command::Eyes(eyes) = order {
            let eye = |view: &EyeView| {
                let fov = view.fov;
                Eye { pose: view.pose, fov: [fov.left, fov.right, fov.up, fov.down] }
            };
            self.session.note_eyes([eye(&eyes[0]), eye(&eyes[1])]);
            return;
        }
        self.changed = true;
        match order {
            Command::Pause if self.is_over() => self.start_over(),
            Command::Pause => self.paused = !self.paused,
            Command::Hold(held) => self.paused = held,
            Command::Step => {
                self.paused = true;
                if self.error.is_none() && !self.is_over() {
                    self.step();
                }
            }
            Command::Speed(speed) if speed.is_finite() => self.pace.speed = speed.clamp(SPEEDS[0], SPEEDS[1]),
            Command::Speed(_) | Command::Eyes(_) | Command::Quit => {}
            Command::Restart => self.start_over(),
            Command::Seek(time) => self.go_to(time),
            Command::Next(by) => {
                let file = self.playlist.turn(by).to_path_buf();
                self.load(&file, &self.settings.clone());
            }
            Command::Set(setting) => self.set(setting),
            Command::Steer(Steer::Take(hand)) => self.take_hand(hand),
            Command::Steer(wish) => {
                if let Some((_, puppet)) = &mut self.puppet {
                    puppet.steer(wish);
                }
            }
            Command::Pull(None) => self.spring = None,
            Command::Pull(Some(pull)) => match &mut self.spring {
                Some(spring) if spring.is_of(&pull) => spring.aim(pull.target),
                spring => *spring = Spring::new(&self.session.scene(), &pull),
            },
            Command::Record(on) => self.record(on),
            Command::Plot(names) => self.traces.plot(names, &self.session),
        }
    }

    fn start_over(&mut self) {
        let file = self.session.file().to_path_buf();
        self.load(&file, &self.settings.clone());
    }

    fn go_to(&mut self, time: f64) {
        if time < self.time() {
            let paused = self.paused;
            self.start_over();
            self.paused = paused;
        }
        if self.error.is_none() {
            self.seek = Some(time);
        }
    }

    /// Changes a parameter, at once if possible, otherwise with a restart. It is kept when the scene is restarted.
    fn set(&mut self, setting: Setting) {
        let live = parameters::change(&mut self.session.scene_mut(), &setting);
        let mut settings = self.settings.clone();
        settings.retain(|old| old.key != setting.key);
        settings.push(setting);
        if live {
            self.settings = settings;
            self.parameters = parameters::of(&self.session.scene()).into();
        } else {
            let file = self.session.file().to_path_buf();
            if self.load(&file, &settings) {
                self.settings = settings;
            }
        }
    }

    /// Finishes the recording, or restarts with a new one. Inputs of mouse and keyboard are not recorded.
    fn record(&mut self, on: bool) {
        self.finish_recording();
        if !on {
            return;
        }
        self.start_over();
        if self.error.is_none() {
            let file = free_name();
            match self.session.record(&file) {
                Ok(()) => self.recording = Some(file.display().to_string().into()),
                Err(error) => self.error = Some(error.to_string()),
            }
        }
    }

    fn finish_recording(&mut self) {
        self.recording = None;
        if let Err(error) = self.session.finish_recording() {
            self.error = Some(error.to_string());
        }
    }

    fn take_hand(&mut self, number: Option<usize>) {
        if let Some((old, _)) = self.puppet.take() {
            self.session.release_pointer(old);
        }
        let scene = self.session.scene();
        let hand = number.and_then(|number| Some((number, scene.world.bodies.hands().nth(number)?)));
        self.puppet = hand.map(|(number, hand)| {
            let tracked = &hand.skeleton.tracked;
            (number, DrivenHand::new(&hand.model().description, *tracked.palm(), *tracked.angles()))
        });
    }

    /// Loads something else, or the same again. On an error the current session is kept and paused.
    fn load(&mut self, file: &Path, settings: &[Setting]) -> bool {
        match self.session.load_next(file, settings) {
            Ok(session) => {
                let driven = self.puppet.as_ref().map(|(hand, _)| *hand);
                self.error = None;
                // A recording is of one run.
                self.finish_recording();
                self.session = session;
                self.paused = false;
                self.restage();
                self.begin();
                if driven.is_some() {
                    self.take_hand(driven);
                }
                true
            }
            Err(error) => {
                self.error = Some(format!("{error:#}"));
                self.seek = None;
                self.changed = true;
                // Not again until it changes.
                self.note_files();
                false
            }
        }
    }

    fn begin(&mut self) {
        self.describe();
        self.staged = shape(&self.session.scene());
        self.history.clear();
        self.traces.begin(&self.session);
        self.spring = None;
        self.seek = None;
        self.pace.rest(Instant::now());
        self.log.begin(&mut self.session);
        self.note_files();
        // A hand without a motion is driven by the keyboard, and so is a palm if only its fingers have a glove.
        let still = {
            let driven = self.session.driven();
            let is_script = self.length().is_none() || self.session.recording().is_some();
            let scene = self.session.scene();
            let hands = scene.motions.iter().zip(scene.world.bodies.hands());
            let still = hands.map(|(motion, hand)| {
                let side = hand.model().description.side as usize;
                let worn = driven.fingers[side] && !driven.palm[side];
                worn || (motion.is_none() && !driven.palm[side])
            });
            still.into_iter().position(|still| still).filter(|_| !is_script)
        };
        self.puppet = None;
        if still.is_some() {
            self.take_hand(still);
        }
    }

    fn restage(&mut self) {
        self.stage = Arc::new(Stage::of(&self.session.scene()));
        self.generation += 1;
        self.describe();
    }

    /// Updates the rarely changing parts of reports.
    fn describe(&mut self) {
        self.parameters = parameters::of(&self.session.scene()).into();
        self.hands = self.session.scene().hand_names().map(String::from).collect::<Vec<_>>().into();
        self.bodies = bodies::of(&self.session.scene()).into();
        self.columns = self.traces.columns(&self.session).into();
        self.name = self.session.file().display().to_string().into();
    }

    fn note_files(&mut self) {
        let own = std::iter::once(self.session.file().to_path_buf());
        self.watch = FileWatch::new(own.chain(summary::files(&self.session)));
    }

    /// Position of the palm of the driven hand.
    #[cfg(test)]
    pub(super) fn palm(&self) -> Option<Vec3> {
        palm(&self.session.scene(), self.puppet.as_ref()?.0)
    }

    /// A sample of a device for a hand.
    #[cfg(test)]
    pub(super) fn feed(&mut self, hand: &str, sample: crate::tracking::HandSample) {
        self.session.feed(hand, sample);
    }

    /// The tracked angles of a hand.
    #[cfg(test)]
    pub(super) fn tracked_angles(&self) -> [f64; crate::tracking::ANGLES] {
        *self.session.scene().world.bodies.hand(0).skeleton.tracked.angles()
    }

    /// Height of the centre of a rigid body.
    #[cfg(test)]
    pub(super) fn height(&self, body: &str) -> Option<f64> {
        let scene = self.session.scene();
        scene.rigid(body).map(|body| scene.world.bodies[body].centre().y)
    }

    /// Reports the current state to the window.
    pub(super) fn report(&mut self) {
        let clock = Instant::now();
        let mut report = self.reports.blank();
        {
            let scene = self.session.scene();
            let world = &scene.world;
            report.frame.refresh(world);
            report.times = *world.times();
            report.statistics = *world.statistics();
            report.laws = parameters::laws(&scene);
            let driven = self.puppet.as_ref().map_or(0, |(hand, _)| *hand);
            report.palm = palm(&scene, driven);
            bodies::motions(&scene, &mut report.motions);
            report.pull = self.spring.as_ref().and_then(|spring| spring.ends(&scene));
        }
        report.bodies.clone_from(&self.bodies);
        report.columns.clone_from(&self.columns);
        self.traces.fill(&mut report.traces);
        report.devices = self.session.devices().map_or_else(Vec::new, |set| set.status().iter().map(info).collect());
        report.hands.clone_from(&self.hands);
        report.parameters.clone_from(&self.parameters);
        report.stage = Some(Arc::clone(&self.stage));
        report.generation = self.generation;
        report.name.clone_from(&self.name);
        report.seconds = self.length().filter(|_| self.puppet.is_none() && self.session.devices().is_none());
        report.steps = self.session.steps();
        report.paused = self.paused;
        report.over = self.is_over();
        report.speed = self.pace.speed;
        report.reached = self.pace.reached();
        report.cost = self.costs.now();
        report.history.clear();
        report.history.extend(&self.history);
        report.taken = self.puppet.as_ref().map(|(hand, _)| *hand);
        report.recording.clone_from(&self.recording);
        report.phase = summary::phase(&self.session);
        report.messages.clone_from(&self.log.messages);
        report.error.clone_from(&self.error);
        report.card = if report.over { self.log.card(&self.session) } else { None };
        self.reports.put(report);
        self.changed = false;
        let now = Instant::now();
        self.due.made(now);
        self.costs.report((now - clock).as_secs_f64());
    }
}

fn info(device: &DeviceStatus) -> HandDevice {
    HandDevice {
        name: device.name.clone(),
        state: device.state.to_string(),
        is_good: device.state == SourceState::Streaming,
        rate: device.rate,
    }
}

fn palm(scene: &Scene, hand: usize) -> Option<Vec3> {
    scene.world.bodies.hands().nth(hand).map(|hand| hand.skeleton.state().palm.translation.vector)
}

/// The first name of a recording that is not in use in the current folder.
fn free_name() -> PathBuf {
    let names = (1..).map(|number| PathBuf::from(format!("fingerpad-{number}.fpr")));
    names.into_iter().find(|name| !name.exists()).unwrap_or_default()
}

/// A number that changes when bodies are added or removed, and the time.
fn shape(scene: &Scene) -> (u64, f64) {
    (scene.world.bodies.epoch(), scene.world.time())
}
