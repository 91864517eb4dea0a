//! The visual skin: closed, driven smoothly by bones and tissue, the same for both sides.

use std::path::Path;

use fingerpad::assets::load_hand;
use fingerpad::hand::{
    HandDescription, HandModel, POSES, REDUCED, Reduced, ReducedState, SegmentShape, SkinPlace, VisualSkin,
};
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::mesh::SurfaceMesh;
use fingerpad::tracking::{ANGLES, Finger, Segment};

const HANDS: [&str; 4] = ["right.toml", "left.toml", "small.toml", "large.toml"];

fn description(name: &str) -> HandDescription {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("hands").join(name);
    load_hand(&file).unwrap_or_else(|problems| panic!("{problems}"))
}

fn model(name: &str) -> HandModel {
    HandModel::new(description(name)).expect("a hand")
}

fn still(_: Segment, _: &SkinPlace) -> Vec3 {
    Vec3::zeros()
}

fn posed(model: &HandModel, angles: &[f64; ANGLES]) -> SurfaceMesh {
    let mut vertices = Vec::new();
    model.visual().posed(&model.skeleton.kinematics(&Pose::identity(), angles), still, &mut vertices);
    SurfaceMesh { vertices, triangles: model.visual().mesh.triangles.clone() }
}

#[test]
fn it_is_one_closed_surface() {
    for hand in HANDS {
        let model = model(hand);
        let VisualSkin { mesh, vertices, .. } = model.visual();
        assert!(mesh.is_closed(), "{hand}");
        assert_eq!(mesh.components(), 1, "{hand}");
        assert_eq!(mesh.vertices.len() as i64 - mesh.triangles.len() as i64 / 2, 2, "{hand}: no handles");
        assert!((3_000..15_000).contains(&vertices.len()), "{hand}: {}", vertices.len());
        assert!(mesh.volume() > 0.0, "{hand}: wound outward");
    }
}

