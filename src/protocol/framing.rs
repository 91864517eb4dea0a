//! From bytes to packets. A header byte also occurs within data, and a serial line is joined in the middle of a packet,
//! loses bytes and picks up noise. So a header alone proves nothing: the beginning of packets is believed once several in a
//! row are right, and looked for again at the first that is not.

use super::{DecodeStatistics, Decoder, Framing, Reading};

/// What stands at the front of some bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Front {
    /// A packet.
    Whole {
        /// Its bytes.
        length: usize,
        /// What it proves of where packets begin; [`ENOUGH`] in a row are believed.
        evidence: u32,
        /// Which of several beginnings to take when all are proved: the likelier.
        likelihood: u32,
    },
    /// Maybe a packet, once more bytes have come.
    Partial,
    /// No packet.
    Wrong(Fault),
}

/// Why there is no packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// It does not begin like one.
    Header,
    /// Its checksum is wrong.
    Checksum,
    /// Its checksum is wrong, and right for another way to sum.
    OtherChecksum,
}

/// Evidence that is believed.
pub(super) const ENOUGH: u32 = 2;

/// The packets of a device.
pub(super) trait Layout: Send {
    /// Bytes of the packet with the values.
    fn length(&self) -> usize;
    /// Whether packets are so poor in structure that a stream can look right at several beginnings.
    fn is_ambiguous(&self) -> bool {
        false
    }
    /// What stands at the front. Never longer than a few packets before it is decided, nothing at all is `Partial`.
    fn front(&self, bytes: &[u8]) -> Front;
    /// Reads a whole packet; whether it was one to be counted.
    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool;
    /// The beginning of packets is in doubt.
    fn lost(&mut self) {}
    /// Forgets what it learnt from packets.
    fn reset(&mut self) {}
    /// What the packets read so far make likely to be wrong.
    fn hint(&self) -> Option<String> {
        None
    }
    /// What to check when nothing is understood: the usual speed of the line and what should be behind it.
    fn expectation(&self) -> String;
    /// What to do when packets end in another checksum.
    fn other_checksum(&self) -> String {
        "the checksum of the packets is of another kind".into()
    }
}

/// Bytes that came since the last packet, and why they were none.
#[derive(Clone, Copy, Debug, Default)]
struct Drought {
    skipped: u64,
    checksums: u64,
    other_checksums: u64,
}

/// The decoder of a layout.
pub(super) struct Framed<L> {
    layout: L,
    buffer: Vec<u8>,
    /// Whether the front of the buffer is believed to be the beginning of a packet.
    locked: bool,
    /// Bytes to go before another wrong checksum counts: a packet that is wrong holds bytes that look like a header.
    counted: usize,
    drought: Drought,
    statistics: DecodeStatistics,
}

/// Whether a beginning is believed.
enum Prospect {
    Good(u32),
    Open,
    Bad(Fault),
}

impl<L: Layout> Framed<L> {
    pub(super) fn new(layout: L) -> Self {
        Self {
            layout,
            buffer: Vec::new(),
            locked: false,
            counted: 0,
            drought: Drought::default(),
            statistics: DecodeStatistics::default(),
        }
    }

    fn advance(&mut self, out: &mut Vec<Reading>) {
        loop {
            if self.locked {
                match self.layout.front(&self.buffer) {
                    Front::Whole { length, .. } => self.take(length, out),
                    Front::Partial => return,
                    Front::Wrong(_) => {
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
                            self.skip(offset, Fault::Header);
                            self.locked = true;
                        }
                    },
                }
            }
        }
    }

    /// Follows the packets from an offset until they are believed or one is wrong.
    fn prospect(&self, mut at: usize) -> Prospect {
        let (mut evidence, mut likelihood, mut idle) = (0, 0, true);
        loop {
            match self.layout.front(&self.buffer[at..]) {
                // What proves nothing may stand once between packets, not before the first.
                Front::Whole { evidence: 0, .. } if idle => return Prospect::Bad(Fault::Header),
                Front::Whole { length, evidence: e, likelihood: l } => {
                    (at, evidence, likelihood, idle) = (at + length, evidence + e, likelihood + l, e == 0);
                    if evidence >= ENOUGH {
                        return Prospect::Good(likelihood);
                    }
                }
                Front::Partial => return Prospect::Open,
                // The fault of the first is why it is skipped; those behind it only say that it stands alone.
                Front::Wrong(fault) if evidence == 0 => return Prospect::Bad(fault),
                Front::Wrong(_) => return Prospect::Bad(Fault::Header),
            }
        }
    }

    /// The offset within one packet where beginning is likeliest, given how likely the first is; `None` if it is still open.
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
            self.drought = Drought::default();
            self.counted = 0;
        }
        self.buffer.drain(..length);
    }

    fn skip(&mut self, bytes: usize, fault: Fault) {
        if fault != Fault::Header && self.counted == 0 {
            self.counted = self.layout.length();
            self.statistics.bad_checksums += 1;
            self.drought.checksums += 1;
        }
        if fault == Fault::OtherChecksum {
            self.drought.other_checksums += 1;
        }
        self.counted = self.counted.saturating_sub(bytes);
        self.statistics.skipped_bytes += bytes as u64;
        self.drought.skipped += bytes as u64;
        self.buffer.drain(..bytes);
    }
}

impl<L: Layout> Decoder for Framed<L> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Reading>) {
        self.statistics.bytes += bytes.len() as u64;
        // By the byte, so that the buffer never holds more than is needed to decide.
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
        self.drought = Drought::default();
        self.statistics = DecodeStatistics::default();
        self.layout.reset();
    }

    fn hint(&self) -> Option<String> {
        let Drought { skipped, checksums, other_checksums } = self.drought;
        if skipped < PATIENCE * self.layout.length() as u64 {
            return self.layout.hint();
        }
        Some(if 4 * other_checksums > checksums && checksums > 0 {
            self.layout.other_checksum()
        } else if checksums * self.layout.length() as u64 > skipped / 2 {
            "packets come and none has a right checksum: the line is noisy, or the checksum is of another kind".into()
        } else {
            format!("bytes come without a packet among them: {}", self.layout.expectation())
        })
    }
}

/// Packets' worth of nonsense before something is said about it.
const PATIENCE: u64 = 20;
