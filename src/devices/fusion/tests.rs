use std::path::Path;

use super::*;
use crate::assets::{builtin_device_file, load_device};
use crate::tracking::Finger;

fn profile(name: &str) -> DeviceProfile {
    let file = builtin_device_file(name).expect("a shipped profile");
    load_device(Path::new(&file)).unwrap_or_else(|p| panic!("{p}"))
}

fn start() -> Pose {
    Pose::from_parts(Vec3::new(0.1, 0.2, 0.3).into(), Quat::from_scaled_axis(Vec3::y() * 0.4))
}

/// A right hand with a glove, an inertial sensor and a tracker of positions, as in the paper.
fn three() -> (Fusion, [usize; 3]) {
    let mut fusion = Fusion::new();
    fusion.add_hand(Side::Right, &start(), &[0.0; ANGLES]);
    let sources = ["5dt-5", "bno055", "gametrak"].map(|name| fusion.add_source(&profile(name)));
    (fusion, sources)
}

fn fingers(time: f64, angle: f64) -> SourceSample {
    SourceSample { angles: [Some(angle); ANGLES], ..SourceSample::new(time, Side::Right) }
}

fn place(time: f64, x: f64) -> SourceSample {
    SourceSample { position: Some(Vec3::new(x, 5.0, 0.0)), ..SourceSample::new(time, Side::Right) }
}

fn turn(time: f64, q: Quat) -> SourceSample {
    SourceSample { orientation: Some(q), ..SourceSample::new(time, Side::Right) }
}

#[test]
fn three_devices_make_one_hand() {
    let (mut fusion, [glove, imu, tracker]) = three();
    let driven = fusion.drives();
    assert_eq!((driven.palm, driven.fingers), ([false, true], [false, true]));
    for n in 0..100 {
        let t = 0.01 * f64::from(n);
        fusion.take(glove, &fingers(t, 0.5));
        fusion.take(imu, &turn(t, Quat::identity()));
        fusion.take(tracker, &place(t, 1.0 + 0.1 * t));
    }
    let news = fusion.news(Side::Right, -10.0);
    let palm = news.palm.expect("a palm");
    assert!((palm.time + 9.01).abs() < 1e-12);
    let at = palm.palm.expect("a palm").translation.vector;
    assert!((at - Vec3::new(0.1 + 0.099, 0.2, 0.3)).norm() < 1e-12, "from where the hand began: {at}");
    assert_eq!(news.fingers.expect("fingers").angles, Some([0.5; ANGLES]));
    assert_eq!(fusion.news(Side::Right, 0.0), FusedParts::default(), "nothing new");
    assert_eq!(fusion.news(Side::Left, 0.0), FusedParts::default(), "no such hand");
}

/// A palm that is rotated about the vertical and held level starts at the heading of the scene, and then rotates with
/// the device.
#[test]
fn a_tracker_knows_the_vertical_but_not_the_heading() {
    let about = |axis: Vec3, angle: f64| Quat::from_scaled_axis(axis * angle);
    let (mut fusion, [_, imu, _]) = three();
    // The sensor has z up: its frame is turned by -90° about x.
    let frame = about(Vec3::x(), -std::f64::consts::FRAC_PI_2);
    let first = about(Vec3::z(), 2.5) * frame.inverse();
    for n in 0..100 {
        let t = 0.01 * f64::from(n);
        fusion.take(imu, &turn(t, first));
    }
    let now = |fusion: &mut Fusion| fusion.news(Side::Right, 0.0).palm.and_then(|s| s.palm).expect("a palm").rotation;
    assert!(now(&mut fusion).angle_to(&start().rotation) < 1e-9);
    fusion.take(imu, &turn(1.0, about(Vec3::z(), 0.3) * first));
    assert!(now(&mut fusion).angle_to(&(about(Vec3::y(), 0.3) * start().rotation)) < 1e-9);
    fusion.recentre(imu, Side::Right);
    fusion.take(imu, &turn(1.01, about(Vec3::z(), 1.0) * first));
    assert!(now(&mut fusion).angle_to(&start().rotation) < 1e-9);
}

#[test]
fn a_silent_device_holds_its_part_and_blends_back() {
    let (mut fusion, [glove, _, tracker]) = three();
    let step = 0.01;
    let mut last = [0.0; ANGLES];
    let mut fastest: f64 = 0.0;
    for n in 0..400 {
        let t = step * f64::from(n);
        // Silent from 1 s to 2 s; the fingers have opened in the meantime.
        let angle = if t < 1.0 { 1.0 } else { -0.2 };
        if !(1.0..2.0).contains(&t) {
            fusion.take(glove, &fingers(t, angle));
        }
        fusion.take(tracker, &place(t, 0.0));
        let news = fusion.news(Side::Right, 0.0);
        assert!(news.palm.is_some(), "the other part goes on");
        if let Some(angles) = news.fingers.and_then(|s| s.angles) {
            fastest = fastest.max((angles[5] - last[5]).abs() / step);
            last = angles;
        } else {
            assert!((1.0..2.0).contains(&t));
            assert_eq!(last, [1.0; ANGLES], "frozen");
        }
    }
    assert!((last[5] + 0.2).abs() < 1e-12, "back in the end");
    // A minimum-jerk motion is fastest in its middle: 15/8 of the mean speed.
    let most = 1.2 / EASE * 15.0 / 8.0;
    assert!(fastest <= most && fastest > 0.9 * most, "{fastest} {most}");
}

#[test]
fn the_first_device_wins_while_it_sends() {
    let mut fusion = Fusion::new();
    fusion.add_hand(Side::Right, &start(), &[0.0; ANGLES]);
    let [first, second] = ["5dt-5", "opengloves"].map(|name| fusion.add_source(&profile(name)));
    let index = 4 * Finger::Index as usize;
    let mut angle = |who: usize, t: f64, a: f64| {
        fusion.take(who, &fingers(t, a));
        fusion.hands[1].as_ref().expect("a hand").fingers.value[index]
    };
    for n in 0..60 {
        let t = 0.01 * f64::from(n);
        angle(second, t, 0.2);
        angle(first, t + 0.001, 0.8);
    }
    assert_eq!(angle(second, 0.61, 0.2), 0.8);
    let eased = angle(second, 0.95, 0.2);
    assert_eq!(eased, 0.8, "the first is silent: the second takes over, from where the hand is");
    for n in 0..40 {
        angle(second, 0.96 + 0.01 * f64::from(n), 0.2);
    }
    assert_eq!(angle(second, 1.4, 0.2), 0.2);
    assert_eq!(angle(first, 1.41, 0.8), 0.2, "the first is back and gets it again, eased");
    assert_eq!(angle(first, 1.40, 0.1), 0.2, "what is older is not taken");
}
