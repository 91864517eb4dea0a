use std::path::PathBuf;

use super::{Talk, write_file};
use crate::script::{definitions, reference};

/// Arguments of `docs`.
#[derive(clap::Args)]
pub struct Arguments {
    /// Folder that contains `docs` and `scripts`
    #[arg(long, default_value = ".")]
    out: PathBuf,
}

pub fn run(arguments: &Arguments, talk: Talk) -> anyhow::Result<()> {
    for (name, text) in [("docs/scripting.md", reference()), ("scripts/fingerpad.d.rhai", definitions())] {
        let file = arguments.out.join(name);
        write_file(&file, text.as_bytes())?;
        talk.say(format_args!("wrote {}", file.display()));
    }
    Ok(())
}
