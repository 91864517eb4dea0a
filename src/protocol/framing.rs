//! Splits a byte stream into packets. Header bytes also occur within data, and a serial stream is joined mid-packet,
//! loses bytes and contains noise. A header alone is therefore no proof: a packet boundary is accepted after several
//! valid packets in a row, and searched again after the first invalid one.

use super::{DecodeStatistics, Decoder, Framing, Reading};

/// Result of parsing the start of a buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PacketStart {
    /// A packet.
    Whole {
        /// Length in bytes.
        length: usize,
        /// Evidence for the packet boundary; [`BOUNDARY_EVIDENCE`] in a row is accepted.
        evidence: u32,
        /// Preference among several accepted boundaries; the highest wins.
        likelihood: u32,
    },
    /// Possibly a packet; more bytes are needed.
    Partial,
    /// Not a packet.
    Wrong(FramingFault),
}

/// Reason why the bytes are not a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FramingFault {
    /// No header.
    Header,
    /// Wrong checksum.
    Checksum,
    /// Wrong checksum, but correct for another checksum type.
    OtherChecksum,
}

/// Evidence required to accept a boundary.
pub(super) const BOUNDARY_EVIDENCE: u32 = 2;

/// Packet layout of a device.
pub(super) trait PacketLayout: Send {
    /// Length of a value packet in bytes.
    fn length(&self) -> usize;
    /// Whether the packets have so little structure that a stream can look valid at several offsets.
    fn is_ambiguous(&self) -> bool {
        false
    }
    /// Parses the start of the buffer. Decides within a few packet lengths; an empty buffer is `Partial`.
    fn front(&self, bytes: &[u8]) -> PacketStart;
    /// Reads a whole packet; returns whether it counts as one.
    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool;
    /// The packet boundary is lost.
    fn lost(&mut self) {}
    /// Clears the state learnt from packets.
    fn reset(&mut self) {}
    /// Probable misconfiguration, judged by the packets so far.
    fn hint(&self) -> Option<String> {
        None
    }
    /// What to check if nothing can be decoded: device and baud rate.
    fn expectation(&self) -> String;
    /// What to do if packets have another checksum.
    fn other_checksum(&self) -> String {
        "the packets use another checksum".into()
    }
}

/// Bytes since the last packet, and why they were rejected.
#[derive(Clone, Copy, Debug, Default)]
struct InvalidRun {
    skipped: u64,
    checksums: u64,
    other_checksums: u64,
}

/// Decoder of a packet layout.
pub(super) struct StreamDecoder<L> {
    layout: L,
    buffer: Vec<u8>,
    /// Whether the start of the buffer is an accepted packet boundary.
    locked: bool,
    /// Bytes until another wrong checksum counts: a corrupt packet contains bytes that look like headers.
    counted: usize,
    drought: InvalidRun,
    statistics: DecodeStatistics,
}

/// Whether a boundary is accepted.
enum Prospect {
    Good(u32),
    Open,
    Bad(FramingFault),
}

impl<L: PacketLayout> StreamDecoder<L> {
    pub(super) fn new(layout: L) -> Self {
        Self {
            layout,
            buffer: Vec::new(),
            locked: false,
            counted: 0,
            drought: InvalidRun::default(),
            statistics: DecodeStatistics::default(),
        }
    }

    fn advance(&mut self, out: &mut Vec<Reading>) {
        loop {
            if self.locked {
                match self.layout.front(&self.buffer) {
                    PacketStart::Whole { length, .. } => self.take(length, out),
                    PacketStart::Partial => return,
                    PacketStart::Wrong(_) => {
                        self.locked = false;
                        self.layout.lost();
                        self.statistics.resynchronisations += 1;
                    }
                }
            } else {
                match self.prospect(0) {
                    Prospect::Open => return,
                    Prospect::Bad(fault) => self.skip(1, fault),
                    Prospect::Good(likelihood) => match self.likeliest(likelihood) {
                        None => return,
                        Some(offset) => {
                            self.skip(offset, FramingFault::Header);
                            self.locked = true;
                        }
                    },
                }
            }
        }
    }

