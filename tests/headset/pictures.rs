//! What both eyes see.

use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::tracking::Side;
use fingerpad::viewer::headset::{DrawnFrame, EyeView};
use fingerpad::viewer::{Figure, Layers, Picture, draw};

use crate::remote::Remote;
use crate::{Play, in_own_process};

/// The pictures that the runtime gets equal those that `render` draws for the same eyes.
#[test]
fn both_eyes_equal_pictures_drawn_for_them() {
    in_own_process("pictures::both_eyes_equal_pictures_drawn_for_them", |_| {
        let mut remote = Remote::connect();
        let looks = Quat::from_scaled_axis(Vec3::y() * 0.1) * Quat::from_scaled_axis(Vec3::x() * -0.5);
        remote.head = Pose::from_parts(Vec3::new(0.05, 1.6, 0.0).into(), looks);
        let hand = remote.hand(Side::Right);
        (hand.grip, hand.curl) = (Pose::translation(0.02, 1.3, -0.35), [0.4; 5]);
        remote.send();
        let mut last = None;
        let watch = &mut |seen: &DrawnFrame<'_>| {
            last = seen.report.stage.clone().map(|stage| (stage, seen.report.frame.clone(), seen.eyes.to_vec()));
        };
        let played = Play::of("play", 25).run(watch).unwrap_or_else(|error| panic!("{error}"));
        let (stage, frame, eyes) = last.expect("a frame");
        assert_eq!((played.summary.pictures.len(), eyes.len()), (2, 2));
        for (own, eye) in played.summary.pictures.iter().zip(&eyes) {
            let figure = stage.figure(&frame, &Layers::default(), eye.camera());
            let figure = Figure { eye: Some(*eye), size: own.size, ..figure };
            let drawn = draw(&figure).unwrap_or_else(|error| panic!("{error}"));
            let apart = difference(own, &drawn);
            // The picture shows something: it differs from an empty one.
            let empty = draw(&Figure { meshes: Vec::new(), ground: None, ..figure }).expect("a picture");
            assert!(difference(own, &empty) > 8.0, "{}", difference(own, &empty));
            assert!(apart < 2.0, "the mean difference is {apart} of 255");
        }
        // The eyes differ.
        assert!(difference(&played.summary.pictures[0], &played.summary.pictures[1]) > 0.5);
    });
}

/// Mean difference of two pictures of one size, of 255.
fn difference(a: &Picture, b: &Picture) -> f64 {
    assert_eq!((a.size, a.pixels.len()), (b.size, b.pixels.len()));
    let sum: u64 = a.pixels.iter().zip(&b.pixels).map(|(a, b)| u64::from(a.abs_diff(*b))).sum();
    sum as f64 / a.pixels.len() as f64
}

/// A red ball at a known place, and a blue rod of 1 m.
const SCALE: &str = r#"
seconds = 1.0

[body.rod]
kind = "fixed"
shape = "box"
size = [1.0, 0.03, 0.03]
position = [0.0, 0.40, -0.60]
colour = [0.0, 0.0, 1.0]

[body.ball]
kind = "fixed"
shape = "ball"
radius = 0.02
position = [0.05, 0.55, -0.20]
colour = [1.0, 0.0, 0.0]

[hand.right]
position = [0.0, 0.0, 0.0]
"#;

/// Disparity of a known point: baseline times focal length over distance, within a pixel. A rod of 1 m is 1 m long.
#[test]
fn depth_and_scale_are_true() {
    in_own_process("pictures::depth_and_scale_are_true", |folder| {
        let scene = folder.join("scale.toml");
        std::fs::write(&scene, SCALE).expect("a file");
        let mut remote = Remote::connect();
        // Out of the way: behind the head.
        remote.hand(Side::Right).grip = Pose::translation(0.0, 1.6, 1.0);
        remote.send();
        let play = Play { scene: &scene, ..Play::of("", 12) };
        let played = play.run(&mut |_| ()).unwrap_or_else(|error| panic!("{error}"));
        let (eyes, pictures) = (&played.summary.eyes, &played.summary.pictures);
        let ball = Vec3::new(0.05, 0.55, -0.20);
        let mut columns = [0.0; 2];
        for (number, (eye, picture)) in eyes.iter().zip(pictures).enumerate() {
            let red = pixels(picture, |[r, g, b]| r > 80 && r > 2 * g && r > 2 * b);
            assert!(red.len() > 20, "the ball is seen: {} pixels", red.len());
            let middle = |axis: usize| red.iter().map(|p| p[axis]).sum::<f64>() / red.len() as f64;
            let [x, y] = eye.project(picture.size, &ball).expect("in front");
            // A sphere projects to an ellipse whose centre is a little farther out.
            assert!(
                (middle(0) - x).abs() < 1.0 && (middle(1) - y).abs() < 1.0,
                "{} {} of {x} {y}",
                middle(0),
                middle(1)
            );
            columns[number] = middle(0);
            // The depth that the runtime gets is that of the point of the ball on the line to its centre.
            let depths = played.summary.distances.get(number).expect("the runtime takes depth");
            let near = distance(eye, &ball) * (1.0 - 0.02 / (ball - eye.pose.translation.vector).norm());
            let found = depths[(y as usize) * picture.size.0 as usize + x as usize];
            assert!((found - near).abs() < 1.5e-3, "a depth of {found} m, expected {near} m");
            let farthest = depths.iter().copied().fold(0.0, f64::max);
            assert!(farthest > 50.0, "nothing is drawn at the horizon: {farthest} m");
            let blue = pixels(picture, |[r, g, b]| b > 60 && b > 2 * r && b > 2 * g);
            let ends = blue.iter().fold([f64::MAX, f64::MIN], |[l, h], p| [l.min(p[0]), h.max(p[0] + 1.0)]);
            // The ends of its front face: the pixels of 1 m at that distance.
            let seen = (ends[1] - ends[0]) / focal(eye, picture.size) * distance(eye, &Vec3::new(0.0, 0.40, -0.585));
            let pixel = distance(eye, &Vec3::new(0.0, 0.40, -0.585)) / focal(eye, picture.size);
            assert!((seen - 1.0).abs() < 2.0 * pixel, "the rod measures {seen} m, a pixel is {pixel} m");
        }
        let base = (eyes[1].pose.translation.vector - eyes[0].pose.translation.vector).norm();
        assert!((0.05..0.08).contains(&base), "{base}");
        let expected = base * focal(&eyes[0], pictures[0].size) / distance(&eyes[0], &ball);
        let found = columns[0] - columns[1];
        assert!((found - expected).abs() < 1.0, "a disparity of {found} pixels, expected {expected}");
    });
}

/// Pixels per unit of the tangent.
fn focal(eye: &EyeView, size: (u32, u32)) -> f64 {
    f64::from(size.0) / (eye.fov.right.tan() - eye.fov.left.tan())
}

/// Distance along the viewing axis.
fn distance(eye: &EyeView, point: &Vec3) -> f64 {
    -eye.pose.inverse_transform_point(&(*point).into()).z
}

/// Centres of the pixels of a colour.
fn pixels(picture: &Picture, is_so: impl Fn([u16; 3]) -> bool) -> Vec<[f64; 2]> {
    let all = (0..picture.size.1).flat_map(|y| (0..picture.size.0).map(move |x| (x, y)));
    let chosen = all.filter(|(x, y)| picture.pixel(*x, *y).is_some_and(|pixel| is_so(pixel.map(u16::from))));
    chosen.map(|(x, y)| [f64::from(x) + 0.5, f64::from(y) + 0.5]).collect()
}
