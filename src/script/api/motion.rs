use rhai::{Array, Dynamic, Map};

use super::arguments::{fingers, found, number, number_in, place, rotation, seconds, text, vector};
use super::hand::joint;
use super::{Api, HandRef};
use crate::body::HandBody;
use crate::math::{Pose, Quat, Vec3};
use crate::script::puppet::{Easing, Puppet};
use crate::script::state::State;
use crate::script::track::{Fault, fault, wait_until_time, with};
use crate::text::unknown;
use crate::tracking::{ANGLES, AngleKind, Finger, Limits, TrackedHand};

/// Every motion has two variants: one that returns at its end, and one that returns at once.
macro_rules! motions {
    ($api:ident, $($name:literal, $signature:literal, $doc:literal, |$($p:ident: $t:ty),*| $act:expr;)*) => {$(
        $api.add(concat!($name, $signature), $doc, |hand: HandRef, $($p: $t,)* s: Dynamic| -> Result<(), Fault> {
            let s = seconds(&s)?;
            let end = with(|state| drive(state, &hand, s, $act))?;
            wait_until_time(end)
        });
        $api.add(
            concat!("start_", $name, $signature),
            concat!("The same as `", $name, "`, but returns at once."),
            |hand: HandRef, $($p: $t,)* s: Dynamic| -> Result<(), Fault> {
                let s = seconds(&s)?;
                with(|state| drive(state, &hand, s, $act)).map(drop)
            },
        );
    )*};
}

pub fn register(api: &mut Api) {
    api.subject("Hand: motion");
    finger_motions(api);
    palm_motions(api);
    controls(api);
}

fn finger_motions(api: &mut Api) {
    motions! { api,
        "pose", "(hand: Hand, name: string, seconds: number)",
        "Moves the fingers to a pose of the hand file: `open`, `rest`, `fist`, `point`, `pinch`, `tripod` …",
        |name: Dynamic| |m: &mut MotionBuilder| m.pose(&text(&name, "name")?, &Finger::ALL);
        "pose", "(hand: Hand, name: string, fingers: array, seconds: number)",
        "Moves some fingers to a pose.",
        |name: Dynamic, some: Dynamic| |m: &mut MotionBuilder| m.pose(&text(&name, "name")?, &fingers(&some)?);
        "blend", "(hand: Hand, from: string, to: string, part: number, seconds: number)",
        "Moves the fingers to an interpolation of two poses: 0 is the first, 1 the second; values above 1 \
         extrapolate up to the joint limits.",
        |from: Dynamic, to: Dynamic, part: Dynamic| |m: &mut MotionBuilder| {
            m.blend(&text(&from, "from")?, &text(&to, "to")?, number(&part, "part")?, &Finger::ALL)
        };
        "blend", "(hand: Hand, from: string, to: string, part: number, fingers: array, seconds: number)",
        "Moves some fingers to an interpolation of two poses.",
        |from: Dynamic, to: Dynamic, part: Dynamic, some: Dynamic| |m: &mut MotionBuilder| {
            m.blend(&text(&from, "from")?, &text(&to, "to")?, number(&part, "part")?, &fingers(&some)?)
        };
        "curl", "(hand: Hand, fingers: array, amount: number, seconds: number)",
        "Curls fingers: 0 is straight, 1 is a fist.",
        |some: Dynamic, amount: Dynamic| |m: &mut MotionBuilder| {
            m.curl(&fingers(&some)?, number_in(&amount, "amount", 0.0, 1.0)?)
        };
        "spread", "(hand: Hand, amount: number, seconds: number)",
        "Spreads the fingers: 0 is parallel, 1 is the joint limit.",
        |amount: Dynamic| |m: &mut MotionBuilder| m.spread(number_in(&amount, "amount", -1.0, 1.0)?);
        "bend", "(hand: Hand, joint: string, degrees: number, seconds: number)",
        "Moves one joint to an angle; see `angle` for the names.",
        |name: Dynamic, degrees: Dynamic| |m: &mut MotionBuilder| {
            m.bend(joint(&text(&name, "joint")?)?, number(&degrees, "degrees")?)
        };
        "bend", "(hand: Hand, angles: map, seconds: number)",
        "Moves several joints to angles: `#{ index_base_flexion: 30, thumb_tip_flexion: 10 }`.",
        |angles: Map| |m: &mut MotionBuilder| {
            angles.iter().try_for_each(|(name, degrees)| m.bend(joint(name)?, number(degrees, name)?))
        };
    }
}

