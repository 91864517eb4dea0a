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
    /// Compare friction pyramids with the exact cone on a soft table with four legs (Duriez 2006, fig. 7 and 8)
    Cone(cone::Arguments),
    /// Press rigid tools on elastic objects: forces, dents and times (Luo 2007, fig. 13 to 18)
    Elastic(elastic::Arguments),
    /// Measure the remaining penetration after each step with both methods (Talvas 2015, §5.3)
    Penetration(penetration::Arguments),
    /// Measure constraints and contact cost over the skin resolution with both methods (Talvas 2015, §5.3)
    Resolution(resolution::Arguments),
    /// Measure the spread of the legs of a soft table and their coupling (Duriez 2006, fig. 6 and 9 to 11)
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
    talk.say(format_args!("wrote the plot to {}", file.display()));
    Ok(())
}
