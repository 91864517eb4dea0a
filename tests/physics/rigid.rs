//! Rigid bodies against known answers.

use crate::common;

use common::Ordered;
use fingerpad::body::{MaterialPoint, Part, RefactorPolicy, RigidBody, RigidShape, ShapeFault, Step};
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::mesh::block;
use proptest::prelude::*;

fn step(h: f64) -> Step {
    Step { h, time: 0.0, gravity: Vec3::zeros(), refactor: RefactorPolicy::default() }
}

#[test]
fn a_spinning_box_keeps_energy_and_momentum_for_a_minute() {
    // Spun near its middle axis, where a box tumbles.
    let shape = RigidShape::Box(Vec3::new(0.05, 0.03, 0.015));
    let pose = Pose::from_parts(Vec3::new(0.1, 0.2, 0.3).into(), Quat::from_euler_angles(0.3, -0.4, 0.5));
    let mut body = RigidBody::new(&shape, 700.0, pose).expect("a body");
    body.set_velocity(Vec3::new(0.1, 0.0, -0.2), Vec3::new(0.2, 12.0, -0.1));
    let (energy, momentum, place) = (body.energy(), *body.angular_momentum(), *body.centre());
    let (mut worst, mut flips, mut up) = (0.0f64, 0, true);
    for _ in 0..6000 {
        body.free_motion(&step(0.01));
        body.advance(0.01);
        worst = worst.max((body.energy() / energy - 1.0).abs());
        let axis = body.pose().rotation * Vec3::y();
        if (axis.dot(&momentum) > 0.0) != up {
            flips += 1;
            up = !up;
        }
    }
    println!("box: energy within {:.3} % over 60 s, {flips} half tumbles", 100.0 * worst);
    assert!(worst < 0.000_21);
    assert!(flips > 10, "it tumbles, so gyroscopic terms are there");
    assert_eq!(*body.angular_momentum(), momentum, "to the bit");
    assert!((body.centre() - place - 60.0 * Vec3::new(0.1, 0.0, -0.2)).norm() < 1e-9);
}

#[test]
fn mass_properties_of_the_shapes() {
    let body = |shape: &RigidShape| RigidBody::new(shape, 1000.0, Pose::identity()).expect("a body");
    let (a, b, c) = (0.02, 0.03, 0.05);
    let cuboid = body(&RigidShape::Box(Vec3::new(a, b, c)));
    let mass = 8.0 * a * b * c * 1000.0;
    assert!((cuboid.mass() / mass - 1.0).abs() < 1e-12);
    assert!((cuboid.inertia()[(0, 0)] / (mass / 3.0 * (b * b + c * c)) - 1.0).abs() < 1e-12);
    let ball = body(&RigidShape::Ball(0.04));
    let mass = 4.0 / 3.0 * std::f64::consts::PI * 0.04f64.powi(3) * 1000.0;
    assert!((ball.mass() / mass - 1.0).abs() < 1e-12);
    assert!((ball.inertia()[(1, 1)] / (0.4 * mass * 0.04 * 0.04) - 1.0).abs() < 1e-12);
    let cylinder = body(&RigidShape::Cylinder(0.1, 0.02));
    let mass = std::f64::consts::PI * 0.02f64.powi(2) * 0.2 * 1000.0;
    assert!((cylinder.mass() / mass - 1.0).abs() < 1e-12);
    assert!((cylinder.inertia()[(1, 1)] / (0.5 * mass * 0.02 * 0.02) - 1.0).abs() < 1e-12);
    let capsule = body(&RigidShape::Capsule(0.1, 0.02));
    let ends = 4.0 / 3.0 * std::f64::consts::PI * 0.02f64.powi(3) * 1000.0;
    assert!((capsule.mass() / (mass + ends) - 1.0).abs() < 1e-12);
    // The same box as a hull and as a mesh, off its centre.
    let shift = Vec3::new(0.1, -0.2, 0.05);
    let (mut surface, _) = block(&Vec3::new(2.0 * a, 2.0 * b, 2.0 * c), [2, 1, 3]).boundary();
    surface.vertices.iter_mut().for_each(|p| *p += shift);
    for shape in [RigidShape::Hull(surface.vertices.clone()), RigidShape::Mesh(surface.clone())] {
        let same = body(&shape);
        assert!((same.mass() / cuboid.mass() - 1.0).abs() < 1e-9, "{}", same.mass());
        assert!((same.inertia() - cuboid.inertia()).norm() < 1e-9 * cuboid.inertia().norm());
        assert!((same.centre() - shift - Vec3::new(a, b, c)).norm() < 1e-12);
        assert!((same.pose().translation.vector).norm() < 1e-12);
    }
}

