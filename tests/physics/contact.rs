//! Contact in the world against known answers.

use crate::common;

use std::sync::Arc;

use common::{Ordered, model};
use fingerpad::body::fem::Continuum;
use fingerpad::body::{Bodies, Fixed, Hand, HandOptions, RigidBody, RigidShape, SoftBody};
use fingerpad::contact::{Attachment, AttachmentEnd, Friction, Joint, Materials, Method};
use fingerpad::hand::Material;
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::mesh::{SurfaceMesh, block, blocks};
use fingerpad::problem::ContactProblem;
use fingerpad::sim::{Parameters, Status, World};
use fingerpad::solver::{GaussSeidel, SolverStatus};
use fingerpad::tracking::HandSample;

fn materials(mu: f64) -> Materials {
    let mut materials = Materials::default();
    materials.set("default", Friction::of(mu));
    materials
}

fn ground(mu: f64) -> World {
    let mut world = World::new(Parameters::default());
    world.materials = materials(mu);
    world.bodies.add(Fixed::new(&RigidShape::Ground, Pose::identity()).expect("the ground"));
    world
}

fn add(world: &mut World, shape: &RigidShape, mass: f64, pose: Pose) -> usize {
    world.bodies.add(RigidBody::with_mass(shape, mass, pose).expect("a body"));
    world.bodies.of::<RigidBody>().count() - 1
}

/// A rigid body as an end of an attachment.
fn end(world: &World, n: usize) -> AttachmentEnd {
    AttachmentEnd::new(world.bodies.nth::<RigidBody>(n))
}

fn run(world: &mut World, seconds: f64) {
    let steps = (seconds / world.parameters.dt).round() as usize;
    for _ in 0..steps {
        assert_eq!(world.step().status, Status::Done);
    }
}

/// A block on a slope, with rotated gravity instead of a rotated ground.
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
    let moved = world.bodies.rigid(0).centre() - Vec3::new(0.0, half.y + 1e-5, 0.0);
    println!("below: moved {:.3e} m", moved.norm());
    assert!(moved.norm() < 1e-7, "moved {moved:?}");
    for angle in [mu.atan() + 0.02, 0.9] {
        let mut world = slope(mu, angle, &shape, half.y);
        run(&mut world, 1.0);
        let a = world.bodies.rigid(0).linear_velocity().x / world.time();
        let expected = 9.81 * (angle.sin() - mu * angle.cos());
        println!("above: {a} for {expected}");
        assert!((a - expected).abs() < 0.01 * expected, "{a} for {expected}");
    }
}

