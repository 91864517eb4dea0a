//! The thread that simulates, at its own rate. Commands come in, reports go out, and neither waits for the other.

use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, unbounded};

use super::cost::Costs;
use super::due::Due;
use super::pace::Pace;
use super::playlist::Playlist;
use super::pull::Spring;
use super::story::Story;
use super::traces::Traces;
use super::watch::{LOOK_EVERY, Watch};
use super::{bodies, parameters, story};
use crate::assets::{Scene, Setting};
use crate::body::{BodyKind, HandId};
use crate::cli::interrupt;
use crate::cli::player::Player;
use crate::math::Vec3;
use crate::tracking::Segment;
use crate::viewer::Stage;
use crate::viewer::window::{BodyInfo, Command, Feeling, Latest, Link, Parameter, Puppet, Report, Sample, Steer};

/// Steps in the plots.
const HISTORY: usize = 400;
/// Least and greatest speed, times real time.
const SPEEDS: [f64; 2] = [1.0 / 64.0, 64.0];

/// What a simulation leaves behind.
pub struct Ended {
    /// What it cost, and what the window cost it.
    pub costs: Costs,
    /// Whether the task succeeded, if there was one and it came to its end.
    pub success: Option<bool>,
}

/// Starts to play in a thread of its own.
pub fn start(
    player: Player,
    settings: Vec<Setting>,
    story: Option<story::Teller>,
) -> std::io::Result<(Link, JoinHandle<Ended>)> {
    let (commands, orders) = unbounded();
    let reports = Arc::new(Latest::default());
    let drawing = Arc::new(AtomicBool::new(false));
    let link = Link { commands, reports: Arc::clone(&reports), drawing: Arc::clone(&drawing) };
    let simulation = move || {
        let mut simulation = Simulation::new(player, settings, story, reports);
        simulation.drawing = drawing;
        simulation.run(&orders)
    };
    let thread = std::thread::Builder::new().name("simulation".into()).spawn(simulation)?;
    Ok((link, thread))
}

/// Something that is played, and who listens.
pub(super) struct Simulation {
    player: Player,
    playlist: Playlist,
    settings: Vec<Setting>,
    reports: Arc<Latest<Report>>,
    /// Whether the window draws a frame.
    drawing: Arc<AtomicBool>,
    pace: Pace,
    stage: Arc<Stage>,
    generation: u64,
    /// Numbers of hands and of rigid, soft and fixed bodies on the stage, and its time: what has to change for it to be another.
    staged: ([usize; 4], f64),
    paused: bool,
    /// Runs as fast as it can up to this time, s.
    seek: Option<f64>,
    puppet: Option<(usize, Puppet)>,
    spring: Option<Spring>,
    traces: Traces,
    bodies: Arc<[BodyInfo]>,
    columns: Arc<[String]>,
    story: Story,
    error: Option<String>,
    history: VecDeque<Sample>,
    parameters: Arc<[Parameter]>,
    name: Arc<str>,
    hands: Arc<[String]>,
    watch: Watch,
    due: Due,
    costs: Costs,
    changed: bool,
}

impl Simulation {
    pub(super) fn new(
        player: Player,
        settings: Vec<Setting>,
        teller: Option<story::Teller>,
        reports: Arc<Latest<Report>>,
    ) -> Self {
        let now = Instant::now();
        let stage = Arc::new(Stage::of(&player.scene()));
        let staged = shape(&player.scene());
        let mut simulation = Self {
            playlist: Playlist::around(player.file()),
            parameters: Arc::default(),
            name: Arc::default(),
            hands: Arc::default(),
            watch: Watch::new([]),
            staged,
            stage,
            player,
            settings,
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
            story: Story::new(teller),
            error: None,
            history: VecDeque::with_capacity(HISTORY),
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
            if interrupt::is_asked() {
                // Motors let go before the program ends, whatever the window is doing.
                drop(self.player.take_off());
                interrupt::end();
            }
            if self.watch.is_changed() {
                self.start_over();
            }
            if self.changed && self.due.is_due(Instant::now(), self.reports.is_wanted()) {
                self.report();
            }
        }
        Ended { success: self.story.card(&self.player).and_then(|card| card.success), costs: self.costs }
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
        self.player.scene().world.parameters.dt
    }

    fn time(&self) -> f64 {
        self.player.scene().world.time()
    }

    fn stands(&self) -> bool {
        self.paused || self.error.is_some() || self.is_over()
    }

    /// A scene whose hand is driven has no end.
    fn is_over(&self) -> bool {
        let is_driven = self.puppet.is_some() || self.player.has_gear();
        self.player.is_over() && (!is_driven || self.length().is_none())
    }

