use std::fmt;
use std::path::PathBuf;

/// Steps deeper than this are counted, m.
pub const DEEP_PENETRATION: f64 = 5e-4;
/// Growth of the program's memory that counts as a leak, bytes.
pub const GROWTH: u64 = 64 << 20;
/// Lowest time of the distribution of step times, s, and the ratio of two neighbouring bins.
const LOWEST: f64 = 1e-6;
const RATIO: f64 = 1.02;
const TIME_BINS: usize = 1100;

/// Kinds of faults. Each of them fails a soak run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// The program panicked.
    Panic,
    /// A number of the state is not finite.
    NotFinite,
    /// The world stopped for another reason: a body was too fast, or a valid script ended with an error.
    Stopped,
    /// The centre of a body left the room.
    Tunnelled,
    /// A decoder returned an invalid reading, or holds too many bytes.
    Decoder,
    /// A recording could not be read, or its replay differs.
    Recording,
    /// The memory of the program grew by more than [`GROWTH`].
    Memory,
}

impl FaultKind {
    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Panic => "panic",
            Self::NotFinite => "not finite",
            Self::Stopped => "stopped",
            Self::Tunnelled => "tunnelled",
            Self::Decoder => "decoder",
            Self::Recording => "recording",
            Self::Memory => "memory",
        }
    }
}

/// A fault that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct SoakFault {
    /// Kind.
    pub kind: FaultKind,
    /// Seed of the run.
    pub seed: u64,
    /// Episode, from 0.
    pub episode: u64,
    /// Simulated time in the episode, s.
    pub time: f64,
    /// What happened.
    pub message: String,
    /// A recording that reproduces it.
    pub recording: Option<PathBuf>,
}

impl fmt::Display for SoakFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, episode, time, message, .. } = self;
        write!(f, "{}: {message}; seed {seed}, episode {episode}, at {time:.4} s", self.kind.name())?;
        self.recording.iter().try_for_each(|file| write!(f, "; replay with `fingerpad replay {}`", file.display()))
    }
}

/// Totals of a soak run.
#[derive(Clone, Debug, Default)]
pub struct SoakTotals {
    /// Episodes, each with a world of its own.
    pub episodes: u64,
    /// Steps, without those of replays.
    pub steps: u64,
    /// Simulated time, s.
    pub seconds: f64,
    /// Samples of trackers.
    pub samples: u64,
    /// Bytes sent to decoders.
    pub noise_bytes: u64,
    /// Maximum speed of a body or a hand, m/s.
    pub top_speed: f64,
    /// Maximum penetration after a step, m.
    pub worst_depth: f64,
    /// Steps deeper than [`DEEP_PENETRATION`].
    pub deep_steps: u64,
    /// Groups of bodies in which the solver did not converge.
    pub unconverged: u64,
    /// Steps after which a palm was outside of the room.
    pub hand_outside: u64,
    /// Recordings that were cut off, replayed and found equal.
    pub verified: u64,
    /// Steps of these replays.
    pub replayed_steps: u64,
    /// Resident memory after the first episodes and at the end, bytes; `None` where it cannot be read.
    pub memory: Option<[u64; 2]>,
    /// A hash of all states. Two runs with the same seed and program have the same.
    pub hash: u64,
    /// Faults.
    pub faults: Vec<SoakFault>,
    times: TimeHistogram,
}

/// Distribution of step times in bins of two per cent, so that a run of any length needs the same memory.
#[derive(Clone, Debug)]
struct TimeHistogram {
    bins: Vec<u64>,
    worst: f64,
}

impl Default for TimeHistogram {
    fn default() -> Self {
        Self { bins: vec![0; TIME_BINS], worst: 0.0 }
    }
}

impl SoakTotals {
    /// Number of faults of a kind.
    pub fn count(&self, kind: FaultKind) -> usize {
        self.faults.iter().filter(|fault| fault.kind == kind).count()
    }

    /// Longest step, s.
    pub fn worst_step(&self) -> f64 {
        self.times.worst
    }

    /// The time that a part of the steps does not exceed, s, to two per cent.
    pub fn step_quantile(&self, part: f64) -> f64 {
        let wanted = (part * self.times.bins.iter().sum::<u64>() as f64).ceil() as u64;
        let mut seen = 0;
        let bin = self.times.bins.iter().position(|count| {
            seen += count;
            seen >= wanted
        });
        (LOWEST * RATIO.powi(bin.unwrap_or(0) as i32 + 1)).min(self.times.worst)
    }

    pub(super) fn add_time(&mut self, seconds: f64) {
        let bin = ((seconds / LOWEST).max(1.0).ln() / RATIO.ln()) as usize;
        self.times.bins[bin.min(TIME_BINS - 1)] += 1;
        self.times.worst = self.times.worst.max(seconds);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_are_within_two_per_cent() {
        let mut totals = SoakTotals::default();
        (1..=1000).for_each(|i| totals.add_time(1e-5 * f64::from(i)));
        for (part, truth) in [(0.5, 5e-3), (0.99, 9.9e-3), (1.0, 1e-2)] {
            assert!((totals.step_quantile(part) / truth - 1.0).abs() < 0.021, "{part}: {}", totals.step_quantile(part));
        }
        assert!((totals.worst_step() - 1e-2).abs() < 1e-12);
    }
}
