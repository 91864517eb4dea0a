use super::faults::Faults;
use super::line::{PacketEnd, TransmitLine};
use super::uart::misread;
use super::{EmulatedMotion, EmulatorEvent};
use crate::math::Random;
use crate::protocol::{Emulated, Format, GloveMode, Reading};

/// After a longer pause of the process, missed samples are not made up for, s.
const LONGEST_GAP: f64 = 1.0;

/// An emulated device with its motion, faults and line, driven by an external clock.
pub(super) struct Machine {
    format: Format,
    device: Box<dyn Emulated>,
    motion: Box<dyn EmulatedMotion>,
    faults: Faults,
    random: Random,
    line: TransmitLine,
    /// Baud rate of the device, and that of the host if it is known.
    baud: Option<u32>,
    host_baud: Option<u32>,
    is_open: bool,
    /// Sample interval, and the time of the next sample, s.
    period: f64,
    next: f64,
    /// Time of the first data to the host, s.
    began: Option<f64>,
    packets: u64,
    bursts: u64,
    is_stalled: bool,
    /// The reported baud rate of the host.
    misread_at: Option<u32>,
    readings: Vec<Reading>,
    pub events: Vec<EmulatorEvent>,
}

/// Bytes that have left the device.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub bytes: Vec<u8>,
    pub ends: Vec<PacketEnd>,
}

#[cfg_attr(not(all(unix, feature = "serial")), allow(dead_code, reason = "datagrams have no way back"))]
impl Machine {
    pub fn new(format: Format, baud: Option<u32>, rate: f64, faults: Faults, motion: Box<dyn EmulatedMotion>) -> Self {
        Self {
            format,
            device: format.emulated(),
            motion,
            random: Random::new(faults.seed, 0),
            faults,
            line: TransmitLine::new(baud),
            baud,
            host_baud: None,
            is_open: false,
            period: 1.0 / rate,
            next: 0.0,
            began: None,
            packets: 0,
            bursts: 0,
            is_stalled: false,
            misread_at: None,
            readings: Vec::new(),
            events: Vec::new(),
        }
    }

    /// Whether a host has the port open.
    pub fn is_open(&self) -> bool {
        self.is_open
    }

    /// A host has opened the port.
    pub fn open(&mut self, now: f64) {
        (self.is_open, self.next, self.misread_at) = (true, now, None);
        self.line.clear();
        self.events.push(EmulatorEvent::HostCame);
    }

    /// The host has closed it.
    pub fn close(&mut self) {
        if std::mem::take(&mut self.is_open) {
            self.line.clear();
            self.events.push(EmulatorEvent::HostLeft);
        }
    }

    /// Loses its settings when power is removed.
    pub fn unplug(&mut self) {
        (self.is_open, self.device) = (false, self.format.emulated());
        self.line.clear();
    }

    /// Whether it should be unplugged.
    pub fn is_unplugged(&self, now: f64) -> bool {
        self.began.is_some_and(|began| self.faults.is_unplugged(now - began))
    }

    /// Sets the baud rate of the host.
    pub fn set_host_baud(&mut self, baud: Option<u32>) {
        self.host_baud = baud;
    }

    /// Processes bytes of the host and responds.
    pub fn receive(&mut self, now: f64, bytes: &[u8]) {
        if self.began.is_some_and(|began| self.faults.is_stalled(now - began)) {
            return;
        }
        let heard = match self.other_speed() {
            Some((host, own)) => misread(bytes, host, own),
            None => bytes.into(),
        };
        if self.asks_for_data(&heard) {
            self.measure(now);
        }
        let response = self.device.receive(&heard);
        if !response.is_empty() && self.is_data(&response) {
            self.begin(now);
        }
        self.events.extend(self.device.commands().into_iter().map(EmulatorEvent::Received));
        self.send(now, response, None);
    }

