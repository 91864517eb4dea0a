//! The demo: a soft hand grasps a ball and lifts it. It opens a window if there is a display; otherwise it prints a
//! summary and writes a report.

mod ending;
mod report;

use std::path::Path;

use anyhow::Context;
use serde_json::Value;

use self::ending::DemoEnding;
use super::bench::measure::measure_while;
use super::bench::sample::{Sample, Watcher};
use super::page::{Shot, draw, shot};
use super::{Talk, write_file};
use crate::assets::{Scene, load_builtin_scene};

/// Output folder of the demo.
const FOLDER: &str = "fingerpad-demo";
/// Scene of the demo, and the object to grasp.
const DEMO_SCENE: &str = "ball";
const OBJECT: &str = "ball";
/// Phases of the demo: end time, s; label while running; label when done.
const PHASES: [(f64, &str, &str); 4] =
    [(0.2, "waiting", "open"), (1.1, "closing", "closed"), (2.1, "lifting", "lifted"), (3.0, "holding", "held")];

/// Runs in a window if there is a display, unless `FINGERPAD_HEADLESS` is set.
pub fn run(talk: Talk) -> anyhow::Result<()> {
    let headless = std::env::var_os("FINGERPAD_HEADLESS").is_some_and(|value| !value.is_empty() && value != "0");
    if headless || !show(talk)? { play(talk) } else { Ok(()) }
}

/// Runs in a window; returns whether one could be opened.
#[cfg(feature = "viewer")]
fn show(talk: Talk) -> anyhow::Result<bool> {
    use super::view::{Showing, can_show, run_session};
    if !can_show() {
        return Ok(false);
    }
    let session = crate::runtime::Session::load(Path::new(DEMO_SCENE), &[])?;
    run_session(session, Showing { summarize: Some(ending::summarize), ..Showing::default() }, talk)?;
    Ok(true)
}

#[cfg(not(feature = "viewer"))]
fn show(_talk: Talk) -> anyhow::Result<bool> {
    Ok(false)
}

/// A simulated phase of the demo.
struct DemoPhase {
    /// Label while running.
    doing: &'static str,
    /// Label when done.
    done: &'static str,
    /// Summary of its steps: the object of `run --json`, with stage times.
    row: Value,
}

/// Results of the demo.
struct Played {
    /// Description of the hand model.
    hand: String,
    parts: Vec<DemoPhase>,
    samples: Vec<Sample>,
    ending: DemoEnding,
}

/// Runs without a window, writes a report, and renders pictures if a graphics adapter is available.
fn play(talk: Talk) -> anyhow::Result<()> {
    let mut scene = load_builtin_scene(DEMO_SCENE, &[]).context("the demo scene is built in")??;
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
        // Missing graphics are not a failure of the demo.
        Err(why) => talk.say(format_args!("no pictures: {why}")),
    }
    let file = Path::new(FOLDER).join("index.html");
    write_file(&file, report::page(&played, &pictures).as_bytes())?;
    println!("report: {}", file.display());
    Ok(())
}

/// Simulates the scene phase by phase and prints the results of each.
fn play_parts(scene: &mut Scene) -> anyhow::Result<(Played, Vec<Shot>)> {
    let ball = scene.rigid(OBJECT).context("the demo scene has a ball")?;
    let tetrahedra: usize = scene.world.bodies.hand(0).model().meshes[1..].iter().map(|m| m.tissue.tets.len()).sum();
    let name = &scene.world.bodies.hand(0).model().description.name;
    let hand = format!("{name}: 15 soft phalanges and the palm, {tetrahedra} tetrahedra");
    println!("fingerpad {}. {hand}", env!("CARGO_PKG_VERSION"));
    println!("The hand grasps a ball of 100 g and lifts it by 8 cm.");
    println!();
    println!("   time                 height  phalanges  contacts      rows  pressing      step");
    let start = *scene.world.bodies[ball].centre();
    let mut watcher = Watcher::new(scene);
    let (mut parts, mut shots) = (Vec::new(), Vec::new());
    for (end, doing, done) in PHASES {
        let steps = ((end - scene.world.time()) / scene.world.parameters.dt).round() as u64;
        let row = measure_while(scene, steps, |scene, _| {
            watcher.look(scene);
            true
        })?;
        let seen = &watcher.samples[watcher.samples.len() - 1];
        println!(
            "{:>5.1} s  {done:<8} {:>9.1} mm {:>10} {:>9} {:>9} {:>7.1} N {:>6.2} ms",
            seen.time,
            1e3 * scene.world.bodies[ball].centre().y,
            seen.phalanges,
            seen.contacts,
            seen.constraints,
            seen.force,
            seen.step_ms,
        );
        shots.push(shot(scene));
        parts.push(DemoPhase { doing, done, row });
    }
    let deepest = watcher.samples.iter().map(|s| s.penetration_mm).fold(0.0, f64::max);
    let mut times: Vec<f64> = watcher.samples.iter().map(|s| s.step_ms).collect();
    times.sort_by(f64::total_cmp);
    let ending = DemoEnding::of(scene, &start, deepest, times[times.len() / 2]);
    Ok((Played { hand, parts, samples: watcher.samples, ending }, shots))
}
