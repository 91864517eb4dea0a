//! The devices with which something is played.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};
use serde_json::{Value, json};

use super::Talk;
use super::devices::{average_skeleton, is_recording, recorded_profile, start};
use super::player::Player;
use super::run::summary::Spread;
use super::{feeling, interrupt};
use crate::assets::{DeviceProfile, Files, Port, Scene, Setting, builtin_device_file, builtin_devices};
use crate::body::HandId;
use crate::devices::fusion::Fusion;
use crate::devices::haptics::Levels;
use crate::devices::{Hands, SourceHandle, SourceState};
use crate::hand::Skeleton;
use crate::sim::World;
use crate::tracking::{Driven, HandSample, Side};

/// How often devices are looked at while they are waited for.
const LOOK: Duration = Duration::from_millis(5);

/// The devices that move the hands.
#[derive(clap::Args)]
pub struct DeviceArguments {
    /// A device that moves a hand: a profile (.toml) or the name of a shipped one, with `@PORT` for another port. Several make one hand.
    #[arg(long, value_name = "PROFILE[@PORT]")]
    device: Vec<String>,
    /// Seconds to wait for devices.
    #[arg(long, default_value_t = 5.0, value_name = "SECONDS", requires = "device")]
    device_wait: f64,
}

impl DeviceArguments {
    /// Whether there are any.
    pub fn any(&self) -> bool {
        !self.device.is_empty()
    }

    /// Files of profiles, and recordings that take the place of devices.
    pub fn inputs(&self) -> Vec<PathBuf> {
        let file = |name: &String| PathBuf::from(name.rsplit_once('@').map_or(name.as_str(), |(file, _)| file));
        self.device.iter().map(file).collect()
    }

    /// Loads what is to be played, with its devices ready.
    pub fn load(&self, scene: &Path, settings: &[Setting], talk: Talk) -> anyhow::Result<Player> {
        if !self.any() {
            return Player::load(scene, settings);
        }
        // Whoever ends the program ends it with motors that let go.
        interrupt::listen();
        let profiles: Vec<_> = self.device.iter().map(|name| open_profile(name)).collect::<anyhow::Result<_>>()?;
        let patience =
            Duration::try_from_secs_f64(self.device_wait).context("`--device-wait` is a number of seconds")?;
        let mut player = Player::load_for_device(scene, settings, driven_by(&profiles))?;
        let mut gear = Gear::put_on(&profiles, &player.scene())?;
        gear.wait(patience, talk)?;
        player.put_on(gear);
        Ok(player)
    }
}

/// The profile of a device, by the file or the name of a shipped one; `@PORT` after it wins over the port in it. That of a recording
/// of bytes (.fpraw) is the one with which it was made, and it is plugged into the recording.
pub fn open_profile(name: &str) -> anyhow::Result<DeviceProfile> {
    if is_recording(Path::new(name)) && !name.contains('@') {
        return recorded_profile(Path::new(name));
    }
    open_profile_from(&Files::default(), name).map(|(profile, _)| profile)
}

/// The same of files that are remembered, without recordings; and the path of its file.
pub fn open_profile_from(files: &Files, name: &str) -> anyhow::Result<(DeviceProfile, PathBuf)> {
    let (name, port) = match name.rsplit_once('@') {
        Some((name, port)) => (name, Some(port)),
        None => (name, None),
    };
    let file = Path::new(name);
    let is_file = file.extension().is_some_and(|e| e == "toml");
    let path = if is_file { Some(file.into()) } else { builtin_device_file(name) };
    let path: PathBuf = path.with_context(|| {
        let shipped: Vec<_> = builtin_devices().collect();
        format!(
            "{name}: expected the profile of a device (.toml), a recording of its bytes (.fpraw), or a shipped profile ({})",
            shipped.join(", ")
        )
    })?;
    let mut profile = files.load_device(&path)?;
    if let Some(port) = port {
        profile.port = Port::Named(port.into());
    }
    Ok((profile, path))
}

/// What devices of these profiles move.
pub fn driven_by(profiles: &[DeviceProfile]) -> Driven {
    let mut fusion = Fusion::new();
    for profile in profiles {
        fusion.add_source(profile);
    }
    fusion.drives()
}

