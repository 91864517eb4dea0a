//! A recording of bytes in the place of a device: the same bytes at the same times, through the same decoders.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use anyhow::{Context, anyhow};

use super::performer;
use crate::assets::limits::RECORDING_BYTES;
use crate::assets::{DeviceKind, DeviceProfile, Files, Port, read_bounded};
use crate::devices::wire::{self, Opened, READ_WAIT, Wire};
use crate::devices::{Hands, SourceHandle, start_on};
use crate::protocol::Format;
use crate::record::{RAW_EXTENSION, RawEvent, RawRecording};

/// Opens a line, again and again.
pub type Opener = Box<dyn FnMut() -> Result<Opened, String> + Send>;

/// Whether a name is that of a recording of bytes.
pub fn is_recording(name: &Path) -> bool {
    name.extension().is_some_and(|extension| extension == RAW_EXTENSION)
}

fn read(file: &Path) -> anyhow::Result<RawRecording> {
    let bytes = read_bounded(file, RECORDING_BYTES).with_context(|| file.display().to_string())?;
    Ok(RawRecording::parse(file, &bytes)?)
}

/// The profile with which something was recorded, plugged into the recording.
pub fn recorded_profile(file: &Path) -> anyhow::Result<DeviceProfile> {
    let header = read(file)?.header;
    let files = Files::kept(header.files.into_iter().collect());
    let profile = files.load_device(Path::new(&header.profile));
    // In one sentence: problems of kept files say nothing of the recording.
    let profile = profile.map_err(|problems| anyhow!("{}: its profile cannot be read: {problems}", file.display()))?;
    Ok(DeviceProfile { port: Port::Named(file.to_string_lossy().into_owned()), ..profile })
}

/// Starts the device of a profile, or plays the recording that it is plugged into.
pub fn start(profile: &DeviceProfile, hands: &Hands, epoch: Instant) -> anyhow::Result<SourceHandle> {
    match &profile.kind {
        DeviceKind::Wire(format) => {
            let open = opener(profile, *format)?;
            start_on(profile, *format, hands, epoch, open)
                .with_context(|| format!("no thread can be started for {}", profile.name))
        }
        DeviceKind::Motion(file) => performer::start(profile, file, epoch),
        _ => crate::devices::start(profile, hands, epoch).map_err(|why| anyhow!("{}: {why}", profile.name)),
    }
}

/// What opens the line of a profile: that of the device, or a recording.
pub fn opener(profile: &DeviceProfile, format: Format) -> anyhow::Result<Opener> {
    if let Port::Named(file) = &profile.port
        && is_recording(Path::new(file))
    {
        return Ok(play(file.clone(), read(Path::new(file))?));
    }
    let own = profile.clone();
    Ok(Box::new(move || wire::open(&own, &format)))
}

fn play(file: String, recording: RawRecording) -> Opener {
    let (recording, next, mut began) = (Arc::new(recording), Arc::new(AtomicUsize::new(0)), None);
    Box::new(move || {
        let began: Instant = *began.get_or_insert_with(Instant::now);
        let at = next.load(Ordering::Relaxed);
        let opening = recording.records[at..].iter().position(|record| record.event == RawEvent::Opened);
        let opening = at + opening.ok_or_else(|| format!("{file} is over"))?;
        if recording.records[opening].time > began.elapsed() {
            return Err(format!("{file} has a time without the device here"));
        }
        next.store(opening + 1, Ordering::Relaxed);
        let (recording, next) = (recording.clone(), next.clone());
        Ok(Opened { wire: Box::new(Playback { recording, next, began, given: 0 }), port: file.clone() })
    })
}

struct Playback {
    recording: Arc<RawRecording>,
    /// Number of the next record, which the next line goes on with.
    next: Arc<AtomicUsize>,
    began: Instant,
    /// Bytes of that record that were handed on already.
    given: usize,
}

impl Playback {
    fn advance(&mut self) {
        self.next.fetch_add(1, Ordering::Relaxed);
        self.given = 0;
    }
}

impl Wire for Playback {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let Some(record) = self.recording.records.get(self.next.load(Ordering::Relaxed)) else {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the recording is over"));
            };
            let due = record.time.saturating_sub(self.began.elapsed());
            if !due.is_zero() {
                std::thread::sleep(due.min(READ_WAIT));
                if due > READ_WAIT {
                    return Ok(0);
                }
            }
            match record.event {
                RawEvent::Received => {
                    let rest = &record.bytes[self.given..];
                    let count = rest.len().min(buffer.len());
                    buffer[..count].copy_from_slice(&rest[..count]);
                    self.given += count;
                    if count == rest.len() {
                        self.advance();
                    }
                    return Ok(count);
                }
                RawEvent::Lost => {
                    self.advance();
                    return Err(io::Error::new(io::ErrorKind::BrokenPipe, "as it was when this was recorded"));
                }
                RawEvent::Sent | RawEvent::Opened => self.advance(),
            }
        }
    }

    fn write(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::record::{RawHeader, RawRecord};

    fn recording(records: &[(u64, RawEvent, &[u8])]) -> RawRecording {
        let header = RawHeader { program: String::new(), profile: String::new(), files: Vec::new(), baud: 0, began: 0 };
        let record = |&(millis, event, bytes): &(u64, RawEvent, &[u8])| RawRecord {
            time: Duration::from_millis(millis),
            event,
            bytes: bytes.into(),
        };
        RawRecording { header, records: records.iter().map(record).collect(), cut_off: None }
    }

    /// Reads a line until it is gone: the bytes, and what is said then.
    fn drain(line: &mut Opened) -> (Vec<u8>, String) {
        let (mut all, mut buffer) = (Vec::new(), [0; 4]);
        loop {
            match line.wire.read(&mut buffer) {
                Ok(count) => all.extend(&buffer[..count]),
                Err(error) => return (all, error.to_string()),
            }
        }
    }

    #[test]
    fn bytes_come_at_their_times_and_losses_too() {
        let began = Instant::now();
        let mut open = play(
            "x.fpraw".into(),
            recording(&[
                (0, RawEvent::Opened, b""),
                (1, RawEvent::Sent, b"D"),
                (2, RawEvent::Received, b"abcdefg"),
                (30, RawEvent::Received, b"h"),
                (31, RawEvent::Lost, b""),
                (60, RawEvent::Opened, b""),
                (61, RawEvent::Received, b"ij"),
            ]),
        );
        let mut line = open().expect("a line");
        line.wire.write(b"nobody hears it").expect("no matter");
        assert_eq!(drain(&mut line), (b"abcdefgh".to_vec(), "as it was when this was recorded".into()));
        assert!(began.elapsed() >= Duration::from_millis(31));
        let mut line = loop {
            match open() {
                Ok(line) => break line,
                Err(why) => assert!(why.contains("without the device"), "{why}"),
            }
        };
        assert!(began.elapsed() >= Duration::from_millis(60));
        assert_eq!(drain(&mut line), (b"ij".to_vec(), "the recording is over".into()));
        assert_eq!(open().err().as_deref(), Some("x.fpraw is over"));
    }
}
