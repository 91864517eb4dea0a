use std::collections::BTreeMap;

use rhai::{Dynamic, Map};

use super::last_step::after;
use super::state::State;
use crate::body::BodyKind;
use crate::math::Vec3;
use crate::sim::Touch;

/// Kinds of events, in the order in which those of one step come.
pub const KINDS: [&str; 6] = ["button", "contact_began", "grasp", "slip", "release", "contact_ended"];
/// Contacts that are gone for shorter than this have not ended, s: a pad that rolls loses and finds its contacts all
/// the time. Nor has slipping, which sticks for a step now and then.
const BREAK: f64 = 0.03;
/// Surfaces slip from this speed on, m/s, when the friction is in use.
const SLIPPING: f64 = 2e-3;
/// They spin from this speed on, rad/s: as fast as that 4 mm from the middle, at the rim of a fingertip's contact.
const SPINNING: f64 = 0.5;
/// The share of friction that is in use then, at least: what is said of it is near enough for a gauge only.
const IN_USE: f64 = 0.9;
/// A part of a hand holds something if it presses at least so much, N.
const PRESSING: f64 = 0.02;

/// Something that happened.
pub struct Event {
    /// What; one of [`KINDS`].
    pub kind: &'static str,
    fields: Vec<(&'static str, Dynamic)>,
}

impl Event {
    fn new(kind: &'static str, time: f64, fields: Vec<(&'static str, Dynamic)>) -> Self {
        let own = [("kind", Dynamic::from(kind.to_string())), ("time", time.into())];
        Self { kind, fields: own.into_iter().chain(fields).collect() }
    }

    /// A button of a device was pressed or let go.
    pub fn button(name: &str, pressed: bool, time: f64) -> Self {
        Self::new("button", time, vec![("name", name.to_string().into()), ("pressed", pressed.into())])
    }

    /// As scripts see it.
    pub fn to_map(&self) -> Map {
        self.fields.iter().map(|(key, value)| ((*key).into(), value.clone())).collect()
    }
}

/// A contact as it was: when it was there last and where, and when it last slipped.
#[derive(Clone, Copy, Default)]
struct Seen {
    last: f64,
    place: Vec3,
    slipped: Option<f64>,
}

/// Whether surfaces slip on each other.
pub fn slips(touch: &Touch) -> bool {
    touch.used >= IN_USE && (touch.sliding > SLIPPING || touch.spinning > SPINNING)
}

/// What touched before, to tell what is new.
#[derive(Default)]
pub struct Watch {
    contacts: BTreeMap<(BodyKind, BodyKind), Seen>,
    grasps: BTreeMap<(usize, BodyKind), f64>,
}

/// What a pair of bodies does now.
#[derive(Default)]
struct Meeting {
    force: f64,
    slipping: bool,
    place: Vec3,
    normal: Vec3,
}

impl Watch {
    /// Compares the last step with what was before, and adds what happened to the events of the state.
    pub fn look(&mut self, state: &mut State) {
        let meetings = meetings(state);
        let now = state.time();
        let gone = |last: f64| now - last >= BREAK - 1e-9;
        let mut found = Vec::new();
        for (pair, meeting) in &meetings {
            let before = self.contacts.get(pair).copied();
            let slipped = before.and_then(|seen| seen.slipped);
            let seen = Seen { last: now, place: meeting.place, slipped: meeting.slipping.then_some(now).or(slipped) };
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
        for (hand, body) in grasps(&meetings) {
            if self.grasps.insert((hand, body), now).is_none() {
                found.push(grasp_event("grasp", state, hand, body));
            }
        }
        for (hand, body) in keys_where(&self.grasps, |last| gone(*last)) {
            self.grasps.remove(&(hand, body));
            found.push(grasp_event("release", state, hand, body));
        }
        let order = |event: &Event| KINDS.iter().position(|kind| *kind == event.kind);
        found.sort_by_key(order);
        state.events.extend(found);
    }

    /// Whether a hand has a body in its grasp.
    pub fn is_grasped(&self, hand: usize, body: BodyKind) -> bool {
        self.grasps.contains_key(&(hand, body))
    }

    /// Forgets everything; there are other bodies now.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// A body is gone, and those of its kind behind it have moved up.
    pub fn forget(&mut self, gone: BodyKind) {
        let contacts = std::mem::take(&mut self.contacts).into_iter().filter(|((a, b), _)| *a != gone && *b != gone);
        self.contacts = contacts.map(|((a, b), seen)| ((after(gone, a), after(gone, b)), seen)).collect();
        let grasps = std::mem::take(&mut self.grasps).into_iter().filter(|((_, body), _)| *body != gone);
        self.grasps = grasps.map(|((hand, body), last)| ((hand, after(gone, body)), last)).collect();
    }
}

fn keys_where<K: Copy + Ord, V>(map: &BTreeMap<K, V>, wanted: impl Fn(&V) -> bool) -> Vec<K> {
    map.iter().filter(|(_, value)| wanted(value)).map(|(key, _)| *key).collect()
}

/// What touches now, segments of hands first.
fn meetings(state: &State) -> BTreeMap<(BodyKind, BodyKind), Meeting> {
    let mut meetings: BTreeMap<(BodyKind, BodyKind), Meeting> = BTreeMap::new();
    for touch in state.scene.world.touches() {
        let turned = touch.b < touch.a;
        let pair = if turned { (touch.b, touch.a) } else { (touch.a, touch.b) };
        let meeting = meetings.entry(pair).or_default();
        meeting.force += touch.pressing;
        meeting.slipping |= slips(&touch);
        meeting.place = touch.place;
        meeting.normal += touch.pressing * if turned { -touch.normal } else { touch.normal };
    }
    meetings
}

/// Hands that hold a body: parts of the hand press on it from sides that face each other.
fn grasps(meetings: &BTreeMap<(BodyKind, BodyKind), Meeting>) -> Vec<(usize, BodyKind)> {
    let mut presses: BTreeMap<(usize, BodyKind), Vec<Vec3>> = BTreeMap::new();
    for ((a, b), meeting) in meetings.iter().filter(|(_, meeting)| meeting.force >= PRESSING) {
        if let (BodyKind::Tissue(hand, _), BodyKind::Rigid(_) | BodyKind::Soft(_)) = (a, b) {
            presses.entry((hand.index(), *b)).or_default().push(meeting.normal);
        }
    }
    let facing = |normals: &Vec<Vec3>| normals.iter().any(|n| normals.iter().any(|m| n.dot(m) < 0.0));
    presses.into_iter().filter(|(_, normals)| facing(normals)).map(|(key, _)| key).collect()
}

fn contact_event(kind: &'static str, state: &State, (a, b): (BodyKind, BodyKind), meeting: &Meeting) -> Event {
    let mut fields = vec![("force", meeting.force.into()), ("place", Dynamic::from(meeting.place))];
    match a {
        BodyKind::Tissue(_, segment) => {
            fields.push(("hand", state.name_of(a).into()));
            fields.push(("segment", segment.name().into()));
            fields.push(("finger", segment.finger().map_or("palm", |(finger, _)| finger.name()).into()));
        }
        _ => fields.push(("other", state.name_of(a).into())),
    }
    fields.push(("body", state.name_of(b).into()));
    Event::new(kind, state.time(), fields)
}

fn grasp_event(kind: &'static str, state: &State, hand: usize, body: BodyKind) -> Event {
    let hand = state.scene.names.hands[hand].clone();
    Event::new(kind, state.time(), vec![("hand", hand.into()), ("body", state.name_of(body).into())])
}
