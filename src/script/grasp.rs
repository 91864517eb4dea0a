use std::collections::BTreeMap;

use super::state::State;
use crate::body::BodyKind;
use crate::math::Pose;

/// Measures how hands hold an object, step by step.
///
/// An object is held while hands press on it and nothing else does.
pub struct GraspMeter {
    object: String,
    hands: Vec<usize>,
    start_height: f64,
    /// The object as seen from the palm of the first hand when it was last taken up.
    taken: Option<Pose>,
    lift: f64,
    slip: f64,
    spin: f64,
    held: f64,
    peak: f64,
}

impl GraspMeter {
    /// Begins to measure an object that is at a height, in some hands.
    pub fn new(object: String, hands: Vec<usize>, start_height: f64) -> Self {
        Self { object, hands, start_height, taken: None, lift: 0.0, slip: 0.0, spin: 0.0, held: 0.0, peak: 0.0 }
    }

    /// Takes the last step in.
    pub fn measure(&mut self, state: &State) {
        let Some(object) = state.find_body(&self.object) else { return };
        let mut by_segment: BTreeMap<BodyKind, f64> = BTreeMap::new();
        let (mut sliding, mut supported) = (0.0, false);
        for touch in state.scene.world.touches() {
            let other = match (touch.a == object, touch.b == object) {
                (true, _) => touch.b,
                (_, true) => touch.a,
                _ => continue,
            };
            match other {
                BodyKind::Tissue(hand, _) if self.hands.contains(&hand.index()) => {
                    *by_segment.entry(other).or_default() += touch.pressing;
                    sliding += touch.pressing * touch.sliding;
                }
                _ => supported = true,
            }
        }
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
            let seen = state.scene.world.bodies.hands[hand].skeleton.state().palm.inverse() * pose;
            let taken = self.taken.get_or_insert(seen);
            self.spin = self.spin.max(taken.rotation.angle_to(&seen.rotation));
        }
    }

    /// What every grasp task reports.
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
