//! Devices with whole packets: USB reports and datagrams.

use super::{DecodeStatistics, Decoder, Framing, Reading};

/// Packet format of a device.
pub(super) trait Packets: Send {
    /// Parses a packet; returns whether it was valid. Adds nothing if not.
    fn read(&mut self, packet: &[u8], out: &mut Vec<Reading>) -> bool;
    /// Clears the state learnt from packets.
    fn reset(&mut self);
    /// Probable misconfiguration, judged by the packets so far.
    fn hint(&self) -> Option<String>;
    /// What to check if nothing can be decoded.
    fn expectation(&self) -> String;
}

/// Decoder of whole packets.
pub(super) struct PacketDecoder<P> {
    packets: P,
    understood: bool,
    /// Packets since the last valid one.
    drought: u64,
    statistics: DecodeStatistics,
}

impl<P: Packets> PacketDecoder<P> {
    pub(super) fn new(packets: P) -> Self {
        Self { packets, understood: false, drought: 0, statistics: DecodeStatistics::default() }
    }
}

impl<P: Packets> Decoder for PacketDecoder<P> {
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
        Some(format!("received packets but none is valid: {}", self.packets.expectation()))
    }
}
