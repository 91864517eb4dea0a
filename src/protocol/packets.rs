//! Devices whose packets come whole: reports of USB and datagrams.

use super::{DecodeStatistics, Decoder, Framing, Reading};

/// The packets of a device, each complete.
pub(super) trait Packets: Send {
    /// Reads a packet; whether it was one. Adds nothing if it was not.
    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool;
    /// Forgets what it learnt from packets.
    fn reset(&mut self);
    /// What the packets read so far make likely to be wrong.
    fn hint(&self) -> Option<String>;
    /// What to check when nothing is understood.
    fn expectation(&self) -> String;
}

/// The decoder of whole packets.
pub(super) struct Packeted<P> {
    packets: P,
    understood: bool,
    /// Packets since one was understood.
    drought: u64,
    statistics: DecodeStatistics,
}

impl<P: Packets> Packeted<P> {
    pub(super) fn new(packets: P) -> Self {
        Self { packets, understood: false, drought: 0, statistics: DecodeStatistics::default() }
    }
}

impl<P: Packets> Decoder for Packeted<P> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Reading>) {
        self.statistics.bytes += bytes.len() as u64;
        if self.packets.read(bytes, out) {
            self.statistics.packets += 1;
            self.understood = true;
            self.drought = 0;
        } else if !bytes.is_empty() {
            self.statistics.resynchronisations += u64::from(std::mem::take(&mut self.understood));
            self.statistics.skipped_bytes += bytes.len() as u64;
            self.drought += 1;
        }
    }

    fn framing(&self) -> Framing {
        Framing::Packets
    }

    fn statistics(&self) -> DecodeStatistics {
        self.statistics
    }

    fn buffered(&self) -> usize {
        0
    }

    fn reset(&mut self) {
        self.understood = false;
        self.drought = 0;
        self.statistics = DecodeStatistics::default();
        self.packets.reset();
    }

    fn hint(&self) -> Option<String> {
        if self.drought < 20 {
            return self.packets.hint();
        }
        Some(format!("packets come that make no sense: {}", self.packets.expectation()))
    }
}
