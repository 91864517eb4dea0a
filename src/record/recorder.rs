use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::bytes::{put_bytes, put_count, put_text, put_word};
use super::error::WriteError;
use super::frame::put_frame;
use super::header::Header;
use super::input::Input;
use super::recording::{Ending, FrameKind, RUN};

/// Writes a recording during a run.
#[derive(Debug)]
pub struct Recorder {
    file: PathBuf,
    out: BufWriter<File>,
    payload: Vec<u8>,
    frame: Vec<u8>,
    steps: u64,
    files: usize,
}

impl Recorder {
    /// Starts a recording: the header, the files read so far, and the hash of the initial state.
    pub fn create(file: &Path, header: &Header, files: &[(String, Vec<u8>)], start: u64) -> Result<Self, WriteError> {
        let out = BufWriter::new(File::create(file).map_err(WriteError::of(file))?);
        let (payload, frame) = (Vec::new(), Vec::new());
        let mut recorder = Self { file: file.into(), out, payload, frame, steps: 0, files: 0 };
        recorder.out.write_all(&RUN.head()).map_err(WriteError::of(file))?;
        recorder.put(FrameKind::Header, |payload| header.put(payload))?;
        recorder.add_files(files)?;
        recorder.put(FrameKind::Start, |payload| put_word(payload, start))?;
        recorder.flush()?;
        Ok(recorder)
    }

    /// Records files that the run has read since.
    pub fn add_files(&mut self, files: &[(String, Vec<u8>)]) -> Result<(), WriteError> {
        self.files += files.len();
        files.iter().try_for_each(|(path, contents)| {
            self.put(FrameKind::File, |payload| {
                put_text(payload, path);
                put_bytes(payload, contents);
            })
        })
    }

    /// The file that is written.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Number of files recorded so far.
    pub fn files(&self) -> usize {
        self.files
    }

    /// Records a step: its external inputs, and the state hash after it. It is written at once, so that a killed
    /// program loses only the current step.
    pub fn add_step(&mut self, inputs: &[Input], hash: u64) -> Result<(), WriteError> {
        self.put(FrameKind::Step, |payload| {
            put_word(payload, hash);
            inputs.iter().for_each(|input| input.put(payload));
        })?;
        self.steps += 1;
        self.flush()
    }

    /// Records how the run ended, and flushes the file.
    pub fn finish(mut self, ending: &Ending) -> Result<(), WriteError> {
        let steps = self.steps;
        if let Some(code) = ending.code() {
            self.put(FrameKind::End, |payload| {
                put_count(payload, steps);
                payload.push(code);
                put_text(payload, ending.message());
            })?;
        }
        self.flush()
    }

    fn put(&mut self, kind: FrameKind, fill: impl FnOnce(&mut Vec<u8>)) -> Result<(), WriteError> {
        self.payload.clear();
        self.frame.clear();
        fill(&mut self.payload);
        put_frame(&mut self.frame, kind as u8, &self.payload);
        self.out.write_all(&self.frame).map_err(WriteError::of(&self.file))
    }

    fn flush(&mut self) -> Result<(), WriteError> {
        self.out.flush().map_err(WriteError::of(&self.file))
    }
}