fn palm_motions(api: &mut Api) {
    motions! { api,
        "move_to", "(hand: Hand, position: Vec3, seconds: number)",
        "Moves the palm to a position, m.",
        |place: Dynamic| |m: &mut MotionBuilder| m.move_to(vector(&place, "position")?);
        "move_by", "(hand: Hand, way: Vec3, seconds: number)",
        "Moves the palm by a displacement from its tracked position, m.",
        |way: Dynamic| |m: &mut MotionBuilder| { let to = m.puppet.position(m.now) + vector(&way, "way")?; m.move_to(to) };
        "turn_to", "(hand: Hand, rotation: Rotation, seconds: number)",
        "Rotates the palm to a Rotation, or three angles about X, then Y, then Z in degrees.",
        |to: Dynamic| |m: &mut MotionBuilder| m.turn_to(rotation(&to, "rotation")?);
        "turn_by", "(hand: Hand, axis: Vec3, degrees: number, seconds: number)",
        "Rotates the palm about a world axis through it.",
        |axis: Dynamic, degrees: Dynamic| |m: &mut MotionBuilder| {
            let turn = super::maths::axis_angle(&vector(&axis, "axis")?, number(&degrees, "degrees")?)?;
            let to = turn * m.puppet.rotation(m.now);
            m.turn_to(to)
        };
        "turn_about", "(hand: Hand, point: Vec3, axis: Vec3, degrees: number, seconds: number)",
        "Moves the palm around a world axis through a point, as when turning a knob.",
        |point: Dynamic, axis: Dynamic, degrees: Dynamic| |m: &mut MotionBuilder| {
            let axis = super::maths::unit(&vector(&axis, "axis")?)?;
            m.turn_about(place(&point, "point")?, axis, number(&degrees, "degrees")?)
        };
    }
}

fn controls(api: &mut Api) {
    api.add(
        "play(hand: Hand, keys: array)",
        "Plays keyframes: maps with `seconds`, the duration, and any of `pose`, `angles` (a map of joints), \
         `position`, `rotation` and `easing`. Other parts are unchanged.",
        |hand: HandRef, keys: Array| -> Result<(), Fault> { keys.iter().try_for_each(|key| play(&hand, key)) },
    );
    api.add(
        "easing(hand: Hand, name: string)",
        "Sets the easing of later motions: `smooth`, `linear`, `in` or `out`.",
        |hand: HandRef, name: &str| {
            let easing = easing(name)?;
            with(|state| {
                let hand = state.hand(&hand.0)?;
                state.puppet(hand).easing = easing;
                Ok(())
            })
        },
    );
    api.add("stop(hand: Hand)", "Stops all motions of the hand.", |hand: HandRef| {
        with(|state| {
            let (hand, now) = (state.hand(&hand.0)?, state.time());
            state.puppet(hand).stop(now);
            Ok(())
        })
    });
    api.add(
        "place(hand: Hand, position: Vec3, rotation: Rotation, pose: string)",
        "Places the hand at once, without a motion. For the set-up.",
        |hand: HandRef, position: Dynamic, turned: Dynamic, pose: Dynamic| {
            let (place, turn) = (place(&position, "position")?, rotation(&turned, "rotation")?);
            let name = text(&pose, "pose")?;
            with(|state| put(state, &hand, Pose::from_parts(place.into(), turn), &name))
        },
    );
}

