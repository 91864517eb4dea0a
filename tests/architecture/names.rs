//! A name of a type or constant means one thing in the whole crate.

use std::collections::HashMap;

use super::{code, module, root, sources};

/// Alternatives for a platform or a feature.
const ALTERNATIVES: [&str; 4] = ["ParquetWriter", "Reports", "Screen", "Shot"];

#[test]
fn names_of_types_and_constants_are_unique() {
    let mut places: HashMap<(String, String), Vec<String>> = HashMap::new();
    for file in sources(&root().join("src")) {
        // Ranges are named by their module, as in `ranges::SCALE`; each command has its `Arguments`.
        let name = file.file_name().expect("a name").to_string_lossy();
        let is_space = ["ranges.rs", "limits.rs"].contains(&name.as_ref());
        let is_test = name == "tests.rs" || file.iter().any(|part| part == "tests");
        for line in code(&file).split("\nmod tests {").next().unwrap_or("").lines().filter(|_| !is_test) {
            let line = line.strip_prefix("pub ").unwrap_or(line);
            let line = if line.starts_with("pub(") { line.split_once(") ").map_or("", |(_, rest)| rest) } else { line };
            let Some((kind, rest)) = line.split_once(' ') else { continue };
            let name: String = rest.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            let is_constant = matches!(kind, "const" | "static") && name != "fn" && name != "_" && !is_space;
            let is_type = matches!(kind, "struct" | "enum" | "trait" | "type");
            let is_exempt = ALTERNATIVES.contains(&name.as_str()) || (name == "Arguments" && module(&file) == "cli");
            if (is_constant || is_type) && !is_exempt {
                let sort = if is_type { "type" } else { "constant" };
                places.entry((sort.into(), name)).or_default().push(file.display().to_string());
            }
        }
    }
    assert!(places.len() > 500, "only {} names were found", places.len());
    let twice: Vec<_> = places.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(twice.is_empty(), "names with several meanings: {twice:#?}");
}
