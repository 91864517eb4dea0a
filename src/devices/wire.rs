//! What bytes come over: a serial line, datagrams of UDP, or the raw file of a USB device.

#[cfg(unix)]
mod hid;
#[cfg(feature = "serial")]
mod serial;

use std::io;
use std::net::UdpSocket;
use std::time::Duration;

use crate::assets::{DeviceProfile, Port};
use crate::protocol::{Format, Link};

/// How long a read waits for bytes.
pub const READ_WAIT: Duration = Duration::from_millis(10);

/// A line to a device.
pub trait Wire: Send {
    /// Reads what has come, and waits for it a little: nothing is `Ok(0)`, a line that is gone an error. Of datagrams and reports
    /// one at a time.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize>;
    /// Sends bytes.
    fn write(&mut self, bytes: &[u8]) -> io::Result<()>;
}

/// An open line and where it was found.
pub struct Opened {
    /// The line.
    pub wire: Box<dyn Wire>,
    /// Where.
    pub port: String,
}

/// Opens the line to a device, or says why it cannot be, in one sentence without a full stop.
pub fn open(profile: &DeviceProfile, format: &Format) -> Result<Opened, String> {
    match format.link() {
        Link::Serial { speeds } => open_serial(profile, profile.baud.unwrap_or(speeds[0])),
        Link::Udp { port } => open_udp(profile, port),
        Link::Usb { vendor, product } => open_reports(profile, vendor, product),
    }
}

#[cfg(feature = "serial")]
fn open_serial(profile: &DeviceProfile, baud: u32) -> Result<Opened, String> {
    serial::open(&profile.port, baud)
}

#[cfg(not(feature = "serial"))]
fn open_serial(_: &DeviceProfile, _: u32) -> Result<Opened, String> {
    Err("serial ports need the feature `serial`, and this program was built without it".into())
}

#[cfg(unix)]
fn open_reports(profile: &DeviceProfile, vendor: u16, product: Option<u16>) -> Result<Opened, String> {
    hid::open(&profile.port, vendor, product)
}

#[cfg(not(unix))]
fn open_reports(_: &DeviceProfile, _: u16, _: Option<u16>) -> Result<Opened, String> {
    Err("reports of USB devices are read on Linux only; use the device as a joystick or by another program".into())
}

/// The raw files of USB devices: path, ids and name of each.
#[cfg(unix)]
pub(super) fn hid_devices() -> Vec<(String, (u16, u16), String)> {
    hid::devices(std::path::Path::new(hid::LIST))
}

/// Datagrams.
struct Datagrams(UdpSocket);

fn open_udp(profile: &DeviceProfile, usual: u16) -> Result<Opened, String> {
    let address = match &profile.port {
        Port::Named(address) => address.clone(),
        // Only this machine is listened to unless somebody asks for more.
        Port::Auto | Port::Usb { .. } => format!("127.0.0.1:{usual}"),
    };
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::AddrInUse => {
            format!("{address} is in use by another program; close it, or name another `port` in the profile")
        }
        _ => format!("{address} cannot be listened at: {error}"),
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
            // What an earlier datagram of ours met; nothing is wrong with listening.
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(0),
            read => read,
        }
    }

    fn write(&mut self, _: &[u8]) -> io::Result<()> {
        Ok(())
    }
}

/// Whether an error only says that nothing came.
pub(super) fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}
