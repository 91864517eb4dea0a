use rhai::{Dynamic, Map};

use super::arguments::{body_name, texts};
use super::{Api, HandRef};
use crate::body::{BodyId, ColliderId, HandId};
use crate::math::Vec3;
use crate::script::events::slips;
use crate::script::state::State;
use crate::script::track::{Fault, fault, with};
use crate::sim::Load;
use crate::text::unknown;
use crate::tracking::{Angle, Finger, Segment};

pub fn register(api: &mut Api) {
    api.subject("Hand: state and contacts");
    poses(api);
    angles(api);
    loads(api);
    grasps(api);
}

fn poses(api: &mut Api) {
    api.add("name(hand: Hand) -> string", "Its name.", |hand: HandRef| hand.0);
    api.add("to_string(hand: Hand) -> string", "Its name.", |hand: HandRef| hand.0);
    api.engine.register_fn("to_debug", |hand: HandRef| hand.0);
    api.add("side(hand: Hand) -> string", "`left` or `right`.", |hand: HandRef| {
        with(|state| Ok(body(state, &hand)?.model().description.side.name()))
    });
    api.add("position(hand: Hand) -> Vec3", "Position of the palm, m.", |hand: HandRef| {
        with(|state| Ok(body(state, &hand)?.skeleton.state().palm.translation.vector))
    });
    api.add("rotation(hand: Hand) -> Rotation", "Orientation of the palm.", |hand: HandRef| {
        with(|state| Ok(body(state, &hand)?.skeleton.state().palm.rotation))
    });
    api.add("velocity(hand: Hand) -> Vec3", "Velocity of the palm, m/s.", |hand: HandRef| {
        with(|state| Ok(body(state, &hand)?.skeleton.state().velocity.fixed_rows::<3>(0).into_owned()))
    });
    api.add("tracked_position(hand: Hand) -> Vec3", "Position of the tracked palm, m.", |hand: HandRef| {
        with(|state| Ok(body(state, &hand)?.skeleton.tracked.palm().translation.vector))
    });
    api.add("tracked_rotation(hand: Hand) -> Rotation", "Orientation of the tracked palm.", |hand: HandRef| {
        with(|state| Ok(body(state, &hand)?.skeleton.tracked.palm().rotation))
    });
}

fn angles(api: &mut Api) {
    api.add(
        "angle(hand: Hand, joint: string) -> number",
        "Angle of a joint, in degrees: `index_base_flexion`, `thumb_base_abduction`, \
         `ring_middle_flexion`, `little_tip_flexion` …",
        |hand: HandRef, name: &str| {
            with(|state| Ok(body(state, &hand)?.skeleton.state().angles[joint(name)?].to_degrees()))
        },
    );
    api.add(
        "tracked_angle(hand: Hand, joint: string) -> number",
        "Tracked angle of a joint, in degrees.",
        |hand: HandRef, name: &str| {
            with(|state| Ok(body(state, &hand)?.skeleton.tracked.angles()[joint(name)?].to_degrees()))
        },
    );
    api.add("angles(hand: Hand) -> map", "All twenty angles by name, in degrees.", |hand: HandRef| {
        with(|state| {
            let angles = body(state, &hand)?.skeleton.state().angles;
            let named = Angle::all().map(|angle| (angle.name().into(), angles[angle.index()].to_degrees().into()));
            Ok(named.collect::<Map>())
        })
    });
    api.add(
        "tip(hand: Hand, finger: string) -> Vec3",
        "Position of the centre of a finger's pad, m.",
        |hand: HandRef, finger: Dynamic| {
            let fingers = super::arguments::fingers(&finger)?;
            let finger = *fingers.first().ok_or_else(|| fault("expected the name of a finger"))?;
            with(|state| pad(state, &hand, finger))
        },
    );
}

fn grasps(api: &mut Api) {
    api.add(
        "touches(hand: Hand, body: Body) -> bool",
        "Whether a hand touches a body.",
        |hand: HandRef, other: Dynamic| {
            let name = body_name(&other)?;
            with(|state| {
                let (hand, body) = (state.hand(&hand.0)?, state.body(&name)?);
                Ok(touching(state, hand, body))
            })
        },
    );
    api.add(
        "holds(hand: Hand, body: Body) -> bool",
        "Whether a hand grasps a body: parts of the hand press on it from opposite sides.",
        |hand: HandRef, other: Dynamic| {
            let name = body_name(&other)?;
            with(|state| {
                let (hand, body) = (state.hand(&hand.0)?, state.body(&name)?);
                Ok(state.watch.is_grasped(hand, body))
            })
        },
    );
}

