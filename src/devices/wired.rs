//! A device that speaks bytes, in its own thread: found, opened, listened to, and looked for again when it is gone.

use std::time::{Duration, Instant};

use super::assemble::Assembler;
use super::haptics::{LevelDriver, Levels};
use super::source::{SourceFeed, SourceState, Told, Touch};
use super::start::Hands;
use super::wire::{self, Opened, Wire};
use crate::assets::DeviceProfile;
use crate::protocol::{Decoder, ForceFeedback, Format, Host, HostLine, Link as ProtocolLink, Reading};
use crate::tracking::Side;

/// First and longest wait before a lost device is looked for again; each wait is twice the last.
const WAITS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];
/// Between two pieces that are sent: the 5DT gloves hold one byte until they have read it.
const PAUSE: Duration = Duration::from_millis(5);
/// Silence after which a device is asked again, s.
const OVERDUE: f64 = 0.25;
/// Time after opening in which a device should have been understood, s.
const SILENT: f64 = 1.0;
/// Bytes that are read at once. What a datagram has more would be lost, and a whole body in one has five thousand.
const LARGEST: usize = 65_536;
/// How often statistics are noted, s.
const NOTE: f64 = 0.1;

/// What is listened to.
#[derive(Clone, Copy)]
pub(super) struct Device<'a> {
    pub profile: &'a DeviceProfile,
    pub format: &'a Format,
    pub hands: &'a Hands,
    pub epoch: Instant,
}

/// Connects, listens, and connects again, until told to stop.
pub(super) fn run(feed: &SourceFeed, device: Device<'_>, mut open: impl FnMut() -> Result<Opened, String>) {
    let [shortest, longest] = WAITS;
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
                match Line::new(opened, device).listen(feed) {
                    Ok(()) => return,
                    Err(why) => why,
                }
            }
            Err(why) => why,
        };
        feed.set_state(SourceState::Lost(why));
        if !feed.rest_until(Instant::now() + wait) {
            return;
        }
        wait = (2 * wait).min(longest);
    }
}

/// An open line.
struct Line<'a> {
    wire: Box<dyn Wire>,
    port: String,
    profile: &'a DeviceProfile,
    decoder: Box<dyn Decoder>,
    host: Box<dyn Host>,
    assembler: Assembler,
    motors: Option<Motors>,
    /// Usual speed of the line, if it has one.
    usual: Option<u32>,
    epoch: Instant,
    opened: f64,
    /// When bytes were read last, when any came last, when a sample was made last, when statistics were noted last; s.
    read: f64,
    heard: f64,
    made: f64,
    noted: f64,
}

impl<'a> Line<'a> {
    fn new(opened: Opened, device: Device<'a>) -> Self {
        let Device { profile, format, hands, epoch } = device;
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

    /// Listens until told to stop; an error is why the line is gone.
    fn listen(&mut self, feed: &SourceFeed) -> Result<(), String> {
        let start = self.host.start();
        self.send(&start)?;
        let (mut buffer, mut readings) = (vec![0; LARGEST], Vec::new());
        loop {
            loop {
                match feed.told() {
                    Told::Nothing => break,
                    Told::Vibrate(_) => {}
                    Told::Feel(touch) => self.feel(&touch),
                    Told::Stop => {
                        // What cannot be said any more need not be.
                        let _ = self.let_go(feed);
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
        let answer = self.host.heard(bytes);
        self.send(&answer)
    }

    fn feel(&mut self, touch: &Touch) {
        let now = self.now();
        if let Some(motors) = self.motors.as_mut().filter(|motors| motors.side == touch.side) {
            motors.driver.feel(touch, now);
        }
    }

    /// Tells the motors what is due.
    fn drive_motors(&mut self, feed: &SourceFeed) -> Result<(), String> {
        let now = self.now();
        let due = self.motors.as_mut().and_then(|motors| motors.driver.due(now));
        due.map_or(Ok(()), |levels| self.tell_motors(&levels, feed))
    }

    fn let_go(&mut self, feed: &SourceFeed) -> Result<(), String> {
        let last = self.motors.as_mut().map(|motors| motors.driver.stop());
        last.map_or(Ok(()), |levels| self.tell_motors(&levels, feed))
    }

    fn tell_motors(&mut self, levels: &Levels, feed: &SourceFeed) -> Result<(), String> {
        let Some(motors) = &self.motors else { return Ok(()) };
        let line = HostLine::Force(ForceFeedback(levels.fingers)).to_bytes(motors.force_maximum);
        feed.set_told(motors.side, Levels { palm: 0.0, ..*levels });
        match self.wire.write(&line) {
            // A glove that does not listen; it may yet, and what it is told then is newer.
            Err(error) if wire::is_nothing(&error) => Ok(()),
            Err(error) => Err(self.gone(&error)),
            Ok(()) => Ok(()),
        }
    }

    fn send(&mut self, pieces: &[Vec<u8>]) -> Result<(), String> {
        for (i, piece) in pieces.iter().enumerate() {
            if i > 0 {
                std::thread::sleep(PAUSE);
            }
            self.wire.write(piece).map_err(|error| self.gone(&error))?;
        }
        Ok(())
    }

    fn gone(&self, error: &std::io::Error) -> String {
        format!("{} is gone: unplugged or switched off ({error})", self.port)
    }

    /// Notes how the device fares, and that a hand was not heard of.
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

    /// What to check if nothing was understood since the line was opened, and too little came for the decoder to say why.
    fn silence(&self, now: f64) -> Option<String> {
        let (decode, port) = (self.decoder.statistics(), &self.port);
        if decode.packets > 0 || now - self.opened < SILENT {
            return None;
        }
        let Some(usual) = self.usual else {
            return Some(format!(
                "nothing has come to {port}: does the device, or the program on the other side, send there?"
            ));
        };
        let came = match decode.bytes {
            0 => format!("nothing has come from {port}: is the device switched on and at this port"),
            _ => format!("bytes come from {port} and no packet: is it the device of the profile"),
        };
        Some(format!("{came}, and is its speed {usual} baud?{}", self.set_speed()))
    }

    /// The speed that the line is set to, where it is not the usual one: most likely that is what is wrong.
    fn set_speed(&self) -> String {
        let set = self.profile.baud.filter(|set| self.usual.is_some_and(|usual| usual != *set));
        set.map_or(String::new(), |set| format!(" The profile sets {set}"))
    }
}

/// The motors of a glove, one at each finger.
struct Motors {
    side: Side,
    driver: LevelDriver,
    /// The number of the largest force on the wire.
    force_maximum: u16,
}

impl Motors {
    /// Those of a glove of OpenGloves whose profile wants them; other devices have none.
    fn of(profile: &DeviceProfile, format: &Format) -> Option<Self> {
        let force_maximum = format.force_maximum()?;
        let driver = LevelDriver::new(profile.haptics?);
        Some(Self { side: profile.side.unwrap_or(Side::Right), driver, force_maximum })
    }
}

#[cfg(test)]
mod tests;
