//! A steady step allocates nothing: counted by the allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use fingerpad::body::fem::Continuum;
use fingerpad::body::{Hand, HandOptions};
use fingerpad::body::{Refactor, RigidBody, RigidShape, SoftBody};
use fingerpad::hand::Material;
use fingerpad::math::{Pose, Vec3};
use fingerpad::mesh::block;
use fingerpad::sim::{Parameters, World};
use fingerpad::tracking::{PoseKey, PoseSequence};

struct Counting;

static ALLOCATIONS: AtomicU64 = AtomicU64::new(0);

// SAFETY: every call is handed on to the system's allocator unchanged.
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

#[test]
fn a_steady_step_allocates_nothing() {
    let model = Arc::new(fingerpad::assets::builtin_hand_model().expect("the built-in hand"));
    let pose = |name: &str| *model.description.pose(name).expect("a pose");
    let key =
        |time: f64, name: &str| PoseKey { time, palm: Pose::translation(0.0, 0.1 * time, 0.0), angles: pose(name) };
    let motion = PoseSequence::new(vec![key(0.0, "open"), key(0.5, "fist"), key(1.0, "pinch")]);
    let material = Material { young: 5e4, ..Material::default() };
    let soft = |cells: [usize; 3]| {
        let mesh = block(&Vec3::new(0.1, 0.05, 0.05), cells);
        let continuum = Continuum::new(&mesh, &vec![false; mesh.nodes.len()], material);
        SoftBody::new(Arc::new(continuum), Pose::identity())
    };
    for when in [Refactor::Drift, Refactor::Always, Refactor::Never] {
        let mut world = World::new(Parameters::default());
        world.parameters.refactor.when = when;
        world.add_hand(Hand::new(model.clone(), &HandOptions::default()));
        world.bodies.rigid.push(RigidBody::new(&RigidShape::Ball(0.03), 500.0, Pose::identity()).expect("a ball"));
        // One small enough for a dense factor, one that needs a sparse one.
        world.bodies.soft.push(soft([3, 2, 2]));
        world.bodies.soft.push(soft([8, 4, 4]));
        let mut step = |count: u32| {
            for _ in 0..count {
                let sample = motion.sample(world.time() + world.parameters.dt).expect("keys");
                world.bodies.hands[0].track(sample);
                world.step();
            }
        };
        step(10);
        let before = ALLOCATIONS.load(Ordering::Relaxed);
        step(60);
        let made = ALLOCATIONS.load(Ordering::Relaxed) - before;
        assert_eq!(made, 0, "allocations in 60 steps with refactor = {when:?}");
    }
}