/// Devices that run, and the hands of a scene that they move.
pub struct Gear {
    epoch: Instant,
    fusion: Fusion,
    worn: Vec<Worn>,
    /// Number among the hands of the scene, name and side of the hands that are moved.
    hands: Vec<(usize, String, Side)>,
}

/// A device that runs.
struct Worn {
    handle: SourceHandle,
    /// The one hand it is for, and whether that feels something through it.
    side: Option<Side>,
    is_felt: bool,
    samples: u64,
    /// How old the newest sample was in each step that had one, s.
    ages: Vec<f64>,
    /// What was said of it last.
    state: SourceState,
    hint: Option<String>,
}

/// What came for the coming step.
#[derive(Default)]
pub struct Came {
    /// Name of a hand, and what is new of it.
    pub samples: Vec<(String, HandSample)>,
    /// Buttons, and whether they went down.
    pub buttons: Vec<(String, bool)>,
}

impl Gear {
    /// Starts the devices for the hands of a scene.
    pub fn put_on(profiles: &[DeviceProfile], scene: &Scene) -> anyhow::Result<Self> {
        let (epoch, mut fusion) = (Instant::now(), Fusion::new());
        let hands = fit(&mut fusion, scene);
        let wanted = driven_by(profiles);
        for side in [Side::Left, Side::Right] {
            let moved = wanted.palm[side as usize] || wanted.fingers[side as usize];
            let named = profiles.iter().find(|profile| profile.side == Some(side));
            if let Some(profile) = named.filter(|_| moved && !hands.iter().any(|(_, _, own)| *own == side)) {
                bail!("{} is for the {} hand, and the scene has none", profile.name, side.name());
            }
        }
        let skeletons = Hands { left: skeleton(scene, Side::Left)?, right: skeleton(scene, Side::Right)? };
        let mut worn = Vec::new();
        for profile in profiles {
            fusion.add_source(profile);
            let handle = start(profile, &skeletons, epoch)?;
            let state = SourceState::Connecting;
            let (side, is_felt) = (profile.side, profile.haptics.is_some());
            worn.push(Worn { handle, side, is_felt, samples: 0, ages: Vec::new(), state, hint: None });
        }
        Ok(Self { epoch, fusion, worn, hands })
    }

    /// Moves the hands of another scene from now on; they begin anew there.
    #[cfg(feature = "viewer")]
    pub fn move_to(&mut self, scene: &Scene) {
        self.hands = fit(&mut self.fusion, scene);
        for source in 0..self.worn.len() {
            [Side::Left, Side::Right].into_iter().for_each(|side| self.fusion.recentre(source, side));
        }
    }

    /// Waits until every device streams.
    pub fn wait(&mut self, patience: Duration, talk: Talk) -> anyhow::Result<()> {
        let start = Instant::now();
        while let Some(silent) = self.worn.iter().find(|worn| worn.handle.state() != SourceState::Streaming) {
            if start.elapsed() > patience {
                bail!("{}", silent.handle.complaint());
            }
            if interrupt::is_asked() {
                bail!("interrupted while waiting for {}", silent.handle.name());
            }
            std::thread::sleep(LOOK);
            self.tell_changes(talk);
        }
        self.tell_changes(talk);
        Ok(())
    }

    /// Says what has become of the devices since it was last said.
    pub fn tell_changes(&mut self, talk: Talk) {
        for worn in &mut self.worn {
            let (state, hint) = (worn.handle.state(), worn.handle.statistics().hint);
            if state != worn.state {
                talk.say(format_args!("{}: {state}", worn.handle.name()));
                worn.state = state;
            }
            if let Some(hint) = hint.as_ref().filter(|hint| worn.hint.as_ref() != Some(hint)) {
                talk.say(format_args!("{}: {hint}", worn.handle.name()));
            }
            worn.hint = hint;
        }
    }

