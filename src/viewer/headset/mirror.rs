//! A window on the desktop that shows what the user sees. It is drawn between two frames of the headset, and never waits for the
//! display. kiss3d's windows cannot be used: their pictures have another format than the eyes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{ElementState, WindowEvent};
use winit::event_loop::{ActiveEventLoop, EventLoop};
use winit::keyboard::{Key, NamedKey};
use winit::platform::pump_events::EventLoopExtPumpEvents;
use winit::window::{Window, WindowId};

use super::HeadsetError;
use super::fullscreen::{Copied, CopyPass};
use super::graphics::Graphics;
use super::menu::Wish;
use crate::viewer::window::Command;

/// Initial height of the window, pixels.
const HEIGHT: f64 = 540.0;
/// Shortest interval between two pictures, and between two titles.
const MIRROR_PERIOD: Duration = Duration::from_millis(33);
const TITLES: Duration = Duration::from_millis(500);
const TITLE: &str = "fingerpad in the headset";

/// The window and its picture.
pub struct Mirror {
    events: EventLoop<()>,
    desktop: Desktop,
    surface: wgpu::Surface<'static>,
    config: wgpu::SurfaceConfiguration,
    pass: CopyPass,
    shown: Option<Instant>,
    titled: Option<Instant>,
    /// Pictures that were shown.
    pub pictures: u64,
}

/// State of the window.
struct Desktop {
    size: LogicalSize<f64>,
    window: Option<Arc<Window>>,
    failure: Option<String>,
    is_closed: bool,
    is_resized: bool,
    wishes: Vec<Wish>,
}

impl Mirror {
    /// Opens a window for pictures of a size.
    pub fn open(graphics: &Graphics, eye: (u32, u32)) -> Result<Self, HeadsetError> {
        let failed = |error: &dyn std::fmt::Display| HeadsetError::NoMirror(error.to_string());
        let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
        if cfg!(all(unix, not(target_os = "macos"))) && !is_set("DISPLAY") && !is_set("WAYLAND_DISPLAY") {
            return Err(failed(&"there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set)"));
        }
        let mut events = event_loop().map_err(|error| failed(&error))?;
        let size = LogicalSize::new(HEIGHT * f64::from(eye.0) / f64::from(eye.1.max(1)), HEIGHT);
        let mut desktop = Desktop {
            size,
            window: None,
            failure: None,
            is_closed: false,
            is_resized: false,
            wishes: Vec::with_capacity(8),
        };
        let start = Instant::now();
        while desktop.window.is_none() && desktop.failure.is_none() && start.elapsed() < Duration::from_secs(5) {
            events.pump_app_events(Some(Duration::from_millis(5)), &mut desktop);
        }
        let why = || desktop.failure.clone().unwrap_or_else(|| "the display does not respond".into());
        let window = desktop.window.clone().ok_or_else(|| failed(&why()))?;
        let surface = graphics.instance.create_surface(Arc::clone(&window)).map_err(|error| failed(&error))?;
        let known = surface.get_capabilities(&graphics.adapter);
        // The picture is encoded for display already.
        let format = known.formats.iter().copied().find(|format| !format.is_srgb()).or(known.formats.first().copied());
        let format = format.ok_or_else(|| failed(&"the headset's graphics device cannot draw on this display"))?;
        let config = wgpu::SurfaceConfiguration {
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            format,
            color_space: wgpu::SurfaceColorSpace::Auto,
            width: window.inner_size().width.max(1),
            height: window.inner_size().height.max(1),
            // Waiting for the display would delay the headset.
            present_mode: wgpu::PresentMode::AutoNoVsync,
            alpha_mode: known.alpha_modes.first().copied().unwrap_or(wgpu::CompositeAlphaMode::Auto),
            view_formats: Vec::new(),
            desired_maximum_frame_latency: 2,
        };
        surface.configure(&graphics.device, &config);
        let pass = CopyPass::new(&graphics.device, Copied::Colour(format));
        Ok(Self { events, desktop, surface, config, pass, shown: None, titled: None, pictures: 0 })
    }

    /// Takes the input of the window, and draws a picture if one is due. Returns what was asked for; `costs` are the recent own
    /// work and duration of a frame, s.
    pub fn follow(&mut self, graphics: &Graphics, eye: &wgpu::TextureView, costs: [f64; 2]) -> Vec<Wish> {
        if self.desktop.is_closed {
            return Vec::new();
        }
        let now = Instant::now();
        if self.shown.is_some_and(|last| now - last < MIRROR_PERIOD) {
            return Vec::new();
        }
        self.shown = Some(now);
        self.events.pump_app_events(Some(Duration::ZERO), &mut self.desktop);
        if self.desktop.is_closed {
            self.desktop.window.iter().for_each(|window| window.set_visible(false));
        } else {
            self.draw(graphics, eye);
            // The first frame has no costs.
            if costs[1] > 0.0 && self.titled.is_none_or(|last| now - last > TITLES) {
                self.titled = Some(now);
                let (work, rate) = (1e3 * costs[0], 1.0 / costs[1]);
                let title = format!("{TITLE}: {rate:.0} frames a second, {work:.1} ms of own work each");
                self.desktop.window.iter().for_each(|window| window.set_title(&title));
            }
        }
        std::mem::take(&mut self.desktop.wishes)
    }

