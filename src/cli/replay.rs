use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::run::summary::Summary;
use super::run::{RunEnd, Tables, conclude, play};
use super::{Talk, interrupt, outputs};
use crate::record::{Ending, Recording};
use crate::runtime::{Difference, Pacing, Session};

/// Arguments of `replay`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Recording (.fpr)
    recording: PathBuf,
    /// Compare the state hash after every step with the recorded one; exit with 1 on a difference
    #[arg(long)]
    verify: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Limit to real time
    #[arg(long)]
    realtime: bool,
    /// Write a CSV table with one row per step: poses, velocities, angles, contacts, solver, time
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Write the same table as a Parquet file
    #[arg(long, value_name = "FILE")]
    parquet: Option<PathBuf>,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<RunEnd> {
    let mut session = Session::load_recording(&arguments.recording)?;
    let outputs = [("--csv", &arguments.csv), ("--parquet", &arguments.parquet)];
    let outputs: Vec<_> = outputs.iter().filter_map(|(option, file)| Some((*option, file.as_deref()?))).collect();
    outputs::check(&outputs, &session.inputs())?;
    interrupt::listen();
    let csv: Vec<&Path> = arguments.csv.iter().map(PathBuf::as_path).collect();
    let parquet: Vec<&Path> = arguments.parquet.iter().map(PathBuf::as_path).collect();
    let mut tables = Tables::create(&session, &csv, &parquet)?;
    let mut summary = Summary::default();
    let pacing = if arguments.realtime { Pacing::RealTime } else { Pacing::AsFastAsPossible };
    let played = play(&mut session, pacing, &mut summary, &mut tables, talk);
    tables.finish()?;
    if !session.is_over() && interrupt::is_asked() {
        played?;
        return Ok(conclude(&session, &summary, arguments.json, None));
    }
    let verdict = Comparison::of(&session, arguments.verify);
    match (&played, verdict.ends_as_recorded(&session), &verdict.differs) {
        // The recorded run failed at this step too.
        (Err(error), true, _) if arguments.verify => talk.say(format_args!("the run failed, as recorded: {error:#}")),
        (Err(error), _, Some(_)) => talk.say(format_args!("the run failed: {error:#}")),
        _ => played?,
    }
    let end = conclude(&session, &summary, arguments.json, Some(("recording", verdict.as_json(&session))));
    if !arguments.verify {
        verdict.warn(talk);
        return Ok(end);
    }
    if !arguments.json {
        println!("recording       {}", verdict.in_words());
    }
    Ok(if verdict.differs.is_some() { RunEnd::Failed } else { RunEnd::Done })
}

/// Result of the comparison with the recording.
struct Comparison {
    steps: u64,
    made_by: String,
    ending: Ending,
    differs: Option<Difference>,
    verify: bool,
}

impl Comparison {
    fn of(session: &Session, verify: bool) -> Self {
        let recording = session.recording();
        let made_by = |r: &Recording| format!("fingerpad {} on {}", r.header.program, r.header.machine);
        Self {
            steps: session.steps(),
            made_by: recording.map(made_by).unwrap_or_default(),
            ending: recording.map_or(Ending::Over, |r| r.ending.clone()),
            differs: session.difference(),
            verify,
        }
    }

    /// Whether all recorded steps were made and agree.
    fn ends_as_recorded(&self, session: &Session) -> bool {
        self.differs.is_none() && matches!(self.ending, Ending::Broken(_)) && session.length() == Some(self.steps)
    }

    fn in_words(&self) -> String {
        match (&self.differs, &self.ending) {
            (Some(differs), _) => format!("{differs} (recorded with {})", self.made_by),
            (None, Ending::CutOff { offset }) => {
                format!("all {} steps up to byte {offset}, where the recording is truncated, agree", self.steps)
            }
            (None, Ending::Stopped) => format!("all {} steps agree; the run was stopped there", self.steps),
            (None, Ending::Over | Ending::Broken(_)) => format!("all {} steps agree", self.steps),
        }
    }

    /// Warnings for a replay without --verify.
    fn warn(&self, talk: Talk) {
        if let Some(differs) = &self.differs {
            talk.say(format_args!(
                "warning: the replay differs from the recording: {differs} (recorded with {})",
                self.made_by
            ));
        }
        if let Ending::CutOff { offset } = self.ending {
            talk.say(format_args!("the recording is truncated after step {}, at byte {offset}", self.steps));
        }
    }

    fn as_json(&self, session: &Session) -> Value {
        let Some(recording) = session.recording() else { return Value::Null };
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
            "file": session.file().display().to_string(),
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
