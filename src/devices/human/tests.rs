use std::f64::consts::FRAC_PI_4;

use super::*;
use crate::assets::builtin_hand;
use crate::hand::HandDescription;
use crate::math::exp;
use crate::protocol::{Format, Reading};
use crate::tracking::{Angle, AngleKind};

const SIDES: [Side; 2] = [Side::Left, Side::Right];

fn description(side: Side) -> HandDescription {
    HandDescription { side, ..builtin_hand().expect("the hand it carries") }
}

fn hand(side: Side) -> HumanHand {
    HumanHand::new(side, &Skeleton::new(&description(side)).expect("a hand"))
}

fn body() -> BoneSkeleton {
    let [left, right] = SIDES.map(|side| Skeleton::new(&description(side)).expect("a hand"));
    BoneSkeleton::new(&left, &right)
}

fn degrees(angles: &[Option<f64>; ANGLES], finger: Finger, kind: AngleKind) -> f64 {
    angles[Angle { finger, kind }.index()].expect("it is known").to_degrees()
}

/// The angles of a hand whose bone rotations are the identity except for some.
fn read(side: Side, turns: &[(&str, Quat)]) -> [Option<f64>; ANGLES] {
    hand(side).angles(|segment| {
        let name = HumanBone::of_hand(side, segment).name();
        Some(turns.iter().find(|(of, _)| name.ends_with(of)).map_or(Quat::identity(), |(_, turn)| *turn))
    })
}

fn about(axis: Vec3, degrees: f64) -> Quat {
    Quat::from_scaled_axis(axis * degrees.to_radians())
}

#[test]
fn the_t_pose_is_a_flat_hand() {
    for side in SIDES {
        let angles = read(side, &[]);
        for finger in [Finger::Index, Finger::Middle, Finger::Ring, Finger::Little] {
            let found = AngleKind::ALL.map(|kind| degrees(&angles, finger, kind));
            assert!(
                found[0].abs() < 0.5 && found[2].abs() < 0.5 && found[3].abs() < 0.5,
                "{side:?} {finger:?} {found:?}"
            );
            assert!(found[1].abs() < 10.0, "straight ahead, not along the finger's own direction: {found:?}");
        }
        let hand = hand(side);
        let along = |segment: Segment| hand.rest[segment.index()] * -Vec3::z();
        let outwards = if side == Side::Left { -Vec3::x() } else { Vec3::x() };
        assert!(
            (hand.palm * -Vec3::z() - outwards).norm() < 1e-12 && (hand.palm * Vec3::y() - Vec3::y()).norm() < 1e-12
        );
        assert!((along(Segment::phalanx(Finger::Index, 0)) - outwards).norm() < 1e-6);
        let thumb = along(Segment::phalanx(Finger::Thumb, 0));
        assert!((thumb - (outwards - Vec3::z()) * FRAC_PI_4.sin()).norm() < 1e-6, "half way ahead: {thumb}");
    }
}

/// In the T-pose the palms face down. To bend the index finger of the right hand, which points to +x, its tip goes down: a turn about
/// −z. Of the left hand, which points to −x, it is one about +z.
#[test]
fn flexion_is_the_same_for_both_hands() {
    for (side, axis) in [(Side::Right, -Vec3::z()), (Side::Left, Vec3::z())] {
        let bent = [("IndexProximal", 50.0), ("IndexIntermediate", 70.0), ("IndexDistal", 30.0)];
        let angles = read(side, &bent.map(|(name, by)| (name, about(axis, by))));
        let of = |kind| degrees(&angles, Finger::Index, kind);
        for (kind, by) in
            [(AngleKind::BaseFlexion, 50.0), (AngleKind::MiddleFlexion, 70.0), (AngleKind::TipFlexion, 30.0)]
        {
            assert!((of(kind) - by).abs() < 0.5, "{side:?} {kind:?}: {}", of(kind));
        }
        assert!(degrees(&angles, Finger::Middle, AngleKind::BaseFlexion).abs() < 0.5);
    }
}