#[test]
fn invalid_shapes_are_rejected() {
    let fault = |shape: RigidShape| RigidBody::new(&shape, 1000.0, Pose::identity()).map(|_| ()).expect_err("refused");
    assert_eq!(fault(RigidShape::Ball(-1.0)), ShapeFault::Size);
    assert_eq!(fault(RigidShape::Ball(f64::NAN)), ShapeFault::Size);
    assert_eq!(fault(RigidShape::Box(Vec3::new(0.1, 0.0, 0.1))), ShapeFault::Size);
    assert_eq!(fault(RigidShape::Hull(vec![Vec3::zeros(), Vec3::x(), Vec3::y()])), ShapeFault::FlatHull);
    let flat = vec![Vec3::zeros(), Vec3::x(), Vec3::y(), Vec3::x() + Vec3::y()];
    assert_eq!(fault(RigidShape::Hull(flat)), ShapeFault::FlatHull);
    let (mut surface, _) = block(&Vec3::repeat(0.1), [1, 1, 1]).boundary();
    surface.triangles.pop();
    assert_eq!(fault(RigidShape::Mesh(surface)), ShapeFault::OpenMesh);
    let ball = RigidShape::Ball(0.1);
    assert_eq!(RigidBody::new(&ball, 0.0, Pose::identity()).map(|_| ()).expect_err("refused"), ShapeFault::Mass);
    assert!((RigidBody::with_mass(&ball, 0.2, Pose::identity()).expect("a body").mass() - 0.2).abs() < 1e-12);
}

#[test]
fn a_body_falls_as_predicted() {
    let mut body = RigidBody::new(&RigidShape::Ball(0.05), 1000.0, Pose::translation(0.0, 10.0, 0.0)).expect("a body");
    let mut s = step(0.001);
    s.gravity = Vec3::new(0.0, -9.81, 0.0);
    for _ in 0..1000 {
        body.free_motion(&s);
        body.advance(s.h);
    }
    assert!((body.linear_velocity().y + 9.81).abs() < 1e-11);
    // Symplectic Euler falls g h t / 2 too far.
    assert!((body.centre().y - (10.0 - 0.5 * 9.81 * (1.0 + 0.001))).abs() < 1e-10);
}

fn vector(limit: f64) -> impl Strategy<Value = Vec3> {
    [-limit..limit, -limit..limit, -limit..limit].prop_map(|[x, y, z]| Vec3::new(x, y, z))
}

/// A rod with two equal moments has a closed form: it turns about `L` at `|L| / I`, and spins about its own axis.
#[test]
fn a_thrown_rod_precesses_as_in_the_closed_form() {
    // A pencil that spins about its axis at 300 rad/s and tumbles at 12 rad/s. The axis is y.
    let pose = Pose::from_parts(Vec3::zeros().into(), Quat::from_euler_angles(1.0, 0.2, 0.3));
    let mut body = RigidBody::with_mass(&RigidShape::Cylinder(0.0875, 0.0035), 0.005, pose).expect("a body");
    let spin = pose.rotation * Vec3::new(12.0, 300.0, 0.0);
    body.set_velocity(Vec3::zeros(), spin);
    let (l, energy) = (*body.angular_momentum(), body.energy());
    let across = body.inertia()[(0, 0)];
    let own = 300.0 - l.dot(&(pose.rotation * Vec3::y())) / across;
    for i in 1..=500 {
        body.free_motion(&step(0.01));
        body.advance(0.01);
        let t = 0.01 * f64::from(i);
        let expected =
            Quat::from_scaled_axis(t / across * l) * pose.rotation * Quat::from_scaled_axis(Vec3::y() * own * t);
        assert!(body.pose().rotation.angle_to(&expected) < 1e-9, "{}", body.pose().rotation.angle_to(&expected));
        assert!((body.energy() / energy - 1.0).abs() < 1e-11);
    }
}

