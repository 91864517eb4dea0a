//! The elastic objects of Luo and Xiao (T-RO 2007) against known answers.

use fingerpad::elastic::{
    Beam, Compass, Condition, ContactStatus, DuffingLaw, ElasticError, ElasticObject, ElasticOptions, ElasticShape,
    FrictionLaw, Inclusion, Mallet, Profile, SolidMaterial, StickSlide, Tool, split,
};
use fingerpad::math::{Pose, Quat, Vec3};
use fingerpad::mesh::{Ring, SurfaceMesh, block, revolved};
use proptest::prelude::*;

const DT: f64 = 1e-3;
const SPACING: f64 = 0.0015;

fn cube() -> ElasticOptions {
    ElasticOptions::new(ElasticShape::block(Vec3::repeat(0.05)))
}

fn ellipsoid() -> ElasticOptions {
    ElasticOptions::new(ElasticShape::Ellipsoid { semi: Vec3::new(0.06, 0.04, 0.04) })
}

fn ball() -> Tool {
    Tool::ball(0.01, SPACING).expect("a ball")
}

fn object(options: ElasticOptions, tool: Tool) -> ElasticObject {
    ElasticObject::new(options, tool).expect("an elastic object")
}

fn at(x: f64, y: f64, z: f64) -> Pose {
    Pose::translation(x, y, z)
}

/// A cone whose tip, a single vertex, is at the origin and points down.
fn needle() -> Tool {
    let ring = |radius: f64, height: f64, points: usize| Ring { radius, height, points };
    let rings = [ring(0.0, 0.0, 1), ring(0.0015, 0.006, 12), ring(0.003, 0.012, 12), ring(0.0, 0.013, 1)];
    Tool::from_meshes(&[revolved(&rings)]).expect("a needle")
}

/// Presses straight down from above in steps of 0.1 mm or less.
fn press(object: &mut ElasticObject, x: f64, surface: f64, depth: f64) {
    let steps = (depth / 1e-4).ceil() as usize;
    for i in 0..=steps {
        let down = depth * i as f64 / steps as f64;
        object.update(&at(x, surface - down, 0.0), DT);
    }
}

/// Presses with a pose of the tool until the force reaches some value; returns the depth.
fn press_to(object: &mut ElasticObject, pose: impl Fn(f64) -> Pose, force: f64) -> f64 {
    let (mut low, mut high) = (0.0, 0.012);
    for _ in 0..50 {
        let middle = 0.5 * (low + high);
        object.reset();
        object.update(&pose(-0.001), DT);
        if object.update(&pose(middle), DT).force.norm() < force {
            low = middle;
        } else {
            high = middle;
        }
    }
    0.5 * (low + high)
}

fn dents(object: &ElasticObject) -> impl Iterator<Item = f64> + '_ {
    object.surface().vertices.iter().zip(object.rest()).map(|(v, rest)| (v - rest).norm())
}

#[test]
fn l1_a_point_has_the_force_of_the_law() {
    // Table I for displacements in mm: F = 1 kg (0.2² D + ¾ 0.4 D³) N.
    let law = DuffingLaw::default();
    for mm in [0.1, 1.0, 2.5, 7.0] {
        let printed: f64 = 0.04 * mm + 0.3 * mm * mm * mm;
        assert!((law.force(1e-3 * mm) - printed).abs() < 1e-12 * printed, "{mm}");
    }
    let mut object = object(cube(), needle());
    object.update(&at(0.0, 0.0251, 0.0), DT);
    for i in 1..=50 {
        let depth = 1e-4 * f64::from(i);
        let answer = object.update(&at(0.0, 0.025 - depth, 0.0), DT);
        let printed = 0.04 * (1e3 * depth) + 0.3 * (1e3 * depth).powi(3);
        assert!((answer.force - Vec3::new(0.0, printed, 0.0)).norm() < 1e-12 * printed.max(1.0), "{depth}");
        assert_eq!(answer.regions.len(), 1);
        assert!((answer.regions[0].displacement - depth).abs() < 1e-12);
    }
}

#[test]
fn l1_the_force_grows_faster_than_the_depth() {
    for (shape, surface) in [(cube(), 0.025), (ellipsoid(), 0.04)] {
        for tool in [ball(), needle()] {
            let low = tool.points.iter().map(|p| p.position.y).fold(0.0, f64::min);
            let mut object = object(shape.clone(), tool);
            object.update(&at(0.0, surface - low + 1e-4, 0.0), DT);
            let mut forces = vec![0.0];
            for i in 1..=58 {
                let pose = at(0.0, surface - low - 1e-4 * f64::from(i), 0.0);
                forces.push(object.update(&pose, DT).force.y);
            }
            assert!(forces.windows(2).all(|f| f[1] > f[0]), "monotone: {forces:?}");
            assert!(forces[58] > 3.0 * forces[29], "{} {}", forces[29], forces[58]);
        }
    }
}

