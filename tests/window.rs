//! The window, through the program. Where there is no virtual display to open it on, that is said, and it is a failure only if
//! `FINGERPAD_EXPECT_DISPLAY` is set.
#![cfg(feature = "viewer")]

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

fn fingerpad(arguments: &[&str], display: Option<&str>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
    command.args(arguments).current_dir(env!("CARGO_MANIFEST_DIR"));
    command.env_remove("DISPLAY").env_remove("WAYLAND_DISPLAY").env_remove("WAYLAND_SOCKET");
    command.envs(display.map(|display| ("DISPLAY", display)));
    command
}

fn said(out: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&out.stdout), String::from_utf8_lossy(&out.stderr))
}

/// A display that nobody looks at.
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

/// Ends of a child that is given some time; one that takes longer is ended.
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
fn without_a_display_one_sentence_says_so() {
    for display in [None, Some(""), Some(":9731"), Some("nonsense")] {
        let out = fingerpad(&["view", "stack"], display).output().expect("the program runs");
        let said = said(&out);
        assert_eq!(out.status.code(), Some(2), "{said}");
        assert!(out.stdout.is_empty() && !said.contains("panicked"), "{said}");
        assert_eq!(said.trim().lines().count(), 1, "{said}");
        let sentence =
            ["no display", "no graphics adapter", "no window could be opened"].iter().any(|words| said.contains(words));
        assert!(sentence, "{said}");
    }
}

#[test]
fn what_cannot_be_shown_is_said_before_a_window_opens() {
    let broken = |arguments: &[&str], words: &str| {
        let out = fingerpad(arguments, None).output().expect("the program runs");
        assert!(out.status.code() == Some(2) && said(&out).contains(words), "{}", said(&out));
    };
    broken(&["view", "nothing"], "the name of a shipped scene");
    broken(&["view", "stack", "--show", "bones"], "there is no layer `bones`");
    broken(&["view", "stack", "--set", "dtt=1"], "unknown setting");
    broken(&["view", "stack", "--size", "10x10"], "expected WIDTHxHEIGHT");
}

/// Whether a window has drawn some frames and closed; not where nothing draws.
fn has_drawn(display: &Display, frames: u64, arguments: &[&str]) -> bool {
    let count = frames.to_string();
    let arguments = [&["view", "--frames", &count], arguments].concat();
    // In software, and beside other work, a frame can take seconds.
    let out =
        within(spawn(fingerpad(&arguments, Some(&display.name))), 60 + 6 * frames).expect("an end after its frames");
    if said(&out).contains("no graphics adapter") {
        missing("there is nothing here that draws");
        return false;
    }
    assert!(out.status.success(), "{}", said(&out));
    let line = String::from_utf8_lossy(&out.stdout).into_owned();
    let numbers: Vec<u64> = line.split_whitespace().filter_map(|word| word.parse().ok()).collect();
    assert!(line.starts_with(&format!("{frames} frames in ")) && numbers.len() >= 3 && numbers[1] > 0, "{line}");
    true
}

#[test]
fn it_draws_many_frames_and_every_layer() {
    let Some(display) = Display::open() else { return };
    // Two hundred take minutes where they are drawn in software: only where a display was promised.
    let many = if std::env::var_os("FINGERPAD_EXPECT_DISPLAY").is_some() { 200 } else { 10 };
    if has_drawn(&display, many, &["stack", "--size", "320x240"]) {
        has_drawn(&display, 6, &["ball", "--show", "all", "--size", "480x320"]);
    }
}

#[test]
fn it_closes_by_its_key() {
    let Some(display) = Display::open() else { return };
    let mut window = spawn(fingerpad(&["view", "stack", "--size", "480x320"], Some(&display.name)));
    // Without a window manager nothing has the focus by itself.
    let press = ["search", "--name", "fingerpad", "windowfocus", "key", "q"];
    let key = || Command::new("xdotool").args(press).env("DISPLAY", &display.name).stderr(Stdio::null()).status();
    if key().is_err() {
        let _ = (window.kill(), window.wait());
        return missing("there is no xdotool here");
    }
    // Keys that come before the window is there are lost.
    let clock = Instant::now();
    while window.try_wait().expect("a child").is_none() && clock.elapsed() < Duration::from_secs(120) {
        std::thread::sleep(Duration::from_millis(300));
        let _ = key();
    }
    let out = within(window, 20).expect("an end by the key");
    if said(&out).contains("no graphics adapter") {
        return missing("there is nothing here that draws");
    }
    assert_eq!(out.status.code(), Some(0), "{}", said(&out));
}
