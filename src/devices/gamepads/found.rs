use crate::devices::list::{ListedDevice, ListedKind};

/// The connected gamepads and joysticks, or why they cannot be listed.
pub(in crate::devices) fn list() -> Vec<ListedDevice> {
    let gilrs = match gilrs::Gilrs::new() {
        Ok(gilrs) => gilrs,
        Err(error) => {
            return vec![ListedDevice::problem(ListedKind::Gamepad, format!("the gamepads cannot be listed: {error}"))];
        }
    };
    let found = |(_, pad): (gilrs::GamepadId, gilrs::Gamepad<'_>)| ListedDevice {
        kind: ListedKind::Gamepad,
        name: pad.name().into(),
        detail: (pad.vendor_id().zip(pad.product_id()))
            .map_or_else(String::new, |(vendor, product)| format!("USB {vendor:04x}:{product:04x}")),
        usb: pad.vendor_id().zip(pad.product_id()),
        problem: None,
    };
    gilrs.gamepads().map(found).collect()
}
