mod meter;
mod screen;
mod text;

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use self::meter::Meter;
use self::screen::{Style, View};
use super::start_device;
use crate::assets::DeviceProfile;
use crate::cli::gear::open_profile;
use crate::cli::terminal::{self, plain};
use crate::devices::{SourceHandle, SourceSample};
use crate::tracking::Side;

/// How often the screen is drawn, a line of JSON written, a line of text.
const FRAME: Duration = Duration::from_millis(50);
const RECORD: Duration = Duration::from_millis(100);
const LINE: Duration = Duration::from_secs(1);

/// A device to watch.
#[derive(clap::Args)]
pub struct Arguments {
    /// A profile: a file, or the name of a shipped one; `@PORT` after it wins over the port in it.
    #[arg(value_name = "PROFILE[@PORT]")]
    profile: String,
    /// End after so many seconds; until Ctrl-C if left out.
    #[arg(long, value_parser = seconds)]
    seconds: Option<f64>,
    /// Print JSON, one object a line, ten a second.
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, String> {
    let parsed = text.parse().ok().filter(|s| (0.01..=1e6).contains(s));
    parsed.ok_or_else(|| "expected seconds, from 0.01 to 1000000".into())
}

/// What has been heard of the device.
struct Heard {
    meter: Meter,
    /// The newest sample of each hand.
    newest: [Option<SourceSample>; 2],
    /// Buttons that are down.
    buttons: Vec<String>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let profile = open_profile(&arguments.profile)?;
    let (handle, epoch) = start_device(&profile)?;
    let drawn = !arguments.json && std::io::stdout().is_terminal();
    let every = if arguments.json { RECORD } else { if drawn { FRAME } else { LINE } };
    let mut heard = Heard { meter: Meter::default(), newest: [None; 2], buttons: Vec::new() };
    let mut due = Instant::now() + every;
    let end = arguments.seconds.map(|seconds| epoch + Duration::from_secs_f64(seconds));
    let mut screen = drawn.then(screen::Screen::open);
    loop {
        let stop = end.is_some_and(|end| Instant::now() >= end);
        let wait = end.map_or(due, |end| end.min(due));
        if let (false, Ok(sample)) = (stop, handle.samples().recv_deadline(wait)) {
            heard.take(sample);
            if Instant::now() < due {
                continue;
            }
        }
        if Instant::now() >= due || stop {
            due = Instant::now() + every;
            heard.press(&handle);
            let view = view(&profile, &handle, &heard, epoch);
            let written = match (&mut screen, arguments.json) {
                (Some(screen), _) => screen.draw(&view),
                (None, true) => terminal::put(&format!("{}\n", plain(&view.as_json().to_string()))),
                (None, false) => terminal::put(&format!("{}\n", plain(&view.as_line()))),
            };
            written.context("cannot write to stdout")?;
        }
        if stop {
            break;
        }
    }
    if heard.meter.samples == 0 {
        bail!("{}", handle.complaint());
    }
    Ok(())
}

impl Heard {
    fn take(&mut self, sample: SourceSample) {
        self.meter.take(sample.side, sample.time);
        let newest = &mut self.newest[sample.side as usize];
        // A packet may say only some of the sensors: those of the others stay to be seen.
        let (mut flex, mut bends) = newest.as_ref().map_or_else(Default::default, |old| (old.flex, old.bends));
        flex.update(&sample.flex);
        bends.update(&sample.bends);
        *newest = Some(SourceSample { flex, bends, ..sample });
    }

    fn press(&mut self, handle: &SourceHandle) {
        for event in handle.buttons().try_iter() {
            self.buttons.retain(|name| *name != event.name);
            if event.pressed {
                self.buttons.push(event.name);
            }
        }
    }
}

fn view<'a>(profile: &'a DeviceProfile, handle: &SourceHandle, heard: &'a Heard, epoch: Instant) -> View<'a> {
    let now = epoch.elapsed().as_secs_f64();
    View {
        profile,
        style: Style::of_stdout(),
        now,
        state: handle.state(),
        states: [Side::Left, Side::Right].map(|side| handle.state_of(side)),
        statistics: handle.statistics(),
        meter: &heard.meter,
        newest: &heard.newest,
        buttons: &heard.buttons,
    }
}
