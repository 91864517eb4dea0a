//! The menu is opened by a button and by a look at the palm, and used by a ray and by poking with the simulated finger.

use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::tracking::{Finger, Side};
use fingerpad::viewer::headset::{DrawnFrame, OpenMenu, Placement};

use crate::remote::Remote;
use crate::{Play, in_own_process};

/// Where a button of the menu is in the world, and the direction out of the menu.
fn button(menu: &OpenMenu<'_>, label: &str) -> (Vec3, Vec3) {
    let (_, at) = menu.buttons.iter().find(|(own, _)| own == label).unwrap_or_else(|| panic!("no button {label}"));
    (menu.panel.at(*at), menu.panel.pose.rotation * Vec3::z())
}

/// A controller at a distance from a point that points at it along a direction.
fn pointing(target: Vec3, out: Vec3, distance: f64) -> Pose {
    let at = target + distance * out;
    Pose::from_parts(at.into(), Quat::face_towards(&out, &Vec3::y()))
}

/// The tip of the simulated right index finger.
fn tip(seen: &DrawnFrame<'_>) -> Vec3 {
    let stage = seen.report.stage.as_ref().expect("a scene");
    stage.fingertip(0, &seen.report.frame.hands[0], Finger::Index).expect("a finger")
}

/// What the user does from a frame on.
#[derive(Clone, Copy, PartialEq)]
enum Act {
    /// Both hands rest.
    Rest,
    /// Presses the menu button.
    Button,
    /// Points at a button of the menu; true: and pulls the trigger.
    Point(&'static str, bool),
    /// Holds the simulated index finger at a distance from a button, m.
    Poke(&'static str, f64),
    /// Steps to the side and turns.
    Step,
    /// Looks at the own palm.
    Palm,
}

/// From which frame on.
const ACTS: [(u64, Act); 24] = [
    (0, Act::Rest),
    (10, Act::Button),
    (13, Act::Rest),
    (20, Act::Point("Pause", false)),
    (27, Act::Point("Pause", true)),
    (30, Act::Point("Continue", false)),
    (36, Act::Point("Continue", true)),
    (39, Act::Rest),
    (45, Act::Poke("Pause", 0.06)),
    (75, Act::Poke("Pause", -0.006)),
    (87, Act::Poke("Pause", 0.05)),
    (95, Act::Point("Continue", false)),
    (103, Act::Point("Continue", true)),
    (106, Act::Rest),
    (108, Act::Step),
    (110, Act::Point("Recentre", false)),
    (118, Act::Point("Recentre", true)),
    (121, Act::Point("Recentre", false)),
    (124, Act::Rest),
    (128, Act::Button),
    (131, Act::Rest),
    (138, Act::Palm),
    (175, Act::Rest),
    (180, Act::Rest),
];

/// Checks, frame by frame, whether the menu was open and the scene paused, and where the eyes were.
fn check(opened: &[bool], paused: &[bool], eyes: &[(Pose, Placement)]) {
    let at = |frame: usize| frame - 1;
    assert!(!opened[at(9)] && opened[at(19)], "the button opens it");
    assert!(paused[at(34)] && !paused[at(44)], "a ray pauses and continues: {:?}", &paused[20..45]);
    assert!(!paused[at(75)] && paused[at(95)], "a finger pauses: {:?}", &paused[60..95]);
    assert!(!paused[at(112)], "and a ray continues");
    // Recentring puts the eyes where they were relative to the scene, with another placement.
    let ((first, placed), (moved, _), (last, again)) = (&eyes[at(9)], &eyes[at(115)], &eyes[at(135)]);
    let apart = |a: &Pose, b: &Pose| (a.translation.vector - b.translation.vector).norm();
    assert!(apart(first, moved) > 0.08, "the user stepped aside: {first} {moved}");
    let off = last.translation.vector - first.translation.vector;
    assert!(off.x.hypot(off.z) < 0.02 && placed != again, "{first} {last}");
    assert!(!opened[at(137)], "the button closes it");
    assert!(opened[at(178)], "a look at the palm opens it");
}

#[test]
fn the_menu_is_opened_and_used() {
    in_own_process("menu::the_menu_is_opened_and_used", |_| {
        let mut remote = Remote::connect();
        let (mut opened, mut paused, mut eyes) = (Vec::new(), Vec::new(), Vec::new());
        // The palm before the eyes, fingers up, its inner side to the face.
        let back = Quat::from_scaled_axis(Vec3::x() * std::f64::consts::FRAC_PI_2);
        let up = Quat::from_scaled_axis(Vec3::y() * std::f64::consts::PI) * back;
        let aside = remote.hands;
        let watch = &mut |seen: &DrawnFrame<'_>| {
            opened.push(seen.menu.is_some());
            paused.push(seen.report.paused);
            eyes.push((seen.eyes[0].pose, *seen.placement));
            let room = seen.placement.world_from_room.inverse();
            let (_, act) = *ACTS.iter().rev().find(|(from, _)| seen.number >= *from).expect("an act");
            remote.hand(Side::Left).button = act == Act::Button;
            remote.hand(Side::Right).trigger = if matches!(act, Act::Point(_, true)) { 1.0 } else { 0.0 };
            match act {
                Act::Rest | Act::Button => remote.hands[1].grip = aside[1].grip,
                Act::Point(label, _) => {
                    let (target, out) = button(&seen.menu.expect("it is open"), label);
                    remote.hand(Side::Right).grip = room * pointing(target, out, 0.35);
                }
                Act::Poke(label, height) => {
                    let (target, out) = button(&seen.menu.expect("it is open"), label);
                    // Along the finger, towards the wanted place of its tip.
                    let turn = pointing(target, out, 0.0).rotation;
                    let old = seen.placement.pose(&remote.hand(Side::Right).grip).translation.vector;
                    let off = target + height * out - tip(seen);
                    let step = (0.5 * off).cap_magnitude(0.06);
                    remote.hand(Side::Right).grip = room * Pose::from_parts((old + step).into(), turn);
                }
                Act::Step => {
                    let turn = Quat::from_scaled_axis(Vec3::y() * 0.15);
                    remote.head = Pose::from_parts(Vec3::new(0.1, 1.55, 0.05).into(), turn);
                }
                Act::Palm => {
                    let head = remote.head;
                    let at = head.translation.vector + head.rotation * Vec3::new(0.0, -0.03, -0.35);
                    let turn = head.rotation * up;
                    remote.hand(Side::Right).grip =
                        Pose::from_parts((at - turn * Vec3::new(0.0, 0.0, -0.064)).into(), turn);
                }
            }
            remote.send();
        };
        let played = Play::of("play", 180).run(watch).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(played.summary.lost, None);
        check(&opened, &paused, &eyes);
    });
}
