//! Architecture rules: ranks of modules, where crates may be used, the map of the papers.

mod calls;
mod names;
mod sizes;

use std::path::{Path, PathBuf};

use calls::Reached;

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

/// Lines of code without comments.
fn code(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("a readable file");
    text.lines().map(|l| l.split("//").next().unwrap_or("")).collect::<Vec<_>>().join("\n")
}

/// The module a file belongs to: the first folder or file name below `src`.
fn module(file: &Path) -> String {
    let below = file.strip_prefix(root().join("src")).expect("below src");
    below.iter().next().expect("a name").to_string_lossy().trim_end_matches(".rs").to_string()
}

const RANKS: [(&str, u32); 23] = [
    ("math", 0),
    ("sync", 0),
    ("text", 0),
    ("mesh", 1),
    ("problem", 1),
    ("tracking", 1),
    ("beam", 2),
    ("elastic", 2),
    ("hand", 2),
    ("protocol", 2),
    ("solver", 2),
    ("body", 3),
    ("haptics", 3),
    ("contact", 4),
    ("sim", 5),
    ("assets", 6),
    ("devices", 7),
    ("record", 7),
    ("script", 7),
    ("viewer", 7),
    ("runtime", 8),
    ("cli", 9),
    ("main", 10),
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
                assert!(
                    ["typed_id", "saved_fields"].contains(&name.as_str()),
                    "{} names crate::{name}, which has no rank",
                    file.display()
                );
            }
        }
    }
}

#[test]
fn crates_are_used_only_in_their_modules() {
    let places: [(&str, &[&str]); 18] = [
        ("kiss3d", &["viewer"]),
        ("wgpu", &["viewer"]),
        ("rhai", &["script"]),
        // In viewer: a headset's runtime makes the Vulkan device that the viewer draws with.
        ("openxr", &["devices", "viewer"]),
        ("ash", &["viewer"]),
        ("gilrs", &["devices"]),
        ("serialport", &["devices"]),
        ("hdf5_pure", &["assets"]),
        ("tungstenite", &["haptics"]),
        ("triple_buffer", &["haptics"]),
        ("gltf", &["assets"]),
        ("hidapi", &["devices"]),
        ("parquet", &["record"]),
        ("csv", &["record"]),
        ("indicatif", &["cli"]),
        ("ratatui", &["cli"]),
        // In devices: the hidraw files of the system.
        ("std::fs", &["assets", "record", "devices", "runtime", "cli"]),
        ("anyhow", &["cli"]),
    ];
    for file in sources(&root().join("src")) {
        let (own, text) = (module(&file), code(&file));
        for (name, allowed) in places {
            let path = format!("{name}::");
            // Modules of our own may have the name of a crate.
            let inner =
                |before: &str| before.ends_with(|c: char| c.is_alphanumeric() || c == '_') || before.ends_with("::");
            let starts_a_path = |at: usize| !inner(&text[..at]);
            let used = text.match_indices(&path).any(|(at, _)| starts_a_path(at));
            assert!(!used || allowed.contains(&own.as_str()), "{} uses {name}", file.display());
        }
        let clock = ["Instant", "SystemTime"].iter().any(|c| text.contains(c));
        assert!(!clock || rank(&own).is_some_and(|r| r >= 5), "{} reads the clock", file.display());
    }
}

/// Code of a file that is compiled into the program: without imports and unit tests.
fn program_code(file: &Path) -> String {
    let text = std::fs::read_to_string(file).expect("a readable file");
    let program = text.split("\n#[cfg(test)]").next().unwrap_or("");
    let is_import = |line: &str| line.trim_start().trim_start_matches("pub ").starts_with("use ");
    program.lines().filter(|line| !is_import(line)).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_map_of_papers_names_code_that_a_step_or_a_command_reaches() {
    let is_program = |file: &PathBuf| !file.iter().any(|part| part == "tests" || part == "tests.rs");
    let files = sources(&root().join("src")).into_iter().filter(is_program);
    let path = |file: &Path| file.strip_prefix(root()).expect("below the root").display().to_string();
    let program: Vec<(String, String)> = files.map(|file| (path(&file), program_code(&file))).collect();
    let reached = Reached::from(&program);
    assert!(reached.count() > 2000, "only {} functions are reached", reached.count());
    let map = std::fs::read_to_string(root().join("src/papers.md")).expect("the map");
    let (mut checked, mut unreached) = (0, Vec::new());
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
                let index = program.iter().position(|(path, _)| path == name).expect("a file of the program");
                let (kind, item) = word.rsplit_once(' ').unwrap_or(("", word));
                let is_reached = if kind == "fn" { reached.function(index, item) } else { reached.word(item) };
                if !is_reached {
                    unreached.push(format!("`{word}` of {name}"));
                }
                checked += 1;
            }
        }
    }
    assert!(checked >= 15, "only {checked} places were found");
    assert!(unreached.is_empty(), "neither a step nor a command reaches {unreached:#?}");
}

#[test]
fn the_top_level_folders_exist() {
    for name in ["Cargo.toml", "src", "hands", "scripts", "devices", "scenes", "tests", "README.md"] {
        assert!(root().join(name).exists(), "{name} is missing");
    }
}

#[test]
fn documented_defaults_are_the_defaults() {
    // The average hand writes every optional value explicitly; the defaults must agree.
    use fingerpad::hand::{Coupling, Material, MeshOptions};
    let hand = fingerpad::assets::load_hand(&root().join("hands/right.toml")).unwrap_or_else(|p| panic!("{p}"));
    assert_eq!(hand.coupling, Coupling::default());
    assert_eq!((hand.tissue, hand.stiffening, hand.relaxation), (Material::default(), 0.0, false));
    assert_eq!(hand.mesh, MeshOptions::default());
}

