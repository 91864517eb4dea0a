use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::bail;

use super::{Arguments, From, PictureLayer, RenderEye};
use crate::assets::{FileKind, Files, Scene, builtin_hand_file, file_kind};
use crate::body::{Hand, HandOptions};
use crate::cli::{Talk, load_model, outputs, write_file};
use crate::runtime::{Session, shipped_path};
use crate::tracking::Side;
use crate::viewer::{
    Camera, CameraPlacement, EyeView, Figure, Fov, Frame, Layers, Picture, Stage, animated_png, draw_all, full_scale,
};

/// Renders what the command line requests.
pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let times = times(arguments)?;
    outputs::check(&[("--out", &arguments.out)], arguments.file.as_slice())?;
    let mut figures = match arguments.file.as_deref() {
        Some(file) if !is_hand(file)? => played(file, &times, arguments, talk)?,
        _ => vec![hand(arguments, talk)?],
    };
    if arguments.eye.is_some() && figures.iter().any(|figure| figure.eye.is_none()) {
        bail!(
            "the file has no view of a headset at that time; --eye needs a recording of `fingerpad vr --record FILE.fpr`, and a time \
             after its first frame"
        );
    }
    figures.iter_mut().for_each(|figure| figure.size = size(figure, arguments.size));
    let mut pictures = draw_all(&figures)?;
    if arguments.eye == Some(RenderEye::Both) {
        let pairs = pictures.chunks_exact(2);
        pictures = pairs.filter_map(|pair| pair[0].beside(&pair[1])).collect();
    }
    write(&pictures, arguments, talk)
}

/// Size of a picture; what an eye sees has the shape of its field of view.
fn size(figure: &Figure, (width, height): (u32, u32)) -> (u32, u32) {
    let shaped = |eye: &EyeView| ((eye.fov.aspect() * f64::from(height)).round() as u32).max(16);
    (figure.eye.as_ref().map_or(width, shaped), height)
}

/// Whether the argument is a hand: a shipped one or a hand file.
fn is_hand(file: &Path) -> anyhow::Result<bool> {
    let path = shipped_path(file);
    if path.extension().is_some_and(|e| e == "toml") && Files::default().is_there(&path) {
        return Ok(file_kind(&path)? != FileKind::Scene);
    }
    Ok(file.to_str().is_some_and(|name| builtin_hand_file(name).is_some()))
}

/// The times to render, in ascending order.
fn times(arguments: &Arguments) -> anyhow::Result<Vec<f64>> {
    let Some(to) = arguments.to else { return Ok(vec![arguments.at]) };
    let (from, every) = (arguments.from_time, arguments.every);
    if to < from || every <= 0.0 {
        bail!("a range needs an end after its start and a positive time between pictures");
    }
    let count = ((to - from) / every + 1e-6) as usize + 1;
    if count > MAX_PICTURES {
        bail!("a range of {count} pictures; the maximum is {MAX_PICTURES}");
    }
    Ok((0..count).map(|i| from + i as f64 * every).collect())
}

/// Maximum number of pictures of a range.
const MAX_PICTURES: usize = 1000;

/// Writes one picture, numbered ones, or an animation.
fn write(pictures: &[Picture], arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let out = &arguments.out;
    if arguments.to.is_none() {
        for picture in pictures {
            write_file(out, &picture.png_bytes()?)?;
        }
        talk.say(format_args!("wrote {}", out.display()));
    } else if arguments.animate || out.extension().is_some_and(|e| e == "apng") {
        write_file(out, &animated_png(pictures, arguments.every)?)?;
        talk.say(format_args!("wrote {}, an animation of {} pictures", out.display(), pictures.len()));
    } else {
        for (i, picture) in pictures.iter().enumerate() {
            write_file(&numbered(out, i), &picture.png_bytes()?)?;
        }
        talk.say(format_args!("wrote {} pictures, {} …", pictures.len(), numbered(out, 0).display()));
    }
    Ok(())
}

/// File of one picture of a range: `ball.png` becomes `ball-0007.png`.
fn numbered(out: &Path, number: usize) -> PathBuf {
    let stem = out.file_stem().map_or("picture".into(), |stem| stem.to_string_lossy());
    let ending = out.extension().map_or("png".into(), |e| e.to_string_lossy());
    out.with_file_name(format!("{stem}-{number:04}.{ending}"))
}