/// A motion of a hand under construction.
struct MotionBuilder<'s> {
    puppet: &'s mut Puppet,
    model: std::sync::Arc<crate::hand::HandModel>,
    now: f64,
    seconds: f64,
}

/// Starts a motion of a hand; returns its end time, s.
fn drive(
    state: &mut State,
    hand: &HandRef,
    seconds: f64,
    act: impl FnOnce(&mut MotionBuilder<'_>) -> Result<(), Fault>,
) -> Result<f64, Fault> {
    let (hand, now) = (state.hand(&hand.0)?, state.time());
    let model = state.scene.world.bodies.hand(hand).model().clone();
    act(&mut MotionBuilder { puppet: state.puppet(hand), model, now, seconds })?;
    Ok(now + seconds)
}

impl MotionBuilder<'_> {
    fn named(&self, name: &str) -> Result<[f64; ANGLES], Fault> {
        let description = &self.model.description;
        let known: Vec<String> = description.poses.iter().map(|pose| pose.name.clone()).collect();
        description.pose(name).copied().ok_or_else(|| fault(unknown("pose", name, known.iter())))
    }

    fn key(&mut self, map: &Map) -> Result<(), Fault> {
        if let Some(name) = map.get("pose") {
            self.pose(&text(name, "pose")?, &Finger::ALL)?;
        }
        if let Some(angles) = map.get("angles") {
            let wrong = || fault(format!("`angles`: expected a map of joints, found {}", found(angles)));
            let angles = angles.read_lock::<Map>().ok_or_else(wrong)?;
            angles.iter().try_for_each(|(name, degrees)| self.bend(joint(name)?, number(degrees, name)?))?;
        }
        if let Some(place) = map.get("position") {
            self.move_to(vector(place, "position")?)?;
        }
        if let Some(to) = map.get("rotation") {
            self.turn_to(rotation(to, "rotation")?)?;
        }
        Ok(())
    }

    fn pose(&mut self, name: &str, fingers: &[Finger]) -> Result<(), Fault> {
        let angles = self.named(name)?;
        self.bend_all(fingers, |joint| angles[joint])
    }

    fn blend(&mut self, from: &str, to: &str, part: f64, fingers: &[Finger]) -> Result<(), Fault> {
        let (from, to) = (self.named(from)?, self.named(to)?);
        self.bend_all(fingers, |joint| from[joint] + part * (to[joint] - from[joint]))
    }

    fn curl(&mut self, fingers: &[Finger], amount: f64) -> Result<(), Fault> {
        let (open, fist) = (self.named("open")?, self.named("fist")?);
        for joint in joints(fingers).filter(|joint| joint % 4 != AngleKind::BaseAbduction as usize) {
            self.bend_to(joint, open[joint] + amount * (fist[joint] - open[joint]));
        }
        Ok(())
    }

    fn spread(&mut self, amount: f64) -> Result<(), Fault> {
        let limits = self.model.description.limits();
        // Positive is towards the thumb, so the sign changes beyond the middle finger.
        for (finger, way) in [(Finger::Index, 1.0), (Finger::Middle, 0.0), (Finger::Ring, -1.0), (Finger::Little, -1.0)]
        {
            let joint = 4 * finger as usize + AngleKind::BaseAbduction as usize;
            let side = amount * way;
            let most = if side >= 0.0 { limits[joint][1] } else { -limits[joint][0] };
            self.bend_to(joint, side * most);
        }
        Ok(())
    }

    fn bend(&mut self, joint: usize, degrees: f64) -> Result<(), Fault> {
        let [low, high] = self.model.description.limits()[joint].map(f64::to_degrees);
        if degrees < low - 1e-6 || degrees > high + 1e-6 {
            return Err(fault(format!("{degrees}° is outside the joint's limits, {low:.0}° to {high:.0}°")));
        }
        self.bend_to(joint, degrees.to_radians());
        Ok(())
    }

    fn bend_all(&mut self, fingers: &[Finger], angle: impl Fn(usize) -> f64) -> Result<(), Fault> {
        joints(fingers).for_each(|joint| self.bend_to(joint, angle(joint)));
        Ok(())
    }

    fn bend_to(&mut self, joint: usize, angle: f64) {
        let [low, high] = self.model.description.limits()[joint];
        self.puppet.bend_to(joint, angle.clamp(low, high), self.now, self.seconds);
    }

    fn move_to(&mut self, place: Vec3) -> Result<(), Fault> {
        if place.norm() > Limits::default().range {
            return Err(fault(format!("{:.0} m from the origin is out of range for a hand", place.norm())));
        }
        self.puppet.move_to(place, self.now, self.seconds);
        Ok(())
    }

    fn turn_about(&mut self, point: Vec3, axis: Vec3, degrees: f64) -> Result<(), Fault> {
        self.puppet.turn_about(point, axis, degrees.to_radians(), self.now, self.seconds);
        Ok(())
    }

    fn turn_to(&mut self, rotation: Quat) -> Result<(), Fault> {
        self.puppet.turn_to(rotation, self.now, self.seconds);
        Ok(())
    }
}

