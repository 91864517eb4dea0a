use rhai::{Dynamic, NativeCallContext};

use super::Api;
use super::arguments::{body_name, found, hand_names, number, seconds, text};
use super::tracks::closure;
use crate::script::callback::Callback;
use crate::script::events::EVENT_KINDS;
use crate::script::grasp::GraspMeter;
use crate::script::limits::{RULES, TRIALS};
use crate::script::state::State;
use crate::script::task::{Goal, GoalState};
use crate::script::track::{Fault, fault, with};
use crate::text::unknown;

pub fn register(api: &mut Api) {
    api.subject("Task");
    conditions(api);
    endings(api);
    scores(api);
    reports(api);
    api.subject("Events");
    events(api);
}

fn conditions(api: &mut Api) {
    api.add("task(name: string)", "Names the task [default: the name of the script].", |name: Dynamic| {
        let name = text(&name, "name")?;
        with(|state| {
            state.task.name = Some(name);
            Ok(())
        })
    });
    api.add(
        "goal(name: string, condition: closure)",
        "A condition that must become true. It is evaluated after every step.",
        |context: NativeCallContext, name: Dynamic, condition: Dynamic| goal(&context, &name, &condition, 0.0),
    );
    api.add(
        "goal(name: string, condition: closure, hold: number)",
        "A condition that must become true and stay true for some seconds.",
        |context: NativeCallContext, name: Dynamic, condition: Dynamic, hold: Dynamic| {
            goal(&context, &name, &condition, seconds(&hold)?)
        },
    );
    api.add(
        "fail_if(reason: string, condition: closure)",
        "A condition that ends the task with a failure.",
        |context: NativeCallContext, reason: Dynamic, condition: Dynamic| {
            let (reason, condition) = (text(&reason, "reason")?, Callback::new(&context, closure(&condition)?));
            with(|state| {
                room(state.task.failures.len(), "failure conditions")?;
                state.task.failures.push((reason, condition));
                Ok(())
            })
        },
    );
    api.add(
        "timeout(seconds: number)",
        "Time by which all goals must be reached, s. Goals that are open when the script has come to its end \
         are waited for until then.",
        |s: Dynamic| {
            let s = seconds(&s)?;
            with(|state| {
                state.task.timeout = Some(s);
                Ok(())
            })
        },
    );
}

fn endings(api: &mut Api) {
    api.add("phase(name: string)", "Starts a phase of the task, named in reports.", |name: Dynamic| {
        let name = text(&name, "name")?;
        with(|state| {
            room(state.task.phases.len(), "phases")?;
            let now = state.time();
            state.task.begin_phase(name, now);
            Ok(())
        })
    });
    api.add("succeed(reason: string)", "Ends the task successfully.", |reason: Dynamic| {
        let reason = text(&reason, "reason")?;
        with(|state| state.end(true, &reason))
    });
    api.add("fail(reason: string)", "Ends the task with a failure.", |reason: Dynamic| {
        let reason = text(&reason, "reason")?;
        with(|state| state.end(false, &reason))
    });
    api.add(
        "check(condition: bool, reason: string)",
        "Ends the task with a failure unless a condition holds.",
        |condition: Dynamic, reason: Dynamic| {
            let holds = condition
                .as_bool()
                .map_err(|_| fault(format!("`condition`: expected true or false, found {}", found(&condition))))?;
            let reason = text(&reason, "reason")?;
            if holds { Ok(()) } else { with(|state| state.end(false, &reason)) }
        },
    );
}

fn scores(api: &mut Api) {
    api.add("score(points: number)", "Sets the score.", |points: Dynamic| {
        let points = number(&points, "points")?;
        with(|state| {
            state.task.score = Some(points);
            Ok(())
        })
    });
    api.add("add_score(points: number)", "Adds to the score.", |points: Dynamic| {
        let points = number(&points, "points")?;
        with(|state| {
            let score = state.task.score.unwrap_or(0.0) + points;
            if !score.is_finite() {
                return Err(fault("the score is not finite"));
            }
            state.task.score = Some(score);
            Ok(())
        })
    });
}

