//! The five-layer hand: kinematics, dynamics, following, and invalid input.

use std::path::Path;
use std::sync::Arc;

use fingerpad::assets::load_hand;
use fingerpad::body::{Body, Part, Refactor};
use fingerpad::body::{CollisionSkin, SkinVertex};
use fingerpad::body::{Hand, HandOptions};
use fingerpad::hand::{HandDescription, HandModel, POSES, REDUCED, Reduced, ReducedState};
use fingerpad::math::{Pose, Quat, Vec3, log};
use fingerpad::sim::{Parameters, Status, World};
use fingerpad::tracking::{ANGLES, HandSample, Segment, Side, TrackingState, minimum_jerk};

fn description(name: &str) -> HandDescription {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("hands").join(name);
    load_hand(&file).unwrap_or_else(|problems| panic!("{problems}"))
}

fn model(name: &str) -> Arc<HandModel> {
    Arc::new(HandModel::new(description(name)).expect("a hand"))
}

fn world_with(model: Arc<HandModel>, pose: &str) -> World {
    let mut world = World::new(Parameters::default());
    let options = HandOptions { pose: pose.into(), ..Default::default() };
    world.add(Hand::new(model, &options).expect("a known pose"));
    world
}

/// A pose with distinct angles.
fn odd_pose() -> (Pose, [f64; ANGLES]) {
    let palm = Pose::from_parts(Vec3::new(0.1, 1.2, -0.3).into(), Quat::from_euler_angles(0.4, -0.7, 1.1));
    (palm, std::array::from_fn(|j| 0.3 + 0.2 * (1.7 * j as f64).sin()))
}

fn moved(palm: &Pose, angles: &[f64; ANGLES], dof: usize, by: f64) -> (Pose, [f64; ANGLES]) {
    let mut d = Reduced::zeros();
    d[dof] = by;
    let mut state = ReducedState::at_rest(*palm, *angles);
    state.displace(&d);
    (state.palm, state.angles)
}

#[test]
fn jacobians_against_finite_differences() {
    for hand in ["right.toml", "left.toml"] {
        let model = model(hand);
        let (palm, angles) = odd_pose();
        let kin = model.skeleton.kinematics(&palm, &angles);
        let e = 1e-6;
        for segment in Segment::all() {
            let local = nalgebra::Point3::new(0.004, -0.006, -0.011);
            let p = (kin.poses[segment.index()] * local).coords;
            for dof in 0..REDUCED {
                let mut v = Reduced::zeros();
                v[dof] = 1.0;
                let at = |by: f64| {
                    let (palm, angles) = moved(&palm, &angles, dof, by);
                    model.skeleton.kinematics(&palm, &angles).poses[segment.index()]
                };
                let (plus, minus) = (at(e), at(-e));
                let slope = ((plus * local).coords - (minus * local).coords) / (2.0 * e);
                let velocity = kin.point_velocity(segment, &p, &v);
                assert!((slope - velocity).norm() < 1e-9, "{hand} {} dof {dof}: {slope} {velocity}", segment.name());
                let turn = log(&(plus.rotation * minus.rotation.inverse())) / (2.0 * e);
                assert!((turn - kin.angular_velocity(segment, &v)).norm() < 1e-8, "{} dof {dof}", segment.name());
                // Forces are mapped by the transpose.
                let (force, torque) = (Vec3::new(0.3, -1.0, 2.0), Vec3::new(-0.5, 0.2, 0.7));
                let mut onto = [0.0; REDUCED];
                kin.add_point_force(segment, &p, &force, &mut onto);
                kin.add_torque(segment, &torque, &mut onto);
                assert!((onto[dof] - force.dot(&slope) - torque.dot(&turn)).abs() < 1e-7);
            }
        }
    }
}

