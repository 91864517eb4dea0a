//! Pictures show the scene. Without a graphics adapter the tests report this and pass; with
//! `FINGERPAD_EXPECT_ADAPTER=1` they fail.
#![cfg(feature = "viewer")]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use fingerpad::assets::{Scene, builtin_scenes, load_builtin_scene};
use fingerpad::body::ElasticBody;
use fingerpad::viewer::{
    CameraPlacement, Figure, Frame, Layers, Legend, Painted, Picture, Stage, ViewerError, draw_all,
};

const SIZE: (u32, u32) = (320, 240);
const NO_ADAPTER: &str = "no graphics adapter was found";

/// Reports that drawing is not possible, and fails if it should be.
fn nothing_drawn(why: &str) {
    assert!(why.contains(NO_ADAPTER), "{why}");
    assert!(std::env::var_os("FINGERPAD_EXPECT_ADAPTER").is_none(), "{why}");
    eprintln!("not looked at: {why}");
}

fn drawn(figures: &[Figure]) -> Option<Vec<Picture>> {
    match draw_all(figures) {
        Ok(pictures) => Some(pictures),
        Err(error) => {
            assert_eq!(error, ViewerError::NoAdapter);
            nothing_drawn(&error.to_string());
            None
        }
    }
}

fn played(name: &str, seconds: f64) -> Scene {
    let mut scene = load_builtin_scene(name, &[]).expect("a scene").unwrap_or_else(|p| panic!("{p}"));
    while scene.world.time() < seconds - 1e-6 {
        scene.feed();
        scene.world.step();
    }
    scene
}

/// A scene as a figure of fixed size without ground and legend.
fn figure(scene: &Scene, layers: Layers) -> (Figure, Frame) {
    let (stage, frame) = (Stage::of(scene), Frame::of(&scene.world));
    let camera = stage.camera([&frame], &CameraPlacement::default());
    let figure = stage.figure(&frame, &layers, camera);
    (Figure { size: SIZE, ground: None, legend: Legend::default(), ..figure }, frame)
}

/// Which pixels the triangles of some meshes cover.
fn mask(figure: &Figure, meshes: &[Painted]) -> Vec<bool> {
    let (width, height) = figure.size;
    let mut covered = vec![false; (width * height) as usize];
    for mesh in meshes {
        let at: Vec<[f32; 2]> =
            mesh.vertices.iter().map(|&p| figure.camera.project(figure.size, p).expect("before the eye")).collect();
        for corners in mesh.triangles.iter().map(|t| t.map(|v| at[v as usize])) {
            let range = |i: usize, most: u32| {
                let [low, high] = corners.iter().fold([f32::MAX, 0.0f32], |[l, h], c| [l.min(c[i]), h.max(c[i])]);
                low.max(0.0) as u32..(high.ceil() as u32 + 1).min(most)
            };
            for (x, y) in range(1, height).flat_map(|y| range(0, width).map(move |x| (x, y))) {
                let side = |i: usize| {
                    let (a, b) = (corners[i], corners[(i + 1) % 3]);
                    (b[0] - a[0]) * (y as f32 + 0.5 - a[1]) - (b[1] - a[1]) * (x as f32 + 0.5 - a[0])
                };
                let sides = [side(0), side(1), side(2)];
                if sides.iter().all(|&s| s >= 0.0) || sides.iter().all(|&s| s <= 0.0) {
                    covered[(y * width + x) as usize] = true;
                }
            }
        }
    }
    covered
}

fn pixels(picture: &Picture) -> impl Iterator<Item = [u8; 3]> + '_ {
    picture.pixels.chunks_exact(3).map(|c| [c[0], c[1], c[2]])
}

/// Colours of the pressure scale: blue to green to yellow, none of which is a skin colour.
fn is_of_the_scale([r, g, b]: [u8; 3]) -> bool {
    g > r.saturating_add(12) || b > r.saturating_add(12)
}

