use std::collections::BTreeSet;

use crate::assets::Scene;
use crate::body::{BodyId, RigidBody, SoftBody};
use crate::math::Vec3;
use crate::tracking::Segment;

/// Quantities of a scene after a step.
#[derive(Clone, Debug)]
pub struct Sample {
    /// Simulated time, s.
    pub time: f64,
    /// Contacts in constraints.
    pub contacts: usize,
    /// Contacts with a nonzero force.
    pub pressing: usize,
    /// Constraint rows.
    pub constraints: usize,
    /// Phalanges in contact.
    pub phalanges: usize,
    /// Solve time, ms.
    pub solve_ms: f64,
    /// Step time, ms.
    pub step_ms: f64,
    /// Sum of the normal forces on all hands, N.
    pub force: f64,
    /// Motion of the object relative to the palm since lift-off, mm; `None` unless only hands hold it.
    pub slip_mm: Option<f64>,
    /// Deepest penetration, mm.
    pub penetration_mm: f64,
}

impl Sample {
    /// Column names.
    pub const COLUMNS: &str =
        "time,contacts,pressing_contacts,constraints,phalanges,solve_ms,step_ms,force_n,slip_mm,penetration_mm";

    /// One row of the table.
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

/// Samples a scene step by step.
///
/// The object is the first body that moves freely. It is held if hands touch it and nothing else does.
pub struct Watcher {
    object: Option<BodyId>,
    /// Pose of the object in the frame of the first palm at lift-off.
    taken: Option<Vec3>,
    /// Samples so far.
    pub samples: Vec<Sample>,
}

impl Watcher {
    /// Starts sampling a scene.
    pub fn new(scene: &Scene) -> Self {
        let bodies = &scene.world.bodies;
        let rigid = bodies.of::<RigidBody>().map(|(body, _)| body.id()).next();
        let object = rigid.or_else(|| bodies.of::<SoftBody>().map(|(body, _)| body.id()).next());
        Self { object, taken: None, samples: Vec::new() }
    }

    /// Adds the last step.
    pub fn look(&mut self, scene: &Scene) {
        let world = &scene.world;
        let (statistics, times) = (world.statistics(), world.times());
        let (mut pressing, mut force, mut phalanges) = (0, 0.0, BTreeSet::new());
        let (mut by_hand, mut by_others) = (false, false);
        for touch in world.touches() {
            pressing += touch.contacts;
            let mut of_hand = false;
            for side in [touch.a, touch.b] {
                let Some((_, segment)) = world.bodies.segment(side) else { continue };
                of_hand = true;
                if segment != Segment::PALM {
                    phalanges.insert(side);
                }
            }
            if of_hand {
                force += touch.pressing;
            }
            if self.object.is_some_and(|object| touch.a.body == object || touch.b.body == object) {
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

    /// Distance of the object from its lift-off position in the frame of the first palm, mm.
    fn slip(&mut self, scene: &Scene) -> Option<f64> {
        let bodies = &scene.world.bodies;
        let centre = bodies.get(self.object?)?.centre();
        let palm = bodies.hands().next()?.skeleton.state().palm;
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
        // With friction below 1 the pads press with more than the object's weight.
        let weight = 9.81 * scene.world.bodies.of::<RigidBody>().next().expect("a body").1.mass();
        assert!(last.phalanges >= 2 && last.force > weight && last.pressing > 2, "{last:?}");
        assert!(last.slip_mm.is_some_and(|slip| slip < 5.0), "{last:?}");
        assert_eq!(last.csv().split(',').count(), Sample::COLUMNS.split(',').count());
    }

    #[test]
    fn there_is_no_slip_without_a_hand() {
        let mut scene = load_builtin_scene("rest", &[]).expect("a scene").expect("a sound one");
        let mut watcher = Watcher::new(&scene);
        advance_seen(&mut scene, 50, |scene, _| watcher.look(scene)).expect("it stays finite");
        let last = &watcher.samples[49];
        assert!(last.slip_mm.is_none() && last.force == 0.0 && last.pressing > 0, "{last:?}");
        assert!(last.csv().contains(",,"), "{}", last.csv());
    }
}
