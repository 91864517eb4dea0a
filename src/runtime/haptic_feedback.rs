//! Forces and pressures on a hand, as devices with haptic output receive them.
//!
//! ```
//! use fingerpad::assets::load_builtin_scene;
//! use fingerpad::runtime::haptic_feedback;
//! use fingerpad::tracking::Side;
//!
//! let scene = load_builtin_scene("ball", &[]).expect("a shipped scene")?;
//! let touch = haptic_feedback::of_hand(&scene.world, scene.world.bodies.hand_ids()[0], Side::Right);
//! assert_eq!(touch.fingers, [0.0; 5], "nothing is touched before the first step");
//! # Ok::<(), fingerpad::assets::Problems>(())
//! ```

use crate::body::{ColliderId, HandId};
use crate::devices::HandForces;
use crate::sim::World;
use crate::tracking::{Segment, Side};

/// Normal forces, greatest pressures and powers of slip on the fingers and the palm of a hand in the last step.
pub fn of_hand(world: &World, hand: HandId, side: Side) -> HandForces {
    let mut touch = HandForces { side, fingers: [0.0; 5], palm: 0.0, pressure: [0.0; 6], slip: [0.0; 6] };
    let of_hand = |side: ColliderId| (side.body == hand.id()).then(|| Segment::at(side.index()));
    for contact in world.touches() {
        // Both surfaces lose it together; the user feels it once for each finger that takes part.
        let power = contact.friction.norm() * contact.sliding + (contact.torque * contact.spinning).abs();
        for segment in [contact.a, contact.b].into_iter().filter_map(of_hand) {
            touch.slip[part(segment)] += power;
            match segment.finger() {
                Some((finger, _)) => touch.fingers[finger as usize] += contact.pressing,
                None => touch.palm += contact.pressing,
            }
        }
    }
    for point in world.pressure_points() {
        // The points of a pair may belong to either body; the pressure on both is the same.
        for segment in [point.body, point.other].into_iter().filter_map(of_hand) {
            let part = &mut touch.pressure[part(segment)];
            *part = part.max(point.pressure);
        }
    }
    touch
}

/// Index of a segment's finger, or 5 for the palm.
fn part(segment: Segment) -> usize {
    segment.finger().map_or(5, |(finger, _)| finger as usize)
}
