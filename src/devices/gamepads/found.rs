use crate::devices::list::{Found, Kind};

/// The connected gamepads and joysticks, or why they cannot be listed.
pub(in crate::devices) fn list() -> Vec<Found> {
    let gilrs = match gilrs::Gilrs::new() {
        Ok(gilrs) => gilrs,
        Err(error) => {
            return vec![Found::problem(Kind::Gamepad, format!("the gamepads cannot be listed: {error}"))];
        }
    };
    let found = |(_, pad): (gilrs::GamepadId, gilrs::Gamepad<'_>)| Found {
        kind: Kind::Gamepad,
        name: pad.name().into(),
        detail: (pad.vendor_id().zip(pad.product_id()))
            .map_or_else(String::new, |(vendor, product)| format!("USB {vendor:04x}:{product:04x}")),
        usb: pad.vendor_id().zip(pad.product_id()),
        problem: None,
    };
    gilrs.gamepads().map(found).collect()
}
