//! Command sequence of a wired 5DT Data Glove 5. Commands are single bytes, and the glove buffers only one: `A` resets
//! it (response `55`), `B` and a byte is an echo, `C` requests a packet and turns every further byte except `A` into
//! such a request, `D` starts streaming, `G` requests the information.

use super::super::reading::Reading;
use super::super::{Emulated, Encoder, Host};
use super::five::{FiveEncoder, GloveMode, INFO_LENGTH, MARK};

const RESET: u8 = b'A';
const ECHO: u8 = b'B';
const REPORT: u8 = b'C';
const STREAM: u8 = b'D';
const INFO: u8 = b'G';
const PACKET_LENGTH: usize = 9;
/// Unanswered resets before values are requested anyway.
const ATTEMPTS: u32 = 3;

/// Resets the glove, requests its information, and then values.
pub(in super::super) struct FiveHost {
    mode: GloveMode,
    stage: Stage,
    attempts: u32,
    /// Bytes of the expected response.
    answered: usize,
}

#[derive(PartialEq)]
enum Stage {
    Resetting,
    Asking,
    Running,
}

impl FiveHost {
    pub(in super::super) fn new(mode: GloveMode) -> Self {
        Self { mode, stage: Stage::Resetting, attempts: 0, answered: 0 }
    }

    fn run(&mut self) -> Vec<Vec<u8>> {
        self.stage = Stage::Running;
        self.answered = 0;
        vec![vec![if self.mode == GloveMode::Stream { STREAM } else { REPORT }]]
    }
}

impl Host for FiveHost {
    fn start(&mut self) -> Vec<Vec<u8>> {
        (self.stage, self.attempts, self.answered) = (Stage::Resetting, 1, 0);
        vec![vec![RESET]]
    }

    fn heard(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.answered += bytes.len();
        match self.stage {
            // Values still in transit from an earlier stream may look like the response. The request is then lost, and
            // the timeout continues the sequence.
            Stage::Resetting if bytes.contains(&MARK) => {
                (self.stage, self.answered) = (Stage::Asking, 0);
                vec![vec![INFO]]
            }
            Stage::Asking if self.answered >= INFO_LENGTH => self.run(),
            Stage::Running if self.mode == GloveMode::Report && self.answered >= PACKET_LENGTH => {
                self.answered = 0;
                vec![vec![REPORT]]
            }
            _ => Vec::new(),
        }
    }

    fn silence(&mut self) -> Vec<Vec<u8>> {
        match self.stage {
            Stage::Resetting if self.attempts < ATTEMPTS => {
                self.attempts += 1;
                vec![vec![RESET]]
            }
            Stage::Running if self.mode == GloveMode::Stream => self.start(),
            _ => self.run(),
        }
    }

    fn stop(&mut self) -> Vec<Vec<u8>> {
        vec![vec![RESET]]
    }
}

/// Emulated wired glove.
pub(in super::super) struct EmulatedFive {
    encoder: FiveEncoder,
    state: State,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Idle,
    Echo,
    Report,
    Stream,
}

impl EmulatedFive {
    pub(in super::super) fn new(encoder: FiveEncoder) -> Self {
        Self { encoder, state: State::Idle }
    }
}

impl Emulated for EmulatedFive {
    fn set(&mut self, reading: &Reading) {
        self.encoder.set(reading);
    }

    fn receive(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut answer = Vec::new();
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (State::Echo, byte) => {
                    answer.push(byte);
                    State::Idle
                }
                (_, RESET) => {
                    answer.push(MARK);
                    State::Idle
                }
                (State::Report, _) | (State::Idle, REPORT) => {
                    self.encoder.nine(&mut answer);
                    State::Report
                }
                (State::Idle, ECHO) => State::Echo,
                (State::Idle, STREAM) => State::Stream,
                (State::Idle, INFO) => {
                    answer.extend(self.encoder.info());
                    State::Idle
                }
                (state, _) => state,
            };
        }
        answer
    }

    fn sample(&mut self) -> Vec<u8> {
        let mut packet = Vec::new();
        if self.state == State::Stream {
            self.encoder.packet(&mut packet);
        }
        packet
    }
}
