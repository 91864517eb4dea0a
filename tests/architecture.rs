//! The house keeps its order: ranks of modules, crates in their places, the map of the papers.

use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Every Rust file below a folder.
fn sources(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|e| e == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files
}

/// Lines of code with comments left out.
fn code(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("a readable file");
    text.lines().map(|l| l.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// The module a file belongs to: the first folder or file name below `src`.
fn module(file: &Path) -> String {
    let below = file.strip_prefix(root().join("src")).expect("below src");
    below.iter().next().expect("a name").to_string_lossy().trim_end_matches(".rs").to_string()
}

const RANKS: [(&str, u32); 18] = [
    ("math", 0),
    ("mesh", 1),
    ("problem", 1),
    ("tracking", 1),
    ("elastic", 2),
    ("hand", 2),
    ("protocol", 2),
    ("solver", 2),
    ("body", 3),
    ("contact", 4),
    ("sim", 5),
    ("assets", 6),
    ("devices", 7),
    ("record", 7),
    ("script", 7),
    ("viewer", 7),
    ("cli", 8),
    ("main", 9),
];

fn rank(module: &str) -> Option<u32> {
    RANKS.iter().find(|(name, _)| *name == module).map(|(_, rank)| *rank)
}

#[test]
fn modules_name_only_lower_ranks() {
    let files = sources(&root().join("src"));
    assert!(files.len() > 30, "the walk finds the sources");
    for file in files {
        let own = module(&file);
        if own == "lib" {
            continue;
        }
        let own_rank = rank(&own).unwrap_or_else(|| panic!("{} has no rank", file.display()));
        for piece in code(&file).split("crate::").skip(1) {
            let name: String = piece.chars().take_while(|c| c.is_alphanumeric() || *c == '_').collect();
            // Macros of the crate have no module; everything else does.
            if let Some(other) = rank(&name) {
                assert!(
                    name == own || other < own_rank,
                    "{} (rank {own_rank}) names {name} (rank {other})",
                    file.display()
                );
            } else {
                assert!(name == "typed_id", "{} names crate::{name}, which has no rank", file.display());
            }
        }
    }
}

#[test]
fn crates_stay_in_their_places() {
    let places: [(&str, &[&str]); 9] = [
        ("kiss3d", &["viewer"]),
        ("wgpu", &["viewer"]),
        ("rhai", &["script"]),
        ("openxr", &["devices"]),
        ("gilrs", &["devices"]),
        ("serialport", &["devices"]),
        ("hdf5_pure", &["assets"]),
        // Of devices: the raw files in which the system shows them.
        ("std::fs", &["assets", "record", "devices", "cli"]),
        ("anyhow", &["cli"]),
    ];
    for file in sources(&root().join("src")) {
        let (own, text) = (module(&file), code(&file));
        for (name, allowed) in places {
            let used = text.contains(&format!("{name}::"));
            assert!(!used || allowed.contains(&own.as_str()), "{} uses {name}", file.display());
        }
        let clock = ["Instant", "SystemTime"].iter().any(|c| text.contains(c));
        assert!(!clock || rank(&own).is_some_and(|r| r >= 5), "{} reads the clock", file.display());
    }
}

#[test]
fn every_place_in_the_map_of_papers_exists() {
    let map = std::fs::read_to_string(root().join("src/papers.md")).expect("the map");
    let mut checked = 0;
    for line in map.lines().filter(|l| l.starts_with("| ") && !l.starts_with("| paper")) {
        let place = line.trim_end_matches('|').rsplit('|').next().expect("three columns");
        let mut file: Option<(String, String)> = None;
        for word in place.split('`').skip(1).step_by(2) {
            if word.starts_with("src/") {
                let text = std::fs::read_to_string(root().join(word));
                file = Some((word.into(), text.unwrap_or_else(|_| panic!("{line}: there is no {word}"))));
            } else {
                let (name, text) = file.as_ref().unwrap_or_else(|| panic!("{line}: {word} before any file"));
                assert!(text.contains(word), "{line}: {name} has no `{word}`");
                checked += 1;
            }
        }
    }
    assert!(checked >= 15, "only {checked} places were found");
}

#[test]
fn the_top_level_is_as_agreed() {
    for name in ["Cargo.toml", "src", "hands", "scripts", "devices", "scenes", "tests", "README.md"] {
        assert!(root().join(name).exists(), "{name} is missing");
    }
}

#[test]
fn documented_defaults_are_the_defaults() {
    // The average hand writes every optional value out; written or not, they are the same.
    use fingerpad::hand::{Coupling, Material, MeshOptions};
    let hand = fingerpad::assets::load_hand(&root().join("hands/right.toml")).unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(hand.coupling, Coupling::default());
    assert_eq!(hand.tissue, Material::default());
    assert_eq!(hand.mesh, MeshOptions::default());
}
