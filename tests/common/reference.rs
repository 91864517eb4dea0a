//! The tables of keys in a reference page.

/// A row of a table.
pub struct Row {
    pub section: String,
    pub key: String,
    /// The shapes or kinds that it applies to; empty for all.
    pub kinds: Vec<String>,
    pub expects: String,
    pub default: String,
}

/// All rows of a page, of which there are more than `least`.
pub fn rows(page: &str, least: usize) -> Vec<Row> {
    let text = std::fs::read_to_string(std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(page));
    let text = text.expect("the reference");
    let (mut rows, mut section) = (Vec::new(), String::new());
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("### ") {
            section = heading.into();
        } else if line.starts_with("## ") {
            section.clear();
        }
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        if section.is_empty() || cells.len() != 6 || !cells[1].starts_with('`') {
            continue;
        }
        let (key, kinds) = cells[1].split_once(" (").unwrap_or((cells[1], ""));
        rows.push(Row {
            section: section.clone(),
            key: key.trim_matches('`').into(),
            kinds: kinds.trim_end_matches(')').split(", ").filter(|s| !s.is_empty()).map(String::from).collect(),
            expects: cells[2].into(),
            default: cells[3].into(),
        });
    }
    assert!(rows.len() > least, "only {} rows were found", rows.len());
    rows
}
