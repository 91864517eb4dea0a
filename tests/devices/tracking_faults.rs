//! Tracking faults while a hand holds an object: loss, jumps, jitter and freezes. The grasp may be lost; nothing may
//! explode.

use crate::common;

use common::Ordered;
use fingerpad::assets::{Scene, Setting, load_builtin_scene};
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::sim::Status;
use fingerpad::tracking::HandSample;

const METHODS: [&str; 2] = ["aggregate", "point"];
/// When the cube is lifted and held, s.
const HELD: f64 = 2.4;

/// The cube in the air, held by its edges.
fn holding(method: &str) -> Scene {
    let settings = [Setting::new("method", method)];
    let mut scene = load_builtin_scene("edge_cube", &settings).expect("a scene").unwrap_or_else(|p| panic!("{p}"));
    while scene.world.time() < HELD {
        scene.feed();
        scene.world.step();
    }
    let cube = scene.world.bodies.rigid(0).pose().translation.vector;
    assert!(cube.y > 0.18, "it is held at {}", cube.y);
    scene
}

/// Result for the cube.
#[derive(Debug)]
struct Fate {
    /// Maximum speed, m/s.
    fastest: f64,
    /// Final position, m.
    height: f64,
}

/// Continues for some seconds with modified samples; `None` is a lost sample.
fn go_on(scene: &mut Scene, seconds: f64, fault: impl Fn(f64, HandSample) -> Option<HandSample>) -> Fate {
    let (start, dt) = (scene.world.time(), scene.world.parameters.dt);
    let motion = scene.motions[0].clone().expect("a motion");
    let mut fastest: f64 = 0.0;
    while scene.world.time() < start + seconds {
        let time = scene.world.time() + dt;
        let sample = motion.sample(time).expect("a sample");
        if let Some(sample) = fault(time - start, sample) {
            scene.world.bodies.hand_mut(0).track(sample);
        }
        let report = scene.world.step();
        assert_ne!(report.status, Status::NotFinite);
        let cube = scene.world.bodies.rigid(0);
        fastest = fastest.max(cube.linear_velocity().norm());
        assert!(fastest.is_finite());
    }
    Fate { fastest, height: scene.world.bodies.rigid(0).pose().translation.vector.y }
}

fn moved(sample: HandSample, by: Vec3, turn: Vec3) -> HandSample {
    let palm = sample.palm.map(|p| {
        let turned = Quat::from_scaled_axis(turn) * p.rotation;
        Pose::from_parts((p.translation.vector + by).into(), turned)
    });
    HandSample { palm, ..sample }
}

#[test]
fn a_hand_found_elsewhere_does_not_throw_objects() {
    let faults: [(&str, Vec3, Vec3); 4] = [
        ("a metre aside", Vec3::new(1.0, 0.0, 0.0), Vec3::zeros()),
        ("into the ground", Vec3::new(0.0, -0.25, 0.0), Vec3::zeros()),
        ("turned about", Vec3::zeros(), Vec3::new(0.0, 3.0, 0.0)),
        ("upside down and away", Vec3::new(-0.3, 0.2, 0.3), Vec3::new(0.0, 0.0, 3.1)),
    ];
    for method in METHODS {
        // The point method is slow; one case is enough.
        let cases = if method == "point" { &faults[..1] } else { &faults[..] };
        for &(name, by, turn) in cases {
            let mut scene = holding(method);
            // The hand follows at the coupling's greatest speeds, and what it still holds moves with it: a tenth of a metre from the palm.
            let coupling = &scene.world.bodies.hand(0).model().description.coupling;
            let turning = if turn == Vec3::zeros() { 0.0 } else { coupling.max_turn };
            let most = coupling.max_speed + 0.1 * turning;
            let fate = go_on(&mut scene, 1.0, |_, sample| Some(moved(sample, by, turn)));
            println!("{method}, {name}: {fate:?}, at most {most} m/s");
            assert!(fate.fastest < most, "{method}, {name}: {fate:?}");
        }
    }
}

#[test]
fn a_flickering_hand_does_not_throw_objects() {
    for (period, reach) in [(0.02, 0.5), (0.1, 0.3)] {
        let mut scene = holding("aggregate");
        let there = |t: f64| (t / period).floor() as i64 % 2 == 0;
        let aside = Vec3::new(reach, 0.1, -0.2);
        let fate = go_on(&mut scene, 1.0, |t, sample| {
            Some(if there(t) { moved(sample, aside, Vec3::zeros()) } else { sample })
        });
        println!("every {period} s by {reach} m: {fate:?}");
        assert!(fate.fastest < 5.0, "{period}: {fate:?}");
    }
}

#[test]
fn a_trembling_hand_holds_or_drops() {
    for method in METHODS {
        for (shake, keeps) in [(0.0005, true), (0.01, false)] {
            let mut scene = holding(method);
            // Alternating in every step, at 100 samples per second.
            let sign = |t: f64| if (t / 0.01).round() as i64 % 2 == 0 { 1.0 } else { -1.0 };
            let fate = go_on(&mut scene, 1.0, |t, sample| {
                let by = sign(t) * Vec3::new(shake, -0.7 * shake, 0.5 * shake);
                let mut sample = moved(sample, by, sign(t) * Vec3::new(0.0, 20.0 * shake, 0.0));
                if let Some(angles) = &mut sample.angles {
                    angles.iter_mut().enumerate().for_each(|(i, a)| *a += sign(t + 0.01 * i as f64) * 10.0 * shake);
                }
                Some(sample)
            });
            println!("{method}, trembling by {} mm: {fate:?}", 1e3 * shake);
            assert!(fate.fastest < 5.0, "{method}, {shake}: {fate:?}");
            // It may slip slightly.
            assert!(!keeps || fate.height > 0.17, "half a millimetre does not make it drop: {fate:?}");
        }
    }
}

#[test]
fn a_frozen_hand_holds_and_comes_back() {
    for method in METHODS {
        let mut scene = holding(method);
        let fate = go_on(&mut scene, 2.0, |_, _| None);
        println!("{method}, frozen: {fate:?}");
        assert!(fate.fastest < 0.05 && fate.height > 0.18, "nothing happens to it: {fate:?}");
        // It is found 10 cm away.
        let fate = go_on(&mut scene, 1.0, |_, sample| Some(moved(sample, Vec3::new(0.0, 0.0, 0.1), Vec3::zeros())));
        println!("{method}, back: {fate:?}");
        assert!(fate.fastest < 5.0, "{method}: {fate:?}");
    }
}

#[test]
fn invalid_tracker_data_do_not_move_the_hand() {
    let mut scene = holding("aggregate");
    let fate = go_on(&mut scene, 1.0, |t, sample| {
        let far = if t < 0.5 { f64::NAN } else { 1e300 };
        Some(moved(sample, Vec3::repeat(far), Vec3::zeros()))
    });
    assert!(fate.fastest < 0.05 && fate.height > 0.18, "{fate:?}");
    assert!(scene.world.bodies.hand(0).skeleton.tracked.dropped() >= 99);
}
