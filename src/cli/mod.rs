//! Rank 9: the program's commands. Data goes to stdout, messages to stderr; 0 done, 1 a task failed, 2 bad usage or input.

#[macro_use]
mod terminal;

mod bench;
mod check;
mod demo;
mod device_arguments;
mod devices;
#[cfg(feature = "script")]
mod docs;
mod hand;
mod interrupt;
mod outputs;
mod page;
mod plot;
mod problem;
mod render;
mod replay;
mod run;
mod scene_arguments;
#[cfg(feature = "script")]
mod soak;
mod study;
mod view;
mod vr;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, Subcommand};

/// Soft-hand simulation: grasp with a data glove, run hand benchmarks, script interaction tasks
#[derive(Parser)]
#[command(version, about)]
struct Cli {
    /// Command to run [default: the demo]
    #[command(subcommand)]
    command: Option<ProgramCommand>,
    /// Print more messages to stderr
    #[arg(short, long, global = true)]
    verbose: bool,
    /// Print only errors to stderr
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    quiet: bool,
}

#[derive(Subcommand)]
enum ProgramCommand {
    /// Simulate a scene or run a script
    Run(run::Arguments),
    /// Replay a recording, verify it, or export it as a table
    Replay(replay::Arguments),
    /// Validate hand files, scenes, device profiles and scripts; report all errors at once
    Check(check::Arguments),
    /// Describe a hand: meshes, degrees of freedom, bones, mass, limits
    Hand(hand::Arguments),
    /// Measure step times of the shipped scenes with both contact methods, and of a hand's free motion
    Bench(bench::Arguments),
    /// Render a scene, script or hand to PNG files without a window
    Render(render::Arguments),
    /// Open a window on a scene or script; mouse and keyboard can drive the hand
    View(view::Arguments),
    /// Show a scene or script in a headset (OpenXR); tracked hands or controllers drive its hands
    Vr(vr::Arguments),
    /// Run a parameter study from the papers
    #[command(subcommand)]
    Study(study::Study),
    /// Save a contact problem of a scene, or solve a saved one with all applicable solvers
    #[command(subcommand)]
    Problem(problem::ProblemCommand),
    /// List, monitor, calibrate, emulate and record devices
    #[command(subcommand)]
    Devices(devices::DevicesCommand),
    /// Simulate random hands, bodies, settings, device bytes and damaged recordings, and report faults
    #[cfg(feature = "script")]
    Soak(soak::Arguments),
    /// Write the scripting reference and the definition file for editors
    #[cfg(feature = "script")]
    #[command(hide = true)]
    Docs(docs::Arguments),
    /// Print shell completions
    Completions {
        /// Shell
        shell: clap_complete::Shell,
    },
}

/// How much is said on stderr.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Talk {
    Quiet,
    Normal,
    Verbose,
}

impl Talk {
    /// A message for people.
    fn say(self, message: impl std::fmt::Display) {
        if self >= Talk::Normal {
            eprintln!("{message}");
        }
    }

    /// A message for the curious.
    fn detail(self, message: impl std::fmt::Display) {
        if self >= Talk::Verbose {
            eprintln!("{message}");
        }
    }
}

/// Runs the program on the command line's words.
pub fn main() -> ExitCode {
    hush_drivers();
    #[cfg(unix)]
    interrupt::ignore_size_limit();
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return print_usage(&error),
    };
    if !cli.verbose {
        hush_openxr();
    }
    let talk = match (cli.quiet, cli.verbose) {
        (true, _) => Talk::Quiet,
        (_, true) => Talk::Verbose,
        _ => Talk::Normal,
    };
    let done = match cli.command {
        None => demo::run(talk).map(|()| run::RunEnd::Done),
        Some(command) => perform(command, talk),
    };
    // What could not be printed makes any end a failure.
    match done.and_then(|end| terminal::check().map(|()| end)) {
        Ok(run::RunEnd::Done) => ExitCode::SUCCESS,
        Ok(run::RunEnd::Failed) => ExitCode::from(1),
        Ok(run::RunEnd::Interrupted) => ExitCode::from(interrupt::INTERRUPTED),
        Err(error) => {
            report(&error);
            let cancelled = matches!(error.downcast_ref(), Some(crate::runtime::Error::Cancelled(_)));
            ExitCode::from(if cancelled { interrupt::INTERRUPTED } else { 2 })
        }
    }
}

