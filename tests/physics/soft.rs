//! Soft bodies: rest states, and recovery from compression.

use crate::common;

use common::Ordered;
use std::path::Path;
use std::sync::Arc;

use fingerpad::assets::parse_scene;
use fingerpad::body::fem::Continuum;
use fingerpad::body::{Fixed, Part, Refactor, RefactorPolicy, RigidShape, SoftBody, Step};
use fingerpad::contact::Friction;
use fingerpad::hand::Material;
use fingerpad::math::{Pose, Quat, Random, Vec3};
use fingerpad::mesh::block;
use fingerpad::sim::{Parameters, Status, World};

const STEPS: [f64; 4] = [0.01, 0.005, 0.002, 0.001];

const SOFT: Material =
    Material { young: 2e4, poisson: 0.4, density: 1000.0, damping_mass: 2.0, damping_stiffness: 0.03 };

fn step(h: f64, when: Refactor, gravity: Vec3) -> Step {
    Step { h, time: 0.0, gravity, refactor: RefactorPolicy { when, ..Default::default() } }
}

fn farthest(a: &[Vec3], b: &[Vec3]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).norm()).fold(0.0, f64::max)
}

/// A bar that is held at one end hangs down by half of its length: elements turn far. Where it ends is where its elastic forces are in
/// balance with its weight, whenever the matrix of the step was made, and for every step length.
#[test]
fn equilibrium_does_not_depend_on_refactorisation_or_step_length() {
    let mesh = block(&Vec3::new(0.12, 0.03, 0.03), [6, 2, 2]);
    let held: Vec<bool> = mesh.nodes.iter().map(|p| p.x < 1e-9).collect();
    let model = Arc::new(Continuum::new(&mesh, &held, SOFT));
    let gravity = Vec3::new(0.0, -9.81, 0.0);
    let mut ends: Vec<Vec<Vec3>> = Vec::new();
    for h in STEPS {
        for when in [Refactor::Always, Refactor::Drift, Refactor::Never] {
            let mut bar = SoftBody::new(model.clone(), Pose::identity());
            for _ in 0..(6.0 / h) as usize {
                bar.free_motion(&step(h, when, gravity));
                bar.advance(h);
            }
            let tip = mesh.nodes.iter().zip(bar.positions()).map(|(rest, now)| rest.y - now.y).fold(0.0, f64::max);
            println!("{h} s, {when:?}: tip down by {tip:.9} m, {} factors", bar.state().refactorisations());
            assert!(tip > 0.06, "bent far: {tip} m");
            ends.push(bar.positions().to_vec());
        }
    }
    let apart = ends.iter().map(|end| farthest(end, &ends[0])).fold(0.0, f64::max);
    println!("apart by {apart:.1e} m at most");
    assert!(apart < 1e-9, "{apart:e} m apart");
}

/// The same with contact: a block on a smooth floor under fifty times its weight.
#[test]
fn the_rest_state_of_a_block_does_not_depend_on_refactorisation() {
    let mesh = block(&Vec3::new(0.06, 0.03, 0.06), [4, 2, 4]);
    let model = Arc::new(Continuum::new(&mesh, &vec![false; mesh.nodes.len()], SOFT));
    let mut ends: Vec<Vec<Vec3>> = Vec::new();
    for h in STEPS {
        for when in [Refactor::Always, Refactor::Drift, Refactor::Never] {
            let mut world =
                World::new(Parameters { dt: h, gravity: Vec3::new(0.0, -500.0, 0.0), ..Default::default() });
            world.parameters.refactor.when = when;
            world.materials.set("default", Friction::of(0.0));
            world.bodies.add(Fixed::new(&RigidShape::Ground, Pose::identity()).expect("the ground"));
            world.bodies.add(SoftBody::new(model.clone(), Pose::translation(0.0, 1e-5, 0.0)));
            for _ in 0..(4.0 / h) as usize {
                assert_eq!(world.step().status, Status::Done);
            }
            let body = world.bodies.soft(0);
            let height = body.positions().iter().map(|x| x.y).fold(0.0, f64::max);
            println!("{h} s, {when:?}: {height:.9} m high, {} factors", body.state().refactorisations());
            assert!(height < 0.026 && height > 0.012, "{height} m");
            // Nothing constrains it along the floor.
            ends.push(body.positions().iter().map(|x| Vec3::new(0.0, x.y, 0.0)).collect());
        }
    }
    let apart = ends.iter().map(|end| farthest(end, &ends[0])).fold(0.0, f64::max);
    println!("apart by {apart:.1e} m at most");
    assert!(apart < 1e-9, "{apart:e} m apart");
}