#[test]
fn the_hand_covers_the_pixels_of_its_skin() {
    // Open in front of the ball, and with the ball lifted.
    let figures: Vec<Figure> = [0.0, 2.0].map(|t| figure(&played("ball", t), Layers::default()).0).into();
    let Some(pictures) = drawn(&figures) else { return };
    for (figure, picture) in figures.iter().zip(&pictures) {
        let mask = mask(figure, &figure.meshes);
        let background = figure.background.map(|c| (255.0 * c) as i32);
        let is_drawn = |pixel: [u8; 3]| (0..3).any(|c| (i32::from(pixel[c]) - background[c]).abs() > 8);
        let pairs: Vec<(bool, bool)> = mask.iter().copied().zip(pixels(picture).map(is_drawn)).collect();
        let either = pairs.iter().filter(|(a, b)| *a || *b).count();
        let both = pairs.iter().filter(|(a, b)| *a && *b).count();
        assert!(either > 4_000, "only {either} pixels are not background");
        assert!(both as f64 > 0.97 * either as f64, "{both} of {either} pixels are as projected");
    }
}

#[test]
fn every_scene_with_a_camera_stays_within_its_picture() {
    for name in builtin_scenes() {
        let mut scene = load_builtin_scene(name, &[]).expect("a scene").unwrap_or_else(|p| panic!("{p}"));
        let stage = Stage::of(&scene);
        let Some(camera) = stage.viewpoint() else { continue };
        // Hands and moving bodies must be framed; static ones may extend beyond.
        let moving = |scene: &Scene| {
            let frame = Frame::of(&scene.world);
            let bodies = &scene.world.bodies;
            let tools = bodies.of::<ElasticBody>().filter(|(_, elastic)| elastic.tool().is_some()).count();
            let count = bodies.iter().filter(|(_, body)| body.kind() != "fixed").count() + tools;
            let mut meshes = stage.figure(&frame, &Layers::default(), camera).meshes;
            meshes.truncate(count);
            meshes
        };
        let mut ends = [[f32::MAX; 2], [f32::MIN; 2]];
        for part in [0.0, 0.5, 1.0] {
            while scene.world.time() < part * scene.seconds - 1e-6 {
                scene.feed();
                scene.world.step();
            }
            for point in moving(&scene).iter().flat_map(|mesh| &mesh.vertices) {
                let at = camera.project(SIZE, *point).expect("before the eye");
                ends =
                    [0, 1].map(|e| [0, 1].map(|i| if e == 0 { ends[e][i].min(at[i]) } else { ends[e][i].max(at[i]) }));
            }
        }
        let [[left, top], [right, bottom]] = ends;
        let seen = format!("{name} is seen from ({left:.0}, {top:.0}) to ({right:.0}, {bottom:.0})");
        assert!(left > 0.0 && top > 0.0 && right < 320.0 && bottom < 240.0, "{seen}");
        assert!(right - left > 100.0 || bottom - top > 100.0, "{seen}: too small");
    }
}

#[test]
fn pressure_is_coloured_where_something_touches_and_nowhere_else() {
    let layers = Layers { pressure: true, ..Layers::default() };
    let scenes = [played("ball", 0.0), played("ball", 1.3)];
    let mut figures: Vec<_> = scenes.iter().map(|scene| figure(scene, layers)).collect();
    // The skin only: the ball would hide its contacts. From below, into the palm.
    for ((figure, frame), scene) in figures.iter_mut().zip(&scenes) {
        figure.meshes.truncate(1);
        let look = CameraPlacement { azimuth: 165.0, elevation: -35.0, ..CameraPlacement::default() };
        figure.camera = Stage::of(scene).camera([&*frame], &look);
    }
    let (figures, frames): (Vec<Figure>, Vec<Frame>) = figures.into_iter().unzip();
    assert!(frames[0].pressures.is_empty() && frames[1].pressures.len() > 20);
    let Some(pictures) = drawn(&figures) else { return };
    let coloured = |i: usize| pixels(&pictures[i]).enumerate().filter(|(_, p)| is_of_the_scale(*p)).map(|(i, _)| i);
    // The background is slightly blue.
    let skin = mask(&figures[0], &figures[0].meshes);
    assert_eq!(coloured(0).filter(|&i| skin[i]).count(), 0);
    let skin = mask(&figures[1], &figures[1].meshes);
    let coloured: Vec<usize> = coloured(1).filter(|&i| skin[i]).collect();
    assert!(coloured.len() > 40, "only {} pixels show pressure", coloured.len());
    let places: Vec<[f32; 2]> = (frames[1].pressures.iter())
        .filter_map(|point| figures[1].camera.project(SIZE, [0, 1, 2].map(|i| point.place[i] as f32)))
        .collect();
    for i in coloured {
        let [x, y] = [(i % 320) as f32 + 0.5, (i / 320) as f32 + 0.5];
        let near = places.iter().map(|p| f32::hypot(p[0] - x, p[1] - y)).fold(f32::MAX, f32::min);
        assert!(near < 8.0, "({x}, {y}) is {near} pixels away from what touches");
    }
}

