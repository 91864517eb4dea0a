use rhai::{Array, Dynamic, FnPtr, NativeCallContext};

use super::arguments::{found, seconds};
use super::{Api, TrackRef};
use crate::script::callback::Callback;
use crate::script::track::{Ask, Fault, Go, ask, fault, wait_until_time, with};

pub fn register(api: &mut Api) {
    api.subject("Time and tracks");
    api.add("time() -> number", "Simulated time since the start, s.", || with(|state| Ok(state.time())));
    api.add("dt() -> number", "Length of a step, s.", || with(|state| Ok(state.scene.world.parameters.dt)));
    api.add(
        "wait(seconds: number)",
        "Lets the simulation go on for a time, rounded up to whole steps; at least one.",
        |s: Dynamic| wait_until_time(with(|state| Ok(state.time()))? + seconds(&s)?),
    );
    api.add("step()", "Lets the simulation go on for one step.", || wait_until_time(0.0));
    api.add(
        "wait_until(condition: closure, seconds: number) -> bool",
        "Waits until the condition holds, looking after every step, but no longer than a time; tells whether it holds.",
        |context: NativeCallContext, condition: Dynamic, s: Dynamic| wait_until(&context, &condition, seconds(&s)?),
    );
    api.add(
        "wait_until(condition: closure) -> bool",
        "Waits until the condition holds, for as long as it takes.",
        |context: NativeCallContext, condition: Dynamic| wait_until(&context, &condition, f64::INFINITY),
    );
    api.add(
        "every_step(action: closure, seconds: number)",
        "Calls a closure before every step for a time. For control loops.",
        |context: NativeCallContext, action: Dynamic, s: Dynamic| -> Result<(), Fault> {
            let end = with(|state| Ok(state.time()))? + seconds(&s)?;
            while with(|state| Ok(state.time()))? < end - 1e-9 {
                let _: Dynamic = closure(&action)?.call_within_context(&context, ())?;
                wait_until_time(0.0)?;
            }
            Ok(())
        },
    );
    api.add(
        "parallel(tracks: array)",
        "Runs closures side by side, and returns when all have come to their end.",
        |context: NativeCallContext, tracks: Array| ask(Ask::Join(start(&context, tracks.iter())?)).map(drop),
    );
    api.add(
        "start(track: closure) -> Track",
        "Runs a closure beside what follows.",
        |context: NativeCallContext, track: Dynamic| {
            let numbers = start(&context, std::iter::once(&track))?;
            numbers.first().map(|number| TrackRef(*number)).ok_or_else(|| fault("the track did not start"))
        },
    );
    api.add("join(track: Track)", "Waits until a track has come to its end.", |track: TrackRef| {
        ask(Ask::Join(vec![track.0])).map(drop)
    });
    api.add("sleep(seconds: number)", "Not there; use `wait`.", |_: f64| no_clock("sleep", "`wait(seconds)`"));
    api.engine.register_fn("sleep", |_: i64| no_clock("sleep", "`wait(seconds)`"));
    api.add("timestamp()", "Not there; use `time`.", || no_clock("timestamp", "`time()`"));
}

fn no_clock(name: &str, other: &str) -> Result<(), Fault> {
    Err(fault(format!("`{name}` goes by the clock on the wall, which a simulation does not know; use {other}")))
}

/// A closure, or a sentence.
pub fn closure(value: &Dynamic) -> Result<FnPtr, Fault> {
    value
        .clone()
        .try_cast::<FnPtr>()
        .ok_or_else(|| fault(format!("expected a closure, as `|| …`, found {}", found(value))))
}

fn wait_until(context: &NativeCallContext<'_>, condition: &Dynamic, most: f64) -> Result<bool, Fault> {
    let condition = closure(condition)?;
    let end = with(|state| Ok(state.time()))? + most;
    loop {
        let answer = condition.call_within_context::<Dynamic>(context, ())?;
        let holds = answer.as_bool();
        if holds.map_err(|_| fault(format!("the condition: expected true or false, found {}", found(&answer))))? {
            return Ok(true);
        }
        if with(|state| Ok(state.time()))? >= end - 1e-9 {
            return Ok(false);
        }
        wait_until_time(0.0)?;
    }
}

fn start<'a>(
    context: &NativeCallContext<'_>,
    closures: impl Iterator<Item = &'a Dynamic>,
) -> Result<Vec<usize>, Fault> {
    let later = |value: &Dynamic| Ok::<_, Fault>(Callback::new(context, closure(value)?));
    let closures = closures.map(later).collect::<Result<Vec<_>, _>>()?;
    match ask(Ask::Start(closures))? {
        Go::Started(numbers) => numbers.map_err(fault),
        _ => Err(fault("the tracks did not start")),
    }
}
