use std::collections::BTreeMap;

use rhai::{Dynamic, Map};

use super::state::State;
use crate::body::{BodyId, ColliderId};
use crate::math::Vec3;
use crate::sim::Touch;

/// Kinds of events, in their order within a step.
pub const EVENT_KINDS: [&str; 6] = ["button", "contact_began", "grasp", "slip", "release", "contact_ended"];
/// Contacts that are lost for a shorter time have not ended, s: a rolling pad loses and finds contacts continually. The
/// same holds for slipping, which sticks intermittently.
const BREAK: f64 = 0.03;
/// Minimum slip speed, m/s, at full friction utilisation.
const MIN_SLIP_SPEED: f64 = 2e-3;
/// Minimum spin speed, rad/s: the same speed at 4 mm from the centre, at the rim of a fingertip's contact.
const SPINNING: f64 = 0.5;
/// Minimum friction utilisation of slip; the utilisation is approximate.
const IN_USE: f64 = 0.9;
/// Minimum normal force of a part of a hand that holds something, N.
const PRESSING: f64 = 0.02;

/// An event.
pub struct Event {
    /// Kind; one of [`EVENT_KINDS`].
    pub kind: &'static str,
    fields: Vec<(&'static str, Dynamic)>,
}

impl Event {
    fn new(kind: &'static str, time: f64, fields: Vec<(&'static str, Dynamic)>) -> Self {
        let own = [("kind", Dynamic::from(kind.to_string())), ("time", time.into())];
        Self { kind, fields: own.into_iter().chain(fields).collect() }
    }

    /// A button of a device was pressed or released.
    pub fn button(name: &str, pressed: bool, time: f64) -> Self {
        Self::new("button", time, vec![("name", name.to_string().into()), ("pressed", pressed.into())])
    }

    /// As a script value.
    pub fn to_map(&self) -> Map {
        self.fields.iter().map(|(key, value)| ((*key).into(), value.clone())).collect()
    }
}

/// State of a contact: time and position when it was last present, and when it last slipped.
#[derive(Clone, Copy, Default)]
struct ContactHistory {
    last: f64,
    place: Vec3,
    slipped: Option<f64>,
}

/// Whether surfaces slip on each other.
pub fn slips(touch: &Touch) -> bool {
    touch.used >= IN_USE && (touch.sliding > MIN_SLIP_SPEED || touch.spinning > SPINNING)
}

/// Previous contacts, to detect changes.
#[derive(Default)]
pub struct Watch {
    contacts: BTreeMap<(ColliderId, ColliderId), ContactHistory>,
    grasps: BTreeMap<(usize, BodyId), f64>,
}

/// Current contact of a pair of bodies.
#[derive(Default)]
struct Meeting {
    force: f64,
    slipping: bool,
    place: Vec3,
    normal: Vec3,
}

impl Watch {
    /// Compares the last step with the previous state, and adds the events.
    pub fn look(&mut self, state: &mut State) {
        let meetings = meetings(state);
        let now = state.time();
        let gone = |last: f64| now - last >= BREAK - 1e-9;
        let mut found = Vec::new();
        for (pair, meeting) in &meetings {
            let before = self.contacts.get(pair).copied();
            let slipped = before.and_then(|seen| seen.slipped);
            let seen = ContactHistory {
                last: now,
                place: meeting.place,
                slipped: meeting.slipping.then_some(now).or(slipped),
            };
            self.contacts.insert(*pair, seen);
            if before.is_none() {
                found.push(contact_event("contact_began", state, *pair, meeting));
            }
            if meeting.slipping && slipped.is_none_or(gone) {
                found.push(contact_event("slip", state, *pair, meeting));
            }
        }
        for pair in keys_where(&self.contacts, |seen| gone(seen.last)) {
            let place = self.contacts.remove(&pair).unwrap_or_default().place;
            found.push(contact_event("contact_ended", state, pair, &Meeting { place, ..Meeting::default() }));
        }
        for (hand, body) in grasps(state, &meetings) {
            if self.grasps.insert((hand, body), now).is_none() {
                found.push(grasp_event("grasp", state, hand, body));
            }
        }
        for (hand, body) in keys_where(&self.grasps, |last| gone(*last)) {
            self.grasps.remove(&(hand, body));
            found.push(grasp_event("release", state, hand, body));
        }
        let order = |event: &Event| EVENT_KINDS.iter().position(|kind| *kind == event.kind);
        found.sort_by_key(order);
        state.events.extend(found);
    }

