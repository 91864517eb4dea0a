//! A world that is built again and given a saved state goes on as the one that was saved, to the bit.

use proptest::prelude::*;

use crate::common::{Pinch, shipped_scene};
use fingerpad::assets::Scene;
use fingerpad::body::{RigidBody, RigidShape};
use fingerpad::contact::Method;
use fingerpad::math::Pose;
use fingerpad::sim::{Parameters, StateError, Status, World, WorldState};

/// Takes some steps of a scene and returns their hashes.
fn go_on(scene: &mut Scene, steps: u32) -> Vec<u64> {
    let step = |_| {
        scene.feed();
        scene.world.step().hash
    };
    (0..steps).map(step).collect()
}

/// Saves a scene after some steps, and compares the next ones with those of the same scene loaded again. Returns the number of contacts then.
fn compare(name: &str, before: u32, set: impl Fn(&mut World)) -> usize {
    let load = || {
        let mut scene = shipped_scene(name);
        set(&mut scene.world);
        scene
    };
    let mut scene = load();
    go_on(&mut scene, before);
    let state = scene.world.save_state();
    let expected = go_on(&mut scene, 40);
    let bytes = state.to_bytes();
    let read = WorldState::from_bytes(&bytes).unwrap_or_else(|e| panic!("{name}: {e}"));
    assert_eq!(read, state, "{name}");
    // One that was just built, and one that is elsewhere.
    for steps in [0, before / 2] {
        let mut again = load();
        go_on(&mut again, steps);
        again.world.restore(&read).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(again.world.save_state(), state, "{name}: what was restored is saved again");
        let differs = go_on(&mut again, 40).iter().zip(&expected).position(|(a, b)| a != b);
        assert_eq!(differs, None, "{name}: first step that differs, restored after {steps}");
    }
    scene.world.proximity().contacts.len()
}

#[test]
fn a_restored_scene_goes_on_as_the_one_that_was_saved() {
    let scenes = [
        ("ball", 130),
        ("soft_ball", 90),
        ("edge_cube", 130),
        ("dumbbell", 60),
        ("stack", 60),
        ("rest", 60),
        ("spin_disc", 60),
        ("quasi_rigid", 60),
        ("table", 60),
        ("clip_on_pipe", 60),
        ("thread", 60),
        ("pull_thread", 60),
        ("two_beams", 60),
        ("elastic_press", 60),
        ("elastic_mallet", 60),
        ("elastic_haptic", 60),
        ("snap_in_soft", 60),
    ];
    for (name, before) in scenes {
        compare(name, before, |_| {});
    }
}

#[test]
fn the_point_method_and_large_steps_are_restored_too() {
    let contacts = compare("edge_cube", 130, |world| world.parameters.contact.method = Method::Point);
    assert!(contacts > 0, "the cube is held");
    compare("pinch", 100, |world| world.parameters.contact.pressure = fingerpad::contact::Pressure::Uniform);
}

fn balls(radii: &[f64]) -> World {
    let mut world = World::new(Parameters::default());
    for (i, radius) in radii.iter().enumerate() {
        let at = Pose::translation(0.1 * i as f64, 0.0, 0.0);
        let ball = RigidBody::new(&RigidShape::Ball(*radius), 1000.0, at).expect("a ball");
        world.add_named(&format!("ball {i}"), ball);
    }
    world
}

#[test]
fn a_state_of_another_world_is_refused_and_changes_nothing() {
    let mut world = balls(&[0.02, 0.03]);
    (0..5).for_each(|_| assert_eq!(world.step().status, Status::Done));
    let before = world.save_state();
    let refusal = |other: &World, world: &mut World| {
        let error = world.restore(&other.save_state()).expect_err("another world");
        assert_eq!(world.save_state(), before, "it is unchanged");
        error.to_string()
    };
    assert!(refusal(&balls(&[0.02]), &mut world).contains("it has 1 bodies, this one has 2"));
    let heavier = refusal(&balls(&[0.02, 0.04]), &mut world);
    assert!(heavier.contains("the rigid `ball 1` has another size, mass"), "{heavier}");
    let pinch = Pinch::new(&RigidShape::Ball(0.01), 0.02, 0.5, Method::Aggregate, Pose::identity());
    let pinch = refusal(&pinch.world, &mut world);
    assert!(pinch.contains("another world"), "{pinch}");
    let mut slower = balls(&[0.02, 0.03]);
    slower.parameters.dt = 0.001;
    assert_eq!(
        world.restore(&slower.save_state()),
        Err(StateError::TimeStep { saved: 0.001, here: world.parameters.dt })
    );
    // The same bodies, but the first one was removed and added again.
    let mut other = balls(&[0.02, 0.03]);
    let first = other.bodies.find("ball 0").expect("the ball");
    other.remove(first);
    other.add_named("ball 0", RigidBody::new(&RigidShape::Ball(0.02), 1000.0, Pose::identity()).expect("a ball"));
    assert!(refusal(&other, &mut world).contains("id"));
}

#[test]
fn bytes_that_are_no_state_are_refused() {
    let bytes = balls(&[0.02]).save_state().to_bytes();
    assert_eq!(WorldState::from_bytes(b"FPREC"), Err(StateError::NotAState));
    assert_eq!(WorldState::from_bytes(&[0; 64]), Err(StateError::NotAState));
    let mut newer = bytes.clone();
    newer[8] = 200;
    assert_eq!(WorldState::from_bytes(&newer), Err(StateError::OtherFormat(200)));
    for length in 0..bytes.len() {
        assert!(WorldState::from_bytes(&bytes[..length]).is_err(), "cut at {length}");
    }
}

proptest! {
    /// Every change of the bytes is found, and none makes reading panic.
    #[test]
    fn damage_is_found(at in any::<prop::sample::Index>(), bit in 0..8u32) {
        let mut bytes = balls(&[0.02, 0.03]).save_state().to_bytes();
        let at = at.index(bytes.len());
        bytes[at] ^= 1 << bit;
        prop_assert!(WorldState::from_bytes(&bytes).is_err());
    }
}
