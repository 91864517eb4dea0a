//! A device with a byte protocol, in its own thread: searched, opened, read, and searched again when it is lost.

use std::time::{Duration, Instant};

use super::assemble::Assembler;
use super::error::DeviceError;
use super::haptics::{LevelDriver, Levels};
use super::source::{HandForces, SourceFeed, SourceRequest, SourceState};
use super::start::Hands;
use super::wire::{self, Opened, Wire};
use crate::assets::DeviceProfile;
use crate::protocol::{Decoder, ForceFeedback, Format, Host, HostLine, Link as ProtocolLink, Reading};
use crate::tracking::Side;

/// First and maximum delay before reconnecting; each delay is twice the last.
const RECONNECT_DELAYS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];
/// Delay between two commands: the 5DT gloves buffer a single byte.
const COMMAND_PAUSE: Duration = Duration::from_millis(5);
/// Silence after which a command is repeated, s.
const OVERDUE: f64 = 0.25;
/// Time after opening in which a device should have sent valid data, s.
const SILENT_START: f64 = 1.0;
/// Read buffer size. Longer datagrams would be truncated; one with a whole skeleton has five thousand bytes.
const READ_BUFFER: usize = 65_536;
/// Update interval of the statistics, s.
const NOTE: f64 = 0.1;

/// The device and its settings.
#[derive(Clone, Copy)]
pub(super) struct WiredDevice<'a> {
    pub profile: &'a DeviceProfile,
    pub format: &'a Format,
    pub hands: &'a Hands,
    pub epoch: Instant,
}

/// Connects, reads and reconnects until stopped.
pub(super) fn run(feed: &SourceFeed, device: WiredDevice<'_>, mut open: impl FnMut() -> Result<Opened, DeviceError>) {
    let [shortest, longest] = RECONNECT_DELAYS;
    let mut wait = shortest;
    loop {
        let why = match open() {
            Ok(opened) => {
                feed.set_state(SourceState::Connected);
                feed.set_statistics(|statistics| {
                    statistics.opened += 1;
                    statistics.port = opened.port.clone();
                });
                wait = shortest;
                match Connection::new(opened, device).listen(feed) {
                    Ok(()) => return,
                    Err(why) => why,
                }
            }
            Err(error) => error.to_string(),
        };
        feed.set_state(SourceState::Lost(why));
        if !feed.rest_until(Instant::now() + wait) {
            return;
        }
        wait = (2 * wait).min(longest);
    }
}

/// An open connection.
struct Connection<'a> {
    wire: Box<dyn Wire>,
    port: String,
    profile: &'a DeviceProfile,
    decoder: Box<dyn Decoder>,
    host: Box<dyn Host>,
    assembler: Assembler,
    motors: Option<Motors>,
    /// Default baud rate, if any.
    usual: Option<u32>,
    epoch: Instant,
    opened: f64,
    /// Times of the last read, of the last bytes, of the last sample and of the last statistics, s.
    read: f64,
    heard: f64,
    made: f64,
    noted: f64,
}

impl<'a> Connection<'a> {
    fn new(opened: Opened, device: WiredDevice<'a>) -> Self {
        let WiredDevice { profile, format, hands, epoch } = device;
        let now = epoch.elapsed().as_secs_f64();
        Self {
            wire: opened.wire,
            port: opened.port,
            profile,
            decoder: format.decoder(),
            host: format.host(),
            assembler: Assembler::new(profile, format, hands),
            motors: Motors::of(profile, format),
            usual: if let ProtocolLink::Serial { speeds } = format.link() { Some(speeds[0]) } else { None },
            epoch,
            opened: now,
            read: now,
            heard: now,
            made: now,
            noted: now,
        }
    }

    fn now(&self) -> f64 {
        self.epoch.elapsed().as_secs_f64()
    }

    /// Reads until stopped; an error is the reason for losing the connection.
    fn listen(&mut self, feed: &SourceFeed) -> Result<(), String> {
        let start = self.host.start();
        self.send(&start)?;
        let (mut buffer, mut readings) = (vec![0; READ_BUFFER], Vec::new());
        loop {
            loop {
                match feed.request() {
                    SourceRequest::None => break,
                    SourceRequest::Vibrate(_) => {}
                    SourceRequest::Feel(touch) => self.feel(&touch),
                    SourceRequest::Stop => {
                        // Errors of the last commands are ignored.
                        let _ = self.release_motors(feed);
                        let stop = self.host.stop();
                        let _ = self.send(&stop);
                        return Ok(());
                    }
                }
            }
            self.drive_motors(feed)?;
            let count = self.wire.read(&mut buffer).map_err(|error| self.gone(&error))?;
            let now = self.now();
            if count > 0 {
                self.heard = now;
                self.decode(&buffer[..count], now, &mut readings, feed)?;
            } else if now - self.heard > OVERDUE {
                self.heard = now;
                let again = self.host.silence();
                self.send(&again)?;
            }
            self.note(now, feed);
        }
    }

