use serde_json::Value;

use crate::cli::bench::measure::number;
use crate::cli::bench::paper::written;
use crate::cli::bench::sample::Sample;
use crate::cli::bench::scenes::Measured;
use crate::cli::page::Page;
use crate::cli::plot::{Axis, Bar, Bars, Plot, Scale, Series, Style};
use crate::sim::StageTimes;

/// Label and colour of each method.
const METHOD_COLOURS: [&str; 2] = ["aggregate", "point"];

/// Quantity of a step, if defined.
type Quantity = fn(&Sample) -> Option<f64>;

/// Time plots of each grasp: title, axis label, quantity.
const OVER_TIME: [(&str, &str, Quantity); 3] = [
    ("normal force", "sum over the hands (N)", |s| Some(s.force)),
    ("slip", "in the hand since lift-off (mm)", |s| s.slip_mm),
    ("penetration", "deepest point (mm)", |s| Some(s.penetration_mm)),
];

/// Drawings with a caption below.
pub fn figure(page: &mut Page, class: &str, drawings: &[String], caption: &str) {
    page.element("figure", &[], |page| {
        page.element("div", &[("class", class)], |page| drawings.iter().for_each(|drawing| page.insert(drawing)));
        page.words("figcaption", &[], caption);
    });
}

/// Solve time over contacts, from every measured step.
pub fn solve_over_contacts(page: &mut Page, scenes: &[Measured]) {
    let cloud = |name: &str, taken: &dyn Fn(&Measured) -> bool| {
        let samples = scenes.iter().filter(|one| taken(one)).flat_map(Measured::measured);
        Series::new(name, samples.map(|s| [s.contacts as f64, s.solve_ms])).styled(Style::Marks)
    };
    let of = |method: &'static str| move |one: &Measured| one.has_hand() && one.word("method") == method;
    let mut series: Vec<Series> = METHOD_COLOURS.map(|method| cloud(method, &of(method))).into();
    series.push(cloud("no hand", &|one| !one.has_hand()));
    series.retain(|series| !series.points.is_empty());
    let plot = Plot {
        title: "solve time and contacts".into(),
        x: Axis::new("contacts in a step", Scale::Log),
        y: Axis::new("solve (ms)", Scale::Log),
        series,
    };
    figure(
        page,
        "one",
        &[plot.inline()],
        "Every measured step of every scene. Contacts are counted as each method counts them; both axes are logarithmic. \
         Scenes without a hand are measured as they are.",
    );
}

/// Step time by stage, one chart per method.
pub fn stages(page: &mut Page, scenes: &[Measured]) {
    let drawings: Vec<String> = METHOD_COLOURS
        .into_iter()
        .filter_map(|method| {
            let own = scenes.iter().filter(|one| one.has_hand() && one.word("method") == method);
            let bars: Vec<Bar> = own.map(bar).collect();
            (!bars.is_empty()).then(|| drawn_bars(&format!("step, {method}"), bars))
        })
        .collect();
    if drawings.is_empty() {
        let bars = scenes.iter().map(bar).collect();
        return figure(page, "one", &[drawn_bars("step", bars)], "Median time of each stage of a step.");
    }
    figure(
        page,
        "two",
        &drawings,
        "Medians of the stages of a step in scenes with hands; at the end of each bar the median of the whole step, in \
         ms. The two axes differ.",
    );
}

fn bar(one: &Measured) -> Bar {
    Bar {
        name: one.word("scenario").into(),
        parts: stage_medians(&one.row),
        end: written(number(&one.row, "/step_ms/median")),
    }
}

/// Median times of the stages, in the order of their names, ms.
pub fn stage_medians(row: &Value) -> Vec<f64> {
    StageTimes::NAMES.map(|stage| number(row, &format!("/stages_ms/{stage}/median"))).into()
}

/// Stacked bars of the stages.
pub fn drawn_bars(title: &str, bars: Vec<Bar>) -> String {
    let parts = StageTimes::NAMES.map(String::from).into();
    Bars { title: title.into(), axis: Axis::new("time (ms)", Scale::Linear), parts, bars }.inline()
}

/// Force, slip and penetration over time for the scenes with hands.
pub fn grasps(page: &mut Page, scenes: &[Measured]) {
    let mut names: Vec<&str> = scenes.iter().filter(|one| one.has_hand()).map(|one| one.word("scenario")).collect();
    names.dedup();
    if names.is_empty() {
        page.words("p", &[], "No scene with a hand was measured.");
    }
    for name in names {
        let curves: Vec<(&str, &[Sample])> = METHOD_COLOURS
            .into_iter()
            .filter_map(|method| {
                let own = scenes.iter().find(|one| one.word("scenario") == name && one.word("method") == method)?;
                Some((method, own.own()))
            })
            .collect();
        let drawings = over_time(&format!("{name}: "), &curves);
        figure(page, "three", &drawings, &format!("{name}. {}", grasp_caption(scenes, name)));
    }
}

/// Force, slip and penetration over time, one chart each, with named curves.
pub fn over_time(before: &str, curves: &[(&str, &[Sample])]) -> [String; 3] {
    OVER_TIME.map(|(title, label, quantity)| {
        let series = curves.iter().map(|(name, samples)| {
            let points = samples.iter().filter_map(|s| Some([s.time, quantity(s)?]));
            Series::new(name, points).styled(Style::Line)
        });
        let plot = Plot {
            title: format!("{before}{title}"),
            x: Axis::new("time (s)", Scale::Linear),
            y: Axis::new(label, Scale::Linear),
            series: series.collect(),
        };
        plot.inline()
    })
}

/// Final values of the curves of a grasp.
fn grasp_caption(scenes: &[Measured], name: &str) -> String {
    let own = scenes.iter().filter(|one| one.word("scenario") == name);
    let ends = own.filter_map(|one| {
        let last = one.samples.last()?;
        let slip = last.slip_mm.map_or("not lifted".into(), |slip| format!("slip {} mm", written(slip)));
        let (force, method) = (written(last.force), one.word("method"));
        Some(format!("{method} at {:.2} s: {force} N, {slip}.", last.time))
    });
    ends.collect::<Vec<_>>().join(" ")
}
