//! Elastic objects in the common contact problem, and their tools on haptic devices.

use fingerpad::body::{Body, ElasticBody, ElasticBodyOptions, Fixed, Handle, RigidBody, RigidShape};
use fingerpad::elastic::{
    Compass, DuffingLaw, ElasticObject, ElasticOptions, ElasticShape, FrictionLaw, PressedObject, PressedPoint, Tool,
};
use fingerpad::haptics::{DeviceSample, HandDynamics, HapticOptions, VirtualCoupling, Wrench};
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::runtime::{ElasticThread, HapticLink};
use fingerpad::sim::two_rate::{ElasticLockstep, LockstepSettings};
use fingerpad::sim::{Parameters, Status, World};

const STEPS: [f64; 4] = [0.01, 0.005, 0.002, 0.001];
const SIDE: f64 = 0.05;

fn cube(triangles: usize) -> ElasticOptions {
    ElasticOptions { triangles, ..ElasticOptions::new(ElasticShape::block(Vec3::repeat(SIDE))) }
}

fn world(dt: f64) -> World {
    World::new(Parameters { dt, ..Parameters::default() })
}

fn fixed(model: ElasticOptions) -> ElasticBody {
    let options = ElasticBodyOptions { fixed: true, ..ElasticBodyOptions::default() };
    ElasticBody::new(model, options, Pose::identity()).expect("an elastic body")
}

fn run(world: &mut World, seconds: f64) {
    for _ in 0..(seconds / world.parameters.dt).round() as usize {
        assert_eq!(world.step().status, Status::Done);
    }
}

/// Pressure of the law at a compression, Pa.
fn pressure(depth: f64) -> f64 {
    DuffingLaw::default().force(depth) / ElasticBodyOptions::default().area
}

/// Contact force on a body, N.
fn load(world: &World, body: impl Into<fingerpad::body::BodyId>) -> Vec3 {
    let id = body.into();
    let on = |p: &fingerpad::sim::PressurePoint| {
        f64::from(u8::from(p.body.body == id)) - f64::from(u8::from(p.other.body == id))
    };
    world.pressure_points().map(|p| on(&p) * p.force).sum()
}

/// A plate wider than the cube compresses all of its top: weight = area × pressure, for every step length.
#[test]
fn a_plate_sinks_in_as_the_law_says() {
    for dt in STEPS {
        let mut world = world(dt);
        world.add(fixed(cube(2000)));
        let plate = RigidShape::Box(Vec3::new(0.04, 0.005, 0.04));
        let above = 0.5 * SIDE + 0.005;
        let plate = world.add(RigidBody::with_mass(&plate, 2.0, Pose::translation(0.0, above, 0.0)).expect("a plate"));
        run(&mut world, 1.5);
        let depth = above - world.bodies[plate].centre().y + world.parameters.contact.offset;
        let expected = 2.0 * 9.81;
        let force = SIDE * SIDE * pressure(depth);
        println!("{dt} s: {:.4} mm, {force:.4} N for {expected} N", 1e3 * depth);
        assert!((force / expected - 1.0).abs() < 0.01, "{force} N at {dt} s");
        assert!((load(&world, plate).y / expected - 1.0).abs() < 1e-3);
        assert!(world.bodies[plate].linear_velocity().norm() < 1e-4);
    }
}

/// The pressure of the law, integrated over the overlap of a ball with the flat surface.
fn ball_force(radius: f64, depth: f64) -> f64 {
    const RINGS: usize = 2000;
    let height = radius - depth;
    let reach = (radius * radius - height * height).sqrt();
    let ring = |i: usize| {
        let r = reach * (i as f64 + 0.5) / RINGS as f64;
        let from_centre = r.hypot(height);
        let area = 2.0 * std::f64::consts::PI * r * reach / RINGS as f64;
        // The surface is compressed along the radius of the ball.
        area * pressure(radius - from_centre) * height / from_centre
    };
    (0..RINGS).map(ring).sum()
}

#[test]
fn a_ball_sinks_in_until_the_pressure_carries_it() {
    for dt in STEPS {
        let mut world = world(dt);
        world.add(fixed(cube(7500)));
        let (radius, mass) = (0.015, 0.5);
        let above = 0.5 * SIDE + radius;
        let ball = RigidBody::with_mass(&RigidShape::Ball(radius), mass, Pose::translation(0.0, above, 0.0));
        let ball = world.add(ball.expect("a ball"));
        run(&mut world, 1.5);
        let depth = above - world.bodies[ball].centre().y + world.parameters.contact.offset;
        let force = ball_force(radius, depth);
        println!("{dt} s: {:.4} mm, {force:.3} N for {:.3} N", 1e3 * depth, mass * 9.81);
        assert!((force / (mass * 9.81) - 1.0).abs() < 0.1, "{force} N at {dt} s");
        assert!((load(&world, ball).y / (mass * 9.81) - 1.0).abs() < 1e-2);
    }
}

