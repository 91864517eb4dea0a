//! Files that hold only what differs from another.

use std::path::{Path, PathBuf};

use super::Document;
use crate::assets::{Files, Problems};

/// How many files may stand on each other's shoulders through `base`.
const MOST_BASES: usize = 8;

impl Document {
    /// Reads a file, laid over the one that its key `base` names, and so on.
    pub fn load_over_bases(files: &Files, file: &Path) -> Result<Self, Problems> {
        load(files, file, &mut Vec::new())
    }
}

fn load(files: &Files, file: &Path, above: &mut Vec<PathBuf>) -> Result<Document, Problems> {
    let document = Document::parse(file, &files.read_text(file)?)?;
    let root = document.root();
    if !root.has("base") {
        return Ok(document);
    }
    let base = root.path("base");
    above.push(file.into());
    if above.len() > MOST_BASES || above.contains(&base) {
        root.complain("base", "the files name each other in a circle");
        return Err(document.into_problems());
    }
    match load(files, &base, above) {
        Ok(base) => Ok(document.over(base)),
        Err(mut problems) => {
            if !files.is_there(&base) {
                root.complain("base", format!("there is no file {}", base.display()));
                problems = document.into_problems();
            }
            Err(problems)
        }
    }
}
