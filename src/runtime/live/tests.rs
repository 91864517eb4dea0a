//! The simulation behind the window, without the window.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::parameters;
use super::simulation::{self, Ended, LiveOptions, Simulation};
use crate::assets::{Setting, load_builtin_scene};
use crate::runtime::Session;
use crate::sync::Latest;
use crate::viewer::Camera;
use crate::viewer::window::{
    Command, Controls, Key, Orbit, PointerButton, Report, UserAction, WindowInput, WindowLink, manual,
};

fn load(name: &str) -> Session {
    Session::load(Path::new(name), &[]).unwrap_or_else(|error| panic!("{error:#}"))
}

fn start(name: &str) -> (WindowLink, std::thread::JoinHandle<Ended>) {
    simulation::start(load(name), LiveOptions::default()).expect("a thread")
}

/// Waits for a report of which something is true.
fn wait(link: &WindowLink, what: &str, is_true: impl Fn(&Report) -> bool) -> Report {
    let clock = Instant::now();
    while clock.elapsed() < Duration::from_secs(60) {
        if let Some(report) = link.reports.take().filter(|report| is_true(report)) {
            return *report;
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    panic!("it never came to this: {what}");
}

#[test]
fn commands_take_effect() {
    let (link, thread) = start("stack");
    wait(&link, "it steps by itself", |report| report.steps > 10);
    link.send(Command::Pause);
    let still = wait(&link, "it stands still", |report| report.paused);
    link.send(Command::Step);
    link.send(Command::Step);
    let after = wait(&link, "two steps", |report| report.steps == still.steps + 2);
    assert!(after.paused && after.frame.time > still.frame.time && !after.history.is_empty());
    link.send(Command::Speed(0.02));
    link.send(Command::Speed(f64::NAN));
    wait(&link, "slowly", |report| report.speed == 0.02);
    link.send(Command::Set(Setting::new("solver.tolerance", "1e-4")));
    let value = |report: &Report, key: &str| report.parameters.iter().find(|p| p.key == key).map(|p| p.value);
    let changed = wait(&link, "a tolerance", |report| value(report, "solver.tolerance") == Some(1e-4));
    assert_eq!((changed.steps, changed.generation), (after.steps, after.generation), "without a new start");
    link.send(Command::Restart);
    let again = wait(&link, "a new start", |report| report.generation > changed.generation);
    assert!(again.steps < changed.steps && !again.paused);
    assert_eq!(value(&again, "solver.tolerance"), Some(1e-4), "what was set stays");
    link.send(Command::Next(1));
    wait(&link, "the next scene", |report| &*report.name == "table");
    link.send(Command::Quit);
    let ended = thread.join().expect("a clean end");
    assert!(ended.costs.steps() > 2 && ended.costs.reports() > 2);
}

#[test]
fn seeking_goes_to_any_time_and_stops_at_the_end() {
    let (link, thread) = start("incline");
    link.send(Command::Pause);
    link.send(Command::Seek(0.25));
    let there = wait(&link, "ahead", |report| report.frame.time > 0.245);
    assert!((there.frame.time - 0.25).abs() < 0.006 && there.paused, "{}", there.frame.time);
    link.send(Command::Seek(0.1));
    let back = wait(&link, "back", |report| report.generation > there.generation && report.frame.time > 0.095);
    assert!((back.frame.time - 0.1).abs() < 0.006);
    let length = back.seconds.expect("a length");
    link.send(Command::Seek(length));
    let end = wait(&link, "the end", |report| report.over);
    assert!(end.card.is_some_and(|card| card.success.is_none() && !card.lines.is_empty()));
    drop(link);
    thread.join().expect("who has nobody to talk to ends too");
}

#[test]
fn a_slow_window_does_not_block_the_simulation() {
    let (link, thread) = start("stack");
    link.send(Command::Speed(64.0));
    let (clock, mut looks) = (Instant::now(), 0);
    loop {
        std::thread::sleep(Duration::from_millis(300));
        looks += 1;
        let steps = link.reports.take().map_or(0, |report| report.steps);
        if steps > 20 || clock.elapsed() > Duration::from_secs(60) {
            break;
        }
    }
    link.send(Command::Quit);
    let ended = thread.join().expect("a clean end");
    let (steps, reports) = (ended.costs.steps(), ended.costs.reports());
    assert!(steps > 20 && reports > looks, "{steps} steps, {reports} reports");
}

#[test]
fn a_report_reuses_the_memory_of_the_last() {
    let reports = Arc::new(Latest::default());
    let mut simulation = Simulation::new(load("play"), LiveOptions::default(), Arc::clone(&reports));
    let mut places = Vec::new();
    for _ in 0..6 {
        (0..500).for_each(|_| simulation.step());
        simulation.report();
        let report: Box<Report> = reports.take().expect("a report");
        let hand = &report.frame.hands[0];
        let own = [
            report.history.as_ptr().addr(),
            hand.displacements[3].as_ptr().addr(),
            report.frame.bodies.as_ptr().addr(),
        ];
        let shared = [report.parameters.as_ptr().addr(), report.name.as_ptr().addr(), report.hands.as_ptr().addr()];
        places.push((own, shared));
        assert!(report.history.len() == 400 && report.parameters.len() > 3 && &*report.name == "play");
        reports.give_back(report);
    }
    assert!(places.windows(2).all(|two| two[0] == two[1]), "{places:?}");
}

/// A folder of this test's own.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("fingerpad-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    folder
}

/// Writes a file so that it is seen to be newer.
fn write(file: &Path, text: &str) {
    std::thread::sleep(Duration::from_millis(30));
    std::fs::write(file, text).expect("a file");
}

#[test]
fn a_changed_file_is_reloaded_and_errors_are_reported() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes/stack.toml"));
    let (text, folder) = (text.expect("the scene"), folder("reload"));
    let file = folder.join("own.toml");
    write(&file, &text);
    let (link, thread) = start(&file.to_string_lossy());
    let first = wait(&link, "it steps", |report| report.steps > 1);
    write(&file, &text.replacen("seconds", "secnods", 1));
    let broken = wait(&link, "an error", |report| report.error.is_some());
    assert!(broken.error.is_some_and(|error| error.contains("secnods") && error.contains("own.toml")));
    assert_eq!(broken.generation, first.generation, "what there was stays");
    write(&file, &text.replacen("seconds", "seconds = 7.5 #", 1));
    let mended = wait(&link, "the new one", |report| report.generation > first.generation);
    assert_eq!((mended.error, mended.seconds), (None, Some(7.5)));
    link.send(Command::Quit);
    thread.join().expect("a clean end");
    let _ = std::fs::remove_dir_all(folder);
}

