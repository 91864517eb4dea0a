mod calibrate;
mod emulate;
mod link;
mod list;
mod monitor;
mod performer;
mod playback;
mod record;

use std::path::Path;
use std::time::Instant;

use anyhow::anyhow;
use clap::Subcommand;

pub use self::playback::{is_recording, recorded_profile, start};
use super::Talk;
use crate::assets::{DeviceProfile, load_hand};
use crate::devices::{Hands, SourceHandle};
use crate::hand::Skeleton;
use crate::tracking::Side;

/// What to do with devices.
#[derive(Subcommand)]
pub enum Command {
    /// List what is plugged in, which profile fits it, and why something is not found.
    List(list::Arguments),
    /// Watch what a device says, live: raw values, bends, angles, rate, jitter, errors.
    Monitor(monitor::Arguments),
    /// Measure how a glove sits on your hand, pose by pose, and save it as your profile.
    Calibrate(calibrate::Arguments),
    /// Be a device that is not there: prints the path of a pseudo-terminal that speaks its bytes.
    Emulate(emulate::Arguments),
    /// Record the bytes of a device, to be played in its place: `--device FILE.fpraw`.
    Record(record::Arguments),
}

pub fn run(command: &Command, talk: Talk) -> anyhow::Result<()> {
    match command {
        Command::List(arguments) => list::run(arguments, talk),
        Command::Monitor(arguments) => monitor::run(arguments),
        Command::Calibrate(arguments) => calibrate::run(arguments, talk),
        Command::Emulate(arguments) => emulate::run(arguments, talk),
        Command::Record(arguments) => record::run(arguments, talk),
    }
}

/// Starts the device of a profile for the average hands; also the instant at which its time begins.
fn start_device(profile: &DeviceProfile) -> anyhow::Result<(SourceHandle, Instant)> {
    let epoch = Instant::now();
    Ok((start(profile, &average_hands()?, epoch)?, epoch))
}

/// The hands for devices that move none of a scene.
fn average_hands() -> anyhow::Result<Hands> {
    Ok(Hands { left: average_skeleton(Side::Left)?, right: average_skeleton(Side::Right)? })
}

/// The skeleton of the average hand of a side.
pub fn average_skeleton(side: Side) -> anyhow::Result<Skeleton> {
    let side = side.name();
    let hand = load_hand(Path::new(&format!("fingerpad:/hands/{side}.toml")))?;
    Skeleton::new(&hand).map_err(|finger| anyhow!("the {side} hand: its {} has no length", finger.name()))
}