#[test]
fn l2_static_then_dynamic_friction_against_the_motion() {
    let friction = FrictionLaw::default();
    let mut object = object(cube(), ball());
    press(&mut object, -0.01, 0.035, 0.003);
    let (mut held, mut slid) = (0, 0);
    for i in 0..250 {
        let answer = object.update(&at(-0.01 + 1e-4 * f64::from(i), 0.032, 0.0), DT);
        let region = answer.regions[0];
        let size = region.friction.norm();
        assert!(size <= friction.static_bound(region.normal_force) * (1.0 + 1e-12));
        assert!(region.friction.z.abs() < 1e-12 && region.friction.dot(&region.normal).abs() < 1e-12);
        if region.sliding {
            // Past the breakaway distance.
            if slid > 11 {
                let expected = Vec3::new(-friction.dynamic * region.normal_force, 0.0, 0.0);
                assert!((region.friction - expected).norm() < 1e-12, "{i}: {:?}", region.friction);
                assert_eq!(region.condition, Condition::Slides);
            }
            slid += 1;
        } else {
            assert_eq!((slid, region.condition), (0, Condition::Stuck));
            let stretch = 1e-4 * f64::from(i);
            assert!((size - DuffingLaw::default().force(stretch)).abs() < 1e-9, "{i}: {size}");
            held += 1;
        }
    }
    assert!(held > 20 && slid > 100, "{held} {slid}");
}

#[test]
fn l2_conditions_follow_the_paper() {
    let law = DuffingLaw::default();
    let friction = FrictionLaw { coefficient: 1.0, exponent: 0.75, dynamic: 0.3, breakaway: 1e-4 };
    let (n, x) = (Vec3::y(), Vec3::x());
    let mut stick = StickSlide::default();
    // K N^β = 8 N at 16 N; the law reaches that at 2.97 mm.
    let mut go = |mm: f64, normal: f64| stick.advance(&law, &friction, &n, normal, &(1e-3 * mm * x));
    assert_eq!(go(2.0, 16.0).1, Condition::Stuck);
    let (force, condition) = go(1.5, 16.0);
    assert!(condition == Condition::Breaks && (force.x + 8.0).abs() < 1e-12);
    // C4 still, as 1 mm more would stretch it beyond the static bound; then C3.
    assert_eq!(go(1.0, 16.0).1, Condition::Breaks);
    let (force, condition) = go(0.1, 16.0);
    assert!(condition == Condition::Slides && (force.x + 0.3 * 16.0).abs() < 1e-12);
    // It follows the normal force while it slides, and goes on sliding when it rests.
    assert!((go(0.0, 8.0).0.x + 0.3 * 8.0).abs() < 1e-12);
    // Turned back, it sticks.
    assert_eq!(go(-1.0, 8.0).1, Condition::Stops);
    // C2: dynamic friction above the static bound holds the tool. 0.3 N > N^0.75 beyond 123 N.
    assert_eq!(go(4.0, 16.0).1, Condition::Breaks);
    assert_eq!(go(0.3, 16.0).1, Condition::Slides);
    assert_eq!(go(0.0, 200.0).1, Condition::Stops);
}

#[test]
fn l3_the_larger_area_leaves_the_shallower_dent_at_the_same_force() {
    let mallet = Mallet::default();
    let tool = Tool::mallet(&mallet, SPACING).expect("a mallet");
    // The head's end face down, and the tail down.
    let down = Quat::from_axis_angle(&Vec3::z_axis(), -std::f64::consts::FRAC_PI_2);
    let head =
        |depth: f64| Pose::from_parts(Vec3::new(0.0, 0.025 + 0.5 * mallet.head_length - depth, 0.0).into(), down);
    let tail = |depth: f64| at(0.0, 0.025 + mallet.handle_length - depth, 0.0);
    // A neighbourhood that is wider than the head.
    let options = ElasticOptions { neighbourhood: 0.014, ..cube() };
    let mut by_head = object(options.clone(), tool.clone());
    let mut by_tail = object(options, tool);
    let depths = [press_to(&mut by_head, head, 5.0), press_to(&mut by_tail, tail, 5.0)];
    let forces = [by_head.response().force.norm(), by_tail.response().force.norm()];
    assert!(forces.iter().all(|f| (f - 5.0).abs() < 1e-6), "{forces:?}");
    let [a, b] = [&by_head, &by_tail].map(|object| object.response().regions[0]);
    assert!(a.area > 2.0 * b.area && a.points > 2.0 * b.points, "{} {}", a.area, b.area);
    assert!(depths[0] < 0.85 * depths[1], "{depths:?}");
    let [deepest_head, deepest_tail] = [&by_head, &by_tail].map(|object| dents(object).fold(0.0, f64::max));
    assert!(deepest_head < 0.85 * deepest_tail, "{deepest_head} {deepest_tail}");
    // Beside both contacts too, by the factor of the area: C_n log((r_R + C_r) / (r + C_r)) D / (1 + log n).
    let o = by_head.options();
    let cusp = o.local_gain * ((o.neighbourhood + o.local_length) / (0.0115 + o.local_length)).ln();
    let part = |points: f64| a.displacement * cusp / (1.0 + points.ln());
    let expected = part(b.points) - part(a.points);
    let p = Vec3::new(0.0, 0.025, 0.0115);
    let [a, b] = [&by_head, &by_tail].map(|object| object.displacement(&p).norm());
    assert!(expected > 0.0 && (b - a - expected).abs() < 1e-3 * expected, "{a} {b} {expected}");
    // Far away only the force counts.
    let p = Vec3::new(0.0, 0.025, 0.02);
    let [a, b] = [&by_head, &by_tail].map(|object| object.displacement(&p).norm());
    assert!((a - b).abs() < 1e-6 * a, "{a} {b}");
}

