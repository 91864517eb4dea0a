use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::machine::{Machine, Sent};
#[cfg(all(unix, feature = "serial"))]
use super::pty::{FromHost, Pty};
use super::{EmulatorEvent, PathCallback};

/// Poll interval for a request to stop.
const STOP_POLL: Duration = Duration::from_millis(10);
/// Poll interval for a host.
#[cfg(all(unix, feature = "serial"))]
const HOST_POLL: Duration = Duration::from_millis(2);

/// Connection of a device.
#[derive(Clone, Copy, Debug)]
pub(super) enum EmulatedPort {
    /// A serial port with a baud rate.
    Serial(u32),
    /// UDP datagrams.
    Udp(SocketAddr),
}

enum Plug {
    #[cfg(all(unix, feature = "serial"))]
    Serial(Pty),
    Udp(UdpSocket, SocketAddr),
}

/// Moves bytes between a machine and its connection.
pub(super) struct Worker {
    machine: Machine,
    port: EmulatedPort,
    /// `None` while it is unplugged.
    plug: Option<Plug>,
    placed: Option<PathCallback>,
    place: Arc<Mutex<Option<String>>>,
    events: SyncSender<EmulatorEvent>,
    trace: bool,
    clock: Instant,
    sent: Sent,
    is_overrun: bool,
}

impl Worker {
    pub fn new(
        machine: Machine,
        port: EmulatedPort,
        placed: Option<PathCallback>,
        place: Arc<Mutex<Option<String>>>,
        events: SyncSender<EmulatorEvent>,
        trace: bool,
    ) -> Self {
        Self {
            machine,
            port,
            plug: None,
            placed,
            place,
            events,
            trace,
            clock: Instant::now(),
            sent: Sent::default(),
            is_overrun: false,
        }
    }

    /// Creates a port and plugs the device in.
    pub fn plug_in(&mut self) -> Result<(), String> {
        let place = match self.port {
            #[cfg(all(unix, feature = "serial"))]
            EmulatedPort::Serial(baud) => {
                let pty = Pty::open(baud)?;
                let place = pty.path().to_string();
                self.plug = Some(Plug::Serial(pty));
                place
            }
            #[cfg(not(all(unix, feature = "serial")))]
            EmulatedPort::Serial(baud) => {
                return Err(format!(
                    "serial ports ({baud} baud) are emulated only on Unix and with the Cargo feature `serial`"
                ));
            }
            EmulatedPort::Udp(address) => {
                let any: IpAddr =
                    if address.is_ipv4() { Ipv4Addr::UNSPECIFIED.into() } else { Ipv6Addr::UNSPECIFIED.into() };
                // Loopback datagrams are sent from a loopback address.
                let own = if address.ip().is_loopback() { address.ip() } else { any };
                let socket = UdpSocket::bind((own, 0)).map_err(|error| format!("cannot create a socket: {error}"))?;
                self.plug = Some(Plug::Udp(socket, address));
                self.machine.open(self.clock.elapsed().as_secs_f64());
                // UDP cannot tell whether there is a receiver.
                self.machine.events.clear();
                address.to_string()
            }
        };
        if let Some(Err(error)) = self.placed.as_mut().map(|placed| placed(Some(Path::new(&place)))) {
            self.plug = None;
            return Err(error.to_string());
        }
        self.set_place(Some(place.clone()));
        self.tell(EmulatorEvent::Plugged(place));
        Ok(())
    }

    fn unplug(&mut self) {
        self.plug = None;
        self.machine.unplug();
        self.set_place(None);
        if let Some(Err(error)) = self.placed.as_mut().map(|placed| placed(None)) {
            self.tell(EmulatorEvent::Failed(error.to_string()));
        }
    }

    fn set_place(&self, place: Option<String>) {
        *self.place.lock().unwrap_or_else(PoisonError::into_inner) = place;
    }

    fn tell(&self, event: EmulatorEvent) {
        // There may be no receiver.
        let _ = self.events.try_send(event);
    }

    pub fn run(mut self, stop: &AtomicBool) {
        while !stop.load(Ordering::Relaxed) {
            let now = self.now();
            let is_unplugged = self.machine.is_unplugged(now);
            match (&self.plug, is_unplugged) {
                (None, false) => {
                    if let Err(error) = self.plug_in() {
                        self.tell(EmulatorEvent::Failed(error));
                        std::thread::sleep(50 * STOP_POLL);
                    }
                }
                (None, true) => std::thread::sleep(STOP_POLL),
                (Some(_), true) => {
                    self.unplug();
                    self.tell(EmulatorEvent::Unplugged);
                }
                (Some(_), false) => self.serve(now),
            }
            for event in std::mem::take(&mut self.machine.events) {
                self.tell(event);
            }
        }
        if self.plug.is_some() {
            self.unplug();
        }
    }

    fn now(&self) -> f64 {
        self.clock.elapsed().as_secs_f64()
    }

    /// Waits for the host or the next due time, and processes it.
    fn serve(&mut self, now: f64) {
        let due = self.machine.wake(now) - now;
        let patience = Duration::try_from_secs_f64(due.max(0.0)).map_or(STOP_POLL, |due| due.min(STOP_POLL));
        match &mut self.plug {
            None => return,
            Some(Plug::Udp(..)) => std::thread::sleep(patience),
            #[cfg(all(unix, feature = "serial"))]
            Some(Plug::Serial(_)) => self.listen(patience),
        }
        self.sent.bytes.clear();
        self.sent.ends.clear();
        let now = self.now();
        self.machine.advance(now, &mut self.sent);
        if !self.sent.bytes.is_empty() {
            self.speak();
        }
    }

    #[cfg(all(unix, feature = "serial"))]
    fn listen(&mut self, patience: Duration) {
        let Some(Plug::Serial(pty)) = &mut self.plug else { return };
        let mut buffer = [0; 256];
        let heard = pty.receive(patience, &mut buffer);
        let now = self.clock.elapsed().as_secs_f64();
        if let FromHost::Disconnected = heard {
            if !self.machine.is_open() {
                return std::thread::sleep(HOST_POLL);
            }
            let mut rest = Vec::new();
            let can_be_opened = pty.refresh(&mut rest);
            if !rest.is_empty() {
                self.machine.receive(now, &rest);
            }
            self.machine.close();
            if !can_be_opened {
                self.unplug();
            }
            return;
        }
        if !self.machine.is_open() {
            self.machine.open(now);
        }
        self.machine.set_host_baud(pty.host_baud());
        if let FromHost::Bytes(count) = heard {
            self.machine.receive(now, &buffer[..count]);
        }
    }

    fn speak(&mut self) {
        let at = Instant::now();
        let lost = match &mut self.plug {
            None => 0,
            Some(Plug::Udp(socket, address)) => {
                let mut start = 0;
                for end in &self.sent.ends {
                    // There may be no receiver.
                    let _ = socket.send_to(&self.sent.bytes[start..end.offset], *address);
                    start = end.offset;
                }
                0
            }
            #[cfg(all(unix, feature = "serial"))]
            Some(Plug::Serial(pty)) => pty.say(&self.sent.bytes),
        };
        if self.trace {
            for packet in self.sent.ends.iter().filter_map(|end| end.packet) {
                self.tell(EmulatorEvent::Sent { packet, at });
            }
        }
        let was_overrun = std::mem::replace(&mut self.is_overrun, lost > 0);
        if lost > 0 && !was_overrun {
            self.tell(EmulatorEvent::Overrun(lost));
        }
    }
}
