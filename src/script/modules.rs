use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rhai::{Engine, EvalAltResult, Module, ModuleResolver, Position, Scope, Shared};

use super::track::Fault;
use crate::assets::Files;

/// Texts of the scripts of a run by their names, to show the lines that are wrong.
pub type Sources = Arc<Mutex<BTreeMap<String, String>>>;

/// Finds imported scripts in the folder of the script, and nowhere else.
pub struct Folder {
    /// The folder.
    folder: PathBuf,
    files: Files,
    sources: Sources,
    /// What was imported; nothing while it is being read.
    known: Mutex<BTreeMap<String, Option<Shared<Module>>>>,
}

impl Folder {
    /// The folder of a script.
    pub fn of(script: &Path, sources: Sources, files: Files) -> Self {
        let folder = script.parent().unwrap_or(Path::new("")).into();
        Self { folder, files, sources, known: Mutex::default() }
    }

    fn read(&self, engine: &Engine, path: &str) -> Result<Shared<Module>, Fault> {
        let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
        if path.is_empty() || path.starts_with('/') || !path.chars().all(plain) {
            return Err(super::track::fault(format!(
                "`{path}` cannot be imported; expected the name of a script in this folder or below it, without `.rhai`"
            )));
        }
        let file = self.folder.join(format!("{path}.rhai"));
        let text = self.files.read_text(&file).map_err(|problems| super::track::fault(problems.to_string()))?;
        let name = file.display().to_string();
        self.sources.lock().unwrap_or_else(PoisonError::into_inner).insert(name.clone(), text.clone());
        let wrong =
            |error: Fault| -> Fault { EvalAltResult::ErrorInModule(name.clone(), error, Position::NONE).into() };
        let mut ast = engine.compile(&text).map_err(|error| wrong(error.into()))?;
        ast.set_source(&name);
        Module::eval_ast_as_new(Scope::new(), &ast, engine).map(Into::into).map_err(wrong)
    }
}

impl ModuleResolver for Folder {
    fn resolve(&self, engine: &Engine, _: Option<&str>, path: &str, _: Position) -> Result<Shared<Module>, Fault> {
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
}
