use std::fs::File;
use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, anyhow, bail};

use crate::assets::{DeviceKind, DeviceProfile, Files, Port};
use crate::cli::{Talk, interrupt, outputs};
use crate::devices::wire::{Opened, Wire};
use crate::devices::{SourceHandle, SourceState, start_on};
use crate::protocol::{Format, Link};
use crate::record::{RawEvent, RawHeader, RawRecorder};
use crate::runtime::{average_hands, is_byte_recording, open_profile_from, opener};

/// Arguments of `devices record`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Device profile (.toml) or the name of a shipped profile; `@PORT` overrides its port
    #[arg(value_name = "PROFILE[@PORT]")]
    device: String,
    /// Output file
    #[arg(long, value_name = "FILE.fpraw")]
    out: PathBuf,
    /// Seconds to record [default: until the program ends]
    #[arg(long)]
    seconds: Option<f64>,
}

/// Flush interval of the file: the maximum loss in a crash.
const FLUSH: Duration = Duration::from_millis(250);

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    if is_byte_recording(Path::new(&arguments.device)) {
        bail!("{} is a recording of bytes already; expected the profile of a device", arguments.device);
    }
    let files = Files::default();
    let (profile, path) = open_profile_from(&files, &arguments.device)?;
    let DeviceKind::Wire(format) = profile.kind else {
        bail!("{} has no raw bytes to record: only gloves and trackers on serial ports, USB or UDP do", profile.name);
    };
    if matches!(&profile.port, Port::Named(port) if Path::new(port) == arguments.out) {
        bail!("{} cannot be recorded onto itself", arguments.out.display());
    }
    outputs::check(&[("--out", &arguments.out)], &files.paths())?;
    let length = arguments.seconds.map(Duration::try_from_secs_f64).transpose();
    let length = length.context("`--seconds` must be a non-negative number of seconds")?;
    let header = header(&profile, format, &files, &path);
    let mut open = opener(&profile, format)?;
    let file = File::create(&arguments.out).with_context(|| format!("cannot write {}", arguments.out.display()))?;
    let epoch = Instant::now();
    let kept = SharedRecording::new(BufWriter::new(file), &header, epoch)
        .with_context(|| format!("cannot write {}", arguments.out.display()))?;
    let own = kept.clone();
    let listened = move || {
        let Opened { wire, port } = open()?;
        own.note(RawEvent::Opened, &[]);
        Ok(Opened { wire: Box::new(Tap { wire, kept: own.clone() }), port })
    };
    let source = start_on(&profile, format, &average_hands()?, epoch, listened)
        .with_context(|| format!("cannot start a thread for {}", profile.name))?;
    let left = || match length {
        Some(length) => length.checked_sub(epoch.elapsed()).filter(|left| !left.is_zero()),
        None => Some(FLUSH),
    };
    listen(&source, &kept, &arguments.out, &profile.name, left, talk)?;
    let complaint = source.complaint();
    drop(source);
    let (pieces, bytes) = kept.bring_up_to_date(&arguments.out)?;
    if bytes == 0 {
        bail!("{} is empty: {complaint}", arguments.out.display());
    }
    println!(
        "{}: {bytes} bytes in {pieces} pieces, {:.1} s, of {}",
        arguments.out.display(),
        epoch.elapsed().as_secs_f64(),
        profile.name
    );
    Ok(())
}

fn header(profile: &DeviceProfile, format: Format, files: &Files, path: &Path) -> RawHeader {
    let baud = match format.link() {
        Link::Serial { speeds } => profile.baud.unwrap_or(speeds[0]),
        _ => 0,
    };
    RawHeader {
        program: env!("CARGO_PKG_VERSION").into(),
        profile: Files::key(path),
        files: files.read_after(0),
        baud,
        began: SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs()),
    }
}

/// Reports changes of the device and flushes the file until the time is over or Ctrl-C ends the recording cleanly.
fn listen(
    source: &SourceHandle,
    kept: &SharedRecording,
    out: &Path,
    name: &str,
    left: impl Fn() -> Option<Duration>,
    talk: Talk,
) -> anyhow::Result<()> {
    let (mut state, mut hint) = (SourceState::Connecting, None::<String>);
    interrupt::listen();
    while let Some(left) = left().filter(|_| !interrupt::is_asked()) {
        std::thread::sleep(left.min(FLUSH));
        source.samples().try_iter().for_each(drop);
        let (now, statistics) = (source.state(), source.statistics());
        if now != state {
            talk.say(format_args!("{name}: {now}"));
            state = now;
        }
        if let Some(new) = statistics.hint.as_ref().filter(|new| hint.as_ref() != Some(*new)) {
            talk.say(format_args!("{name}: {new}"));
        }
        hint = statistics.hint;
        kept.bring_up_to_date(out)?;
    }
    Ok(())
}

/// A recording shared with the thread that reads the device.
#[derive(Clone)]
struct SharedRecording(Arc<Mutex<Writing>>);

struct Writing {
    recorder: RawRecorder<BufWriter<File>>,
    epoch: Instant,
    pieces: u64,
    bytes: u64,
    /// The first error.
    failed: Option<String>,
}

impl SharedRecording {
    fn new(out: BufWriter<File>, header: &RawHeader, epoch: Instant) -> io::Result<Self> {
        let recorder = RawRecorder::new(out, header)?;
        Ok(Self(Arc::new(Mutex::new(Writing { recorder, epoch, pieces: 0, bytes: 0, failed: None }))))
    }

    fn note(&self, event: RawEvent, bytes: &[u8]) {
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let time = writing.epoch.elapsed();
        if let Err(error) = writing.recorder.add(time, event, bytes) {
            writing.failed.get_or_insert(error.to_string());
        }
        if event == RawEvent::Received {
            writing.pieces += 1;
            writing.bytes += bytes.len() as u64;
        }
    }

    /// Flushes the file `out`; returns the number of chunks and bytes received so far.
    fn bring_up_to_date(&self, out: &Path) -> anyhow::Result<(u64, u64)> {
        let mut writing = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(failed) = &writing.failed {
            bail!("cannot write {}: {failed}", out.display());
        }
        writing.recorder.flush().map_err(|error| anyhow!("cannot write {}: {error}", out.display()))?;
        Ok((writing.pieces, writing.bytes))
    }
}

/// A connection whose bytes are recorded.
struct Tap {
    wire: Box<dyn Wire>,
    kept: SharedRecording,
}

impl Wire for Tap {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.wire.read(buffer);
        match &read {
            Ok(0) => {}
            Ok(count) => self.kept.note(RawEvent::Received, &buffer[..*count]),
            Err(_) => self.kept.note(RawEvent::Lost, &[]),
        }
        read
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.kept.note(RawEvent::Sent, bytes);
        self.wire.write(bytes)
    }
}
