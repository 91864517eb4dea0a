use std::collections::BTreeMap;

use crate::body::{BodyKind, HandId};
use crate::sim::{Load, PressurePoint, Touch, World};
use crate::tracking::Segment;

/// What the last step was like, kept when bodies come or go before the next one: the world's own account of it goes by
/// numbers that are others then.
pub struct LastStep {
    /// What touched.
    pub touches: Vec<Touch>,
    /// Forces on single points.
    pub pressures: Vec<PressurePoint>,
    loads: BTreeMap<(usize, Segment), Load>,
}

impl LastStep {
    /// Everything that scripts ask about a step.
    pub fn of(world: &World) -> Self {
        let hands = 0..world.bodies.hands.len();
        let segments = hands.flat_map(|hand| Segment::all().map(move |segment| (hand, segment)));
        Self {
            touches: world.touches().collect(),
            pressures: world.pressure_points().collect(),
            loads: segments.map(|(hand, segment)| ((hand, segment), world.load(HandId::at(hand), segment))).collect(),
        }
    }

    /// What a segment felt; nothing if its hand was not there.
    pub fn load(&self, hand: usize, segment: Segment) -> Load {
        self.loads.get(&(hand, segment)).copied().unwrap_or_default()
    }

    /// A body is gone, and those of its kind behind it have moved up. What a hand felt of it stays felt.
    pub fn forget(&mut self, gone: BodyKind) {
        self.touches.retain(|touch| touch.a != gone && touch.b != gone);
        self.pressures.retain(|point| point.other != gone);
        let touching = self.touches.iter_mut().flat_map(|touch| [&mut touch.a, &mut touch.b]);
        let pressing = self.pressures.iter_mut().flat_map(|point| [&mut point.body, &mut point.other]);
        touching.chain(pressing).for_each(|body| *body = after(gone, *body));
    }
}

/// What a body is called when another one is gone.
pub fn after(gone: BodyKind, body: BodyKind) -> BodyKind {
    match (gone, body) {
        (BodyKind::Rigid(gone), BodyKind::Rigid(i)) if i > gone => BodyKind::Rigid(i - 1),
        (BodyKind::Soft(gone), BodyKind::Soft(i)) if i > gone => BodyKind::Soft(i - 1),
        (BodyKind::Fixed(gone), BodyKind::Fixed(i)) if i > gone => BodyKind::Fixed(i - 1),
        _ => body,
    }
}
