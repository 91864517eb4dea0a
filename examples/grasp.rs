//! Grasp a ball with a data glove: read the glove, step, print the contact forces, send them to the fingers.
//!
//! `cargo run --example grasp` emulates the glove. `cargo run --example grasp -- opengloves` uses a real one; any profile that
//! `fingerpad devices list` names will do, with `@PORT` for another port.

use std::sync::Arc;
use std::time::Duration;

use fingerpad::body::{Fixed, Hand, HandOptions, RigidBody, RigidShape};
use fingerpad::hand::HandModel;
use fingerpad::math::Pose;
use fingerpad::runtime::{DeviceSet, emulate};
use fingerpad::sim::{Parameters, World};
use fingerpad::tracking::Segment;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // The world: ground, a ball, and the built-in right hand above it.
    let mut world = World::new(Parameters::default());
    world.add(Fixed::new(&RigidShape::Ground, Pose::identity())?);
    world.add(RigidBody::new(&RigidShape::Ball(0.032), 700.0, Pose::translation(0.0, 0.032, 0.0))?);
    let options = HandOptions { palm: Pose::translation(0.012, 0.087, 0.06), ..HandOptions::default() };
    let hand = world.add(Hand::new(Arc::new(HandModel::right()?), &options)?);

    // The glove: a real one by the name of its profile, or an emulated one that closes to a fist and opens again.
    let (glove, emulated) = emulate("opengloves", "fist")?;
    let mut devices = match std::env::args().nth(1) {
        Some(profile) => DeviceSet::open([profile], &world)?,
        None => DeviceSet::start(&[emulated], &world)?,
    };
    devices.wait(Duration::from_secs(5), |_| true)?;

    // 1.8 s in real time. A renderer would draw the world here.
    let mut greatest = 0.0_f64;
    for step in 0..180 {
        devices.track(&mut world);
        world.step();
        let pressed: Vec<_> = Segment::all()
            .map(|segment| (segment, world.load(hand, segment).pressing))
            .filter(|(_, force)| *force > 0.01)
            .collect();
        devices.send_feedback(&world);
        greatest = pressed.iter().map(|(_, force)| *force).fold(greatest, f64::max);
        if step % 20 == 0 {
            let list: Vec<_> =
                pressed.iter().map(|(segment, force)| format!("{} {force:.2} N", segment.name())).collect();
            println!("{:.2} s: {}", world.time(), if list.is_empty() { "no contact".into() } else { list.join(", ") });
        }
        std::thread::sleep(Duration::from_secs_f64(world.parameters.dt));
    }
    println!(
        "greatest force on a segment: {greatest:.2} N; {} events of the emulator",
        glove.events().try_iter().count()
    );
    Ok(())
}
