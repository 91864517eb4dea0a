use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kiss3d::context::Context;
use kiss3d::post_processing::Tonemap;
use kiss3d::window::{CanvasSetup, NumSamples, Window};

use super::canvas::Canvas;
use super::controls::Controls;
use super::events::Events;
use super::eye::lens;
use super::keys::Act;
use super::link::{Command, Link, Report};
use super::orbit::Orbit;
use super::panels::{Panels, SIDE};
use super::puppet::Steer;
use crate::assets::Setting;
use crate::math::Vec3;
use crate::viewer::adapter;
use crate::viewer::camera::View;
use crate::viewer::{Camera, Layers, Look, Picture};

/// Why there is no window.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// There is no screen to show it on.
    #[error("there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set); `fingerpad render` draws without one")]
    NoDisplay,
    /// Neither a graphics card's driver nor a software one is installed.
    #[error("{0}")]
    NoAdapter(crate::viewer::ViewerError),
    /// The display does not answer, or not in a way that something can be drawn on it.
    #[error("no window could be opened on the display; is DISPLAY or WAYLAND_DISPLAY that of a running one?")]
    NotOpened,
    /// The display or the driver gave up.
    #[error("the window failed: {0}")]
    Failed(String),
}

/// How a window is opened.
pub struct Options<'o> {
    /// Its title.
    pub title: String,
    /// Width and height in pixels.
    pub size: (u32, u32),
    /// Layers that are shown at first.
    pub layers: Layers,
    /// How near a scene that asks for no place of the camera is seen at first: 1 just fits what it starts with.
    pub zoom: f64,
    /// Closes after so many frames; rests as long as it draws.
    pub frames: Option<u64>,
    /// Keeps a picture, and says where.
    pub save: &'o mut dyn FnMut(&Picture) -> Result<String, String>,
}

/// What became of a window.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Shown {
    /// Frames drawn.
    pub frames: u64,
    /// Time that it was open, s.
    pub seconds: f64,
}

/// Frames are drawn no more often than this, s.
const FRAME: f64 = 1.0 / 60.0;
/// Factor between two speeds.
const FASTER: f64 = 2.0;

/// What each law can be, in the order in which a key goes through them.
const LAWS: [(&str, &[&str]); 3] = [
    ("method", &["aggregate", "point"]),
    ("friction", &["exact", "paper", "ellipsoid", "coulomb"]),
    ("pressure", &["nonuniform", "uniform"]),
];

/// Whether a window can be opened: there must be a display and something that draws.
pub fn probe() -> Result<(), WindowError> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(all(unix, not(target_os = "macos"))) && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        return Err(WindowError::NoDisplay);
    }
    kiss3d::pollster::block_on(adapter::find()).map(drop).map_err(WindowError::NoAdapter)
}

/// Opens a window on a simulation, and returns when it is closed. The simulation is told to quit then.
///
/// kiss3d and the crates below it panic where there is no display after all; that ends as an error here.
pub fn show(link: &Link, options: Options<'_>) -> Result<Shown, WindowError> {
    let shown = probe().and_then(|()| {
        let said = Arc::new(Mutex::new(String::new()));
        let hook = std::panic::take_hook();
        let (own, thread) = (Arc::clone(&said), std::thread::current().id());
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().id() == thread
                && let Ok(mut said) = own.lock()
            {
                *said = panic.payload_as_str().unwrap_or("the renderer panicked").replace('\n', " ");
            }
        }));
        let mut is_open = false;
        let shown = catch_unwind(AssertUnwindSafe(|| kiss3d::pollster::block_on(run(link, options, &mut is_open))));
        std::panic::set_hook(hook);
        let said = said.lock().map(|said| said.clone()).unwrap_or_default();
        shown.unwrap_or(Err(if is_open { WindowError::Failed(said) } else { WindowError::NotOpened }))
    });
    link.send(Command::Quit);
    shown
}