/// Towards the thumb is ahead, −z: of the right hand, from +x, a turn about +y; of the left, from −x, one about −y.
#[test]
fn a_finger_to_the_side_is_abducted() {
    for (side, axis) in [(Side::Right, Vec3::y()), (Side::Left, -Vec3::y())] {
        let (before, after) = (read(side, &[]), read(side, &[("MiddleProximal", about(axis, 12.0))]));
        let moved = [AngleKind::BaseFlexion, AngleKind::BaseAbduction]
            .map(|kind| degrees(&after, Finger::Middle, kind) - degrees(&before, Finger::Middle, kind));
        assert!(moved[0].abs() < 0.5 && (moved[1] - 12.0).abs() < 0.5, "{side:?} {moved:?}");
    }
}

#[test]
fn a_thumb_bends_at_its_last_joints() {
    for side in SIDES {
        let hand = hand(side);
        // About the thumb's own axis of flexion, as it lies in the T-pose: across it, −x of its frame.
        let axis = hand.rest[Segment::phalanx(Finger::Thumb, 1).index()] * -Vec3::x();
        let before = read(side, &[]);
        let after = read(side, &[("ThumbIntermediate", about(axis, 40.0)), ("ThumbDistal", about(axis, 25.0))]);
        let moved = AngleKind::ALL.map(|k| degrees(&after, Finger::Thumb, k) - degrees(&before, Finger::Thumb, k));
        for (found, known) in moved.iter().zip([0.0, 0.0, 40.0, 25.0]) {
            assert!((found - known).abs() < 0.5, "{side:?} {moved:?}");
        }
        let tip = Segment::phalanx(Finger::Thumb, 2);
        let bent = about(axis, 65.0) * hand.rest[tip.index()] * -Vec3::z();
        let straight = hand.rest[tip.index()] * -Vec3::z();
        // Over the palm, towards the fingers.
        let fingers = hand.palm * -Vec3::z();
        assert!(bent.y < straight.y - 0.1 || bent.dot(&fingers) > straight.dot(&fingers) + 0.1, "{side:?} {bent}");
    }
}

/// A mirrored skeleton gives the same angles of the other hand: x and the rotations about y and z change their sign.
#[test]
fn left_and_right_are_mirror_images() {
    let turns = ["ThumbProximal", "ThumbDistal", "IndexProximal", "RingProximal", "RingIntermediate", "LittleDistal"];
    let turns: Vec<_> = (turns.iter().enumerate())
        .map(|(i, name)| (*name, exp(&Vec3::new(0.1 * i as f64 - 0.2, 0.15, -0.3 + 0.07 * i as f64))))
        .collect();
    let mirrored: Vec<_> = (turns.iter())
        .map(|(name, q)| (*name, Quat::new_normalize(nalgebra::Quaternion::new(q.w, q.i, -q.j, -q.k))))
        .collect();
    let (right, left) = (read(Side::Right, &turns), read(Side::Left, &mirrored));
    for (i, (a, b)) in right.iter().zip(&left).enumerate() {
        assert!((a.expect("known") - b.expect("known")).abs() < 1e-9, "angle {i}: {a:?} {b:?}");
    }
    assert!(right.iter().any(|a| a.expect("known").abs() > 0.2));
}

/// Round trip from angles through encoder, datagram and decoder.
#[test]
fn round_trip() {
    for side in SIDES {
        let palm = Pose::from_parts(Vec3::new(0.2, 1.1, -0.3).into(), exp(&Vec3::new(0.3, -0.8, 0.4)));
        for pose in &description(side).poses {
            let (mut encoder, mut decoder) = (Format::Vmc.encoder(), Format::Vmc.decoder());
            let (mut datagram, mut readings) = (Vec::new(), Vec::new());
            for (bone, pose) in hand(side).bones(&palm, &pose.angles) {
                encoder.set(&Reading::Bone { bone, pose });
            }
            encoder.packet(&mut datagram);
            decoder.push(&datagram, &mut readings);
            assert_eq!(readings.len(), SEGMENTS);
            let mut body = body();
            for reading in &readings {
                let Reading::Bone { bone, pose } = reading else { panic!("{reading:?}") };
                body.set(*bone, pose);
            }
            let other = if side == Side::Left { Side::Right } else { Side::Left };
            assert_eq!(body.news(other), None);
            let read = body.news(side).expect("it was told of");
            for (i, (found, known)) in read.angles.iter().zip(&pose.angles).enumerate() {
                let off = (found.expect("all are known") - known).to_degrees();
                assert!(off.abs() < 0.01, "{} of the {side:?} hand, angle {i}: {off}°", pose.name);
            }
            assert_eq!(read.palm, None, "nothing was said of the arm");
            assert_eq!(body.news(side), None, "nothing new");
        }
    }
}