#[test]
fn l4_along_an_ellipsoid() {
    let mallet = Mallet::default();
    let mut object = object(ellipsoid(), Tool::mallet(&mallet, SPACING).expect("a mallet"));
    let pose = |x: f64, depth: f64, z: f64| at(x, 0.04 - depth + mallet.handle_length, z);
    for i in 0..=60 {
        object.update(&pose(-0.02, 1e-4 * f64::from(i) - 5e-4, 0.0), DT);
    }
    let mut rows = Vec::new();
    for i in 0..=400 {
        let x = -0.02 + 1e-4 * f64::from(i);
        let answer = object.update(&pose(x, 0.0055, 0.0005 + 5e-6 * f64::from(i)), DT);
        assert_eq!(answer.regions.len(), 1, "{x}");
        let region = answer.regions[0];
        rows.push((x, region.normal_force * region.normal, region.friction));
    }
    // The normal force leans back before the top, forward beyond it; it is greatest at the top.
    assert!(rows.iter().all(|(x, normal, _)| normal.y > 0.0 && (x.abs() < 5e-4 || normal.x * x > 0.0)));
    let top = rows.iter().max_by(|a, b| a.1.y.total_cmp(&b.1.y)).expect("rows");
    assert!(top.0.abs() < 1e-3, "{}", top.0);
    // A small positive part to the side on which it is.
    assert!(rows.iter().all(|(_, normal, _)| normal.z > 0.0 && normal.z < 0.15 * normal.y));
    // Friction against the motion: backward, down on the way up and up on the way down.
    let sliding: Vec<_> = rows.iter().skip(100).collect();
    assert!(sliding.iter().all(|(_, _, f)| f.x < 0.0));
    assert!(sliding.iter().all(|(x, _, f)| x.abs() < 1e-3 || f.y * x > 0.0), "{sliding:?}");
}

/// A compass that is pressed with one pin, rolled over to the other and lifted.
fn roll(object: &mut ElasticObject, steps: usize, mut each: impl FnMut(f64, &ElasticObject)) {
    for i in 0..=steps {
        let s = i as f64 / steps as f64;
        let ramp = (10.0 * s).min(10.0 * (1.0 - s)).min(1.0);
        let turn = Quat::from_axis_angle(&Vec3::z_axis(), 0.12 * (1.0 - 2.0 * s));
        let pose = Pose::from_parts(Vec3::new(0.0, 0.0405 - 0.006 * ramp, 0.0).into(), turn);
        object.update(&pose, DT * 600.0 / steps as f64);
        each(s, object);
    }
}

fn compass() -> Tool {
    Tool::compass(&Compass::default(), 0.0007).expect("a compass")
}

#[test]
fn l5_one_region_two_and_one_again() {
    let mut object = object(ellipsoid(), compass());
    let mut seen: Vec<Vec<u64>> = Vec::new();
    let mut sides = Vec::new();
    roll(&mut object, 600, |s, object| {
        let regions = object.response().regions;
        let ids: Vec<u64> = regions.iter().map(|r| r.id).collect();
        if seen.last() != Some(&ids) {
            seen.push(ids);
        }
        // Shape and force follow: where a pin presses, the surface is deepest.
        for region in regions.iter().filter(|r| r.depth > 2e-3) {
            let deepest = (0..object.rest().len())
                .max_by(|&a, &b| {
                    let dent = |v: usize| (object.surface().vertices[v] - object.rest()[v]).norm();
                    dent(a).total_cmp(&dent(b))
                })
                .expect("vertices");
            if regions.len() == 1 {
                let away = (object.rest()[deepest] - region.origin).norm();
                assert!(away < 0.006, "{s}: {away} {:?} {:?}", object.rest()[deepest], region);
            }
        }
        sides.push(object.response().torque.z);
    });
    assert_eq!(seen, [vec![], vec![1], vec![1, 2], vec![2], vec![]]);
    assert!(sides[100] < 0.0 && sides[500] > 0.0);
    assert!(dents(&object).all(|dent| dent == 0.0), "nothing touches at the end");
}

fn pressed_with(inclusion: Option<Inclusion>) -> ElasticObject {
    let mut options = ellipsoid();
    options.inclusions.extend(inclusion);
    let mut object = object(options, ball());
    press(&mut object, 0.0, 0.0501, 0.0051);
    object
}

fn sides(object: &ElasticObject) -> [f64; 2] {
    let side = |sign: f64| {
        let vertices = object.surface().vertices.iter().zip(object.rest());
        vertices.filter(|(_, rest)| sign * rest.x > 0.02).map(|(v, rest)| (v - rest).norm()).sum::<f64>()
    };
    [side(-1.0), side(1.0)]
}

