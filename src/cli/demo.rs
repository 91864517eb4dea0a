//! The demo: a soft hand closes around a ball and lifts it. In a window where there is a display; else it is told in a few lines and
//! in a report.

mod ending;
mod report;

use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use self::ending::Ending;
use super::bench::measure::measure_while;
use super::bench::sample::{Sample, Watcher};
use super::page::{Shot, draw, shot};
use super::{Talk, write_file};
use crate::assets::{Scene, load_builtin_scene};

/// Where the demo leaves its report and pictures.
const FOLDER: &str = "fingerpad-demo";
/// The scene it plays, and what is grasped in it.
const SCENE: &str = "ball";
const OBJECT: &str = "ball";
/// Its parts: until when, s, what the hand does until then, and what it has done.
const PARTS: [(f64, &str, &str); 4] =
    [(0.2, "waiting", "open"), (1.1, "closing", "closed"), (2.1, "lifting", "lifted"), (3.0, "holding", "held")];

/// Plays it in a window where there is a display, unless `FINGERPAD_HEADLESS` is set.
pub fn run(talk: Talk) -> anyhow::Result<()> {
    let headless = std::env::var_os("FINGERPAD_HEADLESS").is_some_and(|value| !value.is_empty() && value != "0");
    if headless || !show(talk)? { play(talk) } else { Ok(()) }
}

/// Plays it in a window; whether there is one.
#[cfg(feature = "viewer")]
fn show(talk: Talk) -> anyhow::Result<bool> {
    use super::view::{Showing, can_show, run_player};
    if !can_show() {
        return Ok(false);
    }
    let player = super::player::Player::load(Path::new(SCENE), &[])?;
    run_player(player, Showing { teller: Some(ending::tell), ..Showing::default() }, talk)?;
    Ok(true)
}

#[cfg(not(feature = "viewer"))]
fn show(_talk: Talk) -> anyhow::Result<bool> {
    Ok(false)
}

/// A part of the demo that was played.
struct Part {
    /// What the hand does in it.
    doing: &'static str,
    /// What it has done at its end.
    done: &'static str,
    /// Its steps: the object of `run --json`, with the stages of a step.
    row: Value,
}

/// What was seen of the demo.
struct Played {
    /// What the hand is made of.
    hand: String,
    parts: Vec<Part>,
    samples: Vec<Sample>,
    ending: Ending,
}

/// Plays it without a window, writes a report, and draws pictures if something can draw.
fn play(talk: Talk) -> anyhow::Result<()> {
    let mut scene = load_builtin_scene(SCENE, &[]).context("the program carries the scene of its demo")??;
    let (played, shots) = play_parts(&mut scene)?;
    println!();
    played.ending.print();
    println!("state after {} steps: {:016x}", played.samples.len(), scene.world.state_hash());
    let pictures = draw(&shots);
    match &pictures {
        Ok(pictures) => {
            for (part, png) in played.parts.iter().zip(pictures) {
                write_file(&Path::new(FOLDER).join(format!("{}.png", part.done)), png)?;
            }
            println!("pictures: {FOLDER}/*.png");
        }
        // A machine without graphics is no failure of the demo.
        Err(why) => talk.say(format_args!("no pictures: {why}")),
    }
    let file = Path::new(FOLDER).join("index.html");
    write_file(&file, report::page(&played, &pictures).as_bytes())?;
    println!("report: {}", file.display());
    Ok(())
}

/// Plays the scene part by part, and tells what is seen at the end of each.
fn play_parts(scene: &mut Scene) -> anyhow::Result<(Played, Vec<Shot>)> {
    let ball = scene.rigid(OBJECT).context("the scene of the demo has a ball")?;
    let tetrahedra: usize = scene.models[0].meshes[1..].iter().map(|m| m.tissue.tets.len()).sum();
    let name = &scene.models[0].description.name;
    let hand = format!("{name}: 15 soft phalanges and the palm, {tetrahedra} tetrahedra");
    println!("fingerpad {}. {hand}", env!("CARGO_PKG_VERSION"));
    println!("A ball of 100 g is grasped, and the hand rises by 8 cm.");
    println!();
    println!("   time                 height  phalanges  contacts      rows  pressing      step");
    let start = *scene.world.bodies.rigid[ball].centre();
    let mut watcher = Watcher::new(scene);
    let (mut parts, mut shots) = (Vec::new(), Vec::new());
    for (end, doing, done) in PARTS {
        let steps = ((end - scene.world.time()) / scene.world.parameters.dt).round() as u64;
        let row = measure_while(scene, steps, |scene, _| {
            watcher.look(scene);
            true
        })?;
        let seen = &watcher.samples[watcher.samples.len() - 1];
        println!(
            "{:>5.1} s  {done:<8} {:>9.1} mm {:>10} {:>9} {:>9} {:>7.1} N {:>6.2} ms",
            seen.time,
            1e3 * scene.world.bodies.rigid[ball].centre().y,
            seen.phalanges,
            seen.contacts,
            seen.constraints,
            seen.force,
            seen.step_ms,
        );
        shots.push(shot(scene));
        parts.push(Part { doing, done, row });
    }
    let deepest = watcher.samples.iter().map(|s| s.penetration_mm).fold(0.0, f64::max);
    let mut times: Vec<f64> = watcher.samples.iter().map(|s| s.step_ms).collect();
    times.sort_by(f64::total_cmp);
    let ending = Ending::of(scene, &start, deepest, times[times.len() / 2]);
    Ok((Played { hand, parts, samples: watcher.samples, ending }, shots))
}
