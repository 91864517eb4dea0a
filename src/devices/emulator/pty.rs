//! The device end of a pseudo-terminal. The other end behaves like a serial port.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use serialport::{ClearBuffer, SerialPort, TTYPort};

/// A pseudo-terminal. Its other end disappears when it is dropped.
pub(super) struct Pty {
    device: TTYPort,
    path: String,
    baud: u32,
}

/// Result of a read.
pub(super) enum FromHost {
    /// Bytes received.
    Bytes(usize),
    /// No bytes, but a host has it open.
    Silence,
    /// No host has it open.
    Disconnected,
}

impl Pty {
    /// A new pseudo-terminal, raw and at the baud rate of the device, so that a host without settings gets the raw
    /// bytes.
    pub fn open(baud: u32) -> Result<Self, String> {
        let error = |error| format!("cannot create a pseudo-terminal: {error}");
        let (device, mut host) = TTYPort::pair().map_err(error)?;
        // On Linux both ends share their settings.
        host.set_baud_rate(baud).map_err(error)?;
        let path = host.name().ok_or("the pseudo-terminal has no name")?;
        Ok(Self { device, path, baud })
    }

    /// The path for the host.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The baud rate that the host has set.
    pub fn host_baud(&self) -> Option<u32> {
        self.device.baud_rate().ok()
    }

    /// Waits for bytes of the host, with a timeout. Returns at once if the other end is not open.
    pub fn receive(&mut self, patience: Duration, buffer: &mut [u8]) -> FromHost {
        self.device.set_timeout(patience).ok();
        match self.device.read(buffer) {
            Ok(count) => FromHost::Bytes(count),
            Err(error) if [ErrorKind::TimedOut, ErrorKind::Interrupted].contains(&error.kind()) => FromHost::Silence,
            Err(_) => FromHost::Disconnected,
        }
    }

    /// Sends bytes; returns how many did not fit in the buffer. A serial line does not block.
    pub fn say(&mut self, bytes: &[u8]) -> usize {
        self.device.set_timeout(Duration::ZERO).ok();
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.device.write(rest) {
                Ok(count) if count > 0 => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        rest.len()
    }

    /// Restores the initial state after the host has closed it: reads its last bytes, discards unread ones. Returns
    /// whether the port can be opened again; a killed host may have left it locked.
    pub fn refresh(&mut self, heard: &mut Vec<u8>) -> bool {
        let settings = serialport::new(&self.path, self.baud).exclusive(false);
        let Ok(host) = TTYPort::open(&settings) else {
            // Another host may have opened it.
            return !matches!(self.receive(Duration::ZERO, &mut []), FromHost::Disconnected);
        };
        let mut buffer = [0; 256];
        while let FromHost::Bytes(count) = self.receive(Duration::ZERO, &mut buffer) {
            heard.extend(&buffer[..count]);
        }
        host.clear(ClearBuffer::All).ok();
        true
    }
}
