//! Fed curls and palm motion grasp the ball of `play`, lift it and put it down again.

use std::path::Path;

use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::tracking::Side;
use fingerpad::viewer::headset::{DrawnFrame, Placement};

use crate::remote::Remote;
use crate::{DUMP, Play, in_own_process, read};

/// The ball of `play` at rest, m.
const BALL: Vec3 = Vec3::new(-0.12, 0.028, -0.03);
/// The ball in the palm, m.
const IN_PALM: Vec3 = Vec3::new(0.0, -0.05, -0.014);
/// Curl of a closed hand.
const CLOSED: f64 = 0.8;
/// The palm of the driver's hand relative to its controller, m.
const PALM_OF_GRIP: Vec3 = Vec3::new(-0.003, 0.001, -0.064);
/// Time of the motion that passes in a frame, s. With the 20 Hz of the null compositor it is played in real time; on a slow
/// machine the hand moves more slowly, not in larger steps.
const PER_FRAME: f64 = 0.05;

/// Time, s; height of the palm above the grasp, m; closing, 0 to 1.
const MOTION: [[f64; 3]; 10] = [
    [0.0, 0.12, 0.0],
    [0.6, 0.12, 0.0],
    [2.0, 0.0, 0.0],
    [2.4, 0.0, 0.0],
    [5.0, 0.0, 1.0],
    [5.4, 0.0, 1.0],
    [7.4, 0.14, 1.0],
    [8.6, 0.14, 1.0],
    [10.6, 0.0, 1.0],
    [11.0, 0.0, 1.0],
];
/// The hand opens and goes up again.
const RELEASE: [[f64; 3]; 4] = [[11.0, 0.0, 1.0], [13.0, 0.0, 0.0], [13.4, 0.0, 0.0], [14.4, 0.12, 0.0]];
/// While the ball is held up, the hand is out of sight.
const LOST: std::ops::Range<f64> = 7.7..8.3;

/// Height and closing at a time.
fn motion(time: f64) -> [f64; 2] {
    let all: Vec<_> = MOTION.iter().chain(&RELEASE).collect();
    let after = all.iter().position(|key| key[0] > time).unwrap_or(all.len() - 1).max(1);
    let (from, to) = (all[after - 1], all[after]);
    let part = ((time - from[0]) / (to[0] - from[0]).max(1e-9)).clamp(0.0, 1.0);
    let part = part * part * (3.0 - 2.0 * part);
    std::array::from_fn(|i| from[i + 1] + part * (to[i + 1] - from[i + 1]))
}

/// Moves the right hand of the driver.
fn feed(remote: &mut Remote, placement: &Placement, time: f64) {
    let [height, closing] = motion(time);
    let palm = BALL - IN_PALM + height * Vec3::y();
    let room = placement.world_from_room.inverse();
    // The user leans to the left, to see the ball beside the hand.
    let eye = BALL + Vec3::new(-0.24, 0.24, 0.20);
    let back = eye - (BALL + Vec3::new(0.03, 0.07, 0.0));
    remote.head = room * Pose::from_parts(eye.into(), Quat::face_towards(&back, &Vec3::y()));
    let hand = remote.hand(Side::Right);
    let turn: Quat = room.rotation;
    let at = room * nalgebra::Point3::from(palm);
    hand.grip = Pose::from_parts((at.coords - turn * PALM_OF_GRIP).into(), turn);
    hand.curl = [(CLOSED * closing) as f32; 5];
    hand.is_tracked = !LOST.contains(&time);
    remote.send();
}

#[test]
fn the_ball_is_grasped_lifted_and_put_down() {
    in_own_process("grasp::the_ball_is_grasped_lifted_and_put_down", |folder| {
        let mut remote = Remote::connect();
        let frames = (RELEASE[RELEASE.len() - 1][0] / PER_FRAME) as u64 + 20;
        let mut heights = Vec::new();
        let watch = &mut |seen: &DrawnFrame<'_>| {
            let time = seen.number as f64 * PER_FRAME;
            feed(&mut remote, seen.placement, time);
            let report = seen.report;
            let ball = report.bodies.iter().find(|body| body.name == "ball").map(|body| body.body);
            let ball = report.frame.bodies.iter().find(|body| Some(body.id) == ball).expect("the ball");
            let is_lost = seen.inputs[1].as_ref().is_some_and(|input| input.joints.is_none());
            heights.push((time, ball.pose.translation.vector.y, is_lost));
        };
        let record = folder.join("grasp.fpr");
        let play = Play { record: Some(record.clone()), ..Play::of("play", frames) };
        let played = play.run(watch).unwrap_or_else(|error| panic!("{error}"));
        assert!(played.ended.recorded.is_ok());
        let within = |from: f64, to: f64| heights.iter().filter(move |(time, ..)| (from..to).contains(time));
        let held: Vec<f64> = within(7.8, 8.6).map(|(_, height, _)| *height).collect();
        assert!(held.iter().all(|height| *height > BALL.y + 0.10), "it is lifted by 10 cm: {held:?}");
        assert!(
            within(LOST.start, LOST.end).any(|(_, _, is_lost)| *is_lost),
            "the hand was lost while it held the ball"
        );
        assert!(within(8.4, 8.6).all(|(_, _, is_lost)| !is_lost), "and found again");
        // Put down, and it stays on the table.
        let after: Vec<f64> = within(13.0, 20.0).map(|(_, height, _)| *height).collect();
        assert!(after.len() > 10 && after.iter().all(|height| (height - BALL.y).abs() < 2e-3), "{after:?}");
        vibrates(&folder.join("calls.txt"));
        replays(&record);
    });
}

/// The layer that writes all calls has seen vibrations, and their ends.
fn vibrates(calls: &Path) {
    if !Path::new(DUMP[1]).exists() {
        assert!(std::env::var_os("FINGERPAD_EXPECT_HEADSET").is_none(), "the layer {} is not installed", DUMP[0]);
        eprintln!("vibrations were not checked: the layer {} is not installed", DUMP[0]);
        return;
    }
    let count = read(calls).matches("xrApplyHapticFeedback").count();
    assert!(count > 3, "{count} vibrations");
}

/// The recording replays bit for bit.
fn replays(record: &Path) {
    let mut session = fingerpad::runtime::Session::load(record, &[]).unwrap_or_else(|error| panic!("{error}"));
    while !session.is_over() {
        session.step().unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(session.steps() > 500 && session.difference().is_none(), "after {} steps", session.steps());
}
