use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use kiss3d::context::Context;
use kiss3d::egui::vec2;
use kiss3d::post_processing::Tonemap;
use kiss3d::window::{CanvasSetup, NumSamples, Window};

use super::controls::Controls;
use super::events::Events;
use super::kept::WindowSettings;
use super::keys::UserAction;
use super::layout::{Wanted, WindowLayout};
use super::link::{Command, Pull, Report, WindowLink};
use super::orbit::Orbit;
use super::panels::Panels;
use super::puppet::Steer;
use super::quality::Quality;
use super::scene_view::{Ground, OverlayLines, SceneView, passes};
use crate::assets::Setting;
use crate::body::BodyId;
use crate::math::Vec3;
use crate::viewer::adapter;
use crate::viewer::figure::to_f32;
use crate::viewer::{Camera, CameraPlacement, Colour, Figure, Layers, Picture};

/// Why no window could be shown.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WindowError {
    /// No display.
    #[error("there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set); `fingerpad render` draws without one")]
    NoDisplay,
    /// Neither a graphics driver nor a software renderer is installed.
    #[error("{0}")]
    NoAdapter(crate::viewer::ViewerError),
    /// The display does not respond, or has no usable surface.
    #[error("cannot open a window; check that DISPLAY or WAYLAND_DISPLAY names a running display")]
    NotOpened,
    /// The display or the driver failed.
    #[error("the window failed: {0}")]
    Failed(String),
}

/// Callback for every frame and its report.
pub type FrameLog<'o> = dyn FnMut(&Report, &Drawn) + 'o;

/// Options of a window.
pub struct WindowOptions<'o> {
    /// Its title.
    pub title: String,
    /// Persistent settings.
    pub kept: WindowSettings,
    /// Initial zoom for a scene without a camera: 1 fits its initial state.
    pub zoom: f64,
    /// Close after this many frames; pauses as long as it draws.
    pub frames: Option<u64>,
    /// Saves a picture and returns a message with its path.
    pub save: &'o mut dyn FnMut(&Picture) -> std::io::Result<String>,
    /// Saves the settings.
    pub keep: &'o mut dyn FnMut(&WindowSettings),
    /// Called for every frame.
    pub log: Option<&'o mut FrameLog<'o>>,
}

/// Data of a drawn frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Drawn {
    /// Frame number, from 1.
    pub frame: u64,
    /// Mean time between frames, s.
    pub period: f64,
    /// Resolution scale of the 3D view along each side.
    pub scale: f32,
    /// Whether the adapter is a software renderer.
    pub in_software: bool,
    /// Parts of the frame and their times, s.
    pub parts: Vec<(&'static str, f64)>,
    /// The camera.
    pub camera: Option<Camera>,
    /// Layers that are shown.
    pub layers: Option<Layers>,
    /// Rectangle of the 3D view in the window: left, top, width and height in pixels.
    pub view: [f32; 4],
    /// The selected body.
    pub selected: Option<String>,
    /// Rectangles of sliders by what they change: left, top, width and height in pixels.
    pub controls: Vec<(String, [f32; 4])>,
}

/// Summary of a window.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Shown {
    /// Frames drawn.
    pub frames: u64,
    /// Time it was open, s.
    pub seconds: f64,
    /// Parts of a frame and their mean times, s.
    pub parts: Vec<(&'static str, f64)>,
    /// Final resolution scale.
    pub scale: f32,
}

/// Minimum frame interval, s, with and without a graphics card.
const FRAME_INTERVAL: f64 = 1.0 / 60.0;
const SOFTWARE_FRAME: f64 = 1.0 / 30.0;
/// Delay before changed settings are saved, s.
const KEEP: f64 = 1.0;
/// Factor between two speeds.
const FASTER: f64 = 2.0;
/// Colour of the spring on an object, and of the axes of a selected body.
const SPRING: Colour = [0.95, 0.45, 0.05];
const AXES: [Colour; 3] = [[0.85, 0.15, 0.15], [0.15, 0.60, 0.20], [0.15, 0.35, 0.85]];
/// Length of these axes, m.
const AXIS_LENGTH: f64 = 0.03;

