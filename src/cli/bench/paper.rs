use serde_json::{Value, json};

use super::measure::number;

/// Source of the paper's figures.
pub const SOURCE: &str = "Talvas, Marchal, Duriez, Otaduy: Aggregate Constraints for Virtual Manipulation with Soft Fingers (TVCG 2015), \
     table 1: means of 100 steps in SOFA, one thread of an Intel Core i7-2720QM";

/// A row of the paper's table 1. Pairs: point contacts, then aggregates.
struct PaperRow {
    scenario: &'static str,
    title: &'static str,
    phalanges: u32,
    contacts: u32,
    constraints: [f64; 2],
    solve_ms: [f64; 2],
    step_ms: [f64; 2],
}

/// Talvas 2015, table 1.
const TABLE: [PaperRow; 6] = [
    PaperRow {
        scenario: "pencil",
        title: "pencil spun by three fingertips",
        phalanges: 3,
        contacts: 33,
        constraints: [52.0, 12.0],
        solve_ms: [14.91, 4.85],
        step_ms: [25.21, 15.3],
    },
    PaperRow {
        scenario: "edge_cube",
        title: "cube held by its edges",
        phalanges: 2,
        contacts: 19,
        constraints: [49.0, 8.0],
        solve_ms: [14.01, 4.28],
        step_ms: [22.76, 13.05],
    },
    PaperRow {
        scenario: "edge_cube_tight",
        title: "the same, held tighter",
        phalanges: 2,
        contacts: 23,
        constraints: [62.0, 8.0],
        solve_ms: [22.52, 5.26],
        step_ms: [32.45, 14.53],
    },
    PaperRow {
        scenario: "ball_tips",
        title: "ball held by the fingertips",
        phalanges: 15,
        contacts: 37,
        constraints: [86.0, 22.0],
        solve_ms: [37.78, 10.8],
        step_ms: [59.13, 32.58],
    },
    PaperRow {
        scenario: "ball",
        title: "ball enclosed by the hand",
        phalanges: 15,
        contacts: 84,
        constraints: [233.0, 32.0],
        solve_ms: [229.74, 15.33],
        step_ms: [254.05, 39.94],
    },
    PaperRow {
        scenario: "dumbbell",
        title: "dumbbell lifted by two hands",
        phalanges: 30,
        contacts: 93,
        constraints: [283.0, 70.0],
        solve_ms: [350.91, 53.42],
        step_ms: [408.26, 116.53],
    },
];

/// The methods in the order of the paper's pairs.
const PAPER_METHODS: [&str; 2] = ["point", "aggregate"];

/// The paper's figures for a scene and a method; `None` if it has none.
pub fn figures(scenario: &str, method: &str) -> Option<Value> {
    let line = TABLE.iter().find(|line| line.scenario == scenario)?;
    let place = PAPER_METHODS.iter().position(|own| *own == method)?;
    Some(json!({
        "phalanges": line.phalanges,
        "contacts": line.contacts,
        "constraints": line.constraints[place],
        "solve_ms": line.solve_ms[place],
        "step_ms": line.step_ms[place],
    }))
}

/// Our figures next to the paper's: one row per scene of the paper that was measured with both methods.
pub fn table(rows: &[Value]) -> Vec<Value> {
    TABLE.iter().filter_map(|line| compared(line, rows)).collect()
}

fn compared(line: &PaperRow, rows: &[Value]) -> Option<Value> {
    let of = |method: &str| rows.iter().find(|row| row["scenario"] == line.scenario && row["method"] == method);
    let [point, aggregate] = [of("point")?, of("aggregate")?];
    let pair = |path: &str| json!({ "point": number(point, path), "aggregate": number(aggregate, path) });
    let spread = |key: &str, mean: &str| {
        json!({
            "median": pair(&format!("/{key}/median")),
            "p99": pair(&format!("/{key}/p99")),
            "max": pair(&format!("/{key}/max")),
            "mean": pair(&format!("/means_ms/{mean}")),
        })
    };
    let both = |pair: [f64; 2]| json!({ "point": pair[0], "aggregate": pair[1] });
    let ratio = |a: f64, b: f64| json!(a / b.max(f64::MIN_POSITIVE));
    let ours = |path: &str| ratio(number(point, path), number(aggregate, path));
    let theirs = |pair: [f64; 2]| ratio(pair[0], pair[1]);
    Some(json!({
        "scenario": line.scenario,
        "title": line.title,
        "ours": {
            "phalanges_in_contact": number(aggregate, "/phalanges_in_contact/mean").round(),
            "phalanges": number(aggregate, "/phalanges"),
            "contacts": pair("/contacts/mean"),
            "pressing_contacts": pair("/pressing_contacts/mean"),
            "constraints": pair("/constraints/mean"),
            "contact_ms": spread("contact_ms", "contact"),
            "solve_ms": spread("stages_ms/solve", "solve"),
            "step_ms": spread("step_ms", "step"),
            "steps": pair("/steps"),
            "lost_at": { "point": point["lost_at"], "aggregate": aggregate["lost_at"] },
            "not_converged": pair("/solver/not_converged"),
        },
        "paper": {
            "phalanges": line.phalanges,
            "contacts": line.contacts,
            "constraints": both(line.constraints),
            "solve_ms": both(line.solve_ms),
            "step_ms": both(line.step_ms),
        },
        "point_over_aggregate": {
            "ours": {
                "constraints": ours("/constraints/mean"),
                "solve": ours("/stages_ms/solve/median"),
                "contact": ours("/contact_ms/median"),
                "step": ours("/step_ms/median"),
            },
            "ours_by_means": { "solve": ours("/means_ms/solve"), "step": ours("/means_ms/step") },
            "paper": {
                "constraints": theirs(line.constraints),
                "solve": theirs(line.solve_ms),
                "step": theirs(line.step_ms),
            },
        },
    }))
}

