//! Operations that may exceed the script time limit: loading scenes, bodies and hands from files and maps.

use std::path::{Path, PathBuf};

use super::limits::SCRIPT_BODIES;
use super::state::{Origin, State};
use crate::assets::{Problem, Problems, Scene, Setting, builtin_scenes};
use crate::body::MaterialId;
use crate::math::Random;
use crate::text::{did_you_mean, nearest};

/// A load request.
pub enum Request {
    /// A scene by name.
    Scene(String),
    /// A scene as the text of its file.
    Inline(String),
    /// A body by name, with its table in TOML syntax.
    Body(String, String),
    /// A hand by name, with its table in TOML syntax.
    Hand(String, String),
}

/// Why a load request failed.
#[derive(Clone, Debug)]
pub struct LoadRefusal {
    /// The message for the script, without file contents.
    pub shown: String,
    /// The message for the user, who may read the files.
    pub whole: String,
}

impl From<String> for LoadRefusal {
    fn from(why: String) -> Self {
        Self { shown: why.clone(), whole: why }
    }
}

impl LoadRefusal {
    /// From problems of a script's description, and of the files that it refers to.
    fn of(problems: &Problems, script: &Path) -> Self {
        let of_file = |problem: &&Problem| problem.file != script && !problem.file.starts_with("--set");
        let mut shown: Vec<String> = problems.0.iter().filter(|problem| !of_file(problem)).map(in_words).collect();
        let mut files: Vec<String> =
            problems.0.iter().filter(of_file).map(|problem| problem.file.display().to_string()).collect();
        files.dedup();
        shown.extend(files.iter().map(|file| format!("{file}: there are problems in this file")));
        let whole = problems.0.iter().map(|problem| match of_file(&problem) {
            true => problem.to_string(),
            false => in_words(problem),
        });
        Self { shown: shown.join("; "), whole: whole.collect::<Vec<_>>().join("\n") }
    }
}

/// Executes a load request.
pub fn perform(request: &Request, state: &mut State) -> Result<(), LoadRefusal> {
    match request {
        Request::Scene(name) => {
            let file = find(&state.origin, "scenes", name)?;
            let loaded = state.origin.files.load_scene(&file, &state.origin.settings);
            let scene = loaded.map_err(|problems| LoadRefusal::of(&problems, &state.origin.file))?;
            state.files.insert(file);
            take_scene(state, scene)
        }
        Request::Inline(text) => {
            let origin = &state.origin;
            let parsed = origin.files.parse_scene(&origin.file, text, &origin.settings);
            let scene = parsed.map_err(|problems| LoadRefusal::of(&problems, &state.origin.file))?;
            take_scene(state, scene)
        }
        Request::Body(name, table) => add(state, "body", name, table),
        Request::Hand(name, table) => add(state, "hand", name, table),
    }
}

/// A world without bodies, with settings.
pub fn empty_scene(origin: &Origin) -> Result<Scene, Problems> {
    let general = |setting: &&Setting| {
        let own = ["body.", "material.", "skin.", "tissue.", "fingers"];
        !own.iter().any(|start| setting.key.starts_with(start))
    };
    let settings: Vec<Setting> = origin.settings.iter().filter(general).cloned().collect();
    origin.files.parse_scene(&origin.file, "", &settings)
}

fn take_scene(state: &mut State, scene: Scene) -> Result<(), LoadRefusal> {
    if state.scene.world.steps() > 0 {
        return Err(String::from("a scene can be set up only before the first pause").into());
    }
    if state.origin.seed.is_none() {
        state.random = Random::new(scene.seed, state.trial);
    }
    state.scene = scene;
    state.has_scene = true;
    state.puppets.clear();
    state.starts.clear();
    state.watch.clear();
    state.note_starts();
    Ok(())
}

