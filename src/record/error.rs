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
        /// Why.
        fault: FileFault,
    },
    /// It begins with something else.
    #[error("{}: this is no recording; expected a file written by `run --record`", file.display())]
    NoRecording {
        /// The file.
        file: PathBuf,
    },
    /// It is of another format.
    #[error("{}: this recording has format {format}; this program reads format {FORMAT}", file.display())]
    OtherFormat {
        /// The file.
        file: PathBuf,
        /// Its format.
        format: u16,
    },
    /// It was cut off before the first step.
    #[error("{}: the recording ends at byte {offset}, before its first step could begin; nothing can be played", file.display())]
    TooShort {
        /// The file.
        file: PathBuf,
        /// Where it ends.
        offset: usize,
    },
    /// Bytes are not what they should be.
    #[error("{}: the recording is damaged at byte {offset}: {message}", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// Where.
        offset: usize,
        /// What was found there, and what was expected.
        message: String,
    },
}

/// Damage before it is known in which file.
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
    /// Why.
    pub error: std::io::Error,
}

impl WriteError {
    /// For a file, from what the system says.
    pub(super) fn of(file: &Path) -> impl Fn(std::io::Error) -> Self + '_ {
        move |error| Self { file: file.into(), error }
    }
}
