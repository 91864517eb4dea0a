//! Sliders, and springs, motors and limits of hinges and sliders, against known answers at steps of 1 to 10 ms.

use std::f64::consts::TAU;

use crate::common::Ordered;
use fingerpad::body::{DriveLaw, RigidBody, RigidShape, SLIP};
use fingerpad::contact::{Attachment, AttachmentEnd, AttachmentFault, Joint};
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::sim::{Parameters, Status, World};

const STEPS: [f64; 4] = [0.01, 0.005, 0.002, 0.001];
const MASS: f64 = 0.2;
/// Half sizes of a block.
const HALF: Vec3 = Vec3::new(0.03, 0.02, 0.01);
const G: f64 = 9.81;

/// A block, tilted, on a joint at its centre, with a law.
fn driven(dt: f64, gravity: f64, joint: Joint, law: DriveLaw) -> World {
    let gravity = Vec3::new(0.0, -gravity, 0.0);
    let mut world = World::new(Parameters { dt, gravity, ..Parameters::default() });
    let pose = Pose::from_parts(Vec3::new(0.1, 0.2, 0.0).into(), Quat::from_euler_angles(0.0, 0.0, 0.4));
    world.bodies.add(RigidBody::with_mass(&RigidShape::Box(HALF), MASS, pose).expect("a block"));
    let ends = [AttachmentEnd::new(world.bodies.nth::<RigidBody>(0)), AttachmentEnd::WORLD];
    let joint = Attachment::new(&world.bodies, ends, &pose.translation.vector, joint).expect("a joint");
    let joint = joint.driven(&world.bodies, law).expect("a drive");
    world.attachments.push(joint);
    world
}

fn height(world: &World) -> f64 {
    world.bodies.rigid(0).pose().translation.y - 0.2
}

fn turned(world: &World) -> f64 {
    world.bodies.rigid(0).pose().rotation.scaled_axis().z - 0.4
}

/// Runs for some time; calls back after every step.
fn run(world: &mut World, seconds: f64, mut each: impl FnMut(&World)) {
    let end = world.time() + seconds - 1e-9;
    while world.time() < end {
        assert_eq!(world.step().status, Status::Done);
        each(world);
    }
}

/// Inertia of the block about Z.
fn inertia() -> f64 {
    MASS / 3.0 * (HALF.x * HALF.x + HALF.y * HALF.y)
}

/// A mass on a spring. The implicit Euler step `v' = v − h ω² (x + h v')` has the eigenvalues `1/(1 ± i ω h)`: it swings with the period
/// `2π h / atan(ω h)`.
#[test]
fn springs_have_their_period() {
    for dt in STEPS {
        for turns in [false, true] {
            let (joint, inertia) =
                if turns { (Joint::Hinge(Vec3::z()), inertia()) } else { (Joint::Slider(Vec3::y()), MASS) };
            let omega = 14.0;
            let stiffness = omega * omega * inertia;
            let mut world = driven(dt, 0.0, joint, DriveLaw { spring: [stiffness, 0.05], ..DriveLaw::default() });
            let (mut last, mut crossings) = (-0.05, Vec::new());
            run(&mut world, 1.2, |world| {
                let x = if turns { turned(world) } else { height(world) } - 0.05;
                if last < 0.0 && x >= 0.0 {
                    crossings.push(world.time() - dt * x / (x - last));
                }
                last = x;
            });
            let period = crossings[1] - crossings[0];
            let expected = TAU * dt / (omega * dt).atan();
            println!("dt {dt}, turns {turns}: period {period:.4} s, expected {expected:.4} s");
            assert!((period / expected - 1.0).abs() < 0.01);
        }
    }
}

