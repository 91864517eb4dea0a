use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rhai::ImmutableString;

use super::events::{Event, Watch};
use super::last_step::LastStep;
use super::limits;
use super::puppet::Puppet;
use super::task::Task;
use super::track::{Fault, fault, over};
use super::words::unknown;
use crate::assets::{Files, Scene, Setting};
use crate::body::{BodyKind, HandId};
use crate::math::{Pose, Random, Vec3};
use crate::sim::{Load, PressurePoint, Touch};
use crate::tracking::{Driven, Finger, SEGMENTS, Segment};

/// What a script was started with.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The script.
    pub file: PathBuf,
    /// The files it sees.
    pub files: Files,
    /// Settings from outside; they win over what the script says.
    pub settings: Vec<Setting>,
    /// Seed of random numbers, if it is given from outside.
    pub seed: Option<u64>,
    /// What of the hands is a device's; the script's motions of it are left out.
    pub device: Driven,
}

/// The world of a script and its task.
pub struct State {
    /// What it was started with.
    pub origin: Origin,
    /// The world.
    pub scene: Scene,
    /// Whether the script has set up a scene.
    pub has_scene: bool,
    /// The hands that the script moves, in the order of the world.
    pub puppets: Vec<Option<Puppet>>,
    /// Where bodies were when they came into the world.
    pub starts: BTreeMap<String, Pose>,
    /// The task.
    pub task: Task,
    /// What changed in the last step and has not been handed on.
    pub events: Vec<Event>,
    /// What touched before.
    pub watch: Watch,
    /// The last step, if bodies have come or gone since.
    pub last_step: Option<LastStep>,
    /// Random numbers.
    pub random: Random,
    /// Number of the trial, from 1.
    pub trial: u64,
    /// What the script printed and nobody has read.
    pub messages: Vec<String>,
    /// Files that were read.
    pub files: BTreeSet<PathBuf>,
}

impl State {
    /// An empty world.
    pub fn new(origin: Origin, trial: u64) -> Self {
        Self {
            random: Random::new(origin.seed.unwrap_or(0), trial),
            origin,
            scene: Scene::default(),
            has_scene: false,
            puppets: Vec::new(),
            starts: BTreeMap::new(),
            task: Task::default(),
            events: Vec::new(),
            watch: Watch::default(),
            last_step: None,
            trial,
            messages: Vec::new(),
            files: BTreeSet::new(),
        }
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.scene.world.time()
    }

    /// Keeps a line for people.
    pub fn say(&mut self, line: String) {
        if self.messages.len() < limits::MESSAGES {
            self.messages.push(format!("{:.2} s: {line}", self.time()));
        }
    }

    /// Number of a hand.
    pub fn hand(&self, name: &str) -> Result<usize, Fault> {
        self.scene.hand(name).ok_or_else(|| fault(unknown("hand", name, self.scene.names.hands.iter())))
    }

    /// A body by its name.
    pub fn body(&self, name: &str) -> Result<BodyKind, Fault> {
        self.find_body(name).ok_or_else(|| fault(unknown("body", name, self.body_names())))
    }

    /// A body by its name, if there is one.
    pub fn find_body(&self, name: &str) -> Option<BodyKind> {
        let scene = &self.scene;
        let rigid = scene.rigid(name).map(BodyKind::Rigid);
        rigid.or(scene.soft(name).map(BodyKind::Soft)).or(scene.fixed(name).map(BodyKind::Fixed))
    }

    fn body_names(&self) -> impl Iterator<Item = &String> + Clone {
        let names = &self.scene.names;
        names.rigid.iter().chain(&names.soft).chain(&names.fixed)
    }

