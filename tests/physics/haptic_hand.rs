//! A soft hand at the haptic rate: force and torque of every segment between the steps of the scene.

use crate::common;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use common::{Pinch, angles, capsule};
use fingerpad::body::ColliderId;
use fingerpad::contact::Method;
use fingerpad::devices::HandForces;
use fingerpad::math::{Pose, Vec3};
use fingerpad::runtime::{HandThread, haptic_feedback};
use fingerpad::sim::two_rate::HandLoop;
use fingerpad::tracking::{HandSample, SEGMENTS, Segment, Side};

const CLOSED: f64 = 0.87;
const H: f64 = 1e-3;

fn held(dt: f64) -> (Pinch, HandLoop) {
    let mut pinch = Pinch::new(&capsule(), 0.045, 0.7, Method::Aggregate, Pose::identity());
    pinch.world.parameters.dt = dt;
    let hand = pinch.world.bodies.hand_ids()[0];
    let haptics = HandLoop::new(&mut pinch.world, hand).expect("a hand");
    pinch.grasp(CLOSED);
    (pinch, haptics)
}

/// Force and torque about the origin of the bone in the scene, from the pressure map.
fn in_scene(pinch: &Pinch, segment: usize) -> [Vec3; 2] {
    let own = ColliderId::new(pinch.world.bodies.hand_ids()[0], segment);
    let origin = pinch.world.bodies.hand(0).skeleton.kinematics().poses[segment].translation.vector;
    pinch.world.pressure_points().fold([Vec3::zeros(); 2], |[force, torque], p| {
        let on =
            if p.body == own { p.force } else { Vec3::zeros() } - if p.other == own { p.force } else { Vec3::zeros() };
        [force + on, torque + (p.place - origin).cross(&on)]
    })
}

fn scene_force(pinch: &Pinch, segment: usize) -> Vec3 {
    pinch.world.load(pinch.world.bodies.hand_ids()[0], Segment::at(segment)).force
}

/// Closing at a time: at rest, or to and fro.
fn closed(time: f64, amplitude: f64) -> f64 {
    CLOSED + 0.5 * amplitude * (1.0 - (4.0 * std::f64::consts::PI * (time - 2.0).max(0.0)).cos())
}

/// Steps scene and loop with a glove that sends at the haptic rate. Returns the largest difference of the forces on a segment, between the loop at the end of a step of
/// the scene and the scene itself, that of forces that are only held since the step before, and the largest force, N.
fn follow(dt: f64, amplitude: f64) -> [f64; 3] {
    let (mut pinch, mut haptics) = held(dt);
    let [mut worst, mut without, mut peak] = [0.0f64; 3];
    let sample =
        |pinch: &Pinch, time: f64| HandSample::full(time, pinch.frame, angles(&pinch.model, closed(time, amplitude)));
    let mut predicted: Option<([Vec3; SEGMENTS], [Vec3; SEGMENTS])> = None;
    while pinch.world.time() < 2.6 {
        pinch.step(closed(pinch.world.time() + dt, amplitude));
        let scene: [Vec3; SEGMENTS] = std::array::from_fn(|s| scene_force(&pinch, s));
        if let Some((fast, before)) = predicted.filter(|_| pinch.world.time() > 1.9) {
            for s in 0..SEGMENTS {
                worst = worst.max((fast[s] - scene[s]).norm());
                without = without.max((before[s] - scene[s]).norm());
                peak = peak.max(scene[s].norm());
            }
        }
        haptics.take_over(&mut pinch.world);
        for (s, feel) in haptics.feel().iter().enumerate() {
            let ([force, torque], load) = (in_scene(&pinch, s), scene_force(&pinch, s));
            // The friction of an aggregate acts along its mean tangent plane.
            assert!((feel.force - load).norm() < 5e-3 * (0.1 + load.norm()), "{s}: {} {load}", feel.force);
            assert!((feel.force - force).norm() < 5e-3 * (0.1 + load.norm()), "{s}: {} {force}", feel.force);
            assert!((feel.torque - torque).norm() < 3e-4 * (0.1 + load.norm()), "{s}: {} {torque}", feel.torque);
        }
        let start = pinch.world.time();
        for i in 0..(dt / H).round() as usize {
            let now = start + i as f64 * H;
            let taken = sample(&pinch, now + H);
            haptics.track(taken).expect("a hand");
            haptics.step(now, H, || true);
            assert!(haptics.has_converged(), "dt {dt}, {now} s");
        }
        predicted = Some((haptics.feel().map(|feel| feel.force), scene));
    }
    assert!(haptics.aggregates() >= 2);
    [worst, without, peak]
}

