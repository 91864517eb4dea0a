use nalgebra::Point3;
use rhai::Dynamic;

use super::arguments::{body_name, place, text};
use super::{Api, HandRef};
use crate::body::BodyId;
use crate::math::{Pose, Vec3};
use crate::script::plan::{Grip, PadForce, Plan, Planner, pull, shares};
use crate::script::puppet::Hold;
use crate::script::state::State;
use crate::script::track::{Fault, fault, wait_until_time, with};
use crate::sim::Touch;
use crate::text::unknown;
use crate::tracking::{Finger, Segment};

/// Speed of the palm between two places, m/s, and its turning speed, rad/s.
const PALM_PATH_SPEED: f64 = 0.35;
const PALM_TURNING_SPEED: f64 = 2.5;
/// Speed of the palm next to a body, m/s.
const NEAR: f64 = 0.12;
/// Shortest motion, s.
const MIN_MOTION_TIME: f64 = 0.25;
/// Closing speed of the gap, m/s.
const GAP_SPEED: f64 = 0.05;
/// A finger that presses with this force has found the body, N.
const FOUND_FORCE: f64 = 0.05;
/// Time for the forces to build up, s.
const BUILD_UP: f64 = 0.4;
/// Height by which a body is lifted before it is carried to another place, m.
const CARRY: f64 = 0.04;

pub fn register(api: &mut Api) {
    api.subject("Hand: reach, grasp, place");
    api.add(
        "reach(hand: Hand, body: Body) -> bool",
        "Plans a grasp from the shape of a body and moves the opened hand there; returns whether there is one. The hand goes \
         first to a place a few centimetres away from the body, then straight to it.",
        |hand: HandRef, body: Dynamic| reach(&hand, &body, None).map(|plan| plan.is_some()),
    );
    api.add(
        "reach(hand: Hand, body: Body, kind: string) -> bool",
        "The same for a kind of grasp: `pinch` with thumb and index finger, `tripod` with the middle finger too, or `power` with \
         all fingers.",
        |hand: HandRef, body: Dynamic, kind: Dynamic| reach(&hand, &body, Some(grip(&kind)?)).map(|plan| plan.is_some()),
    );
    api.add(
        "grasp(hand: Hand, body: Body) -> bool",
        "Grasps a body of 1 to 15 cm: reaches it, closes each finger until it touches, and presses with the force that weight and \
         friction need, more if it slips. Returns whether the thumb and another finger hold it. The fingers keep pressing \
         while the hand moves, until `release`, `place` or their next motion.",
        |hand: HandRef, body: Dynamic| grasp(&hand, &body, None),
    );
    api.add(
        "grasp(hand: Hand, body: Body, kind: string) -> bool",
        "The same for a kind of grasp; see `reach`.",
        |hand: HandRef, body: Dynamic, kind: Dynamic| grasp(&hand, &body, Some(grip(&kind)?)),
    );
    api.add(
        "place(hand: Hand, body: Body, at: Vec3) -> bool",
        "Carries a grasped body to a position and puts it down: lifts it, moves it across, lowers it until something carries it, \
         opens the fingers and moves away. Returns whether something carried it.",
        |hand: HandRef, body: Dynamic, at: Dynamic| put_down(&hand, &body, &place(&at, "at")?),
    );
    api.add(
        "release(hand: Hand)",
        "Opens the fingers that hold a grasped body, and moves the hand away from it.",
        |hand: HandRef| release(&hand, true),
    );
}

fn grip(kind: &Dynamic) -> Result<Grip, Fault> {
    let name = text(kind, "kind")?;
    let known = Grip::NAMES.map(|(name, _)| name.to_string());
    let named = Grip::NAMES.into_iter().find(|(known, _)| *known == name);
    named.map(|(_, grip)| grip).ok_or_else(|| fault(unknown("kind of grasp", &name, known.iter())))
}

/// Time for a motion of the palm, s.
fn duration(from: &Pose, to: &Pose, speed: f64) -> f64 {
    let way = (from.translation.vector - to.translation.vector).norm();
    // The peak speed of a minimum-jerk motion is 15/8 of its mean.
    1.5 * (way / speed).max(from.rotation.angle_to(&to.rotation) / PALM_TURNING_SPEED).max(MIN_MOTION_TIME / 1.5)
}