/// Column headings of the printed table.
pub const HEADS: [&str; 11] = [
    "",
    "phalanges",
    "contacts",
    "constraints",
    "solve ms",
    "step ms",
    "constraints ÷",
    "solve ÷",
    "contact ÷",
    "step ÷",
    "steps",
];

/// The rows of one scene under [`HEADS`]: our medians, 99th percentiles and means, and the paper's means.
pub fn lines(row: &Value) -> [Vec<String>; 4] {
    let arrow = |path: &str| {
        let [point, aggregate] = PAPER_METHODS.map(|method| written(number(row, &format!("{path}/{method}"))));
        format!("{point} → {aggregate}")
    };
    let at = |path: &str| written(number(row, path));
    let ratio = |whose: &str, key: &str| at(&format!("/point_over_aggregate/{whose}/{key}"));
    let touching = format!("{} of {}", at("/ours/phalanges_in_contact"), at("/ours/phalanges"));
    // A row from its cells; those that it does not have are empty.
    let line = |name: &str, cells: &[(&str, String)]| {
        let cell =
            |head: &&str| cells.iter().find(|(own, _)| own == head).map_or(String::new(), |(_, cell)| cell.clone());
        std::iter::once(name.to_string()).chain(HEADS[1..].iter().map(cell)).collect::<Vec<_>>()
    };
    let times = |of: &str| {
        [("solve ms", arrow(&format!("/ours/solve_ms/{of}"))), ("step ms", arrow(&format!("/ours/step_ms/{of}")))]
    };
    let ratios = |whose: &str| [("solve ÷", ratio(whose, "solve")), ("step ÷", ratio(whose, "step"))];
    let of_medians = [
        ("phalanges", touching),
        ("contacts", arrow("/ours/contacts")),
        ("constraints", arrow("/ours/constraints")),
        ("constraints ÷", ratio("ours", "constraints")),
        ("contact ÷", ratio("ours", "contact")),
        ("steps", arrow("/ours/steps")),
    ];
    let of_the_paper = [
        ("phalanges", at("/paper/phalanges")),
        ("contacts", at("/paper/contacts")),
        ("constraints", arrow("/paper/constraints")),
        ("solve ms", arrow("/paper/solve_ms")),
        ("step ms", arrow("/paper/step_ms")),
        ("constraints ÷", ratio("paper", "constraints")),
        ("steps", "100".into()),
    ];
    [
        line("here, median", &[&of_medians[..], &times("median"), &ratios("ours")].concat()),
        line("here, p99", &times("p99")),
        line("here, mean", &[times("mean"), ratios("ours_by_means")].concat()),
        line("paper, mean", &[&of_the_paper[..], &ratios("paper")].concat()),
    ]
}

/// Name of a scene in the table, with its failure if there was one.
pub fn heading(row: &Value) -> String {
    let word = |key: &str| row[key].as_str().unwrap_or_default();
    let lost = PAPER_METHODS.into_iter().filter_map(|method| {
        let time = row["ours"]["lost_at"][method].as_f64()?;
        Some(format!(" ({method}: the object was lost at {time:.2} s)"))
    });
    format!("{}: {}{}", word("scenario"), word("title"), lost.collect::<String>())
}

