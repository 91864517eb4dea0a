//! `bench --report` and the demo as a user runs them: the page is well-formed, complete and self-contained.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::OnceLock;

use roxmltree::{Document, Node, ParsingOptions};

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("report").join(name)
}

fn fingerpad(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_fingerpad")).args(arguments).output().expect("the program runs")
}

/// The page of one scene without a hand and two with one, one of them from the paper, made once for all tests; and the
/// output of the program.
fn made() -> &'static (String, Output) {
    static MADE: OnceLock<(String, Output)> = OnceLock::new();
    MADE.get_or_init(|| {
        let folder = folder("made");
        let table = folder.join("rows.csv");
        let out = fingerpad(&[
            "bench",
            "edge_cube",
            "pinch",
            "rest",
            "--steps",
            "8",
            "--json",
            "--csv",
            &table.to_string_lossy(),
            "--report",
            &folder.to_string_lossy(),
        ]);
        assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
        (std::fs::read_to_string(folder.join("index.html")).expect("the page"), out)
    })
}

fn parsed(page: &str) -> Document<'_> {
    let options = ParsingOptions { allow_dtd: true, ..ParsingOptions::default() };
    Document::parse_with_options(page, options).unwrap_or_else(|error| panic!("{error}"))
}

fn number(node: Node<'_, '_>, key: &str) -> f64 {
    let text = node.attribute(key).unwrap_or_else(|| panic!("no {key} in {node:?}"));
    text.parse().unwrap_or_else(|_| panic!("{key} is {text}"))
}

/// All text below a node.
fn words(node: Node<'_, '_>) -> String {
    node.descendants().filter_map(|n| n.is_text().then(|| n.text()).flatten()).collect::<Vec<_>>().join(" ")
}

fn with_class<'a, 'd: 'a>(node: Node<'a, 'd>, class: &'a str) -> impl Iterator<Item = Node<'a, 'd>> {
    node.descendants().filter(move |n| n.attribute("class") == Some(class))
}

#[test]
fn the_page_is_well_formed_and_self_contained() {
    let page = &made().0;
    assert!(page.starts_with("<!DOCTYPE html>\n<html lang=\"en\">"));
    let document = parsed(page);
    for banned in ["http", "//", "url(", "@import", "<script", "<iframe"] {
        assert!(!page.contains(banned) || (banned == "//" && only_in_pictures(&document)), "{banned}");
    }
    for node in document.descendants().filter(|n| n.has_attribute("src") || n.has_attribute("href")) {
        let address = node.attribute("src").or(node.attribute("href")).expect("an address");
        assert!(address.starts_with("data:"), "{address}");
    }
    // Elements that HTML does not allow to self-close have a closing tag.
    for empty in document.descendants().filter(|n| n.is_element() && !n.has_children()) {
        let name = empty.tag_name().name();
        let of_drawing = empty.ancestors().any(|n| n.tag_name().name() == "svg");
        let closed = format!("></{name}>");
        let source = &page[empty.range()];
        assert!(of_drawing || ["meta", "link", "img"].contains(&name) || source.ends_with(&closed), "{source}");
    }
}

/// Base64 contains slashes too.
fn only_in_pictures(document: &Document<'_>) -> bool {
    let texts = document.descendants().filter_map(|n| n.text());
    let values = document.descendants().flat_map(|n| n.attributes()).map(|a| a.value());
    texts.chain(values).all(|text| !text.contains("//") || text.starts_with("data:image/png;base64,"))
}

