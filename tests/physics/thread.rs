//! Threads in contact.

use std::f64::consts::PI;

use fingerpad::beam::{BeamDescription, BeamMaterial, Damping, End, Section, Six};
use fingerpad::body::{BeamBody, Fixed, Handle, RigidShape};
use fingerpad::contact::Friction;
use fingerpad::math::{Pose, Vec3};
use fingerpad::sim::{Parameters, Status, World};

const POST: f64 = 0.05;
const RADIUS: f64 = 0.1e-3;
const LEAD: f64 = 0.045;

/// A thread around a post that stands along Y, turning by `angle` in the plane Y = 0, and the directions in which its first and its last end leave.
fn around_a_post(dt: f64, mu: f64, angle: f64, beam: f64) -> (World, Handle<BeamBody>, [Vec3; 2]) {
    let mut world = World::new(Parameters { dt, gravity: Vec3::zeros(), ..Parameters::default() });
    world.materials.set("default", Friction::of(mu));
    world.add_named("post", Fixed::new(&RigidShape::Cylinder(0.02, POST), Pose::identity()).expect("a post"));
    let (straight, turns) = ((LEAD / beam).round() as usize, (angle * POST / beam).round() as usize);
    // The middles of the beams touch the post, with the distance at which surfaces touch.
    let r = (POST + RADIUS + 1e-5) / (0.5 * angle / turns as f64).cos();
    let on = |a: f64| Vec3::new(r * a.cos(), 0.0, r * a.sin());
    let along = |a: f64| Vec3::new(-a.sin(), 0.0, a.cos());
    let ends = [-along(0.0), along(angle)];
    let mut nodes: Vec<Vec3> = (0..straight).map(|i| on(0.0) + ends[0] * (beam * (straight - i) as f64)).collect();
    nodes.extend((0..=turns).map(|i| on(angle * i as f64 / turns as f64)));
    nodes.extend((1..=straight).map(|i| on(angle) + ends[1] * (beam * i as f64)));
    let material = BeamMaterial::thread(2e9, 1100.0, 1e-3);
    let description = BeamDescription {
        ends: [End::Pinned, End::Free],
        damping: Damping { mass: 20.0, stiffness: 1e-3 },
        ..BeamDescription::new(nodes, Section::Round { radius: RADIUS }, material)
    };
    let thread = world.add_named("thread", BeamBody::new(&description).expect("a thread"));
    (world, thread, ends)
}

fn force(v: &Vec3) -> Six {
    Six::new(v.x, v.y, v.z, 0.0, 0.0, 0.0)
}

/// Ratio of the tensions at the pulled and at the loaded end while the thread slides. The load rises for 0.1 s, then the pull begins.
fn capstan(dt: f64, mu: f64, angle: f64, beam: f64) -> f64 {
    let (mut world, thread, ends) = around_a_post(dt, mu, angle, beam);
    let last = world.bodies[thread].chain().nodes() - 1;
    let mut sums = [0.0; 2];
    for step in 0..(1.2 / dt) as usize {
        let time = step as f64 * dt;
        let chain = world.bodies[thread].chain_mut();
        chain.set_load(last, force(&(ends[1] * (0.05 * (time / 0.1).min(1.0)))));
        chain.set_end_velocity(0, force(&(ends[0] * (0.02 * ((time - 0.1) / 0.2).clamp(0.0, 1.0)))));
        assert_eq!(world.step().status, Status::Done);
        if time >= 0.6 {
            let chain = world.bodies[thread].chain();
            sums[0] += chain.stress(1)[0];
            sums[1] += chain.stress(last - 2)[0];
        }
    }
    sums[0] / sums[1]
}

fn check(mu: f64, turns: f64, dt: f64, beam: f64) {
    let angle = 2.0 * PI * turns;
    let (found, expected) = (capstan(dt, mu, angle, beam), (mu * angle).exp());
    println!("mu {mu}, {} degrees, {dt} s: {found} for {expected}, {:.4}", 360.0 * turns, found / expected - 1.0);
    assert!((found / expected - 1.0).abs() < 0.02, "mu {mu}, {turns} turns, {dt} s: {found} for {expected}");
}

#[test]
fn a_thread_around_a_post_holds_as_euler_and_eytelwein_say() {
    for mu in [0.2, 0.5] {
        for turns in [0.25, 0.5] {
            for dt in [0.01, 0.005, 0.002, 0.001] {
                check(mu, turns, dt, 0.01);
            }
        }
    }
}

#[test]
fn a_thread_once_around_a_post_holds_so_too() {
    for mu in [0.2, 0.5] {
        check(mu, 1.0, 0.001, 0.0065);
    }
}

/// Distance of two segments.
fn apart(a: [&Vec3; 2], b: [&Vec3; 2]) -> f64 {
    let at = |[x, y]: [&Vec3; 2], s: f64| x.lerp(y, s);
    let nearest = |[x, y]: [&Vec3; 2], p: &Vec3| ((p - x).dot(&(y - x)) / (y - x).norm_squared()).clamp(0.0, 1.0);
    // The distance is convex in both parameters.
    let (mut s, mut t) = (0.5, 0.5);
    for _ in 0..60 {
        t = nearest(b, &at(a, s));
        s = nearest(a, &at(b, t));
    }
    (at(a, s) - at(b, t)).norm()
}

