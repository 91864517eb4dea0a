//! Raw bytes exchanged with a device, with times. `docs/raw_bytes.md` describes the file.

use std::io::Write;
use std::path::Path;
use std::time::Duration;

use super::bytes::{ByteReader, put_bytes, put_count, put_text};
use super::error::{Damage, RecordError, RecordingKind};
use super::frame::{after, put_frame, read_frame};

/// File extension of raw recordings.
pub const RAW_EXTENSION: &str = "fpraw";
/// Format version.
pub const RAW_FORMAT: u16 = 1;

/// A recording of the bytes of a device; the magic number is like that of [`super::recording::RUN`].
const RAW: RecordingKind = RecordingKind {
    magic: *b"\x89FPW\r\n\x1a\n",
    format: RAW_FORMAT,
    expected: "recording of a device; expected a file written by `devices record`",
    missing: "it says what device it is of",
};

const HEADER_FRAME: u8 = 1;
const DATA_FRAME: u8 = 2;
const RAW_KINDS: u8 = 2;

/// Header of a raw recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawHeader {
    /// Version of the program that wrote it.
    pub program: String,
    /// The device profile, one of the files.
    pub profile: String,
    /// The profile and every file that it is based on: path and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// Baud rate; 0 if there is none.
    pub baud: u32,
    /// Start time, s since 1970; informational.
    pub began: u64,
}

/// Kind of event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RawEvent {
    /// Bytes from the device.
    Received = 0,
    /// Bytes to the device.
    Sent = 1,
    /// The port was opened.
    Opened = 2,
    /// The port was lost.
    Lost = 3,
}

const EVENTS: [RawEvent; 4] = [RawEvent::Received, RawEvent::Sent, RawEvent::Opened, RawEvent::Lost];

/// One event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRecord {
    /// Time since the start of the recording, from a monotonic clock.
    pub time: Duration,
    /// Kind.
    pub event: RawEvent,
    /// The bytes, in one chunk.
    pub bytes: Vec<u8>,
}

/// Writes a recording.
pub struct RawRecorder<W: Write> {
    out: W,
    last: Duration,
    payload: Vec<u8>,
    frame: Vec<u8>,
}

impl<W: Write> RawRecorder<W> {
    /// Starts a recording.
    pub fn new(mut out: W, header: &RawHeader) -> std::io::Result<Self> {
        out.write_all(&RAW.head())?;
        let mut recorder = Self { out, last: Duration::ZERO, payload: Vec::new(), frame: Vec::new() };
        recorder.put(HEADER_FRAME, |payload| header.put(payload))?;
        recorder.flush()?;
        Ok(recorder)
    }

    /// Records an event at a time since the start. Times are made monotonic.
    pub fn add(&mut self, time: Duration, event: RawEvent, bytes: &[u8]) -> std::io::Result<()> {
        let since = time.saturating_sub(self.last);
        self.last += since;
        self.put(DATA_FRAME, |payload| {
            payload.push(event as u8);
            put_count(payload, since.as_nanos().min(u64::MAX.into()) as u64);
            payload.extend(bytes);
        })
    }

    /// The writer, with everything that was recorded.
    pub fn into_inner(self) -> W {
        self.out
    }

    /// Flushes the file.
    pub fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }

    fn put(&mut self, kind: u8, fill: impl FnOnce(&mut Vec<u8>)) -> std::io::Result<()> {
        self.payload.clear();
        self.frame.clear();
        fill(&mut self.payload);
        put_frame(&mut self.frame, kind, &self.payload);
        self.out.write_all(&self.frame)
    }
}

/// A raw recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RawRecording {
    /// What was recorded.
    pub header: RawHeader,
    /// The events in order.
    pub records: Vec<RawRecord>,
    /// Offset of the truncation within a record, if truncated.
    pub cut_off: Option<usize>,
}

impl RawRecording {
    /// Reads the bytes of a file, up to the last complete record if it is truncated.
    pub fn parse(file: &Path, bytes: &[u8]) -> Result<Self, RecordError> {
        RAW.check(file, bytes)?;
        Self::read(bytes).map_err(|damage| damage.in_file(file))?.ok_or_else(|| RAW.too_short(file, bytes))
    }

    /// Its duration.
    pub fn length(&self) -> Duration {
        self.records.last().map_or(Duration::ZERO, |record| record.time)
    }

    fn read(bytes: &[u8]) -> Result<Option<Self>, Damage> {
        let Some(first) = read_frame(bytes, RecordingKind::HEAD_LENGTH, RAW_KINDS)? else { return Ok(None) };
        if first.kind != HEADER_FRAME {
            return Err(Damage { offset: first.offset, message: "expected a header first".into() });
        }
        let header = RawHeader::read(&mut first.scanner())?;
        let (mut at, mut time, mut records) = (after(&first), Duration::ZERO, Vec::new());
        while let Some(frame) = read_frame(bytes, at, RAW_KINDS)? {
            if frame.kind != DATA_FRAME {
                return Err(Damage { offset: frame.offset, message: "expected one header and no more".into() });
            }
            let mut scanner = frame.scanner();
            let event = scanner.byte("what happened")?;
            let Some(event) = EVENTS.get(usize::from(event)).copied() else {
                return scanner.damage(format!("expected 0 to 3 for what happened, found {event}"));
            };
            let since = Duration::from_nanos(scanner.count("the time since the last record")?);
            time = time.saturating_add(since);
            records.push(RawRecord { time, event, bytes: scanner.rest().into() });
            at = after(&frame);
        }
        Ok(Some(Self { header, records, cut_off: (at < bytes.len()).then_some(at) }))
    }
}

