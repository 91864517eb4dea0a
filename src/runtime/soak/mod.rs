//! Random abuse of the whole program, with totals.
//!
//! A run consists of episodes of a few simulated seconds. Each is a random script (bodies added, removed, thrown and placed, settings changed, invalid
//! calls) in a closed room, with one or two hands that random trackers move: moves, jumps, dropouts, flicker, invalid
//! samples, and what decoders make of random bytes. Each episode is recorded; the recording is cut off at a random byte, as
//! by a killed program, and replayed. Scripts and samples are all in the recording, so it reproduces what happened.
//!
//! ```no_run
//! use std::ops::ControlFlow;
//! use fingerpad::runtime::soak::{SoakOptions, soak};
//!
//! let options = SoakOptions { seconds: 60.0, seed: 1, folder: std::env::temp_dir() };
//! let totals = soak(&options, |_| ControlFlow::Continue(()))?;
//! println!("{} episodes, {} faults", totals.episodes, totals.faults.len());
//! # Ok::<(), fingerpad::runtime::Error>(())
//! ```

mod dice;
mod episode;
mod motion;
mod noise;
mod plan;
mod totals;
mod verify;

use std::ops::ControlFlow;
use std::path::PathBuf;

use self::dice::Dice;
use self::episode::Episode;
use self::noise::Noise;
use self::plan::EpisodePlan;
pub use self::totals::{DEEP_PENETRATION, FaultKind, GROWTH, SoakFault, SoakTotals};
use crate::runtime::Error;

/// Simulated length of an episode, s.
const EPISODE: f64 = 6.0;
/// Episodes after which the memory is compared: buffers and caches of the allocator have grown by then.
const WARM: u64 = 8;

/// What a soak run does.
#[derive(Clone, Debug)]
pub struct SoakOptions {
    /// Simulated time, s.
    pub seconds: f64,
    /// Seed of all random choices.
    pub seed: u64,
    /// Folder for working files, and for recordings of faults.
    pub folder: PathBuf,
}

/// Runs episodes until the simulated time is over, or until `after_episode` breaks.
pub fn soak(
    options: &SoakOptions,
    mut after_episode: impl FnMut(&SoakTotals) -> ControlFlow<()>,
) -> Result<SoakTotals, Error> {
    let (mut totals, mut noise) = (SoakTotals::default(), Noise::new());
    let mut left = options.seconds;
    while left > 1e-9 {
        let seconds = left.min(EPISODE);
        let mut dice = Dice::new(options.seed, totals.episodes);
        let plan = EpisodePlan::new(&mut dice, seconds);
        Episode { options, plan: &plan, number: totals.episodes }.run(&mut dice, &mut noise, &mut totals)?;
        left -= seconds;
        totals.episodes += 1;
        totals.noise_bytes = noise.bytes;
        watch_memory(&mut totals);
        if after_episode(&totals).is_break() {
            break;
        }
    }
    judge_memory(&mut totals, options.seed);
    Ok(totals)
}

fn watch_memory(totals: &mut SoakTotals) {
    let Some(now) = resident_bytes() else { return };
    let start = totals.memory.filter(|_| totals.episodes > WARM).map_or(now, |[start, _]| start);
    totals.memory = Some([start, now]);
}

fn judge_memory(totals: &mut SoakTotals, seed: u64) {
    // A backtrace of a panic loads the symbols of the program, which is no leak.
    if let Some([start, end]) = totals.memory.filter(|_| totals.count(FaultKind::Panic) == 0)
        && end > start + GROWTH
    {
        let message = format!("the memory grew from {} to {} MB", start >> 20, end >> 20);
        let (episode, time) = (totals.episodes, totals.seconds);
        totals.faults.push(SoakFault { kind: FaultKind::Memory, seed, episode, time, message, recording: None });
    }
}

/// Resident memory of this program, where the system reports it as a file.
fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().trim_end_matches(" kB").trim().parse().ok()?;
    Some(1024 * kilobytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(name: &str, seconds: f64, seed: u64) -> SoakTotals {
        let folder = std::env::temp_dir().join(format!("fingerpad-soak-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        let options = SoakOptions { seconds, seed, folder: folder.clone() };
        let totals = soak(&options, |_| ControlFlow::Continue(())).expect("working files");
        std::fs::remove_dir_all(folder).expect("the folder");
        totals
    }

    #[test]
    fn the_same_seed_gives_the_same_run() {
        let totals = [7, 7, 8].map(|seed| run("same", 0.6, seed));
        let [first, second, other] = &totals;
        assert_eq!((first.hash, first.steps, first.noise_bytes), (second.hash, second.steps, second.noise_bytes));
        assert_ne!(first.hash, other.hash);
        assert!(first.steps >= 60 && first.samples > 0 && first.noise_bytes > 0, "{first:?}");
        assert_eq!(first.faults, []);
        assert_eq!(first.verified, 1);
    }

    /// The scripts compile, and call only functions that exist. That they run is seen in the test above.
    #[test]
    fn random_scripts_are_valid() {
        for seed in 0..40 {
            let script = EpisodePlan::new(&mut Dice::new(seed, 0), 30.0).script;
            let checked = crate::script::check("soak.rhai", &script);
            assert!(checked.is_ok(), "seed {seed}: {checked:?}\n{script}");
        }
    }
}
