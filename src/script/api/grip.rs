use rhai::Dynamic;

use super::arguments::{fingers, number_in, seconds, text};
use super::{Api, HandRef};
use crate::script::puppet::ForceGrip;
use crate::script::state::State;
use crate::script::track::{Fault, fault, wait_until_time, with};
use crate::text::unknown;
use crate::tracking::{ANGLES, Finger};

/// Time from the open hand to the pose, s.
const CLOSING_TIME: f64 = 1.0;
/// Default time limit for closing, s.
const GRIP_TIMEOUT: f64 = 5.0;
/// A force counts as reached at this fraction of it, since the rest converges slowly.
const REACHED: f64 = 0.95;

pub fn register(api: &mut Api) {
    api.subject("Hand: grip");
    api.add(
        "close_until(hand: Hand, fingers: array, newtons: number) -> bool",
        "Closes fingers until each presses with a force, for at most 5 s; returns whether they do. Two fingers \
         close as in `pinch`, with the middle finger as in `tripod`, others as in `fist`.",
        |hand: HandRef, some: Dynamic, newtons: Dynamic| close(&hand, &some, &newtons, None, GRIP_TIMEOUT),
    );
    api.add(
        "close_until(hand: Hand, fingers: array, newtons: number, seconds: number) -> bool",
        "The same, with a time limit.",
        |hand: HandRef, some: Dynamic, newtons: Dynamic, s: Dynamic| close(&hand, &some, &newtons, None, seconds(&s)?),
    );
    api.add(
        "close_until(hand: Hand, fingers: array, newtons: number, pose: string, seconds: number) -> bool",
        "The same, closing as in a pose of the hand file.",
        |hand: HandRef, some: Dynamic, newtons: Dynamic, pose: Dynamic, s: Dynamic| {
            close(&hand, &some, &newtons, Some(text(&pose, "pose")?), seconds(&s)?)
        },
    );
    api.add(
        "squeeze(hand: Hand, fingers: array, newtons: number)",
        "Closes or opens fingers so that each presses with a force, until their next motion.",
        |hand: HandRef, some: Dynamic, newtons: Dynamic| begin(&hand, &some, &newtons, None).map(drop),
    );
    api.add(
        "squeeze(hand: Hand, fingers: array, newtons: number, pose: string)",
        "The same, closing as in a pose of the hand file.",
        |hand: HandRef, some: Dynamic, newtons: Dynamic, pose: Dynamic| {
            begin(&hand, &some, &newtons, Some(text(&pose, "pose")?)).map(drop)
        },
    );
}

fn begin(hand: &HandRef, some: &Dynamic, newtons: &Dynamic, pose: Option<String>) -> Result<ForceGrip, Fault> {
    let (some, newtons) = (fingers(some)?, number_in(newtons, "newtons", 0.01, 100.0)?);
    with(|state| {
        let hand = state.hand(&hand.0)?;
        let grip = ForceGrip { rates: rates(state, hand, &some, pose)?, fingers: some, newtons };
        state.puppet(hand).grip = Some(grip.clone());
        Ok(grip)
    })
}

/// Rate of the angles while the fingers close.
fn rates(state: &State, hand: usize, some: &[Finger], pose: Option<String>) -> Result<[f64; ANGLES], Fault> {
    let description = &state.scene.world.bodies.hand(hand).model().description;
    let usual = match some.iter().map(|finger| *finger as usize).max() {
        Some(last) if last <= Finger::Index as usize => "pinch",
        Some(last) if last <= Finger::Middle as usize => "tripod",
        _ => "fist",
    };
    let name = pose.unwrap_or(usual.into());
    let known: Vec<String> = description.poses.iter().map(|pose| pose.name.clone()).collect();
    let named = |name: &str| description.pose(name).ok_or_else(|| fault(unknown("pose", name, known.iter())));
    let (open, closed) = (named("open")?, named(&name)?);
    Ok(std::array::from_fn(|joint| (closed[joint] - open[joint]) / CLOSING_TIME))
}

fn close(hand: &HandRef, some: &Dynamic, newtons: &Dynamic, pose: Option<String>, most: f64) -> Result<bool, Fault> {
    let grip = begin(hand, some, newtons, pose)?;
    let end = with(|state| Ok(state.time()))? + most;
    loop {
        wait_until_time(0.0)?;
        let (reached, now) = with(|state| {
            let hand = state.hand(&hand.0)?;
            let presses = |finger: &Finger| state.pressing(hand, *finger) >= REACHED * grip.newtons;
            Ok((grip.fingers.iter().all(presses), state.time()))
        })?;
        if reached || now >= end - 1e-9 {
            with(|state| {
                let hand = state.hand(&hand.0)?;
                state.puppet(hand).grip = None;
                Ok(())
            })?;
            return Ok(reached);
        }
    }
}
