//! Connections to devices: a serial line, UDP datagrams, or the reports of a USB device.
//!
//! ```no_run
//! use fingerpad::assets::{DeviceKind, builtin_device_file, load_device};
//! use fingerpad::devices::wire;
//!
//! let profile = load_device(&builtin_device_file("opengloves").expect("a shipped profile"))?;
//! if let DeviceKind::Wire(format) = &profile.kind {
//!     let mut opened = wire::open(&profile, format)?;
//!     let mut bytes = [0; 256];
//!     println!("{} bytes from {}", opened.wire.read(&mut bytes)?, opened.port);
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(target_os = "linux")]
mod hid;
#[cfg(any(windows, target_os = "macos"))]
#[path = "wire/hid_api.rs"]
mod hid;
#[cfg(feature = "serial")]
mod serial;

use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use super::error::DeviceError;
use crate::assets::{DeviceProfile, Port};
use crate::protocol::{Format, Link};

/// Read timeout.
pub const READ_WAIT: Duration = Duration::from_millis(10);

/// A connection to a device.
pub trait Wire: Send {
    /// Reads with a short timeout: `Ok(0)` if nothing arrived, an error if the connection is lost. Datagrams and
    /// reports are read one at a time.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
    /// Sends bytes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// An open connection and its port.
pub struct Opened {
    /// Connection.
    pub wire: Box<dyn Wire>,
    /// Port.
    pub port: String,
}

/// Opens the connection to a device, or returns why it failed, one sentence without a full stop.
pub fn open(profile: &DeviceProfile, format: &Format) -> Result<Opened, DeviceError> {
    let opened = match format.link() {
        Link::Serial { speeds } => open_serial(profile, profile.baud.unwrap_or(speeds[0])),
        Link::Udp { port } => open_udp(profile, port),
        Link::Usb { vendor, product } => open_reports(profile, vendor, product),
    };
    opened.map_err(DeviceError::Port)
}

#[cfg(feature = "serial")]
fn open_serial(profile: &DeviceProfile, baud: u32) -> Result<Opened, String> {
    serial::open(&profile.port, baud)
}

#[cfg(not(feature = "serial"))]
fn open_serial(_: &DeviceProfile, _: u32) -> Result<Opened, String> {
    Err("serial ports need the Cargo feature `serial`, which this build does not have".into())
}

#[cfg(any(target_os = "linux", windows, target_os = "macos"))]
fn open_reports(profile: &DeviceProfile, vendor: u16, product: Option<u16>) -> Result<Opened, String> {
    hid::open(&profile.port, vendor, product)
}

#[cfg(not(any(target_os = "linux", windows, target_os = "macos")))]
fn open_reports(_: &DeviceProfile, _: u16, _: Option<u16>) -> Result<Opened, String> {
    Err("reports of USB devices are read on Linux, Windows and macOS only; use the device as a joystick".into())
}

/// The USB devices that send reports: path, ids and name of each.
pub(super) fn hid_devices() -> Vec<(String, (u16, u16), String)> {
    #[cfg(target_os = "linux")]
    return hid::devices(std::path::Path::new(hid::LIST));
    #[cfg(any(windows, target_os = "macos"))]
    return hid::devices();
    #[cfg(not(any(target_os = "linux", windows, target_os = "macos")))]
    return Vec::new();
}

/// Datagrams.
struct Datagrams(UdpSocket);

fn open_udp(profile: &DeviceProfile, usual: u16) -> Result<Opened, String> {
    let address = match &profile.port {
        Port::Named(address) => address.clone(),
        // Listens on the loopback address unless the profile says otherwise.
        Port::Auto | Port::Usb { .. } => format!("127.0.0.1:{usual}"),
    };
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("{address} is in use by another program; close it, or choose another `port` in the profile")
        }
        _ => format!("cannot listen at {address}: {error}"),
    };
    let socket = UdpSocket::bind(&address).map_err(failed)?;
    socket.set_read_timeout(Some(READ_WAIT)).map_err(failed)?;
    let port = socket.local_addr().map_or(address.clone(), |own| own.to_string());
    Ok(Opened { wire: Box::new(Datagrams(socket)), port })
}

impl Wire for Datagrams {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.recv(buffer) {
            Err(error) if is_nothing(&error) => Ok(0),
            // The error of an earlier outgoing datagram; receiving still works.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(0),
            read => read,
        }
    }

    fn write(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// Whether an error only means that nothing arrived.
pub(super) fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
