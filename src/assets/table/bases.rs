//! Files that contain only the differences from another.

use std::path::{Path, PathBuf};

use super::Document;
use crate::assets::files::{Files, TextKind};
use crate::assets::limits::BASES;
use crate::assets::problem::Problems;

impl Document {
    /// Reads a file merged over the one that its key `base` names, recursively.
    pub fn load_over_bases(files: &Files, file: &Path) -> Result<Self, Problems> {
        load(files, file, &mut Vec::new())
    }
}

fn load(files: &Files, file: &Path, above: &mut Vec<PathBuf>) -> Result<Document, Problems> {
    let document = Document::parse(file, &files.read_text(file, TextKind::Description)?)?;
    let root = document.root();
    if !root.has("base") {
        return Ok(document);
    }
    let base = root.path("base");
    above.push(file.into());
    let same = |file: &PathBuf| {
        *file == base || (file.canonicalize().ok().is_some_and(|f| base.canonicalize().ok() == Some(f)))
    };
    if above.iter().any(same) {
        root.complain("base", "the files name each other in a circle");
        return Err(document.into_problems());
    }
    if above.len() > BASES {
        root.complain(
            "base",
            format!("more than {BASES} levels of `base`; expected fewer files that build on each other"),
        );
        return Err(document.into_problems());
    }
    match load(files, &base, above) {
        Ok(base) => Ok(document.over(base)),
        Err(mut problems) => {
            if let Some(why) = files.why_absent(&base) {
                root.complain("base", why);
                problems = document.into_problems();
            }
            Err(problems)
        }
    }
}
