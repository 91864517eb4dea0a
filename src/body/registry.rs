use std::any::Any;
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use super::{Body, Hand, Part};
use crate::tracking::Segment;

/// A body of a world. The id stays valid while other bodies are added and removed, and is never used again after the body is removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BodyId {
    slot: u32,
    generation: u32,
}

impl BodyId {
    /// The frame of the world, for anchors that belong to no body.
    pub const WORLD: BodyId = BodyId { slot: u32::MAX, generation: 0 };
}

impl Default for BodyId {
    fn default() -> Self {
        Self::WORLD
    }
}

/// A group of degrees of freedom of a body: see [`Part`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartId {
    /// The body.
    pub body: BodyId,
    /// Index of the part.
    pub part: u32,
}

/// A collider of a body. The colliders of a hand are its segments, in the order of [`Segment::all`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ColliderId {
    /// The body.
    pub body: BodyId,
    /// Index of the collider.
    pub collider: u32,
}

impl ColliderId {
    /// A collider by its index.
    pub fn new(body: impl Into<BodyId>, collider: usize) -> Self {
        Self { body: body.into(), collider: collider as u32 }
    }

    /// Its index among the colliders of its body.
    pub fn index(self) -> usize {
        self.collider as usize
    }
}

crate::saved_fields!(BodyId: slot, generation);
crate::saved_fields!(PartId: body, part);
crate::saved_fields!(ColliderId: body, collider);

/// A [`BodyId`] with a known kind: `bodies[handle]` is the body itself.
pub struct Handle<T> {
    id: BodyId,
    kind: PhantomData<fn() -> T>,
}

/// A hand of a world.
pub type HandId = Handle<Hand>;

impl<T> Handle<T> {
    fn new(id: BodyId) -> Self {
        Self { id, kind: PhantomData }
    }

    /// The id without the kind.
    pub fn id(self) -> BodyId {
        self.id
    }
}

impl<T> From<Handle<T>> for BodyId {
    fn from(handle: Handle<T>) -> Self {
        handle.id
    }
}

impl<T> Clone for Handle<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Handle<T> {}

impl<T> fmt::Debug for Handle<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Handle({}, generation {})", self.id.slot, self.id.generation)
    }
}

impl<T> PartialEq for Handle<T> {
    fn eq(&self, other: &Self) -> bool {
        self.id == other.id
    }
}

impl<T> Eq for Handle<T> {}

impl<T> PartialOrd for Handle<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> Ord for Handle<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.id.cmp(&other.id)
    }
}

impl<T> Hash for Handle<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.id.hash(state);
    }
}

/// The bodies of a world, each with a name.
#[derive(Clone, Debug, Default)]
pub struct Bodies {
    slots: Vec<Slot>,
    /// Slots whose body was removed.
    free: Vec<u32>,
    /// Hands, in the order in which they were added.
    hands: Vec<HandId>,
    /// Parts of all bodies.
    part_count: usize,
    /// Changes whenever a body is added or removed.
    epoch: u64,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    name: String,
    body: Option<Box<dyn Body>>,
    /// Index of its first part among the parts of all bodies.
    first_part: u32,
}

impl Clone for Slot {
    fn clone(&self) -> Self {
        Self {
            generation: self.generation,
            name: self.name.clone(),
            body: self.body.as_ref().map(|body| body.boxed_clone()),
            first_part: self.first_part,
        }
    }
}

impl Bodies {
    /// Adds a body without a name.
    pub fn add<T: Body>(&mut self, body: T) -> Handle<T> {
        self.add_named("", body)
    }

    /// Adds a body with a name.
    pub fn add_named<T: Body>(&mut self, name: &str, body: T) -> Handle<T> {
        let handle = Handle::new(self.add_boxed(name, Box::new(body)));
        if (&self[handle] as &dyn Any).is::<Hand>() {
            self.hands.push(Handle::new(handle.id));
        }
        handle
    }

    fn add_boxed(&mut self, name: &str, body: Box<dyn Body>) -> BodyId {
        self.epoch += 1;
        let Some(slot) = self.free.pop() else {
            let first_part = self.part_count as u32;
            self.part_count += body.part_count();
            self.slots.push(Slot { generation: 0, name: name.into(), body: Some(body), first_part });
            return BodyId { slot: self.slots.len() as u32 - 1, generation: 0 };
        };
        let own = &mut self.slots[slot as usize];
        (own.name, own.body) = (name.into(), Some(body));
        let generation = own.generation;
        self.number_parts();
        BodyId { slot, generation }
    }

    /// Removes a body. Its id is not used again.
    pub fn remove(&mut self, id: impl Into<BodyId>) -> Option<Box<dyn Body>> {
        let id = id.into();
        let slot = self.slots.get_mut(id.slot as usize).filter(|slot| slot.generation == id.generation)?;
        let body = slot.body.take()?;
        slot.generation += 1;
        slot.name.clear();
        self.free.push(id.slot);
        self.epoch += 1;
        self.hands.retain(|hand| hand.id != id);
        self.number_parts();
        Some(body)
    }

