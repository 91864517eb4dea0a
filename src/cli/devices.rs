mod calibrate;
mod emulate;
mod link;
mod list;
mod monitor;
mod record;

use std::time::Instant;

use clap::Subcommand;

use super::Talk;
use crate::assets::DeviceProfile;
use crate::devices::SourceHandle;
use crate::runtime::{average_hands, start_device};

/// Subcommands of `devices`.
#[derive(Subcommand)]
pub enum DevicesCommand {
    /// List connected devices, matching profiles, and why a device was not found
    List(list::Arguments),
    /// Show the live data of a device: raw values, bends, angles, rate, jitter, errors
    Monitor(monitor::Arguments),
    /// Calibrate a glove pose by pose and save the result as a profile
    Calibrate(calibrate::Arguments),
    /// Emulate a device on a pseudo-terminal and print its path
    Emulate(emulate::Arguments),
    /// Record the raw bytes of a device, for playback with `--device FILE.fpraw`
    Record(record::Arguments),
}

pub fn run(command: &DevicesCommand, talk: Talk) -> anyhow::Result<()> {
    match command {
        DevicesCommand::List(arguments) => list::run(arguments, talk),
        DevicesCommand::Monitor(arguments) => monitor::run(arguments),
        DevicesCommand::Calibrate(arguments) => calibrate::run(arguments, talk),
        DevicesCommand::Emulate(arguments) => emulate::run(arguments, talk),
        DevicesCommand::Record(arguments) => record::run(arguments, talk),
    }
}

/// Starts the device of a profile for the average hands. Also returns the start instant of its clock.
fn start_average(profile: &DeviceProfile) -> anyhow::Result<(SourceHandle, Instant)> {
    let epoch = Instant::now();
    Ok((start_device(profile, &average_hands()?, epoch)?, epoch))
}
