//! Emulated devices: the device end of a connection, with its protocol, timing and faults.
//!
//! For a serial device the host opens a pseudo-terminal, which behaves like a port. The baud rate is emulated: bytes
//! leave at the rate of the line, and a host with another baud rate reads what a UART would make of them.
//!
//! A tracker that sends its poses as datagrams:
//!
//! ```
//! use std::net::UdpSocket;
//! use fingerpad::devices::emulator::{Emulator, EmulatorSettings};
//! use fingerpad::math::Pose;
//! use fingerpad::protocol::{Format, Reading, TrackedObject};
//!
//! let host = UdpSocket::bind("127.0.0.1:0")?;
//! let settings = EmulatorSettings { address: Some(host.local_addr()?), rate: Some(100.0), ..EmulatorSettings::new(Format::Vmc) };
//! let motion = |time: f64, out: &mut Vec<Reading>| {
//!     let (object, serial) = (TrackedObject::Tracker, "one".to_string());
//!     out.push(Reading::Tracked { object, serial, pose: Pose::translation(0.1 * time, 1.0, 0.0) });
//! };
//! let tracker = Emulator::start(settings, Box::new(motion), None)?;
//! let mut packet = [0; 1024];
//! assert!(host.recv(&mut packet)? > 0);
//! drop(tracker); // unplugged
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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
use self::thread::{EmulatedPort, Worker};
use crate::devices::DeviceError;
use crate::protocol::{Format, HostLine, Link, Reading};

pub use faults::{Faults, Garbage, Outage};
pub use wearer::EmulatedWearer;

/// The measurements of an emulated device.
pub trait EmulatedMotion: Send {
    /// Appends the readings at a time, s since the host first requested data.
    fn readings(&mut self, time: f64, out: &mut Vec<Reading>);
}

impl<F: FnMut(f64, &mut Vec<Reading>) + Send> EmulatedMotion for F {
    fn readings(&mut self, time: f64, out: &mut Vec<Reading>) {
        self(time, out);
    }
}

/// Settings of an emulated device.
#[derive(Clone, Debug, PartialEq)]
pub struct EmulatorSettings {
    /// Wire format.
    pub format: Format,
    /// Baud rate; default: that of the format.
    pub baud: Option<u32>,
    /// Sample rate in Hz; default: that of the format.
    pub rate: Option<f64>,
    /// What goes wrong.
    pub faults: Faults,
    /// Destination of datagrams; default: the usual port on this machine.
    pub address: Option<SocketAddr>,
    /// Whether to report each packet: [`EmulatorEvent::Sent`].
    pub trace: bool,
}

impl EmulatorSettings {
    /// Default settings of a format.
    pub fn new(format: Format) -> Self {
        Self { format, baud: None, rate: None, faults: Faults::default(), address: None, trace: false }
    }
}

/// Sample rate of a device, as specified or as usual.
pub fn usual_rate(format: &Format) -> f64 {
    match format {
        Format::DataGlove5 { .. } => 200.0,
        Format::OpenGlovesLegacy { .. } | Format::OpenGlovesAlpha { .. } => 90.0,
        Format::Gametrak { .. } => 75.0,
        Format::Vmc => 60.0,
        _ => 100.0,
    }
}

/// Events of an emulated device.
#[derive(Clone, Debug, PartialEq)]
pub enum EmulatorEvent {
    /// Plugged in: the path of the pseudo-terminal, or the destination address of datagrams.
    Plugged(String),
    /// It was unplugged.
    Unplugged,
    /// A host has opened it.
    HostCame,
    /// The host has closed it.
    HostLeft,
    /// The host requested data for the first time; the motion starts.
    Streaming,
    /// The host has set another baud rate than the device.
    OtherSpeed {
        /// Baud of the host.
        host: u32,
        /// Baud of the device.
        device: u32,
    },
    /// Random bytes were sent.
    Garbage(usize),
    /// The device stopped sending.
    Stalled,
    /// The device resumed sending.
    Resumed,
    /// The host does not read; this many bytes were lost.
    Overrun(usize),
    /// An actuator command of the host.
    Received(HostLine),
    /// The last byte of a packet is about to be written. Only if [`EmulatorSettings::trace`] is set.
    Sent {
        /// Number of the packet, from 0.
        packet: u64,
        /// When.
        at: Instant,
    },
    /// A fatal error.
    Failed(String),
}