fn easing(name: &str) -> Result<Easing, Fault> {
    let known: Vec<String> = Easing::NAMES.iter().map(|(name, _)| name.to_string()).collect();
    let easing = Easing::NAMES.iter().find(|(known, _)| *known == name).map(|(_, easing)| *easing);
    easing.ok_or_else(|| fault(unknown("easing", name, known.iter())))
}

/// Moves to a keyframe.
fn play(hand: &HandRef, key: &Dynamic) -> Result<(), Fault> {
    const KEYS: [&str; 6] = ["seconds", "pose", "angles", "position", "rotation", "easing"];
    let map = key.read_lock::<Map>().ok_or_else(|| fault(format!("expected a map, found {}", found(key))))?;
    let known = KEYS.map(String::from);
    if let Some(other) = map.keys().find(|name| !KEYS.contains(&name.as_str())) {
        return Err(fault(unknown("key", other, known.iter())));
    }
    let length = seconds(map.get("seconds").ok_or_else(|| fault("a keyframe needs `seconds`"))?)?;
    let end = with(|state| {
        drive(state, hand, length, |motion| {
            let usual = motion.puppet.easing;
            if let Some(name) = map.get("easing") {
                motion.puppet.easing = easing(&text(name, "easing")?)?;
            }
            let told = motion.key(&map);
            motion.puppet.easing = usual;
            told
        })
    })?;
    // The lock is released while the track waits.
    drop(map);
    wait_until_time(end)
}

fn joints(fingers: &[Finger]) -> impl Iterator<Item = usize> + use<> {
    let fingers = fingers.to_vec();
    fingers.into_iter().flat_map(|finger| 4 * finger as usize..4 * finger as usize + 4)
}

fn put(state: &mut State, hand: &HandRef, palm: Pose, pose: &str) -> Result<(), Fault> {
    let number = state.hand(&hand.0)?;
    let body = state.scene.world.bodies.hand_mut(number);
    let model = body.model().clone();
    let known: Vec<String> = model.description.poses.iter().map(|pose| pose.name.clone()).collect();
    let angles = *model.description.pose(pose).ok_or_else(|| fault(unknown("pose", pose, known.iter())))?;
    if !palm.translation.vector.iter().all(|x| x.abs() < Limits::default().range) {
        return Err(fault(format!("{} is out of range for a hand", found(&Dynamic::from(palm.translation.vector)))));
    }
    body.skeleton = HandBody::new(model, TrackedHand::new(palm, angles, Limits::default()));
    body.follow_bones();
    state.puppets[number] = None;
    if let Some(motion) = state.scene.motions.get_mut(number) {
        *motion = None;
    }
    Ok(())
}
