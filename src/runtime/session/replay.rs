use std::fmt;
use std::sync::Arc;

use crate::record::{Ending, Recording};

/// A recording that is played, and where the run went another way.
pub struct Replay {
    pub recording: Arc<Recording>,
    pub differs: Option<Difference>,
}

impl Replay {
    /// A recording before its first step, where the state has a hash.
    pub fn new(recording: Arc<Recording>, start: u64) -> Self {
        let recorded = recording.start;
        let differs = (recorded != start).then_some(Difference::Start { recorded, found: start });
        Self { recording, differs }
    }

    /// Number of steps.
    pub fn length(&self) -> u64 {
        self.recording.steps.len() as u64
    }

    /// Compares the state after a step, counted from 1, with the recorded one; the first difference counts.
    pub fn compare(&mut self, step: u64, time: f64, found: u64) {
        let recorded = self.recording.steps.get(step as usize - 1).map(|step| step.hash);
        if let Some(recorded) = recorded.filter(|recorded| *recorded != found && self.differs.is_none()) {
            self.differs = Some(Difference::Step { step, time, recorded, found });
        }
    }

    /// How the run so far differs from the recorded one: it has made some steps, and it is over or not.
    pub fn difference(&self, steps: u64, over: bool) -> Option<Difference> {
        let recorded = self.length();
        let length = Difference::Length { recorded, found: steps, over };
        let ends_otherwise = match over {
            true => steps < recorded,
            false => steps >= recorded && self.recording.ending == Ending::Over,
        };
        self.differs.clone().or(ends_otherwise.then_some(length))
    }
}

/// How a run differs from the recorded one.
#[derive(Clone, Debug, PartialEq)]
pub enum Difference {
    /// Before the first step.
    Start {
        /// Hash of the recorded state.
        recorded: u64,
        /// Hash of the state here.
        found: u64,
    },
    /// In a step, the first of those.
    Step {
        /// Its number, from 1.
        step: u64,
        /// The time it led to, s.
        time: f64,
        /// Hash of the recorded state after it.
        recorded: u64,
        /// Hash of the state here.
        found: u64,
    },
    /// It ends elsewhere.
    Length {
        /// Steps that were recorded.
        recorded: u64,
        /// Steps made here.
        found: u64,
        /// Whether it was over then.
        over: bool,
    },
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start { recorded, found } => {
                write!(f, "the state before the first step differs: recorded {recorded:016x}, found {found:016x}")
            }
            Self::Step { step, time, recorded, found } => {
                write!(f, "step {step}, at {time:.4} s, differs: recorded {recorded:016x}, found {found:016x}")
            }
            Self::Length { recorded, found, over: true } => {
                write!(f, "the run was over after {found} steps; recorded are {recorded}")
            }
            Self::Length { recorded, .. } => {
                write!(f, "the run continues after step {recorded}, where the recording ends")
            }
        }
    }
}
