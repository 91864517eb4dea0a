//! Contact of a hand with itself, and of two hands.

use std::path::Path;

use fingerpad::assets::{Scene, parse_scene};
use fingerpad::math::Vec3;
use fingerpad::tracking::{Finger, Segment};

fn scene(text: &str) -> Scene {
    parse_scene(Path::new("scenes/self_contact.toml"), text, &[]).unwrap_or_else(|problems| panic!("{problems}"))
}

/// A hand that moves from the open pose to some angles in 0.6 s.
fn moving(angles: &str, options: &str, dt: f64) -> Scene {
    scene(&format!(
        "dt = {dt}\n[hand.right]\nposition = [0, 0.2, 0]\npose = \"open\"\n{options}\n[[hand.right.motion]]\nat = 0.6\n{angles}\n"
    ))
}

fn run(scene: &mut Scene, seconds: f64) -> f64 {
    let steps = (seconds / scene.world.parameters.dt).round() as usize;
    let mut deepest: f64 = 0.0;
    for _ in 0..steps {
        scene.feed();
        scene.step();
        deepest = deepest.max(scene.world.statistics().penetration);
    }
    deepest
}

/// Total force between two segments of the first hand, N.
fn force(scene: &Scene, one: Segment, other: Segment) -> f64 {
    let pair = [one.index(), other.index()];
    let between = |a: usize, b: usize| pair == [a, b] || pair == [b, a];
    scene.world.touches().filter(|t| between(t.a.index(), t.b.index())).map(|t| t.pressing).sum()
}

/// Largest depth of a vertex of a segment below the outline of another, m.
fn overlap(scene: &Scene, one: Segment, other: Segment) -> f64 {
    let hand = scene.world.bodies.hand(0);
    let shape = fingerpad::hand::SegmentShape::of(&hand.model().description, other);
    let frame = hand.skeleton.kinematics().poses[other.index()].inverse();
    let depth = |p: &Vec3| -shape.distance(&(frame * nalgebra::Point3::from(*p)).coords);
    hand.skin.positions(one).iter().map(depth).fold(f64::NEG_INFINITY, f64::max)
}

const FIST: &str = "angles = { thumb = [0, 20, 0, 0], index = [90, 0, 110, 78], middle = [90, 0, 110, 78], ring = [90, 0, 110, 78], \
                    little = [90, 0, 110, 78] }";

#[test]
fn a_fist_closes_until_it_rests_on_the_palm() {
    for dt in [0.01, 0.005, 0.002, 0.001] {
        let mut scene = moving(FIST, "self_contact = true", dt);
        run(&mut scene, 1.0);
        let fingers = [Finger::Index, Finger::Middle, Finger::Ring, Finger::Little];
        let tips = fingers.map(|finger| Segment::phalanx(finger, 2));
        let forces = tips.map(|tip| force(&scene, tip, Segment::PALM));
        println!("dt {dt}: forces of the tips on the palm {forces:.2?} N");
        // Index and little finger end beside the palm.
        assert!(forces[1..3].iter().all(|force| (0.05..10.0).contains(force)), "{forces:?}");
        let speed = scene.world.bodies.hand(0).skeleton.state().velocity.norm();
        assert!(speed < 0.02, "at rest: {speed}");
        // The palm feels no force by what the hand does to itself.
        let state = scene.world.bodies.hand(0).skeleton.state().palm.translation.vector;
        assert!((state - Vec3::new(0.0, 0.2, 0.0)).norm() < 1e-4, "{state}");
    }
}

#[test]
fn crossing_fingers_stay_apart() {
    let cross = "angles = { index = [20, -20, 10, 5], middle = [20, 15, 10, 5] }";
    let pair = [Segment::phalanx(Finger::Index, 1), Segment::phalanx(Finger::Middle, 1)];
    let through = {
        let mut scene = moving(cross, "", 0.01);
        run(&mut scene, 1.0);
        overlap(&scene, pair[0], pair[1])
    };
    assert!(through > 0.005, "without contact they pass through each other: {through}");
    for dt in [0.01, 0.005, 0.002, 0.001] {
        let mut scene = moving(cross, "self_contact = true", dt);
        let deepest = run(&mut scene, 1.0);
        let (left, force) = (overlap(&scene, pair[0], pair[1]), force(&scene, pair[0], pair[1]));
        println!(
            "dt {dt}: overlap {:.2} mm of {:.2} mm, {force:.2} N, {:.3} mm deep",
            1e3 * left,
            1e3 * through,
            1e3 * deepest
        );
        // The outline is that of undeformed tissue: the skins lie on each other where the tissue gives way.
        assert!(left < 0.4 * through && force > 0.1, "{left} {force}");
        assert!(deepest < 3e-4, "{deepest}");
    }
}

#[test]
fn fingers_that_do_not_touch_are_not_affected() {
    let motion = "angles = { index = [40, 4, 30, 20], middle = [10, 0, 10, 5], ring = [40, -4, 30, 20], little = [10, -8, 5, 5] }";
    let end = |options: &str| {
        let mut scene = moving(motion, options, 0.01);
        run(&mut scene, 0.8);
        assert_eq!(scene.world.touches().count(), 0, "no finger touches another");
        scene.world.state_hash()
    };
    assert_eq!(end(""), end("self_contact = true"));
}

/// Two hands with their fingers between each other.
#[test]
fn two_hands_interlace() {
    let mut scene = scene(
        "[hand.right]\nposition = [0.0, 0.2, 0.10]\nrotation = [0, 0, 90]\npose = \"open\"\nself_contact = true\n\
         [hand.left]\nfile = \"../hands/left.toml\"\nposition = [0.011, 0.2, -0.15]\nrotation = [0, 180, 90]\npose = \"open\"\nself_contact = true\n\
         [[hand.right.motion]]\nat = 0.6\nposition = [0.0, 0.2, 0.05]\n",
    );
    let deepest = run(&mut scene, 1.0);
    let between = scene.world.touches().filter(|t| t.a.body != t.b.body).count();
    println!("{between} contacts between the hands, {:.3} mm deep", 1e3 * deepest);
    assert!(between > 0 && deepest < 1e-3, "{between} {deepest}");
}
