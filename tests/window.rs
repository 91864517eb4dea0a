//! The window, through the program. Without a virtual display the tests report this, and fail only if
//! `FINGERPAD_EXPECT_DISPLAY` is set.
#![cfg(feature = "viewer")]

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;

fn fingerpad(arguments: &[&str], display: Option<&str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    // The user's window settings are not touched.
    command.env("XDG_CONFIG_HOME", std::env::temp_dir().join(format!("fingerpad-window-{}", std::process::id())));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    command.envs(display.map(|display| ("DISPLAY", display)));
    command
}

fn message(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

/// A virtual display.
struct Display {
    server: Child,
    name: String,
}

impl Display {
    fn open() -> Option<Self> {
        let server = Command::new("Xvfb")
            .args(["-displayfd", "1", "-screen", "0", "1280x800x24", "-nolisten", "tcp"])
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn();
        let display = server.ok().and_then(|mut server| {
            let mut number = String::new();
            let read = BufReader::new(server.stdout.take()?).read_line(&mut number);
            let is_open = read.is_ok() && !number.trim().is_empty();
            let display = Self { server, name: format!(":{}", number.trim()) };
            is_open.then_some(display)
        });
        if display.is_none() {
            missing("there is no Xvfb here");
        }
        display
    }
}

impl Drop for Display {
    fn drop(&mut self) {
        let _ = self.server.kill();
        let _ = self.server.wait();
    }
}

fn missing(what: &str) {
    assert!(std::env::var_os("FINGERPAD_EXPECT_DISPLAY").is_none(), "{what}");
    eprintln!("{what}: the window is not tried");
}

/// Waits for a child with a timeout, and ends it if it takes longer.
fn within(mut child: Child, seconds: u64) -> Option<Output> {
    let clock = Instant::now();
    while clock.elapsed() < Duration::from_secs(seconds) {
        if child.try_wait().expect("a child").is_some() {
            return child.wait_with_output().ok();
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

fn spawn(mut command: Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the program runs")
}

#[test]
fn a_missing_display_is_one_message() {
    for display in [None, Some(""), Some(":9731"), Some("nonsense")] {
        let out = fingerpad(&["view", "stack"], display).output().expect("the program runs");
        let message = message(&out);
        assert_eq!(out.status.code(), Some(2), "{message}");
        assert!(out.stdout.is_empty() && !message.contains("panicked"), "{message}");
        assert_eq!(message.trim().lines().count(), 1, "{message}");
        let sentence =
            ["no display", "no graphics adapter", "cannot open a window"].iter().any(|words| message.contains(words));
        assert!(sentence, "{message}");
    }
}

#[test]
fn invalid_arguments_are_reported_before_a_window_opens() {
    let broken = |arguments: &[&str], words: &str| {
        let out = fingerpad(arguments, None).output().expect("the program runs");
        assert!(out.status.code() == Some(2) && message(&out).contains(words), "{}", message(&out));
    };
    broken(&["view", "nothing"], "the name of a shipped scene");
    broken(&["view", "stack", "--show", "bones"], "there is no layer `bones`");
    broken(&["view", "stack", "--set", "dtt=1"], "unknown setting");
    broken(&["view", "stack", "--size", "10x10"], "expected WIDTHxHEIGHT");
}

/// Whether a window has drawn some frames and closed; false without an adapter.
fn has_drawn(display: &Display, frames: u64, arguments: &[&str]) -> bool {
    let count = frames.to_string();
    let arguments = [&["view", "--frames", &count], arguments].concat();
    // With software rendering on a busy machine a frame can take seconds.
    let out =
        within(spawn(fingerpad(&arguments, Some(&display.name))), 60 + 6 * frames).expect("an end after its frames");
    if message(&out).contains("no graphics adapter") {
        missing("there is nothing here that draws");
        return false;
    }
    assert!(out.status.success(), "{}", message(&out));
    let line = String::from_utf8_lossy(&out.stdout).into_owned();
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(line.starts_with(&format!("{frames} frames in ")) && numbers.len() >= 3 && numbers[1] > 0, "{line}");
    true
}

#[test]
fn it_draws_many_frames_and_every_layer() {
    let Some(display) = Display::open() else { return };
    // Two hundred frames take minutes in software: only if a display is expected.
    let many = if std::env::var_os("FINGERPAD_EXPECT_DISPLAY").is_some() { 200 } else { 10 };
    if has_drawn(&display, many, &["stack", "--size", "320x240"]) {
        has_drawn(&display, 6, &["ball", "--show", "all", "--size", "480x320"]);
    }
}

/// A window on its own display, driven by xdotool. Its state is read from the frame log.
struct Person {
    display: Display,
    window: Child,
    folder: PathBuf,
    size: (u32, u32),
    _alone: MutexGuard<'static, ()>,
}

/// One window at a time: two would slow each other down.
static ALONE: Mutex<()> = Mutex::new(());

/// A part of a press of mouse buttons: 1 left, 2 middle, 3 right.
const LEFT: &str = "1";
const RIGHT: &str = "3";

impl Person {
    /// Opens a window and waits for its first frames; `None` if that is not possible.
    fn opens(size: (u32, u32), arguments: &[&str]) -> Option<Self> {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let display = Display::open()?;
        let xdotool = Command::new("xdotool").arg("version").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if xdotool.is_err() {
            missing("there is no xdotool here");
            return None;
        }
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("fingerpad-window-{}-{number}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).expect("a folder");
        let (sides, log) = (format!("{}x{}", size.0, size.1), folder.join("frames.jsonl"));
        let log = log.to_string_lossy().into_owned();
        let arguments = [&["view", "--size", &sides, "--log", &log], arguments].concat();
        let mut command = fingerpad(&arguments, Some(&display.name));
        command.current_dir(&folder).env("XDG_CONFIG_HOME", folder.join("config"));
        let window = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("the program runs");
        let mut person = Self { display, window, folder, size, _alone: alone };
        let clock = Instant::now();
        while person.now().is_none_or(|frame| frame["frame"].as_u64() < Some(5)) {
            if person.window.try_wait().expect("a child").is_some() {
                let mut message = String::new();
                let stderr = person.window.stderr.take().expect("a pipe");
                let _ = std::io::Read::read_to_string(&mut BufReader::new(stderr), &mut message);
                assert!(message.contains("no graphics adapter"), "{message}");
                missing("there is nothing here that draws");
                return None;
            }
            assert!(clock.elapsed() < Duration::from_secs(120), "no frame was drawn");
            std::thread::sleep(Duration::from_millis(50));
        }
        // Without a window manager nothing has the focus.
        person.xdo(&["search", "--name", "fingerpad", "windowfocus"]);
        person.xdo(&["mousemove", "2", "2"]);
        // On gaining the focus the window system reports keys that are held then: a key pressed before that can arrive twice.
        person.rests(2);
        Some(person)
    }

    fn xdo(&self, words: &[&str]) {
        let done =
            Command::new("xdotool").args(words).env("DISPLAY", &self.display.name).stdout(Stdio::null()).status();
        assert!(done.expect("xdotool").success(), "{words:?}");
    }

    fn frames(&self) -> Vec<Value> {
        let text = std::fs::read_to_string(self.folder.join("frames.jsonl")).unwrap_or_default();
        text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    /// The latest frame.
    fn now(&self) -> Option<Value> {
        use std::io::{Read, Seek, SeekFrom};
        let mut file = std::fs::File::open(self.folder.join("frames.jsonl")).ok()?;
        let length = file.metadata().ok()?.len();
        file.seek(SeekFrom::Start(length.saturating_sub(40_000))).ok()?;
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        text.lines().rev().find_map(|line| serde_json::from_str(line).ok())
    }

    fn frame(&self) -> Value {
        self.now().expect("a frame")
    }

    /// Waits for a frame that satisfies a condition.
    fn sees(&self, what: &str, is_true: impl Fn(&Value) -> bool) -> Value {
        let clock = Instant::now();
        loop {
            let frame = self.frame();
            if is_true(&frame) {
                return frame;
            }
            assert!(
                clock.elapsed() < Duration::from_secs(60),
                "it never came to this: {what}; the last frame: {frame}"
            );
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    fn key(&self, name: &str) {
        self.xdo(&["key", name]);
    }

    fn to(&self, at: [f64; 2]) {
        let [x, y] = at.map(|c| format!("{:.0}", c));
        self.xdo(&["mousemove", &x, &y]);
    }

    /// Drags with a button in small steps.
    fn drags(&self, button: &str, from: [f64; 2], by: [f64; 2]) {
        const STEPS: i32 = 12;
        self.to(from);
        self.rests(2);
        self.xdo(&["mousedown", button]);
        self.rests(2);
        for step in 1..=STEPS {
            let part = f64::from(step) / f64::from(STEPS);
            self.to([from[0] + part * by[0], from[1] + part * by[1]]);
            self.rests(1);
        }
        self.xdo(&["mouseup", button]);
        self.rests(2);
    }

    /// Waits for some more frames.
    fn rests(&self, frames: u64) {
        let start = self.frame()["frame"].as_u64();
        self.sees("another frame", |frame| frame["frame"].as_u64() >= start.map(|start| start + frames));
    }

    /// The centre of the 3D view.
    fn middle(&self) -> [f64; 2] {
        let view = numbers(&self.frame()["view"]);
        [view[0] + 0.5 * view[2], view[1] + 0.5 * view[3]]
    }

    /// Pixel of a point of the world.
    fn place(&self, point: &[f64]) -> [f64; 2] {
        let frame = self.frame();
        let [right, up, back, from] = axes(&frame);
        let away = [point[0] - from[0], point[1] - from[1], point[2] - from[2]];
        let view = numbers(&frame["view"]);
        let angle = frame["camera"]["field_of_view"].as_f64().expect("an angle");
        let size = 0.5 * view[3] / (0.5 * angle).tan() / -dot(&away, &back);
        [view[0] + 0.5 * view[2] + size * dot(&away, &right), view[1] + 0.5 * view[3] - size * dot(&away, &up)]
    }

    /// Holds keys until the palm is near a position.
    fn brings_palm_to(&self, goal: [f64; 3]) {
        for _ in 0..60 {
            let frame =
                self.sees("a palm at rest", |frame| norm(&numbers(&frame["bodies"]["right"]["velocity"])) < 0.01);
            let palm = numbers(&frame["bodies"]["right"]["position"]);
            let rest = [goal[0] - palm[0], goal[1] - palm[1], goal[2] - palm[2]];
            let [right, _, back, _] = axes(&frame);
            let level = [-back[0] / back[0].hypot(back[2]), 0.0, -back[2] / back[0].hypot(back[2])];
            let parts = [dot(&rest, &right), rest[1], dot(&rest, &level)];
            let most = (0..3).max_by(|a, b| parts[*a].abs().total_cmp(&parts[*b].abs())).expect("three");
            if parts[most].abs() < 0.006 {
                return;
            }
            let keys = [["Left", "Right"], ["Next", "Prior"], ["Down", "Up"]][most];
            let key = keys[usize::from(parts[most] > 0.0)];
            self.xdo(&["keydown", key]);
            std::thread::sleep(Duration::from_secs_f64((0.7 * parts[most].abs() / 0.12).clamp(0.02, 0.6)));
            self.xdo(&["keyup", key]);
            self.rests(3);
        }
        panic!("the palm was not brought to {goal:?}: {}", self.frame()["bodies"]["right"]);
    }

    /// A picture of the window, taken with its key: width, height and pixels.
    fn picture(&self) -> (u32, Vec<u8>) {
        let pictures = || std::fs::read_dir(&self.folder).expect("a folder").flatten().map(|e| e.path());
        let before: Vec<PathBuf> = pictures().collect();
        self.key("i");
        let clock = Instant::now();
        loop {
            let new = pictures().find(|path| path.extension().is_some_and(|e| e == "png") && !before.contains(path));
            if let Some(read) = new.and_then(|path| read_png(&path)) {
                return read;
            }
            assert!(clock.elapsed() < Duration::from_secs(30), "no picture was written");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Person {
    fn drop(&mut self) {
        let _ = self.window.kill();
        let _ = self.window.wait();
        if !std::thread::panicking() {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

fn read_png(path: &Path) -> Option<(u32, Vec<u8>)> {
    let decoder = png::Decoder::new(BufReader::new(std::fs::File::open(path).ok()?));
    let mut reader = decoder.read_info().ok()?;
    let mut bytes = vec![0; reader.output_buffer_size()?];
    let info = reader.next_frame(&mut bytes).ok()?;
    Some((info.width, bytes))
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().map(|list| list.iter().filter_map(Value::as_f64).collect()).unwrap_or_default()
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

fn norm(a: &[f64]) -> f64 {
    dot(a, a).sqrt()
}

/// To the right, up and back of the camera of a frame, and where it is.
fn axes(frame: &Value) -> [[f64; 3]; 4] {
    let [eye, target] = ["eye", "target"].map(|name| numbers(&frame["camera"][name]));
    let away: [f64; 3] = std::array::from_fn(|i| eye[i] - target[i]);
    let back = away.map(|x| x / norm(&away));
    let level = back[2].hypot(back[0]);
    let right = [back[2] / level, 0.0, -back[0] / level];
    let up = [
        back[1] * right[2] - back[2] * right[1],
        back[2] * right[0] - back[0] * right[2],
        back[0] * right[1] - back[1] * right[0],
    ];
    [right, up, back, [eye[0], eye[1], eye[2]]]
}

fn height(frame: &Value, body: &str) -> f64 {
    numbers(&frame["bodies"][body]["position"])[1]
}

#[test]
fn the_mouse_turns_shifts_and_zooms_the_view() {
    let Some(person) = Person::opens((800, 500), &["ball"]) else { return };
    person.sees("the end of the scene", |frame| frame["over"] == true);
    let start = person.frame();
    let before = person.picture();
    let distance = |frame: &Value| {
        let [eye, target] = ["eye", "target"].map(|name| numbers(&frame["camera"][name]));
        norm(&[eye[0] - target[0], eye[1] - target[1], eye[2] - target[2]])
    };
    let middle = person.middle();
    person.drags(RIGHT, middle, [90.0, 20.0]);
    let turned = person.sees("another eye", |frame| frame["camera"]["eye"] != start["camera"]["eye"]);
    assert_eq!(turned["camera"]["target"], start["camera"]["target"]);
    assert!((distance(&turned) - distance(&start)).abs() < 1e-4);
    // A drag over the height of the view is half a turn.
    let angle = |frame: &Value| {
        let [_, _, back, _] = axes(frame);
        back[0].atan2(back[2])
    };
    let by = (angle(&start) - angle(&turned)).rem_euclid(std::f64::consts::TAU);
    let expected = std::f64::consts::PI * 90.0 / numbers(&start["view"])[3];
    assert!((by - expected).abs() < 0.1, "turned by {by}, expected {expected}");
    person.to(middle);
    person.xdo(&["click", "4"]);
    let near = person.sees("nearer", |frame| distance(frame) < 0.95 * distance(&start));
    person.xdo(&["click", "4"]);
    person.sees("still nearer", |frame| distance(frame) < 0.95 * distance(&near));
    person.xdo(&["click", "5"]);
    person.sees("back again", |frame| (distance(frame) / distance(&near) - 1.0).abs() < 0.01);
    // The picture has changed in the view, not in the panels below.
    let after = person.picture();
    let view = numbers(&start["view"]).iter().map(|x| *x as usize).collect::<Vec<_>>();
    let differing = |rows: std::ops::Range<usize>, columns: std::ops::Range<usize>| {
        let pixel = |picture: &(u32, Vec<u8>), x: usize, y: usize| {
            let at = 3 * (y * picture.0 as usize + x);
            i32::from(picture.1[at])
        };
        let places = rows.flat_map(|y| columns.clone().map(move |x| (x, y)));
        places.filter(|(x, y)| (pixel(&before, *x, *y) - pixel(&after, *x, *y)).abs() > 12).count()
    };
    let changed = differing(view[1]..view[1] + view[3], view[0]..view[0] + view[2]);
    assert!(changed > view[2] * view[3] / 50, "{changed} pixels of the view have changed");
    let below = differing(view[1] + view[3] + 2..person.size.1 as usize, 0..person.size.0 as usize);
    assert!(below < 100, "{below} pixels below the view have changed");
    person.drags("2", middle, [40.0, 0.0]);
    person.sees("another target", |frame| frame["camera"]["target"] != start["camera"]["target"]);
}

#[test]
fn keys_pause_step_and_switch_layers_and_laws() {
    let Some(person) = Person::opens((640, 400), &["play"]) else { return };
    person.key("space");
    let still = person.sees("a pause", |frame| frame["paused"] == true);
    person.key("period");
    person.sees("one step", |frame| frame["steps"].as_u64() == still["steps"].as_u64().map(|steps| steps + 1));
    let shows = |frame: &Value, layer: &str| frame["layers"].as_array().is_some_and(|l| l.iter().any(|x| x == layer));
    let mut delays = Vec::new();
    for on in [true, false, true, false] {
        let clock = Instant::now();
        person.key("2");
        person.sees("the layer of pressure", |frame| shows(frame, "pressure") == on);
        delays.push(clock.elapsed().as_secs_f64());
    }
    delays.sort_by(f64::total_cmp);
    println!("from a key to the screen: {:.0} ms (median of {delays:.3?})", 1e3 * delays[2]);
    assert_eq!(still["laws"][0], "aggregate");
    person.key("m");
    person.sees("the other method", |frame| frame["laws"][0] == "point");
    person.key("m");
    person.sees("the first method", |frame| frame["laws"][0] == "aggregate");
    for law in ["paper", "ellipsoid", "coulomb", "exact"] {
        person.key("f");
        person.sees(law, |frame| frame["laws"][1] == law);
    }
    person.key("space");
    let steps = person.frame()["steps"].as_u64();
    person.sees("it continues", |frame| frame["steps"].as_u64() > steps.map(|steps| steps + 5));
    person.key("u");
    let whole = person.sees("no panels", |frame| numbers(&frame["view"])[2] == 640.0);
    assert_eq!(numbers(&whole["view"]), [0.0, 0.0, 640.0, 400.0]);
}

#[test]
fn anyone_can_pick_up_the_cube_and_lift_it() {
    let Some(person) = Person::opens((800, 600), &["play"]) else { return };
    let start = person.frame();
    assert_eq!(start["taken"], 0, "the hand waits for the mouse");
    let palm = numbers(&start["bodies"]["right"]["position"]);
    let table = height(&start, "cube");
    // Over the cube: 8 cm down, 4 cm towards the fingers.
    person.brings_palm_to([palm[0], palm[1] - 0.02, palm[2] - 0.04]);
    person.brings_palm_to([palm[0], palm[1] - 0.08, palm[2] - 0.04]);
    person.xdo(&["keydown", "g"]);
    let closing = person.frame()["time"].as_f64().expect("a time");
    person.sees("closed fingers", |frame| frame["time"].as_f64().is_some_and(|time| time > closing + 2.5));
    // The mouse lifts it.
    person.drags(LEFT, person.middle(), [0.0, -190.0]);
    let lifted = person.sees("the cube 5 cm up", |frame| height(frame, "cube") > table + 0.05);
    assert!(height(&lifted, "right") > palm[1] - 0.04);
    person.xdo(&["keyup", "g"]);
    person.sees("the cube on the table", |frame| height(frame, "cube") < table + 0.03);
}

#[test]
fn the_palm_moves_in_six_directions_with_keys() {
    let Some(person) = Person::opens((480, 360), &["play"]) else { return };
    let [right, _, back, _] = axes(&person.frame());
    let level = [-back[0], 0.0, -back[2]];
    let directions = [
        ("Prior", [0.0, 1.0, 0.0]),
        ("Next", [0.0, -1.0, 0.0]),
        ("Right", right),
        ("Left", right.map(|x| -x)),
        ("Up", level),
        ("Down", level.map(|x| -x)),
    ];
    for (key, direction) in directions {
        let before = numbers(&person.frame()["bodies"]["right"]["position"]);
        person.xdo(&["keydown", key]);
        person.sees(key, |frame| {
            let now = numbers(&frame["bodies"]["right"]["position"]);
            let moved: Vec<f64> = now.iter().zip(&before).map(|(now, before)| now - before).collect();
            dot(&moved, &direction) > 0.015 * norm(&direction)
        });
        person.xdo(&["keyup", key]);
        person.sees("it stops", |frame| norm(&numbers(&frame["bodies"]["right"]["velocity"])) < 0.005);
    }
}

#[test]
fn the_mouse_pulls_an_object_with_a_spring() {
    let Some(person) = Person::opens((800, 600), &["play"]) else { return };
    let start = person.sees("the ball at rest", |frame| norm(&numbers(&frame["bodies"]["ball"]["velocity"])) < 1e-3);
    let ball = person.place(&numbers(&start["bodies"]["ball"]["position"]));
    // A click selects it.
    person.to(ball);
    person.rests(1);
    person.xdo(&["click", LEFT]);
    person.sees("the ball selected", |frame| frame["selected"] == "ball");
    person.xdo(&["keydown", "ctrl"]);
    person.rests(1);
    person.xdo(&["mousedown", LEFT]);
    person.sees("a spring", |frame| frame["pulled"] == true);
    for step in 1..=12 {
        person.to([ball[0], ball[1] - 12.0 * f64::from(step)]);
        person.rests(1);
    }
    person.sees("the ball in the air", |frame| height(frame, "ball") > height(&start, "ball") + 0.03);
    person.xdo(&["mouseup", LEFT]);
    person.xdo(&["keyup", "ctrl"]);
    person.sees("no spring", |frame| frame["pulled"] == false);
    person.sees("the ball on the table", |frame| height(frame, "ball") < height(&start, "ball") + 0.005);
}

#[test]
fn the_time_bar_of_a_recording_seeks() {
    let recording = std::env::temp_dir().join(format!("fingerpad-seek-{}.fpr", std::process::id()));
    let name = recording.to_string_lossy().into_owned();
    let out = fingerpad(&["run", "incline", "--record", &name], None).output().expect("the program runs");
    assert!(out.status.success(), "{}", message(&out));
    let Some(person) = Person::opens((800, 500), &[&name]) else { return };
    let seconds = person.frame()["seconds"].as_f64().expect("a length");
    person.sees("the end", |frame| frame["over"] == true);
    let slid = numbers(&person.frame()["bodies"]["slides"]["position"])[0];
    for part in [0.25, 0.75] {
        let bar = numbers(&person.frame()["controls"]["time"]);
        person.to([bar[0] + part * bar[2], bar[1] + 0.5 * bar[3]]);
        person.rests(2);
        person.xdo(&["click", LEFT]);
        // It plays on from there.
        let near = |frame: &Value| {
            frame["time"].as_f64().is_some_and(|t| t > (part - 0.08) * seconds && t < (part + 0.2) * seconds)
        };
        person.sees("that time", near);
        person.key("space");
        let there = person.sees("a pause", |frame| frame["paused"] == true);
        let gone = numbers(&there["bodies"]["slides"]["position"])[0];
        assert!((gone - slid).abs() > 1e-3, "the body is where it was then, not at the end: {gone}, {slid}");
        person.key("space");
        person.sees("it goes on", |frame| frame["paused"] == false);
    }
    let _ = std::fs::remove_file(recording);
}

#[test]
fn a_slider_changes_the_simulation() {
    let Some(person) = Person::opens((1000, 700), &["incline"]) else { return };
    person.key("r");
    person.rests(2);
    person.key("space");
    let start = person.sees("a pause", |frame| frame["paused"] == true);
    let x = |frame: &Value| numbers(&frame["bodies"]["stays"]["position"])[0];
    let slider = numbers(&start["controls"]["material.wood.friction"]);
    let at = |part: f64| [slider[0] + part * slider[2], slider[1] + 0.5 * slider[3]];
    // From 0.5 of 2 to the left end; the number at the right is a part of the slider.
    person.drags(LEFT, at(0.15), [-0.15 * slider[2], 0.0]);
    let slippery =
        person.sees("less friction", |frame| frame["parameters"]["material.wood.friction"].as_f64() < Some(0.2));
    assert_eq!(slippery["steps"], start["steps"], "without a restart");
    assert!((x(&slippery) - x(&start)).abs() < 1e-6);
    person.key("space");
    person.sees("the box slides that stayed before", |frame| (x(frame) - x(&start)).abs() > 0.05);
}

#[test]
fn a_saved_script_restarts() {
    let folder = std::env::temp_dir().join(format!("fingerpad-reload-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    let scene = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/stack.toml");
    std::fs::copy(scene, folder.join("stack.toml")).expect("the scene");
    let file = folder.join("own.rhai");
    let script = |word: &str| format!("scene(\"stack\");\nprint(\"{word}\");\nwait(60.0);\n");
    std::fs::write(&file, script("first")).expect("a file");
    let Some(person) = Person::opens((640, 400), &[&file.to_string_lossy()]) else { return };
    let says = |frame: &Value, word: &str| frame["messages"].to_string().contains(word);
    person.sees("its message", |frame| says(frame, "first"));
    std::fs::write(&file, script("second")).expect("a file");
    person.sees("the new message", |frame| says(frame, "second") && !says(frame, "first"));
    std::fs::write(&file, "scene(\"stack\");\nwiat(1.0);\n").expect("a file");
    let broken = person.sees("an error", |frame| frame["error"].is_string());
    assert!(broken["error"].to_string().contains("own.rhai:2:1"), "{}", broken["error"]);
    std::fs::write(&file, script("third")).expect("a file");
    person.sees("the corrected script", |frame| frame["error"].is_null() && says(frame, "third"));
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn memory_use_is_constant() {
    // Minutes in software: all frames only where a display was promised.
    let last = if std::env::var_os("FINGERPAD_EXPECT_DISPLAY").is_some() { 3_000 } else { 400 };
    let Some(person) = Person::opens((320, 240), &["ball"]) else { return };
    let (clock, middle) = (Instant::now(), person.middle());
    // The view turns all the time: a driver may keep something for every camera.
    person.to(middle);
    person.xdo(&["mousedown", RIGHT]);
    let mut turn = 0;
    while person.frame()["frame"].as_u64() < Some(last) {
        assert!(clock.elapsed() < Duration::from_secs(600), "{}", person.frame()["frame"]);
        turn += 1;
        person.to([middle[0] + f64::from(turn % 60), middle[1] + f64::from(turn % 7)]);
        if turn % 1_000 == 0 {
            person.key("r");
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    let frames = person.frames();
    let used = |frame: &Value| frame["memory_mb"].as_f64().expect("a number");
    let start = frames.iter().find(|frame| frame["frame"] == 200).map(used).expect("frame 200");
    let most = frames.iter().filter(|frame| frame["frame"].as_u64() > Some(200)).map(used).fold(0.0, f64::max);
    println!("{start:.0} MB after 200 frames, at most {most:.0} MB until frame {last}");
    assert!(most < start + 25.0, "{start:.0} MB after 200 frames, {most:.0} MB later");
}

#[test]
fn settings_are_saved_and_an_invalid_file_is_ignored() {
    let Some(person) = Person::opens((640, 400), &["stack"]) else { return };
    let file = person.folder.join("config/fingerpad/window.toml");
    person.key("2");
    person.sees("pressure", |frame| frame["layers"].to_string().contains("pressure"));
    let clock = Instant::now();
    while !std::fs::read_to_string(&file).is_ok_and(|text| text.contains("\"pressure\"")) {
        assert!(clock.elapsed() < Duration::from_secs(30), "the settings were not kept");
        std::thread::sleep(Duration::from_millis(50));
    }
    let again = |arguments: &[&str]| {
        let log = person.folder.join("again.jsonl");
        let name = log.to_string_lossy().into_owned();
        let arguments = [&["view", "stack", "--frames", "3", "--log", &name], arguments].concat();
        let mut command = fingerpad(&arguments, Some(&person.display.name));
        let out = within(
            spawn({
                command.env("XDG_CONFIG_HOME", person.folder.join("config"));
                command
            }),
            90,
        );
        let out = out.expect("an end after its frames");
        assert!(out.status.success(), "{}", message(&out));
        (std::fs::read_to_string(&log).expect("a log"), message(&out))
    };
    assert!(again(&[]).0.contains("\"pressure\""), "the next window shows it too");
    std::fs::write(&file, "layers = {{{").expect("a file");
    let (log, message) = again(&[]);
    assert!(!log.contains("\"pressure\"") && message.contains("the default settings are used"), "{message}");
    std::fs::write(&file, "layers = [\"pressure\", \"skin\"]").expect("a file");
    assert!(!again(&["--reset"]).0.contains("\"pressure\""), "forgotten");
}

#[test]
fn it_closes_by_its_key() {
    let Some(display) = Display::open() else { return };
    let mut window = spawn(fingerpad(&["view", "stack", "--size", "480x320"], Some(&display.name)));
    // Without a window manager nothing has the focus.
    let press = ["search", "--name", "fingerpad", "windowfocus", "key", "q"];
    let key = || Command::new("xdotool").args(press).env("DISPLAY", &display.name).stderr(Stdio::null()).status();
    if key().is_err() {
        let _ = (window.kill(), window.wait());
        return missing("there is no xdotool here");
    }
    // Keys before the window exists are lost.
    let clock = Instant::now();
    while window.try_wait().expect("a child").is_none() && clock.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(300));
        let _ = key();
    }
    let out = within(window, 20).expect("an end by the key");
    if message(&out).contains("no graphics adapter") {
        return missing("there is nothing here that draws");
    }
    assert_eq!(out.status.code(), Some(0), "{}", message(&out));
}