fn perform(command: ProgramCommand, talk: Talk) -> anyhow::Result<run::RunEnd> {
    match command {
        // The commands that can be done and have failed.
        ProgramCommand::Run(arguments) => return run::run(&arguments, talk),
        ProgramCommand::Replay(arguments) => return replay::run(&arguments, talk),
        ProgramCommand::View(arguments) => return view::run(&arguments, talk),
        #[cfg(feature = "script")]
        ProgramCommand::Soak(arguments) => return soak::run(&arguments, talk),
        ProgramCommand::Vr(arguments) => return vr::run(&arguments, talk),
        ProgramCommand::Check(arguments) => check::run(&arguments, talk),
        ProgramCommand::Hand(arguments) => hand::run(&arguments, talk),
        ProgramCommand::Bench(arguments) => bench::run(&arguments, talk),
        ProgramCommand::Render(arguments) => render::run(&arguments, talk),
        ProgramCommand::Study(study) => study::run(&study, talk),
        ProgramCommand::Problem(command) => problem::run(&command, talk),
        ProgramCommand::Devices(command) => devices::run(&command, talk),
        #[cfg(feature = "script")]
        ProgramCommand::Docs(arguments) => docs::run(&arguments, talk),
        ProgramCommand::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "fingerpad", &mut text);
            print!("{}", String::from_utf8_lossy(&text));
            Ok(())
        }
    }
    .map(|()| run::RunEnd::Done)
}

/// Prints the help, or what is wrong with the command line.
fn print_usage(error: &clap::Error) -> ExitCode {
    use std::io::Write;
    if error.use_stderr() {
        error.exit();
    }
    match error.print().and_then(|()| std::io::stdout().flush()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => {
            eprintln!("error: cannot write to stdout: {error}");
            ExitCode::from(2)
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Without a user session a layer of Mesa's drivers complains on stderr each time an adapter is looked for. It only chooses between
/// several adapters for a desktop, so it is left out then.
fn hush_drivers() {
    if cfg!(target_os = "linux") && std::env::var_os("XDG_RUNTIME_DIR").is_none() {
        // SAFETY: called first thing in `main`, before any thread exists that could read the environment.
        unsafe { std::env::set_var("NODEVICE_SELECT", "1") };
    }
}

/// The OpenXR loader writes to stderr each time that a runtime is looked for in vain; what is missing is said anyway, once.
fn hush_openxr() {
    const MESSAGES: &str = "XR_LOADER_DEBUG";
    if std::env::var_os(MESSAGES).is_none() {
        // SAFETY: called in `main`, before any thread exists that could read the environment.
        unsafe { std::env::set_var(MESSAGES, "none") };
    }
}

/// One line for each problem, with its place.
fn report(error: &anyhow::Error) {
    use crate::assets::Problems;
    use crate::runtime;
    let description = match error.downcast_ref::<runtime::Error>() {
        Some(runtime::Error::Description(problems)) => Some(problems),
        _ => error.downcast_ref::<Problems>(),
    };
    match description {
        Some(problems) => problems.0.iter().for_each(|problem| eprintln!("error: {problem}")),
        None => eprintln!("error: {error:#}"),
    }
}

/// Width and height in pixels, `1280x960`, no less than some.
fn picture_size(text: &str, least: (u32, u32)) -> Result<(u32, u32), String> {
    const MAX_PIXELS: u32 = 4096;
    let parsed = text.split_once('x').and_then(|(w, h)| Some((w.parse().ok()?, h.parse().ok()?)));
    let fits = |&(w, h): &(u32, u32)| (least.0..=MAX_PIXELS).contains(&w) && (least.1..=MAX_PIXELS).contains(&h);
    let (w, h) = least;
    parsed
        .filter(fits)
        .ok_or_else(|| format!("expected WIDTHxHEIGHT, from {w}x{h} to {MAX_PIXELS}x{MAX_PIXELS}, as in 1280x960"))
}

/// Writes a file, making its folder.
fn write_file(file: &std::path::Path, bytes: &[u8]) -> anyhow::Result<()> {
    use anyhow::Context;
    if let Some(folder) = file.parent().filter(|f| !f.as_os_str().is_empty()) {
        std::fs::create_dir_all(folder).with_context(|| format!("cannot create the folder {}", folder.display()))?;
    }
    std::fs::write(file, bytes).with_context(|| format!("cannot write {}", file.display()))
}

/// The file of a hand: the one of that path, or the shipped hand of that name.
fn hand_file(named: &std::path::Path) -> Result<PathBuf, crate::assets::Problems> {
    use crate::assets::{Problems, builtin_hand_file, builtin_hands};
    if let Some(carried) = named.to_str().filter(|_| !named.is_file()).and_then(builtin_hand_file) {
        return Ok(carried);
    }
    if named.is_file() || named.extension().is_some() || named.components().count() > 1 {
        return Ok(named.into());
    }
    let hands: Vec<&str> = builtin_hands().collect();
    let message = format!("expected a hand file (.toml), or the name of a shipped hand: {}", hands.join(", "));
    Err(Problems::with_file(named, message))
}

/// Loads a hand and makes it ready, from a file or by the name of a shipped one; the built-in average one if none is named.
fn load_model(file: Option<&PathBuf>, talk: Talk) -> Result<crate::hand::HandModel, crate::assets::Problems> {
    let clock = std::time::Instant::now();
    let model = match file {
        Some(file) => crate::assets::load_hand_model(&hand_file(file)?),
        None => crate::assets::builtin_hand_model(),
    }?;
    talk.detail(format_args!("made the hand in {:.0} ms", 1e3 * clock.elapsed().as_secs_f64()));
    Ok(model)
}
