//! A scene or a script in a headset.

use std::path::PathBuf;

use crate::assets::Setting;

#[cfg(all(feature = "vr", not(target_os = "macos")))]
pub use self::showing::run;

/// Arguments of `vr`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Scene file (.toml), script (.rhai), or the name of a shipped one
    #[arg(default_value = "play")]
    scene: PathBuf,
    #[command(flatten)]
    changes: super::scene_arguments::SceneArguments,
    /// Write a recording that `replay` can repeat and verify
    #[arg(long, value_name = "FILE.fpr")]
    record: Option<PathBuf>,
    /// A glove that moves the fingers: a profile (.toml) or the name of a shipped one, with `@PORT` for another port. The palm is
    /// that of the controller or tracker on the wrist
    #[arg(long, value_name = "PROFILE[@PORT]")]
    device: Vec<String>,
    /// Where the controllers are mounted on gloved hands. Without the file you are guided to calibrate them, and it is written
    #[arg(long, value_name = "FILE.toml", requires = "device")]
    mount: Option<PathBuf>,
    /// End after N drawn frames
    #[arg(long, value_name = "N")]
    frames: Option<u64>,
    /// Write the pictures of both eyes of the last frame, side by side
    #[arg(long, value_name = "FILE.png", requires = "frames")]
    picture: Option<PathBuf>,
    /// Write the sizes of the tracked hands as hand files NAME-left.toml and NAME-right.toml
    #[arg(long, value_name = "NAME")]
    hands: Option<PathBuf>,
    /// Show what the user sees in a window too: `C` recentres, `R` restarts, Space pauses, Escape quits
    #[arg(long)]
    mirror: bool,
    /// Print the costs of a frame as JSON
    #[arg(long)]
    json: bool,
}

impl Arguments {
    /// Those of `run --vr`.
    pub fn of_run(
        scene: PathBuf,
        settings: Vec<Setting>,
        record: Option<PathBuf>,
        device: Vec<String>,
        json: bool,
    ) -> Self {
        let changes = super::scene_arguments::SceneArguments::of(settings);
        let (mount, frames, picture, hands) = (None, None, None, None);
        Self { scene, changes, record, device, mount, frames, picture, hands, mirror: false, json }
    }
}

/// A headset needs the feature.
#[cfg(not(all(feature = "vr", not(target_os = "macos"))))]
pub fn run(_arguments: &Arguments, _talk: super::Talk) -> anyhow::Result<super::run::RunEnd> {
    anyhow::bail!("a headset needs the Cargo feature `vr`, which this build does not have")
}

#[cfg(all(feature = "vr", not(target_os = "macos")))]
mod showing {
    use std::path::{Path, PathBuf};

    use anyhow::{Context, bail};
    use serde_json::{Map, Value, json};

    use super::Arguments;
    use crate::assets::{load_mounts, mounts_text};
    use crate::cli::run::RunEnd;
    use crate::cli::{Talk, interrupt, outputs, write_file};
    use crate::devices::calibration::{hand_file, hand_length};
    use crate::devices::openxr::{HandSize, TrackedJoint};
    use crate::runtime::live::{self, Ended};
    use crate::runtime::{Session, driven_by, gloved_headset_devices, headset_profile, open_profile};
    use crate::tracking::Side;
    use crate::viewer::headset::{DrawnFrame, Headset, HeadsetOptions, HeadsetSummary, TrackedInput, TrackingSource};

