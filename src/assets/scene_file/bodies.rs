use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use super::beam::read_beam;
use super::elastic::read_elastic;
use super::materials::read_material;
use super::place::read_place;
use super::quasi_rigid::read_quasi_rigid;
use super::samples::sampled;
use super::soft::read_soft_mesh;
use super::{Cost, Scene, ranges};
use crate::assets::files::Files;
use crate::assets::problem::Problems;
use crate::assets::table::Table;
use crate::body::fem::Continuum;
use crate::body::{Body, Fixed, RigidBody, RigidShape, ShapeFault, SoftBody};
use crate::hand::{Material, ranges as tissue};
use crate::math::{Pose, Vec3};

const BODY_KINDS: [&str; 6] = ["rigid", "fixed", "soft", "quasi_rigid", "beam", "elastic"];
/// Shapes of rigid bodies; fixed ones may also be the ground.
const RIGID_SHAPES: [&str; 7] = ["box", "ball", "capsule", "cylinder", "hull", "mesh", "ground"];
/// Default density of a rigid body, kg/m³: that of water.
const WATER_DENSITY: f64 = 1000.0;

/// Reads `[body.NAME]` and adds the bodies to the world of a scene.
pub fn read_bodies(root: &Table<'_>, scene: &mut Scene, files: &Files, problems: &mut Problems) {
    for (name, table) in root.named("body") {
        match BODY_KINDS[table.choice("kind", &BODY_KINDS)] {
            _ if !table.has("kind") => continue,
            "rigid" => read_rigid(name, &table, scene, files, problems),
            "fixed" => read_fixed(name, &table, scene, files, problems),
            "beam" => read_beam(name, &table, scene),
            "quasi_rigid" => read_quasi_rigid(name, &table, scene, files, problems),
            "elastic" => read_elastic(name, &table, scene, files, problems),
            _ => read_soft(name, &table, scene, files, problems),
        }
        read_colour(name, &table, &mut scene.colours);
        let opacity = table.number_or("opacity", 1.0, ranges::OPACITY);
        if opacity < 1.0 {
            scene.opacities.insert(name.into(), opacity);
        }
        table.finish();
    }
}

fn read_colour(name: &str, table: &Table<'_>, colours: &mut BTreeMap<String, [f64; 3]>) {
    if table.has("colour") {
        colours.insert(name.into(), table.numbers("colour", ranges::COLOUR));
    }
}

fn read_rigid(name: &str, table: &Table<'_>, scene: &mut Scene, files: &Files, problems: &mut Problems) {
    let shape = read_shape(table, &RIGID_SHAPES[..6], files, problems);
    let pose = read_place(table, &Pose::identity());
    let (linear, angular) = read_motion(table);
    let material = read_material(table, &scene.world.materials);
    let mass = table.number_if_any("mass", ranges::MASS);
    let density = table.number_if_any("density", ranges::DENSITY);
    if mass.is_some() && density.is_some() {
        table.complain("density", "`mass` and `density` exclude each other; leave one out");
    }
    let samples = table.has("samples").then(|| table.count("samples", ranges::SAMPLES));
    let Some(shape) = shape else { return };
    if !scene.has_room(table, Cost::of_shape(&shape, samples)) {
        return;
    }
    let body = match mass {
        Some(mass) => RigidBody::with_mass(&shape, mass, pose),
        None => RigidBody::new(&shape, density.unwrap_or(WATER_DENSITY), pose),
    };
    let Some(mut body) = sound(table, body) else { return };
    body.set_velocity(linear, angular);
    body.material = material;
    if let Some(mesh) = samples.and_then(|count| sampled(&shape, count)) {
        body.set_samples(mesh);
    }
    scene.world.add_named(name, body);
}