/// A skeleton with an arm: the reader composes the chain of bones.
#[test]
fn the_arm_chain_gives_the_palm() {
    for side in SIDES {
        let name = |bone: &str| format!("{}{bone}", if side == Side::Left { "Left" } else { "Right" });
        let palm = Pose::from_parts(Vec3::new(0.2, 1.1, -0.3).into(), exp(&Vec3::new(0.3, -0.8, 0.4)));
        let angles = description(side).pose("pinch").copied().expect("a pose");
        let mut chain: Vec<(String, Pose)> =
            ["root", "Hips", "Spine", "Chest"].map(|bone| (bone.to_string(), Pose::identity())).into();
        chain.extend(["Shoulder", "UpperArm", "LowerArm"].map(|bone| (name(bone), Pose::identity())));
        for (i, (_, pose)) in chain.iter_mut().enumerate() {
            let i = i as f64;
            *pose = Pose::from_parts(Vec3::new(0.1 * i, 0.2, 0.05).into(), exp(&Vec3::new(0.2, 0.1 * i, -0.3)));
        }
        let above = chain.iter().fold(Pose::identity(), |above, (_, pose)| above * pose);
        let mut bones = hand(side).bones(&palm, &angles);
        bones[0].1 = above.inverse() * bones[0].1;
        let mut body = body();
        let tell = |body: &mut BoneSkeleton| {
            chain.iter().for_each(|(name, pose)| body.set(HumanBone::named(name).expect("a bone"), pose));
            bones.iter().for_each(|(bone, pose)| body.set(*bone, pose));
            body.news(side).expect("it was told of").palm
        };
        assert_eq!(tell(&mut body), None, "there may be more between the hips and the hand");
        let off = palm.inverse() * tell(&mut body).expect("a palm");
        assert!(off.translation.vector.norm() < 1e-9 && off.rotation.angle() < 1e-9, "{side:?} {off}");
    }
}

/// A hand whose little finger ends at its first bone, as in some models.
#[test]
fn missing_bones_are_unknown() {
    let hand = hand(Side::Right);
    let angles = hand.angles(|segment| match segment.finger() {
        Some((Finger::Little, 1 | 2)) | None => None,
        Some(_) => Some(Quat::identity()),
    });
    let unknown: Vec<_> = (0..ANGLES).filter(|i| angles[*i].is_none()).collect();
    assert_eq!(unknown, [18, 19]);
}

/// A sender with one bone per datagram gives one reading per frame, not per bone.
#[test]
fn a_hand_is_read_once_per_frame() {
    let mut body = body();
    let bones = hand(Side::Right).bones(&Pose::identity(), &[0.1; ANGLES]);
    // Number of readings at each bone of a frame, after a pause.
    let mut frame = |bones: &[(HumanBone, Pose)]| -> Vec<usize> {
        let mut counts = vec![0; bones.len()];
        if body.is_open(Side::Right) {
            body.end_frame(Side::Right);
            counts[0] += 1;
        }
        for ((bone, pose), count) in bones.iter().zip(&mut counts) {
            if let Some(side) = body.ended_by(*bone) {
                body.end_frame(side);
                *count += 1;
            }
            body.set(*bone, pose);
            *count += usize::from(body.news(Side::Right).is_some());
        }
        counts
    };
    let with_the_last = [vec![0; SEGMENTS - 1], vec![1]].concat();
    // The first datagrams come from the middle of a frame.
    frame(&bones[5..]);
    frame(&bones);
    for _ in 0..3 {
        assert_eq!(frame(&bones), with_the_last, "once, with the last bone, not a frame later");
    }
    // A bone is lost: the incomplete frame is read before the next one starts.
    assert_eq!(frame(&bones[..SEGMENTS - 1]), [0; SEGMENTS - 1]);
    assert_eq!(frame(&bones).iter().sum::<usize>(), 2);
    assert_eq!(frame(&bones), with_the_last);
}