    /// Moves all bodies of another registry here. Returns their ids there and here.
    pub fn append(&mut self, other: Bodies) -> Vec<(BodyId, BodyId)> {
        let mut moved = Vec::new();
        for (slot, own) in other.slots.into_iter().enumerate() {
            let Some(body) = own.body else { continue };
            let before = BodyId { slot: slot as u32, generation: own.generation };
            moved.push((before, self.add_boxed(&own.name, body)));
        }
        let now = |id: BodyId| moved.iter().find(|(before, _)| *before == id).map(|(_, now)| Handle::new(*now));
        self.hands.extend(other.hands.iter().filter_map(|hand| now(hand.id)));
        moved
    }

    fn number_parts(&mut self) {
        self.part_count = 0;
        for slot in &mut self.slots {
            slot.first_part = self.part_count as u32;
            self.part_count += slot.body.as_ref().map_or(0, |body| body.part_count());
        }
    }

    /// The ids of removed bodies, in the order in which their places are used again, the last one first.
    pub(crate) fn free_slots(&self) -> &[u32] {
        &self.free
    }

    /// A number that changes whenever a body is added or removed.
    pub fn epoch(&self) -> u64 {
        self.epoch
    }

    /// Number of bodies.
    pub fn count(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    fn slot(&self, id: BodyId) -> Option<&Slot> {
        self.slots.get(id.slot as usize).filter(|slot| slot.generation == id.generation)
    }

    /// A body, if it was not removed.
    pub fn get(&self, id: impl Into<BodyId>) -> Option<&dyn Body> {
        self.slot(id.into())?.body.as_deref()
    }

    /// A body, if it was not removed.
    pub fn get_mut(&mut self, id: impl Into<BodyId>) -> Option<&mut dyn Body> {
        let id = id.into();
        let slot = self.slots.get_mut(id.slot as usize).filter(|slot| slot.generation == id.generation)?;
        slot.body.as_deref_mut()
    }

    /// A body of a known kind.
    pub fn get_as<T: Body>(&self, id: impl Into<BodyId>) -> Option<&T> {
        (self.get(id)? as &dyn Any).downcast_ref()
    }

    /// A body of a known kind.
    pub fn get_as_mut<T: Body>(&mut self, id: impl Into<BodyId>) -> Option<&mut T> {
        (self.get_mut(id)? as &mut dyn Any).downcast_mut()
    }

    /// The handle of a body, if it is of that kind.
    pub fn handle<T: Body>(&self, id: BodyId) -> Option<Handle<T>> {
        self.get_as::<T>(id).map(|_| Handle::new(id))
    }

    /// The name of a body; empty if it has none or was removed.
    pub fn name(&self, id: impl Into<BodyId>) -> &str {
        self.slot(id.into()).map_or("", |slot| &slot.name)
    }

    /// The body with a name.
    pub fn find(&self, name: &str) -> Option<BodyId> {
        self.ids().find(|&id| !name.is_empty() && self.name(id) == name)
    }

    /// The body with a name, if it is of a kind.
    pub fn find_as<T: Body>(&self, name: &str) -> Option<Handle<T>> {
        self.handle(self.find(name)?)
    }

    /// All ids, in the order of the slots.
    pub fn ids(&self) -> impl Iterator<Item = BodyId> + '_ {
        self.iter().map(|(id, _)| id)
    }

    /// All bodies, in the order of the slots.
    pub fn iter(&self) -> impl Iterator<Item = (BodyId, &dyn Body)> {
        self.slots
            .iter()
            .enumerate()
            .filter_map(|(slot, s)| Some((BodyId { slot: slot as u32, generation: s.generation }, s.body.as_deref()?)))
    }