fn read_fixed(name: &str, table: &Table<'_>, scene: &mut Scene, files: &Files, problems: &mut Problems) {
    let shape = read_shape(table, &RIGID_SHAPES, files, problems);
    let pose = read_place(table, &Pose::identity());
    let material = read_material(table, &scene.world.materials);
    let Some(shape) = shape.filter(|shape| scene.has_room(table, Cost::of_shape(shape, None))) else { return };
    let Some(mut body) = sound(table, Fixed::new(&shape, pose)) else { return };
    body.material = material;
    scene.world.add_named(name, body);
}

fn read_soft(name: &str, table: &Table<'_>, scene: &mut Scene, files: &Files, problems: &mut Problems) {
    let mesh = read_soft_mesh(table, files, problems);
    let pose = read_place(table, &Pose::identity());
    let (linear, angular) = read_motion(table);
    let default = Material::default();
    let material = Material {
        young: table.number_or("young", default.young, ranges::YOUNG),
        poisson: table.number_or("poisson", default.poisson, tissue::POISSON),
        density: table.number_or("density", default.density, tissue::DENSITY),
        damping_mass: table.number_or("damping_mass", default.damping_mass, tissue::DAMPING_MASS),
        damping_stiffness: table.number_or("damping_stiffness", default.damping_stiffness, tissue::DAMPING_STIFFNESS),
    };
    let surface = read_material(table, &scene.world.materials);
    let Some(mesh) = mesh.filter(|mesh| scene.has_room(table, Cost::of_mesh(mesh))) else { return };
    let continuum = Continuum::new(&mesh, &vec![false; mesh.nodes.len()], material);
    let mut body = SoftBody::new(Arc::new(continuum), pose);
    let centre = body.centre();
    body.set_nodes(|_, x, v| *v = linear + angular.cross(&(*x - centre)));
    body.material = surface;
    scene.world.add_named(name, body);
}

/// Velocity of the centre of mass and angular velocity, rad/s.
pub fn read_motion(table: &Table<'_>) -> (Vec3, Vec3) {
    let linear = table.numbers_or("velocity", [0.0; 3], ranges::VELOCITY);
    let angular = table.numbers_or("spin", [0.0; 3], ranges::SPIN).map(f64::to_radians);
    (linear.into(), angular.into())
}

fn read_shape(table: &Table<'_>, known: &[&str], files: &Files, problems: &mut Problems) -> Option<RigidShape> {
    let which = table.choice("shape", known);
    if !table.has("shape") {
        return None;
    }
    let size = |key: &str| table.number(key, ranges::SIZE);
    Some(match known[which] {
        "box" => RigidShape::Box(0.5 * table.vector("size", ranges::SIZE)),
        "ball" => RigidShape::Ball(size("radius")),
        "capsule" => RigidShape::Capsule(0.5 * size("length"), size("radius")),
        "cylinder" => RigidShape::Cylinder(0.5 * size("height"), size("radius")),
        "hull" => RigidShape::Hull(table.points("points", ranges::PLACE)),
        "mesh" => RigidShape::Mesh(read_file(table, files, problems, Files::load_surface_mesh)?),
        _ => RigidShape::Ground,
    })
}

/// The mesh in `file`, times `scale`, if it can be read.
pub fn read_file<T>(
    table: &Table<'_>,
    files: &Files,
    problems: &mut Problems,
    load: impl FnOnce(&Files, &Path, f64) -> Result<T, Problems>,
) -> Option<T> {
    let named = table.has("file");
    let file = table.path("file");
    let scale = table.number_or("scale", 1.0, ranges::SCALE);
    if !named {
        return None;
    }
    if let Some(why) = files.why_absent(&file) {
        table.complain("file", why);
        return None;
    }
    load(files, &file, scale).map_err(|Problems(found)| problems.0.extend(found)).ok()
}

fn sound<T>(table: &Table<'_>, body: Result<T, ShapeFault>) -> Option<T> {
    body.map_err(|fault| {
        let key = match fault {
            ShapeFault::FlatHull => "points",
            ShapeFault::OpenMesh => "file",
            ShapeFault::Mass => "mass",
            ShapeFault::Size => "shape",
        };
        table.complain(key, fault.to_string());
    })
    .ok()
}