    /// The command.
    pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<RunEnd> {
        interrupt::listen();
        let settings = arguments.changes.settings([])?;
        let profile = headset_profile()?;
        let gloves: Vec<_> = arguments.device.iter().map(|name| open_profile(name)).collect::<Result<_, _>>()?;
        let mount_file = arguments.mount.as_deref();
        let known = mount_file.filter(|file| file.exists()).map(load_mounts).transpose()?;
        let mut mounts = known.unwrap_or_default();
        let driven = driven_by(std::slice::from_ref(&profile));
        let mut session = Session::load_with_devices(&arguments.scene, &settings, driven)?;
        let files = hand_files(arguments)?;
        check_outputs(arguments, &session)?;
        // Before anything is started or written.
        let headset = Headset::open()?;
        if !headset.tracks_hands() {
            talk.say("the runtime does not track hands; controllers move them");
        }
        let (devices, channels) = gloved_headset_devices(&profile, &gloves, &mounts, &session.scene().world)?;
        session.attach_devices(devices);
        if let Some(file) = &arguments.record {
            session.record(file)?;
        }
        let options = live::LiveOptions { settings, ..live::LiveOptions::default() };
        let (link, thread) =
            live::start(session, options).context("the thread of the simulation could not be started")?;
        let mut sizes = Sizes::default();
        let mut measure = |seen: &DrawnFrame<'_>| seen.inputs.iter().flatten().for_each(|input| sizes.add(input));
        let options = HeadsetOptions {
            frames: arguments.frames,
            keeps_pictures: arguments.picture.is_some(),
            mirror: arguments.mirror,
            inputs: channels.inputs,
            outputs: channels.outputs,
            is_over: interrupt::is_asked,
            watch: arguments.hands.is_some().then_some(&mut measure),
        };
        let shown = headset.show(&link, options);
        let Ok(ended) = thread.join() else { bail!("the simulation ended unexpectedly") };
        ended.recorded?;
        let ended = Ended { recorded: Ok(()), ..ended };
        let summary = shown?;
        if let Some(file) = &arguments.picture {
            write_picture(file, &summary)?;
        }
        for (side, mount) in channels.mounts.try_iter() {
            mounts[side as usize] = Some(mount.palm);
            let mm = 1e3 * mount.slip;
            talk.say(format_args!("the controller on the {} hand is calibrated, within {mm:.1} mm", side.name()));
            if let Some(file) = mount_file {
                write_file(file, mounts_text(&mounts).as_bytes())?;
            }
        }
        for (side, file) in [Side::Left, Side::Right].into_iter().zip(&files) {
            if let Some(file) = file {
                sizes.write(side, file, talk)?;
            }
        }
        report(&summary, &ended, arguments.json, talk);
        ending(&summary, &ended, arguments.record.as_deref())
    }

    /// The files of `--hands`, which must not exist.
    fn hand_files(arguments: &Arguments) -> anyhow::Result<[Option<PathBuf>; 2]> {
        let file = |side| arguments.hands.as_deref().map(|name| hand_file_name(name, side));
        let files = [Side::Left, Side::Right].map(file);
        match files.iter().flatten().find(|file| file.exists()) {
            Some(known) => bail!("{} already exists; choose another name for --hands", known.display()),
            None => Ok(files),
        }
    }

    fn check_outputs(arguments: &Arguments, session: &Session) -> anyhow::Result<()> {
        let written = [("--record", &arguments.record), ("--picture", &arguments.picture)];
        let written: Vec<_> = written.iter().filter_map(|(name, file)| Some((*name, file.as_deref()?))).collect();
        outputs::check(&written, &session.inputs())
    }

    /// Writes both eyes side by side.
    fn write_picture(file: &Path, summary: &HeadsetSummary) -> anyhow::Result<()> {
        let both = summary.pictures.first().zip(summary.pictures.get(1));
        let picture = both.and_then(|(left, right)| left.beside(right));
        let picture = picture.context("no frame was drawn, so there is no picture")?;
        write_file(file, &picture.png_bytes()?)
    }

    fn ending(summary: &HeadsetSummary, ended: &Ended, recording: Option<&Path>) -> anyhow::Result<RunEnd> {
        if let Some(lost) = &summary.lost {
            match recording {
                Some(file) => bail!("{lost}; the recording {} is complete up to then", file.display()),
                None => bail!("{lost}"),
            }
        }
        Ok(match ended.success {
            Some(false) => RunEnd::Failed,
            _ if interrupt::is_asked() => RunEnd::Interrupted,
            _ => RunEnd::Done,
        })
    }

    /// Lengths of the tracked hands, left and right, m.
    #[derive(Default)]
    struct Sizes([Vec<f64>; 2]);

    impl Sizes {
        /// Samples of a hand that are kept.
        const MOST: usize = 3000;