fn crushed(name: &str, body: &mut SoftBody) {
    let (centre, mut random) = (Vec3::new(0.03, 0.02, 0.02), Random::new(7, 0));
    let noise: Vec<Vec3> =
        (0..body.positions().len()).map(|_| Vec3::from_fn(|_, _| 2.0 * random.unit() - 1.0)).collect();
    body.set_nodes(|node, x, _| {
        *x = match name {
            "flat" => Vec3::new(x.x, centre.y, x.z),
            "flat and stirred" => Vec3::new(x.x, centre.y, x.z) + 0.01 * noise[node],
            "a line" => Vec3::new(x.x, centre.y, centre.z) + 1e-4 * noise[node],
            _ => *x + 0.02 * noise[node],
        }
    });
}

/// A compressed block recovers its shape: distances between its nodes are those at rest, and no element is inverted.
#[test]
fn a_crushed_block_recovers_its_shape() {
    let mesh = block(&Vec3::new(0.06, 0.04, 0.04), [3, 2, 2]);
    for poisson in [0.3, 0.45] {
        let material = Material { poisson, ..SOFT };
        let model = Arc::new(Continuum::new(&mesh, &vec![false; mesh.nodes.len()], material));
        for name in ["flat", "flat and stirred", "a line", "stirred"] {
            for h in STEPS {
                let mut body = SoftBody::new(model.clone(), Pose::identity());
                crushed(name, &mut body);
                let before = body.inverted();
                let mut fastest = 0.0f64;
                for _ in 0..(6.0 / h) as usize {
                    body.free_motion(&step(h, Refactor::Drift, Vec3::zeros()));
                    body.advance(h);
                    fastest = body.velocities().iter().map(|v| v.norm()).fold(fastest, f64::max);
                }
                let x = body.positions();
                let pairs = (0..x.len()).flat_map(|i| (0..i).map(move |j| (i, j)));
                let off = pairs
                    .map(|(i, j)| ((x[i] - x[j]).norm() - (mesh.nodes[i] - mesh.nodes[j]).norm()).abs())
                    .fold(0.0, f64::max);
                println!(
                    "ν {poisson}, {name}, {h} s: {before} inverted before, {} after, off by {off:.1e} m, {fastest:.2} m/s",
                    body.inverted()
                );
                assert_eq!(body.inverted(), 0, "{name}");
                assert!(off < 1e-6, "{name}: {off:e} m");
                assert!(fastest < 20.0, "{name}: {fastest} m/s");
            }
        }
    }
}

/// A ball far too heavy for its stiffness, dropped, and one that spins faster than it can hold together: crushed in the impact, but every
/// element recovers and every step converges.
#[test]
fn balls_within_the_scene_limits_are_valid() {
    for (name, lines) in [
        ("heavy", "density = 10000\nposition = [0, 0.2, 0]"),
        ("spinning", "spin = [3600, 0, 0]\nposition = [0, 0.3, 0]"),
    ] {
        for h in STEPS {
            let text = format!(
                "seconds = 2\n[body.s]\nkind = \"soft\"\nshape = \"ball\"\nradius = 0.05\nyoung = 1000\n{lines}\n\
                 [body.ground]\nkind = \"fixed\"\nshape = \"ground\"\n"
            );
            let mut scene = parse_scene(Path::new("ball.toml"), &text, &[]).expect("a scene");
            scene.world.parameters.dt = h;
            let (mut unconverged, mut fastest) = (0, 0.0f64);
            for _ in 0..(2.0 / h) as usize {
                assert_eq!(scene.world.step().status, Status::Done);
                unconverged += scene.world.statistics().unconverged;
                let speeds = scene.world.bodies.soft(0).velocities().iter().map(|v| v.norm());
                fastest = speeds.fold(fastest, f64::max);
            }
            let inverted = scene.world.bodies.soft(0).inverted();
            println!("{name}, {h} s: {unconverged} unconverged, {inverted} inverted at the end, {fastest:.2} m/s");
            assert_eq!((unconverged, inverted), (0, 0), "{name} at {h} s");
            assert!(fastest < 10.0, "{name} at {h} s: {fastest} m/s");
        }
    }
}