    /// Whether a hand grasps a body.
    pub fn is_grasped(&self, hand: usize, body: BodyId) -> bool {
        self.grasps.contains_key(&(hand, body))
    }

    /// Clears the state; there are other bodies now.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// Drops a body that was removed.
    pub fn forget(&mut self, gone: BodyId) {
        self.contacts.retain(|(a, b), _| a.body != gone && b.body != gone);
        self.grasps.retain(|(_, body), _| *body != gone);
    }
}

fn keys_where<K: Copy + Ord, V>(map: &BTreeMap<K, V>, wanted: impl Fn(&V) -> bool) -> Vec<K> {
    map.iter().filter(|(_, value)| wanted(value)).map(|(key, _)| *key).collect()
}

/// What touches now, segments of hands first and fixed bodies last.
fn meetings(state: &State) -> BTreeMap<(ColliderId, ColliderId), Meeting> {
    let bodies = &state.scene.world.bodies;
    let rank = |side: ColliderId| match bodies.get(side.body) {
        _ if bodies.segment(side).is_some() => 0,
        Some(body) if body.part_count() > 0 => 1,
        _ => 2,
    };
    let mut meetings: BTreeMap<(ColliderId, ColliderId), Meeting> = BTreeMap::new();
    for touch in state.scene.world.touches() {
        let turned = (rank(touch.b), touch.b) < (rank(touch.a), touch.a);
        let pair = if turned { (touch.b, touch.a) } else { (touch.a, touch.b) };
        let meeting = meetings.entry(pair).or_default();
        meeting.force += touch.pressing;
        meeting.slipping |= slips(&touch);
        meeting.place = touch.place;
        meeting.normal += touch.pressing * if turned { -touch.normal } else { touch.normal };
    }
    meetings
}

/// Hands that hold a body: parts of the hand press on it from opposite sides.
fn grasps(state: &State, meetings: &BTreeMap<(ColliderId, ColliderId), Meeting>) -> Vec<(usize, BodyId)> {
    let bodies = &state.scene.world.bodies;
    let hand_of = |side: ColliderId| bodies.hand_ids().iter().position(|hand| hand.id() == side.body);
    let movable = |side: ColliderId| bodies.get(side.body).is_some_and(|body| body.mass().is_some());
    let mut presses: BTreeMap<(usize, BodyId), Vec<Vec3>> = BTreeMap::new();
    for ((a, b), meeting) in meetings.iter().filter(|(_, meeting)| meeting.force >= PRESSING) {
        if let Some(hand) = hand_of(*a).filter(|_| movable(*b)) {
            presses.entry((hand, b.body)).or_default().push(meeting.normal);
        }
    }
    let facing = |normals: &Vec<Vec3>| normals.iter().any(|n| normals.iter().any(|m| n.dot(m) < 0.0));
    presses.into_iter().filter(|(_, normals)| facing(normals)).map(|(key, _)| key).collect()
}

fn contact_event(kind: &'static str, state: &State, (a, b): (ColliderId, ColliderId), meeting: &Meeting) -> Event {
    let mut fields = vec![("force", meeting.force.into()), ("place", Dynamic::from(meeting.place))];
    match state.scene.world.bodies.segment(a) {
        Some((_, segment)) => {
            fields.push(("hand", state.name_of(a.body).into()));
            fields.push(("segment", segment.name().into()));
            fields.push(("finger", segment.finger().map_or("palm", |(finger, _)| finger.name()).into()));
        }
        None => fields.push(("other", state.name_of(a.body).into())),
    }
    fields.push(("body", state.name_of(b.body).into()));
    Event::new(kind, state.time(), fields)
}

fn grasp_event(kind: &'static str, state: &State, hand: usize, body: BodyId) -> Event {
    let hand = state.name_of(state.scene.world.bodies.hand_ids()[hand].id());
    Event::new(kind, state.time(), vec![("hand", hand.into()), ("body", state.name_of(body).into())])
}
