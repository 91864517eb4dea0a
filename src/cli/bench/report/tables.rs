use serde_json::Value;

use crate::cli::bench::measure::{STAGES_NOTE, number};
use crate::cli::bench::paper;
use crate::cli::bench::scenes::{COLUMNS, Measured, cell, stage_paths, steps_made};
use crate::cli::page::Page;

/// Machine and build.
pub fn machine(page: &mut Page, machine: &Value) {
    let word = |key: &str| machine[key].as_str().unwrap_or("unknown").to_string();
    let threads = number(machine, "/threads");
    let facts = [
        ("Processor", format!("{}, {threads} threads, one used", word("processor"))),
        ("System", format!("{} on {}", word("os"), word("arch"))),
        ("Program", format!("fingerpad {}, {} build", word("version"), word("build"))),
        ("Measured on", word("date")),
    ];
    page.element("dl", &[], |page| {
        for (name, words) in &facts {
            page.words("dt", &[], name);
            page.words("dd", &[], words);
        }
    });
    if machine["build"] == "debug" {
        page.element("p", &[], |page| page.words("b", &[], "This is a debug build; its times are not representative."));
    }
}

/// Every scene.
pub fn scenes(page: &mut Page, scenes: &[Measured]) {
    page.element("div", &[("class", "scroll")], |page| {
        page.element("table", &[("id", "scenes")], |page| {
            page.element("thead", &[], |page| {
                let heads = ["scene", "method"].into_iter().chain(COLUMNS.map(|(name, ..)| name)).chain(["steps"]);
                page.element("tr", &[], |page| heads.for_each(|head| page.words("th", &[("scope", "col")], head)));
            });
            page.element("tbody", &[], |page| scenes.iter().for_each(|one| scene_line(page, one)));
        });
    });
    page.words(
        "p",
        &[("class", "notes")],
        "Contacts, constraints and iterations: means of a step. Held: time of a step at the end of the scene, in ms, its median, 99th \
         percentile and maximum. Whole: the same from the beginning of the scene, where the method plays all of it. × real time: \
         simulated time by the time it took. Not conv.: solves that stopped at the limit of \
         sweeps. Deepest: the deepest point left inside another body by any step. Steps: fewer than wanted where the time of the row was up, or where \
         the object was lost.",
    );
}

fn scene_line(page: &mut Page, one: &Measured) {
    page.element("tr", &[], |page| {
        page.words("th", &[("scope", "row")], one.word("scenario"));
        let method = one.word("method");
        page.element("td", &[("class", "left")], |page| page.words("span", &[("class", method)], method));
        for (_, path, _, digits) in COLUMNS {
            // A fourth digit only for the smallest times.
            let digits = if number(&one.row, path) >= 100.0 { digits.min(1) } else { digits.min(3) };
            page.words("td", &[], &cell(&one.row, path, digits));
        }
        page.words("td", &[], &steps_made(&one.row));
    });
}

/// The stages of every scene's measured steps.
pub fn stages(page: &mut Page, scenes: &[Measured]) {
    page.element("div", &[("class", "scroll")], |page| {
        page.element("table", &[("id", "stages")], |page| {
            page.element("thead", &[], |page| {
                let heads = ["scene", "method"].into_iter().chain(stage_paths().map(|(name, _)| name));
                page.element("tr", &[], |page| heads.for_each(|head| page.words("th", &[("scope", "col")], head)));
            });
            page.element("tbody", &[], |page| {
                for one in scenes {
                    page.element("tr", &[], |page| {
                        page.words("th", &[("scope", "row")], one.word("scenario"));
                        let method = one.word("method");
                        page.element("td", &[("class", "left")], |page| {
                            page.words("span", &[("class", method)], method);
                        });
                        for (_, path) in stage_paths() {
                            let times = ["median", "p99", "max"].map(|key| cell(&one.row, &format!("{path}/{key}"), 3));
                            page.words("td", &[], &times.join(" / "));
                        }
                    });
                }
            });
        });
    });
    page.words("p", &[("class", "notes")], "Median / 99th percentile / maximum over the measured steps, ms.");
}

/// The paper's table beside ours.
pub fn beside_the_paper(page: &mut Page, table: &[Value]) {
    if table.is_empty() {
        page.words("p", &[], "No scene of the paper was measured with both methods.");
        return;
    }
    page.words("p", &[("class", "notes")], &format!("{}.", paper::SOURCE));
    page.element("div", &[("class", "scroll")], |page| {
        page.element("table", &[("id", "paper")], |page| {
            page.element("thead", &[], |page| {
                page.element("tr", &[], |page| {
                    paper::HEADS.iter().for_each(|head| page.words("th", &[("scope", "col")], head));
                });
            });
            page.element("tbody", &[], |page| table.iter().for_each(|row| paper_lines(page, row)));
        });
    });
    page.element("ul", &[("class", "notes")], |page| {
        for note in paper::NOTES.into_iter().chain([STAGES_NOTE]) {
            page.words("li", &[], note);
        }
    });
}

fn paper_lines(page: &mut Page, row: &Value) {
    let columns = paper::HEADS.len().to_string();
    page.element("tr", &[("class", "group")], |page| {
        page.words("th", &[("scope", "rowgroup"), ("colspan", &columns), ("class", "left")], &paper::heading(row));
    });
    for (cells, class) in paper::lines(row).iter().zip(["ours", "ours", "ours", "paper"]) {
        page.element("tr", &[("class", class)], |page| {
            for (i, cell) in cells.iter().enumerate() {
                let attributes: &[(&str, &str)] = if i == 0 { &[("scope", "row")] } else { &[] };
                page.words(if i == 0 { "th" } else { "td" }, attributes, cell);
            }
        });
    }
}
