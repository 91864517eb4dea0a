//! Gamepads as a hand, and the GameTrak as a joystick. The mapping of sticks and buttons is plain code; only the ports
//! need the feature `gamepad`.

#[cfg(feature = "gamepad")]
mod found;
mod hand;
#[cfg(feature = "gamepad")]
mod port;
#[cfg(feature = "gamepad")]
mod rumble;
mod strings;
#[cfg(test)]
mod tests;

#[cfg(feature = "gamepad")]
pub(super) use found::list;
pub use hand::{PadButton, PadHand, PadState};
#[cfg(feature = "gamepad")]
pub(super) use port::start;
pub use strings::string_position;