fn dropped(dt: f64, shape: ElasticShape, from: f64) -> (World, Handle<ElasticBody>) {
    let mut world = world(dt);
    world.add(Fixed::new(&RigidShape::Ground, Pose::identity()).expect("the ground"));
    let options = ElasticBodyOptions::default();
    let body = ElasticBody::new(
        ElasticOptions { triangles: 1000, ..ElasticOptions::new(shape) },
        options,
        Pose::translation(0.0, from, 0.0),
    );
    let body = world.add(body.expect("an elastic body"));
    (world, body)
}

/// A dropped object never has more energy than it started with, comes to rest, and the ground carries its weight.
#[test]
fn a_dropped_object_comes_to_rest() {
    let shapes = [
        ElasticShape::block(Vec3::repeat(0.04)),
        ElasticShape::Ball { radius: 0.02 },
        ElasticShape::Ellipsoid { semi: Vec3::new(0.03, 0.02, 0.025) },
        ElasticShape::Capsule { radius: 0.02, half_length: 0.02 },
    ];
    for shape in shapes {
        for dt in STEPS {
            let low = shape.bottom().y;
            let (mut world, body) = dropped(dt, shape.clone(), 0.03 - low);
            let mass = world.bodies[body].mass().expect("a mass");
            let energy = |world: &World| {
                let body = &world.bodies[body];
                body.energy() + mass * 9.81 * body.centre().y
            };
            let start = energy(&world);
            for _ in 0..(2.0 / dt) as usize {
                assert_eq!(world.step().status, Status::Done);
                assert!(energy(&world) < start * (1.0 + 1e-9), "{shape:?} at {dt} s");
            }
            let speed = world.bodies[body].centre_velocity().norm();
            let sunk = -(world.bodies[body].centre().y + low);
            assert!(speed < 1e-2 && (0.0..6e-3).contains(&sunk), "{shape:?} at {dt} s: {speed} m/s, sunk {sunk} m");
            assert!((load(&world, body).y / (mass * 9.81) - 1.0).abs() < 0.02, "{shape:?} at {dt} s");
        }
    }
}

/// The drawn surface does not reach far into the ground that compresses it, and is undeformed without contact.
#[test]
fn the_shape_follows_the_forces() {
    let (mut world, body) = dropped(0.002, ElasticShape::block(Vec3::repeat(0.04)), 0.05);
    let rest: Vec<Vec3> = world.bodies[body].object().rest().to_vec();
    run(&mut world, 0.02);
    let pose = world.bodies[body].pose();
    let moved = |world: &World| {
        let pose = world.bodies[body].pose();
        let nodes = world.bodies[body].nodes();
        rest.iter().zip(nodes).map(|(p, q)| (pose * nalgebra::Point3::from(*p) - q).coords.norm()).fold(0.0, f64::max)
    };
    assert!(pose.translation.y < 0.0499 && moved(&world) < 1e-12);
    run(&mut world, 1.5);
    // Marks for pictures follow the vertices of the surface.
    let surface = &world.bodies[body].nodes()[..rest.len()];
    let lowest = surface.iter().map(|p| p.y).fold(f64::INFINITY, f64::min);
    let sunk = 0.02 - world.bodies[body].centre().y;
    println!("sunk by {sunk:.2e} m, lowest node at {lowest:.2e} m, {} regions", world.bodies[body].regions());
    assert!(sunk > 2e-4 && moved(&world) > 0.5 * sunk);
    assert!(lowest > -0.2 * sunk, "the surface is at the ground: {lowest}");
    assert_eq!(world.bodies[body].regions(), 1);
}

