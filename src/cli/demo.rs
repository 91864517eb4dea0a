use anyhow::{Context, bail};

use super::Talk;
use crate::assets::{Scene, load_builtin_scene};
use crate::body::BodyKind;
use crate::sim::Status;

/// Where the demo leaves its pictures.
const FOLDER: &str = "fingerpad-demo";
/// The scene it plays, and what is grasped in it.
const SCENE: &str = "ball";
/// When it is looked at, s, and what is happening then.
const MOMENTS: [(f64, &str); 4] = [(0.2, "open"), (1.1, "closed"), (2.1, "lifted"), (3.0, "held")];

/// The demo: a soft hand closes around a ball and lifts it; in a window where there is a display, unless `FINGERPAD_HEADLESS` is set.
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
    let player = super::player::Player::load(std::path::Path::new(SCENE), &[])?;
    run_player(player, Showing { teller: Some(tell), ..Showing::default() }, talk)?;
    Ok(true)
}

#[cfg(not(feature = "viewer"))]
fn show(_talk: Talk) -> anyhow::Result<bool> {
    Ok(false)
}

/// How the demo ended.
#[cfg(feature = "viewer")]
fn tell(scene: &Scene, tale: &super::view::Tale) -> crate::viewer::window::Card {
    let ball = scene.rigid("ball").unwrap_or(0);
    let (Some(body), Some(start)) = (scene.world.bodies.rigid.get(ball), tale.starts.get(ball)) else {
        return crate::viewer::window::Card::default();
    };
    let lift = 1e3 * (body.centre().y - start.y);
    let held = scene.world.touches().filter(|t| t.b == BodyKind::Rigid(ball) && t.pressing > 0.01);
    let (segments, pressing) = held.fold((0, 0.0), |(count, sum), touch| (count + 1, sum + touch.pressing));
    crate::viewer::window::Card {
        title: "The ball grasp".into(),
        success: Some(lift > 50.0),
        reason: format!("the ball was lifted by {lift:.1} mm and is held"),
        lines: vec![
            ("segments that press".into(), segments.to_string()),
            ("normal force".into(), format!("{pressing:.1} N")),
            ("speed in the hand".into(), format!("{:.4} mm/s", 1e3 * body.linear_velocity().norm())),
            ("deepest at any time".into(), format!("{:.2} mm", 1e3 * tale.deepest)),
            ("step, median".into(), format!("{:.2} ms", tale.step_ms(0.5))),
        ],
    }
}

/// Plays it without a window, and draws pictures.
fn play(talk: Talk) -> anyhow::Result<()> {
    let mut scene = load_builtin_scene(SCENE, &[]).context("the program carries the scene of its demo")??;
    let ball = scene.rigid("ball").context("the scene of the demo has a ball")?;
    let tetrahedra: usize = scene.models[0].meshes[1..].iter().map(|m| m.tissue.tets.len()).sum();
    println!("fingerpad {}: {}", env!("CARGO_PKG_VERSION"), scene.models[0].description.name);
    println!("15 soft phalanges and the palm, {tetrahedra} tetrahedra; a ball of 100 g is grasped and lifted by 8 cm");
    println!();
    println!(
        "{:>7} {:<8} {:>11} {:>9} {:>9} {:>9} {:>9} {:>9}",
        "time", "", "height", "segments", "contacts", "rows", "pressing", "step"
    );
    let start = scene.world.bodies.rigid[ball].centre().y;
    let (mut times, mut deepest, mut figures) = (Vec::new(), 0.0f64, Vec::new());
    for (moment, what) in MOMENTS {
        while scene.world.time() + 0.5 * scene.world.parameters.dt < moment {
            scene.feed();
            if scene.world.step().status != Status::Done {
                bail!("the hand did not stay finite");
            }
            times.push(1e3 * scene.world.times().total);
            deepest = deepest.max(scene.world.statistics().penetration);
        }
        say_moment(&scene, ball, what, times[times.len() - 1]);
        figures.push((what, figure(&scene)));
    }
    times.sort_by(f64::total_cmp);
    let body = &scene.world.bodies.rigid[ball];
    let (lift, speed) = (1e3 * (body.centre().y - start), 1e3 * body.linear_velocity().norm());
    println!();
    println!(
        "lifted by {lift:.1} mm; it moves at {speed:.4} mm/s in the hand; no point deeper than {:.2} mm at any time",
        1e3 * deepest
    );
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    println!(
        "step of 10 ms: median {:.3} ms, p99 {:.3} ms; state {:016x}",
        at(0.5),
        at(0.99),
        scene.world.state_hash()
    );
    draw(figures, talk)
}

fn say_moment(scene: &Scene, ball: usize, what: &str, step_ms: f64) {
    let world = &scene.world;
    let held: Vec<_> = world.touches().filter(|t| t.b == BodyKind::Rigid(ball) && t.pressing > 0.01).collect();
    let segments: std::collections::BTreeSet<_> = held.iter().map(|t| t.a).collect();
    let pressing: f64 = held.iter().map(|t| t.pressing).sum();
    println!(
        "{:>5.1} s {what:<8} {:>8.1} mm {:>9} {:>9} {:>9} {:>7.1} N {step_ms:>6.2} ms",
        world.time(),
        1e3 * world.bodies.rigid[ball].centre().y,
        segments.len(),
        world.statistics().contacts,
        world.statistics().constraints,
        pressing.abs(),
    );
}

#[cfg(feature = "viewer")]
fn figure(scene: &Scene) -> crate::viewer::Figure {
    super::render::scene_figure(scene, &[super::render::Layer::Skin], super::render::From::Side)
}

#[cfg(not(feature = "viewer"))]
fn figure(_scene: &Scene) {}

#[cfg(feature = "viewer")]
fn draw(moments: Vec<(&str, crate::viewer::Figure)>, talk: Talk) -> anyhow::Result<()> {
    let (names, figures): (Vec<_>, Vec<_>) = moments.into_iter().unzip();
    match crate::viewer::draw_all(&figures) {
        Ok(drawn) => {
            for (name, picture) in names.iter().zip(drawn) {
                super::write_file(&std::path::Path::new(FOLDER).join(format!("{name}.png")), &picture.png_bytes()?)?;
            }
            println!("pictures: {FOLDER}/*.png");
        }
        // A machine without graphics is no failure of the demo.
        Err(error) => talk.say(format_args!("no pictures: {error}")),
    }
    Ok(())
}

#[cfg(not(feature = "viewer"))]
fn draw(_moments: Vec<(&str, ())>, talk: Talk) -> anyhow::Result<()> {
    talk.say(format_args!("no pictures for {FOLDER}: built without the feature `viewer`"));
    Ok(())
}
