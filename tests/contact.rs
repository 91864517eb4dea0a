//! Contact in the world, against known answers.

use fingerpad::body::{Fixed, RigidBody, RigidShape};
use fingerpad::contact::{Friction, Materials};
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::sim::{Parameters, Status, World};

fn materials(mu: f64) -> Materials {
    let mut materials = Materials::default();
    materials.set("default", Friction::of(mu));
    materials
}

fn ground(mu: f64) -> World {
    let mut world = World::new(Parameters::default());
    world.materials = materials(mu);
    world.bodies.fixed.push(Fixed::new(&RigidShape::Ground, Pose::identity()).expect("the ground"));
    world
}

fn add(world: &mut World, shape: &RigidShape, mass: f64, pose: Pose) -> usize {
    world.bodies.rigid.push(RigidBody::with_mass(shape, mass, pose).expect("a body"));
    world.bodies.rigid.len() - 1
}

fn run(world: &mut World, seconds: f64) {
    let steps = (seconds / world.parameters.dt).round() as usize;
    for _ in 0..steps {
        assert_eq!(world.step().status, Status::Done);
    }
}

/// A block on a slope, gravity turned instead of the ground.
fn slope(mu: f64, angle: f64, shape: &RigidShape, height: f64) -> World {
    let mut world = ground(mu);
    world.parameters.gravity = 9.81 * Vec3::new(angle.sin(), -angle.cos(), 0.0);
    let offset = world.parameters.contact.offset;
    add(&mut world, shape, 0.2, Pose::translation(0.0, height + offset, 0.0));
    world
}

#[test]
fn a_block_sticks_below_the_angle_of_friction_and_slides_above() {
    let (mu, half) = (0.5f64, Vec3::new(0.05, 0.02, 0.05));
    let shape = RigidShape::Box(half);
    let mut world = slope(mu, mu.atan() - 0.01, &shape, half.y);
    run(&mut world, 2.0);
    let moved = world.bodies.rigid[0].centre() - Vec3::new(0.0, half.y + 1e-5, 0.0);
    println!("below: moved {:.3e} m", moved.norm());
    assert!(moved.norm() < 1e-7, "moved {moved:?}");
    for angle in [mu.atan() + 0.02, 0.9] {
        let mut world = slope(mu, angle, &shape, half.y);
        run(&mut world, 1.0);
        let a = world.bodies.rigid[0].linear_velocity().x / world.time();
        let expected = 9.81 * (angle.sin() - mu * angle.cos());
        println!("above: {a} for {expected}");
        assert!((a - expected).abs() < 0.01 * expected, "{a} for {expected}");
    }
}

#[test]
fn a_ball_rolls_as_theory_says() {
    // Rolling without sliding: a = 5/7 g sin θ while tan θ < 7/2 μ; above, it slides and is spun up by 5 μ g cos θ / 2 r.
    let (mu, r) = (0.3f64, 0.03);
    for angle in [0.2f64, 0.7, 1.0] {
        let mut world = slope(mu, angle, &RigidShape::Ball(r), r);
        run(&mut world, 1.0);
        let ball = &world.bodies.rigid[0];
        let (a, alpha) = (ball.linear_velocity().x / world.time(), -ball.angular_velocity().z / world.time());
        let rolls = angle.tan() < 3.5 * mu;
        let (ea, ealpha) = if rolls {
            (5.0 / 7.0 * 9.81 * angle.sin(), 5.0 / 7.0 * 9.81 * angle.sin() / r)
        } else {
            (9.81 * (angle.sin() - mu * angle.cos()), 2.5 * mu * 9.81 * angle.cos() / r)
        };
        println!("{angle}: {a} for {ea}, {alpha} for {ealpha}");
        assert!((a - ea).abs() < 0.01 * ea && (alpha - ealpha).abs() < 0.01 * ealpha, "{a} {ea} {alpha} {ealpha}");
    }
}

#[test]
fn a_box_at_rest_rests() {
    let mut world = ground(0.5);
    let half = Vec3::new(0.05, 0.03, 0.04);
    let turned = Pose::from_parts(Vec3::new(0.1, half.y + 0.002, -0.2).into(), Quat::from_euler_angles(0.0, 0.7, 0.0));
    add(&mut world, &RigidShape::Box(half), 0.3, turned);
    run(&mut world, 1.0);
    let start = world.bodies.rigid[0].pose();
    let (mut worst, mut turn, mut speed) = (0.0f64, 0.0f64, 0.0f64);
    for _ in 0..6000 {
        world.step();
        let now = world.bodies.rigid[0].pose();
        worst = worst.max((now.translation.vector - start.translation.vector).norm());
        turn = turn.max(now.rotation.angle_to(&start.rotation));
        speed = speed.max(world.bodies.rigid[0].linear_velocity().norm());
    }
    println!("box at rest for 60 s: {worst:.2e} m, {turn:.2e} rad, {speed:.2e} m/s, {:?}", world.statistics());
    assert!(worst < 1e-6 && turn < 1e-6 && speed < 1e-6);
}

#[test]
fn a_stack_of_ten_stands() {
    let mut world = ground(0.5);
    let half = Vec3::new(0.03, 0.02, 0.03);
    for i in 0..10 {
        let height = half.y + f64::from(i) * (2.0 * half.y + 2e-5) + 1e-5;
        add(&mut world, &RigidShape::Box(half), 0.1, Pose::translation(0.002 * f64::from(i % 3), height, 0.0));
    }
    let start: Vec<_> = world.bodies.rigid.iter().map(|b| b.pose()).collect();
    let mut iterations = 0;
    for _ in 0..1000 {
        assert_eq!(world.step().status, Status::Done);
        iterations = iterations.max(world.statistics().iterations);
    }
    let moved = |(b, s): (&RigidBody, &Pose)| (b.pose().translation.vector - s.translation.vector).norm();
    let worst = world.bodies.rigid.iter().zip(&start).map(moved).fold(0.0, f64::max);
    println!("stack after 10 s: {worst:.2e} m, most sweeps {iterations}, {:?}", world.statistics());
    assert!(worst < 1e-4);
}