/// Two equal objects pressed against each other share the compression: each has the force of half of the approach.
#[test]
fn two_elastic_objects_share_the_compression() {
    for dt in STEPS {
        let mut world = world(dt);
        world.add(fixed(cube(2000)));
        // The upper one is wider, with five by five vertices of 10 mm by 10 mm above the lower one.
        let size = Vec3::new(0.12, SIDE, 0.12);
        let options = ElasticBodyOptions { density: 1.0 / size.product(), ..ElasticBodyOptions::default() };
        let model = ElasticOptions { triangles: 2000, ..ElasticOptions::new(ElasticShape::block(size)) };
        let upper = world.add(ElasticBody::new(model, options, Pose::translation(0.0, SIDE, 0.0)).expect("a box"));
        run(&mut world, 1.5);
        let approach = SIDE - world.bodies[upper].centre().y + world.parameters.contact.offset;
        let force = SIDE * SIDE * pressure(0.5 * approach);
        println!("{dt} s: {:.3} mm, {force:.3} N for {:.3} N", 1e3 * approach, 9.81);
        assert!((force / 9.81 - 1.0).abs() < 0.03, "{force} N at {dt} s");
    }
}

fn press(x: f64, force: f64) -> PressedPoint {
    let (foot, normal) = (Vec3::new(x, 0.5 * SIDE, 0.0), Vec3::y());
    PressedPoint { foot, normal, force: -force * normal, depth: 2e-3, area: 1e-5 }
}

/// The order of the forces does not matter, a mirrored load has a mirrored shape, and no load leaves no trace.
#[test]
fn the_shape_does_not_depend_on_the_order_of_forces() {
    let mut object = PressedObject::new(cube(2000)).expect("an object");
    let loads = [press(0.015, 3.0), press(-0.015, 3.0), press(0.013, 1.0), press(-0.013, 1.0)];
    object.press(&loads);
    assert_eq!(object.regions(), 2);
    let first = object.surface().vertices.clone();
    let mut turned = loads;
    turned.reverse();
    object.press(&turned);
    for (a, b) in first.iter().zip(&object.surface().vertices) {
        assert!((a - b).norm() < 1e-12);
        let mirrored = Vec3::new(-a.x, a.y, a.z);
        assert!(first.iter().any(|c| (c - mirrored).norm() < 1e-9));
    }
    let deepest = object.rest().iter().zip(&first).map(|(p, q)| p.y - q.y).fold(0.0, f64::max);
    assert!((deepest - 2e-3).abs() < 5e-4, "{deepest}");
    object.press(&[]);
    assert_eq!(object.surface().vertices, object.rest());
}

#[test]
fn a_softening_law_is_refused() {
    let law = DuffingLaw { cubic: -1e6, ..DuffingLaw::default() };
    let model = ElasticOptions { law, ..cube(1000) };
    let error = ElasticBody::new(model, ElasticBodyOptions::default(), Pose::identity()).expect_err("a law");
    assert!(error.to_string().contains("cubic restoring term"), "{error}");
}

const RADIUS: f64 = 0.01;
/// Height at which the ball touches the cube.
const TOUCH: f64 = 0.5 * SIDE + RADIUS;

fn ball() -> Tool {
    Tool::ball(RADIUS, 1.5e-3).expect("a ball")
}

fn held(model: ElasticOptions, tool: Tool, at: Pose) -> ElasticBody {
    fixed(model).with_tool(tool, at).expect("a tool outside")
}

fn haptic(hand: Option<HandDynamics>) -> LockstepSettings {
    let coupling = VirtualCoupling {
        stiffness: 1000.0,
        damping: 0.5,
        angular_stiffness: 1.0,
        angular_damping: 1e-3,
        force_limit: 30.0,
        torque_limit: 1.0,
    };
    LockstepSettings { rate: 1000.0, options: HapticOptions { coupling, ..HapticOptions::default() }, hand }
}

/// Moves the device through poses, with rest at each; half of the time of a key is rest.
fn lead(
    lock: &mut ElasticLockstep,
    world: &mut World,
    keys: &[Pose],
    seconds: f64,
    mut each: impl FnMut(&ElasticLockstep),
) {
    let steps = (seconds / world.parameters.dt).round();
    for to in keys {
        let from = *lock.aim();
        for i in 1..=steps as usize {
            let part = (2.0 * i as f64 / steps).min(1.0);
            let smooth = part * part * (3.0 - 2.0 * part);
            let place = from.translation.vector.lerp(&to.translation.vector, smooth);
            let turn = from.rotation.slerp(&to.rotation, smooth);
            lock.set_aim(&Pose::from_parts(place.into(), turn));
            assert_eq!(lock.step(world).status, Status::Done);
            each(lock);
        }
    }
}