#[test]
fn pressure_has_a_labelled_scale() {
    let (bare, frame) = figure(&played("pinch", 0.0), Layers::default());
    let legend = Legend { full_pressure: Some(40e3), ..Legend::default() };
    let figures = [bare.clone(), Figure { legend, ..bare }];
    assert!(frame.pressures.is_empty());
    let Some(pictures) = drawn(&figures) else { return };
    let right = |picture: &Picture, test: fn([u8; 3]) -> bool| {
        pixels(picture).enumerate().filter(|(i, p)| i % 320 > 250 && test(*p)).count()
    };
    let yellow = |[r, g, b]: [u8; 3]| r > 220 && g > 200 && b < 80;
    let violet = |[r, g, b]: [u8; 3]| r < 90 && g < 40 && b > 70;
    let ink = |[r, g, b]: [u8; 3]| r < 90 && g < 90 && b < 90;
    for (test, least) in [(yellow as fn([u8; 3]) -> bool, 30), (violet, 30), (ink, 60)] {
        assert_eq!(right(&pictures[0], test), 0);
        assert!(right(&pictures[1], test) >= least, "{} pixels", right(&pictures[1], test));
    }
}

#[test]
fn every_layer_is_visible() {
    let scene = played("pinch", 1.2);
    let mut figures = vec![figure(&scene, Layers::NONE).0];
    let near = CameraPlacement { zoom: 2.5, ..CameraPlacement::default() };
    // The anchor points of elastic objects are in another scene.
    let shown = || Layers::SWITCHES.iter().filter(|(name, _)| *name != "anchors");
    for (_, switch) in shown() {
        let mut layers = Layers::NONE;
        *switch(&mut layers) = true;
        // Pressure is a colour of the skin.
        layers.skin |= layers.pressure;
        figures.push(figure(&scene, layers).0);
    }
    let camera = Stage::of(&scene).camera([&Frame::of(&scene.world)], &near);
    figures.iter_mut().for_each(|figure| (figure.camera, figure.size) = (camera, (160, 120)));
    let Some(pictures) = drawn(&figures) else { return };
    let differ = |a: &Picture, b: &Picture| pixels(a).zip(pixels(b)).filter(|(p, q)| p != q).count();
    for ((name, _), picture) in shown().zip(&pictures[1..]) {
        assert!(differ(picture, &pictures[0]) > 20, "{name} shows nothing");
    }
    let elastic = played("elastic_press", 0.1);
    let anchors = Layers { anchors: true, ..Layers::NONE };
    let both = [figure(&elastic, Layers::NONE).0, figure(&elastic, anchors).0];
    let Some(marked) = drawn(&both) else { return };
    assert!(differ(&marked[1], &marked[0]) > 20, "anchors show nothing");
    assert!(differ(&pictures[1], &pictures[2]) > 5, "pressure shows nothing");
}

fn program(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fingerpad")).args(arguments).output().expect("the program starts")
}

/// A folder for a test.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures").join(name);
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Whether the program drew; otherwise checks its message.
fn has_drawn(output: &Output) -> bool {
    let message = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        assert_eq!(output.status.code(), Some(2), "{message}");
        nothing_drawn(&message);
    }
    output.status.success()
}

#[test]
fn a_range_of_times_becomes_numbered_pictures_or_an_animation() {
    let folder = folder("range");
    let range = ["--from-time", "0.1", "--to", "0.3", "--every", "0.1", "--size", "96x72"];
    let file = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let out = file("disc.png");
    if !has_drawn(&program(&[["render", "spin_disc", "--out", &out].as_slice(), &range].concat())) {
        return;
    }
    for i in 0..3 {
        let bytes = std::fs::read(folder.join(format!("disc-000{i}.png"))).expect("a picture");
        let reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a header");
        assert_eq!((reader.info().width, reader.info().height), (96, 72));
    }
    assert!(!folder.join("disc-0003.png").exists() && !folder.join("disc.png").exists());
    for (name, more) in [("disc.apng", &[][..]), ("moving.png", &["--animate", "--caption"][..])] {
        let out = file(name);
        assert!(has_drawn(&program(&[["render", "spin_disc", "--out", &out].as_slice(), &range, more].concat())));
        let bytes = std::fs::read(&out).expect("an animation");
        let reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a header");
        let control = reader.info().animation_control().expect("an animation");
        assert_eq!((control.num_frames, control.num_plays), (3, 0), "{name}");
    }
}

