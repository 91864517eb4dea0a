//! The window on a scene, a script or a recording, and the thread that simulates behind it.

#[cfg(feature = "viewer")]
mod bodies;
#[cfg(feature = "viewer")]
mod cost;
#[cfg(feature = "viewer")]
mod due;
#[cfg(feature = "viewer")]
mod log;
#[cfg(feature = "viewer")]
mod measures;
#[cfg(feature = "viewer")]
mod pace;
#[cfg(feature = "viewer")]
mod parameters;
#[cfg(feature = "viewer")]
mod playlist;
#[cfg(feature = "viewer")]
mod pull;
#[cfg(feature = "viewer")]
mod settings;
#[cfg(feature = "viewer")]
mod simulation;
#[cfg(feature = "viewer")]
mod story;
#[cfg(all(test, feature = "viewer"))]
mod tests;
#[cfg(feature = "viewer")]
mod traces;
#[cfg(feature = "viewer")]
mod watch;

use std::path::PathBuf;

#[cfg(feature = "viewer")]
pub use self::showing::{Showing, can_show, run, run_player, show_player};
#[cfg(feature = "viewer")]
pub use self::story::{Tale, Teller};

/// What to show, and how.
#[derive(clap::Args)]
pub struct Arguments {
    /// A scene file (.toml), a script (.rhai), a recording (.fpr), or the name of a shipped scene.
    #[arg(default_value = "play")]
    scene: PathBuf,
    #[command(flatten)]
    changes: super::scene_arguments::SceneArguments,
    #[command(flatten)]
    devices: super::gear::DeviceArguments,
    /// Layers to show at first; without it those of the last window.
    #[arg(long, value_name = "LAYER,…", value_delimiter = ',')]
    show: Vec<String>,
    /// Width and height in pixels; without it those of the last window, at first 1280x800.
    #[arg(long, value_parser = |text: &str| super::picture_size(text, (320, 240)))]
    size: Option<(u32, u32)>,
    /// Draw so many frames, resting as long as drawing in between, close, and say what drawing cost the simulation.
    #[arg(long, value_name = "N")]
    frames: Option<u64>,
    /// Write a line of JSON for every frame: camera, bodies, parameters, times.
    #[arg(long, value_name = "FILE")]
    log: Option<PathBuf>,
    /// Forget the settings of the last window: size, layers, panels, plots.
    #[arg(long)]
    reset: bool,
}

/// A window needs the viewer.
#[cfg(not(feature = "viewer"))]
pub fn run(_arguments: &Arguments, _talk: super::Talk) -> anyhow::Result<super::run::End> {
    anyhow::bail!("the window needs the feature `viewer`, and this program was built without it")
}

/// The same of something that is loaded already.
#[cfg(not(feature = "viewer"))]
pub fn show_player(
    _player: super::player::Player,
    _settings: Vec<crate::assets::Setting>,
    _talk: super::Talk,
) -> anyhow::Result<super::run::End> {
    anyhow::bail!("the window needs the feature `viewer`, and this program was built without it")
}

#[cfg(feature = "viewer")]
mod showing {
    use std::path::Path;

    use anyhow::{Context, bail};

    use super::log::Log;
    use super::settings as settings_file;
    use super::{Arguments, Teller, simulation};
    use crate::assets::Setting;
    use crate::cli::player::Player;
    use crate::cli::run::End;
    use crate::cli::{Talk, outputs, write_file};
    use crate::viewer::window::{Drawn, FrameLog, Kept, Options, Report, probe, show};
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
        /// Closes after so many frames, and says what they cost.
        pub frames: Option<u64>,
        /// A line for every frame.
        pub log: Option<Log>,
        /// Describes the result of a scene that has no task.
        pub teller: Option<Teller>,
    }

    /// Whether a window can be opened here.
    pub fn can_show() -> bool {
        probe().is_ok()
    }

    /// The command.
    pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<End> {
        let settings = arguments.changes.settings([]);
        let player = arguments.devices.load(&arguments.scene, &settings, talk)?;
        if arguments.reset {
            settings_file::reset().context("the settings of the window could not be removed")?;
        }
        if let Some(file) = &arguments.log {
            outputs::check(&[("--log", file)], &player.inputs())?;
        }
        let log = arguments.log.as_deref().map(Log::create).transpose()?;
        let layers = if arguments.show.is_empty() { None } else { Some(layers(&arguments.show)?) };
        let showing = Showing { settings, layers, size: arguments.size, frames: arguments.frames, log, teller: None };
        run_player(player, showing, talk)
    }

    /// Shows something that is loaded already, as the command would by default.
    pub fn show_player(player: Player, settings: Vec<Setting>, talk: Talk) -> anyhow::Result<End> {
        run_player(player, Showing { settings, ..Showing::default() }, talk)
    }

    /// Plays in a window until it is closed. It fails if there was a task and that failed.
    pub fn run_player(player: Player, mut showing: Showing, talk: Talk) -> anyhow::Result<End> {
        // Before anything is started.
        probe()?;
        let title = format!("fingerpad: {}", player.file().display());
        let (link, thread) = simulation::start(player, showing.settings, showing.teller)
            .context("the thread of the simulation could not be started")?;
        let mut pictures = 0;
        let mut save = |picture: &Picture| keep(picture, &mut pictures);
        let stored = settings_file::load(talk);
        let kept = Kept {
            size: showing.size.unwrap_or(stored.size),
            layers: showing.layers.unwrap_or(stored.layers),
            ..stored.clone()
        };
        // What was asked for on the command line is for this window alone.
        let asked = kept.clone();
        let mut keep = |now: &Kept| {
            let now = Kept {
                size: if now.size == asked.size { stored.size } else { now.size },
                layers: if now.layers == asked.layers { stored.layers } else { now.layers },
                ..now.clone()
            };
            if let Err(error) = settings_file::save(&now) {
                talk.whisper(format_args!("the settings of the window were not kept: {error:#}"));
            }
        };
        let mut log = showing.log.take();
        let mut add = log.as_mut().map(|log| move |report: &Report, drawn: &Drawn| log.add(report, drawn));
        let options = Options {
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
            talk.whisper(says);
        }
        Ok(if ended.success == Some(false) { End::Failed } else { End::Done })
    }

    /// Writes a picture beside the ones that are there, and says where.
    fn keep(picture: &Picture, count: &mut u32) -> Result<String, String> {
        let file = loop {
            *count += 1;
            let name = format!("fingerpad-{count}.png");
            if !Path::new(&name).exists() {
                break name;
            }
        };
        let bytes = picture.png_bytes().map_err(|error| error.to_string())?;
        write_file(Path::new(&file), &bytes).map_err(|error| format!("{error:#}"))?;
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
