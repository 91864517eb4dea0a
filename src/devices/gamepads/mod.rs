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

mod hand;
#[cfg(feature = "gamepad")]
mod port;
#[cfg(feature = "gamepad")]
mod rumble;
#[cfg(test)]
mod tests;

pub use hand::{PadButton, PadHand, PadState};
#[cfg(feature = "gamepad")]
pub(super) use port::{list, start};

use crate::math::Vec3;
use crate::protocol::{axis_from_joystick, position};
use crate::tracking::Side;

/// Hand position of a GameTrak that is a joystick of six axes, each from −1 to 1: x, y and the string of the left hand,
/// then those of the right. `None` until the three axes of the hand are known.
pub fn string_position(side: Side, axes: &[Option<f64>; 6]) -> Option<Vec3> {
    let own = &axes[3 * side as usize..][..3];
    let [x, y, string] = [own[0]?, own[1]?, own[2]?].map(axis_from_joystick);
    let place = position(side, [x, y, string]);
    place.iter().all(|x| x.is_finite()).then_some(place)
}