    /// Takes the samples that are due, and the bytes that have left the line.
    pub fn advance(&mut self, now: f64, sent: &mut Sent) {
        if self.is_open {
            if now - self.next > LONGEST_GAP {
                self.next = now;
            }
            // A device that sends more than its line carries samples when the line is free.
            while self.next.max(self.line.free()) <= now {
                let time = self.next.max(self.line.free());
                self.sample(time);
                self.next = (self.next + self.period).max(time);
            }
        }
        self.line.take(now, &mut sent.bytes, &mut sent.ends);
    }

    /// Time of the next call, s: a chunk of a millisecond or a packet.
    pub fn wake(&self, now: f64) -> f64 {
        let sample = if self.is_open { self.next.max(self.line.free()) } else { f64::INFINITY };
        let piece = self.line.leaving().map_or(f64::INFINITY, |(first, last)| first.max(last.min(now + 0.001)));
        sample.min(piece)
    }

    fn sample(&mut self, time: f64) {
        let since = time - self.began.unwrap_or(time);
        let was_stalled = std::mem::replace(&mut self.is_stalled, self.faults.is_stalled(since));
        if was_stalled != self.is_stalled {
            self.events.push(if self.is_stalled { EmulatorEvent::Stalled } else { EmulatorEvent::Resumed });
        }
        if self.is_stalled {
            return;
        }
        if self.began.is_none() {
            // The motion starts with the first request for data.
            let waits = matches!(self.format, Format::DataGlove5 { .. });
            if self.is_asked() || waits && self.device.sample().is_empty() {
                return;
            }
            self.begin(time);
        }
        self.measure(time);
        let packet = self.device.sample();
        if !packet.is_empty() {
            self.burst(time);
            self.send(time, packet, Some(self.packets));
            self.packets += 1;
        }
    }

    /// Whether data are only sent on request.
    fn is_asked(&self) -> bool {
        matches!(self.format, Format::Bno055 | Format::DataGlove5 { mode: GloveMode::Report, .. })
    }

    /// Whether the host may be requesting a sample; other commands must not consume one.
    fn asks_for_data(&self, heard: &[u8]) -> bool {
        self.is_asked() || matches!(self.format, Format::DataGlove5 { .. }) && heard.contains(&b'C')
    }

    /// Whether a response contains data.
    fn is_data(&self, response: &[u8]) -> bool {
        match self.format {
            Format::DataGlove5 { .. } => response.len() == 9,
            _ => self.is_asked(),
        }
    }

    fn begin(&mut self, now: f64) {
        if self.began.is_none() {
            self.began = Some(now);
            self.events.push(EmulatorEvent::Streaming);
        }
    }

    fn measure(&mut self, now: f64) {
        self.readings.clear();
        self.motion.readings(now - self.began.unwrap_or(now), &mut self.readings);
        self.readings.iter().for_each(|reading| self.device.set(reading));
    }

    fn burst(&mut self, now: f64) {
        let (Some(garbage), Some(began)) = (self.faults.garbage, self.began) else { return };
        let due = ((now - began) / garbage.every) as u64;
        if due > self.bursts {
            self.bursts = due;
            let bytes: Vec<u8> = (0..garbage.bytes).map(|_| (self.random.unit() * 256.0) as u8).collect();
            self.line.put(now, &bytes, bytes.len(), None);
            self.events.push(EmulatorEvent::Garbage(bytes.len()));
        }
    }

    /// Queues bytes as the host will receive them.
    fn send(&mut self, now: f64, mut bytes: Vec<u8>, packet: Option<u64>) {
        let sent = bytes.len();
        self.faults.spoil(&mut bytes, &mut self.random);
        if sent > 0
            && let Some((host, own)) = self.other_speed()
        {
            bytes = misread(&bytes, own, host);
        }
        self.line.put(now, &bytes, sent, packet);
    }

    /// The baud rates of host and device if they differ.
    fn other_speed(&mut self) -> Option<(u32, u32)> {
        let (host, own) = self.host_baud.zip(self.baud).filter(|(host, own)| host != own)?;
        if self.misread_at.replace(host) != Some(host) {
            self.events.push(EmulatorEvent::OtherSpeed { host, device: own });
        }
        Some((host, own))
    }
}
