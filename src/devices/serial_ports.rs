use std::path::Path;

use serialport::{SerialPortInfo, SerialPortType};

use super::list::{ListedDevice, ListedKind};

/// Where Linux lists its serial ports.
const LINUX: &str = "/sys/class/tty";

/// The serial ports of the system, or why they cannot be listed.
pub(super) fn list() -> Vec<ListedDevice> {
    match ports() {
        Ok(ports) => ports.into_iter().map(found).collect(),
        Err(problem) => vec![ListedDevice::problem(ListedKind::SerialPort, problem)],
    }
}

/// The serial ports of the system, or why they cannot be listed.
pub(super) fn ports() -> Result<Vec<SerialPortInfo>, String> {
    if cfg!(target_os = "linux") { ports_in(Path::new(LINUX)) } else { available() }
}

/// The serial ports listed in a folder of the system. A container may not have it, and the crate would panic.
fn ports_in(folder: &Path) -> Result<Vec<SerialPortInfo>, String> {
    if folder.is_dir() {
        return available();
    }
    Err(format!("the serial ports cannot be listed: there is no {}", folder.display()))
}

fn available() -> Result<Vec<SerialPortInfo>, String> {
    serialport::available_ports().map_err(|error| format!("the serial ports cannot be listed: {error}"))
}

fn found(port: SerialPortInfo) -> ListedDevice {
    let usb = match &port.port_type {
        SerialPortType::UsbPort(usb) => Some((usb.vid, usb.pid)),
        _ => None,
    };
    let detail = match port.port_type {
        SerialPortType::UsbPort(usb) => {
            let ids = format!("USB {:04x}:{:04x}", usb.vid, usb.pid);
            let names = [usb.manufacturer, usb.product].into_iter().flatten();
            [ids].into_iter().chain(names).collect::<Vec<_>>().join(", ")
        }
        SerialPortType::BluetoothPort => "Bluetooth".into(),
        SerialPortType::PciPort => "built in".into(),
        SerialPortType::Unknown => String::new(),
    };
    ListedDevice { kind: ListedKind::SerialPort, name: port.port_name, detail, usb, problem: None }
}

#[cfg(test)]
mod tests {
    use serialport::UsbPortInfo;

    use super::*;

    #[test]
    fn a_system_without_a_port_list_is_reported() {
        let problem = ports_in(Path::new("/no/such/folder")).expect_err("there is no such folder");
        assert_eq!(problem, "the serial ports cannot be listed: there is no /no/such/folder");
    }

    #[test]
    fn a_usb_port_lists_its_ids_and_names() {
        let usb = UsbPortInfo {
            vid: 0x0403,
            pid: 0x6001,
            serial_number: None,
            manufacturer: None,
            product: Some("FT232R USB UART".into()),
        };
        let port = SerialPortInfo { port_name: "/dev/ttyUSB0".into(), port_type: SerialPortType::UsbPort(usb) };
        assert_eq!(found(port).to_string(), "serial port /dev/ttyUSB0 (USB 0403:6001, FT232R USB UART)");
    }
}
