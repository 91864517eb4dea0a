//! The window on a scene, a script or a recording, and the thread that simulates behind it.

#[cfg(feature = "viewer")]
mod log;
#[cfg(feature = "viewer")]
mod settings;

use std::path::PathBuf;

#[cfg(feature = "viewer")]
pub use self::showing::{Showing, can_show, run, run_session, show_session};

/// Arguments of `view`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Scene file (.toml), script (.rhai), recording (.fpr), or the name of a shipped scene
    #[arg(default_value = "play")]
    scene: PathBuf,
    #[command(flatten)]
    changes: super::scene_arguments::SceneArguments,
    #[command(flatten)]
    devices: super::device_arguments::DeviceArguments,
    /// Layers to show initially [default: those of the last window]
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',')]
    show: Vec<String>,
    /// Size in pixels [default: that of the last window, initially 1280x800]
    #[arg(long, value_parser = |text: &str| super::picture_size(text, (320, 240)))]
    size: Option<(u32, u32)>,
    /// Draw N frames with equally long pauses, close, and print the cost of drawing for the simulation
    #[arg(long, value_name = "N")]
    frames: Option<u64>,
    /// Write one line of JSON per frame: camera, bodies, parameters, times
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Reset the saved window settings: size, layers, panels, plots
    #[arg(long)]
    reset: bool,
}

/// A window needs the viewer.
#[cfg(not(feature = "viewer"))]
pub fn run(_arguments: &Arguments, _talk: super::Talk) -> anyhow::Result<super::run::RunEnd> {
    anyhow::bail!("the window needs the Cargo feature `viewer`, which this build does not have")
}

/// The same of something that is loaded already.
#[cfg(not(feature = "viewer"))]
pub fn show_session(
    _session: crate::runtime::Session,
    _settings: Vec<crate::assets::Setting>,
    _talk: super::Talk,
) -> anyhow::Result<super::run::RunEnd> {
    anyhow::bail!("the window needs the Cargo feature `viewer`, which this build does not have")
}

#[cfg(feature = "viewer")]
mod showing {
    use std::path::Path;

    use anyhow::{Context, bail};

    use super::Arguments;
    use super::log::Log;
    use super::settings as settings_file;
    use crate::assets::Setting;
    use crate::cli::interrupt;
    use crate::cli::run::RunEnd;
    use crate::cli::{Talk, outputs, write_file};
    use crate::runtime::Session;
    use crate::runtime::live::{self, Interrupt, Summarize};
    use crate::viewer::window::{Drawn, FrameLog, Report, WindowOptions, WindowSettings, probe, show};
    use crate::viewer::{Layers, Picture};

    /// How something is shown.
    #[derive(Default)]
    pub struct Showing {
        /// Settings that it was loaded with; a restart takes them again.
        pub settings: Vec<Setting>,
        /// Layers that are shown at first, if not those of the last window.
        pub layers: Option<Layers>,
        /// Width and height in pixels, if not those of the last window.
        pub size: Option<(u32, u32)>,
        /// Closes after this number of frames and prints their times.
        pub frames: Option<u64>,
        /// A line for every frame.
        pub log: Option<Log>,
        /// Makes the result card of a scene that has no task.
        pub summarize: Option<Summarize>,
    }

    /// Whether a window can be opened here.
    pub fn can_show() -> bool {
        probe().is_ok()
    }

    /// The command.
    pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<RunEnd> {
        let settings = arguments.changes.settings([])?;
        let session = arguments.devices.load(&arguments.scene, &settings, talk)?;
        if arguments.reset {
            settings_file::reset().context("the settings of the window could not be removed")?;
        }
        if let Some(file) = &arguments.log {
            outputs::check(&[("--log", file)], &session.inputs())?;
        }
        let log = arguments.log.as_deref().map(Log::create).transpose()?;
        let layers = if arguments.show.is_empty() { None } else { Some(layers(&arguments.show)?) };
        let showing =
            Showing { settings, layers, size: arguments.size, frames: arguments.frames, log, summarize: None };
        run_session(session, showing, talk)
    }