/// Smallest distance between beams of a chain with at least four others between them.
fn closest(body: &BeamBody) -> f64 {
    let x = body.chain().positions();
    let pairs = (0..x.len() - 1).flat_map(|i| (i + 5..x.len() - 1).map(move |j| (i, j)));
    pairs.map(|(i, j)| apart([&x[i], &x[i + 1]], [&x[j], &x[j + 1]])).fold(f64::INFINITY, f64::min)
}

/// A hairpin whose legs are pressed together at their ends, with a known force between them.
fn hairpin(dt: f64, touches: bool) -> (f64, f64) {
    let radius = 1e-3;
    let mut world = World::new(Parameters { dt, gravity: Vec3::zeros(), ..Parameters::default() });
    let bend = (0..=12).map(|i| PI * i as f64 / 12.0).map(|a| Vec3::new(-0.005 * a.sin(), 0.005 * a.cos(), 0.0));
    let leg = |y: f64| (1..=10).map(move |i| Vec3::new(0.004 * i as f64, y, 0.0));
    let nodes: Vec<Vec3> = leg(0.005).rev().chain(bend).chain(leg(-0.005)).collect();
    let description = BeamDescription {
        damping: Damping { mass: 20.0, stiffness: 1e-3 },
        ..BeamDescription::new(nodes, Section::Round { radius }, BeamMaterial::solid(1e7, 0.3, 1100.0))
    };
    let mut body = BeamBody::new(&description).expect("a rod");
    body.self_contact = touches;
    let last = body.chain().nodes() - 1;
    let rod = world.add_named("rod", body);
    let mut deepest = f64::INFINITY;
    for step in 0..(1.0 / dt) as usize {
        let press = 0.02 * (step as f64 * dt / 0.3).min(1.0);
        let chain = world.bodies[rod].chain_mut();
        chain.set_load(0, force(&Vec3::new(0.0, -press, 0.0)));
        chain.set_load(last, force(&Vec3::new(0.0, press, 0.0)));
        assert_eq!(world.step().status, Status::Done);
        deepest = deepest.min(closest(&world.bodies[rod]));
    }
    let touch: f64 = world.touches().map(|t| t.pressing).sum();
    (deepest - 2.0 * radius, touch)
}

#[test]
fn a_rod_that_is_bent_back_touches_itself() {
    assert!(hairpin(0.01, false).0 < -1.9e-3, "its legs pass through each other without contact");
    for dt in [0.01, 0.005, 0.002, 0.001] {
        let (gap, touch) = hairpin(dt, true);
        println!("dt {dt}: least gap {gap:e} m, {touch} N between the legs");
        assert!(gap > -5e-5, "dt {dt}: {gap} m");
        assert!(touch > 0.004 && touch < 0.02, "dt {dt}: {touch} N");
    }
}

/// A thread that falls on the ground in a heap lies on itself and comes to rest.
#[test]
fn a_thread_falls_into_a_heap() {
    let radius = 1e-3;
    for dt in [0.01, 0.005, 0.002] {
        let mut world = World::new(Parameters { dt, ..Parameters::default() });
        world.add_named("ground", Fixed::new(&RigidShape::Ground, Pose::identity()).expect("a plane"));
        // A coil with a turn of 24 mm and a rise of 6 mm.
        let nodes: Vec<Vec3> = (0..=48)
            .map(|i| (2.0 * PI * i as f64 / 16.0, 0.01 + 0.006 * i as f64 / 16.0))
            .map(|(a, y)| Vec3::new(0.012 * a.cos(), y, 0.012 * a.sin()))
            .collect();
        let description = BeamDescription {
            damping: Damping { mass: 2.0, stiffness: 1e-3 },
            ..BeamDescription::new(nodes, Section::Round { radius }, BeamMaterial::thread(1e8, 1100.0, 1e-3))
        };
        let mut body = BeamBody::new(&description).expect("a thread");
        body.self_contact = true;
        let thread = world.add_named("thread", body);
        let mut least = f64::INFINITY;
        for _ in 0..(1.5 / dt) as usize {
            assert_eq!(world.step().status, Status::Done);
            least = least.min(closest(&world.bodies[thread]));
        }
        let chain = world.bodies[thread].chain();
        let lowest = chain.positions().iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
        let fastest = chain.velocities().iter().map(|v| v.fixed_rows::<3>(0).norm()).fold(0.0, f64::max);
        println!("dt {dt}: least gap {:e} m, lowest {lowest}, fastest {fastest} m/s", least - 2.0 * radius);
        assert!(least > 2.0 * radius - 1e-4, "dt {dt}: {least} m");
        assert!(lowest > radius - 1e-4, "dt {dt}: {lowest} m");
        assert!(fastest < 5e-3, "dt {dt}: {fastest} m/s");
        // Three turns lie on each other: higher than two thicknesses.
        let highest = chain.positions().iter().map(|p| p.y).fold(0.0, f64::max);
        assert!(highest > 3.0 * radius, "dt {dt}: {highest} m");
    }
}