    /// Names of all hands and bodies.
    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.scene.names.hands.iter().chain(self.body_names())
    }

    /// Name of a body, or of the hand that a segment belongs to.
    pub fn name_of(&self, kind: BodyKind) -> ImmutableString {
        let names = &self.scene.names;
        match kind {
            BodyKind::Skeleton(hand) | BodyKind::Tissue(hand, _) => &names.hands[hand.index()],
            BodyKind::Rigid(i) => &names.rigid[i],
            BodyKind::Soft(i) => &names.soft[i],
            BodyKind::Fixed(i) => &names.fixed[i],
        }
        .into()
    }

    /// Where a body is; of a soft one its centre of mass, unturned.
    pub fn pose(&self, body: BodyKind) -> Pose {
        let bodies = &self.scene.world.bodies;
        match body {
            BodyKind::Rigid(i) => bodies.rigid[i].pose(),
            BodyKind::Fixed(i) => *bodies.fixed[i].pose(),
            BodyKind::Soft(i) => {
                let body = &bodies.soft[i];
                let moments = body.positions().iter().zip(body.model().masses()).map(|(x, m)| *m * x);
                Pose::from_parts((moments.sum::<Vec3>() / body.mass()).into(), crate::math::Quat::identity())
            }
            BodyKind::Skeleton(hand) | BodyKind::Tissue(hand, _) => bodies.hands[hand.index()].skeleton.state().palm,
        }
    }

    /// Remembers where the bodies are that came since.
    pub fn note_starts(&mut self) {
        let names: Vec<String> = self.body_names().filter(|n| !self.starts.contains_key(*n)).cloned().collect();
        for name in names {
            if let Some(kind) = self.find_body(&name) {
                self.starts.insert(name, self.pose(kind));
            }
        }
        let hands = self.scene.world.bodies.hands.len();
        self.puppets.resize_with(hands, || None);
    }

    /// The strings of a hand; taken up on the first call.
    pub fn puppet(&mut self, hand: usize) -> &mut Puppet {
        let body = &self.scene.world.bodies.hands[hand];
        let tracked = &body.skeleton.tracked;
        let limits = body.model().description.limits();
        // From the script's first word on the motion in the scene's file is over.
        if let Some(motion) = self.scene.motions.get_mut(hand) {
            *motion = None;
        }
        self.puppets[hand].get_or_insert_with(|| Puppet::new(tracked.palm(), tracked.angles(), limits))
    }

    /// Normal force of a finger, over all its segments, N.
    pub fn pressing(&self, hand: usize, finger: Finger) -> f64 {
        (0..3).map(|place| self.load(hand, Segment::phalanx(finger, place)).pressing).sum()
    }

    /// What a segment feels.
    pub fn load(&self, hand: usize, segment: Segment) -> Load {
        match &self.last_step {
            Some(last) => last.load(hand, segment),
            None => self.scene.world.load(HandId::at(hand), segment),
        }
    }

    /// What touched in the last step.
    pub fn touches(&self) -> Vec<Touch> {
        self.last_step.as_ref().map_or_else(|| self.scene.world.touches().collect(), |last| last.touches.clone())
    }

    /// Forces on single points in the last step.
    pub fn pressures(&self) -> Vec<PressurePoint> {
        let now = || self.scene.world.pressure_points().collect();
        self.last_step.as_ref().map_or_else(now, |last| last.pressures.clone())
    }

    /// Bodies are about to come or go: what the last step was like is kept for whoever asks.
    pub fn keep_last_step(&mut self) {
        let world = &self.scene.world;
        self.last_step.get_or_insert_with(|| LastStep::of(world));
    }

    /// Tells each hand where to be at the end of the coming step, as far as no device does.
    pub fn feed(&mut self) {
        let device = self.origin.device;
        let h = self.scene.world.parameters.dt;
        let now = self.time();
        self.scene.feed_rest(&device);
        for hand in 0..self.puppets.len() {
            let Some(mut puppet) = self.puppets[hand].take() else { continue };
            puppet.squeeze(now, h, |finger| self.pressing(hand, finger));
            let own = &mut self.scene.world.bodies.hands[hand];
            if let Some(sample) = device.rest_of(own.model().description.side, puppet.sample(now + h)) {
                own.track(sample);
            }
            self.puppets[hand] = Some(puppet);
        }
    }

    /// Looks at what a step changed.
    pub fn look(&mut self) {
        self.last_step = None;
        let mut watch = std::mem::take(&mut self.watch);
        watch.look(self);
        self.watch = watch;
        if let Some(mut meter) = self.task.grasp.take() {
            meter.measure(self);
            self.task.grasp = Some(meter);
        }
    }

    /// Segments that a name or several stand for: a finger, a segment, or `all`.
    pub fn segments(names: &[String]) -> Result<Vec<Segment>, Fault> {
        let mut found = Vec::with_capacity(SEGMENTS);
        for name in names {
            let finger = Finger::ALL.into_iter().find(|finger| finger.name() == name);
            match (finger, name.as_str()) {
                (Some(finger), _) => found.extend((0..3).map(|place| Segment::phalanx(finger, place))),
                (None, "all") => found.extend(Segment::all()),
                (None, name) => {
                    let segment = Segment::all().find(|s| s.name() == name).ok_or_else(|| {
                        let fingers = Finger::ALL.iter().map(|f| f.name().to_string());
                        let known: Vec<String> = fingers.chain(Segment::all().map(Segment::name)).collect();
                        fault(unknown("finger or segment", name, known.iter()))
                    })?;
                    found.push(segment);
                }
            }
        }
        found.sort();
        found.dedup();
        Ok(found)
    }

    /// Ends the task with a failure; the error ends the track that says so.
    pub fn fail(&mut self, reason: &str) -> Result<(), Fault> {
        self.end(false, reason)
    }

    /// Ends the task; the first verdict counts.
    pub fn end(&mut self, success: bool, reason: &str) -> Result<(), Fault> {
        if self.task.verdict.is_none() {
            let phase = self.task.phases.last().map(|phase| format!(" in phase `{}`", phase.name)).unwrap_or_default();
            let when = if success { String::new() } else { format!(" at {:.2} s{phase}", self.time()) };
            self.task.verdict = Some((success, format!("{reason}{when}")));
        }
        Err(over("the task is over"))
    }

    /// Takes in whether a goal's condition holds now.
    pub fn judge_goal(&mut self, place: usize, holds: bool) -> Result<(), Fault> {
        let now = self.time();
        if let Some(goal) = self.task.goals.get_mut(place) {
            goal.state.judge(holds, now);
        }
        Ok(())
    }
}
