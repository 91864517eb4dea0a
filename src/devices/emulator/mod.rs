//! Devices that are not there: the other end of a line, with the device's bytes at the device's speed, and with faults.
//!
//! On a serial line the host opens a pseudo-terminal, and cannot tell it from a port. The speed is real: bytes leave no faster
//! than the line carries them, and a host that has set another speed reads what a UART would make of them.

mod faults;
mod line;
mod machine;
#[cfg(all(unix, feature = "serial"))]
mod pty;
#[cfg(test)]
mod tests;
mod thread;
mod uart;
mod wearer;

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;

use self::machine::Machine;
use self::thread::{Port, Worker};
use crate::protocol::{Format, HostLine, Link, Reading};

pub use faults::{Faults, Garbage, Outage};
pub use uart::misread;
pub use wearer::Wearer;

/// What an emulated device measures.
pub trait Motion: Send {
    /// Adds what it measures at a time, s since the host first asked for data.
    fn readings(&mut self, time: f64, out: &mut Vec<Reading>);
}

impl<F: FnMut(f64, &mut Vec<Reading>) + Send> Motion for F {
    fn readings(&mut self, time: f64, out: &mut Vec<Reading>) {
        self(time, out);
    }
}

/// How a device is emulated.
#[derive(Clone, Debug, PartialEq)]
pub struct EmulatorSettings {
    /// What it speaks.
    pub format: Format,
    /// The speed of its line; that of the format if none is given.
    pub baud: Option<u32>,
    /// Samples a second; those of the format if none are given.
    pub rate: Option<f64>,
    /// What goes wrong.
    pub faults: Faults,
    /// Where datagrams go; the usual port on this machine if nothing is given.
    pub address: Option<SocketAddr>,
    /// Whether each packet that was sent is told of: [`Event::Sent`].
    pub trace: bool,
}

impl EmulatorSettings {
    /// The usual settings of a format.
    pub fn new(format: Format) -> Self {
        Self { format, baud: None, rate: None, faults: Faults::default(), address: None, trace: false }
    }
}

/// Samples a second of a device, as its maker says or as it usually is.
pub fn usual_rate(format: &Format) -> f64 {
    match format {
        Format::DataGlove5 { .. } => 200.0,
        Format::OpenGlovesLegacy { .. } | Format::OpenGlovesAlpha { .. } => 90.0,
        Format::Gametrak { .. } => 75.0,
        Format::Vmc => 60.0,
        _ => 100.0,
    }
}

/// What happens to an emulated device.
#[derive(Clone, Debug, PartialEq)]
pub enum Event {
    /// It can be opened: the path of the pseudo-terminal, or the address datagrams go to.
    Plugged(String),
    /// It was unplugged.
    Unplugged,
    /// A host has opened it.
    HostCame,
    /// The host has closed it.
    HostLeft,
    /// The host has asked for data for the first time, and the motion begins.
    Streaming,
    /// The host has set another speed than the device has.
    OtherSpeed {
        /// Baud of the host.
        host: u32,
        /// Baud of the device.
        device: u32,
    },
    /// Random bytes were sent.
    Garbage(usize),
    /// The device says nothing for a while.
    Stalled,
    /// It speaks again.
    Resumed,
    /// The host does not read; so many bytes were lost.
    Overrun(usize),
    /// What the motors of the glove shall do.
    Heard(HostLine),
    /// The last byte of a packet is about to be written. Only if [`EmulatorSettings::trace`] is set.
    Sent {
        /// Number of the packet, from 0.
        packet: u64,
        /// When.
        at: Instant,
    },
    /// It cannot go on, and why.
    Failed(String),
}

impl fmt::Display for Event {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plugged(path) => write!(f, "plugged in: {path}"),
            Self::Unplugged => f.write_str("unplugged"),
            Self::HostCame => f.write_str("a host has opened it"),
            Self::HostLeft => f.write_str("the host has closed it"),
            Self::Streaming => f.write_str("streaming"),
            Self::OtherSpeed { host, device } => {
                write!(f, "the host reads at {host} baud what is sent at {device}: it gets nonsense")
            }
            Self::Garbage(bytes) => write!(f, "{bytes} random bytes"),
            Self::Stalled => f.write_str("silent"),
            Self::Resumed => f.write_str("speaking again"),
            Self::Overrun(bytes) => write!(f, "the host does not read: {bytes} bytes were lost"),
            Self::Heard(line) => write!(f, "heard {line:?}"),
            Self::Sent { packet, .. } => write!(f, "packet {packet}"),
            Self::Failed(reason) => write!(f, "failed: {reason}"),
        }
    }
}

/// Is told where the device can be opened whenever that changes, and when it cannot. For a link that stays the same.
pub type Placed = Box<dyn FnMut(Option<&Path>) -> Result<(), String> + Send>;

/// An emulated device that runs in a thread of its own. Dropping it unplugs it.
#[derive(Debug)]
pub struct Emulator {
    place: Arc<Mutex<Option<String>>>,
    events: Receiver<Event>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Events that may wait to be read. Beyond, they are thrown away.
const WAITING: usize = 1 << 16;

impl Emulator {
    /// Plugs a device in; why it cannot be emulated, in one sentence without a full stop.
    pub fn start(settings: EmulatorSettings, motion: Box<dyn Motion>, placed: Option<Placed>) -> Result<Self, String> {
        let EmulatorSettings { format, baud, rate, faults, address, trace } = settings;
        let rate = rate.unwrap_or_else(|| usual_rate(&format));
        if !(0.1..=10_000.0).contains(&rate) {
            return Err(format!("{rate} samples a second cannot be emulated: expected 0.1 to 10000"));
        }
        let (baud, port) = match format.link() {
            Link::Serial { speeds } => {
                let baud = baud.unwrap_or(speeds[0]);
                (Some(baud), Port::Serial(baud))
            }
            Link::Udp { port } => (None, Port::Udp(address.unwrap_or_else(|| ([127, 0, 0, 1], port).into()))),
            Link::Usb { .. } => {
                let name = format.name();
                return Err(format!("{name} is a device of USB (HID), and only serial lines and UDP can be emulated"));
            }
        };
        let (sender, events) = sync_channel(WAITING);
        let (place, stop) = (Arc::new(Mutex::new(None)), Arc::new(AtomicBool::new(false)));
        let machine = Machine::new(format, baud, rate, faults, motion);
        let mut worker = Worker::new(machine, port, placed, place.clone(), sender, trace);
        worker.plug_in()?;
        let until = stop.clone();
        let thread = std::thread::Builder::new()
            .name(format!("emulated {}", format.name()))
            .spawn(move || worker.run(&until))
            .map_err(|error| format!("no thread can be started: {error}"))?;
        Ok(Self { place, events, stop, thread: Some(thread) })
    }

    /// What to open: the path of a pseudo-terminal, or an address; `None` while it is unplugged.
    pub fn place(&self) -> Option<String> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What happens to it.
    pub fn events(&self) -> &Receiver<Event> {
        &self.events
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A panic has ended it as well.
            let _ = thread.join();
        }
    }
}