/// Values of each law, in the order of the key.
const LAWS: [(&str, &[&str]); 3] = [
    ("method", &["aggregate", "point"]),
    ("friction", &["exact", "paper", "ellipsoid", "coulomb"]),
    ("pressure", &["nonuniform", "uniform"]),
];

/// Whether a window can be opened: needs a display and a graphics adapter.
pub fn probe() -> Result<(), WindowError> {
    found().map(drop)
}

/// Whether rendering is done in software.
fn found() -> Result<bool, WindowError> {
    let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    if cfg!(all(unix, not(target_os = "macos"))) && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
        return Err(WindowError::NoDisplay);
    }
    let (_, adapter) = kiss3d::pollster::block_on(adapter::find()).map_err(WindowError::NoAdapter)?;
    Ok(is_software(&adapter))
}

fn is_software(adapter: &wgpu::Adapter) -> bool {
    adapter.get_info().device_type == wgpu::DeviceType::Cpu
}

/// Lowers the priority of this thread, and of the threads that a software driver starts from it, below the simulation.
fn yield_processor() {
    #[cfg(target_os = "linux")]
    {
        /// Niceness; 0 is the default, 19 the lowest priority.
        const NICE: i32 = 8;
        // SAFETY: a system call with integer arguments only. On Linux it applies to the calling thread and is inherited
        // by threads it starts.
        unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, NICE) };
    }
}

