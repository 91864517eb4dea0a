//! The shipped scenes, scripts, hands and device profiles, embedded in the program.

use std::path::{Component, Path, PathBuf};

use super::table::nearest;
use super::{Files, Problems, Scene, Setting};

macro_rules! shipped {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../scenes/", $name, ".toml")))),*]
    };
}

/// Name and text of every file in `scenes/`.
const SCENES: &[(&str, &str)] = shipped!(
    "ball" "ball_tips" "bar" "beam_clip" "clip_on_pipe" "contacts" "dumbbell" "edge_cube" "edge_cube_tight"
    "elastic_ball" "elastic_compass" "elastic_ellipsoid" "elastic_haptic" "elastic_inclusion" "elastic_mallet"
    "elastic_press" "elastic_slide" "haptic_clip" "haptic_press" "incline" "mallet" "pencil" "pinch" "play" "pull_thread" "quasi_rigid"
    "rest" "snap_in" "snap_in_soft" "snap_out" "soft_ball" "spin_disc" "stack" "table" "thread" "thread_taut"
    "two_beams"
);

macro_rules! shipped_scripts {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../scripts/", $name, ".rhai")))),*]
    };
}

/// Name and text of every script in `scripts/`.
const SCRIPTS: &[(&str, &str)] = shipped_scripts!(
    "ball" "ball_tips" "bar" "beam_clip" "clip_on_pipe" "contacts" "dumbbell" "edge_cube" "edge_cube_tight"
    "elastic_ball" "elastic_compass" "elastic_ellipsoid" "elastic_haptic" "elastic_inclusion" "elastic_mallet"
    "elastic_press" "elastic_slide" "hand_over" "haptic_clip" "hello_hand" "mallet" "peg_in_hole" "pencil" "pick_up"
    "play_tune" "pour"
    "press_button" "pull_thread" "push_and_slide" "quasi_rigid" "snap_in" "snap_in_soft" "snap_out" "soft_ball"
    "sort_by_size" "stack_boxes" "thread" "thread_taut" "turn_key" "turn_knob"
);

macro_rules! shipped_devices {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../devices/", $name, ".toml")))),*]
    };
}

/// Name and text of every profile in `devices/`.
const DEVICES: &[(&str, &str)] = shipped_devices!(
    "5dt-16" "5dt-5" "5dt-5w" "5dt-ultra" "5dt-ultra-wireless" "bno055" "gamepad" "gametrak" "gametrak-joystick" "opengloves"
    "opengloves-legacy" "openxr" "vmc" "witmotion" "x-imu3"
);

/// Files that shipped scenes refer to: path and text.
const FILES: &[(&str, &str)] = &[
    ("hands/large.toml", include_str!("../../hands/large.toml")),
    ("hands/left.toml", include_str!("../../hands/left.toml")),
    ("hands/right.toml", include_str!("../../hands/right.toml")),
    ("hands/small.toml", include_str!("../../hands/small.toml")),
    ("scenes/dumbbell.obj", include_str!("../../scenes/dumbbell.obj")),
    ("scenes/mallet.obj", include_str!("../../scenes/mallet.obj")),
    ("scenes/soft_cylinder.vtk", include_str!("../../scenes/soft_cylinder.vtk")),
    ("scripts/bowl.obj", include_str!("../../scripts/bowl.obj")),
    ("scripts/cup.obj", include_str!("../../scripts/cup.obj")),
];

/// The virtual folder of the embedded files.
const ROOT: &str = "fingerpad:";
/// The average right hand in that folder.
pub(super) const RIGHT_HAND: &str = "fingerpad:/hands/right.toml";
/// The average left hand.
pub(super) const LEFT_HAND: &str = "fingerpad:/hands/left.toml";

/// Names of the shipped scenes.
pub fn builtin_scenes() -> impl Iterator<Item = &'static str> {
    SCENES.iter().map(|(name, _)| *name)
}

