//! Branch a world and compare two friction laws: both branches start from the same state, and nothing else differs. Then save the state, build
//! the world again, and go on from there.

use fingerpad::assets::{Scene, load_builtin_scene};
use fingerpad::problem::FrictionModel;
use fingerpad::sim::{World, WorldState};

fn scene() -> Result<Scene, Box<dyn std::error::Error>> {
    Ok(load_builtin_scene("ball", &[]).expect("a shipped scene")?)
}

/// Steps a branch, and returns the height of the ball, m, and the normal force of the hand on it, N.
fn go_on(mut world: World, law: FrictionModel, steps: u32) -> (f64, f64) {
    world.parameters.contact.friction = law;
    for _ in 0..steps {
        world.step();
    }
    let ball = world.bodies.find("ball").expect("the scene has a ball");
    let height = world.bodies.get(ball).map_or(f64::NAN, |body| body.centre().y);
    let force = world.touches().filter(|touch| touch.b.body == ball).map(|touch| touch.pressing).sum();
    (height, force)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut scene = scene()?;
    // Until the hand has closed around the ball.
    while scene.world.time() < 1.2 {
        scene.feed();
        scene.world.step();
    }
    let before = scene.world.state_hash();
    println!("{:.2} s: state {before:016x}", scene.world.time());
    for law in FrictionModel::ALL {
        let (height, force) = go_on(scene.world.clone(), law, 30);
        println!("{:<12} after 0.3 s: ball at {:.3} mm, {force:.3} N", law.name(), 1e3 * height);
    }
    assert_eq!(scene.world.state_hash(), before, "branches do not change the world they came from");

    // The state without the model, for a file or another process. The world is built from the scene again.
    let bytes = scene.world.save_state().to_bytes();
    let mut again = self::scene()?;
    again.world.restore(&WorldState::from_bytes(&bytes)?)?;
    let exact = FrictionModel::ALL[0];
    assert_eq!(go_on(again.world, exact, 30), go_on(scene.world, exact, 30), "to the bit");
    println!("restored from {} kB: the same", bytes.len() / 1000);
    Ok(())
}