async fn run(link: &Link, options: Options<'_>, is_open: &mut bool) -> Result<Shown, WindowError> {
    let setup = CanvasSetup { vsync: true, samples: NumSamples::One, ..CanvasSetup::default() };
    let mut window = Window::new_with_setup(&options.title, options.size.0, options.size.1, setup).await;
    *is_open = true;
    let context = Context::get();
    let fault = adapter::watch(&context.device);
    light(&mut window, context.adapter.get_info().device_type == wgpu::DeviceType::Cpu);
    let mut screen = Screen::new(link, options.layers, options.zoom, (window.width(), window.height()));
    let start = Instant::now();
    let mut frames = 0;
    loop {
        let clock = Instant::now();
        link.draws(true);
        let goes_on = screen.frame(&mut window).await;
        link.draws(false);
        if let Some(message) = fault.lock().ok().and_then(|fault| fault.clone()) {
            return Err(WindowError::Failed(message));
        }
        frames += 1;
        if std::mem::take(&mut screen.wants_picture) {
            screen.panels.note = Some(picture(&window, &mut *options.save));
        }
        if !goes_on || screen.closed || options.frames.is_some_and(|most| frames >= most) {
            break;
        }
        let spent = clock.elapsed().as_secs_f64();
        // Who counts frames compares steps with drawing and without: none is drawn for half of the time.
        let rest = if options.frames.is_some() { spent } else { 0.0 };
        std::thread::sleep(Duration::from_secs_f64(rest.max(FRAME - spent)));
    }
    Ok(Shown { frames, seconds: start.elapsed().as_secs_f64() })
}

/// As pictures are lit, without what costs much and is not seen here.
fn light(window: &mut Window, in_software: bool) {
    window.set_tonemap(Tonemap::None);
    window.set_ambient(0.42);
    window.set_bloom_enabled(false);
    window.set_transmission_enabled(false);
    window.set_shadow_resolution(if in_software { 1024 } else { 2048 });
    window.set_shadow_atlas_layers(4);
    window.set_shadow_softness(1.5);
    window.set_shadow_distance(3.0 * View::DISTANCE);
    window.set_first_cascade_far_bound(1.4 * View::DISTANCE);
}

fn picture(window: &Window, save: &mut dyn FnMut(&Picture) -> Result<String, String>) -> String {
    let mut pixels = Vec::new();
    window.snap(&mut pixels);
    let picture = Picture::averaged(&pixels, (window.width(), window.height()), 1);
    save(&picture).unwrap_or_else(|error| error)
}

/// What is on the screen.
struct Screen<'l> {
    link: &'l Link,
    zoom: f64,
    layers: Layers,
    orbit: Orbit,
    first: Orbit,
    follows: bool,
    palm: Option<Vec3>,
    canvas: Canvas,
    report: Box<Report>,
    controls: Controls,
    events: Events,
    panels: Panels,
    wants_picture: bool,
    closed: bool,
}

impl<'l> Screen<'l> {
    fn new(link: &'l Link, layers: Layers, zoom: f64, size: (u32, u32)) -> Self {
        let camera = Camera {
            eye: [0.3, 0.25, 0.4],
            target: [0.0, 0.1, 0.0],
            up: [0.0, 1.0, 0.0],
            field_of_view: 28_f32.to_radians(),
        };
        let orbit = Orbit::of(&camera);
        Self {
            link,
            zoom,
            layers,
            orbit,
            first: orbit,
            follows: false,
            palm: None,
            canvas: Canvas::new(&camera, size),
            report: Box::default(),
            controls: Controls::default(),
            events: Events::default(),
            panels: Panels::default(),
            wants_picture: false,
            closed: false,
        }
    }

