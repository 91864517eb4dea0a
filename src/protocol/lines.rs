//! From bytes to lines of text, none longer than the device sends.

use super::{DecodeStatistics, Decoder, Framing, Reading};

/// The lines of a device.
pub(super) trait Script: Send {
    /// The longest line, without its end.
    fn longest(&self) -> usize;
    /// Whether a line that lost its beginning can pass for a whole one, so that the first after joining is not believed.
    fn needs_line_end_first(&self) -> bool;
    /// Reads a line; whether it was one. Adds nothing if it was not.
    fn read(&mut self, line: &str, out: &mut Vec<Reading>) -> bool;
    /// Forgets what it learnt from lines.
    fn reset(&mut self);
    /// What the lines read so far make likely to be wrong.
    fn hint(&self) -> Option<String>;
    /// What to check when nothing is understood.
    fn expectation(&self) -> String;
}

/// The decoder of a script.
pub(super) struct Lined<S> {
    script: S,
    buffer: Vec<u8>,
    /// Whether the buffer holds a line from its beginning.
    whole: bool,
    /// Whether the last line was understood.
    understood: bool,
    /// Bytes since a line was understood.
    drought: u64,
    statistics: DecodeStatistics,
}

impl<S: Script> Lined<S> {
    pub(super) fn new(script: S) -> Self {
        let whole = !script.needs_line_end_first();
        let statistics = DecodeStatistics::default();
        Self { script, buffer: Vec::new(), whole, understood: false, drought: 0, statistics }
    }

    fn end_line(&mut self, out: &mut Vec<Reading>) {
        let text = std::str::from_utf8(&self.buffer).ok().map(|text| text.trim_end_matches('\r'));
        let is_empty = text.is_some_and(str::is_empty);
        if self.whole && !is_empty {
            if text.is_some_and(|text| self.script.read(text, out)) {
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

impl<S: Script> Decoder for Lined<S> {
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Reading>) {
        self.statistics.bytes += bytes.len() as u64;
        for &byte in bytes {
            if byte == b'\n' {
                self.end_line(out);
            } else if self.buffer.len() <= self.script.longest() {
                self.buffer.push(byte);
            } else {
                // No line is so long: what comes up to its end is lost.
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
        self.whole = !self.script.needs_line_end_first();
        self.understood = false;
        self.drought = 0;
        self.statistics = DecodeStatistics::default();
        self.script.reset();
    }

    fn hint(&self) -> Option<String> {
        if self.drought < 4 * self.script.longest() as u64 {
            return self.script.hint();
        }
        Some(format!("bytes come without a line that makes sense among them: {}", self.script.expectation()))
    }
}
