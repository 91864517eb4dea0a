use clap::Subcommand;

/// What to do with devices.
#[derive(Subcommand)]
pub enum Command {
    /// List what is plugged in, and why something is not found.
    List {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
}

pub fn run(command: &Command) -> anyhow::Result<()> {
    let Command::List { json } = command;
    let found = crate::devices::list();
    if *json {
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
