//! `bench`, `study` and `problem` as a user types them. No test asserts a time.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// Runs from a folder without scenes: shipped ones are embedded.
fn fingerpad(arguments: &[&str]) -> Output {
    let program = env!("CARGO_BIN_EXE_fingerpad");
    Command::new(program).args(arguments).current_dir(env!("CARGO_TARGET_TMPDIR")).output().expect("the program runs")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn json(arguments: &[&str]) -> Value {
    let out = fingerpad(arguments);
    assert!(out.status.success(), "{arguments:?}: {}", text(&out.stderr));
    serde_json::from_slice(&out.stdout).expect("JSON")
}

fn file(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("studies");
    std::fs::create_dir_all(&folder).expect("a folder");
    folder.join(name)
}

fn scene(name: &str) -> String {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes").join(name).to_string_lossy().into_owned()
}

fn number(value: &Value, path: &str) -> f64 {
    value.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("no number {path} in {value}"))
}

fn list<'v>(value: &'v Value, key: &str) -> &'v [Value] {
    value[key].as_array().unwrap_or_else(|| panic!("no list {key} in {value}"))
}

#[test]
fn bench_measures_shipped_scenes_by_both_methods() {
    let table = file("bench.csv");
    let out = json(&["bench", "rest", "pinch", "--quick", "--json", "-q", "--csv", &table.to_string_lossy()]);
    assert!(out["machine"]["threads"].is_number());
    let rows = list(&out, "rows");
    let names: Vec<[&str; 2]> =
        rows.iter().map(|r| ["scenario", "method"].map(|key| r[key].as_str().expect("a word"))).collect();
    assert_eq!(names, [["pinch", "aggregate"], ["pinch", "point"], ["rest", "aggregate"]]);
    for row in rows {
        assert_eq!(row["steps"], 20);
        for path in
            ["/contacts/mean", "/constraints/mean", "/solver/iterations_mean", "/realtime_factor", "/step_ms/p99"]
        {
            assert!(number(row, path) > 0.0, "{path}: {row}");
        }
        let stages = ["free", "proximity", "formulation", "assembly", "solve", "advance", "correction"];
        for stage in stages {
            let [median, p99, max] = ["median", "p99", "max"].map(|k| number(row, &format!("/stages_ms/{stage}/{k}")));
            assert!(median <= p99 && p99 <= max && max <= number(row, "/step_ms/max"), "{stage}: {row}");
        }
        // Aggregates have a convex problem, points rows and a correction of positions.
        let convex = row["method"] == "aggregate";
        assert_eq!(number(row, "/stages_ms/formulation/max") > 0.0, convex);
        assert_eq!(number(row, "/stages_ms/assembly/max") > 0.0, !convex);
        let parts = stages[2..].iter().map(|stage| number(row, &format!("/means_ms/{stage}"))).sum::<f64>();
        assert!((parts - number(row, "/means_ms/contact")).abs() < 1e-9, "{row}");
        assert_eq!(row["whole_step_ms"].is_object(), convex);
        assert!((number(row, "/sim_seconds") - 0.2).abs() < 1e-9 && number(row, "/max_penetration_mm") < 1.0);
    }
    assert!(number(&rows[1], "/constraints/mean") > 3.0 * number(&rows[0], "/constraints/mean"), "{rows:?}");
    assert!(rows[1]["point_over_aggregate"]["solve"].is_number() && rows[0]["point_over_aggregate"].is_null());
    let table = std::fs::read_to_string(table).expect("the table");
    let lines: Vec<Vec<&str>> = table.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!((lines.len(), lines[0][0], lines[2][1]), (4, "scenario", "point"));
    // The paper has no figures for these scenes, and nothing is lost in them.
    // Points do not play a whole scene.
    for line in &lines[1..] {
        assert_eq!(line.len(), lines[0].len());
        for (head, cell) in lines[0].iter().zip(line).skip(2) {
            let whole = head.starts_with("whole_step_ms") && line[1] == "point";
            let is_empty = whole || head.starts_with("paper.") || *head == "lost_at";
            assert!(if is_empty { cell.is_empty() } else { cell.parse::<f64>().is_ok() }, "{head}: {line:?}");
        }
    }
}