    fn decode(&mut self, bytes: &[u8], now: f64, readings: &mut Vec<Reading>, feed: &SourceFeed) -> Result<(), String> {
        readings.clear();
        self.decoder.push(bytes, readings);
        if !readings.is_empty() {
            let times = [self.read, now].map(|time| time - self.profile.latency);
            self.assembler.take(readings, times, feed);
            (self.read, self.made) = (now, now);
        }
        let answer = self.host.receive(bytes);
        self.send(&answer)
    }

    fn feel(&mut self, touch: &HandForces) {
        let now = self.now();
        if let Some(motors) = self.motors.as_mut().filter(|motors| motors.side == touch.side) {
            motors.driver.feel(touch, now);
        }
    }

    /// Sends due commands to the actuators.
    fn drive_motors(&mut self, feed: &SourceFeed) -> Result<(), String> {
        let now = self.now();
        let due = self.motors.as_mut().and_then(|motors| motors.driver.due(now));
        due.map_or(Ok(()), |levels| self.set_motors(&levels, feed))
    }

    fn release_motors(&mut self, feed: &SourceFeed) -> Result<(), String> {
        let last = self.motors.as_mut().map(|motors| motors.driver.stop());
        last.map_or(Ok(()), |levels| self.set_motors(&levels, feed))
    }

    fn set_motors(&mut self, levels: &Levels, feed: &SourceFeed) -> Result<(), String> {
        let Some(motors) = &self.motors else { return Ok(()) };
        let line = HostLine::Force(ForceFeedback(levels.fingers)).to_bytes(motors.force_maximum);
        feed.set_sent_levels(motors.side, Levels { palm: 0.0, ..*levels });
        match self.wire.write(&line) {
            // The glove does not read; a later command will be newer.
            Err(error) if wire::is_nothing(&error) => Ok(()),
            Err(error) => Err(self.gone(&error)),
            Ok(()) => Ok(()),
        }
    }

    fn send(&mut self, pieces: &[Vec<u8>]) -> Result<(), String> {
        for (i, piece) in pieces.iter().enumerate() {
            if i > 0 {
                std::thread::sleep(COMMAND_PAUSE);
            }
            self.wire.write(piece).map_err(|error| self.gone(&error))?;
        }
        Ok(())
    }

    fn gone(&self, error: &std::io::Error) -> String {
        format!("lost {}: disconnected or switched off ({error})", self.port)
    }

    /// Updates the status, and marks hands without new samples.
    fn note(&mut self, now: f64, feed: &SourceFeed) {
        if now - self.made > self.profile.stale {
            [Side::Left, Side::Right].into_iter().for_each(|side| feed.miss(side));
        }
        if now - self.noted >= NOTE {
            self.noted = now;
            let decode = self.decoder.statistics();
            let hint = self
                .decoder
                .hint()
                .map(|hint| if decode.packets == 0 { hint + self.set_speed().as_str() } else { hint });
            let hint = hint.or_else(|| self.silence(now));
            feed.set_statistics(|statistics| (statistics.decode, statistics.hint) = (decode, hint));
        }
    }

    /// What to check if nothing valid arrived since opening, and too little for the decoder to give a hint.
    fn silence(&self, now: f64) -> Option<String> {
        let (decode, port) = (self.decoder.statistics(), &self.port);
        if decode.packets > 0 || now - self.opened < SILENT_START {
            return None;
        }
        let Some(usual) = self.usual else {
            return Some(format!("no data at {port}: check that the device or the sending program uses this port"));
        };
        let came = match decode.bytes {
            0 => format!("no data from {port}: check that the device is switched on and at this port"),
            _ => format!("received bytes from {port} but no packet: check that it is the device of the profile"),
        };
        Some(format!("{came}, at {usual} baud{}", self.set_speed()))
    }

    /// The configured baud rate if it is not the default: probably the problem.
    fn set_speed(&self) -> String {
        let set = self.profile.baud.filter(|set| self.usual.is_some_and(|usual| usual != *set));
        set.map_or(String::new(), |set| format!("; the profile sets {set}"))
    }
}

/// The actuators of a glove, one per finger.
struct Motors {
    side: Side,
    driver: LevelDriver,
    /// Wire value of the maximum force.
    force_maximum: u16,
}

impl Motors {
    /// The actuators of an OpenGloves glove if its profile enables them; other devices have none.
    fn of(profile: &DeviceProfile, format: &Format) -> Option<Self> {
        let force_maximum = format.force_maximum()?;
        let driver = LevelDriver::new(profile.haptics?);
        Some(Self { side: profile.side.unwrap_or(Side::Right), driver, force_maximum })
    }
}

#[cfg(test)]
mod tests;