#[test]
fn a_hand_file_a_scene_file_and_a_script_are_drawn() {
    let folder = folder("kinds");
    let out = folder.join("picture.png").to_string_lossy().into_owned();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec!["hands/left.toml", "scenes/rest.toml"];
    if cfg!(feature = "script") {
        files.push("scripts/hello_hand.rhai");
    }
    for file in files {
        let path = root.join(file).to_string_lossy().into_owned();
        let drawn = program(&["render", &path, "--at", "0.05", "--size", "64x48", "--out", &out]);
        if !has_drawn(&drawn) {
            return;
        }
        let bytes = std::fs::read(&out).expect("a picture");
        let mut reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a header");
        let mut pixels = vec![0; reader.output_buffer_size().expect("a size")];
        reader.next_frame(&mut pixels).expect("a frame");
        let middle = &pixels[3 * (24 * 64 + 16)..3 * (24 * 64 + 48)];
        assert!(middle.chunks_exact(3).any(|p| p[0].abs_diff(p[2]) > 20 || p[0] < 180), "{file} is blank");
    }
}

#[test]
fn a_recording_is_drawn_up_to_its_end() {
    let folder = folder("recording");
    let [recording, out] = ["stack.fpr", "stack.png"].map(|name| folder.join(name).to_string_lossy().into_owned());
    let run = program(&["run", "stack", "--seconds", "0.1", "--record", &recording, "--quiet"]);
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    let drawn = program(&["render", &recording, "--at", "5", "--size", "64x48", "--out", &out]);
    if has_drawn(&drawn) {
        let message = String::from_utf8_lossy(&drawn.stderr);
        assert!(message.contains("it ended at 0.10 s") && Path::new(&out).exists(), "{message}");
    }
}

#[test]
fn invalid_render_arguments_report_the_expectation() {
    let cases: [(&[&str], &str); 7] = [
        (&["--look", "10"], "AZIMUTH,ELEVATION"),
        (&["--look", "10,95"], "elevation"),
        (&["--zoom", "0"], "0.1 to 50"),
        (&["--at=-1"], "0 to 3600 s"),
        (&["--show", "bones"], "skeleton"),
        (&["--from-time", "2", "--to", "1"], "needs an end after its start"),
        (&["--to", "1", "--every", "0.0001"], "the maximum is"),
    ];
    for (arguments, word) in cases {
        let output = program(&[["render", "rest", "--out", "never.png"].as_slice(), arguments].concat());
        let message = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {message}");
        assert!(message.contains(word), "{arguments:?}: {message}");
    }
    let output = program(&["render", "nowhere", "--out", "never.png"]);
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && message.contains("the name of a shipped scene"), "{message}");
}

/// Depth of the visual skin inside the ball, m.
fn deepest_in_ball(seconds: f64) -> f64 {
    const RADIUS: f64 = 0.032;
    let scene = played("ball", seconds);
    let (figure, _) = figure(&scene, Layers::default());
    let centre = *scene.world.bodies[scene.rigid("ball").expect("a ball")].centre();
    let depth = |p: &[f32; 3]| RADIUS - (fingerpad::math::Vec3::from(p.map(f64::from)) - centre).norm();
    figure.meshes[0].vertices.iter().map(depth).fold(f64::NEG_INFINITY, f64::max)
}

#[test]
fn the_visual_skin_lies_on_the_held_object() {
    for seconds in [1.3, 2.5] {
        let depth = deepest_in_ball(seconds);
        assert!((-0.1e-3..0.5e-3).contains(&depth), "at {seconds} s: {} mm", 1e3 * depth);
    }
}

#[test]
fn a_time_past_the_end_of_a_scene_is_reported() {
    let out = folder("past").join("past.png").to_string_lossy().into_owned();
    let draw = |at: &str| program(&["render", "rest", "--at", at, "--size", "64x48", "--out", &out]);
    let late = draw("30");
    if !has_drawn(&late) {
        return;
    }
    let message = String::from_utf8_lossy(&late.stderr).into_owned();
    assert!(message.contains("the scene ends at") && message.contains("30.00 s"), "{message}");
    assert!(!String::from_utf8_lossy(&draw("0.05").stderr).contains("the scene ends"));
}