/// A hand at rest feels in the loop what it feels in the scene, at any rate of the scene.
#[test]
fn a_hand_at_rest_feels_the_forces_of_the_scene() {
    for dt in [0.02, 0.01, 0.005, 0.002] {
        let [worst, _, peak] = follow(dt, 0.0);
        println!("dt {dt}: {worst:.2e} N of {peak:.3} N");
        assert!(peak > 0.5 && worst < 0.005 * peak, "dt {dt}: {worst} N of {peak} N");
    }
}

/// Twice a second the fingers close and open. The loop knows the motion at once: at the end of a step it is closer to what the scene finds then than forces that are
/// held since the last step.
#[test]
fn a_squeezing_hand_feels_between_the_steps_of_the_scene() {
    for dt in [0.02, 0.01, 0.005] {
        let [worst, without, peak] = follow(dt, 0.02);
        println!("dt {dt}: {worst:.4} N in the loop, {without:.4} N if held, of {peak:.3} N");
        // At short steps of the scene both errors are below a hundredth of the force.
        let closer = worst < 0.6 * without || without < 0.01 * peak;
        assert!(closer && worst < 0.02 * peak, "dt {dt}: {worst} N, held {without} N, of {peak} N");
    }
}

/// At rest the force of the loop in its own thread is that of the scene. The force is zero when the scene stops and when it ends.
#[test]
fn a_thread_feels_what_the_scene_feels() {
    let mut pinch = Pinch::new(&capsule(), 0.045, 0.7, Method::Aggregate, Pose::identity());
    pinch.world.parameters.dt = 0.01;
    let hand = pinch.world.bodies.hand_ids()[0];
    let felt: Arc<Mutex<Vec<HandForces>>> = Arc::default();
    let heard = Arc::clone(&felt);
    let feel = move |forces: &HandForces| heard.lock().expect("a list").push(*forces);
    let mut thread = HandThread::start(&mut pinch.world, hand, 500.0, feel).expect("a thread").expect("a hand");
    pinch.grasp(CLOSED);
    let mut scene = None;
    for _ in 0..60 {
        pinch.step(CLOSED);
        let forces = haptic_feedback::of_hand(&pinch.world, hand, Side::Right);
        thread.take_over(&mut pinch.world, &forces);
        scene = Some(forces);
        std::thread::sleep(Duration::from_millis(10));
    }
    let (scene, loop_) = (scene.expect("steps"), *felt.lock().expect("a list").last().expect("forces"));
    println!("{scene:?}\n{loop_:?}");
    let strongest = scene.fingers.iter().copied().fold(0.0, f64::max);
    assert!(strongest > 0.5, "{scene:?}");
    for (a, b) in scene.fingers.iter().zip(&loop_.fingers) {
        assert!((a - b).abs() < 0.01 * strongest, "{scene:?} {loop_:?}");
    }
    for (a, b) in scene.pressure.iter().zip(&loop_.pressure) {
        assert!((a - b).abs() < 0.02 * scene.pressure[1], "{scene:?} {loop_:?}");
    }
    // No step for longer than the loop waits.
    std::thread::sleep(Duration::from_millis(400));
    let silent = *felt.lock().expect("a list").last().expect("forces");
    assert_eq!((silent.fingers, silent.palm), ([0.0; 5], 0.0));
    pinch.step(CLOSED);
    thread.take_over(&mut pinch.world, &scene);
    let figures = thread.stop().expect("figures");
    println!("{figures:?}");
    let felt = felt.lock().expect("a list");
    assert_eq!(felt.last().expect("forces").fingers, [0.0; 5], "no force after the stop");
    assert!(felt.len() > 100 && figures.constraints >= 2 && figures.unconverged == 0, "{} {figures:?}", felt.len());
}