/// A motor runs at its speed, and slower by the slip under a load: `u = w (1 − SLIP L / F)`.
#[test]
fn motors_have_their_speed() {
    for dt in STEPS {
        for (gravity, strength) in [(0.0, 3.0), (G, 4.0)] {
            let law = DriveLaw { motor: [0.1, strength], ..DriveLaw::default() };
            let mut world = driven(dt, gravity, Joint::Slider(Vec3::y()), law);
            run(&mut world, 0.5, |_| {});
            let speed = world.bodies.rigid(0).linear_velocity().y;
            let expected = 0.1 * (1.0 - SLIP * MASS * gravity / strength);
            println!("dt {dt}, gravity {gravity}: {speed:.6} m/s, expected {expected:.6} m/s");
            assert!((speed - expected).abs() < 1e-4 * expected);
        }
        // Too weak to lift the block: it falls with what the motor leaves.
        let law = DriveLaw { motor: [0.1, 0.5 * MASS * G], ..DriveLaw::default() };
        let mut world = driven(dt, G, Joint::Slider(Vec3::y()), law);
        run(&mut world, 0.2, |_| {});
        let speed = world.bodies.rigid(0).linear_velocity().y;
        assert!((speed + 0.5 * G * 0.2).abs() < 0.01, "{speed}");
        let mut world = driven(dt, G, Joint::Hinge(Vec3::z()), DriveLaw { motor: [2.0, 0.01], ..DriveLaw::default() });
        run(&mut world, 0.4, |_| {});
        let spin = world.bodies.rigid(0).angular_velocity().z;
        assert!((spin - 2.0).abs() < 1e-3, "{spin}");
        assert!(world.attachments[0].set_motor_speed(-1.0));
        run(&mut world, 0.4, |_| {});
        let spin = world.bodies.rigid(0).angular_velocity().z;
        assert!((spin + 1.0).abs() < 1e-3, "{spin}");
    }
}

/// A block falls on the limit of a slider, and a pendulum swings against that of a hinge; both come to rest there.
#[test]
fn limits_hold() {
    for dt in STEPS {
        let law = DriveLaw { limits: [-0.05, 0.01], ..DriveLaw::default() };
        let mut world = driven(dt, G, Joint::Slider(Vec3::y()), law);
        let mut lowest = 0.0f64;
        run(&mut world, 0.6, |world| lowest = lowest.min(height(world)));
        println!("dt {dt}: lowest {:.6} m, at the end {:.6} m", lowest, height(&world));
        assert!(lowest > -0.0505 && (height(&world) + 0.05).abs() < 2e-5);
        // Nothing but the height changed.
        let pose = world.bodies.rigid(0).pose();
        assert!(
            (pose.translation.x - 0.1).abs() < 1e-6 && pose.translation.z.abs() < 1e-6 && turned(&world).abs() < 1e-6
        );

        let mut world =
            driven(dt, 0.0, Joint::Hinge(Vec3::z()), DriveLaw { limits: [-0.2, 0.5], ..DriveLaw::default() });
        world.bodies.rigid_mut(0).set_velocity(Vec3::zeros(), Vec3::new(0.0, 0.0, 6.0));
        let mut most = 0.0f64;
        run(&mut world, 0.4, |world| most = most.max(turned(world)));
        println!("dt {dt}: most {most:.5} rad, at the end {:.5} rad", turned(&world));
        // It may rebound with two hundredths of its speed.
        let spin = world.bodies.rigid(0).angular_velocity().z;
        assert!(most < 0.505 && (0.45..0.505).contains(&turned(&world)) && (-0.12..1e-3).contains(&spin), "{spin}");
    }
}

#[test]
fn drives_of_other_joints_are_refused() {
    let mut world = driven(0.01, 0.0, Joint::Hinge(Vec3::z()), DriveLaw::default());
    let shape = RigidShape::Box(HALF);
    world.bodies.add(RigidBody::with_mass(&shape, MASS, Pose::translation(0.3, 0.2, 0.0)).expect("a block"));
    let [one, other] = [0, 1].map(|n| AttachmentEnd::new(world.bodies.nth::<RigidBody>(n)));
    let drive = |ends, joint, law| {
        Attachment::new(&world.bodies, ends, &Vec3::zeros(), joint)
            .and_then(|joint| joint.driven(&world.bodies, law))
            .err()
    };
    let (slider, law) = (Joint::Slider(Vec3::x()), DriveLaw::default());
    assert_eq!(drive([one, other], slider, law), Some(AttachmentFault::Drive));
    assert_eq!(drive([one, AttachmentEnd::WORLD], Joint::Weld, law), Some(AttachmentFault::Drive));
    assert_eq!(drive([AttachmentEnd::WORLD, other], slider, law), None);
    let wrong = DriveLaw { limits: [0.1, 0.2], ..law };
    assert_eq!(drive([one, AttachmentEnd::WORLD], slider, wrong), Some(AttachmentFault::Law));
}
