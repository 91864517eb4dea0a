mod meter;
#[cfg(feature = "tui")]
mod screen;
mod text;
mod view;

#[cfg(feature = "tui")]
use std::io::IsTerminal;
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use self::meter::Meter;
use self::view::MonitorView;
use super::start_average;
use crate::assets::DeviceProfile;
use crate::cli::terminal::{self, plain};
use crate::devices::{SourceHandle, SourceSample};
use crate::math::{OutOfRange, Range};
use crate::runtime::open_profile;
use crate::tracking::Side;

/// Update intervals of the screen, of JSON lines and of text lines.
const SCREEN_INTERVAL: Duration = Duration::from_millis(50);
const JSON_INTERVAL: Duration = Duration::from_millis(100);
const TEXT_INTERVAL: Duration = Duration::from_secs(1);

/// Arguments of `devices monitor`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Device profile: a file or the name of a shipped profile; `@PORT` overrides its port
    #[arg(value_name = "PROFILE[@PORT]")]
    profile: String,
    /// Stop after this many seconds [default: at Ctrl-C]
    #[arg(long, value_parser = seconds)]
    seconds: Option<f64>,
    /// Print JSON, one object per line, ten per second
    #[arg(long)]
    json: bool,
}

fn seconds(text: &str) -> Result<f64, OutOfRange> {
    Range::new(0.01, 1e6, "s").parse(text)
}

#[cfg(feature = "tui")]
type Screen = screen::Screen;

/// Without the feature `tui` there are lines of text only.
#[cfg(not(feature = "tui"))]
enum Screen {}

impl Screen {
    /// The terminal of stdout, if stdout is one and lines of JSON are not wanted.
    #[cfg(feature = "tui")]
    fn open(json: bool) -> std::io::Result<Option<Self>> {
        (!json && std::io::stdout().is_terminal()).then(Self::begin).transpose()
    }

    #[cfg(not(feature = "tui"))]
    fn open(_: bool) -> std::io::Result<Option<Self>> {
        Ok(None)
    }

    #[cfg(not(feature = "tui"))]
    fn draw(&mut self, _: &MonitorView<'_>) -> std::io::Result<()> {
        match *self {}
    }
}

/// What has been received from the device.
struct MonitoredValues {
    meter: Meter,
    /// The latest sample of each hand.
    newest: [Option<SourceSample>; 2],
    /// Buttons that are down.
    buttons: Vec<String>,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let profile = open_profile(&arguments.profile)?;
    let (handle, epoch) = start_average(&profile)?;
    let mut screen = Screen::open(arguments.json).context("cannot write to the terminal")?;
    let drawn = screen.is_some();
    let every = if arguments.json { JSON_INTERVAL } else { if drawn { SCREEN_INTERVAL } else { TEXT_INTERVAL } };
    let mut values = MonitoredValues { meter: Meter::default(), newest: [None; 2], buttons: Vec::new() };
    let mut due = Instant::now() + every;
    let end = arguments.seconds.map(|seconds| epoch + Duration::from_secs_f64(seconds));
    loop {
        let stop = end.is_some_and(|end| Instant::now() >= end);
        let wait = end.map_or(due, |end| end.min(due));
        if let (false, Ok(sample)) = (stop, handle.samples().recv_deadline(wait)) {
            values.take(sample);
            if Instant::now() < due {
                continue;
            }
        }
        if Instant::now() >= due || stop {
            due = Instant::now() + every;
            values.press(&handle);
            let view = view(&profile, &handle, &values, epoch);
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
    if values.meter.samples == 0 {
        bail!("{}", handle.complaint());
    }
    Ok(())
}

impl MonitoredValues {
    fn take(&mut self, sample: SourceSample) {
        self.meter.take(sample.side, sample.time);
        let newest = &mut self.newest[sample.side as usize];
        // A packet may contain only some sensors; the last values of the others are kept.
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

fn view<'a>(
    profile: &'a DeviceProfile,
    handle: &SourceHandle,
    values: &'a MonitoredValues,
    epoch: Instant,
) -> MonitorView<'a> {
    let now = epoch.elapsed().as_secs_f64();
    MonitorView {
        profile,
        now,
        state: handle.state(),
        states: [Side::Left, Side::Right].map(|side| handle.state_of(side)),
        statistics: handle.statistics(),
        meter: &values.meter,
        newest: &values.newest,
        buttons: &values.buttons,
    }
}
