use std::path::{Path, PathBuf};

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
    #[error("{}: this is no {expected}", file.display())]
    NoRecording {
        /// The file.
        file: PathBuf,
        /// What it should be, and how that is made.
        expected: &'static str,
    },
    /// An unsupported format version.
    #[error("{}: this recording has format {format}, this program reads format {known}; replay it with the version that wrote it", file.display())]
    OtherFormat {
        /// The file.
        file: PathBuf,
        /// Its format.
        format: u16,
        /// The format of this program.
        known: u16,
    },
    /// Truncated before anything that can be played.
    #[error("{}: the recording ends at byte {offset}, before {missing}", file.display())]
    TooShort {
        /// The file.
        file: PathBuf,
        /// Its length.
        offset: usize,
        /// What would follow.
        missing: &'static str,
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

/// First bytes of a kind of recording, and how it is named in errors.
pub(super) struct RecordingKind {
    pub magic: [u8; 8],
    pub format: u16,
    pub expected: &'static str,
    pub missing: &'static str,
}

impl RecordingKind {
    /// Length of magic number and format version.
    pub const HEAD_LENGTH: usize = 10;

    /// The first bytes of a file.
    pub fn head(&self) -> Vec<u8> {
        [&self.magic[..], &self.format.to_le_bytes()].concat()
    }

    /// The error of a file that ends too early.
    pub fn too_short(&self, file: &Path, bytes: &[u8]) -> RecordError {
        RecordError::TooShort { file: file.into(), offset: bytes.len(), missing: self.missing }
    }

    /// Whether a file starts like a recording of this kind and format.
    pub fn check(&self, file: &Path, bytes: &[u8]) -> Result<(), RecordError> {
        let Some(rest) = bytes.strip_prefix(&self.magic) else {
            // Also true for a truncated recording.
            let begins_right = self.magic.starts_with(bytes) && !bytes.is_empty();
            let other = || RecordError::NoRecording { file: file.into(), expected: self.expected };
            return Err(if begins_right { self.too_short(file, bytes) } else { other() });
        };
        match rest.first_chunk().map(|bytes| u16::from_le_bytes(*bytes)) {
            None => Err(self.too_short(file, bytes)),
            Some(format) if format == self.format => Ok(()),
            Some(format) => Err(RecordError::OtherFormat { file: file.into(), format, known: self.format }),
        }
    }
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
