use std::collections::BTreeMap;
use std::path::Path;

use super::FORMAT;
use super::bytes::ByteReader;
use super::error::{Damage, RecordError, RecordingKind};
use super::frame::{FileFrame, after, read_frame};
use super::header::Header;
use super::input::Input;
use crate::assets::limits::RECORDING_BYTES;
use crate::assets::read_bounded;

/// A recording of a run. Its magic number is a non-text byte, a name, and line ends that reveal a text-mode transfer.
pub(super) const RUN: RecordingKind = RecordingKind {
    magic: *b"\x89FPR\r\n\x1a\n",
    format: FORMAT,
    expected: "recording; expected a file written by `run --record`",
    missing: "its first step could begin; nothing can be played",
};

/// Kind of a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum FrameKind {
    /// Header.
    Header = 1,
    /// An input file.
    File = 2,
    /// The initial state.
    Start = 3,
    /// A step.
    Step = 4,
    /// The end.
    End = 5,
}

const FRAME_KINDS: [FrameKind; 5] =
    [FrameKind::Header, FrameKind::File, FrameKind::Start, FrameKind::Step, FrameKind::End];

/// A recording.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// What was run, and with what.
    pub header: Header,
    /// The input files by path.
    pub files: BTreeMap<String, Vec<u8>>,
    /// Hash of the state before the first step.
    pub start: u64,
    /// The steps.
    pub steps: Vec<RecordedStep>,
    /// How it ended.
    pub ending: Ending,
}

/// A step of a recording.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedStep {
    /// Its external inputs, in order.
    pub inputs: Vec<Input>,
    /// State hash after it.
    pub hash: u64,
}

/// How a recording ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Completed.
    Over,
    /// Stopped by the user.
    Stopped,
    /// Failed, with the reason.
    Broken(String),
    /// Truncated: the program or the machine crashed.
    CutOff {
        /// File offset.
        offset: usize,
    },
}

impl Ending {
    /// Its number in files; `None` for a truncated one.
    pub(super) fn code(&self) -> Option<u8> {
        match self {
            Self::Over => Some(0),
            Self::Stopped => Some(1),
            Self::Broken(_) => Some(2),
            Self::CutOff { .. } => None,
        }
    }

    /// The reason of a failure.
    pub fn message(&self) -> &str {
        match self {
            Self::Broken(message) => message,
            _ => "",
        }
    }
}

impl Recording {
    /// Reads a recording, up to the last complete step if it is truncated.
    pub fn read(file: &Path) -> Result<Self, RecordError> {
        let bytes = read_bounded(file, RECORDING_BYTES)
            .map_err(|fault| RecordError::Unreadable { file: file.into(), fault })?;
        Self::parse(file, &bytes)
    }

    /// The same from the bytes of a file.
    pub fn parse(file: &Path, bytes: &[u8]) -> Result<Self, RecordError> {
        RUN.check(file, bytes)?;
        let draft = PartialRecording::read(bytes, RecordingKind::HEAD_LENGTH).map_err(|damage| damage.in_file(file))?;
        draft.finish().ok_or_else(|| RUN.too_short(file, bytes))
    }
}

/// Data read so far.
#[derive(Default)]
struct PartialRecording {
    header: Option<Header>,
    files: BTreeMap<String, Vec<u8>>,
    start: Option<u64>,
    steps: Vec<RecordedStep>,
    ending: Option<Ending>,
    /// Offset of the end of the last complete frame.
    end: usize,
}

impl PartialRecording {
    fn read(bytes: &[u8], first: usize) -> Result<Self, Damage> {
        let mut draft = Self { end: first, ..Self::default() };
        while let Some(frame) = read_frame(bytes, draft.end, FRAME_KINDS.len() as u8)? {
            let mut scanner = frame.scanner();
            draft.take(&frame, &mut scanner)?;
            if !scanner.is_done() {
                return scanner.damage("expected the end of the frame");
            }
            draft.end = after(&frame);
        }
        if draft.ending.is_some() && draft.end < bytes.len() {
            return Err(Damage { offset: draft.end, message: "expected the end of the file".into() });
        }
        Ok(draft)
    }

    fn take(&mut self, frame: &FileFrame<'_>, scanner: &mut ByteReader<'_>) -> Result<(), Damage> {
        let kind = FRAME_KINDS[usize::from(frame.kind) - 1];
        let in_place = match kind {
            FrameKind::Header => self.header.is_none(),
            FrameKind::File => self.header.is_some() && self.ending.is_none(),
            FrameKind::Start => self.header.is_some() && self.start.is_none(),
            FrameKind::Step | FrameKind::End => self.start.is_some() && self.ending.is_none(),
        };
        if !in_place {
            let message = format!("a frame of kind {} has no place here", frame.kind);
            return Err(Damage { offset: frame.offset, message });
        }
        match kind {
            FrameKind::Header => self.header = Some(Header::read(scanner)?),
            FrameKind::File => {
                let path = scanner.text("the path of a file")?;
                self.files.insert(path, scanner.bytes("the contents of a file")?.to_vec());
            }
            FrameKind::Start => self.start = Some(scanner.word("the hash of the state at the start")?),
            FrameKind::Step => {
                let hash = scanner.word("the hash of a state")?;
                let mut inputs = Vec::new();
                while !scanner.is_done() {
                    inputs.push(Input::read(scanner)?);
                }
                self.steps.push(RecordedStep { inputs, hash });
            }
            FrameKind::End => self.ending = Some(self.read_ending(scanner)?),
        }
        Ok(())
    }

    fn read_ending(&self, scanner: &mut ByteReader<'_>) -> Result<Ending, Damage> {
        let (steps, found) = (scanner.count("the number of steps")?, self.steps.len());
        if steps != found as u64 {
            return scanner.damage(format!("expected {steps} steps before this, found {found}"));
        }
        let code = scanner.byte("how the run ended")?;
        let message = scanner.text("why the run ended")?;
        match code {
            0 => Ok(Ending::Over),
            1 => Ok(Ending::Stopped),
            2 => Ok(Ending::Broken(message)),
            other => scanner.damage(format!("expected an ending of kind 0 to 2 before this, found {other}")),
        }
    }

    fn finish(self) -> Option<Recording> {
        let ending = self.ending.unwrap_or(Ending::CutOff { offset: self.end });
        Some(Recording { header: self.header?, files: self.files, start: self.start?, steps: self.steps, ending })
    }
}
