//! Splits a byte stream into text lines of limited length.

use super::{DecodeStatistics, Decoder, Framing, Reading};

/// Line format of a device.
pub(super) trait LineFormat: Send {
    /// Maximum length of a line without its terminator.
    fn longest(&self) -> usize;
    /// Whether a truncated line can pass for a complete one, so that the first line after joining is ignored.
    fn needs_line_end_first(&self) -> bool;
    /// Parses a line; returns whether it was valid. Adds nothing if not.
    fn read(&mut self, line: &str, out: &mut Vec<Reading>) -> bool;
    /// Clears the state learnt from lines.
    fn reset(&mut self);
    /// Probable misconfiguration, judged by the lines so far.
    fn hint(&self) -> Option<String>;
    /// What to check if nothing can be decoded.
    fn expectation(&self) -> String;
}

/// Decoder of a line format.
pub(super) struct LineDecoder<S> {
    format: S,
    buffer: Vec<u8>,
    /// Whether the buffer holds a line from its start.
    whole: bool,
    /// Whether the last line was valid.
    understood: bool,
    /// Bytes since the last valid line.
    drought: u64,
    statistics: DecodeStatistics,
}

impl<S: LineFormat> LineDecoder<S> {
    pub(super) fn new(format: S) -> Self {
        let whole = !format.needs_line_end_first();
        let statistics = DecodeStatistics::default();
        Self { format, buffer: Vec::new(), whole, understood: false, drought: 0, statistics }
    }

    fn end_line(&mut self, out: &mut Vec<Reading>) {
        let text = std::str::from_utf8(&self.buffer).ok().map(|text| text.trim_end_matches('\r'));
        let is_empty = text.is_some_and(str::is_empty);
        if self.whole && !is_empty {
            if text.is_some_and(|text| self.format.read(text, out)) {
                self.statistics.packets += 1;
                self.understood = true;
                self.drought = 0;
            } else {
                self.lose(self.buffer.len() + 1);
            }
        } else if !self.whole {
            self.lose(self.buffer.len() + 1);
        }
        self.buffer.clear();
        self.whole = true;
    }

    fn lose(&mut self, bytes: usize) {
        self.statistics.resynchronisations += u64::from(std::mem::take(&mut self.understood));
        self.statistics.skipped_bytes += bytes as u64;
        self.drought += bytes as u64;
    }
}

impl<S: LineFormat> Decoder for LineDecoder<S> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Reading>) {
        self.statistics.bytes += bytes.len() as u64;
        for &byte in bytes {
            if byte == b'\n' {
                self.end_line(out);
            } else if self.buffer.len() <= self.format.longest() {
                self.buffer.push(byte);
            } else {
                // Too long for a line: discard everything up to its end.
                self.lose(self.buffer.len() + 1);
                self.buffer.clear();
                self.whole = false;
            }
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
        self.whole = !self.format.needs_line_end_first();
        self.understood = false;
        self.drought = 0;
        self.statistics = DecodeStatistics::default();
        self.format.reset();
    }

    fn hint(&self) -> Option<String> {
        if self.drought < 4 * self.format.longest() as u64 {
            return self.format.hint();
        }
        Some(format!("received bytes but no valid line: {}", self.format.expectation()))
    }
}
