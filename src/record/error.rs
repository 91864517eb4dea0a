use std::path::{Path, PathBuf};

use super::FORMAT;
use crate::assets::FileFault;

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The file cannot be opened or read.
    #[error("{}: {fault}", file.display())]
    Unreadable {
        /// The file.
        file: PathBuf,
        /// The reason.
        fault: FileFault,
    },
    /// Not a recording.
    #[error("{}: this is no recording; expected a file written by `run --record`", file.display())]
    NoRecording {
        /// The file.
        file: PathBuf,
    },
    /// An unsupported format version.
    #[error("{}: this recording has format {format}; this program reads format {FORMAT}", file.display())]
    OtherFormat {
        /// The file.
        file: PathBuf,
        /// Its format.
        format: u16,
    },
    /// Truncated before the first step.
    #[error("{}: the recording ends at byte {offset}, before its first step could begin; nothing can be played", file.display())]
    TooShort {
        /// The file.
        file: PathBuf,
        /// Its length.
        offset: usize,
    },
    /// Corrupt data.
    #[error("{}: the recording is damaged at byte {offset}: {message}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Offset.
        offset: usize,
        /// What was found and expected.
        message: String,
    },
}

/// Corrupt data, before the file is known.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Damage {
    pub offset: usize,
    pub message: String,
}

impl Damage {
    pub fn in_file(self, file: &Path) -> RecordError {
        RecordError::Damaged { file: file.into(), offset: self.offset, message: self.message }
    }
}

/// Why a recording or a table cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write {}: {error}", file.display())]
pub struct WriteError {
    /// The file.
    pub file: PathBuf,
    /// The reason.
    pub error: std::io::Error,
}

impl WriteError {
    /// From an I/O error of a file.
    pub(crate) fn of(file: &Path) -> impl Fn(std::io::Error) -> Self + '_ {
        move |error| Self { file: file.into(), error }
    }
}
