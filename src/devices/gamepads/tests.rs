use super::*;
use crate::assets::{Parts, builtin_device_file, load_device};
use crate::devices::glove::GloveMap;
use crate::devices::source::SourceSample;
use crate::math::Vec3;
use crate::protocol::{AXIS_MAXIMUM, Sensor, position};
use crate::tracking::{Angle, AngleKind, Finger, Side};

fn hand() -> PadHand {
    let profile = load_device(&builtin_device_file("gamepad").expect("it is carried")).expect("a sound one");
    assert_eq!(profile.gives(), Parts { fingers: true, position: true, orientation: false });
    PadHand::new(Side::Right, GloveMap::new(&profile.sensors))
}

/// Holds a state for some time at 100 Hz.
fn hold(hand: &mut PadHand, from: f64, seconds: f64, pad: PadState) -> SourceSample {
    let mut sample = hand.step(&pad, from).0;
    for step in 1..=(100.0 * seconds).round() as u32 {
        sample = hand.step(&pad, from + f64::from(step) / 100.0).0;
    }
    sample
}

fn held(buttons: &[PadButton]) -> PadState {
    PadState { buttons: buttons.iter().fold(0, |bits, button| bits | 1 << *button as u32), ..PadState::default() }
}

fn bends(sample: &SourceSample) -> [f64; 5] {
    Finger::ALL.map(|finger| sample.bends.get(Sensor::Curl(finger)).expect("a bend"))
}

#[test]
fn palm_speed_is_limited() {
    let mut hand = hand();
    let at = |sample: SourceSample| sample.position.expect("a place");
    assert_eq!(
        at(hold(&mut hand, 0.0, 1.0, PadState { left_stick: [0.1, -0.1], ..PadState::default() })),
        Vec3::zeros()
    );
    let right = at(hold(&mut hand, 1.0, 1.0, PadState { left_stick: [1.0, 0.0], ..PadState::default() }));
    assert!((right - Vec3::new(0.25, 0.0, 0.0)).norm() < 0.003, "{right}");
    let ahead = at(hold(&mut hand, 2.0, 0.4, PadState { left_stick: [0.0, 1.0], ..PadState::default() })) - right;
    assert!((ahead - Vec3::new(0.0, 0.0, -0.1)).norm() < 0.003, "{ahead}");
    let before = right + ahead;
    let up = at(hold(&mut hand, 2.4, 0.4, PadState { right_stick: [0.0, 1.0], ..PadState::default() })) - before;
    assert!((up - Vec3::new(0.0, 0.1, 0.0)).norm() < 0.003, "{up}");
    let before = before + up;
    let corner = PadState { left_stick: [1.0, 1.0], right_stick: [0.0, 1.0], ..PadState::default() };
    let aslant = at(hold(&mut hand, 2.8, 0.4, corner)) - before;
    assert!((aslant.norm() - 0.1).abs() < 0.003, "no faster aslant: {aslant}");
    let half = PadState { left_stick: [0.5, 0.0], ..PadState::default() };
    let slow = at(hold(&mut hand, 3.2, 0.4, half)) - before - aslant;
    assert!(slow.x > 0.005 && slow.x < 0.025, "finer near the middle: {slow}");
}

#[test]
fn the_palm_has_limits_and_a_home_and_does_not_jump() {
    let mut hand = hand();
    let push = PadState { left_stick: [-1.0, 0.0], ..PadState::default() };
    let far = hold(&mut hand, 0.0, 10.0, push).position.expect("a place");
    assert_eq!(far, Vec3::new(-0.6, 0.0, 0.0));
    // No samples for half a minute.
    let later =
        hand.step(&PadState { left_stick: [1.0, 0.0], ..PadState::default() }, 40.0).0.position.expect("a place");
    assert!((later - far).norm() < 0.02);
    hand.step(&held(&[PadButton::Select]), 40.01);
    let way = hold(&mut hand, 40.02, 1.0, PadState::default()).position.expect("a place");
    assert!((way - far).norm() > 0.2 && (way - far).norm() < 0.27, "at its speed: {way}");
    let home = hold(&mut hand, 41.1, 3.0, PadState::default()).position.expect("a place");
    assert_eq!(home, Vec3::zeros());
    let stays = hold(&mut hand, 45.0, 1.0, PadState::default()).position.expect("a place");
    assert_eq!(stays, Vec3::zeros());
}

