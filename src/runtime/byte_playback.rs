//! Plays a recording of bytes in place of a device: the same bytes at the same times, through the same decoders.

use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::error::Error;
use crate::assets::limits::RECORDING_BYTES;
use crate::assets::{DeviceProfile, Files, Port, read_bounded};
use crate::devices::DeviceError;
use crate::devices::wire::{self, Opened, READ_WAIT, Wire};
use crate::protocol::Format;
use crate::record::{RAW_EXTENSION, RawEvent, RawRecording, RecordError};

/// Opens the line of a device; called again after a line was lost.
pub type Opener = Box<dyn FnMut() -> Result<Opened, DeviceError> + Send>;

/// Whether a path has the extension of a recording of bytes.
pub fn is_byte_recording(name: &Path) -> bool {
    name.extension().is_some_and(|extension| extension == RAW_EXTENSION)
}

fn read(file: &Path) -> Result<RawRecording, Error> {
    let bytes =
        read_bounded(file, RECORDING_BYTES).map_err(|fault| RecordError::Unreadable { file: file.into(), fault })?;
    Ok(RawRecording::parse(file, &bytes)?)
}

/// The profile that a recording was made with, with the recording as its port.
pub(super) fn recorded_profile(file: &Path) -> Result<DeviceProfile, Error> {
    let header = read(file)?.header;
    let files = Files::kept(header.files.into_iter().collect());
    let profile = files.load_device(Path::new(&header.profile));
    // Problems of the kept files do not name the recording.
    let profile = profile.map_err(|problems| Error::RecordedProfile { file: file.into(), problems })?;
    Ok(DeviceProfile { port: Port::Named(file.to_string_lossy().into_owned()), ..profile })
}

/// Opens the line of a profile: that of the device, or the recording that it names as its port.
pub fn opener(profile: &DeviceProfile, format: Format) -> Result<Opener, Error> {
    if let Port::Named(file) = &profile.port
        && is_byte_recording(Path::new(file))
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
        let opening = at + opening.ok_or_else(|| DeviceError::Port(format!("{file} has ended")))?;
        if recording.records[opening].time > began.elapsed() {
            return Err(DeviceError::Port(format!("the device is disconnected at this time in {file}")));
        }
        next.store(opening + 1, Ordering::Relaxed);
        let (recording, next) = (recording.clone(), next.clone());
        Ok(Opened { wire: Box::new(Playback { recording, next, began, given: 0 }), port: file.clone() })
    })
}

struct Playback {
    recording: Arc<RawRecording>,
    /// Index of the next record.
    next: Arc<AtomicUsize>,
    began: Instant,
    /// Bytes of that record that were already delivered.
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
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the recording has ended"));
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
                    return Err(io::Error::new(io::ErrorKind::BrokenPipe, "disconnected, as recorded"));
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

    /// Reads a connection until it is lost: the bytes, and the error.
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
    fn playback_keeps_times_and_losses() {
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
        assert_eq!(drain(&mut line), (b"abcdefgh".to_vec(), "disconnected, as recorded".into()));
        assert!(began.elapsed() >= Duration::from_millis(31));
        let mut line = loop {
            match open() {
                Ok(line) => break line,
                Err(why) => assert!(why.to_string().contains("is disconnected"), "{why}"),
            }
        };
        assert!(began.elapsed() >= Duration::from_millis(60));
        assert_eq!(drain(&mut line), (b"ij".to_vec(), "the recording has ended".into()));
        assert_eq!(open().err(), Some(DeviceError::Port("x.fpraw has ended".into())));
    }
}