#[test]
fn mass_matrix_and_bias_against_the_energy() {
    // Lagrange: the inertial force of a motion q(t) is d/dt ∂T/∂q̇ − ∂T/∂q; along reduced accelerations that vanish it is the bias.
    // For the twenty angles, whose coordinates commute, that is checked by differences of T(q, q̇) = ½ q̇ᵀ M(q) q̇.
    let model = model("right.toml");
    let (palm, angles) = odd_pose();
    let rates: [f64; ANGLES] = std::array::from_fn(|j| 3.0 * (2.3 * j as f64).cos());
    let velocity = Reduced::from_iterator([0.0; 6].into_iter().chain(rates));
    let kinetic =
        |angles: &[f64; ANGLES], v: &Reduced| model.kinetic_energy(&model.skeleton.kinematics(&palm, angles), v);
    let momentum = |angles: &[f64; ANGLES]| model.mass_matrix(&model.skeleton.kinematics(&palm, angles)) * velocity;
    let shifted = |by: f64| -> [f64; ANGLES] { std::array::from_fn(|j| angles[j] + by * rates[j]) };
    let e = 1e-6;
    let momentum_rate = (momentum(&shifted(e)) - momentum(&shifted(-e))) / (2.0 * e);
    let bias = model.bias(&model.skeleton.kinematics(&palm, &angles), &velocity);
    for j in 0..ANGLES {
        let (mut plus, mut minus) = (angles, angles);
        plus[j] += e;
        minus[j] -= e;
        let slope = (kinetic(&plus, &velocity) - kinetic(&minus, &velocity)) / (2.0 * e);
        let expected = momentum_rate[6 + j] - slope;
        assert!((bias[6 + j] - expected).abs() < 1e-8, "angle {j}: {} {expected}", bias[6 + j]);
    }
    let mass = model.mass_matrix(&model.skeleton.kinematics(&palm, &angles));
    assert!((mass - mass.transpose()).norm() < 1e-15);
    assert!(nalgebra::Cholesky::new(mass).is_some(), "positive definite");
    for i in 0..3 {
        assert!((mass[(i, i)] - model.mass()).abs() < 1e-12, "the palm's translation carries the whole hand");
    }
}

#[test]
fn left_is_the_mirror_of_right() {
    let (right, left) = (model("right.toml"), model("left.toml"));
    assert_eq!((right.description.side, left.description.side), (Side::Right, Side::Left));
    let m = |v: &Vec3| Vec3::new(-v.x, v.y, v.z);
    let (_, angles) = odd_pose();
    let r = right.skeleton.kinematics(&Pose::identity(), &angles);
    let l = left.skeleton.kinematics(&Pose::identity(), &angles);
    for s in Segment::all() {
        let (mr, ml) = (&right.meshes[s.index()], &left.meshes[s.index()]);
        for (a, b) in mr.skin.vertices.iter().zip(&ml.skin.vertices) {
            let (a, b) =
                (r.poses[s.index()] * nalgebra::Point3::from(*a), l.poses[s.index()] * nalgebra::Point3::from(*b));
            assert!((m(&a.coords) - b.coords).norm() < 1e-15, "{}", s.name());
        }
        assert_eq!(mr.skin_areas, ml.skin_areas);
        let (ir, il) = (&right.inertias[s.index()], &left.inertias[s.index()]);
        assert!((m(&ir.centre) - il.centre).norm() < 1e-15 && ir.mass == il.mass);
        assert!(ml.tissue.check().is_ok(), "elements are still the right way round");
        assert!((ml.skin.volume() - mr.skin.volume()).abs() < 1e-15, "and so is the skin");
    }
}

#[test]
fn every_named_pose_is_within_the_limits() {
    for hand in ["right.toml", "left.toml", "small.toml", "large.toml"] {
        let description = description(hand);
        for name in POSES {
            let pose = description.pose(name).unwrap_or_else(|| panic!("{hand} has no {name}"));
            for (j, [low, high]) in description.limits().iter().enumerate() {
                assert!((*low..=*high).contains(&pose[j]), "{hand} {name} angle {j}");
            }
        }
    }
}

#[test]
fn hand_length_fits_the_user() {
    for (hand, length) in [("right.toml", 0.187), ("small.toml", 0.165), ("large.toml", 0.211)] {
        assert!((description(hand).hand_length() - length).abs() < 1e-12);
    }
    let mass = |hand: &str| model(hand).mass();
    let ratio = mass("large.toml") / mass("small.toml");
    assert!((ratio - (0.211f64 / 0.165).powi(3)).abs() < 1e-6, "mass goes with the cube of the length: {ratio}");
    assert!((0.25..0.6).contains(&mass("right.toml")), "a hand weighs about 0.4 kg: {}", mass("right.toml"));
}

