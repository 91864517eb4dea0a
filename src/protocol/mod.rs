//! Rank 2: the byte protocols of devices: decoding, the host's commands, and emulation. Pure code without ports,
//! threads, clocks or files.
//!
//! A [`Format`] names a device and its options and creates its four parts: a [`Decoder`] from bytes to [`Reading`]s, a
//! [`Host`] that sends commands, an [`Encoder`] from readings to bytes, and an [`Emulated`] device that responds like
//! the real one. The file of each format documents its layout and the source.
//!
//! For any input a decoder does not panic, buffers a bounded number of bytes, returns only values in range, and
//! resynchronises after noise with a loss of at most two packets.
//!
//! The last guarantee is limited by formats whose header byte can occur within packets. Noise may then end like the
//! start of a packet and shift the following ones, by chance or for as long as the device is still: without a checksum
//! (5DT 16, wireless Ultra, BNO055, [`Checksum::None`]) if a value equals the header byte; with the XOR of the 5DT 5,
//! which is the same at every offset of a repeated packet, if two values equal it.
//!
//! ```
//! use fingerpad::protocol::Format;
//!
//! let mut decoder = Format::named("opengloves").expect("a known format").decoder();
//! let mut readings = Vec::new();
//! decoder.push(b"noise", &mut readings);
//! assert!(readings.is_empty());
//! ```

mod bno055;
mod bones;
mod five_dt;
mod format;
mod framing;
mod gametrak;
mod haply;
mod haptic_bridge;
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
pub use gametrak::{AXIS_MAXIMUM, axis_from_joystick, position};
pub use haply::{HaplyFault, HaplyState, haply_command, haply_force};
pub use haptic_bridge::{
    BRIDGE_MAGIC, BRIDGE_VERSION, BridgeFault, BridgePose, BridgeWrench, POSE_LENGTH, WRENCH_LENGTH,
};
pub use open_gloves::{ForceFeedback, HostLine, VibrationPulse};
pub use osc::{Argument, Message, OscError, bundle, for_each_message, message};
pub use reading::{Button, DeviceInfo, FingerJoint, FlexReading, Gap, Reading, SENSORS, Sensor, TrackedObject};
pub use witmotion::QuaternionOrder;

/// Decodes the bytes of a device into readings.
pub trait Decoder: Send {
    /// Decodes bytes and appends their readings. With [`Framing::Packets`] each call is one packet.
    fn push(&mut self, bytes: &[u8], out: &mut Vec<Reading>);
    /// Whether the input is a stream or packets.
    fn framing(&self) -> Framing;
    /// Statistics so far.
    fn statistics(&self) -> DecodeStatistics;
    /// Number of buffered bytes of an incomplete packet. Bounded for any input.
    fn buffered(&self) -> usize;
    /// Resets the decoder, as after reopening the port.
    fn reset(&mut self);
    /// The probable problem and its remedy, one sentence without a full stop; `None` if there is no problem. The text
    /// does not change while the problem persists, so it can be reported once.
    fn hint(&self) -> Option<String>;
}

/// Framing of the input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Framing {
    /// A stream in chunks of any length.
    Stream,
    /// Whole packets: USB reports, datagrams.
    Packets,
}

/// Statistics of a decoder.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DecodeStatistics {
    /// Bytes received.
    pub bytes: u64,
    /// Packets or lines decoded.
    pub packets: u64,
    /// Packets with a wrong checksum.
    pub bad_checksums: u64,
    /// Bytes outside packets.
    pub skipped_bytes: u64,
    /// Number of times that synchronisation was lost.
    pub resynchronisations: u64,
}

/// Encodes readings as the bytes that the device would send.
pub trait Encoder: Send {
    /// Sets a value; it is kept until the next of its kind. Unsupported readings are ignored.
    fn set(&mut self, reading: &Reading);
    /// Appends one packet or line with the current values.
    fn packet(&mut self, out: &mut Vec<u8>);

    /// Sets readings and appends their packet.
    fn encode(&mut self, readings: &[Reading], out: &mut Vec<u8>) {
        readings.iter().for_each(|reading| self.set(reading));
        self.packet(out);
    }
}

/// Commands to send to a device. Each element is one write; devices with small buffers need a pause in between.
pub trait Host: Send {
    /// Commands to send after opening the port.
    fn start(&mut self) -> Vec<Vec<u8>>;
    /// Commands to send in response to received bytes.
    fn receive(&mut self, bytes: &[u8]) -> Vec<Vec<u8>>;
    /// Commands to send after a timeout.
    fn silence(&mut self) -> Vec<Vec<u8>>;
    /// Commands to send before closing the port.
    fn stop(&mut self) -> Vec<Vec<u8>>;
}

/// An emulated device: the other end of the connection.
pub trait Emulated: Send {
    /// Sets a value to send from now on.
    fn set(&mut self, reading: &Reading);
    /// Receives bytes of the host; returns the immediate response, or nothing.
    fn receive(&mut self, bytes: &[u8]) -> Vec<u8>;
    /// The packet that the device sends for a new measurement; empty if it is not streaming.
    fn sample(&mut self) -> Vec<u8>;
    /// The actuator commands that the host sent since the last call, at most the latest sixteen.
    fn commands(&mut self) -> Vec<HostLine> {
        Vec::new()
    }
}

/// The host of a device that needs no commands.
struct PassiveHost;

impl Host for PassiveHost {
    fn start(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }
    fn receive(&mut self, _: &[u8]) -> Vec<Vec<u8>> {
        Vec::new()
    }
    fn silence(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }
    fn stop(&mut self) -> Vec<Vec<u8>> {
        Vec::new()
    }
}

/// An emulated device that takes no commands.
struct PassiveDevice(Box<dyn Encoder>);

impl Emulated for PassiveDevice {
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

/// Scales a value from 0..=1 to an integer.
fn to_scale(value: f64, maximum: u16) -> u16 {
    // The cast saturates and turns NaN into zero.
    ((value * f64::from(maximum)).round() as u16).min(maximum)
}

/// The inverse, clamped to 0..=1.
fn from_scale(value: u16, maximum: u16) -> f64 {
    (f64::from(value) / f64::from(maximum)).min(1.0)
}