/// Opens a window on a simulation and returns when it is closed; the simulation quits then.
///
/// kiss3d and its dependencies panic without a display; this becomes an error here.
pub fn show(link: &WindowLink, options: WindowOptions<'_>) -> Result<Shown, WindowError> {
    let shown = found().and_then(|in_software| {
        if in_software {
            yield_processor();
        }
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

async fn run(link: &WindowLink, mut options: WindowOptions<'_>, is_open: &mut bool) -> Result<Shown, WindowError> {
    let setup = CanvasSetup { vsync: true, samples: NumSamples::One, ..CanvasSetup::default() };
    let (width, height) = options.kept.size;
    let mut window = Window::new_with_setup(&options.title, width, height, setup).await;
    *is_open = true;
    window.set_tonemap(Tonemap::None);
    window.set_bloom_enabled(false);
    let context = Context::get();
    let in_software = is_software(&context.adapter);
    let fault = adapter::watch(&context.device);
    let mut screen = ShownScene::new(link, options.kept.clone(), options.zoom, in_software).await;
    let (mut kept, mut kept_at) = (options.kept.clone(), Instant::now());
    let start = Instant::now();
    let mut sums: Vec<(&'static str, f64)> = Vec::new();
    loop {
        let clock = Instant::now();
        link.draws(true);
        let goes_on = screen.frame(&mut window).await;
        if in_software {
            // A software driver accepts frames faster than it draws them: the display would lag, and memory would grow.
            let wait = Instant::now();
            let _ = context.device.poll(wgpu::PollType::wait_indefinitely());
            screen.drawn.parts.push(("wait for the driver", wait.elapsed().as_secs_f64()));
        }
        link.draws(false);
        if let Some(message) = fault.lock().ok().and_then(|fault| fault.clone()) {
            return Err(WindowError::Failed(message));
        }
        let spent = clock.elapsed().as_secs_f64();
        screen.finish(spent);
        add(&mut sums, &screen.drawn.parts);
        if let Some(log) = &mut options.log {
            log(&screen.report, &screen.drawn);
        }
        if std::mem::take(&mut screen.wants_picture) {
            screen.panels.note = Some(picture(&window, &mut *options.save));
        }
        if !goes_on || screen.closed || options.frames.is_some_and(|most| screen.drawn.frame >= most) {
            break;
        }
        if screen.kept != kept && kept_at.elapsed().as_secs_f64() > KEEP {
            (kept, kept_at) = (screen.kept.clone(), Instant::now());
            (options.keep)(&kept);
        }
        // With a frame limit, steps with and without drawing are compared: half of the time nothing is drawn.
        let rest = if options.frames.is_some() { spent } else { 0.0 };
        let shortest = if in_software { SOFTWARE_FRAME } else { FRAME_INTERVAL };
        std::thread::sleep(Duration::from_secs_f64(rest.max(shortest - spent)));
    }
    (options.keep)(&screen.kept);
    let (frames, scale) = (screen.drawn.frame, screen.drawn.scale);
    sums.iter_mut().for_each(|(_, sum)| *sum /= frames.max(1) as f64);
    Ok(Shown { frames, seconds: start.elapsed().as_secs_f64(), parts: sums, scale })
}

fn add(sums: &mut Vec<(&'static str, f64)>, parts: &[(&'static str, f64)]) {
    for (name, time) in parts {
        match sums.iter_mut().find(|(known, _)| known == name) {
            Some((_, sum)) => *sum += time,
            None => sums.push((name, *time)),
        }
    }
}

fn picture(window: &Window, save: &mut dyn FnMut(&Picture) -> std::io::Result<String>) -> String {
    let mut pixels = Vec::new();
    window.snap(&mut pixels);
    let picture = Picture::averaged(&pixels, (window.width(), window.height()), 1);
    save(&picture).unwrap_or_else(|error| error.to_string())
}

/// The contents of the window.
struct ShownScene<'l> {
    link: &'l WindowLink,
    zoom: f64,
    kept: WindowSettings,
    orbit: Orbit,
    first: Orbit,
    follows: bool,
    palm: Option<Vec3>,
    view: SceneView,
    quality: Quality,
    layout: WindowLayout,
    report: Box<Report>,
    controls: Controls,
    events: Events,
    panels: Panels,
    pull: Option<Pull>,
    drawn: Drawn,
    last: Instant,
    /// Pixels per point.
    points: f32,
    wants_picture: bool,
    closed: bool,
}

impl<'l> ShownScene<'l> {
    async fn new(link: &'l WindowLink, kept: WindowSettings, zoom: f64, in_software: bool) -> Self {
        let camera = Camera {
            eye: [0.3, 0.25, 0.4],
            target: [0.0, 0.1, 0.0],
            up: [0.0, 1.0, 0.0],
            field_of_view: 28_f32.to_radians(),
        };
        let orbit = Orbit::of(&camera);
        link.send(Command::Plot(kept.plots.clone()));
        Self {
            link,
            zoom,
            orbit,
            first: orbit,
            follows: false,
            palm: None,
            view: SceneView::new(&camera, kept.size, in_software).await,
            quality: Quality::new(in_software),
            layout: WindowLayout::of(vec2(kept.size.0 as f32, kept.size.1 as f32), Wanted::default()),
            kept,
            report: Box::default(),
            controls: Controls::default(),
            events: Events::default(),
            panels: Panels::default(),
            pull: None,
            drawn: Drawn { in_software, ..Drawn::default() },
            last: Instant::now(),
            points: 1.0,
            wants_picture: false,
            closed: false,
        }
    }

    async fn frame(&mut self, window: &mut Window) -> bool {
        let mut clock = Instant::now();
        let mut parts = Vec::new();
        let mut lap = |name: &'static str| {
            parts.push((name, clock.elapsed().as_secs_f64()));
            clock = Instant::now();
        };
        // Process all events before drawing.
        window.canvas_mut().poll_events();
        self.kept.size = (window.width(), window.height());
        let points = window.scale_factor() as f32;
        self.points = points;
        let size = vec2(window.width() as f32, window.height() as f32) / points;
        self.layout = WindowLayout::of(size, self.panels.wanted(&self.report, &self.kept));
        let scene = self.layout.scene * points;
        let view = (scene.width().round().max(1.0) as u32, scene.height().round().max(1.0) as u32);
        self.drawn.view = [scene.left(), scene.top(), scene.width(), scene.height()];
        self.orbit.set_height(view.1);
        self.receive(view);
        for act in self.events.take(window, &self.layout, &mut self.controls) {
            self.act(act);
        }
        lap("input");

        let figure = self.figure(view);
        let ground = self.ground();
        let overlay = self.overlay();
        lap("figure");
        self.quality.adapts = self.kept.adapts;
        self.drawn.scale = self.quality.scale();
        self.view.draw(figure, self.drawn.scale, ground, &overlay).await;
        lap("3D view");

        let texture = self.view.texture(window);
        let mut wishes = Default::default();
        let panels = &mut self.panels;
        window.draw_ui(|context| {
            wishes = panels.show(context, &self.layout, texture, &self.report, &self.kept, &self.drawn);
        });
        let super::panels::Wishes { acts, commands, kept } = wishes;
        if let Some(kept) = kept {
            if kept.plots != self.kept.plots {
                self.link.send(Command::Plot(kept.plots.clone()));
            }
            self.kept = kept;
        }
        acts.into_iter().for_each(|act| self.act(act));
        commands.into_iter().for_each(|command| self.link.send(command));
        lap("panels");
        let goes_on = window.render(None, None, None, None, None, None).await;
        lap("window");
        parts.extend(self.view.passes().into_iter().map(|(name, time)| (of_view(name), time)));
        parts.extend(passes(window).into_iter().map(|(name, time)| (of_window(name), time)));
        self.drawn.parts = parts;
        goes_on
    }

    /// A frame is on the screen; drawing it took some time, s.
    fn finish(&mut self, spent: f64) {
        self.quality.took(spent);
        let period = self.last.elapsed().as_secs_f64();
        self.last = Instant::now();
        let drawn = &mut self.drawn;
        drawn.frame += 1;
        // The first frame compiles shaders.
        drawn.period = if drawn.frame <= 2 { period } else { drawn.period + 0.2 * (period - drawn.period) };
        drawn.camera = Some(self.orbit.camera());
        drawn.layers = Some(self.kept.layers);
        let place = |rect: kiss3d::egui::Rect| [rect.left(), rect.top(), rect.width(), rect.height()];
        drawn.controls = self.panels.places.iter().map(|(key, at)| (key.clone(), place(*at * self.points))).collect();
        let name = |body| self.report.bodies.iter().find(|known| known.body == body).map(|known| known.name.clone());
        drawn.selected = self.panels.selected.and_then(name);
    }

    fn figure(&self, size: (u32, u32)) -> Option<Figure> {
        let stage = self.report.stage.as_ref()?;
        let figure = stage.figure(&self.report.frame, &self.kept.layers, self.orbit.camera());
        let figure = Figure { size, ..figure };
        // An invalid frame is not drawn; the last good one stays.
        figure.check().is_ok().then_some(figure)
    }

    fn ground(&self) -> Option<Ground> {
        let stage = self.report.stage.as_ref()?;
        let height = stage.ground(&self.report.frame)?;
        Some((height, !stage.has_table(), self.report.taken.and(self.palm)))
    }

    /// The spring on an object, and the axes of the selected body.
    fn overlay(&self) -> Vec<OverlayLines> {
        let mut lines = Vec::new();
        if let Some(ends) = self.report.pull {
            lines.push((ends.map(|p| to_f32(&p)), SPRING, 3.0));
        }
        let pose = self.panels.selected.and_then(|body| self.report.motion_of(body)).map(|motion| motion.pose);
        if let Some(pose) = pose {
            let from = pose.translation.vector;
            for (axis, ink) in AXES.into_iter().enumerate() {
                let to = from + pose.rotation * (AXIS_LENGTH * Vec3::ith(axis, 1.0));
                lines.push(([to_f32(&from), to_f32(&to)], ink, 2.5));
            }
        }
        lines
    }

    /// Takes the latest report, if there is one.
    fn receive(&mut self, size: (u32, u32)) {
        let Some(newest) = self.link.reports.take() else { return };
        let old = std::mem::replace(&mut self.report, newest);
        if old.name != self.report.name {
            self.aim(size);
        }
        if old.generation != self.report.generation {
            self.pull = None;
        }
        let moved = self.report.palm.zip(self.palm).map(|(now, before)| now - before);
        self.palm = self.report.palm;
        if let Some(by) = moved.filter(|_| self.follows && old.generation == self.report.generation) {
            self.orbit.shift(by);
        }
        self.controls.driving = self.report.taken.is_some();
        self.link.reports.give_back(old);
    }

    /// Frames a new scene.
    fn aim(&mut self, size: (u32, u32)) {
        let Some(stage) = &self.report.stage else { return };
        let aspect = f64::from(size.0) / f64::from(size.1.max(1));
        let fitted =
            || stage.camera([&self.report.frame], &CameraPlacement { aspect, zoom: self.zoom, ..stage.look() });
        let camera = stage.viewpoint().unwrap_or_else(fitted);
        self.orbit = Orbit::of(&camera);
        self.orbit.set_height(size.1);
        self.first = self.orbit;
        self.view.clear(&camera, size);
        self.panels.selected = None;
    }

    /// The body at a pixel of the window.
    fn pick(&self, at: [f32; 2]) -> Option<(BodyId, Vec3)> {
        let [left, top, width, height] = self.drawn.view;
        let (eye, towards) = self.orbit.ray([at[0] - left, at[1] - top], [width, height]);
        self.report.stage.as_ref()?.pick(&self.report.frame, &eye, &towards)
    }

    fn set_pull(&mut self, pull: Option<Pull>) {
        self.pull = pull;
        self.link.send(Command::Pull(pull));
    }

    fn act(&mut self, act: UserAction) {
        let steer = |wish: Steer| self.link.send(Command::Steer(wish));
        if let Some(wish) = self.orbit.steer(&act, &self.palm.unwrap_or_default()) {
            return steer(wish);
        }
        match act {
            UserAction::Pause => self.link.send(Command::Pause),
            UserAction::Step => self.link.send(Command::Step),
            UserAction::Speed(by) => self.link.send(Command::Speed(self.report.speed * FASTER.powi(by))),
            UserAction::Restart => self.link.send(Command::Restart),
            UserAction::Next(by) => self.link.send(Command::Next(by)),
            UserAction::Law(number) => {
                let ((key, values), now) = (LAWS[number], self.report.laws[number]);
                let at = values.iter().position(|value| *value == now).map_or(0, |at| at + 1);
                self.link.send(Command::Set(Setting::new(key, values[at % values.len()])));
            }
            UserAction::Layer(number) => {
                let layer = Layers::SWITCHES[number].1(&mut self.kept.layers);
                *layer = !*layer;
            }
            UserAction::TakeHand => {
                let next = self.report.taken.map_or(0, |hand| hand + 1);
                steer(Steer::Take(Some(next).filter(|next| *next < self.report.hands.len())));
            }
            UserAction::Steer(_)
            | UserAction::Drag(_)
            | UserAction::Push(_)
            | UserAction::Twist(_)
            | UserAction::Glide(..) => {}
            UserAction::Grab(at) => {
                let bodies = &self.report.bodies;
                let movable = |body: &BodyId| bodies.iter().any(|known| known.body == *body && known.mass.is_some());
                let found = self.pick(at).filter(|(body, _)| movable(body));
                self.set_pull(found.map(|(body, place)| Pull { body, grabbed: place, target: place }));
            }
            UserAction::Tug(by) => self.tug(|orbit, target| orbit.across(by, target)),
            UserAction::TugAway(notches) => self.tug(|orbit, _| orbit.away(notches)),
            UserAction::LetGo => self.set_pull(None),
            UserAction::Select(at) => self.panels.selected = self.pick(at).map(|(body, _)| body),
            UserAction::Orbit(by) => self.orbit.turn(by),
            UserAction::Pan(by) => self.orbit.pan(by),
            UserAction::Zoom(factor) => self.orbit.zoom(factor),
            UserAction::ResetCamera => self.orbit = self.first,
            UserAction::Follow => self.follows = !self.follows,
            UserAction::Panels => self.kept.panels = !self.kept.panels,
            UserAction::Tree => self.kept.tree = Some(!self.kept.shows_tree(self.kept.size.0)),
            UserAction::Help => self.panels.help = !self.panels.help,
            UserAction::Picture => self.wants_picture = true,
            UserAction::Quit if self.panels.help => self.panels.help = false,
            UserAction::Quit => self.closed = true,
        }
    }

    fn tug(&mut self, by: impl Fn(&Orbit, &Vec3) -> Vec3) {
        if let Some(mut pull) = self.pull {
            pull.target += by(&self.orbit, &pull.target);
            self.set_pull(Some(pull));
        }
    }
}

/// Names of the render passes of the 3D view and of the window.
fn of_view(pass: &str) -> &'static str {
    match pass {
        "clear" => "pass: view, clear",
        "shadows" => "pass: view, shadows",
        "opaque" => "pass: view, surfaces",
        "transparent" => "pass: view, transparent",
        "tonemap" => "pass: view, tone mapping",
        _ => "pass: view, other",
    }
}

fn of_window(pass: &str) -> &'static str {
    match pass {
        "clear" => "pass: window, clear",
        "tonemap" => "pass: window, tone mapping",
        _ => "pass: window, other",
    }
}