    fn draw(&mut self, graphics: &Graphics, eye: &wgpu::TextureView) {
        if std::mem::take(&mut self.desktop.is_resized) {
            self.configure(graphics);
        }
        let frame = match self.surface.get_current_texture() {
            wgpu::CurrentSurfaceTexture::Success(frame) | wgpu::CurrentSurfaceTexture::Suboptimal(frame) => frame,
            wgpu::CurrentSurfaceTexture::Outdated | wgpu::CurrentSurfaceTexture::Lost => {
                return self.configure(graphics);
            }
            _ => return,
        };
        let view = frame.texture.create_view(&wgpu::TextureViewDescriptor::default());
        let mut encoder = graphics.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let clear = wgpu::Operations { load: wgpu::LoadOp::Clear(wgpu::Color::BLACK), store: wgpu::StoreOp::Store };
        let mut pass = encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
            label: Some("mirror"),
            color_attachments: &[Some(wgpu::RenderPassColorAttachment {
                view: &view,
                resolve_target: None,
                ops: clear,
                depth_slice: None,
            })],
            ..Default::default()
        });
        let picture = eye.texture().size();
        let [x, y, width, height] =
            fitted([picture.width, picture.height], [frame.texture.width(), frame.texture.height()]);
        pass.set_viewport(x, y, width, height, 0.0, 1.0);
        self.pass.draw(&graphics.device, &mut pass, eye);
        drop(pass);
        graphics.queue.submit([encoder.finish()]);
        graphics.queue.present(frame);
        self.pictures += 1;
    }

    fn configure(&mut self, graphics: &Graphics) {
        let Some(size) = self.desktop.window.as_ref().map(|window| window.inner_size()) else { return };
        (self.config.width, self.config.height) = (size.width.max(1), size.height.max(1));
        self.surface.configure(&graphics.device, &self.config);
    }
}

/// A rectangle for a picture in a window, as large as possible and in the middle: x, y, width, height.
fn fitted(picture: [u32; 2], window: [u32; 2]) -> [f32; 4] {
    let ([w, h], [width, height]) = (picture.map(|n| n.max(1) as f32), window.map(|n| n as f32));
    let scale = (width / w).min(height / h);
    let (w, h) = (scale * w, scale * h);
    [0.5 * (width - w), 0.5 * (height - h), w, h]
}

/// The window may be opened by any thread, because all its input is taken by the one that opened it.
fn event_loop() -> Result<EventLoop<()>, winit::error::EventLoopError> {
    let mut builder = EventLoop::builder();
    #[cfg(target_os = "linux")]
    {
        winit::platform::x11::EventLoopBuilderExtX11::with_any_thread(&mut builder, true);
        winit::platform::wayland::EventLoopBuilderExtWayland::with_any_thread(&mut builder, true);
    }
    #[cfg(windows)]
    winit::platform::windows::EventLoopBuilderExtWindows::with_any_thread(&mut builder, true);
    builder.build()
}

impl ApplicationHandler for Desktop {
    fn resumed(&mut self, events: &ActiveEventLoop) {
        if self.window.is_some() {
            return;
        }
        let attributes = Window::default_attributes().with_title(TITLE).with_inner_size(self.size);
        match events.create_window(attributes) {
            Ok(window) => self.window = Some(Arc::new(window)),
            Err(error) => self.failure = Some(error.to_string()),
        }
    }

    fn window_event(&mut self, _: &ActiveEventLoop, _: WindowId, event: WindowEvent) {
        match event {
            WindowEvent::CloseRequested => self.is_closed = true,
            WindowEvent::Resized(_) => self.is_resized = true,
            WindowEvent::KeyboardInput { event, .. } if event.state == ElementState::Pressed && !event.repeat => {
                self.wishes.extend(wish(&event.logical_key));
            }
            _ => {}
        }
    }
}

/// Keys of the window.
fn wish(key: &Key) -> Option<Wish> {
    match key {
        Key::Named(NamedKey::Space) => Some(Wish::Send(Command::Pause)),
        Key::Named(NamedKey::Escape) => Some(Wish::Quit),
        Key::Character(letter) => match letter.to_lowercase().as_str() {
            "c" => Some(Wish::Recentre),
            "r" => Some(Wish::Send(Command::Restart)),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_fits_its_window() {
        assert_eq!(fitted([100, 200], [400, 400]), [100.0, 0.0, 200.0, 400.0]);
        assert_eq!(fitted([200, 100], [400, 400]), [0.0, 100.0, 400.0, 200.0]);
        assert_eq!(fitted([320, 240], [640, 480]), [0.0, 0.0, 640.0, 480.0]);
    }

    #[test]
    fn keys_ask_for_what_the_help_says() {
        assert_eq!(wish(&Key::Named(NamedKey::Space)), Some(Wish::Send(Command::Pause)));
        assert_eq!(wish(&Key::Character("C".into())), Some(Wish::Recentre));
        assert_eq!(wish(&Key::Character("r".into())), Some(Wish::Send(Command::Restart)));
        assert_eq!(wish(&Key::Named(NamedKey::Escape)), Some(Wish::Quit));
        assert_eq!(wish(&Key::Character("x".into())), None);
    }
}
