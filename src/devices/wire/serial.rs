use std::io::{self, Read, Write};

use serialport::{SerialPort, SerialPortInfo, SerialPortType};

use super::{Opened, READ_WAIT, Wire, is_nothing};
use crate::assets::Port;

/// Opens the serial port of a profile.
pub(super) fn open(port: &Port, baud: u32) -> Result<Opened, String> {
    let name = match port {
        Port::Named(name) => name.clone(),
        Port::Auto => only_port(crate::devices::serial_ports::ports().unwrap_or_default())?,
        Port::Usb { vendor, product } => {
            port_with_ids(crate::devices::serial_ports::ports().unwrap_or_default(), *vendor, *product)?
        }
    };
    let opened = serialport::new(&name, baud).timeout(READ_WAIT).open();
    let mut line = opened.map_err(|error| refusal(&name, &error))?;
    // Some boards reset or stay silent without DTR; not every port has the signal.
    let _ = line.write_data_terminal_ready(true);
    Ok(Opened { wire: Box::new(SerialLine(line)), port: name })
}

fn refusal(name: &str, error: &serialport::Error) -> String {
    match error.kind() {
        serialport::ErrorKind::NoDevice => format!("there is no device at {name}, or another program has it open"),
        serialport::ErrorKind::Io(io::ErrorKind::NotFound) => format!("there is no {name}; check that it is connected"),
        serialport::ErrorKind::Io(io::ErrorKind::PermissionDenied) => {
            format!("no permission to open {name}; on Linux, join the group of the port (`dialout`) and log in again")
        }
        _ => format!("{name} cannot be opened: {error}"),
    }
}

/// The default port: the only one, or the only one on USB.
fn only_port(ports: Vec<SerialPortInfo>) -> Result<String, String> {
    let on_usb = |port: &&SerialPortInfo| matches!(port.port_type, SerialPortType::UsbPort(_));
    let usb: Vec<_> = ports.iter().filter(on_usb).collect();
    match (usb.as_slice(), ports.as_slice()) {
        ([one], _) => Ok(one.port_name.clone()),
        ([], [one]) => Ok(one.port_name.clone()),
        ([], []) => Err("there is no serial port; connect the device, or set its `port` in the profile".into()),
        _ => {
            let names: Vec<_> = ports.iter().map(|port| port.port_name.as_str()).collect();
            Err(format!("there are several serial ports ({}); set the `port` in the profile", names.join(", ")))
        }
    }
}

fn port_with_ids(ports: Vec<SerialPortInfo>, vendor: u16, product: u16) -> Result<String, String> {
    let fits = |port: &SerialPortInfo| matches!(&port.port_type, SerialPortType::UsbPort(usb) if (usb.vid, usb.pid) == (vendor, product));
    let found = ports.into_iter().find(fits);
    found.map(|port| port.port_name).ok_or_else(|| {
        format!("no serial port has the USB ids {vendor:04x}:{product:04x}; check that the device is connected")
    })
}

struct SerialLine(Box<dyn SerialPort>);

impl Wire for SerialLine {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.0.read(buffer) {
            // Readable without data: the other end is closed.
            Ok(0) => Err(io::ErrorKind::UnexpectedEof.into()),
            Err(error) if is_nothing(&error) => Ok(0),
            read => read,
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
}

#[cfg(test)]
mod tests {
    use serialport::UsbPortInfo;

    use super::*;

    fn port(name: &str, ids: Option<(u16, u16)>) -> SerialPortInfo {
        let usb = |(vid, pid)| {
            SerialPortType::UsbPort(UsbPortInfo { vid, pid, serial_number: None, manufacturer: None, product: None })
        };
        SerialPortInfo { port_name: name.into(), port_type: ids.map_or(SerialPortType::Unknown, usb) }
    }

    #[test]
    fn the_port_is_found_or_requested() {
        let (glove, other) = (port("/dev/ttyUSB0", Some((0x0403, 0x6001))), port("/dev/ttyS0", None));
        assert_eq!(only_port(vec![other.clone(), glove.clone()]).as_deref(), Ok("/dev/ttyUSB0"));
        assert_eq!(only_port(vec![other.clone()]).as_deref(), Ok("/dev/ttyS0"));
        assert!(only_port(Vec::new()).is_err_and(|why| why.contains("connect the device")));
        let two = only_port(vec![glove.clone(), port("/dev/ttyUSB1", Some((1, 2)))]);
        assert!(two.is_err_and(|why| why.contains("/dev/ttyUSB0, /dev/ttyUSB1")));
        assert_eq!(port_with_ids(vec![other, glove.clone()], 0x0403, 0x6001).as_deref(), Ok("/dev/ttyUSB0"));
        assert!(port_with_ids(vec![glove], 0x0403, 0x6002).is_err_and(|why| why.contains("0403:6002")));
    }

    #[test]
    fn a_missing_port_is_reported() {
        let why = open(&Port::Named("/dev/no-such-port".into()), 19200).err().expect("no port");
        assert!(why.contains("/dev/no-such-port"), "{why}");
    }
}
