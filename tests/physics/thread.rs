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
