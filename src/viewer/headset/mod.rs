//! Stereo in a headset through OpenXR. The runtime creates the Vulkan device that kiss3d draws with, so this module names
//! openxr although it is not a device. It shows the reports of a simulation like the window, and hands out what the runtime
//! tracks; neither waits for the other.
//!
//! ```no_run
//! use fingerpad::viewer::headset::Headset;
//!
//! let headset = Headset::open()?;
//! println!("tracks hands: {}", headset.tracks_hands());
//! # Ok::<(), fingerpad::viewer::headset::HeadsetError>(())
//! ```

mod actions;
mod clock;
mod depth;
mod error;
mod frames;
mod fullscreen;
mod geometry;
mod graphics;
mod life;
mod menu;
mod mirror;
mod overlay;
mod panel;
mod pictures;
mod quad;
mod sampler;
mod session;
mod trackers;

use std::sync::Arc;

use crossbeam_channel::{Receiver, Sender};

pub use error::HeadsetError;
pub use geometry::Placement;
pub use panel::Panel;

pub use super::{EyeView, Fov};

use super::window::{Command, Report, WindowLink};
use crate::math::{Pose, Quat, Vec3};
use crate::tracking::Side;

/// Joints of a hand in the order of XR_EXT_hand_tracking.
pub const HAND_JOINTS: usize = 26;

/// The valid parts of a joint's pose, in the world of the scene.
pub type JointPose = (Option<Vec3>, Option<Quat>);

/// Tracking data of a hand at one instant.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackedInput {
    /// Which hand.
    pub side: Side,
    /// Its joints; `None` while it is not tracked.
    pub joints: Option<Box<TrackedJoints>>,
    /// Its controller; `None` while there is none.
    pub controller: Option<Controller>,
}

/// The joints of a hand.
#[derive(Clone, Debug, PartialEq)]
pub struct TrackedJoints {
    /// Their poses.
    pub joints: [JointPose; HAND_JOINTS],
    /// Their source; `None` if the runtime does not report it.
    pub source: Option<TrackingSource>,
    /// Fraction of the joints that are measured; the others are inferred or their last known poses.
    pub confidence: f64,
}

/// Origin of the joints of a hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackingSource {
    /// The fingers are seen, or measured by a glove.
    Fingers,
    /// They are inferred from the state of a controller.
    Controller,
}

impl TrackingSource {
    /// `fingers` or `controller`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fingers => "fingers",
            Self::Controller => "controller",
        }
    }
}

/// A controller in a hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Controller {
    /// The palm that holds it, in the world of the scene, in the axes of the palm joint of XR_EXT_hand_tracking.
    pub palm: Pose,
    /// Trigger, 0 to 1.
    pub trigger: f64,
    /// Grip, 0 to 1.
    pub squeeze: f64,
}

/// A vibration of the controller of a hand.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HandPulse {
    /// Which hand.
    pub side: Side,
    /// Amplitude, 0 to 1; 0 stops.
    pub amplitude: f64,
    /// Duration, s.
    pub duration: f64,
}

/// Output to a hand, or to the user.
#[derive(Clone, Debug, PartialEq)]
pub enum HandOutput {
    /// Vibrates its controller.
    Pulse(HandPulse),
    /// Resists the curl of its fingers.
    Forces {
        /// Which hand.
        side: Side,
        /// Thumb to little finger, 0 to 1.
        fingers: [f64; 5],
    },
    /// Shows what the user should do; empty for nothing.
    Advice(Arc<str>),
}

/// A frame that was drawn.
pub struct DrawnFrame<'f> {
    /// Number of the frame, from 1.
    pub number: u64,
    /// The state of the simulation that it shows.
    pub report: &'f Report,
    /// Left and right eye in the world.
    pub eyes: &'f [EyeView],
    /// The scene in the room.
    pub placement: &'f Placement,
    /// What was tracked for it, left and right.
    pub inputs: &'f [Option<TrackedInput>; 2],
    /// The menu, while it is open.
    pub menu: Option<OpenMenu<'f>>,
}

/// The menu while it is open.
#[derive(Clone, Copy, Debug)]
pub struct OpenMenu<'f> {
    /// Where it is in the world.
    pub panel: &'f Panel,
    /// Labels of its buttons, with the pixels of their centres.
    pub buttons: &'f [(String, [f64; 2])],
}

/// Called after every drawn frame.
pub type FrameCallback<'w> = dyn FnMut(&DrawnFrame<'_>) + 'w;

/// Options of a headset session.
pub struct HeadsetOptions<'w> {
    /// End after this many drawn frames.
    pub frames: Option<u64>,
    /// Keep the pictures of the last frame.
    pub keeps_pictures: bool,
    /// Show what the user sees in a window on the desktop too.
    pub mirror: bool,
    /// Where tracked hands go.
    pub inputs: Sender<TrackedInput>,
    /// Vibrations and forces to send.
    pub outputs: Receiver<HandOutput>,
    /// Whether to end; checked every frame.
    pub is_over: fn() -> bool,
    /// Follows the frames.
    pub watch: Option<&'w mut FrameCallback<'w>>,
}

/// Times of a stage of a frame, s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct StageCost {
    /// Name.
    pub name: &'static str,
    /// Median, s.
    pub median: f64,
    /// 99th percentile, s.
    pub p99: f64,
    /// Maximum, s.
    pub max: f64,
}

/// Summary of a headset session.
#[derive(Clone, Debug, Default)]
pub struct HeadsetSummary {
    /// Name of the runtime.
    pub runtime: String,
    /// Name of the headset.
    pub headset: String,
    /// Reference space: `stage` or `local`.
    pub space: &'static str,
    /// Width and height of an eye, pixels.
    pub size: (u32, u32),
    /// Frames drawn.
    pub frames: u64,
    /// Duration, s.
    pub seconds: f64,
    /// Stages of a frame, then the work of this program in it, and its processor time.
    pub costs: Vec<StageCost>,
    /// The scene in the room at the end.
    pub placement: Placement,
    /// Left and right eye of the last frame, in the world of the scene.
    pub eyes: Vec<EyeView>,
    /// Their pictures as the runtime gets them, if kept.
    pub pictures: Vec<super::Picture>,
    /// Distances along the viewing axis that the runtime gets as depths, m, row by row; empty if it takes none.
    pub distances: Vec<Vec<f64>>,
    /// Samples of both hands, and the mean duration of one, s.
    pub samples: (u64, f64),
    /// Pictures in the mirror window.
    pub mirrored: u64,
    /// State of the simulation in the last frame, s.
    pub time: f64,
    /// Left and right: source and confidence of the joints that were located last.
    pub hands: [Option<(Option<TrackingSource>, f64)>; 2],
    /// Why the session ended early; `None` if the user ended it.
    pub lost: Option<HeadsetError>,
}

/// A headset that is ready to be drawn to.
pub struct Headset(session::GraphicsSession);

impl Headset {
    /// Connects to the runtime and creates a graphics session. The errors say what is missing.
    pub fn open() -> Result<Self, HeadsetError> {
        session::GraphicsSession::open().map(Self)
    }

    /// Whether the runtime tracks hands; otherwise only controllers move them.
    pub fn tracks_hands(&self) -> bool {
        self.0.trackers.is_some()
    }

    /// Draws a simulation until the session ends, then makes the simulation quit.
    pub fn show(self, link: &WindowLink, options: HeadsetOptions<'_>) -> Result<HeadsetSummary, HeadsetError> {
        let shown = kiss3d::pollster::block_on(frames::run(self.0, link, options));
        link.send(Command::Quit);
        shown
    }
}