    /// What came since the last step; `now` is the time of the simulation.
    pub fn gather(&mut self, now: f64) -> Came {
        let wall = self.epoch.elapsed().as_secs_f64();
        let mut came = Came::default();
        for (source, worn) in self.worn.iter_mut().enumerate() {
            let mut newest = None;
            for sample in worn.handle.samples().try_iter() {
                worn.samples += 1;
                newest = Some(sample.time);
                self.fusion.take(source, &sample);
            }
            worn.ages.extend(newest.map(|time| wall - time));
            for event in worn.handle.buttons().try_iter() {
                if event.name == "calibrate" && event.pressed {
                    [Side::Left, Side::Right].into_iter().for_each(|side| self.fusion.recentre(source, side));
                }
                came.buttons.push((event.name, event.pressed));
            }
        }
        for (_, name, side) in &self.hands {
            let news = self.fusion.news(*side, now - wall);
            came.samples.extend([news.palm, news.fingers].into_iter().flatten().map(|sample| (name.clone(), sample)));
        }
        came
    }

    /// The state of each device, for the window.
    #[cfg(feature = "viewer")]
    pub fn states(&self) -> Vec<crate::viewer::window::DeviceInfo> {
        let wall = self.epoch.elapsed().as_secs_f64().max(1e-3);
        let state = |worn: &Worn| {
            let state = worn.handle.state();
            crate::viewer::window::DeviceInfo {
                name: worn.handle.name().into(),
                is_good: state == SourceState::Streaming,
                state: state.to_string(),
                rate: worn.samples as f64 / wall,
            }
        };
        self.worn.iter().map(state).collect()
    }

    /// Lets the devices feel what the hands feel.
    pub fn feel(&self, world: &World) {
        for (hand, _, side) in &self.hands {
            let touch = feeling::touch(world, HandId::at(*hand), *side);
            self.worn.iter().for_each(|worn| worn.handle.feel(touch));
        }
    }

    /// The devices that let a hand feel something: their places among all, what they are called, and the one hand they are for.
    pub fn felt_by(&self) -> impl Iterator<Item = (usize, &str, Option<Side>)> {
        let felt = self.worn.iter().enumerate().filter(|(_, worn)| worn.is_felt);
        felt.map(|(place, worn)| (place, worn.handle.name(), worn.side))
    }

    /// What a device was last told that a hand feels.
    pub fn told(&self, device: usize, side: Side) -> Levels {
        self.worn.get(device).map_or(Levels::ZERO, |worn| worn.handle.told(side))
    }

    /// What became of the devices, for `run --json`.
    pub fn as_json(&self) -> Value {
        let device = |worn: &Worn| {
            let statistics = worn.handle.statistics();
            json!({
                "name": worn.handle.name(), "port": statistics.port, "state": worn.handle.state().to_string(),
                "opened": statistics.opened, "samples": worn.samples, "age_ms": Spread::of(&worn.ages).as_json(),
                "packets": statistics.decode.packets, "bad_checksums": statistics.decode.bad_checksums,
                "skipped_bytes": statistics.decode.skipped_bytes, "hint": statistics.hint,
            })
        };
        self.worn.iter().map(device).collect()
    }

    /// A line for each device.
    pub fn lines(&self) -> Vec<String> {
        let line = |worn: &Worn| {
            let (age, decode) = (Spread::of(&worn.ages), worn.handle.statistics().decode);
            format!(
                "{}: {}, {} samples, {:.1} ms old (99 %: {:.1} ms), {} bad packets",
                worn.handle.name(),
                worn.handle.state(),
                worn.samples,
                age.median,
                age.p99,
                decode.bad_checksums
            )
        };
        self.worn.iter().map(line).collect()
    }
}

/// The hands of a scene that are moved; of two of a side the first.
fn fit(fusion: &mut Fusion, scene: &Scene) -> Vec<(usize, String, Side)> {
    let mut hands: Vec<(usize, String, Side)> = Vec::new();
    for (i, (name, hand)) in scene.names.hands.iter().zip(&scene.world.bodies.hands).enumerate() {
        let side = hand.model().description.side;
        if !hands.iter().any(|(_, _, other)| *other == side) {
            fusion.add_hand(side, hand.skeleton.tracked.palm(), hand.skeleton.tracked.angles());
            hands.push((i, name.clone(), side));
        }
    }
    hands
}

/// The skeleton of a hand of the scene, or that of the average hand.
fn skeleton(scene: &Scene, side: Side) -> anyhow::Result<Skeleton> {
    if let Some(model) = scene.models.iter().find(|model| model.description.side == side) {
        return Ok(model.skeleton.clone());
    }
    average_skeleton(side)
}
