use std::any::Any;
use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use super::SoakOptions;
use super::dice::Dice;
use super::motion::SoakTracker;
use super::noise::Noise;
use super::plan::{EpisodePlan, ROOM_HALF_WIDTH, ROOM_HEIGHT, WALL_THICKNESS};
use super::totals::{DEEP_PENETRATION, FaultKind, SoakFault, SoakTotals};
use super::verify;
use crate::assets::Setting;
use crate::body::{BeamBody, Body, Fixed, QuasiRigidBody, RigidBody, SoftBody};
use crate::math::Vec3;
use crate::record::{Ending, Input, Recorder, Recording, WriteError};
use crate::runtime::{Error, Session};
use crate::sim::World;
use crate::tracking::{Driven, HandSample};

/// Mean number of steps between pieces of random bytes for a decoder.
const NOISE: usize = 5;

/// An episode of a soak run.
pub struct Episode<'a> {
    pub options: &'a SoakOptions,
    pub plan: &'a EpisodePlan,
    pub number: u64,
}

/// What ended an episode, or a step of it.
type FaultCause = (FaultKind, String);

impl Episode<'_> {
    /// Runs, records and verifies the episode. Errors are those of working files.
    pub fn run(&self, dice: &mut Dice, noise: &mut Noise, totals: &mut SoakTotals) -> Result<(), Error> {
        let [script, record] = ["rhai", "fpr"].map(|extension| self.file("soak-work", extension));
        std::fs::write(&script, &self.plan.script).map_err(WriteError::of(&script))?;
        let settings = [Setting::new("seconds", 60.0)];
        let mut session = Session::load_with_devices(&script, &settings, Driven::ALL)?;
        session.record(&record)?;
        let head = std::fs::metadata(&record).map_or(0, |file| file.len());
        let mut run = Run { session, trackers: Vec::new(), inputs: Vec::new(), gone: BTreeSet::new() };
        let is_whole = self.play(&mut run, dice, noise, totals, &record)?;
        totals.seconds += run.session.scene().world.time();
        let made = run.session.steps();
        // Half of the recordings are those of a killed program: nothing is written at the end.
        if dice.one_in(2) {
            drop(run);
        } else {
            run.session.finish_recording()?;
        }
        if is_whole {
            match verify::verify(&record, head, made, dice) {
                Ok(steps) => {
                    (totals.verified, totals.replayed_steps) = (totals.verified + 1, totals.replayed_steps + steps)
                }
                Err(message) => self.report(totals, (FaultKind::Recording, message), 0.0, Some(&record))?,
            }
        }
        [script, record].iter().try_for_each(|file| std::fs::remove_file(file).map_err(WriteError::of(file)))?;
        Ok(())
    }

    /// Steps to the end; returns whether nothing ended the episode early.
    fn play(
        &self,
        run: &mut Run,
        dice: &mut Dice,
        noise: &mut Noise,
        totals: &mut SoakTotals,
        record: &Path,
    ) -> Result<bool, Error> {
        while !run.session.is_over() {
            let stepped = catch_unwind(AssertUnwindSafe(|| run.step(self.plan, dice, noise, totals)));
            let time = run.session.scene().world.time();
            match stepped {
                Ok(Ok(None)) => {}
                Ok(Ok(Some(found))) => self.report(totals, found, time, Some(record))?,
                Ok(Err(found)) => {
                    self.report(totals, found, time, Some(record))?;
                    return Ok(false);
                }
                Err(panic) => {
                    add_last_step(record, &run.inputs)?;
                    self.report(totals, (FaultKind::Panic, text(&*panic)), time, Some(record))?;
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Notes a fault and keeps its recording.
    fn report(
        &self,
        totals: &mut SoakTotals,
        found: FaultCause,
        time: f64,
        record: Option<&Path>,
    ) -> Result<(), Error> {
        let (kind, message) = found;
        let kept = self.file("soak", "fpr");
        if let Some(record) = record {
            std::fs::copy(record, &kept).map_err(WriteError::of(&kept))?;
        }
        let recording = record.map(|_| kept);
        totals.faults.push(SoakFault { kind, seed: self.options.seed, episode: self.number, time, message, recording });
        Ok(())
    }

    fn file(&self, name: &str, extension: &str) -> PathBuf {
        self.options.folder.join(format!("{name}-{}-{}.{extension}", self.options.seed, self.number))
    }
}

/// The state of an episode.
struct Run {
    session: Session,
    trackers: Vec<SoakTracker>,
    /// Inputs of the current step.
    inputs: Vec<Input>,
    /// Bodies that have left the room.
    gone: BTreeSet<String>,
}

impl Run {
    /// One step: inputs, the step, and what is wrong after it. An error ends the episode.
    fn step(
        &mut self,
        plan: &EpisodePlan,
        dice: &mut Dice,
        noise: &mut Noise,
        totals: &mut SoakTotals,
    ) -> Result<Option<FaultCause>, FaultCause> {
        self.inputs.clear();
        let time = self.session.scene().world.time() + plan.dt;
        let mut found = None;
        if self.session.steps() > 0 {
            self.meet_hands();
            for hand in 0..self.trackers.len() {
                let sample = self.trackers[hand].sample(time, dice);
                sample.into_iter().for_each(|sample| self.feed(plan, hand, sample, totals));
            }
            if dice.one_in(NOISE) {
                match noise.push(time, dice) {
                    Ok(Some(sample)) => self.feed(plan, 0, sample, totals),
                    Ok(None) => {}
                    Err(message) => found = Some((FaultKind::Decoder, message)),
                }
            }
        }
        let before = self.session.steps();
        let stepped = self.session.step();
        if self.session.steps() > before {
            totals.hash = totals.hash.rotate_left(5) ^ self.session.state_hash();
            let scene = self.session.scene();
            watch(&scene.world, totals);
            found = found.or_else(|| tunnelled(&scene.world, &mut self.gone));
        }
        match stepped {
            Ok(()) => match self.session.outcome().filter(|outcome| !outcome.success) {
                // A world that stops ends the task of the script, which is not an error of the script.
                Some(outcome) => Err((stop_kind(&self.session.scene().world), outcome.reason.clone())),
                None => Ok(found),
            },
            Err(error) => Err((stop_kind(&self.session.scene().world), error.to_string())),
        }
    }

    /// Gives every hand a tracker, once the script has added the hands.
    fn meet_hands(&mut self) {
        if self.trackers.is_empty() {
            let scene = self.session.scene();
            let tracker = |hand: &crate::body::Hand| {
                SoakTracker::new(hand.skeleton.state().palm.translation.vector, hand.model())
            };
            self.trackers = scene.world.bodies.hands().map(tracker).collect();
        }
    }

    fn feed(&mut self, plan: &EpisodePlan, hand: usize, sample: HandSample, totals: &mut SoakTotals) {
        totals.samples += 1;
        self.inputs.push(Input::Sample { hand, sample: Box::new(sample) });
        self.session.feed(plan.hands[hand], sample);
    }
}

/// Why a world stopped.
fn stop_kind(world: &World) -> FaultKind {
    let is_finite = |body: &dyn Body| (0..body.part_count()).all(|part| body.part(part).is_finite());
    let all = world.bodies.iter().all(|(_, body)| is_finite(body));
    if all { FaultKind::Stopped } else { FaultKind::NotFinite }
}

/// Adds the figures of a step.
fn watch(world: &World, totals: &mut SoakTotals) {
    let statistics = world.statistics();
    totals.steps += 1;
    totals.add_time(world.times().total);
    totals.worst_depth = totals.worst_depth.max(statistics.penetration);
    totals.deep_steps += u64::from(statistics.penetration > DEEP_PENETRATION);
    totals.unconverged += statistics.unconverged as u64;
    let moving = world.bodies.ids().filter(|&id| world.bodies.get_as::<Fixed>(id).is_none());
    totals.top_speed = moving.map(|id| world.top_speed(id)).fold(totals.top_speed, f64::max);
    let palms = world.bodies.hands().map(|hand| hand.skeleton.state().palm.translation.vector);
    totals.hand_outside += u64::from(palms.into_iter().any(|palm| is_outside(&palm)));
}

/// Whether a place is more than half the thickness of a wall beyond the inside of the room.
fn is_outside(place: &Vec3) -> bool {
    let slack = 0.5 * WALL_THICKNESS;
    let beside = ROOM_HALF_WIDTH + slack;
    place.x.abs() > beside || place.z.abs() > beside || place.y < -slack || place.y > ROOM_HEIGHT + slack
}

/// A body whose centre has left the room, if it was inside before.
fn tunnelled(world: &World, gone: &mut BTreeSet<String>) -> Option<FaultCause> {
    for id in world.bodies.ids() {
        let name = world.bodies.name(id);
        let centre = if let Some(body) = world.bodies.get_as::<RigidBody>(id) {
            *body.centre()
        } else if let Some(body) = world.bodies.get_as::<QuasiRigidBody>(id) {
            *body.rigid().centre()
        } else if let Some(body) = world.bodies.get_as::<SoftBody>(id) {
            mean(body.positions())
        } else if let Some(body) = world.bodies.get_as::<BeamBody>(id) {
            mean(body.chain().positions())
        } else {
            continue;
        };
        if is_outside(&centre) && gone.insert(name.into()) {
            let [x, y, z]: [f64; 3] = centre.into();
            return Some((
                FaultKind::Tunnelled,
                format!("`{name}` is outside of the room at [{x:.3}, {y:.3}, {z:.3}]"),
            ));
        }
    }
    None
}

fn mean(places: &[Vec3]) -> Vec3 {
    places.iter().sum::<Vec3>() / places.len().max(1) as f64
}

/// Adds the step that panicked to its recording: the recorder writes a step after it is made.
fn add_last_step(file: &Path, inputs: &[Input]) -> Result<(), Error> {
    let recording = Recording::read(file)?;
    let files: Vec<_> = recording.files.into_iter().collect();
    let mut recorder = Recorder::create(file, &recording.header, &files, recording.start)?;
    recording.steps.iter().try_for_each(|step| recorder.add_step(&step.inputs, step.hash))?;
    recorder.add_step(inputs, 0)?;
    Ok(recorder.finish(&Ending::Broken("the program panicked".into()))?)
}

/// The message of a panic.
pub fn text(panic: &(dyn Any + Send)) -> String {
    let words = panic.downcast_ref::<&str>().map(ToString::to_string);
    words.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".into())
}