#[cfg(feature = "script")]
#[test]
fn a_script_reports_its_phase_result_and_errors() {
    let scenes = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
    let folder = folder("script");
    std::fs::copy(scenes.join("stack.toml"), folder.join("stack.toml")).expect("the scene");
    let file = folder.join("own.rhai");
    write(&file, "scene(\"stack\");\nphase(\"look\");\nprint(\"here\");\nwait(0.1);\n");
    let (link, thread) = start(&file.to_string_lossy());
    let end = wait(&link, "its end", |report| report.over);
    assert_eq!((end.phase.as_deref(), end.seconds), (Some("look"), None));
    assert!(end.messages.iter().any(|line| line.contains("here")));
    assert!(end.card.is_some_and(|card| card.success == Some(true) && card.title == "own"));
    write(&file, "scene(\"stack\");\nwiat(0.1);\n");
    let broken = wait(&link, "an error", |report| report.error.is_some());
    let error = broken.error.expect("an error");
    assert!(error.contains("own.rhai:2:1") && error.contains("    2 | wiat(0.1);") && error.contains('^'), "{error}");
    link.send(Command::Quit);
    assert_eq!(thread.join().expect("a clean end").success, Some(true));
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn parameters_change_between_steps_or_say_that_they_cannot() {
    let mut scene = load_builtin_scene("play", &[]).expect("a scene").expect("a sound one");
    let set = |scene: &mut _, key: &str, value: &str| parameters::change(scene, &Setting::new(key, value));
    for (key, value) in [
        ("method", "point"),
        ("friction", "coulomb"),
        ("pressure", "uniform"),
        ("gravity", "[0.0, -1.62, 0.0]"),
        ("material.wood.friction", "0.1"),
        ("solver.tolerance", "1e-5"),
    ] {
        assert!(set(&mut scene, key, value), "{key}");
    }
    assert_eq!(parameters::laws(&scene), ["point", "coulomb", "uniform"]);
    let value = |key: &str| parameters::of(&scene).into_iter().find(|p| p.key == key).map(|p| p.value);
    assert_eq!((value("gravity"), value("material.wood.friction")), (Some(1.62), Some(0.1)));
    assert_eq!(value("body.cube.mass"), Some(0.06));
    for (key, value) in [
        ("body.cube.mass", "1.0"),
        ("material.gold.friction", "0.1"),
        ("material.wood.friction", "-1"),
        ("method", "none"),
        ("gravity", "[1, 2]"),
        ("solver.tolerance", "0"),
    ] {
        assert!(!set(&mut scene, key, value), "{key}={value}");
    }
}

#[test]
fn the_manual_is_current() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/window.md"));
    assert!(text.expect("the page").ends_with(&manual()), "docs/window.md should end with\n{}", manual());
}

/// Someone at mouse and keyboard, looking from the thumb's side, level with the table.
struct Person {
    simulation: Simulation,
    controls: Controls,
    orbit: Orbit,
    pointer: [f32; 2],
}

