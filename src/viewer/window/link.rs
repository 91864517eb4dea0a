use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crossbeam_channel::Sender;

use super::puppet::Steer;
use crate::assets::Setting;
use crate::body::BodyKind;
use crate::math::{Pose, Vec3};
use crate::sim::{StageTimes, Statistics};
use crate::viewer::{Frame, Stage};

/// What the window asks of the simulation.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Stands still, or goes on.
    Pause,
    /// One step, standing still after it.
    Step,
    /// So many times as fast as real time.
    Speed(f64),
    /// From the start again, from the files as they are now.
    Restart,
    /// To a time, s. Back is from the start again.
    Seek(f64),
    /// So many scenes on in the list of scenes; back if negative.
    Next(i32),
    /// A parameter, as on the command line.
    Set(Setting),
    /// What mouse and keyboard want of a hand.
    Steer(Steer),
    /// Pulls an object with a spring, or lets go of it.
    Pull(Option<Pull>),
    /// Plots these columns, by their names.
    Plot(Vec<String>),
    /// The end.
    Quit,
}

/// A spring between a point of an object and a place in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// The object.
    pub body: BodyKind,
    /// The point of it when it was taken hold of, m.
    pub grabbed: Vec3,
    /// The other end of the spring, m.
    pub target: Vec3,
}

/// A body in the scene tree.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyInfo {
    /// Its name.
    pub name: String,
    /// Which one it is; of a hand its skeleton.
    pub body: BodyKind,
    /// Mass, kg; fixed bodies have none.
    pub mass: Option<f64>,
    /// What its surface is made of.
    pub material: String,
}

/// How a body moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Motion {
    /// Its placement; of a soft body the centre of mass.
    pub pose: Pose,
    /// Velocity of its centre of mass, m/s.
    pub linear: Vec3,
    /// Angular velocity, rad/s.
    pub angular: Vec3,
}

/// A plotted column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Its name, as in the tables of `run --trace`.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its last values, oldest first.
    pub values: Vec<f64>,
}

/// A device that moves a hand.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceInfo {
    /// Its name.
    pub name: String,
    /// Whether samples come, or why not.
    pub state: String,
    /// Whether samples come.
    pub is_good: bool,
    /// Samples in a second.
    pub rate: f64,
}

/// What the simulation shows of itself, at one instant.
///
/// What seldom changes is shared, so that a report takes no memory but that of the one before.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// What moves.
    pub frame: Frame,
    /// What does not; none before the first step of the first scene.
    pub stage: Option<Arc<Stage>>,
    /// Grows whenever the stage is another.
    pub generation: u64,
    /// Shown to people: the scene or the script.
    pub name: Arc<str>,
    /// How long it is meant to run, s; none if that is not known.
    pub seconds: Option<f64>,
    /// Steps made since it was started.
    pub steps: u64,
    /// Whether it stands still.
    pub paused: bool,
    /// Whether it has come to its end.
    pub over: bool,
    /// Wanted speed, times real time.
    pub speed: f64,
    /// Speed that was reached lately, times real time.
    pub reached: f64,
    /// Times of the stages of the last step.
    pub times: StageTimes,
    /// What drawing costs the simulation.
    pub cost: Cost,
    /// How the contact of the last step went.
    pub statistics: Statistics,
    /// The last steps, oldest first.
    pub history: Vec<Sample>,
    /// What the laws of contact are now: method, friction, pressure.
    pub laws: [&'static str; 3],
    /// What can be changed.
    pub parameters: Arc<[Parameter]>,
    /// Every body: hands, rigid, soft and fixed bodies.
    pub bodies: Arc<[BodyInfo]>,
    /// How each of them moves.
    pub motions: Vec<Motion>,
    /// Columns that can be plotted.
    pub columns: Arc<[String]>,
    /// Those that are.
    pub traces: Vec<Trace>,
    /// The spring on an object: the point of the object and the other end, m.
    pub pull: Option<[Vec3; 2]>,
    /// The devices that move the hands.
    pub devices: Vec<DeviceInfo>,
    /// Names of the hands.
    pub hands: Arc<[String]>,
    /// The hand that mouse and keyboard drive.
    pub taken: Option<usize>,
    /// Where the palm of that hand is, or of the first, m.
    pub palm: Option<Vec3>,
    /// Part of the story that is told.
    pub phase: Option<String>,
    /// The last things that were said.
    pub messages: Arc<[String]>,
    /// What went wrong, with line and caret if it is a script's.
    pub error: Option<String>,
    /// How it ended.
    pub card: Option<Card>,
}

impl Report {
    /// The name of a body.
    pub fn name_of(&self, body: BodyKind) -> Option<String> {
        let own = match body {
            BodyKind::Tissue(hand, _) => BodyKind::Skeleton(hand),
            other => other,
        };
        let name = self.bodies.iter().find(|known| known.body == own).map(|known| &known.name)?;
        Some(match body {
            BodyKind::Tissue(_, segment) => format!("{name} {}", segment.name().replace('_', " ")),
            _ => name.clone(),
        })
    }