impl RawHeader {
    fn put(&self, out: &mut Vec<u8>) {
        put_text(out, &self.program);
        put_text(out, &self.profile);
        put_count(out, self.files.len() as u64);
        for (path, contents) in &self.files {
            put_text(out, path);
            put_bytes(out, contents);
        }
        put_count(out, self.baud.into());
        put_count(out, self.began);
    }

    fn read(scanner: &mut ByteReader<'_>) -> Result<Self, Damage> {
        let program = scanner.text("the version of the program")?;
        let profile = scanner.text("the profile")?;
        let mut files = Vec::new();
        for _ in 0..scanner.count("the number of files")? {
            let path = scanner.text("the path of a file")?;
            files.push((path, scanner.bytes("the contents of a file")?.to_vec()));
        }
        let baud = scanner.count("the speed of the line")?;
        let Ok(baud) = u32::try_from(baud) else {
            return scanner.damage(format!("expected a speed before this, found {baud}"));
        };
        let began = scanner.count("when the recording began")?;
        if !scanner.is_done() {
            return scanner.damage("expected the end of the header");
        }
        Ok(Self { program, profile, files, baud, began })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn header() -> RawHeader {
        RawHeader {
            program: "1.2.3".into(),
            profile: "ada.toml".into(),
            files: vec![("ada.toml".into(), "base = \"5dt-5.toml\"".into()), ("5dt-5.toml".into(), vec![b'x'; 200])],
            baud: 19200,
            began: 1_700_000_000,
        }
    }

    fn records() -> Vec<RawRecord> {
        let record =
            |nanos, event, bytes: &[u8]| RawRecord { time: Duration::from_nanos(nanos), event, bytes: bytes.into() };
        vec![
            record(0, RawEvent::Opened, b""),
            record(17, RawEvent::Sent, b"A"),
            record(5_000_000, RawEvent::Received, &[0x55]),
            record(5_000_000, RawEvent::Received, &[0x80; 300]),
            record(90_000_000_000, RawEvent::Lost, b""),
        ]
    }

    /// The bytes of a small recording, and where its header and each record end.
    fn small() -> (Vec<u8>, Vec<usize>) {
        let mut recorder = RawRecorder::new(Vec::new(), &header()).expect("room");
        let mut ends = vec![recorder.out.len()];
        for record in records() {
            recorder.add(record.time, record.event, &record.bytes).expect("room");
            ends.push(recorder.out.len());
        }
        (recorder.out, ends)
    }

    fn parse(bytes: &[u8]) -> Result<RawRecording, RecordError> {
        RawRecording::parse(Path::new("x.fpraw"), bytes)
    }

    #[test]
    fn recorded_data_round_trip() {
        let (bytes, _) = small();
        let read = parse(&bytes).expect("sound");
        assert_eq!((&read.header, &read.records, read.cut_off), (&header(), &records(), None));
        assert_eq!(read.length(), Duration::from_secs(90));
    }

    #[test]
    fn a_truncated_file_keeps_complete_records() {
        let (bytes, ends) = small();
        for end in 0..bytes.len() {
            let read = parse(&bytes[..end]);
            let whole = ends.iter().filter(|place| **place <= end).count();
            match whole.checked_sub(1) {
                None if end == 0 => assert!(matches!(read, Err(RecordError::NoRecording { .. }))),
                None => {
                    assert!(
                        matches!(read, Err(RecordError::TooShort { offset, .. }) if offset == end),
                        "{end}: {read:?}"
                    )
                }
                Some(whole) => {
                    let read = read.expect("a part");
                    assert_eq!(read.records, records()[..whole], "cut at {end}");
                    assert_eq!(read.cut_off, (!ends.contains(&end)).then_some(ends[whole]), "cut at {end}");
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_is_found() {
        let (bytes, _) = small();
        for bit in 0..8 * bytes.len() {
            let mut bad = bytes.clone();
            bad[bit / 8] ^= 1 << (bit % 8);
            assert!(parse(&bad).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn times_are_monotonic() {
        let mut recorder = RawRecorder::new(Vec::new(), &header()).expect("room");
        for millis in [3, 1, 4] {
            recorder.add(Duration::from_millis(millis), RawEvent::Received, b"x").expect("room");
        }
        let times: Vec<_> = parse(&recorder.out).expect("sound").records.iter().map(|r| r.time.as_millis()).collect();
        assert_eq!(times, [3, 3, 4]);
    }

    proptest! {
        #[test]
        fn any_frames_are_read_or_rejected(frames in prop::collection::vec((1u8..4, prop::collection::vec(any::<u8>(), 0..40)), 0..8)) {
            let (bytes, ends) = small();
            for start in [RecordingKind::HEAD_LENGTH, ends[0]] {
                let mut bytes = bytes[..start].to_vec();
                frames.iter().for_each(|(kind, payload)| put_frame(&mut bytes, *kind, payload));
                let _ = parse(&bytes);
            }
        }
    }
}
