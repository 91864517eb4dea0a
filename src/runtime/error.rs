use std::path::PathBuf;

use crate::assets::Problems;
use crate::devices::DeviceError;
use crate::math::OutOfRange;
use crate::record::{RecordError, WriteError};
#[cfg(feature = "script")]
use crate::script::ScriptError;
use crate::tracking::Side;

/// Why a session, a device or a motion cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A description file is invalid.
    #[error(transparent)]
    Description(#[from] Problems),
    /// A recording cannot be read.
    #[error(transparent)]
    Recording(#[from] RecordError),
    /// An output file cannot be written.
    #[error(transparent)]
    Write(#[from] WriteError),
    /// A script failed to compile or to run.
    #[cfg(feature = "script")]
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// The name is neither a file nor a shipped scene, script or device.
    #[error("{name}: {message}")]
    Unknown {
        /// The name that was given.
        name: String,
        /// What was expected, with a suggestion where one is close.
        message: String,
    },
    /// The file describes something other than a scene.
    #[error("{}: {message}", file.display())]
    NotAScene {
        /// The file.
        file: PathBuf,
        /// What it describes.
        message: &'static str,
    },
    /// A recording has its own settings and inputs.
    #[error("{}: a recording is replayed without devices and with its own settings", file.display())]
    FixedRecording {
        /// The recording.
        file: PathBuf,
    },
    /// The files kept in a recording cannot be loaded.
    #[error("{}: the recorded files cannot be loaded: {reason}", file.display())]
    Unplayable {
        /// The recording.
        file: PathBuf,
        /// The error of the kept files, on one line.
        reason: Box<Error>,
    },
    /// [`Session::record`](super::Session::record) was called after the first step.
    #[error("{}: a recording must start before the first step", file.display())]
    RecordingTooLate {
        /// The file that was to be written.
        file: PathBuf,
    },
    /// A recorded sample names a hand that the scene does not have.
    #[error("a sample was recorded for hand {hand} before step {step}, which does not exist")]
    RecordedHand {
        /// Index of the hand.
        hand: usize,
        /// Number of the step, from 1.
        step: u64,
    },
    /// The world stopped: its state is not finite, or a body is too fast.
    #[error("{fault}, in step {step}")]
    Stopped {
        /// What happened, and when.
        fault: String,
        /// Number of the step, from 1.
        step: u64,
    },
    /// The duration of a script is out of range.
    #[error("--seconds {value}: {error}")]
    Seconds {
        /// The value that was given.
        value: String,
        /// The accepted range.
        error: OutOfRange,
    },
    /// A device cannot be started.
    #[error("{name}: {error}")]
    Device {
        /// Name of the device.
        name: String,
        /// The reason.
        error: DeviceError,
    },
    /// The profile kept in a recording of bytes cannot be loaded.
    #[error("{}: its profile cannot be read: {problems}", file.display())]
    RecordedProfile {
        /// The recording.
        file: PathBuf,
        /// What is wrong with the profile.
        problems: Problems,
    },
    /// A device did not send samples in time.
    #[error("{0}")]
    DeviceSilent(String),
    /// Waiting for a device was cancelled.
    #[error("interrupted while waiting for {0}")]
    Cancelled(String),
    /// A device is made for a hand that the world does not have.
    #[error("{device} is for the {} hand, and the scene has none", side.name())]
    NoHandForDevice {
        /// Name of the device.
        device: String,
        /// Side of the missing hand.
        side: Side,
    },
    /// The file has no motion for the requested hand.
    #[error("{}: there is no {}hand in it", file.display(), side.map_or(String::new(), |side| format!("{} ", side.name())))]
    NoHand {
        /// The file.
        file: PathBuf,
        /// Side of the missing hand; `None` if there is no hand at all.
        side: Option<Side>,
    },
    /// A motion stopped before its end.
    #[error("{}: its motion cannot be played: {reason}", file.display())]
    Motion {
        /// The file.
        file: PathBuf,
        /// Why.
        reason: Box<Error>,
    },
    /// A force-feedback device cannot be used.
    #[error("{name}: {message}")]
    Haptic {
        /// The device.
        name: String,
        /// The reason.
        message: String,
    },
    /// A run with a force-feedback device cannot be recorded.
    #[error("{}: a run with a force-feedback device cannot be recorded, since its loop is not in step with the scene", file.display())]
    HapticRecording {
        /// The file that was to be written.
        file: PathBuf,
    },
    /// A socket cannot be opened.
    #[error("cannot open a socket to {address}: {error}")]
    Socket {
        /// The remote address.
        address: std::net::SocketAddr,
        /// The error of the system.
        error: std::io::Error,
    },
    /// A thread cannot be started.
    #[error("cannot start a thread for {name}: {error}")]
    Thread {
        /// What the thread was for.
        name: String,
        /// The error of the system.
        error: std::io::Error,
    },
    /// The program was built without a feature that is needed.
    #[error("scripts need the Cargo feature `script`, which this build does not have")]
    NoScripts,
}
