//! Recordings of killed programs: cut off, damaged, read and replayed.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use super::dice::Dice;
use super::episode::text;
use crate::record::{RecordedStep, Recording};
use crate::runtime::Session;

/// Cuts a recording off at a random byte after its head, and replays it. Returns the number of its steps, or what is wrong.
pub fn verify(file: &Path, head: u64, made: u64, dice: &mut Dice) -> Result<u64, String> {
    let bytes = std::fs::read(file).map_err(|error| error.to_string())?;
    let whole = Recording::parse(file, &bytes).map_err(|error| error.to_string())?;
    if whole.steps.len() as u64 != made {
        return Err(format!("{} of {made} steps are in the recording", whole.steps.len()));
    }
    stand_damage(file, &bytes, &whole, dice)?;
    let after_head = bytes.len() - head as usize;
    let cut = bytes.len() - dice.below(1 + after_head / 2);
    let part = file.with_extension("part.fpr");
    std::fs::write(&part, &bytes[..cut]).map_err(|error| error.to_string())?;
    let replayed = catch_unwind(AssertUnwindSafe(|| replay(&part, &whole)));
    let _ = std::fs::remove_file(&part);
    replayed.unwrap_or_else(|panic| Err(format!("the replay panicked: {}", text(&*panic))))
}

fn replay(file: &Path, whole: &Recording) -> Result<u64, String> {
    let mut session = Session::load_recording(file).map_err(|error| error.to_string())?;
    let steps = session.recording().map_or(&[][..], |recording| &recording.steps);
    if !begins_with(whole, steps) {
        return Err("the steps of a recording that is cut off differ from those of the whole one".into());
    }
    while !session.is_over() {
        session.step().map_err(|error| format!("the replay ends with an error: {error}"))?;
    }
    session.difference().map_or(Ok(session.steps()), |difference| Err(difference.to_string()))
}

/// Changes a byte: the recording is refused, or ends before the change.
fn stand_damage(file: &Path, bytes: &[u8], whole: &Recording, dice: &mut Dice) -> Result<(), String> {
    let (at, change) = (dice.below(bytes.len()), 1 + dice.below(255) as u8);
    let mut damaged = bytes.to_vec();
    damaged[at] ^= change;
    match catch_unwind(|| Recording::parse(file, &damaged)) {
        Err(panic) => Err(format!("byte {at} changed: reading panicked: {}", text(&*panic))),
        Ok(Ok(read)) if !begins_with(whole, &read.steps) => {
            Err(format!("byte {at} changed: the recording was read with other steps"))
        }
        Ok(_) => Ok(()),
    }
}

/// Whether some steps are the first ones of a recording. Samples may be NaN, so they are not compared by their values.
fn begins_with(whole: &Recording, steps: &[RecordedStep]) -> bool {
    let same = |(a, b): (&RecordedStep, &RecordedStep)| a.hash == b.hash && a.inputs.len() == b.inputs.len();
    steps.len() <= whole.steps.len() && whole.steps.iter().zip(steps).all(same)
}
