//! Gamepads that are held instead of a hand, and the GameTrak as a joystick. What sticks and buttons mean is plain code; only the
//! feature `gamepad` brings the ports.

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