/// At rest the device has the force of the law at the depth of the tool, and the spring between them carries it; a device that leaves has none.
/// The same at every step of the scene.
#[test]
fn a_device_has_the_force_of_the_law() {
    let mut depths = Vec::new();
    for dt in STEPS {
        let mut world = world(dt);
        let cube = world.add(held(cube(600), ball(), Pose::translation(0.0, TOUCH + 5e-4, 0.0)));
        let mut lock = ElasticLockstep::new(&mut world, cube.id(), &haptic(None)).expect("a tool");
        let down = Pose::translation(0.0, TOUCH - 8e-3, 0.0);
        lead(&mut lock, &mut world, &[down], 1.0, |_| {});
        let tool = world.bodies[cube].tool().expect("a tool");
        let (force, depth) = (tool.force(), TOUCH - tool.pose().translation.y);
        depths.push(depth);
        let sent = lock.sent_wrench().force;
        println!("{dt} s: {:.4} mm, {:.4} N, device {:.4} N", 1e3 * depth, force.y, sent.y);
        assert!(depth > 2e-3 && (1000.0 * (8e-3 - depth) - force.y).abs() < 1e-6 * force.y, "{depth} {force}");
        assert!((sent - force).norm() < 1e-6 * force.norm(), "{sent} {force}");
        let mut alone = ElasticObject::new(self::cube(600), ball()).expect("an object");
        alone.update(&Pose::translation(0.0, TOUCH + 5e-4, 0.0), 1e-3);
        let law = alone.update(tool.pose(), 1e-3).force;
        assert!((law.y - force.y).abs() < 1e-6 * force.y, "{law} {force}");
        let (surface, rest) = (&tool.object().surface().vertices, tool.object().rest());
        let dent = surface.iter().zip(rest).map(|(v, rest)| rest.y - v.y).fold(0.0, f64::max);
        assert!(dent > 0.4 * depth && dent < 1.01 * depth, "the scene shows the dent: {dent} {depth}");
        lead(&mut lock, &mut world, &[Pose::translation(0.0, TOUCH + 5e-3, 0.0)], 0.6, |_| {});
        let tool = world.bodies[cube].tool().expect("a tool");
        assert!(tool.force() == Vec3::zeros() && lock.sent_wrench().force.norm() < 1e-6, "{:?}", lock.sent_wrench());
        assert!((tool.pose().translation.y - TOUCH - 5e-3).abs() < 1e-8);
    }
    assert!(depths.iter().all(|d| (d / depths[0] - 1.0).abs() < 1e-6), "{depths:?}");
}

/// A compass that is pressed with a tilt has the torque of its pins.
#[test]
fn a_device_has_the_torque_of_the_contact() {
    let mut world = world(0.01);
    let compass = Compass { spread: 0.03, ..Compass::default() };
    let compass = Tool::compass(&compass, 7e-4).expect("a compass");
    let cube = world.add(held(cube(600), compass, Pose::translation(0.0, 0.5 * SIDE + 2e-3, 0.0)));
    let mut lock = ElasticLockstep::new(&mut world, cube.id(), &haptic(None)).expect("a tool");
    let tilted = Quat::from_axis_angle(&Vec3::z_axis(), 0.1);
    let pressed = Pose::from_parts(Vec3::new(0.0, 0.5 * SIDE - 6e-3, 0.0).into(), tilted);
    lead(&mut lock, &mut world, &[pressed], 1.5, |_| {});
    let tool = world.bodies[cube].tool().expect("a tool");
    let (torque, sent) = (tool.torque(), lock.sent_wrench().torque);
    println!("{torque} {sent}");
    assert!(torque.norm() > 5e-3 && (sent - torque).norm() < 1e-4 * torque.norm(), "{torque} {sent}");
    let turn = (tilted * tool.pose().rotation.inverse()).scaled_axis();
    assert!((turn + torque).norm() < 1e-4 * torque.norm(), "1 N·m/rad: {turn} {torque}");
}

