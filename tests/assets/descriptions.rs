//! Any hand within the documented ranges can be meshed and simulated.

use std::sync::Arc;

use fingerpad::body::{Hand, HandOptions};
use fingerpad::hand::ranges;
use fingerpad::hand::{
    Coupling, FingerDescription, HandDescription, HandModel, Look, Material, MeshOptions, NamedPose, PalmDescription,
    TissueThickness,
};
use fingerpad::math::{Pose, Range, Vec3};
use fingerpad::sim::{Parameters, Status, World};
use fingerpad::tracking::{ANGLES, HandSample, Side};
use proptest::prelude::*;

fn within(range: Range) -> impl Strategy<Value = f64> + Clone {
    // Failures are most likely at the ends of the ranges.
    prop_oneof![1 => Just(range.min), 1 => Just(range.max), 6 => range.min..range.max]
}

fn logarithmic(range: Range) -> impl Strategy<Value = f64> {
    (range.min.ln()..range.max.ln()).prop_map(f64::exp)
}

fn tissue() -> impl Strategy<Value = TissueThickness> {
    [within(ranges::TISSUE), within(ranges::TISSUE), within(ranges::TISSUE)]
        .prop_map(|[palmar, dorsal, side]| TissueThickness { palmar, dorsal, side })
}

fn direction() -> impl Strategy<Value = Vec3> {
    [-1.0..1.0, -1.0..1.0, -1.0..1.0f64].prop_map(Vec3::from).prop_filter("not zero", |v| v.norm() > 0.1)
}

fn limits() -> impl Strategy<Value = [f64; 2]> {
    (-90.0..0.0f64, 0.0..120.0f64).prop_map(|(low, high)| [low.to_radians(), high.to_radians()])
}

fn finger() -> impl Strategy<Value = FingerDescription> {
    let frame =
        (direction(), direction()).prop_filter("not parallel", |(a, b)| a.cross(b).norm() > 0.05 * a.norm() * b.norm());
    let place = [-0.1..0.1, -0.1..0.1, -0.1..0.1f64];
    let axes = [direction(), direction(), direction(), direction()]
        .prop_filter("30° apart", |a| a[0].normalize().cross(&a[1].normalize()).norm() > 0.5);
    (
        place,
        frame,
        axes,
        [limits(), limits(), limits(), limits()],
        [within(ranges::LENGTH), within(ranges::LENGTH), within(ranges::LENGTH)],
        [within(ranges::BONE_RADIUS), within(ranges::BONE_RADIUS), within(ranges::BONE_RADIUS)],
        [tissue(), tissue(), tissue()],
        within(ranges::TIP),
        within(ranges::PAD),
    )
        .prop_map(|(base, (direction, dorsal), axes, limits, lengths, bone_radius, tissue, tip, pad)| {
            FingerDescription {
                base: Vec3::from(base),
                direction,
                dorsal,
                axes,
                limits,
                lengths,
                bone_radius,
                tissue,
                tip,
                pad,
            }
        })
}

fn material() -> impl Strategy<Value = Material> {
    (
        logarithmic(ranges::YOUNG),
        within(ranges::POISSON),
        within(ranges::DENSITY),
        within(ranges::DAMPING_MASS),
        within(ranges::DAMPING_STIFFNESS),
    )
        .prop_map(|(young, poisson, density, damping_mass, damping_stiffness)| Material {
            young,
            poisson,
            density,
            damping_mass,
            damping_stiffness,
        })
}

fn coupling() -> impl Strategy<Value = Coupling> {
    let turn = || logarithmic(ranges::TURN_STIFFNESS);
    (
        logarithmic(ranges::PALM_STIFFNESS),
        turn(),
        [turn(), turn(), turn(), turn()],
        within(ranges::DAMPING_RATIO),
        turn(),
    )
        .prop_map(|(palm, palm_rotation, joints, damping_ratio, limit)| Coupling {
            palm,
            palm_rotation,
            joints,
            damping_ratio,
            limit,
            ..Coupling::default()
        })
}

fn hand() -> impl Strategy<Value = HandDescription> {
    let palm = (
        -0.1..0.1f64,
        0.0201..0.1999f64,
        -0.99..0.99f64,
        [within(ranges::PALM_BREADTH), within(ranges::PALM_BREADTH)],
        within(ranges::PALM_THICKNESS),
        tissue(),
    );
    (
        any::<bool>(),
        palm,
        [finger(), finger(), finger(), finger(), finger()],
        material(),
        within(ranges::DENSITY),
        coupling(),
        within(ranges::RESOLUTION),
        (within(ranges::STIFFENING), any::<bool>()),
    )
        .prop_map(
            |(
                left,
                (wrist, length, lean, breadth, thickness, tissue),
                mut fingers,
                material,
                bone_density,
                coupling,
                resolution,
                (stiffening, relaxation),
            )| {
                // The palm extends from the wrist to the knuckles, so they must be in front of it.
                fingers[2].base.z = wrist - length;
                fingers[4].base.x = lean * breadth[0].min(breadth[1]) - fingers[1].base.x;
                HandDescription {
                    name: "any".into(),
                    side: if left { Side::Left } else { Side::Right },
                    palm: PalmDescription { wrist: Vec3::new(0.0, 0.0, wrist), breadth, thickness, tissue },
                    fingers,
                    tissue: material,
                    stiffening,
                    relaxation,
                    bone_density,
                    coupling,
                    mesh: MeshOptions { resolution, visual: ranges::VISUAL.max, ..MeshOptions::default() },
                    poses: vec![NamedPose { name: "open".into(), angles: [0.0; ANGLES] }],
                    look: Look::default(),
                }
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    #[test]
    fn any_hand_meshes_and_runs(description in hand()) {
        let model = HandModel::new(description);
        prop_assert!(model.is_ok(), "{:?}", model.err());
        let Ok(model) = model else { return Ok(()) };
        for mesh in &model.meshes {
            prop_assert!(mesh.tissue.check().is_ok());
            prop_assert!(mesh.skin.is_closed() && mesh.skin.volume() > 0.0);
            for (p, map) in mesh.skin.vertices.iter().zip(&mesh.skin_maps) {
                prop_assert!((map.sum(&mesh.tissue.nodes) - p).norm() < 1e-9, "skin hangs where it is");
            }
        }
        prop_assert!(model.inertias.iter().all(|b| b.mass > 0.0 && b.inertia.symmetric_eigenvalues().min() > 0.0));
        let mut world = World::new(Parameters::default());
        world.add(Hand::new(Arc::new(model), &HandOptions::default()).expect("a known pose"));
        for i in 0..200 {
            let t = 0.01 * f64::from(i + 1);
            let palm = Pose::new(Vec3::new(0.2 * (5.0 * t).sin(), 0.0, 0.1), Vec3::new(0.0, (3.0 * t).sin(), 0.0));
            world.bodies.hand_mut(0).track(HandSample::full(t, palm, [0.6 * (4.0 * t).sin(); ANGLES]));
            match world.step().status {
                Status::Done => {}
                // The springs of extreme descriptions are too stiff for the step; the world stops with a message.
                Status::TooFast(_) => break,
                Status::NotFinite => prop_assert!(false, "step {}", i),
            }
        }
    }
}
