use crate::assets::{Scene, Setting};
use crate::body::RigidBody;
use crate::contact::{Friction, Method, Pressure};
use crate::problem::FrictionModel;
use crate::viewer::window::Parameter;

/// Names of the pressure laws.
const PRESSURE_NAMES: [(&str, Pressure); 3] =
    [("nonuniform", Pressure::NonUniform), ("depth", Pressure::Depth), ("uniform", Pressure::Uniform)];

/// Parameters of a scene that the window can change.
pub fn of(scene: &Scene) -> Vec<Parameter> {
    let world = &scene.world;
    let mut parameters = Vec::new();
    let mut add = |key: String, label: String, value: f64, range: [f64; 2], [logarithmic, restarts]: [bool; 2]| {
        parameters.push(Parameter { key, label, value, range, logarithmic, restarts });
    };
    for name in world.materials.names() {
        if let Some(id) = world.materials.find(name) {
            let friction = world.materials.pair(id, id).rest;
            add(format!("material.{name}.friction"), format!("friction of {name}"), friction, [0.0, 2.0], [false; 2]);
        }
    }
    for (id, body) in world.bodies.of::<RigidBody>() {
        let (name, mass) = (world.bodies.name(id), body.mass());
        add(format!("body.{name}.mass"), format!("mass of {name}, kg"), mass, [0.005, 5.0], [true, true]);
    }
    if let Some(model) = scene.models().next() {
        let young = model.description.tissue.young;
        add("tissue.young".into(), "tissue, Pa".into(), young, [5e3, 1e6], [true, true]);
    }
    let gravity = world.parameters.gravity.norm();
    add("gravity".into(), "gravity, m/s²".into(), gravity, [0.0, 20.0], [false; 2]);
    let tolerance = world.parameters.solver.tolerance;
    add("solver.tolerance".into(), "solver tolerance".into(), tolerance, [1e-10, 1e-2], [true, false]);
    parameters
}

/// Names of the laws of contact: method, friction, pressure.
pub fn laws(scene: &Scene) -> [&'static str; 3] {
    let contact = &scene.world.parameters.contact;
    let pressure = PRESSURE_NAMES.iter().find(|(_, law)| *law == contact.pressure).map_or("", |(name, _)| name);
    [contact.method.name(), contact.friction.name(), pressure]
}

/// Changes a parameter between two steps; returns whether that is possible. Others need a restart.
pub fn change(scene: &mut Scene, setting: &Setting) -> bool {
    let world = &mut scene.world;
    let contact = &mut world.parameters.contact;
    let number = setting.value.parse::<f64>().ok().filter(|value| value.is_finite());
    match setting.key.as_str() {
        "method" => match setting.value.as_str() {
            "aggregate" => contact.method = Method::Aggregate,
            "point" => contact.method = Method::Point,
            _ => return false,
        },
        "friction" => {
            let Some(law) = FrictionModel::ALL.into_iter().find(|law| law.name() == setting.value) else {
                return false;
            };
            contact.friction = law;
        }
        "pressure" => {
            let Some((_, law)) = PRESSURE_NAMES.into_iter().find(|(name, _)| *name == setting.value) else {
                return false;
            };
            contact.pressure = law;
        }
        "gravity" => {
            let list = setting.value.trim_matches(['[', ']']).split(',').map(|x| x.trim().parse::<f64>());
            let Ok(Ok(values)) = list.collect::<Result<Vec<f64>, _>>().map(<[f64; 3]>::try_from) else { return false };
            world.parameters.gravity = values.into();
        }
        "solver.tolerance" => match number {
            Some(value) if value > 0.0 => world.parameters.solver.tolerance = value,
            _ => return false,
        },
        key => {
            let name = key.strip_prefix("material.").and_then(|key| key.strip_suffix(".friction"));
            let (Some(name), Some(value)) = (name, number.filter(|value| *value >= 0.0)) else { return false };
            let Some(id) = world.materials.find(name) else { return false };
            let old = world.materials.pair(id, id);
            // The ratio of dynamic to static friction is kept.
            let part = if old.rest > 0.0 { old.sliding / old.rest } else { 1.0 };
            world.materials.set(name, Friction { rest: value, sliding: part * value, ..old });
        }
    }
    true
}
