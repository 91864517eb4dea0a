use rhai::{Array, Dynamic, Map};

use super::arguments::{body_name, found, number, number_in, place, seconds};
use super::toml::{document, table};
use super::{Api, BodyRef, HandRef};
use crate::assets::{Setting, parse_scene};
use crate::contact::Friction;
use crate::script::limits::MATERIALS;
use crate::script::load::{LoadRefusal, Request};
use crate::script::memory;
use crate::script::state::State;
use crate::script::track::{Fault, Go, TrackRequest, fault, refused, submit, with};

pub fn register(api: &mut Api) {
    api.subject("World");
    scenes(api);
    members(api);
    parameters(api);
    devices(api);
    chance(api);
    api.note("print(line)", "Prints a line to the terminal, with the time.");
}

fn scenes(api: &mut Api) {
    api.engine
        .register_type_with_name::<LoadRefusal>("Refusal")
        .register_fn("to_string", |refusal: LoadRefusal| refusal.shown)
        .register_fn("to_debug", |refusal: LoadRefusal| refusal.shown);
    api.add(
        "scene(name: string)",
        "Loads a scene by name from the script's folder, from `scenes/`, or a shipped one.",
        |name: &str| load(Request::Scene(name.into())),
    );
    api.add(
        "scene(description: map)",
        "Sets up a scene; the map has the keys of a scene file, such as `#{ hand: #{ right: #{} } }`.",
        |description: Map| load(Request::Inline(with(|state| document(&description, &state.origin))?)),
    );
}

/// Hands and bodies of the scene.
fn members(api: &mut Api) {
    api.add("hand(name: string) -> Hand", "A hand of the scene.", |name: &str| {
        with(|state| state.hand(name).map(|_| HandRef(name.into())))
    });
    api.add("body(name: string) -> Body", "A body of the scene.", |name: &str| {
        with(|state| state.body(name).map(|_| BodyRef(name.into())))
    });
    api.add("bodies() -> array", "All bodies of the scene that are not fixed.", || {
        with(|state| {
            let bodies = &state.scene.world.bodies;
            let movable = bodies.iter().filter(|(_, body)| body.mass().is_some());
            Ok(movable.map(|(id, _)| Dynamic::from(BodyRef(bodies.name(id).into()))).collect::<Array>())
        })
    });
    api.add(
        "add_body(name: string, description: map) -> Body",
        "Adds a body; the map has the keys of `[body.NAME]` in a scene file.",
        |name: &str, description: Map| {
            load(Request::Body(plain(name)?, with(|state| table(&description, &state.origin, "body"))?))?;
            Ok::<_, Fault>(BodyRef(name.into()))
        },
    );
    api.add(
        "add_hand(name: string, description: map) -> Hand",
        "Adds a hand; the map has the keys of `[hand.NAME]` in a scene file; `file` is a name in `hands/`, such as `left`.",
        |name: &str, description: Map| {
            load(Request::Hand(plain(name)?, with(|state| table(&description, &state.origin, "hand"))?))?;
            Ok::<_, Fault>(HandRef(name.into()))
        },
    );
    api.add("remove(body: Body)", "Removes a body from the world.", |body: Dynamic| {
        let name = body_name(&body)?;
        with(|state| memory::uncounted(|| remove(state, &name)))
    });
    api.add("exists(name: string) -> bool", "Whether there is a hand or a body with this name.", |name: &str| {
        with(|state| Ok(state.find_body(name).is_some() || state.scene.hand(name).is_some()))
    });
}

fn parameters(api: &mut Api) {
    api.add(
        "material(name: string, friction: number)",
        "Sets the static and dynamic friction of a material; a new name creates a material.",
        |name: &str, friction: Dynamic| {
            let friction = Friction::of(number_in(&friction, "friction", 0.0, 10.0)?);
            with(|state| {
                let materials = &mut state.scene.world.materials;
                if materials.find(name).is_none() && materials.names().count() >= MATERIALS {
                    return Err(fault(format!("at most {MATERIALS} materials are allowed")));
                }
                materials.set(name, friction);
                Ok(())
            })
        },
    );
    api.add(
        "set(key: string, value)",
        "Changes a parameter of the running simulation: `friction`, `method`, `pressure`, `gravity`, `refactor`, `drift`, \
         `aggregate.patches`, `aggregate.split`, `aggregate.split_angle`, `contact.alarm`, `contact.offset`, `solver.tolerance`, \
         `solver.iterations` or `solver.deadline_ms`.",
        |key: &str, value: Dynamic| set(key, &value),
    );
    api.add("contacts() -> number", "Number of contacts in the last step.", || {
        with(|state| Ok(state.scene.world.statistics().contacts as i64))
    });
    api.add("penetration() -> number", "Maximum penetration after the last step, m.", || {
        with(|state| Ok(state.scene.world.statistics().penetration))
    });
}