/// Moves the palm to a pose.
fn go(hand: &HandRef, to: Pose, speed: f64) -> Result<(), Fault> {
    let end = with(|state| {
        let (number, now) = (state.hand(&hand.0)?, state.time());
        let puppet = state.puppet(number);
        let from = Pose::from_parts(puppet.position(now).into(), puppet.rotation(now));
        let seconds = duration(&from, &to, speed);
        puppet.move_to(to.translation.vector, now, seconds);
        puppet.turn_to(to.rotation, now, seconds);
        Ok(now + seconds)
    })?;
    wait_until_time(end)
}

/// Bends the fingers of a plan to a gap; the others too if they are not needed otherwise.
fn open(hand: &HandRef, plan: &Plan, gap: f64, seconds: f64) -> Result<f64, Fault> {
    with(|state| {
        let (number, now) = (state.hand(&hand.0)?, state.time());
        let angles = plan.angles(gap);
        let puppet = state.puppet(number);
        puppet.hold = None;
        puppet.grip = None;
        angles.iter().enumerate().for_each(|(joint, angle)| puppet.bend_to(joint, *angle, now, seconds));
        Ok(now + seconds)
    })
}

fn reach(hand: &HandRef, body: &Dynamic, grip: Option<Grip>) -> Result<Option<Plan>, Fault> {
    let name = body_name(body)?;
    let (plan, from) = with(|state| {
        let (number, object) = (state.hand(&hand.0)?, state.body(&name)?);
        let planned = Planner::new(state, number, object).and_then(|planner| planner.plan(grip));
        let now = state.time();
        let puppet = state.puppet(number);
        let from = Pose::from_parts(puppet.position(now).into(), puppet.rotation(now));
        if let Err(refusal) = &planned {
            state.say(format!("there is no grasp of `{name}`: {refusal}"));
        }
        Ok((planned.ok(), from))
    })?;
    let Some(plan) = plan else { return Ok(None) };
    let away = plan.ahead.translation.vector;
    let seconds = duration(&from, &plan.ahead, PALM_PATH_SPEED);
    open(hand, &plan, plan.open, seconds)?;
    // Up first where the hand starts lower, so that it does not sweep the body away.
    let via = Vec3::new(from.translation.x, away.y, from.translation.z);
    if from.translation.y < away.y - 0.01 {
        go(hand, Pose::from_parts(via.into(), from.rotation), PALM_PATH_SPEED)?;
    }
    go(hand, plan.ahead, PALM_PATH_SPEED)?;
    go(hand, plan.palm, NEAR)?;
    with(|state| {
        let number = state.hand(&hand.0)?;
        state.set_plan(number, Some((name.clone(), plan.clone())));
        Ok(())
    })?;
    Ok(Some(plan))
}

/// The touches of a finger on a body: segment, centre of pressure and force.
fn presses(state: &State, hand: usize, finger: Finger, object: BodyId) -> Vec<(Segment, Vec3, f64)> {
    let own = |touch: &Touch| {
        let (side, other) = if state.is_of_hand(touch.a, hand) { (touch.a, touch.b) } else { (touch.b, touch.a) };
        let segment = Segment::at(side.index());
        let is_it =
            other.body == object && state.is_of_hand(side, hand) && segment.finger().is_some_and(|(f, _)| f == finger);
        is_it.then_some((segment, touch.place, touch.pressing))
    };
    state.touches().iter().filter_map(own).collect()
}

