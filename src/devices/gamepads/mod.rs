//! Gamepads as a hand, and the GameTrak as a joystick. The mapping of sticks and buttons is plain code; only the ports
//! need the feature `gamepad`.
//!
//! ```
//! use fingerpad::devices::gamepads::string_position;
//! use fingerpad::tracking::Side;
//!
//! let axes = [Some(0.0), Some(0.0), Some(0.5), None, None, None];
//! assert!(string_position(Side::Left, &axes).is_some());
//! assert!(string_position(Side::Right, &axes).is_none(), "nothing is known of the right hand");
//! ```

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
