mod clip;
mod cone;
mod elastic;
mod fingertip;
mod haptics;
mod penetration;
mod resolution;
mod soft_table;
mod table;

use std::path::Path;

use clap::Subcommand;

use super::plot::{Plot, svg};
use super::{Talk, write_file};

/// Parameter studies of the papers.
#[derive(Subcommand)]
pub enum Study {
    /// Snap a clip on a pipe and off it: forces, both haptic loops and times (Duriez 2004, fig. 6; Duriez 2006, fig. 14 to 18)
    Clip(clip::Arguments),
    /// Compare friction pyramids with the exact cone on a soft table with four legs (Duriez 2006, fig. 7 and 8)
    Cone(cone::Arguments),
    /// Press rigid tools on elastic objects: forces, dents and times (Luo 2007, fig. 13 to 18)
    Elastic(elastic::Arguments),
    /// Press, shear and twist the pad of the index finger: a table beside measured fingertips
    Fingertip(fingertip::Arguments),
    /// Measure haptic loops with beams: forces of both loops, stability and times (Peterlik 2011; Duriez 2004, fig. 6)
    Haptics(haptics::Arguments),
    /// Measure the remaining penetration after each step with both methods (Talvas 2015, §5.3)
    Penetration(penetration::Arguments),
    /// Measure constraints and contact cost over the skin resolution with both methods (Talvas 2015, §5.3)
    Resolution(resolution::Arguments),
    /// Measure the spread of the legs of a soft table and their coupling (Duriez 2006, fig. 6 and 9 to 11)
    Table(table::Arguments),
}

pub fn run(study: &Study, talk: Talk) -> anyhow::Result<()> {
    match study {
        Study::Clip(arguments) => clip::run(arguments, talk),
        Study::Cone(arguments) => cone::run(arguments, talk),
        Study::Elastic(arguments) => elastic::run(arguments, talk),
        Study::Fingertip(arguments) => fingertip::run(arguments, talk),
        Study::Haptics(arguments) => haptics::run(arguments, talk),
        Study::Penetration(arguments) => penetration::run(arguments, talk),
        Study::Resolution(arguments) => resolution::run(arguments, talk),
        Study::Table(arguments) => table::run(arguments, talk),
    }
}

/// Writes the plots of a study, if there is a file for them.
fn save_plots(file: Option<&Path>, plots: impl FnOnce() -> Vec<Plot>, talk: Talk) -> anyhow::Result<()> {
    let Some(file) = file else { return Ok(()) };
    let plots = &plots();
    write_file(file, svg(plots).as_bytes())?;
    talk.say(format_args!("wrote the plot to {}", file.display()));
    Ok(())
}

/// Prints the findings of a study as JSON or as text.
fn print_findings(json: bool, value: impl FnOnce() -> serde_json::Value, text: impl FnOnce()) {
    if json {
        println!("{}", value());
    } else {
        text();
    }
}