#[test]
fn skin_is_denser_on_the_pads() {
    let model = model("right.toml");
    for segment in Segment::phalanges().filter(|s| s.is_tip()) {
        let mesh = &model.meshes[segment.index()];
        let mean = |palmar: bool| {
            let side = |(p, _): &(&Vec3, &f64)| (p.y < 0.0) == palmar && p.y.abs() > 0.5 * p.x.abs();
            let areas: Vec<f64> =
                mesh.skin.vertices.iter().zip(&mesh.skin_areas).filter(side).map(|(_, a)| *a).collect();
            areas.iter().sum::<f64>() / areas.len() as f64
        };
        let (pad, back) = (mean(true), mean(false));
        println!("{}: {:.1} mm² a vertex on the pad, {:.1} on the back", segment.name(), 1e6 * pad, 1e6 * back);
        assert!(pad < back, "{}", segment.name());
    }
}

#[test]
fn skin_maps_go_both_ways() {
    // Power at the skin equals the power at skeleton and tissue, for any force, pose and velocity; and the velocity is
    // the derivative of the position.
    let model = model("right.toml");
    let (palm, angles) = odd_pose();
    let mut hand = Hand::new(model.clone(), &HandOptions::default()).expect("a known pose");
    let velocity = Reduced::from_fn(|i, _| (0.7 * i as f64).sin());
    hand.skeleton.set_state(ReducedState { palm, angles, velocity });
    for (s, tissue) in hand.tissues.iter_mut().enumerate() {
        tissue.set_frame(hand.skeleton.kinematics().poses[s]);
        let n = tissue.dofs();
        let shift: Vec<f64> = (0..n).map(|i| 3e-4 * (1.1 * i as f64).sin()).collect();
        tissue.change_position(&shift);
        let dv: Vec<f64> = (0..n).map(|i| 0.05 * (2.9 * i as f64).cos()).collect();
        tissue.change_velocity(&dv);
    }
    hand.skin.update(&hand.skeleton, &hand.tissues);
    let force = Vec3::new(0.4, -0.8, 0.3);
    for segment in Segment::all() {
        let count = model.meshes[segment.index()].skin.vertices.len();
        for vertex in [0, count as u32 / 2, count as u32 - 1] {
            let at = SkinVertex { segment, vertex };
            let v = CollisionSkin::velocity(&hand.skeleton, &hand.tissues, at);
            let mut skeleton = [0.0; REDUCED];
            let tissue = &hand.tissues[segment.index()];
            let mut nodes = vec![0.0; tissue.dofs()];
            CollisionSkin::push_force(&hand.skeleton, &hand.tissues, at, &force, &mut skeleton, &mut nodes);
            let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
            let power =
                dot(&skeleton, hand.skeleton.state().velocity.as_slice()) + dot(&nodes, &tissue.state().velocity);
            assert!((power - force.dot(&v)).abs() < 1e-12, "{} vertex {vertex}", segment.name());
            let (bone, soft) = CollisionSkin::points(&hand.skeleton, &hand.tissues, at);
            let p = hand.skin.positions(segment)[vertex as usize];
            assert!((hand.skeleton.position(&bone) - p).norm() < 1e-14 && (tissue.position(&soft) - p).norm() < 1e-14);
        }
    }
    // A small step moves the skin according to its velocity.
    let before: Vec<Vec3> = Segment::all().flat_map(|s| hand.skin.positions(s).to_vec()).collect();
    let at = |s: Segment, v: usize| SkinVertex { segment: s, vertex: v as u32 };
    let speeds: Vec<Vec3> = Segment::all()
        .flat_map(|s| (0..model.meshes[s.index()].skin.vertices.len()).map(move |v| at(s, v)))
        .map(|v| CollisionSkin::velocity(&hand.skeleton, &hand.tissues, v))
        .collect();
    let h = 1e-7;
    (0..hand.part_count()).for_each(|part| hand.part_mut(part).advance(h));
    hand.skin.update(&hand.skeleton, &hand.tissues);
    let after: Vec<Vec3> = Segment::all().flat_map(|s| hand.skin.positions(s).to_vec()).collect();
    for ((a, b), v) in before.iter().zip(&after).zip(&speeds) {
        assert!(((b - a) / h - v).norm() < 1e-5, "{:?} {v:?}", (b - a) / h);
    }
}

