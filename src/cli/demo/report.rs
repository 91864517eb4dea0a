use super::{PHASES, Played};
use crate::cli::bench::machine::machine;
use crate::cli::bench::measure::number;
use crate::cli::bench::report::{figures, tables};
use crate::cli::page::{Page, data_uri, document};
use crate::cli::plot::Bar;
use crate::sim::StageTimes;

/// HTML report of the demo with pictures of its phases, or the reason why there are none.
pub fn page(played: &Played, pictures: &Result<Vec<Vec<u8>>, String>) -> String {
    document("fingerpad: the demo", |page| {
        page.words("h1", &[], "A soft hand lifts a ball");
        page.words(
            "p",
            &[("class", "lead")],
            "The demo of fingerpad: the hand closes around a ball of 100 g on a post, rises by 8 cm and holds it. \
             Every segment of the hand touches the ball by one aggregate constraint with Coulomb–Contensou friction.",
        );
        ending(page, played);
        tables::machine(page, &machine());
        page.words("h2", &[], "Pictures");
        drawn(page, played, pictures);
        page.words("h2", &[], "Force and slip");
        let drawings = figures::over_time("", &[("aggregate", &played.samples)]);
        figures::figure(
            page,
            "three",
            &drawings,
            "Force is the sum of the normal forces on the hand. Slip is how far the ball moved as seen from the palm \
             since it was taken up, drawn while only the hand holds it; fingers that give way count too. Penetration is \
             the deepest point left inside another body.",
        );
        page.words("h2", &[], "Step time by stage");
        times(page, played);
    })
}

fn ending(page: &mut Page, played: &Played) {
    let ending = &played.ending;
    page.element("p", &[], |page| {
        page.words("b", &[], if ending.success() { "Done: " } else { "Failed: " });
        page.say(&format!("{}.", ending.reason()));
    });
    page.element("dl", &[("id", "ending")], |page| {
        let hand = ("hand", played.hand.clone());
        for (name, value) in [hand].iter().chain(&ending.lines()) {
            page.words("dt", &[], name);
            page.words("dd", &[], value);
        }
    });
}

fn drawn(page: &mut Page, played: &Played, pictures: &Result<Vec<Vec<u8>>, String>) {
    let pictures = match pictures {
        Ok(pictures) => pictures,
        Err(why) => return page.words("p", &[], &format!("No pictures: {why}.")),
    };
    page.element("div", &[("class", "pictures")], |page| {
        for ((part, (end, ..)), png) in played.parts.iter().zip(PHASES).zip(pictures) {
            page.element("figure", &[], |page| {
                page.empty("img", &[("alt", part.done), ("src", &data_uri(png))]);
                page.words("figcaption", &[], &format!("{} at {end:.1} s", part.done));
            });
        }
    });
}

/// Step times by stage for each phase.
fn times(page: &mut Page, played: &Played) {
    let columns: Vec<(&str, String)> = [("contacts", "/contacts/mean".into()), ("rows", "/constraints/mean".into())]
        .into_iter()
        .chain(StageTimes::NAMES.map(|stage| (stage, format!("/stages_ms/{stage}/median"))))
        .chain(
            [("step", "median"), ("p99", "p99"), ("max", "max")].map(|(name, key)| (name, format!("/step_ms/{key}"))),
        )
        .collect();
    page.element("div", &[("class", "scroll")], |page| {
        page.element("table", &[("id", "stages")], |page| {
            page.element("thead", &[], |page| {
                page.element("tr", &[], |page| {
                    let heads = ["part", "steps"].into_iter().chain(columns.iter().map(|(name, _)| *name));
                    heads.for_each(|head| page.words("th", &[("scope", "col")], head));
                });
            });
            page.element("tbody", &[], |page| {
                for part in &played.parts {
                    page.element("tr", &[], |page| {
                        page.words("th", &[("scope", "row")], part.doing);
                        page.words("td", &[], &number(&part.row, "/steps").to_string());
                        for (_, path) in &columns {
                            let digits = if path.contains("_ms") { 3 } else { 1 };
                            page.words("td", &[], &format!("{:.digits$}", number(&part.row, path)));
                        }
                    });
                }
            });
        });
    });
    let bar = |part: &super::DemoPhase| Bar {
        name: part.doing.into(),
        parts: figures::stage_medians(&part.row),
        end: format!("{:.2}", number(&part.row, "/step_ms/median")),
    };
    let bars = figures::drawn_bars("step time by stage", played.parts.iter().map(bar).collect());
    figures::figure(
        page,
        "one",
        &[bars],
        "Times are medians over the steps of each part, in ms; at the end of each bar that of the whole step of 10 ms. \
         Contacts and rows are means.",
    );
}
