mod cone;
mod elastic;
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
    /// Friction pyramids against the exact cone on a soft table with four legs (Duriez 2006, fig. 7 and 8).
    Cone(cone::Arguments),
    /// Elastic objects under rigid tools: forces, dents and times (Luo 2007, fig. 13 to 18).
    Elastic(elastic::Arguments),
    /// The deepest point left inside another body after each step, both methods (Talvas 2015, §5.3).
    Penetration(penetration::Arguments),
    /// Constraints and cost of contact over the resolution of the skin, both methods (Talvas 2015, §5.3).
    Resolution(resolution::Arguments),
    /// How far the legs of a soft table spread, and what couples them (Duriez 2006, fig. 6 and 9 to 11).
    Table(table::Arguments),
}

pub fn run(study: &Study, talk: Talk) -> anyhow::Result<()> {
    match study {
        Study::Cone(arguments) => cone::run(arguments, talk),
        Study::Elastic(arguments) => elastic::run(arguments, talk),
        Study::Penetration(arguments) => penetration::run(arguments, talk),
        Study::Resolution(arguments) => resolution::run(arguments, talk),
        Study::Table(arguments) => table::run(arguments, talk),
    }
}

fn save_plots(file: &Path, plots: &[Plot], talk: Talk) -> anyhow::Result<()> {
    write_file(file, svg(plots).as_bytes())?;
    talk.say(format_args!("the plot is in {}", file.display()));
    Ok(())
}
