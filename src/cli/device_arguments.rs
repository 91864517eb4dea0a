use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use serde_json::{Value, json};

use super::run::summary::TimeStatistics;
use super::{Talk, interrupt};
use crate::assets::{DeviceKind, DeviceProfile, Files, Setting};
use crate::runtime::{DeviceSet, DeviceStatus, HapticPort, Session, driven_by, open_profile, open_profile_from};

/// The devices that move the hands.
#[derive(clap::Args)]
pub struct DeviceArguments {
    /// Device profile (.toml) or the name of a shipped one, for a device that moves a hand; `@PORT` overrides its port. Repeat it to combine devices into one hand
    #[arg(long, value_name = "PROFILE[@PORT]")]
    device: Vec<String>,
    /// A force-feedback device for the `[haptic]` tool of the scene, in real time: `bridge` for any device over UDP, or `inverse3`, with `@ADDRESS:PORT` or `@PORT` for another address
    #[arg(long, value_name = "DEVICE[@ADDRESS]")]
    haptic: Option<HapticPort>,
    /// Rate of the forces on the first hand of the devices, computed between the steps of the scene, such as 1000 Hz; by default once per step.
    #[arg(long, value_name = "HZ", requires = "device", value_parser = feel_rate)]
    feel_rate: Option<f64>,
    /// Seconds to wait for devices.
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", requires = "device")]
    device_wait: f64,
}

impl DeviceArguments {
    /// Whether any are given.
    pub fn any(&self) -> bool {
        !self.device.is_empty() || self.haptic.is_some()
    }

    /// Their names, as given.
    pub fn names(&self) -> &[String] {
        &self.device
    }

    /// Files of profiles with their bases, the motions that they name, and recordings that take the place of devices.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let files = Files::default();
        let mut inputs = Vec::new();
        for name in &self.device {
            inputs.push(PathBuf::from(name.rsplit_once('@').map_or(name.as_str(), |(file, _)| file)));
            // Recordings of bytes are not profiles; profiles were read without an error before.
            let Ok((profile, _)) = open_profile_from(&files, name) else { continue };
            inputs.extend(match profile.kind {
                DeviceKind::Motion(file) => Some(file),
                _ => None,
            });
        }
        inputs.extend(files.paths());
        inputs
    }

    /// Loads a session and attaches its devices once they send samples.
    pub fn load(&self, scene: &Path, settings: &[Setting], talk: Talk) -> anyhow::Result<Session> {
        let mut session = self.load_tracked(scene, settings, talk)?;
        if let Some(port) = &self.haptic {
            // The device must be without force however the program ends.
            interrupt::listen();
            session.attach_haptics(port.clone())?;
            talk.detail(format_args!("{port}: waiting for poses"));
        }
        Ok(session)
    }

    fn load_tracked(&self, scene: &Path, settings: &[Setting], talk: Talk) -> anyhow::Result<Session> {
        if self.device.is_empty() {
            return Ok(Session::load(scene, settings)?);
        }
        // Motors must be released however the program ends.
        interrupt::listen();
        let profiles: Vec<DeviceProfile> =
            self.device.iter().map(|name| open_profile(name)).collect::<Result<_, _>>()?;
        let timeout =
            Duration::try_from_secs_f64(self.device_wait).context("`--device-wait` is a number of seconds")?;
        let mut session = Session::load_with_devices(scene, settings, driven_by(&profiles))?;
        let mut devices = DeviceSet::start(&profiles, &session.scene().world)?;
        devices.wait(timeout, |changes| {
            changes.iter().for_each(|change| talk.say(change));
            !interrupt::is_asked()
        })?;
        session.attach_devices(devices);
        if let Some(rate) = self.feel_rate {
            session.feel_at(rate)?;
        }
        Ok(session)
    }
}

/// A rate of `--feel-rate`.
fn feel_rate(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(rate) if (10.0..=10_000.0).contains(&rate) => Ok(rate),
        _ => Err(format!("`{text}` is no rate from 10 to 10000 Hz")),
    }
}

/// State and statistics of devices, for `run --json`.
pub fn as_json(devices: &[DeviceStatus]) -> Value {
    let device = |device: &DeviceStatus| {
        let statistics = &device.statistics;
        json!({
            "name": device.name, "port": statistics.port, "state": device.state.to_string(),
            "opened": statistics.opened, "samples": device.samples, "age_ms": TimeStatistics::of(&device.ages).as_json(),
            "packets": statistics.decode.packets, "bad_checksums": statistics.decode.bad_checksums,
            "skipped_bytes": statistics.decode.skipped_bytes, "hint": statistics.hint,
        })
    };
    devices.iter().map(device).collect()
}

/// A line for a device.
pub fn line(device: &DeviceStatus) -> String {
    let age = TimeStatistics::of(&device.ages);
    format!(
        "{}: {}, {} samples, {:.1} ms old (99 %: {:.1} ms), {} bad packets",
        device.name, device.state, device.samples, age.median, age.p99, device.statistics.decode.bad_checksums
    )
}
