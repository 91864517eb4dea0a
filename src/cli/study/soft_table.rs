//! The soft table of Duriez 2006, fig. 6, as in `scenes/table.toml`, and with a shelf between its legs.

use std::sync::Arc;

use anyhow::Context;

use crate::body::fem::Continuum;
use crate::body::{Fixed, RigidShape, SoftBody};
use crate::contact::{Friction, Source};
use crate::hand::Material;
use crate::math::{Pose, Vec3};
use crate::mesh::{TetMesh, blocks};
use crate::problem::{ContactProblem, Law};
use crate::sim::{Parameters, World};

const TABLE_SIZE: [f64; 3] = [0.4, 0.25, 0.4];
const TABLE_CELLS: [usize; 3] = [8, 5, 8];
/// Width of a leg in cells.
const LEG: usize = 2;
/// Cell layer of the shelf, counted from the ground.
const SHELF: usize = 1;

/// Variant of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Build {
    /// Four legs and a top.
    Plain,
    /// A shelf near the ground connects the legs.
    Shelf,
}

impl Build {
    /// Both.
    pub const ALL: [Build; 2] = [Build::Plain, Build::Shelf];

    /// Name in tables and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Build::Plain => "plain",
            Build::Shelf => "shelf",
        }
    }
}

/// The mesh, centred at the origin.
pub fn mesh(build: Build) -> TetMesh {
    let in_leg = |i: usize, cells: usize| i < LEG || i + LEG >= cells;
    let mut mesh = blocks(&Vec3::from(TABLE_SIZE), TABLE_CELLS, |[i, j, k]| {
        let shelf = build == Build::Shelf && j == SHELF;
        shelf || j == TABLE_CELLS[1] - 1 || (in_leg(i, TABLE_CELLS[0]) && in_leg(k, TABLE_CELLS[2]))
    });
    mesh.nodes.iter_mut().for_each(|p| *p -= 0.5 * Vec3::from(TABLE_SIZE));
    mesh
}

/// The body at rest, standing on the plane Y = 0.
pub fn body(mesh: &TetMesh) -> SoftBody {
    let material = Material { young: 2e5, poisson: 0.3, density: 500.0, damping_mass: 0.0, damping_stiffness: 0.01 };
    let continuum = Continuum::new(mesh, &vec![false; mesh.nodes.len()], material);
    SoftBody::new(Arc::new(continuum), Pose::translation(0.0, 0.5 * TABLE_SIZE[1], 0.0))
}

/// The nodes of a leg's sole. Legs 0 and 1 differ in x, 0 and 2 in z.
pub fn sole(mesh: &TetMesh, leg: usize) -> Vec<usize> {
    let of_leg =
        |p: &Vec3| p.y < 1e-9 - 0.5 * TABLE_SIZE[1] && (p.x > 0.0) == (leg % 2 == 1) && (p.z > 0.0) == (leg / 2 == 1);
    (0..mesh.nodes.len()).filter(|&n| of_leg(&mesh.nodes[n])).collect()
}

/// Contact problem of the soles with the floor in the first step of a fall, with at most `per_leg` nodes per leg,
/// ordered by leg; each contact has a normal and two tangents.
pub fn sole_problem(build: Build, per_leg: usize, mu: f64) -> anyhow::Result<ContactProblem> {
    let mut world = World::new(Parameters::default());
    world.keeps_rows = true;
    world.materials.set("default", Friction::of(mu));
    world.add(body(&mesh(build)));
    world.add(Fixed::new(&RigidShape::Ground, Pose::identity())?);
    world.step();
    let group = world.system().groups().first().context("the table touches the floor")?;
    // First row of every contact, grouped by leg.
    let mut legs: [Vec<usize>; 4] = Default::default();
    for (&block, &first) in group.blocks.iter().zip(&group.starts) {
        if let Source::Point { contact, .. } = world.system().blocks[block].source {
            let place = world.proximity().contacts[contact].places[0];
            legs[usize::from(place.x > 0.0) + 2 * usize::from(place.z > 0.0)].push(first);
        }
    }
    let rows: Vec<usize> =
        legs.iter().flat_map(|leg| leg.iter().take(per_leg)).flat_map(|&first| first..first + 3).collect();
    let whole = &group.problem;
    Ok(ContactProblem {
        delassus: rows.iter().flat_map(|&r| rows.iter().map(move |&c| whole.w(r, c))).collect(),
        free: rows.iter().map(|&r| whole.free[r]).collect(),
        laws: vec![Law::Coulomb { mu }; rows.len() / 3],
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::assets::load_builtin_scene;

    #[test]
    fn the_table_matches_the_shipped_scene() {
        let scene = load_builtin_scene("table", &[]).expect("a shipped scene").expect("a sound one");
        let own = body(&mesh(Build::Plain));
        let shipped = scene.world.bodies.of::<SoftBody>().next().expect("a soft body").1;
        assert_eq!(own.model().material(), shipped.model().material());
        assert_eq!(own.positions(), shipped.positions());
    }

    #[test]
    fn every_leg_has_its_sole() {
        for build in Build::ALL {
            let mesh = mesh(build);
            mesh.check().expect("a sound mesh");
            let nodes: Vec<usize> = (0..4).flat_map(|leg| sole(&mesh, leg)).collect();
            assert_eq!(nodes.len(), 4 * (LEG + 1) * (LEG + 1));
        }
    }
}