/// A box 150 mm long and 5 mm thick, dropped on its end, made the midpoint rule diverge: it left at 1e112 m/s.
#[test]
fn a_dropped_chopstick_does_not_explode() {
    use fingerpad::body::Fixed;
    use fingerpad::sim::{Parameters, World};
    for (dt, turn) in [0.01, 0.005, 0.002].into_iter().flat_map(|dt| (0..8).map(move |i| (dt, 0.4 * f64::from(i)))) {
        let mut world = World::new(Parameters { dt, ..Parameters::default() });
        let rotation = Quat::from_euler_angles(0.1 + turn, 0.35, 0.5 - 0.7 * turn);
        let shape = RigidShape::Box(Vec3::new(0.075, 0.0025, 0.0025));
        let body = RigidBody::new(&shape, 1000.0, Pose::from_parts(Vec3::new(0.0, 0.2, 0.0).into(), rotation));
        world.bodies.add(body.expect("a body"));
        world.bodies.add(Fixed::new(&RigidShape::Ground, Pose::identity()).expect("the ground"));
        let mut fastest = 0.0f64;
        for _ in 0..(2.0 / dt) as usize {
            world.step();
            fastest = fastest.max(world.bodies.rigid(0).linear_velocity().norm());
        }
        // Its energy at the ground is the maximum.
        assert!(fastest < (2.0 * 9.81 * 0.2f64).sqrt() + 0.1, "dt {dt}, turn {turn}: {fastest} m/s");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Slender, flat and round bodies at up to 500 rad/s, at any step length: momentum to the bit, energy within a bound, for two seconds.
    #[test]
    fn free_rotation_keeps_momentum_and_energy(
        half in [0.001..0.1f64, 0.001..0.1f64, 0.001..0.1f64],
        direction in vector(1.0), speed in 0.1..500.0f64, turn in vector(3.0),
        dt in prop::sample::select(vec![0.01, 0.005, 0.002, 0.001]),
    ) {
        prop_assume!(direction.norm() > 0.1);
        let pose = Pose::from_parts(Vec3::zeros().into(), Quat::from_scaled_axis(turn));
        let mut body = RigidBody::new(&RigidShape::Box(Vec3::from(half)), 500.0, pose).expect("a body");
        body.set_velocity(Vec3::zeros(), speed * direction.normalize());
        let (energy, momentum) = (body.energy(), *body.angular_momentum());
        let mut worst = 0.0f64;
        for _ in 0..(2.0 / dt) as usize {
            body.free_motion(&step(dt));
            body.advance(dt);
            worst = worst.max((body.energy() / energy - 1.0).abs());
        }
        prop_assert_eq!(*body.angular_momentum(), momentum);
        prop_assert!(worst < 5e-4, "{}", worst);
        prop_assert!((body.pose().rotation.norm() - 1.0).abs() < 1e-12);
    }
}

proptest! {
    /// Rows are the transpose of point velocities, and an impulse through them changes momentum by itself.
    #[test]
    fn rows_velocities_and_momentum_agree(at in vector(0.1), direction in vector(1.0), spin in vector(20.0), turn in vector(1.0)) {
        let pose = Pose::from_parts(Vec3::new(0.3, 0.1, 0.0).into(), Quat::from_scaled_axis(turn));
        let mut body = RigidBody::new(&RigidShape::Box(Vec3::new(0.05, 0.03, 0.02)), 500.0, pose).expect("a body");
        body.set_velocity(Vec3::new(0.5, -0.2, 0.1), spin);
        body.free_motion(&step(0.005));
        let point = MaterialPoint::rigid(0, at);
        let mut row = [0.0; 6];
        body.add_row(&point, &direction, &mut row);
        let before = body.velocity(&point).dot(&direction);
        let mut inverse = row;
        body.apply_inverse(&mut inverse);
        let (p, l) = (body.mass() * body.linear_velocity(), *body.angular_momentum());
        body.change_velocity(&inverse);
        let compliance: f64 = row.iter().zip(&inverse).map(|(a, b)| a * b).sum();
        prop_assert!((body.velocity(&point).dot(&direction) - before - compliance).abs() < 1e-9 * (1.0 + compliance));
        prop_assert!((body.mass() * body.linear_velocity() - p - direction).norm() < 1e-12);
        let arm = body.position(&point) - body.centre();
        prop_assert!((body.angular_momentum() - l - arm.cross(&direction)).norm() < 1e-12);
    }
}