/// The text of a shipped scene.
pub fn builtin_scene(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// Builds the world of a shipped scene with settings; `None` if there is no such scene.
pub fn load_builtin_scene(name: &str, settings: &[Setting]) -> Option<Result<Scene, Problems>> {
    builtin_scene_file(name).map(|file| Files::default().load_scene(&file, settings))
}

/// The path of a shipped scene.
pub fn builtin_scene_file(name: &str) -> Option<PathBuf> {
    builtin_scene(name).map(|_| Path::new(ROOT).join("scenes").join(format!("{name}.toml")))
}

/// Names of the shipped scripts.
pub fn builtin_scripts() -> impl Iterator<Item = &'static str> {
    SCRIPTS.iter().map(|(name, _)| *name)
}

/// Names of the shipped hands.
pub fn builtin_hands() -> impl Iterator<Item = &'static str> {
    FILES.iter().filter_map(|(path, _)| path.strip_prefix("hands/")?.strip_suffix(".toml"))
}

/// The path of a shipped scene or script by name. With an extension it is that file, `bar.toml` or `bar.rhai`; without
/// one it is the scene, or the script if there is no such scene.
pub fn builtin_file(name: &str) -> Option<PathBuf> {
    let script = |name: &str| {
        builtin_scripts().find(|own| *own == name)?;
        Some(Path::new(ROOT).join("scripts").join(format!("{name}.rhai")))
    };
    match name.rsplit_once('.') {
        Some((stem, "toml")) => builtin_scene_file(stem),
        Some((stem, "rhai")) => script(stem),
        _ => builtin_scene_file(name).or_else(|| script(name)),
    }
}

/// The path of a shipped hand.
pub fn builtin_hand_file(name: &str) -> Option<PathBuf> {
    let stem = name.strip_suffix(".toml").unwrap_or(name);
    builtin_hands().find(|own| *own == stem).map(|own| Path::new(ROOT).join("hands").join(format!("{own}.toml")))
}

/// The shipped scene or script closest to a misspelt name, with its extension.
pub fn nearest_builtin(name: &str) -> Option<String> {
    let (stem, ending) = match name.rsplit_once('.') {
        Some((stem, ending)) => (stem, format!(".{ending}")),
        None => (name, String::new()),
    };
    let known: Vec<&str> = match ending.as_str() {
        ".rhai" => builtin_scripts().collect(),
        ".toml" => builtin_scenes().collect(),
        _ => builtin_scenes().chain(builtin_scripts()).collect(),
    };
    let near = nearest(stem, &known)?;
    Some(if [".rhai", ".toml"].contains(&ending.as_str()) { format!("{near}{ending}") } else { near.into() })
}

/// Names of the shipped device profiles.
pub fn builtin_devices() -> impl Iterator<Item = &'static str> {
    DEVICES.iter().map(|(name, _)| *name)
}

/// The path of a shipped device profile.
pub fn builtin_device_file(name: &str) -> Option<PathBuf> {
    builtin_devices().find(|own| *own == name).map(|_| Path::new(ROOT).join("devices").join(format!("{name}.toml")))
}

/// Whether a path is that of an embedded file.
pub(super) fn is_carried(file: &Path) -> bool {
    file.starts_with(ROOT)
}