#[test]
fn l6_the_softer_side_deforms_more() {
    let soft = Inclusion { centre: Vec3::new(-0.03, 0.0, 0.0), radius: 0.018, material: SolidMaterial::PVC };
    let [left, right] = sides(&pressed_with(Some(soft)));
    assert!(left > 1.03 * right, "{left} {right}");
    let hard = SolidMaterial { young: 3e8, ..SolidMaterial::RUBBER };
    let [left, right] = sides(&pressed_with(Some(Inclusion { material: hard, ..soft })));
    assert!(left < right, "{left} {right}");
    // Equal materials: the homogeneous answer.
    let (plain, equal) =
        (pressed_with(None), pressed_with(Some(Inclusion { material: SolidMaterial::RUBBER, ..soft })));
    for (a, b) in plain.surface().vertices.iter().zip(&equal.surface().vertices) {
        assert!((a - b).norm() < 1e-12);
    }
    let [left, right] = sides(&equal);
    assert!((left - right).abs() < 1e-12 * left, "{left} {right}");
}

#[test]
fn mirrored_motion_has_mirrored_force_and_shape() {
    let mirror = Vec3::new(-1.0, 1.0, 1.0);
    for options in [cube(), ellipsoid()] {
        let top = -options.shape.bottom().y + 0.01;
        let mut one = object(options.clone(), ball());
        let mut other = object(options, ball());
        for i in 0..80 {
            let t = f64::from(i);
            let (x, y, z) = (0.006 + 1e-4 * t, top + 1e-4 - 6e-5 * t, 0.004);
            let a = one.update(&at(x, y, z), DT).force;
            let b = other.update(&at(-x, y, z), DT).force;
            assert!((a.component_mul(&mirror) - b).norm() < 1e-9 * (1.0 + a.norm()), "{i}: {a:?} {b:?}");
        }
        for (v, rest) in one.surface().vertices.iter().zip(one.rest()) {
            let image = rest.component_mul(&mirror);
            let twin = other.rest().iter().position(|p| (p - image).norm() < 1e-9).expect("a symmetric mesh");
            assert!((v.component_mul(&mirror) - other.surface().vertices[twin]).norm() < 1e-9);
        }
    }
}

#[test]
fn displacement_decreases_with_the_distance_from_the_contact() {
    for (options, tool, surface) in
        [(cube(), needle(), 0.025), (cube(), ball(), 0.035), (ellipsoid(), needle(), 0.04), (ellipsoid(), ball(), 0.05)]
    {
        let mut object = object(options, tool);
        press(&mut object, 0.0, surface + 1e-4, 0.0041);
        let shape = object.options().shape.clone();
        let half = shape.outer_radius().min(0.025);
        // Along lines on the surface away from the contact.
        for turn in [0.0f64, 0.4, 0.8, 1.57] {
            let mut last = f64::INFINITY;
            for i in 0..40 {
                let r = 0.98 * half * f64::from(i) / 40.0;
                let aside = Vec3::new(r * turn.cos(), 0.0, r * turn.sin());
                let from = aside + Vec3::new(0.0, 0.015, 0.0);
                let p = shape.probe(&from).map_or(aside, |probe| probe.foot);
                let size = object.displacement(&p).norm();
                assert!(size < last + 1e-12, "{i}: {size} {last}");
                last = size;
            }
        }
        // Nothing moves as far as the contact.
        let origin = object.response().regions[0].origin;
        let near = object.displacement(&origin).norm();
        for p in object.rest().iter().filter(|p| (*p - origin).norm() > 0.03) {
            assert!(object.displacement(p).norm() < 0.8 * near, "{:?}: {} {near}", p, object.displacement(p).norm());
        }
    }
}

#[test]
fn bad_input_is_an_error() {
    let error = |options: ElasticOptions| ElasticObject::new(options, ball()).expect_err("an error");
    let concave = Profile::new(&[[0.0, -0.03], [0.03, -0.03], [0.015, 0.0], [0.03, 0.03], [0.0, 0.03]]);
    assert_eq!(concave, Err(ElasticError::ConcaveProfile { point: 2 }));
    let dimple = Profile::new(&[[0.0, -0.02], [0.03, -0.03], [0.03, 0.03], [0.0, 0.03]]);
    assert_eq!(dimple, Err(ElasticError::ConcaveProfile { point: 0 }));
    for open in
        [&[][..], &[[0.0, 0.0]], &[[0.01, 0.0], [0.02, 0.01], [0.0, 0.02]], &[[0.0, 0.0], [f64::NAN, 0.0], [0.0, 1.0]]]
    {
        assert_eq!(Profile::new(open), Err(ElasticError::OpenProfile));
    }
    assert!(
        matches!(error(ElasticOptions { link: 0.0, ..cube() }), ElasticError::OutOfRange { what, .. } if what.contains("r_th"))
    );
    assert!(matches!(error(ElasticOptions { link: f64::NAN, ..cube() }), ElasticError::OutOfRange { .. }));
    assert!(matches!(error(ElasticOptions { link: 1e-5, ..cube() }), ElasticError::SparseTool { .. }));
    assert!(matches!(error(ElasticOptions { neighbourhood: 0.1, ..cube() }), ElasticError::NoAnchorInReach { .. }));
    assert!(matches!(error(ElasticOptions { triangles: 3, ..cube() }), ElasticError::OutOfRange { .. }));
    let ball_at = |x: f64| Inclusion { centre: Vec3::new(x, 0.0, 0.0), radius: 0.01, material: SolidMaterial::PVC };
    let with = |inclusions: Vec<Inclusion>| error(ElasticOptions { inclusions, ..cube() });
    assert_eq!(with(vec![ball_at(0.02)]), ElasticError::InclusionOutside { index: 0 });
    assert_eq!(with(vec![ball_at(0.0), ball_at(0.01)]), ElasticError::InclusionsOverlap { a: 0, b: 1 });
    let flat = ElasticShape::Ball { radius: -1.0 };
    assert!(matches!(error(ElasticOptions { shape: flat, ..cube() }), ElasticError::OutOfRange { .. }));
    assert_eq!(Tool::from_meshes(&[]), Err(ElasticError::EmptyTool));
    assert_eq!(Tool::from_meshes(&[SurfaceMesh::default()]), Err(ElasticError::OpenPiece { piece: 0 }));
    let ring = |radius: f64, height: f64, points: usize| Ring { radius, height, points };
    let waist = revolved(&[
        ring(0.0, 0.0, 1),
        ring(0.01, 0.0, 12),
        ring(0.005, 0.01, 12),
        ring(0.01, 0.02, 12),
        ring(0.0, 0.02, 1),
    ]);
    assert_eq!(Tool::from_meshes(&[waist]), Err(ElasticError::ConcavePiece { piece: 0 }));
}

