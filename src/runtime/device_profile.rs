//! Device profiles by name, and the sources that they start.

use std::path::{Path, PathBuf};
use std::time::Instant;

use super::byte_playback::{is_byte_recording, opener, recorded_profile};
use super::error::Error;
use super::hand_motion::HandMotion;
use super::motion_source;
use crate::assets::{
    DeviceKind, DeviceProfile, Files, Port, Problems, builtin_device_file, builtin_devices, load_hand,
};
use crate::devices::emulator::{EmulatedWearer, Emulator, EmulatorSettings};
use crate::devices::fusion::Fusion;
use crate::devices::{DeviceError, Hands, SourceHandle, start, start_on};
use crate::hand::Skeleton;
use crate::text::suggestion;
use crate::tracking::{Driven, Side};

/// The profile of a device: a file (.toml), the name of a shipped profile, or a recording of bytes (.fpraw), which is played in
/// place of the device. `@PORT` after the name replaces the port of the profile.
pub fn open_profile(name: &str) -> Result<DeviceProfile, Error> {
    if is_byte_recording(Path::new(name)) && !name.contains('@') {
        return recorded_profile(Path::new(name));
    }
    open_profile_from(&Files::default(), name).map(|(profile, _)| profile)
}

/// Opens a profile through a set of files that remembers what was read; also the path of the profile. Takes no recordings.
pub fn open_profile_from(files: &Files, name: &str) -> Result<(DeviceProfile, PathBuf), Error> {
    let (name, port) = match name.rsplit_once('@') {
        Some((name, port)) => (name, Some(port)),
        None => (name, None),
    };
    let file = Path::new(name);
    let is_file = file.extension().is_some_and(|e| e == "toml");
    let path = if is_file { Some(file.into()) } else { builtin_device_file(name) };
    let path: PathBuf = path.ok_or_else(|| unknown_profile(name))?;
    let mut profile = files.load_device(&path)?;
    if let Some(port) = port {
        profile.port = Port::Named(port.into());
    }
    Ok((profile, path))
}

fn unknown_profile(name: &str) -> Error {
    let shipped: Vec<_> = builtin_devices().collect();
    let message = format!(
        "expected the profile of a device (.toml), a recording of its bytes (.fpraw), or a shipped profile ({}){}",
        shipped.join(", "),
        suggestion(name, &shipped)
    );
    Error::Unknown { name: name.into(), message }
}

/// The parts of the hands that devices of these profiles move.
pub fn driven_by(profiles: &[DeviceProfile]) -> Driven {
    let mut fusion = Fusion::new();
    for profile in profiles {
        fusion.add_source(profile);
    }
    fusion.drives()
}

/// Starts the device of a profile in its own thread, or plays the recording or motion that its profile names. `epoch` is time
/// zero of its samples.
pub fn start_device(profile: &DeviceProfile, hands: &Hands, epoch: Instant) -> Result<SourceHandle, Error> {
    let thread = |error| Error::Thread { name: profile.name.clone(), error };
    match &profile.kind {
        DeviceKind::Wire(format) => {
            let open = opener(profile, *format)?;
            start_on(profile, *format, hands, epoch, open).map_err(thread)
        }
        DeviceKind::Motion(file) => motion_source::start(profile, file, epoch),
        _ => start(profile, hands, epoch).map_err(|error| Error::Device { name: profile.name.clone(), error }),
    }
}

/// Emulates the device of a profile on a pseudo-terminal or by UDP, on a moving hand. `motion` is the name of a
/// built-in motion ([`BUILTIN_MOTIONS`](super::BUILTIN_MOTIONS)), a scene, a script or a recording; it is repeated.
///
/// Returns the emulator, which unplugs the device when it is dropped, and the profile with the port of the emulated device.
pub fn emulate(profile: &str, motion: &str) -> Result<(Emulator, DeviceProfile), Error> {
    let mut profile = open_profile(profile)?;
    let failed = |name: &str, error| Error::Device { name: name.into(), error };
    let DeviceKind::Wire(format) = profile.kind else {
        let message = "only gloves and trackers on serial ports or UDP can be emulated";
        return Err(failed(&profile.name, DeviceError::Emulation(message.into())));
    };
    let motion = HandMotion::of(motion, profile.side)?;
    let worn = EmulatedWearer::new(&profile, move |time| motion.sample_repeated(time));
    let settings = EmulatorSettings { baud: profile.baud, ..EmulatorSettings::new(format) };
    let emulator = Emulator::start(settings, Box::new(worn), None).map_err(|error| failed(&profile.name, error))?;
    if let Some(place) = emulator.place() {
        profile.port = Port::Named(place);
    }
    Ok((emulator, profile))
}

/// The average hands, for devices that are used without a world.
pub fn average_hands() -> Result<Hands, Error> {
    Ok(Hands { left: average_skeleton(Side::Left)?, right: average_skeleton(Side::Right)? })
}

/// The skeleton of the average hand of a side.
pub fn average_skeleton(side: Side) -> Result<Skeleton, Error> {
    let file = format!("fingerpad:/hands/{}.toml", side.name());
    let hand = load_hand(Path::new(&file))?;
    let failed = |finger: crate::tracking::Finger| {
        Problems::with_file(Path::new(&file), format!("its {} has no length", finger.name()))
    };
    Ok(Skeleton::new(&hand).map_err(failed)?)
}
