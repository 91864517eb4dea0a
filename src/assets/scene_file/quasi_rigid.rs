use super::bodies::read_motion;
use super::materials::read_material;
use super::place::read_place;
use super::soft::read_soft_mesh;
use super::{Cost, Scene, ranges};
use crate::assets::files::Files;
use crate::assets::problem::Problems;
use crate::assets::table::Table;
use crate::body::{QuasiRigidBody, QuasiRigidFault, ShapeFault, StaticFault};
use crate::hand::{Material, ranges as tissue};
use crate::math::{Pose, Vec3};
use crate::mesh::TetMesh;

/// Material of a body that names none: polyethylene (Duriez 2006, §7.2).
const DEFAULT_YOUNG: f64 = 700e6;
const DEFAULT_POISSON: f64 = 0.35;
const DEFAULT_DENSITY: f64 = 950.0;
/// Maximum number of vertices of the surface: the compliance is a full matrix.
const MOST_VERTICES: usize = 1000;

/// Reads a quasi-rigid body.
pub fn read_quasi_rigid(name: &str, table: &Table<'_>, scene: &mut Scene, files: &Files, problems: &mut Problems) {
    let mesh = read_soft_mesh(table, files, problems);
    let pose = read_place(table, &Pose::identity());
    let (linear, angular) = read_motion(table);
    let mass = table.number_if_any("mass", ranges::MASS);
    let density = table.number_if_any("density", ranges::DENSITY);
    if mass.is_some() && density.is_some() {
        table.complain("density", "`mass` and `density` exclude each other; leave one out");
    }
    let material = Material {
        young: table.number_or("young", DEFAULT_YOUNG, ranges::BEAM_YOUNG),
        poisson: table.number_or("poisson", DEFAULT_POISSON, tissue::POISSON),
        density: density.unwrap_or(DEFAULT_DENSITY),
        ..Material::default()
    };
    let held = table.has("held").then(|| table.points("held", ranges::PLACE));
    let surface = read_material(table, &scene.world.materials);
    let Some(mesh) = mesh else { return };
    let vertices = mesh.boundary().0.vertices.len();
    if vertices > MOST_VERTICES {
        let key = if table.has("cells") { "cells" } else { "shape" };
        table.complain(key, format!("the surface has {vertices} vertices; expected at most {MOST_VERTICES}"));
        return;
    }
    if !scene.has_room(table, Cost::of_surface_compliance(vertices)) {
        return;
    }
    let Some(held) = held_nodes(table, &mesh, held.as_deref()) else { return };
    match QuasiRigidBody::new(&mesh, &held, material, mass, pose) {
        Ok(mut body) => {
            body.set_velocity(linear, angular);
            crate::body::Body::set_material(&mut body, surface);
            scene.world.add_named(name, body);
        }
        Err(fault) => table.complain(key_of(fault), fault.to_string()),
    }
}

/// Which nodes are in the box with two given corners.
fn held_nodes(table: &Table<'_>, mesh: &TetMesh, corners: Option<&[Vec3]>) -> Option<Vec<bool>> {
    let Some(corners) = corners else { return Some(vec![false; mesh.nodes.len()]) };
    if table.is_wrong("held") {
        return None;
    }
    let &[a, b] = corners else {
        table.complain("held", format!("{} points; expected two opposite corners of a box", corners.len()));
        return None;
    };
    let (low, high) = (a.inf(&b), a.sup(&b));
    let inside = |p: &Vec3| (0..3).all(|i| low[i] <= p[i] && p[i] <= high[i]);
    let held: Vec<bool> = mesh.nodes.iter().map(inside).collect();
    let count = held.iter().filter(|held| **held).count();
    if count < 3 {
        let message = format!("the box holds {count} of the {} nodes; at least 3 must be in it", mesh.nodes.len());
        table.complain("held", message);
        return None;
    }
    Some(held)
}

fn key_of(fault: QuasiRigidFault) -> &'static str {
    match fault {
        QuasiRigidFault::Static(StaticFault::AllHeld) => "held",
        QuasiRigidFault::Shape(ShapeFault::Mass) => "mass",
        _ => "shape",
    }
}
