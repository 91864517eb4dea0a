mod emulate;
mod link;
mod performer;
mod playback;
mod record;

use clap::Subcommand;

pub use self::playback::{is_recording, recorded_profile, start};
use super::Talk;

/// What to do with devices.
#[derive(Subcommand)]
pub enum Command {
    /// List what is plugged in, and why something is not found.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Be a device that is not there: prints the path of a pseudo-terminal that speaks its bytes.
    Emulate(emulate::Arguments),
    /// Record the bytes of a device, to be played in its place: `--device FILE.fpraw`.
    Record(record::Arguments),
}

pub fn run(command: &Command, talk: Talk) -> anyhow::Result<()> {
    match command {
        Command::List { json } => list(*json),
        Command::Emulate(arguments) => emulate::run(arguments, talk),
        Command::Record(arguments) => record::run(arguments, talk),
    }
}

fn list(json: bool) -> anyhow::Result<()> {
    let found = crate::devices::list();
    if json {
        let list: Vec<_> = found
            .iter()
            .map(|f| serde_json::json!({ "kind": f.kind.to_string(), "name": f.name, "detail": f.detail, "problem": f.problem }))
            .collect();
        println!("{}", serde_json::json!({ "devices": list }));
        return Ok(());
    }
    for f in found {
        match f.problem {
            Some(problem) => println!("{:<12} –  {problem}", f.kind.to_string()),
            None => println!("{:<12} {}  {}", f.kind.to_string(), f.name, f.detail),
        }
    }
    Ok(())
}