#[test]
fn a_tool_that_starts_inside_has_no_force_until_it_left() {
    let mut object = object(cube(), ball());
    for y in [0.0, 0.01, 0.03] {
        let answer = object.update(&at(0.0, y, 0.0), DT);
        assert_eq!((answer.force, answer.status), (Vec3::zeros(), ContactStatus::StartedInside));
    }
    assert_eq!(object.update(&at(0.0, 0.036, 0.0), DT).status, ContactStatus::Free);
    assert!(object.update(&at(0.0, 0.034, 0.0), DT).force.y > 0.0);
    let lost = at(f64::NAN, 0.0, 0.0);
    let answer = object.update(&lost, DT);
    assert_eq!((answer.force, answer.torque, answer.status), (Vec3::zeros(), Vec3::zeros(), ContactStatus::BadPose));
    // Deep inside the force is bounded.
    object.update(&at(0.0, 0.036, 0.0), DT);
    let limit = DuffingLaw::default().force(object.options().shape.depth_limit());
    for i in 0..60 {
        let force = object.update(&at(0.0, 0.036 - 1e-3 * f64::from(i), 0.001), f64::NAN).force;
        assert!(force.norm() <= limit + FrictionLaw::default().static_bound(limit), "{i}");
    }
}

#[test]
fn meshes_have_the_requested_resolution() {
    let round = Profile::new(&[[0.0, -0.02], [0.03, -0.02], [0.03, 0.02], [0.0, 0.02]]).expect("a cylinder");
    let shapes = [
        (ElasticShape::block(Vec3::new(0.05, 0.04, 0.03)), 8, 3888),
        (ElasticShape::Ball { radius: 0.03 }, 6, 3952),
        (ElasticShape::Ellipsoid { semi: Vec3::new(0.06, 0.04, 0.03) }, 6, 3952),
        (ElasticShape::Capsule { radius: 0.02, half_length: 0.03 }, 10, 3952),
        (ElasticShape::Revolved(round), 10, 3952),
    ];
    for (shape, anchors, triangles) in shapes {
        let mesh = shape.mesh(3952).expect("a mesh");
        assert_eq!(mesh.triangles.len(), triangles, "{shape:?}");
        assert!(mesh.is_closed() && mesh.volume() > 0.0);
        assert!((900..=1000).contains(&shape.mesh(1000).expect("a mesh").triangles.len()));
        let object = object(ElasticOptions::new(shape), ball());
        assert_eq!(object.anchors().points.len(), anchors);
        // The mesh lies on the surface, and weights of a patch give the anchor points back.
        let has_edges = matches!(object.options().shape, ElasticShape::Box { .. } | ElasticShape::Revolved(_));
        for v in &mesh.vertices {
            // Edges are rounded.
            let inside = object.options().shape.probe(&(if has_edges { 0.95 } else { 0.999 } * v)).expect("inside");
            assert!(inside.depth < if has_edges { 2e-3 } else { 2e-4 }, "{inside:?}");
            let patch = object.anchors().patch(&object.options().shape, v);
            assert!((patch.weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
            assert!(patch.weights.iter().all(|w| (0.0..=1.0).contains(w)));
        }
        for (i, p) in object.anchors().points.iter().enumerate() {
            let patch = object.anchors().patch(&object.options().shape, p);
            let own: f64 = (0..8).filter(|&k| patch.anchors[k] == i as u32).map(|k| patch.weights[k]).sum();
            assert!((own - 1.0).abs() < 1e-9, "{i}: {patch:?}");
        }
    }
}

#[test]
fn depths_are_distances_to_the_surface() {
    let semi = Vec3::new(0.06, 0.04, 0.03);
    let shape = ElasticShape::Ellipsoid { semi };
    for (u, v) in [(0.3, 0.2), (1.2, 2.0), (2.0, -1.0), (0.01, 0.0)] {
        let (u, v): (f64, f64) = (u, v);
        let foot = semi.component_mul(&Vec3::new(u.sin() * v.cos(), u.cos(), u.sin() * v.sin()));
        let normal = foot.component_div(&semi).component_div(&semi).normalize();
        let probe = shape.probe(&(foot - 0.004 * normal)).expect("inside");
        assert!((probe.depth - 0.004).abs() < 1e-12 && (probe.normal - normal).norm() < 1e-9, "{probe:?}");
    }
    // A finely sampled half circle is a ball.
    let arc = |i: usize| (std::f64::consts::PI * i as f64 / 200.0).sin_cos();
    let mut points: Vec<[f64; 2]> = (0..=200).map(|i| [0.03 * arc(i).0, -0.03 * arc(i).1]).collect();
    (points[0][0], points[200][0]) = (0.0, 0.0);
    let round = ElasticShape::Revolved(Profile::new(&points).expect("a circle"));
    let ball = ElasticShape::Ball { radius: 0.03 };
    for p in [Vec3::new(0.02, 0.01, 0.012), Vec3::new(0.0, 0.025, 0.0), Vec3::new(-0.01, -0.02, 0.003)] {
        let (a, b) = (round.probe(&p).expect("inside"), ball.probe(&p).expect("inside"));
        assert!((a.depth - b.depth).abs() < 1e-5 && (a.normal - b.normal).norm() < 1e-3, "{a:?} {b:?}");
    }
    assert_eq!(object(ElasticOptions::new(round), self::ball()).anchors().points.len(), 6, "as the ball");
}

#[test]
fn beams_bend_and_shorten_as_beams_do() {
    let (length, section) = (0.08, 1e-4);
    let beam = Beam::new(&Vec3::zeros(), &Vec3::new(length, 0.0, 0.0), section, 0.01, &SolidMaterial::RUBBER, &[]);
    let second = beam.second_moment();
    assert!((second - section * section / (4.0 * std::f64::consts::PI)).abs() < 1e-20);
    let pushed = beam.load(&Vec3::new(1e-3, 0.0, 0.0), 0.5).force;
    assert!((pushed.x - 3e6 * section / length * 1e-3).abs() < 1e-12 * pushed.x && pushed.yz().norm() == 0.0);
    let bent = beam.load(&Vec3::new(0.0, 1e-3, 0.0), 0.5).force;
    assert!((bent.y - 3.0 * 3e6 * second / length.powi(3) * 1e-3).abs() < 1e-12 * bent.y);
    // Half of the length in a material a hundred times as soft, at the clamped or the loaded end: series of springs, and
    // ∫ (l − x)² / (E I) dx, of which 7/8 belong to the half at the clamp.
    let soft = SolidMaterial { young: 3e4, poisson: 0.5 };
    for (x, part) in [(length, 7.0 / 8.0), (0.0, 1.0 / 8.0)] {
        let half = Inclusion { centre: Vec3::new(x, 0.0, 0.0), radius: 0.5 * length, material: soft };
        let beam =
            Beam::new(&Vec3::zeros(), &Vec3::new(length, 0.0, 0.0), section, 0.01, &SolidMaterial::RUBBER, &[half]);
        assert!((beam.axial_young - 3e6 / (0.5 + 0.5 * 100.0)).abs() < 1e-6);
        assert!((beam.bending_young - 3e6 / (1.0 + 99.0 * part)).abs() < 1e-6, "{}", beam.bending_young);
    }
}

/// Two balls on a bar: two regions, one region once the bar touches too.
fn dumbbell() -> Tool {
    let circle = |i: usize| (std::f64::consts::PI * i as f64 / 24.0).sin_cos();
    let ball = |x: f64| {
        let rings: Vec<Ring> = (0..=24)
            .map(|i| Ring {
                radius: 0.006 * circle(i).0,
                height: -0.006 * circle(i).1,
                points: if i % 24 == 0 { 1 } else { 24 },
            })
            .collect();
        let mut mesh = revolved(&rings);
        mesh.vertices.iter_mut().for_each(|v| v.x += x);
        mesh
    };
    let mut rings = vec![Ring { radius: 0.0, height: -0.015, points: 1 }];
    rings.extend((0..=20).map(|i| Ring { radius: 0.0035, height: -0.015 + 0.0015 * f64::from(i), points: 16 }));
    rings.push(Ring { radius: 0.0, height: 0.015, points: 1 });
    let mut bar = revolved(&rings);
    bar.vertices.iter_mut().for_each(|v| *v = Vec3::new(v.y, -v.x, v.z));
    Tool::from_meshes(&[ball(-0.015), ball(0.015), bar]).expect("a dumbbell")
}

/// Greatest change of force and torque in a step along a path in so many steps, and how many regions there were.
fn greatest_change(
    options: &ElasticOptions,
    tool: &Tool,
    path: impl Fn(f64) -> Pose,
    steps: usize,
) -> ([f64; 2], Vec<usize>) {
    let mut object = object(options.clone(), tool.clone());
    let (mut force, mut torque) = (Vec3::zeros(), Vec3::zeros());
    let mut most = [0.0f64; 2];
    let mut counts: Vec<usize> = Vec::new();
    for i in 0..=steps {
        let s = i as f64 / steps as f64;
        object.detect(&path(s));
        object.resolve(1.0 / steps as f64);
        let answer = object.response();
        most = [most[0].max((answer.force - force).norm()), most[1].max((answer.torque - torque).norm())];
        (force, torque) = (answer.force, answer.torque);
        if counts.last() != Some(&answer.regions.len()) {
            counts.push(answer.regions.len());
        }
    }
    (most, counts)
}

/// A jump does not shrink with the step; a steep but continuous change does.
fn is_continuous(options: &ElasticOptions, tool: &Tool, path: impl Fn(f64) -> Pose) -> Result<Vec<usize>, String> {
    let (coarse, counts) = greatest_change(options, tool, &path, 1000);
    let (fine, _) = greatest_change(options, tool, &path, 16_000);
    for (what, coarse, fine) in [("force", coarse[0], fine[0]), ("torque", coarse[1], fine[1])] {
        if !(fine < 0.2 * coarse || fine < 1e-6) {
            return Err(format!("{what}: {coarse} in a coarse step, {fine} in a fine one; {counts:?}"));
        }
    }
    Ok(counts)
}

#[test]
fn no_jump_when_regions_merge_and_split() {
    let mut options = cube();
    options.link = 0.004;
    // Straight down and up again: two balls, then the bar between them.
    let path = |s: f64| at(0.0, 0.0315 - 0.006 * (std::f64::consts::PI * s).sin(), 0.0);
    let counts = is_continuous(&options, &dumbbell(), path).unwrap_or_else(|problem| panic!("{problem}"));
    assert!(counts.windows(2).any(|c| c == [2, 1]) && counts.windows(2).any(|c| c == [1, 2]), "{counts:?}");
}

#[test]
fn no_jump_when_a_second_region_appears_and_the_first_ends() {
    let path = |s: f64| {
        let ramp = (10.0 * s).min(10.0 * (1.0 - s)).min(1.0);
        let turn = Quat::from_axis_angle(&Vec3::z_axis(), 0.12 * (1.0 - 2.0 * s));
        Pose::from_parts(Vec3::new(0.0, 0.0405 - 0.006 * ramp, 0.0).into(), turn)
    };
    let counts = is_continuous(&ellipsoid(), &compass(), path).unwrap_or_else(|problem| panic!("{problem}"));
    assert_eq!(counts, [0, 1, 2, 1, 0]);
}

fn vector(limit: f64) -> impl Strategy<Value = Vec3> {
    [-limit..limit, -limit..limit, -limit..limit].prop_map(|[x, y, z]| Vec3::new(x, y, z))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Down, along and up again, also over edges, turning back on the way.
    #[test]
    fn no_jump_along_any_path(
        kind in 0..4usize, start in vector(0.02), way in vector(0.02), turn in vector(0.5), depth in 0.001..0.006f64,
    ) {
        let (options, top) = match kind {
            0 => (cube(), 0.025),
            1 => (ellipsoid(), 0.04),
            2 => (ElasticOptions::new(ElasticShape::Capsule { radius: 0.02, half_length: 0.02 }), 0.04),
            _ => {
                let profile = Profile::new(&[[0.0, -0.03], [0.02, -0.03], [0.03, 0.0], [0.02, 0.025], [0.0, 0.03]]);
                (ElasticOptions::new(ElasticShape::Revolved(profile.expect("a convex profile"))), 0.03)
            }
        };
        let path = |s: f64| {
            let along = (3.0 * std::f64::consts::PI * s).sin();
            let height = top + 0.0105 - depth * (std::f64::consts::PI * s).sin().powi(2) * 2.0;
            let place = Vec3::new(start.x + along * way.x, height, start.z + along * way.z);
            Pose::from_parts(place.into(), Quat::from_scaled_axis(s * turn))
        };
        let result = is_continuous(&options, &ball(), path);
        prop_assert!(result.is_ok(), "{:?}", result);
    }

    #[test]
    fn forces_do_not_depend_on_the_frame(place in vector(1.0), turn in vector(3.0), spin in vector(0.3)) {
        let frame = Pose::from_parts(place.into(), Quat::from_scaled_axis(turn));
        let mut here = object(ellipsoid(), ball());
        let mut there = object(ellipsoid(), ball()).at(frame);
        for i in 0..60 {
            let t = f64::from(i);
            let pose = Pose::from_parts(
                Vec3::new(0.01 - 2e-4 * t, 0.0495 - 1e-4 * t, 0.002).into(),
                Quat::from_scaled_axis(t / 60.0 * spin),
            );
            let a = here.update(&pose, DT);
            let b = there.update(&(frame * pose), DT);
            prop_assert!((frame * a.force - b.force).norm() < 1e-8 * (1.0 + a.force.norm()), "{i}");
            prop_assert!((frame * a.torque - b.torque).norm() < 1e-8 * (1.0 + a.torque.norm()), "{i}");
        }
        for (a, b) in here.surface().vertices.iter().zip(&there.surface().vertices) {
            prop_assert!((a - b).norm() < 1e-9);
        }
    }

    #[test]
    fn beams_share_the_force(force in vector(50.0), contact in vector(0.02), soft in 0.001..1000.0f64) {
        let anchors = fingerpad::elastic::Anchors::new(&cube().shape);
        let ball = Inclusion { centre: Vec3::new(-0.01, 0.0, 0.0), radius: 0.01, material: SolidMaterial { young: 3e6 * soft, poisson: 0.4 } };
        let beams: Vec<Beam> = (anchors.points.iter().enumerate())
            .map(|(i, a)| Beam::new(&contact, a, 1e-4 * (1.0 + i as f64), 0.01, &SolidMaterial::RUBBER, &[ball]))
            .collect();
        let mut loads = vec![Default::default(); beams.len()];
        let displacement = split(&force, &beams, 0.5, &mut loads);
        let sum: Vec3 = loads.iter().map(|load: &fingerpad::elastic::BeamLoad| load.force).sum();
        prop_assert!((sum - force).norm() < 1e-12 * force.norm().max(1.0), "{:e}", (sum - force).norm());
        prop_assert!(displacement.dot(&force) >= 0.0);
    }

    #[test]
    fn the_law_is_monotone_and_inverted(linear in 1.0..1e3f64, cubic in -1e7..1e9f64, a in 0.0..0.01f64, b in 0.0..0.01f64) {
        let law = DuffingLaw { mass: 0.7, linear, cubic };
        prop_assert!(law.force(a.min(b)) <= law.force(a.max(b)));
        let force = law.force(a);
        prop_assert!((law.force(law.displacement(force)) - force).abs() <= 1e-12 * force.max(1e-3));
    }
}

#[test]
fn equal_calls_have_equal_results() {
    let run = || {
        let mut object = object(ellipsoid(), compass());
        let mut sum = Vec::new();
        roll(&mut object, 200, |_, object| {
            let answer = object.response();
            sum.extend(answer.force.iter().chain(answer.torque.iter()).map(|x| x.to_bits()));
        });
        sum.extend(object.surface().vertices.iter().flatten().map(|x| x.to_bits()));
        sum
    };
    assert_eq!(run(), run());
}

/// The tangent stiffness is the derivative of the force, for a point with normal and tangential displacement, away from the origin of the tool.
#[test]
fn the_stiffness_is_the_slope_of_the_force() {
    let mut mesh = needle().mesh().clone();
    mesh.vertices.iter_mut().for_each(|v| v.x += 0.005);
    let tool = Tool::from_meshes(&[mesh]).expect("a needle");
    let mut object = object(cube(), tool).at(Pose::rotation(Vec3::new(0.3, 0.0, 0.0)));
    let turned = |p: Pose| Pose::rotation(Vec3::new(0.3, 0.0, 0.0)) * p;
    for i in 0..=30 {
        object.update(&turned(at(0.0, 0.0251 - 1e-4 * f64::from(i), 0.0)), DT);
    }
    for i in 1..=10 {
        object.update(&turned(at(1e-4 * f64::from(i), 0.0221, 5e-5 * f64::from(i))), DT);
    }
    let (here, stiffness) = (turned(at(1e-3, 0.0221, 5e-4)), object.stiffness());
    assert!((stiffness - stiffness.transpose()).norm() < 1e-9 * stiffness.norm());
    for axis in 0..6 {
        let small = if axis < 3 { 1e-7 } else { 1e-5 };
        let moved = |sign: f64| {
            let mut step = [Vec3::zeros(); 2];
            step[axis / 3][axis % 3] = sign * small;
            let turn = Quat::from_scaled_axis(step[1]) * here.rotation;
            let place = here.translation.vector + step[0];
            object.clone().update(&Pose::from_parts(place.into(), turn), DT).force
        };
        let slope = (moved(1.0) - moved(-1.0)) / (2.0 * small);
        let expected = -stiffness.fixed_view::<3, 1>(0, axis);
        assert!((slope - expected).norm() < 1e-4 * slope.norm().max(1.0), "{axis}: {slope} {expected}");
    }
}

/// A coarse mesh is made finer; its connected parts are the pieces. A flat punch has the force of the law, as all its points are equally deep.
#[test]
fn tools_from_coarse_meshes_of_several_pieces() {
    let box_at = |x: f64| {
        let (mut mesh, _) = block(&Vec3::new(0.008, 0.02, 0.016), [1, 1, 1]).boundary();
        mesh.vertices.iter_mut().for_each(|v| *v += Vec3::new(x - 0.004, 0.0, -0.008));
        mesh
    };
    let mut punch = object(cube(), Tool::from_mesh(&box_at(0.0), SPACING).expect("a punch"));
    assert!(punch.tool().points.len() > 200);
    punch.update(&at(0.0, 0.0251, 0.0), DT);
    let force = punch.update(&at(0.0, 0.023, 0.0), DT).force;
    let expected = DuffingLaw::default().force(0.002);
    assert!((force - Vec3::new(0.0, expected, 0.0)).norm() < 1e-9 * expected, "{force} {expected}");
    let (mut both, other) = (box_at(-0.015), box_at(0.015));
    let count = both.vertices.len() as u32;
    both.vertices.extend(&other.vertices);
    both.triangles.extend(other.triangles.iter().map(|t| t.map(|v| v + count)));
    let mut fork = object(cube(), Tool::from_mesh(&both, SPACING).expect("a fork"));
    fork.update(&at(0.0, 0.0251, 0.0), DT);
    assert_eq!(fork.update(&at(0.0, 0.023, 0.0), DT).regions.len(), 2);
    for spacing in [1e-5, 0.0, f64::NAN] {
        assert!(matches!(Tool::from_mesh(&both, spacing), Err(ElasticError::OutOfRange { .. })), "{spacing}");
    }
}
