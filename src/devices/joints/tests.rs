use std::sync::LazyLock;

use proptest::prelude::*;

use super::*;
use crate::assets::builtin_hand;
use crate::hand::HandDescription;
use crate::math::exp;
use crate::tracking::Side;

fn hand(side: Side) -> HandDescription {
    static HAND: LazyLock<HandDescription> = LazyLock::new(|| builtin_hand().expect("the hand it carries"));
    HandDescription { side, ..HAND.clone() }
}

fn skeleton(side: Side) -> Skeleton {
    Skeleton::new(&hand(side)).expect("a hand")
}

/// The joints of a hand, by forward kinematics of its skeleton. The metacarpals lie along the palm.
fn joints(side: Side, palm: &Pose, angles: &[f64; ANGLES]) -> [TrackedJoint; JOINTS] {
    let hand = hand(side);
    let kinematics = skeleton(side).kinematics(palm, angles);
    let joint = |pose: Pose| TrackedJoint { position: Some(pose.translation.vector), orientation: Some(pose.rotation) };
    let mut joints = [joint(*palm); JOINTS];
    joints[WRIST] = joint(palm * Pose::translation(0.0, hand.palm.wrist.y, hand.palm.wrist.z));
    for finger in Finger::ALL {
        let poses = &kinematics.poses[1 + 3 * finger as usize..][..3];
        let near = poses[0].translation.vector - 2.0 * (poses[0].translation.vector - palm.translation.vector);
        joints[metacarpal(finger)] = joint(Pose::from_parts(near.into(), palm.rotation));
        for (place, pose) in poses.iter().enumerate() {
            joints[phalanx(finger, place)] = joint(*pose);
        }
        let end = hand.fingers[finger as usize].lengths[2] + hand.fingers[finger as usize].tip;
        joints[phalanx(finger, 3)] = joint(poses[2] * Pose::translation(0.0, 0.0, -end));
    }
    joints
}

fn somewhere() -> Pose {
    Pose::from_parts(Vec3::new(0.3, 1.2, -0.4).into(), exp(&Vec3::new(0.4, -1.9, 0.7)))
}

fn farthest(found: &[Option<f64>; ANGLES], known: &[f64; ANGLES]) -> f64 {
    found.iter().zip(known).map(|(a, b)| (a.expect("every joint is known") - b).abs()).fold(0.0, f64::max)
}

#[test]
fn joint_indices_match_the_extension() {
    assert_eq!((PALM, WRIST, metacarpal(Finger::Thumb), phalanx(Finger::Thumb, 3)), (0, 1, 2, 5));
    assert_eq!((metacarpal(Finger::Index), phalanx(Finger::Index, 0), phalanx(Finger::Index, 3)), (6, 7, 10));
    assert_eq!((metacarpal(Finger::Little), phalanx(Finger::Little, 3)), (21, 25));
}

#[test]
fn hand_poses_round_trip() {
    for side in [Side::Left, Side::Right] {
        let reader = JointReader::new(&skeleton(side));
        for pose in &hand(side).poses {
            let reading = reader.read(&joints(side, &somewhere(), &pose.angles));
            let off = farthest(&reading.angles, &pose.angles);
            assert!(off < 1e-9, "{} hand, {}: {off} rad", side.name(), pose.name);
            assert_eq!(reading.palm, Some(somewhere()));
        }
    }
}

