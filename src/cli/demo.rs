use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::bail;

use super::Talk;
use crate::body::{Hand, HandOptions};
use crate::hand::HandModel;
use crate::math::Pose;
use crate::sim::{Parameters, Status, World};
use crate::tracking::{ANGLES, PoseKey, PoseSequence};

/// Where the demo leaves its pictures.
const FOLDER: &str = "fingerpad-demo";
/// The poses it goes through.
const POSES: [&str; 6] = ["open", "fist", "point", "pinch", "tripod", "rest"];
/// How long each motion takes, and how long the pose is kept after it, s.
const MOTION: f64 = 0.5;
const STAY: f64 = 0.5;

/// The demo: a soft hand goes through its poses.
pub fn run(talk: Talk) -> anyhow::Result<()> {
    let model = Arc::new(crate::assets::builtin_hand_model()?);
    let mut world = World::new(Parameters::default());
    world.add_hand(Hand::new(model.clone(), &HandOptions::default()));
    let tetrahedra: usize = model.meshes[1..].iter().map(|m| m.tissue.tets.len()).sum();
    println!(
        "fingerpad {}: {}, 15 soft phalanges, {tetrahedra} tetrahedra",
        env!("CARGO_PKG_VERSION"),
        model.description.name
    );
    println!();
    println!("{:<8} {:>9} {:>11} {:>14} {:>12}", "pose", "lag", "overshoot", "error at rest", "step");
    let motion = through_poses(&model);
    let mut pictures = Vec::new();
    for i in 1..POSES.len() {
        let row = follow(&mut world, &motion, i, &model)?;
        println!(
            "{:<8} {:>6.0} ms {:>9.2} % {:>12.3} ° {:>9.3} ms",
            POSES[i], row.lag_ms, row.overshoot_percent, row.error_deg, row.step_ms
        );
        pictures.push((POSES[i], world.snapshot()));
    }
    println!();
    println!("state after {} steps: {:016x}", world.steps(), world.state_hash());
    draw(&model, &pictures, talk)
}

fn through_poses(model: &HandModel) -> PoseSequence {
    let mut keys = Vec::new();
    for (i, name) in POSES.iter().enumerate() {
        let angles = model.description.pose(name).copied().unwrap_or([0.0; ANGLES]);
        let reached = i as f64 * (MOTION + STAY);
        for time in [reached, reached + STAY] {
            keys.push(PoseKey { time, palm: Pose::identity(), angles });
        }
    }
    PoseSequence::new(keys)
}

/// How well a pose was followed.
struct Row {
    lag_ms: f64,
    overshoot_percent: f64,
    error_deg: f64,
    step_ms: f64,
}

/// Steps from the last pose to the next, watching the angle that moves most.
fn follow(world: &mut World, motion: &PoseSequence, to: usize, model: &HandModel) -> anyhow::Result<Row> {
    let pose = |i: usize| model.description.pose(POSES[i]).copied().unwrap_or([0.0; ANGLES]);
    let (start, end) = (pose(to - 1), pose(to));
    let way = |j: usize| end[j] - start[j];
    let most = (0..ANGLES).max_by(|&a, &b| way(a).abs().total_cmp(&way(b).abs())).unwrap_or(0);
    let begins = (to - 1) as f64 * (MOTION + STAY) + STAY;
    let (mut half, mut overshoot, mut times) = (f64::NAN, 0.0f64, Vec::new());
    while world.time() < begins + MOTION + STAY - 1e-9 {
        let clock = Instant::now();
        if let Some(sample) = motion.sample(world.time() + world.parameters.dt) {
            world.bodies.hands[0].track(sample);
        }
        if world.step().status != Status::Done {
            bail!("the hand did not stay finite");
        }
        times.push(1e3 * clock.elapsed().as_secs_f64());
        let done = (world.bodies.hands[0].skeleton.state().angles[most] - start[most]) / way(most);
        if half.is_nan() && done >= 0.5 {
            half = world.time();
        }
        overshoot = overshoot.max(done - 1.0);
    }
    times.sort_by(f64::total_cmp);
    let angles = &world.bodies.hands[0].skeleton.state().angles;
    let error = (0..ANGLES).map(|j| (angles[j] - end[j]).abs()).fold(0.0, f64::max);
    Ok(Row {
        lag_ms: 1e3 * (half - begins - 0.5 * MOTION),
        overshoot_percent: 100.0 * overshoot,
        error_deg: error.to_degrees(),
        step_ms: times[times.len() / 2],
    })
}

#[cfg(feature = "viewer")]
fn draw(model: &HandModel, pictures: &[(&str, crate::sim::Snapshot)], talk: Talk) -> anyhow::Result<()> {
    use super::render::{From, Layer, figure};
    let figures: Vec<_> =
        pictures.iter().map(|(_, shot)| figure(model, &shot.hands[0], &[Layer::Skin], From::Oblique)).collect();
    match crate::viewer::draw_all(&figures) {
        Ok(drawn) => {
            for ((name, _), picture) in pictures.iter().zip(drawn) {
                super::write_file(&Path::new(FOLDER).join(format!("{name}.png")), &picture.png_bytes()?)?;
            }
            println!("pictures: {FOLDER}/*.png");
        }
        // A machine without graphics is no failure of the demo.
        Err(error) => talk.say(format_args!("no pictures: {error}")),
    }
    Ok(())
}

#[cfg(not(feature = "viewer"))]
fn draw(_model: &HandModel, _pictures: &[(&str, crate::sim::Snapshot)], talk: Talk) -> anyhow::Result<()> {
    talk.say(format_args!("no pictures for {}: built without the feature `viewer`", Path::new(FOLDER).display()));
    Ok(())
}