#[test]
fn follows_a_closing_fist() {
    let model = model("right.toml");
    let (open, fist) = (*model.description.pose("open").expect("open"), *model.description.pose("fist").expect("fist"));
    let mut world = world_with(model, "open");
    let tracked =
        |t: f64| -> [f64; ANGLES] { std::array::from_fn(|j| open[j] + minimum_jerk(t / 0.5) * (fist[j] - open[j])) };
    // Index base flexion: when it passes half way, and how far it overshoots.
    let j = 4;
    let (mut crossed, mut most) = (f64::NAN, f64::MIN);
    for i in 0..150 {
        let t = 0.01 * f64::from(i);
        world.bodies.hand_mut(0).track(HandSample::full(t + 0.01, Pose::identity(), tracked(t + 0.01)));
        assert_eq!(world.step().status, Status::Done);
        let done = (world.bodies.hand(0).skeleton.state().angles[j] - open[j]) / (fist[j] - open[j]);
        if crossed.is_nan() && done >= 0.5 {
            crossed = world.time();
        }
        most = most.max(done);
    }
    let (lag, overshoot) = (crossed - 0.25, most - 1.0);
    println!("open → fist in 0.5 s: lag {:.0} ms, overshoot {:.2} %", 1e3 * lag, 100.0 * overshoot);
    assert!(lag.abs() <= 0.03, "lag {lag}");
    assert!(overshoot < 0.02, "overshoot {overshoot}");
    let end = world.bodies.hand(0).skeleton.state();
    for j in 0..ANGLES {
        assert!((end.angles[j] - fist[j]).abs() < 1e-3, "angle {j} settles: {} {}", end.angles[j], fist[j]);
    }
    assert!(end.velocity.norm() < 1e-2);
}

#[test]
fn limits_hold_against_a_pose_far_outside() {
    for sign in [-1.0, 1.0] {
        let model = model("right.toml");
        let mut world = world_with(model.clone(), "open");
        let far: [f64; ANGLES] = std::array::from_fn(|j| {
            let [low, high] = model.limits[j];
            if sign > 0.0 { high + 1.5 } else { low - 1.5 }
        });
        let mut worst = 0.0f64;
        for i in 0..300 {
            world.bodies.hand_mut(0).track(HandSample::full(0.01 * f64::from(i + 1), Pose::identity(), far));
            world.step();
            for (angle, [low, high]) in world.bodies.hand(0).skeleton.state().angles.iter().zip(model.limits) {
                worst = worst.max(low - angle).max(angle - high);
            }
        }
        println!("tracked 86° past the limits: {:.2}° past them at the worst", worst.to_degrees());
        // max_joint_torque / limit stiffness = 3 / 200 rad = 0.86°, were it not for the damped approach.
        assert!(worst.to_degrees() < 1.0);
        assert!(worst > 0.0, "the springs do have to work");
    }
}

fn fastest(world: &World) -> f64 {
    let hand = world.bodies.hand(0);
    let at = |s: Segment, v: usize| SkinVertex { segment: s, vertex: v as u32 };
    Segment::all()
        .flat_map(|s| (0..hand.skin.positions(s).len()).step_by(7).map(move |v| at(s, v)))
        .map(|v| CollisionSkin::velocity(&hand.skeleton, &hand.tissues, v).norm())
        .fold(0.0, f64::max)
}

#[test]
fn a_jump_is_followed_at_limited_speed() {
    let turned =
        Pose::from_parts(Vec3::zeros().into(), Quat::from_scaled_axis(Vec3::new(0.0, std::f64::consts::PI, 0.0)));
    for (name, to) in [("1 m", Pose::translation(1.0, 0.0, 0.0)), ("180°", turned)] {
        let model = model("right.toml");
        let open = *model.description.pose("open").expect("open");
        let mut world = world_with(model, "open");
        let (mut speed, mut overshoot) = (0.0f64, 0.0f64);
        for i in 0..400 {
            let t = 0.01 * f64::from(i + 1);
            let palm = if t < 0.5 { Pose::identity() } else { to };
            world.bodies.hand_mut(0).track(HandSample::full(t, palm, open));
            assert_eq!(world.step().status, Status::Done, "{name} at {t}");
            speed = speed.max(fastest(&world));
            overshoot = overshoot.max(world.bodies.hand(0).skeleton.state().palm.translation.x - 1.0);
        }
        let palm = world.bodies.hand(0).skeleton.state().palm;
        println!("jump of {name}: fastest skin {speed:.1} m/s, overshoot {:.1} mm", 1e3 * overshoot.max(0.0));
        assert!((palm.translation.vector - to.translation.vector).norm() < 1e-3, "{name}: it arrives");
        assert!(palm.rotation.angle_to(&to.rotation) < 1e-2);
        assert!(speed < 10.0 && overshoot < 0.02);
    }
}

