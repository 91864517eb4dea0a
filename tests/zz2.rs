mod common;
use common::*;
use fingerpad::body::RigidShape;
use fingerpad::contact::Method;
use fingerpad::math::{Pose, Vec3};
use fingerpad::tracking::minimum_jerk;
#[test]
fn zz() {
    let method = if std::env::var("POINT").is_ok() { Method::Point } else { Method::Aggregate };
    let shape = match std::env::var("SHAPE").as_deref() {
        Ok("ball") => RigidShape::Ball(0.012),
        Ok("cyl") => RigidShape::Cylinder(0.02, 0.012),
        Ok("capsule") => capsule(),
        _ => RigidShape::Box(Vec3::new(0.012, 0.02, 0.012)),
    };
    let mut p = Pinch::new(&shape, 0.045, 0.7, method, Pose::identity());
    if std::env::var("NOSPLIT").is_ok() {
        p.world.parameters.contact.split = false;
    }
    let every: usize = std::env::var("EVERY").ok().map_or(10, |s| s.parse().unwrap());
    let amp: f64 = std::env::var("AMP").ok().map_or(0.15, |s| s.parse().unwrap());
    let verbose = std::env::var("V").is_ok();
    for k in 0..250 {
        let t = 0.01 * f64::from(k + 1);
        p.step(OPEN + amp * (minimum_jerk(t / 0.5) - minimum_jerk((t - 1.0) / 0.5)));
        let w = &p.world;
        if (k as usize) % every == 0 {
            let s = w.statistics();
            println!(
                "{t:.2} v {:.2e} w {:.2e} c {} rows {} it {} unc {} pen {:.3} mm ms {:.2} solve {:.2}",
                p.object().linear_velocity().norm(),
                p.object().angular_velocity().norm(),
                s.contacts,
                s.constraints,
                s.iterations,
                s.unconverged,
                s.penetration * 1e3,
                w.times().total * 1e3,
                w.times().solve * 1e3
            );
            if verbose {
                for t in w.touches() {
                    println!(
                        "    {:?} n [{:.2} {:.2} {:.2}] N {:.3} T {:.3} tau {:.1e} slide {:.1e} spin {:.1e} used {:.2} c {}",
                        t.a,
                        t.normal.x,
                        t.normal.y,
                        t.normal.z,
                        t.pressing,
                        t.friction.norm(),
                        t.torque,
                        t.sliding,
                        t.spinning,
                        t.used,
                        t.contacts
                    );
                }
            }
        }
    }
    println!("end v {:?}", p.object().linear_velocity());
}