fn loads(api: &mut Api) {
    api.add(
        "force(hand: Hand, part: string) -> number",
        "Normal force on a finger, a segment such as `index_distal`, the `palm`, an array of these, or `all`, N.",
        |hand: HandRef, part: Dynamic| sum(&hand, &part, |load| load.pressing),
    );
    api.add(
        "friction(hand: Hand, part: string) -> number",
        "Friction force on such a part, N.",
        |hand: HandRef, part: Dynamic| sum(&hand, &part, |load| load.friction),
    );
    api.add(
        "torque(hand: Hand, part: string) -> number",
        "Friction torque about the normals on such a part, N·m.",
        |hand: HandRef, part: Dynamic| sum(&hand, &part, |load| load.torque),
    );
    api.add(
        "load(hand: Hand, part: string) -> Vec3",
        "Total contact force on such a part, N.",
        |hand: HandRef, part: Dynamic| {
            let names = texts(&part, "part")?;
            with(|state| {
                let number = state.hand(&hand.0)?;
                Ok(State::segments(&names)?.into_iter().map(|s| state.load(number, s).force).sum::<Vec3>())
            })
        },
    );
    api.add(
        "slipping(hand: Hand, part: string) -> number",
        "Friction utilisation of such a part, from 0 to 1; at 1 it slips.",
        |hand: HandRef, part: Dynamic| {
            let names = texts(&part, "part")?;
            with(|state| {
                let own = of_it(hand_id(state, &hand)?, State::segments(&names)?);
                let touches = state.touches().into_iter().filter(|touch| own(touch.a) || own(touch.b));
                Ok(touches.map(|touch| if slips(&touch) { 1.0 } else { touch.used }).fold(0.0, f64::max))
            })
        },
    );
    api.add(
        "pressure(hand: Hand, part: string) -> number",
        "Maximum pressure on such a part, Pa.",
        |hand: HandRef, part: Dynamic| {
            let names = texts(&part, "part")?;
            with(|state| {
                let own = of_it(hand_id(state, &hand)?, State::segments(&names)?);
                let points = state.pressures().into_iter().filter(|point| own(point.body));
                Ok(points.map(|point| point.pressure).fold(0.0, f64::max))
            })
        },
    );
}

/// The id of a hand.
fn hand_id(state: &State, hand: &HandRef) -> Result<HandId, Fault> {
    Ok(state.scene.world.bodies.hand_ids()[state.hand(&hand.0)?])
}

/// The hand.
fn body<'s>(state: &'s State, hand: &HandRef) -> Result<&'s crate::body::Hand, Fault> {
    Ok(&state.scene.world.bodies[hand_id(state, hand)?])
}

/// Index of a joint.
pub fn joint(name: &str) -> Result<usize, Fault> {
    Angle::all().find(|angle| angle.name() == name).map(Angle::index).ok_or_else(|| {
        let known: Vec<String> = Angle::all().map(Angle::name).collect();
        fault(unknown("joint", name, known.iter()))
    })
}

/// Whether a hand touches a body.
pub fn touching(state: &State, hand: usize, body: BodyId) -> bool {
    let meet = |one: ColliderId, other: ColliderId| state.is_of_hand(one, hand) && other.body == body;
    state.touches().iter().any(|t| meet(t.a, t.b) || meet(t.b, t.a))
}

/// The pad is where the skin of the last segment extends farthest to the palmar side, half way along the bone.
fn pad(state: &State, hand: &HandRef, finger: Finger) -> Result<Vec3, Fault> {
    let hand = body(state, hand)?;
    let segment = Segment::phalanx(finger, 2);
    let pose = hand.skeleton.kinematics().poses[segment.index()];
    let skin = hand.skin.positions(segment);
    let middle = skin.iter().sum::<Vec3>() / skin.len().max(1) as f64;
    let down = pose.rotation * -Vec3::y();
    let deepest = skin.iter().map(|p| (p - middle).dot(&down)).fold(0.0, f64::max);
    Ok(middle + deepest * down)
}

fn sum(hand: &HandRef, part: &Dynamic, of: impl Fn(&Load) -> f64) -> Result<f64, Fault> {
    let names = texts(part, "part")?;
    with(|state| {
        let number = state.hand(&hand.0)?;
        Ok(State::segments(&names)?.into_iter().map(|segment| of(&state.load(number, segment))).sum())
    })
}

/// Whether a collider is one of some segments of a hand.
fn of_it(hand: HandId, segments: Vec<Segment>) -> impl Fn(ColliderId) -> bool {
    move |side| side.body == hand.id() && segments.contains(&Segment::at(side.index()))
}
