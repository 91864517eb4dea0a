use std::collections::VecDeque;

/// The transmission line of a device: bytes leave in order at the baud rate.
#[derive(Debug)]
pub(super) struct TransmitLine {
    /// Transmission time of a byte, s; `None` if packets leave as a whole.
    byte_time: f64,
    /// Time at which all bytes have left, s.
    free: f64,
    queue: VecDeque<Leaving>,
}

#[derive(Debug)]
struct Leaving {
    at: f64,
    byte: u8,
    end: Option<PacketEnd>,
}

/// The last byte of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PacketEnd {
    /// Bytes up to and with it.
    pub offset: usize,
    /// Packet number from 0; `None` for other data.
    pub packet: Option<u64>,
}

impl TransmitLine {
    /// A line with a baud rate; without one packets leave as a whole, like datagrams.
    pub fn new(baud: Option<u32>) -> Self {
        // A start bit, eight data bits, a stop bit.
        let byte_time = baud.map_or(0.0, |baud| 10.0 / f64::from(baud.max(1)));
        Self { byte_time, free: 0.0, queue: VecDeque::new() }
    }

    /// Queues bytes that take the time of `wire` bytes: a receiver at another baud rate may see more or fewer.
    pub fn put(&mut self, now: f64, bytes: &[u8], sent: usize, packet: Option<u64>) {
        let start = self.free.max(now);
        let time = self.byte_time * sent as f64;
        self.free = start + time;
        for (index, &byte) in bytes.iter().enumerate() {
            let is_last = index + 1 == bytes.len();
            let at = start + time * (index + 1) as f64 / bytes.len() as f64;
            self.queue.push_back(Leaving { at, byte, end: is_last.then_some(PacketEnd { offset: 0, packet }) });
        }
    }

    /// Time at which all bytes will have left.
    pub fn free(&self) -> f64 {
        self.free
    }

    /// Time at which the next byte leaves, and the last of those queued.
    pub fn leaving(&self) -> Option<(f64, f64)> {
        Some((self.queue.front()?.at, self.queue.back()?.at))
    }

    /// Takes the bytes that have left by now.
    pub fn take(&mut self, now: f64, bytes: &mut Vec<u8>, ends: &mut Vec<PacketEnd>) {
        while let Some(leaving) = self.queue.pop_front_if(|leaving| leaving.at <= now) {
            bytes.push(leaving.byte);
            ends.extend(leaving.end.map(|end| PacketEnd { offset: bytes.len(), ..end }));
        }
    }

    /// Discards queued bytes.
    pub fn clear(&mut self) {
        self.queue.clear();
        self.free = 0.0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(line: &mut TransmitLine, now: f64) -> (Vec<u8>, Vec<PacketEnd>) {
        let (mut bytes, mut ends) = (Vec::new(), Vec::new());
        line.take(now, &mut bytes, &mut ends);
        (bytes, ends)
    }

    #[test]
    fn bytes_leave_at_the_baud_rate_without_drift() {
        let mut line = TransmitLine::new(Some(19200));
        line.put(1.0, b"abc", 3, Some(0));
        line.put(1.0, b"de", 2, Some(1));
        assert!((line.free() - (1.0 + 50.0 / 19200.0)).abs() < 1e-12);
        assert_eq!(take(&mut line, 1.0).0, b"");
        assert_eq!(take(&mut line, 1.0 + 10.1 / 19200.0).0, b"a");
        let (bytes, ends) = take(&mut line, 1.0 + 40.1 / 19200.0);
        assert_eq!((bytes.as_slice(), ends.as_slice()), (&b"bcd"[..], &[PacketEnd { offset: 2, packet: Some(0) }][..]));
        let (bytes, ends) = take(&mut line, 9.0);
        assert_eq!((bytes.as_slice(), ends[0]), (&b"e"[..], PacketEnd { offset: 1, packet: Some(1) }));
        assert_eq!(line.leaving(), None);
        // One minute of packets that saturate the line, polled irregularly: exactly as many bytes as the baud rate
        // allows.
        let mut sent = 0;
        let mut line = TransmitLine::new(Some(19200));
        for step in 1..=6000 {
            let now = 0.01 * f64::from(step);
            while line.free() < now {
                line.put(0.0, &[0; 10], 10, None);
            }
            sent += take(&mut line, now).0.len();
        }
        assert!((115_199..=115_200).contains(&sent), "{sent}");
    }

    #[test]
    fn datagrams_leave_whole_and_at_once() {
        let mut line = TransmitLine::new(None);
        line.put(1.0, b"abc", 3, Some(0));
        line.put(1.5, b"", 0, Some(1));
        assert_eq!(take(&mut line, 1.0), (b"abc".to_vec(), vec![PacketEnd { offset: 3, packet: Some(0) }]));
        assert_eq!(take(&mut line, 2.0).1, []);
        line.put(2.0, b"x", 1, None);
        line.clear();
        assert_eq!(take(&mut line, 9.0).0, b"");
    }
}
