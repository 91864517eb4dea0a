use fingerpad::body::{Fixed, RigidBody, RigidShape};
use fingerpad::math::{Pose, Vec3};
use fingerpad::sim::{Parameters, World};
#[test]
fn zz() {
    let mut world = World::new(Parameters::default());
    world.bodies.fixed.push(Fixed::new(&RigidShape::Ground, Pose::identity()).unwrap());
    let half = Vec3::new(0.03, 0.02, 0.03);
    for i in 0..10 {
        let height = half.y + f64::from(i) * (2.0 * half.y + 2e-5) + 1e-5;
        world.bodies.rigid.push(
            RigidBody::with_mass(&RigidShape::Box(half), 0.1, Pose::translation(0.002 * f64::from(i % 3), height, 0.0))
                .unwrap(),
        );
    }
    let start: Vec<_> = world.bodies.rigid.iter().map(|b| b.pose()).collect();
    for k in 0..400 {
        world.step();
        let b = &world.bodies.rigid[9];
        let d = b.pose().translation.vector - start[9].translation.vector;
        if k < 30 || k % 20 == 0 {
            let g = &world.system().groups();
            println!(
                "{k} d {:.2e} {:.2e} {:.2e} v {:.2e} it {} res {:.2e} groups {} rows {} pen {:.1e} nmin {:.2e}",
                d.x,
                d.y,
                d.z,
                b.linear_velocity().norm(),
                world.statistics().iterations,
                world.statistics().residual,
                g.len(),
                world.statistics().constraints,
                world.statistics().penetration,
                world.near().contacts.iter().map(|c| c.gap).fold(1.0, f64::min)
            );
        }
    }
    for b in &world.bodies.rigid {
        println!("{:?} {:?}", b.pose().translation.vector, b.pose().rotation.scaled_axis());
    }
    for c in &world.near().contacts {
        println!("{:?} {:?} {:.2e}", c.places[0].as_slice(), c.normal.as_slice(), c.gap);
    }
}