        fn add(&mut self, input: &TrackedInput) {
            let lengths = &mut self.0[input.side as usize];
            // Joints that are inferred from a controller have the size of a model.
            let tracked = input
                .joints
                .as_ref()
                .filter(|joints| joints.confidence > 0.99 && joints.source != Some(TrackingSource::Controller));
            let Some(tracked) = tracked.filter(|_| lengths.len() < Self::MOST) else { return };
            let joints = tracked.joints.map(|(position, orientation)| TrackedJoint { position, orientation });
            lengths.extend(HandSize::measure(&joints).hand_length);
        }

        /// Writes a hand file that scales the average hand.
        fn write(&self, side: Side, file: &Path, talk: Talk) -> anyhow::Result<()> {
            let lengths = &self.0[side as usize];
            if lengths.is_empty() {
                talk.say(format_args!("no {} hand was tracked, so {} was not written", side.name(), file.display()));
                return Ok(());
            }
            let length = hand_length(lengths).with_context(|| format!("the {} hand was not measured", side.name()))?;
            let base = format!("fingerpad:/hands/{}.toml", side.name());
            let name = file.file_stem().unwrap_or_default().to_string_lossy();
            write_file(file, hand_file(&base, &name, length).as_bytes())?;
            let mm = 1e3 * length;
            talk.say(format_args!("the {} hand is {mm:.0} mm long; wrote {}", side.name(), file.display()));
            Ok(())
        }
    }

    fn hand_file_name(name: &Path, side: Side) -> PathBuf {
        let stem = name.file_name().unwrap_or_default().to_string_lossy();
        name.with_file_name(format!("{stem}-{}.toml", side.name()))
    }

    /// Prints what was shown, and what a frame cost.
    fn report(summary: &HeadsetSummary, ended: &Ended, json: bool, talk: Talk) {
        let ms = |seconds: f64| 1e3 * seconds;
        let (width, height) = summary.size;
        if json {
            let stage = |cost: &crate::viewer::headset::StageCost| {
                (
                    cost.name.into(),
                    json!({ "median_ms": ms(cost.median), "p99_ms": ms(cost.p99), "max_ms": ms(cost.max) }),
                )
            };
            let stages: Map<String, Value> = summary.costs.iter().map(stage).collect();
            let eyes: Vec<Value> = summary.eyes.iter().map(eye).collect();
            let hands: Vec<Value> = summary.hands.iter().map(hand).collect();
            println!(
                "{}",
                json!({
                    "runtime": summary.runtime, "headset": summary.headset, "space": summary.space,
                    "size": [width, height], "frames": summary.frames, "seconds": summary.seconds,
                    "time": summary.time, "simulation": ended.costs.to_string(), "stages": stages, "eyes": eyes, "hands": hands,
                    "samples": summary.samples.0, "sample_ms": ms(summary.samples.1), "mirrored": summary.mirrored,
                    "lost": summary.lost.as_ref().map(ToString::to_string),
                })
            );
            return;
        }
        talk.say(format_args!("{}, {}, {} space", summary.runtime, summary.headset, summary.space));
        let (frames, seconds) = (summary.frames, summary.seconds);
        println!("{frames} frames of {width} × {height} pixels an eye in {seconds:.1} s; {}", ended.costs);
        let (samples, spent) = summary.samples;
        let rate = samples as f64 / seconds.max(1e-9);
        println!("{samples} samples of the hands, {rate:.0} a second, {:.3} ms each", ms(spent));
        println!("a frame on the CPU:      median       p99       max");
        for cost in &summary.costs {
            println!("    {:<16} {:10.2} {:9.2} {:9.2} ms", cost.name, ms(cost.median), ms(cost.p99), ms(cost.max));
        }
    }

    fn hand(tracked: &Option<(Option<TrackingSource>, f64)>) -> Value {
        tracked.map_or(
            Value::Null,
            |(source, confidence)| json!({ "source": source.map(TrackingSource::name), "confidence": confidence }),
        )
    }

    fn eye(view: &crate::viewer::headset::EyeView) -> Value {
        let (p, q, fov) = (view.pose.translation.vector, view.pose.rotation, view.fov);
        json!({
            "position": [p.x, p.y, p.z], "orientation": [q.i, q.j, q.k, q.w],
            "fov": { "left": fov.left, "right": fov.right, "up": fov.up, "down": fov.down },
        })
    }
}