    /// How long it is meant to run; not known of a script.
    fn length(&self) -> Option<f64> {
        self.player.length().map(|steps| steps as f64 * self.player.scene().world.parameters.dt)
    }

    fn go_on(&mut self) {
        let now = Instant::now();
        let dt = self.dt();
        if let Some(goal) = self.seek {
            if self.time() + 0.5 * dt < goal && self.error.is_none() && !self.player.is_over() {
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

    /// One step, whatever the time.
    pub(super) fn step(&mut self) {
        self.drive();
        if let Some(spring) = &self.spring {
            spring.pull(&mut self.player.scene_mut());
        }
        let drawing = self.drawing.load(Ordering::Relaxed);
        let stepped = self.player.step();
        let drawn = (drawing == self.drawing.load(Ordering::Relaxed)).then_some(drawing);
        self.changed = true;
        self.story.listen(&mut self.player);
        if let Err(error) = stepped {
            self.error = Some(format!("{error:#}"));
            self.paused = true;
        }
        let sample = {
            let scene = self.player.scene();
            let of_hand = |kind: BodyKind| matches!(kind, BodyKind::Tissue(..) | BodyKind::Skeleton(_));
            let touches = scene.world.touches().filter(|touch| of_hand(touch.a) || of_hand(touch.b));
            let pressing = touches.fold(0.0, |sum, touch| sum + touch.pressing);
            Sample { time: scene.world.time(), pressing, step: scene.world.times().total }
        };
        self.story.step(&self.player.scene().world);
        self.traces.add(&self.player);
        self.costs.step(sample.step, drawn);
        if self.history.len() >= HISTORY {
            self.history.pop_front();
        }
        self.history.push_back(sample);
        let now = shape(&self.player.scene());
        if now.0 != self.staged.0 || now.1 < self.staged.1 {
            // A script has changed its scene, or begun another trial.
            self.restage();
        }
        self.staged = now;
    }

    /// The sample of the end of the coming step goes to the driven hand first: what a scene or a script has to say then comes too late.
    fn drive(&mut self) {
        let driven = self.player.driven();
        let Some((hand, puppet)) = &mut self.puppet else { return };
        let mut scene = self.player.scene_mut();
        let world = &mut scene.world;
        if *hand >= world.bodies.hands.len() {
            return;
        }
        let (h, id) = (world.parameters.dt, HandId::at(*hand));
        let mut feeling =
            Feeling { palm: world.bodies.hands[*hand].skeleton.state().palm.translation.vector, ..Feeling::default() };
        for segment in Segment::phalanges() {
            if let Some((finger, _)) = segment.finger() {
                feeling.pressing[finger as usize] += world.load(id, segment).pressing;
            }
        }
        let sample = puppet.sample(world.time() + h, h, &feeling);
        let side = world.bodies.hands[*hand].model().description.side;
        // A glove keeps the fingers, or a tracker the palm.
        if let Some(sample) = driven.rest_of(side, sample) {
            world.bodies.hands[*hand].track(sample);
        }
    }

    /// Does what it is told.
    pub(super) fn obey(&mut self, order: Command) {
        self.changed = true;
        match order {
            Command::Pause if self.is_over() => self.start_over(),
            Command::Pause => self.paused = !self.paused,
            Command::Step => {
                self.paused = true;
                if self.error.is_none() && !self.is_over() {
                    self.step();
                }
            }
            Command::Speed(speed) if speed.is_finite() => self.pace.speed = speed.clamp(SPEEDS[0], SPEEDS[1]),
            Command::Speed(_) | Command::Quit => {}
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
                spring => *spring = Spring::new(&self.player.scene(), &pull),
            },
            Command::Plot(names) => self.traces.plot(names, &self.player),
        }
    }

    fn start_over(&mut self) {
        let file = self.player.file().to_path_buf();
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

    /// A parameter, at once if that is possible, else from the start again. It stays when the scene is restarted.
    fn set(&mut self, setting: Setting) {
        let live = parameters::change(&mut self.player.scene_mut(), &setting);
        let mut settings = self.settings.clone();
        settings.retain(|old| old.key != setting.key);
        settings.push(setting);
        if live {
            self.settings = settings;
            self.parameters = parameters::of(&self.player.scene()).into();
        } else {
            let file = self.player.file().to_path_buf();
            if self.load(&file, &settings) {
                self.settings = settings;
            }
        }
    }

    fn take_hand(&mut self, number: Option<usize>) {
        let scene = self.player.scene();
        let hand = number.and_then(|number| Some((number, scene.world.bodies.hands.get(number)?)));
        self.puppet = hand.map(|(number, hand)| {
            let tracked = &hand.skeleton.tracked;
            (number, Puppet::new(&hand.model().description, *tracked.palm(), *tracked.angles()))
        });
    }

    /// Plays something else, or the same again. If it is broken, what there is stays, and stands still.
    fn load(&mut self, file: &Path, settings: &[Setting]) -> bool {
        match self.player.load_next(file, settings) {
            Ok(player) => {
                let driven = self.puppet.as_ref().map(|(hand, _)| *hand);
                self.player = player;
                self.error = None;
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
        self.staged = shape(&self.player.scene());
        self.history.clear();
        self.traces.begin(&self.player);
        self.spring = None;
        self.seek = None;
        self.pace.rest(Instant::now());
        self.story.begin(&mut self.player);
        self.note_files();
        // A hand that nothing moves waits for the person at the keyboard, and so does a palm whose fingers alone have a glove.
        let still = {
            let driven = self.player.driven();
            let is_script = self.length().is_none() || self.player.recording().is_some();
            let scene = self.player.scene();
            let hands = scene.motions.iter().zip(&scene.world.bodies.hands);
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
        self.stage = Arc::new(Stage::of(&self.player.scene()));
        self.generation += 1;
        self.describe();
    }

    /// Notes what is reported again and again and seldom changes.
    fn describe(&mut self) {
        self.parameters = parameters::of(&self.player.scene()).into();
        self.hands = self.player.scene().names.hands.clone().into();
        self.bodies = bodies::of(&self.player.scene()).into();
        self.columns = self.traces.columns(&self.player).into();
        self.name = self.player.file().display().to_string().into();
    }

    fn note_files(&mut self) {
        let own = std::iter::once(self.player.file().to_path_buf());
        self.watch = Watch::new(own.chain(story::files(&self.player)));
    }

    /// Where the palm of the driven hand is.
    #[cfg(test)]
    pub(super) fn palm(&self) -> Option<Vec3> {
        palm(&self.player.scene(), self.puppet.as_ref()?.0)
    }

    /// A sample of a device for a hand.
    #[cfg(test)]
    pub(super) fn feed(&mut self, hand: &str, sample: crate::tracking::HandSample) {
        self.player.feed(hand, sample);
    }

    /// The angles that a hand is tracked with.
    #[cfg(test)]
    pub(super) fn tracked_angles(&self) -> [f64; crate::tracking::ANGLES] {
        *self.player.scene().world.bodies.hands[0].skeleton.tracked.angles()
    }

    /// How high the centre of a rigid body is.
    #[cfg(test)]
    pub(super) fn height(&self, body: &str) -> Option<f64> {
        let scene = self.player.scene();
        scene.rigid(body).map(|body| scene.world.bodies.rigid[body].centre().y)
    }

    /// Shows what there is to the window.
    pub(super) fn report(&mut self) {
        let clock = Instant::now();
        let mut report = self.reports.blank();
        {
            let scene = self.player.scene();
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
        report.devices = self.player.worn().map_or_else(Vec::new, |gear| gear.states());
        report.hands.clone_from(&self.hands);
        report.parameters.clone_from(&self.parameters);
        report.stage = Some(Arc::clone(&self.stage));
        report.generation = self.generation;
        report.name.clone_from(&self.name);
        report.seconds = self.length().filter(|_| self.puppet.is_none() && !self.player.has_gear());
        report.steps = self.player.steps();
        report.paused = self.paused;
        report.over = self.is_over();
        report.speed = self.pace.speed;
        report.reached = self.pace.reached();
        report.cost = self.costs.now();
        report.history.clear();
        report.history.extend(&self.history);
        report.taken = self.puppet.as_ref().map(|(hand, _)| *hand);
        report.phase = story::phase(&self.player);
        report.messages.clone_from(&self.story.messages);
        report.error.clone_from(&self.error);
        report.card = if report.over { self.story.card(&self.player) } else { None };
        self.reports.put(report);
        self.changed = false;
        let now = Instant::now();
        self.due.made(now);
        self.costs.report((now - clock).as_secs_f64());
    }
}

fn palm(scene: &Scene, hand: usize) -> Option<Vec3> {
    scene.world.bodies.hands.get(hand).map(|hand| hand.skeleton.state().palm.translation.vector)
}

/// How many of each kind there are, and the time.
fn shape(scene: &Scene) -> ([usize; 4], f64) {
    let bodies = &scene.world.bodies;
    ([bodies.hands.len(), bodies.rigid.len(), bodies.soft.len(), bodies.fixed.len()], scene.world.time())
}