/// Where edges of two soft bars cross between their vertices, no vertex meets a face. The upper bar lies on the lower one all the same.
#[test]
fn soft_bars_touch_where_their_edges_cross() {
    // An odd number of cells: no vertex is at the middle of an edge.
    let mesh = block(&Vec3::new(0.12, 0.03, 0.03), [5, 2, 2]);
    let centre = Vec3::new(0.06, 0.015, 0.015);
    let held: Vec<bool> = mesh.nodes.iter().map(|p| (p.y - 0.015).abs() + (p.z - 0.015).abs() < 1e-9).collect();
    let lower = Arc::new(Continuum::new(&mesh, &held, SOFT));
    let upper = Arc::new(Continuum::new(&mesh, &vec![false; mesh.nodes.len()], SOFT));
    let eighth = std::f64::consts::FRAC_PI_4;
    let diagonal = 0.03 * 2f64.sqrt();
    for dt in STEPS {
        let mut world = World::new(Parameters { dt, ..Default::default() });
        let turn =
            |heading: f64| Quat::from_euler_angles(0.0, heading, 0.0) * Quat::from_euler_angles(eighth, 0.0, 0.0);
        let at = |heading: f64, height: f64| {
            let turn = turn(heading);
            Pose::from_parts((Vec3::new(0.0, height, 0.0) - turn * centre).into(), turn)
        };
        world.bodies.add(SoftBody::new(lower.clone(), at(0.0, 0.0)));
        world.bodies.add(SoftBody::new(upper.clone(), at(2.0 * eighth, diagonal + 0.002)));
        let mut deepest = 0.0f64;
        for _ in 0..(0.3 / dt) as usize {
            assert_eq!(world.step().status, Status::Done);
            deepest = deepest.max(world.statistics().penetration);
        }
        let positions = world.bodies.soft(1).positions();
        let height = positions.iter().map(|x| x.y).sum::<f64>() / positions.len() as f64;
        println!("{dt} s: {height:.5} m high, {deepest:.1e} m deep");
        assert!(height > 0.8 * diagonal && height < diagonal + 2e-3, "{height} m at {dt} s");
        assert!(deepest < 2e-4, "{deepest} m at {dt} s");
    }
}

/// A soft block of 2 cm hits a soft wall of 1 cm at 10 m/s: in a step of 10 ms it would pass it by 7 cm.
#[test]
fn a_fast_soft_body_does_not_pass_another() {
    let wall_mesh = block(&Vec3::new(0.01, 0.12, 0.12), [1, 6, 6]);
    let held: Vec<bool> = wall_mesh.nodes.iter().map(|p| p.y < 1e-9 || p.y > 0.12 - 1e-9).collect();
    let wall = Arc::new(Continuum::new(&wall_mesh, &held, SOFT));
    let mesh = block(&Vec3::new(0.02, 0.02, 0.02), [2, 2, 2]);
    let ball = Arc::new(Continuum::new(&mesh, &vec![false; mesh.nodes.len()], SOFT));
    for dt in STEPS {
        for start in [0.03, 0.05, 0.08] {
            let mut world = World::new(Parameters { dt, gravity: Vec3::zeros(), ..Default::default() });
            world.bodies.add(SoftBody::new(wall.clone(), Pose::identity()));
            let mut body = SoftBody::new(ball.clone(), Pose::translation(-start, 0.053, 0.047));
            body.set_nodes(|_, _, velocity| *velocity = Vec3::new(10.0, 0.0, 0.0));
            world.bodies.add(body);
            for _ in 0..(0.1 / dt) as usize {
                assert_eq!(world.step().status, Status::Done);
                let positions = world.bodies.soft(1).positions();
                let x = positions.iter().map(|p| p.x).sum::<f64>() / positions.len() as f64;
                let ahead = world.bodies.soft(0).positions().iter().map(|p| p.x).fold(0.0, f64::max);
                assert!(x < ahead + 1e-3, "{x} m at {dt} s, wall up to {ahead} m");
            }
        }
    }
}
