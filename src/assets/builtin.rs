//! The shipped scenes and the files that they name, carried in the program, so that benchmarks and studies run from any
//! folder.

use std::path::{Component, Path, PathBuf};

use super::{Files, Problems, Scene, Setting};

macro_rules! shipped {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../scenes/", $name, ".toml")))),*]
    };
}

/// Name and text of every file in `scenes/`.
const SCENES: &[(&str, &str)] = shipped!(
    "ball" "ball_tips" "bar" "dumbbell" "edge_cube" "edge_cube_tight" "incline" "pencil" "pinch" "play" "rest" "soft_ball" "spin_disc" "stack" "table"
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

/// What shipped scenes name: path and text.
const FILES: &[(&str, &str)] = &[
    ("hands/left.toml", include_str!("../../hands/left.toml")),
    ("hands/right.toml", include_str!("../../hands/right.toml")),
    ("scenes/dumbbell.obj", include_str!("../../scenes/dumbbell.obj")),
];

/// The folder, found on no disk, in which the carried files lie.
const ROOT: &str = "fingerpad:";
/// The average right hand below that folder.
pub(super) const RIGHT_HAND: &str = "fingerpad:/hands/right.toml";

/// Names of the shipped scenes.
pub fn builtin_scenes() -> impl Iterator<Item = &'static str> {
    SCENES.iter().map(|(name, _)| *name)
}

/// The text of a shipped scene.
pub fn builtin_scene(name: &str) -> Option<&'static str> {
    SCENES.iter().find(|(own, _)| *own == name).map(|(_, text)| *text)
}

/// Builds the world of a shipped scene, with some parameters set from outside; nothing if there is no such scene.
pub fn load_builtin_scene(name: &str, settings: &[Setting]) -> Option<Result<Scene, Problems>> {
    builtin_scene_file(name).map(|file| Files::default().load_scene(&file, settings))
}

/// The path under which a shipped scene is carried.
pub fn builtin_scene_file(name: &str) -> Option<PathBuf> {
    builtin_scene(name).map(|_| Path::new(ROOT).join("scenes").join(format!("{name}.toml")))
}

/// Names of the shipped profiles of devices.
pub fn builtin_devices() -> impl Iterator<Item = &'static str> {
    DEVICES.iter().map(|(name, _)| *name)
}

/// The path under which the profile of a device is carried.
pub fn builtin_device_file(name: &str) -> Option<PathBuf> {
    builtin_devices().find(|own| *own == name).map(|_| Path::new(ROOT).join("devices").join(format!("{name}.toml")))
}

/// Whether a path is that of a carried file.
pub(super) fn is_carried(file: &Path) -> bool {
    file.starts_with(ROOT)
}

/// The text of a carried file, by its path below the folder of those.
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
    let device = path.strip_prefix("devices/").and_then(|path| path.strip_suffix(".toml"));
    let device = || DEVICES.iter().find(|(own, _)| Some(*own) == device).map(|(_, text)| *text);
    let file = || FILES.iter().find(|(own, _)| *own == path).map(|(_, text)| *text);
    scene.and_then(builtin_scene).or_else(device).or_else(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scene_of_the_folder_is_carried() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenes");
        let files = std::fs::read_dir(folder).expect("the folder").map(|entry| entry.expect("an entry").path());
        let mut there: Vec<String> = files
            .filter(|file| file.extension().is_some_and(|e| e == "toml"))
            .filter_map(|file| Some(file.file_stem()?.to_string_lossy().into_owned()))
            .collect();
        there.sort();
        assert_eq!(builtin_scenes().collect::<Vec<_>>(), there);
    }

    #[test]
    fn no_carried_scene_needs_the_disk() {
        for name in builtin_scenes() {
            let scene = load_builtin_scene(name, &[]).expect("a scene").unwrap_or_else(|p| panic!("{name}: {p}"));
            assert!(!scene.world.bodies.rigid.is_empty() || !scene.world.bodies.soft.is_empty(), "{name}");
        }
        assert!(carried(Path::new("fingerpad:/scenes/../hands/left.toml")).is_some());
        assert!(carried(Path::new("fingerpad:/hands/nobody.toml")).is_none());
        assert!(carried(Path::new("hands/left.toml")).is_none());
        assert_eq!(carried(Path::new("fingerpad:/scenes/rest.toml")), builtin_scene("rest"));
    }

    #[test]
    fn settings_reach_a_carried_scene() {
        let scene = load_builtin_scene("rest", &[Setting::new("dt", 0.005)]).expect("a scene").expect("a sound one");
        assert_eq!((scene.name.as_str(), scene.world.parameters.dt), ("rest", 0.005));
        assert!(load_builtin_scene("nothing", &[]).is_none() && builtin_scene("nothing").is_none());
    }
}
