use rhai::{Array, Dynamic, Map};

use super::arguments::{body_name, found, number, number_in};
use super::toml::{document, table};
use super::{Api, BodyRef, HandRef};
use crate::assets::{Setting, parse_scene};
use crate::body::BodyKind;
use crate::contact::Friction;
use crate::script::limits::MATERIALS;
use crate::script::load::{Refusal, Request};
use crate::script::memory;
use crate::script::state::State;
use crate::script::track::{Ask, Fault, Go, ask, fault, refused, with};

pub fn register(api: &mut Api) {
    api.subject("World");
    api.engine
        .register_type_with_name::<Refusal>("Refusal")
        .register_fn("to_string", |refusal: Refusal| refusal.shown)
        .register_fn("to_debug", |refusal: Refusal| refusal.shown);
    api.add(
        "scene(name: string)",
        "Loads a scene by its name, from beside the script, from `scenes/`, or a shipped one.",
        |name: &str| load(Request::Scene(name.into())),
    );
    api.add(
        "scene(description: map)",
        "Sets a scene up; the map has the keys of a scene file, as `#{ hand: #{ right: #{} } }`.",
        |description: Map| load(Request::Inline(with(|state| document(&description, &state.origin))?)),
    );
    api.add("hand(name: string) -> Hand", "A hand of the scene.", |name: &str| {
        with(|state| state.hand(name).map(|_| HandRef(name.into())))
    });
    api.add("body(name: string) -> Body", "A body of the scene.", |name: &str| {
        with(|state| state.body(name).map(|_| BodyRef(name.into())))
    });
    api.add("bodies() -> array", "All bodies of the scene that are not fixed.", || {
        with(|state| {
            let names = state.scene.names.rigid.iter().chain(&state.scene.names.soft);
            Ok(names.map(|name| Dynamic::from(BodyRef(name.into()))).collect::<Array>())
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
        "Adds a hand; the map has the keys of `[hand.NAME]` in a scene file; `file` is a name in `hands/`, as `left`.",
        |name: &str, description: Map| {
            load(Request::Hand(plain(name)?, with(|state| table(&description, &state.origin, "hand"))?))?;
            Ok::<_, Fault>(HandRef(name.into()))
        },
    );
    api.add("remove(body: Body)", "Takes a body out of the world.", |body: Dynamic| {
        let name = body_name(&body)?;
        with(|state| memory::uncounted(|| remove(state, &name)))
    });
    api.add("exists(name: string) -> bool", "Whether there is a hand or a body of that name.", |name: &str| {
        with(|state| Ok(state.find_body(name).is_some() || state.scene.hand(name).is_some()))
    });
    api.add(
        "material(name: string, friction: number)",
        "Sets the friction of a material, at rest and sliding; a new name makes a new material.",
        |name: &str, friction: Dynamic| {
            let friction = Friction::of(number_in(&friction, "friction", 0.0, 10.0)?);
            with(|state| {
                let materials = &mut state.scene.world.materials;
                if materials.find(name).is_none() && materials.names().count() >= MATERIALS {
                    return Err(fault(format!("there may be {MATERIALS} materials")));
                }
                materials.set(name, friction);
                Ok(())
            })
        },
    );
    api.add(
        "set(key: string, value)",
        "Changes how the simulation goes on: `friction`, `method`, `pressure`, `gravity`, `refactor`, `drift`, \
         `aggregate.patches`, `aggregate.split`, `aggregate.split_angle`, `contact.alarm`, `contact.offset`, `solver.tolerance`, \
         `solver.iterations` or `solver.deadline_ms`.",
        |key: &str, value: Dynamic| set(key, &value),
    );
    api.add("contacts() -> number", "Contacts that took part in the last step.", || {
        with(|state| Ok(state.scene.world.statistics().contacts as i64))
    });
    api.add("penetration() -> number", "Depth of the deepest point that the last step left inside a body, m.", || {
        with(|state| Ok(state.scene.world.statistics().penetration))
    });
    api.add("random() -> number", "A random number from 0 to 1; the same for the same seed, on every machine.", || {
        with(|state| Ok(state.random.unit()))
    });
    api.add(
        "random(low: number, high: number) -> number",
        "A random number between two.",
        |low: Dynamic, high: Dynamic| {
            let (low, high) = (number(&low, "low")?, number(&high, "high")?);
            with(|state| Ok(low + (high - low) * state.random.unit()))
        },
    );
    api.note("print(line)", "Says something on the terminal, with the time.");
}

fn load(request: Request) -> Result<(), Fault> {
    match ask(Ask::Load(request))? {
        Go::Loaded(done) => done.map_err(refused),
        _ => Err(fault("this was not loaded")),
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
    if !state.scene.world.attachments.is_empty() {
        return Err(fault("bodies cannot be removed from a world in which some are attached to each other"));
    }
    let kind = state.body(name)?;
    state.keep_last_step();
    let (scene, bodies) = (&mut state.scene.names, &mut state.scene.world.bodies);
    match kind {
        BodyKind::Rigid(i) => {
            bodies.rigid.remove(i);
            scene.rigid.remove(i);
        }
        BodyKind::Soft(i) => {
            bodies.soft.remove(i);
            scene.soft.remove(i);
            state.scene.soft_meshes.remove(i);
        }
        BodyKind::Fixed(i) => {
            bodies.fixed.remove(i);
            scene.fixed.remove(i);
        }
        BodyKind::Skeleton(_) | BodyKind::Tissue(..) => return Err(fault("a hand cannot be removed")),
    }
    state.starts.remove(name);
    // Bodies go by their numbers there, and these have changed.
    state.watch.forget(kind);
    state.last_step.iter_mut().for_each(|last| last.forget(kind));
    Ok(())
}

/// Reads the value as a scene would be set by it, and takes over what belongs to the key.
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