    /// Shows something that is loaded already, as the command would by default.
    pub fn show_session(session: Session, settings: Vec<Setting>, talk: Talk) -> anyhow::Result<RunEnd> {
        run_session(session, Showing { settings, ..Showing::default() }, talk)
    }

    /// Plays in a window until it is closed. It fails if there was a task and that failed.
    pub fn run_session(session: Session, mut showing: Showing, talk: Talk) -> anyhow::Result<RunEnd> {
        // Before anything is started.
        probe()?;
        let title = format!("fingerpad: {}", session.file().display());
        let interrupt = Interrupt { is_requested: interrupt::is_asked, end: || interrupt::end() };
        let options =
            live::LiveOptions { settings: showing.settings, summarize: showing.summarize, interrupt: Some(interrupt) };
        let (link, thread) =
            live::start(session, options).context("the thread of the simulation could not be started")?;
        let mut pictures = 0;
        let mut save = |picture: &Picture| keep(picture, &mut pictures);
        let stored = settings_file::load(talk);
        let kept = WindowSettings {
            size: showing.size.unwrap_or(stored.size),
            layers: showing.layers.unwrap_or(stored.layers),
            ..stored.clone()
        };
        // Options of the command line are not saved as settings.
        let asked = kept.clone();
        let mut keep = |now: &WindowSettings| {
            let now = WindowSettings {
                size: if now.size == asked.size { stored.size } else { now.size },
                layers: if now.layers == asked.layers { stored.layers } else { now.layers },
                ..now.clone()
            };
            if let Err(error) = settings_file::save(&now) {
                talk.detail(format_args!("the settings of the window were not kept: {error:#}"));
            }
        };
        let mut log = showing.log.take();
        let mut add = log.as_mut().map(|log| move |report: &Report, drawn: &Drawn| log.add(report, drawn));
        let options = WindowOptions {
            title,
            kept,
            // Hands go up, and things fall.
            zoom: 0.45,
            frames: showing.frames,
            save: &mut save,
            keep: &mut keep,
            log: add.as_mut().map(|add| add as &mut FrameLog<'_>),
        };
        let shown = show(&link, options);
        let Ok(ended) = thread.join() else { bail!("the simulation ended unexpectedly") };
        let shown = shown?;
        let mut says = format!("{} frames in {:.1} s; {}", shown.frames, shown.seconds, ended.costs);
        says += &format!("\na frame, on average, at {:.0} % of the resolution:", 100.0 * shown.scale);
        for (name, seconds) in &shown.parts {
            says += &format!("\n    {name:<28} {:8.2} ms", 1e3 * seconds);
        }
        if showing.frames.is_some() {
            println!("{says}");
        } else {
            talk.detail(says);
        }
        Ok(if ended.success == Some(false) { RunEnd::Failed } else { RunEnd::Done })
    }

    /// Writes a picture under an unused name and returns a message with the name.
    fn keep(picture: &Picture, count: &mut u32) -> std::io::Result<String> {
        let file = loop {
            *count += 1;
            let name = format!("fingerpad-{count}.png");
            if !Path::new(&name).exists() {
                break name;
            }
        };
        let bytes = picture.png_bytes().map_err(std::io::Error::other)?;
        write_file(Path::new(&file), &bytes).map_err(|error| std::io::Error::other(format!("{error:#}")))?;
        Ok(format!("wrote {file}"))
    }

    fn layers(names: &[String]) -> anyhow::Result<Layers> {
        let mut layers = Layers::NONE;
        for name in names {
            if name == "all" {
                Layers::SWITCHES.iter().for_each(|(_, switch)| *switch(&mut layers) = true);
                continue;
            }
            let Some((_, switch)) = Layers::SWITCHES.iter().find(|(own, _)| own == name) else {
                let known: Vec<&str> = Layers::SWITCHES.iter().map(|(own, _)| *own).collect();
                bail!("there is no layer `{name}`; expected all or {}", known.join(", "));
            };
            *switch(&mut layers) = true;
        }
        Ok(layers)
    }
}