/// The text of an embedded file, by its path in the virtual folder.
pub(super) fn carried(file: &Path) -> Option<&'static str> {
    let mut parts = Vec::new();
    for part in file.strip_prefix(ROOT).ok()?.components() {
        match part {
            Component::ParentDir => drop(parts.pop()),
            Component::Normal(part) => parts.push(part.to_str()?),
            _ => {}
        }
    }
    let path = parts.join("/");
    let scene = path.strip_prefix("scenes/").and_then(|path| path.strip_suffix(".toml"));
    let script = path.strip_prefix("scripts/").and_then(|path| path.strip_suffix(".rhai"));
    let script = || SCRIPTS.iter().find(|(own, _)| Some(*own) == script).map(|(_, text)| *text);
    let device = path.strip_prefix("devices/").and_then(|path| path.strip_suffix(".toml"));
    let device = || DEVICES.iter().find(|(own, _)| Some(*own) == device).map(|(_, text)| *text);
    let file = || FILES.iter().find(|(own, _)| *own == path).map(|(_, text)| *text);
    scene.and_then(builtin_scene).or_else(script).or_else(device).or_else(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names of the files in a folder with an extension.
    fn names_in(folder: &str, ending: &str) -> Vec<String> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        let files = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").file_name());
        let stem = |name: std::ffi::OsString| Some(name.to_str()?.strip_suffix(ending)?.to_string());
        let mut names: Vec<String> = files.filter_map(stem).collect();
        names.sort();
        names
    }

    #[test]
    fn every_shipped_file_is_embedded() {
        assert_eq!(builtin_scenes().collect::<Vec<_>>(), names_in("scenes", ".toml"));
        let mut scripts = names_in("scripts", ".rhai");
        scripts.retain(|name| !name.ends_with(".d"));
        assert_eq!(builtin_scripts().collect::<Vec<_>>(), scripts);
        assert_eq!(builtin_hands().collect::<Vec<_>>(), names_in("hands", ".toml"));
    }

    #[test]
    fn scenes_and_scripts_share_names() {
        let file = |name: &str| builtin_file(name).map(|path| Files::key(&path));
        assert_eq!(file("bar").as_deref(), Some("fingerpad:/scenes/bar.toml"), "the scene, without an ending");
        assert_eq!(file("bar.toml").as_deref(), Some("fingerpad:/scenes/bar.toml"));
        assert_eq!(file("bar.rhai").as_deref(), Some("fingerpad:/scripts/bar.rhai"));
        assert_eq!(file("pick_up").as_deref(), Some("fingerpad:/scripts/pick_up.rhai"), "there is no such scene");
        assert_eq!((file("pick_up.toml"), file("nothing"), file("scripts/bar.rhai")), (None, None, None));
        assert_eq!(builtin_hand_file("left").map(|f| Files::key(&f)).as_deref(), Some("fingerpad:/hands/left.toml"));
        assert_eq!(builtin_hand_file("middle"), None);
        assert_eq!(nearest_builtin("bal").as_deref(), Some("ball"));
        assert_eq!(nearest_builtin("pikc_up.rhai").as_deref(), Some("pick_up.rhai"));
        assert_eq!(nearest_builtin("something else"), None);
    }

    #[test]
    fn no_embedded_scene_needs_the_disk() {
        for name in builtin_scenes() {
            let scene = load_builtin_scene(name, &[]).expect("a scene").unwrap_or_else(|p| panic!("{name}: {p}"));
            // Elastic objects with a tool do not move.
            let acts = |body: &dyn crate::body::Body| body.mass().is_some() || body.kind() == "elastic";
            assert!(scene.world.bodies.iter().any(|(_, body)| acts(body)), "{name}");
        }
        assert!(carried(Path::new("fingerpad:/scenes/../hands/left.toml")).is_some());
        assert!(carried(Path::new("fingerpad:/hands/nobody.toml")).is_none());
        assert!(carried(Path::new("hands/left.toml")).is_none());
        assert_eq!(carried(Path::new("fingerpad:/scenes/rest.toml")), builtin_scene("rest"));
    }

    #[test]
    fn settings_apply_to_an_embedded_scene() {
        let scene = load_builtin_scene("rest", &[Setting::new("dt", 0.005)]).expect("a scene").expect("a sound one");
        assert_eq!((scene.name.as_str(), scene.world.parameters.dt), ("rest", 0.005));
        assert!(load_builtin_scene("nothing", &[]).is_none() && builtin_scene("nothing").is_none());
    }
}
