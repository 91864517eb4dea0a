//! Rank 2: the byte level of devices: what their bytes mean, what to say to them, and what an emulated one says back. Pure code,
//! without ports, threads, clocks or files.
//!
//! A [`Format`] names a device and its options and makes the four parts of it: a [`Decoder`] from bytes to [`Reading`]s, a
//! [`Host`] that knows what to send, an [`Encoder`] the other way, and an [`Emulated`] device that answers as the real one
//! does. Each format's file tells its layout and where that is known from.
//!
//! Whatever bytes come, a decoder does not panic, holds a bounded number of them, hands on nothing out of its range, and finds
//! the packets again after noise: of those that follow it, two at most are lost.
//!
//! That last promise has a limit in the formats themselves, where the byte that packets begin with may stand within them. Noise
//! can then end in what passes for the front of a packet, and the values behind it for the next ones, by chance or for as long as
//! the device is still: without a checksum (5DT 16, Ultra by radio, BNO055, [`Checksum::None`]) whenever the values have that
//! byte, with the 5DT 5's XOR, which a still hand repeats from every place in the ring of nine, whenever two of them have it.

mod bno055;
mod bones;
mod five_dt;
mod format;
mod framing;
mod gametrak;
mod lines;
mod open_gloves;
mod osc;
mod packets;
mod reading;
#[cfg(test)]
mod tests;
mod vmc;
mod witmotion;
mod x_imu3;

pub use bones::HumanBone;
pub use five_dt::{Checksum, GloveMode, UltraSensors};
pub use format::{Format, Link};
pub use gametrak::{AXIS_MAXIMUM, axis_from_joystick, next_key, position};
pub use open_gloves::{ForceFeedback, HostLine, VibrationPulse};
pub use osc::{Argument, Message, OscError, bundle, for_each_message, message};
pub use reading::{
    Button, DeviceInfo, FARTHEST, FlexReading, Gap, LONGEST_TEXT, Place, Reading, SENSORS, Sensor, TrackedObject,
};
pub use witmotion::QuaternionOrder;

/// From the bytes of a device to what it says.
pub trait Decoder: Send {
    /// Takes bytes in as they come, and adds what they say. Of a device with [`Framing::Packets`] each call is one packet.
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Reading>);
    /// Whether bytes come as a stream or as packets.
    fn framing(&self) -> Framing;
    /// What came so far.
    fn statistics(&self) -> DecodeStatistics;
    /// Bytes that are held because their packet is not complete. Bounded, whatever comes.
    fn buffered(&self) -> usize;
    /// Begins anew, as after opening the port again.
    fn reset(&mut self);
    /// What is probably wrong and what to do about it, in one sentence without a full stop; `None` while all is well. It stays
    /// the same while the same is wrong, so that it is said once.
    fn hint(&self) -> Option<String>;
}

/// How the bytes of a device come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// One after another, in pieces of any length.
    Stream,
    /// In whole packets: reports of USB, datagrams.
    Packets,
}

/// What a decoder met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeStatistics {
    /// Bytes that came.
    pub bytes: u64,
    /// Packets or lines that were understood.
    pub packets: u64,
    /// Packets whose checksum was wrong.
    pub bad_checksums: u64,
    /// Bytes that belong to no packet.
    pub skipped_bytes: u64,
    /// How often the packets were lost after they had been found.
    pub resynchronisations: u64,
}

/// From readings to the bytes that the device would send.
pub trait Encoder: Send {
    /// Takes a value over; it stays until the next of its kind. What the device cannot say is ignored.
    fn set(&mut self, reading: &Reading);
    /// Appends one packet, or one line, with the values as they are.
    fn packet(&mut self, out: &mut Vec<u8>);

    /// Takes readings over and appends the packet that says them.
    fn encode(&mut self, readings: &[Reading], out: &mut Vec<u8>) {
        readings.iter().for_each(|reading| self.set(reading));
        self.packet(out);
    }
}

/// What to send to a device, and when. Each piece is one write; devices with small buffers want a pause in between.
pub trait Host: Send {
    /// What to send when the port has been opened.
    fn start(&mut self) -> Vec<Vec<u8>>;
    /// What to send after these bytes have come.
    fn heard(&mut self, bytes: &[u8]) -> Vec<Vec<u8>>;
    /// What to send when an answer is overdue.
    fn silence(&mut self) -> Vec<Vec<u8>>;
    /// What to send before the port is closed.
    fn stop(&mut self) -> Vec<Vec<u8>>;
}

/// A device that is not there: the other end of the line.
pub trait Emulated: Send {
    /// Takes a value over, to be told from now on.
    fn set(&mut self, reading: &Reading);
    /// Takes in what the host sent; what the device answers at once. Empty if nothing.
    fn receive(&mut self, bytes: &[u8]) -> Vec<u8>;
    /// What the device sends of its own accord when it has measured; one packet, or empty if nobody asked it to.
    fn sample(&mut self) -> Vec<u8>;
    /// The lines that the host sent to an emulated glove since the last call, the newest sixteen: what its motors shall do.
    fn commands(&mut self) -> Vec<HostLine> {
        Vec::new()
    }
}

/// The host of a device that only talks.
struct Silent;

impl Host for Silent {
    fn start(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }
    fn heard(&mut self, _: &[u8]) -> Vec<Vec<u8>> {
        Vec::new()
    }
    fn silence(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }
    fn stop(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// A device that only talks.
struct Talker(Box<dyn Encoder>);

impl Emulated for Talker {
    fn set(&mut self, reading: &Reading) {
        self.0.set(reading);
    }
    fn receive(&mut self, _: &[u8]) -> Vec<u8> {
        Vec::new()
    }
    fn sample(&mut self) -> Vec<u8> {
        let mut packet = Vec::new();
        self.0.packet(&mut packet);
        packet
    }
}

/// A value from 0 to 1 on an integer scale.
fn to_scale(value: f64, maximum: u16) -> u16 {
    // The cast holds to the range of the type, and makes what is not a number zero.
    ((value * f64::from(maximum)).round() as u16).min(maximum)
}

/// The other way; what is beyond the scale is its end.
fn from_scale(value: u16, maximum: u16) -> f64 {
    (f64::from(value) / f64::from(maximum)).min(1.0)
}
