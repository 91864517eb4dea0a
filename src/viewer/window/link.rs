use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crossbeam_channel::Sender;

use super::puppet::Steer;
use crate::assets::Setting;
use crate::body::{BodyId, ColliderId};
use crate::math::{Pose, Vec3};
use crate::sim::{StageTimes, Statistics};
use crate::sync::Latest;
use crate::tracking::Segment;
use crate::viewer::{EyeView, Frame, Stage};

/// Commands of the window to the simulation.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Pause or continue.
    Pause,
    /// Pause if true, otherwise continue.
    Hold(bool),
    /// Make one step, then pause.
    Step,
    /// Set the speed relative to real time.
    Speed(f64),
    /// Restart, and reload the files.
    Restart,
    /// Go to a time, s. Going back restarts.
    Seek(f64),
    /// Move in the list of scenes; back if negative.
    Next(i32),
    /// Set a parameter, as on the command line.
    Set(Setting),
    /// Mouse and keyboard commands for a hand.
    Steer(Steer),
    /// Pull an object with a spring, or release it.
    Pull(Option<Pull>),
    /// Restart with a recording to a new file, or finish the recording.
    Record(bool),
    /// Left and right eye in a headset, for the recording.
    Eyes(Box<[EyeView; 2]>),
    /// Plot these columns.
    Plot(Vec<String>),
    /// Quit.
    Quit,
}

/// A spring between a point of an object and a position in the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pull {
    /// The object.
    pub body: BodyId,
    /// Initial grab point, m.
    pub grabbed: Vec3,
    /// The other end of the spring, m.
    pub target: Vec3,
}

/// A body in the scene tree.
#[derive(Clone, Debug, PartialEq)]
pub struct BodyInfo {
    /// Name.
    pub name: String,
    /// Which one it is.
    pub body: BodyId,
    /// Name of its kind.
    pub kind: &'static str,
    /// Whether it can move.
    pub moves: bool,
    /// Mass, kg; `None` for fixed bodies.
    pub mass: Option<f64>,
    /// Surface material.
    pub material: String,
}

/// State of motion of a body.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodyMotion {
    /// Pose; for a soft body at the centre of mass.
    pub pose: Pose,
    /// Velocity of its centre of mass, m/s.
    pub linear: Vec3,
    /// Angular velocity, rad/s.
    pub angular: Vec3,
}

/// A plotted column.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trace {
    /// Name, as in the tables of `run --trace`.
    pub name: String,
    /// Its unit.
    pub unit: String,
    /// Its last values, oldest first.
    pub values: Vec<f64>,
}

/// A device that moves a hand.
#[derive(Clone, Debug, PartialEq)]
pub struct HandDevice {
    /// Its name.
    pub name: String,
    /// State as text.
    pub state: String,
    /// Whether samples arrive.
    pub is_good: bool,
    /// Samples per second.
    pub rate: f64,
}

