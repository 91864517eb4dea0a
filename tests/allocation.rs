//! A steady step does not allocate: counted by the allocator.

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{Pinch, capsule};
use fingerpad::body::fem::Continuum;
use fingerpad::body::{
    ElasticBody, ElasticBodyOptions, Fixed, Hand, HandOptions, QuasiRigidBody, Refactor, RigidBody, RigidShape,
    SoftBody,
};
use fingerpad::contact::Method;
use fingerpad::elastic::{Compass, ElasticObject, ElasticOptions, ElasticShape, Tool};
use fingerpad::hand::Material;
use fingerpad::haptics::{HandDynamics, HapticOptions};
use fingerpad::math::{Pose, Vec3};
use fingerpad::mesh::block;
use fingerpad::sim::two_rate::{ElasticLockstep, LockstepSettings};
use fingerpad::sim::{Parameters, World};
use fingerpad::tracking::{PoseKey, PoseSequence};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is forwarded to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, p: *mut u8, layout: Layout) {
        unsafe { System.dealloc(p, layout) }
    }

    unsafe fn realloc(&self, p: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        ALLOCATIONS.fetch_add(1, Ordering::Relaxed);
        unsafe { System.realloc(p, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Number of allocations of some steps.
fn allocations(steps: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.load(Ordering::Relaxed);
    steps();
    ALLOCATIONS.load(Ordering::Relaxed) - before
}

fn soft(cells: [usize; 3], pose: Pose) -> SoftBody {
    let material = Material { young: 5e4, ..Material::default() };
    let mesh = block(&Vec3::new(0.1, 0.05, 0.05), cells);
    let continuum = Continuum::new(&mesh, &vec![false; mesh.nodes.len()], material);
    SoftBody::new(Arc::new(continuum), pose)
}

/// A single test, so that no other thread allocates at the same time.
#[test]
fn a_steady_step_allocates_nothing() {
    free_motion();
    grasps();
    rest();
    elastic();
    elastic_on_a_device();
}

fn free_motion() {
    let model = common::model();
    let pose = |name: &str| *model.description.pose(name).expect("a pose");
    let key =
        |time: f64, name: &str| PoseKey { time, palm: Pose::translation(0.0, 0.1 * time, 0.0), angles: pose(name) };
    let motion = PoseSequence::new(vec![key(0.0, "open"), key(0.5, "fist"), key(1.0, "pinch")]);
    for when in [Refactor::Drift, Refactor::Always, Refactor::Never] {
        let mut world = World::new(Parameters::default());
        world.parameters.refactor.when = when;
        world.add(Hand::new(model.clone(), &HandOptions::default()).expect("a known pose"));
        let ball = RigidBody::new(&RigidShape::Ball(0.03), 500.0, Pose::translation(1.0, 0.0, 0.0));
        world.bodies.add(ball.expect("a ball"));
        // One small enough for a dense factor, one that needs a sparse factor.
        world.bodies.add(soft([3, 2, 2], Pose::translation(2.0, 0.0, 0.0)));
        world.bodies.add(soft([8, 4, 4], Pose::translation(3.0, 0.0, 0.0)));
        let mut step = |count: u32| {
            for _ in 0..count {
                let sample = motion.sample(world.time() + world.parameters.dt).expect("keys");
                world.bodies.hand_mut(0).track(sample);
                world.step();
            }
        };
        step(10);
        assert_eq!(allocations(|| step(60)), 0, "in 60 steps with refactor = {when:?}");
    }
}

fn grasps() {
    for method in [Method::Aggregate, Method::Point] {
        let mut pinch = Pinch::new(&capsule(), 0.045, 0.7, method, Pose::identity());
        pinch.grasp(0.9);
        let made = allocations(|| (0..100).for_each(|_| pinch.step(0.9)));
        assert_eq!(made, 0, "in 100 steps of a grasp with {}", method.name());
    }
}

fn rest() {
    let mut world = World::new(Parameters::default());
    world.bodies.add(Fixed::new(&RigidShape::Ground, Pose::identity()).expect("the ground"));
    for i in 0..3 {
        let pose = Pose::translation(0.0, 0.02 + 0.0401 * f64::from(i), 0.0);
        world.bodies.add(RigidBody::new(&RigidShape::Box(Vec3::repeat(0.02)), 500.0, pose).expect("a box"));
    }
    world.bodies.add(soft([3, 2, 2], Pose::translation(0.3, 1e-5, 0.0)));
    let mesh = block(&Vec3::new(0.06, 0.02, 0.04), [3, 1, 2]);
    let (free, pose) = (vec![false; mesh.nodes.len()], Pose::translation(0.6, 1e-5, 0.0));
    let stiff = Material { young: 7e8, ..Material::default() };
    world.bodies.add(QuasiRigidBody::new(&mesh, &free, stiff, None, pose).expect("a quasi-rigid body"));
    let model = ElasticOptions { triangles: 1000, ..ElasticOptions::new(ElasticShape::block(Vec3::repeat(0.04))) };
    let cube = ElasticBody::new(model, ElasticBodyOptions::default(), Pose::translation(-0.3, 0.02, 0.0));
    world.bodies.add(cube.expect("an elastic body"));
    (0..100).for_each(|_| _ = world.step());
    let made = allocations(|| (0..100).for_each(|_| _ = world.step()));
    assert_eq!(made, 0, "in 100 steps of things at rest");
}

/// A compass on an ellipsoid with both pins, moved back and forth.
fn elastic() {
    let shape = ElasticShape::Ellipsoid { semi: Vec3::new(0.06, 0.04, 0.04) };
    let tool = Tool::compass(&Compass::default(), 7e-4).expect("a compass");
    let mut object = ElasticObject::new(ElasticOptions::new(shape), tool).expect("an object");
    let mut step = |i: u32| {
        let t = f64::from(i);
        let pose = Pose::translation(1e-3 * (0.1 * t).sin(), 0.0405 - 1e-4 * t.min(60.0), 0.0);
        object.update(&pose, 1e-3).regions.len()
    };
    assert_eq!((0..100).map(&mut step).max(), Some(2));
    assert_eq!(allocations(|| (100..200).for_each(|i| _ = step(i))), 0, "in 100 steps of an elastic object");
}

/// A ball in the haptic loop, pressed on a cube by an emulated hand.
fn elastic_on_a_device() {
    let model = ElasticOptions { triangles: 600, ..ElasticOptions::new(ElasticShape::block(Vec3::repeat(0.04))) };
    let fixed = ElasticBodyOptions { fixed: true, ..ElasticBodyOptions::default() };
    let cube = ElasticBody::new(model, fixed, Pose::identity()).expect("an elastic body");
    let ball = Tool::ball(0.01, 1.5e-3).expect("a ball");
    let mut world = World::new(Parameters::default());
    let cube = world.add(cube.with_tool(ball, Pose::translation(0.0, 0.0305, 0.0)).expect("a tool"));
    let hand = Some(HandDynamics::default());
    let settings = LockstepSettings { rate: 1000.0, options: HapticOptions::default(), hand };
    let mut lock = ElasticLockstep::new(&mut world, cube.id(), &settings).expect("a tool");
    lock.set_aim(&Pose::translation(0.002, 0.01, 0.0));
    (0..100).for_each(|_| _ = lock.step(&mut world));
    assert_eq!(world.bodies[cube].regions(), 1);
    assert_eq!(allocations(|| (0..50).for_each(|_| _ = lock.step(&mut world))), 0, "in 50 steps of a tool on a device");
}