/// Whether a licence expression is satisfied by licences that are allowed: `OR` and `/` choose, `AND` needs both.
fn is_allowed(expression: &str, allowed: &[String]) -> bool {
    let expression = expression.trim();
    let parts = |separators: &[&str]| -> Vec<String> {
        let (mut parts, mut depth, mut part) = (Vec::new(), 0, String::new());
        for word in expression.replace('/', " / ").replace('(', " ( ").replace(')', " ) ").split_whitespace() {
            depth += i32::from(word == "(") - i32::from(word == ")");
            if depth == 0 && separators.contains(&word) {
                parts.push(std::mem::take(&mut part));
            } else {
                part += &format!(" {word}");
            }
        }
        parts.push(part.trim().into());
        parts
    };
    let or = parts(&["OR", "/"]);
    if or.len() > 1 {
        return or.iter().any(|part| is_allowed(part, allowed));
    }
    let and = parts(&["AND"]);
    if and.len() > 1 {
        return and.iter().all(|part| is_allowed(part, allowed));
    }
    let inner = or[0].trim();
    match inner.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')) {
        Some(inner) => is_allowed(inner, allowed),
        None => allowed.iter().any(|licence| licence == inner.trim_end_matches('+')),
    }
}

/// The same list as `cargo deny` uses, without the network: every dependency that this machine builds, with all features.
#[test]
fn every_dependency_has_an_allowed_licence() {
    let deny = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml");
    let list = deny.split("allow = [").nth(1).and_then(|rest| rest.split(']').next()).expect("a list of licences");
    let allowed: Vec<String> = list.split('"').skip(1).step_by(2).map(String::from).collect();
    assert!(allowed.len() > 5, "{allowed:?}");
    assert!(is_allowed("(MIT OR GPL-3.0-only) AND Zlib", &allowed) && !is_allowed("MIT AND GPL-3.0-only", &allowed));
    assert!(is_allowed("GPL-2.0/MIT", &allowed) && !is_allowed("GPL-2.0", &allowed) && !is_allowed("", &allowed));
    let mut command = std::process::Command::new(env!("CARGO"));
    command.args(["metadata", "--offline", "--locked", "--format-version", "1", "--filter-platform", HOST]);
    let output = command.current_dir(root()).output().expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    assert!(packages.len() > 100, "only {} packages", packages.len());
    for package in packages {
        let licence = package["license"].as_str().unwrap_or_default();
        assert!(is_allowed(licence, &allowed), "{} {}: {licence:?}", package["name"], package["version"]);
        let source = package["source"].as_str();
        let from = source.is_none_or(|source| source.ends_with("crates.io-index"));
        assert!(from, "{} comes from {source:?}", package["name"]);
    }
}

const HOST: &str = if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
    "x86_64-unknown-linux-gnu"
} else if cfg!(all(target_os = "linux", target_arch = "aarch64")) {
    "aarch64-unknown-linux-gnu"
} else if cfg!(target_os = "macos") {
    "aarch64-apple-darwin"
} else {
    "x86_64-pc-windows-msvc"
};

/// The program in the README is the one that the documentation of the crate tests.
#[test]
fn the_program_of_the_readme_is_tested() {
    let read = |path: &str| std::fs::read_to_string(root().join(path)).expect("a readable file");
    let (readme, lib) = (read("README.md"), read("src/lib.rs"));
    let shown = readme.split("```rust\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a program");
    let mut tested = lib.lines().skip_while(|line| *line != "//! ```").skip(1).take_while(|line| *line != "//! ```");
    for line in shown.lines() {
        let own = tested.next().map(|line| line.trim_start_matches("//!").trim_start_matches(' '));
        assert_eq!(own, Some(line.trim_start()), "src/lib.rs differs");
    }
    assert!(tested.all(|line| line.starts_with("//! # ")), "src/lib.rs has more");
}

/// Every public module has a doctest or is used in an example.
#[test]
fn public_modules_are_shown_in_use() {
    let examples: String = sources(&root().join("examples")).iter().map(|file| code(file)).collect();
    let mut missing = Vec::new();
    for file in sources(&root().join("src")) {
        let text = std::fs::read_to_string(&file).expect("a readable file");
        let folder = if file.ends_with("lib.rs") || file.ends_with("mod.rs") {
            file.parent().expect("a folder").to_path_buf()
        } else {
            file.with_extension("")
        };
        // The program is shown by its help.
        if folder.starts_with(root().join("src/cli")) {
            continue;
        }
        for name in text
            .lines()
            .filter_map(|line| line.strip_prefix("pub mod ")?.strip_suffix(';'))
            .filter(|name| *name != "cli")
        {
            let [flat, nested] = [folder.join(format!("{name}.rs")), folder.join(name).join("mod.rs")];
            let own = std::fs::read_to_string(if flat.exists() { flat } else { nested }).expect("the module");
            let is_tested =
                own.lines().take_while(|line| line.starts_with("//!")).any(|line| line.starts_with("//! ```"));
            if !is_tested && !examples.contains(&format!("fingerpad::{name}::")) {
                missing.push(name.to_string());
            }
        }
    }
    assert!(missing.is_empty(), "without a doctest and an example: {missing:?}");
}