#[test]
fn triggers_close_the_fingers_that_follow() {
    let mut hand = hand();
    let near = |found: [f64; 5], known: [f64; 5]| found.iter().zip(known).all(|(a, b)| (a - b).abs() < 1e-9);
    let pull = |left_trigger, right_trigger| PadState { left_trigger, right_trigger, ..PadState::default() };
    let whole = hold(&mut hand, 0.0, 1.0, pull(0.25, 0.5));
    assert!(near(bends(&whole), [0.25, 0.5, 0.5, 0.5, 0.5]), "{:?}", bends(&whole));
    hand.step(&held(&[PadButton::Left]), 1.0);
    let pinch = hold(&mut hand, 1.01, 1.0, pull(1.0, 1.0));
    assert!(near(bends(&pinch), [1.0, 1.0, 0.0, 0.0, 0.0]), "{:?}", bends(&pinch));
    hand.step(&held(&[PadButton::Right]), 2.1);
    assert!(near(bends(&hold(&mut hand, 2.2, 1.0, pull(0.0, 1.0))), [0.0, 1.0, 1.0, 0.0, 0.0]));
    hand.step(&held(&[PadButton::Down]), 3.3);
    assert!(near(bends(&hold(&mut hand, 3.4, 1.0, pull(0.0, 1.0))), [0.0, 0.0, 1.0, 1.0, 1.0]));
    hand.step(&held(&[PadButton::Up]), 4.5);
    let bumpers = held(&[PadButton::LeftBumper, PadButton::RightBumper]);
    let fist = hold(&mut hand, 4.6, 1.0, bumpers);
    assert!(near(bends(&fist), [1.0; 5]));
    // A button has no intermediate position: the fingers take a quarter of a second.
    hold(&mut hand, 5.7, 1.0, PadState::default());
    let half = hold(&mut hand, 6.71, 0.11, bumpers);
    assert!(bends(&half).iter().all(|bend| (bend - 0.48).abs() < 0.05 && *bend < 1.0), "{:?}", bends(&half));
}

#[test]
fn a_full_trigger_is_a_fist() {
    let profile = load_device(&builtin_device_file("gamepad").expect("it is carried")).expect("a sound one");
    let glove = GloveMap::new(&profile.sensors);
    let mut hand = PadHand::new(Side::Right, glove.clone());
    let fist = hold(&mut hand, 0.0, 1.0, held(&[PadButton::LeftBumper, PadButton::RightBumper]));
    let angles = glove.angles(&fist.bends);
    let of = |finger, kind| angles[Angle { finger, kind }.index()].expect("it is driven").to_degrees();
    assert!((of(Finger::Index, AngleKind::BaseFlexion) - 85.0).abs() < 1e-6);
    assert!((of(Finger::Thumb, AngleKind::BaseAbduction) - 69.0).abs() < 1e-6);
    assert!(angles.iter().all(Option::is_some));
}

#[test]
fn buttons_are_reported_once_by_name() {
    let mut hand = hand();
    assert_eq!(hand.step(&held(&[PadButton::A]), 0.0).1, [("a", true)]);
    assert_eq!(hand.step(&held(&[PadButton::A]), 0.01).1, []);
    let (sample, events) = hand.step(&held(&[PadButton::Start, PadButton::Down]), 0.02);
    assert_eq!(events, [("a", false), ("start", true), ("down", true)]);
    assert_eq!(sample.buttons, 1 << PadButton::Start as u32 | 1 << PadButton::Down as u32);
    let names: std::collections::BTreeSet<_> = PadButton::ALL.map(PadButton::name).into();
    assert_eq!(names.len(), PadButton::ALL.len());
    assert!(PadButton::ALL.iter().enumerate().all(|(i, button)| i == *button as usize));
}

#[test]
fn nan_input_is_ignored() {
    let mut hand = hand();
    let nonsense = PadState {
        left_stick: [f64::NAN, 1.0],
        right_stick: [f64::INFINITY; 2],
        left_trigger: f64::NAN,
        right_trigger: -3.0,
        buttons: 0,
    };
    let sample = hold(&mut hand, 0.0, 1.0, nonsense);
    assert_eq!(bends(&sample), [0.0; 5]);
    assert!(sample.position.expect("a place").iter().all(|x| x.is_finite()));
}

#[test]
fn strings_match_the_reports() {
    let raw = [1000.0, 3000.0, 2500.0, 2047.5, 2047.5, 1024.0];
    let mut axes = raw.map(|raw| Some(2.0 * raw / f64::from(AXIS_MAXIMUM) - 1.0));
    for side in [Side::Left, Side::Right] {
        let own = &raw[3 * side as usize..][..3];
        let found = string_position(side, &axes).expect("all axes are known");
        assert!((found - position(side, [own[0], own[1], own[2]])).norm() < 1e-9);
    }
    axes[4] = None;
    assert_eq!(string_position(Side::Right, &axes), None, "one has said nothing yet");
    assert!(string_position(Side::Left, &axes).is_some());
    axes[0] = Some(f64::NAN);
    assert_eq!(string_position(Side::Left, &axes), None);
}
