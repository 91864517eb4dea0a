//! The end of a pseudo-terminal at which an emulated device sits. The other end looks like a serial port to everybody.

use std::io::{ErrorKind, Read, Write};
use std::time::Duration;

use serialport::{ClearBuffer, SerialPort, TTYPort};

/// A pseudo-terminal. Its other end vanishes with it.
pub(super) struct Pty {
    device: TTYPort,
    path: String,
    baud: u32,
}

/// What came from the other end.
pub(super) enum FromHost {
    /// So many bytes.
    Bytes(usize),
    /// Nothing, but somebody is there.
    Silence,
    /// Nobody has it open.
    Nobody,
}

impl Pty {
    /// A new one, raw and at the speed of the device, so that whoever opens it and sets nothing gets the bytes as they are.
    pub fn open(baud: u32) -> Result<Self, String> {
        let error = |error| format!("no pseudo-terminal can be made: {error}");
        let (device, mut host) = TTYPort::pair().map_err(error)?;
        // On Linux both ends share their settings.
        host.set_baud_rate(baud).map_err(error)?;
        let path = host.name().ok_or("the pseudo-terminal has no name")?;
        Ok(Self { device, path, baud })
    }

    /// What the host opens.
    pub fn path(&self) -> &str {
        &self.path
    }

    /// The speed that the host has set.
    pub fn host_baud(&self) -> Option<u32> {
        self.device.baud_rate().ok()
    }

    /// Waits for bytes of the host, no longer than some time. Comes back at once if nobody has the other end open.
    pub fn hear(&mut self, patience: Duration, buffer: &mut [u8]) -> FromHost {
        self.device.set_timeout(patience).ok();
        match self.device.read(buffer) {
            Ok(count) => FromHost::Bytes(count),
            Err(error) if [ErrorKind::TimedOut, ErrorKind::Interrupted].contains(&error.kind()) => FromHost::Silence,
            Err(_) => FromHost::Nobody,
        }
    }

    /// Sends bytes; how many the host has no room for any more. A serial line does not wait.
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

    /// Makes it as new after a host has gone: takes what it still said, throws away what it did not read. Whether the port can be
    /// opened again; a host that was killed may have left it locked.
    pub fn refresh(&mut self, heard: &mut Vec<u8>) -> bool {
        let settings = serialport::new(&self.path, self.baud).exclusive(false);
        let Ok(host) = TTYPort::open(&settings) else {
            // Another host may be there by now.
            return !matches!(self.hear(Duration::ZERO, &mut []), FromHost::Nobody);
        };
        let mut buffer = [0; 256];
        while let FromHost::Bytes(count) = self.hear(Duration::ZERO, &mut buffer) {
            heard.extend(&buffer[..count]);
        }
        host.clear(ClearBuffer::All).ok();
        true
    }
}