    /// How a body moves.
    pub fn motion_of(&self, body: BodyKind) -> Option<&Motion> {
        self.bodies.iter().position(|known| known.body == body).and_then(|at| self.motions.get(at))
    }
}

/// What a window costs the simulation behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Cost {
    /// Time of all reports over that of all steps.
    pub reports: f64,
    /// The middle step time while a frame is drawn over that while none is; nothing before there were enough of both.
    pub drawing: Option<f64>,
}

/// A step in the plots.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sample {
    /// Time, s.
    pub time: f64,
    /// Sum of the normal forces on the hands, N.
    pub pressing: f64,
    /// Time that the step took, s.
    pub step: f64,
}

/// A parameter that can be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its key on the command line.
    pub key: String,
    /// Shown to people.
    pub label: String,
    /// What it is now.
    pub value: f64,
    /// Least and greatest value.
    pub range: [f64; 2],
    /// Whether its values differ by factors rather than by steps.
    pub logarithmic: bool,
    /// Whether it takes a new start.
    pub restarts: bool,
}

impl Parameter {
    /// The setting that gives it a value. Gravity is given by its size, downwards.
    pub fn setting(&self, value: f64) -> Setting {
        match self.key.as_str() {
            "gravity" => Setting::new("gravity", format!("[0.0, {:?}, 0.0]", -value)),
            key => Setting::new(key, format!("{value:?}")),
        }
    }
}

/// How something ended, on one card.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    /// What it was.
    pub title: String,
    /// Whether it succeeded; none if there was no task.
    pub success: Option<bool>,
    /// Why, or what happened.
    pub reason: String,
    /// What was measured: name and value.
    pub lines: Vec<(String, String)>,
}

/// A place for one thing: who puts in never waits for who takes out, and the newest wins. Things that were looked at can be given back, to
/// be filled again.
#[derive(Debug)]
pub struct Latest<T> {
    full: Mutex<Option<Box<T>>>,
    spare: Mutex<Option<Box<T>>>,
}

impl<T> Default for Latest<T> {
    fn default() -> Self {
        Self { full: Mutex::new(None), spare: Mutex::new(None) }
    }
}

impl<T: Default> Latest<T> {
    /// Something to fill: what was given back, or what nobody took, or a new one.
    pub fn blank(&self) -> Box<T> {
        lock(&self.spare).take().unwrap_or_default()
    }

    /// Puts the newest in.
    pub fn put(&self, newest: Box<T>) {
        // Locks are held for as long as it takes to move a pointer.
        let old = lock(&self.full).replace(newest);
        if old.is_some() {
            *lock(&self.spare) = old;
        }
    }

    /// Whether the last one was taken.
    pub fn is_wanted(&self) -> bool {
        lock(&self.full).is_none()
    }

    /// Takes the newest out, if there is one that was not taken yet.
    pub fn take(&self) -> Option<Box<T>> {
        lock(&self.full).take()
    }

    /// Gives one back.
    pub fn give_back(&self, used: Box<T>) {
        *lock(&self.spare) = Some(used);
    }
}

fn lock<T>(place: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    place.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The window's end of the line.
#[derive(Clone, Debug)]
pub struct Link {
    /// Where commands go.
    pub commands: Sender<Command>,
    /// Where reports come from.
    pub reports: Arc<Latest<Report>>,
    /// Whether a frame is being drawn.
    pub drawing: Arc<AtomicBool>,
}

impl Link {
    /// Sends a command; a simulation that has ended needs none.
    pub fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }

    /// Says that a frame is being drawn, or not any more.
    pub fn draws(&self, draws: bool) {
        self.drawing.store(draws, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_wins_and_memory_goes_round() {
        let latest: Latest<Vec<u8>> = Latest::default();
        assert!(latest.take().is_none() && latest.is_wanted());
        let mut first = latest.blank();
        first.extend([1, 2, 3]);
        let place = first.as_ptr();
        latest.put(first);
        latest.put(Box::new(vec![4]));
        assert!(!latest.is_wanted());
        let again = latest.blank();
        assert_eq!((again.as_ptr(), again.len()), (place, 3), "what nobody took is filled again");
        assert_eq!(latest.take().as_deref(), Some(&vec![4]));
        assert!(latest.take().is_none());
        latest.give_back(again);
        let third = latest.blank();
        assert_eq!(third.as_ptr(), place);
    }

    #[test]
    fn parameters_become_settings() {
        let parameter = |key: &str| Parameter {
            key: key.into(),
            label: String::new(),
            value: 0.0,
            range: [0.0, 1.0],
            logarithmic: false,
            restarts: false,
        };
        assert_eq!(parameter("gravity").setting(9.81).to_string(), "gravity=[0.0, -9.81, 0.0]");
        assert_eq!(parameter("body.cube.mass").setting(1e-5).to_string(), "body.cube.mass=1e-5");
    }
}
