use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::player::{Difference, Player};
use super::run::summary::Summary;
use super::run::{End, Tables, conclude, play};
use super::{Talk, interrupt, outputs};
use crate::record::{Ending, Recording};

/// A recording to play again.
#[derive(clap::Args)]
pub struct Arguments {
    /// The recording (.fpr).
    recording: PathBuf,
    /// Compare the hash of the state after every step with the recorded one; exit code 1 if one differs.
    #[arg(long)]
    verify: bool,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Go no faster than the clock on the wall.
    #[arg(long)]
    realtime: bool,
    /// Write a table with a line for every step: poses, velocities, angles, contacts, solver, time.
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the same table as a Parquet file.
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<End> {
    let mut player = Player::load_recording(&arguments.recording)?;
    let outputs = [("--csv", &arguments.csv), ("--parquet", &arguments.parquet)];
    let outputs: Vec<_> = outputs.iter().filter_map(|(option, file)| Some((*option, file.as_deref()?))).collect();
    outputs::check(&outputs, &player.inputs())?;
    interrupt::listen();
    let csv: Vec<&Path> = arguments.csv.iter().map(PathBuf::as_path).collect();
    let parquet: Vec<&Path> = arguments.parquet.iter().map(PathBuf::as_path).collect();
    let mut tables = Tables::create(&player, &csv, &parquet)?;
    let mut summary = Summary::default();
    let played = play(&mut player, arguments.realtime, &mut summary, &mut tables, talk);
    tables.finish()?;
    if !player.is_over() && interrupt::is_asked() {
        played?;
        return Ok(conclude(&player, &summary, arguments.json, None));
    }
    let verdict = Verdict::of(&player, arguments.verify);
    match (&played, verdict.ends_as_recorded(&player), &verdict.differs) {
        // The run broke off then, and it does now.
        (Err(error), true, _) if arguments.verify => talk.say(format_args!("it broke off, as recorded: {error:#}")),
        (Err(error), _, Some(_)) => talk.say(format_args!("it broke off: {error:#}")),
        _ => played?,
    }
    let end = conclude(&player, &summary, arguments.json, Some(("recording", verdict.as_json(&player))));
    if !arguments.verify {
        verdict.warn(talk);
        return Ok(end);
    }
    if !arguments.json {
        println!("recording       {}", verdict.in_words());
    }
    Ok(if verdict.differs.is_some() { End::Failed } else { End::Done })
}

/// What came of the comparison with the recording.
struct Verdict {
    steps: u64,
    made_by: String,
    ending: Ending,
    differs: Option<Difference>,
    verify: bool,
}

impl Verdict {
    fn of(player: &Player, verify: bool) -> Self {
        let recording = player.recording();
        let made_by = |r: &Recording| format!("fingerpad {} on {}", r.header.program, r.header.machine);
        Self {
            steps: player.steps(),
            made_by: recording.map(made_by).unwrap_or_default(),
            ending: recording.map_or(Ending::Over, |r| r.ending.clone()),
            differs: player.difference(),
            verify,
        }
    }

    /// Whether all recorded steps were made and agree.
    fn ends_as_recorded(&self, player: &Player) -> bool {
        self.differs.is_none() && matches!(self.ending, Ending::Broken(_)) && player.length() == Some(self.steps)
    }

    fn in_words(&self) -> String {
        match (&self.differs, &self.ending) {
            (Some(differs), _) => format!("{differs} (recorded with {})", self.made_by),
            (None, Ending::CutOff { offset }) => {
                format!("all {} steps up to byte {offset}, where the recording was cut off, agree", self.steps)
            }
            (None, Ending::Stopped) => format!("all {} steps agree; the run was stopped there", self.steps),
            (None, Ending::Over | Ending::Broken(_)) => format!("all {} steps agree", self.steps),
        }
    }

    /// What the user should know who did not ask for a comparison.
    fn warn(&self, talk: Talk) {
        if let Some(differs) = &self.differs {
            talk.say(format_args!(
                "warning: this is not what was recorded: {differs} (recorded with {})",
                self.made_by
            ));
        }
        if let Ending::CutOff { offset } = self.ending {
            talk.say(format_args!("the recording was cut off after step {}, at byte {offset}", self.steps));
        }
    }

    fn as_json(&self, player: &Player) -> Value {
        let Some(recording) = player.recording() else { return Value::Null };
        let ending = match &self.ending {
            Ending::Over => "over",
            Ending::Stopped => "stopped",
            Ending::Broken(_) => "broken",
            Ending::CutOff { .. } => "cut off",
        };
        let hash = |hash: &u64| format!("{hash:016x}");
        let differs = self.differs.as_ref().map(|differs| match differs {
            Difference::Start { recorded, found } => {
                json!({ "step": 0, "time": 0.0, "recorded": hash(recorded), "found": hash(found) })
            }
            Difference::Step { step, time, recorded, found } => {
                json!({ "step": step, "time": time, "recorded": hash(recorded), "found": hash(found) })
            }
            Difference::Length { recorded, found, .. } => json!({ "recorded_steps": recorded, "found_steps": found }),
        });
        json!({
            "file": player.file(),
            "program": recording.header.program,
            "machine": recording.header.machine,
            "source": recording.header.file,
            "steps": recording.steps.len(),
            "ending": ending,
            "agrees": self.verify.then_some(self.differs.is_none()),
            "differs": differs,
        })
    }
}
