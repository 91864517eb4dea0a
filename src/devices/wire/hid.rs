//! USB devices that send reports (HID), through the raw files of Linux. The crate `hidapi`, which Windows and macOS need, would do the same here
//! with three more crates.

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Opened, READ_WAIT, Wire, is_nothing};
use crate::assets::Port;

/// Where Linux lists the hidraw files.
pub(super) const LIST: &str = "/sys/class/hidraw";
/// Non-blocking reads: `O_NONBLOCK` of Linux.
const AT_ONCE: i32 = 0o4000;
/// Poll interval while nothing arrives.
const REPORT_POLL: Duration = Duration::from_millis(1);

/// Opens the reports of a USB HID device.
pub(super) fn open(port: &Port, vendor: u16, product: Option<u16>) -> Result<Opened, String> {
    let name = match port {
        Port::Named(name) => name.clone(),
        Port::Auto => find(Path::new(LIST), vendor, product)?,
        Port::Usb { vendor, product } => find(Path::new(LIST), *vendor, Some(*product))?,
    };
    let open = |write: bool| OpenOptions::new().read(true).write(write).custom_flags(AT_ONCE).open(&name);
    // Devices without commands need not be writable.
    let file = open(true).or_else(|_| open(false)).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => format!("there is no {name}; check that it is connected"),
        io::ErrorKind::PermissionDenied => {
            format!("no permission to open {name}; add a udev rule for its user")
        }
        _ => format!("{name} cannot be opened: {error}"),
    })?;
    Ok(Opened { wire: Box::new(Reports(file)), port: name })
}

/// The raw file of a device with these USB ids.
fn find(list: &Path, vendor: u16, product: Option<u16>) -> Result<String, String> {
    let fits = |(v, p): (u16, u16)| v == vendor && product.is_none_or(|wanted| wanted == p);
    let found = devices(list).into_iter().find(|(_, ids, _)| fits(*ids)).map(|(name, ..)| name);
    let ids = product.map_or(format!("{vendor:04x}:*"), |product| format!("{vendor:04x}:{product:04x}"));
    found.ok_or_else(|| format!("no USB device {ids} is connected"))
}

/// Path, USB ids and name of every device with a raw file, sorted by path.
pub(super) fn devices(list: &Path) -> Vec<(String, (u16, u16), String)> {
    let entries = std::fs::read_dir(list).into_iter().flatten().flatten();
    let mut devices: Vec<_> = entries
        .filter_map(|entry| {
            let about = std::fs::read_to_string(entry.path().join("device/uevent")).ok()?;
            let ids = about.lines().find_map(|line| ids_of(line.strip_prefix("HID_ID=")?))?;
            let name = about.lines().find_map(|line| line.strip_prefix("HID_NAME=")).unwrap_or_default();
            Some((format!("/dev/{}", entry.file_name().to_string_lossy()), ids, name.trim().to_string()))
        })
        .collect();
    devices.sort();
    devices
}

/// `bus:vendor:product` in hexadecimal digits.
fn ids_of(text: &str) -> Option<(u16, u16)> {
    let mut numbers = text.trim().split(':').skip(1).map(|hex| u32::from_str_radix(hex, 16).ok());
    let mut next = || numbers.next()?.and_then(|number| u16::try_from(number).ok());
    Some((next()?, next()?))
}

struct Reports(File);

impl Wire for Reports {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let deadline = Instant::now() + READ_WAIT;
        loop {
            match self.0.read(buffer) {
                Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
                Err(error) if is_nothing(&error) && Instant::now() < deadline => std::thread::sleep(REPORT_POLL),
                Err(error) if is_nothing(&error) => return Ok(0),
                read => return read,
            }
        }
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        // The report id comes first; these devices have only one.
        self.0.write_all(&[&[0], bytes].concat())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_raw_file_is_found_by_its_ids() {
        let folder = std::env::temp_dir().join(format!("fingerpad-hid-{}", std::process::id()));
        for (name, id) in [("hidraw0", "0003:0000046D:0000C077"), ("hidraw3", "0003:000014B7:00000982")] {
            let device = folder.join(name).join("device");
            std::fs::create_dir_all(&device).expect("a folder");
            std::fs::write(device.join("uevent"), format!("DRIVER=hid-generic\nHID_ID={id}\n")).expect("a file");
        }
        assert_eq!(find(&folder, 0x14B7, Some(0x0982)).as_deref(), Ok("/dev/hidraw3"));
        assert_eq!(find(&folder, 0x046D, None).as_deref(), Ok("/dev/hidraw0"));
        assert!(find(&folder, 0x5D70, None).is_err_and(|why| why == "no USB device 5d70:* is connected"));
        std::fs::remove_dir_all(&folder).expect("the folder goes");
        assert!(find(&folder, 0x046D, None).is_err(), "a system without such a list");
        assert_eq!(ids_of("nonsense"), None);
    }
}
