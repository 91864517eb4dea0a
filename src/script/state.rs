use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use rhai::ImmutableString;

use super::events::{Event, Watch};
use super::limits;
use super::plan::Plan;
use super::puppet::Puppet;
use super::task::Task;
use super::track::{Fault, fault, over};
use crate::assets::{Files, Scene, Setting};
use crate::body::{Body, BodyId, ColliderId};
use crate::math::{Pose, Random};
use crate::sim::{Load, PressurePoint, Touch};
use crate::text::unknown;
use crate::tracking::{Driven, Finger, SEGMENTS, SampleSource, Segment};

/// Inputs of a script.
#[derive(Clone, Debug)]
pub struct Origin {
    /// The script.
    pub file: PathBuf,
    /// The visible files.
    pub files: Files,
    /// Settings; they override the script.
    pub settings: Vec<Setting>,
    /// Random seed, if given.
    pub seed: Option<u64>,
    /// Parts of the hands that devices move; the script's motions of them have no effect.
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
    /// The planned grasps of the hands.
    plans: Vec<Option<(String, Plan)>>,
    /// Initial poses of the bodies.
    pub starts: BTreeMap<String, Pose>,
    /// The task.
    pub task: Task,
    /// Events of the last step that have not been delivered.
    pub events: Vec<Event>,
    /// Previous contacts.
    pub watch: Watch,
    /// Random numbers.
    pub random: Random,
    /// Number of the trial, from 1.
    pub trial: u64,
    /// Printed lines that have not been read.
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
            plans: Vec::new(),
            starts: BTreeMap::new(),
            task: Task::default(),
            events: Vec::new(),
            watch: Watch::default(),
            trial,
            messages: Vec::new(),
            files: BTreeSet::new(),
        }
    }

    /// Time, s.
    pub fn time(&self) -> f64 {
        self.scene.world.time()
    }

    /// Stores a printed line.
    pub fn say(&mut self, line: String) {
        if self.messages.len() < limits::PRINTED_LINES {
            self.messages.push(format!("{:.2} s: {line}", self.time()));
        }
    }

    /// Index of a hand.
    pub fn hand(&self, name: &str) -> Result<usize, Fault> {
        let known = || self.scene.hand_names().map(String::from).collect::<Vec<_>>();
        self.scene.hand(name).ok_or_else(|| fault(unknown("hand", name, known().iter())))
    }

    /// A body by its name.
    pub fn body(&self, name: &str) -> Result<BodyId, Fault> {
        self.find_body(name).ok_or_else(|| fault(unknown("body", name, self.body_names().iter())))
    }

    /// A body by its name, if there is one. Hands are not among them.
    pub fn find_body(&self, name: &str) -> Option<BodyId> {
        let bodies = &self.scene.world.bodies;
        bodies.find(name).filter(|&id| !bodies.hand_ids().iter().any(|hand| hand.id() == id))
    }

    /// The body of an id that was just looked up.
    pub fn get(&self, body: BodyId) -> Result<&dyn Body, Fault> {
        self.scene.world.bodies.get(body).ok_or_else(|| fault("the body was removed"))
    }

    /// Names of the bodies without hands.
    fn body_names(&self) -> Vec<String> {
        let bodies = &self.scene.world.bodies;
        bodies.iter().filter(|(_, body)| body.kind() != "hand").map(|(id, _)| bodies.name(id).into()).collect()
    }

    /// Names of all hands and bodies.
    pub fn names(&self) -> Vec<String> {
        self.scene.hand_names().map(String::from).chain(self.body_names()).collect()
    }

    /// Name of a body.
    pub fn name_of(&self, body: BodyId) -> ImmutableString {
        self.scene.world.bodies.name(body).into()
    }

    /// Placement of a body; of a soft one its centre of mass, without rotation.
    pub fn pose(&self, body: BodyId) -> Pose {
        self.scene.world.bodies.get(body).map_or_else(Pose::identity, |body| body.pose())
    }

    /// Whether a side of a contact belongs to a hand, by the number of the hand.
    pub fn is_of_hand(&self, side: ColliderId, hand: usize) -> bool {
        self.scene.world.bodies.hand_ids().get(hand).is_some_and(|own| own.id() == side.body)
    }

    /// Stores the initial poses of new bodies.
    pub fn note_starts(&mut self) {
        for name in self.body_names().into_iter().filter(|name| !self.starts.contains_key(name)).collect::<Vec<_>>() {
            if let Some(kind) = self.find_body(&name) {
                self.starts.insert(name, self.pose(kind));
            }
        }
        let hands = self.scene.world.bodies.hand_ids().len();
        self.puppets.resize_with(hands, || None);
    }

    /// The driver of a hand; created on the first call.
    pub fn puppet(&mut self, hand: usize) -> &mut Puppet {
        let body = self.scene.world.bodies.hand(hand);
        let tracked = &body.skeleton.tracked;
        let limits = body.model().description.limits();
        // The script replaces the motion of the scene file.
        if let Some(motion) = self.scene.motions.get_mut(hand) {
            *motion = None;
        }
        self.puppets[hand].get_or_insert_with(|| Puppet::new(tracked.palm(), tracked.angles(), limits))
    }

    /// Friction utilisation between a hand and a body.
    fn used(&self, hand: usize, body: &str) -> f64 {
        let Some(object) = self.find_body(body) else { return 0.0 };
        let of_it = |touch: &&Touch| {
            let is_hand = self.is_of_hand(touch.a, hand) || self.is_of_hand(touch.b, hand);
            is_hand && (touch.a.body == object || touch.b.body == object)
        };
        // Of all contacts together: one that slips alone is held by the others.
        let touches = self.touches();
        let (used, all) = touches
            .iter()
            .filter(of_it)
            .fold((0.0, 0.0), |(used, all), t| (used + t.used * t.pressing, all + t.pressing));
        if all > 0.0 { used / all } else { 0.0 }
    }

    /// The planned grasp of a hand, and the name of the body.
    pub fn plan(&self, hand: usize) -> Option<&(String, Plan)> {
        self.plans.get(hand).and_then(Option::as_ref)
    }

    /// Sets it.
    pub fn set_plan(&mut self, hand: usize, plan: Option<(String, Plan)>) {
        self.plans.resize_with(self.puppets.len(), || None);
        self.plans[hand] = plan;
    }

    /// Normal force on a finger, over all its segments, N.
    pub fn pressing(&self, hand: usize, finger: Finger) -> f64 {
        (0..3).map(|place| self.load(hand, Segment::phalanx(finger, place)).pressing).sum()
    }

    /// What a segment feels. It stays so until the next step, also if what touched it is removed.
    pub fn load(&self, hand: usize, segment: Segment) -> Load {
        self.scene.world.load(self.scene.world.bodies.hand_ids()[hand], segment)
    }

    /// What touched in the last step, without bodies that were removed since.
    pub fn touches(&self) -> Vec<Touch> {
        let exists = |side: ColliderId| self.scene.world.bodies.get(side.body).is_some();
        self.scene.world.touches().filter(|touch| exists(touch.a) && exists(touch.b)).collect()
    }

    /// Forces on single points in the last step, without those of bodies that were removed since.
    pub fn pressures(&self) -> Vec<PressurePoint> {
        let exists = |side: ColliderId| self.scene.world.bodies.get(side.body).is_some();
        self.scene.world.pressure_points().filter(|point| exists(point.other)).collect()
    }

    /// Passes targets at the end of the next step to each hand, except for parts that devices move.
    pub fn feed(&mut self) {
        let device = self.origin.device;
        let h = self.scene.world.parameters.dt;
        let now = self.time();
        for (number, puppet) in self.puppets.iter().enumerate() {
            self.scene.world.bodies.hand_mut(number).skeleton.tracked.inlet_mut().claim(
                SampleSource::Script,
                puppet.is_some(),
                puppet.is_some(),
            );
        }
        self.scene.feed_rest(&device);
        for hand in 0..self.puppets.len() {
            let Some(mut puppet) = self.puppets[hand].take() else { continue };
            puppet.squeeze(now, h, |finger| self.pressing(hand, finger));
            if let Some(used) = puppet.hold.as_ref().map(|hold| self.used(hand, &hold.body)) {
                puppet.keep_hold(now, h, used);
            }
            let own = self.scene.world.bodies.hand_mut(hand);
            own.track_from(SampleSource::Script, puppet.sample(now + h));
            self.puppets[hand] = Some(puppet);
        }
    }

    /// Processes the changes of a step.
    pub fn look(&mut self) {
        let mut watch = std::mem::take(&mut self.watch);
        watch.look(self);
        self.watch = watch;
        if let Some(mut meter) = self.task.grasp.take() {
            meter.measure(self);
            self.task.grasp = Some(meter);
        }
    }

    /// Segments of a name or several: a finger, a segment, or `all`.
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

    /// Ends the task with a failure; the error ends the calling track.
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

    /// Updates a goal with its condition.
    pub fn judge_goal(&mut self, place: usize, holds: bool) -> Result<(), Fault> {
        let now = self.time();
        if let Some(goal) = self.task.goals.get_mut(place) {
            goal.state.judge(holds, now);
        }
        Ok(())
    }
}