fn grasp(hand: &HandRef, body: &Dynamic, grip: Option<Grip>) -> Result<bool, Fault> {
    let name = body_name(body)?;
    let reached = with(|state| {
        let number = state.hand(&hand.0)?;
        let plan =
            state.plan(number).filter(|(object, plan)| *object == name && grip.is_none_or(|grip| grip == plan.grip));
        // A plan counts as long as the palm is where it leads to.
        let now = state.time();
        let at = plan.map(|(_, plan)| plan.clone());
        let puppet = state.puppet(number);
        let there =
            |plan: &Plan| (puppet.position(now) - plan.palm.translation.vector).norm() < 1e-3 && puppet.hold.is_none();
        Ok(at.filter(there))
    })?;
    let plan = match reached {
        Some(plan) => plan,
        None => match reach(hand, body, grip)? {
            Some(plan) => plan,
            None => return Ok(false),
        },
    };
    close(hand, &name, &plan)?;
    press(hand, &name, &plan)
}

/// Closes each finger along the postures of the plan until it touches the body.
fn close(hand: &HandRef, name: &str, plan: &Plan) -> Result<(), Fault> {
    let fingers = plan.opposition.fingers.clone();
    let mut gaps = vec![plan.open; fingers.len()];
    let mut found = vec![false; fingers.len()];
    // A finger that meets nothing stops where it would lie well inside.
    let least = (0.35 * plan.width).min(plan.width - 0.012).max(0.0);
    while !found.iter().all(|found| *found) {
        with(|state| {
            let (number, object) = (state.hand(&hand.0)?, state.body(name)?);
            let (now, h) = (state.time(), state.scene.world.parameters.dt);
            for (i, &finger) in fingers.iter().enumerate() {
                let pressing: f64 = presses(state, number, finger, object).iter().map(|(_, _, force)| force).sum();
                found[i] |= pressing > FOUND_FORCE || gaps[i] <= least;
                if found[i] {
                    continue;
                }
                gaps[i] = (gaps[i] - GAP_SPEED * h).max(least);
                let angles = plan.angles(gaps[i]);
                let puppet = state.puppet(number);
                (4 * finger as usize..4 * finger as usize + 4)
                    .for_each(|joint| puppet.bend_to(joint, angles[joint], now, h));
            }
            Ok(())
        })?;
        wait_until_time(0.0)?;
    }
    Ok(())
}

/// Presses with the planned forces from where the fingers touch.
fn press(hand: &HandRef, name: &str, plan: &Plan) -> Result<bool, Fault> {
    let end = with(|state| {
        let (number, object) = (state.hand(&hand.0)?, state.body(name)?);
        let touching: Vec<(Finger, Segment, Vec3)> = plan
            .opposition
            .fingers
            .iter()
            .filter_map(|&finger| {
                let all = presses(state, number, finger, object);
                let (segment, place, _) = all.iter().max_by(|a, b| a.2.total_cmp(&b.2))?;
                Some((finger, *segment, *place))
            })
            .collect();
        let body = state.scene.world.bodies.hand(number);
        let (kinematics, model) = (body.skeleton.kinematics(), body.model());
        let axis = body.skeleton.state().palm.rotation * plan.axis;
        // A finger that has lost the contact meanwhile presses with its pad where it is.
        let pad = |finger: Finger| {
            let segment = Segment::phalanx(finger, 2);
            let frame = &kinematics.poses[segment.index()];
            (segment, (frame * Point3::from(crate::script::plan::pad(model, finger))).coords)
        };
        let at = |finger: Finger| {
            let touched = touching.iter().find(|(other, ..)| *other == finger);
            touched.map_or_else(|| pad(finger), |(_, segment, place)| (*segment, *place))
        };
        let others: Vec<Finger> = match touching.iter().filter(|(finger, ..)| *finger != Finger::Thumb).count() {
            0 => plan.opposition.fingers[1..2].to_vec(),
            _ => touching.iter().map(|(finger, ..)| *finger).filter(|finger| *finger != Finger::Thumb).collect(),
        };
        let (thumb, opposite) = at(Finger::Thumb);
        let places: Vec<Vec3> = others.iter().map(|&finger| at(finger).1).collect();
        let mut presses = vec![PadForce { segment: thumb, place: opposite, force: plan.force * axis }];
        for ((&finger, share), place) in others.iter().zip(shares(&places, &opposite, &axis)).zip(&places) {
            presses.push(PadForce { segment: at(finger).0, place: *place, force: -share * plan.force * axis });
        }
        let pull = pull(model, kinematics, &presses);
        let angles = body.skeleton.state().angles;
        let fingers = std::iter::once(Finger::Thumb).chain(others).collect();
        let now = state.time();
        let hold = Hold { body: name.into(), fingers, angles, pull, start: now, build_up: BUILD_UP, gain: 1.0 };
        state.puppet(number).hold = Some(hold);
        Ok(now + BUILD_UP + 0.1)
    })?;
    wait_until_time(end)?;
    with(|state| {
        let (number, object) = (state.hand(&hand.0)?, state.body(name)?);
        let holds = |finger: Finger| !presses(state, number, finger, object).is_empty();
        Ok(holds(Finger::Thumb) && Finger::ALL[1..].iter().any(|finger| holds(*finger)))
    })
}