/// A hand alone, in one of its poses.
fn hand(arguments: &Arguments, talk: Talk) -> anyhow::Result<Figure> {
    let model = Arc::new(load_model(arguments.file.as_ref(), talk)?);
    if model.description.pose(&arguments.pose).is_none() {
        let names: Vec<_> = model.description.poses.iter().map(|p| p.name.as_str()).collect();
        bail!("the hand has no pose `{}`; it has {}", arguments.pose, names.join(", "));
    }
    let mut scene = Scene::default();
    let options = HandOptions { pose: arguments.pose.clone(), ..Default::default() };
    scene.world.add(Hand::new(model.clone(), &options)?);
    let (stage, frame) = (Stage::of(&scene), Frame::of(&scene.world));
    let from = arguments.from.unwrap_or(From::Oblique);
    let mut camera = stage.camera([&frame], &look(arguments, hand_look(from, &scene)));
    if arguments.look.is_none() && matches!(from, From::Back | From::Palm) {
        // Fingers pointing up.
        camera.up = [0.0, 0.0, -1.0];
    }
    Ok(stage.figure(&frame, &layers(&arguments.show), camera))
}

/// Renders moments of a run. All share one camera and one colour scale.
fn played(file: &Path, times: &[f64], arguments: &Arguments, talk: Talk) -> anyhow::Result<Vec<Figure>> {
    let mut session = Session::load(file, &arguments.changes.settings([])?)?;
    let mut stage = Stage::of(&session.scene());
    let dt = session.scene().world.parameters.dt;
    let (mut frames, mut captions, mut eyes) = (Vec::new(), Vec::new(), Vec::new());
    for time in times {
        let steps = (time / dt).round() as u64;
        while session.steps() < steps && !has_ended(&session) {
            session.step()?;
        }
        let scene = session.scene();
        let clock = std::time::Instant::now();
        frames.push(Frame::of(&scene.world));
        let (copied, step) = (1e6 * clock.elapsed().as_secs_f64(), 1e6 * scene.world.times().total);
        drop(scene);
        if session.steps() < steps {
            let end = session.steps() as f64 * dt;
            talk.say(format_args!("it ended at {end:.2} s; rendering that instead of {time:.2} s"));
        } else if let Some(end) = past_end(&session, steps) {
            talk.say(format_args!("the scene ends at {end:.2} s; simulated on to {time:.2} s without motions"));
        }
        talk.detail(format_args!(
            "copied the state at {time:.2} s in {copied:.0} µs; the previous step took {step:.0} µs"
        ));
        eyes.push(session.eyes().map(|eyes| eyes.map(|eye| view(&eye))));
        captions.push(if arguments.caption { caption(&session) } else { Vec::new() });
    }
    stage.full_pressure = full_scale(high_pressure(&frames));
    let fitted = || stage.camera(&frames, &look(arguments, arguments.from.map_or(stage.look(), scene_look)));
    let asks = arguments.from.is_some() || arguments.look.is_some() || arguments.zoom != 1.0;
    let camera = stage.viewpoint().filter(|_| !asks).unwrap_or_else(fitted);
    let layers = layers(&arguments.show);
    let mut figures = Vec::new();
    for ((frame, caption), eyes) in frames.iter().zip(captions).zip(eyes) {
        let drawn: Vec<Option<EyeView>> = match (arguments.eye, eyes) {
            (Some(RenderEye::Left), Some([left, _])) => vec![Some(left)],
            (Some(RenderEye::Right), Some([_, right])) => vec![Some(right)],
            (Some(RenderEye::Both), Some([left, right])) => vec![Some(left), Some(right)],
            _ => vec![None],
        };
        for eye in drawn {
            let mut figure = stage.figure(frame, &layers, eye.map_or(camera, |eye| eye.camera()));
            (figure.eye, figure.legend.caption) = (eye, caption.clone());
            figures.push(figure);
        }
    }
    Ok(figures)
}

/// An eye of a recording.
fn view(eye: &crate::record::Eye) -> EyeView {
    let [left, right, up, down] = eye.fov;
    EyeView { pose: eye.pose, fov: Fov { left, right, up, down } }
}

/// 95th percentile of the pressure. The maximum at sharp edges would compress the colour scale.
fn high_pressure(frames: &[Frame]) -> f64 {
    let mut pressures: Vec<f64> =
        frames.iter().flat_map(|frame| &frame.pressures).map(|point| point.pressure).collect();
    pressures.sort_by(f64::total_cmp);
    pressures.get(pressures.len().saturating_sub(1) * 19 / 20).copied().unwrap_or(0.0)
}

/// End of a scene, s, if it lies before a step.
fn past_end(session: &Session, step: u64) -> Option<f64> {
    let dt = session.scene().world.parameters.dt;
    session.length().filter(|length| *length < step).map(|length| length as f64 * dt)
}