/// Fingers specified without our kinematics: flexion is negative about +X for both hands, abduction towards the thumb
/// about +Y for the right hand and about −Y for the left.
#[test]
fn signs_are_those_of_the_extension() {
    for (side, mirror) in [(Side::Right, 1.0), (Side::Left, -1.0)] {
        let base = rotation_of_middle(side);
        let mut joints = joints(side, &Pose::identity(), &[0.0; ANGLES]);
        let abducted = base * exp(&Vec3::new(0.0, mirror * 0.1, 0.0));
        let near = abducted * exp(&Vec3::new(-0.5, 0.0, 0.0));
        let middle = near * exp(&Vec3::new(-0.3, 0.0, 0.0));
        let tip = middle * exp(&Vec3::new(-0.2, 0.0, 0.0));
        for (place, turn) in [near, middle, tip].into_iter().enumerate() {
            joints[phalanx(Finger::Middle, place)].orientation = Some(turn);
        }
        let angles = JointReader::new(&skeleton(side)).read(&joints).angles;
        for (found, known) in angles[8..12].iter().zip([0.5, 0.1, 0.3, 0.2]) {
            assert!((found.expect("known") - known).abs() < 1e-9, "{side:?} {found:?} {known}");
        }
        // The abducted finger points to the thumb's side: −X of a right hand, +X of a left one.
        assert!((abducted * -Vec3::z()).x * mirror < -0.05);
    }
}

/// The middle finger of our hand points straight along the palm.
fn rotation_of_middle(side: Side) -> Quat {
    let straight = skeleton(side).kinematics(&Pose::identity(), &[0.0; ANGLES]);
    assert!(straight.poses[1 + 3 * Finger::Middle as usize].rotation.angle() < 1e-9);
    Quat::identity()
}

/// The mirror image x → −x of a right hand is a left hand with the same angles.
#[test]
fn a_mirrored_hand_has_the_same_angles() {
    let pose = *hand(Side::Right).pose("tripod").expect("a pose every hand has");
    let mirrored = joints(Side::Right, &somewhere(), &pose).map(|joint| TrackedJoint {
        position: joint.position.map(|p| Vec3::new(-p.x, p.y, p.z)),
        // The frame's X axis is mirrored too, so that the frame stays right-handed.
        orientation: joint.orientation.map(|q| Quat::new_normalize(nalgebra::Quaternion::new(q.w, q.i, -q.j, -q.k))),
    });
    let reading = JointReader::new(&skeleton(Side::Left)).read(&mirrored);
    assert!(farthest(&reading.angles, &pose) < 1e-9);
    let palm = reading.palm.expect("known");
    assert!((palm.translation.vector - Vec3::new(-0.3, 1.2, -0.4)).norm() < 1e-12);
}

#[test]
fn an_unknown_joint_affects_only_its_angles() {
    let pose = *hand(Side::Right).pose("rest").expect("a pose every hand has");
    let reader = JointReader::new(&skeleton(Side::Right));
    let missing = |gone: &[usize]| {
        let mut joints = joints(Side::Right, &somewhere(), &pose);
        gone.iter().for_each(|&joint| joints[joint] = TrackedJoint::default());
        let reading = reader.read(&joints);
        for (i, (found, known)) in reading.angles.iter().zip(&pose).enumerate() {
            assert!(found.is_none_or(|found| (found - known).abs() < 1e-9), "angle {i}");
        }
        let unknown: Vec<_> = (0..ANGLES).filter(|&i| reading.angles[i].is_none()).collect();
        (unknown, reading.palm)
    };
    assert_eq!(missing(&[phalanx(Finger::Index, 1)]), (vec![6, 7], Some(somewhere())));
    assert_eq!(missing(&[phalanx(Finger::Ring, 0)]).0, [12, 13, 14]);
    assert_eq!(missing(&[phalanx(Finger::Thumb, 3), WRIST, metacarpal(Finger::Little)]).0, [] as [usize; 0]);
    // The middle metacarpal replaces the palm; without both, neither palm nor bases are known.
    let (unknown, palm) = missing(&[PALM]);
    assert!(unknown.is_empty());
    assert!((palm.expect("known").translation.vector - somewhere().translation.vector).norm() < 1e-12);
    let (unknown, palm) = missing(&[PALM, metacarpal(Finger::Middle)]);
    assert_eq!((unknown, palm), (vec![0, 1, 4, 5, 8, 9, 12, 13, 16, 17], None));
    let all: Vec<_> = (0..JOINTS).collect();
    assert_eq!(missing(&all), ((0..ANGLES).collect(), None));
}