/// A hand on the device presses, slides to and fro, and lets go: forces are bounded and the same at every step, the loop gives out no energy, and the
/// hand feels nothing at the end.
#[test]
fn a_hand_on_the_device_slides_over_the_object() {
    let friction = FrictionLaw { coefficient: 0.5, dynamic: 0.3, ..FrictionLaw::default() };
    let hand = HandDynamics { stiffness: 800.0, damping: 5.0, ..HandDynamics::default() };
    let mut peaks = Vec::new();
    for dt in STEPS {
        let mut world = world(dt);
        let model = ElasticOptions { friction, ..cube(600) };
        let cube = world.add(held(model, ball(), Pose::translation(-5e-3, TOUCH + 5e-4, 0.0)));
        let mut lock = ElasticLockstep::new(&mut world, cube.id(), &haptic(Some(hand))).expect("a tool");
        let at = |x: f64, depth: f64| Pose::translation(x, TOUCH - depth, 0.0);
        let keys = [at(-5e-3, 0.012), at(8e-3, 0.012), at(-8e-3, 0.012), at(-8e-3, -0.005)];
        let (mut peak, mut aside, mut last, mut change) = (0.0f64, 0.0f64, Vec3::zeros(), 0.0f64);
        lead(&mut lock, &mut world, &keys, 0.8, |lock| {
            let force = lock.sent_wrench().force;
            (peak, aside) = (peak.max(force.y), aside.max(force.x.abs()));
            change = change.max((force - last).norm());
            last = force;
        });
        let figures = lock.figures();
        println!("{dt} s: {peak:.3} N down, {aside:.3} N aside, change {change:.3} N, {figures:?}");
        assert!(peak > 3.0 && peak < 10.0 && aside > 0.2 * peak && aside < peak, "{peak} {aside}");
        assert!(figures.least_energy > -5e-4 && figures.faults == 0, "{figures:?}");
        assert!(lock.sent_wrench().force.norm() < 1e-3, "{:?}", lock.sent_wrench());
        assert_eq!(world.bodies[cube].regions(), 0);
        peaks.push(peak);
    }
    assert!(peaks.iter().all(|p| (p / peaks[0] - 1.0).abs() < 0.02), "{peaks:?}");
}

/// A device at a place, until it sends invalid numbers.
struct Still {
    place: Pose,
    faulty_from: f64,
    now: f64,
    sent: std::sync::Arc<std::sync::Mutex<Vec<(f64, Wrench)>>>,
}

impl HapticLink for Still {
    fn receive(&mut self, now: f64) -> Option<DeviceSample> {
        self.now = now;
        let pose = if now > self.faulty_from { Pose::translation(f64::NAN, 0.0, 0.0) } else { self.place };
        Some(DeviceSample { time: now, pose })
    }

    fn send(&mut self, wrench: &Wrench) {
        self.sent.lock().expect("a list").push((self.now, *wrench));
    }
}

/// In a thread of its own the loop has the force of the law, the scene shows its tool and its dent, and a faulty or stopped device has no force.
#[test]
fn a_thread_holds_the_tool() {
    const FAULT: f64 = 1.5;
    let mut world = world(0.02);
    let start = Pose::translation(0.0, TOUCH + 1e-3, 0.0);
    let cube = world.add(held(cube(600), ball(), start));
    let sent = std::sync::Arc::default();
    let place = Pose::translation(0.0, TOUCH - 6e-3, 0.0);
    let link = Still { place, faulty_from: FAULT, now: 0.0, sent: std::sync::Arc::clone(&sent) };
    let options = haptic(None).options;
    let mut thread = ElasticThread::start(&mut world, cube.id(), options, link).expect("a thread").expect("a tool");
    let clock = std::time::Instant::now();
    let mut seen = 0.0f64;
    while clock.elapsed().as_secs_f64() < FAULT + 0.5 {
        assert_eq!(thread.step(&mut world).status, Status::Done);
        let tool = world.bodies[cube].tool().expect("a tool");
        seen = seen.max(tool.force().y);
        if tool.force().y > 1.0 {
            let lowest = tool.object().displacement(&Vec3::new(0.0, 0.5 * SIDE, 0.0)).y;
            assert!(lowest < -5e-4 && tool.pose().translation.y < TOUCH, "{lowest}");
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    let figures = thread.stop().expect("figures");
    let sent = sent.lock().expect("a list");
    let strongest = sent.iter().map(|(_, wrench)| wrench.force.y).fold(0.0, f64::max);
    println!("{figures:?}, {strongest} N");
    // K (6 mm − d) = F(d): the spring of 1000 N/m and the ball balance at about 3 N.
    assert!(seen > 2.0 && strongest > 2.0 && strongest < 6.0, "{seen} {strongest}");
    assert!(sent.iter().all(|(now, wrench)| *now <= FAULT || wrench.force == Vec3::zeros()), "safe at a fault");
    assert_eq!(sent.last().map(|(_, wrench)| *wrench), Some(Wrench::default()));
    assert!(figures.faults > 0);
}
