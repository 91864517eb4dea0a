use std::collections::{BTreeMap, BTreeSet};

use super::state::State;
use crate::body::{BodyId, ColliderId};
use crate::math::Pose;
use crate::sim::Touch;

/// Measures the grasp of an object, step by step.
///
/// An object is held while hands press on it and nothing else supports it. What it supports itself, such as balls in a
/// cup, does not count.
pub struct GraspMeter {
    object: String,
    hands: Vec<usize>,
    start_height: f64,
    /// Pose of the object in the frame of the first palm when it was last lifted.
    taken: Option<Pose>,
    lift: f64,
    slip: f64,
    spin: f64,
    held: f64,
    peak: f64,
}

impl GraspMeter {
    /// Starts measuring an object at a height in some hands.
    pub fn new(object: String, hands: Vec<usize>, start_height: f64) -> Self {
        Self { object, hands, start_height, taken: None, lift: 0.0, slip: 0.0, spin: 0.0, held: 0.0, peak: 0.0 }
    }

    /// Adds the last step.
    pub fn measure(&mut self, state: &State) {
        let Some(object) = state.find_body(&self.object) else { return };
        let mut by_segment: BTreeMap<ColliderId, f64> = BTreeMap::new();
        let mut sliding = 0.0;
        let touches: Vec<Touch> = state.scene.world.touches().collect();
        for touch in &touches {
            let Some(other) = other(touch, object).filter(|other| self.is_own(state, *other)) else { continue };
            *by_segment.entry(other).or_default() += touch.pressing;
            sliding += touch.pressing * touch.sliding;
        }
        let supported = self.is_supported(state, object, &touches);
        self.peak = by_segment.values().copied().fold(self.peak, f64::max);
        let pressing: f64 = by_segment.values().sum();
        if supported || pressing <= 0.0 {
            self.taken = None;
            return;
        }
        let h = state.scene.world.parameters.dt;
        let pose = state.pose(object);
        self.held += h;
        self.slip += h * sliding / pressing;
        self.lift = self.lift.max(pose.translation.y - self.start_height);
        if let Some(&hand) = self.hands.first() {
            let seen = state.scene.world.bodies.hand(hand).skeleton.state().palm.inverse() * pose;
            let taken = self.taken.get_or_insert(seen);
            self.spin = self.spin.max(taken.rotation.angle_to(&seen.rotation));
        }
    }

    /// Whether a collider is a part of the hands that are measured.
    fn is_own(&self, state: &State, side: ColliderId) -> bool {
        self.hands.iter().any(|&hand| state.is_of_hand(side, hand))
    }

    /// Whether anything except the hands supports an object: the static world or another hand, directly or through
    /// other bodies.
    fn is_supported(&self, state: &State, object: BodyId, touches: &[Touch]) -> bool {
        let movable = |body: BodyId| state.scene.world.bodies.get(body).is_some_and(|body| body.mass().is_some());
        let (mut seen, mut open) = (BTreeSet::from([object]), vec![object]);
        while let Some(body) = open.pop() {
            let others = touches.iter().filter_map(|touch| other(touch, body));
            for other in others.filter(|other| !self.is_own(state, *other)) {
                if !movable(other.body) {
                    return true;
                }
                if seen.insert(other.body) {
                    open.push(other.body);
                }
            }
        }
        false
    }

    /// The metrics of a grasp task.
    pub fn metrics(&self) -> BTreeMap<String, f64> {
        let list = [
            ("lift_mm", 1e3 * self.lift),
            ("slip_mm", 1e3 * self.slip),
            ("spin_deg", self.spin.to_degrees()),
            ("held_s", self.held),
            ("peak_normal_n", self.peak),
        ];
        list.into_iter().map(|(name, value)| (name.to_string(), value)).collect()
    }
}

/// The contacts of a body.
fn other(touch: &Touch, body: BodyId) -> Option<ColliderId> {
    match (touch.a.body == body, touch.b.body == body) {
        (true, _) => Some(touch.b),
        (_, true) => Some(touch.a),
        _ => None,
    }
}
