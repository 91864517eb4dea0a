use super::bodies::{read_file, read_motion};
use super::materials::read_material;
use super::place::read_place;
use super::{Cost, Scene, ranges};
use crate::assets::files::Files;
use crate::assets::problem::Problems;
use crate::assets::table::Table;
use crate::body::{ElasticBody, ElasticBodyOptions};
use crate::elastic::{
    Compass, DuffingLaw, ElasticError, ElasticOptions, ElasticShape, FrictionLaw, Inclusion, Mallet, Profile,
    SolidMaterial, Tool,
};
use crate::math::Pose;

const ELASTIC_SHAPES: [&str; 5] = ["box", "ball", "ellipsoid", "capsule", "profile"];
const TOOLS: [&str; 4] = ["ball", "mallet", "compass", "mesh"];
/// Triangles of the surface.
const DEFAULT_TRIANGLES: usize = 2000;
/// Distance of the points of a tool, m.
const DEFAULT_SPACING: f64 = 1.5e-3;

/// Reads an elastic object, and its tool if it has one.
pub fn read_elastic(name: &str, table: &Table<'_>, scene: &mut Scene, files: &Files, problems: &mut Problems) {
    let shape = read_shape(table);
    let pose = read_place(table, &Pose::identity());
    let (linear, angular) = read_motion(table);
    let material = read_material(table, &scene.world.materials);
    let default = ElasticBodyOptions::default();
    let options = ElasticBodyOptions {
        density: table.number_or("density", default.density, ranges::DENSITY),
        area: table.number_or("area", default.area, ranges::CONTACT_AREA),
        damping: table.number_or("damping", default.damping, ranges::SURFACE_DAMPING),
        fixed: table.flag_or("fixed", false),
    };
    let (law, friction, solid) = (read_law(table), read_friction(table), read_solid(table, &SolidMaterial::RUBBER));
    let triangles = table.count_or("triangles", DEFAULT_TRIANGLES, ranges::TRIANGLES);
    let [link, neighbourhood] = ["link", "neighbourhood"].map(|key| table.number_if_any(key, ranges::REACH));
    let inclusions = read_inclusions(table, &solid);
    let held = table.table_if_any("tool").map(|tool| (read_tool(&tool, files, problems), tool));
    let is_wrong = ["size", "radius", "semi_axes", "length"].iter().any(|key| table.is_wrong(key));
    let Some(shape) = shape.filter(|_| !is_wrong) else { return };
    let mut model =
        ElasticOptions { triangles, law, friction, material: solid, inclusions, ..ElasticOptions::new(shape) };
    model.link = link.unwrap_or(model.link);
    model.neighbourhood = neighbourhood.unwrap_or(model.neighbourhood);
    if held.is_some() && !options.fixed {
        table.complain("tool", "a tool touches only an object that does not move; add `fixed = true`");
        return;
    }
    if !scene.has_room(table, Cost::of_surface(triangles)) {
        return;
    }
    let body = ElasticBody::new(model, options, pose);
    let Some(body) = body.map_err(|error| table.complain(key_of(&error), error.to_string())).ok() else { return };
    let body = match held {
        None => Some(body),
        Some((None, _)) => None,
        Some((Some((tool, at)), own)) => {
            let held = body.with_tool(tool, at);
            held.map_err(|error| own.complain(tool_key_of(&error), error.to_string())).ok()
        }
    };
    let Some(mut body) = body else { return };
    body.set_velocity(linear, angular);
    crate::body::Body::set_material(&mut body, material);
    scene.world.add_named(name, body);
}

fn read_shape(table: &Table<'_>) -> Option<ElasticShape> {
    let which = table.choice("shape", &ELASTIC_SHAPES);
    if !table.has("shape") {
        return None;
    }
    let size = |key: &str| table.number(key, ranges::SIZE);
    Some(match ELASTIC_SHAPES[which] {
        "box" => ElasticShape::Box { half: 0.5 * table.vector("size", ranges::SIZE) },
        "ball" => ElasticShape::Ball { radius: size("radius") },
        "ellipsoid" => ElasticShape::Ellipsoid { semi: table.vector("semi_axes", ranges::SIZE) },
        "capsule" => ElasticShape::Capsule { radius: size("radius"), half_length: 0.5 * size("length") },
        _ => {
            let points = table.points("points", ranges::PLACE);
            if points.iter().any(|p| p.z != 0.0) {
                table.complain("points", "a profile lies in a plane; expected `[radius, height, 0]`");
            }
            if table.is_wrong("points") || !table.has("points") {
                return None;
            }
            let vertices: Vec<[f64; 2]> = points.iter().map(|p| [p.x, p.y]).collect();
            let profile = Profile::new(&vertices);
            ElasticShape::Revolved(profile.map_err(|error| table.complain("points", error.to_string())).ok()?)
        }
    })
}

