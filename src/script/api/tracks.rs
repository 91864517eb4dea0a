use rhai::{Array, Dynamic, FnPtr, NativeCallContext};

use super::arguments::{found, seconds};
use super::{Api, TrackRef};
use crate::script::callback::Callback;
use crate::script::track::{Fault, Go, TrackRequest, fault, submit, wait_until_time, with};

pub fn register(api: &mut Api) {
    api.subject("Time and tracks");
    api.add("time() -> number", "Simulated time since the start, s.", || with(|state| Ok(state.time())));
    api.add("dt() -> number", "Length of a step, s.", || with(|state| Ok(state.scene.world.parameters.dt)));
    api.add(
        "wait(seconds: number)",
        "Runs the simulation for a time, rounded up to whole steps, at least one.",
        |s: Dynamic| wait_until_time(with(|state| Ok(state.time()))? + seconds(&s)?),
    );
    api.add("step()", "Runs the simulation for one step.", || wait_until_time(0.0));
    api.add(
        "wait_until(condition: closure, seconds: number) -> bool",
        "Waits until the condition holds, evaluated after every step, with a timeout; returns whether it holds.",
        |context: NativeCallContext, condition: Dynamic, s: Dynamic| wait_until(&context, &condition, seconds(&s)?),
    );
    api.add(
        "wait_until(condition: closure) -> bool",
        "Waits until the condition holds, without a timeout.",
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
        "Runs closures in parallel and returns when all have ended.",
        |context: NativeCallContext, tracks: Array| {
            submit(TrackRequest::Join(start(&context, tracks.iter())?)).map(drop)
        },
    );
    api.add(
        "start(track: closure) -> Track",
        "Runs a closure in parallel with the following code.",
        |context: NativeCallContext, track: Dynamic| {
            let numbers = start(&context, std::iter::once(&track))?;
            numbers.first().map(|number| TrackRef(*number)).ok_or_else(|| fault("the track did not start"))
        },
    );
    api.add("join(track: Track)", "Waits until a track has ended.", |track: TrackRef| {
        submit(TrackRequest::Join(vec![track.0])).map(drop)
    });
    api.add("sleep(seconds: number)", "Not available; use `wait`.", |_: f64| no_clock("sleep", "`wait(seconds)`"));
    api.engine.register_fn("sleep", |_: i64| no_clock("sleep", "`wait(seconds)`"));
    api.add("timestamp()", "Not available; use `time`.", || no_clock("timestamp", "`time()`"));
}

fn no_clock(name: &str, other: &str) -> Result<(), Fault> {
    Err(fault(format!("`{name}` uses the wall clock, which is not available in a simulation; use {other}")))
}

/// A closure, or an error.
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
        let returned = condition.call_within_context::<Dynamic>(context, ())?;
        let holds = returned.as_bool();
        if holds.map_err(|_| fault(format!("the condition: expected true or false, found {}", found(&returned))))? {
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
    match submit(TrackRequest::Start(closures))? {
        Go::Started(numbers) => numbers.map_err(fault),
        _ => Err(fault("the tracks did not start")),
    }
}
