use fingerpad::assets::builtin_hand_model;
use fingerpad::body::{Hand, HandOptions, RigidBody, RigidShape};
use fingerpad::contact::*;
use fingerpad::math::{Pose, Quat, Vec3, rotation_between};
use fingerpad::sim::{Parameters, World};
use fingerpad::tracking::*;
use std::sync::Arc;
#[test]
fn zz() {
    let method = if std::env::var("POINT").is_ok() { Method::Point } else { Method::Aggregate };
    let model = Arc::new(builtin_hand_model().unwrap());
    let open = *model.description.pose("open").unwrap();
    let pinch = *model.description.pose("pinch").unwrap();
    let at = |s: f64| -> [f64; ANGLES] {
        std::array::from_fn(|j| open[j] + if j < 8 { s * (pinch[j] - open[j]) } else { 0.0 })
    };
    let (a, b) = (Vec3::new(-37.5e-3, -72.85e-3, -33.0e-3), Vec3::new(-25.4e-3, -65.1e-3, -52.4e-3));
    let axis = (b - a).normalize();
    let down = (-Vec3::y() + Vec3::y().dot(&axis) * axis).normalize();
    let mut world = World::new(Parameters::default());
    world.parameters.contact.method = method;
    world.materials.set("default", Friction::of(0.7));
    world.parameters.gravity = Vec3::zeros();
    world.bodies.hands.push(Hand::new(model.clone(), &HandOptions::default()));
    let s0 = 0.77;
    {
        use fingerpad::hand::ReducedState;
        let tracked = TrackedHand::new(Pose::identity(), at(s0), Limits::default());
        let hand = &mut world.bodies.hands[0];
        hand.skeleton = fingerpad::body::HandBody::new(model.clone(), tracked);
        hand.skeleton.set_state(ReducedState::at_rest(Pose::identity(), at(s0)));
        hand.follow_bones();
    }
    let rot: Quat = rotation_between(&Vec3::y(), &axis.cross(&down)).unwrap();
    let pose = Pose::from_parts((0.5 * (a + b)).into(), rot);
    world.bodies.rigid.push(RigidBody::with_mass(&RigidShape::Capsule(0.015, 0.012), 0.045, pose).unwrap());
    let s1: f64 = std::env::var("S1").ok().map_or(0.95, |s| s.parse().unwrap());
    let seconds: f64 = std::env::var("SECS").ok().map_or(3.0, |s| s.parse().unwrap());
    let steps = (seconds * 100.0) as usize;
    let mut mark = Vec3::zeros();
    let mut t0 = [0.0; 6];
    let mut count = 0.0;
    let mut pen = 0.0f64;
    for k in 0..steps {
        let t = (k + 1) as f64 * 0.01;
        let mut s = s0 + (s1 - s0) * minimum_jerk(t / 0.5);
        if std::env::var("OPEN").is_ok() {
            s -= (s1 - s0) * minimum_jerk((t - 1.5) / 0.5);
        }
        world.bodies.hands[0].track(HandSample::full(t, Pose::identity(), at(s)));
        if k == 60 {
            world.parameters.gravity = 9.81 * down;
        }
        world.step();
        let r = &world.bodies.rigid[0];
        if k == steps / 2 {
            mark = *r.centre();
        }
        if k >= 100 {
            pen = pen.max(world.statistics().penetration);
            let t = world.times();
            for (i, x) in [t.free, t.proximity, t.assembly, t.solve, t.correction, t.total].iter().enumerate() {
                t0[i] += x * 1e3;
            }
            count += 1.0;
        }
        if k % 20 == 0 || (k > 58 && k < 65) {
            let f: Vec<String> = world
                .system()
                .blocks
                .iter()
                .take(4)
                .map(|b| format!("[{:.2} {:.2} {:.2} {:.2e}]", b.force[0], b.force[1], b.force[2], b.force[3]))
                .collect();
            println!(
                "{t:.2} v {:.2e} w {:.2e} fall {:.6} mm c {} rows {} it {} res {:.1e} unc {} pen {:.4} mm F {}",
                r.linear_velocity().norm(),
                r.angular_velocity().norm(),
                1e3 * (r.centre() - 0.5 * (a + b)).dot(&down),
                world.statistics().contacts,
                world.statistics().constraints,
                world.statistics().iterations,
                world.statistics().residual,
                world.statistics().unconverged,
                world.statistics().penetration * 1e3,
                f.join(" ")
            );
        }
    }
    for k in 0..6 {
        let t = world.time() + 0.01;
        world.bodies.hands[0].track(HandSample::full(t, Pose::identity(), at(s1)));
        world.step();
        let near = world.near();
        println!(
            "-- step {k} v {:.2e} w {:.2e}",
            world.bodies.rigid[0].linear_velocity().norm(),
            world.bodies.rigid[0].angular_velocity().norm()
        );
        for (a, agg) in world.system().aggregates().iter().enumerate() {
            let m = world.system().members(a);
            let l: Vec<String> = m
                .iter()
                .zip(&agg.patch.points)
                .map(|(i, p)| {
                    let c = &near.contacts[*i as usize];
                    format!(
                        "{}:{:.4}({:.1}um)",
                        if c.feature >> 32 != 0 {
                            format!("t{}", c.feature & 0xffffffff)
                        } else {
                            format!("{}", c.feature)
                        },
                        p.share,
                        c.gap_now(&world.bodies, 1e-5) * 1e6
                    )
                })
                .collect();
            println!("   agg {a}: n {} {}", m.len(), l.join(" "));
        }
    }
    let r = &world.bodies.rigid[0];
    println!("creep {:.3e} um/s, pen {:.4} mm", 1e6 * (r.centre() - mark).norm() / (seconds / 2.0), pen * 1e3);
    println!("ms: free prox asm solve corr total {:?}", t0.map(|x| x / count));
}