/// Searches for a file by name in the script's folder, in the folder of its kind next to it, and among the shipped
/// ones.
pub fn find(origin: &Origin, kind: &str, name: &str) -> Result<PathBuf, String> {
    let plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '/');
    if name.is_empty() || name.starts_with('/') || !name.chars().all(plain) {
        return Err(format!("`{name}` is not a file name in {kind}/; expected letters, digits, `_`, `-` and `/`"));
    }
    let folder = origin.file.parent().unwrap_or(Path::new(""));
    let file = format!("{name}.toml");
    let folders = [folder.to_path_buf(), folder.join(kind), folder.join("..").join(kind)];
    let shipped = Path::new(CARRIED).join(kind).join(&file);
    for folder in &folders {
        let place = folder.join(&file);
        if origin.files.is_there(&place) {
            return Ok(place);
        }
    }
    if origin.files.is_there(&shipped) {
        return Ok(shipped);
    }
    let places: Vec<String> = folders.iter().map(|folder| folder.join(&file).display().to_string()).collect();
    let shipped: Vec<String> = builtin_scenes().map(String::from).collect();
    let near = nearest(name, shipped.iter()).filter(|_| kind == "scenes");
    let near = near.map(did_you_mean).unwrap_or_default();
    Err(format!("there is no `{name}` in {kind}/; looked for {}{near}", places.join(", ")))
}

/// The folder of embedded scenes and hands.
const CARRIED: &str = "fingerpad:";

/// The problem of a table without a file.
fn in_words(problem: &Problem) -> String {
    let key = if problem.key.is_empty() { String::new() } else { format!("{}: ", problem.key) };
    // The script position is more useful than that in the table.
    let whence = problem.file.to_str().filter(|file| file.starts_with("--")).map(|set| format!("{set}: "));
    format!("{}{key}{}", whence.unwrap_or_default(), problem.message)
}

/// Adds the body of a table, checked as in a scene file.
fn add(state: &mut State, kind: &str, name: &str, table: &str) -> Result<(), LoadRefusal> {
    let bodies = &state.scene.world.bodies;
    if bodies.count() >= SCRIPT_BODIES {
        return Err(format!("the world has {} bodies; at most {SCRIPT_BODIES} are allowed", bodies.count()).into());
    }
    if state.find_body(name).is_some() || state.scene.hand(name).is_some() {
        return Err(format!("`{name}` already exists").into());
    }
    let mut text = String::new();
    for material in state.scene.world.materials.names() {
        // Friction belongs to the world; only the name must be known here.
        text += &format!("[material.\"{material}\"]\nfriction = 0.5\n");
    }
    text += &format!("[{kind}]\n\"{name}\" = {table}\n");
    let of_it = |setting: &&Setting| match kind {
        "hand" => ["skin.resolution", "tissue.young", "fingers"].contains(&setting.key.as_str()),
        _ => setting.key.starts_with(&format!("body.{name}.")),
    };
    let settings: Vec<Setting> = state.origin.settings.iter().filter(of_it).cloned().collect();
    let origin = &state.origin;
    let part = origin.files.parse_part(&origin.file, &text, &settings, state.scene.cost());
    let part = part.map_err(|problems| LoadRefusal::of(&problems, &origin.file))?;
    merge(&mut state.scene, part);
    state.note_starts();
    Ok(())
}

fn merge(scene: &mut Scene, part: Scene) {
    let names: Vec<String> = part.world.materials.names().map(String::from).collect();
    let known = &scene.world.materials;
    let own = |id: MaterialId| names.get(id.index()).and_then(|name| known.find(name)).unwrap_or(MaterialId::at(0));
    let mut from = part.world.bodies;
    from.iter_mut().for_each(|(_, body)| body.set_material(own(body.material())));
    let moved = scene.world.bodies.append(from);
    scene.world.attachments.extend(part.world.attachments.into_iter().map(|mut attachment| {
        attachment.rename(&moved);
        attachment
    }));
    scene.motions.extend(part.motions);
    scene.colours.extend(part.colours);
}
