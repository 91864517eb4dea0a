use crate::body::{BodyKind, HandId};
use crate::devices::Touch;
use crate::sim::World;
use crate::tracking::{Segment, Side};

/// What a hand of a world feels.
pub fn touch(world: &World, hand: HandId, side: Side) -> Touch {
    let mut touch = Touch { side, fingers: [0.0; 5], palm: 0.0, pressure: [0.0; 6] };
    let of_hand = |body: BodyKind| match body {
        BodyKind::Tissue(own, segment) if own == hand => Some(segment),
        _ => None,
    };
    for contact in world.touches() {
        for segment in [contact.a, contact.b].into_iter().filter_map(of_hand) {
            match segment.finger() {
                Some((finger, _)) => touch.fingers[finger as usize] += contact.pressing,
                None => touch.palm += contact.pressing,
            }
        }
    }
    for point in world.pressure_points() {
        // A soft body may be the one whose points are told; what presses on it presses back.
        for segment in [point.body, point.other].into_iter().filter_map(of_hand) {
            let part = &mut touch.pressure[part(segment)];
            *part = part.max(point.pressure);
        }
    }
    touch
}

/// The finger of a segment, or the palm after them.
fn part(segment: Segment) -> usize {
    segment.finger().map_or(5, |(finger, _)| finger as usize)
}
