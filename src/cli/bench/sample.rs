use std::collections::BTreeSet;

use crate::assets::Scene;
use crate::body::BodyKind;
use crate::math::Vec3;
use crate::tracking::Segment;

/// What is seen of a scene after a step.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Time of the scene, s.
    pub time: f64,
    /// Contacts that took part in constraints.
    pub contacts: usize,
    /// Those of them with a force.
    pub pressing: usize,
    /// Rows.
    pub constraints: usize,
    /// Phalanges that something presses on.
    pub phalanges: usize,
    /// Time of the solve, ms.
    pub solve_ms: f64,
    /// Time of the step, ms.
    pub step_ms: f64,
    /// Sum of the normal forces on all hands, N.
    pub force: f64,
    /// How far the object moved in the hand since it was taken up, mm; nothing while it is not held in the air.
    pub slip_mm: Option<f64>,
    /// The deepest point left inside another body, mm.
    pub penetration_mm: f64,
}

impl Sample {
    /// The columns of a table of samples.
    pub const COLUMNS: &str =
        "time,contacts,pressing_contacts,constraints,phalanges,solve_ms,step_ms,force_n,slip_mm,penetration_mm";

    /// A line of that table.
    pub fn csv(&self) -> String {
        let slip = self.slip_mm.map_or(String::new(), |slip| slip.to_string());
        format!(
            "{},{},{},{},{},{},{},{},{slip},{}",
            self.time,
            self.contacts,
            self.pressing,
            self.constraints,
            self.phalanges,
            self.solve_ms,
            self.step_ms,
            self.force,
            self.penetration_mm
        )
    }
}

/// Looks at a scene step by step.
///
/// The object is the first body that moves by itself. It is held while hands press on it and nothing else does.
pub struct Watcher {
    object: Option<BodyKind>,
    /// The object as seen from the palm of the first hand when it was last taken up.
    taken: Option<Vec3>,
    /// What was seen so far.
    pub samples: Vec<Sample>,
}

impl Watcher {
    /// Begins to look at a scene.
    pub fn new(scene: &Scene) -> Self {
        let bodies = &scene.world.bodies;
        let object = if bodies.rigid.is_empty() {
            (!bodies.soft.is_empty()).then_some(BodyKind::Soft(0))
        } else {
            Some(BodyKind::Rigid(0))
        };
        Self { object, taken: None, samples: Vec::new() }
    }

    /// Takes the last step in.
    pub fn look(&mut self, scene: &Scene) {
        let world = &scene.world;
        let (statistics, times) = (world.statistics(), world.times());
        let (mut pressing, mut force, mut phalanges) = (0, 0.0, BTreeSet::new());
        let (mut by_hand, mut by_others) = (false, false);
        for touch in world.touches() {
            pressing += touch.contacts;
            let mut of_hand = false;
            for side in [touch.a, touch.b] {
                let BodyKind::Tissue(_, segment) = side else { continue };
                of_hand = true;
                if segment != Segment::PALM {
                    phalanges.insert(side);
                }
            }
            if of_hand {
                force += touch.pressing;
            }
            if self.object.is_some_and(|object| touch.a == object || touch.b == object) {
                by_hand |= of_hand;
                by_others |= !of_hand;
            }
        }
        let slip_mm = if by_hand && !by_others { self.slip(scene) } else { None };
        if slip_mm.is_none() {
            self.taken = None;
        }
        self.samples.push(Sample {
            time: world.time(),
            contacts: statistics.contacts,
            pressing,
            constraints: statistics.constraints,
            phalanges: phalanges.len(),
            solve_ms: 1e3 * times.solve,
            step_ms: 1e3 * times.total,
            force,
            slip_mm,
            penetration_mm: 1e3 * statistics.penetration,
        });
    }

    /// How far the object is from where it was taken up, as the first palm sees it, mm.
    fn slip(&mut self, scene: &Scene) -> Option<f64> {
        let bodies = &scene.world.bodies;
        let centre = match self.object? {
            BodyKind::Rigid(i) => *bodies.rigid[i].centre(),
            BodyKind::Soft(i) => {
                let nodes = bodies.soft[i].positions();
                nodes.iter().sum::<Vec3>() / nodes.len().max(1) as f64
            }
            _ => return None,
        };
        let palm = bodies.hands.first()?.skeleton.state().palm;
        let seen = palm.rotation.inverse_transform_vector(&(centre - palm.translation.vector));
        let taken = *self.taken.get_or_insert(seen);
        Some(1e3 * (seen - taken).norm())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::load_builtin_scene;
    use crate::cli::bench::measure::{advance_seen, steps_of};

    #[test]
    fn a_pinched_capsule_is_watched_from_the_table_into_the_air() {
        let mut scene = load_builtin_scene("pinch", &[]).expect("a scene").expect("a sound one");
        let mut watcher = Watcher::new(&scene);
        let steps = steps_of(&scene);
        advance_seen(&mut scene, steps, |scene, _| watcher.look(scene)).expect("it stays finite");
        let (first, last) = (&watcher.samples[0], &watcher.samples[steps as usize - 1]);
        assert!(first.force == 0.0 && first.phalanges == 0 && first.slip_mm.is_none(), "{first:?}");
        // Friction below one holds it up, so the pads press with more than its weight.
        let weight = 9.81 * scene.world.bodies.rigid[0].mass();
        assert!(last.phalanges >= 2 && last.force > weight && last.pressing > 2, "{last:?}");
        assert!(last.slip_mm.is_some_and(|slip| slip < 5.0), "{last:?}");
        assert_eq!(last.csv().split(',').count(), Sample::COLUMNS.split(',').count());
    }

    #[test]
    fn nothing_slips_where_there_is_no_hand() {
        let mut scene = load_builtin_scene("rest", &[]).expect("a scene").expect("a sound one");
        let mut watcher = Watcher::new(&scene);
        advance_seen(&mut scene, 50, |scene, _| watcher.look(scene)).expect("it stays finite");
        let last = &watcher.samples[49];
        assert!(last.slip_mm.is_none() && last.force == 0.0 && last.pressing > 0, "{last:?}");
        assert!(last.csv().contains(",,"), "{}", last.csv());
    }
}