#[test]
fn every_plot_is_there_with_its_data_inside_its_frame() {
    let document = parsed(&made().0);
    let plots: Vec<Node<'_, '_>> = with_class(document.root(), "plot").collect();
    let titles: Vec<&str> = plots.iter().filter_map(|plot| plot.attribute("aria-label")).collect();
    let expected = [
        "solve time and contacts",
        "step, aggregate",
        "step, point",
        "edge_cube: normal force",
        "edge_cube: slip",
        "edge_cube: penetration",
        "pinch: normal force",
        "pinch: slip",
        "pinch: penetration",
    ];
    assert_eq!(titles, expected);
    for plot in plots {
        let title = plot.attribute("aria-label").expect("a title");
        let frame = with_class(plot, "frame").next().expect("a frame");
        let [left, top] = ["x", "y"].map(|key| number(frame, key));
        let [right, bottom] = [left + number(frame, "width"), top + number(frame, "height")];
        let mut seen = 0;
        let mut check = |x: f64, y: f64| {
            // A mark extends slightly beyond its point.
            let inside = (left - 4.0..=right + 4.0).contains(&x) && (top - 4.0..=bottom + 4.0).contains(&y);
            assert!(inside, "{title}: {x}, {y} is outside");
            seen += 1;
        };
        for node in with_class(plot, "data").flat_map(|data| data.descendants()) {
            match node.tag_name().name() {
                "circle" => check(number(node, "cx"), number(node, "cy")),
                "rect" => {
                    check(number(node, "x"), number(node, "y"));
                    check(number(node, "x") + number(node, "width"), number(node, "y") + number(node, "height"));
                }
                "polyline" => {
                    let corners = node.attribute("points").expect("points").split_whitespace();
                    for (x, y) in corners.filter_map(|corner| corner.split_once(',')) {
                        check(x.parse().expect("a number"), y.parse().expect("a number"));
                    }
                }
                _ => {}
            }
        }
        assert!(seen >= 8, "{title} has {seen} points");
        assert!(words(plot).contains('('), "{title}: its axis has a unit");
    }
    let figures = document.descendants().filter(|n| n.has_tag_name("figure"));
    assert!(figures.clone().count() >= 4);
    for figure in figures {
        let caption = figure.children().find(|n| n.has_tag_name("figcaption")).expect("a caption");
        assert!(words(caption).len() > 4);
    }
}

#[test]
fn tables_contain_our_figures_and_the_papers() {
    let (page, out) = made();
    let document = parsed(page);
    let table = |id: &str| document.descendants().find(|n| n.attribute("id") == Some(id)).expect("the table");
    let lines = |id: &str| table(id).descendants().filter(|n| n.has_tag_name("tr")).map(words).collect::<Vec<_>>();
    let scenes = lines("scenes");
    assert_eq!(scenes.len(), 1 + 5, "{scenes:?}");
    assert!(scenes[1].starts_with("edge_cube aggregate") && scenes[5].starts_with("rest aggregate"), "{scenes:?}");
    // Headings, the scene, our medians, percentiles and means, the paper.
    let paper = lines("paper");
    assert_eq!(paper.len(), 6, "{paper:?}");
    assert!(paper[1].contains("cube held by its edges") && paper[2].contains("of 15"), "{paper:?}");
    assert!(paper[5].contains("49 → 8") && paper[5].contains("22.8 → 13.1"), "{paper:?}");
    assert!(words(document.root()).contains(env!("CARGO_PKG_VERSION")));
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let row = &told["table_1"]["rows"][0];
    assert_eq!((&row["scenario"], &row["paper"]["step_ms"]["point"]), (&"edge_cube".into(), &22.76.into()));
    assert!(row["point_over_aggregate"]["ours"]["solve"].as_f64().is_some_and(|ratio| ratio > 0.0));
    assert_eq!(row["ours"]["steps"]["aggregate"], 8.0);
    assert!(told["machine"]["version"].is_string() && told["rows"][0]["paper"]["constraints"] == 8.0);
}

#[test]
fn the_plotted_data_are_written_next_to_the_page() {
    made();
    let text = std::fs::read_to_string(folder("made").join("steps.csv")).expect("the numbers");
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split(',').collect()).collect();
    let column = |name: &str| lines[0].iter().position(|head| *head == name).unwrap_or_else(|| panic!("no {name}"));
    let of = |method: &str| lines.iter().filter(|l| l[0] == "pinch" && l[1] == method).collect::<Vec<_>>();
    let (aggregate, point) = (of("aggregate"), of("point"));
    // A scene of 2.5 s from its beginning by aggregates; by points the steps after the change and those measured.
    assert_eq!((aggregate.len(), point.len()), (250, 10 + 8));
    assert_eq!(point.iter().filter(|l| l[2] == "1").count(), 8);
    // Both methods are measured at the same moments.
    assert_eq!(aggregate[249][column("time")], point[17][column("time")]);
    assert!(lines.iter().all(|l| l.len() == lines[0].len()));
    let table = std::fs::read_to_string(folder("made").join("rows.csv")).expect("the rows");
    assert!(
        table.lines().any(|l| l.starts_with("edge_cube,point,8,") && l.ends_with(",2,19,49.0,14.01,22.76")),
        "{table}"
    );
}