/// Whether the run is over for good: recordings and scripts end, a scene can continue.
fn has_ended(session: &Session) -> bool {
    session.is_over() && (session.recording().is_some() || is_task(session))
}

#[cfg(feature = "script")]
fn is_task(session: &Session) -> bool {
    session.script().is_some()
}

#[cfg(not(feature = "script"))]
fn is_task(_session: &Session) -> bool {
    false
}

/// Label: source, trial, time, and task result.
fn caption(session: &Session) -> Vec<String> {
    let (trial, trials) = (session.trial(), trials(session));
    let scene = session.scene();
    let trial = if trials > 1 { format!(", trial {trial} of {trials}") } else { String::new() };
    let mut lines = vec![format!("{}{trial}, {:.2} s", scene.name, scene.world.time())];
    drop(scene);
    lines.extend(ending(session));
    lines
}

#[cfg(feature = "script")]
fn trials(session: &Session) -> u64 {
    session.script().map_or(1, crate::script::ScriptRun::planned_trials)
}

#[cfg(not(feature = "script"))]
fn trials(_session: &Session) -> u64 {
    1
}

#[cfg(feature = "script")]
fn ending(session: &Session) -> Option<String> {
    let (success, reason) = match session.outcome() {
        Some(outcome) => (outcome.success, outcome.reason.clone()),
        // The last step of a trial that is followed by another.
        None => session.script()?.ended_trial().map(|trial| (trial.success, trial.reason.clone()))?,
    };
    let end = if success { "done" } else { "failed" };
    Some(if reason.is_empty() { end.into() } else { format!("{end}: {reason}") })
}

#[cfg(not(feature = "script"))]
fn ending(_session: &Session) -> Option<String> {
    None
}

/// The view of the command line; unspecified values come from the default.
fn look(arguments: &Arguments, otherwise: CameraPlacement) -> CameraPlacement {
    let (width, height) = arguments.size;
    let [azimuth, elevation] = arguments.look.unwrap_or([otherwise.azimuth, otherwise.elevation]);
    CameraPlacement { azimuth, elevation, zoom: arguments.zoom, aspect: f64::from(width) / f64::from(height) }
}

/// Snapshot of the scene as a figure.
pub fn scene_figure(scene: &Scene, shown: &[PictureLayer], from: From) -> Figure {
    let (stage, frame) = (Stage::of(scene), Frame::of(&scene.world));
    let camera: Camera = stage.viewpoint().unwrap_or_else(|| stage.camera([&frame], &scene_look(from)));
    stage.figure(&frame, &layers(shown), camera)
}

/// Command-line layer names as layers.
fn layers(shown: &[PictureLayer]) -> Layers {
    let mut layers = Layers::NONE;
    for layer in shown {
        match layer {
            PictureLayer::Skin => layers.skin = true,
            PictureLayer::Pressure => layers.pressure = true,
            PictureLayer::Contacts => layers.contacts = true,
            PictureLayer::Aggregates => layers.aggregates = true,
            PictureLayer::Forces => (layers.normal_forces, layers.friction_forces) = (true, true),
            PictureLayer::NormalForces => layers.normal_forces = true,
            PictureLayer::FrictionForces => layers.friction_forces = true,
            PictureLayer::Slip => layers.slip = true,
            PictureLayer::Tracked => layers.tracked = true,
            PictureLayer::Joints => layers.joints = true,
            PictureLayer::Skeleton => layers.skeleton = true,
            PictureLayer::Tetrahedra => layers.tetrahedra = true,
            PictureLayer::Collision => layers.collision = true,
            PictureLayer::Anchors => layers.anchors = true,
        }
    }
    layers
}

fn scene_look(from: From) -> CameraPlacement {
    let [azimuth, elevation] = match from {
        From::Back => [-17.0, 26.0],
        From::Palm => [163.0, 19.0],
        From::Side => [-90.0, 17.0],
        From::Oblique => [-127.0, 24.0],
    };
    CameraPlacement { azimuth, elevation, ..CameraPlacement::default() }
}

fn hand_look(from: From, scene: &Scene) -> CameraPlacement {
    let is_left = scene.models().next().is_some_and(|model| model.description.side == Side::Left);
    let [azimuth, elevation] = match from {
        From::Back => [-22.0, 75.0],
        From::Palm => [-22.0, -75.0],
        From::Side => [-96.0, 14.0],
        From::Oblique => [-133.0, 27.0],
    };
    // The thumb of a left hand is on the other side.
    CameraPlacement { azimuth: if is_left { -azimuth } else { azimuth }, elevation, ..CameraPlacement::default() }
}
