//! USB devices that send reports (HID) on Windows and macOS, through the system's own interface.

use std::ffi::CString;
use std::io;

use hidapi::{HidApi, HidDevice, HidError};

use super::{Opened, READ_WAIT, Wire};
use crate::assets::Port;

/// Opens the reports of a USB device.
pub(super) fn open(port: &Port, vendor: u16, product: Option<u16>) -> Result<Opened, String> {
    let api = HidApi::new().map_err(|error| format!("USB devices cannot be listed: {error}"))?;
    let path = match port {
        Port::Named(name) => CString::new(name.as_str()).map_err(|_| format!("{name} is not a path"))?,
        Port::Auto => find(&api, vendor, product)?,
        Port::Usb { vendor, product } => find(&api, *vendor, Some(*product))?,
    };
    let name = path.to_string_lossy().into_owned();
    let device = api.open_path(&path).map_err(|error| format!("{name} cannot be opened: {error}"))?;
    Ok(Opened { wire: Box::new(Reports(device)), port: name })
}

/// The path of the first device with these ids.
fn find(api: &HidApi, vendor: u16, product: Option<u16>) -> Result<CString, String> {
    let fits = |v: u16, p: u16| v == vendor && product.is_none_or(|wanted| wanted == p);
    let found = api.device_list().find(|device| fits(device.vendor_id(), device.product_id()));
    let ids = product.map_or(format!("{vendor:04x}:*"), |product| format!("{vendor:04x}:{product:04x}"));
    found.map(|device| device.path().into()).ok_or_else(|| format!("no USB device {ids} is plugged in"))
}

/// Path, USB ids and name of every device, by path.
pub(super) fn devices() -> Vec<(String, (u16, u16), String)> {
    let Ok(api) = HidApi::new() else { return Vec::new() };
    let mut devices: Vec<_> = api
        .device_list()
        .map(|device| {
            let name = device.product_string().unwrap_or_default().trim().to_string();
            (device.path().to_string_lossy().into_owned(), (device.vendor_id(), device.product_id()), name)
        })
        .collect();
    devices.sort();
    devices.dedup();
    devices
}

struct Reports(HidDevice);

impl Wire for Reports {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read_timeout(buffer, READ_WAIT.as_millis() as i32).map_err(io_error)
    }

    fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        // The number of the report goes before it; these devices have but one.
        self.0.write(&[&[0], bytes].concat()).map(drop).map_err(io_error)
    }
}

fn io_error(error: HidError) -> io::Error {
    io::Error::other(error.to_string())
}
