use std::collections::{BTreeMap, BTreeSet};

use super::state::State;
use crate::body::BodyKind;
use crate::math::Pose;
use crate::sim::Touch;

/// Measures how hands hold an object, step by step.
///
/// An object is held while hands press on it and nothing else carries it. What it carries itself, such as the balls in a cup, does not count.
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
        let mut sliding = 0.0;
        let touches: Vec<Touch> = state.scene.world.touches().collect();
        for touch in &touches {
            let Some(other) = other(touch, object).filter(|other| self.is_own(*other)) else { continue };
            *by_segment.entry(other).or_default() += touch.pressing;
            sliding += touch.pressing * touch.sliding;
        }
        let supported = self.is_supported(object, &touches);
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

    /// Whether a body is a part of the hands that are measured.
    fn is_own(&self, body: BodyKind) -> bool {
        matches!(body, BodyKind::Tissue(hand, _) | BodyKind::Skeleton(hand) if self.hands.contains(&hand.index()))
    }

    /// Whether anything but the hands carries an object: the static world or another hand, directly or through bodies that touch it.
    fn is_supported(&self, object: BodyKind, touches: &[Touch]) -> bool {
        let (mut seen, mut open) = (BTreeSet::from([object]), vec![object]);
        while let Some(body) = open.pop() {
            for other in touches.iter().filter_map(|touch| other(touch, body)).filter(|other| !self.is_own(*other)) {
                match other {
                    BodyKind::Rigid(_) | BodyKind::Soft(_) => {
                        if seen.insert(other) {
                            open.push(other);
                        }
                    }
                    BodyKind::Fixed(_) | BodyKind::Tissue(..) | BodyKind::Skeleton(_) => return true,
                }
            }
        }
        false
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

/// What touches a body.
fn other(touch: &Touch, body: BodyKind) -> Option<BodyKind> {
    match (touch.a == body, touch.b == body) {
        (true, _) => Some(touch.b),
        (_, true) => Some(touch.a),
        _ => None,
    }
}