#[test]
fn bench_prints_a_table_and_knows_its_names() {
    let out = fingerpad(&["bench", "rest", "--quick", "-q"]);
    let table = text(&out.stdout);
    assert!(
        ["contacts", "held median", "whole median", "formulation", "correction", "p99", "× real time", "rest "]
            .iter()
            .all(|word| table.contains(word)),
        "{table}"
    );
    let out = fingerpad(&["bench", "rset"]);
    assert!(out.status.code() == Some(2) && out.stdout.is_empty());
    assert!(text(&out.stderr).contains("there is no benchmark `rset`; did you mean `rest`?"));
    let out = fingerpad(&["bench", "nonsense"]);
    assert!(["`nonsense`", "free_motion", "pinch", "table"].iter().all(|word| text(&out.stderr).contains(word)));
}

#[test]
fn bench_plots_steps_next_to_an_earlier_run() {
    let (plot, trace) = (file("steps.svg"), file("earlier.csv"));
    let out = fingerpad(&["run", "pinch", "-q", "--trace", &trace.to_string_lossy()]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let [drawn, beside] = [&plot, &trace].map(|file| file.to_string_lossy());
    let out =
        fingerpad(&["bench", "pinch", "--steps", "5", "-q", "--json", "--plot-steps", &drawn, "--beside", &beside]);
    assert!(out.status.success(), "{}", text(&out.stderr));
    let drawing = std::fs::read_to_string(&plot).expect("the plot");
    for name in [">pinch: step time<", ">aggregate<", ">point<", ">earlier<", ">step (ms)<"] {
        assert!(drawing.contains(name), "{name}");
    }
    // Aggregates and the earlier run from the first of 250 steps on, points from ten before the measured ones.
    let data = drawing.split("<g class=\"data\">").nth(1).and_then(|d| d.split("</g>").next()).expect("the curves");
    let points =
        |line: &str| line.split("points=\"").nth(1).expect("points").split(' ').filter(|c| c.contains(',')).count();
    assert_eq!(data.lines().filter(|l| l.starts_with("<polyline")).map(points).collect::<Vec<_>>(), [250, 15, 250]);
    // A table without step times is reported before the measurement.
    std::fs::write(&trace, "time,x\n0,1\n").expect("a file");
    let out = fingerpad(&["bench", "pinch", "-q", "--plot-steps", &drawn, "--beside", &beside]);
    assert!(out.status.code() == Some(2) && text(&out.stderr).contains("`step_ms`"), "{}", text(&out.stderr));
}

#[test]
fn aggregates_do_not_grow_with_the_resolution_of_the_skin() {
    let plot = file("resolution.svg");
    let study = json(&[
        "study",
        "resolution",
        "--factors",
        "1,4",
        "--steps",
        "2",
        "--json",
        "-q",
        "--plot",
        &plot.to_string_lossy(),
    ]);
    let rows = list(&study, "rows");
    let of = |factor: f64, method: &str, path: &str| {
        let row = rows.iter().find(|r| number(r, "/factor") == factor && r["method"] == method).expect("a row");
        number(row, path)
    };
    assert_eq!(rows.len(), 4);
    let constraints = |factor, method| of(factor, method, "/constraints/mean");
    assert!((constraints(1.0, "aggregate") - constraints(4.0, "aggregate")).abs() <= 4.0, "{rows:?}");
    assert!(constraints(4.0, "point") > 2.0 * constraints(1.0, "point"), "{rows:?}");
    assert!(of(4.0, "aggregate", "/contacts/mean") > of(1.0, "aggregate", "/contacts/mean"), "{rows:?}");
    assert!(number(&study, "/growth/point/constraints") > number(&study, "/growth/aggregate/constraints"));
    for row in rows {
        let contact = number(row, "/contact_ms/median");
        assert!(contact >= number(row, "/stages_ms/solve/median") && contact < number(row, "/step_ms/max"), "{row}");
    }
    assert!(number(&study, "/growth/point/contact_ms") > 0.0);
    let drawing = std::fs::read_to_string(plot).expect("the plot");
    assert!(
        drawing.starts_with("<svg")
            && [">aggregate<", ">point<", ">Total contact cost<"].iter().all(|name| drawing.contains(name))
    );
}

#[test]
fn remaining_depths_are_reported_by_scene_and_method() {
    let plot = file("penetration.svg");
    let drawn = plot.to_string_lossy();
    let study =
        json(&["study", "penetration", "--scenes", "pencil", "--limit", "60", "--json", "-q", "--plot", &drawn]);
    let rows = list(&study, "rows");
    assert_eq!(rows.iter().map(|row| row["method"].as_str()).collect::<Vec<_>>(), [Some("aggregate"), Some("point")]);
    for row in rows {
        let [median, p99, max] = ["median", "p99", "max"].map(|key| number(row, &format!("/depth_mm/{key}")));
        assert!(median <= p99 && p99 <= max && max < 1.0, "{row}");
        assert!(number(row, "/small") > 0.9 && number(row, "/steps") > 100.0, "{row}");
        assert_eq!(number(row, "/made"), number(row, "/wanted"), "{row}");
    }
    assert_eq!(list(&study, "together").len(), 2);
    let drawing = std::fs::read_to_string(&plot).expect("the plot");
    assert!(drawing.starts_with("<svg") && drawing.contains(">pencil<"));
}

#[test]
fn the_cone_study_draws_both_findings() {
    let plot = file("cone.svg");
    let study = json(&["study", "cone", "--tests", "2", "--json", "-q", "--plot", &plot.to_string_lossy()]);
    let gaps = list(&study, "gaps");
    let gap = |sides: u64| number(gaps.iter().find(|g| g["sides"] == sides).expect("a row"), "/gap");
    assert!(gap(4) > gap(16) && gap(16) < 0.05, "{gaps:?}");
    let times = list(&study, "times");
    assert!(times.iter().all(|t| number(t, "/gauss_seidel_ms") > 0.0 && number(t, "/pyramid_8_ms") > 0.0));
    let drawing = std::fs::read_to_string(plot).expect("the plot");
    for words in ["of friction", "5 %", "Gauss–Seidel on the cone", "Lemke on the 8-sided pyramid", "contacts"] {
        assert!(drawing.contains(&format!(">{words}</text>")), "{words}");
    }
    assert!(!drawing.contains("NaN"));
}

#[test]
fn legs_spread_or_hold_and_a_shelf_couples_them() {
    let picture = file("table.png");
    let study = json(&[
        "study",
        "table",
        "--friction",
        "0.05,0.8",
        "--seconds",
        "0.2",
        "--json",
        "-q",
        "--picture",
        &picture.to_string_lossy(),
    ]);
    let spread = |friction: f64, build: &str| {
        let mut rows = list(&study, "spreads").iter();
        let row = rows.find(|r| number(r, "/friction") == friction && r["build"] == build).expect("a row");
        number(row, "/spread_mm")
    };
    for build in ["plain", "shelf"] {
        assert!(spread(0.05, build) > spread(0.8, build) + 0.1, "{study}");
    }
    assert!(spread(0.05, "plain") > spread(0.05, "shelf"), "{study}");
    for kind in ["side_by_side", "diagonal", "normals", "tangents"] {
        let [plain, shelf] =
            ["plain", "shelf"].map(|build| number(&study, &format!("/coupling_between_legs/{build}/{kind}")));
        assert!(
            0.0 < plain && plain < shelf && shelf < 0.5,
            "{kind}: less than within a leg, more with a shelf: {study}"
        );
    }
    let bytes = std::fs::read(picture).expect("the picture");
    assert!(bytes.starts_with(b"\x89PNG\r\n\x1a\n") && bytes.len() > 10_000);
}

#[test]
fn haptic_loops_are_compared() {
    let (plot, table) = (file("haptics.svg"), file("haptics.csv"));
    let [drawn, written] = [&plot, &table].map(|file| file.to_string_lossy());
    let study = json(&["study", "haptics", "--steps", "50", "--json", "-q", "--plot", &drawn, "--csv", &written]);
    // While the contacts stay the same, both loops have the same force.
    assert!(number(&study, "/clip/steady_difference") < 0.15, "{}", study["clip"]);
    assert!(number(&study, "/clip/push_n") > 0.3 && number(&study, "/clip/pull_n") > 0.3, "{}", study["clip"]);
    let [fast, slow] = [0, 1].map(|i| number(&study, &format!("/thread/{i}/unrest_mm")));
    assert!(fast < 0.2 && slow > 5.0, "{fast} and {slow} mm");
    let limits = list(&study, "stiffness");
    for row in limits {
        let [bound, found, late] = ["/bound", "/found", "/one_step_late"].map(|key| number(row, key));
        // A held spring is late by half a period; one more of delay makes it three halves, and the stiffness a third.
        assert!((found / bound - 1.0).abs() < 0.1 && (late / bound - 0.335).abs() < 0.04, "{row}");
        assert!(number(row, "/with_controller") > 1.3 * late, "{row}");
    }
    let grows = limits.windows(2).all(|pair| number(&pair[1], "/found") > number(&pair[0], "/found"));
    assert!(grows, "{limits:?}");
    for row in list(&study, "times") {
        assert!(number(row, "/ms/median") > 0.0 && number(row, "/ms/median") <= number(row, "/ms/max"), "{row}");
    }
    assert!(number(&study, "/times/0/constraints") >= 10.0, "{}", study["times"]);
    let drawing = std::fs::read_to_string(plot).expect("the plot");
    for words in ["Snapping on and off", "Thread pulled taut", "Stable stiffness", "1000 Hz"] {
        assert!(drawing.contains(&format!(">{words}</text>")), "{words}");
    }
    assert!(!drawing.contains("NaN"));
    let table = std::fs::read_to_string(table).expect("the table");
    assert!(table.starts_with("what,time,") && table.contains("\nthread at 50 Hz,"), "{}", &table[..200]);
}

#[test]
fn elastic_objects_repeat_the_papers_findings() {
    let plot = file("elastic.svg");
    let study = json(&["study", "elastic", "--json", "-q", "--plot", &plot.to_string_lossy()]);
    let rows = |path: &str| study.pointer(path).and_then(Value::as_array).unwrap_or_else(|| panic!("no {path}"));
    let ball = rows("/pressing/ball");
    assert!(ball.windows(2).all(|pair| number(&pair[1], "/1") > number(&pair[0], "/1")), "{ball:?}");
    let sliding = list(&study, "sliding");
    let last = sliding.last().expect("rows");
    assert!(sliding[0]["sliding"] == false && last["sliding"] == true);
    assert!((number(last, "/friction_n/0") + 0.3 * number(last, "/normal_n/1")).abs() < 1e-9, "{last}");
    let [head, tail] = [0, 1].map(|i| &rows("/dents/ends")[i]);
    assert!(number(head, "/area_mm2") > 2.0 * number(tail, "/area_mm2"));
    for key in ["/depth_mm", "/beside_mm"] {
        assert!(number(head, key) < number(tail, key), "{key}");
    }
    let along = list(&study, "ellipsoid");
    let (first, last) = (&along[0], along.last().expect("rows"));
    assert!(number(first, "/normal_n/0") < 0.0 && number(last, "/normal_n/0") > 0.0);
    let mut counts: Vec<&Value> = list(&study, "compass").iter().map(|row| &row["regions"]).collect();
    counts.dedup();
    assert_eq!(counts, [0, 1, 2, 1, 0]);
    let [plain, soft] = [0, 1].map(|i| &list(&study, "inclusion")[i]);
    let lean = |row: &Value| number(row, "/means_mm/0") / number(row, "/means_mm/1");
    assert!((lean(plain) - 1.0).abs() < 1e-9 && lean(soft) > 1.1, "{} {}", lean(plain), lean(soft));
    assert_eq!(list(&study, "times").last().map(|t| number(t, "/triangles")), Some(3952.0));
    let drawing = std::fs::read_to_string(plot).expect("the plot");
    for words in ["13: ball on cube", "15: dents at 5 N", "17: compass", "PVC ball in the left side"] {
        assert!(drawing.contains(&format!(">{words}</text>")), "{words}");
    }
    assert!(!drawing.contains("NaN"));
}

/// Saves a problem of a scene; returns its file and what was printed about it.
fn saved(name: &str, more: &[&str]) -> (String, Value) {
    let problem = file(&format!("{name}_{}.txt", more.len())).to_string_lossy().into_owned();
    let scene = scene(&format!("{name}.toml"));
    let arguments = [&["problem", "save", &scene, "--out", &problem, "--json", "-q"], more].concat();
    let message = json(&arguments);
    (problem, message)
}

fn forces(value: &Value) -> Vec<f64> {
    list(value, "forces").iter().map(|f| f.as_f64().expect("a force")).collect()
}

fn apart(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let norm = |x: &mut dyn Iterator<Item = f64>| x.map(|x| x * x).sum::<f64>().sqrt();
    norm(&mut a.iter().zip(b).map(|(a, b)| a - b)) / norm(&mut b.iter().copied())
}

#[test]
fn a_saved_problem_has_the_forces_of_its_step() {
    for (name, more) in [("table", &["--at", "0.1"][..]), ("pinch", &["--at", "2.3", "--method", "aggregate"])] {
        let (problem, message) = saved(name, more);
        let solved = json(&["problem", "solve", &problem, "--json"]);
        assert_eq!((&message["rows"], &message["laws"]), (&solved["rows"], &solved["laws"]));
        let solvers = list(&solved, "solvers");
        assert!(solvers[0]["solver"] == "Gauss–Seidel" && solvers[0]["status"] == "converged", "{name}");
        let difference = apart(&forces(&solvers[0]), &forces(&message));
        assert!(difference < 1e-5, "{name}: {difference}");
        let rigid: Vec<&Value> = solvers.iter().filter(|s| s["friction"] == false).collect();
        assert_eq!(rigid.len(), 3, "Gauss–Seidel, principal pivoting and Lemke on the normal rows");
        assert!(
            rigid.iter().all(|s| s["solved"] == true && number(s, "/force_difference") < 1e-6),
            "{name}: {rigid:?}"
        );
    }
}

#[test]
fn pyramids_come_closer_with_more_sides_where_they_fit() {
    let (problem, _) = saved("table", &["--at", "0.05", "--set", "material.felt.friction=0.1"]);
    let solved = json(&["problem", "solve", &problem, "--json"]);
    let gap = |name: &str| {
        let found = list(&solved, "solvers").iter().find(|s| s["solver"] == name).expect("a solver");
        assert_eq!(found["solved"], true, "{name}");
        number(found, "/force_difference")
    };
    let [four, sixteen] = ["pyramid, 4 sides", "pyramid, 16 sides"].map(gap);
    assert!(four > sixteen && sixteen < 0.05, "{four} {sixteen}");
    let (problem, _) = saved("spin_disc", &["--at", "0.02"]);
    let out = fingerpad(&["problem", "solve", &problem]);
    let table = text(&out.stdout);
    assert!(out.status.success() && table.contains("aggregates 1") && table.contains("no pyramids"), "{table}");
}

#[test]
fn a_group_can_be_chosen() {
    let (_, message) = saved("rest", &["--at", "0.1"]);
    let (_, ball) = saved("rest", &["--at", "0.1", "--group", "1"]);
    assert_eq!((&message["groups"], &ball["group"]), (&3.into(), &1.into()));
    assert!(number(&message, "/rows") >= number(&ball, "/rows"));
}

#[test]
fn bad_input_gets_a_sentence_and_exit_code_2() {
    let (good, _) = saved("rest", &["--at", "0.05"]);
    let good = std::fs::read_to_string(good).expect("a problem");
    let spoiled = |name: &str, change: &dyn Fn(Vec<&str>) -> Vec<String>| {
        let problem = file(name);
        std::fs::write(&problem, change(good.lines().collect()).join("\n")).expect("a file");
        problem.to_string_lossy().into_owned()
    };
    let replaced = |name: &str, line: usize, with: &str| {
        spoiled(name, &|lines| {
            let mut lines: Vec<String> = lines.iter().map(|l| l.to_string()).collect();
            lines[line - 1] = with.into();
            lines
        })
    };
    let laws: usize = good.lines().filter(|l| l.starts_with("coulomb")).count();
    let (header, law, row) = (
        replaced("header.txt", 1, "hello"),
        replaced("law.txt", 3, "coulomb x"),
        replaced("row.txt", laws + 4, "w 1 2"),
    );
    let short = spoiled("short.txt", &|lines| lines[..3].iter().map(|l| l.to_string()).collect());
    let negative = spoiled("negative.txt", &|lines| {
        lines.iter().map(|l| if l.starts_with("coulomb") { "coulomb -1".into() } else { l.to_string() }).collect()
    });
    let (rest, out) = (scene("rest.toml"), file("never.txt").to_string_lossy().into_owned());
    let pinch = scene("pinch.toml");
    for (arguments, says) in [
        (&["problem", "solve", &header][..], "header.txt:1: expected the header"),
        (&["problem", "solve", &law], "law.txt:3: expected `equality N`"),
        (&["problem", "solve", &row], &format!("row.txt:{}: expected as many numbers", laws + 4)),
        (&["problem", "solve", &short], "short.txt:4: expected"),
        (&["problem", "solve", &negative], "negative.txt: row 0 has the friction coefficient -1"),
        (&["problem", "solve", "nowhere.txt"], "nowhere.txt: cannot be read"),
        (&["problem", "save", &rest, "--at", "0.05", "--group", "7", "--out", &out], "there is no group 7"),
        (&["problem", "save", &rest, "--at", "1e9", "--out", &out], "out of range"),
        (
            &["problem", "save", &rest, "--at", "0.05", "--set", "frction=paper", "--out", &out],
            "did you mean `friction`",
        ),
        (&["problem", "save", &pinch, "--at", "0.01", "--set", "gravity=[0, 9, 0]", "--out", &out], "nothing touches"),
        (&["study", "table", "--friction", "99"], "out of range"),
        (&["study", "resolution", "--factors", "1000"], "out of range"),
        (&["study", "penetration", "--scenes", "bal"], "there is no scene of the paper `bal`; did you mean `ball`?"),
        (&["bench", "edgecube"], "there is no benchmark `edgecube`; did you mean `edge_cube`?"),
    ] {
        let out = fingerpad(arguments);
        let errors = text(&out.stderr);
        assert_eq!(out.status.code(), Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(says) && out.stdout.is_empty(), "{arguments:?}: {errors}");
    }
    assert!(!file("never.txt").exists());
}

/// Duriez 2004, fig. 6; Duriez 2006, fig. 14: the phases of a snap, and the forces of both loops.
#[test]
fn a_clip_snaps_and_both_loops_feel_the_same() {
    let plot = file("clip.svg");
    let out = json(&["study", "clip", "--quick", "--json", "-q", "--plot", &plot.to_string_lossy()]);
    for way in ["in", "out"] {
        let snaps: Vec<&Value> = list(&out, "snaps").iter().filter(|s| s["way"] == way).collect();
        let peaks: Vec<f64> = snaps.iter().map(|s| number(s, "/peak")).collect();
        assert!(peaks.len() == 2 && peaks[0] > 5.0 && peaks[1] > 1.2 * peaks[0], "{way}: {peaks:?}");
        for snap in snaps {
            let (at, turn) = (number(snap, "/peak_at_mm"), number(snap, "/turns_at_mm"));
            assert!(at > 1.0 && turn > at, "{way}: the peak, then the turn: {at} {turn}");
            assert!(number(snap, "/least") < -0.1 * number(snap, "/peak"), "{way}: the clip goes on by itself");
        }
    }
    assert!(number(&out, "/loops/sliding_difference") < 0.02, "{}", out["loops"]["sliding_difference"]);
    assert_eq!(number(&out, "/loops/tetrahedra"), 2400.0);
    for contacts in list(&out, "contacts") {
        assert!(number(contacts, "/contacts") >= 20.0 && number(contacts, "/step_ms/median") > 0.0, "{contacts}");
    }
    let drawn = std::fs::read_to_string(plot).expect("the plot");
    assert!(drawn.contains("Forces of both loops") && drawn.contains("Snap-in"));
}

/// The pad of the index finger beside measured fingertips: what is met has to stay met.
#[test]
fn the_fingertip_is_compared_with_measured_ones() {
    let plot = file("fingertip.svg");
    let out = json(&["study", "fingertip", "--quick", "--json", "-q", "--plot", &plot.to_string_lossy()]);
    let met = |quantity: &str| {
        let found = list(&out, "targets").iter().find(|t| t["quantity"] == quantity);
        found.unwrap_or_else(|| panic!("{quantity}: {out}"))["met"] == true
    };
    for quantity in [
        "force against indentation",
        "volume under indentation",
        "relaxation, `relaxation = true`",
        "torsion: torque at full slip",
    ] {
        assert!(met(quantity), "{quantity}: {}", out["targets"]);
    }
    let drawn = std::fs::read_to_string(plot).expect("the plot");
    assert!(drawn.contains("Slip in torsion") && drawn.contains("Relaxation"));
}
