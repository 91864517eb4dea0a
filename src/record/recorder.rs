use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use super::FORMAT;
use super::bytes::{put_count, put_text, put_word};
use super::error::WriteError;
use super::frame::put_frame;
use super::header::Header;
use super::input::Input;
use super::recording::{Ending, FrameKind, MAGIC};

/// Writes a recording while a run goes on.
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
    /// Begins a recording: what was run, the files that it was made from so far, and the hash of the state before the first step.
    pub fn create(file: &Path, header: &Header, files: &[(String, String)], start: u64) -> Result<Self, WriteError> {
        let out = BufWriter::new(File::create(file).map_err(WriteError::of(file))?);
        let (payload, frame) = (Vec::new(), Vec::new());
        let mut recorder = Self { file: file.into(), out, payload, frame, steps: 0, files: 0 };
        let format = [&MAGIC[..], &FORMAT.to_le_bytes()].concat();
        recorder.out.write_all(&format).map_err(WriteError::of(file))?;
        recorder.put(FrameKind::Header, |payload| header.put(payload))?;
        recorder.add_files(files)?;
        recorder.put(FrameKind::Start, |payload| put_word(payload, start))?;
        recorder.flush()?;
        Ok(recorder)
    }

    /// Keeps files that the run has read since.
    pub fn add_files(&mut self, files: &[(String, String)]) -> Result<(), WriteError> {
        self.files += files.len();
        files.iter().try_for_each(|(path, text)| {
            self.put(FrameKind::File, |payload| {
                put_text(payload, path);
                put_text(payload, text);
            })
        })
    }

    /// Files kept so far.
    pub fn files(&self) -> usize {
        self.files
    }

    /// Keeps a step: what came from outside before it, and the hash of the state after it. It is handed to the system at once, so that a
    /// program that is killed loses the step under way and no other.
    pub fn add_step(&mut self, inputs: &[Input], hash: u64) -> Result<(), WriteError> {
        self.put(FrameKind::Step, |payload| {
            put_word(payload, hash);
            inputs.iter().for_each(|input| input.put(payload));
        })?;
        self.steps += 1;
        self.flush()
    }

    /// Says how the run ended, and makes sure that everything is in the file.
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
