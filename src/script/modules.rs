use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rhai::{Engine, EvalAltResult, Module, ModuleResolver, Position, Scope, Shared};

use super::limits::compile;
use super::track::Fault;
use crate::assets::{Files, TextKind};

/// Texts of the scripts of a run by name, to show source lines in errors.
pub type Sources = Arc<Mutex<BTreeMap<String, String>>>;

/// Finds imported scripts in the folder of the script, and nowhere else.
pub struct Folder {
    /// The folder.
    folder: PathBuf,
    files: Files,
    sources: Sources,
    /// Imported modules; `None` while one is being read.
    known: Mutex<BTreeMap<String, Option<Shared<Module>>>>,
}

impl Folder {
    /// The folder of a script.
    pub fn of(script: &Path, sources: Sources, files: Files) -> Self {
        let folder = script.parent().unwrap_or(Path::new("")).into();
        Self { folder, files, sources, known: Mutex::default() }
    }

    fn find(&self, engine: &Engine, path: &str) -> Result<Shared<Module>, Fault> {
        let known = || self.known.lock().unwrap_or_else(PoisonError::into_inner);
        match known().get(path) {
            Some(Some(module)) => return Ok(module.clone()),
            Some(None) => return Err(super::track::fault(format!("`{path}` imports itself, in a circle"))),
            None => {}
        }
        known().insert(path.into(), None);
        let module = self.read(engine, path);
        match &module {
            Ok(module) => known().insert(path.into(), Some(module.clone())),
            Err(_) => known().remove(path),
        };
        module
    }

    fn read(&self, engine: &Engine, path: &str) -> Result<Shared<Module>, Fault> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
        if path.is_empty() || path.starts_with('/') || !path.chars().all(plain) {
            return Err(super::track::fault(format!(
                "`{path}` cannot be imported; expected the name of a script in this folder or below it, without `.rhai`"
            )));
        }
        let file = self.folder.join(format!("{path}.rhai"));
        if !stays_in(&self.files, &self.folder, &file) {
            return Err(super::track::fault(format!(
                "`{path}` cannot be imported; it leads out of the script's folder"
            )));
        }
        let text = self
            .files
            .read_text(&file, TextKind::Script)
            .map_err(|problems| super::track::fault(problems.to_string()))?;
        let name = file.display().to_string();
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), text.clone());
        let wrong =
            |error: Fault| -> Fault { EvalAltResult::ErrorInModule(name.clone(), error, Position::NONE).into() };
        let mut ast = compile(engine, &text).map_err(|error| wrong(error.into()))?;
        ast.set_source(&name);
        Module::eval_ast_as_new(Scope::new(), &ast, engine).map(Into::into).map_err(wrong)
    }
}

impl ModuleResolver for Folder {
    fn resolve(&self, engine: &Engine, _: Option<&str>, path: &str, at: Position) -> Result<Shared<Module>, Fault> {
        self.find(engine, path).map_err(|mut error| {
            if error.position().is_none() {
                error.set_position(at);
            }
            error
        })
    }
}

/// Whether a file is in a folder or below it, and not a link out of it. Recorded files have no links, and missing files
/// lead nowhere.
fn stays_in(files: &Files, folder: &Path, file: &Path) -> bool {
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    match (folder.canonicalize(), file.canonicalize()) {
        (Ok(folder), Ok(file)) if !files.are_kept() => file.starts_with(folder),
        _ => true,
    }
}
