//! Scenes that once broke the simulation: slender bodies, heavy loads, chains, stacks, fast bodies. Each test describes
//! its symptom.

use crate::common;

use common::Ordered;
use fingerpad::body::{Collider, RigidBody};
use std::fmt::Write;
use std::path::Path;

use fingerpad::assets::{Scene, load_builtin_scene, parse_scene};
use fingerpad::math::{Pose, Quat, Random, Vec3};
use fingerpad::sim::Status;

fn scene(text: &str) -> Scene {
    parse_scene(Path::new("hostile.toml"), text, &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

/// Extremes of a run.
#[derive(Debug, Default)]
struct Seen {
    /// Maximum speed of a rigid body, m/s.
    speed: f64,
    /// Maximum penetration, m, of all steps and of the last.
    deepest: f64,
    last_depth: f64,
    /// Maximum gap of an attachment, m.
    gap: f64,
    unconverged: usize,
    wall: f64,
}

/// Runs a scene for its duration.
fn run(scene: &mut Scene) -> Seen {
    let steps = (scene.seconds / scene.world.parameters.dt).round() as usize;
    let mut seen = Seen::default();
    (0..steps).for_each(|_| step(scene, &mut seen));
    println!(
        "{}: {:.2} m/s, {:.4} mm deep, joints open by {:.4} mm, {} not converged, {:.2} s",
        std::thread::current().name().unwrap_or_default(),
        seen.speed,
        1e3 * seen.deepest,
        1e3 * seen.gap,
        seen.unconverged,
        seen.wall
    );
    seen
}

fn step(scene: &mut Scene, seen: &mut Seen) {
    scene.feed();
    assert_eq!(scene.world.step().status, Status::Done);
    let world = &scene.world;
    let speeds = world.bodies.of::<RigidBody>().map(|(_, b)| b.linear_velocity().norm());
    seen.speed = speeds.fold(seen.speed, f64::max);
    seen.last_depth = world.statistics().penetration;
    seen.deepest = seen.deepest.max(seen.last_depth);
    seen.unconverged += world.statistics().unconverged;
    seen.wall += world.times().total;
    let gaps = world.attachments.iter().flat_map(|a| a.places(&world.bodies).map(|[a, b]| (a - b).norm()));
    seen.gap = gaps.fold(seen.gap, f64::max);
}

const GROUND: &str = "[body.ground]\nkind = \"fixed\"\nshape = \"ground\"\n";

/// A box of 150 × 5 × 5 mm, dropped from 20 cm in steps of 10 ms, reached 1e112 m/s: the iteration of the gyroscopic term diverged.
#[test]
fn a_dropped_chopstick_comes_to_rest() {
    let mut scene = scene(&format!(
        "seconds = 4\n[body.a]\nkind = \"rigid\"\nshape = \"box\"\nsize = [0.15, 0.005, 0.005]\nrotation = [5, 20, 30]\n\
         position = [0, 0.2, 0]\n{GROUND}"
    ));
    let seen = run(&mut scene);
    // It cannot exceed the speed of a fall from its height.
    assert!(seen.speed < (2.0 * 9.81 * 0.2f64).sqrt() && seen.deepest < 1e-4 && seen.unconverged == 0, "{seen:?}");
    let body = scene.world.bodies.rigid(0);
    assert!(body.linear_velocity().norm() < 1e-3 && (body.centre().y - 2.5e-3).abs() < 1e-4, "{}", body.centre());
}

/// The shipped pencil, dropped from 15 cm to 1 m, exploded in 47 of 160 drops.
#[test]
fn a_dropped_pencil_stays_slower_than_its_fall() {
    for seed in 0..8 {
        let mut random = Random::new(seed, 0);
        let mut between = |low: f64, high: f64| low + (high - low) * random.unit();
        let mut scene = load_builtin_scene("pencil", &[]).expect("a scene").expect("a sound one");
        let mut worst = 0.0f64;
        for _ in 0..20 {
            let height = between(0.15, 1.0);
            let angles = [(); 3].map(|()| between(-180.0, 180.0).to_radians());
            let turn = Quat::from_euler_angles(angles[0], angles[1], angles[2]);
            let pencil = scene.world.bodies.rigid_mut(0);
            pencil.set_pose(&Pose::from_parts(Vec3::new(0.3, height, 0.3).into(), turn));
            pencil.set_velocity(Vec3::zeros(), Vec3::zeros());
            let mut seen = Seen::default();
            (0..200).for_each(|_| step(&mut scene, &mut seen));
            worst = worst.max(seen.speed);
            assert!(seen.speed < 1.05 * (2.0 * 9.81 * height).sqrt(), "seed {seed}: {seen:?} from {height} m");
            let end = scene.world.bodies.rigid(0);
            assert!(end.linear_velocity().norm() < 0.5 && (2e-3..0.1).contains(&end.centre().y), "{}", end.centre());
        }
        println!("seed {seed}: {worst:.2} m/s");
    }
}

/// A thin pencil thrown with two turns per second about two axes: its spin grew without bound in free flight.
#[test]
fn a_thrown_pencil_keeps_its_spin() {
    let mut scene = scene(&format!(
        "seconds = 3\n[body.a]\nkind = \"rigid\"\nshape = \"cylinder\"\nradius = 0.0035\nheight = 0.175\nmass = 0.005\n\
         position = [0, 1.0, 0]\nrotation = [60, 0, 20]\nspin = [720, 720, 0]\n{GROUND}"
    ));
    let momentum = |scene: &Scene| *scene.world.bodies.rigid(0).angular_momentum();
    let energy = |scene: &Scene| {
        let body = scene.world.bodies.rigid(0);
        0.5 * body.angular_momentum().dot(&body.angular_velocity())
    };
    let (first, start) = (momentum(&scene), energy(&scene));
    // A fall of 0.9 m takes 0.43 s.
    let mut seen = Seen::default();
    for _ in 0..40 {
        step(&mut scene, &mut seen);
    }
    let (drift, gain) = ((momentum(&scene) - first).norm() / first.norm(), (energy(&scene) / start - 1.0).abs());
    println!("in flight: momentum changes by {drift:.1e}, energy by {gain:.1e}");
    assert!(drift < 1e-9 && gain < 1e-6, "{drift} {gain}");
    let seen = run(&mut scene);
    assert!(seen.speed < 1.05 * (2.0 * 9.81f64).sqrt() && seen.unconverged == 0, "{seen:?}");
}

/// Links of 40 × 20 × 20 mm from a fixed point, with a heavy last one.
fn chain(links: u32, joint: &str, last: &str, seconds: f64) -> String {
    let mut text = format!("seconds = {seconds}\n");
    for i in 0..links {
        let mass = if i + 1 == links { last } else { "" };
        let x = 0.05 * f64::from(i);
        // Writing to a string cannot fail, here and below.
        let _ = writeln!(
            text,
            "[body.l{i:02}]\nkind = \"rigid\"\nshape = \"box\"\nsize = [0.04, 0.02, 0.02]\nposition = [{x}, 2, 0]\n{mass}"
        );
    }
    for i in 0..links {
        let (before, at) =
            (if i == 0 { "world".into() } else { format!("l{:02}", i - 1) }, 0.05 * f64::from(i) - 0.025);
        let _ =
            writeln!(text, "[[attachment]]\na = \"{before}\"\nb = \"l{i:02}\"\njoint = \"{joint}\"\nat = [{at}, 2, 0]");
    }
    text
}

/// Three links of 16 g, the last of 1 kg, and ten links of 16 g opened by metres while the solver reported convergence.
#[test]
fn chains_hold() {
    for (links, last) in [(3, "mass = 1"), (10, "")] {
        let mut scene = scene(&chain(links, "point", last, 3.0));
        let seen = run(&mut scene);
        assert!(seen.gap < 1e-4 && seen.unconverged == 0, "{links} links: {seen:?}");
        // A single link of 16 g would have this speed with all the energy of the fall of ten.
        assert!(seen.speed < (2.0 * 10.0 * 9.81 * 0.5f64).sqrt(), "{links} links: {seen:?}");
    }
}

/// Twenty links welded to a beam opened.
#[test]
fn a_welded_beam_stays_straight() {
    let mut scene = scene(&chain(20, "weld", "", 3.0));
    let seen = run(&mut scene);
    let end = scene.world.bodies.rigid(19).centre();
    assert!(seen.gap < 1e-4 && seen.unconverged == 0, "{seen:?}");
    assert!((end - Vec3::new(0.95, 2.0, 0.0)).norm() < 1e-3, "{end}");
}

fn stack(masses: impl Iterator<Item = Option<f64>>, seconds: f64) -> String {
    let mut text = format!("seconds = {seconds}\n{GROUND}");
    for (i, mass) in masses.enumerate() {
        let mass = mass.map_or(String::new(), |m| format!("mass = {m}"));
        let y = 0.025 + 0.0501 * i as f64;
        let _ = writeln!(
            text,
            "[body.b{i:02}]\nkind = \"rigid\"\nshape = \"box\"\nsize = [0.05, 0.05, 0.05]\nposition = [0, {y}, 0]\n{mass}"
        );
    }
    text
}

/// Distance of the boxes of a stack from their initial positions, m.
fn out_of_place(scene: &Scene) -> f64 {
    let places =
        scene.world.bodies.of::<RigidBody>().enumerate().map(|(i, (_, b))| (b.centre(), 0.025 + 0.05 * i as f64));
    places.map(|(c, y)| (c - Vec3::new(0.0, y, 0.0)).norm()).fold(0.0, f64::max)
}

/// Thirty boxes of 1 g to 7.5 kg, the heaviest on top, sank by 40 mm.
#[test]
fn a_stack_that_grows_heavier_upwards_stands() {
    let mut scene = scene(&stack((0..30).map(|i| Some(1e-3 * 1.36f64.powi(i))), 3.0));
    let seen = run(&mut scene);
    assert!(seen.deepest < 1e-4 && seen.unconverged == 0, "{seen:?}");
    assert!(out_of_place(&scene) < 1e-3, "{}", out_of_place(&scene));
}

/// Thirty equal boxes stand.
#[test]
fn thirty_boxes_stand() {
    let mut scene = scene(&stack((0..30).map(|_| None), 5.0));
    let seen = run(&mut scene);
    assert!(seen.deepest < 1e-4 && seen.unconverged == 0, "{seen:?}");
    assert!(out_of_place(&scene) < 1e-3, "{}", out_of_place(&scene));
}

/// A rigid hand that is moved into the ground or a wall stayed 2.6 to 7.9 mm inside it with aggregates.
#[test]
fn rigid_fingers_stay_outside_walls() {
    let press = format!(
        "seconds = 3\n[hand.right]\nposition = [0, 0.15, 0]\nrigid = true\nmotion = [{{ at = 2, position = [0, 0, 0] }}, {{ at = 3 }}]\n{GROUND}"
    );
    let wall = format!(
        "seconds = 2.5\n[hand.right]\nposition = [0, 0.5, 0]\nrigid = true\nmotion = [{{ at = 2, position = [0.6, 0.5, 0] }}, {{ at = 2.5 }}]\n\
         [body.wall]\nkind = \"fixed\"\nshape = \"box\"\nsize = [0.02, 2, 2]\nposition = [0.5, 1, 0]\n{GROUND}"
    );
    for text in [press, wall] {
        let mut scene = scene(&text);
        let seen = run(&mut scene);
        assert!(seen.deepest < 1e-4 && seen.unconverged == 0, "{seen:?}");
        let pressing: f64 = scene.world.touches().map(|t| t.pressing).sum();
        assert!(pressing > 1.0, "the hand touches: {pressing} N");
    }
}

/// A pencil dropped on its end entered the ground by 20 mm for 0.2 s, and the penetration of the statistics was zero: impact turned it, and
/// contacts were searched along the free motion only.
#[test]
fn a_pencil_dropped_on_its_end_stays_above_the_ground() {
    let (radius, half) = (0.0035, 0.0875);
    for dt in [0.01, 0.005, 0.002, 0.001] {
        let mut scene = scene(&format!(
            "seconds = 1.5\ndt = {dt}\n[body.a]\nkind = \"rigid\"\nshape = \"cylinder\"\nradius = {radius}\nheight = 0.175\nmass = 0.005\n\
             position = [0, 0.4, 0]\nrotation = [8, 0, 5]\n{GROUND}"
        ));
        let (mut seen, mut lowest) = (Seen::default(), f64::INFINITY);
        while scene.world.time() < scene.seconds {
            step(&mut scene, &mut seen);
            let pose = scene.world.bodies.of::<RigidBody>().next().expect("the pencil").1.pose();
            let axis = pose.rotation * Vec3::y();
            // The lowest point of the two rims.
            let low =
                pose.translation.vector.y - half * axis.y.abs() - radius * (1.0 - axis.y * axis.y).max(0.0).sqrt();
            lowest = lowest.min(low);
            assert!(seen.last_depth > -low - 3e-5, "at {dt} s: {low} m, {} m in the statistics", seen.last_depth);
        }
        println!("at {dt} s: lowest {:.4} mm", 1e3 * lowest);
        assert!(lowest > -1e-4 && seen.unconverged == 0, "at {dt} s: {lowest} m, {seen:?}");
    }
}

/// A box of 20 or 50 kg on a hand ended 9 to 14 mm inside it in steps of 10 ms: only bones within 2 mm were listed, however fast the box fell.
#[test]
fn bones_carry_a_heavy_box() {
    for mass in [20.0, 50.0] {
        for dt in [0.01, 0.005] {
            let mut scene = scene(&format!(
                "seconds = 2\ndt = {dt}\n[body.a]\nkind = \"rigid\"\nshape = \"box\"\nsize = [0.2, 0.2, 0.2]\nmass = {mass}\n\
                 position = [0, 0.22, -0.05]\n[hand.right]\nposition = [0, 0.07, 0]\n{GROUND}"
            ));
            let seen = run(&mut scene);
            assert!(seen.last_depth < 1.2e-4 && seen.unconverged == 0, "{mass} kg at {dt} s: {seen:?}");
        }
    }
}

/// A body of 1e112 m/s ended a run with success.
#[test]
fn an_absurd_speed_stops_the_world_and_names_the_body() {
    let mut scene = scene(&format!(
        "seconds = 1\n[body.slow]\nkind = \"rigid\"\nshape = \"ball\"\nradius = 0.01\nposition = [0, 1, 0]\n\
         [body.fast]\nkind = \"rigid\"\nshape = \"ball\"\nradius = 0.01\nposition = [0, 2, 0]\n{GROUND}"
    ));
    assert_eq!(scene.world.step().status, Status::Done);
    let fast = scene.world.bodies.find_as::<RigidBody>("fast").expect("the body");
    let body = scene.world.bodies.get_as_mut::<RigidBody>(fast).expect("the body");
    body.set_velocity(Vec3::new(0.0, 1e6, 0.0), Vec3::zeros());
    let status = scene.world.step().status;
    assert_eq!(status, Status::TooFast(fast.id()));
    let fault = scene.fault(status).expect("a sentence");
    assert!(fault.contains("`fast`") && fault.contains("m/s"), "{fault}");
    assert_eq!(scene.world.step().status, status, "it makes no further steps");
}

/// Contacts between vertices of the skin take their area from those vertices. All contacts of a segment together have the area of its skin.
#[test]
fn areas_of_contacts_sum_to_that_of_the_skin() {
    let mut scene = scene(
        "seconds = 1\ngravity = [0, 0, 0]\n[body.a]\nkind = \"rigid\"\nshape = \"box\"\nsize = [0.03, 0.03, 0.03]\nposition = [0, 0.04, -0.05]\n\
         [hand.right]\nposition = [0, 0, 0]\n",
    );
    // Every vertex is near, so every part of the skin has a contact.
    scene.world.parameters.contact.alarm = 1.0;
    assert_eq!(scene.world.step().status, Status::Done);
    let (bodies, near) = (&scene.world.bodies, scene.world.proximity());
    let mut between = 0;
    for pair in &near.pairs {
        let Some(Collider::Mesh(mesh)) = bodies.get(pair.a.body).map(|body| body.collider(pair.a.index())) else {
            continue;
        };
        let contacts = &near.contacts[pair.contacts.clone()];
        between += contacts.iter().filter(|c| c.feature >> 32 != 0 && c.area > 0.0).count();
        let (sum, skin) = (contacts.iter().map(|c| c.area).sum::<f64>(), mesh.areas.iter().sum::<f64>());
        assert!((sum / skin - 1.0).abs() < 1e-9, "{sum} m² of {skin} m²");
    }
    assert!(between > 0, "some contacts are between vertices");
}