/// Notes below the table.
pub const NOTES: [&str; 6] = [
    "pairs are point contacts → aggregates, ratios (÷) point contacts ÷ aggregates; the paper's times are means; a grip at rest needs few sweeps, so means and medians can differ",
    "phalanges: those in contact, out of all; here all phalanges and the palm are soft in every scene, the paper counts only the soft ones",
    "contacts: for points, all within the proximity threshold, three rows each; for aggregates, those that share the pressure",
    "both methods are measured over the same part of a scene; the part before is simulated with aggregates, except for a few steps with points just before the measurement",
    "a row ends early at its time limit or when the hand has dropped its object; `steps` is the number of measured steps",
    "“not conv.” counts solves that stopped at the sweep limit; their time is that of the truncated solve",
];

/// Formats a number with about three digits.
pub fn written(x: f64) -> String {
    let digits = match x.abs() {
        size if size >= 99.95 => return format!("{x:.0}"),
        size if size >= 9.995 => 1,
        size if size >= 0.9995 => 2,
        _ => 3,
    };
    format!("{x:.digits$}").trim_end_matches('0').trim_end_matches('.').to_string()
}

/// Prints the table.
pub fn print(table: &[Value]) {
    if table.is_empty() {
        return;
    }
    println!("{SOURCE}; compared with this machine");
    const WIDTHS: [usize; 11] = [14, 10, 15, 15, 17, 17, 14, 9, 11, 9, 11];
    let padded = |cells: Vec<String>| {
        let cells = cells.iter().zip(WIDTHS).enumerate();
        let cells = cells
            .map(|(i, (cell, width))| if i == 0 { format!("  {cell:<width$}") } else { format!("{cell:>width$}") });
        cells.collect::<String>().trim_end().to_string()
    };
    println!("{}", padded(HEADS.map(String::from).to_vec()));
    for row in table {
        println!("{}", heading(row));
        lines(row).into_iter().for_each(|cells| println!("{}", padded(cells)));
    }
    NOTES.iter().for_each(|note| println!("{note}"));
    println!("{}", super::measure::STAGES_NOTE);
    println!();
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(scenario: &str, method: &str, factor: f64) -> Value {
        json!({
            "scenario": scenario, "method": method, "steps": 100, "phalanges": 15,
            "phalanges_in_contact": { "mean": 2.2 }, "contacts": { "mean": 20.0 }, "constraints": { "mean": 8.0 * factor },
            "stages_ms": { "solve": { "median": 0.5 * factor, "p99": 0.9 * factor } },
            "contact_ms": { "median": 0.5 + 0.5 * factor }, "step_ms": { "median": 2.0 * factor, "p99": 3.0 },
            "means_ms": { "solve": 0.6 * factor, "step": 2.5 },
        })
    }

    #[test]
    fn our_figures_are_listed_next_to_the_papers() {
        let rows = [row("edge_cube", "aggregate", 1.0), row("edge_cube", "point", 7.0), row("ball", "point", 1.0)];
        let table = table(&rows);
        // The ball was not measured by both methods, and the other scenes not at all.
        assert_eq!(table.len(), 1);
        let at = |path: &str| number(&table[0], path);
        assert_eq!(at("/paper/solve_ms/point"), 14.01);
        assert!((at("/point_over_aggregate/paper/solve") - 14.01 / 4.28).abs() < 1e-12);
        assert!((at("/point_over_aggregate/ours/step") - 7.0).abs() < 1e-12);
        assert!((at("/point_over_aggregate/ours/contact") - 4.0).abs() < 1e-12);
        let [median, p99, mean, paper] = lines(&table[0]);
        for cells in [&median, &p99, &mean, &paper] {
            assert_eq!(cells.len(), HEADS.len());
        }
        assert_eq!((mean[4].as_str(), mean[7].as_str(), mean[9].as_str()), ("4.2 → 0.6", "7", "1"));
        assert_eq!((median[1].as_str(), median[4].as_str()), ("2 of 15", "3.5 → 0.5"));
        assert_eq!((paper[3].as_str(), paper[6].as_str()), ("49 → 8", "6.12"));
        assert_eq!(heading(&table[0]), "edge_cube: cube held by its edges");
        let mut rows = rows;
        rows[1]["lost_at"] = json!(2.75);
        assert!(heading(&super::table(&rows)[0]).ends_with("(point: the object was lost at 2.75 s)"));
    }

    #[test]
    fn the_papers_figures_go_to_their_method() {
        assert_eq!(figures("dumbbell", "aggregate").expect("figures")["constraints"], 70.0);
        assert_eq!(figures("dumbbell", "point").expect("figures")["step_ms"], 408.26);
        assert!(figures("pinch", "point").is_none() && figures("ball", "other").is_none());
    }

    #[test]
    fn numbers_are_short() {
        for (x, text) in [(0.0, "0"), (0.04321, "0.043"), (1.5, "1.5"), (99.96, "100"), (254.05, "254"), (-2.0, "-2")] {
            assert_eq!(written(x), text);
        }
    }
}