#[test]
fn both_methods_start_from_one_state() {
    // Points hold the cube with the same force as aggregates: the change of method does not disturb the grip.
    made();
    let text = std::fs::read_to_string(folder("made").join("steps.csv")).expect("the numbers");
    let heads: Vec<&str> = text.lines().next().expect("heads").split(',').collect();
    let column = heads.iter().position(|head| *head == "force_n").expect("a force");
    let last = |method: &str| -> f64 {
        let line = text.lines().rfind(|l| l.starts_with(&format!("edge_cube,{method},"))).expect("a step");
        line.split(',').nth(column).expect("a cell").parse().expect("a number")
    };
    let (aggregate, point) = (last("aggregate"), last("point"));
    assert!((aggregate - point).abs() < 0.3 * aggregate, "{aggregate} N, {point} N");
}

#[test]
fn a_missing_output_folder_is_an_error_before_the_measurement() {
    let file = folder("file");
    std::fs::create_dir_all(folder("")).expect("a folder");
    std::fs::write(&file, "in the way").expect("a file");
    let out = fingerpad(&["bench", "rest", "--quick", "--report", &file.join("below").to_string_lossy()]);
    assert_eq!(out.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&out.stderr).contains("cannot create the folder") && out.stdout.is_empty());
    assert_eq!(fingerpad(&["bench", "rest", "--limit", "0"]).status.code(), Some(2));
}

#[test]
fn a_row_ends_at_its_time_limit() {
    let out = fingerpad(&["bench", "pinch", "--steps", "50", "--limit", "0.001", "--json"]);
    let told: serde_json::Value = serde_json::from_slice(&out.stdout).expect("JSON");
    let point = &told["rows"][1];
    assert_eq!((&point["method"], &point["steps_wanted"]), (&"point".into(), &50.into()));
    // Point contacts take milliseconds per step on any machine, so there is only one step.
    assert_eq!(point["steps"], 1);
    // A pipe has no progress bar.
    assert!(!String::from_utf8_lossy(&out.stderr).contains("done"));
}

#[test]
fn the_demo_without_a_display_prints_its_result_and_writes_a_report() {
    let folder = folder("demo");
    let _ = std::fs::remove_dir_all(&folder);
    std::fs::create_dir_all(&folder).expect("a folder");
    let mut demo = Command::new(env!("CARGO_BIN_EXE_fingerpad"));
    let out = demo.current_dir(&folder).env("FINGERPAD_HEADLESS", "1").output().expect("the program runs");
    let message = String::from_utf8_lossy(&out.stdout);
    assert!(out.status.success(), "{}", String::from_utf8_lossy(&out.stderr));
    assert!(message.contains("done: the ball was lifted by") && message.contains("normal force"), "{message}");
    assert!(message.contains("report: fingerpad-demo/index.html"), "{message}");
    let page = std::fs::read_to_string(folder.join("fingerpad-demo/index.html")).expect("the report");
    let document = parsed(&page);
    let titles: Vec<&str> = with_class(document.root(), "plot").filter_map(|n| n.attribute("aria-label")).collect();
    assert_eq!(titles, ["normal force", "slip", "penetration", "step time by stage"]);
    let table = document.descendants().find(|n| n.attribute("id") == Some("stages")).expect("the table");
    let lines: Vec<String> = table.descendants().filter(|n| n.has_tag_name("tr")).map(words).collect();
    assert_eq!(lines.len(), 5, "{lines:?}");
    // The parts of 3 s, in steps of 10 ms.
    for (line, start) in lines[1..].iter().zip(["waiting 20", "closing 90", "lifting 100", "holding 90"]) {
        assert!(line.starts_with(start), "{line}");
    }
    let (pictures, drawn) =
        (document.descendants().filter(|n| n.has_tag_name("img")).count(), message.contains("pictures:"));
    assert_eq!((pictures, folder.join("fingerpad-demo/held.png").exists()), (if drawn { 4 } else { 0 }, drawn));
    assert!(drawn || words(document.root()).contains("No pictures"));
}
