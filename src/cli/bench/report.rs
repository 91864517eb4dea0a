//! The benchmark report: a self-contained HTML page, and the plotted data as CSV.

pub mod figures;
pub mod tables;

use std::path::Path;

use serde_json::Value;

use super::sample::Sample;
use super::scenes::Measured;
use crate::cli::page::{Page, Shot, data_uri, document, draw};
use crate::cli::{Talk, write_file};

/// Writes the report into a folder.
pub fn write(
    folder: &Path,
    machine: &Value,
    mut scenes: Vec<Measured>,
    table: &[Value],
    talk: Talk,
) -> anyhow::Result<()> {
    let shots: Vec<Shot> = scenes.iter_mut().filter_map(|one| one.shot.take()).collect();
    let pictures = draw(&shots);
    if let Err(why) = &pictures {
        talk.say(format_args!("no pictures: {why}"));
    }
    let file = folder.join("index.html");
    let page = document("fingerpad: benchmark", |page| body(page, machine, &scenes, table, &pictures));
    write_file(&file, page.as_bytes())?;
    write_file(&folder.join("steps.csv"), steps(&scenes).as_bytes())?;
    talk.say(format_args!("wrote the report to {}", file.display()));
    Ok(())
}

/// One row per step and method.
fn steps(scenes: &[Measured]) -> String {
    let mut text = format!("scenario,method,measured,{}\n", Sample::COLUMNS);
    for one in scenes {
        for (i, sample) in one.samples.iter().enumerate().skip(one.changed) {
            let measured = u8::from(i >= one.settled);
            text += &format!("{},{},{measured},{}\n", one.word("scenario"), one.word("method"), sample.csv());
        }
    }
    text
}

fn body(page: &mut Page, machine: &Value, scenes: &[Measured], table: &[Value], drawn: &Result<Vec<Vec<u8>>, String>) {
    page.words("h1", &[], "Soft hands: aggregates against point contacts");
    page.words(
        "p",
        &[("class", "lead")],
        "The scenes that fingerpad ships, measured by both methods of contact in one run: one aggregate constraint for \
         all contacts of a segment with a body, or a constraint for each contact.",
    );
    tables::machine(page, machine);
    page.words("h2", &[], "Comparison with the paper");
    tables::beside_the_paper(page, table);
    page.words("h2", &[], "All scenes");
    tables::scenes(page, scenes);
    page.words("h2", &[], "Step time by stage");
    tables::stages(page, scenes);
    figures::solve_over_contacts(page, scenes);
    figures::stages(page, scenes);
    page.words("h2", &[], "Grasps over time");
    page.words(
        "p",
        &[],
        "Force is the sum of the normal forces on all hands. Slip is how far the object moved as seen from the first palm \
         since it was taken up, drawn while hands hold it in the air; fingers that give way count too. Penetration is the \
         deepest point left inside another body. Every scene is played with aggregates; where the curve of the points \
         begins, they took over from the same state.",
    );
    figures::grasps(page, scenes);
    page.words("h2", &[], "Pictures");
    match drawn {
        Ok(drawn) => pictures_of(page, scenes, drawn),
        Err(why) => page.words("p", &[], &format!("No pictures: {why}.")),
    }
}

/// The scenes at the end of the measurement, methods side by side.
fn pictures_of(page: &mut Page, scenes: &[Measured], drawn: &[Vec<u8>]) {
    page.words(
        "p",
        &[],
        "The last measured step of each scene; arrows are the forces on the fingers, 5 mm per newton.",
    );
    let shown: Vec<(&Measured, &Vec<u8>)> = scenes.iter().zip(drawn).collect();
    page.element("div", &[("class", "pictures")], |page| {
        for pair in shown.chunk_by(|a, b| a.0.word("scenario") == b.0.word("scenario")) {
            page.element("figure", &[], |page| {
                page.element("div", &[("class", "pair")], |page| {
                    for (one, png) in pair {
                        let alt = format!("{}, {}", one.word("scenario"), one.word("method"));
                        page.empty("img", &[("alt", &alt), ("src", &data_uri(png))]);
                    }
                });
                let name = pair[0].0.word("scenario");
                let sides = if pair.len() > 1 { " Left: aggregates. Right: point contacts." } else { "" };
                page.words("figcaption", &[], &format!("{name}.{sides}"));
            });
        }
    });
}
