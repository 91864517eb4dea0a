use super::listen::{Ear, Silence};
use super::{OutputFile, Talk};
use crate::assets::{DeviceProfile, load_hand};
use crate::devices::calibration::{hand_file, hand_length};
use crate::tracking::Side;

/// Measuring time, s.
const MEASURING_TIME: f64 = 1.5;

/// Measures the hands that a headset tracks and writes a hand file for each.
pub fn run(
    profile: &DeviceProfile,
    user: &str,
    target: impl Fn(&str) -> anyhow::Result<OutputFile>,
    ear: &mut Ear,
    talk: Talk,
) -> anyhow::Result<()> {
    let sides: Vec<Side> =
        [Side::Left, Side::Right].into_iter().filter(|s| profile.side.is_none_or(|own| own == *s)).collect();
    // Report existing files before measuring.
    let targets = sides.iter().map(|side| target(side.name())).collect::<anyhow::Result<Vec<_>>>()?;
    talk.say("Hold your hands flat and still in view of the headset.");
    ear.wait()?;
    ear.forget();
    let samples = ear.for_seconds(MEASURING_TIME).map_err(|Silence(why)| anyhow::anyhow!("{why}"))?;
    let mut measured = Vec::new();
    for (side, target) in sides.into_iter().zip(targets) {
        let lengths: Vec<f64> = samples.iter().filter(|s| s.side == side).filter_map(|s| s.hand_length).collect();
        if !lengths.is_empty() {
            measured.push((
                side,
                target,
                hand_length(&lengths).map_err(|why| anyhow::anyhow!("{} hand: {why}", side.name()))?,
            ));
        }
    }
    if measured.is_empty() {
        anyhow::bail!("{} tracked no hand to measure; hold a hand in view of the headset", profile.name);
    }
    let both = measured.len() > 1;
    for (side, mut target, length) in measured {
        // Two hands need two file names.
        let stem = target.file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        if both && !stem.ends_with(side.name()) {
            target.file = target.file.with_file_name(format!("{stem}-{}.toml", side.name()));
        }
        let base = format!("fingerpad:/hands/{}.toml", side.name());
        target
            .write(&hand_file(&base, &format!("{user}, {}", side.name()), length), |file| load_hand(file).map(drop))?;
        talk.say(format_args!(
            "The {} hand is {:.0} mm long. To use it, add to [hand.…] of a scene:",
            side.name(),
            1e3 * length
        ));
        talk.say(format_args!("  file = \"{}\"", target.file.display()));
        println!("{}", target.file.display());
    }
    Ok(())
}