/// Whether something that is not a hand carries a body.
fn is_carried(state: &State, object: BodyId) -> bool {
    let bodies = &state.scene.world.bodies;
    let is_hand = |body: BodyId| bodies.hand_ids().iter().any(|hand| hand.id() == body);
    state.touches().iter().any(|touch| {
        let (a, b) = (touch.a.body, touch.b.body);
        (a == object && !is_hand(b)) || (b == object && !is_hand(a))
    })
}

fn put_down(hand: &HandRef, body: &Dynamic, at: &Vec3) -> Result<bool, Fault> {
    /// How much lower than planned something is looked for, m.
    const SEARCH: f64 = 0.015;
    let name = body_name(body)?;
    let (way, palm) = with(|state| {
        let (number, object) = (state.hand(&hand.0)?, state.body(&name)?);
        if state.puppet(number).hold.as_ref().is_none_or(|hold| hold.body != name) {
            return Err(fault(format!("the {} hand does not hold `{name}`; `grasp` it first", hand.0)));
        }
        let now = state.time();
        let puppet = state.puppet(number);
        let palm = Pose::from_parts(puppet.position(now).into(), puppet.rotation(now));
        Ok((at - state.pose(object).translation.vector, palm))
    })?;
    let shifted = |by: Vec3| Pose::from_parts((palm.translation.vector + by).into(), palm.rotation);
    let high = way.y.max(0.0) + CARRY;
    go(hand, shifted(Vec3::new(0.0, high, 0.0)), PALM_PATH_SPEED)?;
    go(hand, shifted(Vec3::new(way.x, high, way.z)), PALM_PATH_SPEED)?;
    // Down until something carries it.
    let lowest = way.y - SEARCH;
    let mut height = high;
    let mut carried = false;
    while height > lowest && !carried {
        carried = with(|state| {
            let (number, object) = (state.hand(&hand.0)?, state.body(&name)?);
            let (now, h) = (state.time(), state.scene.world.parameters.dt);
            height -= h * if height < way.y + 0.01 { 0.25 * NEAR } else { NEAR };
            state.puppet(number).move_to(shifted(Vec3::new(way.x, height, way.z)).translation.vector, now, h);
            Ok(height < way.y + 0.5 * CARRY && is_carried(state, object))
        })?;
        wait_until_time(0.0)?;
    }
    release(hand, false)?;
    Ok(carried)
}

/// Opens the fingers and moves away.
fn release(hand: &HandRef, must: bool) -> Result<(), Fault> {
    let plan = with(|state| {
        let number = state.hand(&hand.0)?;
        let held = state.puppet(number).hold.is_some();
        Ok(state.plan(number).filter(|_| held || must).map(|(_, plan)| plan.clone()))
    })?;
    let Some(plan) = plan else { return Ok(()) };
    let end = open(hand, &plan, plan.open, 0.5)?;
    wait_until_time(end)?;
    let back = with(|state| {
        let (number, now) = (state.hand(&hand.0)?, state.time());
        state.set_plan(number, None);
        let puppet = state.puppet(number);
        let (position, rotation) = (puppet.position(now), puppet.rotation(now));
        // The same way back, in the frame of the palm.
        let way = plan.palm.inverse() * plan.ahead;
        Ok(Pose::from_parts(position.into(), rotation) * way)
    })?;
    go(hand, back, NEAR * 1.5)
}
