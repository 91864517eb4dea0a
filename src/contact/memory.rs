use super::material::Friction;
use crate::body::ColliderId;
use crate::math::Vec3;

/// The pair and feature that identify a contact or patch in the next step.
pub(super) type ContactKey = (ColliderId, ColliderId, u64);

/// Stored state of a constraint.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Remembered {
    /// Force on the first side in the world, N.
    pub force: Vec3,
    /// Its normal part, N.
    pub pressing: f64,
    /// Torque about the normal, N·m.
    pub torque: f64,
    /// Whether it slid.
    pub sliding: bool,
}

/// Stored state of a contact.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct RememberedContact {
    /// Normal force, N.
    pub pressure: f64,
    /// Normal force that bounds its friction, N.
    pub bound: f64,
    /// Friction on the first side in the world, N.
    pub friction: Vec3,
    /// The part of its pair, if it was in an aggregate.
    pub part: Option<u32>,
    /// Shear displacement since it began to stick, in the frame of the second body, m.
    pub shear: Vec3,
}

/// Values of the last step by feature, for the warm start.
#[derive(Clone, Debug)]
pub(super) struct Memory<T>(pub(super) Vec<(ContactKey, T)>);

/// Contacts by feature.
pub(super) type ContactMemory = Memory<RememberedContact>;

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T> Memory<T> {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    pub fn keep(&mut self, key: ContactKey, what: T) {
        self.0.push((key, what));
    }

    /// Call after all values are stored.
    pub fn sort(&mut self) {
        self.0.sort_unstable_by_key(|(key, _)| *key);
    }

    pub fn find_mut(&mut self, key: ContactKey) -> Option<&mut T> {
        self.0.binary_search_by_key(&key, |(key, _)| *key).ok().map(|i| &mut self.0[i].1)
    }

    pub fn find(&self, key: ContactKey) -> Option<&T> {
        self.0.binary_search_by_key(&key, |(key, _)| *key).ok().map(|i| &self.0[i].1)
    }
}

impl Friction {
    /// The coefficient for a contact that was sliding or not, under the normal force of the last step.
    pub(super) fn now(&self, before: Option<&Remembered>) -> f64 {
        let Some(before) = before else { return self.rest };
        self.load_factor(before.pressing) * if before.sliding { self.sliding } else { self.rest }
    }
}