#[test]
fn a_ball_rolls_as_predicted() {
    // Rolling without sliding: a = 5/7 g sin θ while tan θ < 7/2 μ; above, it slides and is spun up by 5 μ g cos θ / 2 r.
    let (mu, r) = (0.3f64, 0.03);
    for angle in [0.2f64, 0.7, 1.0] {
        let mut world = slope(mu, angle, &RigidShape::Ball(r), r);
        run(&mut world, 1.0);
        let ball = world.bodies.rigid(0);
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

/// Balls and cylinders roll on without gain or loss, on the ground and on a box.
#[test]
fn round_bodies_roll_at_constant_speed() {
    let r = 0.028;
    let plank = RigidShape::Box(Vec3::new(5.0, 0.05, 0.5));
    let cylinder = RigidShape::Cylinder(0.02, r);
    for (dt, speed) in [(0.01, 0.3), (0.01, 0.7), (0.01, 1.5), (0.005, 0.7), (0.002, 0.7), (0.001, 0.7)] {
        for (shape, on_ground) in [(RigidShape::Ball(r), true), (cylinder.clone(), true), (RigidShape::Ball(r), false)]
        {
            let mut world = World::new(Parameters { dt, ..Parameters::default() });
            world.materials = materials(0.6);
            let below = if on_ground { RigidShape::Ground } else { plank.clone() };
            let top = if on_ground { 0.0 } else { 0.05 };
            world.bodies.add(Fixed::new(&below, Pose::translation(0.0, -top, 0.0)).expect("the ground"));
            let lying = Quat::from_euler_angles(std::f64::consts::FRAC_PI_2, 0.0, 0.0);
            let pose = Pose::from_parts(Vec3::new(-2.0, r + world.parameters.contact.offset, 0.0).into(), lying);
            add(&mut world, &shape, 0.05, pose);
            let body = world.bodies.rigid_mut(0);
            body.set_velocity(Vec3::new(speed, 0.0, 0.0), Vec3::new(0.0, 0.0, -speed / r));
            run(&mut world, 2.0);
            let body = world.bodies.rigid(0);
            let (v, w) = (*body.linear_velocity(), body.angular_velocity());
            println!("{dt} {speed} {shape:?} {on_ground}: {:.3e} {:.3e} {:.3e}", v.x - speed, v.y, w.z * r + v.x);
            assert!((v.x - speed).abs() < 1e-3 * speed, "{v:?} at {dt}, {speed}, {shape:?}");
        }
    }
}

#[test]
fn a_box_at_rest_rests() {
    let mut world = ground(0.5);
    let half = Vec3::new(0.05, 0.03, 0.04);
    let turned = Pose::from_parts(Vec3::new(0.1, half.y + 0.002, -0.2).into(), Quat::from_euler_angles(0.0, 0.7, 0.0));
    add(&mut world, &RigidShape::Box(half), 0.3, turned);
    run(&mut world, 1.0);
    let start = world.bodies.rigid(0).pose();
    let (mut worst, mut turn, mut speed) = (0.0f64, 0.0f64, 0.0f64);
    for _ in 0..6000 {
        world.step();
        let now = world.bodies.rigid(0).pose();
        worst = worst.max((now.translation.vector - start.translation.vector).norm());
        turn = turn.max(now.rotation.angle_to(&start.rotation));
        speed = speed.max(world.bodies.rigid(0).linear_velocity().norm());
    }
    println!("box at rest for 60 s: {worst:.2e} m, {turn:.2e} rad, {speed:.2e} m/s, {:?}", world.statistics());
    assert!(worst < 1e-6 && turn < 1e-6 && speed < 1e-6);
}

#[test]
fn a_stack_of_ten_stands() {
    let mut world = ground(0.5);
    let half = Vec3::new(0.03, 0.02, 0.03);
    for i in 0..10 {
        let height = half.y + f64::from(i) * (2.0 * half.y + 1e-5) + 1e-5;
        add(&mut world, &RigidShape::Box(half), 0.1, Pose::translation(0.002 * f64::from(i % 3), height, 0.0));
    }
    let start: Vec<_> = world.bodies.of::<RigidBody>().map(|(_, b)| b.pose()).collect();
    let mut iterations = 0;
    for _ in 0..1000 {
        assert_eq!(world.step().status, Status::Done);
        iterations = iterations.max(world.statistics().iterations);
    }
    let moved = |(b, s): (&RigidBody, &Pose)| (b.pose().translation.vector - s.translation.vector).norm();
    let worst = world.bodies.of::<RigidBody>().map(|(_, body)| body).zip(&start).map(moved).fold(0.0, f64::max);
    println!("stack after 10 s: {worst:.2e} m, most sweeps {iterations}, {:?}", world.statistics());
    assert!(worst < 1e-4);
}

/// A flat round disc with evenly distributed samples of equal area on both faces.
fn disc(radius: f64, height: f64) -> RigidBody {
    let mut body =
        RigidBody::with_mass(&RigidShape::Cylinder(0.5 * height, radius), 0.1, Pose::identity()).expect("a disc");
    let (rings, mut mesh) = (14, SurfaceMesh::default());
    for side in [-0.5, 0.5] {
        let first = mesh.vertices.len() as u32;
        for ring in 0..=rings {
            let (r, around) = (radius * f64::from(ring) / f64::from(rings), if ring == 0 { 1 } else { 48 });
            for k in 0..around {
                let a = std::f64::consts::TAU * f64::from(k) / 48.0;
                mesh.vertices.push(Vec3::new(r * a.cos(), side * height, r * a.sin()));
            }
        }
        let at = |ring: u32, k: u32| first + if ring == 0 { 0 } else { 1 + (ring - 1) * 48 + k % 48 };
        for ring in 1..=rings as u32 {
            for k in 0..48 {
                mesh.triangles.push([at(ring, k), at(ring, k + 1), at(ring - 1, k)]);
                if ring > 1 {
                    mesh.triangles.push([at(ring, k + 1), at(ring - 1, k + 1), at(ring - 1, k)]);
                }
            }
        }
    }
    body.set_samples(mesh);
    body
}

#[test]
fn a_disc_stops_spinning_and_sliding_together_at_the_predicted_time() {
    let (mu, radius, height) = (0.3, 0.05, 0.004);
    for (slide, spin) in [(0.0, 20.0), (0.3, 20.0), (0.5, 6.0)] {
        let mut world = ground(mu);
        world.parameters.dt = 0.002;
        let mut body = disc(radius, height);
        body.set_pose(&Pose::translation(0.0, 0.5 * height + 1e-5, 0.0));
        body.set_velocity(Vec3::new(slide, 0.0, 0.0), Vec3::new(0.0, spin, 0.0));
        world.bodies.add(body);
        let (mut stops, mut lift) = ([0.0f64; 2], 0.0f64);
        for _ in 0..600 {
            world.step();
            let body = world.bodies.rigid(0);
            let speeds = [body.linear_velocity().norm() > 1e-4, body.angular_velocity().y.abs() > 1e-3];
            (0..2).filter(|&i| speeds[i]).for_each(|i| stops[i] = world.time());
            lift = lift.max((body.centre().y - 0.5 * height - 1e-5).abs());
        }
        println!("slide {slide} m/s, spin {spin} rad/s: stop at {stops:?} s, lift {lift:.1e} m");
        if slide == 0.0 {
            // Torque ⅔ μ m g R against the inertia ½ m R².
            let expected = 0.75 * radius * spin / (mu * 9.81);
            assert!((stops[1] - expected).abs() < 0.02 * expected, "{} for {expected}", stops[1]);
        } else {
            assert!((stops[0] - stops[1]).abs() <= 0.03 * stops[0], "both at once: {stops:?}");
        }
        assert!(lift < 1e-4);
    }
}

#[test]
fn nothing_tunnels_through_a_thin_plate() {
    for speed in [2.0, 20.0] {
        for shape in [RigidShape::Ball(0.01), RigidShape::Box(Vec3::repeat(0.01)), RigidShape::Capsule(0.01, 0.004)] {
            let mut world = World::new(Parameters::default());
            let plate = RigidShape::Box(Vec3::new(0.2, 0.0025, 0.2));
            world.bodies.add(Fixed::new(&plate, Pose::identity()).expect("a plate"));
            let i = add(&mut world, &shape, 0.05, Pose::translation(0.01, 0.07, 0.02));
            world.bodies.rigid_mut(i).set_velocity(Vec3::new(0.0, -speed, 0.0), Vec3::new(3.0, 0.0, 1.0));
            run(&mut world, 0.5);
            let height = world.bodies.rigid(0).centre().y;
            assert!(height > 0.0025, "{shape:?} at {speed} m/s ended at {height}");
        }
    }
    // A flat hand that moves down at 2 m/s.
    for method in [Method::Aggregate, Method::Point] {
        let mut world = World::new(Parameters::default());
        world.parameters.contact.method = method;
        world.parameters.solver.iterations = 100;
        let plate = RigidShape::Box(Vec3::new(0.3, 0.0025, 0.3));
        world.bodies.add(Fixed::new(&plate, Pose::identity()).expect("a plate"));
        let start = Pose::translation(0.0, 0.15, 0.0);
        let options = HandOptions { palm: start, ..HandOptions::default() };
        world.add(Hand::new(model(), &options).expect("a known pose"));
        let angles = *model().description.pose("open").expect("open");
        let (mut deepest, mut lowest) = (0.0f64, f64::INFINITY);
        for k in 1..=40 {
            let t = 0.01 * f64::from(k);
            let palm = Pose::translation(0.0, (0.15 - 2.0 * t).max(0.0), 0.0);
            world.bodies.hand_mut(0).track(HandSample::full(t, palm, angles));
            assert_eq!(world.step().status, Status::Done);
            deepest = deepest.max(world.statistics().penetration);
            lowest = lowest.min(world.bodies.hand(0).skeleton.state().palm.translation.y);
        }
        println!(
            "{}: hand at 2 m/s: deepest {:.2} mm, palm no lower than {:.1} mm",
            method.name(),
            deepest * 1e3,
            lowest * 1e3
        );
        assert!(lowest > 0.0, "the palm stays above the plate: {lowest}");
    }
}

/// A ball falls into the notch of an L and stays there.
#[test]
fn a_concave_mesh_has_an_inside_corner() {
    let (mesh, _) = blocks(&Vec3::new(0.2, 0.2, 0.1), [2, 2, 1], |[i, j, _]| i == 0 || j == 0).boundary();
    let mut world = World::new(Parameters::default());
    world.materials = materials(0.1);
    world.bodies.add(Fixed::new(&RigidShape::Mesh(mesh), Pose::identity()).expect("an L"));
    world.parameters.gravity = Vec3::new(-4.0, -9.0, 0.0);
    add(&mut world, &RigidShape::Ball(0.02), 0.1, Pose::translation(0.17, 0.15, 0.05));
    run(&mut world, 3.0);
    let centre = world.bodies.rigid(0).centre();
    println!("in the notch at {centre:?}");
    assert!((centre - Vec3::new(0.12, 0.12, centre.z)).norm() < 1e-4, "{centre:?}");
}

fn soft(size: &Vec3, cells: [usize; 3], pose: Pose) -> SoftBody {
    let mesh = block(size, cells);
    let material = Material { young: 5e4, poisson: 0.3, density: 800.0, damping_mass: 0.0, damping_stiffness: 0.005 };
    SoftBody::new(Arc::new(Continuum::new(&mesh, &vec![false; mesh.nodes.len()], material)), pose)
}

/// Total linear and angular momentum, the latter about the origin.
fn momentum(bodies: &Bodies) -> (Vec3, Vec3) {
    let (mut linear, mut angular) = (Vec3::zeros(), Vec3::zeros());
    for (_, b) in bodies.of::<RigidBody>() {
        linear += b.mass() * b.linear_velocity();
        angular += b.angular_momentum() + b.mass() * b.centre().cross(b.linear_velocity());
    }
    for (_, b) in bodies.of::<SoftBody>() {
        let (l, a) = b.momentum();
        linear += l;
        angular += a;
    }
    (linear, angular)
}

#[test]
fn action_equals_reaction_for_every_kind_of_constraint() {
    let mut world = World::new(Parameters { gravity: Vec3::zeros(), ..Parameters::default() });
    world.materials = materials(0.6);
    let cube = RigidShape::Box(Vec3::repeat(0.02));
    let at = |x: f64, y: f64| Pose::from_parts(Vec3::new(x, y, 0.0).into(), Quat::from_euler_angles(0.3, 0.2 * x, 0.1));
    for (x, y) in [(0.0, 0.0), (0.06, 0.01), (0.3, 0.0), (0.35, 0.0), (0.4, 0.0), (0.45, 0.0)] {
        add(&mut world, &cube, 0.1 + x, at(x, y));
    }
    world.bodies.add(soft(&Vec3::repeat(0.04), [2, 2, 2], Pose::translation(0.10, -0.02, -0.02)));
    world.bodies.add(soft(&Vec3::repeat(0.04), [2, 2, 2], Pose::translation(0.16, -0.01, -0.02)));
    let corner = world.bodies.soft(1).positions()[0];
    let rigid = |n: usize| end(&world, n);
    let soft = AttachmentEnd::new(world.bodies.nth::<SoftBody>(1));
    let joints = [
        ([rigid(2), rigid(3)], Joint::Weld, Vec3::new(0.32, 0.0, 0.0)),
        ([rigid(3), rigid(4)], Joint::Hinge(Vec3::y()), Vec3::new(0.37, 0.0, 0.0)),
        ([rigid(4), rigid(5)], Joint::Point, Vec3::new(0.42, 0.0, 0.0)),
        ([soft, rigid(2)], Joint::Point, corner),
    ];
    for (parts, joint, place) in joints {
        world.attachments.push(Attachment::new(&world.bodies, parts, &place, joint).expect("an attachment"));
    }
    world.bodies.rigid_mut(0).set_velocity(Vec3::new(1.0, 0.1, 0.0), Vec3::new(0.0, 3.0, 5.0));
    world.bodies.rigid_mut(5).set_velocity(Vec3::new(-0.4, 0.3, 0.2), Vec3::new(4.0, 0.0, -2.0));
    let start = momentum(&world.bodies);
    let (mut touched, mut linear, mut turning) = (0, 0.0f64, 0.0f64);
    for _ in 0..60 {
        let before = momentum(&world.bodies);
        assert_eq!(world.step().status, Status::Done);
        let after = momentum(&world.bodies);
        linear = linear.max((after.0 - before.0).norm());
        turning = turning.max((after.1 - before.1).norm());
        touched += world.touches().count();
    }
    println!(
        "{touched} touches; momentum changed by {linear:.1e} of {:.2}, angular by {turning:.1e} of {:.3} in a step",
        start.0.norm(),
        start.1.norm()
    );
    assert!(touched > 10, "they do collide");
    assert!(linear < 1e-13, "{linear}");
    // Forces act at the two points of a contact, which are up to the gap apart. Those of attachments act where the points are at the end of
    // the step, so that joints close there; angular momentum then changes by `h Σ m v_end × v_start`, as with any implicit Euler step.
    assert!(turning < 5e-4, "{turning}");
}

#[test]
fn a_hinge_swings_and_a_weld_holds() {
    // A rod on a hinge at its end: ω² = m g ℓ / I, with I about the hinge.
    let half = Vec3::new(0.005, 0.1, 0.005);
    let mut world = World::new(Parameters { dt: 0.001, ..Parameters::default() });
    let tilt = Quat::from_axis_angle(&nalgebra::Vector3::z_axis(), 0.05);
    let pose = Pose::from_parts((tilt * Vec3::new(0.0, -0.1, 0.0)).into(), tilt);
    add(&mut world, &RigidShape::Box(half), 0.2, pose);
    let hinge =
        Attachment::new(&world.bodies, [end(&world, 0), AttachmentEnd::WORLD], &Vec3::zeros(), Joint::Hinge(Vec3::z()));
    world.attachments.push(hinge.expect("a hinge"));
    let (mut last, mut crossings, mut drift) = (0.05, Vec::new(), 0.0f64);
    while crossings.len() < 5 && world.time() < 10.0 {
        assert_eq!(world.step().status, Status::Done);
        let rod = world.bodies.rigid(0);
        let angle = rod.pose().rotation.scaled_axis().z;
        if last > 0.0 && angle <= 0.0 {
            crossings.push(world.time() - 0.001 * angle / (angle - last));
        }
        last = angle;
        drift = drift.max((rod.pose() * nalgebra::Point3::new(0.0, 0.1, 0.0)).coords.norm());
    }
    let period = (crossings[4] - crossings[0]) / 4.0;
    let inertia: f64 = 0.2 * (0.2 * 0.2 + 0.01 * 0.01) / 12.0 + 0.2 * 0.1 * 0.1;
    let expected = std::f64::consts::TAU * (inertia / (0.2 * 9.81 * 0.1)).sqrt();
    println!("period {period} s for {expected} s, the hinge gave {drift:.1e} m");
    assert!((period - expected).abs() < 0.01 * expected && drift < 1e-6);
    let weld = Attachment::new(&world.bodies, [end(&world, 0), AttachmentEnd::WORLD], &Vec3::zeros(), Joint::Weld);
    world.attachments = vec![weld.expect("a weld")];
    world.bodies.rigid_mut(0).set_velocity(Vec3::zeros(), Vec3::zeros());
    let start = world.bodies.rigid(0).pose();
    run(&mut world, 1.0);
    let end = world.bodies.rigid(0).pose();
    assert!(end.rotation.angle_to(&start.rotation) < 1e-6, "a weld holds against gravity");
    assert!((end.translation.vector - start.translation.vector).norm() < 1e-6);
}

#[test]
fn non_finite_numbers_are_contained() {
    let mut world = ground(0.5);
    add(&mut world, &RigidShape::Box(Vec3::repeat(0.02)), 0.1, Pose::translation(0.0, 0.02, 0.0));
    run(&mut world, 0.05);
    world.parameters.gravity = Vec3::new(0.0, f64::NAN, 0.0);
    assert_eq!(world.step().status, Status::NotFinite);
    let hash = world.step().hash;
    assert_eq!(world.step().hash, hash, "the world stands still");
    let mut world = ground(0.5);
    add(&mut world, &RigidShape::Box(Vec3::repeat(0.02)), 0.1, Pose::translation(0.0, 0.02, 0.0));
    world.bodies.rigid_mut(0).set_velocity(Vec3::new(1e200, 1e250, 0.0), Vec3::new(0.0, 1e300, 0.0));
    for _ in 0..5 {
        world.step();
    }
}

#[test]
fn the_order_of_contacts_does_not_matter_to_a_soft_body() {
    let mut world = ground(0.4);
    world.parameters.contact.method = Method::Point;
    world.bodies.add(soft(&Vec3::new(0.06, 0.03, 0.06), [3, 2, 3], Pose::translation(0.0, 1e-5, 0.0)));
    run(&mut world, 0.3);
    let group = &world.system().groups()[0];
    let problem = &group.problem;
    let count = problem.laws.len();
    assert!(count > 8);
    // All blocks shifted by seven places.
    let moved: Vec<usize> = (0..count).map(|i| (i + 7) % count).collect();
    let row = |block: usize, r: usize| 3 * moved[block] + r;
    let rows: Vec<usize> = (0..count).flat_map(|b| (0..3).map(move |r| (b, r))).map(|(b, r)| row(b, r)).collect();
    let permuted = ContactProblem {
        delassus: rows.iter().flat_map(|&r| rows.iter().map(move |&c| problem.w(r, c))).collect(),
        free: rows.iter().map(|&r| problem.free[r]).collect(),
        laws: moved.iter().map(|&b| problem.laws[b].clone()).collect(),
    };
    let solver = GaussSeidel::default();
    let solve = |problem: &ContactProblem| {
        let mut forces = vec![0.0; problem.rows()];
        assert_eq!(solver.solve(problem, &mut forces, || true).status, SolverStatus::Converged);
        forces
    };
    let (here, there) = (solve(problem), solve(&permuted));
    let largest = here.iter().fold(0.0f64, |m, f| m.max(f.abs()));
    let worst = rows.iter().enumerate().map(|(i, &r)| (there[i] - here[r]).abs()).fold(0.0, f64::max);
    println!("forces up to {largest:.3} N differ by {worst:.1e} N");
    assert!(worst < 1e-6 * largest, "{worst} of {largest}");
}

#[test]
fn static_friction_holds_and_dynamic_friction_brakes() {
    let (rest, sliding, angle) = (0.6, 0.3, 0.45f64);
    assert!(sliding < angle.tan() && angle.tan() < rest);
    for push in [0.0, 0.2] {
        let mut world = slope(rest, angle, &RigidShape::Box(Vec3::new(0.05, 0.02, 0.05)), 0.02);
        world.materials.set("default", Friction { sliding, ..Friction::of(rest) });
        world.bodies.rigid_mut(0).set_velocity(Vec3::new(push, 0.0, 0.0), Vec3::zeros());
        // The first steps determine that it slides.
        run(&mut world, 0.1);
        let (start, before) = (world.time(), world.bodies.rigid(0).linear_velocity().x);
        run(&mut world, 0.5);
        let a = (world.bodies.rigid(0).linear_velocity().x - before) / (world.time() - start);
        let expected = if push == 0.0 { 0.0 } else { 9.81 * (angle.sin() - sliding * angle.cos()) };
        println!("pushed with {push} m/s: {a} for {expected}");
        assert!((a - expected).abs() < 0.01 * expected + 1e-9, "{a} for {expected}");
    }
}

/// Cached data of a pair of shapes must not be used for another pair in its place: here a coarse slab under a fine one.
#[test]
fn a_removed_body_leaves_no_state() {
    let slab = |cells: [usize; 3]| RigidShape::Mesh(block(&Vec3::new(1.0, 0.02, 0.1), cells).boundary().0);
    let mut world = World::new(Parameters::default());
    for (cells, lower) in [([20, 1, 4], 0.0), ([1, 1, 1], 0.001)] {
        let pose = Pose::translation(0.0, -lower, 0.0);
        world.bodies.add(Fixed::new(&slab(cells), pose).expect("a slab"));
    }
    add(&mut world, &RigidShape::Box(Vec3::repeat(0.02)), 0.1, Pose::translation(0.9, 0.04001, 0.05));
    run(&mut world, 0.2);
    world.remove(world.bodies.nth::<Fixed>(0));
    run(&mut world, 0.5);
    let centre = world.bodies.rigid(0).centre();
    println!("it rests at {centre:?}");
    assert!((centre - Vec3::new(0.9, 0.03901, 0.05)).norm() < 1e-5, "{centre:?}");
}

/// A chain of light links with a heavy one at its end swings down: joints used to open by metres while the solver reported convergence.
#[test]
fn a_chain_with_a_heavy_end_holds_together() {
    for dt in [0.01, 0.005, 0.002, 0.001] {
        let mut world = World::new(Parameters { dt, ..Parameters::default() });
        let link = RigidShape::Box(Vec3::new(0.02, 0.01, 0.01));
        for (i, mass) in [0.016, 0.016, 1.0].into_iter().enumerate() {
            add(&mut world, &link, mass, Pose::translation(0.05 * i as f64, 2.0, 0.0));
        }
        for i in 0..3 {
            let before = if i == 0 { AttachmentEnd::WORLD } else { end(&world, i - 1) };
            let at = Vec3::new(0.05 * i as f64 - 0.025, 2.0, 0.0);
            let joint = Attachment::new(&world.bodies, [before, end(&world, i)], &at, Joint::Point);
            world.attachments.push(joint.expect("a joint"));
        }
        let (mut open, mut fastest) = (0.0f64, 0.0f64);
        for _ in 0..(3.0 / dt) as usize {
            assert_eq!(world.step().status, Status::Done);
            let places = world.attachments.iter().flat_map(|joint| joint.places(&world.bodies));
            open = places.map(|[a, b]| (a - b).norm()).fold(open, f64::max);
            let speeds = world.bodies.of::<RigidBody>().map(|(_, body)| body.linear_velocity().norm());
            fastest = speeds.fold(fastest, f64::max);
        }
        println!("at {dt} s: opens by {open:.1e} m, fastest {fastest:.2} m/s");
        // It falls by at most 15 cm.
        assert!(open < 1e-4 && fastest < 3.0, "at {dt} s: {open} m, {fastest} m/s");
    }
}

/// A clone is a snapshot: it continues to the same states to the bit, and changing it leaves the original alone.
#[test]
fn a_clone_of_a_world_continues_to_the_same_states() {
    for method in [Method::Aggregate, Method::Point] {
        let mut pinch = common::Pinch::new(&common::capsule(), 0.045, 0.7, method, Pose::identity());
        pinch.grasp(1.02);
        let mut branch = pinch.world.clone();
        let mut slippery = pinch.world.clone();
        slippery.materials.set("default", Friction::of(0.005));
        for _ in 0..50 {
            let (original, copy) = (pinch.world.step(), branch.step());
            assert_eq!(original, copy, "{method:?}");
            slippery.step();
        }
        let fell = pinch.object().centre() - slippery.bodies.rigid(0).centre();
        assert!(fell.dot(&pinch.down) < -0.02, "without friction it falls: {fell:?}");
    }
}

/// Contact memory goes by ids: a body that is added or removed elsewhere changes nothing.
#[test]
fn adding_and_removing_bodies_does_not_disturb_others() {
    let build = || {
        let mut world = ground(0.5);
        let far = add(&mut world, &RigidShape::Ball(0.02), 0.1, Pose::translation(1.0, 0.02001, 0.0));
        let half = Vec3::new(0.02, 0.02, 0.02);
        for i in 0..3 {
            let height = half.y + 1e-5 + f64::from(i) * (2.0 * half.y + 1e-5);
            add(&mut world, &RigidShape::Box(half), 0.1, Pose::translation(0.0, height, 0.0));
        }
        world.parameters.gravity = Vec3::new(1.5, -9.81, 0.0);
        run(&mut world, 0.5);
        (world, far)
    };
    let ((mut world, far), (mut undisturbed, _)) = (build(), build());
    let stack: Vec<_> = world.bodies.of::<RigidBody>().map(|(id, _)| id).skip(1).collect();
    let same = |a: &World, b: &World| stack.iter().all(|&id| a.bodies[id].pose() == b.bodies[id].pose());
    for step in 0..40 {
        if step == 10 {
            world.remove(world.bodies.nth::<RigidBody>(far));
        }
        if step == 20 {
            add(&mut world, &RigidShape::Ball(0.03), 0.2, Pose::translation(-1.0, 0.03001, 0.0));
        }
        run(&mut world, 0.01);
        run(&mut undisturbed, 0.01);
        assert!(same(&world, &undisturbed), "step {step}");
    }
}