#[test]
fn invalid_samples_are_rejected_counted_and_harmless() {
    let model = model("right.toml");
    let open = *model.description.pose("open").expect("open");
    let mut world = world_with(model, "open");
    for i in 0..300 {
        let t = 0.01 * f64::from(i + 1);
        let mut angles = open;
        let mut palm = Pose::identity();
        match i % 6 {
            1 => angles[i as usize % ANGLES] = f64::NAN,
            2 => palm.translation.x = f64::INFINITY,
            3 => palm.rotation = Quat::new_unchecked(nalgebra::Quaternion::new(0.0, 0.0, 0.0, 0.0)),
            4 => palm.translation.x = -1.0,
            _ => {}
        }
        world.bodies.hand_mut(0).track(HandSample::full(t, palm, angles));
        assert_eq!(world.step().status, Status::Done);
    }
    let hand = &world.bodies.hand(0).skeleton;
    assert_eq!(hand.tracked.dropped(), 150);
    assert_eq!(hand.tracked.suspected(), 50);
    assert_eq!(hand.tracked.accepted(), 100);
    assert!(hand.state().palm.translation.vector.norm() < 1e-9, "it never moved");
    // Stale: no more samples, during a motion.
    for i in 0..20 {
        let t = 3.0 + 0.01 * f64::from(i + 1);
        world.bodies.hand_mut(0).track(HandSample::full(t, Pose::translation(2.0 * (t - 3.0), 0.0, 0.0), open));
        world.step();
    }
    let last = *world.bodies.hand(0).skeleton.tracked.palm();
    for _ in 0..200 {
        world.step();
    }
    let hand = &world.bodies.hand(0).skeleton;
    assert_eq!(hand.tracked.state(world.time()), TrackingState::Stale);
    assert!(
        (hand.state().palm.translation.vector - last.translation.vector).norm() < 1e-4,
        "it stays where it was seen last"
    );
    assert!(hand.state().velocity.norm() < 1e-3);
}

#[test]
fn two_runs_are_bit_identical() {
    let run = |when: Refactor| -> Vec<u64> {
        let model = model("right.toml");
        let (open, fist) =
            (*model.description.pose("open").expect("open"), *model.description.pose("fist").expect("fist"));
        let mut world = world_with(model, "open");
        world.parameters.refactor.when = when;
        (0..100)
            .map(|i| {
                let t = 0.01 * f64::from(i + 1);
                let angles = std::array::from_fn(|j| open[j] + minimum_jerk(t) * (fist[j] - open[j]));
                world.bodies.hand_mut(0).track(HandSample::full(t, Pose::translation(0.0, 0.1 * t, 0.0), angles));
                world.step().hash
            })
            .collect()
    };
    for when in [Refactor::Always, Refactor::Drift, Refactor::Never] {
        let (a, b) = (run(when), run(when));
        assert_eq!(a, b);
        assert!(a.windows(2).all(|w| w[0] != w[1]), "every step changes the state");
    }
}

#[test]
fn pushed_tissue_comes_back_to_rest() {
    let model = model("right.toml");
    let mut world = world_with(model, "open");
    world.parameters.gravity = Vec3::zeros();
    let tissue = &mut world.bodies.hand_mut(0).tissues[6];
    let shift: Vec<f64> = (0..tissue.dofs()).map(|i| 1e-3 * (1.3 * i as f64).sin()).collect();
    tissue.change_position(&shift);
    let mut energy = world.bodies.hand(0).tissues[6].energy();
    for _ in 0..200 {
        world.step();
        let next = world.bodies.hand(0).tissues[6].energy();
        assert!(next <= energy * (1.0 + 1e-9) + 1e-18, "{next} from {energy}");
        energy = next;
    }
    let left = world.bodies.hand(0).tissues[6].state().displacement.iter().map(|u| u.norm()).fold(0.0, f64::max);
    println!("tissue pushed by 1 mm: {left:.1e} m left after 2 s");
    assert!(left < 1e-7);
}

#[test]
fn an_unknown_pose_is_refused_with_a_suggestion() {
    let model = Arc::new(fingerpad::hand::HandModel::left().unwrap_or_else(|problems| panic!("{problems}")));
    let options = HandOptions { pose: "fits".into(), ..HandOptions::default() };
    let error = Hand::new(model, &options).expect_err("there is no such pose");
    assert_eq!(error.to_string(), "there is no pose `fits`; did you mean `fist`?");
}