fn events(api: &mut Api) {
    api.add(
        "on(event: string, handler: closure)",
        "Calls a closure with a map on an event: `contact_began`, `contact_ended` and `slip` with `hand`, `finger`, \
         `segment` (or `other`, for two bodies), `body`, `force` and `place`; `grasp` and `release` with `hand` \
         and `body`; `button` with \
         `name` and `pressed`. All have `kind` and `time`.",
        |context: NativeCallContext, event: Dynamic, handler: Dynamic| {
            let (event, handler) = (text(&event, "event")?, Callback::new(&context, closure(&handler)?));
            let known: Vec<String> = EVENT_KINDS.map(String::from).to_vec();
            if !known.contains(&event) {
                return Err(fault(unknown("event", &event, known.iter())));
            }
            with(|state| {
                room(state.task.handlers.len(), "event handlers")?;
                state.task.handlers.push((event, handler));
                Ok(())
            })
        },
    );
}

fn reports(api: &mut Api) {
    api.add(
        "metric(name: string, value: number)",
        "Adds a number to the result of the task.",
        |name: Dynamic, value: Dynamic| {
            let (name, value) = (text(&name, "name")?, number(&value, "value")?);
            with(|state| {
                room(state.task.metrics.len(), "metrics")?;
                state.task.metrics.insert(name, value);
                Ok(())
            })
        },
    );
    api.add(
        "measure_grasp(object: Body)",
        "Measures the grasp of an object from now on: `lift_mm`, maximum lift above its current height; `slip_mm`, \
         translation in the hand; `spin_deg`, rotation in the hand; `held_s`, time held without other support \
         (its contents do not count); `peak_normal_n`, maximum force of one segment on it.",
        |object: Dynamic| {
            let object = body_name(&object)?;
            with(|state| {
                let hands = (0..state.scene.world.bodies.hand_ids().len()).collect();
                measure(state, object, hands)
            })
        },
    );
    api.add(
        "measure_grasp(object: Body, hands: array)",
        "The same, for some hands.",
        |object: Dynamic, hands: Dynamic| {
            let (object, names) = (body_name(&object)?, hand_names(&hands)?);
            with(|state| {
                let hands = names.iter().map(|name| state.hand(name)).collect::<Result<Vec<_>, _>>()?;
                measure(state, object, hands)
            })
        },
    );
    api.add(
        "trials(count: number)",
        "Runs the script several times with different random numbers; all must succeed.",
        |count: i64| trials(count, count),
    );
    api.add(
        "trials(count: number, needed: number)",
        "The same; `needed` of them must succeed.",
        |count: i64, needed: i64| trials(count, needed),
    );
    api.add("trial() -> number", "Number of this trial, from 1.", || with(|state| Ok(state.trial as i64)));
    api.add(
        "driven_by_device() -> bool",
        "Whether a device moves a hand or a part of one; the script's motions of it then have no effect except their duration.",
        || with(|state| Ok(state.origin.device.any())),
    );
}

fn goal(context: &NativeCallContext<'_>, name: &Dynamic, condition: &Dynamic, hold: f64) -> Result<(), Fault> {
    let (name, condition) = (text(name, "name")?, Callback::new(context, closure(condition)?));
    with(|state| {
        room(state.task.goals.len(), "goals")?;
        state.task.goals.push(Goal { name, condition, state: GoalState { hold, ..GoalState::default() } });
        Ok(())
    })
}

fn room(count: usize, what: &str) -> Result<(), Fault> {
    if count < RULES { Ok(()) } else { Err(fault(format!("at most {RULES} {what} are allowed"))) }
}

fn measure(state: &mut State, object: String, hands: Vec<usize>) -> Result<(), Fault> {
    let height = state.pose(state.body(&object)?).translation.y;
    state.task.grasp = Some(GraspMeter::new(object, hands, height));
    Ok(())
}

fn trials(count: i64, needed: i64) -> Result<(), Fault> {
    if !(1..=TRIALS).contains(&count) || !(0..=count).contains(&needed) {
        return Err(fault(format!("expected 1 to {TRIALS} trials, and at most that many needed")));
    }
    with(|state| {
        state.task.trials = Some((count as u64, needed as u64));
        Ok(())
    })
}