impl Person {
    fn does(&mut self, input: WindowInput) {
        let palm = self.simulation.palm().expect("a hand");
        if let Some(wish) = self.controls.take(input).and_then(|act: UserAction| self.orbit.steer(&act, &palm)) {
            self.simulation.obey(Command::Steer(wish));
        }
    }

    fn drags(&mut self, steps: usize, by: [f32; 2]) {
        self.does(WindowInput::Button(PointerButton::Left, true));
        for _ in 0..steps {
            self.pointer = [self.pointer[0] + by[0] / steps as f32, self.pointer[1] + by[1] / steps as f32];
            self.does(WindowInput::Pointer(self.pointer));
            self.waits(1);
        }
        self.does(WindowInput::Button(PointerButton::Left, false));
    }

    fn waits(&mut self, steps: usize) {
        (0..steps).for_each(|_| self.simulation.step());
    }

    fn height(&self) -> f64 {
        self.simulation.height("cube").expect("the cube")
    }
}

#[test]
fn anyone_can_pick_up_the_cube() {
    let simulation = Simulation::new(load("play"), LiveOptions::default(), Arc::new(Latest::default()));
    let camera = Camera {
        eye: [-0.8, 0.1, 0.0],
        target: [0.0, 0.1, 0.0],
        up: [0.0, 1.0, 0.0],
        field_of_view: 30_f32.to_radians(),
    };
    let mut orbit = Orbit::of(&camera);
    orbit.set_height(800);
    // The hand is taken over from the start: nobody else moves it.
    let mut controls = Controls::default();
    controls.driving = true;
    let mut person = Person { simulation, controls, orbit, pointer: [400.0, 400.0] };
    person.does(WindowInput::Pointer([400.0, 400.0]));
    let start = person.height();
    // Down to the cube, and over it: eight centimetres down, four towards the fingers.
    person.drags(80, [-75.0, 150.0]);
    person.waits(20);
    person.does(WindowInput::Down(Key::Char('g')));
    person.waits(220);
    person.drags(100, [0.0, -190.0]);
    person.waits(80);
    let lifted = person.height() - start;
    assert!(lifted > 0.06, "the cube was lifted by {:.1} mm", 1e3 * lifted);
    person.does(WindowInput::Up(Key::Char('g')));
    person.waits(100);
    assert!(person.height() < start + 0.04, "it is still {:.1} mm up", 1e3 * (person.height() - start));
}

#[test]
fn the_mouse_moves_the_palm_while_a_glove_moves_the_fingers() {
    use crate::tracking::{ANGLES, Driven, HandSample};
    use crate::viewer::window::Steer;
    let driven = Driven { palm: [false; 2], fingers: [true; 2] };
    let session =
        Session::load_with_devices(Path::new("play"), &[], driven).unwrap_or_else(|error| panic!("{error:#}"));
    let mut simulation = Simulation::new(session, LiveOptions::default(), Arc::new(Latest::default()));
    let start = simulation.palm().expect("the palm is driven from the start");
    let mut worn = simulation.tracked_angles();
    simulation.obey(Command::Steer(Steer::Glide(crate::math::Vec3::new(0.0, 0.1, 0.0), Default::default())));
    for step in 1..=100 {
        worn[4] += 0.004;
        let time = 0.01 * f64::from(step);
        simulation.feed(
            "right",
            HandSample { angles: Some(worn), palm: None, ..HandSample::full(time, Default::default(), [0.0; ANGLES]) },
        );
        simulation.step();
    }
    let moved = simulation.palm().expect("a palm") - start;
    assert!((moved.y - 0.1).abs() < 0.02, "the palm moved by {moved}");
    assert!((simulation.tracked_angles()[4] - worn[4]).abs() < 1e-12, "the glove keeps the fingers");
}

#[test]
fn any_column_can_be_plotted_and_bodies_are_listed() {
    let reports = Arc::new(Latest::default());
    let mut simulation = Simulation::new(load("play"), LiveOptions::default(), Arc::clone(&reports));
    simulation.obey(Command::Plot(vec!["cube.y".into(), "no such column".into()]));
    (0..20).for_each(|_| simulation.step());
    simulation.report();
    let report = reports.take().expect("a report");
    assert!(report.columns.iter().any(|name| name == "cube.y") && report.columns.len() > 100);
    assert_eq!(report.traces.len(), 1);
    assert!(report.traces[0].values.len() == 20 && (report.traces[0].values[19] - 0.0225).abs() < 1e-3);
    let names: Vec<&str> = report.bodies.iter().map(|body| body.name.as_str()).collect();
    assert_eq!(names, ["right", "cube", "ball", "bar", "ground"]);
    assert_eq!(report.bodies.len(), report.motions.len());
}