    /// All bodies, in the order of the slots.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (BodyId, &mut dyn Body)> {
        self.slots.iter_mut().enumerate().filter_map(|(slot, s)| {
            let id = BodyId { slot: slot as u32, generation: s.generation };
            let body: &mut dyn Body = s.body.as_deref_mut()?;
            Some((id, body))
        })
    }

    /// All bodies of a kind.
    pub fn of<T: Body>(&self) -> impl Iterator<Item = (Handle<T>, &T)> {
        self.iter().filter_map(|(id, body)| Some((Handle::new(id), (body as &dyn Any).downcast_ref()?)))
    }

    /// All bodies of a kind.
    pub fn of_mut<T: Body>(&mut self) -> impl Iterator<Item = (Handle<T>, &mut T)> {
        self.iter_mut().filter_map(|(id, body)| Some((Handle::new(id), (body as &mut dyn Any).downcast_mut()?)))
    }

    /// The hands, in the order in which they were added.
    pub fn hand_ids(&self) -> &[HandId] {
        &self.hands
    }

    /// The hands, in the order in which they were added.
    pub fn hands(&self) -> impl ExactSizeIterator<Item = &Hand> {
        self.hands.iter().map(|&hand| &self[hand])
    }

    /// A hand by its index in [`Bodies::hand_ids`]; panics if there are fewer.
    pub fn hand(&self, number: usize) -> &Hand {
        &self[self.hands[number]]
    }

    /// A hand by its index in [`Bodies::hand_ids`]; panics if there are fewer.
    pub fn hand_mut(&mut self, number: usize) -> &mut Hand {
        let id = self.hands[number];
        &mut self[id]
    }

    /// The hand and the segment of a collider, if it belongs to a hand.
    pub fn segment(&self, collider: ColliderId) -> Option<(HandId, Segment)> {
        let hand = self.hands.iter().find(|hand| hand.id == collider.body)?;
        Some((*hand, Segment::at(collider.index())))
    }

    /// Number of parts of all bodies.
    pub fn part_count(&self) -> usize {
        self.part_count
    }

    /// Index of a part among the parts of all bodies. It changes when bodies are added or removed.
    pub fn part_index(&self, id: PartId) -> usize {
        (self.slots[id.body.slot as usize].first_part + id.part) as usize
    }

    /// A part of a body that was not removed.
    pub fn part(&self, id: PartId) -> &dyn Part {
        self.expect(id.body).part(id.part as usize)
    }

    /// A part of a body that was not removed.
    pub fn part_mut(&mut self, id: PartId) -> &mut dyn Part {
        match self.get_mut(id.body) {
            Some(body) => body.part_mut(id.part as usize),
            None => panic!("the body of {id:?} was removed"),
        }
    }

    /// Calls a function for every part of every body.
    pub fn for_each_part(&mut self, mut act: impl FnMut(&mut dyn Part)) {
        for (_, body) in self.iter_mut() {
            (0..body.part_count()).for_each(|part| act(body.part_mut(part)));
        }
    }

    /// A body that contact refers to within a step; bodies are not removed within a step.
    pub(crate) fn expect(&self, id: BodyId) -> &dyn Body {
        match self.get(id) {
            Some(body) => body,
            None => panic!("the body {id:?} was removed"),
        }
    }
}

impl<T: Body> Index<Handle<T>> for Bodies {
    type Output = T;

    /// Panics if the body was removed.
    fn index(&self, handle: Handle<T>) -> &T {
        match self.get_as(handle.id) {
            Some(body) => body,
            None => panic!("the body of {handle:?} was removed"),
        }
    }
}

impl<T: Body> IndexMut<Handle<T>> for Bodies {
    fn index_mut(&mut self, handle: Handle<T>) -> &mut T {
        match self.get_as_mut(handle.id) {
            Some(body) => body,
            None => panic!("the body of {handle:?} was removed"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::{Fixed, RigidBody, RigidShape};
    use super::*;
    use crate::math::Pose;

    fn ball() -> RigidBody {
        RigidBody::new(&RigidShape::Ball(0.02), 1000.0, Pose::identity()).expect("a ball")
    }

    #[test]
    fn ids_survive_the_removal_of_others_and_are_not_used_again() {
        let mut bodies = Bodies::default();
        let [first, second] = ["first", "second"].map(|name| bodies.add_named(name, ball()));
        assert!(bodies.remove(first).is_some());
        assert!(bodies.remove(first).is_none() && bodies.get(first).is_none() && bodies.find("first").is_none());
        assert_eq!(bodies.find("second"), Some(second.id()));
        let third = bodies.add_named("third", ball());
        assert_ne!(third, first, "the slot is used again, the id is not");
        assert_eq!((bodies.name(first), bodies.name(second), bodies.name(third)), ("", "second", "third"));
        assert_eq!(bodies.part_count(), 2);
    }

    #[test]
    fn bodies_are_found_by_kind() {
        let mut bodies = Bodies::default();
        let ground = bodies.add(Fixed::new(&RigidShape::Ground, Pose::identity()).expect("a plane"));
        let ball = bodies.add(ball());
        assert_eq!(bodies.of::<RigidBody>().map(|(id, _)| id).collect::<Vec<_>>(), [ball]);
        assert!(bodies.get_as::<RigidBody>(ground).is_none());
        assert_eq!(bodies.handle::<Fixed>(ground.id()), Some(ground));
        assert_eq!(bodies.part_count(), 1, "what is fixed has no degrees of freedom");
        assert!(bodies.hand_ids().is_empty());
    }

    #[test]
    fn a_clone_has_bodies_of_its_own() {
        let mut bodies = Bodies::default();
        let ball = bodies.add(ball());
        let copy = bodies.clone();
        bodies[ball].set_pose(&Pose::translation(1.0, 0.0, 0.0));
        assert_eq!(copy[ball].pose(), Pose::identity());
    }
}