/// State of the simulation at one instant.
///
/// Rarely changing parts are shared, so that a report reuses the memory of the previous one.
#[derive(Clone, Debug, Default)]
pub struct Report {
    /// The moving state.
    pub frame: Frame,
    /// The constant part; `None` before the first step of the first scene.
    pub stage: Option<Arc<Stage>>,
    /// Incremented when the stage changes.
    pub generation: u64,
    /// Display name of the scene or script.
    pub name: Arc<str>,
    /// Planned duration, s; `None` if unknown.
    pub seconds: Option<f64>,
    /// Steps since the start.
    pub steps: u64,
    /// Whether it is paused.
    pub paused: bool,
    /// Whether it has ended.
    pub over: bool,
    /// Requested speed, relative to real time.
    pub speed: f64,
    /// Recently achieved speed, relative to real time.
    pub reached: f64,
    /// Times of the stages of the last step.
    pub times: StageTimes,
    /// Cost of drawing for the simulation.
    pub cost: WindowCost,
    /// Contact statistics of the last step.
    pub statistics: Statistics,
    /// The last steps, oldest first.
    pub history: Vec<PlotSample>,
    /// Current laws of contact: method, friction, pressure.
    pub laws: [&'static str; 3],
    /// Parameters that can be changed.
    pub parameters: Arc<[Parameter]>,
    /// Every body: hands, rigid, soft and fixed bodies.
    pub bodies: Arc<[BodyInfo]>,
    /// Motion of each body.
    pub motions: Vec<BodyMotion>,
    /// Columns that can be plotted.
    pub columns: Arc<[String]>,
    /// The plotted columns.
    pub traces: Vec<Trace>,
    /// The spring on an object: the point of the object and the other end, m.
    pub pull: Option<[Vec3; 2]>,
    /// The devices that move the hands.
    pub devices: Vec<HandDevice>,
    /// Names of the hands.
    pub hands: Arc<[String]>,
    /// The hand that mouse and keyboard drive.
    pub taken: Option<usize>,
    /// Position of the palm of that hand, or of the first, m.
    pub palm: Option<Vec3>,
    /// File of the recording, if there is one.
    pub recording: Option<Arc<str>>,
    /// Current phase of the task.
    pub phase: Option<String>,
    /// The last messages.
    pub messages: Arc<[String]>,
    /// The error, with line and caret for a script.
    pub error: Option<String>,
    /// The result.
    pub card: Option<Card>,
}

impl Report {
    /// The name of a body; of a hand with that of the segment.
    pub fn name_of(&self, side: ColliderId) -> Option<String> {
        let name = self.bodies.iter().find(|known| known.body == side.body).map(|known| &known.name)?;
        Some(match self.segment_of(side) {
            Some(segment) => format!("{name} {}", segment.name().replace('_', " ")),
            None => name.clone(),
        })
    }

    /// The segment that a collider is, if it is one of a hand.
    pub fn segment_of(&self, side: ColliderId) -> Option<Segment> {
        self.frame.hands.iter().any(|hand| hand.id == side.body).then(|| Segment::at(side.index()))
    }

    /// The motion of a body.
    pub fn motion_of(&self, body: BodyId) -> Option<&BodyMotion> {
        self.bodies.iter().position(|known| known.body == body).and_then(|at| self.motions.get(at))
    }
}

/// Cost of the window for the simulation.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WindowCost {
    /// Total time of reports relative to that of steps.
    pub reports: f64,
    /// Median step time while drawing relative to that without; `None` without enough samples.
    pub drawing: Option<f64>,
}

/// A step in the plots.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct PlotSample {
    /// Time, s.
    pub time: f64,
    /// Sum of the normal forces on the hands, N.
    pub pressing: f64,
    /// Wall time of the step, s.
    pub step: f64,
}

/// A parameter that can be changed.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Key on the command line.
    pub key: String,
    /// Display name.
    pub label: String,
    /// Current value.
    pub value: f64,
    /// Minimum and maximum.
    pub range: [f64; 2],
    /// Whether its slider is logarithmic.
    pub logarithmic: bool,
    /// Whether a change needs a restart.
    pub restarts: bool,
}

impl Parameter {
    /// The setting for a value. Gravity is given by its magnitude, downwards.
    pub fn setting(&self, value: f64) -> Setting {
        match self.key.as_str() {
            "gravity" => Setting::new("gravity", format!("[0.0, {:?}, 0.0]", -value)),
            key => Setting::new(key, format!("{value:?}")),
        }
    }
}

/// Result card.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Card {
    /// Title.
    pub title: String,
    /// Whether it succeeded; `None` without a task.
    pub success: Option<bool>,
    /// Reason or description.
    pub reason: String,
    /// Measured values with their names.
    pub lines: Vec<(String, String)>,
}

/// The window's end of the connection.
#[derive(Clone, Debug)]
pub struct WindowLink {
    /// Sender of commands.
    pub commands: Sender<Command>,
    /// Mailbox of reports.
    pub reports: Arc<Latest<Report>>,
    /// Whether a frame is being drawn.
    pub drawing: Arc<AtomicBool>,
}

impl WindowLink {
    /// Sends a command; ignored if the simulation has ended.
    pub fn send(&self, command: Command) {
        let _ = self.commands.send(command);
    }

    /// Sets whether a frame is being drawn.
    pub fn draws(&self, draws: bool) {
        self.drawing.store(draws, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