#[test]
fn raw_numbers_are_checked() {
    let turn = [0.0, 0.0, 0.0, 1.002];
    let joint = TrackedJoint::new([1.0, 2.0, 3.0], turn);
    assert_eq!(joint.position, Some(Vec3::new(1.0, 2.0, 3.0)));
    assert_eq!(joint.orientation, Some(Quat::identity()), "nearly a rotation is made one");
    assert_eq!(TrackedJoint::new([f64::NAN, 0.0, 0.0], turn).position, None);
    for nonsense in [[0.0; 4], [f64::NAN; 4], [0.0, 0.0, 0.0, 2.0], [f64::INFINITY, 0.0, 0.0, 1.0]] {
        assert_eq!(TrackedJoint::new([0.0; 3], nonsense).orientation, None);
    }
}

#[test]
fn the_size_is_that_of_the_hand() {
    let hand = hand(Side::Left);
    let mut joints = joints(Side::Left, &somewhere(), hand.pose("fist").expect("a pose every hand has"));
    let size = HandSize::measure(&joints);
    assert!((size.hand_length.expect("known") - hand.hand_length()).abs() < 1e-12);
    for (found, finger) in size.phalanges.iter().zip(&hand.fingers) {
        let [a, b, c] = finger.lengths;
        for (found, known) in found.iter().zip([a, b, c + finger.tip]) {
            assert!((found.expect("known") - known).abs() < 1e-12);
        }
    }
    joints[phalanx(Finger::Middle, 2)] = TrackedJoint::default();
    let size = HandSize::measure(&joints);
    assert_eq!(size.hand_length, None);
    assert!(size.phalanges[2][0].is_some() && size.phalanges[2][1].is_none() && size.phalanges[2][2].is_none());
}

fn angles() -> impl Strategy<Value = [f64; ANGLES]> {
    prop::array::uniform20(-1.6..1.6_f64)
}

fn vector(limit: f64) -> impl Strategy<Value = Vec3> {
    [-limit..limit, -limit..limit, -limit..limit].prop_map(|[x, y, z]| Vec3::new(x, y, z))
}

proptest! {
    #[test]
    fn any_angles_come_back(angles in angles(), place in vector(3.0), turn in vector(1.8), left in any::<bool>()) {
        let side = if left { Side::Left } else { Side::Right };
        let palm = Pose::from_parts(place.into(), exp(&turn));
        let reading = JointReader::new(&skeleton(side)).read(&joints(side, &palm, &angles));
        prop_assert!(farthest(&reading.angles, &angles) < 1e-9);
    }

    /// Small errors of the joint rotations, twists included, cause small errors of the angles.
    #[test]
    fn noise_is_not_magnified(angles in angles(), noise in prop::collection::vec(vector(0.01), JOINTS)) {
        let mut joints = joints(Side::Right, &somewhere(), &angles);
        for (joint, noise) in joints.iter_mut().zip(&noise) {
            joint.orientation = joint.orientation.map(|q| q * exp(noise));
        }
        let reading = JointReader::new(&skeleton(Side::Right)).read(&joints);
        // Two joints make an angle, each off by up to √3 · 0.01.
        prop_assert!(farthest(&reading.angles, &angles) < 2.0 * 3_f64.sqrt() * 0.01 * 1.1);
    }

    /// The resulting pair of angles is the closest to any rotation.
    #[test]
    fn two_angles_are_the_nearest(q in vector(1.8), lean in -0.8..0.8_f64, other in [-3.1..3.1, -3.1..3.1_f64]) {
        let (u, v) = (Vec3::new(lean.sin(), lean.cos(), 0.0), -Vec3::x());
        let q = exp(&q);
        let off = |[a, b]: [f64; 2]| (exp(&(u * a)) * exp(&(v * b))).angle_to(&q);
        prop_assert!(off(two_angles(&q, &u, &v)) <= off(other) + 1e-9);
    }
}
