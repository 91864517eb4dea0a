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
