//! Rank 6: the only reader of `hands/`, `scenes/` and `devices/`. Returns a checked description or all problems of a
//! file.
//!
//! ```
//! use std::path::Path;
//! use fingerpad::assets::{load_builtin_scene, parse_scene};
//!
//! let scene = load_builtin_scene("ball", &[]).expect("a shipped scene")?;
//! assert!(scene.world.bodies.find("ball").is_some());
//!
//! let text = "[body.ball]\nkind = \"rigid\"\nshape = \"ball\"\nradus = 0.02\n";
//! let problems = parse_scene(Path::new("mine.toml"), text, &[]).expect_err("a misspelt key");
//! assert!(problems.to_string().contains("did you mean `radius`?"));
//! # Ok::<(), fingerpad::assets::Problems>(())
//! ```

mod bounded;
mod builtin;
mod device_file;
#[cfg(feature = "fclib")]
mod fclib;
mod files;
mod hand_file;
pub mod limits;
mod mesh_file;
mod mount_file;
mod picture_file;
mod problem;
mod scene_file;
mod table;

pub use bounded::{FileFault, read_bounded};
pub use builtin::{
    builtin_device_file, builtin_devices, builtin_file, builtin_hand_file, builtin_hands, builtin_scene,
    builtin_scene_file, builtin_scenes, builtin_scripts, load_builtin_scene, nearest_builtin,
};
pub use device_file::{
    DeviceKind, DeviceProfile, FilterSettings, HapticSettings, HapticSource, Parts, PlaceSettings, Port, SensorMap,
    TrackerAnchor, load_device,
};
#[cfg(feature = "fclib")]
pub use fclib::{read_fclib, write_fclib};
pub use files::{Files, TextKind};
pub use hand_file::{builtin_hand, builtin_hand_model, load_hand, load_hand_model};
pub use mount_file::{Mounts, load_mounts, mounts_text};
pub use picture_file::png_bytes;
pub use problem::{Problem, Problems};
pub use scene_file::{
    Cost, FileKind, NoSetting, Scene, Setting, Viewpoint, file_kind, load_scene, parse_scene, setting_keys,
};