fn devices(api: &mut Api) {
    api.add(
        "move_device(displacement: Vec3, seconds: number)",
        "Moves the aim of the haptic device smoothly to a displacement from its start, m. The scene needs a `[haptic]` section.",
        |displacement: Dynamic, duration: Dynamic| {
            let (to, duration) = (place(&displacement, "displacement")?, seconds(&duration)?);
            with(|state| {
                let now = state.scene.world.time();
                let haptic = state.scene.haptic.as_mut().ok_or_else(no_device)?;
                haptic.move_to(to, now, duration);
                Ok(())
            })
        },
    );
    api.add("device_force() -> Vec3", "Force that was last sent to the haptic device, N.", || {
        with(|state| state.scene.haptic.as_ref().map(|haptic| haptic.sent_wrench().force).ok_or_else(no_device))
    });
}

fn chance(api: &mut Api) {
    api.add("random() -> number", "A random number from 0 to 1, reproducible for a seed on every machine.", || {
        with(|state| Ok(state.random.unit()))
    });
    api.add(
        "random(low: number, high: number) -> number",
        "A random number in a range.",
        |low: Dynamic, high: Dynamic| {
            let (low, high) = (number(&low, "low")?, number(&high, "high")?);
            with(|state| Ok(low + (high - low) * state.random.unit()))
        },
    );
}

fn no_device() -> Fault {
    fault("the scene has no haptic device; add a `[haptic]` section")
}

fn load(request: Request) -> Result<(), Fault> {
    match submit(TrackRequest::Load(request))? {
        Go::Loaded(done) => done.map_err(refused),
        _ => Err(fault("this could not be loaded")),
    }
}

fn plain(name: &str) -> Result<String, Fault> {
    let fine = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if fine {
        Ok(name.into())
    } else {
        Err(fault(format!("`{name}`: a name consists of letters, digits, `_` and `-`")))
    }
}

fn remove(state: &mut State, name: &str) -> Result<(), Fault> {
    let body = state.body(name)?;
    state.scene.world.remove(body);
    state.starts.remove(name);
    state.watch.forget(body);
    Ok(())
}

/// Parses the value like a scene setting, and applies the part of the key.
fn set(key: &str, value: &Dynamic) -> Result<(), Fault> {
    let value = match value.read_lock::<Array>() {
        Some(array) => {
            let numbers = array.iter().map(|x| number(x, key)).collect::<Result<Vec<_>, _>>()?;
            format!("{numbers:?}")
        }
        None if value.is_int() || value.is_float() || value.is_bool() || value.is_string() => value.to_string(),
        None => return Err(fault(format!("`{key}`: expected a number or a word, found {}", found(value)))),
    };
    with(|state| {
        let read = parse_scene(&state.origin.file, "", &[Setting::new(key, value)]).map_err(|problems| {
            let said: Vec<_> = problems.0.iter().map(|problem| problem.message.clone()).collect();
            fault(format!("`{key}`: {}", said.join("; ")))
        })?;
        let (to, from) = (&mut state.scene.world.parameters, read.world.parameters);
        match key {
            "gravity" => to.gravity = from.gravity,
            "refactor" => to.refactor.when = from.refactor.when,
            "drift" => to.refactor.drift = from.refactor.drift,
            "friction" => to.contact.friction = from.contact.friction,
            "method" => to.contact.method = from.contact.method,
            "pressure" => to.contact.pressure = from.contact.pressure,
            "aggregate.patches" => to.contact.patches = from.contact.patches,
            "aggregate.split" => to.contact.split = from.contact.split,
            "aggregate.split_angle" => to.contact.split_angle = from.contact.split_angle,
            "contact.alarm" => to.contact.alarm = from.contact.alarm,
            "contact.offset" => to.contact.offset = from.contact.offset,
            "solver.tolerance" => to.solver.tolerance = from.solver.tolerance,
            "solver.iterations" => to.solver.iterations = from.solver.iterations,
            "solver.deadline_ms" => to.deadline = from.deadline,
            _ => {
                return Err(fault(format!("`{key}` cannot be changed while the world runs; use `--set {key}=…`")));
            }
        }
        Ok(())
    })
}
