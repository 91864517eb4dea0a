//! Functions fit a screen.

use crate::{root, sources};

/// Lines of a function, with its signature and braces.
const MOST_LINES: usize = 60;

/// Longer functions, by file and name, and why each is one piece.
const LONGER: [(&str, &str, &str); 5] = [
    ("src/contact/tool.rs", "hand_over", "one pass over the solved problem fills all arrays of the condensed one"),
    ("src/solver/dual.rs", "start_border", "the blocks of one bordered matrix share their offsets"),
    ("src/solver/gauss_seidel.rs", "solve_in", "the loop of the solver with its ways to end"),
    ("src/solver/convex.rs", "assemble_hessian", "one loop over the terms of the cost"),
    ("src/problem/convex.rs", "refresh", "the states of one friction patch"),
];

/// Name, first line and length of every function of a file. The closing brace has the indentation of the first line, as rustfmt writes it.
fn functions(text: &str) -> Vec<(String, usize, usize)> {
    let lines: Vec<&str> = text.lines().collect();
    let mut found = Vec::new();
    for (i, line) in lines.iter().enumerate() {
        let code = line.trim_start();
        let is_start = |words: &[&str]| {
            words.iter().all(|word| ["const", "unsafe", "async"].contains(word) || word.starts_with("pub"))
        };
        let Some((before, after)) = code.split_once("fn ") else { continue };
        if !is_start(&before.split_whitespace().collect::<Vec<_>>()) || code.ends_with([';', '}', '\\']) {
            continue;
        }
        let name = after.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
        let end = format!("{}}}", &line[..line.len() - code.len()]);
        let length = lines[i..].iter().position(|line| *line == end).map_or(0, |last| last + 1);
        found.push((name, i + 1, length));
    }
    found
}

#[test]
fn functions_fit_a_screen() {
    let (mut count, mut excused) = (0, Vec::new());
    for folder in ["src", "tests", "examples"] {
        for file in sources(&root().join(folder)) {
            let path = file.strip_prefix(root()).expect("below the root").to_string_lossy().replace('\\', "/");
            for (name, line, length) in functions(&std::fs::read_to_string(&file).expect("a readable file")) {
                count += 1;
                let known =
                    LONGER.iter().position(|(file, function, _)| (*file, *function) == (path.as_str(), name.as_str()));
                match known {
                    Some(place) if length > MOST_LINES => excused.push(place),
                    _ => assert!(
                        length <= MOST_LINES,
                        "{path}:{line}: `{name}` has {length} lines; split it along what it does"
                    ),
                }
            }
        }
    }
    assert!(count > 4000, "{count} functions were found");
    let fits = (0..LONGER.len()).find(|place| !excused.contains(place)).map(|place| LONGER[place]);
    assert_eq!(fits, None, "it fits now; remove it from the list");
}

#[test]
fn lengths_are_counted_from_the_signature_to_the_brace() {
    let text = "fn one() {}\nimpl A {\n    pub(super) fn two(\n        x: u32,\n    ) {\n        if x {\n        }\n    }\n}\n// fn three() {\nfn four();\n";
    assert_eq!(functions(text), [("two".to_string(), 3, 6)]);
}