/// The Duffing law (Luo 2007, eq. 1) with its parameters times the mass.
fn read_law(table: &Table<'_>) -> DuffingLaw {
    let default = DuffingLaw::default();
    DuffingLaw {
        mass: 1.0,
        linear: table.number_or("stiffness", default.mass * default.linear, ranges::STIFFNESS),
        cubic: table.number_or("hardening", default.mass * default.cubic, ranges::HARDENING),
    }
}

fn read_friction(table: &Table<'_>) -> FrictionLaw {
    let default = FrictionLaw::default();
    FrictionLaw {
        coefficient: table.number_or("static_friction", default.coefficient, ranges::STATIC_FRICTION),
        exponent: table.number_or("friction_exponent", default.exponent, ranges::FRICTION_EXPONENT),
        dynamic: table.number_or("dynamic_friction", default.dynamic, ranges::FRICTION),
        ..default
    }
}

fn read_solid(table: &Table<'_>, default: &SolidMaterial) -> SolidMaterial {
    SolidMaterial {
        young: table.number_or("young", default.young, ranges::YOUNG),
        poisson: table.number_or("poisson", default.poisson, ranges::ELASTIC_POISSON),
    }
}

fn read_inclusions(table: &Table<'_>, outside: &SolidMaterial) -> Vec<Inclusion> {
    let read = |own: Table<'_>| {
        let inclusion = Inclusion {
            centre: own.numbers_or("centre", [0.0; 3], ranges::PLACE).into(),
            radius: own.number("radius", ranges::SIZE),
            material: read_solid(&own, outside),
        };
        own.finish();
        inclusion
    };
    table.tables("inclusions").into_iter().map(read).collect()
}

fn read_tool(table: &Table<'_>, files: &Files, problems: &mut Problems) -> Option<(Tool, Pose)> {
    let which = table.choice("shape", &TOOLS);
    let at = read_place(table, &Pose::identity());
    let spacing = table.number_or("spacing", DEFAULT_SPACING, ranges::SPACING);
    let size = |key: &str, default: f64| table.number_or(key, default, ranges::SIZE);
    if !table.has("shape") {
        return None;
    }
    let tool = match TOOLS[which] {
        "ball" => Tool::ball(table.number("radius", ranges::SIZE), spacing),
        "mallet" => {
            let d = Mallet::default();
            let mallet = Mallet {
                head_radius: size("head_radius", d.head_radius),
                head_length: size("head_length", d.head_length),
                handle_radius: size("handle_radius", d.handle_radius),
                handle_length: size("handle_length", d.handle_length),
            };
            Tool::mallet(&mallet, spacing)
        }
        "compass" => {
            let d = Compass::default();
            let compass = Compass {
                spread: size("spread", d.spread),
                leg: size("leg", d.leg),
                pin_radius: size("pin_radius", d.pin_radius),
            };
            Tool::compass(&compass, spacing)
        }
        _ => Tool::from_mesh(&read_file(table, files, problems, Files::load_surface_mesh)?, spacing),
    };
    table.finish();
    let tool = tool.map_err(|error| table.complain(tool_key_of(&error), error.to_string())).ok()?;
    Some((tool, at))
}

fn key_of(error: &ElasticError) -> &'static str {
    match error {
        ElasticError::ConcaveProfile { .. } | ElasticError::OpenProfile => "points",
        ElasticError::NoAnchorInReach { .. } => "neighbourhood",
        ElasticError::InclusionOutside { .. } | ElasticError::InclusionsOverlap { .. } => "inclusions",
        ElasticError::OutOfRange { what, .. } if what.contains("r_th") => "link",
        ElasticError::OutOfRange { what, .. } if what.contains("r_R") => "neighbourhood",
        // The default C_n is too large for a wide neighbourhood.
        ElasticError::OutOfRange { what, .. } if what.contains("C_n") => "neighbourhood",
        _ => "shape",
    }
}

fn tool_key_of(error: &ElasticError) -> &'static str {
    match error {
        ElasticError::ConcavePiece { .. } | ElasticError::OpenPiece { .. } => "file",
        ElasticError::SparseTool { .. } => "spacing",
        ElasticError::OutOfRange { what, .. } if what.contains("points") => "spacing",
        ElasticError::OutOfRange { what, .. } if what.contains("handle") => "handle_length",
        ElasticError::OutOfRange { what, .. } if what.contains("leg") => "leg",
        _ => "shape",
    }
}