impl fmt::Display for EmulatorEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plugged(path) => write!(f, "plugged in: {path}"),
            Self::Unplugged => f.write_str("unplugged"),
            Self::HostCame => f.write_str("a host has opened it"),
            Self::HostLeft => f.write_str("the host has closed it"),
            Self::Streaming => f.write_str("streaming"),
            Self::OtherSpeed { host, device } => {
                write!(f, "the host reads at {host} baud, but the device sends at {device}: the data will be invalid")
            }
            Self::Garbage(bytes) => write!(f, "{bytes} random bytes"),
            Self::Stalled => f.write_str("silent"),
            Self::Resumed => f.write_str("sending again"),
            Self::Overrun(bytes) => write!(f, "the host does not read: {bytes} bytes were lost"),
            Self::Received(line) => write!(f, "received {line:?}"),
            Self::Sent { packet, .. } => write!(f, "packet {packet}"),
            Self::Failed(reason) => write!(f, "failed: {reason}"),
        }
    }
}

/// Called with the path of the device whenever that changes, and with `None` when it is unplugged.
pub type PathCallback = Box<dyn FnMut(Option<&Path>) -> std::io::Result<()> + Send>;

/// An emulated device that runs in its own thread. Dropping it unplugs it.
#[derive(Debug)]
pub struct Emulator {
    place: Arc<Mutex<Option<String>>>,
    events: Receiver<EmulatorEvent>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

/// Maximum number of queued events. Beyond, they are discarded.
const WAITING: usize = 1 << 16;

impl Emulator {
    /// Plugs a device in, or returns why it cannot be emulated, one sentence without a full stop.
    pub fn start(
        settings: EmulatorSettings,
        motion: Box<dyn EmulatedMotion>,
        placed: Option<PathCallback>,
    ) -> Result<Self, DeviceError> {
        Self::plug_in(settings, motion, placed).map_err(DeviceError::Emulation)
    }

    fn plug_in(
        settings: EmulatorSettings,
        motion: Box<dyn EmulatedMotion>,
        placed: Option<PathCallback>,
    ) -> Result<Self, String> {
        let EmulatorSettings { format, baud, rate, faults, address, trace } = settings;
        let rate = rate.unwrap_or_else(|| usual_rate(&format));
        if !(0.1..=10_000.0).contains(&rate) {
            return Err(format!("a sample rate of {rate} Hz cannot be emulated: expected 0.1 to 10000 Hz"));
        }
        let (baud, port) = match format.link() {
            Link::Serial { speeds } => {
                let baud = baud.unwrap_or(speeds[0]);
                (Some(baud), EmulatedPort::Serial(baud))
            }
            Link::Udp { port } => (None, EmulatedPort::Udp(address.unwrap_or_else(|| ([127, 0, 0, 1], port).into()))),
            Link::Usb { .. } => {
                let name = format.name();
                return Err(format!("{name} is a USB (HID) device; only serial ports and UDP can be emulated"));
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
            .map_err(|error| format!("cannot start a thread: {error}"))?;
        Ok(Self { place, events, stop, thread: Some(thread) })
    }

    /// What to open: the path of a pseudo-terminal, or an address; `None` while it is unplugged.
    pub fn place(&self) -> Option<String> {
        self.place.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// What happens to it.
    pub fn events(&self) -> &Receiver<EmulatorEvent> {
        &self.events
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // The thread may have panicked.
            let _ = thread.join();
        }
    }
}