    /// Follows the packets from an offset until the boundary is accepted or a packet is invalid.
    fn prospect(&self, mut at: usize) -> Prospect {
        let (mut evidence, mut likelihood, mut idle) = (0, 0, true);
        loop {
            match self.layout.front(&self.buffer[at..]) {
                // Unproved bytes may occur once between packets, not before the first.
                PacketStart::Whole { evidence: 0, .. } if idle => return Prospect::Bad(FramingFault::Header),
                PacketStart::Whole { length, evidence: e, likelihood: l } => {
                    (at, evidence, likelihood, idle) = (at + length, evidence + e, likelihood + l, e == 0);
                    if evidence >= BOUNDARY_EVIDENCE {
                        return Prospect::Good(likelihood);
                    }
                }
                PacketStart::Partial => return Prospect::Open,
                // The fault of the first packet is the reported reason; those of later ones only mean that it stands
                // alone.
                PacketStart::Wrong(fault) if evidence == 0 => return Prospect::Bad(fault),
                PacketStart::Wrong(_) => return Prospect::Bad(FramingFault::Header),
            }
        }
    }

    /// The most plausible offset within one packet, given the score of the first; `None` while undecided.
    fn likeliest(&self, first: u32) -> Option<usize> {
        let mut best = (first, 0);
        if self.layout.is_ambiguous() {
            for offset in 1..self.layout.length() {
                match self.prospect(offset) {
                    Prospect::Open => return None,
                    Prospect::Good(likelihood) if likelihood > best.0 => best = (likelihood, offset),
                    _ => {}
                }
            }
        }
        Some(best.1)
    }

    fn take(&mut self, length: usize, out: &mut Vec<Reading>) {
        if self.layout.read(&self.buffer[..length], out) {
            self.statistics.packets += 1;
            self.drought = InvalidRun::default();
            self.counted = 0;
        }
        self.buffer.drain(..length);
    }

    fn skip(&mut self, bytes: usize, fault: FramingFault) {
        if fault != FramingFault::Header && self.counted == 0 {
            self.counted = self.layout.length();
            self.statistics.bad_checksums += 1;
            self.drought.checksums += 1;
        }
        if fault == FramingFault::OtherChecksum {
            self.drought.other_checksums += 1;
        }
        self.counted = self.counted.saturating_sub(bytes);
        self.statistics.skipped_bytes += bytes as u64;
        self.drought.skipped += bytes as u64;
        self.buffer.drain(..bytes);
    }
}

impl<L: PacketLayout> Decoder for StreamDecoder<L> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Reading>) {
        self.statistics.bytes += bytes.len() as u64;
        // Byte by byte, so that the buffer never holds more than needed for a decision.
        for &byte in bytes {
            self.buffer.push(byte);
            self.advance(out);
        }
    }

    fn framing(&self) -> Framing {
        Framing::Stream
    }

    fn statistics(&self) -> DecodeStatistics {
        self.statistics
    }

    fn buffered(&self) -> usize {
        self.buffer.len()
    }

    fn reset(&mut self) {
        self.buffer.clear();
        self.locked = false;
        self.counted = 0;
        self.drought = InvalidRun::default();
        self.statistics = DecodeStatistics::default();
        self.layout.reset();
    }

    fn hint(&self) -> Option<String> {
        let InvalidRun { skipped, checksums, other_checksums } = self.drought;
        if skipped < HINT_AFTER * self.layout.length() as u64 {
            return self.layout.hint();
        }
        Some(if 4 * other_checksums > checksums && checksums > 0 {
            self.layout.other_checksum()
        } else if checksums * self.layout.length() as u64 > skipped / 2 {
            "no received packet has a correct checksum: the line is noisy, or the checksum type is wrong".into()
        } else {
            format!("received bytes but no valid packet: {}", self.layout.expectation())
        })
    }
}

/// Packet lengths of invalid data before a hint is given.
const HINT_AFTER: u64 = 20;