#[test]
fn weights_sum_to_one() {
    for vertex in &model("right.toml").visual().vertices {
        let sum: f64 = vertex.influences.iter().map(|i| i.weight).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert!(vertex.influences.iter().all(|i| i.weight >= 0.0));
        for i in vertex.influences.iter().filter(|i| i.weight > 0.0) {
            assert!((i.under.weights.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}

#[test]
fn the_wrist_follows_the_palm_alone_and_fingers_no_other_finger() {
    let model = model("right.toml");
    let wrist = model.description.palm.wrist.z;
    let kin = model.skeleton.kinematics(&Pose::identity(), &model.visual().reference);
    for (p, vertex) in model.visual().mesh.vertices.iter().zip(&model.visual().vertices) {
        let used = || vertex.influences.iter().filter(|i| i.weight > 0.0);
        if p.z > wrist {
            assert!(used().all(|i| i.carrier.segment == Segment::PALM));
        }
        for finger in Finger::ALL {
            let tip = Segment::phalanx(finger, 2);
            if used().any(|i| i.carrier.segment == tip) {
                assert!(used().all(|i| i.carrier.segment.finger().is_some_and(|(f, _)| f == finger)));
                let near = kin.poses[tip.index()].translation.vector;
                assert!((p - near).norm() < 0.04, "carried by a finger that is far away");
            }
        }
    }
}

#[test]
fn the_reference_pose_reproduces_the_mesh() {
    for hand in HANDS {
        let model = model(hand);
        let mesh = posed(&model, &model.visual().reference);
        let off = mesh.vertices.iter().zip(&model.visual().mesh.vertices).map(|(p, q)| (p - q).norm());
        assert!(off.fold(0.0, f64::max) < 1e-9, "{hand}");
    }
}

#[test]
fn the_left_hand_is_the_mirror_image() {
    let (right, left) = (model("right.toml"), model("left.toml"));
    let mirrored = |p: &Vec3| Vec3::new(-p.x, p.y, p.z);
    assert_eq!(right.visual().reference, left.visual().reference);
    for (p, q) in right.visual().mesh.vertices.iter().zip(&left.visual().mesh.vertices) {
        assert_eq!(mirrored(p), *q);
    }
    for ([a, b, c], other) in right.visual().mesh.triangles.iter().zip(&left.visual().mesh.triangles) {
        assert_eq!([*a, *c, *b], *other);
    }
    for (v, w) in right.visual().vertices.iter().zip(&left.visual().vertices) {
        for (i, j) in v.influences.iter().zip(&w.influences) {
            assert_eq!((i.carrier, i.weight, i.under), (j.carrier, j.weight, j.under));
            assert_eq!(mirrored(&i.p_bone), j.p_bone);
        }
    }
    for pose in POSES {
        let of = |model: &HandModel| posed(model, model.description.pose(pose).expect("a pose"));
        for (p, q) in of(&right).vertices.iter().zip(&of(&left).vertices) {
            assert!((mirrored(p) - q).norm() < 1e-12, "{pose}");
        }
    }
}

#[test]
fn bending_keeps_the_volume() {
    for hand in HANDS {
        let model = model(hand);
        let volume = |pose: &str| posed(&model, model.description.pose(pose).expect("a pose")).volume();
        for pose in POSES {
            let share = volume(pose) / volume("open");
            assert!((share - 1.0).abs() < 0.1, "{hand}, {pose}: {share}");
        }
    }
}

/// Contact uses the segments' own outlines; the visual skin must lie on them at the pads.
#[test]
fn pads_lie_on_the_outlines_that_touch() {
    let model = model("right.toml");
    let mut seen = 0;
    for finger in Finger::ALL {
        let tip = Segment::phalanx(finger, 2);
        let shape = SegmentShape::of(&model.description, tip);
        let pad = model.visual().vertices.iter().flat_map(|v| &v.influences).filter(|i| {
            let whole = i.weight > 0.999 && i.carrier.segment == tip && !i.carrier.halfway;
            whole && i.p_bone.y < -i.p_bone.x.abs() && i.p_bone.z < -0.3 * shape.length
        });
        for i in pad {
            assert!(shape.distance(&i.p_bone).abs() < 0.5e-3, "{tip:?}: {}", shape.distance(&i.p_bone));
            seen += 1;
        }
    }
    assert!(seen > 100, "there are pads: {seen}");
}

/// Minimum distance between the outlines of two segments in a pose, negative if they overlap.
fn gap(model: &HandModel, pose: &str, a: Segment, b: Segment) -> f64 {
    let kin = model.skeleton.kinematics(&Pose::identity(), model.description.pose(pose).expect("a pose"));
    let shape = SegmentShape::of(&model.description, b);
    let between = kin.poses[b.index()].inverse() * kin.poses[a.index()];
    let skin = model.meshes[a.index()].skin.vertices.iter();
    skin.map(|p| shape.distance(&(between * nalgebra::Point3::from(*p)).coords)).fold(f64::INFINITY, f64::min)
}

#[test]
fn pads_meet_in_a_pinch_and_leave_room_for_a_pencil_in_a_tripod() {
    for hand in ["right.toml", "small.toml", "large.toml"] {
        let model = model(hand);
        let [thumb, index, middle] =
            [Finger::Thumb, Finger::Index, Finger::Middle].map(|finger| Segment::phalanx(finger, 2));
        assert!(gap(&model, "pinch", thumb, index).abs() < 2e-3, "{hand}: {}", gap(&model, "pinch", thumb, index));
        assert!((2e-3..10e-3).contains(&gap(&model, "tripod", thumb, index)));
        assert!((5e-3..18e-3).contains(&gap(&model, "tripod", thumb, middle)));
        assert!(gap(&model, "tripod", index, middle) > 0.0);
        assert!(gap(&model, "fist", thumb, Segment::phalanx(Finger::Middle, 1)).abs() < 3e-3, "the thumb lies on it");
    }
}

#[test]
fn a_pad_moves_with_its_tissue() {
    let model = model("right.toml");
    let pad = Segment::phalanx(Finger::Index, 2);
    let push = Vec3::new(0.0, 1e-3, 0.0);
    let kin = model.skeleton.kinematics(&Pose::identity(), &model.visual().reference);
    let mut pushed = Vec::new();
    model.visual().posed(&kin, |s, _| if s == pad { push } else { Vec3::zeros() }, &mut pushed);
    let mut moved = 0;
    for ((p, q), vertex) in model.visual().mesh.vertices.iter().zip(&pushed).zip(&model.visual().vertices) {
        let share: f64 = vertex.influences.iter().filter(|i| i.carrier.segment == pad).map(|i| i.weight).sum();
        // What bulges over the collision skin is pressed down on it, by √2 times as much again at most.
        let part = (q - p).norm() / push.norm();
        assert!((0.85 * share - 1e-9..=2.42 * share + 1e-9).contains(&part), "{part} of {share}");
        moved += usize::from(share > 0.99);
    }
    assert!(moved > 50);
    // A node's displacement moves the collision skin over the faces around it, and what is drawn over that with it.
    let mesh = &model.meshes[pad.index()];
    let below = |a: &usize, b: &usize| mesh.tissue.nodes[*a].y.total_cmp(&mesh.tissue.nodes[*b].y);
    let lowest = (0..mesh.held.len()).filter(|&n| !mesh.held[n]).min_by(below).expect("a free node");
    let mut field = vec![Vec3::zeros(); mesh.held.len()];
    field[lowest] = push;
    let skin: Vec<Vec3> = mesh.skin_maps.iter().map(|map| map.sum(&field)).collect();
    model.visual().posed(&kin, |s, at| if s == pad { at.sum(&skin) } else { Vec3::zeros() }, &mut pushed);
    let largest = pushed.iter().zip(&model.visual().mesh.vertices).map(|(q, p)| (q - p).norm()).fold(0.0, f64::max);
    let most = skin.iter().map(Vec3::norm).fold(0.0, f64::max);
    assert!((0.5 * most..=2.42 * most).contains(&largest), "{largest} of {most}");
}

/// Power of forces at the vertices equals that of the reduced forces, for each reduced velocity.
#[test]
fn forces_do_the_same_work_reduced() {
    for hand in ["right.toml", "left.toml"] {
        let model = model(hand);
        let palm = Pose::from_parts(Vec3::new(0.1, 1.2, -0.3).into(), Quat::from_euler_angles(0.4, -0.7, 1.1));
        let angles: [f64; ANGLES] = std::array::from_fn(|j| 0.3 + 0.2 * (1.7 * j as f64).sin());
        let tissue = |s: Segment, map: &SkinPlace| {
            Vec3::new(1e-4 * s.index() as f64, -5e-4 * map.weights[0], 3e-4 * map.weights[1])
        };
        let wave = |i: usize, k: f64| (0.37 * k * i as f64).sin();
        let count = model.visual().vertices.len();
        let forces: Vec<_> = (0..count).map(|i| Vec3::new(wave(i, 1.0), wave(i, 2.3), wave(i, 3.1))).collect();
        let at = |dof: usize, by: f64| {
            let mut d = Reduced::zeros();
            d[dof] = by;
            let mut state = ReducedState::at_rest(palm, angles);
            state.displace(&d);
            let mut out = Vec::new();
            model.visual().posed(&model.skeleton.kinematics(&state.palm, &state.angles), tissue, &mut out);
            out
        };
        let mut reduced = [0.0; REDUCED];
        model.visual().push_forces(&model.skeleton.kinematics(&palm, &angles), tissue, &forces, &mut reduced);
        let scale = reduced.iter().fold(0.0f64, |most, f| most.max(f.abs()));
        for (dof, force) in reduced.iter().enumerate() {
            const STEP: f64 = 1e-5;
            let (ahead, back) = (at(dof, STEP), at(dof, -STEP));
            let power: f64 = (0..count).map(|i| forces[i].dot(&(ahead[i] - back[i])) / (2.0 * STEP)).sum();
            assert!((power - force).abs() < 1e-7 * scale.max(1.0), "{hand}, coordinate {dof}: {power} is not {force}");
        }
    }
}

#[test]
fn posing_into_room_that_is_there_allocates_nothing() {
    let model = model("right.toml");
    let kin = model.skeleton.kinematics(&Pose::identity(), &model.visual().reference);
    let mut out = Vec::with_capacity(model.visual().vertices.len());
    let (room, at) = (out.capacity(), out.as_ptr());
    for _ in 0..2 {
        model.visual().posed(&kin, still, &mut out);
        assert_eq!((out.len(), out.capacity(), out.as_ptr()), (model.visual().vertices.len(), room, at));
    }
}

/// The middle of a finger's pad and its outward normal in a pose.
fn pad(model: &HandModel, angles: &[f64; ANGLES], finger: Finger) -> (Vec3, Vec3) {
    let of = &model.description.fingers[finger as usize];
    let tip = Segment::phalanx(finger, 2);
    let pose = model.skeleton.kinematics(&Pose::identity(), angles).poses[tip.index()];
    let middle = SegmentShape::of(&model.description, tip).onto_skin(&Vec3::new(0.0, -1e-3, -0.6 * of.lengths[2]));
    ((pose * nalgebra::Point3::from(middle)).coords, pose.rotation * -Vec3::y())
}

/// Within the limits of its joints and with the last two joints of the finger bending together, the thumb's pad meets the pads of index and
/// middle finger and faces them.
#[test]
fn the_thumb_opposes_index_and_middle_finger() {
    for hand in ["right.toml"] {
        let model = model(hand);
        for finger in &[Finger::Index, Finger::Middle] {
            let limits = |f: Finger, k: usize| model.description.fingers[f as usize].limits[k];
            let cost = |angles: &[f64; ANGLES]| {
                let ((p, n), (q, m)) = (pad(&model, angles, Finger::Thumb), pad(&model, angles, *finger));
                (p - q).norm_squared() / 1e-6 + 100.0 * (0.2 + n.dot(&m)).max(0.0).powi(2)
            };
            let mut angles = *model.description.pose("pinch").expect("a pose");
            let (mut best, mut step) = (cost(&angles), 0.3);
            while step > 2e-3 && best > 0.2 {
                let before = best;
                for (f, k) in [Finger::Thumb, *finger].into_iter().flat_map(|f| (0..4).map(move |k| (f, k))) {
                    // The last joint of a finger follows the one before.
                    if f != Finger::Thumb && k == 3 {
                        continue;
                    }
                    for by in [step, -step] {
                        let mut tried = angles;
                        let [low, high] = limits(f, k);
                        let at = 4 * f as usize + k;
                        tried[at] = (tried[at] + by).clamp(low, high);
                        if f != Finger::Thumb {
                            let [low, high] = limits(f, 3);
                            tried[4 * f as usize + 3] = (2.0 / 3.0 * tried[4 * f as usize + 2]).clamp(low, high);
                        }
                        let c = cost(&tried);
                        if c < best {
                            (best, angles) = (c, tried);
                        }
                    }
                }
                if best > 0.98 * before {
                    step *= 0.6;
                }
            }
            let ((p, n), (q, m)) = (pad(&model, &angles, Finger::Thumb), pad(&model, &angles, *finger));
            println!("{hand}, {finger:?}: {:.2} mm, {:.0}°", 1e3 * (p - q).norm(), (-n.dot(&m)).acos().to_degrees());
            assert!((p - q).norm() < 2e-3 && n.dot(&m) < 0.0, "{hand}, {finger:?}");
        }
    }
}

/// In a fist the fingertips lie on the palm.
#[test]
fn fingertips_reach_the_palm_in_a_fist() {
    for hand in ["right.toml", "small.toml", "large.toml"] {
        let model = model(hand);
        for finger in &Finger::ALL[1..] {
            let gap = gap(&model, "fist", Segment::phalanx(*finger, 2), Segment::PALM);
            println!("{hand}, {finger:?}: {:.2} mm", 1e3 * gap);
            assert!((-4e-3..3e-3).contains(&gap), "{hand}, {finger:?}: {gap}");
        }
    }
}