    async fn frame(&mut self, window: &mut Window) -> bool {
        let size = (window.width(), window.height());
        self.orbit.set_height(size.1);
        self.receive(size);
        for act in self.events.take(window, &mut self.controls) {
            self.act(act);
        }
        let mut wishes = Default::default();
        window.draw_ui(|context| wishes = self.panels.show(context, &self.report, &self.layers));
        let super::panels::Wishes { acts, commands } = wishes;
        acts.into_iter().for_each(|act| self.act(act));
        commands.into_iter().for_each(|command| self.link.send(command));

        let camera = self.orbit.camera();
        let (mut eye, distance) = lens(&camera, size);
        if let Some(stage) = &self.report.stage {
            let mut figure = stage.figure(&self.report.frame, &self.layers, camera);
            figure.size = size;
            // What cannot be drawn is not: the last good frame stays.
            if figure.check().is_ok() {
                let marked = self.report.taken.and(self.palm);
                if let Some(height) = stage.ground(&self.report.frame) {
                    self.canvas.mark_ground(height, !stage.has_table(), marked, &eye, window);
                }
                self.canvas.show(figure, &eye, distance, window);
            }
        }
        window.render_3d(&mut self.canvas.scene, &mut eye).await
    }

    /// Takes the newest report, if there is one.
    fn receive(&mut self, size: (u32, u32)) {
        let Some(newest) = self.link.reports.take() else { return };
        let old = std::mem::replace(&mut self.report, newest);
        if old.name != self.report.name {
            self.aim(size);
        }
        let moved = self.report.palm.zip(self.palm).map(|(now, before)| now - before);
        self.palm = self.report.palm;
        if let Some(by) = moved.filter(|_| self.follows && old.generation == self.report.generation) {
            self.orbit.shift(by);
        }
        self.controls.driving = self.report.taken.is_some();
        self.link.reports.give_back(old);
    }

    /// Looks at a scene that is new.
    fn aim(&mut self, size: (u32, u32)) {
        let Some(stage) = &self.report.stage else { return };
        let aspect = f64::from(size.0) / f64::from(size.1.max(1));
        let fitted = || stage.camera([&self.report.frame], &Look { aspect, zoom: self.zoom, ..stage.look() });
        let camera = stage.viewpoint().unwrap_or_else(fitted);
        self.orbit = Orbit::of(&camera);
        self.orbit.set_height(size.1);
        // In the middle of what the panel at the right leaves free; a small window has no such room.
        if size.0 as f32 > 3.0 * SIDE {
            self.orbit.pan([-0.5 * SIDE, 0.0]);
        }
        self.first = self.orbit;
        self.canvas = Canvas::new(&camera, size);
    }

    fn act(&mut self, act: Act) {
        let steer = |wish: Steer| self.link.send(Command::Steer(wish));
        if let Some(wish) = self.orbit.steer(&act, &self.palm.unwrap_or_default()) {
            return steer(wish);
        }
        match act {
            Act::Pause => self.link.send(Command::Pause),
            Act::Step => self.link.send(Command::Step),
            Act::Speed(by) => self.link.send(Command::Speed(self.report.speed * FASTER.powi(by))),
            Act::Restart => self.link.send(Command::Restart),
            Act::Next(by) => self.link.send(Command::Next(by)),
            Act::Law(number) => {
                let ((key, values), now) = (LAWS[number], self.report.laws[number]);
                let at = values.iter().position(|value| *value == now).map_or(0, |at| at + 1);
                self.link.send(Command::Set(Setting::new(key, values[at % values.len()])));
            }
            Act::Layer(number) => {
                let layer = Layers::SWITCHES[number].1(&mut self.layers);
                *layer = !*layer;
            }
            Act::TakeHand => {
                let next = self.report.taken.map_or(0, |hand| hand + 1);
                steer(Steer::Take(Some(next).filter(|next| *next < self.report.hands.len())));
            }
            Act::Steer(_) | Act::Drag(_) | Act::Push(_) | Act::Twist(_) => {}
            Act::Orbit(by) => self.orbit.turn(by),
            Act::Pan(by) => self.orbit.pan(by),
            Act::Zoom(factor) => self.orbit.zoom(factor),
            Act::ResetCamera => self.orbit = self.first,
            Act::Follow => self.follows = !self.follows,
            Act::Panels => self.panels.hidden = !self.panels.hidden,
            Act::Help => self.panels.help = !self.panels.help,
            Act::Picture => self.wants_picture = true,
            Act::Quit if self.panels.help => self.panels.help = false,
            Act::Quit => self.closed = true,
        }
    }
}
