//! A device that speaks bytes, in its own thread: found, opened, listened to, and looked for again when it is gone.

use std::time::{Duration, Instant};

use super::assemble::Assembler;
use super::source::{SourceFeed, SourceState, Told};
use super::wire::{self, Opened, Wire};
use crate::assets::DeviceProfile;
use crate::protocol::{Decoder, Format, Host, Reading};
use crate::tracking::Side;

/// First and longest wait before a lost device is looked for again; each wait is twice the last.
const WAITS: [Duration; 2] = [Duration::from_millis(100), Duration::from_secs(1)];
/// Between two pieces that are sent: the 5DT gloves hold one byte until they have read it.
const PAUSE: Duration = Duration::from_millis(5);
/// Silence after which a device is asked again, s.
const OVERDUE: f64 = 0.25;
/// How often statistics are noted, s.
const NOTE: f64 = 0.1;

/// Connects, listens, and connects again, until told to stop.
pub(super) fn run(
    feed: &SourceFeed,
    profile: &DeviceProfile,
    format: &Format,
    epoch: Instant,
    mut open: impl FnMut() -> Result<Opened, String>,
) {
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
                match Line::new(opened, profile, format, epoch).listen(feed) {
                    Ok(()) => return,
                    Err(why) => why,
                }
            }
            Err(why) => why,
        };
        feed.set_state(SourceState::Lost(why));
        let deadline = Instant::now() + wait;
        loop {
            match feed.wait_until(deadline) {
                Told::Nothing => break,
                Told::Vibrate(_) | Told::Feel(_) => {}
                Told::Stop => return,
            }
        }
        wait = (2 * wait).min(longest);
    }
}

/// The device of a profile, opened as its kind is.
pub(super) fn open(profile: &DeviceProfile, format: &Format) -> Result<Opened, String> {
    wire::open(profile, format)
}

/// An open line.
struct Line<'a> {
    wire: Box<dyn Wire>,
    port: String,
    profile: &'a DeviceProfile,
    decoder: Box<dyn Decoder>,
    host: Box<dyn Host>,
    assembler: Assembler,
    epoch: Instant,
    /// When bytes were read last, when any came last, when a sample was made last, when statistics were noted last; s.
    read: f64,
    heard: f64,
    made: f64,
    noted: f64,
}

impl<'a> Line<'a> {
    fn new(opened: Opened, profile: &'a DeviceProfile, format: &Format, epoch: Instant) -> Self {
        let now = epoch.elapsed().as_secs_f64();
        Self {
            wire: opened.wire,
            port: opened.port,
            profile,
            decoder: format.decoder(),
            host: format.host(),
            assembler: Assembler::new(profile),
            epoch,
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
        let (mut buffer, mut readings) = ([0; 4096], Vec::new());
        loop {
            loop {
                match feed.wait_until(Instant::now()) {
                    Told::Nothing => break,
                    Told::Vibrate(_) | Told::Feel(_) => {}
                    Told::Stop => {
                        let stop = self.host.stop();
                        // What cannot be said any more need not be.
                        let _ = self.send(&stop);
                        return Ok(());
                    }
                }
            }
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
            let (decode, hint) = (self.decoder.statistics(), self.decoder.hint());
            feed.set_statistics(|statistics| (statistics.decode, statistics.hint) = (decode, hint));
        }
    }
}
