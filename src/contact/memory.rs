use super::material::Friction;
use super::system::Key;
use crate::math::Vec3;

/// What is remembered of a constraint.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Remembered {
    /// Force on the one side in the world, N.
    pub force: Vec3,
    /// Torque about the normal, N·m.
    pub torque: f64,
    /// Whether it slid.
    pub sliding: bool,
}

/// What is remembered of a single contact.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct RememberedContact {
    /// Normal force, N.
    pub pressure: f64,
    /// Normal force that bounds its friction, N.
    pub bound: f64,
    /// Friction on the one side in the world, N.
    pub friction: Vec3,
    /// The part of its pair that it belonged to, if it was one of an aggregate.
    pub part: Option<u32>,
    /// Shear displacement since it began to stick, in the frame of the second body, m.
    pub shear: Vec3,
}

/// Things of the last step by feature, to start the next one from.
#[derive(Debug)]
pub(super) struct Memory<T>(Vec<(Key, T)>);

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

    pub fn keep(&mut self, key: Key, what: T) {
        self.0.push((key, what));
    }

    /// To be called when all is kept.
    pub fn sort(&mut self) {
        self.0.sort_unstable_by_key(|(key, _)| *key);
    }

    pub fn find(&self, key: Key) -> Option<&T> {
        self.0.binary_search_by_key(&key, |(key, _)| *key).ok().map(|i| &self.0[i].1)
    }
}

impl Friction {
    /// The coefficient that holds for a contact that was sliding or not.
    pub(super) fn now(&self, before: Option<&Remembered>) -> f64 {
        if before.is_some_and(|m| m.sliding) { self.sliding } else { self.rest }
    }
}
