use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow, bail};
use clap::ValueEnum;

use super::link::PortSymlink;
use crate::assets::{DeviceKind, DeviceProfile, Port};
use crate::cli::{Talk, interrupt, terminal};
use crate::devices::emulator::{EmulatedWearer, Emulator, EmulatorEvent, EmulatorSettings, Faults, PathCallback};
use crate::protocol::{self, Format};
use crate::runtime::open_profile;
use crate::runtime::{BUILTIN_MOTIONS, HandMotion};
use crate::tracking::Side;

/// Poll interval for a request to end.
const END_POLL: Duration = Duration::from_millis(100);

/// Arguments of `devices emulate`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Device profile (.toml) or the name of a shipped profile
    #[arg(value_name = "PROFILE")]
    device: String,
    /// Motion of the hand: fist, wave, count, still, or a scene, script or recording whose tracked hand is played
    #[arg(long, default_value = BUILTIN_MOTIONS[0])]
    motion: String,
    /// Side of the hand [default: that of the profile]
    #[arg(long)]
    hand: Option<EmulatedSide>,
    /// Sample rate in Hz [default: that of the device]
    #[arg(long, value_name = "HZ")]
    rate: Option<f64>,
    /// Symbolic link to the pseudo-terminal; it stays valid when the device is unplugged and plugged in again
    #[arg(long, value_name = "PATH")]
    link: Option<PathBuf>,
    /// Seconds until the device is unplugged for good [default: until the program ends]
    #[arg(long)]
    seconds: Option<f64>,
    /// Fault to inject: noise=PROBABILITY, drop=PROBABILITY, garbage=SECONDS:BYTES, stall=AT:SECONDS, unplug=AT:SECONDS
    /// (or every:AT:SECONDS), seed=NUMBER
    #[arg(long, value_name = "KIND=VALUE")]
    fault: Vec<String>,
    /// Repeat the motion of a scene, script or recording when it ends
    #[arg(long = "loop")]
    again: bool,
}

/// Side of the hand.
#[derive(Clone, Copy, ValueEnum)]
enum EmulatedSide {
    Left,
    Right,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    let mut profile = open_profile(&arguments.device)?;
    if let Some(hand) = arguments.hand {
        wear_on(&mut profile, if matches!(hand, EmulatedSide::Left) { Side::Left } else { Side::Right });
    }
    let DeviceKind::Wire(format) = profile.kind else {
        bail!("{} cannot be emulated: only gloves and trackers on serial ports or UDP can", profile.name);
    };
    let faults = Faults::parse(arguments.fault.iter().map(String::as_str))?;
    let length = arguments.seconds.map(Duration::try_from_secs_f64).transpose();
    let length = length.context("`--seconds` must be a non-negative number of seconds")?;
    let link = arguments.link.as_deref().map(PortSymlink::new).transpose().map_err(|why| anyhow!(why))?;
    let settings = EmulatorSettings {
        baud: profile.baud,
        rate: arguments.rate,
        faults,
        address: address(&profile, &format)?,
        ..EmulatorSettings::new(format)
    };
    if !BUILTIN_MOTIONS.contains(&arguments.motion.as_str()) {
        talk.say(format_args!("{}: simulating it to obtain its motion", arguments.motion));
    }
    let motion = HandMotion::of(&arguments.motion, profile.side)?;
    let again = arguments.again || motion.is_cyclic;
    let hand = move |time| if again { motion.sample_repeated(time) } else { motion.sample(time) };

    let stays = link.as_ref().map(|link| link.path().to_path_buf());
    let placed = link.map(|mut link| -> PathCallback {
        Box::new(move |place: Option<&Path>| link.point(place).map_err(std::io::Error::other))
    });
    let emulator = Emulator::start(settings, Box::new(EmulatedWearer::new(&profile, hand)), placed)
        .map_err(|why| anyhow!("{}: {why}", profile.name))?;
    let place = stays.map(|path| path.display().to_string()).or_else(|| emulator.place());
    println!("{}", place.context("it is plugged in")?);
    terminal::check()?;

    let start = Instant::now();
    // Ctrl-C unplugs the device and removes the link.
    interrupt::listen();
    while let Some(left) = length.map_or(Some(END_POLL), |length| length.checked_sub(start.elapsed())) {
        if interrupt::is_asked() {
            break;
        }
        match emulator.events().recv_timeout(left.min(END_POLL)) {
            Ok(event @ EmulatorEvent::Received(_)) => talk.detail(described(&start, &event)),
            Ok(event) => talk.say(described(&start, &event)),
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => bail!("the thread of the emulated device failed"),
        }
    }
    Ok(())
}

fn described(start: &Instant, event: &EmulatorEvent) -> String {
    format!("{:8.3} s: {event}", start.elapsed().as_secs_f64())
}

/// The emulated device for one hand.
fn wear_on(profile: &mut DeviceProfile, hand: Side) {
    profile.side = Some(hand);
    if let DeviceKind::Wire(
        Format::DataGlove5 { side, .. } | Format::DataGlove5Wireless { side, .. } | Format::DataGlove16 { side, .. },
    ) = &mut profile.kind
    {
        *side = hand;
    }
}

/// Destination of datagrams: the loopback address at which the profile listens.
fn address(profile: &DeviceProfile, format: &Format) -> anyhow::Result<Option<SocketAddr>> {
    let (protocol::Link::Udp { .. }, Port::Named(address)) = (format.link(), &profile.port) else { return Ok(None) };
    let mut address: SocketAddr =
        address.parse().with_context(|| format!("`{address}` is not an address such as 127.0.0.1:39539"))?;
    if address.ip().is_unspecified() {
        address.set_ip(Ipv4Addr::LOCALHOST.into());
    }
    if !address.ip().is_loopback() {
        bail!("{address} is not a loopback address; emulated devices send to this machine only");
    }
    Ok(Some(address))
}
