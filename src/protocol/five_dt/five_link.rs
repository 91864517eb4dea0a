//! Command sequence of a wired 5DT Data Glove 5. Commands are single bytes, and the glove buffers only one: `A` resets
//! it (response `55`), `B` and a byte is an echo, `C` requests a packet and turns every further byte except `A` into
//! such a request, `D` starts streaming, `G` requests the information.

use super::super::reading::Reading;
use super::super::{Emulated, Encoder, Host};
use super::five::{FIVE_INFO_LENGTH, FiveEncoder, GloveMode, MARK};

const RESET: u8 = b'A';
const ECHO: u8 = b'B';
const REPORT: u8 = b'C';
const STREAM: u8 = b'D';
const INFO_COMMAND: u8 = b'G';
const PACKET_LENGTH: usize = 9;
/// Unanswered resets before values are requested anyway.
const ATTEMPTS: u32 = 3;

/// Resets the glove, requests its information, and then values.
pub(in super::super) struct FiveHost {
    mode: GloveMode,
    stage: LinkStage,
    attempts: u32,
    /// Bytes of the expected response.
    received: usize,
}

#[derive(PartialEq)]
enum LinkStage {
    Resetting,
    Asking,
    Running,
}

impl FiveHost {
    pub(in super::super) fn new(mode: GloveMode) -> Self {
        Self { mode, stage: LinkStage::Resetting, attempts: 0, received: 0 }
    }

    fn run(&mut self) -> Vec<Vec<u8>> {
        self.stage = LinkStage::Running;
        self.received = 0;
        vec![vec![if self.mode == GloveMode::Stream { STREAM } else { REPORT }]]
    }
}

impl Host for FiveHost {
    fn start(&mut self) -> Vec<Vec<u8>> {
        (self.stage, self.attempts, self.received) = (LinkStage::Resetting, 1, 0);
        vec![vec![RESET]]
    }

    fn receive(&mut self, bytes: &[u8]) -> Vec<Vec<u8>> {
        self.received += bytes.len();
        match self.stage {
            // Values still in transit from an earlier stream may look like the response. The request is then lost, and
            // the timeout continues the sequence.
            LinkStage::Resetting if bytes.contains(&MARK) => {
                (self.stage, self.received) = (LinkStage::Asking, 0);
                vec![vec![INFO_COMMAND]]
            }
            LinkStage::Asking if self.received >= FIVE_INFO_LENGTH => self.run(),
            LinkStage::Running if self.mode == GloveMode::Report && self.received >= PACKET_LENGTH => {
                self.received = 0;
                vec![vec![REPORT]]
            }
            _ => Vec::new(),
        }
    }

    fn silence(&mut self) -> Vec<Vec<u8>> {
        match self.stage {
            LinkStage::Resetting if self.attempts < ATTEMPTS => {
                self.attempts += 1;
                vec![vec![RESET]]
            }
            LinkStage::Running if self.mode == GloveMode::Stream => self.start(),
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
    state: LinkState,
}

#[derive(Clone, Copy, PartialEq)]
enum LinkState {
    Idle,
    Echo,
    Report,
    Stream,
}

impl EmulatedFive {
    pub(in super::super) fn new(encoder: FiveEncoder) -> Self {
        Self { encoder, state: LinkState::Idle }
    }
}

impl Emulated for EmulatedFive {
    fn set(&mut self, reading: &Reading) {
        self.encoder.set(reading);
    }

    fn receive(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut response = Vec::new();
        for &byte in bytes {
            self.state = match (self.state, byte) {
                (LinkState::Echo, byte) => {
                    response.push(byte);
                    LinkState::Idle
                }
                (_, RESET) => {
                    response.push(MARK);
                    LinkState::Idle
                }
                (LinkState::Report, _) | (LinkState::Idle, REPORT) => {
                    self.encoder.nine(&mut response);
                    LinkState::Report
                }
                (LinkState::Idle, ECHO) => LinkState::Echo,
                (LinkState::Idle, STREAM) => LinkState::Stream,
                (LinkState::Idle, INFO_COMMAND) => {
                    response.extend(self.encoder.info());
                    LinkState::Idle
                }
                (state, _) => state,
            };
        }
        response
    }

    fn sample(&mut self) -> Vec<u8> {
        let mut packet = Vec::new();
        if self.state == LinkState::Stream {
            self.encoder.packet(&mut packet);
        }
        packet
    }
}
